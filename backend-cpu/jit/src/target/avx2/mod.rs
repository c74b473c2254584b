//! AVX2 with FMA and BMI1: strips of 8 lanes, masks as vectors, 16 vector registers.

mod access;
mod encode;
mod groups;
mod interleave;
mod lower;
mod near;
pub mod table;
mod window;

use recal_il::ir::lines;

use self::encode::{plain, short, test, vector};
use self::table::*;
use super::x86::{self, NOT_ZERO, Shape, ZERO};
use super::{
    Access, Base, Blocks, Called, Frame, Group, Masks, Rm, Scalar, Steps, Target, Window, field_of, reg,
};
use crate::emit::{Code, Pool};
use crate::graph::{Graph, Inst, Node, Val};
use crate::op::Op;
use crate::ticks::LEAVE;

/// The target.
pub struct Avx2;

/// The executing lanes, if not all execute, of the first and the second strip.
const EXEC: [u8; 2] = [14, 13];
/// The vector, or mask, for use within an instruction.
const VECTOR: u8 = 15;

static MASKS: Masks = Masks { registers: None, exec: EXEC, scratch: VECTOR, temporary: 1, tested: [0, 2] };

impl Target for Avx2 {
    fn name(&self) -> &'static str {
        "avx2"
    }

    fn available(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi1")
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    fn lanes(&self) -> u32 {
        8
    }

    fn vectors(&self, masks: u8) -> u8 {
        VECTOR - masks
    }

    fn spare(&self) -> Option<u8> {
        Some(VECTOR)
    }

    fn pinned(&self) -> usize {
        6
    }

    fn lower(&self, graph: &mut Graph, inst: Inst) -> Val {
        lower::lower(graph, inst)
    }

    fn overwrites(&self, op: Op) -> Option<usize> {
        matches!(op, Op::FFma | Op::DFma).then_some(2)
    }

    fn takes_memory(&self, op: Op) -> bool {
        use Op::*;
        !matches!(op, Not | ShlBy(_) | ShrBy(_) | SarBy(_) | QShlBy(_) | QShrBy(_))
    }

    fn operand(&self, pool: &mut Pool, node: Node, _: bool) -> Option<Rm> {
        let at = match node {
            Node::Word(word) => pool.splat(8, word),
            Node::Quad(quad) => pool.lanes(8, |lane| (quad >> (lane % 2 * 32)) as u32),
            _ => return None,
        };
        Some(Rm::Mem(Base::Pool, at))
    }

    fn places(&self, op: Op, _: u32) -> usize {
        match op {
            Op::Store(_) | Op::StoreBlocks(..) => 2,
            Op::Load(_) => 1,
            _ => 0,
        }
    }

    fn operation(&self, code: &mut Code, pool: &mut Pool, op: Op, to: u8, args: [Rm; 3], mask: Option<u8>) {
        debug_assert!(mask.is_none(), "{op:?} has a mask");
        let [a, b, c] = args;
        if op == Op::Not {
            let ones = Rm::Mem(Base::Pool, pool.splat(8, u32::MAX));
            return vector(code, PXOR, to, reg(a), ones, None);
        }
        let Some(row) = row(op) else { unreachable!("{op:?} has no instruction") };
        match row.shape {
            Shape::Rvm | Shape::Fma => vector(code, row.enc, to, reg(a), b, row.imm),
            Shape::Rm => vector(code, row.enc, to, 0, a, row.imm),
            Shape::Digit(digit) => vector(code, row.enc, digit, to, a, row.imm),
            Shape::Blend => vector(code, row.enc, to, reg(c), b, Some(reg(a) << 4)),
        }
    }

    fn constant(&self, code: &mut Code, pool: &mut Pool, to: u8, node: Node) {
        match node {
            Node::Field(view, field) => {
                let at = field_of(view, field);
                plain(code, BROADCASTSS, to, Rm::Mem(Base::Views, at));
            }
            node => {
                let from = self.operand(pool, node, false);
                from.into_iter().for_each(|from| plain(code, LOAD, to, from));
            }
        }
    }

    fn load(&self, code: &mut Code, to: u8, from: Rm) {
        plain(code, if let Rm::Reg(_) = from { COPY } else { LOAD }, to, from);
    }

    fn store(&self, code: &mut Code, from: u8, base: Base, at: u32) {
        plain(code, STORE, from, Rm::Mem(base, at));
    }

    fn merge(&self, code: &mut Code, to: u8, from: u8, exec: u8) {
        vector(code, BLENDVPS, to, to, Rm::Reg(from), Some(exec << 4));
    }

    // A choice takes three operations of some processors.
    fn merges(&self, op: Op, grows: bool) -> bool {
        grows && op == Op::Add
    }

    fn merged(&self, code: &mut Code, op: Op, to: u8, [a, b, _]: [Rm; 3], exec: u8, one: bool) {
        // A lane that executes is -1.
        if one && op == Op::Add {
            return vector(code, PSUBD, to, to, Rm::Reg(exec), None);
        }
        let more = if matches!(a, Rm::Reg(from) if from == to) { b } else { a };
        vector(code, PAND, MASKS.scratch, exec, more, None);
        if let Some(row) = row(op) {
            vector(code, row.enc, to, to, Rm::Reg(MASKS.scratch), None);
        }
    }

    fn mask_and(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        vector(code, PAND, to, a, Rm::Reg(b), None);
    }

    fn mask_or(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        vector(code, POR, to, a, Rm::Reg(b), None);
    }

    fn mask_and_not(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        vector(code, PANDN, to, a, Rm::Reg(b), None);
    }

    fn jump_if(&self, code: &mut Code, mask: u8, any: bool) -> usize {
        test(code, mask, Rm::Reg(mask));
        x86::jump(code, Some(if any { NOT_ZERO } else { ZERO }))
    }

    fn back(&self, code: &mut Code, mask: u8, head: usize) {
        test(code, mask, Rm::Reg(mask));
        x86::back(code, NOT_ZERO, head);
    }

    fn give(&self, code: &mut Code, _: &mut Pool, from: u8, after: u8) {
        const R10: u8 = 10;
        encode::top_bits(code, R10, from);
        code.raw(&[0x49, 0xC1, 0xE2, 56 - 8 * after]); // shl r10, so that the strips after it have room
        code.raw(&[0x4C, 0x09, 0xD0]); // or rax, r10
    }

    fn reach(&self, shape: lines::Shape, count: u32) -> Option<u32> {
        Window::reach(shape, 8, count, window::MOST)
    }

    fn broadcast(&self, code: &mut Code, to: u8, base: Base, at: u32, wide: bool) {
        plain(code, if wide { BROADCASTSD } else { BROADCASTSS }, to, Rm::Mem(base, at));
    }

    fn near(&self, code: &mut Code, to: u8, base: Base, bytes: u32) {
        plain(code, LOAD, to, Rm::Mem(base, bytes));
    }

    fn put(&self, code: &mut Code, from: u8, vectors: u32, past_caches: bool) {
        let enc = if past_caches { STORE_PAST } else { STORE };
        plain(code, enc, from, Rm::Mem(Base::First, 32 * vectors));
    }

    x86::alike!();

    /// Processors without AVX-512 have few instructions in flight: those with it read as much without being asked.
    fn fetches_later(&self) -> bool {
        true
    }

    fn fetch_later(&self, code: &mut Code, at: u32) {
        x86::keeping::fetch_later(code, at);
    }

    fn good_strips(&self, code: &mut Code, pool: &mut Pool, from: u8) {
        const EDX: u8 = 2;
        let zeros = Rm::Mem(Base::Pool, pool.splat(8, 0));
        vector(code, PCMPEQD, from, from, zeros, None);
        encode::top_bits(code, EDX, from);
    }

    fn call(&self, code: &mut Code, _: &mut Pool, of: &Called, masks: &[u8]) {
        match masks {
            [] => x86::all_lanes(code, of.lanes),
            masks => lanes_of(code, masks),
        }
        x86::call(code, of);
    }

    fn function(&self, code: &mut Code, pool: &mut Pool, frame: &Frame<'_>) {
        x86::function(code, pool, frame, 8, |code, pool| {
            const EDX: u8 = 2;
            for (first, exec) in (0..).step_by(8).zip(EXEC).take(frame.strips.into()) {
                let bits = Rm::Mem(Base::Pool, pool.lanes(8, |lane| 1 << (first + lane)));
                short(code, MOVD, exec, Rm::Reg(EDX));
                plain(code, PBROADCASTD, exec, Rm::Reg(exec));
                vector(code, PAND, exec, exec, bits, None);
                vector(code, PCMPEQD, exec, exec, bits, None);
            }
        });
    }
}

/// r10d = the lanes of the masks of one strip or two, bit by bit
fn lanes_of(code: &mut Code, masks: &[u8]) {
    const R10: u8 = 10;
    const R11: u8 = 11;
    encode::top_bits(code, R10, masks[0]);
    if let [_, second] = masks {
        encode::top_bits(code, R11, *second);
        code.raw(&[0x41, 0xC1, 0xE3, 8]); // shl r11d, 8
        code.raw(&[0x45, 0x09, 0xDA]); // or r10d, r11d
    }
}
