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
    return 0;
}
