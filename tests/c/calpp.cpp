/*
 * As CAL++ does: one image for several targets, function information, images written and read, pinned constants that
 * the CPU writes without a map, UAVs on resources without GLOBAL_BUFFER, resources for an array of devices, waiting
 * only for the last of several launches, resources and devices released after calShutdown and after main.
 */
#include <cal.h>
#include <calcl.h>
#include <cal_ext.h>

#if !defined(__CAL_H__)
#error the guard that CAL++ asks for
#endif

#include "check.h"

#include <string>
#include <vector>

static const char* kernel =
    CS(64)
    "dcl_raw_uav_id(0)\n"
    "dcl_cb cb0[4]\n"
    "dcl_literal l0, 4, 0, 0, 0\n"
    "imul r0.x, vAbsTidFlat.x, l0.x\n"
    "uav_raw_load_id(0) r1.x, r0.x\n"
    "iadd r1.x, r1.x, cb0[3].y\n"
    "uav_raw_store_id(0) mem0.x___, r0.x, r1.x\n"
    "end\n";

static std::string listing;

extern "C" void collect(const char* text)
{
    listing += text;
}

/* Released when the process ends, after calShutdown; any result will do, a crash will not. */
struct Late {
    CALdevice   device;
    CALresource resources[2];
    Late() : device(0) { resources[0] = resources[1] = 0; }
    ~Late()
    {
        calResFree(resources[0]);
        calResFree(resources[1]);
        calDeviceClose(device);
        HOLDS(calpp_resources_and_devices_after_shutdown);
    }
};
static Late late;

