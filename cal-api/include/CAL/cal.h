/*
 * cal.h - runtime half of the Compute Abstraction Layer (CAL) C interface.
 *
 * Written from scratch for reCAL; names, values and memory layouts are those that programs of 2008-2011 were
 * compiled against. Link with -laticalrt (this header) and -laticalcl (calcl.h).
 *
 * Conventions
 *   - Every function that can fail returns a CALresult; CAL_RESULT_OK is zero.
 *   - Handles are 32-bit numbers. A live handle is never zero; an output handle is set to zero on failure.
 *   - Sizes of resources, pitches and domains count elements, never bytes.
 *   - All functions may be called from any thread.
 *   - calGetErrorString() tells what went wrong last.
 *
 * The comments of functions say, line by line, what each parameter is and when which code is returned. Not repeated
 * there: CAL_RESULT_OK; CAL_RESULT_NOT_INITIALIZED outside calInit ... calShutdown, unless the function works at any
 * time; CAL_RESULT_ERROR where memory is short or something fails inside. recal-manual and the man pages are made of
 * these comments, so they keep their form.
 *
 * The header is plain C: it works as C89 (with a 64-bit integer type), C99, C11 and every C++.
 */
#ifndef __CAL_H__
#define __CAL_H__

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

/* ------------------------------------------------------------------------------------------------------------
 * Scalar types
 * --------------------------------------------------------------------------------------------------------- */

typedef void           CALvoid;   /* nothing, or untyped memory */
typedef char           CALchar;   /* text */
typedef signed char    CALbyte;   /* 8 bits, signed */
typedef unsigned char  CALubyte;  /* 8 bits, unsigned */
typedef signed short   CALshort;  /* 16 bits, signed */
typedef unsigned short CALushort; /* 16 bits, unsigned */
typedef signed int     CALint;    /* 32 bits, signed */
typedef unsigned int   CALuint;   /* 32 bits, unsigned */
typedef float          CALfloat;  /* 32-bit IEEE float */
typedef double         CALdouble; /* 64-bit IEEE float */
typedef signed long    CALlong;   /* the platform's long: 64 bits on x86-64 Linux, 32 bits elsewhere */
typedef unsigned long  CALulong;  /* its unsigned twin */

#if defined(_MSC_VER)
typedef signed __int64   CALint64;  /* 64 bits, signed */
typedef unsigned __int64 CALuint64; /* 64 bits, unsigned */
#elif defined(__GNUC__)
/* g++ in C++98 mode warns of long long even behind __extension__. */
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#endif
__extension__ typedef signed long long   CALint64;  /* 64 bits, signed */
__extension__ typedef unsigned long long CALuint64; /* 64 bits, unsigned */
#if defined(__cplusplus) && __cplusplus < 201103L
#pragma GCC diagnostic pop
#endif
#else
#error "cal.h: no 64-bit integer type is known for this compiler"
#endif

/* Truth value, 32 bits wide. */
typedef enum CALbooleanEnum {
    CAL_FALSE = 0,
    CAL_TRUE  = 1
} CALboolean;

/* ------------------------------------------------------------------------------------------------------------
 * Handles
 * --------------------------------------------------------------------------------------------------------- */

typedef CALuint CALdevice;   /* an open device: calDeviceOpen */
typedef CALuint CALcontext;  /* a command queue with its bindings: calCtxCreate */
typedef CALuint CALresource; /* memory with a shape and a format: calResAlloc... */
typedef CALuint CALmem;      /* a resource as seen by one context: calCtxGetMem */
typedef CALuint CALfunc;     /* an entry point of a module: calModuleGetEntry */
typedef CALuint CALname;     /* a bindable symbol of a module: calModuleGetName */
typedef CALuint CALmodule;   /* a kernel loaded into a context: calModuleLoad */
typedef CALuint CALevent;    /* a point in a context's queue: calCtxRunProgram, calMemCopy ... */

typedef struct CALobjectRec* CALobject; /* one compiled kernel: calclCompile */
typedef struct CALimageRec*  CALimage;  /* a linked, loadable kernel: calclLink, calImageRead */

/* The event that stands for "none". */
#define CAL_EVENT_INVALID 0

/* ------------------------------------------------------------------------------------------------------------
 * Enumerations
 * --------------------------------------------------------------------------------------------------------- */

/* How a call went. */
typedef enum CALresultEnum {
    CAL_RESULT_OK                = 0,  /* done */
    CAL_RESULT_ERROR             = 1,  /* failed; see calGetErrorString */
    CAL_RESULT_INVALID_PARAMETER = 2,  /* an argument has a value that is not allowed */
    CAL_RESULT_NOT_SUPPORTED     = 3,  /* a legal request that this runtime or device cannot serve */
    CAL_RESULT_ALREADY           = 4,  /* the state asked for is already there */
    CAL_RESULT_NOT_INITIALIZED   = 5,  /* outside calInit ... calShutdown */
    CAL_RESULT_BAD_HANDLE        = 6,  /* no such object */
    CAL_RESULT_BAD_NAME_TYPE     = 7,  /* the symbol is of another kind */
    CAL_RESULT_PENDING           = 8,  /* work is not finished yet */
    CAL_RESULT_BUSY              = 9,  /* the object is still in use */
    CAL_RESULT_WARNING           = 10  /* done, but the compiler has remarks */
} CALresult;

/*
 * Element formats. The digit at the end counts components. 32-bit "NORM" formats hold raw 32-bit words: they are
 * never scaled. The short names of the first header generation follow as aliases.
 */
