/*
 * What the samples share: the command line of the kits of 2009, a clock, numbers, comparison, verdict and pictures.
 */
#ifndef COMMON_H
#define COMMON_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brook/brook.h"

/* What the command line says. */
typedef struct Options {
    const char* name;
    unsigned width;      /* -x */
    unsigned height;     /* -y */
    unsigned iterations; /* -i: how often the kernels run */
    unsigned seed;       /* -s: of the random numbers */
    int verify;          /* -e: compare with a computation on the host */
    int timing;          /* -t: print times */
    int quiet;           /* -q: no data */
    const char* picture; /* -o: a file for a picture, or NULL */
} Options;

/* Reads the command line. Extents of 0 are options that the sample does not have. Ends the program after -h, and with status
 * 255 where an option is unknown. */
Options sampleOptions(int argc, char** argv, const char* name, const char* what, unsigned width, unsigned height);

/* Times of runs: the first has the programs compiled in it. */
typedef struct Timer {
    double start, first, best;
    unsigned runs;
} Timer;

void timerStart(Timer* timer);
void timerStop(Timer* timer);
/* After -t: the first and the best time, and the rate: `work` in a run, told in `unit` a second. */
void timerPrint(const Options* options, const Timer* timer, const char* what, double work, const char* unit);

/* The same numbers on every machine. */
unsigned sampleRandom(unsigned* state);
void sampleFill(float* data, size_t count, float low, float high, unsigned* state);

/* Memory or the end of the program. */
void* sampleMemory(size_t bytes);
float* sampleFloats(size_t count);

/* Unless -q: the upper left corner of a matrix. */
void samplePrint(const Options* options, const char* title, const float* data, unsigned width, unsigned height);

/* True if all numbers are near: within `tolerance`, relative where the expected number exceeds 1. Tells the first that is not.
 * A tolerance of 0 asks for equal numbers. */
int sampleNear(const char* what, const float* found, const float* expected, size_t count, double tolerance);
int sampleEqual(const char* what, const int* found, const int* expected, size_t count);

/* True if nothing went wrong with a stream; tells what did. */
int sampleCode(BRerror code, const char* log);
template<class T> int sampleFine(brook::Stream<T>& stream)
{
    BRerror code = stream.error();
    return sampleCode(code, stream.errorLog());
}

/* The verdict, after -e; the exit status. `passed` is false also where a stream had an error. */
int sampleVerdict(const Options* options, int passed);

/* A picture of three bytes a pixel: PPM. */
int samplePicture(const char* file, const unsigned char* pixels, unsigned width, unsigned height);

#endif
