/*
 * Programs whose main thread never calls CAL: another thread does all of it, and main returns while that thread is at
 * some point between calInit and its last launch. The process ends with main's exit status. The program runs itself with
 * one delay after the other, so that the end meets every step, drivers being loaded and kernels compiled among them.
 */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS = 42 };

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

static sem_t launched;

/* Results are not looked at: from some moment on they are errors, the process being about to end. */
static void* work(void* ignored)
{
    CALdevice device = 0;
    CALdeviceinfo info = {(CALtarget)0, 0, 0, 0};
    CALcontext context = 0;
    CALobject object = NULL;
    CALimage image = NULL;
    CALmodule module = 0;
    CALfunc entry = 0;
    CALname name = 0;
    CALresource output = 0;
    CALmem mem = 0;
    CALevent event = 0;
    CALdomain domain = {0, 0, 256, 256};
    (void)ignored;
    (void)calInit();
    (void)calDeviceGetInfo(&info, 0);
    (void)calDeviceOpen(&device, 0);
    (void)calCtxCreate(&context, device);
    (void)calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target);
    (void)calclLink(&image, &object, 1);
    (void)calModuleLoad(&module, context, image);
    (void)calModuleGetEntry(&entry, context, module, "main");
    (void)calModuleGetName(&name, context, module, "o0");
    (void)calResAllocLocal2D(&output, device, 256, 256, CAL_FORMAT_FLOAT_4, 0);
    (void)calCtxGetMem(&mem, context, output);
    (void)calCtxSetMem(context, name, mem);
    (void)calCtxRunProgram(&event, context, entry, &domain);
    (void)calCtxFlush(context);
    sem_post(&launched);
    for (;;) {
        (void)calCtxRunProgram(&event, context, entry, &domain);
        while (calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
        }
    }
    return NULL;
}

/* Milliseconds after which main returns; -1: as soon as there is work in flight. */
static int ends_after(int delay)
{
    pthread_t thread;
    CHECK(sem_init(&launched, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
    if (delay < 0) {
        while (sem_wait(&launched) != 0) {
        }
    } else {
        usleep((useconds_t)delay * 1000);
    }
    return STATUS;
}

int main(int argc, char** argv)
{
    static const int delays[] = {-1, 0, 2, 5, 10, 20, 40, 60, 80, 100, 130, 160, 200, 250, 300};
    size_t i;
    if (argc > 1) {
        return ends_after(atoi(argv[1]));
    }
    for (i = 0; i < sizeof delays / sizeof delays[0]; ++i) {
        char text[16];
        int status = 0;
        pid_t child;
        sprintf(text, "%d", delays[i]);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            execl(argv[0], argv[0], text, (char*)NULL);
            _exit(127);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS) {
            fprintf(stderr, "main returned after %d ms: wait status 0x%x\n", delays[i], (unsigned)status);
            return 1;
        }
    }
    HOLDS(process_ends_while_another_thread_calls);
    return 0;
}
