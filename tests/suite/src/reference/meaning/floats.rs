//! Meanings of the instructions on floats, a component at a time.

use rustc_apfloat::Round;

use super::super::value::Value;
use super::super::{big, convert, float};
use super::{Kind, Meaning, Relop, Rule, Zeroop};

pub(super) fn log2(x: u32, zeroop: Zeroop) -> Value {
    let zero = match zeroop {
        Zeroop::Zero => Value::Either(0, 0x8000_0000),
        other => Value::Word(float::zeroop_value(other) | 0x8000_0000),
    };
    big::log2(x, zero)
}

pub(super) fn rsq(x: u32, zeroop: Zeroop) -> Value {
    match (float::is_zero(x), zeroop) {
        (true, Zeroop::Zero) if x >> 31 == 1 => Value::Either(0, 0x8000_0000),
        (true, _) => Value::Word(x & 0x8000_0000 | float::zeroop_value(zeroop)),
        _ => big::rsq(x),
    }
}

/// Special cases by 3.3, the product y · log2 x being the non-IEEE one; otherwise x^y itself.
pub(super) fn pow(base: u32, exponent: u32) -> Value {
    let logarithm = log2(base, Zeroop::Infinity);
    let product = logarithm.map(|l| float::mul(exponent, l));
    match product {
        Value::Word(p) if float::is_nan(p) || float::is_inf(p) || float::is_zero(p) => big::exp2(p),
        Value::Any => Value::Any,
        _ => big::pow(base, exponent),
    }
}

fn ln(x: u32, zeroop: Zeroop) -> Value {
    match (float::is_zero(x), zeroop) {
        // The limit itself, or the limit of log2 times ln 2 (9.8)?
        (true, Zeroop::Fltmax) => Value::Either(0xFF7F_FFFF, 0xFF31_7217),
        (true, _) => log2(x, zeroop),
        _ => big::ln(x),
    }
}

fn tan(x: u32) -> Value {
    let (sin, cos) = (big::sin(x), big::cos(x));
    match (sin.ends(), cos.ends()) {
        (Some((a, b)), Some((c, d))) => {
            Value::span([(a, c), (a, d), (b, c), (b, d)].map(|(s, c)| float::div(s, c, Zeroop::Infinity)))
        }
        _ => Value::Any,
    }
}

/// Rounding to a whole number as `rnd` does it. From 2^23 on the sum rounds to even, while 3.5 says unchanged;
/// -0 is -0 by 3.5 and +0 by the formula. Both are accepted.
pub(super) fn rnd(x: u32) -> Value {
    let x = float::flush(x);
    let formula = float::floor(float::add(x, 0x3F00_0000));
    let magnitude = x & 0x7FFF_FFFF;
    if float::is_zero(formula) {
        Value::Either(formula, x & 0x8000_0000)
    } else if (0x4B00_0000..float::INF).contains(&magnitude) {
        Value::Either(formula, x)
    } else {
        Value::Word(formula)
    }
}

