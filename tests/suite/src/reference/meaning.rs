//! Which rule and which function an instruction has.

mod floats;

use rustc_apfloat::Round;

use self::floats::{float_meaning, log2, pow, rnd, rsq};
use super::value::Value;
use super::{big, convert, double, float, int};

/// What an operand is, which decides what its modifiers mean (amd-il-alu 1.2) and which values are interesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A float: modifiers are arithmetic.
    Float,
    /// A float that a `mov` carries: sign modifiers work on the bits, nothing is flushed.
    Bits,
    /// An integer: `_neg` is two's complement.
    Int,
    /// A half in the low bits.
    Half,
    /// A shift count or bit-field position.
    Count,
    /// An integer operand of a float instruction; what modifiers do to it is not said.
    Exponent,
    /// A float at position x of a 64-bit instruction.
    FloatX,
    /// An integer at position x of a 64-bit instruction.
    IntX,
    /// A double at positions x, y.
    Double,
    /// A 64-bit integer at positions x, y.
    Int64,
}

impl Kind {
    /// Takes positions x and y, or x of a 64-bit instruction.
    pub fn of_pair(self) -> bool {
        matches!(self, Kind::Double | Kind::Int64 | Kind::FloatX | Kind::IntX)
    }
}

/// `_zeroop(…)`, `inf_else_max` taken as infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Zeroop {
    Fltmax,
    Zero,
    Infinity,
}

/// `_relop(…)`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Relop {
    Ne,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}

/// Specifiers of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    /// `_ieee`
    pub ieee: bool,
    /// `_zeroop(…)` where written
    pub zeroop: Option<Zeroop>,
    /// `_relop(…)`
    pub relop: Option<Relop>,
    /// `_cmpval(…)`
    pub cmpval: f32,
    /// `_nrm4`
    pub nrm4: bool,
    /// `_normalize`
    pub normalize: bool,
}

impl Control {
    fn zeroop(&self) -> Zeroop {
        self.zeroop.unwrap_or(Zeroop::Fltmax)
    }

    fn product(&self) -> fn(u32, u32) -> u32 {
        if self.ieee { float::mul_ieee } else { float::mul }
    }
}

type Words<'a> = &'a [u32];
type Vectors<'a> = &'a [[u32; 4]];

