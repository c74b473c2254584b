/*
 * offline_compile - a kernel compiled for several targets with no device in sight, linked into one image, and stored in
 * a file; then another process reads the file and runs it.
 */
#define _POSIX_C_SOURCE 200112L
#include "sample.h"

#ifdef _WIN32
#include <process.h>
#define getpid _getpid
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

static const char* kernel_text =
    SAMPLE_PS
    "dcl_output_generic o0\n"
    "dcl_literal l0, 16.0, 0.5, 0.0, 0.0\n"
    "sub r0.xy, vWinCoord0.xy, l0.yy\n"
    "mad o0, r0.yyyy, l0.xxxx, r0.xxxx\n"
    "end\n";

static int store(const char* path)
{
    static const CALtarget targets[] = {CAL_TARGET_770, CAL_TARGET_CYPRESS, CAL_TARGET_CAYMAN};
    enum { TARGETS = sizeof targets / sizeof targets[0] };
    CALobject objects[TARGETS];
    CALimage image = NULL;
    CALuint size = 0;

    for (unsigned i = 0; i < TARGETS; ++i) {
        sample_check(calclCompile(&objects[i], CAL_LANGUAGE_IL, kernel_text, targets[i]), "calclCompile");
    }
    sample_check(calclLink(&image, objects, TARGETS), "calclLink");
    for (unsigned i = 0; i < TARGETS; ++i) {
        sample_check(calclFreeObject(objects[i]), "calclFreeObject");
    }
    sample_check(calclImageGetSize(&size, image), "calclImageGetSize");
    void* bytes = sample_memory(size);
    sample_check(calclImageWrite(bytes, size, image), "calclImageWrite");
    sample_check(calclFreeImage(image), "calclFreeImage");

    FILE* file = fopen(path, "wb");
    int written = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) != 0) {
        written = 0;
    }
    free(bytes);
    printf("%u bytes for %d targets\n", size, (int)TARGETS);
    return written;
}

static int load_and_run(const char* path, unsigned ordinal)
{
    enum { SIZE = 16 };
    SampleDevice device;
    SampleKernel kernel;
    SampleBuffer output;
    CALimage image = NULL;
    float got[SIZE * SIZE];
    int wrong = 0;

    FILE* file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 0;
    }
    long size = ftell(file);
    void* bytes = sample_memory((size_t)size);
    rewind(file);
    if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        return 0;
    }
    fclose(file);

    sample_start(&device, ordinal);
    sample_check(calImageRead(&image, bytes, (CALuint)size), "calImageRead");
    free(bytes);
    sample_check(calModuleLoad(&kernel.module, device.context, image), "calModuleLoad");
    sample_check(calImageFree(image), "calImageFree");
    sample_check(calModuleGetEntry(&kernel.entry, device.context, kernel.module, "main"), "calModuleGetEntry");
    sample_stream(&device, &kernel, "o0", &output, SIZE, SIZE, CAL_FORMAT_FLOAT32_1, SAMPLE_LOCAL, NULL);
    sample_run_domain(&device, &kernel, SIZE, SIZE);
    sample_read(&output, got);
    for (int i = 0; i < SIZE * SIZE; ++i) {
        wrong += got[i] != (float)i;
    }
    sample_free(&device, &output);
    sample_unload(&device, &kernel);
    sample_end(&device);
    return wrong == 0;
}

/* Whether this program, started anew with these arguments, ends well. */
static int run_again(const char* program, const char* path, const char* ordinal)
{
#ifdef _WIN32
    return _spawnl(_P_WAIT, program, "offline_compile", "--run", path, ordinal, NULL) == 0;
#else
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "--run", path, ordinal, (char*)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
#endif
}

int main(int argc, char** argv)
{
    SampleOptions options = {1, 0, 1, 0, NULL};
    char path[64];

    /* The second process: the file's name and the device. */
    if (argc == 4 && strcmp(argv[1], "--run") == 0) {
        return load_and_run(argv[2], (unsigned)strtoul(argv[3], NULL, 10)) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    sample_options(argc, argv, &options, "compile to a file, run it in another process");
    sprintf(path, "offline-%ld.image", (long)getpid());
    int passed = store(path);
    fflush(stdout);
    if (passed) {
        char ordinal[16];
        sprintf(ordinal, "%u", options.device);
        passed = run_again(argv[0], path, ordinal);
    }
    remove(path);
    return sample_verdict("offline_compile", passed);
}
