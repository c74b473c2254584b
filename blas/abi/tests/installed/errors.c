/* What wrong arguments are told as: each call ends its process. */
#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calblas.h"

static double a[9], b[9], c[9];
static float z[2] = {3, -4};
static double w[2] = {-5, 12};

#define CALL(call) \
    do { \
        fflush(stdout); \
        if (!fork()) { \
            dup2(1, 2); \
            call; \
            fflush(stdout); \
            _exit(0); \
        } \
        wait(NULL); \
    } while (0)

int main(void)
{
    enum CBLAS_ORDER rows = CblasRowMajor, columns = CblasColMajor;
    enum CBLAS_TRANSPOSE n = CblasNoTrans;
    int minus = -1, two = 2;
    double one = 1;

    CALL(cblas_dgemm(rows, n, n, -1, 2, 2, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dgemm(rows, n, n, 2, -1, 2, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dgemm(rows, n, n, 2, 2, -1, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dgemm(rows, n, n, 2, 2, 2, 1, a, 1, b, 2, 0, c, 2));
    CALL(cblas_dgemm(rows, n, n, 2, 2, 2, 1, a, 2, b, 1, 0, c, 2));
    CALL(cblas_dgemm(rows, n, n, 2, 2, 2, 1, a, 2, b, 2, 0, c, 1));
    CALL(cblas_dgemm(columns, n, n, -1, 2, 2, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dgemm(columns, n, n, 2, 2, 2, 1, a, 1, b, 2, 0, c, 2));
    CALL(cblas_dsymm(rows, CblasLeft, CblasUpper, -1, 2, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dsymm(rows, CblasLeft, CblasUpper, 2, -1, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_zhemm(rows, CblasLeft, CblasUpper, -1, 2, &one, a, 2, b, 2, &one, c, 2));
    CALL(cblas_dtrsm(rows, CblasLeft, CblasUpper, n, CblasUnit, -1, 2, 1, a, 2, b, 2));
    CALL(cblas_dtrmm(rows, CblasLeft, CblasUpper, n, CblasUnit, 2, -1, 1, a, 2, b, 2));
    CALL(cblas_dsyrk(rows, CblasUpper, n, -1, 2, 1, a, 2, 1, c, 2));
    CALL(cblas_dsyr2k(rows, CblasUpper, n, 2, 2, 1, a, 1, b, 2, 1, c, 2));
    CALL(cblas_dgemm(rows, n, 5, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2));
    CALL(cblas_dgemv(rows, n, -1, 2, 1, a, 2, b, 1, 0, c, 1));
    CALL(cblas_dgemv(rows, n, 2, -1, 1, a, 2, b, 1, 0, c, 1));
    CALL(cblas_dgbmv(rows, n, 2, 2, -1, 1, 1, a, 3, b, 1, 0, c, 1));
    CALL(cblas_dger(rows, -1, 2, 1, a, 1, b, 1, c, 2));
    CALL(cblas_dger(rows, 2, 2, 1, a, 0, b, 1, c, 2));
    CALL(dgemm_("N", "N", &minus, &two, &two, &one, a, &two, b, &two, &one, c, &two));
    CALL(printf("%g %g\n", cblas_scabs1(z), cblas_dcabs1(w)));
    CALL(printf("%g %g\n", scabs1_(z), dcabs1_(w)));
    return 0;
}
