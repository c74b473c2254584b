/*
 * As CorePy does: a module loaded and unloaded around each launch, a new context per launch destroyed with its mems
 * alive, buffers mapped during copies, writes past the shape within the page, unmapping what is not mapped, freeing
 * what is mapped, g[] on a plain remote resource, a copy started by one event query; no shutdown.
 */
#include "check.h"

static const char* scatter =
    PS "dcl_literal l0, 16, 0, 0, 0\n"
    "ftoi r0, vWinCoord0\n"
    "imul r1.x, r0.y, l0.x\n"
    "iadd r1.x, r1.x, r0.x\n"
    "mov g[r1.x], r0\n"
    "end\n";

static const char* copy_kernel =
    "il_ps_3_0\n"
    "dcl_input_interp(linear) v0.xy__\n"
    "dcl_output_usage(pos) o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) o0, v0.xyxx\n"
    "end\n";

int main(void)
{
    CALdevice device = 0;
    CALdeviceinfo info;
    CALuint count = 0, pitch = 0, pass, i;
    CALresource remote = 0, local = 0, back = 0, mapped = 0;
    CALuint* words = NULL;
    CALvoid* address = NULL;

    OK(calInit());
    OK(calDeviceGetCount(&count));
    OK(calDeviceGetInfo(&info, 0));
    OK(calDeviceOpen(&device, 0));
    CHECK(calGetErrorString() != NULL); /* with nothing to tell */
    HOLDS(corepy_error_text_after_success);

    OK(calResAllocRemote1D(&remote, &device, 1, 16, CAL_FORMAT_UNSIGNED_INT32_4, 0));
    EXPECT(CAL_RESULT_ERROR, calResUnmap(remote));
    HOLDS(corepy_unmapping_what_is_not_mapped);

    /* 1088 bytes through the map of 16 elements of 16 bytes. */
    OK(calResMap((CALvoid**)&words, &pitch, remote, 0));
    memset(words, 0x5A, 1088);
    CHECK(((unsigned char*)words)[1087] == 0x5A);
    OK(calResUnmap(remote));
    HOLDS(corepy_writes_past_the_shape_within_the_page);

    /* A context and a module for each launch. */
    for (pass = 0; pass < 5; ++pass) {
        CALcontext context = 0;
        CALimage image = check_image(scatter, info.target);
        CALmodule module = 0;
        CALevent event;
        OK(calCtxCreate(&context, device));
        OK(calModuleLoad(&module, context, image));
        if (pass > 0) {
            OK(calResUnmap(remote)); /* mapped since the launch before */
        }
        check_bind(context, module, "g[]", remote); /* its mem is never released */
        event = check_domain(context, check_entry(context, module), 16, 1);
        CHECK(calCtxIsEventDone(context, event) != CAL_RESULT_BAD_HANDLE);
        check_wait(context, event);
        OK(calModuleUnload(context, module));
        OK(calCtxDestroy(context));
        OK(calclFreeImage(image));
        OK(calResMap((CALvoid**)&words, &pitch, remote, 0));
        for (i = 0; i < 16; ++i) {
            CHECK(words[4 * i] == i && words[4 * i + 1] == 0);
        }
        memset(words, 0, 16 * 16);
    }
    OK(calResUnmap(remote));
    HOLDS(corepy_buffers_stay_mapped_between_launches);
    HOLDS(corepy_module_and_context_for_each_launch);
    HOLDS(corepy_context_destroyed_with_live_mems);
    HOLDS(corepy_global_buffer_on_a_plain_remote_resource);

    /* Copies while the remote buffers stay mapped. */
    {
        CALcontext context = 0;
        CALmem remote_mem = 0, local_mem = 0, back_mem = 0;
        CALevent event = 0;
        CALuint* result = NULL;
        CALuint back_pitch = 0;
        OK(calResAllocLocal1D(&local, device, 16, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        OK(calResAllocRemote1D(&back, &device, 1, 16, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        OK(calCtxCreate(&context, device));
        OK(calResMap((CALvoid**)&words, &pitch, remote, 0));
        OK(calResMap((CALvoid**)&result, &back_pitch, back, 0));
        OK(calCtxGetMem(&remote_mem, context, remote));
        OK(calCtxGetMem(&local_mem, context, local));
        OK(calCtxGetMem(&back_mem, context, back));
        for (pass = 0; pass < 3; ++pass) {
            for (i = 0; i < 64; ++i) {
                words[i] = i * 7 + pass;
            }
            OK(calMemCopy(&event, context, remote_mem, local_mem, 0));
            check_wait(context, event);
            OK(calMemCopy(&event, context, local_mem, back_mem, 0));
            check_wait(context, event);
            for (i = 0; i < 64; ++i) {
                CHECK(result[i] == i * 7 + pass);
            }
        }
        HOLDS(corepy_mapped_remote_buffers_in_copies);
        HOLDS(corepy_one_query_starts_a_copy);
        OK(calResUnmap(remote));
        OK(calResUnmap(back));
        OK(calCtxDestroy(context));
    }

    /* Position as v0 of a generic interpolation, usage pos for a colour; a name that no text declares fails. */
    {
        CALcontext context = 0;
        CALmodule module;
        CALname name = 7;
        CALresource in = 0, out = 0;
        float numbers[8 * 8], copy[8 * 8];
        OK(calCtxCreate(&context, device));
        module = check_module(context, copy_kernel);
        OK(calResAllocLocal2D(&in, device, 8, 8, CAL_FORMAT_FLOAT32_1, 0));
        OK(calResAllocRemote2D(&out, &device, 1, 8, 8, CAL_FORMAT_FLOAT32_1, 0));
        for (i = 0; i < 64; ++i) {
            numbers[i] = (float)i * 1.5f;
        }
        check_write(in, numbers, 4, 8, 8);
        check_bind(context, module, "i0", in);
        check_bind(context, module, "o0", out);
        CHECK(calModuleGetName(&name, context, module, "i1") != CAL_RESULT_OK && name == 0);
        check_wait(context, check_domain(context, check_entry(context, module), 8, 8));
        check_read(out, copy, 4, 8, 8);
        CHECK(memcmp(numbers, copy, sizeof copy) == 0);
        HOLDS(corepy_names_by_any_string);
    }

    /* Freed while mapped. */
    OK(calResAllocLocal2D(&mapped, device, 64, 64, CAL_FORMAT_FLOAT32_4, 0));
    OK(calResMap(&address, &pitch, mapped, 0));
    (void)calResFree(mapped);
    HOLDS(corepy_free_of_a_mapped_local_resource);
    (void)calResFree(local);
    (void)calResFree(remote);
    return 0;
}
