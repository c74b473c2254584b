//! Memory by words: where they are, and what of them is inside. What kernels do with them is in `accesses`.
//!
//! Nothing faults: stores outside do not happen, loads outside give 0. Where zeros follow the memory
//! ([`Assume::padded`](super::Assume)), such a load takes those: a condition that had to live until the word has come would
//! limit how many loads are on their way at a time. Storage buffers end of themselves. Elsewhere it takes word 0 and drops it; in
//! LDS too, whose words come soon and whose tests drivers can often do without.

use rspirv::spirv::{Decoration, GlslStd450Op as GLOp, Op, Scope, StorageClass, Word};

use super::forms::Quad;
use super::launch::Slot;
use super::module::Type;
use super::{Emitter, uses};
use crate::ir::{Dst4, Operand, Space};
use crate::isa::Algebra;

/// A run of words that an access may touch.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub place: Place,
    /// First word of the run in its place.
    pub first: Option<Word>,
    /// Number of words.
    pub limit: Word,
    pub behind: Behind,
}

/// What is behind the last word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind {
    /// Perhaps words of others.
    Anything,
    /// A word that is 0.
    Zero,
    /// Nothing: loads give 0 there, stores do nothing, of themselves.
    Nothing,
}

/// Where words are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// At an address: two words in a vector.
    Address(Word),
    /// In a storage buffer, by its binding.
    Buffer(u32),
    /// In group memory.
    Group,
    /// In group memory, as pairs of words.
    Pairs,
}

impl Place {
    /// The binding of a storage buffer.
    pub fn binding(self) -> Option<u32> {
        match self {
            Place::Buffer(binding) => Some(binding),
            Place::Address(_) | Place::Group | Place::Pairs => None,
        }
    }
}

/// Rows and words from which on bytes would wrap, and three words before. No storage buffer is that large.
pub(super) const LAST_ROW: u32 = u32::MAX >> 4;
const LAST_WORD: u32 = (u32::MAX >> 2) - 3;

/// The descriptor set of storage buffers and uniform buffers.
pub(super) const BUFFERS: u32 = 1;

/// Rows of constant buffers that are loaded at the beginning of main.
const EARLY_ROWS: usize = 16;

