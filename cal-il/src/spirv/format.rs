//! The 47 formats in SPIR-V: what [`Format::decode`](crate::format::Format::decode) and `encode` do, by the
//! format word of the launch table.

use rspirv::spirv::{Op, Word};

use super::lane::Quad;
use super::launch::encoding_number;
use super::memory::{Behind, Place, Words};
use super::{Emitter, Formats};
use crate::format::Encoding;
use crate::isa::Algebra;

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

/// (shift, bits) of x, y, z in a packed element.
type Packing = [(u32, u32); 3];
const PACK_565: Packing = [(11, 5), (5, 6), (0, 5)];
const PACK_555: Packing = [(10, 5), (5, 5), (0, 5)];
const PACK_10: Packing = [(20, 10), (10, 10), (0, 10)];

/// Why these have no conversion.
const UNCONVERTED: &str = "stored bit for bit";

/// Encodings that convert.
const CONVERTED: [Encoding; 12] = [
    Encoding::Float16,
    Encoding::Unorm8,
    Encoding::Unorm16,
    Encoding::Snorm8,
    Encoding::Snorm16,
    Encoding::Uint8,
    Encoding::Uint16,
    Encoding::Sint8,
    Encoding::Sint16,
    Encoding::Unorm565,
    Encoding::Unorm555,
    Encoding::Unorm10,
];

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
        let by_words: [(u32, u32); 3] = [(4, 4), (3, 2), (2, 1)];
        for (size, width) in by_words {
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
            let words = self.plain_words(place, width, index, fill);
            let vector = self.w.op(Op::CompositeConstruct, uvec4, &words);
            self.w.return_value(vector);
            self.rewind(mark);
            self.w.label(next);
        }
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
        let [a, b] = [Encoding::Raw32, Encoding::Float64].map(|raw| {
            let raw = self.word(encoding_number(raw));
            self.ieq(encoding, raw)
        });
        Some(self.either(a, b))
    }

    fn encoding(&mut self, format: Word) -> Word {
        let (shift, mask) = (self.word(8), self.word(0xFF));
        let shifted = self.shr(format, shift);
        self.and(shifted, mask)
    }

    /// Word number of an element and the bit at which it starts there.
    fn element_place(&mut self, index: Word, lg: Word) -> (Word, Word) {
        let (two, zero, three) = (self.word(2), self.word(0), self.word(3));
        let narrow = self.ult(lg, two);
        let up = self.isub(lg, two);
        let up = self.select(narrow, zero, up);
        let down = self.isub(two, lg);
        let down = self.select(narrow, down, zero);
        let wide_word = self.shl(index, up);
        let word = self.shr(wide_word, down);
        // Elements in a word: 2^down; each has 8 · 2^lg bits.
        let one = self.word(1);
        let count = self.shl(one, down);
        let last = self.isub(count, one);
        let within = self.and(index, last);
        let bits = self.iadd(lg, three);
        let bits = self.select(narrow, bits, zero);
        (word, self.shl(within, bits))
    }

    /// The first 64 bits of an element of at most 8 bytes; bits past it are anything.
    fn element_bits(&mut self, place: Place, index: Word, lg: Word) -> (Word, Word) {
        let (word, shift) = self.element_place(index, lg);
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
        let ratio = self.ratio_routine();
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
        let labels: Vec<(u32, Word)> = CONVERTED.iter().map(|e| (encoding_number(*e), self.w.id())).collect();
        self.w.selection_merge(merge);
        self.w.switch(encoding, merge, &labels);
        for (encoding, (_, label)) in CONVERTED.iter().zip(&labels) {
            self.w.label(*label);
            let mark = self.mark();
            let parts = self.decode(*encoding, low, high, ratio);
            let zero = self.word(0);
            let words: [Word; 4] = std::array::from_fn(|k| {
                let number = self.word(k as u32);
                let has = self.ult(number, count);
                self.select(has, parts[k], if k == 3 { fill } else { zero })
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

    /// Four components of an element in its first 64 bits; those that the format lacks are anything.
    fn decode(&mut self, encoding: Encoding, low: Word, high: Word, ratio: Word) -> [Word; 4] {
        let bits = |e: &mut Self, k: u32, width: u32| {
            let (word, at) = if k * width < 32 { (low, k * width) } else { (high, k * width - 32) };
            let at = e.word(at);
            e.shr(word, at)
        };
        let unsigned = |e: &mut Self, k: usize, width: u32| {
            let word = bits(e, k as u32, width);
            e.field(word, 32 - width, false)
        };
        let signed = |e: &mut Self, k: usize, width: u32| {
            let word = bits(e, k as u32, width);
            e.field(word, 32 - width, true)
        };
        let quotient = |e: &mut Self, value: Word, largest: u32| {
            let largest = e.word((largest as f32).to_bits());
            e.w.op(Op::FunctionCall, e.t.u32, &[ratio, value, largest])
        };
        let normal = |e: &mut Self, k: usize, width: u32| {
            let value = signed(e, k, width);
            let lowest = e.word((1 - (1i32 << (width - 1))) as u32);
            let below = e.ilt(value, lowest);
            let value = e.select(below, lowest, value);
            quotient(e, value, (1 << (width - 1)) - 1)
        };
        let packed = |e: &mut Self, packing: Packing| {
            let mut out = [e.word(0); 4];
            for (word, (shift, width)) in out.iter_mut().zip(packing) {
                let shift = e.word(shift);
                let shifted = e.shr(low, shift);
                let value = e.field(shifted, 32 - width, false);
                *word = quotient(e, value, (1 << width) - 1);
            }
            out[3] = e.word(0x3F80_0000);
            out
        };
        match encoding {
            Encoding::Unorm565 => packed(self, PACK_565),
            Encoding::Unorm10 => packed(self, PACK_10),
            Encoding::Unorm555 => packed(self, PACK_555),
            Encoding::Float16 => std::array::from_fn(|k| {
                let half = unsigned(self, k, 16);
                self.half_to_float(half)
            }),
            Encoding::Unorm8 => std::array::from_fn(|k| {
                let value = unsigned(self, k, 8);
                quotient(self, value, 255)
            }),
            Encoding::Unorm16 => std::array::from_fn(|k| {
                let value = unsigned(self, k, 16);
                quotient(self, value, 65535)
            }),
            Encoding::Snorm8 => std::array::from_fn(|k| normal(self, k, 8)),
            Encoding::Snorm16 => std::array::from_fn(|k| normal(self, k, 16)),
            Encoding::Uint8 => std::array::from_fn(|k| unsigned(self, k, 8)),
            Encoding::Uint16 => std::array::from_fn(|k| unsigned(self, k, 16)),
            Encoding::Sint8 => std::array::from_fn(|k| signed(self, k, 8)),
            Encoding::Sint16 => std::array::from_fn(|k| signed(self, k, 16)),
            Encoding::Raw32 | Encoding::Float64 => unreachable!("{UNCONVERTED}"),
        }
    }

    /// `uint ratio(value, largest)`: bits of the float nearest to integer / float.
    fn ratio_routine(&mut self) -> Word {
        if let Some(routine) = self.routines.get(&("ratio", None)) {
            return *routine;
        }
        let routine = self.w.id();
        self.routines.insert(("ratio", None), routine);
        let memo = std::mem::take(&mut self.memo);
        let u32 = self.t.u32;
        let p = self.w.begin(routine, u32, &[u32, u32]);
        let value = self.itof_raw(p[0]);
        let quotient = crate::isa::lane::division::quotient(self, value, p[1]);
        self.w.return_value(quotient);
        self.w.end();
        self.memo = memo;
        routine
    }

    /// Widens a half, exactly; a NaN keeps its payload and becomes quiet.
    fn half_to_float(&mut self, half: Word) -> Word {
        let (c13, c16) = (self.word(13), self.word(16));
        let sign = self.word(0x8000);
        let sign = self.and(half, sign);
        let sign = self.shl(sign, c16);
        let magnitude = self.word(0x7FFF);
        let magnitude = self.and(half, magnitude);
        let wide = self.shl(magnitude, c13);
        let bias = self.word(112 << 23);
        let normal = self.iadd(wide, bias);
        // Denormals: an integer times 2^-24, exact and normal in single precision.
        let count = self.itof_raw(magnitude);
        let step = self.word((127 - 24) << 23);
        let small = self.fmul_raw(count, step);
        let special = self.word(0x7F80_0000);
        let special = self.or(wide, special);
        let quiet = self.word(0x7FC0_0000);
        let nan = self.or(wide, quiet);
        let (least, top) = (self.word(0x400), self.word(0x7BFF));
        let infinity = self.word(0x7C00);
        let denormal = self.ult(magnitude, least);
        let large = self.ult(top, magnitude);
        let is_nan = self.ult(infinity, magnitude);
        let value = self.select(denormal, small, normal);
        let value = self.select(large, special, value);
        let value = self.select(is_nan, nan, value);
        self.or(value, sign)
    }

    /// Narrows to a half, round to nearest even with gradual underflow; NaNs become quiet.
    fn float_to_half(&mut self, bits: Word) -> Word {
        let c16 = self.word(16);
        let sign = self.shr(bits, c16);
        let mask = self.word(0x8000);
        let sign = self.and(sign, mask);
        let magnitude = self.word(0x7FFF_FFFF);
        let magnitude = self.and(bits, magnitude);
        let (c23, one, zero) = (self.word(23), self.word(1), self.word(0));
        // Shift the significand, or the whole number, right and round.
        let round = |e: &mut Self, value: Word, shift: Word| {
            let narrow = e.shr(value, shift);
            let unit = e.shl(one, shift);
            let below = e.isub(unit, one);
            let rest = e.and(value, below);
            let tie = e.shr(unit, one);
            let odd = e.and(narrow, one);
            let above = e.ult(tie, rest);
            let at = e.ieq(rest, tie);
            let is_odd = e.ieq(odd, one);
            let even = e.both(at, is_odd);
            let up = e.either(above, even);
            let step = e.select(up, one, zero);
            e.iadd(narrow, step)
        };
        // Normal: rebias, then round; the carry may run into the exponent up to infinity.
        let bias = self.word(112 << 23);
        let rebased = self.isub(magnitude, bias);
        let c13 = self.word(13);
        let normal = round(self, rebased, c13);
        // Denormal: 24-bit significand shifted by 126 − exponent, 14 to 25.
        let exponent = self.shr(magnitude, c23);
        let (fraction, hidden) = (self.word(0x7F_FFFF), self.word(0x80_0000));
        let significand = self.and(magnitude, fraction);
        let significand = self.or(significand, hidden);
        let c126 = self.word(126);
        let shift = self.isub(c126, exponent);
        let most = self.word(25);
        let far = self.ult(most, shift);
        let shift = self.select(far, most, shift);
        let small = round(self, significand, shift);
        let (first, tiny) = (self.word(113), self.word(102));
        let is_small = self.ult(exponent, first);
        let is_nothing = self.ult(exponent, tiny);
        let last = self.word(142);
        let is_large = self.ult(last, exponent);
        let infinity = self.word(0x7C00);
        let value = self.select(is_small, small, normal);
        let value = self.select(is_nothing, zero, value);
        let value = self.select(is_large, infinity, value);
        let payload = self.shr(magnitude, c13);
        let kept = self.word(0x1FF);
        let payload = self.and(payload, kept);
        let quiet = self.word(0x7E00);
        let nan = self.or(payload, quiet);
        let is_nan = self.is_nan(bits);
        let value = self.select(is_nan, nan, value);
        self.or(value, sign)
    }

    /// Clamps to low … 1, NaN to 0, multiplies and rounds to nearest even; a signed integer.
    fn scale(&mut self, bits: Word, low: f32, factor: f32) -> Word {
        let zero = self.word(0);
        let (low, one) = (self.word(low.to_bits()), self.word(0x3F80_0000));
        let nan = self.is_nan(bits);
        let value = self.select(nan, zero, bits);
        let below = self.flt(value, low);
        let value = self.select(below, low, value);
        let above = self.flt(one, value);
        let value = self.select(above, one, value);
        let factor = self.word(factor.to_bits());
        let product = self.fmul_raw(value, factor);
        // 1.5 · 2^23: the sum's unit is 1, so adding rounds; the integer is in the low bits.
        let magic = self.word(0x4B40_0000);
        let sum = self.fadd_raw(product, magic);
        self.isub(sum, magic)
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
            self.store_element(place, index, &words[..width]);
            self.w.return_void();
            self.rewind(mark);
            self.w.label(next);
        }
        if any {
            self.store_packed(place, index, format, words);
        }
        self.w.return_void();
        self.w.end();
        self.memo = memo;
        routine
    }

    /// Stores an element that is converted, 1, 2, 4 or 8 bytes.
    fn store_packed(&mut self, place: Place, index: Word, format: Word, words: [Word; 4]) {
        let encoding = self.encoding(format);
        let u32 = self.t.u32;
        let zero = self.word(0);
        let (low, high) = (self.w.local(u32, None), self.w.local(u32, None));
        self.w.store(low, zero, None);
        self.w.store(high, zero, None);
        let merge = self.w.id();
        let labels: Vec<(u32, Word)> = CONVERTED.iter().map(|e| (encoding_number(*e), self.w.id())).collect();
        self.w.selection_merge(merge);
        self.w.switch(encoding, merge, &labels);
        for (encoding, (_, label)) in CONVERTED.iter().zip(&labels) {
            self.w.label(*label);
            let mark = self.mark();
            let Quad::Words(lo, hi) = self.encode(*encoding, words) else { unreachable!("made of words") };
            self.w.store(low, lo, None);
            self.w.store(high, hi, None);
            self.rewind(mark);
            self.w.branch(merge);
        }
        self.w.label(merge);
        let (lo, hi) = (self.w.load(u32, low, None), self.w.load(u32, high, None));
        let lg = self.lg(format);
        let (word, shift) = self.element_place(index, lg);
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

    /// The bits of an element; components past the format's fall away when the element is stored.
    fn encode(&mut self, encoding: Encoding, words: [Word; 4]) -> Quad {
        let zero = self.word(0);
        let join = |e: &mut Self, parts: [Word; 4], width: u32| {
            let mut halves = [zero, zero];
            let mask = e.word(u32::MAX >> (32 - width));
            for (k, part) in parts.into_iter().enumerate() {
                let at = k as u32 * width;
                let part = e.and(part, mask);
                let shift = e.word(at % 32);
                let part = e.shl(part, shift);
                let half = &mut halves[(at / 32) as usize];
                *half = e.or(*half, part);
            }
            Quad::Words(halves[0], halves[1])
        };
        let packed = |e: &mut Self, packing: Packing| {
            let mut out = zero;
            for (word, (shift, width)) in words.into_iter().zip(packing) {
                let value = e.scale(word, 0.0, ((1u32 << width) - 1) as f32);
                let shift = e.word(shift);
                let value = e.shl(value, shift);
                out = e.or(out, value);
            }
            Quad::Words(out, zero)
        };
        let limited = |e: &mut Self, word: Word, low: i32, high: i32, signed: bool| {
            let (low, high) = (e.word(low as u32), e.word(high as u32));
            if signed {
                let below = e.ilt(word, low);
                let word = e.select(below, low, word);
                let above = e.ilt(high, word);
                e.select(above, high, word)
            } else {
                let above = e.ult(high, word);
                e.select(above, high, word)
            }
        };
        let each = |e: &mut Self, width: u32, f: &dyn Fn(&mut Self, Word) -> Word| {
            let parts = words.map(|word| f(e, word));
            join(e, parts, width)
        };
        match encoding {
            Encoding::Unorm565 => packed(self, PACK_565),
            Encoding::Unorm555 => packed(self, PACK_555),
            Encoding::Unorm10 => packed(self, PACK_10),
            Encoding::Float16 => each(self, 16, &|e, word| e.float_to_half(word)),
            Encoding::Unorm8 => each(self, 8, &|e, word| e.scale(word, 0.0, 255.0)),
            Encoding::Unorm16 => each(self, 16, &|e, word| e.scale(word, 0.0, 65535.0)),
            Encoding::Snorm8 => each(self, 8, &|e, word| e.scale(word, -1.0, 127.0)),
            Encoding::Snorm16 => each(self, 16, &|e, word| e.scale(word, -1.0, 32767.0)),
            Encoding::Uint8 => each(self, 8, &|e, word| limited(e, word, 0, 255, false)),
            Encoding::Uint16 => each(self, 16, &|e, word| limited(e, word, 0, 65535, false)),
            Encoding::Sint8 => each(self, 8, &|e, word| limited(e, word, -128, 127, true)),
            Encoding::Sint16 => each(self, 16, &|e, word| limited(e, word, -32768, 32767, true)),
            Encoding::Raw32 | Encoding::Float64 => unreachable!("{UNCONVERTED}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CONVERTED, Encoding};
    use crate::format::Format;

    #[test]
    fn every_encoding_is_raw_or_converted() {
        for format in Format::ALL {
            let raw = matches!(format.encoding(), Encoding::Raw32 | Encoding::Float64);
            assert_eq!(CONVERTED.contains(&format.encoding()), !raw, "{format:?}");
        }
    }
}
