// C = A B, A by columns, 8 x 8 elements of C a work-item: four rows and four columns in each half.
#define ROW(J, P) l##J += P * l; r##J += P * r;
#define STORE(J, ROW) c[(ROW) * pitch + x] = l##J; c[(ROW) * pitch + half_row + x] = r##J;

__kernel __attribute__((reqd_work_group_size(8, 4, 1)))
void matmul_outer(__global const float4 *restrict a, __global const float4 *restrict b, __global float4 *restrict c,
                  uint pitch) {
    uint x = get_global_id(0), y = get_global_id(1);
    uint half_row = pitch / 2, low = 4 * y, high = 2 * pitch + low;
    float4 l0 = (float4)(0), l1 = l0, l2 = l0, l3 = l0, l4 = l0, l5 = l0, l6 = l0, l7 = l0;
    float4 r0 = l0, r1 = l0, r2 = l0, r3 = l0, r4 = l0, r5 = l0, r6 = l0, r7 = l0;
    float4 p = a[y], q = a[half_row + y], l = b[x], r = b[half_row + x];
    for (uint k = 1; k <= 4 * pitch; ++k) {
        // The factors of the next round are on their way during this one.
        uint row = min(k, 4 * pitch - 1) * pitch;
        float4 next_p = a[row + y], next_q = a[row + half_row + y];
        float4 next_l = b[row + x], next_r = b[row + half_row + x];
        ROW(0, p.x) ROW(1, p.y) ROW(2, p.z) ROW(3, p.w) ROW(4, q.x) ROW(5, q.y) ROW(6, q.z) ROW(7, q.w)
        p = next_p; q = next_q; l = next_l; r = next_r;
    }
    STORE(0, low) STORE(1, low + 1) STORE(2, low + 2) STORE(3, low + 3)
    STORE(4, high) STORE(5, high + 1) STORE(6, high + 2) STORE(7, high + 3)
}
