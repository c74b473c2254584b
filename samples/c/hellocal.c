/*
 * hellocal - the smallest whole CAL program: one kernel, one input, one constant, one output.
 *
 * Every call is written out, in the order in which a program makes them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cal.h"
#include "calcl.h"

/* o0 = i0 * cb0[0].x, one float per thread. */
static const CALchar* kernel =
    "il_ps_2_0\n"
    "dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n"
    "dcl_output_generic o0\n"
    "dcl_cb cb0[1]\n"
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "mul o0, r0, cb0[0].x\n"
    "end\n";

enum { WIDTH = 64, HEIGHT = 64 };

static int failed(const char* call)
{
    fprintf(stderr, "%s failed: %s\n%s\n", call, calGetErrorString(), calclGetErrorString());
    return EXIT_FAILURE;
}

int main(int argc, char** argv)
{
    CALuint ordinal = argc > 1 ? (CALuint)strtoul(argv[1], NULL, 10) : 0;
    CALuint count = 0, x, y, wrong = 0;
    CALdeviceinfo info;
    CALdevice device = 0;
    CALcontext context = 0;
    CALobject object = NULL;
    CALimage image = NULL;
    CALmodule module = 0;
    CALfunc entry = 0;
    CALresource input = 0, output = 0, constant = 0;
    CALmem inputMem = 0, outputMem = 0, constantMem = 0;
    CALname inputName = 0, outputName = 0, constantName = 0;
    CALvoid* data = NULL;
    CALuint pitch = 0;
    CALdomain domain = {0, 0, WIDTH, HEIGHT};
    CALevent event = 0;
    CALresult result;

    /* Start CAL, open a device, make a context. */
    if (calInit() != CAL_RESULT_OK) return failed("calInit");
    if (calDeviceGetCount(&count) != CAL_RESULT_OK) return failed("calDeviceGetCount");
    if (count == 0) {
        fprintf(stderr, "there is no device\n");
        return EXIT_FAILURE;
    }
    if (calDeviceGetInfo(&info, ordinal) != CAL_RESULT_OK) return failed("calDeviceGetInfo");
    if (calDeviceOpen(&device, ordinal) != CAL_RESULT_OK) return failed("calDeviceOpen");
    if (calCtxCreate(&context, device) != CAL_RESULT_OK) return failed("calCtxCreate");

    /* Compile, link, load. */
    if (calclCompile(&object, CAL_LANGUAGE_IL, kernel, info.target) != CAL_RESULT_OK) return failed("calclCompile");
    if (calclLink(&image, &object, 1) != CAL_RESULT_OK) return failed("calclLink");
    if (calModuleLoad(&module, context, image) != CAL_RESULT_OK) return failed("calModuleLoad");
    if (calModuleGetEntry(&entry, context, module, "main") != CAL_RESULT_OK) return failed("calModuleGetEntry");
    if (calModuleGetName(&inputName, context, module, "i0") != CAL_RESULT_OK) return failed("calModuleGetName");
    if (calModuleGetName(&outputName, context, module, "o0") != CAL_RESULT_OK) return failed("calModuleGetName");
    if (calModuleGetName(&constantName, context, module, "cb0") != CAL_RESULT_OK) return failed("calModuleGetName");

    /* Memory: input and output on the device, the constant in host memory. */
    if (calResAllocLocal2D(&input, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0) != CAL_RESULT_OK ||
        calResAllocLocal2D(&output, device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1, 0) != CAL_RESULT_OK ||
        calResAllocRemote1D(&constant, &device, 1, 1, CAL_FORMAT_FLOAT_4, 0) != CAL_RESULT_OK)
        return failed("calResAlloc");

    if (calResMap(&data, &pitch, input, 0) != CAL_RESULT_OK) return failed("calResMap");
    for (y = 0; y < HEIGHT; ++y)
        for (x = 0; x < WIDTH; ++x)
            ((float*)data)[y * pitch + x] = (float)(y * WIDTH + x);
    if (calResUnmap(input) != CAL_RESULT_OK) return failed("calResUnmap");

    if (calResMap(&data, &pitch, constant, 0) != CAL_RESULT_OK) return failed("calResMap");
    ((float*)data)[0] = 0.5f;
    if (calResUnmap(constant) != CAL_RESULT_OK) return failed("calResUnmap");

    /* Bind. */
    if (calCtxGetMem(&inputMem, context, input) != CAL_RESULT_OK ||
        calCtxGetMem(&outputMem, context, output) != CAL_RESULT_OK ||
        calCtxGetMem(&constantMem, context, constant) != CAL_RESULT_OK)
        return failed("calCtxGetMem");
    if (calCtxSetMem(context, inputName, inputMem) != CAL_RESULT_OK ||
        calCtxSetMem(context, outputName, outputMem) != CAL_RESULT_OK ||
        calCtxSetMem(context, constantName, constantMem) != CAL_RESULT_OK)
        return failed("calCtxSetMem");

    /* Run and wait. */
    if (calCtxRunProgram(&event, context, entry, &domain) != CAL_RESULT_OK) return failed("calCtxRunProgram");
    while ((result = calCtxIsEventDone(context, event)) == CAL_RESULT_PENDING) {}
    if (result != CAL_RESULT_OK) return failed("calCtxIsEventDone");

    /* Look at the result. */
    if (calResMap(&data, &pitch, output, 0) != CAL_RESULT_OK) return failed("calResMap");
    for (y = 0; y < HEIGHT; ++y)
        for (x = 0; x < WIDTH; ++x)
            if (((float*)data)[y * pitch + x] != 0.5f * (float)(y * WIDTH + x)) ++wrong;
    printf("element (3,2) of the output is %g\n", ((float*)data)[2 * pitch + 3]);
    if (calResUnmap(output) != CAL_RESULT_OK) return failed("calResUnmap");

    /* Put everything away. */
    calCtxReleaseMem(context, inputMem);
    calCtxReleaseMem(context, outputMem);
    calCtxReleaseMem(context, constantMem);
    calResFree(input);
    calResFree(output);
    calResFree(constant);
    calModuleUnload(context, module);
    calclFreeImage(image);
    calclFreeObject(object);
    calCtxDestroy(context);
    calDeviceClose(device);
    calShutdown();

    printf("hellocal: %s\n", wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
