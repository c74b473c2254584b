/*
 * The extensions that no client test reaches: grid arrays, domain parameters, sampler parameters, versions, and the
 * ones that are named but not supported.
 */
#include "check.h"

#include "cal_ext_counter.h"
#include "cal_private_ext.h"

static CALdevice  device;
static CALcontext context;

static CALextproc procedure(CALuint extension, const char* name)
{
    CALextproc proc = NULL;
    OK(calExtSupported((CALextid)extension));
    OK(calExtGetProc(&proc, (CALextid)extension, name));
    CHECK(proc != NULL);
    return proc;
}

/* Two grids under one event, in order: the second reads what the first wrote. */
static void grid_arrays(void)
{
    static const char* twice = CS(64) "mov r0, g[vAbsTidFlat.x]\niadd r0, r0, r0\nmov g[vAbsTidFlat.x], r0\nend\n";
    static const char* plus = CS(64)
        "dcl_literal l0, 1, 1, 1, 1\n"
        "mov r0, g[vAbsTidFlat.x]\niadd r0, r0, l0\nmov g[vAbsTidFlat.x], r0\nend\n";
    CALextproc proc = procedure(CAL_EXT_COMPUTE_SHADER, "calCtxRunProgramGridArray");
    PFNCALCTXRUNPROGRAMGRIDARRAY run;
    CALmodule modules[2];
    CALresource global = 0;
    CALprogramGrid grids[3];
    CALprogramGridArray array = {NULL, 3, 0};
    CALevent event = 0;
    CALuint words[256 * 4], i;

    memcpy(&run, &proc, sizeof proc);
    OK(calResAllocLocal1D(&global, device, 256, CAL_FORMAT_UNSIGNED_INT32_4, CAL_RESALLOC_GLOBAL_BUFFER));
    for (i = 0; i < 256 * 4; ++i) {
        words[i] = i;
    }
    check_write(global, words, 16, 256, 1);
    modules[0] = check_module(context, twice);
    modules[1] = check_module(context, plus);
    memset(grids, 0, sizeof grids);
    for (i = 0; i < 3; ++i) { /* 2 (2 x + 1) */
        if (i < 2) {
            check_bind(context, modules[i], "g[]", global);
        }
        grids[i].func = check_entry(context, modules[i & 1]);
        grids[i].gridBlock.width = 64;
        grids[i].gridSize.width = 4;
        grids[i].gridBlock.height = grids[i].gridBlock.depth = 1;
        grids[i].gridSize.height = grids[i].gridSize.depth = 1;
    }
    array.gridArray = grids;
    OK(run(&event, context, &array));
    CHECK(event != 0);
    check_wait(context, event);
    check_read(global, words, 16, 256, 1);
    for (i = 0; i < 256 * 4; ++i) {
        CHECK(words[i] == 2 * (2 * i + 1));
    }

    /* One bad grid, and none runs. */
    grids[2].gridBlock.width = 32;
    event = 7;
    CHECK(calCtxRunProgramGridArray(&event, context, &array) != CAL_RESULT_OK);
    CHECK(event == 0);
    check_read(global, words, 16, 256, 1);
    CHECK(words[1] == 6);
    HOLDS(grid_array_runs_in_order_under_one_event);
    OK(calModuleUnload(context, modules[0]));
    OK(calModuleUnload(context, modules[1]));
    OK(calResFree(global));
}

static float distance(float a, float b)
{
    return a > b ? a - b : b - a;
}

/*
 * Eight parameters, a value for each corner and component of its own, over a domain that does not start at 0,0: the upper
 * left corner of the domain has ul, and they change evenly from corner to corner.
 */
