#version 450
// C = A B, A by columns, 8 x 8 elements of C a thread: four rows and four columns in each half.
layout(local_size_x = 8, local_size_y = 4) in;
layout(std430, binding = 0) readonly restrict buffer A { vec4 a[]; };
layout(std430, binding = 1) readonly restrict buffer B { vec4 b[]; };
layout(std430, binding = 2) writeonly restrict buffer C { vec4 c[]; };
layout(push_constant) uniform Parameters { uint pitch; };
#define ROW(J, P) l##J += P * l; r##J += P * r;
#define STORE(J, ROW) c[(ROW) * pitch + at.x] = l##J; c[(ROW) * pitch + half_row + at.x] = r##J;

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uint half_row = pitch / 2, low = 4 * at.y, high = 2 * pitch + low;
    vec4 l0 = vec4(0), l1 = l0, l2 = l0, l3 = l0, l4 = l0, l5 = l0, l6 = l0, l7 = l0;
    vec4 r0 = l0, r1 = l0, r2 = l0, r3 = l0, r4 = l0, r5 = l0, r6 = l0, r7 = l0;
    vec4 p = a[at.y], q = a[half_row + at.y], l = b[at.x], r = b[half_row + at.x];
    for (uint k = 1; k <= 4 * pitch; ++k) {
        // The factors of the next round are on their way during this one.
        uint row = min(k, 4 * pitch - 1) * pitch;
        vec4 next_p = a[row + at.y], next_q = a[row + half_row + at.y];
        vec4 next_l = b[row + at.x], next_r = b[row + half_row + at.x];
        ROW(0, p.x) ROW(1, p.y) ROW(2, p.z) ROW(3, p.w) ROW(4, q.x) ROW(5, q.y) ROW(6, q.z) ROW(7, q.w)
        p = next_p; q = next_q; l = next_l; r = next_r;
    }
    STORE(0, low) STORE(1, low + 1) STORE(2, low + 2) STORE(3, low + 3)
    STORE(4, high) STORE(5, high + 1) STORE(6, high + 2) STORE(7, high + 3)
}
