/*
 * What a program's log function throws reaches the program, and the library goes on working.
 */
#include "check.h"

#include <stdexcept>
#include <string>

static int calls;

static void throws(const CALchar* line)
{
    if (++calls == 3) {
        throw std::runtime_error(line);
    }
}

template <typename List> static void thrown(List list)
{
    for (int round = 0; round < 3; ++round) {
        std::string caught;
        calls = 0;
        try {
            list();
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
        CHECK(calls == 3 && !caught.empty());
    }
}

int main()
{
    static const char* kernel = PS "dcl_output_generic o0\nmov o0, vWinCoord0.xyxy\nend\n";
    CALobject object = NULL;
    CALimage image = NULL;
    CALdevice device;
    CALcontext context;
    OK(calclCompile(&object, CAL_LANGUAGE_IL, kernel, CAL_TARGET_CYPRESS));
    OK(calclLink(&image, &object, 1));
    thrown([image] { calclDisassembleImage(image, throws); });
    thrown([&object] { calclDisassembleObject(&object, throws); });
    OK(calclFreeObject(object));
    OK(calclFreeImage(image));
    check_open(&device, &context);
    check_module(context, kernel);
    check_close(device, context);
    HOLDS(exceptions_pass_from_the_log_function_to_the_program);
    return 0;
}
