#version 450
// 32 rounds in which neighbours take different sides of a condition.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) writeonly restrict buffer To { uint to[]; };
layout(push_constant) uniform Parameters { uint rounds; uint width; uint height; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= height) return;
    uint h = at.y * width + at.x, n = 0;
    for (uint r = 0; r < rounds; ++r) {
        if ((h & 1) != 0) {
            h = h * 3 + 1;
            h ^= h >> 7;
            n += h & 15;
        } else {
            h = (h >> 1) ^ 0xB5297A4Du;
            h += n << 3;
            n ^= h;
        }
    }
    to[at.y * width + at.x] = n;
}
