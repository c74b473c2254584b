//! Constant folding.

use smallvec::SmallVec;

use crate::ir::{LaneOp, Operand};
use crate::isa::lane::{self, Class};
use crate::isa::{Algebra, Scalar};

/// The result words of `op` if all its operands are constants; denormals are flushed and NaNs canonical as the
/// classes of the operation say.
#[inline(always)]
pub(super) fn fold(op: LaneOp, args: &[Operand]) -> Option<(u32, Option<u32>)> {
    // Most are not, which the first operands tell.
    if args.iter().any(|arg| !matches!(arg, Operand::Imm(_))) {
        return None;
    }
    Some(constant(op, args))
}

/// The same of constants.
#[inline(never)]
fn constant(op: LaneOp, args: &[Operand]) -> (u32, Option<u32>) {
    let mut words: SmallVec<[u32; 6]> =
        args.iter().map(|arg| if let Operand::Imm(word) = arg { *word } else { 0 }).collect();
    let mut at = 0;
    for class in op.arguments() {
        if *class == Class::F {
            words[at] = Scalar.flush(words[at]);
        }
        at += class.words();
    }
    let (low, high) = lane::fold(op, &words);
    match op.result() {
        Class::F => (Scalar.canonical(low), high),
        Class::W | Class::Q => (low, high),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Reg;

    #[test]
    fn classes_decide() {
        let imm = |f: f32| Operand::Imm(f.to_bits());
        assert_eq!(fold(LaneOp::Add, &[imm(1.5), imm(2.0)]), Some((3.5f32.to_bits(), None)));
        // A denormal is 0 to arithmetic and itself to a move.
        assert_eq!(fold(LaneOp::Add, &[Operand::Imm(1), Operand::Imm(1)]), Some((0, None)));
        assert_eq!(fold(LaneOp::NegBits, &[Operand::Imm(1)]), Some((0x8000_0001, None)));
        // Infinity minus infinity is the one NaN.
        let infinity = imm(f32::INFINITY);
        assert_eq!(fold(LaneOp::Sub, &[infinity, infinity]), Some((0x7FC0_0000, None)));
        assert_eq!(fold(LaneOp::Add, &[imm(1.0), Operand::Reg(Reg(0))]), None);
    }
}
