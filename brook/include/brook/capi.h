/*
 * The C interface of libbrook. The C++ classes of Stream.h and KernelInterface.h stand on it, and so can bindings of other
 * languages. All functions may be called with NULL objects; what fails is kept as the error of the streams concerned.
 */
#ifndef BROOK_CAPI_H
#define BROOK_CAPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brook_stream brook_stream;
typedef struct brook_kernel brook_kernel;

/* Numbers of a stream's element: what they are (char, uchar, short, ushort, int, uint, float, double: 0 to 7), how many, and where
 * in the element they begin, in bytes. */
typedef struct brook_member {
    unsigned int scalar, width, offset;
} brook_member;

/* What a kernel of the CPU back end sees of an argument: values, and extents and strides in elements, x first. */
typedef struct brook_cpu_array {
    void* data;
    unsigned int dims[4];
    size_t strides[4];
} brook_cpu_array;

typedef struct brook_cpu_call {
    const brook_cpu_array* arrays;
    unsigned int origin[4];   /* of the positions that run */
    unsigned int extent[4];   /* likewise, x first */
    unsigned int shape[4];    /* of the stream that rules; where it is stored to only, of all positions */
    int resize;               /* inputs of other extents are repeated or skipped over, not cut */
    unsigned int group;       /* threads of a group, 0 without groups */
    void* shared;             /* memory of the group that runs */
    unsigned int shared_bytes;
} brook_cpu_call;

/* Runs elements begin to end - 1, or groups with that number. */
typedef void (*brook_cpu_kernel)(const brook_cpu_call* call, size_t begin, size_t end);

enum { BROOK_STREAM, BROOK_GATHER, BROOK_CONSTANT, BROOK_CONSTANT_BUFFER, BROOK_OUTPUT, BROOK_SCATTER, BROOK_REDUCE };

typedef struct brook_argument {
    int kind;
    brook_stream* stream;
    const void* data;           /* of constants */
    unsigned int scalar, width; /* of constants */
    unsigned int count;         /* elements of a constant buffer */
} brook_argument;

typedef struct brook_call {
    const char* name;
    const brook_kernel* cal;
    brook_cpu_kernel cpu;
    int reduce;
    unsigned int group;  /* threads of a group, 0 without groups */
    unsigned int shared; /* bytes of a group's shared array */
    const brook_argument* arguments;
    unsigned int count;
    const unsigned int* offset; /* four numbers, or NULL */
    const unsigned int* size;   /* likewise */
} brook_call;

/* Programs of a kernel, added one after the other; kept until the process ends. kind: 0 constant, 1 constant array, 2 input, 3
 * output. what: usage of a constant, or member of an element; access: 0 random, 1 stream. */
brook_kernel* brook_kernel_new(void);
void brook_kernel_technique(brook_kernel* kernel, int translation);
void brook_kernel_pass(brook_kernel* kernel, const char* name, const char* il, int compute);
void brook_kernel_entry(brook_kernel* kernel, int kind, unsigned int argument, unsigned int what, int access);

/* 1 if it ran; 0 if its outputs are as they were, and have an error. */
int brook_run(const brook_call* call);

brook_stream* brook_stream_new(unsigned int rank, const unsigned int* dims, const brook_member* members, unsigned int count, unsigned int size);
void brook_stream_retain(brook_stream* stream);
void brook_stream_release(brook_stream* stream);
void brook_stream_read(brook_stream* stream, const void* from, const char* flags);
void brook_stream_write(brook_stream* stream, void* to, const char* flags);
void brook_stream_assign(brook_stream* stream, brook_stream* from);
brook_stream* brook_stream_domain(brook_stream* stream, const unsigned int* start, const unsigned int* end);
brook_stream* brook_stream_exec_domain(brook_stream* stream, unsigned int count);
int brook_stream_is_sync(brook_stream* stream);
void brook_stream_finish(brook_stream* stream);
int brook_stream_error(brook_stream* stream);
const char* brook_stream_error_log(brook_stream* stream);
void brook_stream_property(brook_stream* stream, const char* name, void* value);
unsigned int brook_stream_rank(brook_stream* stream);
const unsigned int* brook_stream_dims(brook_stream* stream);
/* Number of the device, as brook_devices counts. */
unsigned int brook_stream_device(brook_stream* stream);

/* Number of the first device of a type ("cal", "cpu", "all") and how many there are. */
unsigned int brook_devices(const char* type, unsigned int* count);
/* 1 of the CPU, 0 of a device of CAL. */
int brook_device_is_cpu(unsigned int device);
/* Makes a device that of this thread; gives the one before. */
unsigned int brook_use_device(unsigned int device);

/* Asked when memory ends; true to try again. */
typedef int (*brook_memory_handler)(size_t bytes);
void brook_set_memory_handler(brook_memory_handler handler);

#ifdef __cplusplus
}
#endif

#endif
