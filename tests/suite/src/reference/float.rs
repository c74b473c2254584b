//! Single precision (amd-il-alu 2.1, 3): exact operations on a softfloat.

use rustc_apfloat::ieee::Single;
use rustc_apfloat::{Float, Round};

use super::meaning::{Relop, Zeroop};

pub const NAN: u32 = 0x7FC0_0000;
pub const ONE: u32 = 0x3F80_0000;
pub const INF: u32 = 0x7F80_0000;
pub const MAX: u32 = 0x7F7F_FFFF;
const SIGN: u32 = 0x8000_0000;

/// A denormal becomes the zero of its sign.
pub fn flush(x: u32) -> u32 {
    if x & INF == 0 { x & SIGN } else { x }
}

pub fn is_nan(x: u32) -> bool {
    x & !SIGN > INF
}

pub fn is_inf(x: u32) -> bool {
    x & !SIGN == INF
}

pub fn is_zero(x: u32) -> bool {
    flush(x) & !SIGN == 0
}

/// Result rule: the one NaN, no denormals.
pub fn finish(x: u32) -> u32 {
    if is_nan(x) { NAN } else { flush(x) }
}

fn single(x: u32) -> Single {
    Single::from_bits(u128::from(flush(x)))
}

fn bits(x: Single) -> u32 {
    finish(x.to_bits() as u32)
}

pub fn add(a: u32, b: u32) -> u32 {
    bits((single(a) + single(b)).value)
}

pub fn sub(a: u32, b: u32) -> u32 {
    bits((single(a) - single(b)).value)
}

pub fn mul_ieee(a: u32, b: u32) -> u32 {
    bits((single(a) * single(b)).value)
}

/// Zero times anything is +0.
pub fn mul(a: u32, b: u32) -> u32 {
    if is_zero(a) || is_zero(b) { 0 } else { mul_ieee(a, b) }
}

pub fn fma(a: u32, b: u32, c: u32) -> u32 {
    bits(single(a).mul_add(single(b), single(c)).value)
}

pub fn neg(a: u32) -> u32 {
    a ^ SIGN
}

/// The quotient when nothing is special about a zero divisor.
pub fn quotient(a: u32, b: u32) -> u32 {
    bits((single(a) / single(b)).value)
}

/// 3.2
pub fn div(a: u32, b: u32, zeroop: Zeroop) -> u32 {
    let sign = (a ^ b) & SIGN;
    match zeroop {
        _ if is_nan(a) || is_nan(b) => NAN,
        _ if !is_zero(b) => quotient(a, b),
        Zeroop::Fltmax => sign | MAX,
        Zeroop::Zero => 0,
        Zeroop::Infinity if is_zero(a) => NAN,
        Zeroop::Infinity => sign | INF,
    }
}

/// Magnitude that `_zeroop` delivers.
pub fn zeroop_value(zeroop: Zeroop) -> u32 {
    match zeroop {
        Zeroop::Fltmax => MAX,
        Zeroop::Zero => 0,
        Zeroop::Infinity => INF,
    }
}

pub fn rcp(x: u32, zeroop: Zeroop) -> u32 {
    if is_zero(x) { x & SIGN | zeroop_value(zeroop) } else { quotient(ONE, x) }
}

pub fn round(x: u32, how: Round) -> u32 {
    bits(single(x).round_to_integral(how).value)
}

pub fn floor(x: u32) -> u32 {
    round(x, Round::TowardNegative)
}

/// 3.6: C's fmod by an unfused remainder.
pub fn modulo(a: u32, b: u32) -> u32 {
    if is_zero(b) {
        return NAN;
    }
    let q = round(div(a, b, Zeroop::Infinity), Round::TowardZero);
    sub(a, mul_ieee(b, q))
}

pub fn frc(x: u32) -> u32 {
    let x = flush(x);
    if is_nan(x) || is_inf(x) {
        return NAN;
    }
    let rest = sub(x, floor(x));
    if rest >= ONE && rest >> 31 == 0 { 0x3F7F_FFFF } else { rest & !SIGN }
}

/// Ordered less-than of flushed values.
pub fn lt(a: u32, b: u32) -> bool {
    single(a) < single(b)
}

pub fn ge(a: u32, b: u32) -> bool {
    single(a) >= single(b)
}

pub fn compare(op: Relop, a: u32, b: u32) -> bool {
    let (a, b) = (single(a), single(b));
    match op {
        Relop::Ne => a != b,
        Relop::Eq => a == b,
        Relop::Ge => a >= b,
        Relop::Gt => a > b,
        Relop::Le => a <= b,
        Relop::Lt => a < b,
    }
}

/// 3.7, the bare forms: compare and select.
pub fn min(a: u32, b: u32) -> u32 {
    finish(if lt(a, b) { a } else { b })
}

pub fn max(a: u32, b: u32) -> u32 {
    finish(if ge(a, b) { a } else { b })
}

pub fn min_ieee(a: u32, b: u32) -> u32 {
    finish(if lt(a, b) || is_nan(b) { a } else { b })
}

pub fn max_ieee(a: u32, b: u32) -> u32 {
    finish(if ge(a, b) || is_nan(b) { a } else { b })
}

/// 1.2
pub fn saturate(x: u32) -> u32 {
    if !lt(0, x) {
        0
    } else if lt(x, ONE) {
        flush(x)
    } else {
        ONE
    }
}

pub fn sgn(x: u32) -> u32 {
    if lt(0, x) {
        ONE
    } else if ge(x, 0) {
        0
    } else {
        ONE | SIGN
    }
}

/// 2^k as a float.
pub fn power(k: i32) -> u32 {
    ((127 + k) as u32) << 23
}

/// Products rounded one by one, summed from the left.
pub fn dot(a: [u32; 4], b: [u32; 4], n: usize, product: fn(u32, u32) -> u32) -> u32 {
    (1..n).fold(product(a[0], b[0]), |sum, k| add(sum, product(a[k], b[k])))
}
