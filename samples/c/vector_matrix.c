/*
 * vector_matrix - y = x * M for a large square matrix: a thread per column, the vector going through LDS in tiles of
 * 128 elements that the 128 threads of a group share; the matrix is read once and not kept.
 */
#include "sample.h"

static const char* kernel_text =
    SAMPLE_CS(128)
    "dcl_lds_id(0) 512\n"
    "dcl_raw_uav_id(0)\n" /* x */
    "dcl_raw_uav_id(1)\n" /* M */
    "dcl_raw_uav_id(2)\n" /* y */
    "dcl_cb cb0[1]\n"     /* x: tiles, y: bytes of a row */
    "dcl_literal l0, 4, 512, 1, 0\n"
    "imul r0.x, vTidInGrpFlat.x, l0.x\n" /* own word in LDS */
    "imul r0.y, vAbsTidFlat.x, l0.x\n"   /* byte of M and y */
    "mov r0.z, r0.x\n"                   /* byte of x */
    "mov r1.x, r0.y\n"
    "mov r4, l0.wwww\n"
    "mov r5, l0.wwww\n"
    "whileloop\n"
    "ige r6.x, r5.x, cb0[0].x\n"
    "break_logicalnz r6.x\n"
    "uav_raw_load_id(0) r7.x, r0.z\n"
    "lds_store_id(0) r0.x, r7.x\n"
    "fence_threads_lds\n"
    "mov r5.y, l0.w\n"
    "whileloop\n"
    "ige r6.x, r5.y, l0.y\n"
    "break_logicalnz r6.x\n"
    "lds_load_id(0) r8.x, r5.y\n"
    "uav_raw_load_id(1) r9.x, r1.x\n"
    "mad r4.x, r8.x, r9.x, r4.x\n"
    "iadd r5.y, r5.y, l0.x\n"
    "iadd r1.x, r1.x, cb0[0].y\n"
    "endloop\n"
    "fence_threads_lds\n"
    "iadd r0.z, r0.z, l0.y\n"
    "iadd r5.x, r5.x, l0.z\n"
    "endloop\n"
    "uav_raw_store_id(2) mem0.x___, r0.y, r4.x\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {1024, 0, 5, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer vector, matrix, product, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "vector times matrix; the size is a multiple of 128");
    unsigned n = options.n;
    if (n % 128 != 0 || n > 16384) {
        fprintf(stderr, "the size must be a multiple of 128 and at most 16384\n");
        return 2;
    }
    float* x = sample_memory((size_t)n * 4);
    float* m = sample_memory((size_t)n * n * 4);
    float* y = sample_memory((size_t)n * 4);
    float* expected = sample_memory((size_t)n * 4);
    uint32_t seed = 128, numbers[4] = {n / 128, n * 4, 0, 0};
    for (unsigned i = 0; i < n; ++i) {
        x[i] = (float)(sample_random(&seed) >> 29) / 8.0f; /* sums are exact */
    }
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        m[i] = (float)(sample_random(&seed) >> 29) / 8.0f;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "uav0", &vector, n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, x);
    sample_stream(&device, &kernel, "uav1", &matrix, n * n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, m);
    sample_stream(&device, &kernel, "uav2", &product, n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, numbers, 1);

    double seconds = sample_time_grid(&device, &kernel, n / 128, 128, options.iterations);
    sample_read(&product, y);

    for (unsigned k = 0; k < n; ++k) {
        for (unsigned i = 0; i < n; ++i) {
            expected[i] += x[k] * m[(size_t)k * n + i];
        }
    }
    for (unsigned i = 0; i < n; ++i) {
        wrong += y[i] != expected[i];
    }
    printf("%u: %.3f ms, %.2f GFLOPS, %.2f GB/s\n", n, seconds * 1e3, 2e-9 * n * n / seconds, 4e-9 * n * n / seconds);

    sample_free(&device, &vector);
    sample_free(&device, &matrix);
    sample_free(&device, &product);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(x);
    free(m);
    free(y);
    free(expected);
    return sample_verdict("vector_matrix", wrong == 0);
}
