//! Native float mode: the device's own instructions against the CPU's documented bits, within bounds.
//!
//! The cases' inputs are full of denormals, infinities and NaNs, of which native mode promises nothing. So a generated
//! case of float operations runs on ordinary values instead, 2^-4 to 2^4 in magnitude, on the CPU in faithful mode and
//! on the device, and every word must be within the operation's bound. Other cases keep their expected words.

use recal_il::ir::{Block, Program, StmtKind};
use recal_il::isa::lane::Class;

use crate::case::Case;

/// What the words of a case are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Single precision.
    Floats,
    /// Double precision, in pairs of words.
    Doubles,
}

/// What the operations of the program are about; `None` if there are no operations on floating-point numbers.
pub fn values(program: &Program) -> Option<Values> {
    fn classes(statements: &Block, found: &mut Vec<Class>) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Lane(inst) => {
                    found.extend_from_slice(inst.op.arguments());
                    found.push(inst.op.result());
                }
                StmtKind::If { then, otherwise, .. } => {
                    classes(then, found);
                    classes(otherwise, found);
                }
                StmtKind::Loop { body } => classes(body, found),
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| classes(&arm.body, found)),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    program.functions.iter().for_each(|function| classes(&function.body, &mut found));
    match (found.contains(&Class::F), found.contains(&Class::Q)) {
        (true, _) => Some(Values::Floats),
        (false, true) => Some(Values::Doubles),
        (false, false) => None,
    }
}

/// The operation that a generated case is about.
pub fn operation(case: &Case) -> Option<&str> {
    let mut parts = case.name.split('/');
    (parts.next() == Some("alu")).then(|| parts.next()).flatten()
}

/// The same case with ordinary values in its first buffer; `None` if it has none.
pub fn with_ordinary_values(case: &Case, values: Values) -> Option<Case> {
    let mut case = case.clone();
    let input = case.buffers.iter_mut().find(|buffer| buffer.expected.is_none())?;
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    for (k, word) in input.initial.chunks_exact_mut(4).enumerate() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (bits, exponent) = ((state >> 20) as u32, (state >> 44) as u32 % 8);
        let ordinary = match values {
            Values::Floats => bits & 0x807F_FFFF | (123 + exponent) << 23,
            Values::Doubles if k % 2 == 1 => bits & 0x800F_FFFF | (1019 + exponent) << 20,
            Values::Doubles => bits,
        };
        word.copy_from_slice(&ordinary.to_le_bytes());
    }
    Some(case)
}

/// Floats between two values; the largest number where only one is finite. Nothing is promised where the faithful
/// result is not finite.
pub fn distance(found: u64, faithful: u64, values: Values) -> u64 {
    let (sign, infinity) = match values {
        Values::Floats => (1 << 31, 0xFF << 23),
        Values::Doubles => (1 << 63, 0x7FF << 52),
    };
    let special = |w: u64| w & infinity == infinity;
    let ordered = |w: u64| if w & sign == 0 { i128::from(w) } else { -i128::from(w & (sign - 1)) };
    if found == faithful || special(faithful) {
        0
    } else if special(found) {
        u64::MAX
    } else {
        u64::try_from(ordered(found).abs_diff(ordered(faithful))).unwrap_or(u64::MAX)
    }
}

/// How far native results of an operation may be from faithful ones: within one of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// In floats.
    pub floats: u64,
    /// In absolute value, for operations whose terms cancel.
    pub absolute: f64,
}

impl Bound {
    /// Whether a result is within it.
    pub fn allows(self, found: u64, faithful: u64, values: Values) -> bool {
        let number = |bits: u64| match values {
            Values::Floats => f32::from_bits(bits as u32).into(),
            Values::Doubles => f64::from_bits(bits),
        };
        let difference = (number(found) - number(faithful)).abs();
        distance(found, faithful, values) <= self.floats || difference <= self.absolute
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
const BOUNDS: [(&str, u64, f64); 22] = [
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
    // One driver rounds twice.
    ("utof", 1, 0.0),
    ("fma", 1, 1.0 / 65536.0),
    ("mad", 1, 1.0 / 65536.0),
    // Of doubles below 16.
    ("dmad", 1, 1.0 / (1u64 << 45) as f64),
    ("dp2add", 1, 1.0 / 4096.0),
    ("dp2", 1, 1.0 / 4096.0),
    ("dp3", 1, 1.0 / 4096.0),
    ("dp4", 1, 1.0 / 4096.0),
    ("reflect_normalize", 8, 1.0 / 4096.0),
    ("reflect", 4, 1.0 / 4096.0),
];

#[cfg(test)]
mod tests {
    use super::{Values, bound, distance};

    #[test]
    fn distances_count_floats() {
        assert_eq!(distance(0x3F80_0000, 0x3F80_0003, Values::Floats), 3);
        assert_eq!(distance(0x8000_0001, 0x0000_0001, Values::Floats), 2);
        assert_eq!(distance(0x7F80_0000, 0x7F7F_FFFF, Values::Floats), u64::MAX);
        assert_eq!(distance(1 << 63 | 1, 1, Values::Doubles), 2);
        assert_eq!(distance(0x7FF << 52, (0x7FF << 52) - 1, Values::Doubles), u64::MAX);
    }

    #[test]
    fn bounds_are_by_the_name_before_specifiers() {
        let allows = |name, found, faithful| bound(name).allows(found, faithful, Values::Floats);
        assert_eq!(bound("rsq_zeroop(zero)"), bound("rsq"));
        assert_eq!(bound("add").floats, 0);
        assert!(!allows("add", 0x3F80_0001, 0x3F80_0000));
        assert!(allows("rcp", 0x3F80_0003, 0x3F80_0000) && !allows("rcp", 0x3F80_0004, 0x3F80_0000));
        assert!(allows("fma", 0x3580_0000, 0) && !allows("fma", 0x3F80_0000, 0));
        assert!(bound("dmad").allows(1, 0, Values::Doubles) && !bound("dmul").allows(1, 0, Values::Doubles));
    }
}
