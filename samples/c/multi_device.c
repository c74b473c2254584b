/*
 * multi_device - one job over all devices: a thread of the host per device, each with a device, a context and buffers
 * of its own, and a share of the rows.
 */
#include "sample.h"

#include <pthread.h>

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "dcl_literal l0, 3.0, 1.0, 0.0, 0.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mul r0, r0, l0.xxxx\n"
    "add o0, r0, l0.yyyy\n"
    "end\n";

typedef struct {
    unsigned     ordinal, width, rows, iterations;
    const float* in;
    float*       out;
    double       seconds;
    pthread_t    thread;
} Share;

static void* work(void* argument)
{
    Share* share = argument;
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer input, output;
    sample_open(&device, share->ordinal);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "i0", &input, share->width, share->rows, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL,
                  share->in);
    sample_stream(&device, &kernel, "o0", &output, share->width, share->rows, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL,
                  NULL);
    share->seconds = sample_time_domain(&device, &kernel, share->width, share->rows, share->iterations);
    sample_read(&output, share->out);
    sample_free(&device, &input);
    sample_free(&device, &output);
    sample_unload(&device, &kernel);
    sample_close(&device);
    return NULL;
}

int main(int argc, char** argv)
{
    SampleOptions options = {512, 0, 3, 0, NULL};
    CALuint devices = 0;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "one job over all devices");
    unsigned n = options.n;
    size_t count = (size_t)n * n;
    float* in = sample_memory(count * 4);
    float* out = sample_memory(count * 4);
    for (size_t i = 0; i < count; ++i) {
        in[i] = (float)(i % 65536);
    }

    sample_check(calInit(), "calInit");
    sample_check(calDeviceGetCount(&devices), "calDeviceGetCount");
    if (devices == 0 || devices > n) {
        fprintf(stderr, "%u devices for %u rows\n", devices, n);
        return EXIT_FAILURE;
    }
    Share* shares = sample_memory(devices * sizeof *shares);
    for (unsigned d = 0; d < devices; ++d) {
        unsigned first = (unsigned)((uint64_t)n * d / devices), end = (unsigned)((uint64_t)n * (d + 1) / devices);
        shares[d].ordinal = d;
        shares[d].width = n;
        shares[d].rows = end - first;
        shares[d].iterations = options.iterations;
        shares[d].in = in + (size_t)first * n;
        shares[d].out = out + (size_t)first * n;
        if (pthread_create(&shares[d].thread, NULL, work, &shares[d]) != 0) {
            fprintf(stderr, "no thread for device %u\n", d);
            return EXIT_FAILURE;
        }
    }
    for (unsigned d = 0; d < devices; ++d) {
        pthread_join(shares[d].thread, NULL);
        printf("device %u: %u rows, %.3f ms a launch\n", d, shares[d].rows, shares[d].seconds * 1e3);
    }
    sample_check(calShutdown(), "calShutdown");
    for (size_t i = 0; i < count; ++i) {
        wrong += out[i] != in[i] * 3.0f + 1.0f;
    }
    free(shares);
    free(in);
    free(out);
    return sample_verdict("multi_device", wrong == 0);
}
