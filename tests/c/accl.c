/*
 * As ACCL does: an image saved to a file, read with plain stdio into malloc'ed memory, and that memory passed as the
 * CALimage itself; freed by calclFreeImage. User memory as a resource, the result of calResMap compared only with
 * ERROR, counters as separate calls.
 */
#include "check.h"

#include "cal_ext_counter.h"

#include <unistd.h>

static const char* kernel =
    PS "dcl_output_generic o0\n" INPUT(0)
    "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n"
    "add o0, r0, r0\n"
    "end\n";

static char file_name[64];

static void save(CALtarget target)
{
    CALimage image = check_image(kernel, target);
    CALuint size = 0;
    void* bytes;
    FILE* file;
    OK(calclImageGetSize(&size, image));
    bytes = malloc(size);
    CHECK(bytes != NULL);
    OK(calclImageWrite(bytes, size, image));
    file = fopen(file_name, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
    free(bytes);
    OK(calclFreeImage(image));
}

static CALimage load(void)
{
    FILE* file = fopen(file_name, "rb");
    long size;
    void* bytes;
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = ftell(file);
    rewind(file);
    bytes = malloc((size_t)size);
    CHECK(bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    CHECK(memcmp(bytes, "\177ELF", 4) == 0);
    return (CALimage)bytes;
}

int main(void)
{
    CALdevice device;
    CALcontext context;
    CALdeviceinfo info;
    CALimage image;
    CALmodule module = 0;
    CALresource user = 0, output = 0;
    CALextproc proc = NULL;
    PFNCALRESCREATE2D create = NULL;
    PFNCALCTXCREATECOUNTER counter_create = NULL;
    PFNCALCTXBEGINCOUNTER counter_begin = NULL;
    PFNCALCTXENDCOUNTER counter_end = NULL;
    PFNCALCTXGETCOUNTER counter_get = NULL;
    CALcounter counter = 0;
    CALfloat idle = -1.0f;
    static float numbers[64 * 32] __attribute__((aligned(4096)));
    CALvoid* address = NULL;
    CALuint pitch, x, y;

    sprintf(file_name, "accl-%ld.image", (long)getpid());
    check_open(&device, &context);
    OK(calDeviceGetInfo(&info, 0));
    save(info.target);
    image = load();
    OK(calModuleLoad(&module, context, image));
    OK(calclFreeImage(image));
    CHECK(remove(file_name) == 0);
    HOLDS(accl_file_bytes_as_image);

    OK(calExtGetProc(&proc, CAL_EXT_RES_CREATE, "calResCreate2D"));
    memcpy(&create, &proc, sizeof proc);
    OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxCreateCounter"));
    memcpy(&counter_create, &proc, sizeof proc);
    OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxBeginCounter"));
    memcpy(&counter_begin, &proc, sizeof proc);
    OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxEndCounter"));
    memcpy(&counter_end, &proc, sizeof proc);
    OK(calExtGetProc(&proc, CAL_EXT_COUNTERS, "calCtxGetCounter"));
    memcpy(&counter_get, &proc, sizeof proc);

    for (x = 0; x < 64 * 32; ++x) {
        numbers[x] = (float)x;
    }
    OK(create(&user, device, numbers, 64, 32, CAL_FORMAT_FLOAT_1, sizeof numbers, 0));
    OK(calResAllocLocal2D(&output, device, 64, 32, CAL_FORMAT_FLOAT_1, 0));
    check_bind(context, module, "i0", user);
    check_bind(context, module, "o0", output);
    OK(counter_create(&counter, context, CAL_COUNTER_IDLE));
    CHECK(counter != 0);
    OK(counter_begin(context, counter));
    {
        CALevent event = check_domain(context, check_entry(context, module), 64, 32);
        OK(counter_end(context, counter));
        check_wait(context, event);
    }
    OK(counter_get(&idle, context, counter));
    CHECK(idle >= 0.0f && idle <= 1.0f);
    HOLDS(accl_counters_as_separate_calls);

    CHECK(calResMap(&address, &pitch, output, 0) != CAL_RESULT_ERROR);
    for (y = 0; y < 32; ++y) {
        for (x = 0; x < 64; ++x) {
            CHECK(((float*)address)[y * pitch + x] == 2.0f * numbers[y * 64 + x]);
        }
    }
    OK(calResUnmap(output));
    OK(calResFree(user));
    CHECK(numbers[5] == 5.0f); /* still the program's */
    HOLDS(accl_user_memory_as_resource);
    HOLDS(accl_map_compared_with_error_only);
    check_close(device, context);
    return 0;
}
