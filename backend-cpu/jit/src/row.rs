/// Lanes of a wave.
pub const LANES: usize = 64;

/// One word for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row(pub [u32; LANES]);

impl Row {
    /// All lanes 0.
    pub const ZERO: Row = Row([0; LANES]);

    /// The same word in all lanes.
    pub const fn splat(word: u32) -> Row {
        Row([word; LANES])
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::ZERO
    }
}
