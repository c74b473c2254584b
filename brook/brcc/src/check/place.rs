//! What may be stored to, and elements of arrays.

use super::expr::wrong;
use super::{Checker, Meaning};
use crate::ast::{self, BinaryOp, ExprKind as Ast};
use crate::diagnostic::Span;
use crate::hir::{Base, Expr, ExprKind, ParamKind, Place};
use crate::types::{Scalar, Type};

impl Checker<'_> {
    /// Where an assignment goes; nothing if it cannot, which is told.
    pub(crate) fn place(&mut self, e: &ast::Expr) -> Option<Place> {
        match &e.kind {
            Ast::Name(name) => {
                let (id, ty) = match self.lookup(name) {
                    Some(Meaning::Local(_, true)) => {
                        self.error("read-only", e.span, format!("`{name}` is constant"));
                        return None;
                    }
                    Some(Meaning::Local(id, false)) => (id, self.kernel.vars[id].ty),
                    Some(Meaning::Param(at)) => {
                        let param = &self.kernel.params[at];
                        let what = match param.kind {
                            ParamKind::Output | ParamKind::Reduce => "",
                            ParamKind::Input => "is an input stream: copy it to a local to change it",
                            ParamKind::Constant => "is a constant: copy it to a local to change it",
                            ParamKind::Gather(_) | ParamKind::ConstArray(_) | ParamKind::Scatter(_) => {
                                "is an array"
                            }
                        };
                        if !what.is_empty() {
                            self.error("read-only", e.span, format!("`{name}` {what}"));
                            return None;
                        }
                        (at, param.ty)
                    }
                    Some(Meaning::Shared) => {
                        self.error("read-only", e.span, format!("`{name}` is an array"));
                        return None;
                    }
                    None => {
                        self.value(e);
                        return None;
                    }
                };
                Some(Place { ty, base: Base::Var(id), path: Vec::new(), swizzle: Vec::new() })
            }
            Ast::Member(base, name, false) => {
                let mut place = self.place(base)?;
                match place.ty {
                    Type::Struct(id) => {
                        let members = &self.structs.get(id).members;
                        let Some(at) = members.iter().position(|(n, _)| *n == name.text) else {
                            let message = format!("`{}` has no member `{}`", self.show(place.ty), name.text);
                            self.error("member", name.span, message);
                            return None;
                        };
                        place.ty = members[at].1;
                        place.path.push(at);
                    }
                    Type::Vector(scalar, width) => {
                        let parts = self.swizzle(name, width)?;
                        if (1..parts.len()).any(|i| parts[..i].contains(&parts[i])) {
                            self.error("swizzle", name.span, "a component is written twice");
                            return None;
                        }
                        place.swizzle = if place.swizzle.is_empty() {
                            parts
                        } else {
                            parts.iter().map(|p| place.swizzle[usize::from(*p)]).collect()
                        };
                        place.ty = Type::Vector(scalar, place.swizzle.len() as u8);
                    }
                    Type::Void | Type::Unknown => return None,
                }
                Some(place)
            }
            Ast::Member(_, name, true) => {
                self.error("pointer", name.span, "kernels have no pointers: write `.`");
                None
            }
            Ast::Index(..) => self.element_place(e),
            Ast::Wrong => None,
            other => {
                let what = match other {
                    Ast::Call(..) => "the result of a call",
                    Ast::Int(..) | Ast::Float(..) => "a number",
                    Ast::Unary(ast::UnaryOp::Deref, _) => "what a pointer points to",
                    _ => "the value of an expression",
                };
                self.error("not-a-place", e.span, format!("{what} cannot be assigned to"));
                None
            }
        }
    }

    fn element_place(&mut self, e: &ast::Expr) -> Option<Place> {
        let (base, indices) = subscripts(e);
        let Ast::Name(name) = &base.kind else {
            self.error("array-value", base.span, "only arrays have elements");
            return None;
        };
        match self.lookup(name) {
            Some(Meaning::Param(at)) => {
                let param = &self.kernel.params[at];
                let (ty, kind) = (param.ty, param.kind.clone());
                match kind {
                    ParamKind::Scatter(rank) => {
                        let index = self.indices(&indices, rank, e.span)?;
                        Some(Place {
                            ty,
                            base: Base::Scatter(at, index),
                            path: Vec::new(),
                            swizzle: Vec::new(),
                        })
                    }
                    ParamKind::Gather(_) | ParamKind::ConstArray(_) => {
                        self.error(
                            "read-only",
                            e.span,
                            format!("`{name}` is a gather array: it is only read"),
                        );
                        None
                    }
                    _ => {
                        self.error("array-value", base.span, format!("`{name}` is no array"));
                        None
                    }
                }
            }
            Some(Meaning::Shared) => {
                let shared = self.kernel.shared.clone()?;
                let per = shared.count / self.kernel.group.unwrap_or(1).max(1);
                if indices.len() != 1 {
                    self.error("subscript", e.span, format!("`{name}` has one dimension"));
                    return None;
                }
                let Some(offset) = owned(indices[0], per) else {
                    let message = "a thread writes its own elements of the shared array only";
                    let note = format!(
                        "write `{name}[{per} * instanceInGroup().x + k]` with a number k below {per}"
                    );
                    self.report.error_note("owner-writes", indices[0].span, message, &note);
                    return None;
                };
                self.kernel.uses.in_group = true;
                Some(Place {
                    ty: shared.ty,
                    base: Base::Shared(offset),
                    path: Vec::new(),
                    swizzle: Vec::new(),
                })
            }
            Some(Meaning::Local(..)) => {
                self.error("array-value", base.span, format!("`{name}` is no array"));
                None
            }
            None => {
                self.value(base);
                None
            }
        }
    }

    /// What a place holds, for `+=`.
    pub(crate) fn read_place(&mut self, place: &Place, span: Span) -> Option<Expr> {
        let mut value = match &place.base {
            Base::Var(id) => Expr { ty: self.kernel.vars[*id].ty, kind: ExprKind::Var(*id) },
            Base::Scatter(..) => {
                self.error("scatter-read", span, "a scatter array is only written");
                return None;
            }
            Base::Shared(offset) => {
                let shared = self.kernel.shared.as_ref()?;
                let per = shared.count / self.kernel.group.unwrap_or(1).max(1);
                Expr { ty: shared.ty, kind: ExprKind::Shared(Box::new(own_index(per, *offset))) }
            }
        };
        for at in &place.path {
            let Type::Struct(id) = value.ty else { break };
            value = Expr {
                ty: self.structs.get(id).members[*at].1,
                kind: ExprKind::Member(Box::new(value), *at),
            };
        }
        if !place.swizzle.is_empty() {
            value = Expr { ty: place.ty, kind: ExprKind::Swizzle(Box::new(value), place.swizzle.clone()) };
        }
        Some(value)
    }

    /// The value of `a[y][x]`.
    pub(crate) fn element(&mut self, e: &ast::Expr) -> Expr {
        let (base, indices) = subscripts(e);
        let Ast::Name(name) = &base.kind else {
            self.error("array-value", base.span, "only arrays have elements");
            return wrong();
        };
        match self.lookup(name) {
            Some(Meaning::Param(at)) => {
                let param = &self.kernel.params[at];
                let (ty, kind) = (param.ty, param.kind.clone());
                match kind {
                    ParamKind::Gather(rank) => match self.indices(&indices, rank, e.span) {
                        Some(index) => Expr { ty, kind: ExprKind::Gather(at, index) },
                        None => wrong(),
                    },
                    ParamKind::ConstArray(dims) => self.constant_element(at, ty, &dims, &indices, e.span),
                    ParamKind::Scatter(_) => {
                        self.error(
                            "scatter-read",
                            e.span,
                            format!("`{name}` is a scatter array: it is only written"),
                        );
                        wrong()
                    }
                    _ => {
                        self.error("array-value", base.span, format!("`{name}` is no array"));
                        wrong()
                    }
                }
            }
            Some(Meaning::Shared) => {
                let Some(ty) = self.kernel.shared.as_ref().map(|s| s.ty) else { return wrong() };
                if indices.len() != 1 {
                    self.error("subscript", e.span, format!("`{name}` has one dimension"));
                    return wrong();
                }
                match self.subscript(indices[0], true) {
                    Some(index) => Expr { ty, kind: ExprKind::Shared(Box::new(index)) },
                    None => wrong(),
                }
            }
            Some(Meaning::Local(..)) => {
                self.error("array-value", base.span, format!("`{name}` is no array"));
                wrong()
            }
            None => self.value(base),
        }
    }

    fn constant_element(
        &mut self,
        at: usize,
        ty: Type,
        dims: &[u32],
        indices: &[&ast::Expr],
        span: Span,
    ) -> Expr {
        if indices.len() != dims.len() {
            let message = format!("{} subscripts for {} dimensions", indices.len(), dims.len());
            self.error("subscript", span, message);
            return wrong();
        }
        let list: Option<Vec<Expr>> = indices.iter().map(|i| self.subscript(i, true)).collect();
        match list {
            Some(list) => Expr { ty, kind: ExprKind::Element(at, list) },
            None => wrong(),
        }
    }

    /// One number; whole if `whole`, to which floats are cut.
    fn subscript(&mut self, e: &ast::Expr, whole: bool) -> Option<Expr> {
        let value = self.value(e);
        let scalar = match value.ty {
            Type::Vector(scalar, 1) => scalar,
            Type::Unknown => return None,
            other => {
                let message = format!("a subscript is one number, not `{}`", self.show(other));
                self.error("subscript", e.span, message);
                return None;
            }
        };
        if scalar == Scalar::Double {
            self.error("subscript", e.span, "a subscript is no double");
            return None;
        }
        Some(if whole && !scalar.is_integer() {
            Expr { ty: Type::INT, kind: ExprKind::Cast(Box::new(value)) }
        } else {
            value
        })
    }

    /// Indices of a texture or scatter array, x first; a single vector may stand for all.
    fn indices(&mut self, indices: &[&ast::Expr], rank: u8, span: Span) -> Option<Vec<Expr>> {
        if indices.len() == 1 {
            let value = self.value(indices[0]);
            return match value.ty {
                Type::Vector(Scalar::Double, _) => {
                    self.error("subscript", indices[0].span, "a subscript is no double");
                    None
                }
                Type::Vector(_, n) if n == rank => {
                    if n > 1 {
                        self.report.warn(
                            0,
                            "vector-subscript",
                            indices[0].span,
                            "an index as one vector; C style is `a[y][x]`",
                        );
                    }
                    Some(vec![value])
                }
                Type::Unknown => None,
                Type::Vector(_, n) => {
                    self.error("subscript", indices[0].span, format!("{n} subscripts for {rank} dimensions"));
                    None
                }
                other => {
                    let message = format!("a subscript is a number, not `{}`", self.show(other));
                    self.error("subscript", indices[0].span, message);
                    None
                }
            };
        }
        if indices.len() != usize::from(rank) {
            self.error("subscript", span, format!("{} subscripts for {rank} dimensions", indices.len()));
            return None;
        }
        let list: Vec<Option<Expr>> = indices.iter().rev().map(|i| self.subscript(i, false)).collect();
        list.into_iter().collect()
    }
}

