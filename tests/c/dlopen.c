/*
 * Both libraries by dlopen, now and lazily, opened and closed in either order, again and again, with and without a
 * shutdown before; the compiler's library alone; and fork: children that never use the runtime, and one that starts its
 * own, while the parent has work in flight.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "behaviour.h"
#include "cal.h"
#include "calcl.h"

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

#define FUNCTION(library, name)              \
    __typeof__(&name) p_##name;              \
    *(void**)&p_##name = dlsym(library, #name); \
    CHECK(p_##name != NULL)

enum { WIDTH = 512 };

static const char* kernel =
    "il_ps_2_0\n"
    "dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n"
    "dcl_output_generic o0\n"
    "dcl_literal l0, 0, 1, 300, 0\n"
    "mov r0, vWinCoord0.xxxx\n"
    "mov r1.x, l0.x\n"
    "whileloop\n"
    "ige r1.y, r1.x, l0.z\n"
    "break_logicalnz r1.y\n"
    "ixor r0, r0, r1.xxxx\n"
    "ixor r0, r0, r1.xxxx\n"
    "iadd r1.x, r1.x, l0.y\n"
    "endloop\n"
    "mov o0, r0\n"
    "end\n";

/* A whole program; leaves a launch in flight, and the runtime as it is unless told to shut it down. */
static void compute(void* rt, void* cl, int shut_down)
{
    FUNCTION(rt, calInit);
    FUNCTION(rt, calShutdown);
    FUNCTION(rt, calDeviceGetInfo);
    FUNCTION(rt, calDeviceOpen);
    FUNCTION(rt, calCtxCreate);
    FUNCTION(rt, calModuleLoad);
    FUNCTION(rt, calModuleGetEntry);
    FUNCTION(rt, calModuleGetName);
    FUNCTION(rt, calResAllocLocal2D);
    FUNCTION(rt, calResMap);
    FUNCTION(rt, calResUnmap);
    FUNCTION(rt, calCtxGetMem);
    FUNCTION(rt, calCtxSetMem);
    FUNCTION(rt, calCtxRunProgram);
    FUNCTION(rt, calCtxFlush);
    FUNCTION(cl, calclCompile);
    FUNCTION(cl, calclLink);
    FUNCTION(cl, calclFreeObject);
    FUNCTION(cl, calclFreeImage);
    CALdevice device = 0;
    CALcontext context = 0;
    CALdeviceinfo info;
    CALobject object = NULL;
    CALimage image = NULL;
    CALmodule module = 0;
    CALfunc entry = 0;
    CALname name = 0;
    CALresource output = 0;
    CALmem mem = 0;
    CALevent event = 0;
    CALdomain domain = {0, 0, WIDTH, WIDTH};
    float* numbers = NULL;
    CALuint pitch = 0, x;

    CHECK(p_calInit() == CAL_RESULT_OK);
    CHECK(p_calDeviceGetInfo(&info, 0) == CAL_RESULT_OK);
    CHECK(p_calDeviceOpen(&device, 0) == CAL_RESULT_OK);
    CHECK(p_calCtxCreate(&context, device) == CAL_RESULT_OK);
    CHECK(p_calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target) == CAL_RESULT_OK);
    CHECK(p_calclLink(&image, &object, 1) == CAL_RESULT_OK);
    CHECK(p_calclFreeObject(object) == CAL_RESULT_OK);
    CHECK(p_calModuleLoad(&module, context, image) == CAL_RESULT_OK);
    CHECK(p_calclFreeImage(image) == CAL_RESULT_OK);
    CHECK(p_calModuleGetEntry(&entry, context, module, "main") == CAL_RESULT_OK);
    CHECK(p_calModuleGetName(&name, context, module, "o0") == CAL_RESULT_OK);
    CHECK(p_calResAllocLocal2D(&output, device, WIDTH, WIDTH, CAL_FORMAT_FLOAT_1, 0) == CAL_RESULT_OK);
    CHECK(p_calCtxGetMem(&mem, context, output) == CAL_RESULT_OK);
    CHECK(p_calCtxSetMem(context, name, mem) == CAL_RESULT_OK);
    CHECK(p_calCtxRunProgram(&event, context, entry, &domain) == CAL_RESULT_OK && event != 0);
    CHECK(p_calResMap((CALvoid**)&numbers, &pitch, output, 0) == CAL_RESULT_OK);
    for (x = 0; x < WIDTH; ++x) {
        CHECK(numbers[7 * pitch + x] == (float)x + 0.5f);
    }
    CHECK(p_calResUnmap(output) == CAL_RESULT_OK);
    CHECK(p_calCtxRunProgram(&event, context, entry, &domain) == CAL_RESULT_OK && event != 0);
    CHECK(p_calCtxFlush(context) == CAL_RESULT_OK);
    if (shut_down) {
        CHECK(p_calShutdown() == CAL_RESULT_OK);
    }
}

