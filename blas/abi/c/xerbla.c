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

void cblas_xerbla(int argument, const char* name, const char* form, ...)
{
    va_list more;

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
