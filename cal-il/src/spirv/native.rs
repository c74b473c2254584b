//! Native mode: lane operations that are the device's own instruction.
//!
//! They agree with the documented result on ordinary values, up to the bounds in `docs/conformance.md`; nothing is promised of
//! denormals, infinities and NaNs. So the rule that zero times anything is zero needs no code, and `mad` leaves the
//! driver free to round once. Sums and products that the program wrote as such are never contracted.

use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};

use super::Emitter;
use super::forms::Quad;
use super::module::Type;
use crate::isa::{Algebra, LaneOp};

impl Emitter<'_> {
    /// A float as an unsigned integer, on devices that saturate. What a driver makes of a constant is its own affair, so those
    /// are converted here.
    pub(super) fn saturated(&mut self, float: Word) -> Word {
        match self.w.bits.get(&float).copied() {
            Some(bits) => self.word(f32::from_bits(bits) as u32),
            None => {
                let float = self.as_float(float);
                self.w.op(Op::ConvertFToU, self.t.u32, &[float])
            }
        }
    }

    /// The same for a signed integer.
    fn saturated_signed(&mut self, float: Word) -> Word {
        match self.w.bits.get(&float).copied() {
            Some(bits) => self.word(f32::from_bits(bits) as i32 as u32),
            None => self.ftoi_raw(float),
        }
    }

    /// The operation by an instruction or two of the device; `None` if there are none.
    pub(super) fn native(&mut self, op: LaneOp, words: &[Word]) -> Option<(Word, Option<Word>)> {
        let one = match op {
            LaneOp::Exp => self.glsl_float(GLOp::Exp2, words),
            LaneOp::Ftou if self.target.saturates => self.saturated(words[0]),
            LaneOp::Ftoi if self.target.saturates => self.saturated_signed(words[0]),
            LaneOp::Neg => {
                let argument = self.as_float(words[0]);
                let float = self.w.op(Op::FNegate, self.t.f32, &[argument]);
                self.as_word(float)
            }
            LaneOp::Abs => self.glsl_float(GLOp::FAbs, words),
            LaneOp::Sub => self.float_op(Op::FSub, words),
            LaneOp::Mul | LaneOp::MulIeee => self.float_op(Op::FMul, words),
            LaneOp::Mad | LaneOp::MadIeee => self.glsl_float(GLOp::Fma, words),
            LaneOp::Dmad => {
                let quads = [0, 2, 4].map(|k| Quad::Words(words[k], words[k + 1]));
                let arguments = quads.map(|q| self.double(q));
                let ty = self.w.ty(Type::F64);
                let sum = Quad::Double(self.w.glsl(GLOp::Fma, ty, &arguments));
                let (low, high) = self.words(sum);
                return Some((low, Some(high)));
            }
            LaneOp::Min => self.glsl_float(GLOp::FMin, words),
            LaneOp::Max => self.glsl_float(GLOp::FMax, words),
            LaneOp::MinIeee => self.glsl_float(GLOp::NMin, words),
            LaneOp::MaxIeee => self.glsl_float(GLOp::NMax, words),
            LaneOp::Clamp => {
                let raised = self.glsl_float(GLOp::FMax, &words[..2]);
                self.glsl_float(GLOp::FMin, &[raised, words[2]])
            }
            LaneOp::Floor => self.glsl_float(GLOp::Floor, words),
            LaneOp::Ceil => self.glsl_float(GLOp::Ceil, words),
            LaneOp::Trunc => self.glsl_float(GLOp::Trunc, words),
            LaneOp::RoundNearest => self.glsl_float(GLOp::RoundEven, words),
            _ => return None,
        };
        Some((one, None))
    }
}
