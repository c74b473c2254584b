__kernel void polynomial(__global const float4 *restrict from, __global float4 *restrict to, float c0, float c1,
                         float c2, float c3, uint width) {
    uint i = get_global_id(1) * width + get_global_id(0);
    float4 x = from[i];
    to[i] = ((c0 * x + c1) * x + c2) * x + c3;
}
