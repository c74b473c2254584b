// The mean of a point and its four neighbours; outside is the nearest point inside.
float point(__global const float *from, int x, int y, int width, int height) {
    return from[clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

__kernel void stencil(__global const float *restrict from, __global float *restrict to, uint width, uint height) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = point(from, x, y, width, height) + point(from, x - 1, y, width, height) +
                point(from, x + 1, y, width, height) + point(from, x, y - 1, width, height) +
                point(from, x, y + 1, width, height);
    to[y * width + x] = sum * 0.2f;
}
