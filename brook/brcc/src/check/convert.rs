//! Conversions: casts, and those that happen by themselves.

use super::Checker;
use super::expr::wrong;
use crate::ast;
use crate::diagnostic::Span;
use crate::hir::{Expr, ExprKind};
use crate::types::{Scalar, Type};

/// The type to which two operands go: the higher category with its number of components, or the wider of equal ones.
pub(crate) fn promoted(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Vector(x, n), Type::Vector(y, m)) => match x.rank().cmp(&y.rank()) {
            std::cmp::Ordering::Greater => a,
            std::cmp::Ordering::Less => b,
            std::cmp::Ordering::Equal => Type::Vector(x, n.max(m)),
        },
        _ => Type::Unknown,
    }
}
impl Checker<'_> {
    pub(crate) fn cast(&mut self, to: &ast::TypeName, inner: &ast::Expr, span: Span) -> Expr {
        let value = self.value(inner);
        if to.pointer {
            return self.refuse("pointer", to.span, "kernels have no pointers");
        }
        let ty = match to.ty {
            Some(ty) => ty,
            None => {
                self.unknown_type(to);
                return wrong();
            }
        };
        match (ty, value.ty) {
            (_, Type::Unknown) => wrong(),
            (a, b) if a == b => value,
            (Type::Vector(..), Type::Vector(..)) => {
                if ty.width() != value.ty.width() {
                    let message =
                        format!("a cast of `{}` to `{ty}` changes the number of components", value.ty);
                    self.strict(
                        1,
                        "cast",
                        span,
                        message,
                        "components are taken by a swizzle and joined by a constructor",
                    );
                }
                self.coerce(value, ty, span)
            }
            _ => {
                let message = format!("`{}` cannot be cast to `{}`", self.show(value.ty), self.show(ty));
                self.refuse("cast", span, message)
            }
        }
    }

    /// A conversion that happens by itself: only under weak typing.
    pub(crate) fn convert(&mut self, value: Expr, to: Type, span: Span) -> Expr {
        if value.ty == to || value.ty == Type::Unknown || to == Type::Unknown {
            return value;
        }
        let (from_name, to_name) = (self.show(value.ty), self.show(to));
        let (Some(from), Some(into)) = (value.ty.scalar(), to.scalar()) else {
            return self.refuse("type-mismatch", span, format!("`{from_name}` where `{to_name}` is needed"));
        };
        let loses = from.rank() > into.rank() || value.ty.width() > to.width();
        let message = format!(
            "`{from_name}` where `{to_name}` is needed{}",
            if loses { ", which may lose data" } else { "" }
        );
        let literal =
            matches!(value.kind, ExprKind::Float(_)) && from == Scalar::Double && into == Scalar::Float;
        let note = if literal {
            "a literal without `f` is a double: write `1.0f`"
        } else {
            "write a cast; `brcc -a` converts as C does"
        };
        self.strict(if loses { 1 } else { 2 }, "type-mismatch", span, message, note);
        self.coerce(value, to, span)
    }

    /// A conversion, told by whoever asks for it.
    pub(crate) fn coerce(&mut self, value: Expr, to: Type, span: Span) -> Expr {
        let (Type::Vector(from, n), Type::Vector(scalar, m)) = (value.ty, to) else {
            return if value.ty == to { value } else { wrong() };
        };
        if n > 1 && m > n {
            return self.refuse(
                "type-mismatch",
                span,
                format!("`{}` has too few components for `{to}`", value.ty),
            );
        }
        let narrowed = if n > m {
            let kind = ExprKind::Swizzle(Box::new(value), (0..m).collect());
            Expr { ty: Type::Vector(from, m), kind }
        } else {
            value
        };
        let cast = if from == scalar {
            narrowed
        } else {
            let ty = Type::Vector(scalar, narrowed.ty.width());
            Expr { ty, kind: ExprKind::Cast(Box::new(narrowed)) }
        };
        if m > 1 && cast.ty.width() == 1 {
            return Expr { ty: to, kind: ExprKind::Splat(Box::new(cast)) };
        }
        cast
    }
}
