//! Elements of resources: raw words to components and back (amd-il 5.2).
//!
//! [`Encoding`] says in which bits a component is and as what number; the rest follows from that.

use super::Truth;
use crate::format::{Encoding, Field, Format, Number};
use crate::ir::Width;
use crate::isa::Algebra;
use crate::isa::lane::convert;
use crate::isa::lane::expr::expr;

/// 1.0
const ONE: u32 = 0x3F80_0000;

/// Word number of an element in its memory and the bit at which it starts there, by log2 of its bytes.
#[inline(always)]
pub fn place<A: Algebra>(a: &mut A, index: A::W, lg: A::W) -> (A::W, A::W) {
    let narrow = expr!(a, ult(lg, 2));
    let up = expr!(a, select(narrow, 0, isub(lg, 2)));
    let down = expr!(a, select(narrow, isub(2, lg), 0));
    let word = expr!(a, shr(shl(index, up), down));
    // Elements in a word: 2^down; each has 8 · 2^lg bits.
    let within = expr!(a, and(index, isub(shl(1, down), 1)));
    let bits = expr!(a, select(narrow, iadd(lg, 3), 0));
    (word, a.shl(within, bits))
}

/// Component `k` of an element whose first bit is the lowest one of `raw`.
#[inline(always)]
pub fn component<A: Algebra>(a: &mut A, encoding: Encoding, k: usize, raw: [A::W; 4]) -> A::W {
    match encoding.field(k) {
        Some(field) => decode(a, encoding.number(), field, raw[field.word]),
        // 10-10-10 and 5-5-5 count four components.
        None => a.word(ONE),
    }
}

/// The number in a field of a word.
#[inline(always)]
pub fn decode<A: Algebra>(a: &mut A, number: Number, field: Field, word: A::W) -> A::W {
    let Field { shift, width, .. } = field;
    let unsigned = |a: &mut A| {
        let low = expr!(a, shr(word, word({ shift })));
        if shift + width == 32 { low } else { expr!(a, and(low, word({ u32::MAX >> (32 - width) }))) }
    };
    let signed = |a: &mut A| expr!(a, sar(shl(word, word({ 32 - shift - width })), word({ 32 - width })));
    match number {
        Number::Raw => word,
        Number::Half => {
            let half = unsigned(a);
            half_to_float(a, half)
        }
        Number::Unorm => {
            let value = unsigned(a);
            ratio(a, value, width)
        }
        Number::Snorm => {
            let value = signed(a);
            // The least code means −1 as its neighbour does.
            let least = expr!(a, word({ 1 + (u32::MAX << (width - 1)) }));
            let value = a.imax(value, least);
            ratio(a, value, width - 1)
        }
        Number::Uint => unsigned(a),
        Number::Sint => signed(a),
    }
}

/// What a byte-addressed load of a width makes of the low bits of a word.
#[inline(always)]
pub fn extended<A: Algebra>(a: &mut A, width: Width, low: A::W) -> A::W {
    let (number, width) = match width {
        Width::U8 => (Number::Uint, 8),
        Width::I8 => (Number::Sint, 8),
        Width::U16 => (Number::Uint, 16),
        Width::I16 => (Number::Sint, 16),
        Width::Dwords => return low,
    };
    decode(a, number, Field { word: 0, shift: 0, width }, low)
}

/// Bits of the float nearest to value / (2^bits − 1), for signed values up to that in magnitude.
///
/// It is value · 2^-bits, which is exact, and what is missing: that the rounded sum is the rounded quotient was tried for all
/// values of the widths that there are.
#[inline(always)]
fn ratio<A: Algebra>(a: &mut A, value: A::W, bits: u32) -> A::W {
    let unit = 1.0 / (1u32 << bits) as f32;
    let rest = unit / ((1u32 << bits) - 1) as f32;
    let value = a.itof_raw(value);
    expr!(a, fadd_raw(fmul_raw(value, word({ unit.to_bits() })), fmul_raw(value, word({ rest.to_bits() }))))
}

/// Widens a half, exactly; a NaN keeps its payload and becomes quiet.
#[inline(always)]
fn half_to_float<A: Algebra>(a: &mut A, half: A::W) -> A::W {
    let sign = expr!(a, shl(and(half, 0x8000), 16));
    let magnitude = expr!(a, and(half, 0x7FFF));
    let wide = expr!(a, shl(magnitude, 13));
    let normal = expr!(a, iadd(wide, 0x3800_0000));
    // Denormals: an integer times 2^-24, exact and normal in single precision.
    let small = expr!(a, fmul_raw(itof_raw(magnitude), 0x3380_0000));
    let value = expr!(a, select(ult(magnitude, 0x0400), small, normal));
    let value = expr!(a, select(ult(0x7BFF, magnitude), or(wide, 0x7F80_0000), value));
    let value = expr!(a, select(ult(0x7C00, magnitude), or(wide, 0x7FC0_0000), value));
    a.or(value, sign)
}

