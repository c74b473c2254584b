//! Bytes that several threads and the application share.
//!
//! Kernels may race by design: two threads of a launch may store to one word, and a host may look at remote memory
//! while a kernel runs. So no reference to these bytes is ever made. Single words are relaxed atomics, which cost
//! nothing. Whole blocks (up to 128 bytes of neighbouring elements) are copied to and from the stack through raw
//! pointers; a kernel that races with itself there gets words from either side, as the documents say.
//!
//! Every access checks its range against the length of the view. Nothing outside is ever touched.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A range of shared bytes, 4-byte aligned, that live for `'a`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    start: NonNull<u8>,
    bytes: usize,
    live: PhantomData<&'a AtomicU32>,
}

// SAFETY: a view is an address and a length; its methods make only atomic or unreferenced accesses, see the module
// text, so any thread may use it while the bytes live, which `View::new` makes the caller promise.
unsafe impl Send for View<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// No bytes.
    pub const EMPTY: View<'static> =
        View { start: NonNull::<u32>::dangling().cast(), bytes: 0, live: PhantomData };

    /// The `bytes` bytes at `start`.
    ///
    /// # Safety
    /// They stay readable and writable for `'a`, are only accessed through views or raw pointers meanwhile, and
    /// `start` is a multiple of 4.
    pub unsafe fn new(start: NonNull<u8>, bytes: usize) -> View<'a> {
        View { start, bytes, live: PhantomData }
    }

    /// Words that are atomics anyway.
    pub fn of(words: &'a [AtomicU32]) -> View<'a> {
        // SAFETY: they may be read and written by any thread as long as the slice lives, and are aligned.
        unsafe { View::new(NonNull::from(words).cast(), size_of_val(words)) }
    }

    /// Length.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The same bytes for compiled code.
    pub fn for_code(&self) -> recal_jit::View {
        // SAFETY: live by the promise of `new`; a launch, which alone calls compiled code, has the views of memory
        // that it keeps until it ends.
        unsafe { recal_jit::View::new(self.start.as_ptr(), self.bytes) }
    }

    /// Number of the first byte, to tell memories apart.
    pub fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// The part from `offset`, at most `bytes` long; `offset` is rounded down to a multiple of 4.
    #[inline(always)]
    pub fn part(&self, offset: usize, bytes: usize) -> View<'a> {
        let offset = (offset & !3).min(self.bytes & !3);
        // SAFETY: `offset` is at most `self.bytes`, so the result stays in, or at the end of, the same block.
        let start = unsafe { self.start.add(offset) };
        View { start, bytes: bytes.min(self.bytes - offset), live: PhantomData }
    }

    /// Address of `N` bytes at `offset`, if they are inside.
    #[inline(always)]
    fn at(&self, offset: usize, n: usize) -> Option<*mut u8> {
        // SAFETY: the range was just found to lie inside the view.
        (n <= self.bytes && offset <= self.bytes - n).then(|| unsafe { self.start.as_ptr().add(offset) })
    }

    /// Word number `index`, if it is inside.
    #[inline(always)]
    pub fn atomic(&self, index: usize) -> Option<&AtomicU32> {
        let at = self.at(index.checked_mul(4)?, 4)?;
        // SAFETY: inside the view, aligned to 4 since the view is, live by the promise of `new`, and never
        // referenced as anything but an atomic.
        Some(unsafe { AtomicU32::from_ptr(at.cast()) })
    }

    /// The two words from word number `index` as one, if they are inside and aligned to 8 bytes.
    #[inline(always)]
    pub fn atomic_wide(&self, index: usize) -> Option<&AtomicU64> {
        let at = self.at(index.checked_mul(4)?, 8)?;
        // SAFETY: as in `atomic`; the alignment is tested here.
        (at as usize % 8 == 0).then(|| unsafe { AtomicU64::from_ptr(at.cast()) })
    }

    /// Word number `index`, or 0 outside.
    #[inline(always)]
    pub fn word(&self, index: usize) -> u32 {
        self.atomic(index).map_or(0, |w| w.load(Relaxed))
    }

    /// Stores word number `index`; nothing outside.
    #[inline(always)]
    pub fn set_word(&self, index: usize, value: u32) {
        if let Some(word) = self.atomic(index) {
            word.store(value, Relaxed);
        }
    }

    /// The byte at `offset`, or 0 outside.
    #[inline(always)]
    pub fn byte(&self, offset: usize) -> u8 {
        // SAFETY: inside the view and live, as in `atomic`; bytes have no alignment.
        self.at(offset, 1).map_or(0, |at| unsafe { AtomicU8::from_ptr(at) }.load(Relaxed))
    }

    /// Stores the byte at `offset`; nothing outside.
    #[inline(always)]
    pub fn set_byte(&self, offset: usize, value: u8) {
        if let Some(at) = self.at(offset, 1) {
            // SAFETY: as in `byte`.
            unsafe { AtomicU8::from_ptr(at) }.store(value, Relaxed);
        }
    }

    /// `N` words from word number `index`, if all are inside.
    #[inline(always)]
    pub fn read<const N: usize>(&self, index: usize) -> Option<[u32; N]> {
        let at = self.at(index.checked_mul(4)?, 4 * N)?;
        // SAFETY: 4 N bytes from `at` are inside the view, live, and aligned to 4; the copy makes no reference.
        Some(unsafe { at.cast::<[u32; N]>().read() })
    }

    /// Stores `N` words from word number `index`; false if not all are inside.
    #[inline(always)]
    pub fn write<const N: usize>(&self, index: usize, words: &[u32; N]) -> bool {
        let Some(at) = index.checked_mul(4).and_then(|offset| self.at(offset, 4 * N)) else { return false };
        // SAFETY: as in `read`.
        unsafe { at.cast::<[u32; N]>().write(*words) };
        true
    }

    /// The same as [`View::write`] past the caches: who reads the words soon waits for memory, and other memory stays in the caches.
    /// [`ordered`] comes before anyone else is told of it.
    #[inline(always)]
    pub fn stream<const N: usize>(&self, index: usize, words: &[u32; N]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if N % 16 == 0 {
            let Some(at) = index.checked_mul(4).and_then(|offset| self.at(offset, 4 * N)) else {
                return false;
            };
            if at as usize % 64 == 0 {
                use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
                for (k, four) in words.chunks_exact(4).enumerate() {
                    // SAFETY: 16 bytes from `at + 16 k` are inside the view, live, and aligned to 16; `four` has as many.
                    // Every x86-64 has the instructions.
                    unsafe { _mm_stream_si128(at.add(16 * k).cast(), _mm_loadu_si128(four.as_ptr().cast())) };
                }
                return true;
            }
        }
        self.write(index, words)
    }

    /// Asks for the cache line of word number `index`, which may be anywhere.
    #[inline(always)]
    pub fn prefetch(&self, index: u32) {
        let at = self.start.as_ptr().wrapping_add((index as usize).wrapping_mul(4));
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch does not access memory as the language sees it, and faults on no address.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// The bytes after the last whole word, followed by zeros.
    pub fn last_word(&self) -> u32 {
        let first = self.bytes & !3;
        u32::from_le_bytes([0, 1, 2, 3].map(|k| self.byte(first + k)))
    }

    /// Copies `bytes` bytes of `source` at `from` to `to`; the ranges may overlap. False, and nothing done, if
    /// either range is not inside.
    pub fn copy(&self, to: usize, source: &View<'_>, from: usize, bytes: usize) -> bool {
        let (Some(dst), Some(src)) = (self.at(to, bytes), source.at(from, bytes)) else { return false };
        // SAFETY: both ranges are inside live views; `copy` allows overlap.
        unsafe { ptr::copy(src, dst, bytes) };
        true
    }

    /// Sets all bytes to 0.
    pub fn zero(&self) {
        // Processors take long over a store of nothing where no memory is.
        if self.bytes > 0 {
            // SAFETY: the whole view is live and writable by the promise of `new`.
            unsafe { ptr::write_bytes(self.start.as_ptr(), 0, self.bytes) };
        }
    }
}

