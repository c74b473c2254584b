//! Native float mode: the device's own instructions against the CPU's documented bits, within bounds.
//!
//! The cases' inputs are full of denormals, infinities and NaNs, of which native mode promises nothing. So a generated
//! case of float operations runs on ordinary values instead, 2^-4 to 2^4 in magnitude, on the CPU in faithful mode and
//! on the device, and every word must be within the operation's bound. Other cases keep their expected words.

use cal_il::ir::{Block, Program, StmtKind};
use cal_il::isa::lane::Class;

use crate::case::{Case, order};

/// Whether single precision operations occur in the program.
pub fn uses_floats(program: &Program) -> bool {
    fn block(statements: &Block) -> bool {
        statements.iter().any(|statement| match &statement.kind {
            StmtKind::Lane(inst) => inst.op.arguments().contains(&Class::F) || inst.op.result() == Class::F,
            StmtKind::If { then, otherwise, .. } => block(then) || block(otherwise),
            StmtKind::Loop { body } => block(body),
            StmtKind::Switch { arms, .. } => arms.iter().any(|arm| block(&arm.body)),
            _ => false,
        })
    }
    program.functions.iter().any(|function| block(&function.body))
}

/// The operation that a generated case is about.
pub fn operation(case: &Case) -> Option<&str> {
    let mut parts = case.name.split('/');
    (parts.next() == Some("alu")).then(|| parts.next()).flatten()
}

/// The same case with ordinary floats in its first buffer; `None` if it has none.
pub fn with_ordinary_values(case: &Case) -> Option<Case> {
    let mut case = case.clone();
    let input = case.buffers.iter_mut().find(|buffer| buffer.expected.is_none())?;
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    for word in input.initial.chunks_exact_mut(4) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let bits = (state >> 20) as u32;
        let exponent = 123 + (bits >> 24) % 8;
        word.copy_from_slice(&(bits & 0x807F_FFFF | exponent << 23).to_le_bytes());
    }
    Some(case)
}

/// Floats between two words; the largest number where only one is finite. Nothing is promised where the faithful
/// result is not finite.
pub fn distance(found: u32, faithful: u32) -> u64 {
    let special = |w: u32| w & 0x7F80_0000 == 0x7F80_0000;
    if found == faithful || special(faithful) {
        0
    } else if special(found) {
        u64::MAX
    } else {
        order(found).abs_diff(order(faithful))
    }
}

/// How far native results of an operation may be from faithful ones: within one of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// In floats.
    pub floats: u64,
    /// In absolute value, for operations whose terms cancel.
    pub absolute: f32,
}

impl Bound {
    /// Whether a result is within it.
    pub fn allows(self, found: u32, faithful: u32) -> bool {
        let difference = (f32::from_bits(found) - f32::from_bits(faithful)).abs();
        distance(found, faithful) <= self.floats || difference <= self.absolute
    }
}

/// The bound of an operation, on ordinary values.
pub fn bound(operation: &str) -> Bound {
    let named = |name: &str| {
        operation.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '(']))
    };
    let found = BOUNDS.iter().find(|(name, ..)| named(name));
    found.map_or(Bound { floats: 0, absolute: 0.0 }, |(_, floats, absolute)| Bound {
        floats: *floats,
        absolute: *absolute,
    })
}

/// Operations with device instructions in them; all others are exact on ordinary values. The longer of two names
/// with a common start comes first.
///
/// Vulkan asks for 2.5 ulp in quotients, 2 in reciprocal roots, 3 + 2 |x| in exp2; a root may be the quotient of 1 by
/// the reciprocal root; a fused multiply-add may round its product, here below 256, on its own, and `mad` may be one. A
/// dot product is up to three of these with sums below 1024.
const BOUNDS: [(&str, u64, f32); 19] = [
    ("div", 3, 0.0),
    ("rcp", 3, 0.0),
    ("rsq", 2, 0.0),
    ("sqrt", 5, 0.0),
    ("len", 6, 0.0),
    ("dist", 6, 0.0),
    ("nrm", 5, 0.0),
    ("exp", 35, 0.0),
    ("expp", 35, 0.0),
    ("exn", 96, 0.0),
    ("pow", 600, 0.0),
    ("lit", 600, 0.0),
    ("fma", 1, 1.0 / 65536.0),
    ("mad", 1, 1.0 / 65536.0),
    ("dp2add", 1, 1.0 / 4096.0),
    ("dp2", 1, 1.0 / 4096.0),
    ("dp3", 1, 1.0 / 4096.0),
    ("dp4", 1, 1.0 / 4096.0),
    ("reflect_normalize", 8, 1.0 / 4096.0),
];

#[cfg(test)]
mod tests {
    use super::{bound, distance};

    #[test]
    fn distances_count_floats() {
        assert_eq!(distance(0x3F80_0000, 0x3F80_0003), 3);
        assert_eq!(distance(0x8000_0001, 0x0000_0001), 2);
        assert_eq!(distance(0x7F80_0000, 0x7F7F_FFFF), u64::MAX);
    }

    #[test]
    fn bounds_are_by_the_name_before_specifiers() {
        assert_eq!(bound("rsq_zeroop(zero)"), bound("rsq"));
        assert_eq!(bound("add").floats, 0);
        assert!(!bound("add").allows(0x3F80_0001, 0x3F80_0000));
        assert!(
            bound("rcp").allows(0x3F80_0003, 0x3F80_0000) && !bound("rcp").allows(0x3F80_0004, 0x3F80_0000)
        );
        assert!(bound("fma").allows(0x3580_0000, 0) && !bound("fma").allows(0x3F80_0000, 0));
    }
}
