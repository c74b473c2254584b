//! What operations compute.

use super::{MOST, Vector};
use crate::op::{Kind, OTHER, Op, Relation};

/// An operation that depends on nothing but its operands.
pub fn compute(op: Op, a: Vector, b: Vector, c: Vector, lazy: bool) -> Vector {
    use Op::*;
    let block = |from: [usize; 4]| -> Vector {
        std::array::from_fn(|lane| {
            let of = from[lane % 4];
            if of < 4 { a[lane / 4 * 4 + of] } else { b[lane / 4 * 4 + of - 4] }
        })
    };
    let split = |from: [usize; 4]| -> Vector { std::array::from_fn(|lane| a[lane / 4 * 4 + from[lane % 4]]) };
    match op {
        ZipLow => block([0, 4, 1, 5]),
        ZipHigh => block([2, 6, 3, 7]),
        Even | Join => block([0, 2, 4, 6]),
        Odd => block([1, 3, 5, 7]),
        Blend(bits) => {
            std::array::from_fn(|lane| if bits >> (lane % 8) & 1 == 1 { b[lane] } else { a[lane] })
        }
        Permute => a.map(|from| b[from as usize % MOST]),
        Permute2 => c.map(|from| if from < OTHER { a[from as usize] } else { b[(from - OTHER) as usize] }),
        SplitLow => split([0, 0, 1, 1]),
        SplitHigh => split([2, 2, 3, 3]),
        op if op.wide() => {
            let quad = |v: Vector, k: usize| u64::from(v[2 * k + 1]) << 32 | u64::from(v[2 * k]);
            let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| wide(op, quad(a, k), quad(b, k), quad(c, k)));
            std::array::from_fn(|lane| (words[lane / 2] >> (lane % 2 * 32)) as u32)
        }
        op => std::array::from_fn(|lane| narrow(op, a[lane], b[lane], c[lane], lazy)),
    }
}

/// A whole number, see [`Op::Round`].
fn rounded(how: u8, x: f32) -> f32 {
    match how {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    }
}

fn holds<T: PartialOrd>(relation: Relation, negated: bool, a: T, b: T) -> bool {
    let holds = match relation {
        Relation::Equal => a == b,
        Relation::Less => a < b,
        Relation::LessEqual => a <= b,
        Relation::Greater => a > b,
        Relation::GreaterEqual => a >= b,
        Relation::Unordered => a.partial_cmp(&b).is_none(),
    };
    holds != negated
}

fn narrow(op: Op, a: u32, b: u32, c: u32, lazy: bool) -> u32 {
    use Op::*;
    let flushed = |word: u32| if word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word };
    let float = |word: u32| f32::from_bits(if lazy { flushed(word) } else { word });
    let (x, y, z) = (float(a), float(b), float(c));
    let mask = |set: bool| if set { !0 } else { 0 };
    let top = |word: u32| word >> 31 == 1;
    let result = match op {
        Add => return a.wrapping_add(b),
        Sub => return a.wrapping_sub(b),
        Mul => return a.wrapping_mul(b),
        And | Both => return a & b,
        AndNot => return !a & b,
        Or | Either => return a | b,
        Xor => return a ^ b,
        Not => return !a,
        Shl => return a.checked_shl(b).unwrap_or(0),
        Shr => return a.checked_shr(b).unwrap_or(0),
        Sar => return (a as i32 >> b.min(31)) as u32,
        ShlBy(n) => return a << n,
        ShrBy(n) => return a >> n,
        SarBy(n) => return (a as i32 >> n) as u32,
        MinSigned => return (a as i32).min(b as i32) as u32,
        MaxSigned => return (a as i32).max(b as i32) as u32,
        LeadingZeros => return a.leading_zeros(),
        Flush => return flushed(a),
        Compare(kind, relation, negated) => {
            return mask(match kind {
                Kind::Signed => holds(relation, negated, a as i32, b as i32),
                Kind::Unsigned => holds(relation, negated, a, b),
                _ => holds(relation, negated, x, y),
            });
        }
        Common(any) => return mask((a & b != 0) == any),
        Doubtful => return mask(x.is_nan() || a == 0x8000_0000),
        Top => return mask(top(a)),
        Words | QWords | Copy => return a,
        Select => return if top(a) { b } else { c },
        Keep => return a & b,
        ToSigned | ToSignedBy(_) => {
            let whole = if let ToSignedBy(how) = op { rounded(how, x) } else { x.trunc() };
            let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&whole);
            return if fits { whole as i32 as u32 } else { 0x8000_0000 };
        }
        FAdd => x + y,
        FSub => x - y,
        FMul => x * y,
        FDiv => x / y,
        FMin => {
            if x < y {
                x
            } else {
                y
            }
        }
        FMax => {
            if x > y {
                x
            } else {
                y
            }
        }
        FSqrt => x.sqrt(),
        FFma => x.mul_add(y, z),
        Round(how) => rounded(how, x),
        FromSigned => a as i32 as f32,
        FromUnsigned => a as f32,
        op => unreachable!("{op:?} is of another kind"),
    };
    result.to_bits()
}

fn wide(op: Op, a: u64, b: u64, c: u64) -> u64 {
    use Op::*;
    let mask = |set: bool| if set { !0 } else { 0 };
    let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
    let result = match op {
        QAdd => return a.wrapping_add(b),
        QSub => return a.wrapping_sub(b),
        QMul => return a.wrapping_mul(b),
        QAnd => return a & b,
        QOr => return a | b,
        QXor => return a ^ b,
        QShl => return a.checked_shl(b as u32).unwrap_or(0),
        QShr => return a.checked_shr(b as u32).unwrap_or(0),
        QSar => return (a as i64 >> b.min(63)) as u64,
        QShlBy(n) => return a << n,
        QShrBy(n) => return a >> n,
        MulEvenUnsigned => return u64::from(a as u32) * u64::from(b as u32),
        MulEvenSigned => return (i64::from(a as i32) * i64::from(b as i32)) as u64,
        QTop => return mask(a >> 63 == 1),
        QSelect => return if a >> 63 == 1 { b } else { c },
        Compare(kind, relation, negated) => {
            return mask(match kind {
                Kind::SignedQuad => holds(relation, negated, a as i64, b as i64),
                Kind::UnsignedQuad => holds(relation, negated, a, b),
                _ => holds(relation, negated, x, y),
            });
        }
        DAdd => x + y,
        DMul => x * y,
        DDiv => x / y,
        DSqrt => x.sqrt(),
        DFma => x.mul_add(y, z),
        op => unreachable!("{op:?} is of another kind"),
    };
    result.to_bits()
}
