/*
 * What every sampler parameter does to what a kernel reads: both filters, the eight wrap modes in each direction, the
 * border colour. Expected values are computed here, from the definitions of the modes; texels and weights are such that
 * all arithmetic is exact.
 */
#include "check.h"

#include <math.h>

enum { TEXELS_X = 5, TEXELS_Y = 3, WIDTH = 64, HEIGHT = 40 };

/* Coordinates in quarters of an element, from well before the texels to well behind them. */
static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_literal l0, 0.25, -5.5, -3.5, 0.125\n"
    "mad r0.x___, vWinCoord0.x, l0.x, l0.y\n"
    "mad r0._y__, vWinCoord0.y, l0.x, l0.z\n"
    "sub r0.xy__, r0.xyxx, l0.wwww\n" /* the centre's half, in quarters */
    "sample_resource(0)_sampler(0) o0, r0.xyxx\n"
    "end\n";

static CALdevice  device;
static CALcontext context;
static CALmodule  module;
static CALname    sampler;
static CALresource input, output;
static PFNCALSETSAMPLERPARAMS set;
static PFNCALGETSAMPLERPARAMS get;

static float texels[TEXELS_Y][TEXELS_X][4];
static float border[4] = {-64.0f, 32.0f, -16.0f, 8.0f};

/* The index that a mode makes of one outside, or -1 for the border. */
static int wrapped(int index, int n, CALsamplerParamWrapMode mode)
{
    int once = index < 0 ? -1 - index : index, period;
    switch (mode) {
    case CAL_SAMPLER_WRAP_REPEAT:
        return ((index % n) + n) % n;
    case CAL_SAMPLER_WRAP_MIRRORED_REPEAT:
        period = ((index % (2 * n)) + 2 * n) % (2 * n);
        return period < n ? period : 2 * n - 1 - period;
    case CAL_SAMPLER_WRAP_CLAMP_TO_EDGE:
        return index < 0 ? 0 : index >= n ? n - 1 : index;
    case CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_EDGE_EXT:
        return once >= n ? n - 1 : once;
    case CAL_SAMPLER_WRAP_CLAMP: /* the filter's taps outside are the border */
    case CAL_SAMPLER_WRAP_CLAMP_TO_BORDER:
        return index < 0 || index >= n ? -1 : index;
    default:
        return once >= n ? -1 : once;
    }
}

static float clamped(float u, float low, float high)
{
    return u < low ? low : u > high ? high : u;
}

static float texel(int x, int y, int component)
{
    return x < 0 || y < 0 ? border[component] : texels[y][x][component];
}

/* The nearest texel. CLAMP ends at the edge then: there is no tap that would reach outside. */
static float nearest(float u, float v, CALsamplerParamWrapMode s, CALsamplerParamWrapMode t, int component)
{
    static const CALsamplerParamWrapMode edge[8] = {
        CAL_SAMPLER_WRAP_REPEAT,         CAL_SAMPLER_WRAP_MIRRORED_REPEAT,
        CAL_SAMPLER_WRAP_CLAMP_TO_EDGE,  CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_EDGE_EXT,
        CAL_SAMPLER_WRAP_CLAMP_TO_EDGE,  CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_EDGE_EXT,
        CAL_SAMPLER_WRAP_CLAMP_TO_BORDER, CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_BORDER_EXT};
    return texel(wrapped((int)floorf(u), TEXELS_X, edge[s]), wrapped((int)floorf(v), TEXELS_Y, edge[t]), component);
}

