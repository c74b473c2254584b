/*
 * Threads that wait for an event are cancelled: a call in progress is done first, and the thread ends behind it.
 */
#include "check.h"

#include "cal_private_ext.h"

#include <pthread.h>
#include <unistd.h>

static const char* kernel =
    PS "dcl_output_generic o0\n"
    "dcl_literal l0, 1.0001, 0.0, 0.0, 0.0\n"
    "dcl_literal l1, -1, 20000, 0, 0\n"
    "mov r1.x, l1.y\n"
    "mov r0, vWinCoord0.xyxy\n"
    "whileloop\n"
    "break_logicalz r1.x\n"
    "mad r0, r0, l0.x, l0.x\n"
    "iadd r1.x, r1.x, l1.x\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

static CALcontext context;
static CALevent event;
static PFNCALCTXWAITFOREVENTS wait_for_events;

static void* polls(void* ignored)
{
    for (;;) {
        while (calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
        }
        pthread_testcancel();
        usleep(100);
    }
    return ignored;
}

static void* waits(void* ignored)
{
    wait_for_events(context, &event, 1, CAL_WAIT_LOW_CPU_UTILIZATION);
    for (;;) {
        usleep(100);
    }
    return ignored;
}

int main(void)
{
    void* (*const threads[2])(void*) = {polls, waits};
    CALdevice device;
    CALmodule module;
    CALfunc entry;
    CALresource output = 0;
    CALextproc found = NULL;
    int i;
    check_open(&device, &context);
    OK(calExtGetProc(&found, (CALextid)CAL_PRIVATE_EXT_SYNC_OBJECT, "calCtxWaitForEvents"));
    memcpy(&wait_for_events, &found, sizeof found);
    module = check_module(context, kernel);
    entry = check_entry(context, module);
    OK(calResAllocLocal2D(&output, device, 64, 64, CAL_FORMAT_FLOAT_4, 0));
    check_bind(context, module, "o0", output);
    for (i = 0; i < 20; ++i) {
        pthread_t thread;
        void* result = NULL;
        event = check_domain(context, entry, 64, 64);
        CHECK(pthread_create(&thread, NULL, threads[i % 2], NULL) == 0);
        usleep(1500);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
        check_wait(context, event);
    }
    check_close(device, context);
    HOLDS(threads_are_cancelled_between_calls);
    return 0;
}
