/*
 * nbody - gravity between all pairs: a thread per body goes over all others, then moves its own by one step. Two sets of
 * buffers change places from step to step; two outputs, positions and velocities.
 */
#include "sample.h"

#include <math.h>

/* i0: position and mass, i1: velocity; 64 bodies to a row. cb0[0] = columns, rows, step, softening^2 */
static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    "dcl_output_generic o1\n"
    SAMPLE_INPUT(0) SAMPLE_INPUT(1)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.5, 1.0, 0.0, 0.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx\n"
    "mov r2, l0.zzzz\n" /* acceleration */
    "mov r3, l0.xxxx\n" /* r3.xy: column and row */
    "whileloop\n"
    "ge r4.x, r3.y, cb0[0].y\n"
    "break_logicalnz r4.x\n"
    "mov r3.x, l0.x\n"
    "whileloop\n"
    "ge r4.x, r3.x, cb0[0].x\n"
    "break_logicalnz r4.x\n"
    "sample_resource(0)_sampler(0) r5, r3.xyxx\n"
    "sub r6.xyz, r5.xyz, r0.xyz\n"
    "dp3 r7.x, r6, r6\n"
    "add r7.x, r7.x, cb0[0].w\n"
    "rsq_vec r7.y, r7.x\n"
    "mul r7.z, r7.y, r7.y\n"
    "mul r7.z, r7.z, r7.y\n"
    "mul r7.z, r7.z, r5.w\n"
    "mad r2.xyz, r6.xyz, r7.zzz, r2.xyz\n"
    "add r3.x, r3.x, l0.y\n"
    "endloop\n"
    "add r3.y, r3.y, l0.y\n"
    "endloop\n"
    "mad r1.xyz, r2.xyz, cb0[0].zzz, r1.xyz\n"
    "mad r0.xyz, r1.xyz, cb0[0].zzz, r0.xyz\n"
    "mov o0, r0\n"
    "mov o1, r1\n"
    "end\n";

int main(int argc, char** argv)
{
    SampleOptions options = {1024, 0, 2, 0, NULL};
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer positions[2], velocities[2], constants;

    sample_options(argc, argv, &options, "gravity between -n bodies, -i steps; n is a multiple of 64");
    unsigned n = options.n;
    if (n % 64 != 0 || n > 65536) {
        fprintf(stderr, "the number of bodies must be a multiple of 64 and at most 65536\n");
        return 2;
    }
    const double step = 0.01, softening = 0.01;
    float* position = sample_memory((size_t)n * 16);
    float* velocity = sample_memory((size_t)n * 16);
    float* got = sample_memory((size_t)n * 16);
    double* p = sample_memory((size_t)n * 24);
    double* v = sample_memory((size_t)n * 24);
    double* a = sample_memory((size_t)n * 24);
    float numbers[4] = {64.0f, (float)n / 64.0f, (float)step, (float)softening};
    uint32_t seed = 9;
    for (unsigned i = 0; i < n; ++i) {
        for (unsigned c = 0; c < 3; ++c) {
            p[3 * i + c] = position[4 * i + c] = sample_random_float(&seed) * 2.0f - 1.0f;
            v[3 * i + c] = velocity[4 * i + c] = sample_random_float(&seed) * 0.1f;
        }
        position[4 * i + 3] = (0.5f + sample_random_float(&seed)) / (float)n;
    }

    sample_start(&device, options.device);
    sample_kernel(&device, &kernel, kernel_text);
    for (unsigned i = 0; i < 2; ++i) {
        sample_buffer(&device, &positions[i], 64, n / 64, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
        sample_buffer(&device, &velocities[i], 64, n / 64, CAL_FORMAT_FLOAT32_4, SAMPLE_LOCAL);
    }
    sample_write(&positions[0], position);
    sample_write(&velocities[0], velocity);
    sample_constants(&device, &kernel, "cb0", &constants, numbers, 1);

    double start = sample_seconds();
    for (unsigned i = 0; i < options.iterations; ++i) {
        sample_bind(&device, &kernel, "i0", &positions[i & 1]);
        sample_bind(&device, &kernel, "i1", &velocities[i & 1]);
        sample_bind(&device, &kernel, "o0", &positions[~i & 1]);
        sample_bind(&device, &kernel, "o1", &velocities[~i & 1]);
        sample_run_domain(&device, &kernel, 64, n / 64);
    }
    double seconds = (sample_seconds() - start) / options.iterations;
    sample_read(&positions[options.iterations & 1], got);

    double worst = 0;
    for (unsigned k = 0; k < options.iterations; ++k) {
        for (unsigned i = 0; i < n; ++i) {
            double sum[3] = {0, 0, 0};
            for (unsigned j = 0; j < n; ++j) {
                double d[3], square = softening;
                for (unsigned c = 0; c < 3; ++c) {
                    d[c] = p[3 * j + c] - p[3 * i + c];
                    square += d[c] * d[c];
                }
                double force = position[4 * j + 3] / (square * sqrt(square));
                for (unsigned c = 0; c < 3; ++c) {
                    sum[c] += d[c] * force;
                }
            }
            memcpy(a + 3 * i, sum, sizeof sum);
        }
        for (unsigned i = 0; i < 3 * n; ++i) {
            v[i] += a[i] * step;
            p[i] += v[i] * step;
        }
    }
    for (unsigned i = 0; i < n; ++i) {
        for (unsigned c = 0; c < 3; ++c) {
            double error = fabs(got[4 * i + c] - p[3 * i + c]);
            worst = error > worst || error != error ? error : worst;
        }
    }
    printf("%u bodies: %.2f ms a step, %.2f GFLOPS (20 per pair); largest error %.2g\n", n, seconds * 1e3,
           20e-9 * n * n / seconds, worst);

    for (unsigned i = 0; i < 2; ++i) {
        sample_free(&device, &positions[i]);
        sample_free(&device, &velocities[i]);
    }
    sample_free(&device, &constants);
    sample_unload(&device, &kernel);
    sample_end(&device);
    free(position);
    free(velocity);
    free(got);
    free(p);
    free(v);
    free(a);
    return sample_verdict("nbody", worst < 1e-5 * options.iterations);
}
