//! The float mode that functions run in.
//!
//! Changing it makes a processor wait for all that it has begun, which takes longer than a short function: it stays between
//! functions that want the same, and whoever calls them says when it ends.

/// MXCSR: to nearest, no traps, no flush of results.
pub const GRADUAL: u32 = 0x1F80;
/// The same where denormal operands count as zeros.
pub const LAZY: u32 = GRADUAL | 1 << 6;

/// The float mode of this thread while functions are called; what it was comes back with [`Mode::leave`], or in the end.
#[derive(Debug, Default)]
pub struct Mode {
    /// What it was, if it was changed.
    before: Option<u32>,
}

impl Mode {
    /// Denormal operands count as zeros, or not.
    #[inline(always)]
    pub(crate) fn enter(&mut self, lazy: bool) {
        if lazy != self.before.is_some() {
            self.change(lazy);
        }
    }

    /// The mode is what it was.
    #[inline(always)]
    pub fn leave(&mut self) {
        self.enter(false);
    }

    #[inline(never)]
    fn change(&mut self, lazy: bool) {
        let before = self.before.take();
        if lazy {
            self.before = Some(arch::mode());
        }
        arch::set(if lazy { LAZY } else { before.unwrap_or(GRADUAL) });
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::asm;

    pub fn mode() -> u32 {
        let mut word = 0;
        // SAFETY: stores four bytes where there are four.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
        word
    }

    pub fn set(word: u32) {
        // SAFETY: the word is one that was read, or one of the constants above. Until the mode is left compiled code runs, and what
        // runs between computes no floats of which an operand may be a denormal.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, preserves_flags)) };
    }
}

/// No target of another architecture takes denormals as zeros.
#[cfg(not(target_arch = "x86_64"))]
mod arch {
    pub fn mode() -> u32 {
        0
    }

    pub fn set(_: u32) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::hint::black_box;

    use super::*;

    fn gradual() -> bool {
        black_box(f32::from_bits(1)) * black_box(f32::from_bits(0x7F00_0000)) != 0.0
    }

    #[test]
    fn the_mode_is_left_when_it_is_said_and_in_the_end() {
        let mut mode = Mode::default();
        assert!(gradual());
        mode.enter(true);
        mode.enter(true);
        assert!(!gradual());
        mode.leave();
        assert!(gradual());
        mode.enter(true);
        assert!(!gradual());
        drop(mode);
        assert!(gradual());
    }
}
