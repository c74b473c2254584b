/* What wrong arguments lead to, as in the reference implementation, and the two variables by which its C functions tell their
   error handler where they are. Programs replace any of them, so everybody reaches them through the table of global symbols. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nonzero while a C function is about, and if it was asked for rows. */
int CBLAS_CallFromC = 0;
int RowMajorStrg = 0;

void cblas_xerbla(int argument, const char* name, const char* form, ...);
void xerbla_(const char* name, const int* argument, size_t length);
void calblas_called_from_c(int from_c, int rows);

void calblas_called_from_c(int from_c, int rows)
{
    CBLAS_CallFromC = from_c;
    RowMajorStrg = rows;
}

/* Pairs of arguments that change places where rows are asked for: those are columns of the transpose, and the Fortran routine that gets
   it is who finds what is wrong. By operation, without the letter of its type. */
static const struct {
    const char* operation;
    int pairs[2][2];
} swapped[] = {
    {"gemm", {{4, 5}, {9, 11}}}, {"symm", {{4, 5}}},         {"hemm", {{4, 5}}},  {"trmm", {{6, 7}}}, {"trsm", {{6, 7}}},
    {"gemv", {{3, 4}}},          {"gbmv", {{3, 4}, {5, 6}}}, {"ger", {{2, 3}, {6, 8}}}, {"geru", {{2, 3}, {6, 8}}},
    {"gerc", {{2, 3}, {6, 8}}},  {"her2", {{6, 8}}},         {"hpr2", {{6, 8}}},
};

/* The number of an argument as the caller has it. Names may end in spaces. */
static int in_rows(int argument, const char* name)
{
    size_t n = strcspn(name, " "), i;
    int pair;

    for (i = 0; i < sizeof swapped / sizeof *swapped; i++) {
        size_t length = strlen(swapped[i].operation);

        if (n != 7 + length || strncmp(name, "cblas_", 6) || strncmp(name + 7, swapped[i].operation, length)) {
            continue;
        }
        for (pair = 0; pair < 2; pair++) {
            const int* two = swapped[i].pairs[pair];

            if (argument == two[0] || argument == two[1]) {
                return two[0] + two[1] - argument;
            }
        }
    }
    return argument;
}

void cblas_xerbla(int argument, const char* name, const char* form, ...)
{
    va_list more;

    if (RowMajorStrg && argument) {
        argument = in_rows(argument, name);
    }
    va_start(more, form);
    if (argument) {
        fprintf(stderr, "Parameter %d to routine %s was incorrect\n", argument, name);
    }
    vfprintf(stderr, form, more);
    va_end(more);
    exit(-1);
}

void xerbla_(const char* name, const int* argument, size_t length)
{
    char shown[32] = "cblas_";
    size_t begin = CBLAS_CallFromC ? 6 : 0, n = 0;

    /* A length may be missing, where C calls without one. */
    if (length > 16) {
        length = 16;
    }
    while (n < length && name[n] && name[n] != ' ') {
        shown[begin + n] = CBLAS_CallFromC ? (char)tolower((unsigned char)name[n]) : name[n];
        n++;
    }
    shown[begin + n] = 0;
    if (CBLAS_CallFromC) {
        cblas_xerbla(*argument + 1, shown, "");
        return;
    }
    fprintf(stderr, " ** On entry to %s parameter number %d had an illegal value\n", shown, *argument);
    exit(-1);
}
