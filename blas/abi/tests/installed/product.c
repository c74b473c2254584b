/* A product through both interfaces, and a routine of the host. */
#include <stdio.h>
#include "calblas.h"

int main(void)
{
    double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4] = {9, 9, 9, 9}, d[4] = {9, 9, 9, 9}, one = 1, zero = 0;
    int two = 2, three = 3, i;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2);
    dgemm_("T", "T", &two, &two, &three, &one, a, &three, b, &two, &zero, d, &two);
    for (i = 0; i < 4; i++) {
        if (c[i] != d[i / 2 + i % 2 * 2]) {
            return 1;
        }
    }
    printf("%g %g %g %g %g\n", c[0], c[1], c[2], c[3], cblas_ddot(6, a, 1, b, 1));
    return 0;
}
