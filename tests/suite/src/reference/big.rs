//! Inexact functions by multiple precision: the floats on either side of the true value.

use astro_float::{BigFloat, Consts, RoundingMode, Word};
use std::cell::RefCell;
use std::collections::HashMap;

use super::float::{self, INF, NAN, flush, is_inf, is_nan, is_zero};
use super::value::Value;

const BITS: usize = 192;
const NEAR: RoundingMode = RoundingMode::ToEven;

thread_local! {
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("memory for the cache of constants"));
    static KNOWN: RefCell<HashMap<(&'static str, u32), Value>> = RefCell::new(HashMap::new());
}

/// Computes `f` unless `function` of `x` was asked for before: kernels apply one function to the same inputs in
/// many spellings.
fn with(function: &'static str, x: u32, f: impl FnOnce(&mut Consts) -> Value) -> Value {
    KNOWN.with_borrow_mut(|known| *known.entry((function, x)).or_insert_with(|| CONSTANTS.with_borrow_mut(f)))
}

fn exact(x: u32) -> BigFloat {
    BigFloat::from_f64(f64::from(f32::from_bits(x)), BITS)
}

/// The first 64 bits of a significand, whose words are as long as the processor's, and whether bits are set behind them.
fn leading(words: &[Word]) -> (u64, bool) {
    let (mut top, mut room) = (0, u64::BITS);
    let mut words = words.iter().rev();
    for word in words.by_ref().take((u64::BITS / Word::BITS) as usize) {
        room -= Word::BITS;
        #[allow(clippy::unnecessary_cast, reason = "words have 32 bits elsewhere")]
        let word = *word as u64;
        top |= word << room;
    }
    (top, words.any(|word| *word != 0))
}

/// Floats within `ulps` of the true value; with 1, the two neighbours (or the value itself if it is a float).
fn around(value: &BigFloat, ulps: u32) -> Value {
    let Some((words, _, _, exponent, _)) = value.as_raw_parts() else { return Value::Any };
    let sign = if value.is_negative() { 0x8000_0000 } else { 0 };
    if value.is_zero() {
        return Value::Word(0);
    }
    // value = 0.1mmm… · 2^exponent
    let (top, behind) = leading(words);
    let inexact = top << 24 != 0 || behind;
    let significand = (top >> 40) as u32;
    if exponent < -125 {
        return Value::span([sign, sign | 0x0080_0000]);
    }
    if exponent > 128 {
        return Value::span([sign | float::MAX, sign | INF]);
    }
    let low = (((exponent + 126) as u32) << 23) + (significand & 0x007F_FFFF);
    let (below, above) = if inexact { (ulps - 1, ulps) } else { (ulps - 1, ulps - 1) };
    Value::span([sign | low.saturating_sub(below), sign | (low + above).min(INF)])
}

/// The correctly rounded float.
fn nearest(value: &BigFloat) -> Value {
    let Some((words, _, _, exponent, _)) = value.as_raw_parts() else { return Value::Any };
    let (top, _) = leading(words);
    let up = u32::from(top >> 39 & 1 == 1); // never a tie for the functions here
    let magnitude = (((exponent + 126) as u32) << 23) + ((top >> 40) as u32 & 0x007F_FFFF) + up;
    Value::Word(magnitude | if value.is_negative() { 0x8000_0000 } else { 0 })
}

/// √x
pub fn sqrt(x: u32) -> Value {
    let x = flush(x);
    match x {
        _ if is_nan(x) => Value::Word(NAN),
        _ if is_zero(x) => Value::Word(x),
        _ if x >> 31 == 1 => Value::Word(NAN),
        INF => Value::Word(INF),
        _ => with("sqrt", x, |_| nearest(&exact(x).sqrt(BITS, NEAR))),
    }
}

/// 1/√x of a positive number.
pub fn rsq(x: u32) -> Value {
    let x = flush(x);
    match x {
        _ if is_nan(x) || x >> 31 == 1 => Value::Word(NAN),
        INF => Value::Word(0),
        _ => with("rsq", x, |_| nearest(&exact(x).sqrt(BITS, NEAR).reciprocal(BITS, NEAR))),
    }
}