/* The four texels around, weighted. The CLAMP modes clamp the coordinate, so at the edge half of it is the border. */
static float linear(float u, float v, CALsamplerParamWrapMode s, CALsamplerParamWrapMode t, int component)
{
    float fu, fv, sum = 0;
    int x, y, i, j;
    if (s == CAL_SAMPLER_WRAP_CLAMP || s == CAL_SAMPLER_WRAP_MIRROR_CLAMP_EXT) {
        u = clamped(u, s == CAL_SAMPLER_WRAP_CLAMP ? 0.0f : -(float)TEXELS_X, (float)TEXELS_X);
    }
    if (t == CAL_SAMPLER_WRAP_CLAMP || t == CAL_SAMPLER_WRAP_MIRROR_CLAMP_EXT) {
        v = clamped(v, t == CAL_SAMPLER_WRAP_CLAMP ? 0.0f : -(float)TEXELS_Y, (float)TEXELS_Y);
    }
    x = (int)floorf(u - 0.5f);
    y = (int)floorf(v - 0.5f);
    fu = u - 0.5f - (float)x;
    fv = v - 0.5f - (float)y;
    for (j = 0; j < 2; ++j) {
        for (i = 0; i < 2; ++i) {
            float weight = (i ? fu : 1.0f - fu) * (j ? fv : 1.0f - fv);
            if (weight != 0.0f) {
                sum += weight * texel(wrapped(x + i, TEXELS_X, s), wrapped(y + j, TEXELS_Y, t), component);
            }
        }
    }
    return sum;
}

/* Runs the kernel and compares all it read. */
static void compare(int filtered, CALsamplerParamWrapMode s, CALsamplerParamWrapMode t)
{
    static float got[HEIGHT][WIDTH][4];
    int x, y, c;
    check_wait(context, check_domain(context, check_entry(context, module), WIDTH, HEIGHT));
    check_read(output, got, 16, WIDTH, HEIGHT);
    for (y = 0; y < HEIGHT; ++y) {
        for (x = 0; x < WIDTH; ++x) {
            float u = (float)x * 0.25f - 5.5f, v = (float)y * 0.25f - 3.5f;
            for (c = 0; c < 4; ++c) {
                float expected = filtered ? linear(u, v, s, t, c) : nearest(u, v, s, t, c);
                if (got[y][x][c] != expected) {
                    fprintf(stderr, "%s, wrap %d and %d, at %g, %g, component %d: %g, not %g\n",
                            filtered ? "linear" : "nearest", (int)s, (int)t, u, v, c, got[y][x][c], expected);
                    exit(1);
                }
            }
        }
    }
}

static void set_wrap(CALsamplerParamWrapMode s, CALsamplerParamWrapMode t)
{
    OK(set(context, sampler, CAL_SAMPLER_PARAM_WRAP_S, &s));
    OK(set(context, sampler, CAL_SAMPLER_PARAM_WRAP_T, &t));
}

static CALextproc procedure(const char* name)
{
    CALextproc proc = NULL;
    OK(calExtGetProc(&proc, CAL_EXT_SAMPLER_PARAM, name));
    CHECK(proc != NULL);
    return proc;
}

