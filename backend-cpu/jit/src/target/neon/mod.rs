//! AArch64 with NEON: strips of 4 lanes, masks as vectors, 32 vector registers, memory by loads and stores alone.
//!
//! x0 points to the rows from the strip on, x1 to the constants, x3 to the views, x4 to the count of back-edges, sp to the
//! stack's places; x2 holds the executing lanes from the strip on, x6 the result, w7 the strips that are left. x9 to x12 and
//! x16 are free within an instruction.
//!
//! Control register: results are rounded to nearest and no denormal is flushed, as the caller has it. The mode that takes
//! denormals as zeros (FPCR.FZ) also flushes results, and looks at them before rounding; the one that leaves results alone
//! (FPCR.FIZ) few processors have.

mod access;
pub mod encode;
mod frame;
mod lower;
pub mod table;

use self::encode::{If, back, copy, first_to_word, jump_far, three, two};
use self::table::*;
use super::{Access, Base, Blocks, Called, Frame, Group, Masks, Rm, Target, field_of, reg};
use crate::emit::{Code, Pool};
use crate::graph::{Graph, Inst, Node, Val};
use crate::op::Op;
use crate::ticks::LEAVE;

/// The target.
pub struct Neon;

/// The executing lanes, if not all execute.
const EXEC: u8 = 27;
/// The vector, or mask, for use within an instruction, and one more. They and the two that follow hold elements on
/// their way from memory.
const VECTOR: u8 = 28;
const OTHER: u8 = 29;

static MASKS: Masks =
    Masks { registers: None, exec: [EXEC; 2], scratch: VECTOR, temporary: 1, tested: [0; 2] };