impl Emitter<'_> {
    /// A row of the launch table.
    pub fn row(&mut self, row: Word) -> Word {
        let (zero, pointer) = (self.w.word(0), self.w.pointer(StorageClass::Uniform, Type::Vec(4)));
        let pointer = self.w.op(Op::AccessChain, pointer, &[self.table, zero, row]);
        self.w.load_fixed(self.t.uvec4, pointer)
    }

    /// A row of the launch table by number.
    pub fn row_at(&mut self, row: u32) -> Word {
        let row = self.w.word(row);
        self.row(row)
    }

    /// A component of a vector.
    pub fn part(&mut self, vector: Word, component: u32) -> Word {
        if let Some(word) = self.memo.parts.get(&(vector, component)) {
            return word;
        }
        let word = self.w.extract(self.t.u32, vector, component);
        self.memo.parts.insert((vector, component), word);
        word
    }

    /// The words of a surface whose first row is `row`.
    pub fn surface_words(&mut self, row: u32) -> Words {
        let head = self.row_at(row);
        self.head_words(Some(row), head)
    }

    /// The same by the first row itself; its number may be computed.
    pub fn head_words(&mut self, row: Option<u32>, head: Word) -> Words {
        let place = match row.and_then(|row| self.bindings.get(&row)) {
            Some(binding) => Place::Buffer(*binding),
            None => {
                let (lo, hi) = (self.part(head, 0), self.part(head, 1));
                Place::Address(self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]))
            }
        };
        if row.is_some_and(|row| self.only_read.contains(&row)) {
            self.unknown.insert(place);
        }
        let behind = match place {
            Place::Buffer(_) => Behind::Nothing,
            _ if self.assume.padded => Behind::Zero,
            _ => Behind::Anything,
        };
        Words { place, first: None, limit: self.part(head, 2), behind }
    }

    /// A block that is an array of elements, words of any number or 64-bit integers.
    fn block_of(&mut self, element: Type, bytes: u32) -> Word {
        if let Some(block) = self.blocks.get(&element) {
            return *block;
        }
        let of = self.w.ty(element);
        let array = self.w.global(Op::TypeRuntimeArray, None, &[of]);
        self.w.decorate(array, Decoration::ArrayStride, &[bytes]);
        let block = self.w.global(Op::TypeStruct, None, &[array]);
        self.w.decorate(block, Decoration::Block, &[]);
        self.w.decorate_member(block, 0, Decoration::Offset, &[0]);
        // Those are for atomics alone.
        if element != Type::U64 && uses::orders_memory(self.program) {
            self.w.decorate_member(block, 0, Decoration::Coherent, &[]);
            if !self.target.fences_apart && uses::fences_memory(self.program) {
                // Its fences may be words of their own, which tell the driver nothing of other memory.
                self.w.decorate_member(block, 0, Decoration::Volatile, &[]);
            }
        }
        self.blocks.insert(element, block);
        block
    }

    /// The storage buffer of a binding as an array of elements.
    fn buffer(&mut self, binding: u32, element: Type, block: Word) -> Word {
        if let Some(variable) = self.buffers.get(&(binding, element)) {
            return *variable;
        }
        let variable = self.w.variable(StorageClass::StorageBuffer, block, None);
        self.w.decorate(variable, Decoration::DescriptorSet, &[BUFFERS]);
        self.w.decorate(variable, Decoration::Binding, &[binding]);
        // The same memory as elements of other widths, and perhaps at other bindings.
        self.w.decorate(variable, Decoration::Aliased, &[]);
        self.interface.push(variable);
        self.buffers.insert((binding, element), variable);
        variable
    }

    /// Pointer to element `index` of an array of elements at an address or in a buffer.
    fn array_pointer(&mut self, place: Place, element: Type, bytes: u32, index: Word) -> Word {
        let block = self.block_of(element, bytes);
        let (class, base) = match place {
            Place::Address(address) => {
                let class = StorageClass::PhysicalStorageBuffer;
                let block = self.w.ty(Type::Pointer(class, block));
                (class, self.w.op(Op::Bitcast, block, &[address]))
            }
            Place::Buffer(binding) => (StorageClass::StorageBuffer, self.buffer(binding, element, block)),
            Place::Group | Place::Pairs => unreachable!("group memory has pointers of its own"),
        };
        let (pointer, zero) = (self.w.pointer(class, element), self.w.word(0));
        self.w.op(Op::AccessChain, pointer, &[base, zero, index])
    }

    /// Pointer to element `index` of an array of elements of `width` words.
    pub fn element_pointer(&mut self, place: Place, width: u32, index: Word) -> Word {
        let element = if width == 1 { Type::U32 } else { Type::Vec(width) };
        self.array_pointer(place, element, 4 * width, index)
    }

    /// Pointer to 64-bit word `index`.
    pub fn wide_pointer(&mut self, place: Place, index: Word) -> Word {
        match place {
            Place::Address(_) | Place::Buffer(_) => self.array_pointer(place, Type::U64, 8, index),
            Place::Group | Place::Pairs => self.pair_pointer(index),
        }
    }

    /// Pointer to a pair of words of group memory.
    pub fn pair_pointer(&mut self, index: Word) -> Word {
        let pointer = self.w.pointer(StorageClass::Workgroup, Type::U64);
        let pairs = self.pairs.expect("programs with 64-bit atomics on group memory have pairs");
        self.w.op(Op::AccessChain, pointer, &[pairs, index])
    }

    /// Pointer to the pair of a word that is known to be inside, and whether it is the high one.
    pub fn half_pointer(&mut self, words: Words, index: Word) -> (Word, Word) {
        let index = match words.first {
            Some(first) => self.iadd(first, index),
            None => index,
        };
        let one = self.word(1);
        let (pair, half) = (self.shr(index, one), self.and(index, one));
        let odd = self.ieq(half, one);
        (self.pair_pointer(pair), odd)
    }

    /// Pointer to a word that is known to be inside.
    pub fn pointer_to(&mut self, words: Words, index: Word) -> Word {
        let index = match words.first {
            Some(first) => self.iadd(first, index),
            None => index,
        };
        match words.place {
            Place::Address(_) | Place::Buffer(_) => self.element_pointer(words.place, 1, index),
            Place::Group => self.shared_pointer(index),
            Place::Pairs => unreachable!("words of pairs have no pointers"),
        }
    }

    /// Alignment of an access to elements of so many words: through addresses it is told.
    fn align(place: Place, width: u32) -> Option<u32> {
        matches!(place, Place::Address(_)).then_some(4 * width)
    }

    /// Stores a word through a pointer of [`Emitter::pointer_to`].
    pub fn store_through(&mut self, words: Words, pointer: Word, value: Word) {
        self.w.store(pointer, value, Self::align(words.place, 1));
    }

    /// Pointer to the word that is 0 where the object that is never bound would be.
    pub fn zero_pointer(&mut self) -> Word {
        let row = self.row_at(self.layout.row(Slot::Empty));
        let (lo, hi) = (self.part(row, 0), self.part(row, 1));
        let address = self.w.op(Op::CompositeConstruct, self.t.uvec2, &[lo, hi]);
        let zero = self.word(0);
        self.element_pointer(Place::Address(address), 1, zero)
    }

    /// Loads a word; 0 outside. An empty run may have no word 0 of its own, but its place has one.
    pub fn load_word(&mut self, words: Words, index: Word) -> Word {
        let zero = self.word(0);
        let (inside, index) = if self.surely_below(index, words.limit) || words.behind == Behind::Nothing {
            (None, index)
        } else if words.behind == Behind::Zero {
            (None, self.glsl_word(GLOp::UMin, &[index, words.limit]))
        } else {
            let inside = self.ult(index, words.limit);
            (Some(inside), self.select(inside, index, zero))
        };
        let value = match words.place {
            Place::Pairs => {
                let (pointer, odd) = self.half_pointer(words, index);
                let u64 = self.w.ty(Type::U64);
                let pair = Quad::Integer(self.w.load(u64, pointer, None));
                let (low, high) = (self.lo(pair), self.hi(pair));
                self.select(odd, high, low)
            }
            Place::Address(_) | Place::Buffer(_) | Place::Group => {
                let pointer = self.pointer_to(words, index);
                self.w.load(self.t.u32, pointer, Self::align(words.place, 1))
            }
        };
        self.loaded(words.place, vec![value], inside)[0]
    }

    /// Stores a word; nothing outside.
    pub fn store_word(&mut self, words: Words, index: Word, value: Word) {
        if self.surely_below(index, words.limit) || words.behind == Behind::Nothing {
            return self.store_inside(words, index, value);
        }
        let inside = self.ult(index, words.limit);
        self.when(inside, |e| e.store_inside(words, index, value));
    }

    fn store_inside(&mut self, words: Words, index: Word, value: Word) {
        match words.place {
            Place::Pairs => {
                // Another thread may write the other half meanwhile.
                let none = self.word(0);
                self.half_bitwise(words, index, none, value);
            }
            Place::Address(_) | Place::Buffer(_) | Place::Group => {
                let value = self.stored(words.place, value);
                let pointer = self.pointer_to(words, index);
                self.store_through(words, pointer, value);
            }
        }
    }

    /// Loads an aligned element of `width` words that is inside where `inside` holds; 0 elsewhere.
    pub fn load_element(&mut self, place: Place, width: u32, index: Word, inside: Option<Word>) -> Vec<Word> {
        let zero = self.word(0);
        let index = match inside {
            Some(inside) => self.select(inside, index, zero),
            None => index,
        };
        let pointer = self.element_pointer(place, width, index);
        let ty = if width == 1 { self.t.u32 } else { self.w.ty(Type::Vec(width)) };
        let value = self.w.load(ty, pointer, Self::align(place, width));
        let words = if width == 1 { vec![value] } else { self.loaded_parts(value, width) };
        self.loaded(place, words, inside)
    }

    /// Stores an aligned element.
    pub fn store_element(&mut self, place: Place, index: Word, words: &[Word]) {
        let width = words.len() as u32;
        let pointer = self.element_pointer(place, width, index);
        let value = if width == 1 {
            words[0]
        } else {
            let ty = self.w.ty(Type::Vec(width));
            self.w.op(Op::CompositeConstruct, ty, words)
        };
        self.w.store(pointer, value, Self::align(place, width));
    }

    /// Writes the wanted components.
    pub fn deliver(&mut self, dst: &Dst4, words: [Word; 4]) {
        for (register, word) in dst.iter().zip(words) {
            if let Some(register) = register {
                self.write(*register, word);
            }
        }
    }

    /// Row of a constant buffer, which may be a uniform buffer: a vector of four words, each 0 beyond the bound memory.
    pub fn constant_row(&mut self, buffer: u32, row: u32, uniform: bool) -> Word {
        let key = (buffer, row, uniform);
        if let Some(words) = self.memo.constants.get(&key) {
            return words;
        }
        if let Some(words) = self.memo.first_constants.get(&key) {
            return *words;
        }
        // Some at the beginning, so that loops do not load them again; with too many the registers run out.
        let early = self.memo.first_constants.len() < EARLY_ROWS && self.in_main();
        let outer = self.w.hoist(early);
        let parts = match uniform {
            true => self.uniform_row(buffer, row),
            false => {
                let index = self.word(row);
                self.buffer_row(Slot::Constant(buffer), index)
            }
        };
        let vector = self.w.op(Op::CompositeConstruct, self.t.uvec4, &parts);
        for (k, word) in parts.into_iter().enumerate() {
            self.memo.parts.insert((vector, k as u32), word);
        }
        self.w.hoist(outer);
        if early {
            self.memo.first_constants.insert(key, vector);
        } else {
            self.memo.constants.insert(key, vector);
        }
        vector
    }

    /// Element `index` of 16 bytes, unsigned; 0 outside.
    pub fn buffer_row(&mut self, slot: Slot, index: Word) -> [Word; 4] {
        let row = self.layout.row(slot);
        let words = self.surface_words(row);
        if words.behind == Behind::Nothing {
            let index = self.capped(index, LAST_ROW);
            let parts = self.load_element(words.place, 4, index, None);
            return [parts[0], parts[1], parts[2], parts[3]];
        }
        // A row that begins inside may be read as a whole; its words past the bound read 0 all the same.
        if words.behind == Behind::Zero {
            let end = self.rows(words.limit, 3);
            let index = self.glsl_word(GLOp::UMin, &[index, end]);
            let parts = self.load_element(words.place, 4, index, None);
            return [parts[0], parts[1], parts[2], parts[3]];
        }
        // They are words of others here.
        let inside: [Word; 4] = if self.assume.whole_rows {
            let rows = self.rows(words.limit, 0);
            [self.ult(index, rows); 4]
        } else {
            std::array::from_fn(|k| {
                let rows = self.rows(words.limit, 3 - k as u32);
                self.ult(index, rows)
            })
        };
        let zero = self.word(0);
        let index = self.select(inside[0], index, zero);
        let parts = self.load_element(words.place, 4, index, None);
        std::array::from_fn(|k| self.loaded(words.place, vec![parts[k]], Some(inside[k]))[0])
    }

    /// Rows of `words` and some more words.
    fn rows(&mut self, words: Word, more: u32) -> Word {
        let (more, two) = (self.word(more), self.word(2));
        let words = self.iadd(words, more);
        self.shr(words, two)
    }

    /// Signed index plus offset.
    pub fn offset_index(&mut self, index: &Operand, offset: i32) -> Word {
        let index = self.operand(index);
        if offset == 0 {
            return index;
        }
        let offset = self.word(offset as u32);
        self.iadd(index, offset)
    }

    /// The words of byte-addressed memory.
    pub fn space(&mut self, space: Space) -> Words {
        match space {
            Space::Uav(id) => {
                let row = self.layout.row(Slot::Uav(id));
                self.surface_words(row)
            }
            Space::Srv(id) => {
                let row = self.layout.row(Slot::Resource(id));
                self.surface_words(row)
            }
            Space::Lds(id) => {
                let bytes = self.program.interface.lds.get(&id).map_or(0, |block| block.bytes);
                let first = self.lds.get(&id).copied().unwrap_or(0);
                let place = if self.pairs.is_some() { Place::Pairs } else { Place::Group };
                Words {
                    place,
                    first: Some(self.word(first)),
                    limit: self.word(bytes / 4),
                    behind: Behind::Anything,
                }
            }
            Space::Gds(id) => {
                let bytes = self.program.interface.gds.get(&id).map_or(0, |block| block.bytes);
                let first = self.layout.gds.get(&id).copied().unwrap_or(0);
                let row = self.layout.row(Slot::Scratch);
                let words = self.surface_words(row);
                Words {
                    first: Some(self.word(first)),
                    limit: self.word(bytes / 4),
                    behind: Behind::Zero,
                    ..words
                }
            }
        }
    }

    /// Whether an access can never be inside: then nothing is emitted for it.
    pub fn absent(&self, space: Space) -> bool {
        let interface = &self.program.interface;
        match space {
            Space::Lds(id) => interface.lds.get(&id).is_none_or(|block| block.bytes < 4),
            Space::Gds(id) => interface.gds.get(&id).is_none_or(|block| block.bytes < 4),
            Space::Uav(_) | Space::Srv(_) => false,
        }
    }

    /// An index that must not wrap when it becomes bytes: what lies between a bound and `last` is outside anyhow.
    pub fn capped(&mut self, index: Word, last: u32) -> Word {
        match self.w.bits.get(&index) {
            Some(known) => {
                let known = (*known).min(last);
                self.word(known)
            }
            None => {
                let last = self.word(last);
                self.glsl_word(GLOp::UMin, &[index, last])
            }
        }
    }

    /// The first of some words from a byte address on; the others do not wrap either.
    pub fn first_of(&mut self, words: Words, first: Word, others: bool) -> Word {
        if others && words.behind == Behind::Nothing { self.capped(first, LAST_WORD) } else { first }
    }

    pub fn offset_by(&mut self, index: Word, k: u32) -> Word {
        if k == 0 {
            return index;
        }
        let k = self.word(k);
        self.iadd(index, k)
    }

    /// Ands, then ors, a word.
    pub fn bitwise_atomics(&mut self, words: Words, pointer: Word, keep: Word, set: Word) {
        let scope = Self::scope(words);
        let (scope, relaxed) = (self.word(scope as u32), self.word(0));
        self.w.op(Op::AtomicAnd, self.t.u32, &[pointer, scope, relaxed, keep]);
        self.w.op(Op::AtomicOr, self.t.u32, &[pointer, scope, relaxed, set]);
    }

    /// Who takes part in atomics.
    pub fn scope(words: Words) -> Scope {
        match words.place {
            Place::Address(_) | Place::Buffer(_) => Scope::Device,
            Place::Group | Place::Pairs => Scope::Workgroup,
        }
    }
}
