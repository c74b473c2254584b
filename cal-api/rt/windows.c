/*
 * What aticalrt.dll and aticalcl.dll have on Windows beyond their functions.
 */
#include <windows.h>
#include <ntsecapi.h>

/*
 * Once loaded, the library stays, as it does elsewhere: threads of ours may be at work when a program gives it up, and old
 * programs call into it from static destructors. What is left undone at the end of the process is the system's to clear: by then
 * there are no other threads, and no lock can be trusted.
 */
#ifdef RECAL_DLL
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        HMODULE self;
        (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, (LPCWSTR)library,
                                 &self);
    }
    return TRUE;
}
#endif

/*
 * Rust's standard library takes the seeds of its hash tables from bcryptprimitives.dll, which Wine before 9 does not have. This takes
 * the place of that import; the numbers come from where they came before there was such a library.
 */
BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) __asm__("ProcessPrng"); /* undecorated in 32 bits, too */

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes)
{
    while (bytes > 0) {
        ULONG part = bytes < 0x10000 ? (ULONG)bytes : 0x10000;
        if (!RtlGenRandom(data, part)) {
            return FALSE;
        }
        data += part;
        bytes -= part;
    }
    return TRUE;
}

extern BOOL(WINAPI *const import_of_process_prng)(PBYTE, SIZE_T) __asm__("__imp_ProcessPrng");
BOOL(WINAPI *const import_of_process_prng)(PBYTE, SIZE_T) = ProcessPrng;
