//! Exact float operations against a software floating point of other origin, with the rules for denormals, NaNs
//! and zeros written here a second time: all combinations of edge values, and a million random operands each.

use std::cmp::Ordering;

use super::support::{check, hold};
use recal_il::isa::LaneOp;
use rustc_apfloat::ieee::{Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

const NAN: u64 = 0x7FC0_0000;
const DNAN: u64 = 0x7FF8_0000_0000_0000;
const ONES: u64 = 0xFFFF_FFFF;
const ONE: u64 = 0x3F80_0000;

/// The operand as an arithmetic instruction sees it.
fn single(x: u64) -> Single {
    Single::from_bits(if x & 0x7F80_0000 == 0 { x & 0x8000_0000 } else { x }.into())
}

/// A result as an arithmetic instruction delivers it.
fn word(x: Single) -> u64 {
    match x {
        _ if x.is_nan() => NAN,
        _ if x.is_denormal() => u64::from(x.is_negative()) << 31,
        _ => x.to_bits() as u64,
    }
}

fn double(x: u64) -> Double {
    Double::from_bits(x.into())
}

fn quad(x: Double) -> u64 {
    if x.is_nan() { DNAN } else { x.to_bits() as u64 }
}

fn ieee_product(x: u64, y: u64) -> Single {
    single(word((single(x) * single(y)).value))
}

fn product(x: u64, y: u64) -> Single {
    if single(x).is_zero() || single(y).is_zero() { single(0) } else { ieee_product(x, y) }
}

#[test]
fn sums_and_products() {
    check(LaneOp::Add, &[], |x| word((single(x[0]) + single(x[1])).value));
    check(LaneOp::Sub, &[], |x| word((single(x[0]) - single(x[1])).value));
    check(LaneOp::MulIeee, &[], |x| word(ieee_product(x[0], x[1])));
    check(LaneOp::Mul, &[], |x| word(product(x[0], x[1])));
}

/// Not flushed; NaNs are NaNs.
#[test]
fn bare_sums_and_products() {
    let bits = |x: Single| if x.is_nan() { NAN } else { x.to_bits() as u64 };
    check(LaneOp::BareAdd, &[], |x| bits((single(x[0]) + single(x[1])).value));
    check(LaneOp::BareSub, &[], |x| bits((single(x[0]) - single(x[1])).value));
    check(LaneOp::BareMul, &[], |x| bits((single(x[0]) * single(x[1])).value));
    check(LaneOp::BareFma, &[], |x| bits(single(x[0]).mul_add(single(x[1]), single(x[2])).value));
    let same = |got: u64, want: Double| if want.is_nan() { double(got).is_nan() } else { got == quad(want) };
    hold(LaneOp::BareDadd, &[], |x, got| same(got, (double(x[0]) + double(x[1])).value));
    hold(LaneOp::BareDsub, &[], |x, got| same(got, (double(x[0]) - double(x[1])).value));
    hold(LaneOp::BareDmul, &[], |x, got| same(got, (double(x[0]) * double(x[1])).value));
    hold(LaneOp::BareDmad, &[], |x, got| same(got, double(x[0]).mul_add(double(x[1]), double(x[2])).value));
    check(LaneOp::Dcanon, &[], |x| quad(double(x[0])));
}

#[test]
fn multiply_and_add() {
    check(LaneOp::Mad, &[], |x| word((product(x[0], x[1]) + single(x[2])).value));
    check(LaneOp::MadIeee, &[], |x| word((ieee_product(x[0], x[1]) + single(x[2])).value));
    check(LaneOp::Fma, &[], |x| word(single(x[0]).mul_add(single(x[1]), single(x[2])).value));
    check(LaneOp::Lrp, &[], |x| {
        let difference = word((single(x[1]) - single(x[2])).value);
        word((product(x[0], difference) + single(x[2])).value)
    });
}

/// x / y under the `_zeroop` with this number.
fn quotient(x: u64, y: u64, zeroop: u64) -> u64 {
    let (x, y) = (single(x), single(y));
    let sign = u64::from(x.is_negative() != y.is_negative()) << 31;
    match zeroop {
        0 if y.is_zero() && !x.is_nan() => 0x7F7F_FFFF | sign,
        1 if y.is_zero() && !x.is_nan() => 0,
        _ => word((x / y).value),
    }
}

#[test]
fn quotients() {
    for zeroop in 0..4 {
        check(LaneOp::Div, &[zeroop], |x| quotient(x[0], x[1], zeroop));
        // A reciprocal keeps the sign of a zero even where `_zeroop(zero)` delivers it (amd-il-alu 3.2).
        let sign = |x: u64| if zeroop == 1 && x & 0x7F80_0000 == 0 { x & 0x8000_0000 } else { 0 };
        check(LaneOp::Rcp, &[zeroop], |x| quotient(ONE, x[0], zeroop) | sign(x[0]));
    }
    check(LaneOp::Mod, &[], |x| {
        let whole = single(quotient(x[0], x[1], 2)).round_to_integral(Round::TowardZero).value;
        let product = ieee_product(word(whole), x[1]);
        word((single(x[0]) - product).value)
    });
}

#[test]
fn quotients_in_double_precision() {
    for zeroop in 0..4 {
        let divide = |x: u64, y: u64| {
            let (x, y) = (double(x), double(y));
            let sign = u64::from(x.is_negative() != y.is_negative()) << 63;
            match zeroop {
                0 if y.is_zero() && !x.is_nan() => 0x7FEF_FFFF_FFFF_FFFF | sign,
                1 if y.is_zero() && !x.is_nan() => 0,
                _ => quad((x / y).value),
            }
        };
        check(LaneOp::Ddiv, &[zeroop], |x| divide(x[0], x[1]));
        let sign = |x: u64| if zeroop == 1 && x << 1 == 0 { x } else { 0 };
        check(LaneOp::Drcp, &[zeroop], |x| divide(1f64.to_bits(), x[0]) | sign(x[0]));
    }
}

#[test]
fn comparisons() {
    let order = |x: &[u64]| single(x[0]).partial_cmp(&single(x[1]));
    let raw = |x: &[u64]| Single::from_bits(x[0].into()).partial_cmp(&Single::from_bits(x[1].into()));
    type Test = fn(Option<Ordering>) -> bool;
    let relations: [(LaneOp, LaneOp, LaneOp, Test); 6] = [
        (LaneOp::Ne, LaneOp::SetNe, LaneOp::RawNe, |o| o != Some(Ordering::Equal)),
        (LaneOp::Eq, LaneOp::SetEq, LaneOp::RawEq, |o| o == Some(Ordering::Equal)),
        (LaneOp::Ge, LaneOp::SetGe, LaneOp::RawGe, |o| o.is_some_and(Ordering::is_ge)),
        (LaneOp::Gt, LaneOp::SetGt, LaneOp::RawGt, |o| o.is_some_and(Ordering::is_gt)),
        (LaneOp::Le, LaneOp::SetLe, LaneOp::RawLe, |o| o.is_some_and(Ordering::is_le)),
        (LaneOp::Lt, LaneOp::SetLt, LaneOp::RawLt, |o| o.is_some_and(Ordering::is_lt)),
    ];
    for (mask, set, flow, test) in relations {
        check(mask, &[], |x| if test(order(x)) { ONES } else { 0 });
        check(set, &[], |x| if test(order(x)) { ONE } else { 0 });
        check(flow, &[], |x| if test(raw(x)) { ONES } else { 0 });
    }
}

#[test]
fn comparisons_in_double_precision() {
    let order = |x: &[u64]| double(x[0]).partial_cmp(&double(x[1]));
    let mask = |c: bool| if c { ONES } else { 0 };
    check(LaneOp::Deq, &[], |x| mask(order(x) == Some(Ordering::Equal)));
    check(LaneOp::Dne, &[], |x| mask(order(x) != Some(Ordering::Equal)));
    check(LaneOp::Dlt, &[], |x| mask(order(x) == Some(Ordering::Less)));
    check(LaneOp::Dge, &[], |x| mask(order(x).is_some_and(Ordering::is_ge)));
}

#[test]
fn minimum_and_maximum() {
    fn pick(first: bool, x: Single, y: Single) -> Single {
        if first { x } else { y }
    }
    let min = |x: Single, y: Single| pick(x < y, x, y);
    let max = |x: Single, y: Single| pick(x >= y, x, y);
    let min_ieee = |x: Single, y: Single| pick(x < y || y.is_nan(), x, y);
    let max_ieee = |x: Single, y: Single| pick(x >= y || y.is_nan(), x, y);
    check(LaneOp::Min, &[], |x| word(min(single(x[0]), single(x[1]))));
    check(LaneOp::Max, &[], |x| word(max(single(x[0]), single(x[1]))));
    check(LaneOp::MinIeee, &[], |x| word(min_ieee(single(x[0]), single(x[1]))));
    check(LaneOp::MaxIeee, &[], |x| word(max_ieee(single(x[0]), single(x[1]))));
    check(LaneOp::Clamp, &[], |x| word(min(max(single(x[0]), single(x[1])), single(x[2]))));
    check(LaneOp::Min3, &[], |x| word(min_ieee(min_ieee(single(x[0]), single(x[1])), single(x[2]))));
    check(LaneOp::Max3, &[], |x| word(max_ieee(max_ieee(single(x[0]), single(x[1])), single(x[2]))));
    check(LaneOp::Saturate, &[], |x| match single(x[0]) {
        y if y > single(0) && y < single(ONE) => word(y),
        y => u64::from(y >= single(ONE)) * ONE,
    });
    check(LaneOp::Sgn, &[], |x| match single(x[0]).partial_cmp(&single(0)) {
        Some(Ordering::Greater) => ONE,
        Some(Ordering::Equal) => 0,
        _ => 0xBF80_0000,
    });
}

#[test]
fn median() {
    // Zeros compare equal, so which of ±0 wins is left to the definition; compare by value.
    let evaluate = |x: &[u64]| single(super::support::evaluate(LaneOp::Med3, x));
    check(LaneOp::Med3, &[], |x| {
        let mut values = [single(x[0]), single(x[1]), single(x[2])];
        let got = evaluate(x);
        if values.iter().any(|v| v.is_nan()) {
            let least =
                values.iter().copied().filter(|v| !v.is_nan()).min_by(|a, b| a.partial_cmp(b).unwrap());
            return least.map_or(NAN, |v| if v == got { word(got) } else { word(v) });
        }
        values.sort_by(|a, b| a.partial_cmp(b).unwrap());
        if values[1] == got { word(got) } else { word(values[1]) }
    });
}

#[test]
fn minimum_and_maximum_in_double_precision() {
    check(LaneOp::Dmin, &[], |x| {
        let (x, y) = (double(x[0]), double(x[1]));
        quad(if x < y || y.is_nan() { x } else { y })
    });
    check(LaneOp::Dmax, &[], |x| {
        let (x, y) = (double(x[0]), double(x[1]));
        quad(if x >= y || y.is_nan() { x } else { y })
    });
    check(LaneOp::Dsaturate, &[], |x| match double(x[0]) {
        y if y > double(0) && y < double(1f64.to_bits()) => quad(y),
        y => u64::from(y >= double(1f64.to_bits())) * 1f64.to_bits(),
    });
}

#[test]
fn rounding() {
    let round = |x: u64, mode| word(single(x).round_to_integral(mode).value);
    check(LaneOp::Floor, &[], |x| round(x[0], Round::TowardNegative));
    check(LaneOp::Ceil, &[], |x| round(x[0], Round::TowardPositive));
    check(LaneOp::Trunc, &[], |x| round(x[0], Round::TowardZero));
    check(LaneOp::RoundNearest, &[], |x| round(x[0], Round::NearestTiesToEven));
    check(LaneOp::Rnd, &[], |x| {
        let sum = word((single(x[0]) + single(0x3F00_0000)).value);
        round(sum, Round::TowardNegative)
    });
    check(LaneOp::Frc, &[], |x| {
        let fraction = (single(x[0]) - single(round(x[0], Round::TowardNegative))).value;
        if fraction >= single(ONE) { 0x3F7F_FFFF } else { word(fraction) }
    });
    check(LaneOp::Dfrac, &[], |x| {
        let floor = double(x[0]).round_to_integral(Round::TowardNegative).value;
        let fraction = (double(x[0]) - floor).value;
        if fraction >= double(1f64.to_bits()) { 0x3FEF_FFFF_FFFF_FFFF } else { quad(fraction) }
    });
}

#[test]
fn integers() {
    let signed = |x: Single| x.to_i128_r(32, Round::TowardZero, &mut false).value as u32 as u64;
    let to_signed = |x: Single| if x.is_nan() { 0 } else { signed(x) };
    check(LaneOp::Ftoi, &[], |x| to_signed(single(x[0])));
    check(LaneOp::FtoiFlr, &[], |x| to_signed(single(x[0]).round_to_integral(Round::TowardNegative).value));
    check(LaneOp::FtoiRpi, &[], |x| {
        let sum = single(word((single(x[0]) + single(0x3F00_0000)).value));
        to_signed(sum.round_to_integral(Round::TowardNegative).value)
    });
    check(LaneOp::Ftou, &[], |x| match single(x[0]) {
        y if y.is_nan() || y.is_negative() => 0,
        y => y.to_u128_r(32, Round::TowardZero, &mut false).value as u64,
    });
    check(LaneOp::Itof, &[], |x| word(Single::from_i128((x[0] as u32 as i32).into()).value));
    check(LaneOp::Utof, &[], |x| word(Single::from_u128(x[0].into()).value));
    check(LaneOp::Dtoi, &[], |x| match double(x[0]) {
        y if y.is_nan() => 0,
        y => y.to_i128_r(32, Round::TowardZero, &mut false).value as u32 as u64,
    });
    check(LaneOp::Dtou, &[], |x| match double(x[0]) {
        y if y.is_nan() || y.is_negative() => 0,
        y => y.to_u128_r(32, Round::TowardZero, &mut false).value as u64,
    });
    check(LaneOp::Itod, &[], |x| quad(Double::from_i128((x[0] as u32 as i32).into()).value));
    check(LaneOp::Utod, &[], |x| quad(Double::from_u128(x[0].into()).value));
    for (op, byte) in [(LaneOp::Unpack0, 0), (LaneOp::Unpack1, 1), (LaneOp::Unpack2, 2), (LaneOp::Unpack3, 3)]
    {
        check(op, &[], |x| word(Single::from_u128(x[0].to_le_bytes()[byte].into()).value));
    }
    check(LaneOp::F2u4, &[], |x| {
        let byte = |x: u64| match single(x) {
            y if y.is_nan() || y.is_negative() => 0,
            y => y.to_u128_r(8, Round::NearestTiesToEven, &mut false).value as u64,
        };
        byte(x[0]) | byte(x[1]) << 8 | byte(x[2]) << 16 | byte(x[3]) << 24
    });
}

#[test]
fn other_precisions() {
    let mut modes = [
        (LaneOp::F2f16, Round::TowardZero),
        (LaneOp::F2f16Near, Round::NearestTiesToEven),
        (LaneOp::F2f16NegInf, Round::TowardNegative),
        (LaneOp::F2f16PlusInf, Round::TowardPositive),
    ];
    for (op, mode) in &mut modes {
        check(*op, &[], |x| {
            let half: Half = single(x[0]).convert_r(*mode, &mut false).value;
            if half.is_nan() { 0x7E00 } else { half.to_bits() as u64 }
        });
    }
    check(LaneOp::F162f, &[], |x| {
        let float: Single = Half::from_bits((x[0] & 0xFFFF).into()).convert(&mut false).value;
        word(float)
    });
    check(LaneOp::F2d, &[], |x| {
        let double: Double = single(x[0]).convert(&mut false).value;
        quad(double)
    });
    check(LaneOp::D2f, &[], |x| {
        let float: Single = double(x[0]).convert(&mut false).value;
        word(float)
    });
}

#[test]
fn scaling_and_splitting() {
    let places = |n: u64| (n as u32 as i32).clamp(-5000, 5000) as i16;
    check(LaneOp::Ldexp, &[], |x| word(single(x[0]).scalbn(places(x[1]).into())));
    check(LaneOp::Dldexp, &[], |x| quad(double(x[0]).scalbn(places(x[1]).into())));
    check(LaneOp::FrexpMant, &[], |x| word(single(x[0]).frexp(&mut 0)));
    check(LaneOp::FrexpExp, &[], |x| {
        let mut e = 0;
        let _ = single(x[0]).frexp(&mut e);
        if single(x[0]).is_finite_non_zero() { e as u32 as u64 } else { 0 }
    });
    check(LaneOp::DfrexpMant, &[], |x| quad(double(x[0]).frexp(&mut 0)));
    check(LaneOp::DfrexpExp, &[], |x| {
        let mut e = 0;
        let _ = double(x[0]).frexp(&mut e);
        if double(x[0]).is_finite_non_zero() { e as u32 as u64 } else { 0 }
    });
}

#[test]
fn double_precision() {
    check(LaneOp::Dadd, &[], |x| quad((double(x[0]) + double(x[1])).value));
    check(LaneOp::Dsub, &[], |x| quad((double(x[0]) - double(x[1])).value));
    check(LaneOp::Dabs, &[], |x| x[0] & !(1 << 63));
    check(LaneOp::Dmul, &[], |x| quad((double(x[0]) * double(x[1])).value));
    check(LaneOp::Dmad, &[], |x| quad(double(x[0]).mul_add(double(x[1]), double(x[2])).value));
}

#[test]
fn classes() {
    let number = |nan, quiet, infinite, normal, zero, negative: bool| match (nan, infinite, normal, zero) {
        (true, ..) => u32::from(quiet),
        (_, true, ..) => {
            if negative {
                2
            } else {
                9
            }
        }
        (_, _, true, _) => {
            if negative {
                3
            } else {
                8
            }
        }
        (.., true) => {
            if negative {
                5
            } else {
                6
            }
        }
        _ => {
            if negative {
                4
            } else {
                7
            }
        }
    };
    check(LaneOp::Class, &[], |x| {
        let y = Single::from_bits(x[0].into());
        let n = number(
            y.is_nan(),
            !y.is_signaling(),
            y.is_infinite(),
            y.is_normal(),
            y.is_zero(),
            y.is_negative(),
        );
        if x[1] >> n & 1 == 1 { ONES } else { 0 }
    });
    check(LaneOp::Dclass, &[], |x| {
        let y = double(x[0]);
        let n = number(
            y.is_nan(),
            !y.is_signaling(),
            y.is_infinite(),
            y.is_normal(),
            y.is_zero(),
            y.is_negative(),
        );
        if x[1] >> n & 1 == 1 { ONES } else { 0 }
    });
}
