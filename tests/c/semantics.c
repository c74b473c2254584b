/*
 * The reference's section on semantics, where no client program of this folder covers it: order in a context, maps of
 * resources in use, bindings at the moment of the launch, objects that go while their kernel runs, init and shutdown.
 */
#include "check.h"

#include <pthread.h>
#include <time.h>

enum { WIDTH = 256, HEIGHT = 256 };
enum { TRIES = 10 }; /* of what a busy machine may hide */

static CALdevice  device;
static CALcontext context;

/* o0 = i0, after cb0[0].x rounds that leave the value as it is but take their time */
static const char* slow =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0, 1, 0, 0\n"
    "sample_resource(0)_sampler(0) r1, vWinCoord0.xyxx\n"
    "mov r0.x, l0.x\n"
    "whileloop\n"
    "ige r0.y, r0.x, cb0[0].x\n"
    "break_logicalnz r0.y\n"
    "ixor r1, r1, r0.xxxx\n"
    "ixor r1, r1, r0.xxxx\n"
    "iadd r0.x, r0.x, l0.y\n"
    "endloop\n"
    "mov o0, r1\n"
    "end\n";

/* o0 = i0 + 1 */
static const char* increment =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_literal l0, 1.0, 1.0, 1.0, 1.0\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, l0\n"
    "end\n";

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static CALresource floats(int remote)
{
    CALresource resource = 0;
    if (remote) {
        OK(calResAllocRemote2D(&resource, &device, 1, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, CAL_RESALLOC_CACHEABLE));
    } else {
        OK(calResAllocLocal2D(&resource, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0));
    }
    return resource;
}

static void fill(CALresource resource, float value)
{
    static float numbers[WIDTH * HEIGHT];
    int i;
    for (i = 0; i < WIDTH * HEIGHT; ++i) {
        numbers[i] = value + (float)(i % 1000);
    }
    check_write(resource, numbers, 4, WIDTH, HEIGHT);
}

static int is_filled(CALresource resource, float value)
{
    static float numbers[WIDTH * HEIGHT];
    int i;
    check_read(resource, numbers, 4, WIDTH, HEIGHT);
    for (i = 0; i < WIDTH * HEIGHT; ++i) {
        if (numbers[i] != value + (float)(i % 1000)) {
            return 0;
        }
    }
    return 1;
}

static CALresource constant(CALuint value)
{
    CALresource resource = 0;
    CALuint words[4] = {0, 0, 0, 0};
    words[0] = value;
    OK(calResAllocRemote1D(&resource, &device, 1, 1, CAL_FORMAT_UINT_4, 0));
    check_write(resource, words, 16, 1, 1);
    return resource;
}

/* Rounds of `slow` that keep this device busy for a fifth of a second or so. */
static CALuint rounds_of_a_while(void)
{
    CALmodule module = check_module(context, slow);
    CALresource in = floats(0), out = floats(0), rounds = 0;
    CALuint number = 16;
    double took = 0;
    check_bind(context, module, "i0", in);
    check_bind(context, module, "o0", out);
    while (took < 0.02 && number < 16384) { /* llvmpipe ends loops at 65,535 rounds */
        CALmem mem;
        double start, once;
        int run;
        number *= 2;
        rounds = constant(number);
        mem = check_bind(context, module, "cb0", rounds);
        for (run = 0; run < 3; ++run) { /* the fastest: a busy machine may halt any one of them */
            start = seconds();
            check_wait(context, check_domain(context, check_entry(context, module), WIDTH, HEIGHT));
            once = seconds() - start;
            took = run == 0 || once < took ? once : took;
        }
        OK(calCtxReleaseMem(context, mem));
        OK(calResFree(rounds));
    }
    OK(calModuleUnload(context, module));
    OK(calResFree(in));
    OK(calResFree(out));
    return number < 6000 ? number * 10 : 60000;
}

