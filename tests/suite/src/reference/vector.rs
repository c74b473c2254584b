//! Masks, swizzles, modifiers (amd-il 1.8 to 1.12, amd-il-alu 1.1 to 1.4): an instruction on whole registers.

use super::float;
use super::meaning::{Control, Kind, Meaning, Rule, named};
use super::value::Value;

/// Spelling of an instruction's operands: text for the kernel, and what is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Destination modifiers, `_x2_sat`.
    pub scale: &'static str,
    /// Mask with its dot, or nothing.
    pub mask: &'static str,
    /// For each source: swizzle with its dot, or nothing; modifiers.
    pub sources: Vec<(&'static str, &'static str)>,
    /// The destination is the register of the first source.
    pub in_place: bool,
}

/// What happens to a destination component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Keeps its value.
    Keep,
    /// Takes the result.
    Take,
    /// Becomes a constant.
    Set(u32),
}

const LETTERS: &str = "xyzw";

/// Reads a mask (1.9): letters mark their own component, `_`, `0`, `1` the next one.
pub fn mask(text: &str) -> [Write; 4] {
    let Some(letters) = text.strip_prefix('.') else { return [Write::Take; 4] };
    let mut out = [Write::Keep; 4];
    let mut cursor = 0;
    for letter in letters.chars() {
        let (at, write) = match letter {
            '_' => (cursor, Write::Keep),
            '0' => (cursor, Write::Set(0)),
            '1' => (cursor, Write::Set(float::ONE)),
            _ => (LETTERS.find(letter).unwrap_or(cursor), Write::Take),
        };
        out[at] = write;
        cursor = at + 1;
    }
    out
}

/// The four positions that a swizzle delivers (1.10); short ones repeat their last letter.
pub fn swizzle(register: [u32; 4], text: &str) -> [u32; 4] {
    let letters: Vec<char> = text.strip_prefix('.').unwrap_or(LETTERS).chars().collect();
    [0, 1, 2, 3].map(|k| match letters[k.min(letters.len() - 1)] {
        '0' => 0,
        '1' => float::ONE,
        letter => register[LETTERS.find(letter).unwrap_or(0)],
    })
}

/// Applies source modifiers (1.12) to positions: invert, bias, x2, sign, divComp, abs, neg, sat in this order.
pub fn modify(mut v: [u32; 4], text: &str, kind: Kind) -> [u32; 4] {
    const HALF: u32 = 0x3F00_0000;
    const TWO: u32 = 0x4000_0000;
    let has = |name: &str| text.split('_').any(|m| m == name);
    let listed = |name: &str| {
        text.split('_')
            .find_map(|m| m.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(str::to_owned))
    };
    let negated = if has("neg") { Some(LETTERS.to_owned()) } else { listed("neg") };
    if kind == Kind::Double {
        // The sign is that of the pair, whose high word is position y; other modifiers are for floats.
        let (clear, flip) = (has("abs"), negated.is_some_and(|list| list.contains('y')));
        v[1] = (if clear { v[1] & 0x7FFF_FFFF } else { v[1] }) ^ if flip { 1 << 31 } else { 0 };
        return v;
    }
    if has("invert") {
        v = v.map(|x| float::sub(float::ONE, x));
    }
    if has("bias") || has("bx2") {
        v = v.map(|x| float::sub(x, HALF));
    }
    if has("x2") || has("bx2") {
        v = v.map(|x| float::mul_ieee(TWO, x));
    }
    if has("sign") {
        v = v.map(float::sgn);
    }
    if let Some(divisor) = listed("divComp").and_then(|c| LETTERS.find(&c)) {
        let by = v[divisor];
        (0..divisor).for_each(|k| v[k] = float::div(v[k], by, super::Zeroop::Fltmax));
    }
    if has("abs") {
        v = v.map(|x| x & 0x7FFF_FFFF);
    }
    for k in negated.iter().flat_map(|list| list.chars()).filter_map(|c| LETTERS.find(c)) {
        v[k] = if matches!(kind, Kind::Int | Kind::Count | Kind::IntX) {
            v[k].wrapping_neg()
        } else {
            float::neg(v[k])
        };
    }
    if has("sat") {
        v = v.map(float::saturate);
    }
    v
}

