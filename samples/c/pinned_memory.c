/*
 * pinned_memory - resources on the program's own memory (extension RES_CREATE): inputs are written and results read
 * through plain pointers, with no map and no copy.
 */
#include "sample.h"

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, r0\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {512, 0, 10, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer buffers[2];
    static const char* symbols[2] = {"i0", "o0"};
    void* blocks[2];
    void* memory[2];
    PFNCALRESCREATE2D create = NULL;
    CALextproc proc = NULL;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "resources on the program's own memory; the size is a multiple of 64");
    unsigned n = options.n;
    if (n % 64 != 0 || n > 8192) {
        fprintf(stderr, "the size must be a multiple of 64 and at most 8192\n");
        return 2;
    }
    size_t count = (size_t)n * n;

    sample_start(&device, options.device);
    sample_check(calExtSupported(CAL_EXT_RES_CREATE), "calExtSupported");
    sample_check(calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate2D"), "calExtGetProc");
    memcpy(&create, &proc, sizeof proc);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 2; ++i) {
        /* Drivers want whole pages. */
        blocks[i] = sample_memory(count * 4 + 4095);
        memory[i] = (void*)(((uintptr_t)blocks[i] + 4095) & ~(uintptr_t)4095);
        memset(&buffers[i], 0, sizeof buffers[i]);
        sample_check(create(&buffers[i].resource, device.device, memory[i], n, n, CAL_FORMAT_FLOAT32_1,
                            (CALuint)(count * 4), 0),
                     "calResCreate2D");
        sample_check(calCtxGetMem(&buffers[i].mem, device.context, buffers[i].resource), "calCtxGetMem");
        sample_bind(&device, &kernel, symbols[i], &buffers[i]);
    }

    float* in = memory[0];
    const float* out = memory[1];
    memset(memory[1], 0, count * 4);
    double seconds = 0;
    for (unsigned k = 0; k < options.iterations; ++k) {
        for (size_t i = 0; i < count; ++i) {
            in[i] = (float)((i + k) % 65536);
        }
        double start = sample_seconds();
        sample_run_domain(&device, &kernel, n, n);
        seconds += sample_seconds() - start;
        for (size_t i = 0; i < count; ++i) {
            wrong += out[i] != 2.0f * (float)((i + k) % 65536);
        }
        sample_sum(out, count * 4);
    }
    seconds /= options.iterations;
    printf("%u x %u: %.3f ms a launch, %.2f GB/s\n", n, n, seconds * 1e3, 8e-9 * count / seconds);

    sample_free(&device, &buffers[0]);
    sample_free(&device, &buffers[1]);
    free(blocks[0]); /* ours all along */
    free(blocks[1]);
    sample_unload(&device, &kernel);
    sample_end(&device);
    return sample_verdict("pinned_memory", wrong == 0);
}
