/*
 * cal_ext.h - extensions of the CAL runtime.
 *
 * calExtSupported tells whether an extension is there, calExtGetProc gives its functions by name. The functions
 * are not symbols of the library; the types to call them through are below.
 */
#ifndef __CAL_EXT_H__
#define __CAL_EXT_H__

#include "cal.h"

#ifdef __cplusplus
#define CALAPI
#else
#define CALAPI extern
#endif

#ifndef CALAPIENTRYP
#define CALAPIENTRYP CALAPIENTRY *
#endif

/* Atomic counters a device has. */
#define CAL_MAX_ATOMIC_COUNTER 11

#ifdef __cplusplus
extern "C" {
#endif

/* Names of extensions. */
typedef enum CALextidEnum {
    CAL_EXT_D3D9           = 0x1001, /* Direct3D 9 interoperation (Windows) */
    CAL_EXT_RESERVED       = 0x1002, /* nothing */
    CAL_EXT_D3D10          = 0x1003, /* Direct3D 10 interoperation (Windows) */
    CAL_EXT_COUNTERS       = 0x1004, /* performance counters: cal_ext_counter.h */
    CAL_EXT_DOMAIN_PARAMS  = 0x1005, /* calCtxRunProgramParams */
    CAL_EXT_RES_CREATE     = 0x1006, /* calResCreate2D, calResCreate1D */
    CAL_EXT_COMPUTE_SHADER = 0x1007, /* calCtxRunProgramGrid, calModuleGetFuncInfo, calCtxRunProgramGridArray */
    CAL_EXT_SAMPLER_PARAM  = 0x1008  /* calCtxSetSamplerParams, calCtxGetSamplerParams */
} CALextid;

/* A function of an extension; cast it to its type below. */
typedef CALvoid* CALextproc;

/* Four floats. */
typedef struct CALvec4fRec {
    CALfloat x;
    CALfloat y;
    CALfloat z;
    CALfloat w;
} CALvec4f;

/* An interpolated input, given at three corners of the domain. */
typedef struct CALparamRec {
    CALvec4f ul; /* upper left */
    CALvec4f ll; /* lower left */
    CALvec4f lr; /* lower right */
} CALparam;

/* The interpolated inputs v0 to v7 of a pixel kernel. */
typedef struct CALdomainparamRec {
    CALparam param0;
    CALparam param1;
    CALparam param2;
    CALparam param3;
    CALparam param4;
    CALparam param5;
    CALparam param6;
    CALparam param7;
} CALdomainparam;

/* Which part of a sampler's state to set or get. */
typedef enum calSamplerParameterEnum {
    CAL_SAMPLER_PARAM_FETCH4       = 0, /* deprecated */
    CAL_SAMPLER_PARAM_DEFAULT      = 0, /* back to the defaults */
    CAL_SAMPLER_PARAM_MIN_FILTER   = 1, /* CALsamplerParamMinFilter */
    CAL_SAMPLER_PARAM_MAG_FILTER   = 2, /* CALsamplerParamMagFilter */
    CAL_SAMPLER_PARAM_WRAP_S       = 3, /* CALsamplerParamWrapMode, first coordinate */
    CAL_SAMPLER_PARAM_WRAP_T       = 4, /* second coordinate */
    CAL_SAMPLER_PARAM_WRAP_R       = 5, /* third coordinate */
    CAL_SAMPLER_PARAM_BORDER_COLOR = 6, /* four CALfloat */
    CAL_SAMPLER_PARAM_LAST         = 7
} CALsamplerParameter;

/* Filters when a surface is seen smaller than it is. */
typedef enum calSamplerParamMinFilter {
    CAL_SAMPLER_MIN_LINEAR                             = 0,
    CAL_SAMPLER_MIN_NEAREST                            = 1,
    CAL_SAMPLER_MIN_NEAREST_MIPMAP_NEAREST             = 2,
    CAL_SAMPLER_MIN_NEAREST_MIPMAP_LINEAR              = 3,
    CAL_SAMPLER_MIN_LINEAR_MIPMAP_NEAREST              = 4,
    CAL_SAMPLER_MIN_LINEAR_MIPMAP_LINEAR               = 5,
    reserved_min0                                      = 6,
    CAL_SAMPLER_MIN_LINEAR_FOUR_SAMPLE                 = 7,
    CAL_SAMPLER_MIN_LINEAR_FOUR_SAMPLE_MIPMAP_NEAREST  = 8,
    reserved_min1                                      = 9,
    reserved_min2                                      = 10
} CALsamplerParamMinFilter;

/* Filters when a surface is seen larger than it is. Mind that the order differs from the one above. */
typedef enum calSamplerParamMagFilter {
    CAL_SAMPLER_MAG_NEAREST            = 0,
    CAL_SAMPLER_MAG_LINEAR             = 1,
    reserved_mag0                      = 2,
    reserved_mag1                      = 3,
    CAL_SAMPLER_MAG_LINEAR_FOUR_SAMPLE = 4
} CALsamplerParamMagFilter;

/* What lies outside a surface. */
typedef enum calSamplerParamWrapMode {
    CAL_SAMPLER_WRAP_REPEAT                     = 0,
    CAL_SAMPLER_WRAP_MIRRORED_REPEAT            = 1,
    CAL_SAMPLER_WRAP_CLAMP_TO_EDGE              = 2,
    CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_EDGE_EXT   = 3,
    CAL_SAMPLER_WRAP_CLAMP                      = 4,
    CAL_SAMPLER_WRAP_MIRROR_CLAMP_EXT           = 5,
    CAL_SAMPLER_WRAP_CLAMP_TO_BORDER            = 6,
    CAL_SAMPLER_WRAP_MIRROR_CLAMP_TO_BORDER_EXT = 7
} CALsamplerParamWrapMode;

/*
 * CAL_RESULT_OK when the extension is there.
 *
 * extid: which.
 *
 * CAL_RESULT_NOT_SUPPORTED: it is not there.
 *
 * Example:
 *     if (calExtSupported(CAL_EXT_RES_CREATE) == CAL_RESULT_OK)
 *         puts("memory of the program can be a resource");
 */
CALAPI CALresult CALAPIENTRY calExtSupported(CALextid extid);

/*
 * Version of an extension, 1.0.
 *
 * major: receives 1.
 * minor: receives 0.
 * extid: which.
 *
 * CAL_RESULT_INVALID_PARAMETER: major or minor is NULL.
 * CAL_RESULT_NOT_SUPPORTED: it is not there.
 *
 * Example:
 *     CALuint major, minor;
 *     calExtGetVersion(&major, &minor, CAL_EXT_COUNTERS);
 */
CALAPI CALresult CALAPIENTRY calExtGetVersion(CALuint* major, CALuint* minor, CALextid extid);

/*
 * Gives a function of an extension, or NULL and an error. Cast it to its type of these headers.
 *
 * proc: receives the function; NULL on failure.
 * extid: the extension.
 * procname: the name of the function.
 *
 * CAL_RESULT_INVALID_PARAMETER: proc or procname is NULL.
 * CAL_RESULT_NOT_SUPPORTED: there is no such extension or function.
 *
 * Lifetime: as long as the library is loaded, calShutdown included.
 *
 * Example:
 *     CALextproc found;
 *     PFNCALRESCREATE2D create;
 *     calExtGetProc(&found, CAL_EXT_RES_CREATE, "calResCreate2D");
 *     create = (PFNCALRESCREATE2D)found;
 *     create(&res, device, bytes, 64, 64, CAL_FORMAT_FLOAT_1, 0, 0);
 */
CALAPI CALresult CALAPIENTRY calExtGetProc(CALextproc* proc, CALextid extid, const CALchar* procname);

/* CAL_EXT_DOMAIN_PARAMS: as calCtxRunProgram, with values for v0 to v7. */
typedef CALresult (CALAPIENTRYP PFNCALCTXRUNPROGRAMPARAMS)(CALevent* event, CALcontext ctx, CALfunc func,
                                                           const CALdomain* domain, const CALdomainparam* params);

/*
 * CAL_EXT_RES_CREATE: a remote resource on memory of the application, which keeps it alive until calResFree.
 * Host writes before a launch are seen by it; its results are in the memory when its event is done. size counts
 * bytes; 0 derives it from the shape.
 */
typedef CALresult (CALAPIENTRYP PFNCALRESCREATE2D)(CALresource* res, CALdevice dev, CALvoid* mem, CALuint width,
                                                   CALuint height, CALformat format, CALuint size, CALuint flags);
typedef CALresult (CALAPIENTRYP PFNCALRESCREATE1D)(CALresource* res, CALdevice dev, CALvoid* mem, CALuint width,
                                                   CALformat format, CALuint size, CALuint flags);

/* CAL_EXT_COMPUTE_SHADER: the functions that cal.h declares, for programs that must not depend on the symbols. */
typedef CALresult (CALAPIENTRYP PFNCALCTXRUNPROGRAMGRID)(CALevent* event, CALcontext ctx,
                                                         CALprogramGrid* pProgramGrid);
typedef CALresult (CALAPIENTRYP PFNCALMODULEGETFUNCINFO)(CALfuncInfo* pInfo, CALcontext ctx, CALmodule module,
                                                         CALfunc func);
typedef CALresult (CALAPIENTRYP PFNCALCTXRUNPROGRAMGRIDARRAY)(CALevent* event, CALcontext ctx,
                                                              CALprogramGridArray* pGridArray);

/* CAL_EXT_SAMPLER_PARAM: vals points to one value of the parameter's type, or to four floats. */
typedef CALresult (CALAPIENTRYP PFNCALSETSAMPLERPARAMS)(CALcontext ctx, CALname name, CALsamplerParameter param,
                                                        CALvoid* vals);
typedef CALresult (CALAPIENTRYP PFNCALGETSAMPLERPARAMS)(CALcontext ctx, CALname name, CALsamplerParameter param,
                                                        CALvoid* vals);

/* Reads or writes one of the counters behind append_buf_alloc and append_buf_consume. */
typedef CALresult (CALAPIENTRYP PFNCALREADATOMICCOUNTER)(CALdevice dev, CALuint index, CALuint* value);
typedef CALresult (CALAPIENTRYP PFNCALWRITEATOMICCOUNTER)(CALdevice dev, CALuint index, CALuint value);

#ifdef __cplusplus
}
#endif

#endif /* __CAL_EXT_H__ */
