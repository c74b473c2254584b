/* libaticalcl.so, aticalcl.dll: the compiler half of CAL. All code and state live in libaticalrt.so; this library only has the
 * 13 historical names and forwards each to its recal_cl_* counterpart there. */
#include "CAL/calcl_ext.h"

CALresult CALAPIENTRY recal_cl_GetVersion(CALuint *major, CALuint *minor, CALuint *imp);
CALresult CALAPIENTRY recal_cl_Compile(CALobject *obj, CALlanguage language, const CALchar *source, CALtarget target);
CALresult CALAPIENTRY recal_cl_Link(CALimage *image, CALobject *obj, CALuint objCount);
CALresult CALAPIENTRY recal_cl_FreeObject(CALobject obj);
CALresult CALAPIENTRY recal_cl_FreeImage(CALimage image);
CALresult CALAPIENTRY recal_cl_DisassembleImage(const CALimage image, CALLogFunction logfunc);
CALresult CALAPIENTRY recal_cl_AssembleObject(CALobject *obj, CALCLprogramType type, const CALchar *source, CALtarget target);
CALresult CALAPIENTRY recal_cl_DisassembleObject(const CALobject *obj, CALLogFunction logfunc);
CALresult CALAPIENTRY recal_cl_ImageGetSize(CALuint *size, CALimage image);
CALresult CALAPIENTRY recal_cl_ImageWrite(CALvoid *buffer, CALuint size, CALimage image);
CALresult CALAPIENTRY recal_cl_ExtSupported(CALCLextid extid);
CALresult CALAPIENTRY recal_cl_ExtGetProc(CALCLextproc *proc, CALCLextid extid, const CALchar *procname);
const CALchar *CALAPIENTRY recal_cl_GetErrorString(void);

#ifdef _WIN32
#define PUBLIC /* scripts/windows-libs.sh lists what is exported */
#else
#define PUBLIC __attribute__((visibility("default")))
#endif

PUBLIC CALresult CALAPIENTRY calclGetVersion(CALuint *major, CALuint *minor, CALuint *imp)
{
    return recal_cl_GetVersion(major, minor, imp);
}

PUBLIC CALresult CALAPIENTRY calclCompile(CALobject *obj, CALlanguage language, const CALchar *source, CALtarget target)
{
    return recal_cl_Compile(obj, language, source, target);
}

PUBLIC CALresult CALAPIENTRY calclLink(CALimage *image, CALobject *obj, CALuint objCount)
{
    return recal_cl_Link(image, obj, objCount);
}

PUBLIC CALresult CALAPIENTRY calclFreeObject(CALobject obj)
{
    return recal_cl_FreeObject(obj);
}

PUBLIC CALresult CALAPIENTRY calclFreeImage(CALimage image)
{
    return recal_cl_FreeImage(image);
}

PUBLIC void CALAPIENTRY calclDisassembleImage(const CALimage image, CALLogFunction logfunc)
{
    (void)recal_cl_DisassembleImage(image, logfunc);
}

PUBLIC CALresult CALAPIENTRY calclAssembleObject(CALobject *obj, CALCLprogramType type, const CALchar *source, CALtarget target)
{
    return recal_cl_AssembleObject(obj, type, source, target);
}

PUBLIC void CALAPIENTRY calclDisassembleObject(const CALobject *obj, CALLogFunction logfunc)
{
    (void)recal_cl_DisassembleObject(obj, logfunc);
}

PUBLIC CALresult CALAPIENTRY calclImageGetSize(CALuint *size, CALimage image)
{
    return recal_cl_ImageGetSize(size, image);
}

PUBLIC CALresult CALAPIENTRY calclImageWrite(CALvoid *buffer, CALuint size, CALimage image)
{
    return recal_cl_ImageWrite(buffer, size, image);
}

PUBLIC const CALchar *CALAPIENTRY calclGetErrorString(void)
{
    return recal_cl_GetErrorString();
}

PUBLIC CALresult CALAPIENTRY calclExtSupported(CALCLextid extid)
{
    return recal_cl_ExtSupported(extid);
}

PUBLIC CALresult CALAPIENTRY calclExtGetProc(CALCLextproc *proc, CALCLextid extid, const CALchar *procname)
{
    return recal_cl_ExtGetProc(proc, extid, procname);
}