/* As uavwrite and uavatomics: plain local resources, 1D and 2D, as typed and structured UAVs. */
static void typed_and_structured_uavs(CALcontext context)
{
    static const char* typed =
        CS(64)
        "dcl_uav_id(0)_type(2d)_fmtx(float)\n"
        "dcl_literal l0, 0, 0, 0, 0\n"
        "dcl_literal l1, 0.5, 1.5, 2.5, 3.5\n"
        "itof r0, vAbsTidFlat.x\n"
        "add r0, r0, l1\n"
        "mov r1.x___, vAbsTidFlat.x\n"
        "mov r1._yzw, l0.xxxx\n"
        "uav_store_id(0) r1, r0\n"
        "end\n";
    static const char* structured =
        CS(64)
        "dcl_struct_uav_id(0) 8\n"
        "dcl_literal l0, 0, 4, 1, 3\n"
        "mov r1.x___, vAbsTidFlat.x\n"
        "mov r1._y__, l0.x\n"
        "umul r2.x, vAbsTidFlat.x, l0.w\n"
        "uav_struct_store_id(0) mem0.x___, r1.xyxx, r2.x\n"
        "mov r1._y__, l0.y\n"
        "iadd r2.x, r2.x, l0.z\n"
        "uav_struct_store_id(0) mem0.x___, r1.xyxx, r2.x\n"
        "end\n";
    CALresource plain[2] = {0, 0};
    float texels[64 * 4];
    CALuint pairs[64 * 2];
    OK(calResAllocLocal2D(&plain[0], late.device, 64, 1, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocLocal1D(&plain[1], late.device, 64, CAL_FORMAT_UINT_2, 0));
    CALmodule modules[2] = {check_module(context, typed), check_module(context, structured)};
    for (int i = 0; i < 2; ++i) {
        check_bind(context, modules[i], "uav0", plain[i]);
        check_wait(context, check_grid(context, check_entry(context, modules[i]), 1, 64));
    }
    check_read(plain[0], texels, 16, 64, 1);
    check_read(plain[1], pairs, 8, 64, 1);
    for (int i = 0; i < 64; ++i) {
        for (int c = 0; c < 4; ++c) {
            CHECK(texels[4 * i + c] == (float)i + 0.5f + (float)c);
        }
        CHECK(pairs[2 * i] == 3u * i && pairs[2 * i + 1] == 3u * i + 1);
    }
    HOLDS(calpp_typed_and_structured_uavs_on_plain_resources);
    for (int i = 0; i < 2; ++i) {
        OK(calModuleUnload(context, modules[i]));
        OK(calResFree(plain[i]));
    }
}

int main()
{
    CALdeviceinfo info;
    CALcontext context = 0;
    CALobject objects[2] = {0, 0};
    CALimage image = 0, again = 0;
    CALmodule module = 0;
    CALfunc func = 0;
    CALfuncInfo function;
    CALuint size = 0, i, count = 0;
    CALresource& counts = late.resources[0];
    CALresource& pinned = late.resources[1];
    CALmem mems[2];
    PFNCALRESCREATE1D create1D = 0;
    PFNCALRESCREATE2D create2D = 0;
    CALevent event = 0;

    OK(calInit());
    OK(calDeviceGetCount(&count));
    OK(calDeviceGetInfo(&info, 0));
    OK(calDeviceOpen(&late.device, 0));
    OK(calCtxCreate(&context, late.device));

    CALtarget other = info.target == CAL_TARGET_CYPRESS ? CAL_TARGET_CAYMAN : CAL_TARGET_CYPRESS;
    OK(calclCompile(&objects[0], CAL_LANGUAGE_IL, kernel, other));
    OK(calclCompile(&objects[1], CAL_LANGUAGE_IL, kernel, info.target));
    OK(calclLink(&image, objects, 2));
    OK(calclFreeObject(objects[0]));
    OK(calclFreeObject(objects[1]));

    calclDisassembleImage(image, collect);
    CHECK(!listing.empty() && listing[listing.size() - 1] == '\n');
    HOLDS(calpp_objects_of_several_targets_in_one_image);
    HOLDS(calpp_listing_by_a_static_callback);
    OK(calclImageGetSize(&size, image));
    CHECK(size > 52);
    std::vector<char> bytes(size);
    CHECK(calclImageWrite(&bytes[0], size - 1, image) != CAL_RESULT_OK);
    OK(calclImageWrite(&bytes[0], size, image));
    OK(calImageRead(&again, &bytes[0], size));
    std::vector<char>().swap(bytes);
    OK(calImageFree(image)); /* linked, yet freed by the runtime's function */
    OK(calModuleLoad(&module, context, again));
    OK(calclFreeImage(again)); /* read, yet freed by the compiler's */
    HOLDS(calpp_calImageFree_on_any_image);

    OK(calModuleGetEntry(&func, context, module, "main"));
    memset(&function, 0, sizeof function);
    OK(calModuleGetFuncInfo(&function, context, module, func));
    CHECK(function.numThreadPerGroup == 64 && function.numThreadPerGroupX == 64);
    CHECK(function.numThreadPerGroupY == 1 && function.numThreadPerGroupZ == 1);
    CHECK(function.wavefrontSize > 0 && function.numGPRsUsed > 0);
    HOLDS(calpp_function_info_of_the_last_layout);

    /* An array of all devices that there are. */
    std::vector<CALdevice> devices(1, late.device);
    for (i = 1; i < count; ++i) {
        CALdevice device = 0;
        OK(calDeviceOpen(&device, i));
        devices.push_back(device);
    }
    OK(calResAllocRemote1D(&counts, &devices[0], count, 256, CAL_FORMAT_UNSIGNED_INT32_1, 0));
    HOLDS(calpp_remote_memory_for_an_array_of_devices);

    OK(calExtSupported(CAL_EXT_RES_CREATE));
    OK(calExtGetProc((CALextproc*)&create1D, CAL_EXT_RES_CREATE, "calResCreate1D"));
    OK(calExtGetProc((CALvoid**)&create2D, CAL_EXT_RES_CREATE, "calResCreate2D"));
    CHECK(create1D != 0 && create2D != 0);
    static CALuint constants[1024] __attribute__((aligned(4096)));
    OK(create1D(&pinned, late.device, constants, 64, CAL_FORMAT_UNSIGNED_INT32_4, 64 * 16, 0));

    std::vector<CALuint> zero(256, 0u), result(256, 1u);
    check_write(counts, &zero[0], 4, 256, 1);
    mems[0] = check_bind(context, module, "uav0", counts);
    mems[1] = check_bind(context, module, "cb0", pinned);
    CALuint expected = 0;
    for (i = 1; i <= 20; ++i) {
        constants[13] = i; /* cb0[3].y, no map */
        event = check_grid(context, func, 4, 64);
        check_wait(context, event);
        expected += i;
    }
    check_read(counts, &result[0], 4, 256, 1);
    for (i = 0; i < 256; ++i) {
        CHECK(result[i] == expected);
    }
    HOLDS(calpp_pinned_constants_written_without_a_map);
    HOLDS(calpp_uav_without_the_global_buffer_flag);
    /* Several launches, one wait. */
    constants[13] = 1000;
    for (i = 0; i < 10; ++i) {
        event = check_grid(context, func, 4, 64);
    }
    check_wait(context, event);
    check_read(counts, &result[0], 4, 256, 1);
    CHECK(result[0] == expected + 10000 && result[255] == expected + 10000);
    HOLDS(calpp_one_wait_for_several_launches);

    typed_and_structured_uavs(context);

    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    OK(calCtxDestroy(context));
    OK(calShutdown());
    HOLDS(calpp_mems_context_shutdown_then_resources);
    return 0;
}
