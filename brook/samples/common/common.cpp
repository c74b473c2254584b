/*
 * See common.h.
 */
#include "common.h"

#include <sys/time.h>

static void usage(const Options* options, const char* what, int status)
{
    FILE* out = status ? stderr : stdout;
    fprintf(out, "%s: %s\n", options->name, what);
    fprintf(out, "usage: %s [-e] [-t] [-q]", options->name);
    if (options->width)
        fprintf(out, " [-x n]");
    if (options->height)
        fprintf(out, " [-y n]");
    fprintf(out, " [-i n] [-s n] [-o file] [-h]\n");
    fprintf(out, "  -e       compare the results with those of the host; the exit status tells\n");
    fprintf(out, "  -t       print times\n");
    fprintf(out, "  -q       print no data\n");
    if (options->width)
        fprintf(out, "  -x n     width, %u if left out\n", options->width);
    if (options->height)
        fprintf(out, "  -y n     height, %u if left out\n", options->height);
    fprintf(out, "  -i n     times that it runs, 1 if left out\n");
    fprintf(out, "  -s n     seed of the random numbers, 0 if left out\n");
    fprintf(out, "  -o file  a picture, PPM, of those samples that make one\n");
    exit(status);
}

Options sampleOptions(int argc, char** argv, const char* name, const char* what, unsigned width, unsigned height)
{
    Options options = {name, width, height, 1, 0, 0, 0, 0, NULL};
    Options defaults = options;

    for (int i = 1; i < argc; i++) {
        char letter = argv[i][0] == '-' && argv[i][1] && !argv[i][2] ? argv[i][1] : 0;
        unsigned* number = letter == 'x' && width    ? &options.width
                           : letter == 'y' && height ? &options.height
                           : letter == 'i'           ? &options.iterations
                           : letter == 's'           ? &options.seed
                                                     : NULL;
        if (letter == 'h') {
            usage(&defaults, what, 0);
        } else if (letter == 'e') {
            options.verify = 1;
        } else if (letter == 't') {
            options.timing = 1;
        } else if (letter == 'q') {
            options.quiet = 1;
        } else if (letter == 'o' && i + 1 < argc) {
            options.picture = argv[++i];
        } else if (number && i + 1 < argc) {
            char* end = NULL;
            long value = strtol(argv[++i], &end, 10);
            if (*end || value < (letter == 's' ? 0 : 1) || value > 1 << 26) {
                fprintf(stderr, "%s: -%c %s is no size\n", name, letter, argv[i]);
                usage(&defaults, what, 255);
            }
            *number = (unsigned)value;
        } else {
            fprintf(stderr, "%s: unknown option %s\n", name, argv[i]);
            usage(&defaults, what, 255);
        }
    }
    return options;
}

static double seconds(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + 1e-6 * (double)now.tv_usec;
}

void timerStart(Timer* timer)
{
    timer->start = seconds();
}

void timerStop(Timer* timer)
{
    double time = seconds() - timer->start;
    if (!timer->runs)
        timer->first = time;
    if (!timer->runs || time < timer->best)
        timer->best = time;
    timer->runs++;
}

void timerPrint(const Options* options, const Timer* timer, const char* what, double work, const char* unit)
{
    if (!options->timing)
        return;
    printf("%s: %s: first run %.3f ms", options->name, what, timer->first * 1e3);
    if (timer->runs > 1)
        printf(", best of %u %.3f ms", timer->runs, timer->best * 1e3);
    if (work > 0 && timer->best > 0)
        printf(", %.3g %s/s", work / timer->best, unit);
    printf("\n");
}

unsigned sampleRandom(unsigned* state)
{
    *state = *state * 1664525u + 1013904223u;
    unsigned x = *state;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    return x ^ (x >> 13);
}

void sampleFill(float* data, size_t count, float low, float high, unsigned* state)
{
    for (size_t i = 0; i < count; i++)
        data[i] = low + (high - low) * (float)(sampleRandom(state) >> 8) / 16777216.0f;
}

void* sampleMemory(size_t bytes)
{
    void* memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) {
        fprintf(stderr, "no memory for %lu bytes\n", (unsigned long)bytes);
        exit(1);
    }
    return memory;
}

float* sampleFloats(size_t count)
{
    return (float*)sampleMemory(count * sizeof(float));
}

void samplePrint(const Options* options, const char* title, const float* data, unsigned width, unsigned height)
{
    unsigned columns = width < 8 ? width : 8, rows = height < 8 ? height : 8;
    if (options->quiet)
        return;
    printf("%s, %u x %u%s\n", title, width, height, columns < width || rows < height ? ", its corner" : "");
    for (unsigned y = 0; y < rows; y++) {
        for (unsigned x = 0; x < columns; x++)
            printf(" %9.4g", data[(size_t)y * width + x]);
        printf("\n");
    }
}

int sampleNear(const char* what, const float* found, const float* expected, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        double size = fabs((double)expected[i]), off = fabs((double)found[i] - (double)expected[i]);
        /* Written so that NaN is never near. */
        if (!(found[i] == expected[i] || off <= tolerance * (size > 1 ? size : 1))) {
            fprintf(stderr, "%s: number %lu is %.9g, not %.9g\n", what, (unsigned long)i, found[i], expected[i]);
            return 0;
        }
    }
    return 1;
}

int sampleEqual(const char* what, const int* found, const int* expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (found[i] != expected[i]) {
            fprintf(stderr, "%s: number %lu is %d, not %d\n", what, (unsigned long)i, found[i], expected[i]);
            return 0;
        }
    }
    return 1;
}

int sampleCode(BRerror code, const char* log)
{
    if (code == BR_NO_ERROR)
        return 1;
    fprintf(stderr, "Brook+ error %d: %s\n", (int)code, log);
    return 0;
}

int sampleVerdict(const Options* options, int passed)
{
    if (options->verify || !passed)
        printf("%s: %s\n", options->name, passed ? "Passed!" : "Failed!");
    return passed ? 0 : 1;
}

int samplePicture(const char* file, const unsigned char* pixels, unsigned width, unsigned height)
{
    FILE* out = fopen(file, "wb");
    size_t bytes = (size_t)width * height * 3;
    if (!out) {
        perror(file);
        return 0;
    }
    int fine = fprintf(out, "P6\n%u %u\n255\n", width, height) > 0 && fwrite(pixels, 1, bytes, out) == bytes;
    fine = fclose(out) == 0 && fine;
    if (!fine)
        perror(file);
    return fine;
}
