#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) readonly restrict buffer From { float from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Parameters { uint width; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= width) return;
    to[at.y * width + at.x] = from[at.x * width + at.y];
}
