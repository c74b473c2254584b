/*
 * The pitch: the width rounded up to 64 elements, for one and two dimensions and every format. What lies between width
 * and pitch is memory of the resource: maps, g[], UAVs and copies reach it; fetches and outputs end at the width.
 */
#include "check.h"

enum { WIDTH = 100, PITCH = 128, HEIGHT = 3, ALL = PITCH * HEIGHT };

/* Thread i adds i + 1 to element i of everything that it can reach, four words to one of g[]. */
static const char* everywhere =
    CS(64) "dcl_raw_uav_id(0)\ndcl_uav_id(1)_type(1d)_fmtx(uint)\ndcl_uav_id(2)_type(2d)_fmtx(uint)\n"
    "dcl_literal l0, 1, 2, 128, 0\n"
    "iadd r0.x, vAbsTidFlat.x, l0.x\n"
    "mov r1, g[vAbsTidFlat.x]\n"
    "iadd g[vAbsTidFlat.x], r1, r0.xxxx\n"
    "ishl r2.x, vAbsTidFlat.x, l0.y\n"
    "uav_raw_load_id(0) r1.x, r2.x\n"
    "iadd r1.x, r1.x, r0.x\n"
    "uav_raw_store_id(0) mem0.x, r2.x, r1.x\n"
    "uav_load_id(1) r1, vAbsTidFlat.x\n"
    "iadd r1, r1.x, r0.x\n"
    "uav_store_id(1) vAbsTidFlat.x, r1\n"
    "umod r2.x, vAbsTidFlat.x, l0.z\n"
    "udiv r2.y, vAbsTidFlat.x, l0.z\n"
    "uav_load_id(2) r1, r2.xyxx\n"
    "iadd r1, r1.x, r0.x\n"
    "uav_store_id(2) r2.xyxx, r1\n"
    "end\n";

/* Both ways to read element (x, y), from a line and from rows. */
static const char* fetches =
    PS "dcl_output_generic o0\n"
    "dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n" INPUT(1)
    "ftoi r0, vWinCoord0\n"
    "sample_resource(0)_sampler(0) r1, vWinCoord0\n"
    "load_resource(0) r2, r0\n"
    "sample_resource(1)_sampler(0) r3, vWinCoord0\n"
    "load_resource(1) r4, r0\n"
    "mov o0.x, r1.x\nmov o0._y, r2.x\nmov o0.__z, r3.x\nmov o0.___w, r4.x\n"
    "end\n";

static CALdevice  device;
static CALcontext context;

static CALuint* map(CALresource resource, CALuint wanted)
{
    CALvoid* address = NULL;
    CALuint pitch = 0;
    OK(calResMap(&address, &pitch, resource, 0));
    CHECK(address != NULL);
    CHECK(pitch == wanted);
    return (CALuint*)address;
}

static CALresource line(CALformat format)
{
    CALresource resource = 0;
    OK(calResAllocLocal1D(&resource, device, WIDTH, format, 0));
    return resource;
}

static CALresource rows(CALuint width, CALuint height, CALformat format)
{
    CALresource resource = 0;
    OK(calResAllocLocal2D(&resource, device, width, height, format, 0));
    return resource;
}

/* Element i becomes start + i, padding and all. */
static void number(CALresource resource, CALuint elements, CALuint words, CALuint start)
{
    CALuint* address = map(resource, PITCH);
    CALuint i;
    for (i = 0; i < elements * words; ++i) {
        address[i] = start + i / words;
    }
    OK(calResUnmap(resource));
}

static void multiples_of_64(void)
{
    static const CALuint widths[] = {1, 16, 63, 64, 65, 100, 128, 1025};
    static const CALformat formats[] = {CAL_FORMAT_UNSIGNED_INT8_1, CAL_FORMAT_SIGNED_INT16_2, CAL_FORMAT_FLOAT_1,
                                        CAL_FORMAT_FLOAT_2,         CAL_FORMAT_FLOAT_4,        CAL_FORMAT_DOUBLE_2};
    CALdeviceattribs attribs;
    size_t w, f, kind;
    memset(&attribs, 0, sizeof attribs);
    attribs.struct_size = sizeof attribs;
    OK(calDeviceGetAttribs(&attribs, 0));
    CHECK(attribs.pitch_alignment == 64);
    for (w = 0; w < sizeof widths / sizeof *widths; ++w) {
        for (f = 0; f < sizeof formats / sizeof *formats; ++f) {
            for (kind = 0; kind < 4; ++kind) {
                CALresource resource = 0;
                switch (kind) {
                case 0: OK(calResAllocLocal1D(&resource, device, widths[w], formats[f], 0)); break;
                case 1: OK(calResAllocRemote1D(&resource, &device, 1, widths[w], formats[f], 0)); break;
                case 2: OK(calResAllocLocal2D(&resource, device, widths[w], 5, formats[f], 0)); break;
                default: OK(calResAllocRemote2D(&resource, &device, 1, widths[w], 5, formats[f], 0)); break;
                }
                map(resource, (widths[w] + 63) / 64 * 64);
                OK(calResUnmap(resource));
                OK(calResFree(resource));
            }
        }
    }
    HOLDS(pitch_is_the_width_rounded_up_to_64);
}

