//! Rules of statements.

use super::{Checker, Meaning};
use crate::ast::{self, ExprKind, Shape, StmtKind};
use crate::hir::{self, Stmt};
use crate::types::Type;

impl Checker<'_> {
    pub(crate) fn statements(&mut self, body: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for statement in body {
            if self.report.is_full() {
                break;
            }
            self.statement(statement, &mut out);
        }
        out
    }

    fn block(&mut self, body: &[ast::Stmt]) -> Vec<Stmt> {
        self.scopes.push(Default::default());
        let out = self.statements(body);
        self.scopes.pop();
        out
    }

    fn single(&mut self, statement: &ast::Stmt) -> Vec<Stmt> {
        self.block(std::slice::from_ref(statement))
    }

    fn looped(&mut self, statement: &ast::Stmt) -> Vec<Stmt> {
        self.loops += 1;
        let out = self.single(statement);
        self.loops -= 1;
        out
    }

    fn statement(&mut self, statement: &ast::Stmt, out: &mut Vec<Stmt>) {
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(e) if matches!(e.kind, ExprKind::SyncGroup) => {
                self.group_only(e.span, "syncGroup");
                out.push(Stmt::Sync);
            }
            StmtKind::Expr(e) => {
                let value = self.statement_value(e);
                out.push(Stmt::Expr(value));
            }
            StmtKind::Decl(decl) => self.local(decl, out),
            StmtKind::Block(body) => {
                let body = self.block(body);
                out.push(Stmt::Block(body));
            }
            StmtKind::If(c, then, otherwise) => {
                let condition = self.condition(c);
                let then = self.single(then);
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |s| self.single(s));
                out.push(Stmt::If(condition, then, otherwise));
            }
            StmtKind::While(c, body) => {
                let condition = self.condition(c);
                let body = self.looped(body);
                out.push(Stmt::Loop(Some(condition), body, None));
            }
            StmtKind::DoWhile(body, c) => {
                let body = self.looped(body);
                let condition = self.condition(c);
                out.push(Stmt::DoWhile(body, condition));
            }
            StmtKind::For(init, c, step, body) => {
                self.scopes.push(Default::default());
                let mut all = Vec::new();
                self.statement(init, &mut all);
                let condition = c.as_ref().map(|c| self.condition(c));
                let step = step.as_ref().map(|s| self.statement_value(s));
                let body = self.looped(body);
                self.scopes.pop();
                all.push(Stmt::Loop(condition, body, step));
                out.push(Stmt::Block(all));
            }
            StmtKind::Break | StmtKind::Continue => {
                let is_break = matches!(statement.kind, StmtKind::Break);
                if self.loops == 0 {
                    let word = if is_break { "break" } else { "continue" };
                    self.error("loop", statement.span, format!("`{word}` stands outside a loop"));
                }
                out.push(if is_break { Stmt::Break } else { Stmt::Continue });
            }
            StmtKind::Return(value) => self.returned(value.as_ref(), statement.span, out),
            StmtKind::Unsupported(what) => {
                self.error(
                    "statement",
                    statement.span,
                    format!("kernels have no {}", what.trim_start_matches("a ")),
                );
            }
        }
    }

    fn returned(&mut self, value: Option<&ast::Expr>, span: crate::diagnostic::Span, out: &mut Vec<Stmt>) {
        let result = self.kernel.result;
        let value = match (value, result) {
            (None, Type::Void) => None,
            (None, _) => {
                self.error("missing-return", span, format!("`return` gives no `{}`", self.show(result)));
                None
            }
            (Some(e), Type::Void) => {
                self.error("return-value", e.span, "the kernel returns nothing");
                None
            }
            (Some(e), _) => {
                let value = self.value(e);
                Some(self.convert(value, result, e.span))
            }
        };
        out.push(Stmt::Return(value));
    }

    fn local(&mut self, decl: &ast::Decl, out: &mut Vec<Stmt>) {
        let quals = &decl.quals;
        for name in &quals.other {
            if !matches!(name.text.as_str(), "register" | "auto") {
                self.error("qualifier", name.span, format!("`{}` is not allowed in kernels", name.text));
            }
        }
        let refused = [
            (quals.out, "output", "only a parameter is `out`"),
            (quals.reduce, "output", "only a parameter is `reduce`"),
            (quals.kernel, "qualifier", "a kernel stands inside a kernel"),
            (quals.iter, "iterator", "iterators are not supported"),
            (quals.vout, "vout", "streams of variable length (`vout`) are not supported"),
        ];
        for (span, rule, message) in refused {
            if let Some(span) = span {
                self.error(rule, span, message);
            }
        }
        let ty = match decl.ty.ty {
            Some(Type::Void) => {
                self.error("type", decl.ty.span, "a variable is `void`");
                Type::Unknown
            }
            Some(ty) => ty,
            None => {
                self.unknown_type(&decl.ty);
                Type::Unknown
            }
        };
        for d in &decl.names {
            if let Some(span) = d.pointer {
                self.error("pointer", span, "kernels have no pointers");
            }
            if quals.shared.is_some() {
                self.shared(d, ty);
                continue;
            }
            match &d.shape {
                Shape::None => {}
                Shape::Stream(_) | Shape::Both => {
                    self.error("local-stream", d.shape_span, "a stream cannot be local to a kernel");
                }
                Shape::Array(_) => {
                    self.error("local-array", d.shape_span, "arrays in kernels are `shared` or parameters");
                }
            }
            if quals.constant.is_some() && d.init.is_none() {
                self.error("const", d.name.span, format!("the constant `{}` has no value", d.name.text));
            }
            // C lets a variable's own initialiser see it; nothing useful comes of that.
            let init = d.init.as_ref().map(|e| self.initial(e, ty));
            let id = self.declare(&d.name, ty, quals.constant.is_some());
            out.push(Stmt::Local(id, init));
        }
    }

    /// `float4 v = { 1.0f, … }` or a value.
    fn initial(&mut self, e: &ast::Expr, ty: Type) -> hir::Expr {
        let ExprKind::List(values) = &e.kind else {
            let value = self.value(e);
            return self.convert(value, ty, e.span);
        };
        let (Some(scalar), width) = (ty.scalar(), usize::from(ty.width())) else {
            self.error("initialiser", e.span, "a list begins a vector");
            return hir::Expr { ty: Type::Unknown, kind: hir::ExprKind::Int(0) };
        };
        if values.len() > width {
            self.error("initialiser", e.span, format!("{} values for `{ty}`", values.len()));
        } else if values.len() < width {
            self.strict(
                1,
                "initialiser",
                e.span,
                format!("{} values for `{ty}`", values.len()),
                "give all components",
            );
        }
        let one = Type::Vector(scalar, 1);
        let mut parts = Vec::new();
        for value in values.iter().take(width) {
            if let ExprKind::List(_) = value.kind {
                self.error("initialiser", value.span, "a list inside a list");
                continue;
            }
            let part = self.value(value);
            parts.push(self.convert(part, one, value.span));
        }
        while parts.len() < width {
            let kind = if scalar.is_integer() { hir::ExprKind::Int(0) } else { hir::ExprKind::Float(0.0) };
            parts.push(hir::Expr { ty: one, kind });
        }
        let first = (width == 1).then(|| parts.pop()).flatten();
        first.unwrap_or(hir::Expr { ty, kind: hir::ExprKind::Construct(parts) })
    }

    fn shared(&mut self, d: &ast::Declarator, ty: Type) {
        let span = d.name.span;
        let Some(group) = self.kernel.group else {
            self.error("shared", span, "only a kernel with `GroupSize` has a shared array");
            return;
        };
        if self.kernel.shared.is_some() {
            self.error("shared", span, "a kernel has one shared array");
            return;
        }
        if let Some(init) = &d.init {
            self.error("shared", init.span, "a shared array has no initialiser");
        }
        let wide = matches!(ty, Type::Vector(crate::types::Scalar::Double, 2)) || (ty.width() == 4);
        if !wide && ty != Type::Unknown {
            self.error(
                "shared",
                span,
                format!("elements of a shared array are 16 bytes, as `float4`; `{}` is not", self.show(ty)),
            );
        }
        let count = match &d.shape {
            Shape::Array(sizes) if sizes.len() == 1 => match &sizes[0] {
                Some(size) => self.constant_size(size),
                None => {
                    self.error("array-size", d.shape_span, "a shared array has a size");
                    None
                }
            },
            Shape::Array(_) => {
                self.error("shared", d.shape_span, "a shared array has one dimension");
                None
            }
            _ => {
                self.error("shared", d.shape_span, "`shared` is for arrays");
                None
            }
        };
        let count = count.unwrap_or(group);
        if count > 1024 {
            self.error("shared", d.shape_span, "a group shares 1024 elements at most, 16 KiB");
        } else if count % group != 0 {
            self.error(
                "shared",
                d.shape_span,
                format!("{count} elements are not the same number for each of {group} threads"),
            );
        } else if count / group > 16 {
            self.error("shared", d.shape_span, format!("{} elements a thread; 16 at most", count / group));
        }
        self.check_name(&d.name);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(d.name.text.clone(), Meaning::Shared);
        }
        self.kernel.shared = Some(hir::Shared { name: d.name.text.clone(), ty, count });
    }

    pub(crate) fn group_only(&mut self, span: crate::diagnostic::Span, what: &str) {
        if self.kernel.reduce {
            self.error("position", span, format!("`{what}` is not for reductions"));
        } else if self.kernel.group.is_none() {
            self.error("position", span, format!("`{what}` is for kernels with `GroupSize`"));
        }
    }
}
