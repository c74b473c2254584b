/*
 * cal_ext_counter.h - performance counters (extension CAL_EXT_COUNTERS).
 *
 * Create a counter, Begin it before the launches and copies to measure, End it after them, wait for them, Get the
 * value: a fraction between 0 and 1.
 */
#ifndef __CAL_EXT_COUNTER_H__
#define __CAL_EXT_COUNTER_H__

#include "cal.h"
#include "cal_ext.h"

#ifdef __cplusplus
#define CALAPI
#else
#define CALAPI extern
#endif

#ifndef CALAPIENTRYP
#define CALAPIENTRYP CALAPIENTRY *
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A counter of a context. */
typedef CALuint CALcounter;

/* What is counted. */
typedef enum CALcountertypeEnum {
    CAL_COUNTER_IDLE                 = 0, /* share of the time in which the device did nothing */
    CAL_COUNTER_INPUT_CACHE_HIT_RATE = 1  /* share of reads of inputs that the cache served */
} CALcountertype;

/* Makes a counter of a context. type says what it counts. */
typedef CALresult (CALAPIENTRYP PFNCALCTXCREATECOUNTER)(CALcounter* counter, CALcontext ctx, CALcountertype type);
/* Destroys a counter. */
typedef CALresult (CALAPIENTRYP PFNCALCTXDESTROYCOUNTER)(CALcontext ctx, CALcounter counter);
/* Counting begins with the work that is queued next. */
typedef CALresult (CALAPIENTRYP PFNCALCTXBEGINCOUNTER)(CALcontext ctx, CALcounter counter);
/* Counting ends with the work that was queued last. */
typedef CALresult (CALAPIENTRYP PFNCALCTXENDCOUNTER)(CALcontext ctx, CALcounter counter);
/* The value of a counter, from 0 to 1, once the work is done. */
typedef CALresult (CALAPIENTRYP PFNCALCTXGETCOUNTER)(CALfloat* result, CALcontext ctx, CALcounter counter);

#ifdef __cplusplus
}
#endif

#endif /* __CAL_EXT_COUNTER_H__ */
