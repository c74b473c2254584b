//! Accesses to memory: `cb#[]`, `g[]`, byte-addressed memory, arrays, shared registers, the LDS of the R700, sizes.

use rspirv::spirv::{Op, StorageClass, Word};

use super::Emitter;
use super::launch::Slot;
use super::memory::{Behind, LAST_ROW, Place, Words};
use super::module::Type;
use crate::ir::{Builtin, Dst4, Id, InfoSource, MemoryInst, Operand, Space, Src4, ThreadId, Uav, Width};
use crate::isa::Algebra;
use crate::isa::memory::element;

impl Emitter<'_> {
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
            M::LdsWriteOwn { .. } | M::LdsReadAny { .. } => unreachable!("LDS of threads that is a block"),
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
        let store_part = |e: &mut Self, index, (k, value): (u32, Word)| {
            let (first, k) = (e.shl(index, two), e.word(k));
            let at = e.iadd(first, k);
            let pointer = e.pointer_to(words, at);
            e.store_through(words, pointer, value);
        };
        let store = |e: &mut Self, index| match values[..] {
            [(0, x), (1, y), (2, z), (3, w)] => e.store_element(words.place, index, &[x, y, z, w]),
            _ => values.iter().for_each(|part| store_part(e, index, *part)),
        };
        if words.behind == Behind::Nothing {
            let index = self.capped(index, LAST_ROW);
            return store(self, index);
        }
        let full = self.shr(words.limit, two);
        let inside = self.ult(index, full);
        self.when(inside, |e| store(e, index));
        if !self.assume.whole_rows {
            let (three, last) = (self.word(3), self.ieq(index, full));
            self.when(last, |e| {
                let rest = e.and(words.limit, three);
                for part in values.iter().filter(|(k, _)| *k < 3) {
                    let k = e.word(part.0);
                    let inside = e.ult(k, rest);
                    e.when(inside, |e| store_part(e, index, *part));
                }
            });
        }
    }

    fn raw_load(&mut self, space: Space, address: &Operand, width: Width, dst: &Dst4) {
        let zero = self.word(0);
        if self.absent(space) {
            return self.deliver(dst, [zero; 4]);
        }
        if width == Width::Dwords
            && let Some(values) = self.load_wide(space, address, dst)
        {
            return self.deliver(dst, values);
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

    /// Where a byte or half word starts in its word.
    fn bit_offset(&mut self, address: Word, width: Width) -> Word {
        let within = self.word(if matches!(width, Width::U8 | Width::I8) { 3 } else { 2 });
        let three = self.word(3);
        let byte = self.and(address, within);
        self.shl(byte, three)
    }

    fn raw_store(&mut self, space: Space, address: &Operand, width: Width, src: &Src4) {
        if self.absent(space) || (width == Width::Dwords && self.store_wide(space, address, src)) {
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
