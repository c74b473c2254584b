//! The integer sequences that the algebra provides give the same bits as what the scalar evaluator has instead.

use recal_il::isa::lane::{Class, apply, fold};
use recal_il::isa::{Algebra, LaneOp, Scalar};

use super::support::{Random, edges};

/// The required methods and nothing else: every provided one runs as its sequence.
struct Sequences;

macro_rules! required {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        fn $name(&mut self, $($arg: $ty),*) -> $result { Scalar.$name($($arg),*) }
    )*};
}

impl Algebra for Sequences {
    type W = u32;
    type Q = u64;
    type B = bool;

    required! {
        word(bits: u32) -> u32;
        quad(bits: u64) -> u64;
        pack(lo: u32, hi: u32) -> u64;
        lo(q: u64) -> u32;
        hi(q: u64) -> u32;
        select(c: bool, a: u32, b: u32) -> u32;
        selectq(c: bool, a: u64, b: u64) -> u64;
        both(a: bool, b: bool) -> bool;
        either(a: bool, b: bool) -> bool;
        negate(a: bool) -> bool;
        iadd(a: u32, b: u32) -> u32;
        isub(a: u32, b: u32) -> u32;
        imul(a: u32, b: u32) -> u32;
        umulhi(a: u32, b: u32) -> u32;
        smulhi(a: u32, b: u32) -> u32;
        and(a: u32, b: u32) -> u32;
        or(a: u32, b: u32) -> u32;
        xor(a: u32, b: u32) -> u32;
        not(a: u32) -> u32;
        popcount(a: u32) -> u32;
        clz(a: u32) -> u32;
        reverse(a: u32) -> u32;
        ieq(a: u32, b: u32) -> bool;
        ilt(a: u32, b: u32) -> bool;
        ult(a: u32, b: u32) -> bool;
        fadd_raw(a: u32, b: u32) -> u32;
        fmul_raw(a: u32, b: u32) -> u32;
        ffma_raw(a: u32, b: u32, c: u32) -> u32;
        feq(a: u32, b: u32) -> bool;
        flt(a: u32, b: u32) -> bool;
        fle(a: u32, b: u32) -> bool;
        itof_raw(a: u32) -> u32;
        utof_raw(a: u32) -> u32;
        qadd(a: u64, b: u64) -> u64;
        qsub(a: u64, b: u64) -> u64;
        qmul(a: u64, b: u64) -> u64;
        qand(a: u64, b: u64) -> u64;
        qor(a: u64, b: u64) -> u64;
        qxor(a: u64, b: u64) -> u64;
        qeq(a: u64, b: u64) -> bool;
        qlt(a: u64, b: u64) -> bool;
        qult(a: u64, b: u64) -> bool;
        dadd_raw(a: u64, b: u64) -> u64;
        dmul_raw(a: u64, b: u64) -> u64;
        dfma_raw(a: u64, b: u64, c: u64) -> u64;
        deq(a: u64, b: u64) -> bool;
        dlt(a: u64, b: u64) -> bool;
        ftod_raw(a: u32) -> u64;
        dtof_raw(a: u64) -> u32;
    }

    // The preconditions that a backend may rely on.

    fn udiv(&mut self, a: u32, b: u32) -> u32 {
        assert_ne!(b, 0, "division by zero");
        a / b
    }

    fn umod(&mut self, a: u32, b: u32) -> u32 {
        assert_ne!(b, 0, "division by zero");
        a % b
    }

    fn qudiv(&mut self, a: u64, b: u64) -> u64 {
        assert_ne!(b, 0, "division by zero");
        a / b
    }

    fn qumod(&mut self, a: u64, b: u64) -> u64 {
        assert_ne!(b, 0, "division by zero");
        a % b
    }

    fn shl(&mut self, a: u32, n: u32) -> u32 {
        assert!(n < 32, "shift by {n}");
        a << n
    }

    fn shr(&mut self, a: u32, n: u32) -> u32 {
        assert!(n < 32, "shift by {n}");
        a >> n
    }

    fn sar(&mut self, a: u32, n: u32) -> u32 {
        assert!(n < 32, "shift by {n}");
        ((a as i32) >> n) as u32
    }

    fn qshl(&mut self, a: u64, n: u32) -> u64 {
        assert!(n < 64, "shift by {n}");
        a << n
    }

    fn qshr(&mut self, a: u64, n: u32) -> u64 {
        assert!(n < 64, "shift by {n}");
        a >> n
    }

    fn qsar(&mut self, a: u64, n: u32) -> u64 {
        assert!(n < 64, "shift by {n}");
        ((a as i64) >> n) as u64
    }

    fn ftoi_raw(&mut self, a: u32) -> u32 {
        assert!(f32::from_bits(a).abs() < 2f32.powi(31), "conversion of {a:08X}");
        Scalar.ftoi_raw(a)
    }
}

fn compare(op: LaneOp, operands: &[u64]) {
    let mut words = Vec::new();
    for (class, operand) in op.arguments().iter().zip(operands) {
        match class {
            Class::F => words.push(Scalar.flush(*operand as u32)),
            Class::W => words.push(*operand as u32),
            Class::Q => words.extend([*operand as u32, (*operand >> 32) as u32]),
        }
    }
    let (mut a, mut b) = (apply(&mut Sequences, op, &words), fold(op, &words));
    if op.result() == Class::F {
        (a.0, b.0) = (Scalar.canonical(a.0), Scalar.canonical(b.0));
    } else if op.is_bare() {
        [a, b] = [a, b].map(|(low, high)| {
            let high = high.expect("64 bits");
            fold(LaneOp::Dcanon, &[low, high])
        });
    }
    assert_eq!(a, b, "{} {words:X?}", op.name());
}

#[test]
fn sequences_agree_with_the_machine() {
    let mut random = Random(7);
    for op in LaneOp::ALL {
        let classes = op.arguments();
        // All combinations of up to two operands, a sample of those of more.
        edges(classes, 0, [1, 1, 1, 7, 211][classes.len()], |operands| compare(*op, operands));
        for _ in 0..8_000 {
            let operands: Vec<u64> = classes.iter().map(|c| random.operand(*c)).collect();
            compare(*op, &operands);
        }
    }
}

#[test]
fn quotients_and_sums_of_products_at_the_edge_of_the_normal_range() {
    // Exact values just below 2^-126 round up to it at the spacing of denormals.
    for (x, y) in [(0x00FF_FFFF, 0x4000_0000), (0x00FF_FFFE, 0x4000_0000), (0x007F_FFFF, 0x3F80_0000)] {
        let quotient = f32::from_bits(x) / f32::from_bits(y);
        assert_eq!(apply(&mut Sequences, LaneOp::Div, &[x, y, 2]).0, Scalar.flush(quotient.to_bits()));
    }
    let mut random = Random(9);
    for _ in 0..200_000 {
        // x · y near 2^-126, z a tiny correction or zero.
        let x = 0x3F00_0000 + (random.next() as u32 >> 8);
        let y = (2f64.powi(-126) / f64::from(f32::from_bits(x))) as f32;
        let z = if random.next() % 2 == 0 { 0 } else { 0x0080_0000 | random.next() as u32 & 0x8000_0000 };
        for y in [y.to_bits(), y.to_bits() + 1, y.to_bits() - 1] {
            compare(LaneOp::Fma, &[x.into(), y.into(), z.into()]);
            compare(LaneOp::Div, &[y.into(), x.into(), 2]);
        }
    }
}