/// What this thread wrote past the caches comes before what it writes from now on.
pub fn ordered() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_is_touched() {
        let mut words = [1u32, 2, 3, 4];
        // SAFETY: `words` outlives the view and is not used until the view's last use.
        let view = unsafe { View::new(NonNull::from(&mut words).cast(), 12) };
        assert_eq!(view.word(2), 3);
        assert_eq!(view.word(3), 0);
        assert_eq!(view.word(usize::MAX), 0);
        // Beyond the addresses of 32 bits, where there are no more.
        view.prefetch(u32::MAX);
        assert_eq!(view.read::<2>(1), Some([2, 3]));
        assert_eq!(view.read::<2>(2), None);
        assert!(!view.write(2, &[9, 9]));
        view.set_word(3, 9);
        view.set_byte(12, 9);
        assert!(view.atomic(usize::MAX / 4 + 1).is_none());
        assert_eq!(view.part(4, 100).bytes(), 8);
        assert_eq!(view.part(100, 4).bytes(), 0);
        assert!(!view.stream(2, &[9, 9]) && !view.stream(usize::MAX / 4, &[9; 16]));
        assert!(!view.copy(8, &view, 0, 8));
        assert!(view.copy(4, &view, 0, 8));
        // SAFETY: as above; seven bytes of the twelve.
        let odd = unsafe { View::new(NonNull::from(&mut words).cast(), 7) };
        odd.set_word(0, 0x0403_0201);
        assert_eq!((odd.byte(3), odd.last_word(), odd.word(1)), (4, 1, 0));
        assert!(!odd.write(0, &[9, 9]), "the eighth byte is outside");
        odd.set_word(0, 1);
        assert_eq!(words, [1, 1, 2, 4]);
    }

    #[test]
    fn what_goes_past_the_caches_arrives() {
        #[repr(align(64))]
        struct Lines([u32; 48]);
        let mut lines = Lines([7; 48]);
        // SAFETY: `lines` outlives the view and is not used until the view's last use.
        let view = unsafe { View::new(NonNull::from(&mut lines.0).cast(), 4 * 40) };
        let words: [u32; 16] = std::array::from_fn(|k| k as u32);
        assert!(view.stream(16, &words), "a line");
        assert!(view.stream(1, &[9, 8]), "less than one");
        assert!(!view.stream(32, &words), "a line that ends outside");
        assert!(view.stream(24, &[5; 16]), "words that are no line");
        ordered();
        let expected = |k: usize| match k {
            1 => 9,
            2 => 8,
            16..24 => k as u32 - 16,
            24..40 => 5,
            _ => 7,
        };
        assert!((0..48).all(|k| lines.0[k] == expected(k)), "{:?}", lines.0);
    }
}
