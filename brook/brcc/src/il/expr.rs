//! Expressions.
//!
//! A value is an operand: variables, literals and swizzles cost nothing. Where the result is wanted in a certain place, the last
//! instruction writes it there, unless it takes several that would overwrite what they read.

use super::asm::{Dst, Op};
use super::{Emitter, Frame};
use crate::ast::BinaryOp;
use crate::hir::{Base, Expr, ExprKind, Place, VarId};
use crate::types::{Class, Scalar, Type};

/// Expressions inside each other, those of called kernels too: the stack must not end first.
const DEEPEST: u32 = 2000;

/// Words of a register that a vector takes.
pub(crate) fn words(ty: Type) -> usize {
    match ty {
        Type::Vector(Scalar::Double, n) => 2 * usize::from(n),
        Type::Vector(_, n) => usize::from(n),
        _ => 0,
    }
}

pub(crate) fn class(ty: Type) -> Class {
    ty.scalar().map_or(Class::Signed, Scalar::class)
}

/// Words of components.
pub(crate) fn word_list(ty: Type, components: &[u8]) -> Vec<u8> {
    if class(ty) == Class::Double {
        components.iter().flat_map(|c| [2 * c, 2 * c + 1]).collect()
    } else {
        components.to_vec()
    }
}

impl<'k> Emitter<'k> {
    /// Fresh registers for a value.
    pub(crate) fn fresh(&mut self, ty: Type) -> Vec<Op> {
        let leaves = self.structs.leaves(ty);
        leaves.iter().map(|leaf| self.asm.temp(words(leaf.ty())).op()).collect()
    }

