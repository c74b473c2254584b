//! What code calls: what lanes do one after another, atomics and stores of parts of words.
//!
//! Code puts the operands on the stack, a vector for each, and says by words among its constants what is to be done.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use recal_il::ir::AtomicOp;

use crate::row::LANES;
use crate::{NONE, View, atomic, row};

/// What is done; the first operand says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// An atomic on the word of that number, with two sources; nobody else has the memory meanwhile.
    Word(AtomicOp, bool),
    /// An atomic on two words from the one of that number on, with two sources of two words; likewise.
    Quad(AtomicOp, bool),
    /// The word of that number counts on; what it was.
    Append,
    /// The word of that number counts back; what it is.
    Consume,
    /// Stores a byte at that byte.
    Byte,
    /// Stores half a word at that byte, an even one.
    Half,
}

/// How code says it.
pub type Words = [u32; 8];

/// What is called for the lanes of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub act: Act,
    pub view: u8,
    /// Lanes of an operand.
    pub lanes: u32,
    /// Rows of the result, or [`NONE`].
    pub to: [u32; 2],
}

impl Call {
    pub fn words(self) -> Words {
        let Call { act, view, lanes, to } = self;
        let (kind, op, alone) = match act {
            Act::Word(op, alone) => (0, op as u32, alone),
            Act::Quad(op, alone) => (1, op as u32, alone),
            Act::Append => (2, 0, false),
            Act::Consume => (3, 0, false),
            Act::Byte => (4, 0, false),
            Act::Half => (5, 0, false),
        };
        [kind, op, view.into(), lanes, to[0], to[1], alone.into(), 0]
    }

    fn of([kind, op, view, lanes, to, more, alone, _]: Words) -> Call {
        let (op, alone) = (AtomicOp::ALL[op as usize], alone != 0);
        let act = match kind {
            0 => Act::Word(op, alone),
            1 => Act::Quad(op, alone),
            2 => Act::Append,
            3 => Act::Consume,
            4 => Act::Byte,
            _ => Act::Half,
        };
        Call { act, view: view as u8, lanes, to: [to, more] }
    }
}

/// Does what code calls for, for the lanes whose bits are set in `exec`, lowest first.
///
/// # Safety
/// `rows` points to the strip's first lane in the first of rows that are there up to those of the result, `words` to what
/// [`Call::words`] gave, `views` to views up to its view, and `operands` to the operands.
pub unsafe fn call(rows: *mut u32, words: *const Words, exec: u64, views: *const View, operands: *const u32) {
    // SAFETY: as the caller promises.
    let call = Call::of(unsafe { *words });
    // SAFETY: likewise.
    let view = unsafe { &*views.add(call.view.into()) };
    // What is done most has code of its own, in which all values are in registers.
    let most = Act::Word(AtomicOp::Add, true);
    match call {
        // SAFETY: as the caller promises.
        Call { act, .. } if act == most => unsafe {
            each(Call { act: most, ..call }, rows, exec, view, operands)
        },
        // SAFETY: likewise.
        _ => unsafe { others(call, rows, exec, view, operands) },
    }
}

/// As [`each`].
///
/// # Safety
/// As of [`call`].
#[inline(never)]
unsafe fn others(call: Call, rows: *mut u32, exec: u64, view: &View, operands: *const u32) {
    // SAFETY: as the caller promises.
    unsafe { each(call, rows, exec, view, operands) }
}

/// Does it for each lane.
///
/// # Safety
/// As of [`call`].
#[inline(always)]
unsafe fn each(
    Call { act, lanes, to, .. }: Call,
    rows: *mut u32,
    exec: u64,
    view: &View,
    operands: *const u32,
) {
    // SAFETY: all operands of what is done are there, with a word for each lane.
    let operand = |k: usize, lane: usize| unsafe { *operands.add(k * lanes as usize + lane) };
    let quad = |k: usize, lane: usize| u64::from(operand(k, lane)) | u64::from(operand(k + 1, lane)) << 32;
    let at = |lane: usize| operand(0, lane);
    let words = |lane: usize| [1, 2].map(|k| operand(k, lane));
    let [low, high] = to.map(|row| {
        // SAFETY: the row is there, and `rows` points to the first of the strip's lanes in its row.
        (row != NONE).then(|| unsafe { rows.add(row as usize * LANES) })
    });
    let put = |lane: usize, found: u64| {
        for (to, word) in [(low, found as u32), (high, (found >> 32) as u32)] {
            if let Some(to) = to {
                // SAFETY: likewise; rows have a word for each lane of the strip.
                unsafe { *to.add(lane) = word };
            }
        }
    };
    let put_word = |lane: usize, found: u32| put(lane, found.into());
    let word = |number: u32| view.word(number);
    // All lanes name one counter.
    let counter = || row::lanes(exec).next().and_then(|lane| view.word(at(lane)));
    match act {
        Act::Word(op, alone) => atomic::each((op, alone), exec, at, word, words, put_word),
        Act::Quad(op, alone) => {
            let sources = |lane: usize| [1, 3].map(|k| quad(k, lane));
            atomic::each((op, alone), exec, at, |number| view.quad(number), sources, put)
        }
        Act::Append => atomic::append(counter(), exec, put_word),
        Act::Consume => atomic::consume(counter(), exec, put_word),
        Act::Byte => {
            row::lanes(exec).for_each(|lane| view.store_bytes(at(lane), [operand(1, lane) as u8]));
        }
        Act::Half => row::lanes(exec).for_each(|lane| {
            view.store_bytes(at(lane) & !1, (operand(1, lane) as u16).to_le_bytes());
        }),
    }
}

impl View {
    /// A word, if it is inside.
    #[inline(always)]
    pub(crate) fn word(&self, index: u32) -> Option<&AtomicU32> {
        let at = self.start.cast::<u32>().cast_mut().wrapping_add(index as usize);
        // SAFETY: the word lies inside; `View::new` makes the caller promise that it may be accessed by any thread.
        (index < self.words).then(|| unsafe { AtomicU32::from_ptr(at) })
    }

    /// Two words from one on, if they are inside and begin at a multiple of 8 bytes.
    fn quad(&self, index: u32) -> Option<&AtomicU64> {
        let at = self.start.cast::<u32>().cast_mut().wrapping_add(index as usize).cast::<u64>();
        let inside = index.checked_add(1).is_some_and(|last| last < self.words);
        // SAFETY: as of a word; the alignment is looked at here.
        (inside && at.is_aligned()).then(|| unsafe { AtomicU64::from_ptr(at) })
    }

    /// Stores bytes from the one of that number on, if they are inside.
    fn store_bytes<const N: usize>(&self, first: u32, bytes: [u8; N]) {
        if first as usize + N <= 4 * self.words as usize {
            for (byte, at) in bytes.into_iter().zip(first as usize..) {
                // SAFETY: as of a word; bytes have no alignment.
                unsafe { AtomicU8::from_ptr(self.start.cast_mut().add(at)) }.store(byte, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_what_was_said() {
        let mut acts = vec![Act::Append, Act::Consume, Act::Byte, Act::Half];
        for op in AtomicOp::ALL {
            acts.extend([true, false].map(|alone| Act::Word(op, alone)));
            acts.extend([true, false].map(|alone| Act::Quad(op, alone)));
        }
        for (act, view) in acts.into_iter().zip(0..) {
            let call = Call { act, view, lanes: 16, to: [3, NONE] };
            assert_eq!(Call::of(call.words()), call);
        }
    }
}
