/*
 * mersenne_twister - MT19937, one independent generator per thread, its 624 words in an indexed temporary array. The
 * numbers must be those of the published algorithm.
 */
#include "sample.h"

/* Thread t is seeded with cb0[0].x + t and stores cb0[0].y numbers from t * cb0[0].z bytes on. */
static const char* kernel_text =
    SAMPLE_CS(64)
    "dcl_raw_uav_id(0)\n"
    "dcl_cb cb0[1]\n"
    "dcl_indexed_temp_array x0[624]\n"
    "dcl_literal l0, 0, 1, 4, 30\n"
    "dcl_literal l1, 624, 397, 623, 1812433253\n"
    "dcl_literal l2, 0x80000000, 0x7FFFFFFF, 0x9908B0DF, 11\n"
    "dcl_literal l3, 7, 0x9D2C5680, 15, 0xEFC60000\n"
    "dcl_literal l4, 18, 227, 0, 0\n"
    /* x0[i] = 1812433253 * (x0[i-1] ^ (x0[i-1] >> 30)) + i */
    "iadd r0.x, vAbsTidFlat.x, cb0[0].x\n"
    "mov x0[0].x, r0.x\n"
    "mov r1.x, l0.y\n"
    "whileloop\n"
    "ige r2.x, r1.x, l1.x\n"
    "break_logicalnz r2.x\n"
    "ushr r2.y, r0.x, l0.w\n"
    "ixor r0.x, r0.x, r2.y\n"
    "umul r0.x, r0.x, l1.w\n"
    "iadd r0.x, r0.x, r1.x\n"
    "mov x0[r1.x].x, r0.x\n"
    "iadd r1.x, r1.x, l0.y\n"
    "endloop\n"
    /* r1.x: place in the state, r1.y: numbers made, r1.z: address */
    "mov r1, l0.xxxx\n"
    "umul r1.z, vAbsTidFlat.x, cb0[0].z\n"
    "whileloop\n"
    "ige r2.x, r1.y, cb0[0].y\n"
    "break_logicalnz r2.x\n"
    /* next place, and the place 397 on, both modulo 624 */
    "iadd r3.x, r1.x, l0.y\n"
    "ieq r2.x, r3.x, l1.x\n"
    "cmov_logical r3.x, r2.x, l0.x, r3.x\n"
    "ilt r2.x, r1.x, l4.y\n"
    "iadd r3.y, r1.x, l1.y\n"
    "iadd r3.z, r1.x, l4.y_neg(xyzw)\n"
    "cmov_logical r3.y, r2.x, r3.y, r3.z\n"
    "mov r4.x, x0[r1.x].x\n"
    "mov r4.y, x0[r3.x].x\n"
    "mov r4.z, x0[r3.y].x\n"
    "iand r4.x, r4.x, l2.x\n"
    "iand r4.w, r4.y, l2.y\n"
    "ior r4.x, r4.x, r4.w\n"
    "iand r4.w, r4.x, l0.y\n"
    "ushr r4.x, r4.x, l0.y\n"
    "ixor r4.x, r4.x, r4.z\n"
    "ixor r4.y, r4.x, l2.z\n"
    "cmov_logical r4.x, r4.w, r4.y, r4.x\n"
    "mov x0[r1.x].x, r4.x\n"
    /* tempering */
    "ushr r5.x, r4.x, l2.w\n"
    "ixor r4.x, r4.x, r5.x\n"
    "ishl r5.x, r4.x, l3.x\n"
    "iand r5.x, r5.x, l3.y\n"
    "ixor r4.x, r4.x, r5.x\n"
    "ishl r5.x, r4.x, l3.z\n"
    "iand r5.x, r5.x, l3.w\n"
    "ixor r4.x, r4.x, r5.x\n"
    "ushr r5.x, r4.x, l4.x\n"
    "ixor r4.x, r4.x, r5.x\n"
    "uav_raw_store_id(0) mem0.x___, r1.z, r4.x\n"
    "iadd r1.z, r1.z, l0.z\n"
    "iadd r1.y, r1.y, l0.y\n"
    "mov r1.x, r3.x\n"
    "endloop\n"
    "end\n";

/* The published generator; its first number for the seed 5489 is 3499211612. */
typedef struct {
    uint32_t state[624];
    unsigned index;
} Twister;

static void twister_seed(Twister* twister, uint32_t seed)
{
    twister->state[0] = seed;
    for (unsigned i = 1; i < 624; ++i) {
        uint32_t previous = twister->state[i - 1];
        twister->state[i] = 1812433253u * (previous ^ previous >> 30) + i;
    }
    twister->index = 624;
}

static uint32_t twister_next(Twister* twister)
{
    if (twister->index == 624) {
        for (unsigned i = 0; i < 624; ++i) {
            uint32_t y = (twister->state[i] & 0x80000000u) | (twister->state[(i + 1) % 624] & 0x7FFFFFFFu);
            twister->state[i] = twister->state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
        }
        twister->index = 0;
    }
    uint32_t y = twister->state[twister->index++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

int main(int argc, char** argv)
{
    SampleOptions options = {256, 1000, 1, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer output, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "MT19937: -n generators (a multiple of 64), -m numbers each");
    unsigned n = options.n, m = options.m;
    if (n % 64 != 0 || (uint64_t)n * m > 1u << 28) {
        fprintf(stderr, "generators must be a multiple of 64, and all numbers at most 2^28\n");
        return 2;
    }
    uint32_t* numbers = sample_memory((size_t)n * m * 4);
    uint32_t parameters[4] = {5489, m, m * 4, 0};

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "uav0", &output, n * m, 0, CAL_FORMAT_UNSIGNED_INT32_1, SAMPLE_GLOBAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, parameters, 1);

    double seconds = sample_time_grid(&device, &kernel, n / 64, 64, options.iterations);
    sample_read(&output, numbers);

    wrong += numbers[0] != 3499211612u;
    for (unsigned t = 0; t < n; ++t) {
        Twister twister;
        twister_seed(&twister, 5489 + t);
        for (unsigned i = 0; i < m; ++i) {
            wrong += numbers[(size_t)t * m + i] != twister_next(&twister);
        }
    }
    printf("%u generators, %u numbers each: %.2f ms, %.2f million numbers a second\n", n, m, seconds * 1e3,
           1e-6 * n * m / seconds);

    sample_free(&device, &output);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(numbers);
    return sample_verdict("mersenne_twister", wrong == 0);
}
