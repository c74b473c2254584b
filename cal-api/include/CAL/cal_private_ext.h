/*
 * cal_private_ext.h - extensions that were never public but that programs came to use.
 *
 * Only CAL_PRIVATE_EXT_SYNC_OBJECT (calCtxWaitForEvents) and CAL_PRIVATE_EXT_ATOMIC_COUNTER are of use; the other
 * numbers are listed so that programs that ask for them compile, and are answered "not supported".
 */
#ifndef __CAL_PRIVATE_EXT_H__
#define __CAL_PRIVATE_EXT_H__

#include "cal_ext.h"

#ifndef CALAPIENTRYP
#define CALAPIENTRYP CALAPIENTRY *
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names of extensions; cast to CALextid. */
typedef enum calPrivateExtidEnum {
    CAL_PRIVATE_EXT_PM4CAP                           = 0x8001,
    CAL_PRIVATE_EXT_SAMPLER_PARAM                    = 0x8002,
    CAL_PRIVATE_EXT_DOMAIN_PARAMS                    = 0x8003,
    CAL_PRIVATE_EXT_INTERNAL_COUNTERS                = 0x8005,
    CAL_PRIVATE_EXT_RUNTIME_CONFIG                   = 0x8007,
    CAL_PRIVATE_EXT_RESOURCES                        = 0x8008,
    CAL_PRIVATE_EXT_SYNC_OBJECT                      = 0x8009, /* calCtxWaitForEvents */
    CAL_PRIVATE_EXT_DEVICE_CLOCKUP                   = 0x800A,
    CAL_PRIVATE_EXT_MEMCOPY_RAW                      = 0x800B,
    CAL_PRIVATE_EXT_EXTENDED_RUNPROGRAMGRID          = 0x800C,
    CAL_PRIVATE_EXT_OPENGL                           = 0x800D,
    CAL_PRIVATE_EXT_RES_ALLOC                        = 0x800E,
    CAL_PRIVATE_EXT_RES_ALLOC_SLICE_VIEW             = 0x800F,
    CAL_PRIVATE_EXT_HEAP                             = 0x8010,
    CAL_PRIVATE_EXT_ATOMIC_COUNTER                   = 0x8011, /* calReadAtomicCounter, calWriteAtomicCounter */
    CAL_PRIVATE_EXT_VIDEO                            = 0x8012,
    CAL_PRIVATE_EXT_COMPILER                         = 0x8013,
    CAL_PRIVATE_EXT_EXTENDED_RUNPROGRAMGRID_CB_OFFSET = 0x8014,
    CAL_PRIVATE_EXT_EXTENDED_DEVICEATTRIBS           = 0x8015,
    CAL_PRIVATE_EXT_FLUSH_CACHE                      = 0x8016,
    CAL_PRIVATE_EXT_MEMCOPY_PARTIAL                  = 0x8017
} calPrivateExtid;

/* How calCtxWaitForEvents waits. */
typedef enum CALwaitTypeEnum {
    CAL_WAIT_LOW_CPU_UTILIZATION = 0, /* sleep */
    CAL_WAIT_POLLING             = 1  /* spin */
} CALwaitType;

/* Blocks until all n events of the context are done; starts queued work. */
typedef CALresult (CALAPIENTRYP PFNCALCTXWAITFOREVENTS)(CALcontext ctx, CALevent* events, CALuint n, CALuint flags);

#ifdef __cplusplus
}
#endif

#endif /* __CAL_PRIVATE_EXT_H__ */
