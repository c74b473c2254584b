/* Running with a symbol that is not bound: ERROR, event 0, and the symbol's name in the error string. */
#include "check.h"

static const char* pixel =
    PS "dcl_output_generic o0\n" INPUT(3)
    "dcl_cb cb2[1]\n"
    "sample_resource(3)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mul o0, r0, cb2[0]\n"
    "end\n";

static const char* compute =
    CS(64)
    "dcl_raw_uav_id(1)\n"
    "dcl_literal l0, 4, 0, 0, 0\n"
    "imul r0.x, vAbsTidFlat.x, l0.x\n"
    "mov r1, g[vAbsTidFlat.x]\n"
    "uav_raw_store_id(1) mem0.x___, r0.x, r1.x\n"
    "end\n";

/* The event by address: it is set by the call whose result is the other argument. */
static void refused(CALresult result, const CALevent* event, const char* symbol)
{
    EXPECT(CAL_RESULT_ERROR, result);
    CHECK(*event == 0);
    if (strstr(calGetErrorString(), symbol) == NULL) {
        fprintf(stderr, "the error string does not name %s: %s\n", symbol, calGetErrorString());
        exit(1);
    }
}

int main(void)
{
    static const char* pixel_symbols[3] = {"o0", "i3", "cb2"};
    static const char* compute_symbols[2] = {"uav1", "g[]"};
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALfunc func;
    CALresource resource = 0;
    CALdomain domain = {0, 0, 64, 1};
    CALprogramGrid grid;
    CALevent event;
    int missing, i;

    check_open(&device, &context);
    OK(calResAllocLocal2D(&resource, device, 64, 4, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_GLOBAL_BUFFER));

    for (missing = 0; missing < 3; ++missing) {
        module = check_module(context, pixel);
        func = check_entry(context, module);
        for (i = 0; i < 3; ++i) {
            if (i != missing) {
                check_bind(context, module, pixel_symbols[i], resource);
            }
        }
        event = 7;
        refused(calCtxRunProgram(&event, context, func, &domain), &event, pixel_symbols[missing]);

        /* Bound, unbound again by mem 0, bound: what counts is the moment of the launch. */
        {
            CALmem mem = check_bind(context, module, pixel_symbols[missing], resource);
            CALname name = 0;
            check_wait(context, check_domain(context, func, 64, 1));
            OK(calModuleGetName(&name, context, module, pixel_symbols[missing]));
            OK(calCtxSetMem(context, name, 0));
            event = 7;
            refused(calCtxRunProgram(&event, context, func, &domain), &event, pixel_symbols[missing]);
            OK(calCtxSetMem(context, name, mem));
            check_wait(context, check_domain(context, func, 64, 1));
        }
        OK(calModuleUnload(context, module));
    }

    for (missing = 0; missing < 2; ++missing) {
        module = check_module(context, compute);
        func = check_entry(context, module);
        check_bind(context, module, compute_symbols[1 - missing], resource);
        memset(&grid, 0, sizeof grid);
        grid.func = func;
        grid.gridBlock.width = 64;
        grid.gridBlock.height = grid.gridBlock.depth = 1;
        grid.gridSize.width = grid.gridSize.height = grid.gridSize.depth = 1;
        event = 7;
        refused(calCtxRunProgramGrid(&event, context, &grid), &event, compute_symbols[missing]);
        check_bind(context, module, compute_symbols[missing], resource);
        check_wait(context, check_grid(context, func, 1, 64));
        OK(calModuleUnload(context, module));
    }
    check_close(device, context);
    return 0;
}
