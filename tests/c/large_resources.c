/*
 * The largest resources that the attributes allow, as many as there is room for. One that does not fit is an error with a reason;
 * what is given is all there: its last element is not its first, whatever the width of an address.
 */
#include "check.h"

enum { SIDE = 16384, MANY = 6 };

int main(void)
{
    static const CALformat formats[] = {CAL_FORMAT_FLOAT_4, CAL_FORMAT_FLOAT_2, CAL_FORMAT_FLOAT_1};
    static const size_t bytes[] = {16, 8, 4};
    CALdeviceattribs attribs;
    CALdevice device;
    CALcontext context;
    int k, given = 0, refused = 0;

    check_open(&device, &context);
    memset(&attribs, 0, sizeof attribs);
    attribs.struct_size = sizeof attribs;
    OK(calDeviceGetAttribs(&attribs, 0));
    /* What a process can address. */
    CHECK((unsigned long long)attribs.localRAM << 20 < (unsigned long long)(size_t)-1);
    for (k = 0; k < 3; ++k) {
        CALresource resources[MANY];
        int count = 0, i;
        for (i = 0; i < MANY; ++i) {
            CALresource resource = 0;
            CALresult result = calResAllocLocal2D(&resource, device, SIDE, SIDE, formats[k], 0);
            CALvoid* address = NULL;
            CALuint pitch = 0;
            if (result != CAL_RESULT_OK) {
                CHECK(resource == 0 && strlen(calGetErrorString()) > 10);
                refused = 1;
                break;
            }
            result = calResMap(&address, &pitch, resource, 0);
            resources[count++] = resource;
            if (result != CAL_RESULT_OK) {
                CHECK(address == NULL && strlen(calGetErrorString()) > 10);
                refused = 1;
                break;
            }
            /* As far as its size says, without wrapping around. */
            CHECK((unsigned long long)SIDE * pitch * bytes[k] < (unsigned long long)(size_t)-1);
            {
                char* first = (char*)address;
                char* last = first + ((size_t)(SIDE - 1) * pitch + SIDE - 1) * bytes[k];
                CHECK(last > first);
                *first = 1;
                *last = 2;
                CHECK(*first == 1 && *last == 2);
            }
            OK(calResUnmap(resource));
            ++given;
        }
        for (i = 0; i < count; ++i) {
            OK(calResFree(resources[i]));
        }
    }
    /* 24 GiB and more are asked for altogether. */
    CHECK(given > 0 || refused);
    if (sizeof(void*) == 4) {
        CHECK(refused);
    }
    {
        /* None the worse for it. */
        static const char* kernel = PS "dcl_output_generic o0\nmul o0, vWinCoord0.xxxx, vWinCoord0.yyyy\nend\n";
        CALresource output = 0;
        CALmodule module = check_module(context, kernel);
        float results[64];
        OK(calResAllocLocal2D(&output, device, 8, 8, CAL_FORMAT_FLOAT_1, 0));
        check_bind(context, module, "o0", output);
        check_wait(context, check_domain(context, check_entry(context, module), 8, 8));
        check_read(output, results, 4, 8, 8);
        CHECK(results[2 * 8 + 3] == 8.75f);
        OK(calModuleUnload(context, module));
        OK(calResFree(output));
    }
    HOLDS(resources_larger_than_the_address_space_are_refused);
    check_close(device, context);
    return 0;
}
