#version 450
// C = A B by groups of 16 x 16 threads; tiles of A and B go through shared memory.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly restrict buffer A { float a[]; };
layout(std430, binding = 1) readonly restrict buffer B { float b[]; };
layout(std430, binding = 2) writeonly restrict buffer C { float c[]; };
layout(push_constant) uniform Parameters { uint bytes; uint tiles; };
shared float as[16][16];
shared float bs[16][16];

void main() {
    uint n = bytes / 4;
    uvec2 at = gl_GlobalInvocationID.xy, own = gl_LocalInvocationID.xy;
    float sum = 0;
    for (uint t = 0; t < tiles; ++t) {
        as[own.y][own.x] = a[at.y * n + t * 16 + own.x];
        bs[own.y][own.x] = b[(t * 16 + own.y) * n + at.x];
        barrier();
        for (uint k = 0; k < 16; ++k) sum += as[own.y][k] * bs[k][own.x];
        barrier();
    }
    c[at.y * n + at.x] = sum;
}
