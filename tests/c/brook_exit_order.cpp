/*
 * As Brook+ programs end: everything from static destructors, calShutdown FIRST, then context, device, mems, resources
 * and modules, with work still in flight and a thread that polls an event of it. None of it may crash or hang, and a
 * finished event must keep answering OK before that.
 */
#include "check.h"

#include <pthread.h>
#include <vector>

/* Long enough to be running when main ends. */
static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0, 1, 0, 0\n"
    "sample_resource(0)_sampler(0) r1, vWinCoord0.xyxx\n"
    "mov r0.x, l0.x\n"
    "whileloop\n"
    "ige r0.y, r0.x, cb0[0].x\n"
    "break_logicalnz r0.y\n"
    "mad r1, r1, r1, r1.1111\n"
    "frc r1, r1\n"
    "iadd r0.x, r0.x, l0.y\n"
    "endloop\n"
    "mov o0, r1\n"
    "end\n";

struct Runtime {
    CALdevice                device;
    CALcontext               context;
    CALmodule                module;
    std::vector<CALresource> resources;
    std::vector<CALmem>      mems;
    Runtime() : device(0), context(0), module(0) {}
    ~Runtime()
    {
        OK(calShutdown());
        (void)calCtxDestroy(context);
        (void)calDeviceClose(device);
        for (size_t i = 0; i < resources.size(); ++i) {
            (void)calCtxReleaseMem(context, mems[i]);
            (void)calResFree(resources[i]);
        }
        (void)calModuleUnload(context, module);
        HOLDS(brook_shutdown_first_from_a_static_destructor);
    }
};
static Runtime runtime;

static CALevent polled;

/* Ends at the first answer that is not PENDING: OK, or an error after the shutdown. */
static void* poll_event(void*)
{
    while (calCtxIsEventDone(runtime.context, polled) == CAL_RESULT_PENDING) {
    }
    return NULL;
}

int main()
{
    CALextproc proc = NULL;
    CALvoid* address;
    CALuint pitch, rounds[4] = {10, 0, 0, 0};

    check_open(&runtime.device, &runtime.context);
    (void)calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate2D"); /* before it asks for support */
    CHECK((calExtSupported(CAL_EXT_RES_CREATE) == CAL_RESULT_OK) == (proc != NULL));
    (void)calExtGetProc(&proc, CAL_EXT_D3D10, "calD3D10MapResourc"); /* misspelt in Brook+ */
    CHECK(proc == NULL);
    HOLDS(brook_procedure_before_support_is_asked);
    runtime.module = check_module(runtime.context, kernel);

    static const char* symbols[3] = {"i0", "o0", "cb0"};
    for (int i = 0; i < 3; ++i) {
        CALresource resource = 0;
        if (i < 2) {
            OK(calResAllocLocal2D(&resource, runtime.device, 512, 512, CAL_FORMAT_FLOAT_4,
                                  CAL_RESALLOC_GLOBAL_BUFFER));
        } else {
            OK(calResAllocRemote1D(&resource, &runtime.device, 1, 64, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_CACHEABLE));
        }
        OK(calResMap(&address, &pitch, resource, 0)); /* only for the pitch */
        OK(calResUnmap(resource));
        runtime.resources.push_back(resource);
        runtime.mems.push_back(check_bind(runtime.context, runtime.module, symbols[i], resource));
    }
    HOLDS(brook_pitch_by_a_map_of_a_fresh_resource);
    HOLDS(brook_global_buffer_flag_on_inputs_and_outputs);
    check_write(runtime.resources[2], rounds, 16, 1, 1);
    CALfunc func = check_entry(runtime.context, runtime.module);

    /* One event for many buffers, asked for again and again; a domain that does not start at 0,0. */
    CALdomain domain = {1, 4, 31, 124};
    CALevent event = 0;
    OK(calCtxRunProgram(&event, runtime.context, func, &domain));
    while (calCtxIsEventDone(runtime.context, event)) {
    }
    for (int i = 0; i < 1000; ++i) {
        OK(calCtxIsEventDone(runtime.context, event));
    }
    HOLDS(brook_finished_event_asked_again_and_again);
    HOLDS(brook_domain_that_does_not_start_at_0);

    /* Now with work in flight: a helper thread polls, main returns. */
    rounds[0] = getenv("SMALL") ? 20 : 100;
    check_write(runtime.resources[2], rounds, 16, 1, 1);
    polled = check_domain(runtime.context, func, 512, 512);
    CHECK(calCtxIsEventDone(runtime.context, polled) != CAL_RESULT_ERROR);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, poll_event, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
    return 0;
}
