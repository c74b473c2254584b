/*
 * As CALDGEMM does: version before init, remote buffers mapped for good and used for DMA, widths such as 1025, eight
 * outputs straight to cached remote memory, a probe with a mapped output and an empty domain, the entry asked for
 * at each launch, one event slot for several operations, calls renamed by macros.
 */
#include "check.h"

#include "cal_private_ext.h"

#include <stdint.h>

static CALevent last_event;
static int      launches;

static CALresult counted_run(CALevent* event, CALcontext ctx, CALfunc func, const CALdomain* domain)
{
    ++launches;
    return calCtxRunProgram(event, ctx, func, domain);
}
#define calCtxRunProgram counted_run

enum { WIDTH = 1025, HEIGHT = 16 };

#define OUT(N) "dcl_output_generic o" #N "\n"

/* oN = i0 + i1 * cb0[0].x + N * 0.25 */
static const char* kernel =
    PS OUT(0) OUT(1) OUT(2) OUT(3) OUT(4) OUT(5) OUT(6) OUT(7) INPUT(0) INPUT(1)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 0.0, 0.25, 0.5, 0.75\n"
    "dcl_literal l1, 1.0, 1.25, 1.5, 1.75\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx\n"
    "mad r1, r1, cb0[0].x, r0\n"
    "add o0, r1, l0.x\nadd o1, r1, l0.y\nadd o2, r1, l0.z\nadd o3, r1, l0.w\n"
    "add o4, r1, l1.x\nadd o5, r1, l1.y\nadd o6, r1, l1.z\nadd o7, r1, l1.w\n"
    "end\n";

/* two doubles per element: o0 = i0 * i1 + i0, fused */
static const char* dgemm =
    PS OUT(0) INPUT(0) INPUT(1)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx\n"
    "dmad r2.xy, r0.xy, r1.xy, r0.xy\n"
    "dmad r2.zw, r0.zw, r1.zw, r0.zw\n"
    "mov o0, r2\n"
    "end\n";

static char   listing[1 << 16];
static size_t listed;

static void log_line(const char* text)
{
    size_t length = strlen(text);
    CHECK(length > 0 && text[length - 1] == '\n');
    if (listed + length < sizeof listing) {
        memcpy(listing + listed, text, length + 1);
        listed += length;
    }
}

static void spin(CALcontext context)
{
    CALresult result;
    do {
        result = calCtxIsEventDone(context, last_event);
        CHECK(result != CAL_RESULT_ERROR);
    } while (result == CAL_RESULT_PENDING);
}

