#version 450
// C = A B of doubles, one element a thread.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) readonly restrict buffer A { double a[]; };
layout(std430, binding = 1) readonly restrict buffer B { double b[]; };
layout(std430, binding = 2) writeonly restrict buffer C { double c[]; };
layout(push_constant) uniform Parameters { float size; uint pitch; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uint n = uint(size);
    if (at.x >= n || at.y >= n) return;
    double sum = 0;
    for (uint k = 0; k < n; ++k) sum = fma(a[at.y * pitch + k], b[k * pitch + at.x], sum);
    c[at.y * pitch + at.x] = sum;
}