typedef enum CALformatEnum {
    CAL_FORMAT_UNORM_INT8_1     = 0,  /*  1 byte,  0 .. 1 in 8 bits */
    CAL_FORMAT_UNORM_INT8_2     = 1,  /*  2 bytes */
    CAL_FORMAT_UNORM_INT8_4     = 2,  /*  4 bytes */
    CAL_FORMAT_UNORM_INT16_1    = 3,  /*  2 bytes, 0 .. 1 in 16 bits */
    CAL_FORMAT_UNORM_INT16_2    = 4,  /*  4 bytes */
    CAL_FORMAT_UNORM_INT16_4    = 5,  /*  8 bytes */
    CAL_FORMAT_UNORM_INT32_4    = 6,  /* 16 bytes, raw words */
    CAL_FORMAT_SNORM_INT8_4     = 7,  /*  4 bytes, -1 .. 1 in 8 bits */
    CAL_FORMAT_SNORM_INT16_1    = 8,  /*  2 bytes, -1 .. 1 in 16 bits */
    CAL_FORMAT_SNORM_INT16_2    = 9,  /*  4 bytes */
    CAL_FORMAT_SNORM_INT16_4    = 10, /*  8 bytes */
    CAL_FORMAT_FLOAT32_1        = 11, /*  4 bytes */
    CAL_FORMAT_FLOAT32_2        = 12, /*  8 bytes */
    CAL_FORMAT_FLOAT32_4        = 13, /* 16 bytes */
    CAL_FORMAT_FLOAT64_1        = 14, /*  8 bytes, seen by kernels as the pair x, y */
    CAL_FORMAT_FLOAT64_2        = 15, /* 16 bytes, the pairs x, y and z, w */
    CAL_FORMAT_UNORM_INT32_1    = 16, /*  4 bytes, raw words */
    CAL_FORMAT_UNORM_INT32_2    = 17, /*  8 bytes */
    CAL_FORMAT_SNORM_INT8_1     = 18, /*  1 byte */
    CAL_FORMAT_SNORM_INT8_2     = 19, /*  2 bytes */
    CAL_FORMAT_SNORM_INT32_1    = 20, /*  4 bytes, raw words */
    CAL_FORMAT_SNORM_INT32_2    = 21, /*  8 bytes */
    CAL_FORMAT_SNORM_INT32_4    = 22, /* 16 bytes */
    CAL_FORMAT_UNSIGNED_INT8_1  = 23, /*  1 byte, integers from here on */
    CAL_FORMAT_UNSIGNED_INT8_2  = 24, /*  2 bytes */
    CAL_FORMAT_UNSIGNED_INT8_4  = 25, /*  4 bytes */
    CAL_FORMAT_SIGNED_INT8_1    = 26, /*  1 byte */
    CAL_FORMAT_SIGNED_INT8_2    = 27, /*  2 bytes */
    CAL_FORMAT_SIGNED_INT8_4    = 28, /*  4 bytes */
    CAL_FORMAT_UNSIGNED_INT16_1 = 29, /*  2 bytes */
    CAL_FORMAT_UNSIGNED_INT16_2 = 30, /*  4 bytes */
    CAL_FORMAT_UNSIGNED_INT16_4 = 31, /*  8 bytes */
    CAL_FORMAT_SIGNED_INT16_1   = 32, /*  2 bytes */
    CAL_FORMAT_SIGNED_INT16_2   = 33, /*  4 bytes */
    CAL_FORMAT_SIGNED_INT16_4   = 34, /*  8 bytes */
    CAL_FORMAT_UNSIGNED_INT32_1 = 35, /*  4 bytes */
    CAL_FORMAT_UNSIGNED_INT32_2 = 36, /*  8 bytes */
    CAL_FORMAT_UNSIGNED_INT32_4 = 37, /* 16 bytes */
    CAL_FORMAT_SIGNED_INT32_1   = 38, /*  4 bytes */
    CAL_FORMAT_SIGNED_INT32_2   = 39, /*  8 bytes */
    CAL_FORMAT_SIGNED_INT32_4   = 40, /* 16 bytes */
    CAL_FORMAT_UNORM_SHORT_565  = 41, /*  2 bytes, three fields of 5, 6 and 5 bits */
    CAL_FORMAT_UNORM_SHORT_555  = 42, /*  2 bytes, three fields of 5 bits, one bit unused */
    CAL_FORMAT_UNORM_INT10_3    = 43, /*  4 bytes, three fields of 10 bits, two bits unused */
    CAL_FORMAT_FLOAT16_1        = 44, /*  2 bytes, 16-bit floats */
    CAL_FORMAT_FLOAT16_2        = 45, /*  4 bytes */
    CAL_FORMAT_FLOAT16_4        = 46, /*  8 bytes */
    CAL_FORMAT_LAST             = CAL_FORMAT_FLOAT16_4,

    /* Names of the first generation. */
    CAL_FORMAT_UBYTE_1  = CAL_FORMAT_UNORM_INT8_1,
    CAL_FORMAT_UBYTE_2  = CAL_FORMAT_UNORM_INT8_2,
    CAL_FORMAT_UBYTE_4  = CAL_FORMAT_UNORM_INT8_4,
    CAL_FORMAT_USHORT_1 = CAL_FORMAT_UNORM_INT16_1,
    CAL_FORMAT_USHORT_2 = CAL_FORMAT_UNORM_INT16_2,
    CAL_FORMAT_USHORT_4 = CAL_FORMAT_UNORM_INT16_4,
    CAL_FORMAT_UINT_4   = CAL_FORMAT_UNORM_INT32_4,
    CAL_FORMAT_BYTE_4   = CAL_FORMAT_SNORM_INT8_4,
    CAL_FORMAT_SHORT_1  = CAL_FORMAT_SNORM_INT16_1,
    CAL_FORMAT_SHORT_2  = CAL_FORMAT_SNORM_INT16_2,
    CAL_FORMAT_SHORT_4  = CAL_FORMAT_SNORM_INT16_4,
    CAL_FORMAT_FLOAT_1  = CAL_FORMAT_FLOAT32_1,
    CAL_FORMAT_FLOAT_2  = CAL_FORMAT_FLOAT32_2,
    CAL_FORMAT_FLOAT_4  = CAL_FORMAT_FLOAT32_4,
    CAL_FORMAT_DOUBLE_1 = CAL_FORMAT_FLOAT64_1,
    CAL_FORMAT_DOUBLE_2 = CAL_FORMAT_FLOAT64_2,
    CAL_FORMAT_UINT_1   = CAL_FORMAT_UNORM_INT32_1,
    CAL_FORMAT_UINT_2   = CAL_FORMAT_UNORM_INT32_2,
    CAL_FORMAT_BYTE_1   = CAL_FORMAT_SNORM_INT8_1,
    CAL_FORMAT_BYTE_2   = CAL_FORMAT_SNORM_INT8_2,
    CAL_FORMAT_INT_1    = CAL_FORMAT_SNORM_INT32_1,
    CAL_FORMAT_INT_2    = CAL_FORMAT_SNORM_INT32_2,
    CAL_FORMAT_INT_4    = CAL_FORMAT_SNORM_INT32_4,
    CAL_FORMAT_32BIT_TYPELESS = CAL_FORMAT_UNSIGNED_INT32_1
} CALformat;

