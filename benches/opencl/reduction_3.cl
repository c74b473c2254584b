uint element(__global const uint *from, uint i, uint count) { return i < count ? from[i] : 0; }

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduction_3(__global const uint *restrict from, __global uint *restrict sums, uint count) {
    __local uint part[256];
    uint own = get_local_id(0);
    uint i = get_group_id(0) * 512 + own;
    part[own] = element(from, i, count) + element(from, i + 256, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (own < s) part[own] += part[own + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own == 0) sums[get_group_id(0)] = part[0];
}
