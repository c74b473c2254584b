/*
 * As AMD's stream processing library does: shutdown only if calInit was not ALREADY, compute launches only through the
 * COMPUTE_SHADER extension, mem 0 to unbind everything after each run, the source of a copy released and freed right
 * after it was started, absurd sizes and handles that must fail cleanly, R700 local data with its neighbour exchange.
 */
#include "check.h"

/* Each thread writes four dwords of its own and reads those of its neighbour, quads transposed. */
static const char* kernel =
    "il_cs_2_0\n"
    "dcl_num_thread_per_group 64\n"
    "dcl_lds_size_per_thread 4\n"
    "dcl_lds_sharing_mode _wavefrontRel\n"
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 10, 1, 2, 3\n"
    "imul r0.x, vTidInGrpFlat0.x, l0.x\n"
    "mov r0.y, r0.x\n"
    "iadd r0.y, r0.x, l0.y\n"
    "iadd r0.z, r0.x, l0.z\n"
    "iadd r0.w, r0.x, l0.w\n"
    "lds_write_vec mem0, r0\n"
    "fence_lds\n"
    "mov r1.x___, vTidInGrpFlat0.x\n"
    "lds_read_vec_neighborExch r2, r1.x000\n"
    "iadd r2, r2, cb0[0].xxxx\n"
    "mov g[vAbsTidFlat.x], r2\n"
    "end\n";

int main(void)
{
    CALresult initialized = calInit();
    CALdevice device = 0;
    CALcontext context = 0;
    CALmodule module;
    CALname names[2] = {0, 0};
    CALresource global = 0, constant = 0, nothing = 7;
    CALmem mems[2], copied = 0;
    CALextproc proc = NULL;
    PFNCALCTXRUNPROGRAMGRID run_grid = NULL;
    CALprogramGrid grid;
    CALevent event = 0;
    CALuint words[64 * 4], offset[4] = {1000, 0, 0, 0}, pass, i, k;
    CALresult result;

    CHECK(initialized == CAL_RESULT_OK || initialized == CAL_RESULT_ALREADY);
    EXPECT(CAL_RESULT_ALREADY, calInit());
    HOLDS(amdspl_second_init_is_already);
    OK(calDeviceOpen(&device, 0));
    context = 7;
    CHECK(calCtxCreate(&context, 0xEFEFEFEF) != CAL_RESULT_OK && context == 0);
    OK(calCtxCreate(&context, device));
    CHECK(calResAllocLocal2D(&nothing, device, 0xFFFFFFFF, 1, CAL_FORMAT_FLOAT_1, 0) != CAL_RESULT_OK);
    CHECK(nothing == 0);
    CHECK(calResAllocLocal2D(&nothing, device, 1, 0xFFFFFFFF, CAL_FORMAT_FLOAT_4, 0) != CAL_RESULT_OK);
    CHECK(nothing == 0);
    HOLDS(amdspl_absurd_sizes_and_handles);

    OK(calExtGetProc(&proc, CAL_EXT_COMPUTE_SHADER, "calCtxRunProgramGrid"));
    memcpy(&run_grid, &proc, sizeof proc);
    module = check_module(context, kernel);
    OK(calModuleGetName(&names[0], context, module, "g[]"));
    OK(calModuleGetName(&names[1], context, module, "cb0"));
    OK(calResAllocLocal1D(&global, device, 64, CAL_FORMAT_UINT_4, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(calResAllocLocal1D(&constant, device, 1, CAL_FORMAT_UINT_4, 0));
    OK(calCtxGetMem(&mems[0], context, global));
    OK(calCtxGetMem(&mems[1], context, constant));

    for (pass = 0; pass < 10; ++pass) {
        /* The constant arrives by a copy whose source is gone at once. */
        CALresource source = 0;
        offset[0] = 1000 + pass;
        OK(calResAllocRemote1D(&source, &device, 1, 1, CAL_FORMAT_UINT_4, 0));
        check_write(source, offset, 16, 1, 1);
        OK(calCtxGetMem(&copied, context, source));
        OK(calMemCopy(&event, context, copied, mems[1], 0));
        CHECK(calCtxIsEventDone(context, event) != CAL_RESULT_ERROR);
        OK(calCtxReleaseMem(context, copied));
        result = calResFree(source);
        CHECK(result == CAL_RESULT_OK || result == CAL_RESULT_BUSY);

        OK(calCtxSetMem(context, names[0], mems[0]));
        OK(calCtxSetMem(context, names[1], mems[1]));
        memset(&grid, 0, sizeof grid);
        OK(calModuleGetEntry(&grid.func, context, module, "main"));
        grid.gridBlock.width = 64;
        grid.gridBlock.height = grid.gridBlock.depth = 1;
        grid.gridSize.width = grid.gridSize.height = grid.gridSize.depth = 1;
        OK(run_grid(&event, context, &grid));
        while ((result = calCtxIsEventDone(context, event)) == CAL_RESULT_PENDING) {
        }
        OK(result);
        OK(calCtxSetMem(context, names[0], 0));
        OK(calCtxSetMem(context, names[1], 0));

        check_read(global, words, 16, 64, 1);
        for (i = 0; i < 64; ++i) {
            for (k = 0; k < 4; ++k) {
                /* component k of thread i: what thread (quad + k) loaded, component (i in quad) */
                CALuint from = (i & ~3u) + k;
                CHECK(words[4 * i + k] == from * 10 + (i & 3) + offset[0]);
            }
        }
    }
    HOLDS(amdspl_grid_only_through_the_extension);
    HOLDS(amdspl_copy_source_freed_in_flight);
    HOLDS(amdspl_waits_while_pending);
    /* Unbound means unbound. */
    event = 7;
    EXPECT(CAL_RESULT_ERROR, run_grid(&event, context, &grid));
    CHECK(event == 0);
    HOLDS(amdspl_mem_0_unbinds);

    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    OK(calResFree(global));
    OK(calResFree(constant));
    OK(calCtxFlush(context));
    OK(calCtxDestroy(context));
    OK(calDeviceClose(device));
    if (initialized != CAL_RESULT_ALREADY) {
        OK(calShutdown());
    }
    HOLDS(amdspl_flush_destroy_close_shutdown);
    return 0;
}
