#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) restrict buffer Keys { uint keys[]; };
layout(push_constant) uniform Parameters { uint j; uint k; };

void main() {
    uint t = gl_GlobalInvocationID.x, low = t & (j - 1);
    uint a = ((t - low) << 1) | low, b = a | j;
    uint x = keys[a], y = keys[b];
    bool descending = (a & k) != 0;
    keys[a] = descending ? max(x, y) : min(x, y);
    keys[b] = descending ? min(x, y) : max(x, y);
}
