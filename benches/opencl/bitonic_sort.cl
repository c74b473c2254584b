__kernel void bitonic_sort(__global uint *restrict keys, uint j, uint k) {
    uint t = get_global_id(0), low = t & (j - 1);
    uint a = ((t - low) << 1) | low, b = a | j;
    uint x = keys[a], y = keys[b];
    bool descending = (a & k) != 0;
    keys[a] = descending ? max(x, y) : min(x, y);
    keys[b] = descending ? min(x, y) : max(x, y);
}
