__kernel void transpose_naive(__global const float *restrict from, __global float *restrict to, uint width) {
    uint x = get_global_id(0), y = get_global_id(1);
    to[y * width + x] = from[x * width + y];
}
