//! Floats and 64-bit values in the form that an instruction asks for, converted once.

use rspirv::spirv::{Op, Word};

use super::module::Type;
use super::{Emitter, Mode};

/// A 64-bit value in the form in which it was made; converted when another form is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quad {
    /// Low and high words.
    Words(Word, Word),
    /// A 64-bit integer.
    Integer(Word),
    /// A double.
    Double(Word),
}

impl Emitter<'_> {
    /// The 32-bit word as a float.
    pub(super) fn as_float(&mut self, word: Word) -> Word {
        if let Some(bits) = self.w.bits.get(&word).copied() {
            return self.w.float(bits);
        }
        if let Some(float) = self.memo.float.get(&word) {
            return float;
        }
        // Some drivers take a condition for a number, though as a float it is NaN.
        let truth = self.memo.truths.get(&word).is_some();
        let bits = if truth { self.opaque(word) } else { word };
        let float = self.w.op(Op::Bitcast, self.t.f32, &[bits]);
        self.memo.float.insert(word, float);
        float
    }

    /// The float as a 32-bit word.
    pub(super) fn as_word(&mut self, float: Word) -> Word {
        let word = self.w.op(Op::Bitcast, self.t.u32, &[float]);
        self.memo.float.insert(word, float);
        word
    }

    pub(super) fn words(&mut self, q: Quad) -> (Word, Word) {
        let id = match q {
            Quad::Words(lo, hi) => return (lo, hi),
            Quad::Integer(id) | Quad::Double(id) => id,
        };
        if let Some(words) = self.memo.halves.get(&id) {
            return words;
        }
        let pair = self.w.op(Op::Bitcast, self.t.uvec2, &[id]);
        let words = (self.w.extract(self.t.u32, pair, 0), self.w.extract(self.t.u32, pair, 1));
        self.memo.halves.insert(id, words);
        match q {
            Quad::Double(_) => self.memo.double.insert(words, id),
            _ => self.memo.integer.insert(words, id),
        }
        if self.solid.contains(id) {
            self.solid.extend([words.0, words.1]);
        }
        words
    }

    pub(super) fn integer(&mut self, q: Quad) -> Word {
        let ty = self.w.ty(Type::U64);
        match q {
            Quad::Integer(id) => id,
            Quad::Double(id) => self.w.op(Op::Bitcast, ty, &[id]),
            Quad::Words(lo, hi) => {
                if let (Some(lo), Some(hi)) = (self.w.bits.get(&lo), self.w.bits.get(&hi)) {
                    let bits = u64::from(*lo) | u64::from(*hi) << 32;
                    return self.w.quad(bits);
                }
                if let Some(id) = self.memo.integer.get(&(lo, hi)) {
                    return id;
                }
                let pair = self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]);
                let id = self.w.op(Op::Bitcast, ty, &[pair]);
                self.memo.integer.insert((lo, hi), id);
                self.memo.halves.insert(id, (lo, hi));
                id
            }
        }
    }

    pub(super) fn double(&mut self, q: Quad) -> Word {
        if !self.target.float64 {
            self.refuse("the device has no 64-bit floats");
        } else if self.target.mode == Mode::Faithful && !self.target.exact64 {
            self.refuse("the device's 64-bit floats are not exact enough for faithful mode");
        }
        let ty = self.w.ty(Type::F64);
        match q {
            Quad::Double(id) => id,
            Quad::Integer(id) => self.w.op(Op::Bitcast, ty, &[id]),
            Quad::Words(lo, hi) => {
                if let Some(id) = self.memo.double.get(&(lo, hi)) {
                    return id;
                }
                if let Some(id) = self.loaded_double(lo, hi) {
                    self.memo.double.insert((lo, hi), id);
                    self.memo.halves.insert(id, (lo, hi));
                    return id;
                }
                let pair = self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]);
                let id = self.w.op(Op::Bitcast, ty, &[pair]);
                self.memo.double.insert((lo, hi), id);
                self.memo.halves.insert(id, (lo, hi));
                id
            }
        }
    }
}
