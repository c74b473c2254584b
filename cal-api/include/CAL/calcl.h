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

/*
 * Version of the compiler, 1.4.1734. Works at any time.
 *
 * major: receives 1.
 * minor: receives 4.
 * imp: receives 1734.
 *
 * CAL_RESULT_INVALID_PARAMETER: one of the pointers is NULL.
 *
 * Example:
 *     CALuint major, minor, imp;
 *     calclGetVersion(&major, &minor, &imp);
 */
CALAPI CALresult CALAPIENTRY calclGetVersion(CALuint* major, CALuint* minor, CALuint* imp);

/*
 * Compiles NUL-terminated text. On failure *obj is NULL and calclGetErrorString holds the diagnostics. Works at
 * any time, without a device.
 *
 * obj: receives the object; NULL on failure.
 * language: CAL_LANGUAGE_IL.
 * source: the text.
 * target: the chip to compile for: that of calDeviceGetInfo.
 *
 * CAL_RESULT_INVALID_PARAMETER: obj or source is NULL, or language or target has no such value.
 * CAL_RESULT_ERROR: the text has errors, which calclGetErrorString tells with their lines.
 *
 * Lifetime: until calclFreeObject.
 *
 * Example:
 *     if (calclCompile(&object, CAL_LANGUAGE_IL, il, info.target) != CAL_RESULT_OK)
 *         fprintf(stderr, "%s\n", calclGetErrorString());
 */
CALAPI CALresult CALAPIENTRY calclCompile(CALobject* obj, CALlanguage language, const CALchar* source,
                                          CALtarget target);

/*
 * Makes one image from objects, usually one, or one per target. The objects may be freed afterwards. Works at any
 * time.
 *
 * image: receives the image; NULL on failure.
 * obj: the objects.
 * objCount: how many they are.
 *
 * CAL_RESULT_INVALID_PARAMETER: image, obj or one of the objects is NULL, or objCount is 0.
 * CAL_RESULT_ERROR: two objects are for one target, or one is damaged.
 *
 * Lifetime: until calclFreeImage or calImageFree.
 *
 * Example:
 *     calclLink(&image, &object, 1);
 */
CALAPI CALresult CALAPIENTRY calclLink(CALimage* image, CALobject* obj, CALuint objCount);

/*
 * Frees an object. Works at any time.
 *
 * obj: the object; not to be used afterwards.
 *
 * CAL_RESULT_INVALID_PARAMETER: obj is NULL.
 *
 * Lifetime: images that were linked from it stay.
 *
 * Example:
 *     calclFreeObject(object);
 */
CALAPI CALresult CALAPIENTRY calclFreeObject(CALobject obj);

/*
 * Frees an image; the same as calImageFree. Works at any time.
 *
 * image: the image; not to be used afterwards.
 *
 * CAL_RESULT_INVALID_PARAMETER: image is NULL.
 *
 * Lifetime: modules that were loaded from it stay.
 *
 * Example:
 *     calclFreeImage(image);
 */
CALAPI CALresult CALAPIENTRY calclFreeImage(CALimage image);

/*
 * Lists the code of an image: for each target the IL in canonical form, then the SPIR-V. Works at any time. It
 * returns nothing; what is wrong is told by calclGetErrorString.
 *
 * image: the image.
 * logfunc: called with each line, newline included.
 *
 * Lifetime: the text is good until logfunc returns.
 *
 * Example:
 *     calclDisassembleImage(image, show);
 */
CALAPI void CALAPIENTRY calclDisassembleImage(const CALimage image, CALLogFunction logfunc);

/*
 * Would assemble machine code of a chip, given as text. There is none here that runs it, so it answers
 * CAL_RESULT_NOT_SUPPORTED. Works at any time.
 *
 * obj: receives NULL.
 * type: pixel or compute kernel.
 * source: the text.
 * target: the chip.
 *
 * CAL_RESULT_INVALID_PARAMETER: obj or source is NULL, or type or target has no such value.
 * CAL_RESULT_NOT_SUPPORTED: all else: compile IL by calclCompile.
 *
 * Example:
 *     if (calclAssembleObject(&object, CAL_PROGRAM_TYPE_PS, "", CAL_TARGET_CYPRESS) == CAL_RESULT_NOT_SUPPORTED)
 *         puts("no machine code here");
 */
CALAPI CALresult CALAPIENTRY calclAssembleObject(CALobject* obj, CALCLprogramType type, const CALchar* source,
                                                 CALtarget target);

/*
 * Lists the code of an object. Takes a pointer to the handle. Works at any time. It returns nothing; what is wrong
 * is told by calclGetErrorString.
 *
 * obj: the address of the object.
 * logfunc: called with each line, newline included.
 *
 * Lifetime: the text is good until logfunc returns.
 *
 * Example:
 *     calclDisassembleObject(&object, show);
 */
CALAPI void CALAPIENTRY calclDisassembleObject(const CALobject* obj, CALLogFunction logfunc);

/*
 * Bytes that calclImageWrite needs. Works at any time.
 *
 * size: receives the number.
 * image: the image.
 *
 * CAL_RESULT_INVALID_PARAMETER: size or image is NULL.
 * CAL_RESULT_ERROR: the image is damaged.
 *
 * Example:
 *     CALuint needed;
 *     calclImageGetSize(&needed, image);
 */
CALAPI CALresult CALAPIENTRY calclImageGetSize(CALuint* size, CALimage image);

/*
 * Writes an image to memory, to be stored and read back by calImageRead. Works at any time.
 *
 * buffer: receives the bytes.
 * size: bytes that it has.
 * image: the image.
 *
 * CAL_RESULT_INVALID_PARAMETER: buffer or image is NULL.
 * CAL_RESULT_ERROR: the buffer is too small, or the image damaged.
 *
 * Example:
 *     CALuint needed;
 *     calclImageGetSize(&needed, image);
 *     bytes = malloc(needed);
 *     calclImageWrite(bytes, needed, image);
 */
CALAPI CALresult CALAPIENTRY calclImageWrite(CALvoid* buffer, CALuint size, CALimage image);

/*
 * Text about the last call to the compiler that failed, with the diagnostics of the kernel; never NULL. Works at
 * any time.
 *
 * Lifetime: the text stays valid while the next 256 different ones are asked for.
 *
 * Example:
 *     fprintf(stderr, "%s\n", calclGetErrorString());
 */
CALAPI const CALchar* CALAPIENTRY calclGetErrorString(void);

#ifdef __cplusplus
}
#endif

#endif /* __CALCL_H__ */
