//! Elements of any format in SPIR-V: which functions of [`element`] they take is decided by the format word of the
//! launch table when kernels run.

use rspirv::spirv::{Op, Word};

use super::launch::encoding_number;
use super::memory::{Behind, Place, Words};
use super::{Emitter, Formats};
use crate::format::Encoding;
use crate::isa::Algebra;
use crate::isa::memory::element;

/// Where an element is.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub place: Place,
    /// Element number.
    pub index: Word,
    /// Format word.
    pub format: Word,
    /// Words of an element, where they are known and stored unconverted.
    pub words: Option<u32>,
}

/// Encodings that convert.
fn converted() -> impl Iterator<Item = Encoding> {
    Encoding::ALL.iter().copied().filter(|encoding| !encoding.is_raw())
}

impl Emitter<'_> {
    /// The four words that a fetch of an element delivers.
    pub fn load_format(&mut self, element: &Element, fill: Word) -> [Word; 4] {
        if let Some(words) = element.words {
            return self.plain_words(element.place, words, element.index, fill);
        }
        let routine = self.load_routine(element.place);
        let uvec4 = self.t.uvec4;
        let operands = Self::arguments(routine, element.place, &[element.index, element.format, fill]);
        let words = self.w.op(Op::FunctionCall, uvec4, &operands);
        std::array::from_fn(|k| self.part(words, k as u32))
    }

    /// The words of an unconverted element; `fill` for a w that it lacks, 0 for others.
    fn plain_words(&mut self, place: Place, width: u32, index: Word, fill: Word) -> [Word; 4] {
        let mut words = self.load_element(place, width, index, None).into_iter();
        let zero = self.word(0);
        std::array::from_fn(|k| words.next().unwrap_or(if k == 3 { fill } else { zero }))
    }

    /// Stores four words as an element.
    pub fn store_format(&mut self, element: &Element, words: [Word; 4]) {
        if let Some(width) = element.words {
            return self.store_element(element.place, element.index, &words[..width as usize]);
        }
        let routine = self.store_routine(element.place);
        let void = self.t.void;
        let [x, y, z, w] = words;
        let operands = Self::arguments(routine, element.place, &[element.index, element.format, x, y, z, w]);
        self.w.op(Op::FunctionCall, void, &operands);
    }

    /// Operands of a call: the routine, the address if there is one, and the rest.
    fn arguments(routine: Word, place: Place, rest: &[Word]) -> Vec<Word> {
        let address = if let Place::Address(address) = place { Some(address) } else { None };
        [routine].into_iter().chain(address).chain(rest.iter().copied()).collect()
    }

    /// Begins a routine on elements: its place, by its first parameter if that is an address, and the other parameters,
    /// `words` words. Each storage buffer has routines of its own.
    fn begin_at(&mut self, routine: Word, result: Word, place: Place, words: usize) -> (Place, Vec<Word>) {
        let address = matches!(place, Place::Address(_));
        let mut types = vec![self.t.u32; words];
        if address {
            types.insert(0, self.t.uvec2);
        }
        let mut parameters = self.w.begin(routine, result, &types);
        let place = if address { Place::Address(parameters.remove(0)) } else { place };
        (place, parameters)
    }

    /// `uvec4 load(address, index, format, fill)`; without the address for a storage buffer.
    fn load_routine(&mut self, place: Place) -> Word {
        let name = ("load", place.binding());
        if let Some(routine) = self.routines.get(&name) {
            return *routine;
        }
        let packed = (self.assume.formats == Formats::Any).then(|| self.unpack_routine());
        let routine = self.w.id();
        self.routines.insert(name, routine);
        let memo = std::mem::take(&mut self.memo);
        let uvec4 = self.t.uvec4;
        let (place, p) = self.begin_at(routine, uvec4, place, 3);
        let (index, format, fill) = (p[0], p[1], p[2]);
        let zero = self.word(0);
        let lg = self.lg(format);
        let raw = self.is_raw(format, packed.is_some());
        self.for_plain(lg, raw, |f, width| {
            let words = f.plain_words(place, width, index, fill);
            let vector = f.w.op(Op::CompositeConstruct, uvec4, &words);
            f.w.return_value(vector);
        });
        let result = match packed {
            Some(unpack) => {
                let (low, high) = self.element_bits(place, index, lg);
                self.w.op(Op::FunctionCall, uvec4, &[unpack, low, high, format, fill])
            }
            None => self.w.op(Op::CompositeConstruct, uvec4, &[zero; 4]),
        };
        self.w.return_value(result);
        self.w.end();
        self.memo = memo;
        routine
    }

    /// For elements of four, two and one words, by the logarithm of their bytes, that are stored bit for bit: what is done for so many, which
    /// ends the routine.
    fn for_plain(&mut self, lg: Word, raw: Option<Word>, mut done: impl FnMut(&mut Self, u32)) {
        for (size, width) in [(4, 4), (3, 2), (2, 1)] {
            let size = self.word(size);
            let mut this = self.ieq(lg, size);
            if let Some(raw) = raw {
                this = self.both(this, raw);
            }
            let (yes, next) = (self.w.id(), self.w.id());
            self.w.selection_merge(next);
            self.w.branch_if(this, yes, next);
            self.w.label(yes);
            let mark = self.mark();
            done(self, width);
            self.rewind(mark);
            self.w.label(next);
        }
    }

    fn lg(&mut self, format: Word) -> Word {
        let shift = self.word(24);
        self.shr(format, shift)
    }

    /// Whether the encoding is stored bit for bit, if any others occur.
    fn is_raw(&mut self, format: Word, others: bool) -> Option<Word> {
        if !others {
            return None;
        }
        let encoding = self.encoding(format);
        let raw = Encoding::ALL.iter().filter(|known| known.is_raw());
        raw.fold(None, |any, known| {
            let number = self.word(encoding_number(*known));
            let this = self.ieq(encoding, number);
            Some(any.map_or(this, |any| self.either(any, this)))
        })
    }

    fn encoding(&mut self, format: Word) -> Word {
        let (shift, mask) = (self.word(8), self.word(0xFF));
        let shifted = self.shr(format, shift);
        self.and(shifted, mask)
    }

    /// The first 64 bits of an element of at most 8 bytes; bits past it are anything.
    fn element_bits(&mut self, place: Place, index: Word, lg: Word) -> (Word, Word) {
        let (word, shift) = element::place(self, index, lg);
        let first = self.load_element(place, 1, word, None)[0];
        let low = self.shr(first, shift);
        let (three, zero, one) = (self.word(3), self.word(0), self.word(1));
        let long = self.ieq(lg, three);
        // Elements of 8 bytes have a second word; others take the first again.
        let step = self.select(long, one, zero);
        let second = self.iadd(word, step);
        let high = self.load_element(place, 1, second, None)[0];
        (low, high)
    }

    /// `uvec4 unpack(low, high, format, fill)`
    fn unpack_routine(&mut self) -> Word {
        if let Some(routine) = self.routines.get(&("unpack", None)) {
            return *routine;
        }
        let routine = self.w.id();
        self.routines.insert(("unpack", None), routine);
        let memo = std::mem::take(&mut self.memo);
        let (u32, uvec4) = (self.t.u32, self.t.uvec4);
        let p = self.w.begin(routine, uvec4, &[u32, u32, u32, u32]);
        let (low, high, format, fill) = (p[0], p[1], p[2], p[3]);
        let encoding = self.encoding(format);
        let (c16, seven) = (self.word(16), self.word(7));
        let count = self.shr(format, c16);
        let count = self.and(count, seven);
        let merge = self.w.id();
        let labels: Vec<(u32, Word)> = converted().map(|e| (encoding_number(e), self.w.id())).collect();
        self.w.selection_merge(merge);
        self.w.switch(encoding, merge, &labels);
        for (encoding, (_, label)) in converted().zip(&labels) {
            self.w.label(*label);
            let mark = self.mark();
            let zero = self.word(0);
            let words: [Word; 4] = std::array::from_fn(|k| {
                let part = element::component(self, encoding, k, [low, high, zero, zero]);
                let number = self.word(k as u32);
                let has = self.ult(number, count);
                self.select(has, part, if k == 3 { fill } else { zero })
            });
            let vector = self.w.op(Op::CompositeConstruct, uvec4, &words);
            self.w.return_value(vector);
            self.rewind(mark);
        }
        self.w.label(merge);
        let zero = self.word(0);
        let vector = self.w.op(Op::CompositeConstruct, uvec4, &[zero; 4]);
        self.w.return_value(vector);
        self.w.end();
        self.memo = memo;
        routine
    }

    /// `void store(address, index, format, x, y, z, w)`; without the address for a storage buffer.
    fn store_routine(&mut self, place: Place) -> Word {
        let name = ("store", place.binding());
        if let Some(routine) = self.routines.get(&name) {
            return *routine;
        }
        let routine = self.w.id();
        self.routines.insert(name, routine);
        let memo = std::mem::take(&mut self.memo);
        let void = self.t.void;
        let (place, p) = self.begin_at(routine, void, place, 6);
        let (index, format) = (p[0], p[1]);
        let words = [p[2], p[3], p[4], p[5]];
        let any = self.assume.formats == Formats::Any;
        let lg = self.lg(format);
        let raw = self.is_raw(format, any);
        self.for_plain(lg, raw, |f, width| {
            f.store_element(place, index, &words[..width as usize]);
            f.w.return_void();
        });
        if any {
            self.store_packed(place, index, format, words);
        }
        self.w.return_void();
        self.w.end();
        self.memo = memo;
        routine
    }

    /// Stores an element that is converted, 1, 2, 4 or 8 bytes. Components past the format's fall away.
    fn store_packed(&mut self, place: Place, index: Word, format: Word, words: [Word; 4]) {
        let encoding = self.encoding(format);
        let u32 = self.t.u32;
        let zero = self.word(0);
        let (low, high) = (self.w.local(u32, None), self.w.local(u32, None));
        self.w.store(low, zero, None);
        self.w.store(high, zero, None);
        let merge = self.w.id();
        let labels: Vec<(u32, Word)> = converted().map(|e| (encoding_number(e), self.w.id())).collect();
        self.w.selection_merge(merge);
        self.w.switch(encoding, merge, &labels);
        for (encoding, (_, label)) in converted().zip(&labels) {
            self.w.label(*label);
            let mark = self.mark();
            let [lo, hi, ..] = element::encode(self, encoding, &words);
            self.w.store(low, lo, None);
            self.w.store(high, hi, None);
            self.rewind(mark);
            self.w.branch(merge);
        }
        self.w.label(merge);
        let (lo, hi) = (self.w.load(u32, low, None), self.w.load(u32, high, None));
        let lg = self.lg(format);
        let (word, shift) = element::place(self, index, lg);
        let run = Words { place, first: None, limit: zero, behind: Behind::Anything };
        let pointer = self.pointer_to(run, word);
        // Whole words are stored; parts of a word are merged, since other threads write the rest.
        let (two, three, one) = (self.word(2), self.word(3), self.word(1));
        let narrow = self.ult(lg, two);
        let [parts, whole, after] = [0; 3].map(|_| self.w.id());
        self.w.selection_merge(after);
        self.w.branch_if(narrow, parts, whole);
        let mark = self.mark();
        self.w.label(parts);
        // 8 or 16 bits.
        let (byte, short) = (self.word(0xFF), self.word(0xFFFF));
        let bytes = self.ieq(lg, zero);
        let mask = self.select(bytes, byte, short);
        let value = self.and(lo, mask);
        let set = self.shl(value, shift);
        let field = self.shl(mask, shift);
        let keep = self.not(field);
        self.bitwise_atomics(run, pointer, keep, set);
        self.w.branch(after);
        self.rewind(mark);
        self.w.label(whole);
        self.store_through(run, pointer, lo);
        let long = self.ieq(lg, three);
        self.when(long, |e| {
            let second = e.iadd(word, one);
            let pointer = e.pointer_to(run, second);
            e.store_through(run, pointer, hi);
        });
        self.w.branch(after);
        self.rewind(mark);
        self.w.label(after);
    }
}
