/*
 * simple_matmult - C = A * B for square matrices with the final kernel of the PLDI 2008 CAL tutorial: A comes in 8
 * streams, B in 4, C leaves in 8 outputs, so that a thread makes an 8 x 4 block of C; the loop is unrolled by
 * four, its four positions are kept in registers of their own, and fetches from one stream stand together.
 *
 * Streams: A_s and C_s are the rows s*n/8 ... of A and C; B_j has the rows j, j+4, j+8 ... of B. An element is
 * four floats of a row. The entries are multiples of 1/8 below 1, so that every sum is exact and the result must
 * equal the host's bit for bit.
 */
#include "sample.h"

#define DCL_OUTPUT(N) "dcl_output_generic o" #N "\n"

/* Fetches the four positions of stream S into four registers. B is addressed by (x, k), A by (k, y). */
#define FETCH_B(S, R0, R1, R2, R3) \
    "sample_resource(" #S ")_sampler(" #S ") r" #R0 ", r2.xzxx\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R1 ", r2.xwxx\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R2 ", r3.xzxx\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R3 ", r3.xwxx\n"
#define FETCH_A(S, R0, R1, R2, R3) \
    "sample_resource(" #S ")_sampler(" #S ") r" #R0 ", r2.zyzz\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R1 ", r2.wyww\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R2 ", r3.zyzz\n" \
    "sample_resource(" #S ")_sampler(" #S ") r" #R3 ", r3.wyww\n"

/* C += A.y * B1 + A.x * B0 + A.z * B2 + A.w * B3 */
#define MULTIPLY(C, A, B0, B1, B2, B3) \
    "mad r" #C ", r" #A ".y, r" #B1 ", r" #C "\n" \
    "mad r" #C ", r" #A ".x, r" #B0 ", r" #C "\n" \
    "mad r" #C ", r" #A ".z, r" #B2 ", r" #C "\n" \
    "mad r" #C ", r" #A ".w, r" #B3 ", r" #C "\n"

/* One stream of A against the four blocks of B. B_j at position p is register 20 + 4j + p. */
#define STREAM(S, C) \
    FETCH_A(S, 36, 37, 38, 39) \
    MULTIPLY(C, 36, 20, 24, 28, 32) \
    MULTIPLY(C, 37, 21, 25, 29, 33) \
    MULTIPLY(C, 38, 22, 26, 30, 34) \
    MULTIPLY(C, 39, 23, 27, 31, 35)

static const char* kernel_text =
    SAMPLE_PS
    DCL_OUTPUT(0) DCL_OUTPUT(1) DCL_OUTPUT(2) DCL_OUTPUT(3)
    DCL_OUTPUT(4) DCL_OUTPUT(5) DCL_OUTPUT(6) DCL_OUTPUT(7)
    SAMPLE_INPUT(0) SAMPLE_INPUT(1) SAMPLE_INPUT(2) SAMPLE_INPUT(3)
    SAMPLE_INPUT(4) SAMPLE_INPUT(5) SAMPLE_INPUT(6) SAMPLE_INPUT(7)
    SAMPLE_INPUT(8) SAMPLE_INPUT(9) SAMPLE_INPUT(10) SAMPLE_INPUT(11)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.0, 1.0, 2.0, 3.0\n"
    "dcl_literal l1, 4.0, 4.0, 4.0, 4.0\n"
    "dcl_literal l2, 0, 1, 0, 0\n"
    /* r2 = (x, y, k, k+1), r3 = (x, y, k+2, k+3), r4.x = round */
    "mov r2, vWinCoord0.xyxy\n"
    "mov r3, vWinCoord0.xyxy\n"
    "mov r2.__zw, l0.00xy\n"
    "mov r3.__zw, l0.00zw\n"
    "mov r4, l2.xxxx\n"
    "mov r10, l0.0000\n"
    "mov r11, l0.0000\n"
    "mov r12, l0.0000\n"
    "mov r13, l0.0000\n"
    "mov r14, l0.0000\n"
    "mov r15, l0.0000\n"
    "mov r16, l0.0000\n"
    "mov r17, l0.0000\n"
    "whileloop\n"
    "ige r4._y__, r4.x, cb0[0].x\n"
    "break_logicalnz r4.y\n"
    FETCH_B(8, 20, 21, 22, 23)
    FETCH_B(9, 24, 25, 26, 27)
    FETCH_B(10, 28, 29, 30, 31)
    FETCH_B(11, 32, 33, 34, 35)
    STREAM(0, 10) STREAM(1, 11) STREAM(2, 12) STREAM(3, 13)
    STREAM(4, 14) STREAM(5, 15) STREAM(6, 16) STREAM(7, 17)
    "add r2.__zw, r2.00zw, l1\n"
    "add r3.__zw, r3.00zw, l1\n"
    "iadd r4.x___, r4.x, l2.y\n"
    "endloop\n"
    "mov o0, r10\n"
    "mov o1, r11\n"
    "mov o2, r12\n"
    "mov o3, r13\n"
    "mov o4, r14\n"
    "mov o5, r15\n"
    "mov o6, r16\n"
    "mov o7, r17\n"
    "end\n";

