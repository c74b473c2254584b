__kernel void copy(__global const float4 *restrict from, __global float4 *restrict to, uint width) {
    uint i = get_global_id(1) * width + get_global_id(0);
    to[i] = from[i];
}
