//! Operations that may run where denormals count as zeros.

use recal_il::isa::LaneOp;

/// The operation takes flushed floats, gives what is flushed, and has no denormals on the way that matter.
pub fn flushes(op: LaneOp) -> bool {
    use LaneOp::*;
    matches!(
        op,
        Flush
            | Canon
            | Add
            | Sub
            | Mul
            | MulIeee
            | Mad
            | MadIeee
            | Fma
            | Lrp
            | Min
            | Max
            | MinIeee
            | MaxIeee
            | Min3
            | Med3
            | Max3
            | Clamp
            | Saturate
            | Sgn
            | Frc
            | Floor
            | Ceil
            | Trunc
            | RoundNearest
            | Rnd
            | Div
            | Rcp
            | Sqrt
            | Rsq
            | Ne
            | Eq
            | Ge
            | Gt
            | Le
            | Lt
            | SetNe
            | SetEq
            | SetGe
            | SetGt
            | SetLe
            | SetLt
            | Cmov
            | FtoiFlr
            | FtoiRpi
            | Udiv
            | Umod
    )
}
