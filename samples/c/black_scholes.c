/*
 * black_scholes - prices of European options, four to a thread: exponential, logarithm, square root and division, and
 * the cumulative normal distribution by Hastings' polynomial as a function that is called twice.
 */
#include "sample.h"

#include <math.h>

/* i0: price, i1: strike, i2: years. cb0[0] = rate, volatility, rate + volatility^2 / 2. o0: call, o1: put. */
static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    "dcl_output_generic o1\n"
    SAMPLE_INPUT(0) SAMPLE_INPUT(1) SAMPLE_INPUT(2)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.2316419, 1.330274429, -1.821255978, 1.781477937\n"
    "dcl_literal l1, -0.356563782, 0.319381530, 0.39894228, 1.0\n"
    "dcl_literal l2, 1.44269504, 0.69314718, -0.5, 0.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n" /* S */
    "sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx\n" /* K */
    "sample_resource(2)_sampler(0) r2, vWinCoord0.xyxx\n" /* T */
    "sqrt_vec r3, r2\n"
    "mul r3, r3, cb0[0].yyyy\n" /* v sqrt(T) */
    "div_zeroop(infinity) r4, r0, r1\n"
    "log_vec r4, r4\n"
    "mul r4, r4, l2.yyyy\n" /* ln(S/K) */
    "mad r4, r2, cb0[0].zzzz, r4\n"
    "div_zeroop(infinity) r4, r4, r3\n" /* d1 */
    "sub r5, r4, r3\n"                  /* d2 */
    "mov r10, r4\n"
    "call 1\n"
    "mov r6, r12\n" /* N(d1) */
    "mov r10, r5\n"
    "call 1\n"
    "mov r7, r12\n" /* N(d2) */
    "mul r8, r2, cb0[0].xxxx\n"
    "mul r8, r8_neg(xyzw), l2.xxxx\n"
    "exp_vec r8, r8\n"
    "mul r8, r8, r1\n" /* K exp(-rT) */
    "mul r9, r8, r7\n"
    "mad o0, r0, r6, r9_neg(xyzw)\n"
    "sub r6, l1.wwww, r6\n"
    "sub r7, l1.wwww, r7\n"
    "mul r9, r0, r6\n"
    "mad o1, r8, r7, r9_neg(xyzw)\n"
    "endmain\n"
    /* r12 = cumulative normal distribution of r10 */
    "func 1\n"
    "mov r11, r10_abs\n"
    "mad r13, r11, l0.xxxx, l1.wwww\n"
    "div_zeroop(infinity) r13, l1.wwww, r13\n"
    "mad r14, r13, l0.yyyy, l0.zzzz\n"
    "mad r14, r14, r13, l0.wwww\n"
    "mad r14, r14, r13, l1.xxxx\n"
    "mad r14, r14, r13, l1.yyyy\n"
    "mul r14, r14, r13\n"
    "mul r15, r11, r11\n"
    "mul r15, r15, l2.zzzz\n"
    "mul r15, r15, l2.xxxx\n"
    "exp_vec r15, r15\n"
    "mul r15, r15, l1.zzzz\n"
    "mul r12, r15, r14\n"
    "sub r14, l1.wwww, r12\n"
    "lt r13, l2.wwww, r10\n"
    "cmov_logical r12, r13, r14, r12\n"
    "ret\n"
    "endfunc\n"
    "end\n";

static double normal(double d)
{
    return 0.5 * erfc(-d / sqrt(2.0));
}

int main(int argc, char** argv)
{
    SampleOptions options = {256, 0, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer inputs[3], outputs[2], constants;
    static const char* input_symbols[3] = {"i0", "i1", "i2"};
    static const char* output_symbols[2] = {"o0", "o1"};
    const double rate = 0.02, volatility = 0.3;
    float numbers[4] = {(float)rate, (float)volatility, (float)(rate + volatility * volatility / 2), 0};
    double worst = 0;

    sample_options(argc, argv, &options, "prices of 4 n^2 options");
    unsigned n = options.n;
    size_t count = (size_t)n * n * 4;
    float *in[3], *out[2];
    uint32_t seed = 1973;
    for (unsigned k = 0; k < 3; ++k) {
        static const float low[3] = {5, 1, 0.25f}, high[3] = {30, 100, 10};
        in[k] = sample_memory(count * 4);
        for (size_t i = 0; i < count; ++i) {
            in[k][i] = low[k] + (high[k] - low[k]) * sample_random_float(&seed);
        }
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned k = 0; k < 3; ++k) {
        sample_stream(&device, &kernel, input_symbols[k], &inputs[k], n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, in[k]);
    }
    for (unsigned k = 0; k < 2; ++k) {
        out[k] = sample_memory(count * 4);
        sample_stream(&device, &kernel, output_symbols[k], &outputs[k], n, n, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL, NULL);
    }
    sample_constants(&device, &kernel, "cb0", &constants, numbers, 1);

    double seconds = sample_time_domain(&device, &kernel, n, n, options.iterations);
    for (unsigned k = 0; k < 2; ++k) {
        sample_read(&outputs[k], out[k]);
    }
    for (size_t i = 0; i < count; ++i) {
        double s = in[0][i], strike = in[1][i], t = in[2][i];
        double d1 = (log(s / strike) + (rate + volatility * volatility / 2) * t) / (volatility * sqrt(t));
        double d2 = d1 - volatility * sqrt(t), discounted = strike * exp(-rate * t);
        double call = s * normal(d1) - discounted * normal(d2);
        double put = discounted * normal(-d2) - s * normal(-d1);
        double e = fabs(out[0][i] - call), f = fabs(out[1][i] - put);
        worst = e > worst || e != e ? e : worst;
        worst = f > worst || f != f ? f : worst;
    }
    printf("%lu options: %.2f ms, %.2f million a second; largest error %.2g\n", (unsigned long)count, seconds * 1e3,
           1e-6 * count / seconds, worst);

    for (unsigned k = 0; k < 3; ++k) {
        sample_free(&device, &inputs[k]);
        free(in[k]);
    }
    for (unsigned k = 0; k < 2; ++k) {
        sample_free(&device, &outputs[k]);
        free(out[k]);
    }
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    return sample_verdict("black_scholes", worst < 1e-4);
}
