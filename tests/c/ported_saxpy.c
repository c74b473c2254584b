/* y = a x + y on a picture, as programs of 2008 were written,
 * ported as docs/manual/chapters/tasks.md tells: rows are `pitch` apart.
 */
#include <stdio.h>
#include "cal.h"
#include "calcl.h"

#define WIDTH 100
#define HEIGHT 50
static const CALchar* saxpy =
    "il_ps_2_0\n"
    "dcl_input_interp(linear) v0.xy__\n"
    "dcl_output_generic o0\n"
    "dcl_cb cb0[1]\n"
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "sample_resource(0)_sampler(0) r0, v0.xyxx\n"
    "sample_resource(1)_sampler(1) r1, v0.xyxx\n"
    "mad o0, cb0[0].x, r0, r1\n"
    "ret_dyn\n"
    "end\n";

static CALmem bind(CALcontext ctx, CALmodule module, CALresource res, const CALchar* symbol)
{
    CALmem mem; CALname name;
    calCtxGetMem(&mem, ctx, res);
    calModuleGetName(&name, ctx, module, symbol);
    calCtxSetMem(ctx, name, mem);
    return mem;
}

static void fill(CALresource res, float first, float step)
{
    float* data; CALuint pitch; int i;
    calResMap((CALvoid**)&data, &pitch, res, 0);
    for (i = 0; i < WIDTH * HEIGHT; i++) data[i / WIDTH * pitch + i % WIDTH] = first + step * (float)i;
    calResUnmap(res);
}

int main(void)
{
    CALdevice device; CALcontext ctx; CALobject obj; CALimage image; CALmodule module; CALfunc func; CALevent event;
    CALresource x, y, z, a; CALmem mx, my, mz, ma; CALdomain domain = {0, 0, WIDTH, HEIGHT};
    float* data; CALuint pitch; int i, wrong = 0;

    calInit(); calDeviceOpen(&device, 0); calCtxCreate(&ctx, device);
    calclCompile(&obj, CAL_LANGUAGE_IL, saxpy, CAL_TARGET_670);
    calclLink(&image, &obj, 1);
    calModuleLoad(&module, ctx, image); calModuleGetEntry(&func, ctx, module, "main");
    calResAllocLocal2D(&x, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0);
    calResAllocLocal2D(&y, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0);
    calResAllocLocal2D(&z, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0);
    calResAllocRemote1D(&a, &device, 1, 1, CAL_FORMAT_FLOAT_4, 0);
    fill(x, 0.0f, 1.0f); fill(y, 5.0f, 0.0f);
    calResMap((CALvoid**)&data, &pitch, a, 0); data[0] = 2.0f; calResUnmap(a);
    mx = bind(ctx, module, x, "i0"); my = bind(ctx, module, y, "i1");
    mz = bind(ctx, module, z, "o0"); ma = bind(ctx, module, a, "cb0");
    calCtxRunProgram(&event, ctx, func, &domain);
    while (calCtxIsEventDone(ctx, event) == CAL_RESULT_PENDING);
    calResMap((CALvoid**)&data, &pitch, z, 0);
    for (i = 0; i < WIDTH * HEIGHT; i++) wrong += data[i / WIDTH * pitch + i % WIDTH] != 2.0f * (float)i + 5.0f;
    calResUnmap(z);
    printf("%d of %d are wrong\n", wrong, WIDTH * HEIGHT);
    calCtxReleaseMem(ctx, mx); calCtxReleaseMem(ctx, my); calCtxReleaseMem(ctx, mz); calCtxReleaseMem(ctx, ma);
    calResFree(x); calResFree(y); calResFree(z); calResFree(a);
    calModuleUnload(ctx, module); calclFreeImage(image); calclFreeObject(obj);
    calCtxDestroy(ctx); calDeviceClose(device); calShutdown();
    return wrong != 0;
}