/* Rows are converted from packed ones by whole lines of 64 bytes: the last of a row ends in the padding. */
static void rows_of_whole_lines(void)
{
    enum { COLUMNS = 1025, ROWS = 4, LINE = 64 / 4 };
    static float packed[ROWS * COLUMNS + LINE];
    CALresource resource = rows(COLUMNS, ROWS, CAL_FORMAT_FLOAT_1);
    float* address = (float*)map(resource, 1088);
    CALuint x, y;
    for (x = 0; x < ROWS * COLUMNS; ++x) {
        packed[x] = (float)x;
    }
    for (y = ROWS; y-- > 0;) { /* upwards a row written last would hide what it lost */
        for (x = 0; x < COLUMNS; x += LINE) {
            memcpy(address + y * 1088 + x, packed + y * COLUMNS + x, 64);
        }
    }
    for (y = 0; y < ROWS; ++y) {
        for (x = 0; x < COLUMNS; ++x) {
            CHECK(address[y * 1088 + x] == (float)(y * COLUMNS + x));
        }
    }
    OK(calResUnmap(resource));
    OK(calResFree(resource));
    HOLDS(caldgemm_rows_end_with_whole_lines);
}

/* The shape and nothing else says where row y begins; all of pitch * height is written and read in one go. */
static void pitch_by_heart(void)
{
    CALresource resource = rows(80, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_4);
    CALuint* address = map(resource, PITCH);
    CALuint i, alignment = 64, pitch = (80 + alignment - 1) / alignment * alignment;
    for (i = 0; i < pitch * HEIGHT * 4; ++i) {
        address[i] = i;
    }
    OK(calResUnmap(resource));
    address = map(resource, pitch);
    for (i = 0; i < pitch * HEIGHT * 4; ++i) {
        CHECK(address[i] == i);
    }
    OK(calResUnmap(resource));
    OK(calResFree(resource));
    HOLDS(corepy_pitch_by_heart);
}

static void reached_by_kernels(void)
{
    static const char* names[4] = {"g[]", "uav0", "uav1", "uav2"};
    CALmodule module = check_module(context, everywhere);
    CALresource resources[4];
    CALmem mems[4];
    CALuint i, k;
    resources[0] = rows(WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_4);
    resources[1] = rows(WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1);
    resources[2] = line(CAL_FORMAT_UNSIGNED_INT32_1);
    resources[3] = rows(WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1);
    for (i = 0; i < 4; ++i) {
        number(resources[i], i == 2 ? PITCH : ALL, i == 0 ? 4 : 1, 7000);
        mems[i] = check_bind(context, module, names[i], resources[i]);
    }
    check_wait(context, check_grid(context, check_entry(context, module), ALL / 64, 64));
    for (i = 0; i < 4; ++i) {
        CALuint* address = map(resources[i], PITCH);
        CALuint words = i == 0 ? 4 : 1;
        for (k = 0; k < (i == 2 ? PITCH : ALL) * words; ++k) {
            if (address[k] != 7001 + 2 * (k / words)) {
                fprintf(stderr, "%s, word %u: %u\n", names[i], k, address[k]);
                exit(1);
            }
        }
        OK(calResUnmap(resources[i]));
        OK(calCtxReleaseMem(context, mems[i]));
        OK(calResFree(resources[i]));
    }
    OK(calModuleUnload(context, module));
    HOLDS(global_buffer_and_uavs_reach_the_padding);
}

