/*
 * The libraries under all their names: loaded in turn, given up, and used by who still has an address. One state is behind
 * them. Threads end with a device open, and the process ends with work in flight and without a shutdown.
 */
#include <windows.h>

#include "check.h"

#ifdef _WIN64
static const char* runtimes[] = {"aticalrt64.dll", "aticalrt.dll", "amdcalrt64.dll", "amdcalrt.dll"};
static const char* compilers[] = {"aticalcl64.dll", "aticalcl.dll", "amdcalcl64.dll", "amdcalcl.dll"};
enum { NAMES = 4 };
#else
static const char* runtimes[] = {"aticalrt.dll", "amdcalrt.dll"};
static const char* compilers[] = {"aticalcl.dll", "amdcalcl.dll"};
enum { NAMES = 2 };
#endif

typedef CALresult (CALAPIENTRY * Plain)(void);
typedef CALresult (CALAPIENTRY * Count)(CALuint*);
typedef CALresult (CALAPIENTRY * Version)(CALuint*, CALuint*, CALuint*);

static void* function(HMODULE library, const char* name)
{
    void* address = NULL;
    FARPROC found = GetProcAddress(library, name);
    memcpy(&address, &found, sizeof address);
    return address;
}

static const char* kernel = PS "dcl_output_generic o0\nmul o0, vWinCoord0.xxxx, vWinCoord0.yyyy\nend\n";

static CALdevice device;

static DWORD WINAPI works(void* nothing)
{
    CALcontext context = 0;
    CALresource output = 0;
    CALmodule module;
    float* data;
    CALuint pitch;
    (void)nothing;
    OK(calCtxCreate(&context, device));
    OK(calResAllocLocal2D(&output, device, 8, 8, CAL_FORMAT_FLOAT_1, 0));
    module = check_module(context, kernel);
    check_bind(context, module, "o0", output);
    check_wait(context, check_domain(context, check_entry(context, module), 8, 8));
    OK(calResMap((CALvoid**)(void*)&data, &pitch, output, 0));
    CHECK(data[2 * pitch + 3] == 8.75f);
    OK(calResUnmap(output));
    return 0; /* the thread ends, its context stays */
}

int main(void)
{
    HMODULE loaded[NAMES];
    void *init = NULL, *clversion = NULL;
    CALuint count = 0, i, k;

    for (i = 0; i < NAMES; ++i) {
        HMODULE compiler = LoadLibraryA(compilers[i]);
        loaded[i] = LoadLibraryA(runtimes[i]);
        CHECK(loaded[i] != NULL && compiler != NULL);
        /* The same functions, whichever name. */
        CHECK(init == NULL || init == function(loaded[i], "calInit"));
        CHECK(clversion == NULL || clversion == function(compiler, "calclGetVersion"));
        init = function(loaded[i], "calInit");
        clversion = function(compiler, "calclGetVersion");
        CHECK(init != NULL && clversion != NULL);
#ifndef _WIN64
        CHECK(function(loaded[i], "calInit@0") == init && function(loaded[i], "_calInit@0") == init);
        CHECK(function(compiler, "_calclGetVersion@12") == clversion);
        CHECK(function(loaded[i], "_calCtxRunProgram@16") == function(loaded[i], "calCtxRunProgram"));
#endif
        CHECK(FreeLibrary(compiler));
    }
    /* What one name initialises, the others see. */
    CHECK(((Plain)init)() == CAL_RESULT_OK);
    for (i = 0; i < NAMES; ++i) {
        Count counts = (Count)function(loaded[i], "calDeviceGetCount");
        CHECK(counts(&count) == CAL_RESULT_OK && count > 0);
        CHECK(((Plain)function(loaded[i], "calInit"))() == CAL_RESULT_ALREADY);
    }
    /* Given up, and given up again: it stays. */
    for (k = 0; k < 4; ++k) {
        for (i = 0; i < NAMES; ++i) {
            (void)FreeLibrary(loaded[i]);
        }
    }
    {
        Version version = (Version)clversion;
        CALuint major = 0, minor = 0, imp = 0;
        CHECK(version(&major, &minor, &imp) == CAL_RESULT_OK && major == 1);
    }
    OK(calDeviceOpen(&device, 0));
    for (k = 0; k < 8; ++k) {
        HANDLE thread = CreateThread(NULL, 0, works, NULL, 0, NULL);
        DWORD code = 1;
        CHECK(thread != NULL && WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
        CHECK(GetExitCodeThread(thread, &code) && code == 0);
        CloseHandle(thread);
    }
    {
        CALcontext context = 0;
        CALresource output = 0;
        CALmodule module;
        OK(calCtxCreate(&context, device));
        OK(calResAllocLocal2D(&output, device, 4096, 4096, CAL_FORMAT_FLOAT_1, 0));
        module = check_module(context, kernel);
        check_bind(context, module, "o0", output);
        for (k = 0; k < 50; ++k) {
            (void)check_domain(context, check_entry(context, module), 4096, 4096);
        }
    }
    return 0; /* in the middle of it */
}
