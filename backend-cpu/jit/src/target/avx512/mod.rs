//! AVX-512: strips of 16 lanes, masks in registers of their own, 32 vector registers.

mod access;
pub mod encode;
mod groups;
mod interleave;
mod learned;
mod near;
pub mod table;

use recal_il::ir::lines;

use self::encode::{Lanes, lanes_of, plain, vector};
use self::table::*;
use super::x86::{self, NOT_ZERO, Shape, ZERO};
use super::{
    Access, Base, Blocks, Called, Frame, Group, Masks, Rm, Scalar, Steps, Target, Window, field_of, reg,
};
use crate::emit::{Code, Pool};
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::ticks::LEAVE;

/// The target.
pub struct Avx512;

/// Masks of the executing lanes, of the first and the second strip.
const EXEC: [u8; 2] = [1, 6];
/// Mask for use within an instruction, and one more that cannot guard lanes.
const SCRATCH: u8 = 7;
const TEMPORARY: u8 = 0;
/// The vector for use within an instruction; those below are given out.
const VECTOR: u8 = 31;

static MASKS: Masks =
    Masks { registers: Some(2..6), exec: EXEC, scratch: SCRATCH, temporary: TEMPORARY, tested: [4, 5] };

impl Target for Avx512 {
    fn name(&self) -> &'static str {
        "avx512"
    }

    fn available(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd")
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    fn lanes(&self) -> u32 {
        16
    }

    fn vectors(&self, _: u8) -> u8 {
        VECTOR
    }

    fn pinned(&self) -> usize {
        16
    }

    fn lower(&self, graph: &mut Graph, inst: Inst) -> Val {
        let [a, b, _] = inst.args;
        let mut half = |op| {
            let words = graph.unary(Op::Words, a);
            let words = graph.binary(op, words, words);
            graph.unary(Op::QTop, words)
        };
        match inst.op {
            Op::Join => {
                let halves = [a, b].map(|half| graph.unary(Op::QWords, half));
                let words = graph.binary(Op::Even, halves[0], halves[1]);
                graph.unary(Op::Top, words)
            }
            Op::SplitLow => half(Op::ZipLow),
            Op::SplitHigh => half(Op::ZipHigh),
            Op::ToSigned
                if let Some(Inst { op: Op::Round(how), args: [of, ..], mask: NO }) = graph.as_inst(a) =>
            {
                graph.add(Node::Inst(Inst { op: Op::ToSignedBy(how), args: [of, NO, NO], ..inst }))
            }
            _ => graph.add(Node::Inst(inst)),
        }
    }

    fn overwrites(&self, op: Op) -> Option<usize> {
        match op {
            Op::FFma | Op::DFma | Op::Permute2 => Some(2),
            Op::Flush => Some(0),
            _ => None,
        }
    }

    fn takes_memory(&self, op: Op) -> bool {
        use Op::*;
        !matches!(op, Both | Either | Not | Words | QWords | Top | QTop | ToSignedBy(_))
    }

    fn operand(&self, pool: &mut Pool, node: Node, wide: bool) -> Option<Rm> {
        match node {
            Node::Word(word) if !wide => Some(Rm::Splat(Base::Pool, pool.word(word))),
            Node::Field(view, field) if !wide => Some(Rm::Splat(Base::Views, field_of(view, field))),
            Node::Quad(quad) if wide => Some(Rm::Splat(Base::Pool, pool.quad(quad))),
            _ => None,
        }
    }

    fn pairs(&self) -> bool {
        true
    }

    fn learns(&self) -> bool {
        true
    }

    fn places(&self, op: Op, line: u32) -> usize {
        match op {
            Op::StoreBlocks(..) => 2,
            Op::Part(..) | Op::Pair(..) if line < 16 => 1,
            _ => 0,
        }
    }

    fn operation(&self, code: &mut Code, pool: &mut Pool, op: Op, to: u8, args: [Rm; 3], mask: Option<u8>) {
        let [a, b, c] = args;
        let lanes = match mask {
            None => Lanes::All,
            Some(mask) if op.is_mask() => Lanes::Some(mask),
            Some(mask) => Lanes::OrZero(mask),
        };
        match op {
            Op::Both => encode::mask_and(code, to, reg(a), reg(b)),
            Op::Either => encode::mask_or(code, to, reg(a), reg(b)),
            Op::Not => encode::mask_not(code, to, reg(a)),
            Op::Keep => {
                // It may lie anywhere.
                let (enc, from) = match b {
                    Rm::Mem(..) => (LOAD_NEAR, b),
                    b => move_of(b),
                };
                vector(code, enc, to, 0, from, Lanes::OrZero(reg(a)), None);
            }
            Op::ToSignedBy(how) => encode::rounded(code, CVTPS2DQ, to, reg(a), how, lanes),
            Op::Flush => {
                const DENORMAL: u8 = 0x20;
                vector(code, FPCLASSPS, SCRATCH, 0, Rm::Reg(to), Lanes::All, Some(DENORMAL));
                let sign = Rm::Splat(Base::Pool, pool.word(0x8000_0000));
                vector(code, PANDD, to, to, sign, Lanes::Some(SCRATCH), None);
            }
            op => {
                let Some(row) = row(op) else { unreachable!("{op:?} has no instruction") };
                let (first, other, rm, lanes) = match row.shape {
                    Shape::Rvm => (to, reg(a), b, lanes),
                    Shape::Rm => (to, 0, a, lanes),
                    Shape::Digit(digit) => (digit, to, a, lanes),
                    Shape::Fma => (to, reg(a), b, lanes),
                    Shape::Blend => (to, reg(c), b, Lanes::Some(reg(a))),
                };
                vector(code, row.enc, first, other, rm, lanes, row.imm);
            }
        }
    }

    fn merges(&self, op: Op, _: bool) -> bool {
        use Op::*;
        matches!(
            op,
            Add | Sub
                | Mul
                | And
                | AndNot
                | Or
                | Xor
                | MinSigned
                | MaxSigned
                | FAdd
                | FSub
                | FMul
                | FDiv
                | FMin
                | FMax
        )
    }

    fn merged(&self, code: &mut Code, op: Op, to: u8, args: [Rm; 3], exec: u8, _one: bool) {
        if let Some(row) = row(op) {
            vector(code, row.enc, to, reg(args[0]), args[1], Lanes::Some(exec), row.imm);
        }
    }

    fn narrows(&self) -> bool {
        true
    }

    fn constant(&self, code: &mut Code, pool: &mut Pool, to: u8, node: Node) {
        let wide = matches!(node, Node::Quad(_));
        if let Some(from) = self.operand(pool, node, wide) {
            let enc = if wide { PBROADCASTQ } else { PBROADCASTD };
            vector(code, enc, to, 0, move_of(from).1, Lanes::All, None);
        }
    }

    fn load(&self, code: &mut Code, to: u8, from: Rm) {
        let (enc, from) = move_of(from);
        vector(code, enc, to, 0, from, Lanes::All, None);
    }

    fn store(&self, code: &mut Code, from: u8, base: Base, at: u32) {
        vector(code, STORE, from, 0, Rm::Mem(base, at), Lanes::All, None);
    }

    fn merge(&self, code: &mut Code, to: u8, from: u8, exec: u8) {
        vector(code, LOAD, to, 0, Rm::Reg(from), Lanes::Some(exec), None);
    }

    // Processors hand a load what an earlier store of its bytes holds, but not what a masked store holds: that load waits until
    // the store is in the cache.
    fn merge_store(&self, code: &mut Code, from: u8, base: Base, at: u32, exec: u8) {
        self.load(code, VECTOR, Rm::Mem(base, at));
        self.merge(code, VECTOR, from, exec);
        self.store(code, VECTOR, base, at);
    }

    fn mask_copy(&self, code: &mut Code, to: u8, from: u8) {
        encode::mask_and(code, to, from, from);
    }

    fn mask_and(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        encode::mask_and(code, to, a, b);
    }

    fn mask_or(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        encode::mask_or(code, to, a, b);
    }

    fn mask_and_not(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        encode::mask_and_not(code, to, a, b);
    }

    fn mask_load(&self, code: &mut Code, to: u8, at: u32) {
        encode::mask_load(code, to, Base::Stack, at);
    }

    fn mask_store(&self, code: &mut Code, from: u8, at: u32) {
        encode::mask_store(code, from, at);
    }

    fn mask_constant(&self, code: &mut Code, pool: &mut Pool, to: u8, lanes: u32) {
        encode::mask_load(code, to, Base::Pool, pool.word(lanes));
    }

    fn jump_if(&self, code: &mut Code, mask: u8, any: bool) -> usize {
        encode::mask_test(code, mask);
        x86::jump(code, Some(if any { NOT_ZERO } else { ZERO }))
    }

    fn back(&self, code: &mut Code, mask: u8, head: usize) {
        encode::mask_test(code, mask);
        x86::back(code, NOT_ZERO, head);
    }

    fn give(&self, code: &mut Code, _: &mut Pool, from: u8, after: u8) {
        encode::mask_to_result(code, from, 48 - 16 * after);
    }

    fn reach(&self, shape: lines::Shape, count: u32) -> Option<u32> {
        Window::reach(shape, 16, count, access::WINDOW)
    }

    fn splats(&self) -> bool {
        true
    }

    fn broadcast(&self, code: &mut Code, to: u8, base: Base, at: u32, wide: bool) {
        plain(code, if wide { PBROADCASTQ } else { PBROADCASTD }, to, Rm::Mem(base, at));
    }

    fn near(&self, code: &mut Code, to: u8, base: Base, bytes: u32) {
        plain(code, LOAD_NEAR, to, Rm::Mem(base, bytes));
    }

    fn put(&self, code: &mut Code, from: u8, vectors: u32, past_caches: bool) {
        let enc = if past_caches { STORE_PAST } else { STORE_NEAR };
        plain(code, enc, from, Rm::Mem(Base::First, 64 * vectors));
    }

    x86::alike!();

    fn good_strips(&self, code: &mut Code, pool: &mut Pool, from: u8) {
        const EQUAL: u8 = 0;
        let zero = Rm::Splat(Base::Pool, pool.word(0));
        vector(code, PCMPD, TEMPORARY, from, zero, Lanes::All, Some(EQUAL));
        encode::mask_to_lanes(code, TEMPORARY);
    }

    fn call(&self, code: &mut Code, _: &mut Pool, of: &Called, masks: &[u8]) {
        match masks {
            [] => x86::all_lanes(code, of.lanes),
            masks => lanes_of(code, masks),
        }
        x86::call(code, of);
    }

    fn function(&self, code: &mut Code, pool: &mut Pool, frame: &Frame<'_>) {
        x86::function(code, pool, frame, 16, |code, _| {
            let strips = EXEC.into_iter().take(frame.strips.into()).enumerate();
            strips.for_each(|(strip, exec)| encode::mask_from_lanes(code, exec, strip == 1));
        });
    }
}

/// How a vector comes to a register: a broadcast is an instruction of its own.
fn move_of(from: Rm) -> (x86::Enc, Rm) {
    match from {
        Rm::Splat(base, at) => (PBROADCASTD, Rm::Mem(base, at)),
        from => (LOAD, from),
    }
}
