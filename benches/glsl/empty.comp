#version 450
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) writeonly restrict buffer To { vec4 to[]; };
layout(push_constant) uniform Parameters { uint width; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    to[at.y * width + at.x] = vec4(1);
}