/* A copy of a kernel's output, submitted right after it, sees the output; one wait, for the last event. */
static void work_of_a_context_is_done_in_order(void)
{
    CALmodule module = check_module(context, increment);
    CALresource buffers[2], staging = floats(1);
    CALmem mems[2], staging_mem = 0;
    CALname in = 0, out = 0;
    CALevent event = 0;
    int i;
    OK(calModuleGetName(&in, context, module, "i0"));
    OK(calModuleGetName(&out, context, module, "o0"));
    for (i = 0; i < 2; ++i) {
        buffers[i] = floats(0);
        OK(calCtxGetMem(&mems[i], context, buffers[i]));
    }
    OK(calCtxGetMem(&staging_mem, context, staging));
    fill(buffers[0], 5.0f);
    for (i = 0; i < 20; ++i) {
        OK(calCtxSetMem(context, in, mems[i & 1]));
        OK(calCtxSetMem(context, out, mems[~i & 1]));
        (void)check_domain(context, check_entry(context, module), WIDTH, HEIGHT);
        OK(calMemCopy(&event, context, mems[~i & 1], staging_mem, 0));
    }
    check_wait(context, event);
    CHECK(is_filled(staging, 25.0f));
    HOLDS(work_of_a_context_is_done_in_order);
    HOLDS(bindings_are_taken_at_the_launch);
    OK(calModuleUnload(context, module));
    OK(calResFree(buffers[0]));
    OK(calResFree(buffers[1]));
    OK(calResFree(staging));
}

static void finished_events_answer_at_once(void)
{
    CALmodule module = check_module(context, increment);
    CALresource buffer = floats(0);
    CALevent event;
    double start;
    int i;
    check_bind(context, module, "i0", buffer);
    check_bind(context, module, "o0", buffer); /* the same mem, read and written */
    event = check_domain(context, check_entry(context, module), 64, 1);
    check_wait(context, event);
    start = seconds();
    for (i = 0; i < 100000; ++i) {
        OK(calCtxIsEventDone(context, event));
    }
    CHECK(seconds() - start < 5.0); /* 50 microseconds each would be much too slow already */
    HOLDS(finished_events_answer_at_once);
    OK(calModuleUnload(context, module));
    OK(calResFree(buffer));
}

/* A kernel writes into memory that stays mapped; the pointer shows the results after the event. */
static void kernels_write_mapped_remote_memory(void)
{
    CALmodule module = check_module(context, increment);
    CALresource in = floats(0), out = floats(1);
    CALvoid* address = NULL;
    CALuint pitch = 0, pass, x, y;
    fill(in, 0.0f);
    check_bind(context, module, "i0", in);
    check_bind(context, module, "o0", out);
    OK(calResMap(&address, &pitch, out, 0));
    for (pass = 0; pass < 3; ++pass) {
        memset(address, 0xFF, (size_t)pitch * HEIGHT * 4);
        check_wait(context, check_domain(context, check_entry(context, module), WIDTH, HEIGHT));
        for (y = 0; y < HEIGHT; ++y) {
            for (x = 0; x < WIDTH; ++x) {
                CHECK(((float*)address)[y * pitch + x] == (float)((y * WIDTH + x) % 1000) + 1.0f);
            }
        }
    }
    OK(calResUnmap(out));
    HOLDS(kernels_write_mapped_remote_memory);
    OK(calModuleUnload(context, module));
    OK(calResFree(in));
    OK(calResFree(out));
}

/*
 * Everything that a running kernel uses goes; its result is there all the same, and the map waits for it. Returns
 * whether the kernel was still seen to run after all that: then none of the calls has waited. On a busy machine the
 * kernel may end first, which says nothing.
 */
static int module_unloaded_while_its_kernel_runs(CALuint rounds)
{
    CALmodule module = check_module(context, slow);
    CALresource in = floats(0), out = floats(0), number = constant(rounds);
    CALmem mems[3];
    CALfunc entry = check_entry(context, module);
    CALname name = 0;
    CALevent event = 0;
    CALdomain domain = {0, 0, WIDTH, HEIGHT};
    CALresult result;
    fill(in, 3.0f);
    mems[0] = check_bind(context, module, "i0", in);
    mems[1] = check_bind(context, module, "cb0", number);
    mems[2] = check_bind(context, module, "o0", out);
    OK(calModuleGetName(&name, context, module, "i0"));
    event = check_domain(context, entry, WIDTH, HEIGHT);
    (void)calCtxIsEventDone(context, event); /* starts it */
    OK(calModuleUnload(context, module));
    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    OK(calCtxReleaseMem(context, mems[2]));
    OK(calResFree(in));
    OK(calResFree(number));
    result = calCtxIsEventDone(context, event);
    CHECK(is_filled(out, 3.0f)); /* this waits */
    OK(calCtxIsEventDone(context, event));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxSetMem(context, name, 0));
    CHECK(calCtxRunProgram(&event, context, entry, &domain) != CAL_RESULT_OK && event == 0);
    EXPECT(CAL_RESULT_BAD_HANDLE, calModuleUnload(context, module));
    OK(calResFree(out));
    return result == CAL_RESULT_PENDING;
}

