/*
 * As Milkyway@home does: doubles in integer formats, the same mem read and written by one kernel, chunks of the domain
 * by its offset, the whole pitch area cleared through the map, result codes OR-ed together, cacheable local memory,
 * the structure by its tag, the private wait extension by its bare number, calImageFree on a linked image.
 */
#include "check.h"

enum { WIDTH = 70, HEIGHT = 33, CHUNK = 8 };

typedef CALresult(CALAPIENTRYP WaitForEvents)(CALcontext ctx, CALevent* events, CALuint n, CALuint flags);

/* o0 = i4 + i0 * cb1[0], a double in x, y; i0 is a line of doubles */
static const char* separation =
    PS "dcl_output_generic o0\n"
    "dcl_resource_id(0)_type(1d,unnorm)_fmtx(unknown)_fmty(unknown)_fmtz(unknown)_fmtw(unknown)\n"
    "dcl_resource_id(4)_type(2d,unnorm)_fmtx(unknown)_fmty(unknown)_fmtz(unknown)_fmtw(unknown)\n"
    "dcl_cb cb1[1]\n"
    "sample_resource(4)_sampler(4) r0, vWinCoord0.xyxx\n"
    "sample_resource(0)_sampler(0) r1, vWinCoord0.xxxx\n"
    "dmul r2.xy, r1.xy, cb1[0].xy\n"
    "dadd r2.xy, r2.xy, r0.xy\n"
    "mov o0.xy__, r2.xyxx\n"
    "end\n";

