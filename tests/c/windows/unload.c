/*
 * A program that links nothing of ours loads the libraries, uses them and gives them up: they stay, and so does their state. Then
 * they are called by the addresses that the program has kept, from a thread and at the end from a handler of atexit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "cal.h"

static void require(int holds, const char* what)
{
    if (!holds) {
        fprintf(stderr, "%s (error %lu)\n", what, GetLastError());
        exit(1);
    }
}

static void* function(HMODULE library, const char* name)
{
    void* address = NULL;
    FARPROC found = GetProcAddress(library, name);
    memcpy(&address, &found, sizeof address);
    require(address != NULL, name);
    return address;
}

static CALresult(CALAPIENTRY* init)(void);
static CALresult(CALAPIENTRY* shut_down)(void);
static CALresult(CALAPIENTRY* open_device)(CALdevice*, CALuint);
static CALresult(CALAPIENTRY* close_device)(CALdevice);

static CALdevice device;

static DWORD WINAPI closes(void* nothing)
{
    (void)nothing;
    return close_device(device) == CAL_RESULT_OK ? 0 : 1;
}

static void at_the_end(void)
{
    if (shut_down() != CAL_RESULT_OK) {
        fprintf(stderr, "calShutdown in a handler of atexit\n");
        _exit(1);
    }
}

int main(void)
{
    HMODULE runtime = LoadLibraryA("aticalrt.dll"), compiler = LoadLibraryA("aticalcl.dll");
    HANDLE thread;
    DWORD code = 1;
    int k;
    require(runtime != NULL && compiler != NULL, "LoadLibrary");
    init = (CALresult(CALAPIENTRY*)(void))function(runtime, "calInit");
    shut_down = (CALresult(CALAPIENTRY*)(void))function(runtime, "calShutdown");
    open_device = (CALresult(CALAPIENTRY*)(CALdevice*, CALuint))function(runtime, "calDeviceOpen");
    close_device = (CALresult(CALAPIENTRY*)(CALdevice))function(runtime, "calDeviceClose");
    require(init() == CAL_RESULT_OK, "calInit");
    require(open_device(&device, 0) == CAL_RESULT_OK, "calDeviceOpen");
    for (k = 0; k < 5; ++k) {
        (void)FreeLibrary(compiler);
        (void)FreeLibrary(runtime);
    }
    require(GetModuleHandleA("aticalrt.dll") == runtime, "aticalrt.dll is gone");
    require(GetModuleHandleA("aticalcl.dll") == compiler, "aticalcl.dll is gone");
    thread = CreateThread(NULL, 0, closes, NULL, 0, NULL);
    require(thread != NULL && WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0, "the thread does not end");
    require(GetExitCodeThread(thread, &code) && code == 0, "calDeviceClose");
    atexit(at_the_end);
    return 0;
}
