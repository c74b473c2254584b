/*
 * As the HetPas units do: kernels compiled with no runtime at all, images written and read again, pinned memory of size
 * 0 ("as the shape says") and of rows * 16 bytes for g[], uav0 and cb0, written before the launch and read after it
 * through the program's own pointer, never mapped; ALREADY from calInit is no error, and then no shutdown.
 */
#include "check.h"

static const char* with_uav =
    CS(64)
    "dcl_raw_uav_id(0)\n"
    "dcl_cb cb0[2]\n"
    "dcl_literal l0, 4, 0, 0, 0\n"
    "umul r0.x, vAbsTIdFlat.x, l0.x\n"
    "uav_raw_load_id(0) r1.x, r0.x\n"
    "umul r1.x, r1.x, cb0[0].x\n"
    "iadd r1.x, r1.x, cb0[1].w\n"
    "uav_raw_store_id(0) mem0.x___, r0.x, r1.x\n"
    "end;\n";

static const char* with_global =
    CS(64)
    "dcl_cb cb0[2]\r\n"
    "mov r0, g[vAbsTIdFlat.x]\r\n"
    "iadd r0, r0, cb0[1].wwww\r\n"
    "mov g[vAbsTIdFlat.x], r0\r\n"
    "end\r\n";

static int disassembled;

static void on_line(const char* text)
{
    CHECK(text[0] != '\0');
    ++disassembled;
}

static CALuint memory[4096] __attribute__((aligned(4096)));
static CALuint rows[1024] __attribute__((aligned(4096)));

int main(void)
{
    CALimage compiled, read = NULL;
    CALuint size = 0, i, round;
    unsigned char* bytes;
    CALdevice device;
    CALcontext context;
    CALdeviceinfo info;
    CALmodule module = 0, second;
    CALresource uav = 0, constants = 0;
    PFNCALRESCREATE1D create = NULL;
    CALextproc proc = NULL;

    /* Before calInit. */
    compiled = check_image(with_uav, CAL_TARGET_CYPRESS);
    calclDisassembleImage(compiled, on_line);
    CHECK(disassembled > 0);
    OK(calclFreeImage(compiled));
    HOLDS(hetpas_compiles_without_a_runtime);

    check_open(&device, &context);
    EXPECT(CAL_RESULT_ALREADY, calInit());
    HOLDS(hetpas_already_is_no_error);
    OK(calDeviceGetInfo(&info, 0));
    compiled = check_image(with_uav, info.target);
    OK(calclImageGetSize(&size, compiled));
    bytes = (unsigned char*)malloc(size);
    CHECK(bytes != NULL);
    OK(calclImageWrite(bytes, size, compiled));
    OK(calImageFree(compiled));
    OK(calImageRead(&read, bytes, size));
    memset(bytes, 0, size);
    OK(calModuleLoad(&module, context, read));
    free(bytes);
    OK(calclFreeImage(read));
    HOLDS(hetpas_image_written_and_read_back);

    OK(calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate1D"));
    memcpy(&create, &proc, sizeof proc);
    OK(create(&uav, device, memory, 4096, CAL_FORMAT_UNORM_INT32_1, 0, 0));
    OK(create(&constants, device, rows, 64, CAL_FORMAT_UNORM_INT32_4, 64 * 16, 0));
    check_bind(context, module, "uav0", uav);
    check_bind(context, module, "cb0", constants);
    for (i = 0; i < 4096; ++i) {
        memory[i] = i;
    }
    for (round = 1; round <= 3; ++round) {
        rows[0] = 3;
        rows[7] = round;
        check_wait(context, check_grid(context, check_entry(context, module), 4096 / 64, 64));
    }
    for (i = 0; i < 4096; ++i) {
        CHECK(memory[i] == ((i * 3 + 1) * 3 + 2) * 3 + 3);
    }
    HOLDS(hetpas_pinned_uav_and_constants);
    HOLDS(hetpas_pinned_size_0);

    second = check_module(context, with_global);
    check_bind(context, second, "g[]", uav);
    check_bind(context, second, "cb0", constants);
    rows[7] = 100;
    check_wait(context, check_grid(context, check_entry(context, second), 1024 / 64, 64));
    for (i = 0; i < 4096; ++i) {
        CHECK(memory[i] == ((i * 3 + 1) * 3 + 2) * 3 + 3 + 100);
    }
    HOLDS(hetpas_pinned_global_buffer);
    OK(calResFree(uav));
    OK(calResFree(constants));
    check_close(device, context);
    return 0;
}
