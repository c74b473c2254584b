// 256 dependent multiply-adds of four components, written out.
#define A x = x * c0 + y; y = y * c1 + z; z = z * c2 + w; w = w * c3 + x;
#define B A A A A A A A A

__kernel void straight(__global const float4 *restrict from, __global float4 *restrict to, float c0, float c1, float c2,
                       float c3, uint width) {
    uint i = get_global_id(1) * width + get_global_id(0);
    float4 x = from[i], y = x.yzwx, z = x.zwxy, w = x.wxyz;
    B B B B B B B B
    to[i] = (x + y) + (z + w);
}
