/*
 * reduction - a sum in LDS, in four steps: 1 strided threads, 2 the first threads of the group, 3 two elements added
 * while loading, 4 the loop unrolled. In the tutorials of the time the last step also drops the barriers within a wave;
 * IL does not promise that a wave runs in step, so they stay here.
 */
#include "sample.h"

/* uav0: input; uav1: one sum per group; cb0[0].x: number of elements. 256 threads.
 * l0 = 4, 256, 1, 2; l1 = 0, 128, 512, 4 */
#define HEAD \
    SAMPLE_CS(256) \
    "dcl_lds_id(0) 1024\n" \
    "dcl_raw_uav_id(0)\n" \
    "dcl_raw_uav_id(1)\n" \
    "dcl_cb cb0[1]\n" \
    "dcl_literal l0, 4, 256, 1, 2\n" \
    "dcl_literal l1, 0, 128, 512, 0\n" \
    "mov r0.x, vTidInGrpFlat.x\n" \
    "imul r0.y, r0.x, l0.x\n" /* own word */

/* r1.x = element r2.x, or 0 beyond the end */
#define LOAD \
    "mov r1.x, l1.x\n" \
    "ult r3.x, r2.x, cb0[0].x\n" \
    "if_logicalnz r3.x\n" \
    "imul r3.y, r2.x, l0.x\n" \
    "uav_raw_load_id(0) r1.x, r3.y\n" \
    "endif\n"

#define LOAD_ONE \
    "mov r2.x, vAbsTidFlat.x\n" LOAD \
    "lds_store_id(0) r0.y, r1.x\n" \
    "fence_threads_lds\n"

#define LOAD_TWO \
    "umul r2.x, vThreadGrpIdFlat.x, l1.z\n" \
    "iadd r2.x, r2.x, r0.x\n" LOAD \
    "mov r4.x, r1.x\n" \
    "iadd r2.x, r2.x, l0.y\n" LOAD \
    "iadd r1.x, r1.x, r4.x\n" \
    "lds_store_id(0) r0.y, r1.x\n" \
    "fence_threads_lds\n"

/* lds[r5.x] += lds[r5.x + r6.x], in words */
#define ADD \
    "iadd r7.x, r5.x, r6.x\n" \
    "imul r7.x, r7.x, l0.x\n" \
    "imul r7.y, r5.x, l0.x\n" \
    "lds_load_id(0) r8.x, r7.x\n" \
    "lds_load_id(0) r9.x, r7.y\n" \
    "iadd r9.x, r9.x, r8.x\n" \
    "lds_store_id(0) r7.y, r9.x\n"

#define TAIL \
    "if_logicalz r0.x\n" \
    "lds_load_id(0) r9.x, l1.x\n" \
    "umul r7.x, vThreadGrpIdFlat.x, l0.x\n" \
    "uav_raw_store_id(1) mem0.x___, r7.x, r9.x\n" \
    "endif\n" \
    "end\n"

#define STRIDED_LOOP \
    "mov r6.x, l0.z\n" /* s = 1 */ \
    "whileloop\n" \
    "uge r3.x, r6.x, l0.y\n" \
    "break_logicalnz r3.x\n" \
    "umul r5.x, r6.x, r0.x\n" \
    "umul r5.x, r5.x, l0.w\n" /* i = 2 * s * tid */ \
    "ult r3.x, r5.x, l0.y\n" \
    "if_logicalnz r3.x\n" ADD "endif\n" \
    "fence_threads_lds\n" \
    "ishl r6.x, r6.x, l0.z\n" \
    "endloop\n"

#define FIRST_THREADS_LOOP \
    "mov r6.x, l1.y\n" /* s = 128 */ \
    "mov r5.x, r0.x\n" \
    "whileloop\n" \
    "break_logicalz r6.x\n" \
    "ult r3.x, r0.x, r6.x\n" \
    "if_logicalnz r3.x\n" ADD "endif\n" \
    "fence_threads_lds\n" \
    "ushr r6.x, r6.x, l0.z\n" \
    "endloop\n"

