// C = A B of doubles, one element a work-item.
__kernel void dgemm(__global const double *restrict a, __global const double *restrict b, __global double *restrict c,
                    float size, uint pitch) {
    uint x = get_global_id(0), y = get_global_id(1), n = size;
    double sum = 0;
    for (uint k = 0; k < n; ++k) sum = fma(a[y * pitch + k], b[k * pitch + x], sum);
    c[y * pitch + x] = sum;
}
