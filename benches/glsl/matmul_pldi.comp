#version 450
// C = A B: A in 8 stripes of rows, B in 4 interleaved sets of rows, C in 8 stripes; 8 x 4 elements of C a thread.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) readonly restrict buffer A0 { vec4 a0[]; };
layout(std430, binding = 1) readonly restrict buffer A1 { vec4 a1[]; };
layout(std430, binding = 2) readonly restrict buffer A2 { vec4 a2[]; };
layout(std430, binding = 3) readonly restrict buffer A3 { vec4 a3[]; };
layout(std430, binding = 4) readonly restrict buffer A4 { vec4 a4[]; };
layout(std430, binding = 5) readonly restrict buffer A5 { vec4 a5[]; };
layout(std430, binding = 6) readonly restrict buffer A6 { vec4 a6[]; };
layout(std430, binding = 7) readonly restrict buffer A7 { vec4 a7[]; };
layout(std430, binding = 8) readonly restrict buffer B0 { vec4 b0[]; };
layout(std430, binding = 9) readonly restrict buffer B1 { vec4 b1[]; };
layout(std430, binding = 10) readonly restrict buffer B2 { vec4 b2[]; };
layout(std430, binding = 11) readonly restrict buffer B3 { vec4 b3[]; };
layout(std430, binding = 12) writeonly restrict buffer C0 { vec4 c0[]; };
layout(std430, binding = 13) writeonly restrict buffer C1 { vec4 c1[]; };
layout(std430, binding = 14) writeonly restrict buffer C2 { vec4 c2[]; };
layout(std430, binding = 15) writeonly restrict buffer C3 { vec4 c3[]; };
layout(std430, binding = 16) writeonly restrict buffer C4 { vec4 c4[]; };
layout(std430, binding = 17) writeonly restrict buffer C5 { vec4 c5[]; };
layout(std430, binding = 18) writeonly restrict buffer C6 { vec4 c6[]; };
layout(std430, binding = 19) writeonly restrict buffer C7 { vec4 c7[]; };
layout(push_constant) uniform Parameters { uint rounds; uint pitch; uint width; uint height; };

#define STEP(S, C) { \
    vec4 p = a##S[row + k], q = a##S[row + k + 1], r = a##S[row + k + 2], s = a##S[row + k + 3]; \
    C += p.x * p0 + p.y * p1 + p.z * p2 + p.w * p3; \
    C += q.x * q0 + q.y * q1 + q.z * q2 + q.w * q3; \
    C += r.x * r0 + r.y * r1 + r.z * r2 + r.w * r3; \
    C += s.x * s0 + s.y * s1 + s.z * s2 + s.w * s3; }

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= height) return;
    uint row = at.y * pitch;
    vec4 t0 = vec4(0), t1 = vec4(0), t2 = vec4(0), t3 = vec4(0);
    vec4 t4 = vec4(0), t5 = vec4(0), t6 = vec4(0), t7 = vec4(0);
    for (uint round = 0; round < rounds; ++round) {
        uint k = round * 4, b = k * pitch + at.x;
        vec4 p0 = b0[b], q0 = b0[b + pitch], r0 = b0[b + 2 * pitch], s0 = b0[b + 3 * pitch];
        vec4 p1 = b1[b], q1 = b1[b + pitch], r1 = b1[b + 2 * pitch], s1 = b1[b + 3 * pitch];
        vec4 p2 = b2[b], q2 = b2[b + pitch], r2 = b2[b + 2 * pitch], s2 = b2[b + 3 * pitch];
        vec4 p3 = b3[b], q3 = b3[b + pitch], r3 = b3[b + 2 * pitch], s3 = b3[b + 3 * pitch];
        STEP(0, t0) STEP(1, t1) STEP(2, t2) STEP(3, t3)
        STEP(4, t4) STEP(5, t5) STEP(6, t6) STEP(7, t7)
    }
    uint c = row + at.x;
    c0[c] = t0; c1[c] = t1; c2[c] = t2; c3[c] = t3;
    c4[c] = t4; c5[c] = t5; c6[c] = t6; c7[c] = t7;
}
