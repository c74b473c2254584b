/*
 * As the LOFAR correlator does: at each of 100 launches a fresh mem of the same resource and the same names asked for
 * again, none of them given back; polling only for PENDING; counters that must exist; resources freed before their
 * mems, then module, context, device, shutdown. Tables of one component are read by any component.
 */
#include "check.h"

#include "cal_ext_counter.h"

static const char* kernel =
    CS(64)
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "dcl_resource_id(1)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "dcl_literal l0, 0.5, 0, 0, 0\n"
    "itof r0.x, vAbsTidFlat.x\n"
    "add r0.x, r0.x, l0.x\n"
    "sample_resource(0)_sampler(0) r1, r0.x000\n"
    "mov r2, g[vAbsTidFlat.x]\n"
    "sample_resource(1)_sampler(1) r3.__zw, r0.x\n"
    "mad r2, r1, r3.zwzw, r2\n"
    "mov g[vAbsTidFlat.x], r2\n"
    "end\n";

int main(void)
{
    static const char* procs[5] = {"calCtxCreateCounter", "calCtxDestroyCounter", "calCtxBeginCounter",
                                   "calCtxEndCounter", "calCtxGetCounter"};
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource samples = 0, weights = 0, sums = 0;
    CALmem mems[300];
    float in[128 * 4], weight[128], out[128 * 4];
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
    OK(calResAllocLocal1D(&weights, device, 128, CAL_FORMAT_FLOAT_1, 0));
    OK(calResAllocLocal2D(&sums, device, 128, 1, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_GLOBAL_BUFFER));
    for (i = 0; i < 128 * 4; ++i) {
        in[i] = (float)(i % 16);
        out[i] = 0.0f;
        weight[i / 4] = (float)(i / 4 % 8);
    }
    check_write(samples, in, 16, 128, 1);
    check_write(weights, weight, 4, 128, 1);
    check_write(sums, out, 16, 128, 1);
    for (launch = 0; launch < 100; ++launch) {
        CALevent event;
        mems[held++] = check_bind(context, module, "i0", samples);
        mems[held++] = check_bind(context, module, "i1", weights);
        mems[held++] = check_bind(context, module, "g[]", sums);
        event = check_grid(context, check_entry(context, module), 2, 64);
        while (calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
        }
    }
    check_read(sums, out, 16, 128, 1);
    for (i = 0; i < 128 * 4; ++i) {
        CHECK(out[i] == in[i] * weight[i / 4] * 100.0f);
    }
    HOLDS(correlator_hundred_mems_of_a_resource);
    HOLDS(correlator_polls_for_pending_only);
    HOLDS(correlator_any_component_of_a_table_of_one);

    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    OK(calCtxReleaseMem(context, mems[2]));
    OK(calModuleUnload(context, module));
    (void)calResFree(samples); /* 297 mems are alive; OK and BUSY are both fine */
    (void)calResFree(weights);
    (void)calResFree(sums);
    {
        CALmem again = 0;
        (void)calCtxGetMem(&again, context, samples);
    }
    HOLDS(correlator_resources_freed_before_their_mems);
    check_close(device, context);
    return 0;
}
