/*
 * CAL_DEBUG=checks from a C program: what kernels do wrong is told on standard error, with the line of the kernel and
 * the thread. Runs on the CPU, which is where misuse can be seen.
 */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

static CALdevice  device;
static CALcontext context;
static CALresource words;
static int        out, saved;

static void run(const char* kernel)
{
    CALmodule module = check_module(context, kernel);
    CALprogramGrid grid;
    CALevent event = 0;

    memset(&grid, 0, sizeof grid);
    check_bind(context, module, "uav0", words);
    grid.func = check_entry(context, module);
    grid.gridBlock.width = 128;
    grid.gridBlock.height = grid.gridBlock.depth = 1;
    grid.gridSize.width = 2;
    grid.gridSize.height = grid.gridSize.depth = 1;
    OK(calCtxRunProgramGrid(&event, context, &grid));
    check_wait(context, event);
    OK(calModuleUnload(context, module));
}

/* What the kernel is told to have done, on standard error. */
static const char* reported(const char* kernel)
{
    static char text[65536];
    ssize_t length;

    CHECK(ftruncate(out, 0) == 0);
    CHECK(lseek(out, 0, SEEK_SET) == 0);
    CHECK(dup2(out, 2) == 2);
    run(kernel);
    CHECK(dup2(saved, 2) == 2);
    CHECK(lseek(out, 0, SEEK_SET) == 0);
    length = read(out, text, sizeof text - 1);
    CHECK(length >= 0);
    text[length] = 0;
    return text;
}

static void expect(const char* kernel, const char* line, const char* what, const char* thread)
{
    const char* text = reported(kernel);
    if (!strstr(text, line) || !strstr(text, what) || !strstr(text, thread)) {
        fprintf(stderr, "expected `%s`, `%s`, `%s` in: %s\n", line, what, thread, text);
        exit(1);
    }
}

#define HEAD                                                                            \
    "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\n"    \
    "dcl_literal l0, 2, 1, 100, 0\nishl r0.x, vTidInGrpFlat0.x, l0.x\n"

int main(void)
{
    static const char* clean = HEAD
        "lds_store_id(0) r0.x, r0.x\nfence_threads_lds\nlds_load_id(0) r1.x, r0.x\n"
        "uav_raw_store_id(0) mem0.x, r0.x, r1.x\nend\n";
    static const char* unwritten = HEAD
        "iadd r1.x, r7.y, l0.y\nuav_raw_store_id(0) mem0.x, r0.x, r1.x\nend\n";
    static const char* outside = HEAD
        "ishl r0.x, r0.x, l0.x\nuav_raw_store_id(0) mem0.x, r0.x, l0.x\nend\n";
    static const char* race = HEAD
        "lds_store_id(0) r0.x, r0.x\nlds_load_id(0) r1.x, l0.w\n"
        "uav_raw_store_id(0) mem0.x, r0.x, r1.x\nend\n";
    static const char* divergent = HEAD
        "ult r2.x, vTidInGrpFlat0.x, l0.z\nif_logicalnz r2.x\nfence_threads\nendif\n"
        "uav_raw_store_id(0) mem0.x, r0.x, r0.x\nend\n";
    char name[] = "checks-XXXXXX";

    setenv("CAL_BACKEND", "cpu", 1);
    setenv("CAL_DEBUG", "checks", 1);
    unsetenv("CAL_LOG");
    out = mkstemp(name);
    CHECK(out >= 0);
    CHECK(unlink(name) == 0);
    saved = dup(2);

    OK(calInit());
    OK(calDeviceOpen(&device, 0));
    OK(calCtxCreate(&context, device));
    OK(calResAllocLocal1D(&words, device, 256, CAL_FORMAT_UNSIGNED_INT32_1, CAL_RESALLOC_GLOBAL_BUFFER));

    CHECK(strcmp(reported(clean), "") == 0);
    expect(unwritten, "kernel line 7, `iadd r1.x, r7.y, l0.y`", "reads r7.y, which was never written",
           "thread (0, 0, 0), number 0 of group 0");
    /* Thread t stores at 16 t of 1024 bytes: 64 is the first one outside, unless group 1 comes first, whose store
       at the same place is as much outside. */
    expect(outside, "kernel line 8, `uav_raw_store_id(0) mem0.x, r0.x, l0.x`", "accesses uav0[byte 1024], out of range",
           "number 64 of group");
    expect(race, "kernel line 8, `lds_load_id(0) r1.x, l0.w`", "without a fence between", "of group");
    expect(divergent, "kernel line 9, `fence_threads`", "does not reach this barrier, at which others wait",
           "number 100 of group");

    OK(calShutdown());
    return 0;
}
