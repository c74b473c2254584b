#version 450
#extension GL_GOOGLE_include_directive : require
#include "reduction.glsl"

void main() {
    uint own = gl_LocalInvocationID.x;
    uint i = gl_WorkGroupID.x * 512 + own;
    part[own] = element(i) + element(i + 256);
    barrier();
    for (uint s = 128; s > 0; s >>= 1) {
        if (own < s) part[own] += part[own + s];
        barrier();
    }
    if (own == 0) sums[gl_WorkGroupID.x] = part[0];
}
