/*
 * A thread with a small stack compiles, lists, loads and runs what others do: kernels as deep as they may be.
 */
#include "check.h"

#include <pthread.h>

enum { DEPTH = 255 };

static char text[DEPTH * 64 + 1024];
static int  lines;

static void count(const CALchar* line)
{
    lines += strchr(line, '\n') != NULL;
}

static void* small(void* ignored)
{
    CALdevice device;
    CALcontext context;
    CALmodule module;
    CALresource output = 0;
    CALimage image = check_image(text, CAL_TARGET_CYPRESS);
    float numbers[64];
    CALuint i;
    (void)ignored;
    calclDisassembleImage(image, count);
    CHECK(lines > 3 * DEPTH);
    OK(calclFreeImage(image));
    check_open(&device, &context);
    module = check_module(context, text);
    OK(calResAllocLocal2D(&output, device, 64, 1, CAL_FORMAT_FLOAT_1, 0));
    check_bind(context, module, "o0", output);
    check_wait(context, check_domain(context, check_entry(context, module), 64, 1));
    check_read(output, numbers, 4, 64, 1);
    for (i = 0; i < 64; ++i) {
        CHECK(numbers[i] == (i == 9 ? (float)DEPTH : 0.0f));
    }
    check_close(device, context);
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int i;
    strcpy(text, PS "dcl_output_generic o0\ndcl_literal l0, 9.5, 1.0, 0.0, 0.0\nmov r0.x, l0.z\neq r1.x, vWinCoord0.x, l0.x\n");
    for (i = 0; i < DEPTH; ++i) {
        strcat(text, "if_logicalnz r1.x\nadd r0.x, r0.x, l0.y\n");
    }
    for (i = 0; i < DEPTH; ++i) {
        strcat(text, "endif\n");
    }
    strcat(text, "mov o0, r0.x\nend\n");
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    CHECK(pthread_create(&thread, &attributes, small, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    HOLDS(deep_kernels_on_small_stacks);
    return 0;
}
