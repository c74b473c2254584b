/*
 * mandelbrot - iteration counts of points that leave the loop at very different times. The counts must equal those of
 * the same operations in C exactly. -o writes them as a picture.
 */
#include "sample.h"

/* cb0[0] = left, top, step, 4.0; cb0[1].x = limit */
static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    "dcl_cb cb0[2]\n"
    "dcl_literal l0, 0, 1, 0, 0\n"
    "mul r0.xy__, vWinCoord0.xyxx, cb0[0].zzzz\n"
    "add r0.xy__, r0.xyxx, cb0[0].xyxx\n"
    "mov r1.xy__, r0.xyxx\n"
    "mov r2.x, l0.x\n"
    "whileloop\n"
    "ige r3.x, r2.x, cb0[1].x\n"
    "break_logicalnz r3.x\n"
    "mul r4.xy__, r1.xyxx, r1.xyxx\n"
    "add r4.__z_, r4.x, r4.y\n"
    "lt r3.y, cb0[0].w, r4.z\n"
    "break_logicalnz r3.y\n"
    "mul r5.x, r1.x, r1.y\n"
    "add r5.x, r5.x, r5.x\n"
    "sub r5.y, r4.x, r4.y\n"
    "add r1.x, r5.y, r0.x\n"
    "add r1.y, r5.x, r0.y\n"
    "iadd r2.x, r2.x, l0.y\n"
    "endloop\n"
    "mov o0, r2.xxxx\n"
    "end\n";

static uint32_t count(unsigned column, unsigned row, const float* view, uint32_t limit)
{
    float x0 = ((float)column + 0.5f) * view[2] + view[0];
    float y0 = ((float)row + 0.5f) * view[2] + view[1];
    float x = x0, y = y0;
    uint32_t n = 0;
    for (; n < limit; ++n) {
        float xx = x * x, yy = y * y, xy;
        if (xx + yy > 4.0f) {
            break;
        }
        xy = x * y;
        x = (xx - yy) + x0;
        y = (xy + xy) + y0;
    }
    return n;
}

int main(int argc, char** argv)
{
    SampleOptions options = {512, 256, 3, 0, ""};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer output, constants;
    union {
        float    view[8];
        uint32_t words[8];
    } constant;
    size_t wrong = 0;
    double steps = 0;

    sample_options(argc, argv, &options, "Mandelbrot set, -n points a side, at most -m steps");
    unsigned n = options.n;
    uint32_t* counts = sample_memory((size_t)n * n * 4);
    memset(&constant, 0, sizeof constant);
    constant.view[0] = -2.0f;
    constant.view[1] = -1.25f;
    constant.view[2] = 2.5f / (float)n;
    constant.view[3] = 4.0f;
    constant.words[4] = options.m;

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    sample_stream(&device, &kernel, "o0", &output, n, n, CAL_FORMAT_UNSIGNED_INT32_1, SAMPLE_LOCAL, NULL);
    sample_constants(&device, &kernel, "cb0", &constants, &constant, 2);

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    sample_read(&output, counts);

    double host_start = sample_seconds();
    for (unsigned y = 0; y < n; ++y) {
        for (unsigned x = 0; x < n; ++x) {
            uint32_t c = count(x, y, constant.view, options.m);
            wrong += counts[(size_t)y * n + x] != c;
            steps += c;
        }
    }
    double host = sample_seconds() - host_start;
    printf("%u x %u, limit %u: %.2f ms, %.1f million steps a second; C loop, one thread: %.2f ms, ratio %.2f\n", n, n,
           options.m, seconds * 1e3, 1e-6 * steps / seconds, host * 1e3, host / seconds);

    unsigned char* grey = sample_memory((size_t)n * n);
    for (size_t i = 0; i < (size_t)n * n; ++i) { /* black inside, bands outside */
        grey[i] = counts[i] == options.m ? 0 : (unsigned char)(255 - counts[i] * 15 % 192);
    }
    sample_picture(&options, n, n, grey);

    sample_free(&device, &output);
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(counts);
    free(grey);
    return sample_verdict("mandelbrot", wrong == 0);
}
