/*
 * As the LOFAR correlator does: at each of 100 launches a fresh mem of the same resource and the same names asked for
 * again, none of them given back; polling only for PENDING; counters that must exist; resources freed before their
 * mems, then module, context, device, shutdown.
 */
#include "check.h"

#include "cal_ext_counter.h"

static const char* kernel =
    CS(64)
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "dcl_literal l0, 0.5, 0, 0, 0\n"
    "itof r0.x, vAbsTidFlat.x\n"
    "add r0.x, r0.x, l0.x\n"
    "sample_resource(0)_sampler(0) r1, r0.x000\n"
    "mov r2, g[vAbsTidFlat.x]\n"
    "mad r2, r1, r1, r2\n"
    "mov g[vAbsTidFlat.x], r2\n"
    "end\n";

int main(void)
{
    static const char* procs[5] = {"calCtxCreateCounter", "calCtxDestroyCounter", "calCtxBeginCounter",
                                   "calCtxEndCounter", "calCtxGetCounter"};
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource samples = 0, sums = 0;
    CALmem mems[200];
    float in[128 * 4], out[128 * 4];
    CALuint launch, i, held = 0;

    check_open(&device, &context);
    OK(calExtSupported(CAL_EXT_COUNTERS));
    for (i = 0; i < 5; ++i) {
        CALextproc proc = NULL;
        OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, procs[i]));
        CHECK(proc != NULL);
    }
    HOLDS(correlator_needs_counters);
    module = check_module(context, kernel);
    OK(calResAllocLocal2D(&samples, device, 128, 1, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocLocal2D(&sums, device, 128, 1, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_GLOBAL_BUFFER));
    for (i = 0; i < 128 * 4; ++i) {
        in[i] = (float)(i % 16);
        out[i] = 0.0f;
    }
    check_write(samples, in, 16, 128, 1);
    check_write(sums, out, 16, 128, 1);
    for (launch = 0; launch < 100; ++launch) {
        CALevent event;
        mems[held++] = check_bind(context, module, "i0", samples);
        mems[held++] = check_bind(context, module, "g[]", sums);
        event = check_grid(context, check_entry(context, module), 2, 64);
        while (calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
        }
    }
    check_read(sums, out, 16, 128, 1);
    for (i = 0; i < 128 * 4; ++i) {
        CHECK(out[i] == in[i] * in[i] * 100.0f);
    }
    HOLDS(correlator_hundred_mems_of_a_resource);
    HOLDS(correlator_polls_for_pending_only);

    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    OK(calModuleUnload(context, module));
    (void)calResFree(samples); /* 198 mems are alive; OK and BUSY are both fine */
    (void)calResFree(sums);
    {
        CALmem again = 0;
        (void)calCtxGetMem(&again, context, samples);
    }
    HOLDS(correlator_resources_freed_before_their_mems);
    check_close(device, context);
    return 0;
}
