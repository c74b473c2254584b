//! Processors that code is made for. A target says how many lanes a strip has, what masks are, which registers are
//! given out, which operations it has no instruction for and which instruction each other one is; all else is shared.

mod access;
pub mod avx2;
pub mod avx512;
mod function;
mod masks;
pub mod neon;
mod operands;
mod x86;

use std::mem::offset_of;
use std::ops::Range;

pub use self::access::{Access, Blocks, Group, Order, Window};
pub use self::function::{Called, Frame};
pub use self::operands::{Base, Rm, Steps};
use recal_il::ir::lines::Shape;

use crate::View;
use crate::emit::{At, Code, Pool};
use crate::graph::{Field, Graph, Inst, Node, Val};
use crate::op::Op;

/// What masks are in.
pub struct Masks {
    /// Registers of their own that are given out; without, masks are vectors.
    pub registers: Option<Range<u8>>,
    /// The lanes that execute, of each strip that is done at a time.
    pub exec: [u8; 2],
    /// For use within an instruction, and between blocks.
    pub scratch: u8,
    /// One more between blocks.
    pub temporary: u8,
    /// Where the tests of a block are, of each strip, if they are to be in a known place; not `temporary`.
    pub tested: [u8; 2],
}

/// What is done with words in general registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Move,
    Add,
    Mul,
    /// As signed numbers.
    Min,
    Max,
    Shl(u8),
}

