/* NULL pointers and values out of range give INVALID_PARAMETER; nothing is created. */
#include "check.h"

static const char* kernel =
    PS "dcl_output_generic o0\n"
    "mov o0, vWinCoord0\n"
    "end\n";

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALfunc func;
    CALname name = 0;
    CALresource resource = 0;
    CALmem mem = 0;
    CALuint pitch = 0, a = 0, b = 0;
    CALvoid* address = NULL;
    CALdomain domain = {0, 0, 8, 8};
    CALevent event = 0;
    CALobject object = NULL;
    CALimage image = NULL;
    CALextproc proc = NULL;
    CALdeviceattribs attribs;
    CALdevicestatus status;

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calGetVersion(NULL, &a, &b));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calGetVersion(&a, NULL, &b));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calGetVersion(&a, &b, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclGetVersion(NULL, &a, &b));
    CHECK(calGetErrorString() != NULL && calclGetErrorString() != NULL);

    check_open(&device, &context);
    module = check_module(context, kernel);
    func = check_entry(context, module);
    OK(calModuleGetName(&name, context, module, "o0"));

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calDeviceGetCount(NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calDeviceGetInfo(NULL, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calDeviceGetAttribs(NULL, 0));
    attribs.struct_size = 0;
    CHECK(calDeviceGetAttribs(&attribs, 0) != CAL_RESULT_OK);
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calDeviceGetStatus(NULL, device));
    status.struct_size = 0;
    CHECK(calDeviceGetStatus(&status, device) != CAL_RESULT_OK);
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calDeviceOpen(NULL, 0));
    {
        CALdeviceinfo info;
        CALdevice nothing = 7;
        EXPECT(CAL_RESULT_ERROR, calDeviceGetInfo(&info, 4000000000u));
        attribs.struct_size = sizeof attribs;
        EXPECT(CAL_RESULT_ERROR, calDeviceGetAttribs(&attribs, 4000000000u));
        EXPECT(CAL_RESULT_ERROR, calDeviceOpen(&nothing, 4000000000u));
        CHECK(nothing == 0);
        nothing = 7;
        CHECK(calDeviceOpen(&nothing, 0) != CAL_RESULT_OK); /* open already */
        CHECK(nothing == 0);
    }

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal1D(NULL, device, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal2D(NULL, device, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocRemote1D(NULL, &device, 1, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocRemote2D(NULL, &device, 1, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocRemote1D(&resource, NULL, 1, 64, CAL_FORMAT_FLOAT_1, 0));
    CHECK(resource == 0);
    resource = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal1D(&resource, device, 0, CAL_FORMAT_FLOAT_1, 0));
    CHECK(resource == 0);
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal2D(&resource, device, 64, 0, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal2D(&resource, device, 0, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal1D(&resource, device, 64, (CALformat)47, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal1D(&resource, device, 64, (CALformat)0x7FFFFFFF, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResAllocLocal1D(&resource, device, 64, CAL_FORMAT_FLOAT_1, 0x40000000u));

    /* Too large is an error of its own, and sizes are not taken modulo 2^32. */
    resource = 7;
    EXPECT(CAL_RESULT_ERROR, calResAllocLocal2D(&resource, device, 0xFFFFFFFFu, 0xFFFFFFFFu, CAL_FORMAT_FLOAT_4, 0));
    CHECK(resource == 0);
    EXPECT(CAL_RESULT_ERROR, calResAllocLocal1D(&resource, device, 0x10000001u, CAL_FORMAT_FLOAT_4, 0));
    CHECK(resource == 0);
    EXPECT(CAL_RESULT_ERROR, calResAllocRemote2D(&resource, &device, 1, 0xFFFFFFFFu, 1, CAL_FORMAT_UBYTE_1, 0));
    CHECK(resource == 0);

    OK(calResAllocLocal2D(&resource, device, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResMap(NULL, &pitch, resource, 0));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calResMap(&address, NULL, resource, 0));
    EXPECT(CAL_RESULT_ERROR, calResUnmap(resource)); /* not mapped */
    OK(calResMap(&address, &pitch, resource, 0));
    CHECK(calResMap(&address, &pitch, resource, 0) != CAL_RESULT_OK); /* mapped already */
    CHECK(address == NULL && pitch == 0);
    OK(calResUnmap(resource));

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxCreate(NULL, device));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxGetMem(NULL, context, resource));
    OK(calCtxGetMem(&mem, context, resource));
    OK(calCtxSetMem(context, name, mem));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxRunProgram(NULL, context, func, &domain));
    event = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxRunProgram(&event, context, func, NULL));
    CHECK(event == 0);
    event = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxRunProgramGrid(&event, context, NULL));
    CHECK(event == 0);
    event = 7;
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calCtxRunProgramGridArray(&event, context, NULL));
    CHECK(event == 0);
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calMemCopy(NULL, context, mem, mem, 0));

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleLoad(NULL, context, NULL));
    {
        CALmodule nothing = 7;
        CHECK(calModuleLoad(&nothing, context, NULL) != CAL_RESULT_OK);
        CHECK(nothing == 0);
    }
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleGetEntry(NULL, context, module, "main"));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleGetEntry(&func, context, module, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleGetName(NULL, context, module, "o0"));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleGetName(&name, context, module, NULL));
    func = 7;
    EXPECT(CAL_RESULT_ERROR, calModuleGetEntry(&func, context, module, "Main"));
    CHECK(func == 0);
    name = 7;
    EXPECT(CAL_RESULT_ERROR, calModuleGetName(&name, context, module, "i0"));
    CHECK(name == 0 && strstr(calGetErrorString(), "i0") != NULL);
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calModuleGetFuncInfo(NULL, context, module, check_entry(context, module)));

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calImageRead(NULL, "x", 1));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calImageRead(&image, NULL, 1));
    CHECK(calImageRead(&image, "not an image at all", 19) != CAL_RESULT_OK);
    CHECK(image == NULL);

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclCompile(NULL, CAL_LANGUAGE_IL, kernel, CAL_TARGET_CYPRESS));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclCompile(&object, CAL_LANGUAGE_IL, NULL, CAL_TARGET_CYPRESS));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclCompile(&object, (CALlanguage)2, kernel, CAL_TARGET_CYPRESS));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclCompile(&object, CAL_LANGUAGE_IL, kernel, (CALtarget)1000));
    CHECK(object == NULL);
    OK(calclCompile(&object, CAL_LANGUAGE_IL, kernel, CAL_TARGET_CYPRESS));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclLink(NULL, &object, 1));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclLink(&image, NULL, 1));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclLink(&image, &object, 0));
    CHECK(image == NULL);
    OK(calclLink(&image, &object, 1));
    OK(calclFreeObject(object));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclImageGetSize(NULL, image));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclImageGetSize(&a, NULL));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calclImageWrite(NULL, 100, image));
    calclDisassembleImage(NULL, NULL);
    calclDisassembleImage(image, NULL);
    calclDisassembleObject(NULL, NULL);
    OK(calclFreeImage(image));
    (void)calclFreeImage(NULL); /* either answer, no crash */
    (void)calclFreeObject(NULL);
    (void)calImageFree(NULL);

    EXPECT(CAL_RESULT_INVALID_PARAMETER, calExtGetVersion(NULL, &a, CAL_EXT_RES_CREATE));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calExtGetProc(NULL, CAL_EXT_RES_CREATE, "calResCreate1D"));
    EXPECT(CAL_RESULT_INVALID_PARAMETER, calExtGetProc(&proc, CAL_EXT_RES_CREATE, NULL));
    proc = &a;
    CHECK(calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate3D") != CAL_RESULT_OK);
    CHECK(proc == NULL);
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported(CAL_EXT_D3D9));
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported(CAL_EXT_D3D10));
    EXPECT(CAL_RESULT_NOT_SUPPORTED, calExtSupported((CALextid)0x8002));
    check_close(device, context);

    /* Outside init and shutdown. */
    EXPECT(CAL_RESULT_NOT_INITIALIZED, calDeviceGetCount(&a));
    CHECK(a == 0);
    EXPECT(CAL_RESULT_NOT_INITIALIZED, calDeviceOpen(&device, 0));
    OK(calGetVersion(&a, &b, &pitch));
    CHECK(a == 1 && b == 4 && pitch > 900);
    HOLDS(nulls_are_invalid_parameters);
    return 0;
}
