//! Rules of calls.

use super::expr::wrong;
use super::{Checker, Meaning, intrinsic};
use crate::ast::{self, ExprKind as Ast};
use crate::diagnostic::Span;
use crate::hir::{Arg, Expr, ExprKind, ParamKind};
use crate::types::Type;

impl Checker<'_> {
    pub(crate) fn call(&mut self, callee: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        let Ast::Name(name) = &callee.kind else {
            self.error(
                "call",
                callee.span,
                "only kernels and the functions of the language are called, by name",
            );
            return wrong();
        };
        if self.lookup(name).is_some() {
            self.error("call", callee.span, format!("`{name}` is a variable, not a kernel"));
            return wrong();
        }
        match self.names.get(name.as_str()) {
            Some(Some(at)) => return self.kernel_call(*at, args, span),
            Some(None) => return wrong(),
            None => {}
        }
        if *name == self.kernel.name {
            self.error("recursion", callee.span, format!("`{name}` calls itself"));
            return wrong();
        }
        if self.later.contains(&name.as_str()) {
            let message = format!("the kernel `{name}` is defined further down");
            self.report.error_note(
                "call",
                callee.span,
                message,
                "a prototype is not enough: kernels are compiled into their callers",
            );
            return wrong();
        }
        if intrinsic::exists(name) {
            return self.intrinsic(name, args, span);
        }
        let message = format!("`{name}` is neither a kernel of this file nor a function of the language");
        self.report.error_note("call", callee.span, message, "kernels cannot call functions of the host");
        wrong()
    }

    fn kernel_call(&mut self, at: usize, args: &[ast::Expr], span: Span) -> Expr {
        let callee = &self.kernels[at];
        let name = callee.name.clone();
        if callee.reduce {
            self.error("call", span, format!("`{name}` is a reduction; kernels cannot call it"));
            return wrong();
        }
        if callee.scatter().is_some() || callee.group.is_some() {
            self.error("call", span, format!("`{name}` scatters; kernels cannot call it"));
            return wrong();
        }
        if callee.params.len() != args.len() {
            let message = format!("`{name}` takes {} arguments, not {}", callee.params.len(), args.len());
            self.error("argument-count", span, message);
            return wrong();
        }
        let (params, result, uses) = (callee.params.clone(), callee.result, callee.uses);
        if self.kernel.reduce && (uses.indexof || uses.instance) {
            self.error("position", span, format!("`{name}` asks for a position; a reduction has none"));
        }
        self.kernel.uses.indexof |= uses.indexof;
        self.kernel.uses.instance |= uses.instance;
        let mut list = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let checked = match &param.kind {
                ParamKind::Input | ParamKind::Constant => self.value_argument(param.ty, arg, &param.name),
                ParamKind::Output => self.out_argument(param.ty, arg, &param.name),
                kind => self.array_argument(kind, param.ty, arg, &param.name),
            };
            match checked {
                Some(arg) => list.push(arg),
                None => return wrong(),
            }
        }
        let places: Vec<_> =
            list.iter().filter_map(|a| if let Arg::Out(p) = a { Some(&p.base) } else { None }).collect();
        let vars: Vec<_> = places
            .iter()
            .filter_map(|b| if let crate::hir::Base::Var(v) = b { Some(v) } else { None })
            .collect();
        if (1..vars.len()).any(|i| vars[..i].contains(&vars[i])) {
            self.error("argument", span, "one variable takes two results of a call");
        }
        Expr { ty: result, kind: ExprKind::Call(at, list) }
    }

    fn value_argument(&mut self, ty: Type, arg: &ast::Expr, name: &str) -> Option<Arg> {
        if let Some((array, _)) = self.array_named(arg) {
            self.error("argument", arg.span, format!("the array `{array}` for the value `{name}`"));
            return None;
        }
        let value = self.value(arg);
        if value.ty == Type::Unknown {
            return None;
        }
        if value.ty != ty {
            let message = format!("`{name}` is `{}`, the argument `{}`", self.show(ty), self.show(value.ty));
            self.report.error_note(
                "argument",
                arg.span,
                message,
                "arguments are never converted: write a cast",
            );
            return None;
        }
        Some(Arg::Value(value))
    }

    fn out_argument(&mut self, ty: Type, arg: &ast::Expr, name: &str) -> Option<Arg> {
        let place = self.place(arg)?;
        if place.ty != ty && place.ty != Type::Unknown {
            let message = format!("`{name}` is `{}`, the argument `{}`", self.show(ty), self.show(place.ty));
            self.error("argument", arg.span, message);
            return None;
        }
        Some(Arg::Out(place))
    }

    fn array_named(&self, arg: &ast::Expr) -> Option<(String, usize)> {
        let Ast::Name(name) = &arg.kind else { return None };
        match self.lookup(name)? {
            Meaning::Param(at) => match self.kernel.params[at].kind {
                ParamKind::Gather(_) | ParamKind::ConstArray(_) | ParamKind::Scatter(_) => {
                    Some((name.clone(), at))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn array_argument(&mut self, wanted: &ParamKind, ty: Type, arg: &ast::Expr, name: &str) -> Option<Arg> {
        let Some((_, at)) = self.array_named(arg) else {
            self.error(
                "argument",
                arg.span,
                format!("`{name}` is an array; the argument is none of the caller's arrays"),
            );
            return None;
        };
        let given = &self.kernel.params[at];
        let (given_ty, given_kind) = (given.ty, given.kind.clone());
        if let ParamKind::Scatter(_) = given_kind {
            self.error("argument", arg.span, "a scatter array cannot be passed on");
            return None;
        }
        if given_ty != ty {
            let message =
                format!("`{name}` has elements `{}`, the argument `{}`", self.show(ty), self.show(given_ty));
            self.error("argument", arg.span, message);
            return None;
        }
        let problem = match (wanted, &given_kind) {
            (ParamKind::Gather(a), ParamKind::Gather(b)) if a == b => None,
            (ParamKind::ConstArray(a), ParamKind::ConstArray(b)) => {
                let total = |d: &[u32]| d.iter().map(|n| u64::from(*n)).product::<u64>();
                if a.len() != b.len() {
                    Some(format!("`{name}` has {} dimensions, the argument {}", a.len(), b.len()))
                } else if total(a) != total(b) {
                    Some(format!("`{name}` has {} elements, the argument {}", total(a), total(b)))
                } else {
                    None
                }
            }
            (ParamKind::Gather(a), ParamKind::Gather(b)) => {
                Some(format!("`{name}` has {a} dimensions, the argument {b}"))
            }
            (ParamKind::ConstArray(_), _) => Some(format!("`{name}` has sizes, the argument none")),
            _ => Some(format!("`{name}` has no sizes, the argument has")),
        };
        if let Some(message) = problem {
            self.error("argument", arg.span, message);
            return None;
        }
        Some(Arg::Array(at))
    }
}
