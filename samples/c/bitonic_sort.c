/*
 * bitonic_sort - sorts keys in a raw UAV by Batcher's network: one launch per pass, half as many threads as keys, the
 * two numbers of the pass in a constant buffer.
 */
#include "sample.h"

/* cb0[0].x = j, the distance; .y = k, the length of the runs being merged */
static const char* kernel_text =
    SAMPLE_CS(64)
    "dcl_raw_uav_id(0)\n"
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 4, 1, 0, 0\n"
    /* r0.x = index with bit j clear: 2 * (t & ~(j - 1)) + (t & (j - 1)) */
    "iadd r1.x, cb0[0].x, l0.y_neg(xyzw)\n"
    "iand r1.y, vAbsTidFlat.x, r1.x\n"
    "iadd r1.z, vAbsTidFlat.x, r1.y_neg(xyzw)\n"
    "ishl r1.z, r1.z, l0.y\n"
    "ior r0.x, r1.z, r1.y\n"
    "ior r0.y, r0.x, cb0[0].x\n"
    "imul r2.xy, r0.xy, l0.xx\n"
    "uav_raw_load_id(0) r3.x, r2.x\n"
    "uav_raw_load_id(0) r7.x, r2.y\n" /* into .x: a mask .y would load the word after it */
    "umin r4.x, r3.x, r7.x\n"
    "umax r4.y, r3.x, r7.x\n"
    "iand r5.x, r0.x, cb0[0].y\n" /* descending runs */
    "cmov_logical r6.x, r5.x, r4.y, r4.x\n"
    "cmov_logical r6.y, r5.x, r4.x, r4.y\n"
    "uav_raw_store_id(0) mem0.x___, r2.x, r6.x\n"
    "uav_raw_store_id(0) mem0.x___, r2.y, r6.y\n"
    "end\n";

static int ascending(const void* a, const void* b)
{
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv)
{
    SampleOptions options = {65536, 0, 1, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer keys, constants;
    unsigned pass = 0;

    sample_options(argc, argv, &options, "sorts -n keys; n is a power of two from 128");
    unsigned n = options.n;
    if (n < 128 || (n & (n - 1)) != 0 || n > 1u << 26) {
        fprintf(stderr, "the number of keys must be a power of two from 128 to 67108864\n");
        return 2;
    }
    uint32_t* host = sample_memory((size_t)n * 4);
    uint32_t* sorted = sample_memory((size_t)n * 4);
    uint32_t seed = 5;
    for (unsigned i = 0; i < n; ++i) {
        host[i] = sample_random(&seed);
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "uav0", &keys, n, 0, CAL_FORMAT_UNSIGNED_INT32_1, SAMPLE_GLOBAL, NULL);
    sample_stream(&device, &kernel, "cb0", &constants, 1, 0, CAL_FORMAT_UNSIGNED_INT32_4, SAMPLE_REMOTE, NULL);

    double seconds = 0;
    for (unsigned i = 0; i < options.iterations; ++i) {
        sample_write(&keys, host);
        double start = sample_seconds();
        for (uint32_t k = 2; k <= n; k *= 2) {
            for (uint32_t j = k / 2; j > 0; j /= 2) {
                uint32_t numbers[4] = {j, k == n ? 0 : k, 0, 0};
                sample_write(&constants, numbers);
                sample_run_grid(&device, &kernel, n / 128, 64);
                ++pass;
            }
        }
        seconds += sample_seconds() - start;
    }
    seconds /= options.iterations;
    sample_read(&keys, sorted);
    qsort(host, n, sizeof *host, ascending);
    int passed = memcmp(host, sorted, (size_t)n * 4) == 0;
    printf("%u keys, %u passes: %.2f ms, %.2f million keys a second\n", n, pass / options.iterations, seconds * 1e3,
           1e-6 * n / seconds);

    sample_free(&device, &keys);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(host);
    free(sorted);
    return sample_verdict("bitonic_sort", passed);
}
