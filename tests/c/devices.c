/*
 * Several devices: resources that all of them share, written by one and read by the next; several contexts on each, from
 * several threads at once. DEVICES in the environment is how many there must be at least.
 */
#include "check.h"

#include <pthread.h>

enum { MOST = 8, WIDTH = 1000, CONTEXTS = 3, LAUNCHES = 15 };

/* g[i] = g[i] * 3 + cb0[0].x + i, so that the order of the devices shows */
static const char* step =
    CS(64)
    "dcl_cb cb0[1]\n"
    "dcl_literal l0, 3, 1000, 0, 0\n"
    "ilt r2.x, vAbsTidFlat.x, l0.y\n"
    "if_logicalnz r2.x\n"
    "mov r0, g[vAbsTidFlat.x]\n"
    "umul r0, r0, l0.xxxx\n"
    "iadd r0, r0, cb0[0].xxxx\n"
    "mov r1.x, vAbsTidFlat.x\n"
    "iadd r0, r0, r1.xxxx\n"
    "mov g[vAbsTidFlat.x], r0\n"
    "endif\n"
    "end\n";

/* o0 = i0 + cb0[0].x */
static const char* add =
    PS "dcl_output_generic o0\n" INPUT(0)
    "dcl_cb cb0[1]\n"
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, cb0[0].x\n"
    "end\n";

static CALuint   count;
static CALdevice devices[MOST];

static CALmodule load(CALcontext context, CALuint ordinal, const char* il)
{
    CALdeviceinfo info;
    CALimage image;
    CALmodule module = 0;
    OK(calDeviceGetInfo(&info, ordinal));
    image = check_image(il, info.target);
    OK(calModuleLoad(&module, context, image));
    OK(calclFreeImage(image));
    return module;
}

/* One resource for all devices, and what each of them does to it in turn. */
static void shared_resources(int two_dimensional)
{
    static CALuint expected[WIDTH * 4], got[WIDTH * 4];
    CALcontext contexts[MOST];
    CALmodule modules[MOST];
    CALresource shared = 0, private_copy = 0, constants[MOST];
    CALuint d, i, round, pitch = 0;
    CALuint* words = NULL;

    if (two_dimensional) {
        OK(calResAllocRemote2D(&shared, devices, count, WIDTH, 1, CAL_FORMAT_UNSIGNED_INT32_4,
                               CAL_RESALLOC_CACHEABLE));
    } else {
        OK(calResAllocRemote1D(&shared, devices, count, WIDTH, CAL_FORMAT_UNSIGNED_INT32_4,
                               CAL_RESALLOC_GLOBAL_BUFFER));
    }
    for (i = 0; i < WIDTH * 4; ++i) {
        expected[i] = i * 7;
    }
    check_write(shared, expected, 16, WIDTH, 1);
    for (d = 0; d < count; ++d) {
        CALuint c[4] = {0, 0, 0, 0};
        c[0] = 1000 * (d + 1);
        OK(calCtxCreate(&contexts[d], devices[d]));
        modules[d] = load(contexts[d], d, step);
        OK(calResAllocRemote1D(&constants[d], &devices[d], 1, 1, CAL_FORMAT_UINT_4, 0));
        check_write(constants[d], c, 16, 1, 1);
        check_bind(contexts[d], modules[d], "g[]", shared);
        check_bind(contexts[d], modules[d], "cb0", constants[d]);
    }
    for (round = 0; round < 5; ++round) {
        for (d = 0; d < count; ++d) {
            check_wait(contexts[d], check_grid(contexts[d], check_entry(contexts[d], modules[d]), WIDTH / 64 + 1, 64));
            for (i = 0; i < WIDTH * 4; ++i) {
                expected[i] = expected[i] * 3 + 1000 * (d + 1) + i / 4;
            }
        }
        check_read(shared, got, 16, WIDTH, 1);
        CHECK(memcmp(got, expected, sizeof got) == 0);
        if (round == 2) { /* and what the host changes in between reaches them all */
            OK(calResMap((CALvoid**)&words, &pitch, shared, 0));
            words[17] = expected[17] = 0xABCDEF;
            OK(calResUnmap(shared));
        }
    }
    HOLDS(devices_share_a_resource);

    /* From the last device's own memory to the others: over the shared resource. */
    {
        CALmem from = 0, to = 0;
        CALevent event = 0;
        OK(calResAllocLocal1D(&private_copy, devices[count - 1], WIDTH, CAL_FORMAT_UNSIGNED_INT32_4, 0));
        for (i = 0; i < WIDTH * 4; ++i) {
            expected[i] = ~i;
        }
        check_write(private_copy, expected, 16, WIDTH, 1);
        OK(calCtxGetMem(&from, contexts[count - 1], private_copy));
        OK(calCtxGetMem(&to, contexts[count - 1], shared));
        OK(calMemCopy(&event, contexts[count - 1], from, to, 0));
        check_wait(contexts[count - 1], event);
        check_wait(contexts[0], check_grid(contexts[0], check_entry(contexts[0], modules[0]), WIDTH / 64 + 1, 64));
        check_read(shared, got, 16, WIDTH, 1);
        for (i = 0; i < WIDTH * 4; ++i) {
            CHECK(got[i] == ~i * 3 + 1000 + i / 4);
        }
        OK(calResFree(private_copy));
    }
    HOLDS(devices_copy_through_a_shared_resource);
    if (count > 1) {
        /* A resource of one device is none for another. */
        CALresource alone = 0;
        CALmem mem = 7;
        OK(calResAllocLocal1D(&alone, devices[0], 64, CAL_FORMAT_FLOAT_1, 0));
        CHECK(calCtxGetMem(&mem, contexts[1], alone) != CAL_RESULT_OK && mem == 0);
        OK(calResFree(alone));
    }
    OK(calResFree(shared)); /* mems on every device are alive and bound */
    for (d = 0; d < count; ++d) {
        OK(calResFree(constants[d]));
        OK(calCtxDestroy(contexts[d]));
    }
}

