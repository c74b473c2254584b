// y = x M, one column a work-item; x goes through local memory in tiles of 128.
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void vector_matrix(__global const float *restrict x, __global const float *restrict m, __global float *restrict y,
                   uint tiles, uint bytes) {
    __local float part[128];
    uint n = bytes / 4, at = get_global_id(0), own = get_local_id(0);
    float sum = 0;
    for (uint t = 0; t < tiles; ++t) {
        part[own] = x[t * 128 + own];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 128; ++k) sum += part[k] * m[(t * 128 + k) * n + at];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[at] = sum;
}