impl Target for Neon {
    fn name(&self) -> &'static str {
        "neon"
    }

    fn available(&self) -> bool {
        // Part of every such processor that Rust's targets are for.
        cfg!(all(
            target_arch = "aarch64",
            target_endian = "little",
            target_pointer_width = "64",
            target_feature = "neon"
        ))
    }

    fn lanes(&self) -> u32 {
        4
    }

    fn vectors(&self, masks: u8) -> u8 {
        if masks > 0 { EXEC } else { VECTOR }
    }

    fn pinned(&self) -> usize {
        12
    }

    fn masks(&self) -> &'static Masks {
        &MASKS
    }

    fn denormals_as_zeros(&self) -> bool {
        false
    }

    fn multiplies_slowly(&self) -> bool {
        false
    }

    fn lower(&self, graph: &mut Graph, inst: Inst) -> Val {
        lower::lower(graph, inst)
    }

    fn overwrites(&self, op: Op) -> Option<usize> {
        match op {
            Op::FFma | Op::DFma => Some(2),
            Op::Select | Op::QSelect => Some(0),
            _ => None,
        }
    }

    fn takes_memory(&self, _: Op) -> bool {
        false
    }

    fn operand(&self, _: &mut Pool, _: Node, _: bool) -> Option<Rm> {
        None
    }

    fn places(&self, _: Op, _: u32) -> usize {
        0
    }

    fn operation(&self, code: &mut Code, _: &mut Pool, op: Op, to: u8, args: [Rm; 3], mask: Option<u8>) {
        debug_assert!(mask.is_none(), "{op:?} has a mask");
        let [a, b, c] = args.map(reg);
        let Some(Row { enc, shape }) = row(op) else { unreachable!("{op:?} has no instruction") };
        match shape {
            Shape::Abc | Shape::Sum => three(code, enc, to, a, b),
            Shape::Acb => three(code, enc, to, b, a),
            Shape::Ab => two(code, enc, to, a),
            Shape::By(by) => encode::shift(code, enc, to, a, by),
            Shape::Choice => three(code, enc, to, b, c),
            Shape::Down => {
                two(code, if op.wide() { NEG_D } else { NEG }, VECTOR, b);
                three(code, enc, to, a, VECTOR);
            }
            Shape::Low => {
                two(code, XTN, VECTOR, a);
                two(code, XTN, OTHER, b);
                three(code, enc, to, VECTOR, OTHER);
            }
        }
    }

    fn constant(&self, code: &mut Code, pool: &mut Pool, to: u8, node: Node) {
        match node {
            Node::Field(view, field) => {
                encode::load_word(code, encode::WORD, encode::VIEWS, field_of(view, field));
                encode::splat_word(code, to, encode::WORD);
            }
            Node::Word(word) if encode::immediate(code, to, word) => {}
            node => {
                let quad = match node {
                    Node::Word(word) => u64::from(word) << 32 | u64::from(word),
                    Node::Quad(quad) => quad,
                    node => unreachable!("{node:?} is no constant"),
                };
                let at = pool.lanes(4, |lane| (quad >> (lane % 2 * 32)) as u32);
                encode::load(code, to, Base::Pool, at);
            }
        }
    }

    fn load(&self, code: &mut Code, to: u8, from: Rm) {
        match from {
            Rm::Reg(from) => copy(code, to, from),
            Rm::Mem(base, at) => encode::load(code, to, base, at),
            Rm::Splat(..) => unreachable!("there are no operands of one element"),
        }
    }

    fn store(&self, code: &mut Code, from: u8, base: Base, at: u32) {
        encode::store(code, from, base, at);
    }

    fn merge(&self, code: &mut Code, to: u8, from: u8, exec: u8) {
        three(code, BIT, to, from, exec);
    }

    fn mask_and(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        three(code, AND, to, a, b);
    }

    fn mask_or(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        three(code, ORR, to, a, b);
    }

    fn mask_and_not(&self, code: &mut Code, to: u8, a: u8, b: u8) {
        three(code, BIC, to, b, a);
    }

    fn jump_if(&self, code: &mut Code, mask: u8, any: bool) -> usize {
        let condition = test(code, mask, any);
        jump_far(code, Some(condition))
    }

    fn jump(&self, code: &mut Code) -> usize {
        jump_far(code, None)
    }

    fn land_at(&self, code: &mut Code, jump: usize, to: usize) {
        encode::lead(code, jump, to);
    }

    fn back(&self, code: &mut Code, mask: u8, head: usize) {
        let any = test(code, mask, true);
        back(code, any, head);
    }

    fn again(&self, code: &mut Code, head: usize) {
        let jump = jump_far(code, None);
        encode::lead(code, jump, head);
    }

    fn give(&self, code: &mut Code, pool: &mut Pool, from: u8, _: u8) {
        lanes_of(code, pool, from);
        frame::join_result(code, encode::WORD);
    }

    fn load_words(&self, access: Access<'_>, to: u8) {
        access::load_words(access, to);
    }

    fn store_words(&self, access: Access<'_>, from: u8) {
        access::store_words(access, from);
    }

    fn store_blocks(&self, access: Access<'_>, from: u8, blocks: Blocks) {
        access::store_blocks(access, from, blocks);
    }

    fn load_group(&self, access: Access<'_>, group: &Group) {
        access::group(access, group);
    }

    fn count(&self, code: &mut Code, _: u32) -> usize {
        frame::count(code)
    }

    fn ask(&self, code: &mut Code, _: &mut Pool, _: bool, restore: &mut dyn FnMut(&mut Code)) -> usize {
        frame::ask(code, restore)
    }

    fn look(&self, code: &mut Code, pool: &mut Pool, _: u32, masks: &[u8]) -> usize {
        lanes_of(code, pool, masks[0]);
        two(code, ADDV, VECTOR, masks[0]);
        first_to_word(code, encode::COUNT, VECTOR);
        frame::look(code)
    }

    fn jump_if_told(&self, code: &mut Code) -> usize {
        frame::jump_if_answer(code, LEAVE)
    }

    fn jump_if_given(&self, code: &mut Code) -> usize {
        frame::jump_if_given(code)
    }

    fn call(&self, code: &mut Code, pool: &mut Pool, of: &Called, masks: &[u8]) {
        match masks {
            [] => encode::set(code, encode::WORD, (1 << of.lanes) - 1),
            masks => lanes_of(code, pool, masks[0]),
        }
        frame::call(code, of);
    }

    fn function(&self, code: &mut Code, pool: &mut Pool, frame: &Frame<'_>) {
        frame::function(code, pool, frame);
    }
}

/// w10 = the lanes of a mask, bit by bit
fn lanes_of(code: &mut Code, pool: &mut Pool, mask: u8) {
    encode::load(code, VECTOR, Base::Pool, frame::bits(pool));
    three(code, AND, VECTOR, VECTOR, mask);
    two(code, ADDV, VECTOR, VECTOR);
    first_to_word(code, encode::WORD, VECTOR);
}

/// Looks whether a mask has any lane; the condition that says so, or that it has none.
fn test(code: &mut Code, mask: u8, any: bool) -> If {
    two(code, UMAXV, OTHER, mask);
    first_to_word(code, encode::WORD, OTHER);
    if any { If::NotZero(encode::WORD) } else { If::Zero(encode::WORD) }
}
