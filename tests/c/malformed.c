/* Texts that are no kernels: each gives an error with an explanation, no object, no crash, no hang, no gigabytes. */
#include "check.h"

#ifndef _WIN32
#include <sys/resource.h>
#endif
#include <time.h>

static int number;

static void refused(const char* what, const char* il)
{
    CALobject object = (CALobject)&number;
    clock_t start = clock();
    CALresult result = calclCompile(&object, CAL_LANGUAGE_IL, il, CAL_TARGET_CYPRESS);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    ++number;
    if (result != CAL_RESULT_ERROR || object != NULL || calclGetErrorString()[0] == '\0') {
        fprintf(stderr, "%s: result %d, object %p, text '%s'\n", what, (int)result, (void*)object,
                calclGetErrorString());
        exit(1);
    }
    if (seconds > 10.0) {
        fprintf(stderr, "%s: took %.1f s\n", what, seconds);
        exit(1);
    }
}

#define HEAD "il_ps_2_0\ndcl_output_generic o0\n"

/* The text count times, between two others. */
static void repeated(const char* what, const char* before, const char* text, int count, const char* after)
{
    size_t length = strlen(text);
    char* il = (char*)malloc(strlen(before) + length * (size_t)count + strlen(after) + 1);
    char* end = il + sprintf(il, "%s", before);
    int i;
    CHECK(il != NULL);
    for (i = 0; i < count; ++i) {
        memcpy(end, text, length);
        end += length;
    }
    strcpy(end, after);
    refused(what, il);
    free(il);
}

int main(void)
{
    refused("empty", "");
    refused("white space", " \n\t\r\n ");
    refused("only a comment", "; nothing\n");
    refused("no header", "mov r0, r1\nend\n");
    refused("unknown header", "il_xs_2_0\nend\n");
    refused("another language", "#version 330\nvoid main() {}\n");
    refused("truncated in an opcode", HEAD "mov o0, r0\nwhilel");
    refused("truncated in an operand", HEAD "mov o0, r");
    refused("truncated after a comma", HEAD "add o0, r0,");
    refused("no end", HEAD "mov o0, r0\nif_logicalnz r0.x\n");
    refused("unknown opcode", HEAD "frobnicate o0, r0\nend\n");
    refused("unknown specifier", HEAD "mov_often o0, r0\nend\n");
    refused("too few operands", HEAD "add o0, r0\nend\n");
    refused("too many operands", HEAD "mov o0, r0, r1\nend\n");
    refused("no operands", HEAD "mad\nend\n");
    refused("missing comma", HEAD "add o0, r0 r1\nend\n");
    refused("mask out of order", HEAD "mov o0.yx, r0\nend\n");
    refused("bad swizzle", HEAD "mov o0, r0.xq\nend\n");
    refused("swizzle too long", HEAD "mov o0, r0.xyzwx\nend\n");
    refused("unknown register", HEAD "mov o0, q7\nend\n");
    refused("register number too large", HEAD "mov o0, r65536\nend\n");
    refused("register number absurd", HEAD "mov o0, r99999999999999999999\nend\n");
    refused("write to a literal", HEAD "dcl_literal l0, 0, 0, 0, 0\nmov l0, r0\nend\n");
    refused("write to a constant", HEAD "dcl_cb cb0[1]\nmov cb0[0], r0\nend\n");
    refused("undeclared literal", HEAD "mov o0, l3\nend\n");
    refused("undeclared constant buffer", HEAD "mov o0, cb1[0]\nend\n");
    refused("undeclared indexed temporary", HEAD "mov o0, x0[1]\nend\n");
    refused("undeclared UAV", "il_cs_2_0\ndcl_num_thread_per_group 64\nuav_raw_load_id(2) r0, r1.x\nend\n");
    refused("undeclared LDS", "il_cs_2_0\ndcl_num_thread_per_group 64\nlds_load_id(1) r0.x, r1.x\nend\n");
    refused("no resource number", HEAD "sample_sampler(0) o0, r0\nend\n");
    refused("else without if", HEAD "else\nendif\nend\n");
    refused("endif without if", HEAD "endif\nend\n");
    refused("endloop without loop", HEAD "endloop\nend\n");
    refused("if without endif", HEAD "if_logicalnz r0.x\nmov o0, r0\nend\n");
    refused("loop without endloop", HEAD "whileloop\nbreak\nend\n");
    refused("crossed constructs", HEAD "whileloop\nif_logicalnz r0.x\nendloop\nendif\nend\n");
    refused("two elses", HEAD "if_logicalnz r0.x\nelse\nelse\nendif\nend\n");
    refused("break outside", HEAD "break\nend\n");
    refused("continue outside", HEAD "continue\nend\n");
    refused("case outside", HEAD "case 1\nend\n");
    refused("call of nothing", HEAD "call 5\nendmain\nend\n");
    refused("recursion", HEAD "call 1\nendmain\nfunc 1\ncall 1\nret\nendfunc\nend\n");
    refused("function twice", HEAD "call 1\nendmain\nfunc 1\nret\nendfunc\nfunc 1\nret\nendfunc\nend\n");
    refused("three literal values", HEAD "dcl_literal l0, 1, 2, 3\nmov o0, l0\nend\n");
    refused("literal too large", HEAD "dcl_literal l0, 99999999999, 0, 0, 0\nmov o0, l0\nend\n");
    refused("absurd group", "il_cs_2_0\ndcl_num_thread_per_group 4000000000\nend\n");
    refused("empty group", "il_cs_2_0\ndcl_num_thread_per_group 0\nend\n");
    refused("absurd LDS", "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 4000000000\nend\n");
    refused("absurd array", HEAD "dcl_indexed_temp_array x0[4000000000]\nmov o0, x0[0]\nend\n");
    refused("output in a compute kernel", "il_cs_2_0\ndcl_num_thread_per_group 64\nmov o0, r0\nend\n");
    refused("output too high", "il_ps_2_0\ndcl_output_generic o9\nmov o9, r0\nend\n");
    refused("half a double", HEAD "dadd r0.x, r1.xy, r2.xy\nend\n");
    refused("bytes that are no text", HEAD "mov o0, \xff\xfe\x80r0\nend\n");
    refused("control characters", "\x01\x02\x03\x04");

    repeated("nested 100,000 deep", HEAD, "if_logicalnz r0.x\n", 100000, "end\n");
    repeated("loops nested 100,000 deep", HEAD, "whileloop\n", 100000, "end\n");
    repeated("a word of a million letters", HEAD, "mov", 333333, "\nend\n");
    repeated("a million brackets", HEAD "mov o0, r0", "[", 1000000, "\nend\n");
    repeated("100,000 errors", HEAD, "mov o0, q0\n", 100000, "end\n");
    CHECK(strlen(calclGetErrorString()) < 1000000);
    CHECK(number >= 28);

#ifndef _WIN32
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    CHECK(usage.ru_maxrss < 1024 * 1024); /* KiB */
#endif

    /* A diagnostic says where and what. */
    refused("for its text", "il_ps_2_0\ndcl_output_generic o0\nmov r0, r1\nfrobnicate o0, r0\nend\n");
    CHECK(strstr(calclGetErrorString(), "4") != NULL && strstr(calclGetErrorString(), "frobnicate") != NULL);

    /* Afterwards the compiler still works, and the 100,000-deep kernel is refused for its depth when balanced. */
    {
        CALobject object = NULL;
        OK(calclCompile(&object, CAL_LANGUAGE_IL, HEAD "mov o0, r0\nend\n", CAL_TARGET_CYPRESS));
        CHECK(object != NULL);
        OK(calclFreeObject(object));
    }
    return 0;
}
