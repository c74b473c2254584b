// C = A B: A in 8 stripes of rows, B in 4 interleaved sets of rows, C in 8 stripes; 8 x 4 elements of C a work-item.
#define STEP(S) { \
    float4 p = a##S[row + k], q = a##S[row + k + 1], r = a##S[row + k + 2], s = a##S[row + k + 3]; \
    t##S += p.x * p0 + p.y * p1 + p.z * p2 + p.w * p3; \
    t##S += q.x * q0 + q.y * q1 + q.z * q2 + q.w * q3; \
    t##S += r.x * r0 + r.y * r1 + r.z * r2 + r.w * r3; \
    t##S += s.x * s0 + s.y * s1 + s.z * s2 + s.w * s3; }
#define IN(NAME) __global const float4 *restrict NAME
#define OUT(NAME) __global float4 *restrict NAME

__kernel void matmul_pldi(IN(a0), IN(a1), IN(a2), IN(a3), IN(a4), IN(a5), IN(a6), IN(a7), IN(b0), IN(b1), IN(b2), IN(b3),
                          OUT(c0), OUT(c1), OUT(c2), OUT(c3), OUT(c4), OUT(c5), OUT(c6), OUT(c7),
                          uint rounds, uint pitch) {
    uint x = get_global_id(0), row = get_global_id(1) * pitch;
    float4 t0 = (float4)(0), t1 = t0, t2 = t0, t3 = t0, t4 = t0, t5 = t0, t6 = t0, t7 = t0;
    for (uint round = 0; round < rounds; ++round) {
        uint k = round * 4, b = k * pitch + x;
        float4 p0 = b0[b], q0 = b0[b + pitch], r0 = b0[b + 2 * pitch], s0 = b0[b + 3 * pitch];
        float4 p1 = b1[b], q1 = b1[b + pitch], r1 = b1[b + 2 * pitch], s1 = b1[b + 3 * pitch];
        float4 p2 = b2[b], q2 = b2[b + pitch], r2 = b2[b + 2 * pitch], s2 = b2[b + 3 * pitch];
        float4 p3 = b3[b], q3 = b3[b + pitch], r3 = b3[b + 2 * pitch], s3 = b3[b + 3 * pitch];
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    }
    uint c = row + x;
    c0[c] = t0; c1[c] = t1; c2[c] = t2; c3[c] = t3;
    c4[c] = t4; c5[c] = t5; c6[c] = t6; c7[c] = t7;
}
