/*
 * Indexable temporaries take memory of the host: where there is not as much, the event of the launch says so, and the next
 * launch is none the worse.
 */
#include "check.h"

#include <sys/resource.h>

/* Text, for a number of elements. */
#define ARRAY(N)                                                                                                        \
    CS(1024) "dcl_raw_uav_id(0)\ndcl_indexed_temp_array x0[" #N "]\ndcl_literal l0, 2, 0, 0, 0\n"                       \
    "mov r0, vTidInGrp0.xyzx\nmov x0[r0.x], r0\nmov r1, x0[r0.x]\nishl r0.y, r0.x, l0.x\n"                              \
    "uav_raw_store_id(0) mem0.x, r0.y, r1.x\nend\n"

static unsigned long address_space(void)
{
    unsigned long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

static CALresult launched(CALcontext context, const char* il, CALresource output)
{
    CALmodule module = check_module(context, il);
    CALevent event;
    CALresult result;
    check_bind(context, module, "uav0", output);
    event = check_grid(context, check_entry(context, module), 1, 1024);
    while ((result = calCtxIsEventDone(context, event)) == CAL_RESULT_PENDING) {
    }
    return result;
}

int main(void)
{
    static CALuint words[1024];
    struct rlimit limit;
    CALdevice device;
    CALcontext context;
    CALresource output = 0;
    CALuint i;
    check_open(&device, &context);
    OK(calResAllocLocal1D(&output, device, 1024, CAL_FORMAT_UNSIGNED_INT32_1, 0));
    EXPECT(CAL_RESULT_OK, launched(context, ARRAY(1024), output));
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = address_space() + (300ul << 20); /* the array takes a gibibyte: 16 bytes, 65,536 elements, 1024 threads */
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    EXPECT(CAL_RESULT_ERROR, launched(context, ARRAY(65536), output));
    CHECK(strstr(calGetErrorString(), "x#") != NULL);
    HOLDS(arrays_beyond_memory_are_an_error_of_the_event);
    check_write(output, words, 4, 1024, 1);
    EXPECT(CAL_RESULT_OK, launched(context, ARRAY(1024), output));
    check_read(output, words, 4, 1024, 1);
    for (i = 0; i < 1024; ++i) {
        CHECK(words[i] == i);
    }
    check_close(device, context);
    return 0;
}
