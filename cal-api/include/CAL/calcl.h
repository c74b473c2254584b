/*
 * calcl.h - compiler half of the CAL C interface: AMD IL text to loadable images.
 *
 * Nothing here needs calInit, a device or a context. Link with -laticalcl.
 */
#ifndef __CALCL_H__
#define __CALCL_H__

#include "cal.h"

#ifdef __cplusplus
#define CALAPI
#else
#define CALAPI extern
#endif

#ifdef _WIN32
#define CALAPIENTRY __stdcall
#else
#define CALAPIENTRY
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Languages that calclCompile reads. */
typedef enum CALlanguageEnum {
    CAL_LANGUAGE_IL = 1 /* AMD IL, text */
} CALlanguage;

/* Kinds of program that calclAssembleObject reads. */
typedef enum CALCLprogramTypeEnum {
    CAL_PROGRAM_TYPE_PS = 0, /* pixel kernel */
    CAL_PROGRAM_TYPE_CS = 1  /* compute kernel */
} CALCLprogramType;

/* Receives a listing, line by line; each text ends with its newline. */
typedef void (*CALLogFunction)(const CALchar* msg);

/* Version of the compiler. */
CALAPI CALresult CALAPIENTRY calclGetVersion(CALuint* major, CALuint* minor, CALuint* imp);

/* Compiles NUL-terminated text. On failure *obj is NULL and calclGetErrorString holds the diagnostics. */
CALAPI CALresult CALAPIENTRY calclCompile(CALobject* obj, CALlanguage language, const CALchar* source,
                                          CALtarget target);

/* Makes one image from objects, usually one, or one per target. The objects may be freed afterwards. */
CALAPI CALresult CALAPIENTRY calclLink(CALimage* image, CALobject* obj, CALuint objCount);

/* Frees an object. */
CALAPI CALresult CALAPIENTRY calclFreeObject(CALobject obj);

/* Frees an image; the same as calImageFree. */
CALAPI CALresult CALAPIENTRY calclFreeImage(CALimage image);

/* Lists the code of an image. */
CALAPI void CALAPIENTRY calclDisassembleImage(const CALimage image, CALLogFunction logfunc);

/* Assembles machine code of a chip, given as text. */
CALAPI CALresult CALAPIENTRY calclAssembleObject(CALobject* obj, CALCLprogramType type, const CALchar* source,
                                                 CALtarget target);

/* Lists the code of an object. Takes a pointer to the handle. */
CALAPI void CALAPIENTRY calclDisassembleObject(const CALobject* obj, CALLogFunction logfunc);

/* Bytes that calclImageWrite needs. */
CALAPI CALresult CALAPIENTRY calclImageGetSize(CALuint* size, CALimage image);

/* Writes an image to memory, to be stored and read back by calImageRead. */
CALAPI CALresult CALAPIENTRY calclImageWrite(CALvoid* buffer, CALuint size, CALimage image);

/* Text about the last call to the compiler that failed; never NULL. */
CALAPI const CALchar* CALAPIENTRY calclGetErrorString(void);

#ifdef __cplusplus
}
#endif

#endif /* __CALCL_H__ */
