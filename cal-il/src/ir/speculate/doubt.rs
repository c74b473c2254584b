//! What becomes of a value in which a zero met an infinity or NaN, or whose zero has the wrong sign.
//!
//! A bare product is IEEE's; the device's is +0 if a factor is zero. So a bare value is the right one, or NaN, or a zero of
//! the other sign. Sums and products keep it so, and who looks at the last of them sees whether it may be wrong.

use rustc_hash::{FxHashMap, FxHashSet};

use super::analysis::{Form, zero_rule};
use super::flat::{Flat, Kind};
use crate::ir::{LaneInst, Operand, Reg};
use crate::isa::LaneOp;
use crate::isa::lane::{Class, Numeric};

/// How a value may differ from the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Not at all.
    None,
    /// It may be NaN, or −0 for +0.
    Minus,
    /// It may be NaN, or a zero of the other sign.
    Zero,
}

/// What an operation makes of an argument in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// The result is in doubt.
    Passes,
    /// Right for zeros of both signs, but not for NaN; the result may be a zero of the other sign.
    Number,
    /// The same, and the result has no doubt.
    Decides,
    /// Right only for the right bits.
    Bits,
}

/// How the operation takes its argument `place`.
pub(super) fn taking(op: LaneOp, place: usize) -> Taking {
    use Numeric as N;
    match op.numeric() {
        N::Moves | N::Negates | N::Magnitude | N::Rounds => Taking::Passes,
        N::Sum | N::Difference | N::Product | N::IeeeProduct => Taking::Passes,
        N::ProductSum | N::IeeeProductSum => Taking::Passes,
        N::Chooses if place > 0 => Taking::Passes,
        // The condition of a `Cmov` is a number.
        N::Chooses if op.arguments()[0] == Class::F => Taking::Decides,
        N::Limits => Taking::Number,
        N::Compares | N::Converts => Taking::Decides,
        N::Chooses | N::Opaque => Taking::Bits,
    }
}

/// Doubt of the result, from that of operands. `bare`: its product is IEEE's.
fn doubt(inst: &LaneInst, bare: bool, of: impl Fn(Operand) -> Doubt) -> Doubt {
    use Numeric as N;
    let arg = |place: usize| of(inst.args[place]);
    let any = |from: usize| inst.args[from..].iter().map(|arg| of(*arg)).max().unwrap_or(Doubt::None);
    let other = |doubt: Doubt| if doubt == Doubt::None { doubt } else { Doubt::Zero };
    let factors = || arg(0).max(arg(1));
    let product = || if bare || factors() > Doubt::None { Doubt::Minus } else { Doubt::None };
    match inst.op.numeric() {
        N::Moves | N::Magnitude => arg(0),
        N::Negates | N::Rounds => other(arg(0)),
        N::Chooses => any(1),
        N::Sum => any(0),
        N::Difference => arg(0).max(other(arg(1))),
        N::Product => product(),
        N::IeeeProduct => other(factors()),
        N::ProductSum => product().max(arg(2)),
        N::IeeeProductSum => other(factors()).max(arg(2)),
        N::Limits => other(any(0)),
        N::Compares | N::Converts | N::Opaque => Doubt::None,
    }
}

/// Doubts of all registers that are written.
pub(super) fn doubts(flat: &Flat, forms: &[Form]) -> FxHashMap<Reg, Doubt> {
    let mut doubts: FxHashMap<Reg, Doubt> = FxHashMap::default();
    loop {
        let mut changed = false;
        for (item, form) in flat.items.iter().zip(forms) {
            let Kind::Lane(inst) = &item.kind else { continue };
            let bare = zero_rule(inst.op) && *form != Form::Full;
            let of = |operand| match operand {
                Operand::Reg(reg) => doubts.get(&reg).copied().unwrap_or(Doubt::None),
                _ => Doubt::None,
            };
            let found = doubt(inst, bare, of);
            let known = doubts.entry(inst.dst[0]).or_insert(Doubt::None);
            if found > *known {
                *known = found;
                changed = true;
            }
        }
        if !changed {
            return doubts;
        }
    }
}

/// Registers in doubt that somebody takes for numbers.
pub(super) fn numbers(flat: &Flat, doubts: &FxHashMap<Reg, Doubt>) -> FxHashSet<Reg> {
    let mut numbers = FxHashSet::default();
    for item in &flat.items {
        let Kind::Lane(inst) = &item.kind else { continue };
        for (place, arg) in inst.args.iter().enumerate() {
            if let (Operand::Reg(reg), Taking::Number | Taking::Decides) = (arg, taking(inst.op, place))
                && doubts.get(reg).is_some_and(|doubt| *doubt > Doubt::None)
            {
                numbers.insert(*reg);
            }
        }
    }
    numbers
}
