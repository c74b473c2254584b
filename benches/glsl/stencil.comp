#version 450
// The mean of a point and its four neighbours; outside is the nearest point inside.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) readonly restrict buffer From { float from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Parameters { uint width; uint height; };

float point(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(width - 1, height - 1));
    return from[at.y * width + at.x];
}

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= width || at.y >= height) return;
    float sum = point(at) + point(at - ivec2(1, 0)) + point(at + ivec2(1, 0)) + point(at - ivec2(0, 1)) + point(at + ivec2(0, 1));
    to[at.y * width + at.x] = sum * 0.2;
}
