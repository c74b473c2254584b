//! The linear filter (amd-il 5.4): arithmetic, not the device's samplers, so that all devices give the same bits.

use crate::isa::Algebra;
use crate::isa::lane::expr::expr;

/// a (1 − f) + b f. As all single precision arithmetic of the device, each step is rounded and flushes denormals. A value of
/// weight 0 does not count, so that an infinity or NaN beside the texel does no harm.
#[inline(always)]
fn mix<A: Algebra>(a: &mut A, x: A::W, y: A::W, f: A::W) -> A::W {
    let (x, y) = (a.flush(x), a.flush(y));
    let rest = expr!(a, fadd_raw(0x3F80_0000, xor(f, 0x8000_0000)));
    let sum = expr!(a, flush(fadd_raw(flush(fmul_raw(x, rest)), flush(fmul_raw(y, f)))));
    expr!(a, select(feq(f, 0), x, sum))
}

/// The weighted mean of two columns, of two rows if there are such: `taps` are by row, then column.
#[inline(always)]
pub fn linear<A: Algebra>(
    a: &mut A,
    first: [A::W; 2],
    second: Option<([A::W; 2], A::W)>,
    across: A::W,
) -> A::W {
    let top = mix(a, first[0], first[1], across);
    let value = match second {
        Some((second, down)) => {
            let bottom = mix(a, second[0], second[1], across);
            mix(a, top, bottom, down)
        }
        None => top,
    };
    a.canonical(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Scalar;

    fn of(first: [f32; 2], second: Option<([f32; 2], f32)>, across: f32) -> u32 {
        let second = second.map(|(row, down)| (row.map(f32::to_bits), down.to_bits()));
        linear(&mut Scalar, first.map(f32::to_bits), second, across.to_bits())
    }

    /// By hand; 0.25 and 0.75 are exact weights.
    #[test]
    fn means_are_weighted() {
        assert_eq!(of([1.0, 5.0], None, 0.25), 2.0f32.to_bits());
        assert_eq!(of([1.0, 5.0], Some(([3.0, 11.0], 0.5)), 0.25), 3.5f32.to_bits());
        assert_eq!(of([1.0, 5.0], Some(([3.0, 11.0], 0.0)), 1.0), 5.0f32.to_bits());
        // 1 − 0.1 is 0.9 rounded, 0.9 · 3 and 0.1 · 7 are rounded, and so is their sum.
        let sum = 3.0f32 * (1.0 - 0.1) + 7.0 * 0.1;
        assert_eq!(of([3.0, 7.0], None, 0.1), sum.to_bits());
    }

    #[test]
    fn what_has_no_weight_does_no_harm() {
        let (infinity, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!(of([2.0, infinity], None, 0.0), 2.0f32.to_bits());
        assert_eq!(of([2.0, nan], Some(([infinity, nan], 0.0)), 0.0), 2.0f32.to_bits());
        assert_eq!(of([2.0, infinity], None, -0.0), 2.0f32.to_bits());
        assert_eq!(of([2.0, infinity], None, 0.5), infinity.to_bits());
        assert_eq!(of([-infinity, infinity], None, 0.5), 0x7FC0_0000);
        assert_eq!(of([f32::from_bits(0xFFC0_1234), 1.0], None, 0.0), 0x7FC0_0000);
        // ∞ times a weight of 0 that is not the second's.
        assert_eq!(of([infinity, 2.0], None, 1.0), 0x7FC0_0000);
    }

    #[test]
    fn denormals_are_flushed_on_the_way() {
        let least = f32::MIN_POSITIVE;
        assert_eq!(of([-1e-40, 1.0], None, 0.0), 0x8000_0000);
        // Half of the least number is 0, twice.
        assert_eq!(of([least, least], None, 0.5), 0);
        assert_eq!(of([least * 2.0, 0.0], None, 0.5), least.to_bits());
    }
}
