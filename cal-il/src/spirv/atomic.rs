//! Read-modify-write on memory (amd-il 5.5).

use rspirv::spirv::{Capability, Op, Word};

use super::Emitter;
use super::forms::Quad;
use super::launch::Slot;
use super::memory::{Place, Words};
use super::module::Type;
use crate::ir::{AtomicAddress, AtomicOp, Operand, Reg, Space, WideAtomic};
use crate::isa::Algebra;
use crate::isa::memory::atomic;

/// The instruction that does it in one step.
fn direct(op: AtomicOp) -> Option<Op> {
    Some(match op {
        AtomicOp::Add => Op::AtomicIAdd,
        AtomicOp::Sub => Op::AtomicISub,
        AtomicOp::Min => Op::AtomicSMin,
        AtomicOp::Max => Op::AtomicSMax,
        AtomicOp::UMin => Op::AtomicUMin,
        AtomicOp::UMax => Op::AtomicUMax,
        AtomicOp::And => Op::AtomicAnd,
        AtomicOp::Or => Op::AtomicOr,
        AtomicOp::Xor => Op::AtomicXor,
        AtomicOp::Xchg => Op::AtomicExchange,
        AtomicOp::RSub | AtomicOp::Inc | AtomicOp::Dec | AtomicOp::MskOr | AtomicOp::CmpXchg => return None,
    })
}

