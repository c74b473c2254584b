/*
 * As the Brook+ runtime works, where brook_exit_order.cpp does not show it: streams of 8 and 16 bits and of doubles,
 * its host buffers, pinned streams with the size of the data, events that helper threads poll, images freed before
 * their module is used.
 */
#include "check.h"

#include <pthread.h>

/* o0 = i0 + 1 in integers */
static const char* add_one =
    PS "dcl_output_generic o0\n"
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(uint)_fmty(uint)_fmtz(uint)_fmtw(uint)\n"
    "dcl_literal l0, 1, 1, 1, 1\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "iadd r0, r0, l0\n"
    "mov o0, r0\n"
    "end\n";

static const char* add_doubles =
    PS "dcl_output_generic o0\n"
    "dcl_resource_id(0)_type(2d,unnorm)_fmtx(unknown)_fmty(unknown)_fmtz(unknown)_fmtw(unknown)\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "dadd r1.xy, r0.xy, r0.xy\n"
    "mov o0.xy__, r1.xyxx\n"
    "end\n";

static const char* add_floats =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, r0\n"
    "end\n";

static CALdevice  device;
static CALcontext context;
static CALevent   polled;

static const struct {
    CALformat format;
    CALuint   bytes, components;
    int       is_signed;
} narrow[] = {
    {CAL_FORMAT_SIGNED_INT8_1, 1, 1, 1},    {CAL_FORMAT_SIGNED_INT8_2, 2, 2, 1},
    {CAL_FORMAT_SIGNED_INT8_4, 4, 4, 1},    {CAL_FORMAT_UNSIGNED_INT8_1, 1, 1, 0},
    {CAL_FORMAT_UNSIGNED_INT8_2, 2, 2, 0},  {CAL_FORMAT_UNSIGNED_INT8_4, 4, 4, 0},
    {CAL_FORMAT_SIGNED_INT16_1, 2, 1, 1},   {CAL_FORMAT_SIGNED_INT16_2, 4, 2, 1},
    {CAL_FORMAT_SIGNED_INT16_4, 8, 4, 1},   {CAL_FORMAT_UNSIGNED_INT16_1, 2, 1, 0},
    {CAL_FORMAT_UNSIGNED_INT16_2, 4, 2, 0}, {CAL_FORMAT_UNSIGNED_INT16_4, 8, 4, 0},
};

/* Values whose sum with 1 stays inside the format, so that nothing depends on what happens outside it. */
static void narrow_streams(void)
{
    enum { WIDTH = 64, HEIGHT = 3 };
    CALmodule module = check_module(context, add_one);
    CALfunc func = check_entry(context, module);
    size_t f, i;
    for (f = 0; f < sizeof narrow / sizeof narrow[0]; ++f) {
        CALuint each = narrow[f].bytes / narrow[f].components;
        size_t count = (size_t)WIDTH * HEIGHT * narrow[f].components;
        CALresource in = 0, out = 0;
        CALmem mems[2];
        unsigned char bytes[64 * 3 * 8], results[64 * 3 * 8];
        int limit = each == 1 ? 100 : 30000, value, got;
        for (i = 0; i < count; ++i) {
            value = (int)((i * 37) % (size_t)limit);
            if (narrow[f].is_signed && i % 2) {
                value = -value - 1;
            }
            if (each == 1) {
                bytes[i] = (unsigned char)value;
            } else {
                short s = (short)value;
                memcpy(bytes + 2 * i, &s, 2);
            }
        }
        OK(calResAllocRemote2D(&in, &device, 1, WIDTH, HEIGHT, narrow[f].format, CAL_RESALLOC_CACHEABLE));
        OK(calResAllocLocal2D(&out, device, WIDTH, HEIGHT, narrow[f].format, 0));
        check_write(in, bytes, narrow[f].bytes, WIDTH, HEIGHT);
        mems[0] = check_bind(context, module, "i0", in);
        mems[1] = check_bind(context, module, "o0", out);
        check_wait(context, check_domain(context, func, WIDTH, HEIGHT));
        check_read(out, results, narrow[f].bytes, WIDTH, HEIGHT);
        for (i = 0; i < count; ++i) {
            if (each == 1) {
                value = narrow[f].is_signed ? (signed char)bytes[i] : bytes[i];
                got = narrow[f].is_signed ? (signed char)results[i] : results[i];
            } else {
                short before, after;
                memcpy(&before, bytes + 2 * i, 2);
                memcpy(&after, results + 2 * i, 2);
                value = narrow[f].is_signed ? before : (unsigned short)before;
                got = narrow[f].is_signed ? after : (unsigned short)after;
            }
            CHECK(got == value + 1);
        }
        OK(calCtxReleaseMem(context, mems[0]));
        OK(calCtxReleaseMem(context, mems[1]));
        OK(calResFree(in));
        OK(calResFree(out));
    }
    HOLDS(brook_streams_of_8_and_16_bits);
    HOLDS(brook_cacheable_host_buffers);
    OK(calModuleUnload(context, module));
}