/* Shapes of surfaces; no public function takes one. */
typedef enum _CALdimensionEnum {
    CAL_DIM_BUFFER  = 0,
    CAL_DIM_1D      = 1,
    CAL_DIM_2D      = 2,
    CAL_DIM_3D      = 3,
    CAL_DIM_CUBEMAP = 4,
    CAL_DIM_FIRST   = CAL_DIM_BUFFER,
    CAL_DIM_LAST    = CAL_DIM_CUBEMAP
} CALdimension;

/* Chips that kernels are compiled for. */
typedef enum CALtargetEnum {
    CAL_TARGET_600       = 0,  /* R600 */
    CAL_TARGET_610       = 1,  /* RV610 */
    CAL_TARGET_630       = 2,  /* RV630, RV635 */
    CAL_TARGET_670       = 3,  /* RV670 */
    CAL_TARGET_7XX       = 4,  /* R700 class, not further specified */
    CAL_TARGET_770       = 5,  /* RV770, RV740 */
    CAL_TARGET_710       = 6,  /* RV710 */
    CAL_TARGET_730       = 7,  /* RV730 */
    CAL_TARGET_CYPRESS   = 8,  /* Cypress, Hemlock: the first with all of Evergreen, doubles included */
    CAL_TARGET_JUNIPER   = 9,  /* Juniper */
    CAL_TARGET_REDWOOD   = 10, /* Redwood */
    CAL_TARGET_CEDAR     = 11, /* Cedar */
    CAL_TARGET_RESERVED0 = 12,
    CAL_TARGET_RESERVED1 = 13,
    CAL_TARGET_WRESTLER  = 14, /* Wrestler */
    CAL_TARGET_CAYMAN    = 15, /* Cayman */
    CAL_TARGET_RESERVED2 = 16,
    CAL_TARGET_BARTS     = 17  /* Barts */
} CALtarget;

/* Bits for the flags argument of calResAlloc...; zero is a plain resource. */
typedef enum CALresallocflagsEnum {
    CAL_RESALLOC_GLOBAL_BUFFER = 1, /* linear memory for g[] and uav#; may exceed maxResource1DWidth */
    CAL_RESALLOC_CACHEABLE     = 2  /* remote memory that the host reads fast */
} CALresallocflags;

/* ------------------------------------------------------------------------------------------------------------
 * Structures
 * --------------------------------------------------------------------------------------------------------- */

/* What a device is and how large its resources may be. Limits count elements. */
typedef struct CALdeviceinfoRec {
    CALtarget target;              /* chip to compile for */
    CALuint   maxResource1DWidth;  /* longest 1D resource (global buffers may be longer) */
    CALuint   maxResource2DWidth;  /* widest 2D resource */
    CALuint   maxResource2DHeight; /* tallest 2D resource */
} CALdeviceinfo;

/*
 * Facts about a device. Set struct_size before the call: exactly that many bytes are filled, so that programs
 * built with shorter, older versions of this structure keep working. Memory is in MB, clocks in MHz.
 */
typedef struct CALdeviceattribsRec {
    CALuint    struct_size;                 /* set by the caller to sizeof(CALdeviceattribs) */
    CALtarget  target;                      /* chip */
    CALuint    localRAM;                    /* device memory */
    CALuint    uncachedRemoteRAM;           /* host memory for uncached remote resources */
    CALuint    cachedRemoteRAM;             /* host memory for cacheable remote resources */
    CALuint    engineClock;                 /* core clock */
    CALuint    memoryClock;                 /* memory clock */
    CALuint    wavefrontSize;               /* threads that run in lockstep */
    CALuint    numberOfSIMD;                /* SIMD engines */
    CALboolean doublePrecision;             /* 64-bit float instructions work */
    CALboolean localDataShare;              /* LDS works */
    CALboolean globalDataShare;             /* GDS works */
    CALboolean globalGPR;                   /* shared registers work */
    CALboolean computeShader;               /* il_cs kernels work */
    CALboolean memExport;                   /* g[] works */
    CALuint    pitch_alignment;             /* pitches are multiples of this many elements */
    CALuint    surface_alignment;           /* resources start at multiples of this many bytes */
    CALuint    numberOfUAVs;                /* uav# slots */
    CALboolean bUAVMemExport;               /* the only UAV shares the path of g[] */
    CALboolean b3dProgramGrid;              /* grids may have a height and a depth */
    CALuint    numberOfShaderEngines;       /* shader engines */
    CALuint    targetRevision;              /* revision of the chip */
    CALuint    totalVisibleHeap;            /* device memory the host can see */
    CALuint    totalInvisibleHeap;          /* device memory the host cannot see */
    CALuint    totalDirectHeap;             /* memory for direct access */
    CALuint    totalCoherentHeap;           /* memory kept coherent with the host */
    CALuint    totalRemoteSharedHeap;       /* uncached remote memory shared between devices */
    CALuint    totalCachedRemoteSharedHeap; /* cached remote memory shared between devices */
} CALdeviceattribs;

