// C = A B, 8 x 8 elements of C a work-item: eight rows, and four columns in each half.
#define ROW(J) { float4 p = a[from + J * pitch + k]; \
    l##J += p.x * p0 + p.y * p1 + p.z * p2 + p.w * p3; \
    r##J += p.x * q0 + p.y * q1 + p.z * q2 + p.w * q3; }
#define STORE(J) c[to + J * pitch] = l##J; c[to + J * pitch + pitch / 2] = r##J;

__kernel __attribute__((reqd_work_group_size(8, 8, 1)))
void matmul_wide(__global const float4 *restrict a, __global const float4 *restrict b, __global float4 *restrict c,
                 uint pitch) {
    uint x = get_global_id(0), from = get_global_id(1) * 8 * pitch, to = from + x;
    float4 l0 = (float4)(0), l1 = l0, l2 = l0, l3 = l0, l4 = l0, l5 = l0, l6 = l0, l7 = l0;
    float4 r0 = l0, r1 = l0, r2 = l0, r3 = l0, r4 = l0, r5 = l0, r6 = l0, r7 = l0;
    for (uint k = 0; k < pitch; ++k) {
        uint i = 4 * k * pitch + x, j = i + pitch / 2;
        float4 p0 = b[i], p1 = b[i + pitch], p2 = b[i + 2 * pitch], p3 = b[i + 3 * pitch];
        float4 q0 = b[j], q1 = b[j + pitch], q2 = b[j + 2 * pitch], q3 = b[j + 3 * pitch];
        ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
    }
    STORE(0) STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7)
}