/// The first `words.len()` components as an element, its first bit the lowest one.
#[inline(always)]
pub fn encode<A: Algebra>(a: &mut A, encoding: Encoding, words: &[A::W]) -> [A::W; 4] {
    let mut raw = [None; 4];
    for (k, &word) in words.iter().enumerate() {
        let Some(Field { word: at, shift, width }) = encoding.field(k) else { continue };
        let bits = field(a, encoding.number(), width, word);
        let bits = expr!(a, shl(bits, word({ shift })));
        raw[at] = Some(match raw[at] {
            Some(others) => a.or(others, bits),
            None => bits,
        });
    }
    raw.map(|word| word.unwrap_or_else(|| a.word(0)))
}

/// What a store leaves in a field: normalised numbers are clamped, NaN is 0, the product is rounded to nearest even;
/// integers are clamped.
#[inline(always)]
pub fn field<A: Algebra>(a: &mut A, number: Number, width: u32, word: A::W) -> A::W {
    let most = u32::MAX >> (32 - width);
    let fit = |a: &mut A, value: A::W| expr!(a, and(value, word({ most })));
    match number {
        Number::Raw => word,
        Number::Half => float_to_half(a, word),
        Number::Unorm => scale(a, word, 0.0, most),
        Number::Snorm => {
            let known = expr!(a, select(is_nan(word), 0, word));
            let value = scale(a, known, -1.0, most >> 1);
            fit(a, value)
        }
        Number::Uint => expr!(a, umin(word, word({ most }))),
        Number::Sint => {
            let (low, high) = (a.word(!(most >> 1)), a.word(most >> 1));
            let value = expr!(a, imin(imax(word, low), high));
            fit(a, value)
        }
    }
}

/// Clamps to low … 1, NaN to low, multiplies and rounds to nearest even: a signed integer.
#[inline(always)]
fn scale<A: Algebra>(a: &mut A, word: A::W, low: f32, factor: u32) -> A::W {
    let raised = expr!(a, fmax_raw(word, word({ low.to_bits() })));
    let value = expr!(a, fmin_raw(raised, word({ ONE })));
    let product = expr!(a, fmul_raw(value, word({ (factor as f32).to_bits() })));
    // 1.5 · 2^23: the sum's unit is 1, so adding rounds; the integer is in the low bits.
    expr!(a, isub(fadd_raw(product, 0x4B40_0000), 0x4B40_0000))
}

/// Narrows to a half, round to nearest even with gradual underflow; NaNs keep what fits of their payload and become quiet.
#[inline(always)]
fn float_to_half<A: Algebra>(a: &mut A, x: A::W) -> A::W {
    let number = convert::f2f16_near(a, x);
    let sign = expr!(a, and(shr(x, 16), 0x8000));
    let payload = expr!(a, and(shr(x, 13), 0x01FF));
    expr!(a, select(is_nan(x), or(or(sign, payload), 0x7E00), number))
}

/// What a reader must know of a format apart from the encoding.
pub struct Layout<A: Algebra> {
    /// Which components are stored.
    pub has: [Truth<A::B>; 4],
    /// Elements are four words when read.
    pub full: Truth<A::B>,
    /// Components are integers.
    pub integer: Truth<A::B>,
    /// Elements are one word when read.
    pub scalar: Truth<A::B>,
    /// The w of formats that lack it: 1, an integer or not.
    pub fill: A::W,
}

impl<A: Algebra> Layout<A> {
    /// Of a format that is known.
    #[inline(always)]
    pub fn of(a: &mut A, format: Format) -> Layout<A> {
        Layout {
            has: std::array::from_fn(|k| Truth::Known(k < format.components() as usize)),
            full: Truth::Known(format.read_words() == 4),
            integer: Truth::Known(format.is_integer()),
            scalar: Truth::Known(format.is_scalar()),
            fill: a.word(format.fill()),
        }
    }

    /// Component `k` of an element of zeros.
    #[inline(always)]
    pub fn zero(&self, a: &mut A, k: usize) -> A::W {
        match k {
            3 => self.full.choose(a, |a| a.word(0), |_| self.fill),
            _ => a.word(0),
        }
    }

    /// The border colour, which is four floats, as an element would be fetched.
    #[inline(always)]
    pub fn border(&self, a: &mut A, colour: [A::W; 4]) -> [A::W; 4] {
        let mut words = colour;
        for (k, word) in words.iter_mut().enumerate() {
            let float = *word;
            let stored = |a: &mut A| self.integer.choose(a, |a| convert::ftoi(a, float), |_| float);
            *word = self.has[k].choose(a, stored, |a| self.zero(a, k));
        }
        fetched(a, self.scalar, words)
    }
}

/// What a fetch makes of the four words of an element: the only component of a format stands in all of them. Programs of the
/// time read tables of one component by any of them.
#[inline(always)]
pub fn fetched<A: Algebra>(a: &mut A, scalar: Truth<A::B>, words: [A::W; 4]) -> [A::W; 4] {
    let [x, y, z, w] = words;
    let mut spread = |word| scalar.choose(a, |_| x, |_| word);
    [x, spread(y), spread(z), spread(w)]
}

/// The four words of an element of a known format.
#[inline(always)]
pub fn read<A: Algebra>(a: &mut A, format: Format, raw: [A::W; 4]) -> [A::W; 4] {
    let mut words = raw;
    for (k, word) in words.iter_mut().enumerate() {
        *word = match k {
            _ if k < format.read_words() as usize => component(a, format.encoding(), k, raw),
            3 => a.word(format.fill()),
            _ => a.word(0),
        };
    }
    words
}

#[cfg(test)]
mod tests;