/* Memory that is free now, in MB. Set struct_size before the call, as above. */
typedef struct CALdevicestatusRec {
    CALuint struct_size;                        /* set by the caller to sizeof(CALdevicestatus) */
    CALuint availLocalRAM;                      /* free, by heap */
    CALuint availUncachedRemoteRAM;
    CALuint availCachedRemoteRAM;
    CALuint availVisibleHeap;
    CALuint availInvisibleHeap;
    CALuint availDirectHeap;
    CALuint availCoherentHeap;
    CALuint availRemoteSharedHeap;
    CALuint availCachedRemoteSharedHeap;
    CALuint largestBlockVisibleHeap;            /* largest single block, by heap */
    CALuint largestBlockInvisibleHeap;
    CALuint largestBlockRemoteHeap;
    CALuint largestBlockCachedRemoteHeap;
    CALuint largestBlockDirectHeap;
    CALuint largestBlockCoherentHeap;
    CALuint largestBlockRemoteSharedHeap;
    CALuint largestBlockCachedRemoteSharedHeap;
} CALdevicestatus;

/* Rectangle of threads for a pixel kernel: one thread per position. */
typedef struct CALdomainRec {
    CALuint x;      /* first column */
    CALuint y;      /* first row */
    CALuint width;  /* columns */
    CALuint height; /* rows */
} CALdomain;

/* Extent in three dimensions. */
typedef struct CALdomain3DRec {
    CALuint width;
    CALuint height;
    CALuint depth;
} CALdomain3D;

/* A launch of a compute kernel. */
typedef struct CALprogramGridRec {
    CALfunc     func;      /* what to run */
    CALdomain3D gridBlock; /* threads per group; as the kernel declares */
    CALdomain3D gridSize;  /* number of groups */
    CALuint     flags;     /* 0 */
} CALprogramGrid;

/* Several launches submitted as one. */
typedef struct CALprogramGridArrayRec {
    CALprogramGrid* gridArray; /* the launches, in order */
    CALuint         num;       /* how many */
    CALuint         flags;     /* 0 */
} CALprogramGridArray;

/* What a loaded kernel needs. */
typedef struct CALfuncInfoRec {
    CALuint    maxScratchRegsNeeded; /* spilled registers */
    CALuint    numSharedGPRUser;     /* shared registers the kernel declares */
    CALuint    numSharedGPRTotal;    /* shared registers in all */
    CALboolean eCsSetupMode;         /* thread ids need the slow set-up */
    CALuint    numThreadPerGroup;    /* threads per group, all dimensions together */
    CALuint    numThreadPerGroupX;   /* and by dimension */
    CALuint    numThreadPerGroupY;
    CALuint    numThreadPerGroupZ;
    CALuint    totalNumThreadGroup;  /* groups in the grid, if the kernel declares it */
    CALuint    numWavefrontPerSIMD;  /* waves that fit on a SIMD engine */
    CALboolean isMaxNumWavePerSIMD;  /* that is the most the chip can hold */
    CALboolean setBufferForNumGroup; /* the number of groups is passed in a buffer */
    CALuint    wavefrontSize;        /* threads per wave */
    CALuint    numGPRsAvailable;     /* vector registers a thread may use */
    CALuint    numGPRsUsed;          /* and uses */
    CALuint    LDSSizeAvailable;     /* LDS bytes a group may use */
    CALuint    LDSSizeUsed;          /* and uses */
    CALuint    stackSizeAvailable;   /* control-flow stack entries a thread may use */
    CALuint    stackSizeUsed;        /* and uses */
} CALfuncInfo;

/* ------------------------------------------------------------------------------------------------------------
 * Subsystem
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Starts the runtime and finds the devices. The environment variables are read now. A second call before
 * calShutdown answers CAL_RESULT_ALREADY and changes nothing. Works at any time.
 *
 * CAL_RESULT_ALREADY: the runtime runs already.
 *
 * Lifetime: the runtime lasts until calShutdown; pairs of both may follow each other. A child of fork has a
 *     runtime that was never started.
 *
 * Example:
 *     if (calInit() != CAL_RESULT_OK)
 *         fprintf(stderr, "%s\n", calGetErrorString());
 */
CALAPI CALresult CALAPIENTRY calInit(void);

/*
 * Version of the runtime, 1.4.1734: programs of the time compare it with what they need. Works at any time.
 *
 * major: receives 1.
 * minor: receives 4.
 * imp: receives 1734.
 *
 * CAL_RESULT_INVALID_PARAMETER: one of the pointers is NULL.
 *
 * Example:
 *     CALuint major, minor, imp;
 *     calGetVersion(&major, &minor, &imp);
 *     printf("CAL %u.%u.%u\n", major, minor, imp);
 */
CALAPI CALresult CALAPIENTRY calGetVersion(CALuint* major, CALuint* minor, CALuint* imp);

/*
 * Ends the runtime: waits for work in flight, frees whatever is still alive, makes every handle stale.
 *
 * Lifetime: what is mapped stays readable until the process ends. Calls afterwards answer
 *     CAL_RESULT_NOT_INITIALIZED.
 *
 * Example:
 *     calShutdown();
 */
CALAPI CALresult CALAPIENTRY calShutdown(void);

/* ------------------------------------------------------------------------------------------------------------
 * Devices
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Number of devices; ordinals run from 0 to count - 1. GPUs come first, the CPU last.
 *
 * count: receives the number.
 *
 * CAL_RESULT_INVALID_PARAMETER: count is NULL.
 *
 * Example:
 *     CALuint count;
 *     calDeviceGetCount(&count);
 */
CALAPI CALresult CALAPIENTRY calDeviceGetCount(CALuint* count);

/*
 * Target and limits of a device, which need not be open.
 *
 * info: receives them; all zero on failure.
 * ordinal: which device, from 0 to count - 1.
 *
 * CAL_RESULT_INVALID_PARAMETER: info is NULL.
 * CAL_RESULT_ERROR: there is no device of that ordinal.
 *
 * Example:
 *     CALdeviceinfo limits;
 *     if (calDeviceGetInfo(&limits, 0) == CAL_RESULT_OK)
 *         printf("up to %u x %u elements\n", limits.maxResource2DWidth, limits.maxResource2DHeight);
 */