int main(void)
{
    static const int min_filters[11] = {1, 0, 0, 0, 1, 1, -1, -2, -2, -1, -1}; /* -1: none, -2: not supported */
    static const int mag_filters[5] = {0, 1, -1, -1, -2};
    CALextproc proc;
    CALuint value, x, y, c;

    check_open(&device, &context);
    OK(calExtSupported(CAL_EXT_SAMPLER_PARAM));
    proc = procedure("calCtxSetSamplerParams");
    memcpy(&set, &proc, sizeof proc);
    CHECK(procedure("calCtxSetSamplerParameter") == proc); /* the header's other spelling */
    proc = procedure("calCtxGetSamplerParams");
    memcpy(&get, &proc, sizeof proc);
    CHECK(procedure("calCtxGetSamplerParameter") == proc);
    HOLDS(sampler_procedures_under_both_spellings);

    module = check_module(context, kernel);
    OK(calModuleGetName(&sampler, context, module, "s0"));
    OK(calResAllocLocal2D(&input, device, TEXELS_X, TEXELS_Y, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocLocal2D(&output, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, 0));
    for (y = 0; y < TEXELS_Y; ++y) {
        for (x = 0; x < TEXELS_X; ++x) {
            for (c = 0; c < 4; ++c) {
                texels[y][x][c] = (float)((y * TEXELS_X + x) * 4 + c);
            }
        }
    }
    check_write(input, texels, 16, TEXELS_X, TEXELS_Y);
    check_bind(context, module, "i0", input);
    check_bind(context, module, "o0", output);

    compare(0, CAL_SAMPLER_WRAP_CLAMP_TO_EDGE, CAL_SAMPLER_WRAP_CLAMP_TO_EDGE);
    HOLDS(sampler_default_is_nearest_and_the_edge);

    OK(set(context, sampler, CAL_SAMPLER_PARAM_BORDER_COLOR, border));
    for (x = 0; x < 8; ++x) {
        for (y = 0; y < 8; ++y) {
            CALsamplerParamMinFilter min_filter = CAL_SAMPLER_MIN_NEAREST;
            CALsamplerParamMagFilter mag_filter = CAL_SAMPLER_MAG_LINEAR;
            set_wrap((CALsamplerParamWrapMode)x, (CALsamplerParamWrapMode)y);
            OK(set(context, sampler, CAL_SAMPLER_PARAM_MIN_FILTER, &min_filter));
            compare(0, (CALsamplerParamWrapMode)x, (CALsamplerParamWrapMode)y);
            OK(set(context, sampler, CAL_SAMPLER_PARAM_MAG_FILTER, &mag_filter));
            compare(1, (CALsamplerParamWrapMode)x, (CALsamplerParamWrapMode)y);
        }
    }
    HOLDS(sampler_wrap_modes_in_both_directions);
    HOLDS(sampler_border_colour);

    /* The third direction has nothing to act on: resources have two. */
    set_wrap(CAL_SAMPLER_WRAP_REPEAT, CAL_SAMPLER_WRAP_MIRRORED_REPEAT);
    for (value = 0; value < 8; ++value) {
        CALsamplerParamWrapMode r = (CALsamplerParamWrapMode)value, got = (CALsamplerParamWrapMode)99;
        OK(set(context, sampler, CAL_SAMPLER_PARAM_WRAP_R, &r));
        OK(get(context, sampler, CAL_SAMPLER_PARAM_WRAP_R, &got));
        CHECK(got == r);
        compare(1, CAL_SAMPLER_WRAP_REPEAT, CAL_SAMPLER_WRAP_MIRRORED_REPEAT);
    }
    HOLDS(sampler_third_direction_is_kept);

    for (value = 0; value < 11; ++value) {
        CALsamplerParamMinFilter filter = (CALsamplerParamMinFilter)value;
        CALresult result = set(context, sampler, CAL_SAMPLER_PARAM_MIN_FILTER, &filter);
        if (min_filters[value] >= 0) {
            OK(result);
            compare(min_filters[value], CAL_SAMPLER_WRAP_REPEAT, CAL_SAMPLER_WRAP_MIRRORED_REPEAT);
        } else {
            EXPECT(min_filters[value] == -2 ? CAL_RESULT_NOT_SUPPORTED : CAL_RESULT_ERROR, result);
        }
    }
    for (value = 0; value < 5; ++value) {
        CALsamplerParamMagFilter filter = (CALsamplerParamMagFilter)value;
        CALresult result = set(context, sampler, CAL_SAMPLER_PARAM_MAG_FILTER, &filter);
        if (mag_filters[value] >= 0) {
            OK(result);
            compare(mag_filters[value], CAL_SAMPLER_WRAP_REPEAT, CAL_SAMPLER_WRAP_MIRRORED_REPEAT);
        } else {
            EXPECT(mag_filters[value] == -2 ? CAL_RESULT_NOT_SUPPORTED : CAL_RESULT_ERROR, result);
        }
    }
    HOLDS(sampler_filters);

    OK(set(context, sampler, CAL_SAMPLER_PARAM_DEFAULT, NULL));
    compare(0, CAL_SAMPLER_WRAP_CLAMP_TO_EDGE, CAL_SAMPLER_WRAP_CLAMP_TO_EDGE);
    {
        float got[4] = {1, 1, 1, 1};
        OK(get(context, sampler, CAL_SAMPLER_PARAM_BORDER_COLOR, got));
        CHECK(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == 0);
    }
    HOLDS(sampler_default_restores_all);
    check_close(device, context);
    return 0;
}