impl Emitter<'_> {
    #[allow(clippy::too_many_arguments)]
    pub fn atomic(
        &mut self,
        op: AtomicOp,
        space: Space,
        address: &AtomicAddress,
        src: &Operand,
        src2: Option<&Operand>,
        dst: Option<Reg>,
        wide: Option<&WideAtomic>,
    ) {
        let s = self.atomic_operand(Some(src));
        let s2 = self.atomic_operand(src2);
        let words = self.space(space);
        let two = self.word(2);
        let (index, mut inside) = match address {
            AtomicAddress::Byte(address) => {
                let address = self.operand(address);
                (self.shr(address, two), None)
            }
            AtomicAddress::Texel(coord) => {
                let Space::Uav(uav) = space else { return };
                let row = self.layout.row(Slot::Uav(uav));
                let surface = self.surface_at(row);
                let (element, inside) = self.uav_element(uav, &surface, coord);
                // Of elements wider than a word the first word is meant.
                let (bytes, two, zero) = (self.lg_bytes(&surface), self.word(2), self.word(0));
                let wider = self.ult(two, bytes);
                let shift = self.isub(bytes, two);
                let shift = self.select(wider, shift, zero);
                (self.shl(element, shift), Some(inside))
            }
        };
        if let Some(wide) = wide {
            let high = self.atomic_operand(Some(&wide.src));
            let high2 = self.atomic_operand(wide.src2.as_ref());
            return self.wide_atomic(op, words, index, [s, high], [s2, high2], dst, wide.dst);
        }
        let within = self.ult(index, words.limit);
        inside = Some(match inside {
            Some(inside) => self.both(inside, within),
            None => within,
        });
        let inside = inside.unwrap_or(within);
        let old = self.when_else_zero(inside, |e| match words.place {
            Place::Pairs => e.half_atomic(op, words, index, s, s2),
            Place::Address(_) | Place::Buffer(_) | Place::Group => {
                let pointer = e.pointer_to(words, index);
                e.word_atomic(op, words, pointer, s, s2)
            }
        });
        if let Some(dst) = dst {
            self.write(dst, old);
        }
    }

    /// Data of an atomic, 0 if there is none. llvmpipe takes an atomic whose data comes from a float instruction, however
    /// far away, for an atomic on floats, for which LLVM has no code: it ends the process.
    fn atomic_operand(&mut self, operand: Option<&Operand>) -> Word {
        let Some(operand) = operand else { return self.word(0) };
        let word = self.operand(operand);
        if self.w.bits.get(&word).is_some() { word } else { self.hidden(word) }
    }

    /// An atomic on a word; the old value.
    fn word_atomic(&mut self, op: AtomicOp, words: Words, pointer: Word, s: Word, s2: Word) -> Word {
        let u32 = self.t.u32;
        let (scope, relaxed) = (self.word(Self::scope(words) as u32), self.word(0));
        if let Some(op) = direct(op) {
            return self.w.op(op, u32, &[pointer, scope, relaxed, s]);
        }
        match op {
            AtomicOp::CmpXchg => {
                let operands = [pointer, scope, relaxed, relaxed, s, s2];
                self.w.op(Op::AtomicCompareExchange, u32, &operands)
            }
            // With the largest limit the wrapping forms are plain steps.
            AtomicOp::Inc if self.w.bits.get(&s) == Some(&u32::MAX) => {
                let one = self.word(1);
                self.w.op(Op::AtomicIAdd, u32, &[pointer, scope, relaxed, one])
            }
            AtomicOp::Dec if self.w.bits.get(&s) == Some(&u32::MAX) => {
                let one = self.word(1);
                self.w.op(Op::AtomicISub, u32, &[pointer, scope, relaxed, one])
            }
            _ => {
                let first = self.w.op(Op::AtomicLoad, u32, &[pointer, scope, relaxed]);
                self.exchange_loop(u32, first, |e, m| {
                    let new = atomic::new_word(e, op, m, s, s2);
                    let operands = [pointer, scope, relaxed, relaxed, new, m];
                    e.w.op(Op::AtomicCompareExchange, u32, &operands)
                })
            }
        }
    }

    /// Repeats `attempt`, which takes the value thought to be in memory and gives the one that was, until they
    /// agree.
    fn exchange_loop(
        &mut self,
        ty: Word,
        first: Word,
        attempt: impl FnOnce(&mut Self, Word) -> Word,
    ) -> Word {
        let mark = self.mark();
        let variable = self.w.local(ty, None);
        self.w.store(variable, first, None);
        let [head, body, next, merge] = [0; 4].map(|_| self.w.id());
        self.w.branch(head);
        self.w.label(head);
        self.w.loop_merge(merge, next);
        self.w.branch(body);
        self.w.label(body);
        self.second_exit(merge, true, None);
        let thought = self.w.load(ty, variable, None);
        let found = attempt(self, thought);
        self.w.store(variable, found, None);
        let same = self.w.op(Op::IEqual, self.t.bool, &[thought, found]);
        self.w.branch_if(same, merge, next);
        self.w.label(next);
        self.w.branch(head);
        self.w.label(merge);
        self.rewind(mark);
        self.w.load(ty, variable, None)
    }

    #[allow(clippy::too_many_arguments)]
    fn wide_atomic(
        &mut self,
        op: AtomicOp,
        words: Words,
        index: Word,
        src: [Word; 2],
        src2: [Word; 2],
        lo: Option<Reg>,
        hi: Option<Reg>,
    ) {
        let able = match words.place {
            Place::Address(_) | Place::Buffer(_) => self.target.int64_atomics,
            Place::Group | Place::Pairs => self.target.int64_shared_atomics,
        };
        if !able || !self.target.int64 {
            self.refuse(match words.place {
                Place::Address(_) | Place::Buffer(_) => "the device has no 64-bit atomics",
                Place::Group | Place::Pairs => "the device has no 64-bit atomics on group memory (LDS)",
            });
            // Later statements read the results all the same.
            let zero = self.word(0);
            return lo.into_iter().chain(hi).for_each(|register| self.write(register, zero));
        }
        let one = self.word(1);
        let last = self.iadd(index, one);
        let inside = self.ult(last, words.limit);
        let u64 = self.w.ty(Type::U64);
        let (yes, merge, before) = (self.w.id(), self.w.id(), self.w.current());
        self.w.selection_merge(merge);
        self.w.branch_if(inside, yes, merge);
        self.w.label(yes);
        let mark = self.mark();
        let index = match words.first {
            Some(first) => self.iadd(first, index),
            None => index,
        };
        let pair = self.shr(index, one);
        let pointer = self.wide_pointer(words.place, pair);
        let [s, s2] = [src, src2].map(|[lo, hi]| Quad::Words(lo, hi));
        let old = self.pair_exchange(op, words, pointer, s, s2);
        self.rewind(mark);
        let end = self.w.current();
        self.w.branch(merge);
        self.w.label(merge);
        let none = self.w.quad(0);
        let old = self.w.op(Op::Phi, u64, &[old, end, none, before]);
        let (low, high) = (self.lo(Quad::Integer(old)), self.hi(Quad::Integer(old)));
        for (register, word) in [(lo, low), (hi, high)] {
            if let Some(register) = register {
                self.write(register, word);
            }
        }
    }

    /// An atomic on a pair; the old value.
    fn pair_exchange(&mut self, op: AtomicOp, words: Words, pointer: Word, s: Quad, s2: Quad) -> Word {
        self.w.capability(Capability::Int64Atomics);
        let u64 = self.w.ty(Type::U64);
        let (scope, relaxed) = (self.word(Self::scope(words) as u32), self.word(0));
        let [value, second] = [s, s2].map(|q| self.integer(q));
        match (direct(op), op) {
            (Some(op), _) => self.w.op(op, u64, &[pointer, scope, relaxed, value]),
            (None, AtomicOp::CmpXchg) => {
                let operands = [pointer, scope, relaxed, relaxed, value, second];
                self.w.op(Op::AtomicCompareExchange, u64, &operands)
            }
            _ => {
                let first = self.w.op(Op::AtomicLoad, u64, &[pointer, scope, relaxed]);
                self.exchange_loop(u64, first, |e, m| {
                    // No driver knows what is in memory.
                    e.solid.insert(m);
                    let [m_now, s, s2] = [m, value, second].map(Quad::Integer);
                    let new = atomic::new_quad(e, op, m_now, s, s2);
                    let new = e.integer(new);
                    e.w.op(Op::AtomicCompareExchange, u64, &[pointer, scope, relaxed, relaxed, new, m])
                })
            }
        }
    }

    /// An atomic on a word of a pair in group memory; the old value.
    fn half_atomic(&mut self, op: AtomicOp, words: Words, index: Word, s: Word, s2: Word) -> Word {
        self.w.capability(Capability::Int64Atomics);
        let u64 = self.w.ty(Type::U64);
        let (scope, relaxed) = (self.word(Self::scope(words) as u32), self.word(0));
        let (pointer, odd) = self.half_pointer(words, index);
        let first = self.w.op(Op::AtomicLoad, u64, &[pointer, scope, relaxed]);
        let old = self.exchange_loop(u64, first, |e, m| {
            let [low, high] = [e.lo(Quad::Integer(m)), e.hi(Quad::Integer(m))];
            let word = e.select(odd, high, low);
            let new = atomic::new_word(e, op, word, s, s2);
            let (low, high) = (e.select(odd, low, new), e.select(odd, new, high));
            let new = e.integer(Quad::Words(low, high));
            e.w.op(Op::AtomicCompareExchange, u64, &[pointer, scope, relaxed, relaxed, new, m])
        });
        let [low, high] = [self.lo(Quad::Integer(old)), self.hi(Quad::Integer(old))];
        self.select(odd, high, low)
    }

    /// Ands, then ors, a word of a pair in group memory.
    pub fn half_bitwise(&mut self, words: Words, index: Word, keep: Word, set: Word) {
        self.w.capability(Capability::Int64Atomics);
        let u64 = self.w.ty(Type::U64);
        let (scope, relaxed) = (self.word(Self::scope(words) as u32), self.word(0));
        let (pointer, odd) = self.half_pointer(words, index);
        let (zero, ones) = (self.word(0), self.word(u32::MAX));
        for (op, word, other) in [(Op::AtomicAnd, keep, ones), (Op::AtomicOr, set, zero)] {
            let (low, high) = (self.select(odd, other, word), self.select(odd, word, other));
            let value = self.integer(Quad::Words(low, high));
            self.w.op(op, u64, &[pointer, scope, relaxed, value]);
        }
    }

    pub fn counter(&mut self, uav: u32, consume: bool, dst: Reg) {
        let row = self.layout.row(Slot::Counters);
        let words = self.surface_words(row);
        let (index, one) = (self.word(uav), self.word(1));
        let inside = self.ult(index, words.limit);
        let op = if consume { AtomicOp::Sub } else { AtomicOp::Add };
        let value = self.when_else_zero(inside, |e| {
            let pointer = e.pointer_to(words, index);
            let old = e.word_atomic(op, words, pointer, one, one);
            if consume { e.isub(old, one) } else { old }
        });
        self.write(dst, value);
    }
}
