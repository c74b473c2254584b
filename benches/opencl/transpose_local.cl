__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void transpose_local(__global const float *restrict from, __global float *restrict to, uint bytes) {
    __local float tile[16][17];
    uint width = bytes / 4, column = get_local_id(0), row = get_local_id(1);
    tile[row][column] = from[get_global_id(1) * width + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint x = get_group_id(1) * 16 + column, y = get_group_id(0) * 16 + row;
    to[y * width + x] = tile[column][row];
}
