__kernel void mandelbrot(__global uint *restrict counts, float left, float top, float step, float bound, uint limit,
                         uint width) {
    uint column = get_global_id(0), row = get_global_id(1);
    float cx = (column + 0.5f) * step + left, cy = (row + 0.5f) * step + top;
    float x = cx, y = cy;
    uint n = 0;
    for (; n < limit; ++n) {
        float xx = x * x, yy = y * y, xy = x * y;
        if (xx + yy > bound) break;
        x = (xx - yy) + cx;
        y = (xy + xy) + cy;
    }
    counts[row * width + column] = n;
}
