//! The functions of the language: one table of what they take.

use super::Checker;
use super::expr::wrong;
use crate::ast;
use crate::diagnostic::Span;
use crate::hir::{Expr, ExprKind, Intrinsic as F};
use crate::types::{Class, Scalar, Type};

/// A function.
struct Row {
    name: &'static str,
    function: F,
    /// Arguments, all of one type.
    args: usize,
    /// Classes of numbers taken: `f` float, `d` double, `i` signed, `u` unsigned.
    classes: &'static str,
    /// Components taken.
    widths: std::ops::RangeInclusive<u8>,
    /// The result is one number.
    scalar: bool,
}

const fn row(
    name: &'static str,
    function: F,
    args: usize,
    classes: &'static str,
    least: u8,
    most: u8,
    scalar: bool,
) -> Row {
    Row { name, function, args, classes, widths: least..=most, scalar }
}

const TABLE: [Row; 27] = [
    row("abs", F::Abs, 1, "fid", 1, 4, false),
    row("sign", F::Sign, 1, "fdiu", 1, 4, false),
    row("min", F::Min, 2, "fdiu", 1, 4, false),
    row("max", F::Max, 2, "fdiu", 1, 4, false),
    row("clamp", F::Clamp, 3, "fd", 1, 4, false),
    row("floor", F::Floor, 1, "fd", 1, 4, false),
    row("round", F::Round, 1, "fd", 1, 4, false),
    row("frac", F::Frac, 1, "fd", 1, 4, false),
    row("fmod", F::Fmod, 2, "fd", 1, 4, false),
    row("sqrt", F::Sqrt, 1, "fd", 1, 4, false),
    row("rsqrt", F::Rsqrt, 1, "fd", 1, 4, false),
    row("exp", F::Exp, 1, "fd", 1, 4, false),
    row("log", F::Log, 1, "fd", 1, 4, false),
    row("pow", F::Pow, 2, "fd", 1, 4, false),
    row("sin", F::Sin, 1, "fd", 1, 4, false),
    row("cos", F::Cos, 1, "fd", 1, 4, false),
    row("asin", F::Asin, 1, "fd", 1, 4, false),
    row("acos", F::Acos, 1, "fd", 1, 4, false),
    row("dot", F::Dot, 2, "fdiu", 1, 4, true),
    row("cross", F::Cross, 2, "fi", 3, 3, false),
    row("normalize", F::Normalize, 1, "fd", 2, 4, false),
    row("lerp", F::Lerp, 3, "fd", 1, 4, false),
    row("isfinite", F::IsFinite, 1, "fd", 1, 4, false),
    row("isinf", F::IsInf, 1, "fd", 1, 4, false),
    row("isnan", F::IsNan, 1, "fd", 1, 4, false),
    row("any", F::Any, 1, "fdiu", 2, 4, true),
    row("all", F::All, 1, "fdiu", 2, 4, true),
];

/// True if a function has this name.
pub(crate) fn exists(name: &str) -> bool {
    TABLE.iter().any(|r| r.name == name)
}

impl Checker<'_> {
    pub(crate) fn intrinsic(&mut self, name: &str, args: &[ast::Expr], span: Span) -> Expr {
        let values: Vec<Expr> = args.iter().map(|a| self.value(a)).collect();
        let Some(row) = TABLE.iter().find(|r| r.name == name) else { return wrong() };
        if values.iter().any(|v| v.ty == Type::Unknown) {
            return wrong();
        }
        if values.len() != row.args {
            self.error(
                "argument-count",
                span,
                format!("`{name}` takes {} arguments, not {}", row.args, values.len()),
            );
            return wrong();
        }
        let ty = values[0].ty;
        let class = ty.scalar().map(|s| match s.class() {
            Class::Float => 'f',
            Class::Double => 'd',
            Class::Signed => 'i',
            Class::Unsigned => 'u',
        });
        let taken = class.is_some_and(|c| row.classes.contains(c)) && row.widths.contains(&ty.width());
        if !taken || values.iter().any(|v| v.ty != ty) {
            let list: Vec<String> = values.iter().map(|v| self.show(v.ty)).collect();
            let message = format!("there is no `{name}({})`", list.join(", "));
            self.report.error_note(
                "overload",
                span,
                message,
                "arguments have one type, and nothing is converted",
            );
            return wrong();
        }
        let result = if row.scalar { Type::Vector(ty.scalar().unwrap_or(Scalar::Float), 1) } else { ty };
        let whole = matches!(row.function, F::Dot | F::Any | F::All);
        if class == Some('d') && !whole {
            self.report.warn(
                0,
                "double-function",
                span,
                format!("`{name}` of doubles is computed in single precision"),
            );
            let float = Type::Vector(Scalar::Float, ty.width());
            let cast = |v: Expr| Expr { ty: float, kind: ExprKind::Cast(Box::new(v)) };
            let inner = self.intrinsic_value(float, row.function, values.into_iter().map(cast).collect());
            return Expr { ty, kind: ExprKind::Cast(Box::new(inner)) };
        }
        self.intrinsic_value(result, row.function, values)
    }
}
