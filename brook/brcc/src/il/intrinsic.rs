//! The functions of the language.

use super::Emitter;
use super::asm::{Dst, Op};
use super::expr::{class, words};
use crate::ast::BinaryOp;
use crate::hir::{Expr, Intrinsic as F};
use crate::types::Class;

impl<'k> Emitter<'k> {
    pub(crate) fn intrinsic(
        &mut self,
        which: F,
        args: &'k [Expr],
        e: &'k Expr,
        want: Option<&Dst>,
    ) -> Result<Op, String> {
        if let Some(mask) = self.reduction_of_truth(which, args)? {
            return self.mask_value(&mask, e, want);
        }
        let ops: Vec<Op> = args.iter().map(|a| self.value(a)).collect::<Result<_, _>>()?;
        let class = class(args[0].ty);
        let float = class == Class::Float;
        let single = match (which, class) {
            (F::Abs, Class::Float) => "abs",
            (F::Sign, Class::Float) => "sgn",
            (F::Min, Class::Float) => "min",
            (F::Max, Class::Float) => "max",
            (F::Min, Class::Signed) => "imin",
            (F::Max, Class::Signed) => "imax",
            (F::Min, Class::Unsigned) => "umin",
            (F::Max, Class::Unsigned) => "umax",
            (F::Floor, _) => "round_neginf",
            (F::Round, _) => "rnd",
            (F::Frac, _) => "frc",
            (F::Fmod, _) => "mod",
            (F::Sqrt, _) => "sqrt_vec",
            (F::Rsqrt, _) => "rsq_vec",
            (F::Sin, _) => "sin_vec",
            (F::Cos, _) => "cos_vec",
            _ => "",
        };
        if !single.is_empty() {
            let dst = self.target(want, e.ty);
            let list: Vec<&Op> = ops.iter().collect();
            self.asm.each(single, &dst, &list);
            return Ok(dst.op());
        }
        let replicated = match which {
            F::Exp => "exn",
            F::Log => "ln_zeroop(infinity)",
            F::Pow => "pow",
            F::Asin => "asin",
            F::Acos => "acos",
            _ => "",
        };
        let n = words(e.ty);
        if !replicated.is_empty() {
            let dst = self.careful(want, e);
            for at in 0..n {
                let list: Vec<Op> = ops.iter().map(|op| op.word(at)).collect();
                self.asm.each(replicated, &dst.word(at), &list.iter().collect::<Vec<_>>());
            }
            return Ok(dst.op());
        }
        match which {
            F::Abs => {
                let dst = self.target(want, e.ty);
                self.asm.each("imax", &dst, &[&ops[0], &ops[0].clone().negated()]);
                Ok(dst.op())
            }
            F::Sign => {
                let (one, less) = (self.asm.int(1), self.asm.int(u32::MAX));
                let dst = self.careful(want, e);
                if class == Class::Unsigned {
                    self.asm.each("umin", &dst, &[&ops[0], &one]);
                } else {
                    self.asm.each("imin", &dst, &[&ops[0], &one]);
                    self.asm.each("imax", &dst, &[&dst.op(), &less]);
                }
                Ok(dst.op())
            }
            F::Clamp => {
                let lifted = self.asm.new_each("max", n, &[&ops[0], &ops[1]]);
                let dst = self.target(want, e.ty);
                self.asm.each("min", &dst, &[&lifted, &ops[2]]);
                Ok(dst.op())
            }
            F::Lerp => {
                let span = self.asm.new_each("sub", n, &[&ops[1], &ops[0]]);
                let dst = self.target(want, e.ty);
                self.asm.each("mad_ieee", &dst, &[&ops[2], &span, &ops[0]]);
                Ok(dst.op())
            }
            F::Dot => {
                let dst = self.target(want, e.ty);
                self.dot(&ops[0], &ops[1], class, usize::from(args[0].ty.width()), &dst);
                Ok(dst.op())
            }
            F::Cross => {
                let (multiply, add) = if float { ("mul_ieee", "mad_ieee") } else { ("imul", "imad") };
                let (yzx, zxy) = ([1, 2, 0], [2, 0, 1]);
                let back = self.asm.new_each(multiply, 3, &[&ops[0].pick(&zxy), &ops[1].pick(&yzx)]);
                let dst = self.target(want, e.ty);
                self.asm.each(add, &dst, &[&ops[0].pick(&yzx), &ops[1].pick(&zxy), &back.negated()]);
                Ok(dst.op())
            }
            F::Normalize => {
                let length = self.asm.temp(1);
                self.dot(&ops[0], &ops[0], class, n, &length);
                self.asm.each("sqrt_vec", &length, &[&length.op()]);
                let dst = self.target(want, e.ty);
                self.asm.each("div_zeroop(infinity)", &dst, &[&ops[0], &length.op()]);
                Ok(dst.op())
            }
            F::IsFinite | F::IsInf | F::IsNan => {
                let (magnitude, infinite) = (self.asm.int(0x7FFF_FFFF), self.asm.int(0x7F80_0000));
                let bits = self.asm.new_each("iand", n, &[&ops[0], &magnitude]);
                let mask = match which {
                    F::IsInf => self.asm.new_each("ieq", n, &[&bits, &infinite]),
                    F::IsNan => self.asm.new_each("ilt", n, &[&infinite, &bits]),
                    _ => self.asm.new_each("ilt", n, &[&bits, &infinite]),
                };
                self.mask_value(&mask, e, want)
            }
            _ => Err("a function without code".to_owned()),
        }
    }