CALAPI CALresult CALAPIENTRY calDeviceGetInfo(CALdeviceinfo* info, CALuint ordinal);

/*
 * Facts about a device, which need not be open. As many bytes are written as attribs->struct_size says, so that
 * programs built with older headers keep working.
 *
 * attribs: receives them; its struct_size must be set.
 * ordinal: which device, from 0 to count - 1.
 *
 * CAL_RESULT_INVALID_PARAMETER: attribs is NULL, or struct_size is below 8.
 * CAL_RESULT_ERROR: there is no device of that ordinal.
 *
 * Example:
 *     CALdeviceattribs facts;
 *     facts.struct_size = sizeof facts;
 *     calDeviceGetAttribs(&facts, 0);
 *     printf("%u SIMD engines, waves of %u\n", facts.numberOfSIMD, facts.wavefrontSize);
 */
CALAPI CALresult CALAPIENTRY calDeviceGetAttribs(CALdeviceattribs* attribs, CALuint ordinal);

/*
 * Free memory of an open device, in MB. status->struct_size must be set.
 *
 * status: receives it; its struct_size must be set.
 * device: the open device.
 *
 * CAL_RESULT_INVALID_PARAMETER: status is NULL, or struct_size is below 8.
 * CAL_RESULT_BAD_HANDLE: device is not open.
 *
 * Example:
 *     CALdevicestatus memory;
 *     memory.struct_size = sizeof memory;
 *     calDeviceGetStatus(&memory, device);
 */
CALAPI CALresult CALAPIENTRY calDeviceGetStatus(CALdevicestatus* status, CALdevice device);

/*
 * Opens a device. Each ordinal can be open once at a time.
 *
 * dev: receives the device; 0 on failure.
 * ordinal: which device, from 0 to count - 1.
 *
 * CAL_RESULT_INVALID_PARAMETER: dev is NULL.
 * CAL_RESULT_ALREADY: the device is open.
 * CAL_RESULT_ERROR: there is no device of that ordinal, or its driver fails.
 *
 * Lifetime: until calDeviceClose or calShutdown.
 *
 * Example:
 *     CALdevice first;
 *     if (calDeviceOpen(&first, 0) != CAL_RESULT_OK)
 *         fprintf(stderr, "%s\n", calGetErrorString());
 */
CALAPI CALresult CALAPIENTRY calDeviceOpen(CALdevice* dev, CALuint ordinal);

/*
 * Closes a device with its contexts and resources.
 *
 * dev: the device; stale afterwards.
 *
 * CAL_RESULT_BAD_HANDLE: dev is not open.
 *
 * Lifetime: what is mapped stays readable until the process ends.
 *
 * Example:
 *     calDeviceClose(device);
 */
CALAPI CALresult CALAPIENTRY calDeviceClose(CALdevice dev);

/* ------------------------------------------------------------------------------------------------------------
 * Resources: "local" is device memory, "remote" is host memory that the device reaches
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Allocates device memory of two dimensions.
 *
 * res: receives the resource; 0 on failure.
 * dev: the device.
 * width: columns, in elements.
 * height: rows.
 * format: what an element is.
 * flags: 0, or CAL_RESALLOC_GLOBAL_BUFFER: no limit but memory for one dimension.
 *
 * CAL_RESULT_INVALID_PARAMETER: res is NULL, an extent is 0, or format or flags have no such value.
 * CAL_RESULT_BAD_HANDLE: dev is not open.
 * CAL_RESULT_ERROR: the extent is beyond the limits of the device, or memory is short.
 *
 * Lifetime: until calResFree, calDeviceClose or calShutdown. The contents are zero at first.
 *
 * Example:
 *     CALresource image2d;
 *     calResAllocLocal2D(&image2d, device, 640, 480, CAL_FORMAT_FLOAT_4, 0);
 */
CALAPI CALresult CALAPIENTRY calResAllocLocal2D(CALresource* res, CALdevice dev, CALuint width, CALuint height,
                                                CALformat format, CALuint flags);

/*
 * Allocates host memory of two dimensions that devices reach.
 *
 * res: receives the resource; 0 on failure.
 * dev: the devices that will use it.
 * deviceCount: how many they are; usually 1.
 * width: columns, in elements.
 * height: rows.
 * format: what an element is.
 * flags: 0, or CAL_RESALLOC_CACHEABLE: the host reads it fast; or CAL_RESALLOC_GLOBAL_BUFFER.
 *
 * CAL_RESULT_INVALID_PARAMETER: res or dev is NULL, deviceCount or an extent is 0, or format or flags have no
 *     such value.
 * CAL_RESULT_BAD_HANDLE: one of the devices is not open.
 * CAL_RESULT_ERROR: the extent is beyond the limits of the device, or memory is short.
 *
 * Lifetime: until calResFree, calDeviceClose or calShutdown. The contents are zero at first.
 *
 * Example:
 *     CALresource staging;
 *     calResAllocRemote2D(&staging, &device, 1, 640, 480, CAL_FORMAT_FLOAT_4, CAL_RESALLOC_CACHEABLE);
 */
CALAPI CALresult CALAPIENTRY calResAllocRemote2D(CALresource* res, CALdevice* dev, CALuint deviceCount,
                                                 CALuint width, CALuint height, CALformat format, CALuint flags);

/*
 * Allocates device memory of one dimension.
 *
 * res: receives the resource; 0 on failure.
 * dev: the device.
 * width: elements.
 * format: what an element is.
 * flags: 0, or CAL_RESALLOC_GLOBAL_BUFFER: no limit but memory for one dimension.
 *
 * CAL_RESULT_INVALID_PARAMETER: res is NULL, an extent is 0, or format or flags have no such value.
 * CAL_RESULT_BAD_HANDLE: dev is not open.
 * CAL_RESULT_ERROR: the extent is beyond the limits of the device, or memory is short.
 *
 * Lifetime: until calResFree, calDeviceClose or calShutdown. The contents are zero at first.
 *
 * Example:
 *     CALresource buffer;
 *     calResAllocLocal1D(&buffer, device, 1 << 20, CAL_FORMAT_UNSIGNED_INT32_4, CAL_RESALLOC_GLOBAL_BUFFER);
 */
