/*
 * As GPU Ocelot does: both libraries by dlopen, every function by dlsym and none of the results checked for NULL, a
 * heap of 600 MB in one global buffer that is mapped for every copy, raw uav0 and arena uav8 on the same mem, constants
 * in INT_4 and INT_1 with a stride of 16 bytes, blocks and grids of three dimensions, dlclose right after calShutdown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour.h"
#include "cal.h"
#include "calcl.h"
#include "dl.h"

static void* rt;
static void* cl;

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

/* The function behind a name, with the type that the header gives it. */
#define LOAD(library, name) \
    __typeof__(&name) p_##name; \
    *(void**)&p_##name = dlsym(library, #name); \
    CHECK(p_##name != NULL)

#define OK(call)                                                                        \
    do {                                                                                \
        CALresult result_ = (call);                                                     \
        if (result_ != CAL_RESULT_OK) {                                                 \
            const CALchar* (CALAPIENTRY * text_)(void);                                              \
            *(void**)&text_ = dlsym(rt, "calGetErrorString");                           \
            fprintf(stderr, "line %d: %s gave %d: %s\n", __LINE__, #call, (int)result_, text_()); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

enum { HEAP = 150000000 };

/* Threads of blocks 4x2x2 in a grid 3x2x2 store what they are; byte 3 of each word goes through the arena. */
static const char* kernel =
    "il_cs_2_0\n"
    "dcl_num_thread_per_group 4, 2, 2\n"
    "dcl_raw_uav_id(0)\n"
    "dcl_arena_uav_id(8)\n"
    "dcl_cb cb0[1024]\n"
    "dcl_cb cb1[1024]\n"
    "dcl_literal l0, 4, 8, 16, 3\n"
    "dcl_literal l1, 100, 10, 255, 0\n"
    /* r0.x = flat group * 16 + flat thread */
    "imul r0.x, vThreadGrpIdFlat.x, l0.z\n"
    "iadd r0.x, r0.x, vTidInGrpFlat.x\n"
    "imul r0.y, r0.x, l0.x\n"
    "iadd r0.y, r0.y, cb1[1].x\n"
    /* r1.x = x + 10 y + 100 z of the absolute id, + cb0[5].z */
    "imul r1.y, vAbsTid.y, l1.y\n"
    "imul r1.z, vAbsTid.z, l1.x\n"
    "iadd r1.x, vAbsTid.x, r1.y\n"
    "iadd r1.x, r1.x, r1.z\n"
    "iadd r1.x, r1.x, cb0[5].z\n"
    "uav_raw_store_id(0) mem0.x___, r0.y, r1.x\n"
    "iadd r0.z, r0.y, l0.w\n"
    "uav_arena_store_id(8)_size(byte) r0.z, l1.z\n"
    "end\n";

int main(void)
{
    rt = dlopen("libaticalrt.so", RTLD_LAZY);
    cl = dlopen("libaticalcl.so", RTLD_LAZY);
    if (!rt || !cl) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        return 1;
    }
    LOAD(rt, calInit);
    LOAD(rt, calShutdown);
    LOAD(rt, calDeviceGetCount);
    LOAD(rt, calDeviceGetAttribs);
    LOAD(rt, calDeviceGetStatus);
    LOAD(rt, calDeviceGetInfo);
    LOAD(rt, calDeviceOpen);
    LOAD(rt, calDeviceClose);
    LOAD(rt, calCtxCreate);
    LOAD(rt, calCtxDestroy);
    LOAD(rt, calCtxGetMem);
    LOAD(rt, calCtxReleaseMem);
    LOAD(rt, calCtxSetMem);
    LOAD(rt, calModuleLoad);
    LOAD(rt, calModuleUnload);
    LOAD(rt, calModuleGetEntry);
    LOAD(rt, calModuleGetName);
    LOAD(rt, calResAllocLocal1D);
    LOAD(rt, calResAllocRemote1D);
    LOAD(rt, calResFree);
    LOAD(rt, calResMap);
    LOAD(rt, calResUnmap);
    LOAD(rt, calCtxRunProgramGrid);
    LOAD(rt, calCtxIsEventDone);
    LOAD(cl, calclCompile);
    LOAD(cl, calclLink);
    LOAD(cl, calclFreeObject);
    LOAD(cl, calclFreeImage);
    HOLDS(ocelot_dlopen_lazy_and_every_name);

    CALuint count = 0, pitch = 0, i;
    CALdevice device = 0;
    CALdeviceattribs attribs;
    CALdevicestatus status;
    CALdeviceinfo info;
    CALcontext context = 0;
    CALresource heap = 0, constants[2] = {0, 0};
    CALmem heap_mem = 0, constant_mem[2] = {0, 0};
    CALuint* address = NULL;

    OK(p_calInit());
    OK(p_calDeviceGetCount(&count));
    CHECK(count >= 1);
    attribs.struct_size = sizeof attribs;
    OK(p_calDeviceGetAttribs(&attribs, 0));
    CHECK(attribs.b3dProgramGrid && attribs.wavefrontSize > 0);
    OK(p_calDeviceGetInfo(&info, 0));
    OK(p_calDeviceOpen(&device, 0));
    status.struct_size = sizeof status;
    OK(p_calDeviceGetStatus(&status, device));
    OK(p_calCtxCreate(&context, device));
    OK(p_calResAllocLocal1D(&heap, device, HEAP, CAL_FORMAT_UNSIGNED_INT32_1, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(p_calResAllocRemote1D(&constants[0], &device, 1, 1024, CAL_FORMAT_INT_4, 0));
    OK(p_calResAllocRemote1D(&constants[1], &device, 1, 1024, CAL_FORMAT_INT_1, 0));

    /* Copies into the heap: the whole of it is mapped each time, and what was there stays. */
    for (i = 0; i < 20; ++i) {
        OK(p_calResMap((CALvoid**)&address, &pitch, heap, 0));
        CHECK(pitch >= HEAP);
        address[i * 7000000u] = i + 1;
        OK(p_calResUnmap(heap));
    }
    HOLDS(ocelot_heap_of_150000000_elements);
    OK(p_calResMap((CALvoid**)&address, &pitch, constants[0], 0));
    address[5 * 4 + 2] = 1000;
    OK(p_calResUnmap(constants[0]));
    OK(p_calResMap((CALvoid**)&address, &pitch, constants[1], 0));
    address[4] = 4 * 20; /* row 1 lies 16 bytes on, whatever the format says */
    OK(p_calResUnmap(constants[1]));

    CALobject object = NULL;
    CALimage image = NULL;
    CALmodule module = 0;
    CALfunc func = 0;
    CALname names[4];
    OK(p_calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target));
    OK(p_calclLink(&image, &object, 1));
    OK(p_calModuleLoad(&module, context, image));
    OK(p_calModuleGetEntry(&func, context, module, "main"));
    OK(p_calModuleGetName(&names[0], context, module, "uav0"));
    OK(p_calModuleGetName(&names[1], context, module, "uav8"));
    OK(p_calModuleGetName(&names[2], context, module, "cb0"));
    OK(p_calModuleGetName(&names[3], context, module, "cb1"));
    OK(p_calCtxGetMem(&heap_mem, context, heap));
    OK(p_calCtxGetMem(&constant_mem[0], context, constants[0]));
    OK(p_calCtxGetMem(&constant_mem[1], context, constants[1]));
    OK(p_calCtxSetMem(context, names[0], heap_mem));
    OK(p_calCtxSetMem(context, names[1], heap_mem));
    OK(p_calCtxSetMem(context, names[2], constant_mem[0]));
    OK(p_calCtxSetMem(context, names[3], constant_mem[1]));

    CALprogramGrid grid = {0, {4, 2, 2}, {3, 2, 2}, 0};
    CALevent event = 0;
    grid.func = func;
    OK(p_calCtxRunProgramGrid(&event, context, &grid));
    CHECK(event != 0); /* 0 would mean: nothing was launched */
    HOLDS(ocelot_event_0_means_none);
    while (p_calCtxIsEventDone(context, event) == CAL_RESULT_PENDING) {
    }
    OK(p_calCtxIsEventDone(context, event));

    OK(p_calResMap((CALvoid**)&address, &pitch, heap, 0));
    for (i = 0; i < 20; ++i) {
        CHECK(address[i * 7000000u] == i + 1);
    }
    HOLDS(ocelot_heap_mapped_for_every_copy);
    for (CALuint group = 0; group < 12; ++group) {
        for (CALuint thread = 0; thread < 16; ++thread) {
            CALuint x = group % 3 * 4 + thread % 4;
            CALuint y = group / 3 % 2 * 2 + thread / 4 % 2;
            CALuint z = group / 6 * 2 + thread / 8;
            CHECK(address[20 + group * 16 + thread] == ((x + 10 * y + 100 * z + 1000) | 0xFF000000u));
        }
    }
    HOLDS(ocelot_two_uav_names_on_one_mem);
    HOLDS(ocelot_blocks_and_grids_of_three_dimensions);
    HOLDS(ocelot_constants_of_4_byte_elements_with_a_stride_of_16);
    OK(p_calResUnmap(heap));

    for (i = 0; i < 2; ++i) {
        OK(p_calCtxReleaseMem(context, constant_mem[i]));
    }
    OK(p_calCtxReleaseMem(context, heap_mem));
    OK(p_calModuleUnload(context, module));
    OK(p_calclFreeImage(image));
    OK(p_calclFreeObject(object));
    OK(p_calResFree(heap));
    OK(p_calResFree(constants[0]));
    OK(p_calResFree(constants[1]));
    OK(p_calCtxDestroy(context));
    OK(p_calDeviceClose(device));
    OK(p_calShutdown());
    CHECK(dlclose(cl) == 0);
    CHECK(dlclose(rt) == 0);
    HOLDS(ocelot_dlclose_right_after_shutdown);
    return 0;
}
