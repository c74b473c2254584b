/*
 * compute_matmult - C = A * B by groups of 16 x 16 threads. A group goes along a row of tiles of A and a column of
 * tiles of B; each pair of tiles is loaded once into LDS and used 16 times.
 */
#include "sample.h"

static const char* kernel_text =
    "il_cs_2_0\n"
    "dcl_num_thread_per_group 16, 16, 1\n"
    "dcl_lds_id(0) 1024\n"
    "dcl_lds_id(1) 1024\n"
    "dcl_raw_uav_id(0)\n"
    "dcl_raw_uav_id(1)\n"
    "dcl_raw_uav_id(2)\n"
    "dcl_cb cb0[1]\n" /* x: bytes of a row, y: tiles in a row */
    "dcl_literal l0, 4, 16, 64, 1\n"
    "dcl_literal l1, 0, 0, 0, 0\n"
    /* r1.x, r1.y: bytes of this thread's elements of A and B; r1.z: from a tile of B to the one below */
    "umul r1.x, vAbsTid.y, cb0[0].x\n"
    "umul r1.y, vTidInGrp.y, cb0[0].x\n"
    "imul r2.x, vTidInGrp.x, l0.x\n"
    "imul r2.y, vAbsTid.x, l0.x\n"
    "iadd r3.x, r1.x, r2.y\n" /* C */
    "iadd r1.x, r1.x, r2.x\n"
    "iadd r1.y, r1.y, r2.y\n"
    "umul r1.z, cb0[0].x, l0.y\n"
    /* r0.x: own word in LDS, r0.y: own row of A's tile, r0.z: own column of B's tile */
    "imul r0.x, vTidInGrpFlat.x, l0.x\n"
    "imul r0.y, vTidInGrp.y, l0.z\n"
    "mov r0.z, r2.x\n"
    "mov r4, l1\n"
    "mov r5, l1\n"
    "whileloop\n"
    "ige r6.x, r5.x, cb0[0].y\n"
    "break_logicalnz r6.x\n"
    "uav_raw_load_id(0) r7.x, r1.x\n"
    "uav_raw_load_id(1) r8.x, r1.y\n"
    "lds_store_id(0) r0.x, r7.x\n"
    "lds_store_id(1) r0.x, r8.x\n"
    "fence_threads_lds\n"
    "mov r9.x, r0.y\n"
    "mov r9.y, r0.z\n"
    "mov r9.z, l1.x\n"
    "whileloop\n"
    "ige r6.x, r9.z, l0.y\n"
    "break_logicalnz r6.x\n"
    "lds_load_id(0) r7.x, r9.x\n"
    "lds_load_id(1) r8.x, r9.y\n"
    "mad r4.x, r7.x, r8.x, r4.x\n"
    "iadd r9.x, r9.x, l0.x\n"
    "iadd r9.y, r9.y, l0.z\n"
    "iadd r9.z, r9.z, l0.w\n"
    "endloop\n"
    "fence_threads_lds\n"
    "iadd r1.x, r1.x, l0.z\n"
    "iadd r1.y, r1.y, r1.z\n"
    "iadd r5.x, r5.x, l0.w\n"
    "endloop\n"
    "uav_raw_store_id(2) mem0.x___, r3.x, r4.x\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {256, 0, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer buffers[3], constants;
    static const char* symbols[3] = {"uav0", "uav1", "uav2"};
    const unsigned block[2] = {16, 16};
    size_t wrong = 0;

    sample_options(argc, argv, &options, "matrix product through LDS; the size is a multiple of 16");
    unsigned n = options.n;
    if (n % 16 != 0 || n > 8192) {
        fprintf(stderr, "the size must be a multiple of 16 and at most 8192\n");
        return 2;
    }
    size_t count = (size_t)n * n;
    float* a = sample_memory(count * sizeof *a);
    float* b = sample_memory(count * sizeof *b);
    float* c = sample_memory(count * sizeof *c);
    float* expected = sample_memory(count * sizeof *expected);
    uint32_t seed = 16, rows[4] = {n * 4, n / 16, 0, 0};
    for (size_t i = 0; i < count; ++i) {
        a[i] = (float)(sample_random(&seed) >> 29) / 8.0f; /* all sums are exact */
        b[i] = (float)(sample_random(&seed) >> 29) / 8.0f;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 3; ++i) {
        sample_stream(&device, &kernel, symbols[i], &buffers[i], n * n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, NULL);
    }
    sample_write(&buffers[0], a);
    sample_write(&buffers[1], b);
    sample_constants(&device, &kernel, "cb0", &constants, rows, 1);

    const unsigned groups[2] = {n / 16, n / 16};
    double seconds = sample_time_grid2(&device, &kernel, groups, block, options.iterations);
    sample_read(&buffers[2], c);

    for (unsigned y = 0; y < n; ++y) {
        for (unsigned k = 0; k < n; ++k) {
            for (unsigned x = 0; x < n; ++x) {
                expected[(size_t)y * n + x] += a[(size_t)y * n + k] * b[(size_t)k * n + x];
            }
        }
    }
    for (size_t i = 0; i < count; ++i) {
        wrong += c[i] != expected[i];
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
    free(expected);
    return sample_verdict("compute_matmult", wrong == 0);
}
