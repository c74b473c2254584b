// Rounds of a multiplicative hash with shifts, four words a work-item.
__kernel void hash(__global uint4 *restrict to, uint rounds, uint width) {
    uint i = get_global_id(1) * width + get_global_id(0);
    uint4 h = (uint4)(i) * (uint4)(1, 3, 5, 7) + (uint4)(0x9E3779B9u);
    for (uint r = 0; r < rounds; ++r) {
        h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
        h = (h ^ (h >> 13)) * 0xC2B2AE35u;
        h = (h ^ (h >> 16)) + (uint4)(r);
    }
    to[i] = h;
}
