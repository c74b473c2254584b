uint element(__global const uint *from, uint i, uint count) { return i < count ? from[i] : 0; }

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduction_1(__global const uint *restrict from, __global uint *restrict sums, uint count) {
    __local uint part[256];
    uint own = get_local_id(0);
    part[own] = element(from, get_global_id(0), count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < 256; s <<= 1) {
        uint i = 2 * s * own;
        if (i < 256) part[i] += part[i + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (own == 0) sums[get_group_id(0)] = part[0];
}
