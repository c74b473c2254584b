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

/* CAL_RESULT_OK when the extension is there. */
CALAPI CALresult CALAPIENTRY calclExtSupported(CALCLextid extid);

/* Gives a function of an extension, or NULL and an error. */
CALAPI CALresult CALAPIENTRY calclExtGetProc(CALCLextproc* proc, CALCLextid extid, const CALchar* procname);

#ifdef __cplusplus
}
#endif

#endif /* __CALCL_EXT_H__ */
