/*
 * check.h - what the C test programs share: checks that say where they failed, and the calls that every client makes
 * alike. C99 and C++.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour.h"
#include "cal.h"
#include "cal_ext.h"
#include "calcl.h"

/* The condition must hold. */
#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/* The call must give this result. */
#define EXPECT(wanted, call) check_result((wanted), (call), #call, __FILE__, __LINE__)

/* The call must succeed. */
#define OK(call) EXPECT(CAL_RESULT_OK, call)

static inline void check_true(int holds, const char* text, const char* file, int line)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
        exit(1);
    }
}

static inline void check_result(CALresult wanted, CALresult got, const char* text, const char* file, int line)
{
    if (wanted != got) {
        fprintf(stderr, "%s:%d: %s gave %d, not %d\n  runtime: %s\n  compiler: %s\n", file, line, text, (int)got,
                (int)wanted, calGetErrorString(), calclGetErrorString());
        exit(1);
    }
}

/* What a compute kernel of one dimension starts with: the group size. */
#define CS(GROUP) "il_cs_2_0\ndcl_num_thread_per_group " #GROUP "\n"

/* What a pixel kernel starts with: the position. */
#define PS "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n"

/* A 2D input of floats, addressed by element. */
#define INPUT(N) "dcl_resource_id(" #N ")_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"

/* Compiles and links for a target. */
static inline CALimage check_image(const char* il, CALtarget target)
{
    CALobject object = NULL;
    CALimage image = NULL;
    OK(calclCompile(&object, CAL_LANGUAGE_IL, il, target));
    OK(calclLink(&image, &object, 1));
    OK(calclFreeObject(object));
    return image;
}

/* Compiles, links and loads for the first device's target. */
static inline CALmodule check_module(CALcontext context, const char* il)
{
    CALdeviceinfo info;
    CALmodule module = 0;
    CALimage image;
    OK(calDeviceGetInfo(&info, 0));
    image = check_image(il, info.target);
    OK(calModuleLoad(&module, context, image));
    OK(calclFreeImage(image));
    CHECK(module != 0);
    return module;
}

static inline CALfunc check_entry(CALcontext context, CALmodule module)
{
    CALfunc entry = 0;
    OK(calModuleGetEntry(&entry, context, module, "main"));
    CHECK(entry != 0);
    return entry;
}

/* Binds and returns the mem. */
static inline CALmem check_bind(CALcontext context, CALmodule module, const char* symbol, CALresource resource)
{
    CALname name = 0;
    CALmem mem = 0;
    OK(calModuleGetName(&name, context, module, symbol));
    CHECK(name != 0);
    OK(calCtxGetMem(&mem, context, resource));
    CHECK(mem != 0);
    OK(calCtxSetMem(context, name, mem));
    return mem;
}

static inline void check_wait(CALcontext context, CALevent event)
{
    CALresult result;
    while ((result = calCtxIsEventDone(context, event)) == CAL_RESULT_PENDING) {
    }
    EXPECT(CAL_RESULT_OK, result);
}

static inline CALevent check_domain(CALcontext context, CALfunc entry, CALuint width, CALuint height)
{
    CALdomain domain = {0, 0, 0, 0};
    CALevent event = 0;
    domain.width = width;
    domain.height = height;
    OK(calCtxRunProgram(&event, context, entry, &domain));
    CHECK(event != 0);
    return event;
}

static inline CALevent check_grid(CALcontext context, CALfunc entry, CALuint groups, CALuint block)
{
    CALprogramGrid grid;
    CALevent event = 0;
    memset(&grid, 0, sizeof grid);
    grid.func = entry;
    grid.gridBlock.width = block;
    grid.gridBlock.height = 1;
    grid.gridBlock.depth = 1;
    grid.gridSize.width = groups;
    grid.gridSize.height = 1;
    grid.gridSize.depth = 1;
    OK(calCtxRunProgramGrid(&event, context, &grid));
    CHECK(event != 0);
    return event;
}

/* Maps, copies packed rows in or out, unmaps. Sizes in bytes. */
static inline void check_copy(CALresource resource, void* packed, size_t element, CALuint width, CALuint height,
                              int to_resource)
{
    CALvoid* address = NULL;
    CALuint pitch = 0, y;
    OK(calResMap(&address, &pitch, resource, 0));
    CHECK(address != NULL && pitch >= width);
    for (y = 0; y < height; ++y) {
        unsigned char* mapped = (unsigned char*)address + (size_t)y * pitch * element;
        unsigned char* host = (unsigned char*)packed + (size_t)y * width * element;
        if (to_resource) {
            memcpy(mapped, host, width * element);
        } else {
            memcpy(host, mapped, width * element);
        }
    }
    OK(calResUnmap(resource));
}

static inline void check_write(CALresource resource, const void* packed, size_t element, CALuint width, CALuint height)
{
    check_copy(resource, (void*)packed, element, width, height, 1);
}

static inline void check_read(CALresource resource, void* packed, size_t element, CALuint width, CALuint height)
{
    check_copy(resource, packed, element, width, height, 0);
}

/* Starts the runtime and opens the first device with a context. */
static inline void check_open(CALdevice* device, CALcontext* context)
{
    CALuint count = 0;
    *device = 0;
    *context = 0;
    OK(calInit());
    OK(calDeviceGetCount(&count));
    CHECK(count >= 1);
    OK(calDeviceOpen(device, 0));
    CHECK(*device != 0);
    OK(calCtxCreate(context, *device));
    CHECK(*context != 0);
}

static inline void check_close(CALdevice device, CALcontext context)
{
    OK(calCtxDestroy(context));
    OK(calDeviceClose(device));
    OK(calShutdown());
}

#endif
