//! Rules of expressions.

use super::convert::promoted;
use super::{Checker, Meaning};
use crate::ast::{self, BinaryOp, ExprKind as Ast, UnaryOp};
use crate::diagnostic::Span;
use crate::hir::{Expr, ExprKind, Intrinsic, ParamKind};
use crate::types::{Scalar, Type};

/// What a wrong expression becomes.
pub(crate) fn wrong() -> Expr {
    Expr { ty: Type::Unknown, kind: ExprKind::Int(0) }
}

impl Checker<'_> {
    /// The value of an expression; a name must stand for a value.
    pub(crate) fn value(&mut self, e: &ast::Expr) -> Expr {
        let value = self.any_value(e);
        if value.ty == Type::Void {
            self.error("void", e.span, "a call that returns nothing has no value");
            return wrong();
        }
        value
    }

    /// An expression that stands as a statement: it may have no value.
    pub(crate) fn statement_value(&mut self, e: &ast::Expr) -> Expr {
        match &e.kind {
            Ast::Comma(a, b) => {
                let a = self.statement_value(a);
                let b = self.statement_value(b);
                Expr { ty: b.ty, kind: ExprKind::Comma(Box::new(a), Box::new(b)) }
            }
            Ast::SyncGroup => {
                self.error("position", e.span, "`syncGroup()` is a statement of its own");
                wrong()
            }
            _ => {
                let mut value = self.any_value(e);
                // Nobody asks for the old value.
                if let ExprKind::Step(_, prefix, _) = &mut value.kind {
                    *prefix = true;
                }
                value
            }
        }
    }

    fn any_value(&mut self, e: &ast::Expr) -> Expr {
        let span = e.span;
        match &e.kind {
            Ast::Int(n, unsigned) => {
                let scalar = if *unsigned { Scalar::UInt } else { Scalar::Int };
                Expr { ty: Type::Vector(scalar, 1), kind: ExprKind::Int(*n) }
            }
            Ast::Float(x, double) => {
                let scalar = if *double { Scalar::Double } else { Scalar::Float };
                Expr { ty: Type::Vector(scalar, 1), kind: ExprKind::Float(*x) }
            }
            Ast::Str => self.refuse("string", span, "kernels have no strings"),
            Ast::Char => self.refuse("string", span, "kernels have no characters; write the number"),
            Ast::Name(name) => self.named(name, span),
            Ast::Unary(op, inner) => self.unary(*op, inner, span),
            Ast::Step(up, prefix, inner) => {
                let Some(place) = self.place(inner) else { return wrong() };
                if place.ty.scalar().is_none() {
                    return self.refuse("operand", span, "`++` and `--` are for numbers");
                }
                Expr { ty: place.ty, kind: ExprKind::Step(*up, *prefix, Box::new(place)) }
            }
            Ast::Binary(op, a, b) => self.binary(*op, a, b),
            Ast::Assign(op, place, value) => self.assign(*op, place, value, span),
            Ast::Cond(c, a, b) => self.conditional(c, a, b),
            Ast::Cast(ty, inner) => self.cast(ty, inner, span),
            Ast::Call(callee, args) => self.call(callee, args, span),
            Ast::Index(..) => self.element(e),
            Ast::Member(base, name, arrow) => {
                if *arrow {
                    return self.refuse("pointer", name.span, "kernels have no pointers: write `.`");
                }
                self.member(base, name, span)
            }
            Ast::Construct(ty, args) => self.construct(*ty, args, span),
            Ast::List(_) => self.refuse("initialiser", span, "a list stands only where a variable begins"),
            Ast::IndexOf(name) => self.index_of(name, span),
            Ast::Instance => {
                if self.kernel.reduce {
                    return self.refuse("position", span, "`instance` is not for reductions");
                }
                self.kernel.uses.instance = true;
                Expr { ty: Type::Vector(Scalar::Int, 4), kind: ExprKind::Instance }
            }
            Ast::InstanceInGroup => {
                self.group_only(span, "instanceInGroup");
                self.kernel.uses.in_group = true;
                Expr { ty: Type::Vector(Scalar::Int, 4), kind: ExprKind::InGroup }
            }
            Ast::SyncGroup => self.refuse("position", span, "`syncGroup()` has no value"),
            Ast::Iter => self.refuse("iterator", span, "iterators are not supported"),
            Ast::Sizeof => self.refuse("sizeof", span, "kernels have no `sizeof`"),
            Ast::Comma(a, b) => {
                let a = self.statement_value(a);
                let b = self.value(b);
                Expr { ty: b.ty, kind: ExprKind::Comma(Box::new(a), Box::new(b)) }
            }
            Ast::Wrong => wrong(),
        }
    }

    pub(crate) fn refuse(&mut self, rule: &'static str, span: Span, message: impl Into<String>) -> Expr {
        self.error(rule, span, message);
        wrong()
    }

    fn named(&mut self, name: &str, span: Span) -> Expr {
        match self.lookup(name) {
            Some(Meaning::Local(id, _)) => Expr { ty: self.kernel.vars[id].ty, kind: ExprKind::Var(id) },
            Some(Meaning::Param(at)) => {
                let param = &self.kernel.params[at];
                match param.kind {
                    ParamKind::Gather(_) | ParamKind::ConstArray(_) | ParamKind::Scatter(_) => self.refuse(
                        "array-value",
                        span,
                        format!("the array `{name}` is used without an index"),
                    ),
                    _ => Expr { ty: param.ty, kind: ExprKind::Var(at) },
                }
            }
            Some(Meaning::Shared) => {
                self.refuse("array-value", span, format!("the array `{name}` is used without an index"))
            }
            None => {
                let kernel = self.names.contains_key(name) || self.later.contains(&name);
                let message = if kernel {
                    format!("`{name}` is a kernel, not a value")
                } else {
                    format!("`{name}` is undeclared; kernels see their parameters and locals only")
                };
                self.refuse("undeclared", span, message)
            }
        }
    }

    /// A number or vector, for arithmetic.
    fn arithmetic(&mut self, e: &ast::Expr) -> Expr {
        let value = self.value(e);
        if let Type::Struct(_) = value.ty {
            return self.refuse(
                "operand",
                e.span,
                format!("`{}` is a struct, not a number", self.show(value.ty)),
            );
        }
        value
    }

    fn unary(&mut self, op: UnaryOp, inner: &ast::Expr, span: Span) -> Expr {
        if matches!(op, UnaryOp::Deref | UnaryOp::Address) {
            return self.refuse("pointer", span, "kernels have no pointers");
        }
        let value = self.arithmetic(inner);
        let Some(scalar) = value.ty.scalar() else { return wrong() };
        let ty = value.ty;
        let kind = match op {
            UnaryOp::Plus => return value,
            UnaryOp::Neg => match value.kind {
                // The sign of a literal is part of it.
                ExprKind::Float(x) => ExprKind::Float(-x),
                ExprKind::Int(n) => ExprKind::Int(n.wrapping_neg()),
                _ => ExprKind::Neg(Box::new(value)),
            },
            UnaryOp::BitNot if !scalar.is_integer() => {
                return self.refuse(
                    "integer-operand",
                    inner.span,
                    format!("`~` needs whole numbers, not `{ty}`"),
                );
            }
            UnaryOp::BitNot => ExprKind::BitNot(Box::new(value)),
            _ => ExprKind::Not(Box::new(value)),
        };
        Expr { ty, kind }
    }

    fn binary(&mut self, op: BinaryOp, a: &ast::Expr, b: &ast::Expr) -> Expr {
        let left = self.arithmetic(a);
        let right = self.arithmetic(b);
        self.combine(op, left, a.span, right, b.span)
    }

    fn combine(&mut self, op: BinaryOp, left: Expr, a: Span, right: Expr, b: Span) -> Expr {
        let (Some(x), Some(y)) = (left.ty.scalar(), right.ty.scalar()) else { return wrong() };
        let integers = matches!(
            op,
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
        );
        for (scalar, ty, span) in [(x, left.ty, a), (y, right.ty, b)] {
            if integers && !scalar.is_integer() {
                let message = format!("`{}` needs whole numbers, not `{ty}`", op.text());
                return self.refuse("integer-operand", span, message);
            }
        }
        let ty = promoted(left.ty, right.ty);
        if op.is_logic() {
            // Each side is a condition of its own.
            if left.ty.width() != right.ty.width() {
                let message = format!("`{}` of `{}` and `{}`", op.text(), left.ty, right.ty);
                return self.refuse("type-mismatch", a.to(b), message);
            }
            let kind = ExprKind::Logic(op == BinaryOp::LogicAnd, Box::new(left), Box::new(right));
            return Expr { ty, kind };
        }
        if left.ty != right.ty {
            let message = format!("`{}` of `{}` and `{}`", op.text(), left.ty, right.ty);
            self.strict(1, "type-mismatch", a.to(b), message, "cast one side; `brcc -a` converts as C does");
        }
        let left = self.coerce(left, ty, a);
        let right = self.coerce(right, ty, b);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = if op.is_comparison() {
            ExprKind::Compare(op, left, right)
        } else {
            ExprKind::Binary(op, left, right)
        };
        Expr { ty, kind }
    }

    fn assign(&mut self, op: Option<BinaryOp>, to: &ast::Expr, value: &ast::Expr, span: Span) -> Expr {
        let place = self.place(to);
        let right = self.value(value);
        let Some(place) = place else { return wrong() };
        let ty = place.ty;
        let right = match op {
            None => self.convert(right, ty, value.span),
            Some(op) => {
                if ty.scalar().is_none() {
                    return self.refuse("operand", span, format!("`{}=` is for numbers", op.text()));
                }
                let Some(left) = self.read_place(&place, to.span) else { return wrong() };
                let result = self.combine(op, left, to.span, right, value.span);
                self.convert(result, ty, value.span)
            }
        };
        Expr { ty, kind: ExprKind::Assign(Box::new(place), Box::new(right)) }
    }

    /// A condition: one number, or `any` or `all` of several.
    pub(crate) fn condition(&mut self, e: &ast::Expr) -> Expr {
        let value = self.arithmetic(e);
        if value.ty.width() > 1 {
            let message = format!("the condition is a vector, `{}`", value.ty);
            self.report.error_note(
                "vector-condition",
                e.span,
                message,
                "`any(…)` and `all(…)` make one value of it",
            );
            return wrong();
        }
        value
    }

    fn conditional(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr) -> Expr {
        let condition = self.condition(c);
        let yes = self.value(a);
        let no = self.value(b);
        if yes.ty == Type::Unknown || no.ty == Type::Unknown {
            return wrong();
        }
        let mut ty = yes.ty;
        if yes.ty != no.ty {
            let message = format!("the arms of `?:` are `{}` and `{}`", self.show(yes.ty), self.show(no.ty));
            if yes.ty.scalar().is_none() || no.ty.scalar().is_none() {
                return self.refuse("type-mismatch", a.span.to(b.span), message);
            }
            self.strict(
                1,
                "type-mismatch",
                a.span.to(b.span),
                message,
                "cast one of them; `brcc -a` converts as C does",
            );
            ty = promoted(yes.ty, no.ty);
        }
        let yes = self.coerce(yes, ty, a.span);
        let no = self.coerce(no, ty, b.span);
        Expr { ty, kind: ExprKind::Cond(Box::new(condition), Box::new(yes), Box::new(no)) }
    }

    fn construct(&mut self, ty: Type, args: &[ast::Expr], span: Span) -> Expr {
        let (Some(scalar), width) = (ty.scalar(), usize::from(ty.width())) else { return wrong() };
        if width == 1 {
            return self.refuse(
                "constructor",
                span,
                format!("`{ty}` has no constructor: write `({ty}) value`"),
            );
        }
        if args.len() != width {
            for arg in args {
                self.value(arg);
            }
            return self.refuse(
                "constructor",
                span,
                format!("`{ty}(…)` takes {width} values, not {}", args.len()),
            );
        }
        let one = Type::Vector(scalar, 1);
        let mut parts = Vec::new();
        for arg in args {
            let value = self.arithmetic(arg);
            if value.ty.width() > 1 {
                self.error(
                    "constructor",
                    arg.span,
                    format!("`{ty}(…)` takes single numbers, not `{}`", value.ty),
                );
                continue;
            }
            parts.push(self.convert(value, one, arg.span));
        }
        if parts.len() < width {
            return wrong();
        }
        Expr { ty, kind: ExprKind::Construct(parts) }
    }

    fn member(&mut self, base: &ast::Expr, name: &ast::Name, span: Span) -> Expr {
        let value = self.value(base);
        match value.ty {
            Type::Unknown | Type::Void => wrong(),
            Type::Struct(id) => {
                let members = &self.structs.get(id).members;
                match members.iter().position(|(n, _)| *n == name.text) {
                    Some(at) => Expr { ty: members[at].1, kind: ExprKind::Member(Box::new(value), at) },
                    None => {
                        let message = format!("`{}` has no member `{}`", self.show(value.ty), name.text);
                        self.refuse("member", name.span, message)
                    }
                }
            }
            Type::Vector(scalar, width) => match self.swizzle(name, width) {
                Some(parts) => {
                    let ty = Type::Vector(scalar, parts.len() as u8);
                    if let (Type::Vector(Scalar::Double, 3..), _) = (ty, span) {
                        return self.refuse("swizzle", name.span, "doubles come alone and in pairs");
                    }
                    Expr { ty, kind: ExprKind::Swizzle(Box::new(value), parts) }
                }
                None => wrong(),
            },
        }
    }

    /// Components named by letters.
    pub(crate) fn swizzle(&mut self, name: &ast::Name, width: u8) -> Option<Vec<u8>> {
        let text = &name.text;
        if width == 1 {
            self.error("swizzle", name.span, format!("`.{text}` of a single number"));
            return None;
        }
        let parts: Option<Vec<u8>> =
            text.bytes().map(|b| b"xyzw".iter().position(|c| *c == b).map(|p| p as u8)).collect();
        match parts {
            Some(parts) if parts.len() <= 4 && parts.iter().all(|p| *p < width) => Some(parts),
            Some(parts) if parts.len() <= 4 => {
                self.error("swizzle", name.span, format!("`.{text}` of {width} components"));
                None
            }
            _ => {
                self.error("swizzle", name.span, format!("`{text}` is no swizzle: up to four of `xyzw`"));
                None
            }
        }
    }

    fn index_of(&mut self, name: &ast::Name, span: Span) -> Expr {
        let text = &name.text;
        if self.kernel.reduce {
            return self.refuse("position", span, "`indexof` is not for reductions");
        }
        match self.lookup(text) {
            Some(Meaning::Param(at)) => match self.kernel.params[at].kind {
                ParamKind::Input | ParamKind::Output => {}
                ParamKind::Scatter(_) => {
                    self.report.warn(0, "position", span, "of a scatter array, `instance()` says the same");
                }
                _ => {
                    return self.refuse(
                        "position",
                        name.span,
                        format!("`{text}` is no stream with a position"),
                    );
                }
            },
            Some(_) => return self.refuse("position", name.span, format!("`{text}` is local, not a stream")),
            None => return self.refuse("undeclared", name.span, format!("`{text}` is undeclared")),
        }
        self.kernel.uses.indexof = true;
        Expr { ty: Type::Vector(Scalar::Float, 4), kind: ExprKind::IndexOf }
    }

    pub(crate) fn intrinsic_value(&self, ty: Type, which: Intrinsic, args: Vec<Expr>) -> Expr {
        Expr { ty, kind: ExprKind::Intrinsic(which, args) }
    }
}
