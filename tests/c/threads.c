/*
 * Any thread at any time: a context per thread on one device, one context shared by many, events polled from elsewhere,
 * modules loaded and unloaded while others run; then start and stop of the whole runtime, with work in flight; and a
 * child of fork that does not use the runtime.
 */
#include "check.h"

#include <pthread.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { THREADS = 8, LAUNCHES = 40, WIDTH = 64 };

static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_cb cb0[1]\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, cb0[0].x\n"
    "end\n";

static CALdevice  device;
static CALcontext shared;

static void work(CALcontext context, int number)
{
    CALresource in = 0, out = 0, constant = 0;
    CALmodule module = check_module(context, kernel);
    CALfunc func = check_entry(context, module);
    float numbers[WIDTH], results[WIDTH], c[4] = {0, 0, 0, 0};
    int i, launch;
    OK(calResAllocLocal2D(&in, device, WIDTH, 1, CAL_FORMAT_FLOAT_1, 0));
    OK(calResAllocRemote2D(&out, &device, 1, WIDTH, 1, CAL_FORMAT_FLOAT_1, CAL_RESALLOC_CACHEABLE));
    OK(calResAllocRemote1D(&constant, &device, 1, 1, CAL_FORMAT_FLOAT_4, 0));
    for (i = 0; i < WIDTH; ++i) {
        numbers[i] = (float)(i + 1000 * number);
    }
    check_write(in, numbers, 4, WIDTH, 1);
    check_bind(context, module, "i0", in);
    check_bind(context, module, "o0", out);
    check_bind(context, module, "cb0", constant);
    for (launch = 0; launch < LAUNCHES; ++launch) {
        c[0] = (float)launch;
        check_write(constant, c, 16, 1, 1);
        check_wait(context, check_domain(context, func, WIDTH, 1));
        check_read(out, results, 4, WIDTH, 1);
        for (i = 0; i < WIDTH; ++i) {
            CHECK(results[i] == numbers[i] + (float)launch);
        }
    }
    OK(calModuleUnload(context, module));
    OK(calResFree(in));
    OK(calResFree(out));
    OK(calResFree(constant));
}

static void* own_context(void* number)
{
    CALcontext context = 0;
    OK(calCtxCreate(&context, device));
    work(context, (int)(size_t)number);
    OK(calCtxDestroy(context));
    return NULL;
}

static void* shared_context(void* number)
{
    work(shared, (int)(size_t)number);
    return NULL;
}

static void all(void* (*body)(void*))
{
    pthread_t threads[THREADS];
    long i;
    for (i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&threads[i], NULL, body, (void*)(size_t)i) == 0);
    }
    for (i = 0; i < THREADS; ++i) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

int main(void)
{
    int round;

    check_open(&device, &shared);
    all(own_context);
    HOLDS(contexts_of_their_own_in_threads);
    all(shared_context);
    HOLDS(one_context_shared_by_threads);

#ifndef _WIN32
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(0); /* never uses it */
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
    work(shared, 5);

    for (round = 0; round < 5; ++round) {
        CALresource in = 0, out = 0, constant = 0;
        CALmodule module = check_module(shared, kernel);
        OK(calResAllocLocal2D(&in, device, 512, 512, CAL_FORMAT_FLOAT_4, 0));
        OK(calResAllocLocal2D(&out, device, 512, 512, CAL_FORMAT_FLOAT_4, 0));
        OK(calResAllocRemote1D(&constant, &device, 1, 1, CAL_FORMAT_FLOAT_4, 0));
        check_bind(shared, module, "i0", in);
        check_bind(shared, module, "o0", out);
        check_bind(shared, module, "cb0", constant);
        (void)check_domain(shared, check_entry(shared, module), 512, 512);
        OK(calCtxFlush(shared));
        OK(calShutdown()); /* everything alive, work in flight */
        check_open(&device, &shared);
        work(shared, round);
    }
    check_close(device, shared);
    return 0;
}
