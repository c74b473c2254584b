/*
 * memimport - gather: a compute kernel reads the global buffer at places that the data themselves tell, following a
 * chain of indices, and writes what it finds at its end.
 */
#include "sample.h"

/* Element i of g[]: x = next index, y = value. Results go behind the chain elements, from cb0[0].y on. */
static const char* kernel_text =
    SAMPLE_CS(64)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0, 1, 0, 0\n"
    "mov r0.x, vAbsTidFlat.x\n"
    "mov r1, l0.xxxx\n" /* r1.x: sum, r1.y: steps */
    "whileloop\n"
    "ige r2.x, r1.y, cb0[0].x\n"
    "break_logicalnz r2.x\n"
    "mov r3, g[r0.x]\n"
    "iadd r1.x, r1.x, r3.y\n"
    "mov r0.x, r3.x\n"
    "iadd r1.y, r1.y, l0.y\n"
    "endloop\n"
    "iadd r4.x, vAbsTidFlat.x, cb0[0].y\n"
    "mov g[r4.x].xy, r1\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {16384, 16, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer global, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "gather from the global buffer: -n elements, -m steps; n is a multiple of 64");
    unsigned n = options.n, steps = options.m;
    if (n % 64 != 0 || n > 1u << 24) {
        fprintf(stderr, "the number of elements must be a multiple of 64 and at most 16777216\n");
        return 2;
    }
    uint32_t* elements = sample_memory((size_t)n * 2 * 16);
    uint32_t seed = 7, numbers[4] = {steps, n, 0, 0};
    for (unsigned i = 0; i < n; ++i) {
        elements[4 * i] = sample_random(&seed) % n;
        elements[4 * i + 1] = sample_random(&seed) >> 8;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "g[]", &global, 2 * n, 0, CAL_FORMAT_UNSIGNED_INT32_4, SAMPLE_GLOBAL, elements);
    sample_constants(&device, &kernel, "cb0", &constants, numbers, 1);

    double seconds = sample_time_grid(&device, &kernel, n / 64, 64, options.iterations);
    sample_read(&global, elements);

    for (unsigned i = 0; i < n; ++i) {
        uint32_t sum = 0, at = i;
        for (unsigned step = 0; step < steps; ++step) {
            sum += elements[4 * at + 1];
            at = elements[4 * at];
        }
        wrong += elements[4 * (n + i)] != sum || elements[4 * (n + i) + 1] != steps;
    }
    printf("%u chains of %u steps: %.2f ms, %.1f million steps a second\n", n, steps, seconds * 1e3,
           1e-6 * n * steps / seconds);

    sample_free(&device, &global);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(elements);
    return sample_verdict("memimport", wrong == 0);
}