#define UNROLLED_STEP(REG) \
    "mov r6.x, " REG "\n" \
    "ult r3.x, r0.x, r6.x\n" \
    "if_logicalnz r3.x\n" ADD "endif\n" \
    "fence_threads_lds\n"
#define UNROLLED \
    "dcl_literal l2, 64, 32, 16, 8\n" \
    "mov r5.x, r0.x\n" \
    UNROLLED_STEP("l1.y") UNROLLED_STEP("l2.x") UNROLLED_STEP("l2.y") UNROLLED_STEP("l2.z") \
    UNROLLED_STEP("l2.w") UNROLLED_STEP("l0.x") UNROLLED_STEP("l0.w") UNROLLED_STEP("l0.z")

static const struct {
    const char* name;
    const char* il;
    unsigned    per_group;
} steps[4] = {
    {"1 strided", HEAD LOAD_ONE STRIDED_LOOP TAIL, 256},
    {"2 first threads", HEAD LOAD_ONE FIRST_THREADS_LOOP TAIL, 256},
    {"3 add while loading", HEAD LOAD_TWO FIRST_THREADS_LOOP TAIL, 512},
    {"4 unrolled", HEAD LOAD_TWO UNROLLED TAIL, 512},
};

int main(int argc, char** argv)
{
    SampleOptions options = {1000001, 0, 5, 0, NULL};
    SampleDevice device;
    SampleBuffer input, output, constants;
    int passed = 1;

    sample_options(argc, argv, &options, "sum of -n numbers in four steps");
    unsigned n = options.n;
    uint32_t* in = sample_memory((size_t)n * 4);
    uint32_t* sums = sample_memory(((size_t)n / 256 + 1) * 4);
    uint32_t seed = 2002, expected = 0, numbers[4] = {n, 0, 0, 0};
    for (unsigned i = 0; i < n; ++i) {
        in[i] = sample_random(&seed);
        expected += in[i];
    }

    sample_start(&device, options.device);
    sample_buffer(&device, &input, n, 0, CAL_FORMAT_UNSIGNED_INT32_1, SAMPLE_GLOBAL);
    sample_write(&input, in);
    sample_buffer(&device, &output, n / 256 + 1, 0, CAL_FORMAT_UNSIGNED_INT32_1, SAMPLE_GLOBAL);
    sample_buffer(&device, &constants, 1, 0, CAL_FORMAT_UNSIGNED_INT32_4, SAMPLE_REMOTE);
    sample_write(&constants, numbers);

    for (unsigned step = 0; step < 4; ++step) {
        SampleKernel kernel;
        unsigned groups = (n + steps[step].per_group - 1) / steps[step].per_group;
        uint32_t sum = 0;
        sample_kernel(&device, &kernel, steps[step].il);
        sample_bind(&device, &kernel, "uav0", &input);
        sample_bind(&device, &kernel, "uav1", &output);
        sample_bind(&device, &kernel, "cb0", &constants);
        memset(sums, 0xFF, ((size_t)n / 256 + 1) * 4);
        sample_write(&output, sums);

        double seconds = sample_time_grid(&device, &kernel, groups, 256, options.iterations);
        sample_read(&output, sums);
        for (unsigned i = 0; i < groups; ++i) {
            sum += sums[i];
        }
        printf("%-20s %8.3f ms, %6.2f GB/s%s\n", steps[step].name, seconds * 1e3, 4e-9 * n / seconds,
               sum == expected ? "" : ", WRONG");
        passed = passed && sum == expected;
        sample_unload(&device, &kernel);
    }

    sample_free(&device, &input);
    sample_free(&device, &output);
    sample_free(&device, &constants);
    sample_end(&device);
    free(in);
    free(sums);
    return sample_verdict("reduction", passed);
}
