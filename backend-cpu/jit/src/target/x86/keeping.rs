//! Addresses that are kept, and the methods that both targets have alike.

use crate::emit::{At, Code};
use crate::target::x86::{ADDRESSES, NOT_BELOW, NOT_ZERO, first_address, jump, modrm, view_start};
use crate::target::{Base, Rm};

/// See [`crate::target::Target::anchor`].
pub fn anchor(code: &mut Code, view: u8, word: u32, at: u32) -> usize {
    code.raw_with(&[0x44, 0x8B, 0x99], word); // mov r11d, [rcx + word]
    code.raw_with(&[0x41, 0x81, 0xFB], 1 << 30); // cmp r11d, 2^30
    let far = jump(code, Some(NOT_BELOW));
    view_start(code, view);
    first_address(code);
    code.raw_with(&[0x4C, 0x89, 0x99], at); // mov [rcx + at], r11
    far
}

/// See [`crate::target::Target::count_down`].
pub fn count_down(code: &mut Code, word: At) -> usize {
    match word {
        At::Stack(at) => code.raw_with(&[0xFF, 0x89], at), // dec dword [rcx + at]
        At::Kept(number) => {
            let of = ADDRESSES[usize::from(number)];
            code.raw(&[0x40 | of >> 3, 0xFF, 0xC8 | of & 7]); // dec address, as 32 bits
        }
    }
    jump(code, Some(NOT_ZERO))
}

/// See [`crate::target::Target::step_address`].
pub fn step_address(code: &mut Code, number: u8, at: u32) {
    let of = ADDRESSES[usize::from(number)];
    code.raw(&[0x48 | of >> 3 << 2, 0x03]); // add address, [rcx + at]
    modrm(code, of, Rm::Mem(Base::Stack, at), 1);
}

/// See [`crate::target::Target::extend`].
pub fn extend(code: &mut Code) {
    code.raw(&[0x4D, 0x63, 0xDB]); // movsxd r11, r11d
}

/// See [`crate::target::Target::behind_anchor`].
pub fn behind_anchor(code: &mut Code, at: u32, to: Option<u8>) {
    let to = to.map_or(11, |to| ADDRESSES[usize::from(to)]);
    code.raw_with(&[0x4C, 0x8B, 0x91], at); // mov r10, [rcx + at]
    code.raw(&[0x4B | (to >> 3) << 2, 0x8D, 4 | (to & 7) << 3, 0x9A]); // lea to, [r10 + 4 * r11]
}

/// r10 = how far r11 is from where it was when this was asked last, which is kept on the stack or in the rows of the wave.
pub fn moved(code: &mut Code, base: Base, at: u32) {
    let base = if let Base::Rows = base { 7 } else { 1 };
    code.raw(&[0x4D, 0x89, 0xDA]); // mov r10, r11
    code.raw_with(&[0x4C, 0x2B, 0x90 | base], at); // sub r10, [base + at]
    code.raw_with(&[0x4C, 0x89, 0x98 | base], at); // mov [base + at], r11
}

/// See [`crate::target::Target::fetch_later`]. Where the load has left no address in r11, it asks for nothing of use.
pub fn fetch_later(code: &mut Code, at: u32) {
    moved(code, Base::Stack, at);
    code.raw(&[0x49, 0xC1, 0xE2, ROUNDS]); // shl r10, ROUNDS
    code.raw(&[0x43, 0x0F, 0x18, 0x14, 0x13]); // prefetcht1 [r11 + r10]
}

/// See [`crate::target::Target::fetch_round`].
pub fn fetch_round(code: &mut Code, at: u32, two: bool) {
    moved(code, Base::Rows, at);
    code.raw(&[0x43, 0x0F, 0x18, 0x0C, 0x13]); // prefetcht0 [r11 + r10]
    if two {
        code.raw(&[0x43, 0x0F, 0x18, 0x4C, 0x13, 0x40]); // prefetcht0 [r11 + r10 + 64]
    }
}

/// How many rounds later, by bits: memory takes as long as so many short ones.
const ROUNDS: u8 = 4;

