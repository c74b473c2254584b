#version 450
// 64 rounds of a multiplicative hash with shifts, four words a thread.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) writeonly restrict buffer To { uvec4 to[]; };
layout(push_constant) uniform Parameters { uint rounds; uint width; uint height; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= height) return;
    uint i = at.y * width + at.x;
    uvec4 h = uvec4(i) * uvec4(1, 3, 5, 7) + uvec4(0x9E3779B9u);
    for (uint r = 0; r < rounds; ++r) {
        h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
        h = (h ^ (h >> 13)) * 0xC2B2AE35u;
        h = (h ^ (h >> 16)) + uvec4(r);
    }
    to[i] = h;
}
