// C = A B by groups of 16 x 16 work-items; tiles of A and B go through local memory.
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul_shared(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                   uint bytes, uint tiles) {
    __local float as[16][16], bs[16][16];
    uint n = bytes / 4, x = get_global_id(0), y = get_global_id(1), column = get_local_id(0), row = get_local_id(1);
    float sum = 0;
    for (uint t = 0; t < tiles; ++t) {
        as[row][column] = a[y * n + t * 16 + column];
        bs[row][column] = b[(t * 16 + row) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; ++k) sum += as[row][k] * bs[k][column];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