static void* library(const char* name, int mode)
{
    void* handle = dlopen(name, mode);
    if (handle == NULL) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        exit(1);
    }
    return handle;
}

/* Ends as wanted? A child that hangs is killed by its alarm. */
static void expect_exit(pid_t child)
{
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    static const int modes[2] = {RTLD_LAZY, RTLD_NOW};
    int mode, order;
    void *rt, *cl;

    /* The compiler alone. */
    cl = library("libaticalcl.so", RTLD_NOW);
    {
        FUNCTION(cl, calclCompile);
        FUNCTION(cl, calclFreeObject);
        CALobject object = NULL;
        CHECK(p_calclCompile(&object, CAL_LANGUAGE_IL, kernel, CAL_TARGET_CYPRESS) == CAL_RESULT_OK);
        CHECK(p_calclFreeObject(object) == CAL_RESULT_OK);
    }
    CHECK(dlclose(cl) == 0);
    HOLDS(dlopen_the_compiler_alone);

    for (mode = 0; mode < 2; ++mode) {
        for (order = 0; order < 4; ++order) {
            if (order & 1) {
                cl = library("libaticalcl.so", modes[mode]);
                rt = library("libaticalrt.so", modes[mode]);
            } else {
                rt = library("libaticalrt.so", modes[mode]);
                cl = library("libaticalcl.so", modes[mode]);
            }
            compute(rt, cl, 1);
            CHECK(dlclose(order & 2 ? cl : rt) == 0);
            CHECK(dlclose(order & 2 ? rt : cl) == 0);
        }
    }
    HOLDS(dlopen_lazily_and_now);
    HOLDS(dlclose_in_either_order);

    /* Closed with work in flight and no shutdown; opened again, everything is as it was. */
    rt = library("libaticalrt.so", RTLD_LAZY);
    cl = library("libaticalcl.so", RTLD_LAZY);
    compute(rt, cl, 0);
    CHECK(dlclose(rt) == 0);
    CHECK(dlclose(cl) == 0);
    rt = library("libaticalrt.so", RTLD_NOW);
    cl = library("libaticalcl.so", RTLD_NOW);
    {
        FUNCTION(rt, calInit);
        CHECK(p_calInit() == CAL_RESULT_ALREADY);
    }
    HOLDS(dlclose_without_shutdown);

    fflush(stdout);
    {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            exit(0); /* with all exit handlers, having used nothing */
        }
        expect_exit(child);
        child = fork();
        if (child == 0) {
            alarm(60);
            execl("/bin/true", "true", (char*)NULL);
            _exit(9);
        }
        expect_exit(child);
    }
    HOLDS(fork_of_a_process_that_never_used_it_afterwards);
    {
        pid_t child = fork();
        if (child == 0) {
            FUNCTION(rt, calShutdown);
            alarm(120);
            CHECK(p_calShutdown() == CAL_RESULT_NOT_INITIALIZED); /* the parent's runtime is not the child's */
            exit(0);
        }
        expect_exit(child);
    }
    {
        FUNCTION(rt, calShutdown);
        CHECK(p_calShutdown() == CAL_RESULT_OK);
    }
    compute(rt, cl, 1); /* the parent is none the worse */
    HOLDS(fork_leaves_the_parent_as_it_was);
    CHECK(dlclose(cl) == 0);
    CHECK(dlclose(rt) == 0);
    return 0;
}
