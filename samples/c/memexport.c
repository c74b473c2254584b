/*
 * memexport - scatter: each thread of a pixel kernel stores its element at a place of its choice in the global buffer,
 * here bit-reversed order, as an FFT would.
 */
#include "sample.h"

/* cb0[0].x: bits of an index, .y: log2 of the width */
static const char* kernel_text =
    SAMPLE_PS
    SAMPLE_INPUT(0)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0, 1, 0, 0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "ftoi r1.xy__, vWinCoord0.xyxx\n"
    "ishl r1.y, r1.y, cb0[0].y\n"
    "iadd r1.x, r1.x, r1.y\n" /* index */
    "mov r2, l0.xxxx\n"       /* r2.x: reversed, r2.y: bits done */
    "whileloop\n"
    "ige r3.x, r2.y, cb0[0].x\n"
    "break_logicalnz r3.x\n"
    "ishl r2.x, r2.x, l0.y\n"
    "iand r3.y, r1.x, l0.y\n"
    "ior r2.x, r2.x, r3.y\n"
    "ushr r1.x, r1.x, l0.y\n"
    "iadd r2.y, r2.y, l0.y\n"
    "endloop\n"
    "mov g[r2.x], r0\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {256, 0, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer input, global, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "scatter into the global buffer; the size is a power of two from 64");
    unsigned n = options.n, bits = 0;
    while ((1u << bits) < n) {
        ++bits;
    }
    if ((1u << bits) != n || n < 64 || n > 8192) {
        fprintf(stderr, "the size must be a power of two from 64 to 8192\n");
        return 2;
    }
    size_t count = (size_t)n * n;
    float* in = sample_memory(count * 16);
    float* out = sample_memory(count * 16);
    uint32_t rounds[4] = {2 * bits, bits, 0, 0};
    for (size_t i = 0; i < count * 4; ++i) {
        in[i] = (float)(i % 16777216);
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "i0", &input, n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, in);
    sample_stream(&device, &kernel, "g[]", &global, n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_GLOBAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, rounds, 1);

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    sample_read(&global, out);

    for (size_t i = 0; i < count; ++i) {
        size_t reversed = 0;
        for (unsigned bit = 0; bit < 2 * bits; ++bit) {
            reversed = reversed << 1 | (i >> bit & 1);
        }
        wrong += memcmp(out + reversed * 4, in + i * 4, 16) != 0;
    }
    printf("%u x %u elements scattered: %.2f ms, %.2f GB/s\n", n, n, seconds * 1e3, count * 32e-9 / seconds);

    sample_free(&device, &input);
    sample_free(&device, &global);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(in);
    free(out);
    return sample_verdict("memexport", wrong == 0);
}