/// What both targets do alike, some of it by modules of their own that have the same names.
macro_rules! alike {
    () => {
        fn masks(&self) -> &'static Masks {
            &MASKS
        }

        fn permutes(&self) -> bool {
            true
        }

        fn load_words(&self, access: Access<'_>, to: u8) {
            access::load(access, to);
        }

        fn store_words(&self, access: Access<'_>, from: u8) {
            access::store(access, from);
        }

        fn store_blocks(&self, access: Access<'_>, from: u8, blocks: Blocks) {
            access::store_blocks(access, from, blocks);
        }

        fn load_group(&self, access: Access<'_>, group: &Group) {
            groups::group(access, group);
        }

        fn interleaves(&self) -> bool {
            true
        }

        fn interleave(&self, code: &mut Code, count: u32, there: bool) {
            interleave::interleave(code, count, there);
        }

        fn first_to_stack(&self, code: &mut Code, from: u8, at: u32) {
            encode::first_to_stack(code, from, at);
        }

        fn find_base(&self, code: &mut Code, view: u8, from: Option<u8>, last: u32) -> Vec<usize> {
            from.into_iter().for_each(|from| encode::first_word(code, from));
            x86::find_base(code, view, last)
        }

        fn choose_words(&self, code: &mut Code, to: u8, at: u32) {
            encode::choose_words(code, to, at);
        }

        fn unless_steps(&self, code: &mut Code, pool: &mut Pool, steps: Steps) -> usize {
            interleave::unless_steps(code, pool, steps)
        }

        fn jump(&self, code: &mut Code) -> usize {
            x86::jump(code, None)
        }

        fn land_at(&self, code: &mut Code, jump: usize, to: usize) {
            x86::land_at(code, jump, to);
        }

        fn again(&self, code: &mut Code, head: usize) {
            let jump = x86::jump(code, None);
            x86::land_at(code, jump, head);
        }

        fn scalar(&self, code: &mut Code, op: Scalar, to: u8, from: Result<(Base, u32), u8>) {
            x86::scalar(code, op, to, from);
        }

        fn element(&self, code: &mut Code, view: u8) {
            x86::view_start(code, view);
            x86::first_address(code);
        }

        fn elements(&self, code: &mut Code, view: u8, count: u32, origin: u32) {
            x86::elements(code, view, count, origin);
        }

        fn unless_good(&self, code: &mut Code, strip: u32) -> usize {
            x86::unless_good(code, strip)
        }

        fn move_address(&self, code: &mut Code, number: u8, bytes: u32) {
            x86::move_address(code, number, bytes);
        }

        fn address_to_stack(&self, code: &mut Code, number: u8, at: u32, there: bool) {
            x86::address_to_stack(code, number, at, there);
        }

        fn copy_element(&self, code: &mut Code, count: u32, at: u32) {
            x86::copy_element(code, count, at);
        }

        fn count(&self, code: &mut Code, ticks: u32) -> usize {
            x86::count(code, ticks)
        }

        fn ask(
            &self,
            code: &mut Code,
            pool: &mut Pool,
            lazy: bool,
            restore: &mut dyn FnMut(&mut Code),
        ) -> usize {
            x86::ask(code, pool, lazy, restore)
        }

        fn look(&self, code: &mut Code, _: &mut Pool, ticks: u32, masks: &[u8]) -> usize {
            lanes_of(code, masks);
            x86::look(code, ticks)
        }

        fn jump_if_told(&self, code: &mut Code) -> usize {
            x86::jump_if_answer(code, LEAVE)
        }

        fn jump_if_given(&self, code: &mut Code) -> usize {
            x86::jump_if_given(code)
        }

        fn strips(&self) -> u32 {
            2
        }

        fn addresses(&self) -> u8 {
            x86::ADDRESSES.len() as u8
        }

        fn fetch_further(&self, code: &mut Code, base: Base, at: u32, bytes: u32, short: bool) {
            x86::fetch_further(code, base, at, bytes, short);
        }

        fn step_address(&self, code: &mut Code, number: u8, at: u32) {
            x86::keeping::step_address(code, number, at);
        }

        fn fetch_round(&self, code: &mut Code, at: u32, two: bool) {
            x86::keeping::fetch_round(code, at, two);
        }

        fn anchor(&self, code: &mut Code, view: u8, word: u32, at: u32) -> usize {
            x86::keeping::anchor(code, view, word, at)
        }

        fn extend(&self, code: &mut Code) {
            x86::keeping::extend(code);
        }

        fn behind_anchor(&self, code: &mut Code, at: u32, to: Option<u8>) {
            x86::keeping::behind_anchor(code, at, to);
        }

        fn take_address(&self, code: &mut Code, at: u32) {
            x86::take_address(code, at);
        }

        fn word_to_stack(&self, code: &mut Code, at: u32) {
            x86::word_to_stack(code, at);
        }

        fn view_to_stack(&self, code: &mut Code, view: u8, at: u32) {
            x86::view_to_stack(code, view, at);
        }

        fn count_down(&self, code: &mut Code, word: crate::emit::At) -> usize {
            x86::keeping::count_down(code, word)
        }

        fn keep_address(&self, code: &mut Code, to: u8) {
            x86::keep_address(code, to);
        }

        fn fetch_ahead(&self, code: &mut Code, at: u32, bytes: u32) {
            x86::fetch_ahead(code, at, bytes);
        }
    };
}
pub(in crate::target) use alike;
