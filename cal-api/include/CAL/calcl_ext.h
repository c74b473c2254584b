/*
 * calcl_ext.h - extensions of the CAL compiler. There are none to name, only the two queries.
 */
#ifndef __CALCL_EXT_H__
#define __CALCL_EXT_H__

#include "calcl.h"

#ifdef __cplusplus
#define CALAPI
#else
#define CALAPI extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names of extensions. */
typedef enum CALCLextidEnum {
    CALCL_EXT_XXXX = 0x1001 /* stands for nothing */
} CALCLextid;

/* A function of an extension. */
typedef CALvoid* CALCLextproc;

/*
 * CAL_RESULT_OK when the extension is there; there are none. Works at any time.
 *
 * extid: which.
 *
 * CAL_RESULT_NOT_SUPPORTED: it is not there.
 *
 * Example:
 *     if (calclExtSupported(CALCL_EXT_XXXX) != CAL_RESULT_OK)
 *         puts("no extensions");
 */
CALAPI CALresult CALAPIENTRY calclExtSupported(CALCLextid extid);

/*
 * Gives a function of an extension, or NULL and an error; there are none. Works at any time.
 *
 * proc: receives NULL.
 * extid: the extension.
 * procname: the name of the function.
 *
 * CAL_RESULT_INVALID_PARAMETER: proc or procname is NULL.
 * CAL_RESULT_NOT_SUPPORTED: there is no such extension or function.
 *
 * Example:
 *     CALCLextproc found;
 *     calclExtGetProc(&found, CALCL_EXT_XXXX, "none");
 */
CALAPI CALresult CALAPIENTRY calclExtGetProc(CALCLextproc* proc, CALCLextid extid, const CALchar* procname);

#ifdef __cplusplus
}
#endif

#endif /* __CALCL_EXT_H__ */
