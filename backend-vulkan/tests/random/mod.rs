//! Numbers for tests that choose, the same ones each time.

/// Numbers below what is asked for (xorshift).
pub fn random_below() -> impl FnMut(u32) -> u32 {
    let mut state = 0x2545_F491u32;
    move |below| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) % below
    }
}
