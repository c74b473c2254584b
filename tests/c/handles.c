/* Stale, zero and random handles give BAD_HANDLE from every function that takes one, and leave no output behind. */
#include "check.h"

static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\n"
    "end\n";

static CALdevice  device, other_device_value;
static CALcontext context;
static CALresource resource;
static CALmem      mem;
static CALmodule   module;
static CALfunc     func;
static CALname     name;

/* Every call that takes a handle, with the given bad one in each place and good ones elsewhere. */
static void bad(CALuint handle)
{
    CALdevicestatus status;
    CALdomain domain = {0, 0, 1, 1};
    CALprogramGrid grid;
    CALfuncInfo info;
    CALcontext c;
    CALresource r;
    CALmem m;
    CALmodule u;
    CALfunc f;
    CALname n;
    CALevent e;
    CALvoid* address;
    CALuint pitch;
    CALimage image = check_image(kernel, CAL_TARGET_CYPRESS);

    status.struct_size = sizeof status;
    EXPECT(CAL_RESULT_BAD_HANDLE, calDeviceGetStatus(&status, handle));
    EXPECT(CAL_RESULT_BAD_HANDLE, calDeviceClose(handle));
    c = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxCreate(&c, handle));
    CHECK(c == 0);
    r = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calResAllocLocal1D(&r, handle, 64, CAL_FORMAT_FLOAT_1, 0));
    CHECK(r == 0);
    r = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calResAllocLocal2D(&r, handle, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    CHECK(r == 0);
    other_device_value = handle;
    r = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calResAllocRemote1D(&r, &other_device_value, 1, 64, CAL_FORMAT_FLOAT_1, 0));
    CHECK(r == 0);
    r = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calResAllocRemote2D(&r, &other_device_value, 1, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    CHECK(r == 0);

    EXPECT(CAL_RESULT_BAD_HANDLE, calResFree(handle));
    address = &pitch;
    pitch = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calResMap(&address, &pitch, handle, 0));
    CHECK(address == NULL && pitch == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calResUnmap(handle));

    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxDestroy(handle));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxFlush(handle));
    m = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxGetMem(&m, handle, resource));
    CHECK(m == 0);
    m = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxGetMem(&m, context, handle));
    CHECK(m == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxReleaseMem(handle, mem));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxReleaseMem(context, handle));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(handle, name, mem));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(context, handle, mem));
    if (handle != 0) { /* mem 0 unbinds */
        EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(context, name, handle));
    }

    e = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxRunProgram(&e, handle, func, &domain));
    CHECK(e == 0);
    e = 7;
    /* The header asks for ERROR when the function is in no loaded module; BAD_HANDLE says the same more exactly. */
    CHECK(calCtxRunProgram(&e, context, handle, &domain) != CAL_RESULT_OK);
    CHECK(e == 0);
    memset(&grid, 0, sizeof grid);
    grid.func = func;
    grid.gridBlock.width = grid.gridBlock.height = grid.gridBlock.depth = 1;
    grid.gridSize = grid.gridBlock;
    e = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxRunProgramGrid(&e, handle, &grid));
    CHECK(e == 0);
    grid.func = handle;
    e = 7;
    CHECK(calCtxRunProgramGrid(&e, context, &grid) != CAL_RESULT_OK);
    CHECK(e == 0);
    e = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calMemCopy(&e, handle, mem, mem, 0));
    CHECK(e == 0);
    e = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calMemCopy(&e, context, handle, mem, 0));
    CHECK(e == 0);
    e = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calMemCopy(&e, context, mem, handle, 0));
    CHECK(e == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxIsEventDone(handle, 1));

    u = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleLoad(&u, handle, image));
    CHECK(u == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleUnload(handle, module));
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleUnload(context, handle));
    f = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetEntry(&f, handle, module, "main"));
    CHECK(f == 0);
    f = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetEntry(&f, context, handle, "main"));
    CHECK(f == 0);
    n = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetName(&n, handle, module, "i0"));
    CHECK(n == 0);
    n = 7;
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetName(&n, context, handle, "i0"));
    CHECK(n == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetFuncInfo(&info, handle, module, func));
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetFuncInfo(&info, context, handle, func));
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleGetFuncInfo(&info, context, module, handle));
    CHECK(calGetErrorString()[0] != '\0');
    OK(calclFreeImage(image));
}

