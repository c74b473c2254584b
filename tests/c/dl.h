/*
 * dl.h - libraries opened while the program runs, on every system. The names are those of Linux.
 */
#ifndef DL_H
#define DL_H

#ifdef _WIN32
#include <stdio.h>
#include <string.h>
#include <windows.h>

#define RTLD_NOW 0
#define RTLD_LAZY 0

/* "libaticalrt.so" is aticalrt.dll. */
static inline void* dlopen(const char* name, int mode)
{
    char file[260];
    size_t length = strlen(name);
    (void)mode;
    if (length < 6 || length >= sizeof file || strncmp(name, "lib", 3) != 0) {
        return NULL;
    }
    snprintf(file, sizeof file, "%.*s.dll", (int)(length - 6), name + 3);
    return (void*)LoadLibraryA(file);
}

static inline void* dlsym(void* library, const char* name)
{
    void* address = NULL;
    FARPROC found = GetProcAddress((HMODULE)library, name);
    memcpy(&address, &found, sizeof address);
    return address;
}

static inline int dlclose(void* library)
{
    return FreeLibrary((HMODULE)library) ? 0 : -1;
}

static inline const char* dlerror(void)
{
    return "LoadLibrary or GetProcAddress failed";
}
#else
#include <dlfcn.h>
#endif

#endif