/// `a[z][y][x]` as `a` and its subscripts in order.
fn subscripts(e: &ast::Expr) -> (&ast::Expr, Vec<&ast::Expr>) {
    let mut base = e;
    let mut list = Vec::new();
    while let Ast::Index(inner, index) = &base.kind {
        list.push(&**index);
        base = inner;
    }
    list.reverse();
    (base, list)
}

/// `per * instanceInGroup().x + offset`
pub(crate) fn own_index(per: u32, offset: u32) -> Expr {
    let int = |kind| Expr { ty: Type::INT, kind };
    let group = Expr { ty: Type::Vector(Scalar::Int, 4), kind: ExprKind::InGroup };
    let thread = int(ExprKind::Swizzle(Box::new(group), vec![0]));
    let first = int(ExprKind::Binary(BinaryOp::Mul, Box::new(int(ExprKind::Int(per))), Box::new(thread)));
    int(ExprKind::Binary(BinaryOp::Add, Box::new(first), Box::new(int(ExprKind::Int(offset)))))
}

/// The k of `S * instanceInGroup().x + k`, in any order, with S the elements of each thread.
fn owned(e: &ast::Expr, per: u32) -> Option<u32> {
    let number = |e: &ast::Expr| match e.kind {
        Ast::Int(n, _) => Some(n),
        _ => None,
    };
    let thread = |e: &ast::Expr| match &e.kind {
        Ast::Member(inner, name, false) => name.text == "x" && matches!(inner.kind, Ast::InstanceInGroup),
        _ => false,
    };
    let first = |e: &ast::Expr| match &e.kind {
        Ast::Binary(BinaryOp::Mul, a, b) => {
            (number(a) == Some(per) && thread(b)) || (number(b) == Some(per) && thread(a))
        }
        _ => per == 1 && thread(e),
    };
    let offset = match &e.kind {
        Ast::Binary(BinaryOp::Add, a, b) if first(a) => number(b)?,
        Ast::Binary(BinaryOp::Add, a, b) if first(b) => number(a)?,
        _ if first(e) => 0,
        _ => return None,
    };
    (offset < per).then_some(offset)
}
