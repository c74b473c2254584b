/*
 * transpose - a picture mirrored at its diagonal in two ways: "naive", each thread fetches from the mirrored place, so
 * that neighbours read far apart; "local", groups of 16 x 16 go through LDS, so that reads and writes are both in rows.
 */
#include "sample.h"

static const char* naive =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    SAMPLE_INPUT(0)
    "sample_resource(0)_sampler(0) o0, vWinCoord0.yxyx\n"
    "end\n";

static const char* local =
    "il_cs_2_0\n"
    "dcl_num_thread_per_group 16, 16, 1\n"
    "dcl_lds_id(0) 1088\n" /* rows of 17 words: columns then fall on different banks */
    "dcl_raw_uav_id(0)\n"
    "dcl_raw_uav_id(1)\n"
    "dcl_cb cb0[1]\n" /* x: bytes of a row */
    "dcl_literal l0, 4, 16, 68, 0\n"
    "umul r0.x, vAbsTid.y, cb0[0].x\n"
    "imul r0.y, vAbsTid.x, l0.x\n"
    "iadd r0.x, r0.x, r0.y\n"
    "uav_raw_load_id(0) r1.x, r0.x\n"
    "imul r2.x, vTidInGrp.y, l0.z\n"
    "imul r2.y, vTidInGrp.x, l0.x\n"
    "iadd r2.x, r2.x, r2.y\n"
    "lds_store_id(0) r2.x, r1.x\n"
    "fence_threads_lds\n"
    "imul r3.x, vTidInGrp.x, l0.z\n"
    "imul r3.y, vTidInGrp.y, l0.x\n"
    "iadd r3.x, r3.x, r3.y\n"
    "lds_load_id(0) r1.x, r3.x\n"
    /* group (bx, by) writes block (by, bx) */
    "imul r4.x, vThreadGrpId.y, l0.y\n"
    "iadd r4.x, r4.x, vTidInGrp.x\n"
    "imul r4.y, vThreadGrpId.x, l0.y\n"
    "iadd r4.y, r4.y, vTidInGrp.y\n"
    "umul r5.x, r4.y, cb0[0].x\n"
    "imul r5.y, r4.x, l0.x\n"
    "iadd r5.x, r5.x, r5.y\n"
    "uav_raw_store_id(1) mem0.x___, r5.x, r1.x\n"
    "end\n";

static size_t compare(const float* in, const float* out, unsigned n)
{
    size_t wrong = 0;
    for (unsigned y = 0; y < n; ++y) {
        for (unsigned x = 0; x < n; ++x) {
            wrong += out[(size_t)y * n + x] != in[(size_t)x * n + y];
        }
    }
    return wrong;
}

/* An element tells where it was in the original: rings around a point there. */
static unsigned char grey(float element, unsigned n)
{
    long place = (long)element, size = (long)n, x = place % size - size * 3 / 4, y = place / size - size / 4;
    return (unsigned char)((x * x + y * y) * 2048 / (size * size) % 256);
}

int main(int argc, char** argv)
{
    SampleOptions options = {1024, 0, 5, 0, ""};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer input, output, constants;
    size_t wrong = 0;

    sample_options(argc, argv, &options, "transpose, naive and through LDS; the size is a multiple of 16");
    unsigned n = options.n;
    if (n % 16 != 0 || n > 8192) {
        fprintf(stderr, "the size must be a multiple of 16 and at most 8192\n");
        return 2;
    }
    size_t count = (size_t)n * n;
    float* in = sample_memory(count * 4);
    float* out = sample_memory(count * 4);
    uint32_t row[4] = {n * 4, 0, 0, 0};
    for (size_t i = 0; i < count; ++i) {
        in[i] = (float)(i % 16777216);
    }

    sample_start(&device, options.device);

    sample_kernel(&device, &kernel, naive);
    sample_stream(&device, &kernel, "i0", &input, n, n, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL, in);
    sample_stream(&device, &kernel, "o0", &output, n, n, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL, NULL);
    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    sample_read(&output, out);
    wrong += compare(in, out, n);
    printf("%u x %u naive: %.3f ms, %.2f GB/s\n", n, n, seconds * 1e3, 8e-9 * count / seconds);
    sample_free(&device, &input);
    sample_free(&device, &output);
    sample_unload(&device, &kernel);

    sample_kernel(&device, &kernel, local);
    sample_stream(&device, &kernel, "uav0", &input, n * n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, in);
    sample_stream(&device, &kernel, "uav1", &output, n * n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, row, 1);
    const unsigned groups[2] = {n / 16, n / 16}, block[2] = {16, 16};
    seconds = sample_time_grid2(&device, &kernel, groups, block, options.iterations);
    memset(out, 0, count * 4);
    sample_read(&output, out);
    wrong += compare(in, out, n);
    printf("%u x %u local: %.3f ms, %.2f GB/s\n", n, n, seconds * 1e3, 8e-9 * count / seconds);
    sample_free(&device, &input);
    sample_free(&device, &output);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);

    unsigned char* pictures = sample_memory(count * 2);
    for (unsigned y = 0; y < n; ++y) {
        for (unsigned x = 0; x < n; ++x) {
            pictures[(size_t)y * 2 * n + x] = grey(in[(size_t)y * n + x], n);
            pictures[(size_t)y * 2 * n + n + x] = grey(out[(size_t)y * n + x], n);
        }
    }
    sample_picture(&options, 2 * n, n, pictures);

    sample_end(&device);
    free(pictures);
    free(in);
    free(out);
    return sample_verdict("transpose", wrong == 0);
}
