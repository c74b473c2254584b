#version 450
// C = A B, 8 x 8 elements of C a thread: eight rows, and four columns in each half.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly restrict buffer A { vec4 a[]; };
layout(std430, binding = 1) readonly restrict buffer B { vec4 b[]; };
layout(std430, binding = 2) writeonly restrict buffer C { vec4 c[]; };
layout(push_constant) uniform Parameters { uint pitch; };
#define ROW(J) { vec4 p = a[from + J * pitch + k]; \
    l##J += p.x * p0 + p.y * p1 + p.z * p2 + p.w * p3; \
    r##J += p.x * q0 + p.y * q1 + p.z * q2 + p.w * q3; }
#define STORE(J) c[to + J * pitch] = l##J; c[to + J * pitch + pitch / 2] = r##J;

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uint from = at.y * 8 * pitch, to = from + at.x;
    vec4 l0 = vec4(0), l1 = l0, l2 = l0, l3 = l0, l4 = l0, l5 = l0, l6 = l0, l7 = l0;
    vec4 r0 = l0, r1 = l0, r2 = l0, r3 = l0, r4 = l0, r5 = l0, r6 = l0, r7 = l0;
    for (uint k = 0; k < pitch; ++k) {
        uint i = 4 * k * pitch + at.x, j = i + pitch / 2;
        vec4 p0 = b[i], p1 = b[i + pitch], p2 = b[i + 2 * pitch], p3 = b[i + 3 * pitch];
        vec4 q0 = b[j], q1 = b[j + pitch], q2 = b[j + 2 * pitch], q3 = b[j + 3 * pitch];
        ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
    }
    STORE(0) STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7)
}