static void not_fetched(void)
{
    static float got[HEIGHT + 1][PITCH][4];
    CALmodule module = check_module(context, fetches);
    CALresource inputs[2], output = rows(PITCH, HEIGHT + 1, CAL_FORMAT_FLOAT_4);
    CALuint i, x, y;
    inputs[0] = line(CAL_FORMAT_FLOAT_1);
    inputs[1] = rows(WIDTH, HEIGHT, CAL_FORMAT_FLOAT_1);
    for (i = 0; i < 2; ++i) {
        float* address = (float*)map(inputs[i], PITCH);
        for (x = 0; x < PITCH * (i == 0 ? 1 : HEIGHT); ++x) {
            address[x] = (float)(x + 1);
        }
        OK(calResUnmap(inputs[i]));
    }
    check_bind(context, module, "i0", inputs[0]);
    check_bind(context, module, "i1", inputs[1]);
    check_bind(context, module, "o0", output);
    check_wait(context, check_domain(context, check_entry(context, module), PITCH, HEIGHT + 1));
    check_read(output, got, 16, PITCH, HEIGHT + 1);
    for (y = 0; y <= HEIGHT; ++y) {
        for (x = 0; x < PITCH; ++x) {
            CALuint column = x < WIDTH ? x : WIDTH - 1, row = y < HEIGHT ? y : HEIGHT - 1;
            CHECK(got[y][x][0] == (float)(column + 1)); /* clamped to the edge */
            CHECK(got[y][x][1] == (x < WIDTH ? (float)(x + 1) : 0.0f));
            CHECK(got[y][x][2] == (float)(row * PITCH + column + 1));
            CHECK(got[y][x][3] == (x < WIDTH && y < HEIGHT ? (float)(y * PITCH + x + 1) : 0.0f));
        }
    }
    OK(calModuleUnload(context, module));
    HOLDS(fetches_end_at_the_width);
}

static CALuint copied(CALresource from, CALresource to, CALuint width, CALuint height, CALuint x, CALuint y)
{
    CALuint pitch = (width + 63) / 64 * 64, *address, found;
    CALmem mems[2];
    CALevent event = 0;
    number(from, ALL, 1, 1);
    address = map(to, pitch);
    memset(address, 0, (size_t)pitch * height * 4);
    OK(calResUnmap(to));
    OK(calCtxGetMem(&mems[0], context, from));
    OK(calCtxGetMem(&mems[1], context, to));
    OK(calMemCopy(&event, context, mems[0], mems[1], 0));
    check_wait(context, event);
    address = map(to, pitch);
    for (found = 0; found < WIDTH * HEIGHT; ++found) { /* whatever the shapes: the rectangle */
        CHECK(address[found / WIDTH * pitch + found % WIDTH] == found / WIDTH * PITCH + found % WIDTH + 1);
    }
    found = address[y * pitch + x];
    OK(calResUnmap(to));
    OK(calCtxReleaseMem(context, mems[0]));
    OK(calCtxReleaseMem(context, mems[1]));
    return found;
}

static void copies(void)
{
    CALresource from = rows(WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1), same, taller, wider, wide;
    same = rows(WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1);
    taller = rows(WIDTH, HEIGHT + 2, CAL_FORMAT_UNSIGNED_INT32_1);
    wider = rows(WIDTH + 4, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1);
    wide = rows(200, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1);
    CHECK(copied(from, same, WIDTH, HEIGHT, WIDTH, 1) == PITCH + WIDTH + 1);
    CHECK(copied(from, same, WIDTH, HEIGHT, PITCH - 1, HEIGHT - 1) == ALL);
    CHECK(copied(from, taller, WIDTH, HEIGHT + 2, PITCH - 1, HEIGHT - 1) == ALL);
    CHECK(copied(from, taller, WIDTH, HEIGHT + 2, 0, HEIGHT) == 0);
    /* What is an element of the destination stays. */
    CHECK(copied(from, wider, WIDTH + 4, HEIGHT, WIDTH, 1) == 0);
    CHECK(copied(from, wide, 200, HEIGHT, WIDTH, 1) == 0);
    HOLDS(copies_between_equal_widths_take_the_padding);
}

/* Memory of the application is as the application laid it out. */
static void of_the_application(void)
{
    static CALuint words[4096] __attribute__((aligned(4096)));
    PFNCALRESCREATE2D create = NULL;
    CALresource resource = 0;
    if (calExtGetProc((CALextproc*)(void*)&create, CAL_EXT_RES_CREATE, "calResCreate2D") != CAL_RESULT_OK) {
        return;
    }
    OK(create(&resource, device, words, WIDTH, HEIGHT, CAL_FORMAT_UNSIGNED_INT32_1, 0, 0));
    CHECK(map(resource, WIDTH) == words);
    OK(calResUnmap(resource));
    OK(calResFree(resource));
    HOLDS(memory_of_the_application_keeps_its_pitch);
}

/*
 * Memory of the application at any address, twice in one launch: what is stored through one view stays, though the other one, which
 * is only loaded, may be a copy that the device has.
 */