static void domain_parameters(void)
{
    enum { X = 3, Y = 2, WIDTH = 8, HEIGHT = 4 };
    static const char* kernel =
        "il_ps_2_0\n"
        "dcl_input_generic_interp(linear) v0\ndcl_input_generic_interp(linear) v1\n"
        "dcl_input_generic_interp(linear) v2\ndcl_input_generic_interp(linear) v3\n"
        "dcl_input_generic_interp(linear) v4\ndcl_input_generic_interp(linear) v5\n"
        "dcl_input_generic_interp(linear) v6\ndcl_input_generic_interp(linear) v7\n"
        "dcl_output_generic o0\ndcl_output_generic o1\ndcl_output_generic o2\ndcl_output_generic o3\n"
        "dcl_output_generic o4\ndcl_output_generic o5\ndcl_output_generic o6\ndcl_output_generic o7\n"
        "mov o0, v0\nmov o1, v1\nmov o2, v2\nmov o3, v3\n"
        "mov o4, v4\nmov o5, v5\nmov o6, v6\nmov o7, v7\n"
        "end\n";
    CALextproc proc = procedure(CAL_EXT_DOMAIN_PARAMS, "calCtxRunProgramParams");
    PFNCALCTXRUNPROGRAMPARAMS run;
    CALmodule module = check_module(context, kernel);
    CALresource outputs[8];
    CALdomain domain = {X, Y, WIDTH, HEIGHT};
    CALdomainparam params;
    CALparam list[8];
    CALevent event = 0;
    static float values[(X + WIDTH) * (Y + HEIGHT) * 4];
    CALuint k, c, x, y;
    char symbol[3];

    memcpy(&run, &proc, sizeof proc);
    for (k = 0; k < 8; ++k) {
        float* corner[3];
        corner[0] = &list[k].ul.x;
        corner[1] = &list[k].ll.x;
        corner[2] = &list[k].lr.x;
        for (c = 0; c < 4; ++c) { /* whole numbers: all sums below are exact */
            corner[0][c] = (float)(100 * k + 7 * c);
            corner[1][c] = (float)(100 * k + 7 * c + 16 * (c + 1));
            corner[2][c] = (float)(100 * k + 7 * c + 16 * (c + 1)) - (float)(32 * (k + 1));
        }
        sprintf(symbol, "o%u", k);
        OK(calResAllocLocal2D(&outputs[k], device, X + WIDTH, Y + HEIGHT, CAL_FORMAT_FLOAT_4, 0));
        check_bind(context, module, symbol, outputs[k]);
    }
    memcpy(&params, list, sizeof params);
    OK(run(&event, context, check_entry(context, module), &domain, &params));
    check_wait(context, event);
    for (k = 0; k < 8; ++k) {
        check_read(outputs[k], values, 16, X + WIDTH, Y + HEIGHT);
        for (y = 0; y < HEIGHT; ++y) {
            for (x = 0; x < WIDTH; ++x) {
                for (c = 0; c < 4; ++c) {
                    float down = ((float)y + 0.5f) / HEIGHT, right = ((float)x + 0.5f) / WIDTH;
                    float expected = (float)(100 * k + 7 * c) + down * (float)(16 * (c + 1)) - right * (float)(32 * (k + 1));
                    CHECK(distance(values[4 * ((Y + y) * (X + WIDTH) + X + x) + c], expected) < 1e-3f);
                }
            }
        }
    }
    HOLDS(domain_parameters_at_three_corners);
    event = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, run(&event, context, check_entry(context, module), &domain, NULL));
    CHECK(event == 0);
    OK(calModuleUnload(context, module));
    for (k = 0; k < 8; ++k) {
        OK(calResFree(outputs[k]));
    }
}

/* What is wrong with a call; samplers.c has what the parameters do. */
static void sampler_parameters(void)
{
    static const char* kernel =
        PS "dcl_output_generic o0\n" INPUT(0)
        "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\n"
        "end\n";
    CALextproc proc = procedure(CAL_EXT_SAMPLER_PARAM, "calCtxSetSamplerParams");
    PFNCALSETSAMPLERPARAMS set;
    PFNCALGETSAMPLERPARAMS get;
    CALmodule module = check_module(context, kernel);
    CALname sampler = 0, input_name = 0;
    CALresource input = 0;
    CALsamplerParamWrapMode wrap = CAL_SAMPLER_WRAP_CLAMP_TO_BORDER;
    CALmem mem = 0;

    memcpy(&set, &proc, sizeof proc);
    proc = procedure(CAL_EXT_SAMPLER_PARAM, "calCtxGetSamplerParams");
    memcpy(&get, &proc, sizeof proc);
    OK(calResAllocLocal2D(&input, device, 8, 1, CAL_FORMAT_FLOAT_1, 0));
    OK(calModuleGetName(&sampler, context, module, "s0"));
    OK(calModuleGetName(&input_name, context, module, "i0"));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, set(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, get(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, get(context, sampler, CAL_SAMPLER_PARAM_DEFAULT, NULL));
    EXPECT(CAL_RESULT_BAD_HANDLE, set(context, input_name, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    EXPECT(CAL_RESULT_BAD_HANDLE, set(0, sampler, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    wrap = (CALsamplerParamWrapMode)8;
    EXPECT(CAL_RESULT_ERROR, set(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    OK(calCtxGetMem(&mem, context, input));
    EXPECT(CAL_RESULT_BAD_NAME_TYPE, calCtxSetMem(context, sampler, mem));
    OK(calModuleUnload(context, module));
    OK(calResFree(input));
    HOLDS(sampler_misuse);
}

int main(void)
{
    CALuint major = 0, minor = 0, extension;
    CALextproc proc;

    check_open(&device, &context);
    grid_arrays();
    domain_parameters();
    sampler_parameters();

    for (extension = 0x1004; extension <= 0x1008; ++extension) {
        OK(calExtSupported((CALextid)extension));
        OK(calExtGetVersion(&major, &minor, (CALextid)extension));
        CHECK(major >= 1);
    }
    proc = procedure(CAL_PRIVATE_EXT_SYNC_OBJECT, "calCtxWaitForEvents");
    {
        PFNCALCTXWAITFOREVENTS wait_for;
        CALevent none = CAL_EVENT_INVALID;
        memcpy(&wait_for, &proc, sizeof proc);
        OK(wait_for(context, &none, 0, CAL_WAIT_POLLING));
        EXPECT(CAL_RESULT_INVALID_PARAMETER, wait_for(context, NULL, 1, CAL_WAIT_LOW_CPU_UTILIZATION));
        EXPECT(CAL_RESULT_BAD_HANDLE, wait_for(0, &none, 1, CAL_WAIT_LOW_CPU_UTILIZATION));
    }
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported(CAL_EXT_D3D9));
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported((CALextid)CAL_PRIVATE_EXT_OPENGL));
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported((CALextid)0));
    proc = &major;
    CHECK(calExtGetProc(&proc, CAL_EXT_D3D9, "calD3D9Associate") != CAL_RESULT_OK && proc == NULL);
    HOLDS(extensions_answered_as_recommended);
    check_close(device, context);
    return 0;
}