int main(void)
{
    CALcontext stale_context = 0;
    CALresource stale_resource = 0;
    CALmem stale_mem = 0;
    CALmodule stale_module = 0;
    CALfunc stale_func = 0;
    CALname stale_name = 0;
    CALuint random = 12345, i;

    check_open(&device, &context);
    OK(calResAllocLocal2D(&resource, device, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    OK(calCtxGetMem(&mem, context, resource));
    module = check_module(context, kernel);
    func = check_entry(context, module);
    OK(calModuleGetName(&name, context, module, "i0"));

    bad(0);
    bad(0xFFFFFFFFu);
    bad(0x7FFFFFFFu);
    bad(0xEFEFEFEFu);
    for (i = 0; i < 200; ++i) {
        random = random * 1664525u + 1013904223u;
        if (random != device && random != context && random != resource && random != mem && random != module &&
            random != func && random != name) {
            bad(random);
        }
    }

    /* Stale: the numbers of objects that are gone. Later objects must not take them over soon. */
    OK(calCtxCreate(&stale_context, device));
    OK(calCtxDestroy(stale_context));
    OK(calResAllocLocal2D(&stale_resource, device, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    OK(calCtxGetMem(&stale_mem, context, stale_resource));
    OK(calCtxReleaseMem(context, stale_mem));
    OK(calResFree(stale_resource));
    stale_module = check_module(context, kernel);
    stale_func = check_entry(context, stale_module);
    OK(calModuleGetName(&stale_name, context, stale_module, "i0"));
    OK(calModuleUnload(context, stale_module));
    for (i = 0; i < 50; ++i) {
        CALresource fresh = 0;
        CALmem fresh_mem = 0;
        OK(calResAllocLocal2D(&fresh, device, 8, 8, CAL_FORMAT_FLOAT_1, 0));
        OK(calCtxGetMem(&fresh_mem, context, fresh));
        CHECK(fresh != stale_resource && fresh_mem != stale_mem);
        OK(calCtxReleaseMem(context, fresh_mem));
        OK(calResFree(fresh));
    }
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxDestroy(stale_context));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxFlush(stale_context));
    EXPECT(CAL_RESULT_BAD_HANDLE, calResFree(stale_resource));
    EXPECT(CAL_RESULT_BAD_HANDLE, calResUnmap(stale_resource));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxReleaseMem(context, stale_mem));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(context, name, stale_mem));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(context, stale_name, mem));
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleUnload(context, stale_module));
    {
        CALdomain domain = {0, 0, 1, 1};
        CALevent event = 7;
        CHECK(calCtxRunProgram(&event, context, stale_func, &domain) != CAL_RESULT_OK);
        CHECK(event == 0);
    }

    /* What is good still is. */
    check_bind(context, module, "i0", resource);
    check_bind(context, module, "o0", resource);
    check_wait(context, check_domain(context, func, 64, 64));

    /* After shutdown nothing answers as if it were alive. */
    OK(calShutdown());
    CHECK(calCtxDestroy(context) != CAL_RESULT_OK);
    CHECK(calDeviceClose(device) != CAL_RESULT_OK);
    CHECK(calResFree(resource) != CAL_RESULT_OK);
    EXPECT(CAL_RESULT_NOT_INITIALIZED, calShutdown());
    OK(calInit());
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxDestroy(context));
    EXPECT(CAL_RESULT_BAD_HANDLE, calDeviceClose(device));
    EXPECT(CAL_RESULT_BAD_HANDLE, calResFree(resource));
    OK(calShutdown());
    return 0;
}
