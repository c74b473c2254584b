// C = A B by tiles through local memory, A by columns: 1 x 4 warps of 8 x 4 work-items, each with 2 x 2 vectors of the factors.
enum { DEPTH = 8, ITEMS = 128, ROWS = 2, COLUMNS = 2, PER = 4, LEFT = 16, RIGHT = 32 };

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void matmul_tiled(__global const float4 *restrict a, __global const float4 *restrict b, __global float4 *restrict c, uint n) {
    __local float4 left_block[2][DEPTH * LEFT], right_block[2][DEPTH * RIGHT];
    uint own = get_local_id(0), row = n / PER, lane = own % 32, warp = own / 32;
    uint from_left = warp / 4 * 8 * ROWS + lane / 4, from_right = warp % 4 * 4 * COLUMNS + lane % 4;
    a += get_group_id(1) * LEFT + own / LEFT * row + own % LEFT;
    b += get_group_id(0) * RIGHT + own / RIGHT * row + own % RIGHT;
    float4 sum[ROWS * PER][COLUMNS];
    for (uint i = 0; i < ROWS * PER; ++i)
        for (uint j = 0; j < COLUMNS; ++j) sum[i][j] = 0;
    for (uint block = 0; block < n / DEPTH; ++block) {
        uint now = block % 2;
        // The block before the last was read by all before they met at the last one.
        for (uint k = 0; k < DEPTH * LEFT / ITEMS; ++k)
            left_block[now][own + ITEMS * k] = a[(block * DEPTH + ITEMS / LEFT * k) * row];
        for (uint k = 0; k < DEPTH * RIGHT / ITEMS; ++k)
            right_block[now][own + ITEMS * k] = b[(block * DEPTH + ITEMS / RIGHT * k) * row];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < DEPTH; ++k) {
            float l[ROWS * PER];
            for (uint i = 0; i < ROWS; ++i) vstore4(left_block[now][k * LEFT + from_left + 8 * i], i, l);
            for (uint j = 0; j < COLUMNS; ++j) {
                float4 r = right_block[now][k * RIGHT + from_right + 4 * j];
                for (uint i = 0; i < ROWS * PER; ++i) sum[i][j] = fma((float4)l[i], r, sum[i][j]);
            }
        }
    }
    c += get_group_id(0) * RIGHT + from_right;
    for (uint i = 0; i < ROWS * PER; ++i)
        for (uint j = 0; j < COLUMNS; ++j)
            c[(PER * (get_group_id(1) * LEFT + from_left + 8 * (i / PER)) + i % PER) * row + 4 * j] = sum[i][j];
}
