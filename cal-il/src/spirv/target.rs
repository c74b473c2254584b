//! What a device can do, and how exact it is to be.

/// What a device can do, as far as emission depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Exactness wanted.
    pub mode: Mode,
    /// 64-bit floats.
    pub float64: bool,
    /// 64-bit integers. Without them pairs of words are used.
    pub int64: bool,
    /// 64-bit atomics in buffers.
    pub int64_atomics: bool,
    /// 64-bit atomics in group memory.
    pub int64_shared_atomics: bool,
    /// The device can be told to round single precision to nearest even.
    pub rte32: bool,
    /// The same for double precision.
    pub rte64: bool,
    /// The device can be told to keep signs of zero, infinities and NaNs in single precision.
    pub nan_preserve32: bool,
    /// The same for double precision.
    pub nan_preserve64: bool,
    /// The device can be told to keep denormals in single precision.
    pub denorm_preserve32: bool,
    /// The same for double precision.
    pub denorm_preserve64: bool,
    /// Single precision operations and comparisons see and give denormals, by the above or by a probe.
    pub gradual32: bool,
    /// Double precision sums, products and comparisons are IEEE, denormals included. Without it there are no doubles
    /// in faithful mode.
    pub exact64: bool,
    /// `Fma` of doubles rounds once.
    pub fused64: bool,
    /// Double precision quotients are correctly rounded.
    pub divides64: bool,
    /// Double precision roots are correctly rounded.
    pub roots64: bool,
    /// Conversions of floats to integers saturate, and NaN gives 0.
    pub saturates: bool,
    /// What a thread computed in the round in which it leaves a loop stays its own while others go on.
    pub keeps_exits: bool,
    /// The device ends the loops of a thread after so many rounds together, whatever the program says: modules tell of it,
    /// as [`super::launch::Layout::report`] says.
    pub ends_loops: bool,
    /// A memory barrier holds no thread up, so that it may stand where threads part.
    pub fences_apart: bool,
    /// The driver tests words for denormals with another mask than it was given, if it knows the mask.
    pub mistakes_masks: bool,
    /// Integer products are computed beside shifts and comparisons, as fast as those.
    pub multiplies_apart: bool,
    /// Words of instructions in a row from which on the driver takes more than twice as long for twice as many, if it does.
    pub longest_run: u32,
    /// The device goes around statements that no thread runs.
    pub skips: bool,
    /// The device starts one group after another, so that short kernels wait for it: few large groups are better.
    pub large_tiles: bool,
    /// Largest group, flattened.
    pub max_group: u32,
    /// Largest group in x, y, z.
    pub max_group_size: [u32; 3],
    /// Bytes of group memory.
    pub max_shared: u32,
    /// Bytes of a uniform block.
    pub max_uniform: u32,
    /// Rows of a constant buffer that may be a uniform buffer; 0 where that gains nothing.
    pub uniform_rows: u32,
}

impl Target {
    /// A device that can do everything, with the limits of a large one.
    pub const fn full(mode: Mode) -> Self {
        Self {
            mode,
            float64: true,
            int64: true,
            int64_atomics: true,
            int64_shared_atomics: true,
            rte32: true,
            rte64: true,
            nan_preserve32: true,
            nan_preserve64: true,
            denorm_preserve32: true,
            denorm_preserve64: true,
            gradual32: true,
            exact64: true,
            fused64: true,
            divides64: true,
            roots64: true,
            saturates: true,
            keeps_exits: true,
            ends_loops: false,
            fences_apart: true,
            mistakes_masks: false,
            multiplies_apart: false,
            longest_run: u32::MAX,
            skips: true,
            large_tiles: true,
            max_group: 1024,
            max_group_size: [1024; 3],
            max_shared: 65536,
            max_uniform: 65536,
            uniform_rows: 4096,
        }
    }
}

/// Exactness of float operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every instruction gives the documented bits.
    Faithful,
    /// The device's own instructions.
    Native,
}
