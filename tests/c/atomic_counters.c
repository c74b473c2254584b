/*
 * Atomic counters: the host and append_buf_alloc / append_buf_consume in kernels see the same ones. Waits for nothing
 * but the calls themselves.
 */
#include "check.h"

#include "cal_private_ext.h"

typedef CALresult (CALAPIENTRYP ReadCounter)(CALdevice dev, CALuint index, CALuint* value);
typedef CALresult (CALAPIENTRYP WriteCounter)(CALdevice dev, CALuint index, CALuint value);

int main(void)
{
    static const char* append = CS(64)
        "dcl_raw_uav_id(0)\ndcl_raw_uav_id(3)\ndcl_literal l0, 2, 0, 0, 0\n"
        "append_buf_alloc_id(3) r0.x\nishl r1.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem0.x, r1.x, r0.x\n"
        "uav_raw_store_id(3) mem0.x, r1.x, r0.x\nend\n";
    CALdevice device = 0;
    CALcontext context = 0;
    CALresource words[2] = {0, 0};
    CALmodule module;
    CALprogramGrid grid;
    CALevent event = 0;
    CALextproc proc = NULL;
    ReadCounter read_counter;
    WriteCounter write_counter;
    CALuint value = 0, got[256], seen[256], i;

    check_open(&device, &context);
    OK(calExtSupported((CALextid)CAL_PRIVATE_EXT_ATOMIC_COUNTER));
    OK(calExtGetProc(&proc, (CALextid)CAL_PRIVATE_EXT_ATOMIC_COUNTER, "calReadAtomicCounter"));
    memcpy(&read_counter, &proc, sizeof proc);
    OK(calExtGetProc(&proc, (CALextid)CAL_PRIVATE_EXT_ATOMIC_COUNTER, "calWriteAtomicCounter"));
    memcpy(&write_counter, &proc, sizeof proc);

    module = check_module(context, append);
    for (i = 0; i < 2; ++i) {
        OK(calResAllocLocal1D(&words[i], device, 256, CAL_FORMAT_UNSIGNED_INT32_1, CAL_RESALLOC_GLOBAL_BUFFER));
        check_bind(context, module, i ? "uav3" : "uav0", words[i]);
    }
    OK(write_counter(device, 3, 1000));
    OK(write_counter(device, 0, 7));
    memset(&grid, 0, sizeof grid);
    grid.func = check_entry(context, module);
    grid.gridBlock.width = 64;
    grid.gridSize.width = 4;
    grid.gridBlock.height = grid.gridBlock.depth = 1;
    grid.gridSize.height = grid.gridSize.depth = 1;
    OK(calCtxRunProgramGrid(&event, context, &grid));
    OK(read_counter(device, 3, &value));
    CHECK(value == 1256);
    OK(read_counter(device, 0, &value));
    CHECK(value == 7);

    /* Each thread has got a number of its own, counted from where the host set the counter. */
    check_read(words[0], got, 4, 256, 1);
    memset(seen, 0, sizeof seen);
    for (i = 0; i < 256; ++i) {
        CHECK(got[i] >= 1000 && got[i] < 1256);
        CHECK(!seen[got[i] - 1000]++);
    }
    EXPECT(CAL_RESULT_INVALID_PARAMETER, read_counter(device, 12, &value));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, read_counter(device, 0, NULL));
    EXPECT(CAL_RESULT_BAD_HANDLE, write_counter(0, 0, 1));
    check_close(device, context);
    return 0;
}