/// Destination scale, then saturation.
fn scaled(value: Value, text: &str) -> Value {
    let mut value = value;
    for modifier in text.split('_').filter(|m| !m.is_empty()) {
        value = match modifier {
            "sat" => value.map(float::saturate),
            "x2" => value.map(|v| float::mul_ieee(v, float::power(1))),
            "x4" => value.map(|v| float::mul_ieee(v, float::power(2))),
            "x8" => value.map(|v| float::mul_ieee(v, float::power(3))),
            "d2" => value.map(|v| float::mul_ieee(v, float::power(-1))),
            "d4" => value.map(|v| float::mul_ieee(v, float::power(-2))),
            _ => value.map(|v| float::mul_ieee(v, float::power(-3))),
        };
    }
    value
}

fn saturate_double(q: u64) -> u64 {
    let x = f64::from_bits(q);
    match x {
        _ if x.is_nan() || x <= 0.0 => 0,
        _ if x < 1.0 => q,
        _ => 1f64.to_bits(),
    }
}

/// The destination after the instruction, for source registers and the destination's old value.
pub fn evaluate(
    name: &str,
    meaning: &Meaning,
    control: &Control,
    form: &Form,
    registers: &[[u32; 4]],
    old: [u32; 4],
) -> [Value; 4] {
    let sources: Vec<[u32; 4]> = registers
        .iter()
        .zip(&form.sources)
        .zip(meaning.sources)
        .map(|((register, (swz, modifiers)), kind)| modify(swizzle(*register, swz), modifiers, *kind))
        .collect();
    let writes = mask(form.mask);
    let pairs = || -> Vec<u64> { sources.iter().map(|v| u64::from(v[1]) << 32 | u64::from(v[0])).collect() };
    let column = |k: usize| -> Vec<u32> { sources.iter().map(|v| v[k]).collect() };
    let result: [Value; 4] = match meaning.rule {
        Rule::Each(f) => [0, 1, 2, 3].map(|k| {
            if writes[k] != Write::Take {
                return Value::Any;
            }
            let mut words = column(k);
            words.push(old[k]);
            f(&words, control)
        }),
        Rule::Named => [0, 1, 2, 3].map(|k| named(name, &column(k))),
        Rule::Scalar(f) => [f(&column(3), control); 4],
        Rule::Whole(f) => f(&sources, control),
        Rule::PairToWord(f) => [f(name, &pairs()).map_or(Value::Any, Value::Word); 4],
        Rule::Pair(f) => match f(name, &pairs(), control) {
            Some(q) => {
                let q = if form.scale == "_sat" { saturate_double(q) } else { q };
                let (low, high) = (Value::Word(q as u32), Value::Word((q >> 32) as u32));
                [low, high, low, high]
            }
            None => [Value::Any; 4],
        },
    };
    [0, 1, 2, 3].map(|k| match writes[k] {
        Write::Keep => Value::Word(old[k]),
        Write::Set(word) => Value::Word(word),
        Write::Take if meaning.float_result => scaled(result[k], form.scale),
        Write::Take => result[k],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: [u32; 4] = [1, 2, 3, 4];

    /// amd-il 1.9, 1.10, 9.1, 9.3
    #[test]
    fn masks_and_swizzles_as_documented() {
        use Write::*;
        assert_eq!(mask(".x_z0"), [Take, Keep, Take, Set(0)]);
        assert_eq!(mask(".zw"), [Keep, Keep, Take, Take]);
        assert_eq!(mask(".xz"), [Take, Keep, Take, Keep]);
        assert_eq!(mask(".0y"), [Set(0), Take, Keep, Keep]);
        assert_eq!(mask(".y00"), [Keep, Take, Set(0), Set(0)]);
        assert_eq!(swizzle(R, ".xy"), [1, 2, 2, 2]);
        assert_eq!(swizzle(R, ".zw"), [3, 4, 4, 4]);
        assert_eq!(swizzle(R, ".w0x1"), [4, 0, 1, float::ONE]);
        let l0 = [5.0f32, 6.0, 7.0, 8.0].map(f32::to_bits);
        let v = modify(swizzle(l0, ".yxxy"), "_neg(xz)", Kind::Float);
        assert_eq!(v.map(f32::from_bits), [-6.0, 5.0, -5.0, 6.0]);
        assert_eq!(modify([5; 4], "_neg(y)", Kind::Int), [5, 5u32.wrapping_neg(), 5, 5]);
    }
}
