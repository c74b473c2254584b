#version 450
#extension GL_GOOGLE_include_directive : require
#include "reduction.glsl"

void main() {
    uint own = gl_LocalInvocationID.x;
    part[own] = element(gl_GlobalInvocationID.x);
    barrier();
    for (uint s = 1; s < 256; s <<= 1) {
        uint i = 2 * s * own;
        if (i < 256) part[i] += part[i + s];
        barrier();
    }
    if (own == 0) sums[gl_WorkGroupID.x] = part[0];
}
