// C = A B by tiles through shared memory, A by columns: WARPS_Y x WARPS_X warps of LANES_Y x LANES_X threads, each of which has ROWS x
// COLUMNS vectors of the factors, of PER numbers. Two blocks of DEPTH steps take turns in shared memory.
const uint THREADS = 32 * WARPS_X * WARPS_Y;
layout(local_size_x = 32 * WARPS_X * WARPS_Y) in;
layout(std430, binding = 0) readonly restrict buffer A { V a[]; };
layout(std430, binding = 1) readonly restrict buffer B { V b[]; };
layout(std430, binding = 2) writeonly restrict buffer C { V c[]; };
layout(push_constant) uniform Parameters { uint n; };
const uint DEPTH = 8, LEFT = WARPS_Y * LANES_Y * ROWS, RIGHT = WARPS_X * LANES_X * COLUMNS;
const uint LOADS_LEFT = DEPTH * LEFT / THREADS, LOADS_RIGHT = DEPTH * RIGHT / THREADS;
shared V left_block[2][DEPTH * LEFT];
shared V right_block[2][DEPTH * RIGHT];

void main() {
    uint own = gl_LocalInvocationIndex, row = n / PER, lane = own % 32, warp = own / 32;
    uvec2 at = uvec2(lane % LANES_X, lane / LANES_X), in_group = uvec2(warp % WARPS_X, warp / WARPS_X);
    uint left_at = gl_WorkGroupID.y * LEFT + own / LEFT * row + own % LEFT;
    uint right_at = gl_WorkGroupID.x * RIGHT + own / RIGHT * row + own % RIGHT;
    uint from_left = in_group.y * LANES_Y * ROWS + at.y, from_right = in_group.x * LANES_X * COLUMNS + at.x;
    V next_left[LOADS_LEFT], next_right[LOADS_RIGHT], sum[ROWS * PER][COLUMNS];
    for (uint i = 0; i < ROWS * PER; ++i) for (uint j = 0; j < COLUMNS; ++j) sum[i][j] = V(0);
    for (uint k = 0; k < LOADS_LEFT; ++k) left_block[0][own + THREADS * k] = a[left_at + THREADS / LEFT * k * row];
    for (uint k = 0; k < LOADS_RIGHT; ++k) right_block[0][own + THREADS * k] = b[right_at + THREADS / RIGHT * k * row];
    barrier();
    for (uint turn = 0; turn < n / DEPTH; ++turn) {
        uint now = turn % 2, ahead = turn + 1 < n / DEPTH ? (turn + 1) * DEPTH * row : 0;
        for (uint k = 0; k < LOADS_LEFT; ++k) next_left[k] = a[ahead + left_at + THREADS / LEFT * k * row];
        for (uint k = 0; k < LOADS_RIGHT; ++k) next_right[k] = b[ahead + right_at + THREADS / RIGHT * k * row];
        for (uint k = 0; k < DEPTH; ++k) {
            V l[ROWS], r[COLUMNS];
            for (uint i = 0; i < ROWS; ++i) l[i] = left_block[now][k * LEFT + from_left + LANES_Y * i];
            for (uint j = 0; j < COLUMNS; ++j) r[j] = right_block[now][k * RIGHT + from_right + LANES_X * j];
            for (uint i = 0; i < ROWS * PER; ++i)
                for (uint j = 0; j < COLUMNS; ++j) sum[i][j] = fma(V(l[i / PER][i % PER]), r[j], sum[i][j]);
        }
        for (uint k = 0; k < LOADS_LEFT; ++k) left_block[1 - now][own + THREADS * k] = next_left[k];
        for (uint k = 0; k < LOADS_RIGHT; ++k) right_block[1 - now][own + THREADS * k] = next_right[k];
        barrier();
    }
    for (uint i = 0; i < ROWS * PER; ++i)
        for (uint j = 0; j < COLUMNS; ++j)
            c[(PER * (gl_WorkGroupID.y * LEFT + from_left + LANES_Y * (i / PER)) + i % PER) * row + gl_WorkGroupID.x * RIGHT + from_right + LANES_X * j] =
                sum[i][j];
}
