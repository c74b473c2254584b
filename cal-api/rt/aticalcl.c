/* libaticalcl.so: the compiler half of CAL. All code and state live in libaticalrt.so; this library only has the
 * 13 historical names and forwards each to its recal_cl_* counterpart there. */
#include "CAL/calcl_ext.h"

CALresult recal_cl_GetVersion(CALuint *major, CALuint *minor, CALuint *imp);
CALresult recal_cl_Compile(CALobject *obj, CALlanguage language, const CALchar *source, CALtarget target);
CALresult recal_cl_Link(CALimage *image, CALobject *obj, CALuint objCount);
CALresult recal_cl_FreeObject(CALobject obj);
CALresult recal_cl_FreeImage(CALimage image);
CALresult recal_cl_DisassembleImage(const CALimage image, CALLogFunction logfunc);
CALresult recal_cl_AssembleObject(CALobject *obj, CALCLprogramType type, const CALchar *source, CALtarget target);
CALresult recal_cl_DisassembleObject(const CALobject *obj, CALLogFunction logfunc);
CALresult recal_cl_ImageGetSize(CALuint *size, CALimage image);
CALresult recal_cl_ImageWrite(CALvoid *buffer, CALuint size, CALimage image);
CALresult recal_cl_ExtSupported(CALCLextid extid);
CALresult recal_cl_ExtGetProc(CALCLextproc *proc, CALCLextid extid, const CALchar *procname);
const CALchar *recal_cl_GetErrorString(void);

#define PUBLIC __attribute__((visibility("default")))

PUBLIC CALresult calclGetVersion(CALuint *major, CALuint *minor, CALuint *imp)
{
    return recal_cl_GetVersion(major, minor, imp);
}

PUBLIC CALresult calclCompile(CALobject *obj, CALlanguage language, const CALchar *source, CALtarget target)
{
    return recal_cl_Compile(obj, language, source, target);
}

PUBLIC CALresult calclLink(CALimage *image, CALobject *obj, CALuint objCount)
{
    return recal_cl_Link(image, obj, objCount);
}

PUBLIC CALresult calclFreeObject(CALobject obj)
{
    return recal_cl_FreeObject(obj);
}

PUBLIC CALresult calclFreeImage(CALimage image)
{
    return recal_cl_FreeImage(image);
}

PUBLIC void calclDisassembleImage(const CALimage image, CALLogFunction logfunc)
{
    (void)recal_cl_DisassembleImage(image, logfunc);
}

PUBLIC CALresult calclAssembleObject(CALobject *obj, CALCLprogramType type, const CALchar *source, CALtarget target)
{
    return recal_cl_AssembleObject(obj, type, source, target);
}

PUBLIC void calclDisassembleObject(const CALobject *obj, CALLogFunction logfunc)
{
    (void)recal_cl_DisassembleObject(obj, logfunc);
}

PUBLIC CALresult calclImageGetSize(CALuint *size, CALimage image)
{
    return recal_cl_ImageGetSize(size, image);
}

PUBLIC CALresult calclImageWrite(CALvoid *buffer, CALuint size, CALimage image)
{
    return recal_cl_ImageWrite(buffer, size, image);
}

PUBLIC const CALchar *calclGetErrorString(void)
{
    return recal_cl_GetErrorString();
}

PUBLIC CALresult calclExtSupported(CALCLextid extid)
{
    return recal_cl_ExtSupported(extid);
}

PUBLIC CALresult calclExtGetProc(CALCLextproc *proc, CALCLextid extid, const CALchar *procname)
{
    return recal_cl_ExtGetProc(proc, extid, procname);
}
