#define _POSIX_C_SOURCE 199309L
#include "sample.h"

#include <math.h>
#include <sched.h>
#include <time.h>

static int      show_checksum;
static uint64_t checksum;

static unsigned number(const char* text, const char* option)
{
    char* end = NULL;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || end == text || *end != '\0' || value > 0x7FFFFFFFul) {
        fprintf(stderr, "%s wants a number\n", option);
        exit(2);
    }
    return (unsigned)value;
}

void sample_options(int argc, char** argv, SampleOptions* options, const char* what)
{
    for (int i = 1; i < argc; ++i) {
        const char* option = argv[i];
        unsigned* where = NULL;
        if (strcmp(option, "--checksum") == 0) {
            show_checksum = 1;
            continue;
        }
        if (strcmp(option, "-o") == 0 && options->picture && argv[i + 1]) {
            options->picture = argv[++i];
            continue;
        }
        if (strcmp(option, "-n") == 0) {
            where = &options->n;
        } else if (strcmp(option, "-m") == 0 && options->m != 0) {
            where = &options->m;
        } else if (strcmp(option, "-i") == 0) {
            where = &options->iterations;
        } else if (strcmp(option, "-d") == 0) {
            where = &options->device;
        } else {
            int help = strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0;
            FILE* out = help ? stdout : stderr;
            fprintf(out, "%s: %s\n  -n N   size (%u)\n", argv[0], what, options->n);
            if (options->m != 0) {
                fprintf(out, "  -m N   second size (%u)\n", options->m);
            }
            fprintf(out, "  -i N   iterations (%u)\n  -d N   device (%u)\n", options->iterations, options->device);
            if (options->picture) {
                fprintf(out, "  -o FILE   write the picture as PNG\n");
            }
            fprintf(out, "  --checksum   print the checksum of all results\n");
            exit(help ? 0 : 2);
        }
        *where = number(argv[++i], option);
    }
    if (options->n == 0 || options->iterations == 0) {
        fprintf(stderr, "sizes and iterations start at 1\n");
        exit(2);
    }
}

double sample_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#ifdef _WIN32
/*
 * fma of mingw rounds twice. Here the product and its sum with c are each a number and its error; the errors are added so
 * that the last addition rounds rightly: to odd (Boldo and Melquiond, 2008). Not for numbers near the ends of the range.
 */
