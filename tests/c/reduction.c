/* Sum of 100,001 numbers: groups of 64 reduce in LDS, then one number per group goes to the host. Exact. */
#include "check.h"

enum { COUNT = 100001, GROUP = 64, GROUPS = (COUNT + GROUP - 1) / GROUP };

static const char* kernel =
    CS(64)
    "dcl_lds_id(0) 256\n"
    "dcl_raw_uav_id(0)\n"
    "dcl_raw_uav_id(1)\n"
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 4, 0, 32, 1\n"
    /* r0.x = byte of the own LDS word, r1.x = own value or 0 beyond the end */
    "imul r0.x, vTidInGrpFlat.x, l0.x\n"
    "mov r1.x, l0.y\n"
    "ult r2.x, vAbsTidFlat.x, cb0[0].x\n"
    "if_logicalnz r2.x\n"
    "imul r2.y, vAbsTidFlat.x, l0.x\n"
    "uav_raw_load_id(0) r1.x, r2.y\n"
    "endif\n"
    "lds_store_id(0) r0.x, r1.x\n"
    "fence_threads_lds\n"
    /* r3.x = distance */
    "mov r3.x, l0.z\n"
    "whileloop\n"
    "break_logicalz r3.x\n"
    "ult r2.x, vTidInGrpFlat.x, r3.x\n"
    "if_logicalnz r2.x\n"
    "imul r4.x, r3.x, l0.x\n"
    "iadd r4.x, r4.x, r0.x\n"
    "lds_load_id(0) r5.x, r4.x\n"
    "lds_load_id(0) r6.x, r0.x\n"
    "iadd r6.x, r6.x, r5.x\n"
    "lds_store_id(0) r0.x, r6.x\n"
    "endif\n"
    "fence_threads_lds\n"
    "ushr r3.x, r3.x, l0.w\n"
    "endloop\n"
    "if_logicalz vTidInGrpFlat.x\n"
    "lds_load_id(0) r6.x, l0.y\n"
    "imul r7.x, vThreadGrpIdFlat.x, l0.x\n"
    "uav_raw_store_id(1) mem0.x___, r7.x, r6.x\n"
    "endif\n"
    "end\n";

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource input = 0, output = 0, constants = 0;
    CALuint count[4] = {COUNT, 0, 0, 0};
    CALuint* numbers = (CALuint*)malloc(COUNT * sizeof(CALuint));
    CALuint sums[GROUPS];
    CALuint expected = 0, total = 0, i;

    check_open(&device, &context);
    module = check_module(context, kernel);
    OK(calResAllocLocal1D(&input, device, COUNT, CAL_FORMAT_UNSIGNED_INT32_1, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(calResAllocRemote1D(&output, &device, 1, GROUPS, CAL_FORMAT_UNSIGNED_INT32_1,
                           CAL_RESALLOC_GLOBAL_BUFFER | CAL_RESALLOC_CACHEABLE));
    OK(calResAllocRemote1D(&constants, &device, 1, 1, CAL_FORMAT_UNSIGNED_INT32_4, 0));
    CHECK(numbers != NULL);
    for (i = 0; i < COUNT; ++i) {
        numbers[i] = i * 2654435761u >> 8;
        expected += numbers[i];
    }
    check_write(input, numbers, 4, COUNT, 1);
    check_write(constants, count, 16, 1, 1);
    check_bind(context, module, "uav0", input);
    check_bind(context, module, "uav1", output);
    check_bind(context, module, "cb0", constants);
    check_wait(context, check_grid(context, check_entry(context, module), GROUPS, GROUP));
    check_read(output, sums, 4, GROUPS, 1);
    for (i = 0; i < GROUPS; ++i) {
        CALuint group = 0, k;
        for (k = i * GROUP; k < (i + 1) * GROUP && k < COUNT; ++k) {
            group += numbers[k];
        }
        CHECK(sums[i] == group);
        total += sums[i];
    }
    CHECK(total == expected);
    free(numbers);
    check_close(device, context);
    return 0;
}
