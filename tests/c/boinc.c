/*
 * As BOINC detects devices: dlopen with RTLD_NOW, nine names, the attributes in the layout of the first headers (68
 * bytes), each device opened only for its status, shutdown, and the library left loaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behaviour.h"
#include "cal.h"
#include "dl.h"

/* The first generation's structure, as BOINC carries it, with a fence behind it. */
struct OldAttribs {
    CALuint struct_size;
    CALuint fields[16];
    CALuint fence;
};

struct OldStatus {
    CALuint struct_size;
    CALuint fields[3];
    CALuint fence;
};

static void require(int holds, const char* what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

int main(void)
{
    void* library = dlopen("libaticalrt.so", RTLD_NOW);
    CALresult (CALAPIENTRY * init)(void), (CALAPIENTRY * shutdown_)(void);
    CALresult (CALAPIENTRY * version)(CALuint*, CALuint*, CALuint*);
    CALresult (CALAPIENTRY * count_)(CALuint*);
    CALresult (CALAPIENTRY * attribs_)(struct OldAttribs*, CALuint);
    CALresult (CALAPIENTRY * info_)(CALdeviceinfo*, CALuint);
    CALresult (CALAPIENTRY * status_)(struct OldStatus*, CALdevice);
    CALresult (CALAPIENTRY * open_)(CALdevice*, CALuint);
    CALresult (CALAPIENTRY * close_)(CALdevice);
    CALuint major = 0, minor = 0, imp = 0, count = 0, i;

    require(library != NULL, "dlopen");
    *(void**)&init = dlsym(library, "calInit");
    *(void**)&version = dlsym(library, "calGetVersion");
    *(void**)&count_ = dlsym(library, "calDeviceGetCount");
    *(void**)&attribs_ = dlsym(library, "calDeviceGetAttribs");
    *(void**)&shutdown_ = dlsym(library, "calShutdown");
    *(void**)&info_ = dlsym(library, "calDeviceGetInfo");
    *(void**)&status_ = dlsym(library, "calDeviceGetStatus");
    *(void**)&open_ = dlsym(library, "calDeviceOpen");
    *(void**)&close_ = dlsym(library, "calDeviceClose");
    require(init && version && count_ && attribs_ && shutdown_ && info_ && status_ && open_ && close_, "dlsym");
    HOLDS(boinc_dlopen_now_and_nine_names);

    require(init() == CAL_RESULT_OK, "calInit: anything but OK is a failure to BOINC");
    require(version(&major, &minor, &imp) == CAL_RESULT_OK && major == 1 && minor == 4, "calGetVersion");
    require(count_(&count) == CAL_RESULT_OK && count > 0, "calDeviceGetCount");
    for (i = 0; i < count; ++i) {
        struct OldAttribs attribs;
        struct OldStatus status;
        CALdeviceinfo info;
        CALdevice device = 0;
        memset(&attribs, 0, sizeof attribs);
        attribs.struct_size = 68;
        attribs.fence = 0xFE11CE;
        require(info_(&info, i) == CAL_RESULT_OK && info.maxResource2DWidth >= 8192, "calDeviceGetInfo");
        require(attribs_(&attribs, i) == CAL_RESULT_OK, "calDeviceGetAttribs");
        require(attribs.struct_size == 68 && attribs.fence == 0xFE11CE, "more than 68 bytes were written");
        require(attribs.fields[0] == (CALuint)info.target, "the targets differ");
        require(attribs.fields[1] > 0 && attribs.fields[4] > 0 && attribs.fields[6] > 0 && attribs.fields[7] > 0,
                "memory, clock, wavefront and SIMD engines are not zero");
        require(open_(&device, i) == CAL_RESULT_OK && device != 0, "calDeviceOpen");
        memset(&status, 0, sizeof status);
        status.struct_size = 16;
        status.fence = 0xFE11CE;
        require(status_(&status, device) == CAL_RESULT_OK, "calDeviceGetStatus");
        require(status.struct_size == 16 && status.fence == 0xFE11CE, "more than 16 bytes were written");
        require(status.fields[0] > 0, "no free memory");
        require(close_(device) == CAL_RESULT_OK, "calDeviceClose");
    }
    HOLDS(boinc_attributes_of_68_bytes);
    HOLDS(boinc_devices_opened_for_their_status);
    require(shutdown_() == CAL_RESULT_OK, "calShutdown");
    HOLDS(boinc_library_stays_loaded);
    return 0;
}
