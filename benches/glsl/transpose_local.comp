#version 450
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, binding = 0) readonly restrict buffer From { float from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { float to[]; };
layout(push_constant) uniform Parameters { uint bytes; };
shared float tile[16][17];

void main() {
    uint width = bytes / 4;
    uvec2 at = gl_GlobalInvocationID.xy, own = gl_LocalInvocationID.xy;
    tile[own.y][own.x] = from[at.y * width + at.x];
    barrier();
    uvec2 other = gl_WorkGroupID.yx * 16 + own;
    to[other.y * width + other.x] = tile[own.x][own.y];
}