pub(super) fn float_meaning(name: &str) -> Option<Meaning> {
    const F1: &[Kind] = &[Kind::Float];
    const F2: &[Kind] = &[Kind::Float; 2];
    const F3: &[Kind] = &[Kind::Float; 3];
    let m = |sources, rule| Some(Meaning { rule, sources, float_result: true });
    macro_rules! each {
        (|$a:ident| $e:expr) => {
            Rule::Each(|$a, _| Value::Word($e))
        };
        (|$a:ident, $c:ident| $e:expr) => {
            Rule::Each(|$a, $c| Value::Word($e))
        };
    }
    macro_rules! scalar {
        (|$a:ident, $c:ident| $e:expr) => {
            Rule::Scalar(|$a, $c| $e)
        };
    }
    match name {
        "add" => m(F2, each!(|a| float::add(a[0], a[1]))),
        "sub" => m(F2, each!(|a| float::sub(a[0], a[1]))),
        "mul" => m(F2, each!(|a, c| c.product()(a[0], a[1]))),
        "mad" => m(F3, each!(|a, c| float::add(c.product()(a[0], a[1]), a[2]))),
        "fma" => m(F3, each!(|a| float::fma(a[0], a[1], a[2]))),
        "div" | "div_precise" => m(F2, each!(|a, c| float::div(a[0], a[1], c.zeroop()))),
        "mod" => m(F2, each!(|a| float::modulo(a[0], a[1]))),
        "lrp" => m(F3, each!(|a| float::add(float::mul(a[0], float::sub(a[1], a[2])), a[2]))),
        "clamp" => m(F3, each!(|a| float::min(float::max(a[0], a[1]), a[2]))),
        "sgn" => m(F1, each!(|a| float::sgn(a[0]))),
        "frc" => m(F1, each!(|a| float::frc(a[0]))),
        "min" => {
            m(F2, each!(|a, c| if c.ieee { float::min_ieee(a[0], a[1]) } else { float::min(a[0], a[1]) }))
        }
        "max" => {
            m(F2, each!(|a, c| if c.ieee { float::max_ieee(a[0], a[1]) } else { float::max(a[0], a[1]) }))
        }
        "flr" | "round_neginf" => m(F1, each!(|a| float::floor(a[0]))),
        "clg" | "round_plusinf" => m(F1, each!(|a| float::round(a[0], Round::TowardPositive))),
        "trc" | "round_z" => m(F1, each!(|a| float::round(a[0], Round::TowardZero))),
        "round_nearest" => m(F1, each!(|a| float::round(a[0], Round::NearestTiesToEven))),
        "rnd" => m(F1, Rule::Each(|a, _| rnd(a[0]))),
        "set" => m(
            F2,
            each!(|a, c| if float::compare(c.relop.unwrap_or(Relop::Eq), a[0], a[1]) {
                float::ONE
            } else {
                0
            }),
        ),
        "fldexp" => m(&[Kind::Float, Kind::Exponent], each!(|a| convert::ldexp(a[0], a[1]))),
        "frexp_mant" => m(F1, each!(|a| convert::frexp(a[0]).1)),
        "rcp_vec" => m(F1, each!(|a, c| float::rcp(a[0], c.zeroop()))),
        "rcp" => m(F1, scalar!(|a, c| Value::Word(float::rcp(a[0], c.zeroop())))),
        "rsq" => m(F1, scalar!(|a, c| rsq(a[0], c.zeroop()))),
        "rsq_vec" => m(F1, Rule::Each(|a, _| rsq(a[0], Zeroop::Infinity))),
        "sqrt" => m(F1, scalar!(|a, _c| big::sqrt(a[0]))),
        "sqrt_vec" => m(F1, Rule::Each(|a, _| big::sqrt(a[0]))),
        "exp" => m(F1, scalar!(|a, _c| big::exp2(a[0]))),
        "exp_vec" => m(F1, Rule::Each(|a, _| big::exp2(a[0]))),
        "exn" => m(F1, scalar!(|a, _c| big::exp(a[0]))),
        "log" => m(F1, scalar!(|a, c| log2(a[0], c.zeroop()))),
        "log_vec" => m(F1, Rule::Each(|a, c| log2(a[0], c.zeroop.unwrap_or(Zeroop::Infinity)))),
        "ln" => m(F1, scalar!(|a, c| ln(a[0], c.zeroop()))),
        "pow" => m(F2, scalar!(|a, _c| pow(a[0], a[1]))),
        "sin" => m(F1, scalar!(|a, _c| big::sin(a[0]))),
        "cos" => m(F1, scalar!(|a, _c| big::cos(a[0]))),
        "tan" => m(F1, scalar!(|a, _c| tan(a[0]))),
        "sin_vec" => m(F1, Rule::Each(|a, _| big::sin(a[0]))),
        "cos_vec" => m(F1, Rule::Each(|a, _| big::cos(a[0]))),
        "pireduce" => m(F1, Rule::Each(|a, _| big::pireduce(a[0]))),
        "tan_vec" => m(F1, Rule::Each(|a, _| tan(a[0]))),
        "asin" => m(F1, scalar!(|a, _c| big::asin(a[0]))),
        "acos" => m(F1, scalar!(|a, _c| big::acos(a[0]))),
        "atan" => m(F1, scalar!(|a, _c| big::atan(a[0]))),
        "min3" => m(F3, each!(|a| float::min_ieee(float::min_ieee(a[0], a[1]), a[2]))),
        "max3" => m(F3, each!(|a| float::max_ieee(float::max_ieee(a[0], a[1]), a[2]))),
        // max(min(a, b), min(max(a, b), c)); with a NaN among them the documents are silent
        "med3" => m(
            F3,
            Rule::Each(|a, _| {
                if a[..3].iter().any(|x| float::is_nan(*x)) {
                    return Value::Any;
                }
                let (low, high) = (float::min_ieee(a[0], a[1]), float::max_ieee(a[0], a[1]));
                let word = float::max_ieee(low, float::min_ieee(high, a[2]));
                if float::is_zero(word) { Value::Either(0, 0x8000_0000) } else { Value::Word(word) }
            }),
        ),
        _ => None,
    }
}
