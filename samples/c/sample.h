/*
 * sample.h - what the samples share: the command line, the clock, and the CAL calls every program makes.
 *
 * Each function ends the program with a message when a CAL call fails, so that the samples show the idea and not
 * the error handling. hellocal.c and findnumdevices.c do without it and show the plain calls.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cal.h"
#include "cal_ext.h"
#include "calcl.h"

/* Command line: [-n SIZE] [-m SIZE] [-i ITERATIONS] [-d DEVICE] [-o FILE] [--checksum]. Preset the fields with the
 * defaults. */
typedef struct {
    unsigned    n;          /* main size; what it counts is up to the sample */
    unsigned    m;          /* second size, 0 when the sample has none */
    unsigned    iterations; /* how often the timed part runs */
    unsigned    device;     /* ordinal */
    const char* picture;    /* file for a picture: "" when the sample can make one, NULL when not */
} SampleOptions;

void sample_options(int argc, char** argv, SampleOptions* options, const char* what);

/* Seconds since some fixed moment. */
double sample_seconds(void);

/* Deterministic values: the same on every machine. */
uint32_t sample_random(uint32_t* state);
float    sample_random_float(uint32_t* state); /* 0 <= value < 1, 24 bits */

/* a * b + c, rounded once. */
double sample_fma(double a, double b, double c);

/* Prints the verdict, and after --checksum that of all results; returns the exit status for main. */
int sample_verdict(const char* name, int passed);

/*
 * Adds results to the checksum, which tells two devices apart that do not compute the same bits. sample_read does it; only
 * results that are read otherwise need it. The order in which buffers are added does not matter.
 */
void sample_sum(const void* results, size_t bytes);

/* Ends the program if the result is not CAL_RESULT_OK. */
void sample_check(CALresult result, const char* what);

/* Memory or the end of the program. */
void* sample_memory(size_t bytes);

/* An open device with a context. */
typedef struct {
    CALdevice        device;
    CALcontext       context;
    CALdeviceinfo    info;
    CALdeviceattribs attribs;
} SampleDevice;

void sample_start(SampleDevice* device, unsigned ordinal); /* calInit, then sample_open */
void sample_end(SampleDevice* device);                    /* sample_close, then calShutdown */
void sample_open(SampleDevice* device, unsigned ordinal); /* for several devices: calInit must have been called */
void sample_close(SampleDevice* device);

/* A kernel loaded into the device's context. */
typedef struct {
    CALmodule module;
    CALfunc   entry;
} SampleKernel;

void sample_kernel(SampleDevice* device, SampleKernel* kernel, const char* il);
void sample_unload(SampleDevice* device, SampleKernel* kernel);

/* A resource with its mem. Rows in host memory are packed; the pitch is dealt with here. */
typedef struct {
    CALresource resource;
    CALmem      mem;
    unsigned    width;
    unsigned    height; /* 0 for one dimension */
    size_t      bytes;  /* per element */
} SampleBuffer;

enum { SAMPLE_LOCAL = 0, SAMPLE_REMOTE = 1, SAMPLE_GLOBAL = 2, SAMPLE_CACHED = 4 };

void sample_buffer(SampleDevice* device, SampleBuffer* buffer, unsigned width, unsigned height, CALformat format,
                   unsigned kind);
void sample_write(const SampleBuffer* buffer, const void* packed);
void sample_read(const SampleBuffer* buffer, void* packed);
void sample_free(SampleDevice* device, SampleBuffer* buffer);

/* Binds a buffer to a symbol of a kernel. */
void sample_bind(SampleDevice* device, const SampleKernel* kernel, const char* symbol, const SampleBuffer* buffer);

/* A stream of a kernel: allocates the buffer, fills it unless the data are NULL, and binds it. */
void sample_stream(SampleDevice* device, const SampleKernel* kernel, const char* symbol, SampleBuffer* buffer,
                   unsigned width, unsigned height, CALformat format, unsigned kind, const void* packed);

/* The same for a constant buffer of so many rows, four words each, in host memory. */
void sample_constants(SampleDevice* device, const SampleKernel* kernel, const char* symbol, SampleBuffer* buffer,
                      const void* rows, unsigned count);

/* Run and wait. */
void sample_run_domain(SampleDevice* device, const SampleKernel* kernel, unsigned width, unsigned height);
void sample_run_grid(SampleDevice* device, const SampleKernel* kernel, unsigned groups, unsigned block);
void sample_run_grid2(SampleDevice* device, const SampleKernel* kernel, const unsigned groups[2],
                      const unsigned block[2]);
void sample_wait(SampleDevice* device, CALevent event);

/* The same so many times; seconds of a launch, on average. */
double sample_time_domain(SampleDevice* device, const SampleKernel* kernel, unsigned width, unsigned height,
                          unsigned iterations);
double sample_time_grid(SampleDevice* device, const SampleKernel* kernel, unsigned groups, unsigned block,
                        unsigned iterations);
double sample_time_grid2(SampleDevice* device, const SampleKernel* kernel, const unsigned groups[2],
                         const unsigned block[2], unsigned iterations);

/* Writes a grey picture, a byte for each pixel, as PNG, where the command line asks for one. */
void sample_picture(const SampleOptions* options, unsigned width, unsigned height, const unsigned char* pixels);

/* What pixel kernels and compute kernels start with. */
#define SAMPLE_PS "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n"
#define SAMPLE_CS(GROUP) "il_cs_2_0\ndcl_num_thread_per_group " #GROUP "\n"

/* A two-dimensional input of floats, addressed by element; the middle of element (x, y) is (x + 0.5, y + 0.5). */
#define SAMPLE_INPUT(N) \
    "dcl_resource_id(" #N ")_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n"

#endif