/* Only where the device has doubles, as Brook+ asks. */
static void double_streams(void)
{
    CALdeviceattribs attribs;
    attribs.struct_size = sizeof attribs;
    OK(calDeviceGetAttribs(&attribs, 0));
    if (attribs.doublePrecision) {
        CALmodule module = check_module(context, add_doubles);
        CALresource in = 0, out = 0;
        double numbers[64], results[64];
        int i;
        for (i = 0; i < 64; ++i) {
            numbers[i] = 1.0 / (i + 3);
        }
        OK(calResAllocLocal2D(&in, device, 64, 1, CAL_FORMAT_DOUBLE_1, 0));
        OK(calResAllocLocal2D(&out, device, 64, 1, CAL_FORMAT_DOUBLE_1, 0));
        check_write(in, numbers, 8, 64, 1);
        check_bind(context, module, "i0", in);
        check_bind(context, module, "o0", out);
        check_wait(context, check_domain(context, check_entry(context, module), 64, 1));
        check_read(out, results, 8, 64, 1);
        for (i = 0; i < 64; ++i) {
            CHECK(results[i] == numbers[i] * 2.0);
        }
        OK(calModuleUnload(context, module));
        OK(calResFree(in));
        OK(calResFree(out));
    }
    HOLDS(brook_double_streams_where_there_are_doubles);
}

static void* poll_it(void* ignored)
{
    (void)ignored;
    while (calCtxIsEventDone(context, polled)) { /* any code but OK is "not yet" to Brook+ */
    }
    return NULL;
}

/* The stream is the program's own memory; a helper thread polls its event while main submits on. */
static void pinned_streams(void)
{
    static float stream[64 * 64] __attribute__((aligned(256)));
    CALmodule module;
    CALobject object = NULL;
    CALimage image = NULL;
    CALdeviceinfo info;
    CALresource pinned = 0, out = 0;
    CALextproc proc = NULL;
    PFNCALRESCREATE2D create = NULL;
    float results[64 * 64];
    int i, pass;

    OK(calDeviceGetInfo(&info, 0));
    OK(calclCompile(&object, CAL_LANGUAGE_IL, add_floats, info.target));
    OK(calclLink(&image, &object, 1));
    OK(calclFreeObject(object));
    OK(calModuleLoad(&module, context, image));
    OK(calclFreeImage(image)); /* before anything is asked of the module */

    OK(calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate2D"));
    OK(calExtSupported(CAL_EXT_RES_CREATE));
    memcpy(&create, &proc, sizeof proc);
    OK(create(&pinned, device, stream, 64, 64, CAL_FORMAT_FLOAT_1, 64 * 64 * 4, 0));
    OK(calResAllocLocal2D(&out, device, 64, 64, CAL_FORMAT_FLOAT_1, CAL_RESALLOC_GLOBAL_BUFFER));
    check_bind(context, module, "i0", pinned);
    check_bind(context, module, "o0", out);
    HOLDS(brook_image_freed_before_the_module_is_used);
    for (pass = 0; pass < 10; ++pass) {
        pthread_t thread;
        for (i = 0; i < 64 * 64; ++i) {
            stream[i] = (float)(i + pass);
        }
        polled = check_domain(context, check_entry(context, module), 64, 64);
        CHECK(pthread_create(&thread, NULL, poll_it, NULL) == 0);
        (void)check_domain(context, check_entry(context, module), 64, 64);
        OK(calCtxFlush(context));
        CHECK(pthread_join(thread, NULL) == 0);
        check_read(out, results, 4, 64, 64);
        for (i = 0; i < 64 * 64; ++i) {
            CHECK(results[i] == 2.0f * (float)(i + pass));
        }
    }
    HOLDS(brook_event_polled_from_a_helper_thread);
    HOLDS(brook_pinned_streams);
    OK(calModuleUnload(context, module));
    OK(calResFree(pinned));
    OK(calResFree(out));
}

int main(void)
{
    check_open(&device, &context);
    narrow_streams();
    double_streams();
    pinned_streams();
    check_close(device, context);
    return 0;
}