/// 2^x
pub fn exp2(x: u32) -> Value {
    let x = flush(x);
    let value = f32::from_bits(x);
    match x {
        _ if value.is_nan() => Value::Word(NAN),
        _ if is_zero(x) => Value::Word(float::ONE),
        _ if value >= 128.0 => Value::Word(INF),
        _ if value < -126.0 => Value::Word(0),
        _ if value.fract() == 0.0 => Value::Word(float::power(value as i32)),
        _ => with("exp2", x, |c| around(&BigFloat::from_f64(2.0, BITS).pow(&exact(x), BITS, NEAR, c), 1)),
    }
}

/// log2 x; `zero` is delivered for a zero.
pub fn log2(x: u32, zero: Value) -> Value {
    let x = flush(x);
    match x {
        _ if is_nan(x) => Value::Word(NAN),
        _ if is_zero(x) => zero,
        _ if x >> 31 == 1 => Value::Word(NAN),
        INF => Value::Word(INF),
        _ if x & 0x007F_FFFF == 0 => Value::Word(((x >> 23) as f32 - 127.0).to_bits()),
        _ => with("log2", x, |c| around(&exact(x).log2(BITS, NEAR, c), 1)),
    }
}

/// e^x
pub fn exp(x: u32) -> Value {
    let x = flush(x);
    let value = f32::from_bits(x);
    match x {
        _ if value.is_nan() => Value::Word(NAN),
        _ if is_zero(x) => Value::Word(float::ONE),
        _ if value > 89.0 => Value::Word(INF),
        _ if value < -88.0 => Value::Word(0),
        _ => with("exp", x, |c| around(&exact(x).exp(BITS, NEAR, c), 1)),
    }
}

/// ln x, x not zero
pub fn ln(x: u32) -> Value {
    match flush(x) {
        x if is_nan(x) || x >> 31 == 1 => Value::Word(NAN),
        INF => Value::Word(INF),
        float::ONE => Value::Word(0),
        x => with("ln", x, |c| around(&exact(x).ln(BITS, NEAR, c), 1)),
    }
}

/// x^y, 0 < x < infinity, y finite
pub fn pow(x: u32, y: u32) -> Value {
    let estimate = f64::from(f32::from_bits(y)) * f64::from(f32::from_bits(x)).log2();
    match estimate {
        _ if estimate > 128.01 => Value::Word(INF),
        _ if estimate < -126.01 => Value::Word(0),
        _ => CONSTANTS.with_borrow_mut(|c| around(&exact(x).pow(&exact(y), BITS, NEAR, c), 1)),
    }
}

/// x - 2 pi floor(x / 2 pi + 1/2)
pub fn pireduce(x: u32) -> Value {
    const WIDE: usize = 384;
    let x = flush(x);
    match x {
        _ if is_nan(x) || is_inf(x) => Value::Word(NAN),
        _ if is_zero(x) => Value::Either(0, 0x8000_0000),
        _ => with("pireduce", x, |c| {
            let number = BigFloat::from_f64(f64::from(f32::from_bits(x)), WIDE);
            let turn = c.pi(WIDE, NEAR).mul(&BigFloat::from_f64(2.0, WIDE), WIDE, NEAR);
            let turns = number.div(&turn, WIDE, NEAR).add(&BigFloat::from_f64(0.5, WIDE), WIDE, NEAR).floor();
            around(&number.sub(&turn.mul(&turns, WIDE, NEAR), WIDE, NEAR), 1)
        }),
    }
}

fn circular(
    function: &'static str,
    x: u32,
    ulps: u32,
    zero: u32,
    f: impl Fn(&BigFloat, &mut Consts) -> BigFloat,
) -> Value {
    let x = flush(x);
    if is_nan(x) || is_inf(x) {
        return Value::Word(NAN);
    }
    if is_zero(x) {
        return Value::Word(zero);
    }
    with(function, x, |c| around(&f(&exact(x), c), ulps))
}

/// sin x, x in radians
pub fn sin(x: u32) -> Value {
    circular("sin", x, 1, flush(x), |x, c| x.sin(BITS, NEAR, c))
}

/// cos x, x in radians
pub fn cos(x: u32) -> Value {
    circular("cos", x, 1, float::ONE, |x, c| x.cos(BITS, NEAR, c))
}