/* What the kernel is measured against: one thread, blocked so that the piece of B in use stays in the cache. */
static void multiply_on_host(const float* a, const float* b, float* c, unsigned n)
{
    enum { BLOCK_K = 64, BLOCK_J = 256 };
    memset(c, 0, (size_t)n * n * sizeof *c);
    for (unsigned kk = 0; kk < n; kk += BLOCK_K) {
        for (unsigned jj = 0; jj < n; jj += BLOCK_J) {
            unsigned k_end = kk + BLOCK_K < n ? kk + BLOCK_K : n;
            unsigned j_end = jj + BLOCK_J < n ? jj + BLOCK_J : n;
            for (unsigned i = 0; i < n; ++i) {
                for (unsigned k = kk; k < k_end; ++k) {
                    float factor = a[(size_t)i * n + k];
                    const float* from = b + (size_t)k * n;
                    float* to = c + (size_t)i * n;
                    for (unsigned j = jj; j < j_end; ++j) {
                        to[j] += factor * from[j];
                    }
                }
            }
        }
    }
}

int main(int argc, char** argv)
{
    SampleOptions options = {1024, 0, 5, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer a_streams[8], b_streams[4], c_streams[8], constants;
    char symbol[8];

    sample_options(argc, argv, &options, "matrix product in the tutorial's final form; the size is a multiple of 16");
    unsigned n = options.n;
    if (n % 16 != 0 || n > 8192) {
        fprintf(stderr, "the size must be a multiple of 16 and at most 8192\n");
        return 2;
    }

    size_t bytes = (size_t)n * n * sizeof(float);
    float* a = sample_memory(bytes);
    float* b = sample_memory(bytes);
    float* c = sample_memory(bytes);
    float* expected = sample_memory(bytes);
    uint32_t seed = 2008;
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        a[i] = (float)(sample_random(&seed) >> 29) / 8.0f;
        b[i] = (float)(sample_random(&seed) >> 29) / 8.0f;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);

    for (unsigned s = 0; s < 8; ++s) {
        sample_buffer(&device, &a_streams[s], n / 4, n / 8, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sample_write(&a_streams[s], a + (size_t)s * (n / 8) * n);
        sprintf(symbol, "i%u", s);
        sample_bind(&device, &kernel, symbol, &a_streams[s]);

        sample_buffer(&device, &c_streams[s], n / 4, n / 8, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sprintf(symbol, "o%u", s);
        sample_bind(&device, &kernel, symbol, &c_streams[s]);
    }
    for (unsigned j = 0; j < 4; ++j) {
        sample_buffer(&device, &b_streams[j], n / 4, n / 4, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        for (unsigned row = 0; row < n / 4; ++row) {
            memcpy(c + (size_t)row * n, b + ((size_t)row * 4 + j) * n, n * sizeof(float));
        }
        sample_write(&b_streams[j], c);
        sprintf(symbol, "i%u", 8 + j);
        sample_bind(&device, &kernel, symbol, &b_streams[j]);
    }
    uint32_t rounds[4] = {n / 16, 0, 0, 0};
    sample_constants(&device, &kernel, "cb0", &constants, rounds, 1);

    double best = 0.0, total = 0.0;
    for (unsigned i = 0; i < options.iterations; ++i) {
        double start = sample_seconds();
        sample_run_domain(&device, &kernel, n / 4, n / 8);
        double seconds = sample_seconds() - start;
        total += seconds;
        if (i == 0 || seconds < best) {
            best = seconds;
        }
    }
    for (unsigned s = 0; s < 8; ++s) {
        sample_read(&c_streams[s], c + (size_t)s * (n / 8) * n);
    }

    double host_start = sample_seconds();
    multiply_on_host(a, b, expected, n);
    double host = sample_seconds() - host_start;

    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        wrong += c[i] != expected[i];
    }

    double work = 2.0 * n * n * n * 1e-9;
    printf("%u x %u, %u runs: best %.2f ms, %.2f GFLOPS (average %.2f)\n", n, n, options.iterations, best * 1e3,
           work / best, work * options.iterations / total);
    printf("blocked C loop, one thread: %.2f ms, %.2f GFLOPS; ratio %.2f\n", host * 1e3, work / host, host / best);
    if (wrong) {
        printf("%lu of %lu elements are wrong\n", (unsigned long)wrong, (unsigned long)n * n);
    }

    for (unsigned s = 0; s < 8; ++s) {
        sample_free(&device, &a_streams[s]);
        sample_free(&device, &c_streams[s]);
    }
    for (unsigned j = 0; j < 4; ++j) {
        sample_free(&device, &b_streams[j]);
    }
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(a);
    free(b);
    free(c);
    free(expected);
    return sample_verdict("simple_matmult", wrong == 0);
}
