/* Iteration counts of the Mandelbrot set: neighbouring threads leave the loop at different times, and every count
 * equals that of the same float operations in C. */
#include "check.h"

enum { WIDTH = 211, HEIGHT = 157, LIMIT = 1000 };

/* cb0[0] = x0, y0, step, 4.0; cb0[1].x = limit as an integer */
static const char* kernel =
    PS "dcl_output_generic o0\n"
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

/* ISO C mode does not fuse: one rounding per operation, as in the kernel. */
static CALuint count(float column, float row, const float* view)
{
    float x0 = (column + 0.5f) * view[2] + view[0];
    float y0 = (row + 0.5f) * view[2] + view[1];
    float x = x0, y = y0;
    CALuint n = 0;
    while (n < LIMIT) {
        float xx = x * x, yy = y * y, xy;
        if (xx + yy > 4.0f) {
            break;
        }
        xy = x * y;
        x = (xx - yy) + x0;
        y = (xy + xy) + y0;
        ++n;
    }
    return n;
}

int main(void)
{
    static CALuint counts[WIDTH * HEIGHT];
    union {
        float view[8];
        CALuint words[8];
    } constant = {{-2.2f, -1.2f, 0.015f, 4.0f, 0, 0, 0, 0}};
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource output = 0, constants = 0;
    CALuint x, y, inside = 0;

    check_open(&device, &context);
    module = check_module(context, kernel);
    OK(calResAllocRemote2D(&output, &device, 1, WIDTH, HEIGHT, CAL_FORMAT_UINT_1, CAL_RESALLOC_CACHEABLE));
    OK(calResAllocRemote1D(&constants, &device, 1, 2, CAL_FORMAT_FLOAT_4, 0));
    constant.words[4] = LIMIT;
    check_write(constants, &constant, 16, 2, 1);
    check_bind(context, module, "o0", output);
    check_bind(context, module, "cb0", constants);
    check_wait(context, check_domain(context, check_entry(context, module), WIDTH, HEIGHT));
    check_read(output, counts, 4, WIDTH, HEIGHT);
    for (y = 0; y < HEIGHT; ++y) {
        for (x = 0; x < WIDTH; ++x) {
            CHECK(counts[y * WIDTH + x] == count((float)x, (float)y, constant.view));
            inside += counts[y * WIDTH + x] == LIMIT;
        }
    }
    CHECK(inside > 1000 && inside < WIDTH * HEIGHT / 2); /* it was worth it */
    check_close(device, context);
    return 0;
}
