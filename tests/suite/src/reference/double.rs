//! Double precision (amd-il-alu 2.2, 7) on a softfloat; roots by multiple precision.

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::big;
use super::float;
use super::meaning::Zeroop;

pub const NAN: u64 = 0x7FF8_0000_0000_0000;
const INF: u64 = 0x7FF0_0000_0000_0000;
const MAX: u64 = 0x7FEF_FFFF_FFFF_FFFF;
const SIGN: u64 = 1 << 63;
const ONE: u64 = 0x3FF0_0000_0000_0000;

fn double(x: u64) -> Double {
    Double::from_bits(u128::from(x))
}

fn is_nan(x: u64) -> bool {
    x & !SIGN > INF
}

fn finish(x: u64) -> u64 {
    if is_nan(x) { NAN } else { x }
}

fn bits(x: Double) -> u64 {
    finish(x.to_bits() as u64)
}

fn zeroop_value(zeroop: Zeroop) -> u64 {
    match zeroop {
        Zeroop::Fltmax => MAX,
        Zeroop::Zero => 0,
        Zeroop::Infinity => INF,
    }
}

fn div(a: u64, b: u64, zeroop: Option<Zeroop>) -> u64 {
    let sign = (a ^ b) & SIGN;
    match zeroop {
        _ if is_nan(a) || is_nan(b) => NAN,
        _ if b & !SIGN != 0 => bits((double(a) / double(b)).value),
        Some(Zeroop::Fltmax) => sign | MAX,
        Some(Zeroop::Zero) => 0,
        _ if a & !SIGN == 0 => NAN,
        _ => sign | INF,
    }
}

fn frac(x: u64) -> u64 {
    if x & INF == INF {
        return NAN;
    }
    let floor = double(x).round_to_integral(Round::TowardNegative).value;
    let rest = bits((double(x) - floor).value);
    if rest & !SIGN >= ONE { 0x3FEF_FFFF_FFFF_FFFF } else { rest & !SIGN }
}

/// (e, m) with x = m · 2^e, 0.5 ≤ |m| < 1; e = 0 and m = x for zeros, infinities, NaN.
pub fn frexp(x: u64) -> (i32, u64) {
    if x & INF == INF || x & !SIGN == 0 {
        return (0, finish(x));
    }
    let mut exponent = 0;
    let mantissa = double(x).frexp(&mut exponent).to_bits() as u64;
    (exponent, mantissa)
}

/// Result of an instruction that yields a pair. 32-bit operands are the low words of theirs.
pub fn pair(name: &str, a: &[u64], zeroop: Option<Zeroop>) -> Option<u64> {
    let x = a[0];
    let y = a.get(1).copied().unwrap_or(0);
    let lt = |a, b| double(a) < double(b);
    let ge = |a, b| double(a) >= double(b);
    Some(match name {
        "dadd" => bits((double(x) + double(y)).value),
        "dsub" => bits((double(x) - double(y)).value),
        "dabs" => x & !SIGN,
        "dmul" => bits((double(x) * double(y)).value),
        "dmad" => bits(double(x).mul_add(double(y), double(*a.get(2)?)).value),
        "ddiv" => div(x, y, zeroop),
        "drcp" if x & !SIGN == 0 => x & SIGN | zeroop.map_or(INF, zeroop_value),
        "drcp" => div(ONE, x, None),
        "drsq" if is_nan(x) => NAN,
        "drsq" if x & !SIGN == 0 && zeroop == Some(Zeroop::Zero) => 0,
        "drsq" if x & !SIGN == 0 => x & SIGN | zeroop.map_or(INF, zeroop_value),
        "drsq" if x == INF => 0,
        "dsqrt" if x & !SIGN == 0 || is_nan(x) || x == INF => finish(x),
        "drsq" | "dsqrt" if x & SIGN != 0 => NAN,
        "dsqrt" => big::dsqrt(x, false),
        "drsq" => big::dsqrt(x, true),
        "dmin" => finish(if lt(x, y) || is_nan(y) { x } else { y }),
        "dmax" => finish(if ge(x, y) || is_nan(y) { x } else { y }),
        "dfrac" => frac(x),
        "dldexp" => bits(double(x).scalbn((y as u32 as i32).clamp(-5000, 5000))),
        "dfrexp_mant" => frexp(x).1,
        "dmov" => x,
        "dmovc" => {
            if x as u32 != 0 {
                y
            } else {
                *a.get(2)?
            }
        }
        "f2d" => from_float(x as u32),
        "itod" => Double::from_i128(i128::from(x as u32 as i32)).value.to_bits() as u64,
        "utod" => Double::from_u128(u128::from(x as u32)).value.to_bits() as u64,
        _ => return None,
    })
}

fn from_float(x: u32) -> u64 {
    let wide: Double = Single::from_bits(u128::from(float::flush(x))).convert(&mut false).value;
    bits(wide)
}

/// Result of an instruction on doubles that yields a word.
pub fn word(name: &str, a: &[u64]) -> Option<u32> {
    let x = a[0];
    let y = a.get(1).copied().unwrap_or(0);
    let mask = |c: bool| Some(if c { u32::MAX } else { 0 });
    let value = f64::from_bits(x);
    let range = |low: f64, high: f64| if value.is_nan() { 0.0 } else { value.trunc().clamp(low, high) };
    match name {
        "deq" => mask(double(x) == double(y)),
        "dne" => mask(double(x) != double(y)),
        "dlt" => mask(double(x) < double(y)),
        "dge" => mask(double(x) >= double(y)),
        "d2f" => {
            let narrow: Single = double(x).convert(&mut false).value;
            Some(float::finish(narrow.to_bits() as u32))
        }
        "dtoi" => Some(range(-2_147_483_648.0, 2_147_483_647.0) as i64 as u32),
        "dtou" => Some(range(0.0, 4_294_967_295.0) as i64 as u32),
        "dfrexp_exp" => Some(frexp(x).0 as u32),
        _ => None,
    }
}