/// A processor.
pub trait Target: Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;
    /// This processor can run its code.
    fn available(&self) -> bool;
    /// Lanes of a strip.
    fn lanes(&self) -> u32;
    /// Most strips that code does at a time where not all lanes execute, 1 or 2: what one waits for, the other can use.
    fn strips(&self) -> u32 {
        1
    }
    /// Vector registers that are given out, with so many masks of executing lanes: those below.
    fn vectors(&self, masks: u8) -> u8;

    /// A vector register that no value is given and nothing but accesses to memory and masks changes, if an operand of several instructions is better
    /// loaded there than read by each.
    fn spare(&self) -> Option<u8> {
        None
    }
    /// Most rows that a loop keeps in registers.
    fn pinned(&self) -> usize;
    fn masks(&self) -> &'static Masks;
    /// There is a mode in which floats that are denormals count as zeros, and results are rounded as else.
    fn denormals_as_zeros(&self) -> bool {
        true
    }

    /// An operation by those that there are instructions for, mostly itself.
    fn lower(&self, graph: &mut Graph, inst: Inst) -> Val;
    /// Its last operand, or its second one of three, can be in memory.
    fn takes_memory(&self, op: Op) -> bool;
    /// The result is where this operand was.
    fn overwrites(&self, op: Op) -> Option<usize>;
    /// A constant, or field of a view, as an operand of an instruction on elements of that width; `None` if it must be
    /// in a register.
    fn operand(&self, pool: &mut Pool, node: Node, wide: bool) -> Option<Rm>;
    /// Stores of words learn how these lie.
    fn learns(&self) -> bool {
        false
    }
    /// Places that an access wants.
    fn places(&self, op: Op, line: u32) -> usize;

    /// to = op(args), within a mask.
    fn operation(&self, code: &mut Code, pool: &mut Pool, op: Op, to: u8, args: [Rm; 3], mask: Option<u8>);
    /// The same can change no more than the lanes of a mask of executing lanes in the register of the result. `grows`: that is an operand.
    fn merges(&self, _: Op, _grows: bool) -> bool {
        false
    }
    /// to = op(args) in the lanes of such a mask; an operand may be known to be 1.
    fn merged(&self, _: &mut Code, _: Op, _to: u8, _args: [Rm; 3], _exec: u8, _one: bool) {
        unreachable!("{} merges by an instruction of its own", self.name())
    }
    /// A product of words takes longer than two other operations of integers.
    fn multiplies_slowly(&self) -> bool {
        true
    }
    /// Masks of executing lanes can be what is left of them by a comparison.
    fn narrows(&self) -> bool {
        false
    }
    /// A constant, or field of a view, to a register.
    fn constant(&self, code: &mut Code, pool: &mut Pool, to: u8, node: Node);
    /// to = from
    fn load(&self, code: &mut Code, to: u8, from: Rm);
    fn store(&self, code: &mut Code, from: u8, base: Base, at: u32);
    /// to = from, in the lanes of a mask of executing lanes.
    fn merge(&self, code: &mut Code, to: u8, from: u8, exec: u8);
    fn merge_store(&self, code: &mut Code, from: u8, base: Base, at: u32, exec: u8) {
        let scratch = self.masks().scratch;
        self.load(code, scratch, Rm::Mem(base, at));
        self.merge(code, scratch, from, exec);
        self.store(code, scratch, base, at);
    }

    // Masks; as defaults what is done where they are vectors.
    fn mask_copy(&self, code: &mut Code, to: u8, from: u8) {
        self.load(code, to, Rm::Reg(from));
    }
    fn mask_and(&self, code: &mut Code, to: u8, a: u8, b: u8);
    fn mask_or(&self, code: &mut Code, to: u8, a: u8, b: u8);
    /// to = !a & b
    fn mask_and_not(&self, code: &mut Code, to: u8, a: u8, b: u8);
    fn mask_load(&self, code: &mut Code, to: u8, at: u32) {
        self.load(code, to, Rm::Mem(Base::Stack, at));
    }
    fn mask_store(&self, code: &mut Code, from: u8, at: u32) {
        self.store(code, from, Base::Stack, at);
    }
    /// to = the lanes whose bits are set, where masks have registers of their own.
    fn mask_constant(&self, _: &mut Code, _: &mut Pool, _to: u8, _: u32) {
        unreachable!("masks of {} are vectors", self.name())
    }
    /// Words of vectors can be put in any order ([`Op::Permute`]).
    fn permutes(&self) -> bool {
        false
    }
    /// Jumps if there is any lane in the mask, or if there is none.
    #[must_use]
    fn jump_if(&self, code: &mut Code, mask: u8, any: bool) -> usize;
    #[must_use]
    fn jump(&self, code: &mut Code) -> usize;
    /// Makes a jump lead here.
    fn land(&self, code: &mut Code, jump: usize) {
        self.land_at(code, jump, code.bytes.len());
    }
    /// Makes a jump lead to a place.
    fn land_at(&self, code: &mut Code, jump: usize, to: usize);
    /// Jumps back if there is any lane in the mask.
    fn back(&self, code: &mut Code, mask: u8, head: usize);
    /// Jumps back.
    fn again(&self, code: &mut Code, head: usize);
    /// The lanes of a mask are part of the function's result, those of so many strips after it too.
    fn give(&self, code: &mut Code, pool: &mut Pool, from: u8, after: u8);

    // Memory.
    fn load_words(&self, access: Access<'_>, to: u8);
    fn store_words(&self, access: Access<'_>, from: u8);
    fn store_blocks(&self, access: Access<'_>, from: u8, blocks: Blocks);
    fn load_group(&self, access: Access<'_>, group: &Group);
    /// Elements may stay as they lie in memory ([`Op::Member`]); the two functions that follow are there.
    fn interleaves(&self) -> bool {
        false
    }
    /// The vectors of the words of elements, in the first registers, become vectors of whole elements as they lie in memory, or the
    /// reverse. All registers may be used.
    fn interleave(&self, _: &mut Code, _: u32, _: bool) {
        unreachable!("{} takes elements apart", self.name())
    }
    /// Operands in memory may be one element for all lanes.
    fn splats(&self) -> bool {
        false
    }
    /// to = the word, or the 64-bit element, at a place in memory, for all lanes.
    fn broadcast(&self, _: &mut Code, _: u8, _: Base, _: u32, _: bool) {
        unreachable!("{} copies no elements", self.name())
    }
    /// A scalar register, by number, = op(the register, a word in memory or another register).
    fn scalar(&self, _: &mut Code, _: Scalar, _: u8, _: Result<(Base, u32), u8>) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Copies the first word of a vector to a place on the stack.
    fn first_to_stack(&self, _: &mut Code, _: u8, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Addresses that registers can hold while a block runs.
    fn addresses(&self) -> u8 {
        0
    }
    /// Words that a load of elements of so many touches behind the first lane's first one, if that follows from the shape of their numbers
    /// in a strip.
    fn reach(&self, _: Shape, _count: u32) -> Option<u32> {
        None
    }
    /// The word whose number is in the first scalar register is what the six functions that follow are about.
    fn element(&self, _: &mut Code, _: u8) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Makes it the one at the byte address that the first lane of a vector has, or the first scalar register if there is no vector, the low two bits ignored; jumps that are taken unless it
    /// and so many words behind it are in the view.
    fn find_base(&self, _: &mut Code, _: u8, _: Option<u8>, _: u32) -> Vec<usize> {
        unreachable!("{} computes no addresses", self.name())
    }
    /// to = the vector so many bytes from there, or from an address that was kept.
    fn near(&self, _: &mut Code, _: u8, _: Base, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Asks for so many bytes where they will be in the next round of a loop, if it goes on as it did since the last one: a place on
    /// the stack, of eight bytes, is for that.
    fn fetch_ahead(&self, _: &mut Code, _: u32, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// The same from an address, if a place on the stack, of eight bytes, says how far it is from where it was in the last round. In `short` rounds
    /// it is for one of the rounds to come, which the next one would not have to wait for.
    fn fetch_further(&self, _: &mut Code, _: Base, _at: u32, _bytes: u32, _short: bool) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Asks for what a loop reads several rounds later, if it goes on as it did since the last one, from where the load before looked: a
    /// place on the stack is for that.
    fn fetch_later(&self, _: &mut Code, _: u32) {
        unreachable!("{} does not ask for later rounds", self.name())
    }
    fn fetches_later(&self) -> bool {
        false
    }
    /// Instructions of a kind come two by two where they may: Zen 4 cores do sums that alternate with products at 0.86 of the rate.
    fn pairs(&self) -> bool {
        false
    }
    /// The same for what the next round of all waves reads, or two lines of it; a place in the rows is for that.
    fn fetch_round(&self, _: &mut Code, _at: u32, _two: bool) {}
    /// Puts on the stack where the word lies in a view whose number, less than 2^30, another place there begins with; a jump that is taken
    /// if it is not less.
    fn anchor(&self, _: &mut Code, _view: u8, _word: u32, _at: u32) -> usize {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Makes the word in the first scalar register a number of 64 bits, with its sign.
    fn extend(&self, _: &mut Code) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Makes it the one as many words behind an anchor as the first scalar register says, or keeps its address, by number; then the register stays.
    fn behind_anchor(&self, _: &mut Code, _at: u32, _to: Option<u8>) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Makes it the one whose address is at a place on the stack.
    fn take_address(&self, _: &mut Code, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Puts the first scalar register, or where a view begins, on the stack.
    fn word_to_stack(&self, _: &mut Code, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    fn view_to_stack(&self, _: &mut Code, _view: u8, _at: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// A register = the words that it has the numbers of, of those at a place on the stack.
    fn choose_words(&self, _: &mut Code, _: u8, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Counts a word down, on the stack or in a register that would keep an address; a jump that is taken unless it is 0 then.
    fn count_down(&self, _: &mut Code, _: At) -> usize {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Keeps the address, by number.
    fn keep_address(&self, _: &mut Code, _: u8) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Copies the element there, of so many words, to a place on the stack.
    fn copy_element(&self, _: &mut Code, _: u32, _: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Strips are good where the word of a vector is 0, each strip's in a lane. The three functions that follow are for functions that
    /// begin so, and do nothing else with where they keep that.
    fn good_strips(&self, _: &mut Code, _: &mut Pool, _: u8) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Jumps unless one of the strips that are done now is good.
    fn unless_good(&self, _: &mut Code, _strip: u32) -> usize {
        unreachable!("{} computes no addresses", self.name())
    }
    /// An address that is kept goes on by so many bytes.
    fn move_address(&self, _: &mut Code, _number: u8, _bytes: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// The same by what is at a place on the stack.
    fn step_address(&self, _: &mut Code, _number: u8, _at: u32) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Copies it to the stack, or back.
    fn address_to_stack(&self, _: &mut Code, _number: u8, _at: u32, _there: bool) {
        unreachable!("{} computes no addresses", self.name())
    }
    /// Where a field is in the table of views.
    fn field(&self, view: u8, field: Field) -> u32 {
        field_of(view, field)
    }
    /// The functions that follow are about where the strip's elements of so many words begin, if those of lanes are one after another
    /// in a view; `origin` is where the address of the first strip's rows is.
    fn elements(&self, _: &mut Code, _view: u8, _count: u32, _origin: u32) {
        unreachable!("{} takes elements apart", self.name())
    }
    /// Stores a vector so many vectors behind, past the caches or not.
    fn put(&self, _: &mut Code, _from: u8, _vectors: u32, _past_caches: bool) {
        unreachable!("{} takes elements apart", self.name())
    }
    /// A jump unless a vector steps so, when nothing is in registers.
    fn unless_steps(&self, _: &mut Code, _: &mut Pool, _: Steps) -> usize {
        unreachable!("{} takes elements apart", self.name())
    }

    // Functions.
    /// Counts a back-edge; a jump that is taken if it was not the last one before a question.
    fn count(&self, code: &mut Code, ticks: u32) -> usize;
    /// Asks whether to stop; all vectors are lost. A jump that is taken if so, when `restore` has been done.
    fn ask(&self, code: &mut Code, pool: &mut Pool, lazy: bool, restore: &mut dyn FnMut(&mut Code)) -> usize;
    /// Says which lanes execute, after the count; a jump that is taken if they are more than those that leave loops, and it is not time for a question.
    /// `ticks` as for [`Target::count`].
    fn look(&self, code: &mut Code, pool: &mut Pool, ticks: u32, masks: &[u8]) -> usize;
    /// A jump that is taken if the answer was to leave the loop, when `restore` has been done.
    fn jump_if_told(&self, code: &mut Code) -> usize;
    /// A jump that is taken if lanes of the wave are part of the function's result ([`Target::give`]).
    fn jump_if_given(&self, code: &mut Code) -> usize;
    /// Calls what lanes do one after another, for those in the masks of so many strips, or for all if there are none; all vectors are lost.
    fn call(&self, code: &mut Code, pool: &mut Pool, of: &Called, masks: &[u8]);
    /// Appends a function.
    fn function(&self, code: &mut Code, pool: &mut Pool, frame: &Frame<'_>);
}

/// All targets, best first.
pub const ALL: [&dyn Target; 3] = [&avx512::Avx512, &avx2::Avx2, &neon::Neon];

/// Where a view is in the table of views.
fn entry(view: u8) -> u32 {
    size_of::<View>() as u32 * u32::from(view)
}

/// The same of a word of it.
fn field_of(view: u8, field: Field) -> u32 {
    entry(view) + (offset_of!(View, texels) + 4 * field.number()) as u32
}

/// The register that an operand is in.
fn reg(rm: Rm) -> u8 {
    match rm {
        Rm::Reg(reg) => reg,
        Rm::Mem(..) | Rm::Splat(..) => unreachable!("an operand that must be in a register is in memory"),
    }
}

#[cfg(test)]
mod tests;