static double two_sum(double a, double b, double* error)
{
    double sum = a + b, part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

static double upper_half(double a)
{
    double scaled = a * 134217729.0; /* 2^27 + 1 */
    return scaled - (scaled - a);
}

double sample_fma(double a, double b, double c)
{
    double a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1, product = a * b;
    double low = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2, e1, e2, e3;
    double sum = two_sum(c, low, &e1), high = two_sum(product, sum, &e2), rest = two_sum(e1, e2, &e3);
    uint64_t bits;
    memcpy(&bits, &rest, sizeof bits);
    if (e3 != 0.0 && bits % 2 == 0) {
        bits = (e3 > 0.0) == (rest > 0.0) ? bits + 1 : bits - 1;
        memcpy(&rest, &bits, sizeof rest);
    }
    return high + rest;
}
#else
double sample_fma(double a, double b, double c)
{
    return fma(a, b, c);
}
#endif

void* sample_memory(size_t bytes)
{
    void* memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) {
        fprintf(stderr, "no memory for %lu bytes\n", (unsigned long)bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* Numerical Recipes' 32-bit linear congruence. */
uint32_t sample_random(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state;
}

float sample_random_float(uint32_t* state)
{
    return (float)(sample_random(state) >> 8) * (1.0f / 16777216.0f);
}

/* FNV-1a over each buffer, and the sum of those; threads may add at the same time. */
void sample_sum(const void* results, size_t bytes)
{
    const unsigned char* byte = results;
    uint64_t hash = 14695981039346656037u;
    if (!show_checksum) {
        return;
    }
    for (size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ byte[i]) * 1099511628211u;
    }
    __sync_fetch_and_add(&checksum, hash);
}

int sample_verdict(const char* name, int passed)
{
    if (show_checksum) {
        printf("checksum: %016llx\n", (unsigned long long)checksum);
    }
    printf("%s: %s\n", name, passed ? "PASS" : "FAIL");
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}

void sample_check(CALresult result, const char* what)
{
    if (result != CAL_RESULT_OK) {
        fprintf(stderr, "%s failed with %d\n  runtime: %s\n  compiler: %s\n", what, (int)result, calGetErrorString(),
                calclGetErrorString());
        exit(EXIT_FAILURE);
    }
}

void sample_start(SampleDevice* device, unsigned ordinal)
{
    sample_check(calInit(), "calInit");
    sample_open(device, ordinal);
}

void sample_end(SampleDevice* device)
{
    sample_close(device);
    sample_check(calShutdown(), "calShutdown");
}

void sample_open(SampleDevice* device, unsigned ordinal)
{
    memset(device, 0, sizeof *device);
    sample_check(calDeviceGetInfo(&device->info, ordinal), "calDeviceGetInfo");
    device->attribs.struct_size = sizeof device->attribs;
    sample_check(calDeviceGetAttribs(&device->attribs, ordinal), "calDeviceGetAttribs");
    sample_check(calDeviceOpen(&device->device, ordinal), "calDeviceOpen");
    sample_check(calCtxCreate(&device->context, device->device), "calCtxCreate");
}

void sample_close(SampleDevice* device)
{
    sample_check(calCtxDestroy(device->context), "calCtxDestroy");
    sample_check(calDeviceClose(device->device), "calDeviceClose");
}

void sample_kernel(SampleDevice* device, SampleKernel* kernel, const char* il)
{
    CALobject object = NULL;
    CALimage image = NULL;
    sample_check(calclCompile(&object, CAL_LANGUAGE_IL, il, device->info.target), "calclCompile");
    sample_check(calclLink(&image, &object, 1), "calclLink");
    sample_check(calclFreeObject(object), "calclFreeObject");
    sample_check(calModuleLoad(&kernel->module, device->context, image), "calModuleLoad");
    sample_check(calclFreeImage(image), "calclFreeImage");
    sample_check(calModuleGetEntry(&kernel->entry, device->context, kernel->module, "main"), "calModuleGetEntry");
}

void sample_unload(SampleDevice* device, SampleKernel* kernel)
{
    sample_check(calModuleUnload(device->context, kernel->module), "calModuleUnload");
}

static size_t element_bytes(CALformat format)
{
    switch (format) {
    case CAL_FORMAT_UNORM_INT8_1:
        return 1;
    case CAL_FORMAT_UNORM_INT8_4:
    case CAL_FORMAT_FLOAT32_1:
    case CAL_FORMAT_UNORM_INT32_1:
    case CAL_FORMAT_UNSIGNED_INT32_1:
    case CAL_FORMAT_SIGNED_INT32_1:
        return 4;
    case CAL_FORMAT_FLOAT32_2:
    case CAL_FORMAT_FLOAT64_1:
    case CAL_FORMAT_UNSIGNED_INT32_2:
        return 8;
    case CAL_FORMAT_FLOAT32_4:
    case CAL_FORMAT_FLOAT64_2:
    case CAL_FORMAT_UNSIGNED_INT32_4:
    case CAL_FORMAT_SIGNED_INT32_4:
        return 16;
    default:
        fprintf(stderr, "sample_buffer: format %d is not one that the samples use\n", (int)format);
        exit(EXIT_FAILURE);
    }
}

void sample_buffer(SampleDevice* device, SampleBuffer* buffer, unsigned width, unsigned height, CALformat format,
                   unsigned kind)
{
    CALuint flags = (kind & SAMPLE_GLOBAL ? CAL_RESALLOC_GLOBAL_BUFFER : 0u) |
                    (kind & SAMPLE_CACHED ? CAL_RESALLOC_CACHEABLE : 0u);
    int remote = (kind & SAMPLE_REMOTE) != 0;
    buffer->width = width;
    buffer->height = height;
    buffer->bytes = element_bytes(format);
    if (height == 0 && remote) {
        sample_check(calResAllocRemote1D(&buffer->resource, &device->device, 1, width, format, flags),
                     "calResAllocRemote1D");
    } else if (height == 0) {
        sample_check(calResAllocLocal1D(&buffer->resource, device->device, width, format, flags),
                     "calResAllocLocal1D");
    } else if (remote) {
        sample_check(calResAllocRemote2D(&buffer->resource, &device->device, 1, width, height, format, flags),
                     "calResAllocRemote2D");
    } else {
        sample_check(calResAllocLocal2D(&buffer->resource, device->device, width, height, format, flags),
                     "calResAllocLocal2D");
    }
    sample_check(calCtxGetMem(&buffer->mem, device->context, buffer->resource), "calCtxGetMem");
}

/* Copies rows between packed host memory and a mapped resource. */
static void transfer(const SampleBuffer* buffer, unsigned char* to_host, const unsigned char* from_host)
{
    CALvoid* address = NULL;
    CALuint pitch = 0;
    size_t row = buffer->width * buffer->bytes;
    sample_check(calResMap(&address, &pitch, buffer->resource, 0), "calResMap");
    for (unsigned y = 0; y < (buffer->height ? buffer->height : 1); ++y) {
        unsigned char* mapped = (unsigned char*)address + (size_t)y * pitch * buffer->bytes;
        if (to_host) {
            memcpy(to_host + y * row, mapped, row);
        } else {
            memcpy(mapped, from_host + y * row, row);
        }
    }
    sample_check(calResUnmap(buffer->resource), "calResUnmap");
}

void sample_write(const SampleBuffer* buffer, const void* packed)
{
    transfer(buffer, NULL, packed);
}

void sample_read(const SampleBuffer* buffer, void* packed)
{
    transfer(buffer, packed, NULL);
    sample_sum(packed, buffer->width * buffer->bytes * (buffer->height ? buffer->height : 1));
}

void sample_free(SampleDevice* device, SampleBuffer* buffer)
{
    sample_check(calCtxReleaseMem(device->context, buffer->mem), "calCtxReleaseMem");
    sample_check(calResFree(buffer->resource), "calResFree");
}

void sample_bind(SampleDevice* device, const SampleKernel* kernel, const char* symbol, const SampleBuffer* buffer)
{
    CALname name = 0;
    sample_check(calModuleGetName(&name, device->context, kernel->module, symbol), symbol);
    sample_check(calCtxSetMem(device->context, name, buffer->mem), symbol);
}

void sample_stream(SampleDevice* device, const SampleKernel* kernel, const char* symbol, SampleBuffer* buffer,
                   unsigned width, unsigned height, CALformat format, unsigned kind, const void* packed)
{
    sample_buffer(device, buffer, width, height, format, kind);
    if (packed) {
        sample_write(buffer, packed);
    }
    sample_bind(device, kernel, symbol, buffer);
}

void sample_constants(SampleDevice* device, const SampleKernel* kernel, const char* symbol, SampleBuffer* buffer,
                      const void* rows, unsigned count)
{
    /* Bits are bits: floats go through this format unchanged. */
    sample_stream(device, kernel, symbol, buffer, count, 0, CAL_FORMAT_UNSIGNED_INT32_4, SAMPLE_REMOTE, rows);
}

void sample_wait(SampleDevice* device, CALevent event)
{
    CALresult result;
    while ((result = calCtxIsEventDone(device->context, event)) == CAL_RESULT_PENDING) {
        sched_yield();
    }
    sample_check(result, "calCtxIsEventDone");
}

void sample_run_domain(SampleDevice* device, const SampleKernel* kernel, unsigned width, unsigned height)
{
    CALevent event = 0;
    CALdomain domain = {0, 0, 0, 0};
    domain.width = width;
    domain.height = height;
    sample_check(calCtxRunProgram(&event, device->context, kernel->entry, &domain), "calCtxRunProgram");
    sample_wait(device, event);
}

void sample_run_grid(SampleDevice* device, const SampleKernel* kernel, unsigned groups, unsigned block)
{
    unsigned grid[2] = {groups, 1}, threads[2] = {block, 1};
    sample_run_grid2(device, kernel, grid, threads);
}

void sample_run_grid2(SampleDevice* device, const SampleKernel* kernel, const unsigned groups[2],
                      const unsigned block[2])
{
    CALevent event = 0;
    CALprogramGrid grid;
    memset(&grid, 0, sizeof grid);
    grid.func = kernel->entry;
    grid.gridBlock.width = block[0];
    grid.gridBlock.height = block[1];
    grid.gridBlock.depth = 1;
    grid.gridSize.width = groups[0];
    grid.gridSize.height = groups[1];
    grid.gridSize.depth = 1;
    sample_check(calCtxRunProgramGrid(&event, device->context, &grid), "calCtxRunProgramGrid");
    sample_wait(device, event);
}

double sample_time_domain(SampleDevice* device, const SampleKernel* kernel, unsigned width, unsigned height,
                          unsigned iterations)
{
    double start = sample_seconds();
    for (unsigned i = 0; i < iterations; ++i) {
        sample_run_domain(device, kernel, width, height);
    }
    return (sample_seconds() - start) / iterations;
}

double sample_time_grid(SampleDevice* device, const SampleKernel* kernel, unsigned groups, unsigned block,
                        unsigned iterations)
{
    unsigned grid[2] = {groups, 1}, threads[2] = {block, 1};
    return sample_time_grid2(device, kernel, grid, threads, iterations);
}

double sample_time_grid2(SampleDevice* device, const SampleKernel* kernel, const unsigned groups[2],
                         const unsigned block[2], unsigned iterations)
{
    double start = sample_seconds();
    for (unsigned i = 0; i < iterations; ++i) {
        sample_run_grid2(device, kernel, groups, block);
    }
    return (sample_seconds() - start) / iterations;
}

/* A PNG chunk with its checksum; the payload begins with the four letters of its type. */
static void png_chunk(FILE* file, const unsigned char* payload, size_t bytes)
{
    uint32_t crc = 0xFFFFFFFFu, words[2];
    for (size_t i = 0; i < bytes; ++i) {
        crc ^= payload[i];
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
        }
    }
    words[0] = (uint32_t)bytes - 4;
    words[1] = ~crc;
    for (int k = 0; k < 2; ++k) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            fputc((int)(words[k] >> shift & 0xFF), file);
        }
        if (k == 0) {
            fwrite(payload, 1, bytes, file);
        }
    }
}

