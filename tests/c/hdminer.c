/*
 * As hdminer does: g[] and cb0 over UNORM_INT32_1, groups of 320 threads, one group per SIMD engine, a look at the
 * bytes of a compiled object (an ELF file), its listing, modules replaced while running, and a second thread that
 * compiles while kernels run.
 */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { GROUP = 320 };

static const char* kernel =
    CS(320)
    "dcl_cb cb0[2]\n"
    "dcl_literal l0, 0x6a09e667, 0, 1, 2654435761\n"
    "mov r0.x, vaTid0.x\n"
    "umul r1.x, r0.x, l0.w\n"
    "ixor r1.x, r1.x, l0.x\n"
    "iadd r1.x, r1.x, cb0[0].y\n"
    "iadd r1.y, r0.x, l0.z\n"
    "mov g[vaTid0.x].xy, r1\n"
    "end\n";

static int lines;

static void count_line(const char* text)
{
    CHECK(text != NULL);
    ++lines;
}

static volatile int compiling = 1;

static void* compile_always(void* target)
{
    int made = 0;
    while (compiling || made == 0) {
        CALobject object = NULL;
        CALimage image = NULL;
        OK(calclCompile(&object, CAL_LANGUAGE_IL, kernel, *(CALtarget*)target));
        OK(calclLink(&image, &object, 1));
        OK(calclFreeImage(image));
        OK(calclFreeObject(object));
        ++made;
    }
    return NULL;
}

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALdeviceinfo info;
    CALdeviceattribs attribs;
    CALobject object = NULL;
    CALresource global = 0, constants = 0;
    CALuint groups, pass, i;
    CALuint* words;
    CALuint pitch;
    pthread_t thread;

    check_open(&device, &context);
    OK(calDeviceGetInfo(&info, 0));
    attribs.struct_size = sizeof attribs;
    OK(calDeviceGetAttribs(&attribs, 0));
    groups = attribs.numberOfSIMD;
    CHECK(groups > 0);

    OK(calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target));
    CHECK(memcmp((void*)object, "\177ELF", 4) == 0);
    CHECK(((unsigned char*)object)[4] == 1 && ((unsigned char*)object)[7] == 0x64); /* 32-bit, OSABI of CAL */
    calclDisassembleObject(&object, count_line);
    CHECK(lines > 0);
    HOLDS(hdminer_objects_are_elf_bytes);
    HOLDS(hdminer_listing_of_an_object);
    OK(calclFreeObject(object));

    OK(calResAllocLocal1D(&global, device, groups * GROUP * 4, CAL_FORMAT_UNORM_INT32_1, CAL_RESALLOC_GLOBAL_BUFFER));
    OK(calResAllocRemote1D(&constants, &device, 1, 8, CAL_FORMAT_UNORM_INT32_1, 0));
    CHECK(pthread_create(&thread, NULL, compile_always, &info.target) == 0);
    for (pass = 0; pass < 30; ++pass) {
        CALimage image = check_image(kernel, info.target);
        CALmodule module = 0;
        CALmem mems[2];
        CALevent event;
        CALresult result;
        OK(calModuleLoad(&module, context, image));
        OK(calResMap((CALvoid**)&words, &pitch, constants, 0));
        words[1] = pass;
        OK(calResUnmap(constants));
        mems[0] = check_bind(context, module, "g[]", global);
        mems[1] = check_bind(context, module, "cb0", constants);
        event = check_grid(context, check_entry(context, module), groups, GROUP);
        OK(calCtxFlush(context));
        while ((result = calCtxIsEventDone(context, event)) == CAL_RESULT_PENDING) {
            usleep(1000);
        }
        OK(result);
        OK(calResMap((CALvoid**)&words, &pitch, global, 0));
        for (i = 0; i < groups * GROUP; ++i) {
            CHECK(words[4 * i] == ((i * 2654435761u) ^ 0x6a09e667u) + pass && words[4 * i + 1] == i + 1);
        }
        OK(calResUnmap(global));
        OK(calCtxReleaseMem(context, mems[0]));
        OK(calCtxReleaseMem(context, mems[1]));
        if (pass == 29) {
            OK(calResFree(global));
            OK(calResFree(constants));
        }
        OK(calModuleUnload(context, module));
        OK(calclFreeImage(image));
    }
    compiling = 0;
    CHECK(pthread_join(thread, NULL) == 0);
    HOLDS(hdminer_groups_of_320_threads);
    HOLDS(hdminer_unorm_int32_1_global_buffer_and_constants);
    HOLDS(hdminer_modules_replaced_while_running);
    HOLDS(hdminer_module_unloaded_after_its_mems);
    HOLDS(hdminer_second_thread_compiles);
    check_close(device, context);
    return 0;
}