CALAPI CALresult CALAPIENTRY calResAllocLocal1D(CALresource* res, CALdevice dev, CALuint width, CALformat format,
                                                CALuint flags);

/*
 * Allocates host memory of one dimension that devices reach.
 *
 * res: receives the resource; 0 on failure.
 * dev: the devices that will use it.
 * deviceCount: how many they are; usually 1.
 * width: elements.
 * format: what an element is.
 * flags: 0, or CAL_RESALLOC_CACHEABLE: the host reads it fast; or CAL_RESALLOC_GLOBAL_BUFFER.
 *
 * CAL_RESULT_INVALID_PARAMETER: res or dev is NULL, deviceCount or width is 0, or format or flags have no such
 *     value.
 * CAL_RESULT_BAD_HANDLE: one of the devices is not open.
 * CAL_RESULT_ERROR: the extent is beyond the limits of the device, or memory is short.
 *
 * Lifetime: until calResFree, calDeviceClose or calShutdown. The contents are zero at first.
 *
 * Example:
 *     CALresource constants;
 *     calResAllocRemote1D(&constants, &device, 1, 4, CAL_FORMAT_FLOAT_4, 0);
 */
CALAPI CALresult CALAPIENTRY calResAllocRemote1D(CALresource* res, CALdevice* dev, CALuint deviceCount,
                                                 CALuint width, CALformat format, CALuint flags);

/*
 * Frees a resource. Work in flight that uses it still completes; of memory of the application (calResCreate2D) the
 * call waits for such work, and work with mems of it is CAL_RESULT_ERROR from then on.
 *
 * res: the resource; stale afterwards.
 *
 * CAL_RESULT_BAD_HANDLE: res is no resource.
 *
 * Lifetime: mems of the resource keep its memory until they are released.
 *
 * Example:
 *     calResFree(res);
 */
CALAPI CALresult CALAPIENTRY calResFree(CALresource res);

/*
 * Gives the host a pointer to a resource, and its pitch. Element (x, y) is at
 * pPtr + (y * pitch + x) * bytes-per-element. Waits for work that uses the resource.
 *
 * pPtr: receives the address; NULL on failure.
 * pitch: receives the elements from one row to the next, at least the width.
 * res: the resource.
 * flags: 0; none are known.
 *
 * CAL_RESULT_INVALID_PARAMETER: pPtr or pitch is NULL.
 * CAL_RESULT_BAD_HANDLE: res is no resource.
 * CAL_RESULT_ERROR: it is mapped already, or work that it waited for failed.
 *
 * Lifetime: the address is good until calResUnmap.
 *
 * Example:
 *     CALvoid* data;
 *     CALuint pitch, x, y;
 *     calResMap(&data, &pitch, res, 0);
 *     for (y = 0; y < 16; y++)
 *         for (x = 0; x < 16; x++)
 *             ((CALfloat*)data)[y * pitch + x] = 1.0f;
 *     calResUnmap(res);
 */
CALAPI CALresult CALAPIENTRY calResMap(CALvoid** pPtr, CALuint* pitch, CALresource res, CALuint flags);

/*
 * Ends a mapping; what the host wrote is seen by later work.
 *
 * res: the resource.
 *
 * CAL_RESULT_BAD_HANDLE: res is no resource.
 * CAL_RESULT_ERROR: it is not mapped.
 *
 * Lifetime: the address of calResMap is not to be used afterwards.
 *
 * Example:
 *     calResUnmap(res);
 */
CALAPI CALresult CALAPIENTRY calResUnmap(CALresource res);

/* ------------------------------------------------------------------------------------------------------------
 * Contexts
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Makes a context on a device: a queue of work, and what is bound to kernels.
 *
 * ctx: receives the context; 0 on failure.
 * dev: the device.
 *
 * CAL_RESULT_INVALID_PARAMETER: ctx is NULL.
 * CAL_RESULT_BAD_HANDLE: dev is not open.
 *
 * Lifetime: until calCtxDestroy, calDeviceClose or calShutdown.
 *
 * Example:
 *     CALcontext context;
 *     calCtxCreate(&context, device);
 */
CALAPI CALresult CALAPIENTRY calCtxCreate(CALcontext* ctx, CALdevice dev);

/*
 * Destroys a context with its modules and mems. Work that was submitted is still done; resources stay.
 *
 * ctx: the context; stale afterwards.
 *
 * CAL_RESULT_BAD_HANDLE: ctx is no context.
 *
 * Lifetime: modules, functions, names, mems, counters and events of the context end with it.
 *
 * Example:
 *     calCtxDestroy(ctx);
 */
CALAPI CALresult CALAPIENTRY calCtxDestroy(CALcontext ctx);

/*
 * Makes a resource known to a context. It may be called again for the same resource.
 *
 * mem: receives the mem; 0 on failure.
 * ctx: the context.
 * res: a resource of its device.
 *
 * CAL_RESULT_INVALID_PARAMETER: mem is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or res no resource.
 * CAL_RESULT_ERROR: the resource belongs to another device.
 *
 * Lifetime: until calCtxReleaseMem or calCtxDestroy.
 *
 * Example:
 *     CALmem view;
 *     calCtxGetMem(&view, ctx, res);
 */
CALAPI CALresult CALAPIENTRY calCtxGetMem(CALmem* mem, CALcontext ctx, CALresource res);

/*
 * Gives a mem back, and unbinds it wherever it is bound. Work that was submitted with it is still done.
 *
 * ctx: the context.
 * mem: the mem; stale afterwards.
 *
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or mem none of it.
 *
 * Example:
 *     calCtxReleaseMem(ctx, mem);
 */
