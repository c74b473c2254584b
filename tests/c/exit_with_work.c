/*
 * Programs that never shut down, as dnetc and CorePy: the process ends with work in flight, objects of every kind alive,
 * memory mapped, and a thread inside the runtime. It must end, and with its own exit status.
 */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static const char* kernel =
    PS "dcl_output_generic o0\n"
    "dcl_literal l0, 0, 1, 1000, 0\n"
    "mov r0.x, vWinCoord0.x\n"
    "mov r1.x, l0.x\n"
    "whileloop\n"
    "ige r1.y, r1.x, l0.z\n"
    "break_logicalnz r1.y\n"
    "ixor r0.x, r0.x, r1.x\n"
    "iadd r1.x, r1.x, l0.y\n"
    "endloop\n"
    "mov o0, r0.xxxx\n"
    "end\n";

static CALcontext context;
static CALevent   last;

static void* poll_for_ever(void* ignored)
{
    (void)ignored;
    for (;;) {
        (void)calCtxIsEventDone(context, last);
    }
    return NULL;
}

int main(void)
{
    CALdevice device;
    CALmodule module;
    CALresource output = 0, mapped = 0;
    CALvoid* address = NULL;
    CALuint pitch = 0;
    pthread_t thread;
    int i;

    check_open(&device, &context);
    module = check_module(context, kernel);
    OK(calResAllocLocal2D(&output, device, 512, 512, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocRemote2D(&mapped, &device, 1, 64, 64, CAL_FORMAT_FLOAT_4, 0));
    OK(calResMap(&address, &pitch, mapped, 0));
    check_bind(context, module, "o0", output);
    for (i = 0; i < 4; ++i) {
        last = check_domain(context, check_entry(context, module), 512, 512);
    }
    OK(calCtxFlush(context));
    CHECK(pthread_create(&thread, NULL, poll_for_ever, NULL) == 0);
    usleep(20000);
    HOLDS(process_ends_with_work_in_flight);
    return 0; /* exit handlers run while all of that goes on */
}
