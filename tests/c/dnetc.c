/*
 * As the distributed.net client does: struct_size 0x58 and then 0x50, cached remote output with a fall-back, pixel
 * kernels with integers in UINT_1 outputs and UINT_4 constants, two modules with two events in flight, g[], a compute
 * kernel on a remote global buffer, waiting through the private extension, results left in remote memory, no shutdown.
 */
#include <CAL/cal.h>
#include <CAL/cal_ext_counter.h>
#include <CAL/calcl.h>

#include "check.h"

enum { WIDTH = 128, HEIGHT = 64 };

typedef CALresult(CALAPIENTRYP PFNWAIT)(CALcontext ctx, CALevent* event, CALuint num, CALuint flags);

/* o0 = (y * 128 + x) * cb0[0].x + cb0[1].y, all integers */
static const char* core_one =
    PS "dcl_output_generic o0\n"
    "dcl_cb cb0[3]\n"
    "dcl_literal l0, 128, 0, 0, 0\n"
    "ftoi r0.xy__, vWinCoord0.xyxx\n"
    "imul r0.z, r0.y, l0.x\n"
    "iadd r0.z, r0.z, r0.x\n"
    "umul r0.z, r0.z, cb0[0].x\n"
    "iadd r0.z, r0.z, cb0[1].y\n"
    "mov o0.x___, r0.z\n"
    "end\n";

/* g[thread] = hits only: threads whose number is a multiple of 97 append at their own place */
static const char* core_two =
    PS "dcl_cb cb0[3]\n"
    "dcl_literal l0, 128, 97, 0, 0\n"
    "ftoi r0.xy__, vWinCoord0.xyxx\n"
    "imul r0.z, r0.y, l0.x\n"
    "iadd r0.z, r0.z, r0.x\n"
    "udiv r1.x, r0.z, l0.y\n"
    "umul r1.y, r1.x, l0.y\n"
    "ieq r1.z, r1.y, r0.z\n"
    "if_logicalnz r1.z\n"
    "mov g[r1.x].x, cb0[2].w\n"
    "endif\n"
    "end\n";

static const char* compute_core =
    CS(64)
    "dcl_cb cb0[3]\n"
    "dcl_raw_uav_id(0)\n"
    "dcl_literal l0, 4, 13, 0, 0\n"
    "ishl r0.x, vAbsTidFlat.x, l0.z\n"
    "umul r0.y, r0.x, l0.x\n"
    /* a rotation as the key schedule has them: by 13, and the rest by its negation */
    "ishl r1.x, cb0[0].x, l0.y\n"
    "ushr r1.y, cb0[0].x, l0.y_neg(xyzw)\n"
    "ior r1.x, r1.x, r1.y\n"
    "ixor r1.x, r1.x, r0.x\n"
    "uav_raw_store_id(0) mem0.x___, r0.y, r1.x\n"
    "end\n";

static CALresult allocate_output(CALresource* res, CALdevice* device, const CALdeviceattribs* attribs)
{
    /* The result code is not looked at, as in the client: the handle tells. */
    *res = 0;
    if (attribs->cachedRemoteRAM > 0) {
        calResAllocRemote2D(res, device, 1, WIDTH, HEIGHT, CAL_FORMAT_UINT_1, CAL_RESALLOC_CACHEABLE);
    }
    if (*res == 0) {
        calResAllocRemote2D(res, device, 1, WIDTH, HEIGHT, CAL_FORMAT_UINT_1, 0);
    }
    return *res ? CAL_RESULT_OK : CAL_RESULT_ERROR;
}

static void constants(CALresource resource, CALuint a, CALuint b, CALuint c)
{
    CALuint* pointer = NULL;
    CALuint pitch = 0;
    OK(calResMap((CALvoid**)&pointer, &pitch, resource, 0));
    pointer[0] = a;
    pointer[5] = b;
    pointer[11] = c;
    OK(calResUnmap(resource));
}

