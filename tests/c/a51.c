/*
 * As the A5/1 clients do: a constant buffer of one 4-byte element read as a whole row, an input rewritten through its
 * map before every launch, g[] longer than the limit of 1D resources, copies both ways with a remote buffer that is
 * never bound, counters called without a look at any result, many launches of one kernel.
 */
#include "check.h"

#include "cal_ext_counter.h"

enum { STATES = 163840, TABLE = 5120, GROUP = 64, LAUNCHES = 20 };

static const char* kernel =
    CS(64)
    "dcl_cb cb0[1]\n"
    "dcl_resource_id(0)_type(1d,unnorm)_fmtx(uint)_fmty(uint)_fmtz(uint)_fmtw(uint)\n"
    "dcl_literal l0, 5120, 1, 0, 0\n"
    "mov r0, g[vAbsTidFlat.x]\n"
    /* the table's entry: thread number modulo 5120 */
    "udiv r1.x, vAbsTidFlat.x, l0.x\n"
    "umul r1.x, r1.x, l0.x\n"
    "iadd r1.x, vAbsTidFlat.x, r1.x_neg(xyzw)\n"
    "itof r1.x, r1.x\n"
    "sample_resource(0)_sampler(0) r2, r1.x000\n"
    "mov r3, cb0[0]\n" /* only x carries data */
    "ixor r0.x, r0.x, r2.x\n"
    "iadd r0.y, r0.y, r3.x\n"
    "iadd r0.w, r0.w, l0.y\n"
    "mov g[vAbsTidFlat.x], r0\n"
    "end\n";

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALfunc func;
    CALresource remote = 0, local = 0, constant = 0, table = 0;
    CALmem remote_mem = 0, local_mem;
    CALuint major, minor, imp, pitch, launch, i;
    CALuint* words;
    CALcounter idle = 0, hits = 0;
    CALfloat idle_share = -1, hit_share = -1;
    static CALuint expected[STATES][4];
    PFNCALCTXCREATECOUNTER create = 0;
    PFNCALCTXDESTROYCOUNTER destroy = 0;
    PFNCALCTXBEGINCOUNTER begin = 0;
    PFNCALCTXENDCOUNTER end = 0;
    PFNCALCTXGETCOUNTER get = 0;

    check_open(&device, &context);
    calGetVersion(&major, &minor, &imp);
    calExtGetProc((CALextproc*)&create, CAL_EXT_COUNTERS, "calCtxCreateCounter");
    calExtGetProc((CALextproc*)&destroy, CAL_EXT_COUNTERS, "calCtxDestroyCounter");
    calExtGetProc((CALextproc*)&begin, CAL_EXT_COUNTERS, "calCtxBeginCounter");
    calExtGetProc((CALextproc*)&end, CAL_EXT_COUNTERS, "calCtxEndCounter");
    calExtGetProc((CALextproc*)&get, CAL_EXT_COUNTERS, "calCtxGetCounter");
    create(&idle, context, CAL_COUNTER_IDLE);
    create(&hits, context, CAL_COUNTER_INPUT_CACHE_HIT_RATE);

    module = check_module(context, kernel);
    func = check_entry(context, module);
    OK(calResAllocLocal1D(&local, device, STATES, CAL_FORMAT_UINT_4, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(calResAllocRemote1D(&remote, &device, 1, STATES, CAL_FORMAT_UINT_4,
                           CAL_RESALLOC_GLOBAL_BUFFER | CAL_RESALLOC_CACHEABLE));
    OK(calResAllocLocal1D(&constant, device, 1, CAL_FORMAT_UINT_1, 0));
    OK(calResAllocRemote1D(&table, &device, 1, TABLE, CAL_FORMAT_UINT_1, 0));
    OK(calCtxGetMem(&remote_mem, context, remote));
    local_mem = check_bind(context, module, "g[]", local);
    check_bind(context, module, "cb0", constant);
    check_bind(context, module, "i0", table);

    for (launch = 0; launch < LAUNCHES; ++launch) {
        CALevent event = 0;
        OK(calResMap((CALvoid**)&words, &pitch, constant, 0));
        words[0] = launch * 3;
        OK(calResUnmap(constant));
        OK(calResMap((CALvoid**)&words, &pitch, table, 0));
        for (i = 0; i < TABLE; ++i) {
            words[i] = i * 2246822519u + launch;
        }
        OK(calResUnmap(table));
        OK(calResMap((CALvoid**)&words, &pitch, remote, 0));
        for (i = 0; i < STATES; ++i) {
            if (launch == 0) {
                words[4 * i] = expected[i][0] = i;
                words[4 * i + 1] = words[4 * i + 2] = words[4 * i + 3] = 0;
            }
            expected[i][0] ^= (i % TABLE) * 2246822519u + launch;
            expected[i][1] += launch * 3;
            expected[i][3] += 1;
        }
        OK(calResUnmap(remote));

        OK(calMemCopy(&event, context, remote_mem, local_mem, 0));
        check_wait(context, event);
        begin(context, idle);
        begin(context, hits);
        event = check_grid(context, func, STATES / GROUP, GROUP);
        end(context, hits);
        end(context, idle);
        check_wait(context, event);
        OK(calMemCopy(&event, context, local_mem, remote_mem, 0));
        check_wait(context, event);
        get(&idle_share, context, idle);
        get(&hit_share, context, hits);
        CHECK(idle_share >= 0.0f && idle_share <= 1.0f && hit_share >= 0.0f && hit_share <= 1.0f);
    }
    OK(calResMap((CALvoid**)&words, &pitch, remote, 0));
    CHECK(memcmp(words, expected, sizeof expected) == 0);
    OK(calResUnmap(remote));
    HOLDS(a51_constant_buffer_of_one_element);
    HOLDS(a51_input_rewritten_before_every_launch);
    HOLDS(a51_global_buffer_beyond_the_1d_limit);
    HOLDS(a51_remote_mem_only_copied);
    HOLDS(a51_counters_called_without_checks);
    destroy(context, idle);
    destroy(context, hits);
    check_close(device, context);
    return 0;
}