/// How positions map to components (amd-il-alu 1.3).
pub enum Rule {
    /// Position c of each source to component c. The last word is the old value of the destination.
    Each(fn(Words<'_>, &Control) -> Value),
    /// Position w of each source to every component.
    Scalar(fn(Words<'_>, &Control) -> Value),
    /// Whole vectors to whole vectors.
    Whole(fn(Vectors<'_>, &Control) -> [Value; 4]),
    /// Positions x, y of each source to a pair.
    Pair(fn(&str, &[u64], &Control) -> Option<u64>),
    /// Positions x, y of each source to a word in every component.
    PairToWord(fn(&str, &[u64]) -> Option<u32>),
    /// Integer function by name, position by position.
    Named,
}

/// The meaning of an instruction.
pub struct Meaning {
    /// Mapping and function.
    pub rule: Rule,
    /// Sources.
    pub sources: &'static [Kind],
    /// The result is a float, so that destination modifiers apply.
    pub float_result: bool,
}

/// The meaning of the instruction with this canonical name; `None` where this module has none.
pub fn meaning(name: &str) -> Option<Meaning> {
    float_meaning(name).or_else(|| vector_meaning(name)).or_else(|| other_meaning(name))
}

fn all(word: u32) -> [Value; 4] {
    [Value::Word(word); 4]
}

/// Vector instructions: steps of the bare multiply, each rounded.
fn vector_meaning(name: &str) -> Option<Meaning> {
    const V1: &[Kind] = &[Kind::Float];
    const V2: &[Kind] = &[Kind::Float; 2];
    const V3: &[Kind] = &[Kind::Float; 3];
    let m = |sources, f| Some(Meaning { rule: Rule::Whole(f), sources, float_result: true });
    match name {
        "dp2" => m(V2, |v, c| all(float::dot(v[0], v[1], 2, c.product()))),
        "dp3" => m(V2, |v, c| all(float::dot(v[0], v[1], 3, c.product()))),
        "dp4" => m(V2, |v, c| all(float::dot(v[0], v[1], 4, c.product()))),
        "dp2add" => m(V3, |v, c| all(float::add(float::dot(v[0], v[1], 2, c.product()), v[2][3]))),
        "len" => m(V1, |v, _| [big::sqrt(float::dot(v[0], v[0], 3, float::mul)); 4]),
        "dist" => m(V2, |v, _| {
            let d = [0, 1, 2, 3].map(|k| float::sub(v[0][k], v[1][k]));
            [big::sqrt(float::dot(d, d, 3, float::mul)); 4]
        }),
        "nrm" => m(V1, |v, c| {
            let square = float::dot(v[0], v[0], if c.nrm4 { 4 } else { 3 }, float::mul);
            let factor = rsq(square, c.zeroop());
            v[0].map(|x| factor.map(|f| float::mul(x, f)))
        }),
        "crs" => m(V2, |v, _| {
            let cross = |i: usize, j: usize| {
                Value::Word(float::sub(float::mul(v[0][i], v[1][j]), float::mul(v[0][j], v[1][i])))
            };
            [cross(1, 2), cross(2, 0), cross(0, 1), Value::Word(0)]
        }),
        "reflect" => m(V2, |v, c| {
            let mut normal = v[1];
            if c.normalize {
                let square = float::dot(normal, normal, 3, float::mul);
                let Value::Word(factor) = rsq(square, Zeroop::Infinity) else { return [Value::Any; 4] };
                normal = normal.map(|x| float::mul(x, factor));
            }
            let twice = float::mul(0x4000_0000, float::dot(v[0], normal, 3, float::mul));
            [0, 1, 2, 3].map(|k| Value::Word(float::sub(v[0][k], float::mul(twice, normal[k]))))
        }),
        "faceforward" => m(V3, |v, _| {
            let back = float::lt(float::dot(v[1], v[2], 3, float::mul), 0);
            v[0].map(|x| match x {
                _ if float::is_nan(x) => Value::Any,
                _ if back => Value::Either(x, float::flush(x)),
                _ => Value::Either(float::neg(x), float::neg(float::flush(x))),
            })
        }),
        "lit" => m(V1, |v, _| {
            let [x, y, _, w] = v[0];
            let lit = float::lt(0, x) && float::lt(0, y);
            // Direct3D's limits of the exponent, which 8.8 fixed point holds.
            let limited = float::min(float::max(w, 0xC2FF_FF00), 0x42FF_FF00);
            let z = match lit {
                true => pow(y, limited),
                false => Value::Word(0),
            };
            [Value::Word(float::ONE), Value::Word(float::max(x, 0)), z, Value::Word(float::ONE)]
        }),
        "dst" => m(V2, |v, _| {
            let carried = |x: u32| match x {
                _ if float::is_nan(x) => Value::Any,
                _ => Value::Either(x, float::flush(x)),
            };
            [
                Value::Word(float::ONE),
                Value::Word(float::mul(v[0][1], v[1][1])),
                carried(v[0][2]),
                carried(v[1][3]),
            ]
        }),
        "expp" => m(V1, |v, _| {
            let w = v[0][3];
            let floor = float::floor(w);
            let rest = Value::Either(float::sub(w, floor), float::frc(w));
            [big::exp2(floor), rest, big::exp2(w), Value::Word(float::ONE)]
        }),
        "logp" => m(V1, |v, _| {
            let w = v[0][3] & 0x7FFF_FFFF;
            if float::is_zero(w) || !(float::lt(w, float::INF)) {
                return [Value::Any, Value::Any, Value::Any, Value::Word(float::ONE)];
            }
            let (exponent, mantissa) = convert::frexp(w);
            let floor = (exponent - 1) as f32;
            let one_to_two = mantissa + (1 << 23);
            [
                Value::Word(floor.to_bits()),
                Value::Word(one_to_two),
                log2(w, Zeroop::Infinity),
                Value::Word(float::ONE),
            ]
        }),
        "sincos" => m(V1, |v, _| [big::cos(v[0][3]), big::sin(v[0][3]), Value::Word(0), Value::Word(0)]),
        "dxsincos" => m(V3, |v, _| [big::cos(v[0][3]), big::sin(v[0][3]), Value::Any, Value::Any]),
        _ => None,
    }
}

fn other_meaning(name: &str) -> Option<Meaning> {
    let m = |sources, rule| Some(Meaning { rule, sources, float_result: false });
    macro_rules! each {
        (|$a:ident, $c:ident| $e:expr) => {
            Rule::Each(|$a, $c| Value::Word($e))
        };
    }
    match name {
        "mov" | "invariant_move" => {
            Some(Meaning { rule: each!(|a, _c| a[0]), sources: &[Kind::Bits], float_result: true })
        }
        "abs" => m(&[Kind::Bits], each!(|a, _c| a[0] & 0x7FFF_FFFF)),
        "cmov" => m(
            &[Kind::Float, Kind::Bits],
            Rule::Each(|a, _| match a[0] {
                // Is a NaN condition "not 0.0"? As a comparison it is.
                x if float::is_zero(x) => Value::Word(a[2]),
                _ => Value::Word(a[1]),
            }),
        ),
        "cmov_logical" => m(&[Kind::Int; 3], each!(|a, _c| if a[0] != 0 { a[1] } else { a[2] })),
        "cmp" => m(
            &[Kind::Float, Kind::Bits, Kind::Bits],
            Rule::Each(|a, c| {
                let holds = float::compare(c.relop.unwrap_or(Relop::Eq), a[0], c.cmpval.to_bits());
                let chosen = if holds { a[1] } else { a[2] };
                // Whether a selection flushes is not said.
                Value::Either(chosen, float::finish(chosen))
            }),
        ),
        "eq" => m(&[Kind::Float; 2], each!(|a, _c| mask(float::compare(Relop::Eq, a[0], a[1])))),
        "ne" => m(&[Kind::Float; 2], each!(|a, _c| mask(float::compare(Relop::Ne, a[0], a[1])))),
        "lt" => m(&[Kind::Float; 2], each!(|a, _c| mask(float::compare(Relop::Lt, a[0], a[1])))),
        "ge" => m(&[Kind::Float; 2], each!(|a, _c| mask(float::compare(Relop::Ge, a[0], a[1])))),
        "ftoi" => m(&[Kind::Float], each!(|a, _c| convert::ftoi(a[0]))),
        "ftou" => m(&[Kind::Float], each!(|a, _c| convert::ftou(a[0]))),
        "ftoi_flr" => m(&[Kind::Float], each!(|a, _c| convert::ftoi(float::floor(a[0])))),
        "ftoi_rpi" => m(&[Kind::Float], Rule::Each(|a, _| rnd(a[0]).map(convert::ftoi))),
        "itof" => Some(Meaning {
            rule: each!(|a, _c| convert::itof(a[0])),
            sources: &[Kind::Int],
            float_result: true,
        }),
        "utof" => Some(Meaning {
            rule: each!(|a, _c| convert::utof(a[0])),
            sources: &[Kind::Int],
            float_result: true,
        }),
        "f2f16" => m(&[Kind::Float], each!(|a, _c| convert::to_half(a[0], Round::TowardZero))),
        "f2f16_near" => m(&[Kind::Float], each!(|a, _c| convert::to_half(a[0], Round::NearestTiesToEven))),
        "f2f16_neg_inf" => m(&[Kind::Float], each!(|a, _c| convert::to_half(a[0], Round::TowardNegative))),
        "f2f16_plus_inf" => m(&[Kind::Float], each!(|a, _c| convert::to_half(a[0], Round::TowardPositive))),
        "f162f" => m(&[Kind::Half], each!(|a, _c| convert::from_half(a[0]))),
        "unpack0" => m(&[Kind::Int], each!(|a, _c| convert::utof(a[0] & 0xFF))),
        "unpack1" => m(&[Kind::Int], each!(|a, _c| convert::utof(a[0] >> 8 & 0xFF))),
        "unpack2" => m(&[Kind::Int], each!(|a, _c| convert::utof(a[0] >> 16 & 0xFF))),
        "unpack3" => m(&[Kind::Int], each!(|a, _c| convert::utof(a[0] >> 24))),
        "frexp_exp" => m(&[Kind::Float], each!(|a, _c| convert::frexp(a[0]).0 as u32)),
        "f_2_u4" => m(
            &[Kind::Float],
            Rule::Whole(|v, _| {
                let byte = |k: usize| convert::to_byte(v[0][k]) << (8 * k);
                all(byte(0) | byte(1) | byte(2) | byte(3))
            }),
        ),
        "sad4" => m(
            &[Kind::Int; 3],
            Rule::Whole(|v, _| {
                all((0..4).fold(v[2][0], |sum, k| sum.wrapping_add(int::sad(v[0][k], v[1][k]))))
            }),
        ),
        "class" => m(
            &[Kind::Bits, Kind::Exponent],
            each!(|a, _c| {
                mask(
                    a[1] >> category(a[0] >> 31 == 1, f32::from_bits(a[0]).classify(), a[0] >> 22 & 1 == 1)
                        & 1
                        == 1,
                )
            }),
        ),
        "dclass" => m(
            &[Kind::Double, Kind::IntX],
            Rule::PairToWord(|_, a| {
                let number = category(a[0] >> 63 == 1, f64::from_bits(a[0]).classify(), a[0] >> 51 & 1 == 1);
                Some(mask(a[1] as u32 >> number & 1 == 1))
            }),
        ),
        "dadd" | "dsub" | "dmul" | "ddiv" | "dmin" | "dmax" => pair(&[Kind::Double; 2]),
        "dmad" => pair(&[Kind::Double; 3]),
        "drcp" | "drsq" | "dsqrt" | "dfrac" | "dabs" | "dmov" | "dfrexp_mant" => pair(&[Kind::Double]),
        "dldexp" => pair(&[Kind::Double, Kind::IntX]),
        "dmovc" => pair(&[Kind::IntX, Kind::Double, Kind::Double]),
        "f2d" => pair(&[Kind::FloatX]),
        "itod" | "utod" => pair(&[Kind::IntX]),
        "d2f" | "dtoi" | "dtou" | "dfrexp_exp" => pair_to_word(&[Kind::Double], double::word),
        "deq" | "dne" | "dlt" | "dge" => pair_to_word(&[Kind::Double; 2], double::word),
        "frexp" => m(
            &[Kind::Float],
            Rule::Whole(|v, _| {
                let (exponent, mantissa) = convert::frexp(v[0][0]);
                [0, exponent as u32, 0, mantissa].map(Value::Word)
            }),
        ),
        "dfrexp" => m(
            &[Kind::Double],
            Rule::Whole(|v, _| {
                let (exponent, mantissa) = double::frexp(u64::from(v[0][1]) << 32 | u64::from(v[0][0]));
                [0, exponent as u32, mantissa as u32, (mantissa >> 32) as u32].map(Value::Word)
            }),
        ),
        "qsad_u8" | "mqsad_u8" => m(
            &[Kind::Int64, Kind::IntX, Kind::Int64],
            Rule::Pair(|n, a, _| Some(int::windows(a[0], a[1] as u32, a[2], n == "mqsad_u8"))),
        ),
        "i64negate" => m(&[Kind::Int64], Rule::Pair(|n, a, _| int::pair(n, a))),
        "i64shl" | "i64shr" | "u64shr" => {
            m(&[Kind::Int64, Kind::IntX], Rule::Pair(|n, a, _| int::pair(n, a)))
        }
        "i64eq" | "i64ne" | "i64lt" | "i64ge" | "u64lt" | "u64ge" => {
            pair_to_word(&[Kind::Int64; 2], int::pair_mask)
        }
        _ if int::pair(name, &[1, 1]).is_some() => {
            m(&[Kind::Int64; 2], Rule::Pair(|n, a, _| int::pair(n, a)))
        }
        "ishl" | "ishr" | "ushr" | "bfm" => m(&[Kind::Int, Kind::Count], Rule::Named),
        "ubit_extract" | "ibit_extract" => m(&[Kind::Count, Kind::Count, Kind::Int], Rule::Named),
        "ubit_insert" => m(&[Kind::Count, Kind::Count, Kind::Int, Kind::Int], Rule::Named),
        "bitalign" | "bytealign" => m(&[Kind::Int, Kind::Int, Kind::Count], Rule::Named),
        _ => {
            int::word(name, &[1, 1, 1, 1])?;
            let sources: &[Kind] = match name {
                "inegate" | "inot" | "icbits" | "ubit_reverse" | "ffb_hi" | "ffb_lo" | "ffb_shi" => {
                    &[Kind::Int]
                }
                "imad" | "umad" | "umad24" | "imad24" | "bfi" | "u4lerp" | "sad" | "sad_u16" | "sad_u32"
                | "sadhi" | "msad_u8" | "imin3" | "imax3" | "imed3" | "umin3" | "umax3" | "umed3" => {
                    &[Kind::Int; 3]
                }
                _ => &[Kind::Int; 2],
            };
            m(sources, Rule::Named)
        }
    }
}

fn pair(sources: &'static [Kind]) -> Option<Meaning> {
    Some(Meaning { rule: Rule::Pair(|n, a, c| double::pair(n, a, c.zeroop)), sources, float_result: false })
}

fn pair_to_word(sources: &'static [Kind], f: fn(&str, &[u64]) -> Option<u32>) -> Option<Meaning> {
    Some(Meaning { rule: Rule::PairToWord(f), sources, float_result: false })
}

fn mask(c: bool) -> u32 {
    if c { u32::MAX } else { 0 }
}

/// Bit of `class` that a number belongs to.
fn category(negative: bool, class: std::num::FpCategory, quiet: bool) -> u32 {
    use std::num::FpCategory::*;
    let positive = match class {
        Nan => return u32::from(quiet),
        Infinite => 9,
        Normal => 8,
        Subnormal => 7,
        Zero => 6,
    };
    if negative { 11 - positive } else { positive }
}

/// The word of a per-component integer instruction.
pub(super) fn named(name: &str, words: &[u32]) -> Value {
    int::word(name, words).map_or(Value::Any, Value::Word)
}
