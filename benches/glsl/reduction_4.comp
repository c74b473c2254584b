#version 450
#extension GL_GOOGLE_include_directive : require
#include "reduction.glsl"
#define STEP(S) if (own < S) part[own] += part[own + S]; barrier();

void main() {
    uint own = gl_LocalInvocationID.x;
    uint i = gl_WorkGroupID.x * 512 + own;
    part[own] = element(i) + element(i + 256);
    barrier();
    STEP(128) STEP(64) STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
    if (own == 0) sums[gl_WorkGroupID.x] = part[0];
}
