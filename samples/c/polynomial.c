/*
 * polynomial - a cubic by Horner's rule over a long vector, four numbers per thread. mad rounds twice, as C's separate
 * operations do, so that the results are equal bit for bit.
 */
#include "sample.h"

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "dcl_cb cb0[1]\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mad r1, cb0[0].xxxx, r0, cb0[0].yyyy\n"
    "mad r1, r1, r0, cb0[0].zzzz\n"
    "mad o0, r1, r0, cb0[0].wwww\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {512, 0, 10, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer input, output, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "cubic polynomial of 4 n^2 numbers");
    unsigned n = options.n;
    size_t count = (size_t)n * n * 4;
    float* in = sample_memory(count * 4);
    float* out = sample_memory(count * 4);
    float c[4] = {0.3f, -1.7f, 2.9f, 0.1f};
    uint32_t seed = 3;
    for (size_t i = 0; i < count; ++i) {
        in[i] = sample_random_float(&seed) * 8.0f + 1.0f;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "i0", &input, n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, in);
    sample_stream(&device, &kernel, "o0", &output, n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, c, 1);

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    sample_read(&output, out);

    /* On a GPU's own arithmetic a mad may round once: allow for that, and ask for equality where it holds. */
    size_t different = 0;
    for (size_t i = 0; i < count; ++i) {
        float x = in[i], value = ((c[0] * x + c[1]) * x + c[2]) * x + c[3];
        float error = out[i] > value ? out[i] - value : value - out[i];
        different += out[i] != value;
        wrong += !(error <= 1e-5f * (value > 1.0f ? value : 1.0f));
    }
    printf("%lu numbers: %.3f ms, %.2f GB/s, %.2f GFLOPS; %lu differ in rounding\n", (unsigned long)count,
           seconds * 1e3, 8e-9 * count / seconds, 6e-9 * count / seconds, (unsigned long)different);

    sample_free(&device, &input);
    sample_free(&device, &output);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(in);
    free(out);
    return sample_verdict("polynomial", wrong == 0);
}
