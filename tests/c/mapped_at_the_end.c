/*
 * What is mapped when the runtime shuts down, or the device is closed: the program may go on using the bytes, but nothing
 * else of the device stays, its threads least of all.
 */
#include "check.h"

#include <unistd.h>

enum { ROUNDS = 12, WORDS = 4096 };

static int threads(void)
{
    char line[256];
    int count = 0;
    FILE* status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status)) {
        (void)sscanf(line, "Threads: %d", &count);
    }
    fclose(status);
    return count;
}

/* A device is opened and used; a map may be left, of device memory or of host memory. */
static CALuint* once(int map, int remote, int close)
{
    CALdevice device = 0;
    CALcontext context = 0;
    CALresource resource = 0;
    CALvoid* address = NULL;
    CALuint pitch = 0, i;
    check_open(&device, &context);
    if (remote) {
        OK(calResAllocRemote1D(&resource, &device, 1, WORDS, CAL_FORMAT_UNSIGNED_INT32_1, 0));
    } else {
        OK(calResAllocLocal1D(&resource, device, WORDS, CAL_FORMAT_UNSIGNED_INT32_1, 0));
    }
    OK(calResMap(&address, &pitch, resource, 0));
    for (i = 0; i < WORDS; ++i) {
        ((CALuint*)address)[i] = i * 3;
    }
    if (!map) {
        OK(calResUnmap(resource));
    }
    if (close) {
        OK(calDeviceClose(device));
    }
    OK(calShutdown());
    return map ? (CALuint*)address : NULL;
}

/* Work that was submitted is done when its context is destroyed and its device closed: the map shows it. */
static void work_of_a_closed_device(int flush)
{
    CALdevice device = 0;
    CALcontext context = 0;
    CALresource resource = 0;
    CALmodule module;
    CALvoid* address = NULL;
    CALuint pitch = 0;
    int k;
    check_open(&device, &context);
    module = check_module(context, PS "dcl_output_generic o0\nmov o0, vWinCoord0.xyxy\nend\n");
    OK(calResAllocRemote2D(&resource, &device, 1, 1000, 800, CAL_FORMAT_FLOAT_4, 0));
    check_bind(context, module, "o0", resource);
    OK(calResMap(&address, &pitch, resource, 0));
    for (k = 0; k < 3; ++k) {
        (void)check_domain(context, check_entry(context, module), 1000, 800);
    }
    if (flush) {
        OK(calCtxFlush(context));
    }
    OK(calCtxDestroy(context));
    OK(calDeviceClose(device));
    CHECK(((float*)address)[(799 * (size_t)pitch + 999) * 4] == 999.5f);
    OK(calShutdown());
}

int main(void)
{
    static CALuint* kept[ROUNDS];
    int round, without, patience;
    CALuint i;
    (void)once(0, 0, 0); /* what drivers keep once for the process */
    without = threads();
    for (round = 0; round < ROUNDS; ++round) {
        kept[round] = once(1, round & 1, round & 2);
    }
    /* Threads that have been told to end may take a while. */
    for (patience = 0; threads() > without && patience < 1000; ++patience) {
        usleep(10000);
    }
    if (threads() > without) {
        fprintf(stderr, "%d threads, %d without maps\n", threads(), without);
        return 1;
    }
    HOLDS(maps_left_behind_keep_no_device);
    for (round = 0; round < ROUNDS; ++round) {
        for (i = 0; i < WORDS; ++i) {
            CHECK(kept[round][i] == i * 3);
            kept[round][i] = 1;
        }
    }
    HOLDS(bytes_mapped_at_the_end_stay);
    work_of_a_closed_device(0);
    work_of_a_closed_device(1);
    HOLDS(work_of_a_closed_device_is_done);
    return 0;
}
