/*
 * basic - two constant buffers and eight outputs: output k is the input scaled by row k of cb0, plus cb1.
 */
#include "sample.h"

#define OUTPUT(K) "dcl_output_generic o" #K "\n"
#define SCALE(K) "mad o" #K ", r0, cb0[" #K "], cb1[0]\n"

static const char* kernel_text =
    SAMPLE_PS
    OUTPUT(0) OUTPUT(1) OUTPUT(2) OUTPUT(3) OUTPUT(4) OUTPUT(5) OUTPUT(6) OUTPUT(7)
    SAMPLE_INPUT(0)
    "dcl_cb cb0[8]\n"
    "dcl_cb cb1[1]\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    SCALE(0) SCALE(1) SCALE(2) SCALE(3) SCALE(4) SCALE(5) SCALE(6) SCALE(7)
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {256, 0, 1, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer input, outputs[8], cb0, cb1;
    float scale[8][4], offset[4] = {0.5f, 1.5f, 2.5f, 3.5f};
    char symbol[4];
    size_t wrong = 0;

    sample_options(argc, argv, &options, "constants and eight outputs");
    unsigned n = options.n;
    size_t count = (size_t)n * n * 4;
    float* in = sample_memory(count * sizeof *in);
    float* out = sample_memory(count * sizeof *out);
    for (size_t i = 0; i < count; ++i) {
        in[i] = (float)(i % 1000) * 0.25f;
    }
    for (unsigned k = 0; k < 8; ++k) {
        for (unsigned c = 0; c < 4; ++c) {
            scale[k][c] = (float)(k * 4 + c + 1);
        }
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "i0", &input, n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, in);
    sample_constants(&device, &kernel, "cb0", &cb0, scale, 8);
    sample_constants(&device, &kernel, "cb1", &cb1, offset, 1);
    for (unsigned k = 0; k < 8; ++k) {
        sample_buffer(&device, &outputs[k], n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sprintf(symbol, "o%u", k);
        sample_bind(&device, &kernel, symbol, &outputs[k]);
    }

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);

    for (unsigned k = 0; k < 8; ++k) {
        sample_read(&outputs[k], out);
        for (size_t i = 0; i < count; ++i) {
            wrong += out[i] != in[i] * scale[k][i % 4] + offset[i % 4];
        }
        sample_free(&device, &outputs[k]);
    }
    printf("%u x %u, 8 outputs: %.2f ms\n", n, n, seconds * 1e3);

    sample_free(&device, &input);
    sample_free(&device, &cb0);
    sample_free(&device, &cb1);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(in);
    free(out);
    return sample_verdict("basic", wrong == 0);
}
