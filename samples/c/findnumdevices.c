/*
 * findnumdevices - lists the devices, as seen before and after they are opened.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cal.h"

static int failed(const char* call)
{
    fprintf(stderr, "%s failed: %s\n", call, calGetErrorString());
    return EXIT_FAILURE;
}

static const char* yes(CALboolean value)
{
    return value ? "yes" : "no";
}

int main(void)
{
    CALuint major = 0, minor = 0, implementation = 0, count = 0, i;

    if (calInit() != CAL_RESULT_OK) return failed("calInit");
    if (calGetVersion(&major, &minor, &implementation) != CAL_RESULT_OK) return failed("calGetVersion");
    if (calDeviceGetCount(&count) != CAL_RESULT_OK) return failed("calDeviceGetCount");
    printf("CAL %u.%u.%u, %u device%s\n", major, minor, implementation, count, count == 1 ? "" : "s");

    for (i = 0; i < count; ++i) {
        CALdeviceinfo info;
        CALdeviceattribs attribs;
        CALdevicestatus status;
        CALdevice device = 0;

        if (calDeviceGetInfo(&info, i) != CAL_RESULT_OK) return failed("calDeviceGetInfo");
        attribs.struct_size = sizeof attribs;
        if (calDeviceGetAttribs(&attribs, i) != CAL_RESULT_OK) return failed("calDeviceGetAttribs");
        if (calDeviceOpen(&device, i) != CAL_RESULT_OK) return failed("calDeviceOpen");
        status.struct_size = sizeof status;
        if (calDeviceGetStatus(&status, device) != CAL_RESULT_OK) return failed("calDeviceGetStatus");
        if (calDeviceClose(device) != CAL_RESULT_OK) return failed("calDeviceClose");

        printf("\ndevice %u\n", i);
        printf("  target             %d, revision %u\n", (int)info.target, attribs.targetRevision);
        printf("  SIMD engines       %u in %u shader engines, wavefront %u\n", attribs.numberOfSIMD,
               attribs.numberOfShaderEngines, attribs.wavefrontSize);
        printf("  clocks             %u MHz, memory %u MHz\n", attribs.engineClock, attribs.memoryClock);
        printf("  memory             local %u MB, remote %u MB, cached remote %u MB\n", attribs.localRAM,
               attribs.uncachedRemoteRAM, attribs.cachedRemoteRAM);
        printf("  free               local %u MB, remote %u MB, cached remote %u MB\n", status.availLocalRAM,
               status.availUncachedRemoteRAM, status.availCachedRemoteRAM);
        printf("  resources up to    %u (1D), %u x %u (2D)\n", info.maxResource1DWidth, info.maxResource2DWidth,
               info.maxResource2DHeight);
        printf("  double precision   %s\n", yes(attribs.doublePrecision));
        printf("  compute shaders    %s, 3D grids %s\n", yes(attribs.computeShader), yes(attribs.b3dProgramGrid));
        printf("  local data share   %s, global %s\n", yes(attribs.localDataShare), yes(attribs.globalDataShare));
        printf("  memory export      %s, UAVs %u\n", yes(attribs.memExport), attribs.numberOfUAVs);
        printf("  alignment          pitch %u elements, surface %u bytes\n", attribs.pitch_alignment,
               attribs.surface_alignment);
    }

    if (calShutdown() != CAL_RESULT_OK) return failed("calShutdown");
    printf("\nfindnumdevices: %s\n", count > 0 ? "PASS" : "FAIL");
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
