/*
 * async_copy - work in pieces, with two sets of buffers: while the kernel works on one piece, the copies of its
 * neighbours may run. Everything is queued; the host waits only before it reuses a buffer. The same work done step by
 * step is timed for comparison.
 */
#include "sample.h"

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "dcl_literal l0, 0, 1, 64, 0\n"
    "dcl_literal l1, 0.5, 0.25, 0.0, 0.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mov r1.x, l0.x\n"
    "whileloop\n"
    "ige r1.y, r1.x, l0.z\n"
    "break_logicalnz r1.y\n"
    "mad r0, r0, l1.xxxx, l1.yyyy\n"
    "iadd r1.x, r1.x, l0.y\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

enum { SETS = 2, ROWS = 64 };

typedef struct {
    SampleBuffer up, in, out, down; /* remote, local, local, remote */
    CALevent     done;
} Set;

static SampleDevice device;
static SampleKernel kernel;
static CALname      in_name, out_name;

/* Queues copy in, kernel, copy out. */
static void submit(Set* set, unsigned width)
{
    CALdomain domain = {0, 0, 0, ROWS};
    CALevent event = 0;
    domain.width = width;
    sample_check(calMemCopy(&event, device.context, set->up.mem, set->in.mem, 0), "calMemCopy");
    sample_check(calCtxSetMem(device.context, in_name, set->in.mem), "calCtxSetMem");
    sample_check(calCtxSetMem(device.context, out_name, set->out.mem), "calCtxSetMem");
    sample_check(calCtxRunProgram(&event, device.context, kernel.entry, &domain), "calCtxRunProgram");
    sample_check(calMemCopy(&set->done, device.context, set->out.mem, set->down.mem, 0), "calMemCopy");
    sample_check(calCtxFlush(device.context), "calCtxFlush");
}

int main(int argc, char** argv)
{
    SampleOptions options = {512, 16, 1, 0, NULL};
    Set sets[SETS];
    size_t wrong = 0;
    double seconds[2] = {0, 0};

    sample_options(argc, argv, &options, "copies and kernels overlapped: -m pieces of -n by 64 elements");
    unsigned n = options.n, pieces = options.m;
    size_t piece = (size_t)n * ROWS * 4;
    float* in = sample_memory(piece * 4);
    float* out = sample_memory(piece * 4);

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_check(calModuleGetName(&in_name, device.context, kernel.module, "i0"), "i0");
    sample_check(calModuleGetName(&out_name, device.context, kernel.module, "o0"), "o0");
    for (unsigned s = 0; s < SETS; ++s) {
        sample_buffer(&device, &sets[s].up, n, ROWS, CAL_FORMAT_FLOAT32_4, SAMPLE_REMOTE);
        sample_buffer(&device, &sets[s].in, n, ROWS, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sample_buffer(&device, &sets[s].out, n, ROWS, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sample_buffer(&device, &sets[s].down, n, ROWS, CAL_FORMAT_FLOAT32_4, SAMPLE_REMOTE | SAMPLE_CACHED);
    }

    for (unsigned overlapped = 0; overlapped < 2; ++overlapped) {
        double start = sample_seconds();
        for (unsigned p = 0; p < pieces + SETS; ++p) {
            Set* set = &sets[p % SETS];
            if (p >= SETS) { /* the piece that was in this set */
                if (overlapped) {
                    sample_wait(&device, set->done);
                }
                sample_read(&set->down, out);
                for (size_t i = 0; i < piece; i += 97) {
                    float x = (float)((i + (p - SETS) * 31) % 4096);
                    for (unsigned k = 0; k < 64; ++k) {
                        x = x * 0.5f + 0.25f;
                    }
                    float error = out[i] > x ? out[i] - x : x - out[i];
                    wrong += !(error <= 1e-6f);
                }
            }
            if (p < pieces) {
                for (size_t i = 0; i < piece; ++i) {
                    in[i] = (float)((i + p * 31) % 4096);
                }
                sample_write(&set->up, in);
                submit(set, n);
                if (!overlapped) {
                    sample_wait(&device, set->done);
                }
            }
        }
        seconds[overlapped] = sample_seconds() - start;
    }
    printf("%u pieces of %lu KB: step by step %.2f ms, overlapped %.2f ms, ratio %.2f\n", pieces,
           (unsigned long)(piece * 4 / 1024), seconds[0] * 1e3, seconds[1] * 1e3, seconds[0] / seconds[1]);

    for (unsigned s = 0; s < SETS; ++s) {
        sample_free(&device, &sets[s].up);
        sample_free(&device, &sets[s].in);
        sample_free(&device, &sets[s].out);
        sample_free(&device, &sets[s].down);
    }
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(in);
    free(out);
    return sample_verdict("async_copy", wrong == 0);
}