int main(void)
{
    CALdevice device = 0;
    CALcontext context = 0;
    CALdeviceattribs attribs;
    CALresult result;
    CALmodule one, two;
    CALresource output = 0, global = 0, cb_one = 0, cb_two = 0, huge = 0;
    CALdomain domain = {0, 0, WIDTH, HEIGHT};
    CALobject object = 0;
    CALuint count = 0, pass, i;
    CALextproc proc = NULL;
    PFNWAIT wait_for = NULL;

    OK(calInit());
    OK(calDeviceGetCount(&count));
    CHECK(count > 0);
    memset(&attribs, 0xAA, sizeof attribs);
    attribs.struct_size = 0x58;
    if (calDeviceGetAttribs(&attribs, 0) != CAL_RESULT_OK) {
        attribs.struct_size = 0x50;
        OK(calDeviceGetAttribs(&attribs, 0));
    }
    CHECK(attribs.totalVisibleHeap == 0xAAAAAAAAu); /* beyond what was asked for */
    memset(&attribs, 0xAA, sizeof attribs);
    attribs.struct_size = 0x50;
    OK(calDeviceGetAttribs(&attribs, 0));
    CHECK(attribs.numberOfShaderEngines == 0xAAAAAAAAu && attribs.struct_size == 0x50);
    HOLDS(dnetc_struct_size_0x58_then_0x50);
    CHECK(attribs.memExport && attribs.numberOfSIMD > 0 && attribs.engineClock > 0);
    /* Targets are compared with bare numbers: Cypress to before Tahiti has the compute core, g[] needs memExport. */
    CHECK(attribs.target >= 8 && attribs.target < 20);
    CHECK(CAL_TARGET_CYPRESS == 8 && CAL_TARGET_JUNIPER == 9 && CAL_TARGET_CAYMAN == 15 && CAL_TARGET_BARTS == 17);
    HOLDS(dnetc_attributes_and_target_numbers);
    OK(calDeviceOpen(&device, 0));
    OK(calCtxCreate(&context, device));

    /* A kernel for no known machine is an error, and nothing else; then a good one compiles. */
    CHECK(calclCompile(&object, CAL_LANGUAGE_IL, PS "dcl_output_generic o0\nrotate_bits o0, r0\nend\n",
                       attribs.target) != CAL_RESULT_OK);
    CHECK(object == 0 && calclGetErrorString()[0] != '\0');
    HOLDS(dnetc_failed_compile_is_clean);
    one = check_module(context, core_one);
    two = check_module(context, core_two);

    CHECK(calResAllocRemote2D(&huge, &device, 1, 0x7FFFFFFF, 0x7FFFFFFF, CAL_FORMAT_UINT_1, CAL_RESALLOC_CACHEABLE) !=
          CAL_RESULT_OK);
    CHECK(huge == 0);
    HOLDS(dnetc_failed_allocation_leaves_handle_0);
    OK(allocate_output(&output, &device, &attribs));
    HOLDS(dnetc_cacheable_output_then_uncached);
    OK(calResAllocRemote2D(&global, &device, 1, 64, 4, CAL_FORMAT_UINT_4, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(calResAllocRemote1D(&cb_one, &device, 1, 3, CAL_FORMAT_UINT_4, 0));
    OK(calResAllocRemote1D(&cb_two, &device, 1, 3, CAL_FORMAT_UINT_4, 0));
    check_bind(context, one, "o0", output);
    check_bind(context, one, "cb0", cb_one);
    check_bind(context, two, "g[]", global);
    check_bind(context, two, "cb0", cb_two);

    /* Remapped between launches of the same bound mems; both modules in flight, the older event waited for first. */
    for (pass = 1; pass <= 4; ++pass) {
        CALevent first = 0, second = 0;
        CALuint* words = NULL;
        CALuint pitch = 0, y;
        constants(cb_one, 2654435761u * pass, pass, 0);
        constants(cb_two, 0, 0, 0xF00D0000u + pass);
        result = calCtxRunProgram(&first, context, check_entry(context, one), &domain);
        CHECK((result == CAL_RESULT_OK || result == CAL_RESULT_PENDING) && first != 0);
        OK(calCtxFlush(context));
        result = calCtxRunProgram(&second, context, check_entry(context, two), &domain);
        CHECK((result == CAL_RESULT_OK || result == CAL_RESULT_PENDING) && second != 0);
        CHECK(calCtxIsEventDone(context, second) != CAL_RESULT_ERROR);
        check_wait(context, first);
        check_wait(context, second);
        OK(calCtxIsEventDone(context, first)); /* finished ones may be asked again */

        OK(calResMap((CALvoid**)&words, &pitch, output, 0));
        for (y = 0; y < HEIGHT; ++y) {
            for (i = 0; i < WIDTH; ++i) {
                CHECK(words[y * pitch + i] == (y * WIDTH + i) * (2654435761u * pass) + pass);
            }
        }
        OK(calResUnmap(output));
        OK(calResMap((CALvoid**)&words, &pitch, global, 0));
        for (i = 0; i < WIDTH * HEIGHT / 97; ++i) {
            CHECK(words[4 * i] == 0xF00D0000u + pass);
        }
        OK(calResUnmap(global));
    }
    HOLDS(dnetc_pending_from_run_is_success);
    HOLDS(dnetc_two_modules_and_two_events_in_flight);
    HOLDS(dnetc_integers_in_uint1_outputs_and_uint4_constants);
    HOLDS(dnetc_remapped_between_launches_of_a_bound_mem);
    HOLDS(dnetc_appended_results_in_remote_memory_after_the_event);

    /* The compute core, with the wait of the private extension. */
    OK(calExtSupported((CALextid)0x8009));
    OK(calExtGetProc(&proc, (CALextid)0x8009, "calCtxWaitForEvents"));
    memcpy(&wait_for, &proc, sizeof wait_for);
    CHECK(wait_for != NULL);
    OK(calExtSupported(CAL_EXT_COMPUTE_SHADER));
    {
        CALmodule compute = check_module(context, compute_core);
        CALresource results = 0;
        CALuint words[256];
        CALuint key = 0x12345678u;
        CALevent event = 0;
        PFNCALCTXRUNPROGRAMGRID run_grid;
        CALprogramGrid grid = {0, {64, 1, 1}, {4, 1, 1}, 0};
        OK(calResAllocRemote1D(&results, &device, 1, 256, CAL_FORMAT_UINT_1, CAL_RESALLOC_GLOBAL_BUFFER));
        constants(cb_one, key, 0, 0);
        check_bind(context, compute, "uav0", results);
        check_bind(context, compute, "cb0", cb_one);
        /* The linked symbol may be null in the client; then the extension has it. */
        OK(calExtGetProc(&proc, CAL_EXT_COMPUTE_SHADER, "calCtxRunProgramGrid"));
        memcpy(&run_grid, &proc, sizeof run_grid);
        grid.func = check_entry(context, compute);
        OK(run_grid(&event, context, &grid));
        OK(wait_for(context, &event, 1, 0));
        OK(calCtxIsEventDone(context, event));
        check_read(results, words, 4, 256, 1);
        for (i = 0; i < 256; ++i) {
            CHECK(words[i] == ((key << 13 | key >> 19) ^ i));
        }
        HOLDS(dnetc_wait_for_events_with_flags_0);
        HOLDS(dnetc_compute_core_through_the_extension);
        OK(calModuleUnload(context, compute));
    }

    /* The older client scales its work by the idle counter: (idle - 0.01) + 1, so idle is a fraction. */
    {
        PFNCALCTXCREATECOUNTER create;
        PFNCALCTXBEGINCOUNTER begin;
        PFNCALCTXENDCOUNTER end;
        PFNCALCTXGETCOUNTER get;
        CALcounter counter = 0;
        CALfloat idle = -1;
        OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxCreateCounter"));
        memcpy(&create, &proc, sizeof proc);
        OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxBeginCounter"));
        memcpy(&begin, &proc, sizeof proc);
        OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxEndCounter"));
        memcpy(&end, &proc, sizeof proc);
        OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxGetCounter"));
        memcpy(&get, &proc, sizeof proc);
        OK(create(&counter, context, CAL_COUNTER_IDLE));
        OK(begin(context, counter));
        {
            CALevent event = 0;
            OK(calCtxRunProgram(&event, context, check_entry(context, one), &domain));
            OK(end(context, counter));
            check_wait(context, event);
        }
        OK(get(&idle, context, counter));
        CHECK(idle >= 0.0f && idle <= 1.0f);
        HOLDS(dnetc_idle_counter_is_a_fraction);
    }

    OK(calModuleUnload(context, one));
    OK(calModuleUnload(context, two));
    OK(calCtxDestroy(context));
    /* The device is never closed and calShutdown never called. */
    HOLDS(dnetc_ends_without_close_or_shutdown);
    return 0;
}
