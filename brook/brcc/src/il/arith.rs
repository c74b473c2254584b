//! Arithmetic, comparisons, truth values, conversions.

use super::Emitter;
use super::asm::{Dst, Op};
use super::expr::{class, words};
use crate::ast::BinaryOp;
use crate::hir::{Expr, ExprKind};
use crate::types::{Class, Type};

impl<'k> Emitter<'k> {
    pub(crate) fn negate(&mut self, e: &'k Expr, inner: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        let op = self.operand(inner)?;
        match class(e.ty) {
            // A modifier of whoever reads it.
            Class::Float => Ok(op.negated()),
            Class::Double => {
                let dst = self.target(want, e.ty);
                // −0 − x keeps the sign of zeros.
                let zero = self.float_literal(e.ty, -0.0);
                self.asm.doubles("dadd", &dst, &[&zero, &op.negated()]);
                Ok(dst.op())
            }
            Class::Signed | Class::Unsigned => {
                let dst = self.target(want, e.ty);
                self.asm.each("inegate", &dst, &[&op]);
                Ok(dst.op())
            }
        }
    }

    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        a: &'k Expr,
        b: &'k Expr,
        e: &'k Expr,
        want: Option<&Dst>,
    ) -> Result<Op, String> {
        if let Some(done) = self.multiply_add(op, a, b, e, want)? {
            return Ok(done);
        }
        let class = class(e.ty);
        let x = self.operand(a)?;
        let y = self.operand(b)?;
        let name = match (op, class) {
            (BinaryOp::Add, Class::Float) => "add",
            (BinaryOp::Sub, Class::Float) => "sub",
            (BinaryOp::Mul, Class::Float) => "mul_ieee",
            (BinaryOp::Div, Class::Float) => "div_zeroop(infinity)",
            (_, Class::Double) => {
                let dst = self.careful(want, e);
                match op {
                    BinaryOp::Sub => self.asm.doubles("dadd", &dst, &[&x, &y.negated()]),
                    BinaryOp::Mul => self.asm.doubles("dmul", &dst, &[&x, &y]),
                    BinaryOp::Div => self.asm.doubles("ddiv_zeroop(infinity)", &dst, &[&x, &y]),
                    _ => self.asm.doubles("dadd", &dst, &[&x, &y]),
                }
                return Ok(dst.op());
            }
            (BinaryOp::Add, _) => "iadd",
            (BinaryOp::Sub, _) => {
                let dst = self.target(want, e.ty);
                self.asm.each("iadd", &dst, &[&x, &y.negated()]);
                return Ok(dst.op());
            }
            (BinaryOp::Mul, _) => "imul",
            (BinaryOp::Div, Class::Unsigned) => "udiv",
            (BinaryOp::Rem, Class::Unsigned) => "umod",
            (BinaryOp::Div | BinaryOp::Rem, _) => {
                return self.signed_division(op == BinaryOp::Div, &x, &y, e, want);
            }
            (BinaryOp::Shl, _) => "ishl",
            (BinaryOp::Shr, Class::Unsigned) => "ushr",
            (BinaryOp::Shr, _) => "ishr",
            (BinaryOp::And, _) => "iand",
            (BinaryOp::Or, _) => "ior",
            _ => "ixor",
        };
        let dst = self.target(want, e.ty);
        self.asm.each(name, &dst, &[&x, &y]);
        Ok(dst.op())
    }

    /// Magnitudes are divided; the quotient has the sign of both, the remainder that of the dividend.
    fn signed_division(
        &mut self,
        quotient: bool,
        x: &Op,
        y: &Op,
        e: &'k Expr,
        want: Option<&Dst>,
    ) -> Result<Op, String> {
        let n = words(e.ty);
        let zero = self.asm.int(0);
        let a = self.asm.new_each("imax", n, &[x, &x.clone().negated()]);
        let b = self.asm.new_each("imax", n, &[y, &y.clone().negated()]);
        let magnitude = self.asm.new_each(if quotient { "udiv" } else { "umod" }, n, &[&a, &b]);
        let sign = if quotient { self.asm.new_each("ixor", n, &[x, y]) } else { x.clone() };
        let below = self.asm.new_each("ilt", n, &[&sign, &zero]);
        let dst = self.target(want, e.ty);
        self.asm.each("cmov_logical", &dst, &[&below, &magnitude.clone().negated(), &magnitude]);
        Ok(dst.op())
    }

    /// One word of all ones or zeros for each component.
    pub(crate) fn mask(&mut self, e: &'k Expr) -> Result<Op, String> {
        let n = usize::from(e.ty.width());
        match &e.kind {
            ExprKind::Compare(op, a, b) => {
                let x = self.operand(a)?;
                let y = self.operand(b)?;
                Ok(self.compare(*op, a.ty, &x, &y))
            }
            ExprKind::Not(inner) => {
                let op = self.mask(inner)?;
                Ok(self.asm.new_each("inot", n, &[&op]))
            }
            ExprKind::Logic(and, a, b) => {
                let x = self.mask(a)?;
                if b.has_effects() {
                    // As in C, the second side is left out where the first decides.
                    let dst = self.asm.temp(1);
                    self.asm.mov(&dst, &x);
                    let test = self.asm.shown(&dst.op());
                    self.asm.line(&format!("{} {test}", if *and { "if_logicalnz" } else { "if_logicalz" }));
                    let y = self.mask(b)?;
                    self.asm.mov(&dst, &y);
                    self.asm.line("endif");
                    return Ok(dst.op());
                }
                let y = self.mask(b)?;
                Ok(self.asm.new_each(if *and { "iand" } else { "ior" }, n, &[&x, &y]))
            }
            _ => {
                let op = self.value(e)?;
                let zero = match class(e.ty) {
                    Class::Double | Class::Float => self.float_literal(e.ty, 0.0),
                    Class::Signed | Class::Unsigned => self.asm.int(0),
                };
                Ok(self.compare(BinaryOp::Ne, e.ty, &op, &zero))
            }
        }
    }

    pub(crate) fn compare(&mut self, op: BinaryOp, ty: Type, x: &Op, y: &Op) -> Op {
        let (x, y, op) = match op {
            BinaryOp::Gt => (y, x, BinaryOp::Lt),
            BinaryOp::Le => (y, x, BinaryOp::Ge),
            other => (x, y, other),
        };
        let at = match op {
            BinaryOp::Lt => 0,
            BinaryOp::Ge => 1,
            BinaryOp::Eq => 2,
            _ => 3,
        };
        let names = match class(ty) {
            Class::Float => ["lt", "ge", "eq", "ne"],
            Class::Double => ["dlt", "dge", "deq", "dne"],
            Class::Signed => ["ilt", "ige", "ieq", "ine"],
            Class::Unsigned => ["ult", "uge", "ieq", "ine"],
        };
        let dst = self.asm.temp(words(ty));
        if class(ty) == Class::Double {
            self.asm.doubles(names[at], &dst, &[x, y]);
            let firsts: Vec<u8> = (0..ty.width()).map(|c| 2 * c).collect();
            return dst.op().pick(&firsts);
        }
        self.asm.each(names[at], &dst, &[x, y]);
        dst.op()
    }

    /// A word to test, and whether zero is the true one.
    pub(crate) fn condition(&mut self, e: &'k Expr) -> Result<(Op, bool), String> {
        match &e.kind {
            ExprKind::Not(inner) => {
                let (op, inverted) = self.condition(inner)?;
                Ok((op, !inverted))
            }
            ExprKind::Compare(..) | ExprKind::Logic(..) => Ok((self.mask(e)?, false)),
            ExprKind::Intrinsic(which, args) => match self.reduction_of_truth(*which, args)? {
                Some(op) => Ok((op, false)),
                None => Ok((self.mask(e)?, false)),
            },
            _ if matches!(class(e.ty), Class::Signed | Class::Unsigned) => {
                Ok((self.value(e)?.word(0), false))
            }
            _ => Ok((self.mask(e)?, false)),
        }
    }

    /// 1 or 0 of the expression's type.
    pub(crate) fn truth(&mut self, e: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        let mask = self.mask(e)?;
        self.mask_value(&mask, e, want)
    }

    pub(crate) fn mask_value(&mut self, mask: &Op, e: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        let one = self.one(e.ty);
        let dst = self.target(want, e.ty);
        let both: Vec<u8> = match class(e.ty) {
            Class::Double => (0..e.ty.width()).flat_map(|c| [c, c]).collect(),
            _ => (0..e.ty.width()).collect(),
        };
        let one = if class(e.ty) == Class::Double { one.pick(&[0, 1, 0, 1][..words(e.ty)]) } else { one };
        self.asm.each("iand", &dst, &[&mask.pick(&both), &one]);
        Ok(dst.op())
    }

    pub(crate) fn cast(&mut self, e: &'k Expr, inner: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        let op = self.value(inner)?;
        let n = usize::from(e.ty.width());
        let name = match (class(inner.ty), class(e.ty)) {
            (Class::Signed, Class::Float) => "itof",
            (Class::Unsigned, Class::Float) => "utof",
            (Class::Float, Class::Signed) => "ftoi",
            (Class::Float, Class::Unsigned) => "ftou",
            (Class::Float, Class::Double) => {
                let dst = self.careful(want, e);
                for at in 0..n {
                    self.asm.whole("f2d", &dst.pair(at), &[&op.word(at)]);
                }
                return Ok(dst.op());
            }
            (Class::Double, Class::Float) => {
                let dst = self.careful(want, e);
                for at in 0..n {
                    self.asm.whole("d2f", &dst.word(at), &[&op.pair(at)]);
                }
                return Ok(dst.op());
            }
            (Class::Signed | Class::Unsigned, Class::Double) => {
                let dst = self.careful(want, e);
                for at in 0..n {
                    self.int_to_double(class(inner.ty) == Class::Signed, &op.word(at), &dst.pair(at));
                }
                return Ok(dst.op());
            }
            (Class::Double, Class::Signed | Class::Unsigned) => {
                let dst = self.careful(want, e);
                let signed = class(e.ty) == Class::Signed;
                for at in 0..n {
                    self.double_to_int(signed, &op.pair(at), &dst.word(at));
                }
                return Ok(dst.op());
            }
            // Bits stay.
            _ => return Ok(op),
        };
        let dst = self.target(want, e.ty);
        self.asm.each(name, &dst, &[&op]);
        Ok(dst.op())
    }

    /// Exact: both halves of the number are floats.
    fn int_to_double(&mut self, signed: bool, x: &Op, dst: &Dst) {
        let sixteen = self.asm.int(16);
        let low_bits = self.asm.int(0xFFFF);
        let high = self.asm.new_each(if signed { "ishr" } else { "ushr" }, 1, &[x, &sixteen]);
        let low = self.asm.new_each("iand", 1, &[x, &low_bits]);
        let high = self.asm.new_each("itof", 1, &[&high]);
        let low = self.asm.new_each("utof", 1, &[&low]);
        let (a, b) = (self.asm.temp(2), self.asm.temp(2));
        self.asm.whole("f2d", &a, &[&high]);
        self.asm.whole("f2d", &b, &[&low]);
        let scale = self.float_literal(DOUBLE, 65536.0);
        self.asm.doubles("dmul", &a, &[&a.op(), &scale]);
        self.asm.doubles("dadd", dst, &[&a.op(), &b.op()]);
    }

    /// The whole part of the magnitude plus 2^52 has the number as its low word; then the sign. What does not fit is the nearest
    /// number that does, NaN is 0: as floats are converted.
    fn double_to_int(&mut self, signed: bool, x: &Op, dst: &Dst) {
        let positive = self.asm.literal_pair(u32::MAX, 0x7FFF_FFFF);
        let magnitude = self.asm.new_each("iand", 2, &[x, &positive]);
        let fraction = self.asm.temp(2);
        self.asm.doubles("dfrac", &fraction, &[&magnitude]);
        let whole = self.asm.temp(2);
        self.asm.doubles("dadd", &whole, &[&magnitude, &fraction.op().negated()]);
        let magic = self.float_literal(DOUBLE, 4_503_599_627_370_496.0);
        self.asm.doubles("dadd", &whole, &[&whole.op(), &magic]);
        let zero = self.asm.int(0);
        let below = self.asm.new_each("ilt", 1, &[&x.word(1), &zero]);
        let number = whole.op().word(0);
        let (least, most, limit) = if signed {
            (i32::MIN as u32, i32::MAX as u32, 2_147_483_648.0)
        } else {
            (0, u32::MAX, 4_294_967_296.0)
        };
        let (least, most) = (self.asm.int(least), self.asm.int(most));
        let negative = if signed { number.clone().negated() } else { least.clone() };
        let number = self.asm.new_each("cmov_logical", 1, &[&below, &negative, &number]);
        let nearest = self.asm.new_each("cmov_logical", 1, &[&below, &least, &most]);
        let ordered = self.compare(BinaryOp::Eq, DOUBLE, x, x);
        let nearest = self.asm.new_each("iand", 1, &[&nearest, &ordered]);
        let limit = self.float_literal(DOUBLE, limit);
        let fits = self.compare(BinaryOp::Lt, DOUBLE, &magnitude, &limit);
        self.asm.each("cmov_logical", dst, &[&fits, &number, &nearest]);
    }
}

/// One double.
const DOUBLE: Type = Type::Vector(crate::types::Scalar::Double, 1);