int main(void)
{
    CALuint major = 0, minor = 0, imp = 0, pitch = 0, x, y, i;
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource staging[2], local[2], output[8], constants = 0;
    CALmem staging_mem[2], local_mem[2];
    float* mapped[2];
    CALdomain domain = {0, 0, WIDTH, HEIGHT}, empty = {0, 0, 0, 0};
    CALextproc proc = NULL;
    PFNCALCTXWAITFOREVENTS wait_for = NULL;
    char symbol[8];
    float constant[4] = {3.0f, 0, 0, 0};

    (void)calGetVersion(&major, &minor, &imp);
    CHECK(major == 1 && (minor > 3 || (minor == 3 && imp >= 185)) && minor == 4 && imp > 900);
    HOLDS(caldgemm_version_before_init);
    HOLDS(caldgemm_version_thresholds);
    check_open(&device, &context);
    OK(calExtGetProc(&proc, (CALextid)CAL_PRIVATE_EXT_SYNC_OBJECT, "calCtxWaitForEvents"));
    memcpy(&wait_for, &proc, sizeof proc);
    HOLDS(caldgemm_extension_without_asking_for_support);
    module = check_module(context, kernel);

    OK(calResAllocRemote1D(&constants, &device, 1, 1, CAL_FORMAT_FLOAT_4, 0));
    check_write(constants, constant, 16, 1, 1);
    check_bind(context, module, "cb0", constants);
    for (i = 0; i < 2; ++i) {
        OK(calResAllocRemote2D(&staging[i], &device, 1, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, 0));
        OK(calResAllocLocal2D(&local[i], device, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, 0));
        OK(calCtxGetMem(&staging_mem[i], context, staging[i]));
        OK(calResMap((CALvoid**)&mapped[i], &pitch, staging[i], 0)); /* and stays mapped */
        CHECK(((uintptr_t)mapped[i] & 31) == 0); /* for streaming stores */
        sprintf(symbol, "i%u", i);
        local_mem[i] = check_bind(context, module, symbol, local[i]);
    }
    for (i = 0; i < 8; ++i) {
        OK(calResAllocRemote2D(&output[i], &device, 1, WIDTH, HEIGHT, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_CACHEABLE));
        sprintf(symbol, "o%u", i);
        check_bind(context, module, symbol, output[i]);
    }

    /* The probe: may be refused, must not crash. */
    {
        CALvoid* address;
        CALuint ignored;
        OK(calResMap(&address, &ignored, output[0], 0));
        if (calCtxRunProgram(&last_event, context, check_entry(context, module), &empty) == CAL_RESULT_OK) {
            spin(context);
        }
        OK(calResUnmap(output[0]));
        HOLDS(caldgemm_probe_with_a_mapped_output_and_an_empty_domain);
    }

    for (x = 0; x < 3; ++x) { /* rounds */
        for (i = 0; i < 2; ++i) {
            for (y = 0; y < HEIGHT * pitch * 4; ++y) {
                mapped[i][y] = (float)((y + i + x) % 1000);
            }
            OK(calMemCopy(&last_event, context, staging_mem[i], local_mem[i], 0));
            OK(calCtxFlush(context));
        }
        OK(calCtxRunProgram(&last_event, context, check_entry(context, module), &domain));
        OK(calCtxFlush(context));
        spin(context); /* the last event stands for the copies as well */
        if (x == 1) {
            OK(wait_for(context, &last_event, 1, CAL_WAIT_POLLING));
        }
    }
    for (i = 0; i < 8; ++i) {
        float* result;
        CALuint out_pitch;
        OK(calResMap((CALvoid**)&result, &out_pitch, output[i], 0));
        for (y = 0; y < HEIGHT; ++y) {
            for (x = 0; x < WIDTH * 4; ++x) {
                float a = mapped[0][y * pitch * 4 + x], b = mapped[1][y * pitch * 4 + x];
                CHECK(result[y * out_pitch * 4 + x] == b * 3.0f + a + (float)i * 0.25f);
            }
        }
        OK(calResUnmap(output[i]));
    }
    CHECK(launches >= 3);
    HOLDS(caldgemm_mapped_remote_buffers_in_dma);
    HOLDS(caldgemm_aligned_map_pointers);
    HOLDS(caldgemm_width_1025);
    HOLDS(caldgemm_eight_outputs_to_cached_remote_memory);
    HOLDS(caldgemm_last_event_stands_for_all);
    HOLDS(caldgemm_entry_asked_for_at_each_launch);
    HOLDS(caldgemm_wait_for_events_polling);
    HOLDS(caldgemm_calls_renamed_by_macros);

    /* Doubles, two to an element of integers. */
    {
        CALmodule doubles = check_module(context, dgemm);
        CALresource in[2], out;
        double a[2 * 64], b[2 * 64], c[2 * 64];
        for (i = 0; i < 128; ++i) {
            a[i] = 1.0 + i * 0x1p-20; /* short enough for a * b to be exact in 64 bits */
            b[i] = 1.0 + i * 0x1p-40;
        }
        OK(calResAllocLocal2D(&in[0], device, 64, 1, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        OK(calResAllocLocal2D(&in[1], device, 64, 1, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        OK(calResAllocLocal2D(&out, device, 64, 1, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        check_write(in[0], a, 16, 64, 1);
        check_write(in[1], b, 16, 64, 1);
        check_bind(context, doubles, "i0", in[0]);
        check_bind(context, doubles, "i1", in[1]);
        check_bind(context, doubles, "o0", out);
        check_wait(context, check_domain(context, check_entry(context, doubles), 64, 1));
        check_read(out, c, 16, 64, 1);
        for (i = 0; i < 128; ++i) {
            /* x87 has 64 bits of mantissa: with 53-bit factors near 1 its sum tells one rounding from two. */
            CHECK(c[i] == (double)((long double)a[i] * b[i] + a[i]));
        }
        HOLDS(caldgemm_doubles_two_to_an_integer_element);
    }

    /* The listing. */
    {
        CALdeviceinfo info;
        CALimage image;
        OK(calDeviceGetInfo(&info, 0));
        image = check_image(kernel, info.target);
        calclDisassembleImage(image, log_line);
        CHECK(listed > 0 && strstr(listing, "mad") != NULL);
        HOLDS(caldgemm_listing_lines_end_with_newline);
        OK(calclFreeImage(image));
    }

    for (i = 0; i < 2; ++i) {
        OK(calResUnmap(staging[i]));
        OK(calCtxReleaseMem(context, staging_mem[i]));
        OK(calCtxReleaseMem(context, local_mem[i]));
        OK(calResFree(staging[i]));
        OK(calResFree(local[i]));
    }
    OK(calModuleUnload(context, module));
    check_close(device, context);
    return 0;
}