static void stored_through_one_view(void)
{
    enum { WORDS = 256 };
    static CALuint words[2 * WORDS] __attribute__((aligned(4096)));
    static const char* kernel = CS(64) "dcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_literal l0, 2, 1000, 0, 0\n"
        "ishl r0.x, vAbsTidFlat.x, l0.x\n"
        "uav_raw_load_id(1) r1.x___, r0.x\n"
        "iadd r1.x, r1.x, l0.y\n"
        "uav_raw_store_id(0) mem.x___, r0.x, r1.x\n"
        "end\n";
    PFNCALRESCREATE1D create = NULL;
    CALuint first, order;
    if (calExtGetProc((CALextproc*)(void*)&create, CAL_EXT_RES_CREATE, "calResCreate1D") != CAL_RESULT_OK) {
        return;
    }
    for (first = 0; first < 4; ++first) {
        for (order = 0; order < 2; ++order) {
            static const char* names[2] = {"uav0", "uav1"};
            CALmodule module = check_module(context, kernel);
            CALresource resources[2];
            CALmem mems[2];
            CALuint i;
            for (i = 0; i < 2 * WORDS; ++i) {
                words[i] = i;
            }
            for (i = 0; i < 2; ++i) {
                OK(create(&resources[i], device, words + first, WORDS, CAL_FORMAT_UNSIGNED_INT32_1, 0, 0));
                mems[i] = check_bind(context, module, names[i ^ order], resources[i]);
            }
            check_wait(context, check_grid(context, check_entry(context, module), WORDS / 64, 64));
            for (i = 0; i < WORDS; ++i) {
                CHECK(words[first + i] == first + i + 1000);
            }
            for (i = 0; i < 2; ++i) {
                OK(calCtxReleaseMem(context, mems[i]));
                OK(calResFree(resources[i]));
            }
            OK(calModuleUnload(context, module));
        }
    }
}

/* Resources of memory of the application that overlap: what is copied is what was there before. */
static void copies_onto_itself(void)
{
    enum { WORDS = 4096 };
    static CALuint words[WORDS] __attribute__((aligned(4096))), expected[WORDS];
    /* First word, width and height of both. */
    static const CALuint shapes[][6] = {{0, 30, 8, 0, 40, 10},  {0, 40, 10, 0, 50, 10}, {417, 16, 20, 0, 35, 21},
                                        {16, 40, 9, 64, 40, 9}, {0, 16, 20, 96, 20, 20}};
    PFNCALRESCREATE2D create = NULL;
    size_t k;
    if (calExtGetProc((CALextproc*)(void*)&create, CAL_EXT_RES_CREATE, "calResCreate2D") != CAL_RESULT_OK) {
        return;
    }
    for (k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
        const CALuint* shape = shapes[k];
        CALresource resources[2];
        CALmem mems[2];
        CALevent event = 0;
        CALuint i;
        for (i = 0; i < WORDS; ++i) {
            words[i] = expected[i] = i;
        }
        for (i = 0; i < shape[1] * shape[2]; ++i) {
            expected[shape[3] + i / shape[1] * shape[4] + i % shape[1]] = shape[0] + i;
        }
        for (i = 0; i < 2; ++i) {
            const CALuint* of = shape + 3 * i;
            OK(create(&resources[i], device, words + of[0], of[1], of[2], CAL_FORMAT_UNSIGNED_INT32_1, 0, 0));
            OK(calCtxGetMem(&mems[i], context, resources[i]));
        }
        OK(calMemCopy(&event, context, mems[0], mems[1], 0));
        check_wait(context, event);
        for (i = 0; i < 2; ++i) {
            OK(calCtxReleaseMem(context, mems[i]));
            OK(calResFree(resources[i]));
        }
        for (i = 0; i < WORDS; ++i) {
            if (words[i] != expected[i]) {
                fprintf(stderr, "shapes %u, word %u: %u\n", (CALuint)k, i, words[i]);
                exit(1);
            }
        }
    }
    HOLDS(copies_within_memory_of_the_application_read_first);
}

int main(void)
{
    OK(calInit());
    OK(calDeviceOpen(&device, 0));
    OK(calCtxCreate(&context, device));
    multiples_of_64();
    rows_of_whole_lines();
    pitch_by_heart();
    reached_by_kernels();
    not_fetched();
    copies();
    of_the_application();
    copies_onto_itself();
    stored_through_one_view();
    OK(calCtxDestroy(context));
    OK(calDeviceClose(device));
    OK(calShutdown());
    return 0;
}
