#version 450
// y = x M, one column a thread; x goes through shared memory in tiles of 128.
layout(local_size_x = 128) in;
layout(std430, binding = 0) readonly restrict buffer X { float x[]; };
layout(std430, binding = 1) readonly restrict buffer M { float m[]; };
layout(std430, binding = 2) writeonly restrict buffer Y { float y[]; };
layout(push_constant) uniform Parameters { uint tiles; uint bytes; };
shared float part[128];

void main() {
    uint n = bytes / 4, at = gl_GlobalInvocationID.x, own = gl_LocalInvocationID.x;
    float sum = 0;
    for (uint t = 0; t < tiles; ++t) {
        part[own] = x[t * 128 + own];
        barrier();
        for (uint k = 0; k < 128; ++k) sum += part[k] * m[(t * 128 + k) * n + at];
        barrier();
    }
    y[at] = sum;
}
