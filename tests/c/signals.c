/*
 * Signals are the program's: what it blocks stays pending, whatever threads the library has started.
 */
#include "check.h"

#include <signal.h>
#include <unistd.h>

enum { N = 512 };

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource output = 0;
    sigset_t blocked, pending;
    check_open(&device, &context);
    module = check_module(context, PS "dcl_output_generic o0\nmov o0, vWinCoord0.xyxy\nend\n");
    OK(calResAllocLocal2D(&output, device, N, N, CAL_FORMAT_FLOAT_4, 0));
    check_bind(context, module, "o0", output);
    check_wait(context, check_domain(context, check_entry(context, module), N, N));
    CHECK(sigemptyset(&blocked) == 0 && sigaddset(&blocked, SIGUSR1) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
    /* Another thread that does not block it would end the process. */
    CHECK(kill(getpid(), SIGUSR1) == 0);
    usleep(10000);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
    CHECK(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
    HOLDS(threads_of_the_library_take_no_signals);
    check_close(device, context);
    return 0;
}
