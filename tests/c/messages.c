/*
 * Error strings: each of the 38 and 13 functions, called wrongly in the ways it can be, names itself, the argument and
 * what is wrong with it.
 */
#include "check.h"

#include "calcl_ext.h"

#include <unistd.h>

static int wrong;

/* The text is "function: argument: reason", and the reason has words. */
static void says(int failed, const char* text, const char* function, const char* argument)
{
    size_t length = strlen(function);
    if (getenv("SHOW")) {
        printf("%s\n", text);
    }
    if (!failed || strncmp(text, function, length) != 0 || text[length] != ':' || strstr(text, argument) == NULL ||
        strlen(text) < length + strlen(argument) + 5) {
        fprintf(stderr, "%s, %s wrong: %s: %s\n", function, argument, failed ? "refused" : "accepted", text);
        ++wrong;
    }
}

/* The call first, then the text that it left. */
#define SAYS(function, argument, ...)                                 \
    do {                                                              \
        int failed_ = function(__VA_ARGS__) != CAL_RESULT_OK;         \
        says(failed_, calGetErrorString(), #function, argument);      \
    } while (0)
#define SAYS_CL(function, argument, ...)                              \
    do {                                                              \
        int failed_ = function(__VA_ARGS__) != CAL_RESULT_OK;         \
        says(failed_, calclGetErrorString(), #function, argument);    \
    } while (0)

static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\n"
    "end\n";

/* A kernel with something to warn of compiles, and nothing is written anywhere. */
static void compiler_prints_nothing(void)
{
    FILE* file = tmpfile();
    int out = dup(1), err = dup(2);
    CALobject object = NULL;
    CHECK(file != NULL && out >= 0 && err >= 0);
    fflush(stdout);
    CHECK(dup2(fileno(file), 1) >= 0 && dup2(fileno(file), 2) >= 0);
    CALresult result = calclCompile(&object, CAL_LANGUAGE_IL,
                                    PS "dcl_output_generic o0\nsample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n",
                                    CAL_TARGET_CYPRESS);
    fflush(stdout);
    CHECK(dup2(out, 1) >= 0 && dup2(err, 2) >= 0);
    OK(result);
    OK(calclFreeObject(object));
    CHECK(fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0);
    fclose(file);
    HOLDS(compiler_prints_nothing);
}

int main(void)
{
    CALuint a, b, pitch, bad = 0x12345;
    CALdevice device, other = 0;
    CALcontext context;
    CALdeviceinfo info;
    CALdeviceattribs attribs;
    CALdevicestatus status;
    CALresource resource = 0, small = 0, bytes = 0, none = 0;
    CALmem mem = 0, small_mem = 0, bytes_mem = 0, no_mem = 0;
    CALmodule module, no_module = 0;
    CALfunc func, no_func = 0;
    CALname name = 0, sampler = 0, no_name = 0;
    CALevent event = 0;
    CALdomain domain = {0, 0, 8, 8}, huge = {0xFFFFFFFF, 0, 8, 8};
    CALprogramGrid grid = {0, {64, 1, 1}, {1, 1, 1}, 0};
    CALprogramGridArray array = {NULL, 1, 0};
    CALfuncInfo function;
    CALobject object = NULL, twice[2];
    CALimage image = NULL, no_image = NULL;
    CALextproc proc = NULL;
    CALvoid* address = NULL;
    char buffer[8];

    SAYS(calDeviceGetCount, "calInit", &a); /* has not been called */
    SAYS(calShutdown, "calInit");
    check_open(&device, &context);
    SAYS(calInit, "initialised");
    module = check_module(context, kernel);
    func = check_entry(context, module);
    OK(calResAllocLocal2D(&resource, device, 64, 64, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocLocal2D(&small, device, 8, 8, CAL_FORMAT_FLOAT_4, 0));
    OK(calResAllocLocal2D(&bytes, device, 64, 64, CAL_FORMAT_FLOAT_1, 0));
    OK(calCtxGetMem(&mem, context, resource));
    OK(calCtxGetMem(&small_mem, context, small));
    OK(calCtxGetMem(&bytes_mem, context, bytes));
    OK(calModuleGetName(&name, context, module, "o0"));
    OK(calModuleGetName(&sampler, context, module, "s0"));
    image = check_image(kernel, CAL_TARGET_CYPRESS);

    SAYS(calGetVersion, "minor", &a, NULL, &b);
    SAYS(calDeviceGetCount, "count", NULL);
    SAYS(calDeviceGetInfo, "info", NULL, 0);
    SAYS(calDeviceGetInfo, "ordinal", &info, 99);
    OK(calDeviceGetInfo(&info, 0));
    SAYS(calDeviceGetAttribs, "attribs", NULL, 0);
    attribs.struct_size = 0;
    SAYS(calDeviceGetAttribs, "struct_size", &attribs, 0);
    attribs.struct_size = sizeof attribs;
    SAYS(calDeviceGetAttribs, "ordinal", &attribs, 99);
    status.struct_size = sizeof status;
    SAYS(calDeviceGetStatus, "status", NULL, device);
    SAYS(calDeviceGetStatus, "dev", &status, bad);
    SAYS(calDeviceOpen, "dev", NULL, 0);
    SAYS(calDeviceOpen, "ordinal", &other, 99);
    SAYS(calDeviceOpen, "ordinal", &other, 0); /* open already */
    SAYS(calDeviceClose, "dev", bad);

    SAYS(calResAllocLocal1D, "res", NULL, device, 64, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocLocal1D, "width", &none, device, 0, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocLocal1D, "width", &none, device, 0x7FFFFFFF, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocLocal1D, "flags", &none, device, 64, CAL_FORMAT_FLOAT_1, 0x100);
    SAYS(calResAllocLocal2D, "dev", &none, bad, 64, 64, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocLocal2D, "height", &none, device, 64, 0, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocLocal2D, "format", &none, device, 64, 64, (CALformat)99, 0);
    SAYS(calResAllocRemote1D, "dev", &none, NULL, 1, 64, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocRemote1D, "deviceCount", &none, &device, 0, 64, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocRemote2D, "dev", &none, &bad, 1, 64, 64, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResAllocRemote2D, "height", &none, &device, 1, 64, 0x7FFFFFFF, CAL_FORMAT_FLOAT_1, 0);
    SAYS(calResFree, "res", bad);
    SAYS(calResMap, "pPtr", NULL, &pitch, resource, 0);
    SAYS(calResMap, "pitch", &address, NULL, resource, 0);
    SAYS(calResMap, "res", &address, &pitch, bad, 0);
    OK(calResMap(&address, &pitch, resource, 0));
    SAYS(calResMap, "mapped", &address, &pitch, resource, 0);
    OK(calResUnmap(resource));
    SAYS(calResUnmap, "mapped", resource);
    SAYS(calResUnmap, "res", bad);

    SAYS(calCtxCreate, "ctx", NULL, device);
    SAYS(calCtxCreate, "dev", &a, bad);
    SAYS(calCtxDestroy, "ctx", bad);
    SAYS(calCtxGetMem, "ctx", &no_mem, bad, resource);
    SAYS(calCtxGetMem, "res", &no_mem, context, mem); /* a handle of another kind */
    SAYS(calCtxReleaseMem, "mem", context, bad);
    SAYS(calCtxSetMem, "name", context, bad, mem);
    SAYS(calCtxSetMem, "mem", context, name, bad);
    SAYS(calCtxSetMem, "s0", context, sampler, mem);
    SAYS(calCtxRunProgram, "o0", &event, context, func, &domain); /* nothing is bound */
    OK(calCtxSetMem(context, name, mem));
    SAYS(calCtxRunProgram, "i0", &event, context, func, &domain);
    SAYS(calCtxRunProgram, "func", &event, context, bad, &domain);
    SAYS(calCtxRunProgram, "domain", &event, context, func, NULL);
    SAYS(calCtxRunProgram, "domain", &event, context, func, &huge);
    SAYS(calCtxRunProgramGrid, "pProgramGrid", &event, context, NULL);
    SAYS(calCtxRunProgramGrid, "func", &event, context, &grid);
    grid.func = func;
    SAYS(calCtxRunProgramGrid, "pixel", &event, context, &grid);
    SAYS(calCtxRunProgramGridArray, "pGridArray", &event, context, &array);
    array.gridArray = &grid;
    SAYS(calCtxRunProgramGridArray, "grid 0", &event, context, &array);
    SAYS(calCtxIsEventDone, "event", context, bad);
    SAYS(calCtxIsEventDone, "event", context, 0);
    SAYS(calCtxFlush, "ctx", bad);
    SAYS(calMemCopy, "srcMem", &event, context, bad, mem, 0);
    SAYS(calMemCopy, "dstMem", &event, context, mem, bad, 0);
    SAYS(calMemCopy, "format", &event, context, mem, bytes_mem, 0);
    SAYS(calMemCopy, "smaller", &event, context, mem, small_mem, 0);

    SAYS(calImageRead, "buffer", &no_image, NULL, 8);
    SAYS(calImageRead, "ELF", &no_image, "rubbish!", 8);
    SAYS(calImageFree, "image", NULL);
    SAYS(calModuleLoad, "image", &no_module, context, NULL);
    SAYS(calModuleUnload, "module", context, bad);
    SAYS(calModuleGetEntry, "procName", &no_func, context, module, NULL);
    SAYS(calModuleGetEntry, "Main", &no_func, context, module, "Main");
    SAYS(calModuleGetName, "varName", &no_name, context, module, NULL);
    SAYS(calModuleGetName, "i7", &no_name, context, module, "i7");
    SAYS(calModuleGetFuncInfo, "pInfo", NULL, context, module, func);
    SAYS(calModuleGetFuncInfo, "func", &function, context, module, bad);

    SAYS(calExtSupported, "ext", CAL_EXT_D3D9);
    SAYS(calExtGetVersion, "major", NULL, &b, CAL_EXT_COUNTERS);
    SAYS(calExtGetVersion, "ext", &a, &b, (CALextid)7);
    SAYS(calExtGetProc, "procname", &proc, CAL_EXT_COUNTERS, NULL);
    SAYS(calExtGetProc, "calCtxFly", &proc, CAL_EXT_COUNTERS, "calCtxFly");

    SAYS_CL(calclGetVersion, "imp", &a, &b, NULL);
    SAYS_CL(calclCompile, "obj", NULL, CAL_LANGUAGE_IL, kernel, info.target);
    SAYS_CL(calclCompile, "language", &object, (CALlanguage)5, kernel, info.target);
    SAYS_CL(calclCompile, "source", &object, CAL_LANGUAGE_IL, NULL, info.target);
    SAYS_CL(calclCompile, "target", &object, CAL_LANGUAGE_IL, kernel, (CALtarget)999);
    SAYS_CL(calclCompile, "kernel:3", &object, CAL_LANGUAGE_IL, PS "mov o9, r0\nend\n", info.target);
    OK(calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target));
    SAYS_CL(calclLink, "obj", &no_image, NULL, 1);
    SAYS_CL(calclLink, "objCount", &no_image, &object, 0);
    twice[0] = twice[1] = object;
    SAYS_CL(calclLink, "target", &no_image, twice, 2);
    OK(calclFreeObject(object));
    SAYS_CL(calclFreeObject, "obj", NULL);
    SAYS_CL(calclFreeImage, "image", NULL);
    SAYS_CL(calclAssembleObject, "type", &object, (CALCLprogramType)9, "x", info.target);
    SAYS_CL(calclImageGetSize, "image", &a, NULL);
    SAYS_CL(calclImageGetSize, "size", NULL, image);
    SAYS_CL(calclImageWrite, "buffer", NULL, 100, image);
    SAYS_CL(calclImageWrite, "size", buffer, sizeof buffer, image);
    SAYS_CL(calclExtSupported, "ext", CALCL_EXT_XXXX);
    SAYS_CL(calclExtGetProc, "procname", &proc, CALCL_EXT_XXXX, NULL);
    OK(calclFreeImage(image));
    compiler_prints_nothing();
    CHECK(wrong == 0);
    HOLDS(error_texts_name_function_argument_and_reason);
    check_close(device, context);
    return 0;
}
