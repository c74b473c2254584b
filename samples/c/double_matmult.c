/*
 * double_matmult - C = A * B in double precision. dmad rounds once, as C's fma does, so that the host's result must be
 * equal bit for bit.
 */
#include "sample.h"

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0) SAMPLE_INPUT(1)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.5, 1.0, 0.0, 0.0\n"
    "mov r0, l0.0000\n"
    "mov r1, vWinCoord0.xyxy\n" /* (x, y, x, y) */
    "mov r2.x, l0.x\n"          /* k, in the middle of the element */
    "whileloop\n"
    "ge r3.x, r2.x, cb0[0].x\n"
    "break_logicalnz r3.x\n"
    "mov r1.y, r2.x\n"
    "mov r4.x, r2.x\n"
    "mov r4.y, r1.w\n"
    "sample_resource(0)_sampler(0) r5, r4.xy00\n"
    "sample_resource(1)_sampler(1) r6, r1.xy00\n"
    "dmad r0.xy, r5.xy, r6.xy, r0.xy\n"
    "add r2.x, r2.x, l0.y\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {128, 0, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer buffers[3], constants;
    static const char* symbols[3] = {"i0", "i1", "o0"};
    size_t wrong = 0;

    sample_options(argc, argv, &options, "matrix product of doubles");
    unsigned n = options.n;
    size_t count = (size_t)n * n;
    double* a = sample_memory(count * sizeof *a);
    double* b = sample_memory(count * sizeof *b);
    double* c = sample_memory(count * sizeof *c);
    uint32_t seed = 64;
    float last[4] = {(float)n, 0, 0, 0};
    for (size_t i = 0; i < count; ++i) {
        a[i] = sample_random_float(&seed) - 0.5 + sample_random_float(&seed) * 1e-8;
        b[i] = sample_random_float(&seed) - 0.5 + sample_random_float(&seed) * 1e-8;
    }

    sample_start(&device, options.device);
    if (!device.attribs.doublePrecision) {
        printf("double_matmult: the device has no double precision\n");
        sample_end(&device);
        return EXIT_FAILURE;
    }
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 3; ++i) {
        sample_stream(&device, &kernel, symbols[i], &buffers[i], n, n, CAL_FORMAT_FLOAT64_1, SAMPLE_LOCAL, NULL);
    }
    sample_write(&buffers[0], a);
    sample_write(&buffers[1], b);
    sample_constants(&device, &kernel, "cb0", &constants, last, 1);

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    sample_read(&buffers[2], c);

    for (unsigned y = 0; y < n; ++y) {
        for (unsigned x = 0; x < n; ++x) {
            double sum = 0.0;
            for (unsigned k = 0; k < n; ++k) {
                sum = sample_fma(a[(size_t)y * n + k], b[(size_t)k * n + x], sum);
            }
            wrong += c[(size_t)y * n + x] != sum;
        }
    }
    printf("%u x %u: %.2f ms, %.2f GFLOPS\n", n, n, seconds * 1e3, 2e-9 * n * n * n / seconds);

    for (unsigned i = 0; i < 3; ++i) {
        sample_free(&device, &buffers[i]);
    }
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(a);
    free(b);
    free(c);
    return sample_verdict("double_matmult", wrong == 0);
}
