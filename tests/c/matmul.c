/* Products of square matrices from 64 to 1024, one element of the result per thread, exact to the bit. */
#include "check.h"

static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0) INPUT(1)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.0, 1.0, 0.5, 0.0\n"
    "mov r0, l0.0000\n"
    "mov r1, l0.zzzz\n" /* k, at the middle of the element */
    "whileloop\n"
    "ge r2.x, r1.x, cb0[0].x\n"
    "break_logicalnz r2.x\n"
    "mov r3.x___, r1.x\n"
    "mov r3._y__, vWinCoord0.y\n"
    "mov r4.x___, vWinCoord0.x\n"
    "mov r4._y__, r1.x\n"
    "sample_resource(0)_sampler(0) r5, r3.xy00\n"
    "sample_resource(1)_sampler(1) r6, r4.xy00\n"
    "mad r0.x___, r5.x, r6.x, r0.x\n"
    "add r1, r1, l0.yyyy\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

static void multiply(CALdevice device, CALcontext context, CALmodule module, CALuint n)
{
    size_t count = (size_t)n * n, i;
    float* a = (float*)malloc(count * sizeof(float));
    float* b = (float*)malloc(count * sizeof(float));
    float* c = (float*)malloc(count * sizeof(float));
    float* expected = (float*)calloc(count, sizeof(float));
    float constant[4] = {0, 0, 0, 0};
    CALresource resources[3] = {0, 0, 0}, constants = 0;
    CALmem mems[4];
    CALuint x, k, row;
    CHECK(a && b && c && expected);
    for (i = 0; i < count; ++i) {
        a[i] = (float)(i * 7 % 13);
        b[i] = (float)(i * 5 % 11) - 5.0f;
    }
    for (i = 0; i < 3; ++i) {
        OK(calResAllocLocal2D(&resources[i], device, n, n, CAL_FORMAT_FLOAT32_1, 0));
    }
    OK(calResAllocRemote1D(&constants, &device, 1, 1, CAL_FORMAT_FLOAT32_4, 0));
    constant[0] = (float)n;
    check_write(constants, constant, 16, 1, 1);
    check_write(resources[0], a, 4, n, n);
    check_write(resources[1], b, 4, n, n);
    mems[0] = check_bind(context, module, "i0", resources[0]);
    mems[1] = check_bind(context, module, "i1", resources[1]);
    mems[2] = check_bind(context, module, "o0", resources[2]);
    mems[3] = check_bind(context, module, "cb0", constants);
    check_wait(context, check_domain(context, check_entry(context, module), n, n));
    check_read(resources[2], c, 4, n, n);

    for (row = 0; row < n; ++row) {
        for (k = 0; k < n; ++k) {
            for (x = 0; x < n; ++x) {
                expected[(size_t)row * n + x] += a[(size_t)row * n + k] * b[(size_t)k * n + x];
            }
        }
    }
    CHECK(memcmp(c, expected, count * sizeof(float)) == 0);

    for (i = 0; i < 4; ++i) {
        OK(calCtxReleaseMem(context, mems[i]));
    }
    for (i = 0; i < 3; ++i) {
        OK(calResFree(resources[i]));
    }
    OK(calResFree(constants));
    free(a);
    free(b);
    free(c);
    free(expected);
}

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALuint n;
    check_open(&device, &context);
    module = check_module(context, kernel);
    for (n = 64; n <= 1024; n *= 2) {
        multiply(device, context, module, n);
    }
    multiply(device, context, module, 100); /* no multiple of anything */
    OK(calModuleUnload(context, module));
    check_close(device, context);
    return 0;
}
