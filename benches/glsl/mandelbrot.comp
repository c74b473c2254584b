#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, binding = 0) writeonly restrict buffer Counts { uint counts[]; };
layout(push_constant) uniform Parameters { vec4 view; uint limit; uint width; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= width || at.y >= width) return;
    vec2 c = (vec2(at) + 0.5) * view.z + view.xy, z = c;
    uint n = 0;
    for (; n < limit; ++n) {
        vec2 s = z * z;
        if (s.x + s.y > view.w) break;
        float xy = z.x * z.y;
        z = vec2(s.x - s.y, xy + xy) + c;
    }
    counts[at.y * width + at.x] = n;
}