int main(void)
{
    CALuint major, minor, patch, count = 0, pitch = 0, x, y, done;
    CALdeviceinfo info;
    struct CALdeviceattribsRec attribs;
    CALdevice device = 0;
    CALcontext context = 0;
    CALobject object = NULL;
    CALimage image = NULL;
    CALmodule module = 0;
    CALfunc func = 0;
    CALname names[4] = {0, 0, 0, 0};
    CALresource line = 0, sums = 0, constant = 0;
    CALmem line_mem = 0, sums_mem = 0, constant_mem = 0;
    CALextproc proc = NULL;
    WaitForEvents wait_for = NULL;
    CALresult err = CAL_RESULT_OK;
    double* doubles = NULL;

    err |= calInit();
    err |= calGetVersion(&major, &minor, &patch);
    err |= calDeviceGetCount(&count);
    CHECK(err == CAL_RESULT_OK && major == 1 && minor == 4);
    err |= calDeviceGetInfo(&info, 0);
    attribs.struct_size = sizeof(struct CALdeviceattribsRec);
    err |= calDeviceGetAttribs(&attribs, 0);
    err |= calDeviceOpen(&device, 0);
    err |= calCtxCreate(&context, device);
    CHECK(err == CAL_RESULT_OK && attribs.doublePrecision == CAL_TRUE);
    CHECK(attribs.wavefrontSize > 0 && attribs.numberOfSIMD > 0 && attribs.numberOfShaderEngines > 0);
    CHECK(attribs.engineClock > 0 && attribs.memoryClock > 0 && attribs.computeShader == CAL_TRUE);
    CHECK(attribs.pitch_alignment > 0 && attribs.surface_alignment > 0);
    HOLDS(milkyway_attributes_by_the_structure_tag);

    /* The extension may be missing; here it is not. */
    err |= calExtSupported(0x8009);
    err |= calExtGetProc(&proc, 0x8009, "calCtxWaitForEvents");
    CHECK(err == CAL_RESULT_OK && proc != NULL);
    memcpy(&wait_for, &proc, sizeof proc);
    HOLDS(milkyway_extension_by_its_bare_number);

    err |= calclCompile(&object, CAL_LANGUAGE_IL, separation, attribs.target);
    err |= calclLink(&image, &object, 1);
    err |= calclFreeObject(object);
    err |= calModuleLoad(&module, context, image);
    err |= calModuleGetEntry(&func, context, module, "main");
    err |= calModuleGetName(&names[0], context, module, "i0");
    err |= calModuleGetName(&names[1], context, module, "i4");
    err |= calModuleGetName(&names[2], context, module, "o0");
    err |= calModuleGetName(&names[3], context, module, "cb1");
    CHECK(err == CAL_RESULT_OK);

    err |= calResAllocLocal1D(&line, device, WIDTH, CAL_FORMAT_UNSIGNED_INT32_2, CAL_RESALLOC_CACHEABLE);
    err |= calResAllocLocal2D(&sums, device, WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_2, CAL_RESALLOC_GLOBAL_BUFFER);
    err |= calResAllocRemote1D(&constant, &device, 1, 1, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_CACHEABLE);
    CHECK(err == CAL_RESULT_OK);
    HOLDS(milkyway_local_memory_with_cacheable);
    err |= calCtxGetMem(&line_mem, context, line);
    err |= calCtxGetMem(&sums_mem, context, sums);
    err |= calCtxGetMem(&constant_mem, context, constant);
    CHECK(err == CAL_RESULT_OK);

    err |= calResMap((CALvoid**)&doubles, &pitch, line, 0);
    for (x = 0; x < WIDTH; ++x) {
        doubles[x] = 1.0 / (x + 1);
    }
    err |= calResUnmap(line);
    err |= calResMap((CALvoid**)&doubles, &pitch, sums, 0);
    CHECK(err == CAL_RESULT_OK && pitch >= WIDTH);
    memset(doubles, 0, (size_t)pitch * HEIGHT * sizeof(double)); /* padding and all */
    err |= calResUnmap(sums);
    err |= calResMap((CALvoid**)&doubles, &pitch, constant, 0);
    doubles[0] = 0.1;
    doubles[1] = 0.0;
    err |= calResUnmap(constant);
    CHECK(err == CAL_RESULT_OK);

    err |= calCtxSetMem(context, names[0], line_mem);
    err |= calCtxSetMem(context, names[1], sums_mem); /* read ... */
    err |= calCtxSetMem(context, names[2], sums_mem); /* ... and written */
    err |= calCtxSetMem(context, names[3], constant_mem);
    CHECK(err == CAL_RESULT_OK);

    for (done = 0; done < 3 * HEIGHT; done += CHUNK) {
        CALdomain domain = {0, 0, WIDTH, 0};
        CALevent event = 0;
        domain.y = done % HEIGHT;
        domain.height = HEIGHT - domain.y < CHUNK ? HEIGHT - domain.y : CHUNK;
        done -= CHUNK - domain.height;
        err |= calCtxRunProgram(&event, context, func, &domain);
        err |= wait_for(context, &event, 1, 0);
        CHECK(err == CAL_RESULT_OK);
    }

    err |= calResMap((CALvoid**)&doubles, &pitch, sums, 0);
    for (y = 0; y < HEIGHT; ++y) {
        for (x = 0; x < WIDTH; ++x) {
            double product = 1.0 / (x + 1) * 0.1, sum = 0.0;
            int pass;
            for (pass = 0; pass < 3; ++pass) {
                sum = product + sum;
            }
            CHECK(doubles[y * pitch + x] == sum);
        }
    }
    HOLDS(milkyway_same_mem_read_and_written);
    HOLDS(milkyway_doubles_in_integer_formats);
    HOLDS(milkyway_chunks_by_domain_offsets);
    HOLDS(milkyway_pitch_times_height_zeroed_through_the_map);
    err |= calResUnmap(sums);

    err |= calCtxReleaseMem(context, line_mem);
    err |= calResFree(line);
    err |= calCtxReleaseMem(context, sums_mem);
    err |= calResFree(sums);
    err |= calCtxReleaseMem(context, constant_mem);
    err |= calResFree(constant);
    err |= calModuleUnload(context, module);
    err |= calImageFree(image);
    CHECK(err == CAL_RESULT_OK);
    HOLDS(milkyway_calImageFree_on_a_linked_image);
    err |= calCtxDestroy(context);
    err |= calDeviceClose(device);
    err |= calShutdown();
    CHECK(err == CAL_RESULT_OK);
    HOLDS(milkyway_results_ored_together);
    return 0;
}