/* The result of a kernel whose context goes is there all the same. Returns whether the kernel was seen to run. */
static int context_destroyed_while_its_kernel_runs(CALuint rounds)
{
    CALcontext other = 0;
    CALmodule module;
    CALresource in = floats(0), out = floats(0), number = constant(rounds);
    CALevent event;
    CALresult result;
    OK(calCtxCreate(&other, device));
    module = check_module(other, slow);
    fill(in, 8.0f);
    check_bind(other, module, "i0", in);
    check_bind(other, module, "cb0", number);
    check_bind(other, module, "o0", out);
    event = check_domain(other, check_entry(other, module), WIDTH, HEIGHT);
    result = calCtxIsEventDone(other, event);
    OK(calCtxDestroy(other));
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxIsEventDone(other, event));
    CHECK(is_filled(out, 8.0f));
    OK(calResFree(in));
    OK(calResFree(out));
    OK(calResFree(number));
    return result == CAL_RESULT_PENDING;
}

static void* fail_elsewhere(void* ignored)
{
    (void)ignored;
    EXPECT(CAL_RESULT_BAD_HANDLE, calCtxDestroy(0x1234));
    return NULL;
}

/* One text for the process: another thread's failure shows here; reading does not clear it. */
static void error_text_of_the_process(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(strstr(calGetErrorString(), "calCtxDestroy") && strstr(calGetErrorString(), "0x1234"));
    CHECK(strstr(calGetErrorString(), "ctx") != NULL); /* function, argument, reason */
    HOLDS(error_text_of_the_process);
}

static void init_and_shutdown_may_be_repeated(CALuint rounds)
{
    int round;
    for (round = 0; round < 5; ++round) {
        CALmodule module = check_module(context, slow);
        CALresource in = floats(0), out = floats(0), number = constant(rounds / 10);
        CALuint count = 0;
        EXPECT(CAL_RESULT_ALREADY, calInit());
        check_bind(context, module, "i0", in);
        check_bind(context, module, "o0", out);
        check_bind(context, module, "cb0", number);
        (void)check_domain(context, check_entry(context, module), WIDTH, HEIGHT);
        OK(calCtxFlush(context));
        OK(calShutdown()); /* with work in flight, everything alive */
        EXPECT(CAL_RESULT_NOT_INITIALIZED, calShutdown());
        EXPECT(CAL_RESULT_NOT_INITIALIZED, calDeviceGetCount(&count));
        check_open(&device, &context);
    }
    HOLDS(init_and_shutdown_may_be_repeated);
    HOLDS(second_init_disturbs_nothing);
}

int main(void)
{
    CALuint rounds;
    int tries;
    check_open(&device, &context);
    rounds = rounds_of_a_while();
    work_of_a_context_is_done_in_order();
    finished_events_answer_at_once();
    kernels_write_mapped_remote_memory();
    for (tries = 0; !module_unloaded_while_its_kernel_runs(rounds); ++tries) {
        CHECK(tries < TRIES);
    }
    HOLDS(module_unloaded_while_its_kernel_runs);
    HOLDS(mapping_waits_for_the_work);
    HOLDS(names_and_funcs_die_with_their_module);
    for (tries = 0; !context_destroyed_while_its_kernel_runs(rounds); ++tries) {
        CHECK(tries < TRIES);
    }
    HOLDS(context_destroyed_while_its_kernel_runs);
    error_text_of_the_process();
    init_and_shutdown_may_be_repeated(rounds);
    check_close(device, context);
    return 0;
}