static void big_endian(unsigned char* to, uint32_t word)
{
    for (int k = 0; k < 4; ++k) {
        to[k] = (unsigned char)(word >> (24 - 8 * k));
    }
}

void sample_picture(const SampleOptions* options, unsigned width, unsigned height, const unsigned char* pixels)
{
    unsigned char header[17] = "IHDR\0\0\0\0\0\0\0\0\010";
    if (!options->picture || !*options->picture) {
        return;
    }
    FILE* file = fopen(options->picture, "wb");
    /* One uncompressed block for each row: a filter byte, the pixels. */
    size_t row = (size_t)width + 1, bytes = 4 + 2 + height * (row + 5) + 4, at = 6;
    unsigned char* data = sample_memory(bytes);
    uint32_t low = 1, high = 0;
    if (!file || row > 65535) {
        fprintf(stderr, "%s cannot be written\n", options->picture);
        exit(EXIT_FAILURE);
    }
    memcpy(data, "IDAT\x78\x01", 6);
    for (unsigned y = 0; y < height; ++y) {
        data[at++] = y + 1 == height;
        for (int k = 0; k < 4; ++k) {
            data[at++] = (unsigned char)((k < 2 ? row : ~row) >> (8 * (k & 1)));
        }
        data[at] = 0;
        memcpy(data + at + 1, pixels + (size_t)y * width, width);
        for (size_t i = 0; i < row; ++i) {
            low = (low + data[at + i]) % 65521;
            high = (high + low) % 65521;
        }
        at += row;
    }
    big_endian(data + at, high << 16 | low);
    big_endian(header + 4, width);
    big_endian(header + 8, height);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    png_chunk(file, header, sizeof header);
    png_chunk(file, data, bytes);
    png_chunk(file, (const unsigned char*)"IEND", 4);
    if (fclose(file) != 0) {
        perror(options->picture);
        exit(EXIT_FAILURE);
    }
    free(data);
    printf("picture written to %s\n", options->picture);
}