/* A thread for each context; all contexts of all devices at once. */
static void* work(void* argument)
{
    CALuint number = (CALuint)(size_t)argument, ordinal = number % count;
    CALcontext context = 0;
    CALmodule module;
    CALresource in = 0, out = 0, constant = 0;
    float numbers[WIDTH], results[WIDTH], c[4] = {0, 0, 0, 0};
    CALuint i, launch;
    OK(calCtxCreate(&context, devices[ordinal]));
    module = load(context, ordinal, add);
    OK(calResAllocLocal2D(&in, devices[ordinal], WIDTH, 1, CAL_FORMAT_FLOAT_1, 0));
    OK(calResAllocRemote2D(&out, &devices[ordinal], 1, WIDTH, 1, CAL_FORMAT_FLOAT_1, CAL_RESALLOC_CACHEABLE));
    OK(calResAllocRemote1D(&constant, &devices[ordinal], 1, 1, CAL_FORMAT_FLOAT_4, 0));
    for (i = 0; i < WIDTH; ++i) {
        numbers[i] = (float)(i + number * 1000);
    }
    check_write(in, numbers, 4, WIDTH, 1);
    check_bind(context, module, "i0", in);
    check_bind(context, module, "o0", out);
    check_bind(context, module, "cb0", constant);
    for (launch = 0; launch < LAUNCHES; ++launch) {
        c[0] = (float)launch;
        check_write(constant, c, 16, 1, 1);
        check_wait(context, check_domain(context, check_entry(context, module), WIDTH, 1));
        check_read(out, results, 4, WIDTH, 1);
        for (i = 0; i < WIDTH; ++i) {
            CHECK(results[i] == numbers[i] + (float)launch);
        }
    }
    OK(calCtxDestroy(context));
    OK(calResFree(in));
    OK(calResFree(out));
    OK(calResFree(constant));
    return NULL;
}

int main(void)
{
    const char* wanted = getenv("DEVICES");
    pthread_t threads[MOST * CONTEXTS];
    CALuint d, t;
    CALresource none = 7;

    OK(calInit());
    OK(calDeviceGetCount(&count));
    CHECK(count >= (wanted ? (CALuint)atoi(wanted) : 1u));
    count = count > MOST ? MOST : count;
    for (d = 0; d < count; ++d) {
        CALdevice again = 7;
        OK(calDeviceOpen(&devices[d], d));
        CHECK(calDeviceOpen(&again, d) != CAL_RESULT_OK && again == 0);
    }
    CHECK(calResAllocRemote1D(&none, devices, 0, 64, CAL_FORMAT_FLOAT_1, 0) != CAL_RESULT_OK && none == 0);
    shared_resources(0);
    shared_resources(1);
    for (t = 0; t < count * CONTEXTS; ++t) {
        CHECK(pthread_create(&threads[t], NULL, work, (void*)(size_t)t) == 0);
    }
    for (t = 0; t < count * CONTEXTS; ++t) {
        CHECK(pthread_join(threads[t], NULL) == 0);
    }
    HOLDS(devices_and_contexts_at_once_from_threads);
    for (d = 0; d < count; ++d) {
        OK(calDeviceClose(devices[d]));
    }
    OK(calShutdown());
    return 0;
}
