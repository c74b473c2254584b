//! Conversions of single precision (amd-il-alu 5).

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::float::{self, INF, finish, flush, is_nan};

/// Truncation to `bits` of range, saturating; NaN is 0.
fn saturating(x: u32, low: f64, high: f64) -> f64 {
    let value = f64::from(f32::from_bits(flush(x)));
    if value.is_nan() { 0.0 } else { value.trunc().clamp(low, high) }
}

pub fn ftoi(x: u32) -> u32 {
    saturating(x, -2_147_483_648.0, 2_147_483_647.0) as i64 as u32
}

pub fn ftou(x: u32) -> u32 {
    saturating(x, 0.0, 4_294_967_295.0) as i64 as u32
}

pub fn itof(x: u32) -> u32 {
    Single::from_i128(i128::from(x as i32)).value.to_bits() as u32
}

pub fn utof(x: u32) -> u32 {
    Single::from_u128(u128::from(x)).value.to_bits() as u32
}

pub fn to_half(x: u32, how: Round) -> u32 {
    let x = flush(x);
    if is_nan(x) {
        return 0x7E00;
    }
    let half: Half = Single::from_bits(u128::from(x)).convert_r(how, &mut false).value;
    half.to_bits() as u32
}

pub fn from_half(x: u32) -> u32 {
    let wide: Single = Half::from_bits(u128::from(x & 0xFFFF)).convert(&mut false).value;
    let bits = wide.to_bits() as u32;
    if is_nan(bits) { float::NAN } else { bits }
}

/// A float to a byte: nearest, ties to even, saturating.
pub fn to_byte(x: u32) -> u32 {
    let value = f32::from_bits(flush(x));
    if value.is_nan() { 0 } else { f64::from(value).round_ties_even().clamp(0.0, 255.0) as u32 }
}

/// x · 2^n
pub fn ldexp(x: u32, n: u32) -> u32 {
    let n = (n as i32).clamp(-1000, 1000);
    finish(Single::from_bits(u128::from(flush(x))).scalbn(n).to_bits() as u32)
}

/// Exponent and mantissa, x = m · 2^e with 0.5 ≤ |m| < 1; e = 0 for zeros, infinities and NaN.
pub fn frexp(x: u32) -> (i32, u32) {
    let x = flush(x);
    if x & INF == INF || float::is_zero(x) {
        return (0, finish(x));
    }
    ((x >> 23 & 0xFF) as i32 - 126, x & 0x807F_FFFF | 126 << 23)
}