CALAPI CALresult CALAPIENTRY calCtxReleaseMem(CALcontext ctx, CALmem mem);

/*
 * Binds a mem to a symbol until it is replaced; mem 0 unbinds.
 *
 * ctx: the context.
 * name: the symbol, of calModuleGetName.
 * mem: what to bind, or 0.
 *
 * CAL_RESULT_BAD_HANDLE: one of the handles is none of this context.
 * CAL_RESULT_BAD_NAME_TYPE: the symbol is a sampler, which takes no memory.
 *
 * Lifetime: bindings last until they are replaced, the mem is released, or the module unloaded. A launch takes
 *     those of its moment.
 *
 * Example:
 *     calModuleGetName(&name, ctx, module, "i0");
 *     calCtxSetMem(ctx, name, mem);
 */
CALAPI CALresult CALAPIENTRY calCtxSetMem(CALcontext ctx, CALname name, CALmem mem);

/*
 * Queues a pixel kernel over a rectangle and returns. Every symbol must be bound. Completion is told by
 * calCtxIsEventDone; the first such call, or calCtxFlush, starts the work.
 *
 * event: receives the event; 0 on failure.
 * ctx: the context.
 * func: the entry point, of calModuleGetEntry.
 * domain: the rectangle of threads: thread (x, y) writes element (x, y) of the outputs.
 *
 * CAL_RESULT_INVALID_PARAMETER: event or domain is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx or func is stale, or func belongs to another context.
 * CAL_RESULT_ERROR: a symbol is not bound, or a bound resource does not fit, the kernel is a compute kernel,
 *     or the rectangle goes beyond 32 bits.
 *
 * Lifetime: the event needs no release. The module, the mems and the resources may be released at once: the
 *     launch keeps what it uses.
 *
 * Example:
 *     CALdomain rectangle = {0, 0, 640, 480};
 *     calCtxRunProgram(&event, ctx, func, &rectangle);
 *     while (calCtxIsEventDone(ctx, event) == CAL_RESULT_PENDING)
 *         ;
 */
CALAPI CALresult CALAPIENTRY calCtxRunProgram(CALevent* event, CALcontext ctx, CALfunc func,
                                              const CALdomain* domain);

/*
 * CAL_RESULT_OK when the event's work is finished, CAL_RESULT_PENDING while it is not. Starts queued work. It may
 * be asked again for ever.
 *
 * ctx: the context.
 * event: the event, of a launch or a copy.
 *
 * CAL_RESULT_PENDING: the work is not finished; no error.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or event none of it; event 0 too.
 * CAL_RESULT_ERROR: the work failed: it took too long (CAL_TIMEOUT), or the device was lost.
 *
 * Example:
 *     CALresult answer;
 *     do
 *         answer = calCtxIsEventDone(ctx, event);
 *     while (answer == CAL_RESULT_PENDING);
 *     if (answer != CAL_RESULT_OK)
 *         fprintf(stderr, "%s\n", calGetErrorString());
 */
CALAPI CALresult CALAPIENTRY calCtxIsEventDone(CALcontext ctx, CALevent event);

/*
 * Starts queued work; does not wait.
 *
 * ctx: the context.
 *
 * CAL_RESULT_BAD_HANDLE: ctx is no context.
 * CAL_RESULT_ERROR: the device is lost.
 *
 * Example:
 *     calCtxFlush(ctx);
 */
CALAPI CALresult CALAPIENTRY calCtxFlush(CALcontext ctx);

/* ------------------------------------------------------------------------------------------------------------
 * Copies
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Queues a copy of all of srcMem to the origin of dstMem and returns. Both have the same format, and dstMem is at
 * least as large in each dimension.
 *
 * event: receives the event; 0 on failure.
 * ctx: the context.
 * srcMem: what is read.
 * dstMem: what is written.
 * flags: 0; none are known.
 *
 * CAL_RESULT_INVALID_PARAMETER: event is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or a mem none of it.
 * CAL_RESULT_ERROR: formats differ, or the destination is smaller.
 *
 * Lifetime: mems and resources may be released at once: the copy keeps what it uses.
 *
 * Example:
 *     calMemCopy(&event, ctx, source, destination, 0);
 *     while (calCtxIsEventDone(ctx, event) == CAL_RESULT_PENDING)
 *         ;
 */
CALAPI CALresult CALAPIENTRY calMemCopy(CALevent* event, CALcontext ctx, CALmem srcMem, CALmem dstMem,
                                        CALuint flags);

/* ------------------------------------------------------------------------------------------------------------
 * Images and modules
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Makes an image from bytes written by calclImageWrite. The bytes are copied.
 *
 * image: receives the image; NULL on failure.
 * buffer: the bytes.
 * size: how many they are.
 *
 * CAL_RESULT_INVALID_PARAMETER: image or buffer is NULL.
 * CAL_RESULT_ERROR: the bytes are no image of CAL.
 *
 * Lifetime: until calImageFree.
 *
 * Example:
 *     CALimage stored;
 *     calImageRead(&stored, bytes, size);
 *     calModuleLoad(&module, ctx, stored);
 *     calImageFree(stored);
 */
CALAPI CALresult CALAPIENTRY calImageRead(CALimage* image, const CALvoid* buffer, CALuint size);

/*
 * Frees an image, of calImageRead or of calclLink. Works at any time.
 *
 * image: the image; not to be used afterwards.
 *
 * CAL_RESULT_INVALID_PARAMETER: image is NULL.
 *
 * Lifetime: modules that were loaded from it stay.
 *
 * Example:
 *     calImageFree(image);
 */
CALAPI CALresult CALAPIENTRY calImageFree(CALimage image);

/*
 * Loads an image into a context: its code for the target of the device, or for an older one of its generation.
 *
 * module: receives the module; 0 on failure.
 * ctx: the context.
 * image: the image; it may be freed afterwards.
 *
 * CAL_RESULT_INVALID_PARAMETER: module or image is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context.
 * CAL_RESULT_ERROR: the image has no code for the device, or is damaged.
 *
 * Lifetime: until calModuleUnload or calCtxDestroy.
 *
 * Example:
 *     if (calModuleLoad(&module, ctx, image) != CAL_RESULT_OK)
 *         fprintf(stderr, "%s\n", calGetErrorString());
 */
