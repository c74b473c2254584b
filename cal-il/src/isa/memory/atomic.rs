//! New values of read-modify-write (amd-il 5.5).

use crate::ir::AtomicOp;
use crate::isa::Algebra;
use crate::isa::lane::expr::expr;
use crate::isa::lane::{int, int64};

/// The new value of a word whose old value is `m`; `s` and `s2` are the operands.
#[inline(always)]
pub fn new_word<A: Algebra>(a: &mut A, op: AtomicOp, m: A::W, s: A::W, s2: A::W) -> A::W {
    match op {
        AtomicOp::Add => a.iadd(m, s),
        AtomicOp::Sub => a.isub(m, s),
        AtomicOp::RSub => a.isub(s, m),
        AtomicOp::Min => int::imin(a, m, s),
        AtomicOp::Max => int::imax(a, m, s),
        AtomicOp::UMin => int::umin(a, m, s),
        AtomicOp::UMax => int::umax(a, m, s),
        AtomicOp::And => a.and(m, s),
        AtomicOp::Or => a.or(m, s),
        AtomicOp::Xor => a.xor(m, s),
        AtomicOp::Inc => expr!(a, select(ult(m, s), iadd(m, 1), 0)),
        AtomicOp::Dec => expr!(a, select(either(ieq(m, 0), ult(s, m)), s, isub(m, 1))),
        AtomicOp::MskOr => expr!(a, or(and(m, not(s)), s2)),
        AtomicOp::Xchg => s,
        AtomicOp::CmpXchg => expr!(a, select(ieq(m, s2), s, m)),
    }
}

/// The same of 64 bits.
#[inline(always)]
pub fn new_quad<A: Algebra>(a: &mut A, op: AtomicOp, m: A::Q, s: A::Q, s2: A::Q) -> A::Q {
    match op {
        AtomicOp::Add => a.qadd(m, s),
        AtomicOp::Sub => a.qsub(m, s),
        AtomicOp::RSub => a.qsub(s, m),
        AtomicOp::Min => int64::imin(a, m, s),
        AtomicOp::Max => int64::imax(a, m, s),
        AtomicOp::UMin => int64::umin(a, m, s),
        AtomicOp::UMax => int64::umax(a, m, s),
        AtomicOp::And => a.qand(m, s),
        AtomicOp::Or => a.qor(m, s),
        AtomicOp::Xor => a.qxor(m, s),
        AtomicOp::Inc => expr!(a, selectq(qult(m, s), qadd(m, quad({ 1 })), quad({ 0 }))),
        AtomicOp::Dec => {
            let wraps = expr!(a, either(qeq(m, quad({ 0 })), qult(s, m)));
            expr!(a, selectq(wraps, s, qsub(m, quad({ 1 }))))
        }
        AtomicOp::MskOr => expr!(a, qor(qand(m, qxor(s, quad({ !0 }))), s2)),
        AtomicOp::Xchg => s,
        AtomicOp::CmpXchg => expr!(a, selectq(qeq(m, s2), s, m)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Scalar;

    /// (operation, old, operands, new), by hand from the table of amd-il 5.5.
    const CASES: [(AtomicOp, i64, i64, i64, i64); 26] = [
        (AtomicOp::Add, -1, 2, 0, 1),
        (AtomicOp::Sub, 1, 2, 0, -1),
        (AtomicOp::RSub, 1, 5, 0, 4),
        (AtomicOp::RSub, 5, 1, 0, -4),
        (AtomicOp::Min, -1, 1, 0, -1),
        (AtomicOp::UMin, -1, 1, 0, 1),
        (AtomicOp::Max, -1, 1, 0, 1),
        (AtomicOp::UMax, -1, 1, 0, -1),
        (AtomicOp::And, 6, 3, 0, 2),
        (AtomicOp::Or, 6, 3, 0, 7),
        (AtomicOp::Xor, 6, 3, 0, 5),
        (AtomicOp::Inc, 4, 4, 0, 0),
        (AtomicOp::Inc, 3, 4, 0, 4),
        (AtomicOp::Inc, 9, 4, 0, 0),
        (AtomicOp::Inc, -1, -1, 0, 0),
        (AtomicOp::Inc, -2, -1, 0, -1),
        (AtomicOp::Dec, 0, 9, 0, 9),
        (AtomicOp::Dec, 10, 9, 0, 9),
        (AtomicOp::Dec, 9, 9, 0, 8),
        (AtomicOp::Dec, -1, -1, 0, -2),
        (AtomicOp::Dec, -1, 9, 0, 9),
        (AtomicOp::MskOr, 0xFF, 0x0F, 0x100, 0x1F0),
        (AtomicOp::Xchg, 1, 2, 0, 2),
        (AtomicOp::CmpXchg, 7, 2, 7, 2),
        (AtomicOp::CmpXchg, 8, 2, 7, 8),
        (AtomicOp::CmpXchg, -1, 2, -1, 2),
    ];

    #[test]
    fn new_values_follow_the_table() {
        for (op, m, s, s2, expected) in CASES {
            let words = [m, s, s2].map(|value| value as u32);
            let quads = [m, s, s2].map(|value| value as u64);
            let word = new_word(&mut Scalar, op, words[0], words[1], words[2]);
            assert_eq!(word, expected as u32, "{op:?} of {m}, {s} and {s2}");
            let quad = new_quad(&mut Scalar, op, quads[0], quads[1], quads[2]);
            assert_eq!(quad, expected as u64, "64 bits: {op:?} of {m}, {s} and {s2}");
        }
        assert_eq!(new_quad(&mut Scalar, AtomicOp::Add, u64::from(u32::MAX), 1, 0), 1 << 32);
        assert_eq!(new_quad(&mut Scalar, AtomicOp::Dec, 1 << 32, u64::MAX, 0), u64::from(u32::MAX));
    }
}
