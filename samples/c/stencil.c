/*
 * stencil - a hot plate: each inner point becomes the mean of its four neighbours, over and over, between two buffers
 * that change places; the border stays. Binding persists, so that each of the two directions is bound once per step.
 */
#include "sample.h"

/* cb0[0].xy: index of the last column and row */
static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.25, 1.0, 0.0, 0.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "lt r1.xy__, l0.yyyy, vWinCoord0.xyxx\n"
    "lt r1.__zw, vWinCoord0.00xy, cb0[0].00xy\n"
    "iand r1.x, r1.x, r1.y\n"
    "iand r1.x, r1.x, r1.z\n"
    "iand r1.x, r1.x, r1.w\n"
    "if_logicalnz r1.x\n"
    "sample_resource(0)_sampler(0)_aoffimmi(-1.0,0.0,0.0) r2, vWinCoord0.xyxx\n"
    "sample_resource(0)_sampler(0)_aoffimmi(1.0,0.0,0.0) r3, vWinCoord0.xyxx\n"
    "sample_resource(0)_sampler(0)_aoffimmi(0.0,-1.0,0.0) r4, vWinCoord0.xyxx\n"
    "sample_resource(0)_sampler(0)_aoffimmi(0.0,1.0,0.0) r5, vWinCoord0.xyxx\n"
    "add r2.x, r2.x, r3.x\n"
    "add r4.x, r4.x, r5.x\n"
    "add r2.x, r2.x, r4.x\n"
    "mul r0.x, r2.x, l0.x\n"
    "endif\n"
    "mov o0, r0\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {256, 0, 50, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer plates[2], constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "four-point stencil, -i steps");
    unsigned n = options.n;
    size_t count = (size_t)n * n;
    float* now = sample_memory(count * 4);
    float* next = sample_memory(count * 4);
    float* got = sample_memory(count * 4);
    float last[4] = {(float)(n - 1), (float)(n - 1), 0, 0};
    uint32_t seed = 4;
    for (size_t i = 0; i < count; ++i) {
        now[i] = sample_random_float(&seed) * 100.0f + 1.0f;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 2; ++i) {
        sample_buffer(&device, &plates[i], n, n, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL);
    }
    sample_write(&plates[0], now);
    sample_constants(&device, &kernel, "cb0", &constants, last, 1);

    CALname in = 0, out = 0;
    CALevent event = 0;
    CALdomain domain = {0, 0, 0, 0};
    domain.width = domain.height = n;
    sample_check(calModuleGetName(&in, device.context, kernel.module, "i0"), "i0");
    sample_check(calModuleGetName(&out, device.context, kernel.module, "o0"), "o0");
    double start = sample_seconds();
    for (unsigned i = 0; i < options.iterations; ++i) {
        sample_check(calCtxSetMem(device.context, in, plates[i & 1].mem), "calCtxSetMem");
        sample_check(calCtxSetMem(device.context, out, plates[~i & 1].mem), "calCtxSetMem");
        sample_check(calCtxRunProgram(&event, device.context, kernel.entry, &domain), "calCtxRunProgram");
    }
    sample_wait(&device, event); /* launches of one context run in order */
    double seconds = (sample_seconds() - start) / options.iterations;
    sample_read(&plates[options.iterations & 1], got);

    for (unsigned i = 0; i < options.iterations; ++i) {
        memcpy(next, now, count * 4);
        for (unsigned y = 1; y + 1 < n; ++y) {
            for (unsigned x = 1; x + 1 < n; ++x) {
                const float* p = now + (size_t)y * n + x;
                next[(size_t)y * n + x] = ((p[-1] + p[1]) + (p[-(long)n] + p[n])) * 0.25f;
            }
        }
        float* swap = now;
        now = next;
        next = swap;
    }
    for (size_t i = 0; i < count; ++i) {
        wrong += got[i] != now[i];
    }
    printf("%u x %u, %u steps: %.3f ms a step, %.2f GB/s\n", n, n, options.iterations, seconds * 1e3,
           8e-9 * count / seconds);

    sample_free(&device, &plates[0]);
    sample_free(&device, &plates[1]);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(now);
    free(next);
    free(got);
    return sample_verdict("stencil", wrong == 0);
}
