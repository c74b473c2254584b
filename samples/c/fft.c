/*
 * fft - radix-2 Stockham transform of complex numbers: log2 n launches between two buffers, no bit reversal. Twiddle
 * factors come from the kernel's own sine and cosine. Checked against a double-precision transform on the host.
 */
#include "sample.h"

#include <math.h>

/* Thread t of n/2: x[t], x[t + n/2] -> y[j], y[j + p]. cb0[0] = p, n/2 * 8 (bytes), p * 8; cb1[0].x = -pi / p. */
static const char* kernel_text =
    SAMPLE_CS(64)
    "dcl_raw_uav_id(0)\n"
    "dcl_raw_uav_id(1)\n"
    "dcl_cb cb0[1]\n"
    "dcl_cb cb1[1]\n"
    "dcl_literal l0, 8, 1, 0, 0\n"
    "imul r0.x, vAbsTidFlat.x, l0.x\n"
    "iadd r0.y, r0.x, cb0[0].y\n"
    "uav_raw_load_id(0) r1.xy, r0.x\n"
    "uav_raw_load_id(0) r2.xy, r0.y\n"
    "iadd r3.x, cb0[0].x, l0.y_neg(xyzw)\n"
    "iand r3.y, vAbsTidFlat.x, r3.x\n" /* k = t & (p - 1) */
    "itof r3.z, r3.y\n"
    "mul r3.z, r3.z, cb1[0].x\n"
    "cos_vec r4.x, r3.z\n"
    "sin_vec r4.y, r3.z\n"
    /* r5.xy = r2 * w */
    "mul r5.x, r2.x, r4.x\n"
    "mul r5.z, r2.y, r4.y\n"
    "sub r5.x, r5.x, r5.z\n"
    "mul r5.y, r2.x, r4.y\n"
    "mul r5.w, r2.y, r4.x\n"
    "add r5.y, r5.y, r5.w\n"
    "add r6.xy, r1.xy, r5.xy\n"
    "sub r7.xy, r1.xy, r5.xy\n"
    /* j = 2 (t - k) + k */
    "iadd r8.x, vAbsTidFlat.x, r3.y_neg(xyzw)\n"
    "ishl r8.x, r8.x, l0.y\n"
    "iadd r8.x, r8.x, r3.y\n"
    "imul r8.x, r8.x, l0.x\n"
    "iadd r8.y, r8.x, cb0[0].z\n"
    "uav_raw_store_id(1) mem0.xy__, r8.x, r6\n"
    "uav_raw_store_id(1) mem0.xy__, r8.y, r7\n"
    "end\n";

/* The same algorithm in double precision. */
static void transform(double* x, double* y, unsigned n)
{
    const double pi = 3.14159265358979323846;
    double* result = x;
    for (unsigned p = 1; p < n; p *= 2) {
        for (unsigned t = 0; t < n / 2; ++t) {
            unsigned k = t & (p - 1), j = 2 * (t - k) + k;
            double c = cos(-pi * k / p), s = sin(-pi * k / p);
            const double *a = x + 2 * t, *b = x + 2 * (t + n / 2);
            double re = b[0] * c - b[1] * s, im = b[0] * s + b[1] * c;
            y[2 * j] = a[0] + re;
            y[2 * j + 1] = a[1] + im;
            y[2 * (j + p)] = a[0] - re;
            y[2 * (j + p) + 1] = a[1] - im;
        }
        double* swap = x;
        x = y;
        y = swap;
    }
    if (x != result) {
        memcpy(result, x, (size_t)n * 16);
    }
}

int main(int argc, char** argv)
{
    SampleOptions options = {4096, 0, 3, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer buffers[2], cb0, cb1;
    unsigned passes = 0;

    sample_options(argc, argv, &options, "Fourier transform of -n complex numbers; n is a power of two from 128");
    unsigned n = options.n;
    if (n < 128 || (n & (n - 1)) != 0 || n > 1u << 20) {
        fprintf(stderr, "the size must be a power of two from 128 to 1048576\n");
        return 2;
    }
    float* in = sample_memory((size_t)n * 8);
    float* out = sample_memory((size_t)n * 8);
    double* reference = sample_memory((size_t)n * 16);
    double* scratch = sample_memory((size_t)n * 16);
    uint32_t seed = 8;
    for (unsigned i = 0; i < 2 * n; ++i) {
        in[i] = sample_random_float(&seed) - 0.5f;
        reference[i] = in[i];
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 2; ++i) {
        sample_buffer(&device, &buffers[i], 2 * n, 0, CAL_FORMAT_FLOAT32_1, SAMPLE_GLOBAL);
    }
    sample_stream(&device, &kernel, "cb0", &cb0, 1, 0, CAL_FORMAT_UNSIGNED_INT32_4, SAMPLE_REMOTE, NULL);
    sample_stream(&device, &kernel, "cb1", &cb1, 1, 0, CAL_FORMAT_FLOAT32_4, SAMPLE_REMOTE, NULL);

    double seconds = 0;
    for (unsigned i = 0; i < options.iterations; ++i) {
        sample_write(&buffers[0], in);
        passes = 0;
        double start = sample_seconds();
        for (uint32_t p = 1; p < n; p *= 2) {
            uint32_t numbers[4] = {p, n / 2 * 8, p * 8, 0};
            float angle[4] = {-3.14159265f / (float)p, 0, 0, 0};
            sample_write(&cb0, numbers);
            sample_write(&cb1, angle);
            sample_bind(&device, &kernel, "uav0", &buffers[passes & 1]);
            sample_bind(&device, &kernel, "uav1", &buffers[~passes & 1]);
            sample_run_grid(&device, &kernel, n / 128, 64);
            ++passes;
        }
        seconds += sample_seconds() - start;
    }
    seconds /= options.iterations;
    sample_read(&buffers[passes & 1], out);

    transform(reference, scratch, n);
    double error = 0, power = 0;
    for (unsigned i = 0; i < 2 * n; ++i) {
        error += (out[i] - reference[i]) * (out[i] - reference[i]);
        power += reference[i] * reference[i];
    }
    error = sqrt(error / power);
    printf("%u points, %u passes: %.3f ms, %.3f GFLOPS; relative error %.2g\n", n, passes, seconds * 1e3,
           5e-9 * n * passes / seconds, error);

    sample_free(&device, &buffers[0]);
    sample_free(&device, &buffers[1]);
    sample_free(&device, &cb0);
    sample_free(&device, &cb1);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(in);
    free(out);
    free(reference);
    free(scratch);
    return sample_verdict("fft", error < 1e-5);
}
