//! Several words at a time, where their address is known to be a multiple of as many: elements of group memory and of rows.
//!
//! What is inside is told for each element as a whole. Group memory consists of whole elements; memory behind which there are zeros, or
//! nothing, gives those for the rest of an element that begins inside.

use rspirv::spirv::{GlslStd450Op as GLOp, Op, StorageClass, Word};

use super::Emitter;
use super::memory::{Behind, Place, Words};
use super::module::Type;
use crate::ir::{Dst4, Operand, Space, Src4};
use crate::isa::Algebra;

/// Elements of some words from an address on.
struct Elements {
    words: Words,
    /// Words of an element.
    width: u32,
    /// The first element, and how many the memory has.
    first: Word,
    limit: Word,
}

impl Emitter<'_> {
    /// Declares group memory as elements of so many words as most accesses take.
    pub(super) fn declare_group_memory(&mut self) {
        let words = match self.shared_width {
            1 => self.w.ty(Type::Array(self.shared_words)),
            width => {
                let (of, count) = (self.w.ty(Type::Vec(width)), self.w.word(self.shared_words / width));
                self.w.global(Op::TypeArray, None, &[of, count])
            }
        };
        let shared = self.w.variable(StorageClass::Workgroup, words, None);
        self.interface.push(shared);
        self.shared = Some(shared);
    }

    /// Pointer to a word of group memory.
    pub fn shared_pointer(&mut self, index: Word) -> Word {
        if self.shared_width == 1 {
            return self.shared_element(index);
        }
        let (shift, mask) = (self.word(self.shared_width.ilog2()), self.word(self.shared_width - 1));
        let (element, component) = (self.shr(index, shift), self.and(index, mask));
        let (pointer, shared) = (self.w.pointer(StorageClass::Workgroup, Type::U32), self.group_memory());
        self.w.op(Op::AccessChain, pointer, &[shared, element, component])
    }

    /// Pointer to an element of group memory.
    fn shared_element(&mut self, index: Word) -> Word {
        let element = if self.shared_width == 1 { Type::U32 } else { Type::Vec(self.shared_width) };
        let (pointer, shared) = (self.w.pointer(StorageClass::Workgroup, element), self.group_memory());
        self.w.op(Op::AccessChain, pointer, &[shared, index])
    }

    fn group_memory(&self) -> Word {
        self.shared.expect("programs with group accesses have group memory")
    }

    /// All words of an element of group memory become 0.
    pub fn zero_element(&mut self, index: Word) {
        let zero = self.outside(Place::Group);
        let zero = match self.shared_width {
            1 => zero,
            width => {
                let ty = self.w.ty(Type::Vec(width));
                self.w.op(Op::CompositeConstruct, ty, &vec![zero; width as usize])
            }
        };
        let pointer = self.shared_element(index);
        self.w.store(pointer, zero, None);
    }

    /// The elements that an access to words `present` of an address may take whole.
    fn elements(&mut self, space: Space, address: &Operand, present: [bool; 4]) -> Option<Elements> {
        let zeros = u32::from(self.alignment.zeros(address));
        if zeros < 3 || present[1..] == [false; 3] {
            return None;
        }
        let words = self.space(space);
        let width = match words.place {
            Place::Group => self.shared_width,
            Place::Address(_) | Place::Buffer(_) if present[2..] == [false; 2] => 2,
            Place::Address(_) | Place::Buffer(_) if words.first.is_none() => 4,
            _ => 1,
        };
        let by = width.ilog2();
        if width == 1 || zeros < 2 + by {
            return None;
        }
        let limit = match words.place {
            Place::Group => match self.w.bits.get(&words.limit).copied() {
                Some(limit) if limit % width == 0 => self.word(limit / width),
                _ => return None,
            },
            _ if words.behind == Behind::Anything => return None,
            // One that is not whole is followed by zeros.
            _ => {
                let (rest, by) = (self.word(width - 1), self.word(by));
                let end = self.iadd(words.limit, rest);
                self.shr(end, by)
            }
        };
        let (address, by) = (self.operand(address), self.word(2 + by));
        let first = self.shr(address, by);
        Some(Elements { words, width, first, limit })
    }

    /// Loads words, several at a time, if their address allows.
    pub fn load_wide(&mut self, space: Space, address: &Operand, dst: &Dst4) -> Option<[Word; 4]> {
        let present = dst.map(|word| word.is_some());
        let elements = self.elements(space, address, present)?;
        let zero = self.word(0);
        let mut all = [zero; 4];
        for (e, (chunk, present)) in
            all.chunks_mut(elements.width as usize).zip(present.chunks(elements.width as usize)).enumerate()
        {
            if present.contains(&true) {
                let at = self.offset_by(elements.first, e as u32);
                let loaded = self.load_whole(&elements, at);
                chunk.copy_from_slice(&loaded);
            }
        }
        Some(all)
    }

    fn load_whole(&mut self, elements: &Elements, at: Word) -> Vec<Word> {
        let Elements { words, width, limit, .. } = *elements;
        let sure = self.surely_below(at, limit);
        match words.place {
            Place::Group => {
                let inside = (!sure).then(|| self.ult(at, limit));
                let zero = self.word(0);
                let at = inside.map_or(at, |inside| self.select(inside, at, zero));
                let pointer = self.group_pointer(words, width, at);
                let ty = self.w.ty(Type::Vec(width));
                let value = self.w.load(ty, pointer, None);
                let parts = self.loaded_parts(value, width);
                self.loaded(words.place, parts, inside)
            }
            _ => {
                let capped = words.behind == Behind::Zero && !sure;
                let at = if capped { self.glsl_word(GLOp::UMin, &[at, limit]) } else { at };
                self.load_element(words.place, width, at, None)
            }
        }
    }

    /// Pointer to element `at` of a block of group memory.
    fn group_pointer(&mut self, words: Words, width: u32, at: Word) -> Word {
        let first = words.first.and_then(|first| self.w.bits.get(&first).copied()).unwrap_or(0);
        let at = self.offset_by(at, first / width);
        self.shared_element(at)
    }

    /// Stores words to group memory, several at a time, if their address and number allow; says whether it did.
    pub fn store_wide(&mut self, space: Space, address: &Operand, src: &Src4) -> bool {
        let present = src.map(|word| word.is_some());
        if !matches!(space, Space::Lds(_))
            || !present
                .chunks(self.shared_width as usize)
                .all(|chunk| !chunk.contains(&true) || !chunk.contains(&false))
        {
            return false;
        }
        let Some(elements) = self.elements(space, address, present) else { return false };
        let Elements { words, width, first, limit } = elements;
        let values = src.map(|operand| operand.map(|operand| self.operand(&operand)));
        for (e, chunk) in values.chunks(width as usize).enumerate() {
            let Some(parts) = chunk.iter().copied().collect::<Option<Vec<Word>>>() else { continue };
            let parts: Vec<Word> = parts.into_iter().map(|word| self.stored(words.place, word)).collect();
            let at = self.offset_by(first, e as u32);
            let store = |e: &mut Self| {
                let ty = e.w.ty(Type::Vec(width));
                let value = e.w.op(Op::CompositeConstruct, ty, &parts);
                let pointer = e.group_pointer(words, width, at);
                e.w.store(pointer, value, None);
            };
            if self.surely_below(at, limit) {
                store(self);
            } else {
                let inside = self.ult(at, limit);
                self.when(inside, store);
            }
        }
        true
    }
}