CALAPI CALresult CALAPIENTRY calModuleLoad(CALmodule* module, CALcontext ctx, CALimage image);

/*
 * Unloads a module; its functions and names end with it. Work in flight is still done.
 *
 * ctx: the context.
 * module: the module; stale afterwards.
 *
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or module none of it.
 *
 * Example:
 *     calModuleUnload(ctx, module);
 */
CALAPI CALresult CALAPIENTRY calModuleUnload(CALcontext ctx, CALmodule module);

/*
 * Finds the entry point; IL kernels have one, "main". Asking again gives the same handle.
 *
 * func: receives the function; 0 on failure.
 * ctx: the context.
 * module: the module.
 * procName: "main".
 *
 * CAL_RESULT_INVALID_PARAMETER: func or procName is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or module none of it.
 * CAL_RESULT_ERROR: there is no function of that name.
 *
 * Lifetime: as long as the module.
 *
 * Example:
 *     calModuleGetEntry(&func, ctx, module, "main");
 */
CALAPI CALresult CALAPIENTRY calModuleGetEntry(CALfunc* func, CALcontext ctx, CALmodule module,
                                               const CALchar* procName);

/*
 * Finds a symbol to bind: i0 ..., o0 ... o7, cb0 ..., uav0 ..., g[], s0 ... Asking again gives the same handle.
 *
 * name: receives the symbol; 0 on failure.
 * ctx: the context.
 * module: the module.
 * varName: the symbol, as the kernel has it.
 *
 * CAL_RESULT_INVALID_PARAMETER: name or varName is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, or module none of it.
 * CAL_RESULT_ERROR: the kernel has no such symbol.
 *
 * Lifetime: as long as the module.
 *
 * Example:
 *     calModuleGetName(&name, ctx, module, "cb0");
 */
CALAPI CALresult CALAPIENTRY calModuleGetName(CALname* name, CALcontext ctx, CALmodule module,
                                              const CALchar* varName);

/* ------------------------------------------------------------------------------------------------------------
 * Errors
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Text about the last call that failed, in any thread; never NULL. It names the function, the argument and the
 * reason. Asking does not change it. Works at any time.
 *
 * Lifetime: the text stays valid while the next 256 different ones are asked for.
 *
 * Example:
 *     fprintf(stderr, "%s\n", calGetErrorString());
 */
CALAPI const CALchar* CALAPIENTRY calGetErrorString(void);

/* ------------------------------------------------------------------------------------------------------------
 * Compute kernels
 * --------------------------------------------------------------------------------------------------------- */

/*
 * Queues a compute kernel over a grid of groups and returns; otherwise as calCtxRunProgram.
 *
 * event: receives the event; 0 on failure.
 * ctx: the context.
 * pProgramGrid: the function, threads per group as the kernel declares, number of groups. It is read before
 *     the call returns.
 *
 * CAL_RESULT_INVALID_PARAMETER: event or pProgramGrid is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx or func is stale, or func belongs to another context.
 * CAL_RESULT_ERROR: a symbol is not bound, or a bound resource does not fit, the kernel is a pixel kernel, or
 *     the group is not of the declared size.
 *
 * Lifetime: as of calCtxRunProgram.
 *
 * Example:
 *     CALprogramGrid grid = {0, {64, 1, 1}, {16, 1, 1}, 0};
 *     grid.func = func;
 *     calCtxRunProgramGrid(&event, ctx, &grid);
 */
CALAPI CALresult CALAPIENTRY calCtxRunProgramGrid(CALevent* event, CALcontext ctx, CALprogramGrid* pProgramGrid);

/*
 * What a loaded kernel needs: registers, LDS, threads per group.
 *
 * pInfo: receives it: the whole structure of this header.
 * ctx: the context.
 * module: the module.
 * func: its function.
 *
 * CAL_RESULT_INVALID_PARAMETER: pInfo is NULL.
 * CAL_RESULT_BAD_HANDLE: ctx is no context, module none of it, or func none of the module.
 *
 * Example:
 *     CALfuncInfo needs;
 *     calModuleGetFuncInfo(&needs, ctx, module, func);
 *     printf("%u registers, %u bytes of LDS\n", needs.numGPRsUsed, needs.LDSSizeUsed);
 */
CALAPI CALresult CALAPIENTRY calModuleGetFuncInfo(CALfuncInfo* pInfo, CALcontext ctx, CALmodule module,
                                                  CALfunc func);

/*
 * Queues several grids, one after the other, under one event.
 *
 * event: receives the event; 0 on failure.
 * ctx: the context.
 * pGridArray: the grids and their number; read before the call returns.
 *
 * CAL_RESULT_INVALID_PARAMETER: event, pGridArray or its array is NULL, or the number is 0 or above 1048576.
 * CAL_RESULT_BAD_HANDLE: ctx or a func is stale, or a func belongs to another context.
 * CAL_RESULT_ERROR: as of calCtxRunProgramGrid; then none of them runs.
 *
 * Lifetime: as of calCtxRunProgram.
 *
 * Example:
 *     CALprogramGrid grids[2] = {{0, {64, 1, 1}, {16, 1, 1}, 0}, {0, {64, 1, 1}, {4, 1, 1}, 0}};
 *     CALprogramGridArray both = {0, 2, 0};
 *     grids[0].func = grids[1].func = func;
 *     both.gridArray = grids;
 *     calCtxRunProgramGridArray(&event, ctx, &both);
 */
CALAPI CALresult CALAPIENTRY calCtxRunProgramGridArray(CALevent* event, CALcontext ctx,
                                                       CALprogramGridArray* pGridArray);

#ifdef __cplusplus
}
#endif

#endif /* __CAL_H__ */
