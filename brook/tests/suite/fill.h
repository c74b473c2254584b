/* Inputs of cases, and how results are printed: plain C, for the C and the C++ program alike. */
#ifndef FILL_H
#define FILL_H

#include <stdio.h>
#include <string.h>

/* Number n of component c of argument a: small multiples of 1/8, on which float arithmetic is exact. */
static int fill_number(int n, int c, int a, int modulus)
{
    int v = (n * 37 + c * 11 + a * 5 + 3) % modulus;
    return v;
}

static void show(const char* name, int code, const void* data, size_t bytes)
{
    const unsigned char* p = (const unsigned char*)data;
    size_t i;
    printf("%s %d ", name, code);
    for (i = 0; i < bytes; ++i) {
        printf("%02x", p[i]);
    }
    printf("\n");
}

#endif
