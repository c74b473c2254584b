//! Results that are no denormals, whatever their operands are.

use super::{Graph, Inst, NO, Val};
use crate::op::Op;

/// Exponent of the least number of which a sum with any float is no denormal.
const LEAST: i32 = -102;

impl Graph {
    /// The value is no denormal, whatever it is computed from.
    pub fn never_denormal(&self, val: Val) -> bool {
        let Some(Inst { op, args: [a, b, _], mask: NO }) = self.as_inst(val) else { return false };
        match op {
            Op::FromSigned | Op::FromUnsigned | Op::Round(_) => true,
            Op::FAdd | Op::FSub => [a, b].into_iter().any(|arg| self.word_of(arg).is_some_and(large)),
            _ => false,
        }
    }
}

/// Sums with the float are no denormals. If one is less than the float it is exact, and a multiple of what the last bit of half the float
/// counts: 2^(e - 24), where e is the exponent of the float. If that is 0 or not below 2^-126, so is the sum.
fn large(word: u32) -> bool {
    let exponent = (word >> 23 & 0xFF) as i32 - 127;
    (LEAST..128).contains(&exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recal_il::isa::Algebra;

    /// Floats near what makes the sum small, and others, in doubles, where the sum is exact if it could be a denormal float.
    #[test]
    fn sums_with_large_numbers_are_no_denormals() {
        let denormal = |sum: f64| sum != 0.0 && sum.abs() < f64::from(f32::MIN_POSITIVE);
        let mut state = 1u32;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let mut near = 0;
        for _ in 0..2_000_000 {
            let by = random();
            let ulps = if random() % 2 == 0 { random() % 4 } else { random() & 0x00FF_FFFF };
            let other = (by ^ 0x8000_0000).wrapping_sub(ulps);
            let sum = f64::from(f32::from_bits(by)) + f64::from(f32::from_bits(other));
            if large(by) {
                assert!(!denormal(sum), "{by:x} {other:x}");
            } else {
                near += u32::from(denormal(sum));
            }
        }
        assert!(near > 1000, "{near} sums of smaller ones are");
        // The bound is where the first one is: 2^-103 less the float below it.
        let [by, other] = [(127 - 103) << 23, ((127 - 103) << 23) - 1].map(f32::from_bits);
        assert!(denormal(f64::from(by) - f64::from(other)) && !large(by.to_bits()));
        assert!(large(((127 - 102) << 23) as u32) && !large(f32::INFINITY.to_bits()));
    }

    #[test]
    fn counters_are_not_flushed() {
        let mut graph = Graph::new(false);
        let row = graph.add(crate::graph::Node::Row(0));
        for (by, flushed) in [(1.0f32, false), (-0.5, false), (1e-31, true), (f32::INFINITY, true)] {
            let by = graph.word(by.to_bits());
            let sum = graph.fadd_raw(row, by);
            assert_eq!(graph.flush(sum) != sum, flushed);
        }
        let sum = graph.fadd_raw(row, row);
        assert_ne!(graph.flush(sum), sum);
    }
}
