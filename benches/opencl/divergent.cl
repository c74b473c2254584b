// Rounds in which neighbours take different sides of a condition.
__kernel void divergent(__global uint *restrict to, uint rounds, uint width) {
    uint i = get_global_id(1) * width + get_global_id(0), h = i, n = 0;
    for (uint r = 0; r < rounds; ++r) {
        if ((h & 1) != 0) {
            h = h * 3 + 1;
            h ^= h >> 7;
            n += h & 15;
        } else {
            h = (h >> 1) ^ 0xB5297A4Du;
            h += n << 3;
            n ^= h;
        }
    }
    to[i] = n;
}
