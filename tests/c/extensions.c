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
    OK(calModuleUnload(context, modules[0]));
    OK(calModuleUnload(context, modules[1]));
    OK(calResFree(global));
}

static float distance(float a, float b)
{
    return a > b ? a - b : b - a;
}

/* v0 with the corners of the position, v3 with corners of its own. */
static void domain_parameters(void)
{
    static const char* kernel =
        "il_ps_2_0\n"
        "dcl_input_generic_interp(linear) v0.xy__\n"
        "dcl_input_generic_interp(linear) v3.xyz_\n"
        "dcl_output_generic o0\n"
        "mov r0.xy__, v0.xyxx\n"
        "mov r0.__zw, v3.00yz\n"
        "mov o0, r0\n"
        "end\n";
    CALextproc proc = procedure(CAL_EXT_DOMAIN_PARAMS, "calCtxRunProgramParams");
    PFNCALCTXRUNPROGRAMPARAMS run;
    CALmodule module = check_module(context, kernel);
    CALresource output = 0;
    CALdomain domain = {0, 0, 8, 4};
    CALdomainparam params;
    CALevent event = 0;
    float values[8 * 4 * 4];
    CALuint x, y;

    memcpy(&run, &proc, sizeof proc);
    memset(&params, 0, sizeof params);
    params.param0.ll.y = 4.0f; /* ul = (0, 0), ll = (0, height), lr = (width, height) */
    params.param0.lr.x = 8.0f;
    params.param0.lr.y = 4.0f;
    params.param3.ul.y = 100.0f; /* 100 above, 200 below; 0 at the left, 80 at the right */
    params.param3.ll.y = 200.0f;
    params.param3.lr.y = 200.0f;
    params.param3.lr.z = 80.0f;
    OK(calResAllocLocal2D(&output, device, 8, 4, CAL_FORMAT_FLOAT_4, 0));
    check_bind(context, module, "o0", output);
    OK(run(&event, context, check_entry(context, module), &domain, &params));
    check_wait(context, event);
    check_read(output, values, 16, 8, 4);
    for (y = 0; y < 4; ++y) {
        for (x = 0; x < 8; ++x) {
            const float* value = values + 4 * (y * 8 + x);
            CHECK(distance(value[0], (float)x + 0.5f) < 1e-4f);
            CHECK(distance(value[1], (float)y + 0.5f) < 1e-4f);
            CHECK(distance(value[2], 100.0f + 25.0f * ((float)y + 0.5f)) < 1e-3f);
            CHECK(distance(value[3], 10.0f * ((float)x + 0.5f)) < 1e-3f);
        }
    }
    event = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, run(&event, context, check_entry(context, module), &domain, NULL));
    CHECK(event == 0);
    OK(calModuleUnload(context, module));
    OK(calResFree(output));
}

/* Nearest by default; linear blends neighbours; the border colour lies outside. */
static void sampler_parameters(void)
{
    static const char* kernel =
        PS "dcl_output_generic o0\n" INPUT(0)
        "dcl_literal l0, 0.5, -3.0, 0.0, 0.0\n"
        "add r0, vWinCoord0.xyxy, l0.xzyz\n" /* half an element to the right; three to the left */
        "sample_resource(0)_sampler(0) r1, r0.xyxx\n"
        "sample_resource(0)_sampler(0) r2, r0.zwzz\n"
        "mov r3.x___, r1.x\n"
        "mov r3._y__, r2.x\n"
        "mov o0, r3\n"
        "end\n";
    CALextproc proc = procedure(CAL_EXT_SAMPLER_PARAM, "calCtxSetSamplerParams");
    PFNCALSETSAMPLERPARAMS set;
    PFNCALGETSAMPLERPARAMS get;
    CALmodule module = check_module(context, kernel);
    CALname sampler = 0, input_name = 0;
    CALresource input = 0, output = 0;
    CALsamplerParamMinFilter min_filter = CAL_SAMPLER_MIN_LINEAR;
    CALsamplerParamMagFilter mag_filter = CAL_SAMPLER_MAG_LINEAR, got = CAL_SAMPLER_MAG_NEAREST;
    CALsamplerParamWrapMode wrap = CAL_SAMPLER_WRAP_CLAMP_TO_BORDER;
    CALfloat border[4] = {-7.0f, 0, 0, 0};
    CALfunc func = check_entry(context, module);
    float in[8], out[8 * 2];
    int i;

    memcpy(&set, &proc, sizeof proc);
    proc = procedure(CAL_EXT_SAMPLER_PARAM, "calCtxGetSamplerParams");
    memcpy(&get, &proc, sizeof proc);
    OK(calResAllocLocal2D(&input, device, 8, 1, CAL_FORMAT_FLOAT_1, 0));
    OK(calResAllocLocal2D(&output, device, 8, 1, CAL_FORMAT_FLOAT_2, 0));
    for (i = 0; i < 8; ++i) {
        in[i] = (float)(i * 10);
    }
    check_write(input, in, 4, 8, 1);
    check_bind(context, module, "i0", input);
    check_bind(context, module, "o0", output);
    OK(calModuleGetName(&sampler, context, module, "s0"));
    OK(calModuleGetName(&input_name, context, module, "i0"));

    check_wait(context, check_domain(context, func, 8, 1));
    check_read(output, out, 8, 8, 1);
    for (i = 0; i < 8; ++i) {
        CHECK(out[2 * i] == (float)(i < 7 ? i + 1 : 7) * 10.0f); /* x + 1.0 lies on the edge of the next element */
        CHECK(out[2 * i + 1] == (float)(i < 3 ? 0 : i - 3) * 10.0f);
    }

    OK(set(context, sampler, CAL_SAMPLER_PARAM_MIN_FILTER, &min_filter));
    OK(set(context, sampler, CAL_SAMPLER_PARAM_MAG_FILTER, &mag_filter));
    OK(get(context, sampler, CAL_SAMPLER_PARAM_MAG_FILTER, &got));
    CHECK(got == CAL_SAMPLER_MAG_LINEAR);
    OK(set(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    OK(set(context, sampler, CAL_SAMPLER_PARAM_BORDER_COLOR, border));
    check_wait(context, check_domain(context, func, 8, 1));
    check_read(output, out, 8, 8, 1);
    for (i = 0; i < 8; ++i) {
        float right = i < 7 ? (float)(i + 1) * 10.0f : -7.0f;
        CHECK(distance(out[2 * i], ((float)i * 10.0f + right) / 2.0f) < 1e-3f);
        CHECK(distance(out[2 * i + 1], i < 3 ? -7.0f : (float)(i - 3) * 10.0f) < 1e-3f);
    }

    OK(set(context, sampler, CAL_SAMPLER_PARAM_DEFAULT, NULL));
    check_wait(context, check_domain(context, func, 8, 1));
    check_read(output, out, 8, 8, 1);
    CHECK(out[0] == 10.0f && out[1] == 0.0f);

    EXPECT(CAL_RESULT_INVALID_PARAMETER, set(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, get(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, NULL));
    EXPECT(CAL_RESULT_BAD_HANDLE, set(context, input_name, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    EXPECT(CAL_RESULT_BAD_HANDLE, set(0, sampler, CAL_SAMPLER_PARAM_WRAP_S, &wrap));
    {
        CALmem mem = 0;
        OK(calCtxGetMem(&mem, context, input));
        EXPECT(CAL_RESULT_BAD_NAME_TYPE, calCtxSetMem(context, sampler, mem));
        OK(calCtxReleaseMem(context, mem));
    }
    OK(calModuleUnload(context, module));
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
    check_close(device, context);
    return 0;
}