    pub(crate) fn frame(&mut self) -> &mut Frame<'k> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn variable(&mut self, id: VarId) -> Vec<Op> {
        if let Some(ops) = &self.frame().vars[id] {
            return ops.clone();
        }
        // Declared in a block that was left out, or never stored to.
        let ty = self.frame().kernel.vars[id].ty;
        let fresh = self.fresh(ty);
        self.frame().vars[id] = Some(fresh.clone());
        fresh
    }

    /// A value of any type, one operand for each leaf; none for `void`.
    pub(crate) fn leaves(&mut self, e: &'k Expr) -> Result<Vec<Op>, String> {
        match (&e.kind, e.ty) {
            (ExprKind::Call(at, args), _) => self.call(*at, args),
            (ExprKind::Comma(a, b), _) => {
                self.leaves(a)?;
                self.leaves(b)
            }
            (_, Type::Void | Type::Unknown) => Ok(Vec::new()),
            (_, Type::Vector(..)) => Ok(vec![self.value(e)?]),
            (ExprKind::Var(id), _) => Ok(self.variable(*id)),
            (ExprKind::Member(base, at), _) => {
                let all = self.leaves(base)?;
                let (first, count) = self.member_range(base.ty, *at);
                Ok(all[first..first + count].to_vec())
            }
            (ExprKind::Gather(param, index), _) => self.gather(*param, index, e.ty, None),
            (ExprKind::Assign(place, value), _) => {
                let to = self.place_leaves(place);
                self.assign_leaves(&to, value)?;
                Ok(to)
            }
            (ExprKind::Cond(c, a, b), _) => {
                let to = self.fresh(e.ty);
                self.branch(c, a, b, &to)?;
                Ok(to)
            }
            _ => Err("a struct is computed".to_owned()),
        }
    }

    /// First leaf and number of leaves of a struct's member.
    fn member_range(&self, ty: Type, at: usize) -> (usize, usize) {
        let Type::Struct(id) = ty else { return (0, 1) };
        let members = &self.structs.get(id).members;
        let first = members[..at].iter().map(|(_, t)| self.structs.count(*t)).sum();
        (first, self.structs.count(members[at].1))
    }

    /// Registers of a variable's member.
    pub(crate) fn place_leaves(&mut self, place: &'k Place) -> Vec<Op> {
        let Base::Var(id) = place.base else { return Vec::new() };
        let mut ops = self.variable(id);
        let mut ty = self.frame().kernel.vars[id].ty;
        for at in &place.path {
            let (first, count) = self.member_range(ty, *at);
            ops = ops[first..first + count].to_vec();
            if let Type::Struct(id) = ty {
                ty = self.structs.get(id).members[*at].1;
            }
        }
        if !place.swizzle.is_empty() {
            ops = vec![ops[0].pick(&word_list(ty, &place.swizzle))];
        }
        ops
    }

    /// The value of a vector, without modifiers: what reads it may take its bits.
    pub(crate) fn value(&mut self, e: &'k Expr) -> Result<Op, String> {
        let op = self.generate(e, None)?;
        if !op.neg {
            return Ok(op);
        }
        let dst = self.asm.temp(op.comps.len());
        self.asm.mov(&dst, &op);
        Ok(dst.op())
    }

    /// The value of a vector for an instruction on floats, which may negate what it reads.
    pub(crate) fn operand(&mut self, e: &'k Expr) -> Result<Op, String> {
        if class(e.ty) == Class::Float { self.generate(e, None) } else { self.value(e) }
    }

    /// The value of a vector, in a certain place.
    pub(crate) fn value_into(&mut self, e: &'k Expr, dst: &Dst) -> Result<Op, String> {
        let op = self.generate(e, Some(dst))?;
        self.asm.mov(dst, &op);
        Ok(dst.op())
    }

    /// The place wanted, or a fresh one.
    pub(crate) fn target(&mut self, want: Option<&Dst>, ty: Type) -> Dst {
        want.cloned().unwrap_or_else(|| self.asm.temp(words(ty)))
    }

    /// A place for results that take several instructions: fresh if the wanted one is read meanwhile.
    pub(crate) fn careful(&mut self, want: Option<&Dst>, e: &Expr) -> Dst {
        let clash = want.is_some_and(|dst| self.reads(e, dst.register));
        self.target(want.filter(|_| !clash), e.ty)
    }

    /// True if an expression reads a register, as far as can be seen.
    fn reads(&self, e: &Expr, register: u32) -> bool {
        fn calls(e: &Expr) -> bool {
            matches!(e.kind, ExprKind::Call(..)) || e.operands().iter().any(|o| calls(o))
        }
        let in_var =
            |ops: &Option<Vec<Op>>| ops.iter().flatten().any(|op| op.reg == super::asm::Reg::Temp(register));
        let frame = &self.frames[self.frames.len() - 1];
        let clashing: Vec<VarId> =
            frame.vars.iter().enumerate().filter(|(_, ops)| in_var(ops)).map(|(id, _)| id).collect();
        clashing.iter().any(|id| e.mentions(*id)) || calls(e)
    }

    /// The result is `op`, or `dst` if one is wanted and the instruction could write there. Callers of `generate` move what did not.
    pub(crate) fn generate(&mut self, e: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        // Kernels that are called continue the depth of their callers.
        if self.depth >= DEEPEST {
            return Err("expressions in kernels in kernels are too deep".to_owned());
        }
        self.depth += 1;
        let result = self.generate_here(e, want);
        self.depth -= 1;
        result
    }

    fn generate_here(&mut self, e: &'k Expr, want: Option<&Dst>) -> Result<Op, String> {
        match &e.kind {
            ExprKind::Int(n) => Ok(self.asm.int(*n)),
            ExprKind::Float(x) => Ok(self.float_literal(e.ty, *x)),
            ExprKind::Var(id) => Ok(self.variable(*id)[0].clone()),
            ExprKind::Member(..) => match &e.kind {
                ExprKind::Member(base, at) => {
                    let all = self.leaves(base)?;
                    let (first, _) = self.member_range(base.ty, *at);
                    Ok(all[first].clone())
                }
                _ => Err(String::new()),
            },
            ExprKind::Swizzle(base, comps) => {
                let op = self.value(base)?;
                Ok(op.pick(&word_list(base.ty, comps)))
            }
            ExprKind::Splat(inner) => {
                let op = self.value(inner)?;
                Ok(if class(e.ty) == Class::Double { op.pick(&[0, 1, 0, 1]) } else { op.word(0) })
            }
            ExprKind::Construct(parts) => self.construct(e, parts, want),
            ExprKind::Gather(param, index) => Ok(self.gather(*param, index, e.ty, want)?[0].clone()),
            ExprKind::Element(param, index) => self.element(*param, index, e.ty, want),
            ExprKind::Shared(index) => self.shared(index, e.ty, want),
            ExprKind::IndexOf => Ok(self.position.float.clone().unwrap_or_else(|| self.asm.int(0))),
            ExprKind::Instance => Ok(self.position.int.clone().unwrap_or_else(|| self.asm.int(0))),
            ExprKind::InGroup => Ok(Op {
                reg: super::asm::Reg::Named("vTid0"),
                comps: vec![0, super::asm::ZERO, super::asm::ZERO, super::asm::ZERO],
                neg: false,
            }),
            ExprKind::Neg(inner) => self.negate(e, inner, want),
            ExprKind::BitNot(inner) => {
                let op = self.value(inner)?;
                let dst = self.target(want, e.ty);
                self.asm.each("inot", &dst, &[&op]);
                Ok(dst.op())
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e, want),
            ExprKind::Not(_) | ExprKind::Compare(..) | ExprKind::Logic(..) => self.truth(e, want),
            ExprKind::Cond(c, a, b) => self.conditional(e, c, a, b, want),
            ExprKind::Cast(inner) => self.cast(e, inner, want),
            ExprKind::Intrinsic(which, args) => self.intrinsic(*which, args, e, want),
            ExprKind::Call(at, args) => {
                let result = self.call(*at, args)?;
                result.into_iter().next().ok_or_else(|| "a call has no value".to_owned())
            }
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::Step(up, prefix, place) => self.step(*up, *prefix, place),
            ExprKind::Comma(a, b) => {
                self.leaves(a)?;
                self.generate(b, want)
            }
        }
    }

    pub(crate) fn float_literal(&mut self, ty: Type, x: f64) -> Op {
        if class(ty) == Class::Double {
            let bits = x.to_bits();
            self.asm.literal_pair(bits as u32, (bits >> 32) as u32)
        } else {
            self.asm.float(x as f32)
        }
    }

    /// 1 of a type.
    pub(crate) fn one(&mut self, ty: Type) -> Op {
        match class(ty) {
            Class::Double | Class::Float => self.float_literal(ty, 1.0),
            Class::Signed | Class::Unsigned => self.asm.int(1),
        }
    }

    fn construct(&mut self, e: &'k Expr, parts: &'k [Expr], want: Option<&Dst>) -> Result<Op, String> {
        let double = class(e.ty) == Class::Double;
        // All literals: one literal.
        let numbers: Option<Vec<u32>> =
            parts.iter().map(literal_words).collect::<Option<Vec<_>>>().map(|w| w.concat());
        if let Some(numbers) = numbers {
            let op = self.asm.literal(&numbers);
            return Ok(if op.comps.len() == 1 { op.pick(&vec![0; numbers.len()]) } else { op });
        }
        let dst = self.careful(want, e);
        let mut ops = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let to = if double { dst.pair(at) } else { dst.word(at) };
            // Plain operands may join into one move; others are computed in place.
            let op = self.generate(part, Some(&to))?;
            ops.push(op);
        }
        let joined = |ops: &[Op]| ops.iter().all(|op| op.reg == ops[0].reg && !op.neg && !ops[0].neg);
        if joined(&ops) && ops[0].reg != super::asm::Reg::Temp(dst.register) {
            let comps: Vec<u8> = if double {
                ops.iter().flat_map(|op| [op.comp(0), op.comp(1)]).collect()
            } else {
                ops.iter().map(|op| op.comp(0)).collect()
            };
            return Ok(Op { reg: ops[0].reg.clone(), comps, neg: false });
        }
        // Neighbours from one register move together.
        let mut at = 0;
        while at < ops.len() {
            let mut end = at + 1;
            while end < ops.len() && joined(&ops[at..=end]) {
                end += 1;
            }
            let per = if double { 2 } else { 1 };
            let to = Dst { register: dst.register, comps: dst.comps[at * per..end * per].to_vec() };
            let comps = ops[at..end].iter().flat_map(|op| (0..per).map(move |w| op.comp(w))).collect();
            let from = Op { reg: ops[at].reg.clone(), comps, neg: ops[at].neg };
            self.asm.mov(&to, &from);
            at = end;
        }
        Ok(dst.op())
    }

    fn assign(&mut self, place: &'k Place, value: &'k Expr) -> Result<Op, String> {
        match &place.base {
            Base::Var(_) => {
                let to = self.place_leaves(place)[0].clone();
                self.value_into(value, &to.dst())
            }
            Base::Scatter(param, index) => {
                let op = self.value(value)?;
                self.scatter(*param, index, place, &op)?;
                Ok(op)
            }
            Base::Shared(offset) => {
                let op = self.value(value)?;
                self.store_shared(*offset, place, &op);
                Ok(op)
            }
        }
    }

    fn step(&mut self, up: bool, prefix: bool, place: &'k Place) -> Result<Op, String> {
        let Base::Var(_) = place.base else {
            return Err("`++` of an element".to_owned());
        };
        let var = self.place_leaves(place)[0].clone();
        let old = if prefix {
            None
        } else {
            let keep = self.asm.temp(var.comps.len());
            self.asm.mov(&keep, &var);
            Some(keep.op())
        };
        let one = self.one(place.ty);
        match class(place.ty) {
            Class::Float => self.asm.each(if up { "add" } else { "sub" }, &var.dst(), &[&var, &one]),
            Class::Double => {
                let one = if up { one } else { one.negated() };
                self.asm.doubles("dadd", &var.dst(), &[&var, &one]);
            }
            Class::Signed | Class::Unsigned => {
                let delta = self.asm.int(if up { 1 } else { u32::MAX });
                self.asm.each("iadd", &var.dst(), &[&var, &delta]);
            }
        }
        Ok(old.unwrap_or(var))
    }

    /// `c ? a : b` by jumps.
    fn branch(&mut self, c: &'k Expr, a: &'k Expr, b: &'k Expr, to: &[Op]) -> Result<(), String> {
        let (test, inverted) = self.condition(c)?;
        let word = if inverted { "if_logicalz" } else { "if_logicalnz" };
        let test = self.asm.shown(&test);
        self.asm.line(&format!("{word} {test}"));
        self.assign_leaves(to, a)?;
        self.asm.line("else");
        self.assign_leaves(to, b)?;
        self.asm.line("endif");
        Ok(())
    }

    fn conditional(
        &mut self,
        e: &'k Expr,
        c: &'k Expr,
        a: &'k Expr,
        b: &'k Expr,
        want: Option<&Dst>,
    ) -> Result<Op, String> {
        if a.has_effects() || b.has_effects() {
            let to = self.asm.temp(words(e.ty)).op();
            self.branch(c, a, b, std::slice::from_ref(&to))?;
            return Ok(to);
        }
        let (test, inverted) = self.condition(c)?;
        let mut yes = self.value(a)?;
        let mut no = self.value(b)?;
        if inverted {
            std::mem::swap(&mut yes, &mut no);
        }
        let dst = self.target(want, e.ty);
        self.asm.each("cmov_logical", &dst, &[&test.word(0), &yes, &no]);
        Ok(dst.op())
    }

    /// Sum of a product as one instruction, where the machine rounds twice as the two would.
    pub(crate) fn multiply_add(
        &mut self,
        op: BinaryOp,
        a: &'k Expr,
        b: &'k Expr,
        e: &'k Expr,
        want: Option<&Dst>,
    ) -> Result<Option<Op>, String> {
        let class = class(e.ty);
        let name = match class {
            Class::Float => "mad_ieee",
            Class::Signed | Class::Unsigned => "imad",
            Class::Double => return Ok(None),
        };
        let product = |e: &'k Expr| match &e.kind {
            ExprKind::Binary(BinaryOp::Mul, x, y) => Some((&**x, &**y)),
            _ => None,
        };
        let (x, y, z, negate_product, negate_sum) = match (op, product(a), product(b)) {
            (BinaryOp::Add, Some((x, y)), _) => (x, y, b, false, false),
            (BinaryOp::Add, None, Some((x, y))) => (x, y, a, false, false),
            (BinaryOp::Sub, Some((x, y)), _) => (x, y, b, false, true),
            (BinaryOp::Sub, None, Some((x, y))) => (x, y, a, true, false),
            _ => return Ok(None),
        };
        let x = self.operand(x)?;
        let y = self.operand(y)?;
        let z = self.operand(z)?;
        let x = if negate_product { x.negated() } else { x };
        let z = if negate_sum { z.negated() } else { z };
        let dst = self.target(want, e.ty);
        self.asm.each(name, &dst, &[&x, &y, &z]);
        Ok(Some(dst.op()))
    }
}

/// The words of a literal.
fn literal_words(e: &Expr) -> Option<Vec<u32>> {
    match e.kind {
        ExprKind::Int(n) => Some(vec![n]),
        ExprKind::Float(x) if class(e.ty) == Class::Double => {
            Some(vec![x.to_bits() as u32, (x.to_bits() >> 32) as u32])
        }
        ExprKind::Float(x) => Some(vec![(x as f32).to_bits()]),
        _ => None,
    }
}
