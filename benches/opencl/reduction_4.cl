uint element(__global const uint *from, uint i, uint count) { return i < count ? from[i] : 0; }
#define STEP(S) if (own < S) part[own] += part[own + S]; barrier(CLK_LOCAL_MEM_FENCE);

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduction_4(__global const uint *restrict from, __global uint *restrict sums, uint count) {
    __local uint part[256];
    uint own = get_local_id(0);
    uint i = get_group_id(0) * 512 + own;
    part[own] = element(from, i, count) + element(from, i + 256, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    STEP(128) STEP(64) STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
    if (own == 0) sums[get_group_id(0)] = part[0];
}
