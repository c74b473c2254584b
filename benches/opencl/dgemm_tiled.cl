// C = A B by tiles through local memory, A by columns: 4 x 2 warps of 4 x 8 work-items, each with 4 x 4 vectors of the factors.
enum { DEPTH = 8, ITEMS = 256, ROWS = 4, COLUMNS = 4, PER = 2, LEFT = 64, RIGHT = 64 };

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void dgemm_tiled(__global const double2 *restrict a, __global const double2 *restrict b, __global double2 *restrict c, uint n) {
    __local double2 left_block[2][DEPTH * LEFT], right_block[2][DEPTH * RIGHT];
    uint own = get_local_id(0), row = n / PER, lane = own % 32, warp = own / 32;
    uint from_left = warp / 2 * 4 * ROWS + lane / 8, from_right = warp % 2 * 8 * COLUMNS + lane % 8;
    a += get_group_id(1) * LEFT + own / LEFT * row + own % LEFT;
    b += get_group_id(0) * RIGHT + own / RIGHT * row + own % RIGHT;
    double2 sum[ROWS * PER][COLUMNS];
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
            double l[ROWS * PER];
            for (uint i = 0; i < ROWS; ++i) vstore2(left_block[now][k * LEFT + from_left + 4 * i], i, l);
            for (uint j = 0; j < COLUMNS; ++j) {
                double2 r = right_block[now][k * RIGHT + from_right + 8 * j];
                for (uint i = 0; i < ROWS * PER; ++i) sum[i][j] = fma((double2)l[i], r, sum[i][j]);
            }
        }
    }
    c += get_group_id(0) * RIGHT + from_right;
    for (uint i = 0; i < ROWS * PER; ++i)
        for (uint j = 0; j < COLUMNS; ++j)
            c[(PER * (get_group_id(1) * LEFT + from_left + 4 * (i / PER)) + i % PER) * row + 8 * j] = sum[i][j];
}