/// arcsin x
pub fn asin(x: u32) -> Value {
    if f32::from_bits(x).abs() > 1.0 {
        return Value::Word(NAN);
    }
    circular("asin", x, 1, flush(x), |x, c| x.asin(BITS, NEAR, c))
}

/// arccos x
pub fn acos(x: u32) -> Value {
    if f32::from_bits(x).abs() > 1.0 {
        return Value::Word(NAN);
    }
    circular("acos", x, 1, 0x3FC9_0FDB, |x, c| x.acos(BITS, NEAR, c))
}

/// arctan x
pub fn atan(x: u32) -> Value {
    if is_inf(x) {
        return Value::Word(x & 0x8000_0000 | 0x3FC9_0FDB);
    }
    circular("atan", x, 1, flush(x), |x, c| x.atan(BITS, NEAR, c))
}

/// The nearest double of √x (`reciprocal`: 1/√x) for finite positive x.
pub fn dsqrt(x: u64, reciprocal: bool) -> u64 {
    // A denormal is brought to the normal range by an even power of two.
    let number = f64::from_bits(x);
    let (number, halves) =
        if number < f64::MIN_POSITIVE { (number * 2f64.powi(200), 100) } else { (number, 0) };
    let mut root = BigFloat::from_f64(number, BITS).sqrt(BITS, NEAR);
    root.set_exponent(root.exponent().unwrap_or_default() - halves);
    let value = if reciprocal { root.reciprocal(BITS, NEAR) } else { root };
    let Some((words, _, _, exponent, _)) = value.as_raw_parts() else { return 0x7FF8_0000_0000_0000 };
    let (top, _) = leading(words);
    let half = top >> 10 & 1; // never a tie; an exact root has no bits there
    (((exponent + 1022) as u64) << 52) + (top >> 11 & 0x000F_FFFF_FFFF_FFFF) + half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// amd-il-alu 9.10
    #[test]
    fn agrees_with_the_golden_vectors() {
        let rows: &[[u32; 5]] = &[
            [0x3F80_0000, 0x4000_0000, 0, 0x3F57_6AA4, 0x3F0A_5140],
            [0x4049_0FDB, 0x410D_331D, 0x3FD3_643A, 0xB3BB_BD2E, 0xBF80_0000],
            [0x3DCC_CCCD, 0x3F89_2FDF, 0xC054_9A78, 0x3DCC_7577, 0x3F7E_B898],
            [0x42C8_0000, 0x7180_0000, 0x40D4_9A78, 0xBF01_A12E, 0x3F5C_C0EE],
            [0x7F7F_FFFF, 0x7F80_0000, 0x4300_0000, 0xBF05_99B3, 0x3F5A_5F96],
            [0x3F7F_FFFF, 0x3FFF_FFFF, 0xB3B8_AA3C, 0x3F57_6AA4, 0x3F0A_5141],
            [0x38D1_B717, 0x3F80_0245, 0xC154_9A78, 0x38D1_B717, 0x3F80_0000],
        ];
        for &[x, e, l, s, c] in rows {
            let zero = Value::Word(0xFF80_0000);
            for (value, golden) in [(exp2(x), e), (log2(x, zero), l), (sin(x), s), (cos(x), c)] {
                assert!(
                    value.want().accepts(&golden.to_le_bytes(), false),
                    "{x:08X} {value:X?} {golden:08X}"
                );
                let (low, high) = value.ends().unwrap();
                assert!(crate::case::order(high) - crate::case::order(low) <= 1);
            }
        }
    }

    #[test]
    fn roots_are_correctly_rounded() {
        for x in [0x3F80_0000, 0x4000_0000, 0x0080_0000, 0x7F7F_FFFF, 0x3F80_0001, 0x4110_0000] {
            assert_eq!(sqrt(x), Value::Word(f32::from_bits(x).sqrt().to_bits()));
        }
        assert_eq!(rsq(0x4080_0000), Value::Word(0x3F00_0000));
        for x in [1.0f64, 2.0, 3.0, 1e300, 1e-300, 5e-324, 1e-310] {
            assert_eq!(dsqrt(x.to_bits(), false), x.sqrt().to_bits());
        }
        assert_eq!(f64::from_bits(dsqrt(4.0f64.to_bits(), true)), 0.5);
    }
}