    /// Sum of products, first component first.
    fn dot(&mut self, a: &Op, b: &Op, class: Class, n: usize, dst: &Dst) {
        match class {
            Class::Float if n == 1 => self.asm.each("mul_ieee", dst, &[a, b]),
            Class::Float => {
                // As written out: the sum grows from the left.
                let mut sum = self.asm.new_each("mul_ieee", 1, &[&a.word(0), &b.word(0)]);
                for at in 1..n {
                    let to = if at + 1 == n { dst.clone() } else { self.asm.temp(1) };
                    self.asm.each("mad_ieee", &to, &[&a.word(at), &b.word(at), &sum]);
                    sum = to.op();
                }
            }
            Class::Double => {
                let mut sum = self.asm.temp(2);
                self.asm.doubles("dmul", &sum, &[&a.pair(0), &b.pair(0)]);
                for at in 1..n {
                    let product = self.asm.temp(2);
                    self.asm.doubles("dmul", &product, &[&a.pair(at), &b.pair(at)]);
                    let next = self.asm.temp(2);
                    self.asm.doubles("dadd", &next, &[&sum.op(), &product.op()]);
                    sum = next;
                }
                self.asm.mov(dst, &sum.op());
            }
            Class::Signed | Class::Unsigned => {
                let mut sum = self.asm.new_each("imul", 1, &[&a.word(0), &b.word(0)]);
                for at in 1..n {
                    sum = self.asm.new_each("imad", 1, &[&a.word(at), &b.word(at), &sum]);
                }
                self.asm.mov(dst, &sum);
            }
        }
    }

    /// `any` and `all` as a mask of one word.
    pub(crate) fn reduction_of_truth(&mut self, which: F, args: &'k [Expr]) -> Result<Option<Op>, String> {
        let name = match which {
            F::Any => "ior",
            F::All => "iand",
            _ => return Ok(None),
        };
        let mut mask = self.mask(&args[0])?;
        let mut n = usize::from(args[0].ty.width());
        while n > 1 {
            let half = n.div_ceil(2);
            let (front, back): (Vec<u8>, Vec<u8>) =
                ((0..half as u8).collect(), (half as u8..n as u8).collect());
            // An odd one is paired with the last.
            let back: Vec<u8> = front
                .iter()
                .map(|at| back.get(usize::from(*at)).or(back.last()).copied().unwrap_or(0))
                .collect();
            mask = self.asm.new_each(name, half, &[&mask.pick(&front), &mask.pick(&back)]);
            n = half;
        }
        Ok(Some(mask))
    }

    /// A comparison of words, for addresses.
    pub(crate) fn below(&mut self, x: &Op, limit: &Op) -> Op {
        self.compare(
            BinaryOp::Lt,
            crate::types::Type::Vector(crate::types::Scalar::UInt, x.comps.len() as u8),
            x,
            limit,
        )
    }
}
