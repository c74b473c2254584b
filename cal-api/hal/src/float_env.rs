//! The float environment in which results are computed, whatever the program has set.
//!
//! Programs change rounding, have denormals flushed (those linked with `-ffast-math` do, in all threads) or ask for signals
//! at inexact results. New threads inherit that.

/// Rounding to nearest, denormals kept, no exception trapped, until dropped; then as before, flags included.
#[must_use]
pub struct FloatEnv(arch::Saved);

impl FloatEnv {
    /// Saves the environment of this thread and sets the known one.
    #[inline]
    pub fn enter() -> FloatEnv {
        FloatEnv(arch::enter())
    }
}

impl Drop for FloatEnv {
    #[inline]
    fn drop(&mut self) {
        arch::leave(&self.0);
    }
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use std::arch::asm;

    /// All exceptions masked, to nearest, no flush.
    const MXCSR: u32 = 0x1F80;
    /// The x87 unit: all exceptions masked, to nearest, 64 bits of precision.
    const CONTROL: u16 = 0x037F;

    /// MXCSR, and the x87 environment if that was another.
    pub struct Saved(u32, Option<[u32; 7]>);

    fn mxcsr() -> u32 {
        let mut word = 0;
        // SAFETY: stores four bytes where there are four.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
        word
    }

    fn set_mxcsr(word: u32) {
        // SAFETY: the word is one that was read, or the constant above; what runs under it does not depend on another: `enter`
        // and `leave` are pairs.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, preserves_flags)) };
    }

    #[inline]
    pub fn enter() -> Saved {
        let old = mxcsr();
        if old != MXCSR {
            set_mxcsr(MXCSR);
        }
        let mut control = 0u16;
        // SAFETY: stores two bytes where there are two.
        unsafe { asm!("fnstcw [{}]", in(reg) &mut control, options(nostack, preserves_flags)) };
        let x87 = (control != CONTROL).then(|| {
            let mut environment = [0u32; 7];
            // SAFETY: stores the 28 bytes of the environment, then loads two. The register stack stays as it is.
            unsafe {
                asm!("fnstenv [{}]", in(reg) &mut environment, options(nostack));
                asm!("fldcw [{}]", in(reg) &CONTROL, options(nostack));
            }
            environment
        });
        Saved(old, x87)
    }

    #[inline]
    pub fn leave(saved: &Saved) {
        if let Some(environment) = &saved.1 {
            // SAFETY: loads what was stored by `enter`; flags come back with it, so nothing traps that did not before.
            unsafe { asm!("fldenv [{}]", in(reg) environment, options(nostack)) };
        }
        if mxcsr() != saved.0 {
            set_mxcsr(saved.0);
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use std::arch::asm;

    /// Control and flags.
    pub struct Saved(u64, u64);

    #[inline]
    pub fn enter() -> Saved {
        let (control, flags): (u64, u64);
        // SAFETY: reads two registers; control 0 is to nearest, no flush, no trap. `leave` restores both.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) flags, options(nomem, nostack));
            if control != 0 {
                asm!("msr fpcr, xzr", options(nomem, nostack));
            }
        }
        Saved(control, flags)
    }

    #[inline]
    pub fn leave(saved: &Saved) {
        // SAFETY: what `enter` read.
        unsafe {
            asm!("msr fpsr, {}", in(reg) saved.1, options(nomem, nostack));
            if saved.0 != 0 {
                asm!("msr fpcr, {}", in(reg) saved.0, options(nomem, nostack));
            }
        }
    }
}

/// Elsewhere programs keep to the default environment.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    pub struct Saved;

    pub fn enter() -> Saved {
        Saved
    }

    pub fn leave(_: &Saved) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::arch::asm;

    use super::FloatEnv;

    fn words() -> (u32, u16) {
        let (mut mxcsr, mut control) = (0u32, 0u16);
        // SAFETY: stores six bytes where there are six.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &mut mxcsr);
            asm!("fnstcw [{}]", in(reg) &mut control);
        }
        (mxcsr, control)
    }

    fn set(mxcsr: u32, control: u16) {
        // SAFETY: nothing is computed until the next call.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &mxcsr);
            asm!("fldcw [{}]", in(reg) &control);
        }
    }

    #[test]
    fn known_inside_and_as_before_outside() {
        let before = words();
        // Rounding up, flush to zero, denormals are zero, everything trapped, some flags raised.
        for odd in [(0x5F80, 0x0B7F), (0x9FC0, 0x037F), (0x0000, 0x0340), (0x1FBF, 0x027F)] {
            set(odd.0, odd.1);
            let env = FloatEnv::enter();
            let inside = words();
            // Inexact, a division by zero and a result below the normal ones: none may trap, none may be lost.
            let values = [1.0f32, 0.0, 1e-40].map(std::hint::black_box);
            let results = [values[0] / 3.0, values[0] / values[1], values[2] * 0.5].map(std::hint::black_box);
            drop(env);
            let after = words();
            set(before.0, before.1);
            assert_eq!(inside, (0x1F80, 0x037F), "{odd:x?}");
            assert_eq!(after, odd);
            assert_eq!(results.map(f32::to_bits), [0x3EAA_AAAB, 0x7F80_0000, 35681], "{odd:x?}");
        }
    }
}

#[cfg(all(test, target_arch = "aarch64"))]
mod tests {
    use std::arch::asm;

    use super::FloatEnv;

    fn words() -> (u64, u64) {
        let (control, flags): (u64, u64);
        // SAFETY: reads two registers.
        unsafe { asm!("mrs {}, fpcr", "mrs {}, fpsr", out(reg) control, out(reg) flags) };
        (control, flags)
    }

    fn set(control: u64, flags: u64) {
        // SAFETY: nothing is computed until the next call.
        unsafe { asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) control, in(reg) flags) };
    }

    #[test]
    fn known_inside_and_as_before_outside() {
        let before = words();
        // Rounding up and down, flush to zero, one NaN for all; some flags raised.
        for odd in [(1 << 22, 0), (2 << 22 | 1 << 24, 0x1F), (1 << 25 | 1 << 24, 0x80), (0, 0x11)] {
            set(odd.0, odd.1);
            let env = FloatEnv::enter();
            let inside = words().0;
            let values = [1.0f32, 0.0, 1e-40].map(std::hint::black_box);
            let results = [values[0] / 3.0, values[0] / values[1], values[2] * 0.5].map(std::hint::black_box);
            drop(env);
            let after = words();
            set(before.0, before.1);
            assert_eq!(inside, 0, "{odd:x?}");
            assert_eq!(after, odd);
            assert_eq!(results.map(f32::to_bits), [0x3EAA_AAAB, 0x7F80_0000, 35681], "{odd:x?}");
        }
    }
}
