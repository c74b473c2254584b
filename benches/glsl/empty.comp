#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) writeonly restrict buffer To { vec4 to[]; };
layout(push_constant) uniform Parameters { uint width; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    to[at.y * width + at.x] = vec4(1);
}
