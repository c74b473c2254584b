//! Memory by words: the launch table, constants, `g[]`, UAVs, LDS, GDS, arrays, shared registers.
//!
//! Nothing faults: stores outside do not happen, loads outside give 0. Where zeros follow the memory
//! ([`Assume::padded`](super::Assume)), such a load takes those: a condition that had to live until the word has come would
//! limit how many loads are on their way at a time. Storage buffers end of themselves. Elsewhere it takes word 0 and drops it; in
//! LDS too, whose words come soon and whose tests drivers can often do without.

use rspirv::spirv::{Decoration, GlslStd450Op as GLOp, Op, Scope, StorageClass, Word};

use super::lane::Quad;
use super::launch::Slot;
use super::module::Type;
use super::{Emitter, flow};
use crate::ir::{Builtin, Dst4, Id, InfoSource, MemoryInst, Operand, Space, Src4, ThreadId, Uav, Width};
use crate::isa::Algebra;
use crate::isa::memory::element;

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
#[derive(Clone, Copy)]
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
const LAST_ROW: u32 = u32::MAX >> 4;
const LAST_WORD: u32 = (u32::MAX >> 2) - 3;

/// The descriptor set of storage buffers.
const BUFFERS: u32 = 1;

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
        if element != Type::U64 && flow::orders_memory(self.program) {
            self.w.decorate_member(block, 0, Decoration::Coherent, &[]);
            if !self.target.fences_apart && flow::fences_memory(self.program) {
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
    fn element_pointer(&mut self, place: Place, width: u32, index: Word) -> Word {
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

    /// Pointer to a word of group memory.
    pub fn shared_pointer(&mut self, index: Word) -> Word {
        let pointer = self.w.pointer(StorageClass::Workgroup, Type::U32);
        let shared = self.shared.expect("programs with group accesses have group memory");
        self.w.op(Op::AccessChain, pointer, &[shared, index])
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
        match inside {
            Some(inside) => self.select(inside, value, zero),
            None => value,
        }
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
        let words: Vec<Word> =
            if width == 1 { vec![value] } else { (0..width).map(|k| self.part(value, k)).collect() };
        match inside {
            Some(inside) => words.into_iter().map(|word| self.select(inside, word, zero)).collect(),
            None => words,
        }
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

    /// Row of a constant buffer: a vector of four words, each 0 beyond the bound memory.
    pub fn constant_row(&mut self, buffer: u32, row: u32) -> Word {
        if let Some(words) = self.memo.constants.get(&(buffer, row)) {
            return words;
        }
        if let Some(words) = self.memo.first_constants.get(&(buffer, row)) {
            return *words;
        }
        // Some at the beginning, so that loops do not load them again; with too many the registers run out.
        let early = self.memo.first_constants.len() < EARLY_ROWS && self.in_main();
        let outer = self.w.hoist(early);
        let index = self.word(row);
        let parts = self.buffer_row(Slot::Constant(buffer), index);
        let vector = self.w.op(Op::CompositeConstruct, self.t.uvec4, &parts);
        for (k, word) in parts.into_iter().enumerate() {
            self.memo.parts.insert((vector, k as u32), word);
        }
        self.w.hoist(outer);
        if early {
            self.memo.first_constants.insert((buffer, row), vector);
        } else {
            self.memo.constants.insert((buffer, row), vector);
        }
        vector
    }

    /// Element `index` of 16 bytes, unsigned; 0 outside.
    fn buffer_row(&mut self, slot: Slot, index: Word) -> [Word; 4] {
        let row = self.layout.row(slot);
        let words = self.surface_words(row);
        if words.behind == Behind::Nothing {
            let index = self.capped(index, LAST_ROW);
            let parts = self.load_element(words.place, 4, index, None);
            return [parts[0], parts[1], parts[2], parts[3]];
        }
        // Memory is whole pages: a row that begins inside ends inside the allocation. Its words past the bound
        // read 0 all the same.
        let two = self.word(2);
        let full = self.shr(words.limit, two);
        let inside = self.ult(index, full);
        let parts = if words.behind == Behind::Zero {
            let three = self.word(3);
            let more = self.iadd(words.limit, three);
            let end = self.shr(more, two);
            let index = self.select(inside, index, end);
            self.load_element(words.place, 4, index, None)
        } else {
            self.load_element(words.place, 4, index, Some(inside))
        };
        [parts[0], parts[1], parts[2], parts[3]]
    }

    /// Signed index plus offset.
    fn offset_index(&mut self, index: &Operand, offset: i32) -> Word {
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
    fn absent(&self, space: Space) -> bool {
        let interface = &self.program.interface;
        match space {
            Space::Lds(id) => interface.lds.get(&id).is_none_or(|block| block.bytes < 4),
            Space::Gds(id) => interface.gds.get(&id).is_none_or(|block| block.bytes < 4),
            Space::Uav(_) | Space::Srv(_) => false,
        }
    }

    /// Executes a memory access.
    pub fn memory(&mut self, inst: &MemoryInst) {
        use MemoryInst as M;
        match inst {
            M::Sample { resource, sampler, unnormalized, coord, offset, dst } => {
                self.sample(resource, sampler, *unnormalized, coord, *offset, dst);
            }
            M::Gather { resource, sampler, unnormalized, coord, offset, texel_offset, component, dst } => {
                self.gather(resource, sampler, *unnormalized, coord, *offset, texel_offset, *component, dst);
            }
            M::Fetch { resource, coord, offset, dst } => self.fetch(resource, coord, *offset, dst),
            M::ResourceInfo { resource, uint, dst } => self.resource_info(resource, *uint, dst),
            M::BufferInfo { of, dst } => self.buffer_info(of, dst),
            M::ConstLoad { buffer, index, offset, dst } => {
                let index = self.offset_index(index, *offset);
                let words = self.buffer_row(Slot::Constant(*buffer), index);
                self.deliver(dst, words);
            }
            M::ImmediateLoad { index, offset, dst } => self.immediate(index, *offset, dst),
            M::ArrayLoad { array, index, offset, dst } => self.array_load(*array, index, *offset, dst),
            M::ArrayStore { array, index, offset, src } => self.array_store(*array, index, *offset, src),
            M::GlobalLoad { index, offset, dst } => {
                let index = self.offset_index(index, *offset);
                let words = self.buffer_row(Slot::Global, index);
                self.deliver(dst, words);
            }
            M::GlobalStore { index, offset, src } => self.global_store(index, *offset, src),
            M::SharedLoad { register, dst } => self.shared_load(*register, dst),
            M::SharedStore { register, src } => self.shared_store(*register, src),
            M::RawLoad { space, address, width, dst } => self.raw_load(*space, address, *width, dst),
            M::RawStore { space, address, width, src } => self.raw_store(*space, address, *width, src),
            M::TypedLoad { uav, coord, dst } => self.typed_load(*uav, coord, dst),
            M::TypedStore { uav, coord, src } => self.typed_store(*uav, coord, src),
            M::Atomic { op, space, address, src, src2, dst, wide } => {
                self.atomic(*op, *space, address, src, src2.as_ref(), *dst, wide.as_ref());
            }
            M::LdsWriteOwn { offset, src } => self.write_own(*offset, src),
            M::LdsReadAny { thread, offset, neighbor_exchange, dst } => {
                self.read_any(thread, offset, *neighbor_exchange, dst);
            }
            M::Counter { uav, consume, dst } => self.counter(*uav, *consume, *dst),
            // Shared registers are zero at the start of a launch anyhow.
            M::InitShared => {}
        }
    }

    fn global_store(&mut self, index: &Operand, offset: i32, src: &Src4) {
        let index = self.offset_index(index, offset);
        let values: Vec<(u32, Word)> = src
            .iter()
            .enumerate()
            .filter_map(|(k, operand)| operand.as_ref().map(|operand| (k as u32, self.operand(operand))))
            .collect();
        let row = self.layout.row(Slot::Global);
        let words = self.surface_words(row);
        let two = self.word(2);
        let store = |e: &mut Self, index| match values[..] {
            [(0, x), (1, y), (2, z), (3, w)] => e.store_element(words.place, index, &[x, y, z, w]),
            _ => {
                let first = e.shl(index, two);
                for (k, value) in values {
                    let k = e.word(k);
                    let at = e.iadd(first, k);
                    let pointer = e.pointer_to(words, at);
                    e.store_through(words, pointer, value);
                }
            }
        };
        if words.behind == Behind::Nothing {
            let index = self.capped(index, LAST_ROW);
            return store(self, index);
        }
        let full = self.shr(words.limit, two);
        let inside = self.ult(index, full);
        self.when(inside, |e| store(e, index));
    }

    /// An index that must not wrap when it becomes bytes: what lies between a bound and `last` is outside anyhow.
    fn capped(&mut self, index: Word, last: u32) -> Word {
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
    fn first_of(&mut self, words: Words, first: Word, others: bool) -> Word {
        if others && words.behind == Behind::Nothing { self.capped(first, LAST_WORD) } else { first }
    }

    fn raw_load(&mut self, space: Space, address: &Operand, width: Width, dst: &Dst4) {
        let zero = self.word(0);
        if self.absent(space) {
            return self.deliver(dst, [zero; 4]);
        }
        let address = self.operand(address);
        let words = self.space(space);
        let two = self.word(2);
        let first = self.shr(address, two);
        if width == Width::Dwords {
            let first = self.first_of(words, first, dst[1..].iter().any(Option::is_some));
            let mut values = [zero; 4];
            for (k, value) in values.iter_mut().enumerate().filter(|(k, _)| dst[*k].is_some()) {
                let at = self.offset_by(first, k as u32);
                *value = self.load_word(words, at);
            }
            return self.deliver(dst, values);
        }
        let word = self.load_word(words, first);
        let shift = self.bit_offset(address, width);
        let low = self.shr(word, shift);
        let value = element::extended(self, width, low);
        self.deliver(dst, [value; 4]);
    }

    fn offset_by(&mut self, index: Word, k: u32) -> Word {
        if k == 0 {
            return index;
        }
        let k = self.word(k);
        self.iadd(index, k)
    }

    /// Where a byte or half word starts in its word.
    fn bit_offset(&mut self, address: Word, width: Width) -> Word {
        let within = self.word(if matches!(width, Width::U8 | Width::I8) { 3 } else { 2 });
        let three = self.word(3);
        let byte = self.and(address, within);
        self.shl(byte, three)
    }

    fn raw_store(&mut self, space: Space, address: &Operand, width: Width, src: &Src4) {
        if self.absent(space) {
            return;
        }
        let address = self.operand(address);
        let words = self.space(space);
        let two = self.word(2);
        let first = self.shr(address, two);
        if width == Width::Dwords {
            let values: Vec<(u32, Word)> = src
                .iter()
                .enumerate()
                .filter_map(|(k, operand)| operand.as_ref().map(|operand| (k as u32, self.operand(operand))))
                .collect();
            let first = self.first_of(words, first, values.iter().any(|(k, _)| *k > 0));
            for (k, value) in values {
                let at = self.offset_by(first, k);
                self.store_word(words, at, value);
            }
            return;
        }
        let Some(value) = &src[0] else { return };
        let value = self.operand(value);
        let bits = if matches!(width, Width::U8 | Width::I8) { 8 } else { 16 };
        let shift = self.bit_offset(address, width);
        let inside = self.ult(first, words.limit);
        self.when(inside, |e| e.merge_bits(words, first, shift, bits, value));
    }

    /// Puts `bits` bits at bit `shift` of word `index` whose other bits other threads may write: clears, then sets.
    fn merge_bits(&mut self, words: Words, index: Word, shift: Word, bits: u32, value: Word) {
        let mask = self.word(u32::MAX >> (32 - bits));
        let low = self.and(value, mask);
        let set = self.shl(low, shift);
        let field = self.shl(mask, shift);
        let keep = self.not(field);
        match words.place {
            Place::Pairs => self.half_bitwise(words, index, keep, set),
            Place::Address(_) | Place::Buffer(_) | Place::Group => {
                let pointer = self.pointer_to(words, index);
                self.bitwise_atomics(words, pointer, keep, set);
            }
        }
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

    fn immediate(&mut self, index: &Operand, offset: i32, dst: &Dst4) {
        let index = self.offset_index(index, offset);
        let rows = &self.program.interface.immediates;
        let zero = self.word(0);
        if rows.is_empty() {
            return self.deliver(dst, [zero; 4]);
        }
        let variable = match self.immediates {
            Some(variable) => variable,
            None => {
                let words: Vec<Word> = rows.iter().flatten().map(|bits| self.w.word(*bits)).collect();
                let array = self.w.ty(Type::Array(words.len() as u32));
                let data = self.w.global(Op::ConstantComposite, Some(array), &words);
                let variable = self.private(array, data);
                self.immediates = Some(variable);
                variable
            }
        };
        let words = self.array_words(variable, StorageClass::Private, rows.len() as u32, index, dst);
        self.deliver(dst, words);
    }

    /// Element `index` of an array variable; 0 outside.
    fn array_words(
        &mut self,
        variable: Word,
        class: StorageClass,
        elements: u32,
        index: Word,
        dst: &Dst4,
    ) -> [Word; 4] {
        let (zero, two, limit) = (self.word(0), self.word(2), self.word(elements));
        let inside = self.ult(index, limit);
        let index = self.select(inside, index, zero);
        let first = self.shl(index, two);
        let pointer = self.w.pointer(class, Type::U32);
        let mut words = [zero; 4];
        for (k, word) in words.iter_mut().enumerate().filter(|(k, _)| dst[*k].is_some()) {
            let at = self.offset_by(first, k as u32);
            let element = self.w.op(Op::AccessChain, pointer, &[variable, at]);
            let value = self.w.load(self.t.u32, element, None);
            *word = self.select(inside, value, zero);
        }
        words
    }

    /// The variable of `x#` and its number of elements.
    fn array(&mut self, array: u32) -> Option<(Word, u32)> {
        let elements = self.program.interface.arrays.get(&array).copied().filter(|n| *n > 0)?;
        if let Some(variable) = self.arrays.get(&array) {
            return Some((*variable, elements));
        }
        let Some(words) = elements.checked_mul(4).filter(|words| *words <= 1 << 20) else {
            self.refuse("an indexed temporary array is too large for the device");
            return None;
        };
        let ty = self.w.ty(Type::Array(words));
        let null = self.w.null(ty);
        let variable = self.private(ty, null);
        self.arrays.insert(array, variable);
        Some((variable, elements))
    }

    fn array_load(&mut self, array: u32, index: &Operand, offset: i32, dst: &Dst4) {
        let index = self.offset_index(index, offset);
        let words = match self.array(array) {
            Some((variable, elements)) => {
                self.array_words(variable, StorageClass::Private, elements, index, dst)
            }
            None => [self.word(0); 4],
        };
        self.deliver(dst, words);
    }

    fn array_store(&mut self, array: u32, index: &Operand, offset: i32, src: &Src4) {
        let index = self.offset_index(index, offset);
        let Some((variable, elements)) = self.array(array) else { return };
        let values: Vec<(u32, Word)> = src
            .iter()
            .enumerate()
            .filter_map(|(k, operand)| operand.as_ref().map(|operand| (k as u32, self.operand(operand))))
            .collect();
        let limit = self.word(elements);
        let inside = self.ult(index, limit);
        self.when(inside, |e| {
            let two = e.word(2);
            let first = e.shl(index, two);
            let pointer = e.w.pointer(StorageClass::Private, Type::U32);
            for (k, value) in values {
                let at = e.offset_by(first, k);
                let element = e.w.op(Op::AccessChain, pointer, &[variable, at]);
                e.w.store(element, value, None);
            }
        });
    }

    /// Word of component 0 of `sr#` for this lane, in the scratch memory.
    fn shared_register(&mut self, register: u32) -> (Words, Word) {
        let row = self.layout.row(Slot::Scratch);
        let words = self.surface_words(row);
        let thread = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let (lane, two) = (self.word(63), self.word(2));
        let lane = self.and(thread, lane);
        let lane = self.shl(lane, two);
        let first = self.word(self.layout.shared.wrapping_add(register.wrapping_mul(256)));
        (words, self.iadd(first, lane))
    }

    fn shared_load(&mut self, register: u32, dst: &Dst4) {
        let (words, first) = self.shared_register(register);
        let mut values = [self.word(0); 4];
        for (k, value) in values.iter_mut().enumerate().filter(|(k, _)| dst[*k].is_some()) {
            let at = self.offset_by(first, k as u32);
            *value = self.load_word(words, at);
        }
        self.deliver(dst, values);
    }

    fn shared_store(&mut self, register: u32, src: &Src4) {
        let (words, first) = self.shared_register(register);
        for (k, operand) in src.iter().enumerate() {
            if let Some(operand) = operand {
                let value = self.operand(operand);
                let at = self.offset_by(first, k as u32);
                self.store_word(words, at, value);
            }
        }
    }

    /// First word of the area of a thread.
    fn area(&mut self, thread: Word) -> Word {
        let first = self.lds.get(&flow::OWN_AREAS).copied().unwrap_or(0);
        let (first, own) = (self.word(first), self.word(self.program.interface.lds_dwords_per_thread));
        let offset = self.imul(thread, own);
        self.iadd(first, offset)
    }

    fn write_own(&mut self, offset: u32, src: &Src4) {
        let own = self.program.interface.lds_dwords_per_thread;
        let thread = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let area = self.area(thread);
        for (k, operand) in src.iter().enumerate() {
            let dword = offset.saturating_add(k as u32);
            if let Some(operand) = operand.as_ref().filter(|_| dword < own) {
                let value = self.operand(operand);
                let at = self.offset_by(area, dword);
                let pointer = self.shared_pointer(at);
                self.w.store(pointer, value, None);
            }
        }
    }

    /// Dword `offset` of the area of `thread`; 0 outside.
    fn area_word(&mut self, thread: Word, offset: Word) -> Word {
        let (zero, own) = (self.word(0), self.word(self.program.interface.lds_dwords_per_thread));
        let threads = self.group_threads();
        let (known, within) = (self.ult(thread, threads), self.ult(offset, own));
        let inside = self.both(known, within);
        let thread = self.select(inside, thread, zero);
        let offset = self.select(inside, offset, zero);
        let area = self.area(thread);
        let at = self.iadd(area, offset);
        let pointer = self.shared_pointer(at);
        let value = self.w.load(self.t.u32, pointer, None);
        self.select(inside, value, zero)
    }

    fn group_threads(&mut self) -> Word {
        let xy = self.imul(self.block[0], self.block[1]);
        self.imul(xy, self.block[2])
    }

    fn read_any(&mut self, thread: &Operand, offset: &Operand, exchange: bool, dst: &Dst4) {
        let zero = self.word(0);
        let (thread, offset) = (self.operand(thread), self.operand(offset));
        if self.program.interface.lds_dwords_per_thread == 0 {
            return self.deliver(dst, [zero; 4]);
        }
        let mut words = [zero; 4];
        if !exchange {
            for (k, word) in words.iter_mut().enumerate() {
                let at = self.offset_by(offset, k as u32);
                *word = self.area_word(thread, at);
            }
            return self.deliver(dst, words);
        }
        // Component c is what thread c of the quad loads into the component that has this thread's place in the
        // quad: the threads tell each other what they were to read.
        let own = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let (one, three) = (self.word(1), self.word(3));
        let exchange = self.word(self.exchange);
        let slot = self.shl(own, one);
        let slot = self.iadd(exchange, slot);
        self.barrier();
        for (k, value) in [thread, offset].into_iter().enumerate() {
            let at = self.offset_by(slot, k as u32);
            let pointer = self.shared_pointer(at);
            self.w.store(pointer, value, None);
        }
        self.barrier();
        let place = self.and(own, three);
        let quad = self.isub(own, place);
        for (c, word) in words.iter_mut().enumerate() {
            let neighbour = self.offset_by(quad, c as u32);
            let slot = self.shl(neighbour, one);
            let slot = self.iadd(exchange, slot);
            let [thread, offset] = [0, 1].map(|k| {
                let at = self.offset_by(slot, k);
                let pointer = self.shared_pointer(at);
                self.w.load(self.t.u32, pointer, None)
            });
            let offset = self.iadd(offset, place);
            *word = self.area_word(thread, offset);
        }
        self.deliver(dst, words);
    }

    fn resource_info(&mut self, resource: &Id, uint: bool, dst: &Dst4) {
        let surface = self.surface(resource);
        let (zero, one) = (self.word(0), self.word(1));
        let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
        let words = [surface.width, surface.height, one, one].map(|n| {
            let n = self.select(bound, n, zero);
            if uint { n } else { self.itof_raw(n) }
        });
        self.deliver(dst, words);
    }

    fn buffer_info(&mut self, of: &InfoSource, dst: &Dst4) {
        let zero = self.word(0);
        let interface = &self.program.interface;
        let (surface, stride, typed) = match of {
            InfoSource::Resource(id) => (self.surface(id), 0, true),
            InfoSource::Uav(n) => {
                let (stride, typed) = match interface.uavs.get(n) {
                    Some(Uav::Structured { stride }) => (*stride, false),
                    Some(Uav::Typed { .. }) => (0, true),
                    _ => (0, false),
                };
                let row = self.layout.row(Slot::Uav(*n));
                (self.surface_at(row), stride, typed)
            }
            InfoSource::Srv(n) => {
                let row = self.layout.row(Slot::Resource(*n));
                (self.surface_at(row), interface.srvs.get(n).copied().unwrap_or(0), false)
            }
        };
        let two = self.word(2);
        let bytes = self.shl(surface.words, two);
        let words = if typed {
            let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
            let elements = self.imul(surface.width, surface.height);
            [self.select(bound, elements, zero), zero, zero, zero]
        } else if stride != 0 {
            let stride = self.word(stride);
            [self.udiv(bytes, stride), stride, zero, zero]
        } else {
            [bytes, zero, zero, zero]
        };
        self.deliver(dst, words);
    }
}
