/*
 * A stranger's program of the kind that measured kernels: pinned memory for data and results, and both counters. Idle is
 * measured by the runtime's clock; the cache hit rate is modelled, so its value can be computed here: each 64-byte line of
 * a bound input misses once a launch, all other fetches hit.
 */
#include "check.h"

#include "cal_ext_counter.h"

#include <time.h>

enum { WIDTH = 256, HEIGHT = 256 };

static const char* once =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mov o0, r0\n"
    "end\n";

static const char* four_times =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "sample_resource(0)_sampler(0) r1, vWinCoord0.yxxx\n"
    "sample_resource(0)_sampler(0) r2, vWinCoord0.xxxx\n"
    "sample_resource(0)_sampler(0) r3, vWinCoord0.yyxx\n"
    "add r0, r0, r1\n"
    "add r2, r2, r3\n"
    "add o0, r0, r2\n"
    "end\n";

/* Keeps the device busy. */
static const char* busy =
    PS "dcl_output_generic o0\n"
    "dcl_literal l0, 0, 1, 2000, 0\n"
    "mov r0, vWinCoord0.xyxy\n"
    "mov r1.x, l0.x\n"
    "whileloop\n"
    "ige r1.y, r1.x, l0.z\n"
    "break_logicalnz r1.y\n"
    "ixor r0, r0, r1.xxxx\n"
    "iadd r1.x, r1.x, l0.y\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

static CALdevice  device;
static CALcontext context;
static PFNCALCTXCREATECOUNTER  create;
static PFNCALCTXDESTROYCOUNTER destroy;
static PFNCALCTXBEGINCOUNTER   begin;
static PFNCALCTXENDCOUNTER     end;
static PFNCALCTXGETCOUNTER     get;

static void find(CALextid extension, const char* name, void* where)
{
    CALextproc proc = NULL;
    OK(calExtGetProc(&proc, extension, name));
    CHECK(proc != NULL);
    memcpy(where, &proc, sizeof proc);
}

static float value(CALcounter counter)
{
    CALfloat result = -1.0f;
    OK(get(&result, context, counter));
    CHECK(result >= 0.0f && result <= 1.0f);
    return result;
}

static void rest(double seconds)
{
    struct timespec time;
    time.tv_sec = (time_t)seconds;
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    nanosleep(&time, NULL);
}

int main(void)
{
    static float in[WIDTH * HEIGHT * 4] __attribute__((aligned(4096)));
    static float out[WIDTH * HEIGHT * 4] __attribute__((aligned(4096)));
    CALcounter idle = 0, hits = 0, none = 7;
    CALresource input = 0, output = 0;
    CALmodule modules[3];
    CALevent event = 0;
    PFNCALRESCREATE2D pin;
    float idle_rest, idle_work;
    int i;

    check_open(&device, &context);
    OK(calExtSupported(CAL_EXT_COUNTERS));
    find(CAL_EXT_COUNTERS, "calCtxCreateCounter", &create);
    find(CAL_EXT_COUNTERS, "calCtxDestroyCounter", &destroy);
    find(CAL_EXT_COUNTERS, "calCtxBeginCounter", &begin);
    find(CAL_EXT_COUNTERS, "calCtxEndCounter", &end);
    find(CAL_EXT_COUNTERS, "calCtxGetCounter", &get);
    find(CAL_EXT_RES_CREATE, "calResCreate2D", &pin);
    HOLDS(a2_five_counter_procedures_by_name);
    CHECK(create(&none, context, (CALcountertype)7) != CAL_RESULT_OK && none == 0);
    HOLDS(a2_failed_counter_is_0);
    OK(create(&idle, context, CAL_COUNTER_IDLE));
    OK(create(&hits, context, CAL_COUNTER_INPUT_CACHE_HIT_RATE));

    OK(pin(&input, device, in, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, sizeof in, 0));
    OK(pin(&output, device, out, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, sizeof out, 0));
    modules[0] = check_module(context, once);
    modules[1] = check_module(context, four_times);
    modules[2] = check_module(context, busy);
    for (i = 0; i < 3; ++i) {
        if (i < 2) {
            check_bind(context, modules[i], "i0", input);
        }
        check_bind(context, modules[i], "o0", output);
    }

    /* Pinned: written and read by the program's own pointers. */
    for (i = 0; i < WIDTH * HEIGHT * 4; ++i) {
        in[i] = (float)i;
    }
    OK(begin(context, hits));
    event = check_domain(context, check_entry(context, modules[0]), WIDTH, HEIGHT);
    OK(end(context, hits));
    check_wait(context, event);
    CHECK(memcmp(in, out, sizeof in) == 0);
    HOLDS(pinned_memory_without_a_map);
    /* 65,536 fetches of 16 bytes, 16,384 lines of 64. */
    CHECK(value(hits) == 0.75f);
    OK(begin(context, hits));
    event = check_domain(context, check_entry(context, modules[1]), WIDTH, HEIGHT);
    OK(end(context, hits));
    check_wait(context, event);
    CHECK(value(hits) == 1.0f - 0.25f / 4.0f);
    HOLDS(counter_cache_hit_rate_is_modelled);

    /* Nothing but a rest; then work without one. */
    check_wait(context, check_domain(context, check_entry(context, modules[2]), WIDTH, HEIGHT));
    OK(begin(context, idle));
    event = check_domain(context, check_entry(context, modules[0]), 64, 1);
    check_wait(context, event);
    rest(0.5);
    OK(end(context, idle));
    idle_rest = value(idle);
    OK(begin(context, idle));
    for (i = 0; i < 4; ++i) {
        event = check_domain(context, check_entry(context, modules[2]), WIDTH, HEIGHT);
    }
    OK(end(context, idle));
    check_wait(context, event);
    idle_work = value(idle);
    if (!(idle_rest > idle_work + 0.2f)) {
        fprintf(stderr, "idle: %g at rest, %g at work\n", idle_rest, idle_work);
        return 1;
    }
    HOLDS(counter_idle_is_measured);

    CHECK(get(&idle_rest, context, none) == CAL_RESULT_BAD_HANDLE);
    OK(destroy(context, idle));
    OK(destroy(context, hits));
    EXPECT(CAL_RESULT_BAD_HANDLE, begin(context, idle));
    OK(calResFree(input));
    OK(calResFree(output));
    check_close(device, context);
    return 0;
}
