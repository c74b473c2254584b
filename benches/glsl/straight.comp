#version 450
// 256 dependent multiply-adds of four components, written out.
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) readonly restrict buffer From { vec4 from[]; };
layout(std430, binding = 1) writeonly restrict buffer To { vec4 to[]; };
layout(push_constant) uniform Parameters { vec4 c; uint width; uint height; };
#define A x = x * c.x + y; y = y * c.y + z; z = z * c.z + w; w = w * c.w + x;
#define B A A A A A A A A

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= height) return;
    uint i = at.y * width + at.x;
    vec4 x = from[i], y = x.yzwx, z = x.zwxy, w = x.wxyz;
    B B B B B B B B
    to[i] = (x + y) + (z + w);
}
