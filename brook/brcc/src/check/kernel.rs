//! Rules of whole kernels and their parameters.

use super::{Checker, Meaning};
use crate::ast::{self, Expr, ExprKind, Name, Quals, Shape};
use crate::diagnostic::Span;
use crate::hir::{self, ParamKind};
use crate::types::Type;

/// Elements of a constant buffer.
const CONSTANTS: u32 = 4096;
/// Gather parameters, of those that come first, that may be constant buffers.
const CONSTANT_ARRAYS: usize = 10;
/// Inputs that a pass may have.
const INPUTS: usize = 128;
/// Threads of a group.
const GROUP: u32 = 1024;

impl Checker<'_> {
    /// Checks everything.
    pub(crate) fn run(mut self, kernel: &ast::Kernel) -> hir::Kernel {
        self.attributes(kernel);
        self.result(kernel);
        self.own_quals(&kernel.quals);
        for param in &kernel.params {
            self.param(param, &kernel.name);
        }
        self.kernel_rules(kernel);
        let params: Vec<_> = self.kernel.params.iter().map(|p| p.name.clone()).collect();
        for (at, name) in params.into_iter().enumerate() {
            self.scopes[0].insert(name, Meaning::Param(at));
        }
        self.kernel.vars =
            self.kernel.params.iter().map(|p| hir::Var { name: p.name.clone(), ty: p.ty }).collect();
        // Locals may hide nothing of the parameters, and have a block of their own.
        self.scopes.push(Default::default());
        let body = self.statements(&kernel.body);
        self.kernel.body = body;
        if self.kernel.result != Type::Void && !always_returns(&self.kernel.body) {
            self.error("missing-return", kernel.end, "the kernel ends without returning a value");
        }
        self.kernel
    }

    fn attributes(&mut self, kernel: &ast::Kernel) {
        for attribute in &kernel.attributes {
            if attribute.name.text != "GroupSize" {
                let name = &attribute.name;
                self.error(
                    "attribute",
                    name.span,
                    format!("unknown attribute `{}`; there is `GroupSize`", name.text),
                );
                continue;
            }
            let span = attribute.name.span;
            if self.kernel.group.is_some() {
                self.error("group-size", span, "a second `GroupSize`");
                continue;
            }
            if attribute.args.is_empty() || attribute.args.len() > 4 {
                self.error("group-size", span, "`GroupSize` takes 1 to 4 numbers");
                continue;
            }
            for (at, arg) in attribute.args.iter().enumerate() {
                match arg.kind {
                    ExprKind::Int(n, _) if at == 0 => {
                        if n == 0 || n > GROUP {
                            self.error("group-size", arg.span, format!("a group has 1 to {GROUP} threads"));
                        }
                        self.kernel.group = Some(n.clamp(1, GROUP));
                    }
                    ExprKind::Int(1, _) => {}
                    ExprKind::Int(..) => {
                        self.error("group-size", arg.span, "groups have one dimension: further sizes are 1");
                    }
                    _ => self.error("group-size", arg.span, "a group's size is a literal number"),
                }
            }
            self.kernel.group.get_or_insert(1);
        }
    }

    fn result(&mut self, kernel: &ast::Kernel) {
        let Some(result) = &kernel.result else {
            self.error("result", kernel.name.span, "the kernel has no return type");
            return;
        };
        if result.pointer {
            self.error("pointer", result.span, "kernels have no pointers");
        }
        match result.ty {
            Some(ty) => self.kernel.result = ty,
            None => self.unknown_type(result),
        }
    }

    fn own_quals(&mut self, quals: &Quals) {
        for (span, word) in [
            (quals.out, "out"),
            (quals.shared, "shared"),
            (quals.iter, "iter"),
            (quals.vout, "vout"),
            (quals.constant, "const"),
        ] {
            if let Some(span) = span {
                self.error("qualifier", span, format!("`{word}` does not belong before a kernel"));
            }
        }
        for name in &quals.other {
            if name.text != "static" && name.text != "extern" {
                self.error(
                    "qualifier",
                    name.span,
                    format!("`{}` does not belong before a kernel", name.text),
                );
            }
        }
    }

    pub(crate) fn unknown_type(&mut self, ty: &ast::TypeName) {
        let text = &ty.text;
        let reason = if text.contains("long") {
            "kernels have no 64-bit integers"
        } else if text.starts_with("double") {
            "doubles come alone and in pairs: `double`, `double2`"
        } else {
            "kernels have numbers, short vectors and structs of them"
        };
        self.report.error_note("type", ty.span, format!("`{text}` is no type of kernels"), reason);
    }

    fn param(&mut self, param: &ast::Param, kernel: &Name) {
        let name = &param.declarator.name;
        let ty = match param.ty.ty {
            Some(Type::Void) => {
                self.error("type", param.ty.span, format!("the parameter `{}` is `void`", name.text));
                Type::Unknown
            }
            Some(ty) => ty,
            None => {
                self.unknown_type(&param.ty);
                Type::Unknown
            }
        };
        if name.text == kernel.text {
            self.error("redefinition", name.span, "a parameter and its kernel have one name");
        }
        if self.kernel.params.iter().any(|p| p.name == name.text) {
            self.error("redefinition", name.span, format!("a parameter is called `{}` already", name.text));
        }
        if let Some(span) = param.declarator.pointer {
            self.error("pointer", span, "kernels have no pointers");
        }
        self.param_quals(&param.quals);
        let kind = self.param_kind(param, ty);
        self.kernel.params.push(hir::Param { name: name.text.clone(), ty, kind });
    }

    fn param_quals(&mut self, quals: &Quals) {
        let refused = [
            (quals.iter, "iterator", "iterators are not supported"),
            (quals.vout, "vout", "streams of variable length (`vout`) are not supported"),
            (
                quals.constant,
                "const-parameter",
                "`const` is reserved: parameters that are no outputs are read-only as it is",
            ),
            (quals.shared, "shared", "a parameter cannot be `shared`"),
            (quals.kernel, "qualifier", "`kernel` does not belong before a parameter"),
        ];
        for (span, rule, message) in refused {
            if let Some(span) = span {
                self.error(rule, span, message);
            }
        }
        for name in &quals.other {
            self.error("qualifier", name.span, format!("`{}` is not allowed in kernels", name.text));
        }
        if let (Some(out), Some(reduce)) = (quals.out, quals.reduce) {
            self.error("qualifier", out.to(reduce), "a parameter is `out` or `reduce`, not both");
        }
    }

    fn param_kind(&mut self, param: &ast::Param, ty: Type) -> ParamKind {
        let (name, span) = (&param.declarator.name.text, param.declarator.shape_span);
        let out = param.quals.out.is_some();
        let reduce = param.quals.reduce.is_some();
        match &param.declarator.shape {
            Shape::Both => {
                self.error("stream-of-arrays", span, "a stream has no arrays as elements");
                ParamKind::Input
            }
            Shape::Stream(dims) => {
                self.stream_sizes(dims, span);
                match (out, reduce) {
                    (true, _) => ParamKind::Output,
                    (_, true) => ParamKind::Reduce,
                    _ => ParamKind::Input,
                }
            }
            Shape::None if reduce => ParamKind::Reduce,
            Shape::None if out => {
                let message =
                    format!("the output `{name}` is neither a stream (`{name}<>`) nor an array (`{name}[]`)");
                self.error("output", param.declarator.name.span, message);
                ParamKind::Output
            }
            Shape::None => ParamKind::Constant,
            Shape::Array(_) if reduce => {
                self.error(
                    "reduce-shape",
                    span,
                    "the result of a reduction is a stream or a value, not an array",
                );
                ParamKind::Reduce
            }
            Shape::Array(sizes) if out => {
                if sizes.iter().flatten().next().is_some() {
                    let message = format!("the scatter array `{name}` has a size; write `{name}[]`");
                    if self.rules.no_constant_arrays {
                        self.report.warn(0, "scatter-size", span, message);
                    } else {
                        self.error("scatter-size", span, message);
                    }
                }
                if matches!(ty, Type::Struct(_)) {
                    self.error("scatter-struct", span, "structs cannot be scattered");
                }
                ParamKind::Scatter(self.rank(sizes.len(), span))
            }
            Shape::Array(sizes) => self.gather(name, ty, sizes, span),
        }
    }

    fn rank(&mut self, rank: usize, span: Span) -> u8 {
        if rank > 3 {
            self.error("array-rank", span, "arrays of kernels have 1 to 3 dimensions");
        }
        rank.clamp(1, 3) as u8
    }

    fn gather(&mut self, name: &str, ty: Type, sizes: &[Option<Expr>], span: Span) -> ParamKind {
        let rank = self.rank(sizes.len(), span);
        let given: Vec<&Expr> = sizes.iter().flatten().collect();
        if given.is_empty() {
            return ParamKind::Gather(rank);
        }
        if given.len() < sizes.len() {
            let message = format!("`{name}` has some sizes and lacks others");
            if self.rules.no_constant_arrays {
                self.report.warn(0, "partial-size", span, message);
            } else {
                self.error("partial-size", span, message);
            }
            return ParamKind::Gather(rank);
        }
        let mut dims = Vec::new();
        for size in given {
            match self.constant_size(size) {
                Some(n) => dims.push(n),
                None => return ParamKind::Gather(rank),
            }
        }
        let total = dims.iter().try_fold(1u32, |n, d| n.checked_mul(*d));
        let arrays = self.kernel.params.iter();
        let arrays =
            arrays.filter(|p| matches!(p.kind, ParamKind::Gather(_) | ParamKind::ConstArray(_))).count();
        let fits = total.is_some_and(|n| n <= CONSTANTS) && arrays < CONSTANT_ARRAYS;
        if self.rules.no_constant_arrays || !fits {
            return ParamKind::Gather(rank);
        }
        if matches!(ty, Type::Struct(_)) {
            self.error("type", span, "a constant array has numbers or vectors as elements");
        }
        ParamKind::ConstArray(dims)
    }

    /// A size that is a positive literal; tells what it is otherwise.
    pub(crate) fn constant_size(&mut self, size: &Expr) -> Option<u32> {
        let message = match &size.kind {
            ExprKind::Int(n, _) if *n > 0 && *n <= i32::MAX as u32 => return Some(*n),
            ExprKind::Wrong => return None,
            ExprKind::Int(0, _) | ExprKind::Int(..) | ExprKind::Unary(ast::UnaryOp::Neg, _) => {
                "an array's size is positive"
            }
            ExprKind::Float(..) => "an array's size is a whole number",
            _ => "an array's size is a literal number",
        };
        self.error("array-size", size.span, message);
        None
    }

    fn stream_sizes(&mut self, dims: &[Expr], span: Span) {
        if dims.len() > 4 {
            self.error("stream-rank", span, "streams have 1 to 4 dimensions");
        }
        for dim in dims {
            if let ExprKind::Float(..) | ExprKind::Str = dim.kind {
                self.error("stream-size", dim.span, "a stream's size is a whole number");
            }
        }
    }

    fn kernel_rules(&mut self, kernel: &ast::Kernel) {
        let span = kernel.name.span;
        let of = |kernel: &hir::Kernel, wanted: fn(&ParamKind) -> bool| {
            kernel.params.iter().filter(|p| wanted(&p.kind)).count()
        };
        let inputs = of(&self.kernel, |k| *k == ParamKind::Input);
        let outputs = of(&self.kernel, |k| *k == ParamKind::Output);
        let reduces = of(&self.kernel, |k| *k == ParamKind::Reduce);
        let scatters = of(&self.kernel, |k| matches!(k, ParamKind::Scatter(_)));
        let arrays = of(&self.kernel, |k| matches!(k, ParamKind::Gather(_) | ParamKind::ConstArray(_)));
        if scatters > 1 {
            self.error("one-scatter", span, "a kernel has one scatter array at most");
        }
        if reduces > 0 && !self.kernel.reduce {
            self.report.error_note(
                "reduce-mark",
                span,
                "a kernel with a `reduce` parameter is no reduction",
                "write `reduce void …`",
            );
        }
        if self.kernel.reduce {
            if inputs != 1 || reduces != 1 || outputs + scatters + arrays > 0 {
                self.error(
                    "reduce-shape",
                    span,
                    "a reduction has one input stream, one `reduce` parameter and constants",
                );
            }
            if self.kernel.result != Type::Void {
                self.error("reduce-shape", span, "a reduction returns nothing");
            }
            let find = |kind: ParamKind| self.kernel.params.iter().find(|p| p.kind == kind).map(|p| p.ty);
            if let (Some(from), Some(to)) = (find(ParamKind::Input), find(ParamKind::Reduce)) {
                if from != to && from != Type::Unknown && to != Type::Unknown {
                    let message =
                        format!("the input is `{}`, the result `{}`", self.show(from), self.show(to));
                    self.error("reduce-type", span, message);
                }
                if matches!(from, Type::Struct(_)) {
                    self.error("reduce-type", span, "structs cannot be reduced; reduce a vector");
                }
            }
        }
        if self.kernel.group.is_some() {
            if scatters != 1 {
                self.error(
                    "group-output",
                    span,
                    "a kernel with `GroupSize` has one scatter array as its output",
                );
            }
            if outputs > 0 {
                self.error("group-output", span, "a kernel with `GroupSize` has no stream as output");
            }
            if self.kernel.reduce {
                self.error("group-output", span, "a reduction has no groups");
            }
        }
        let textures: usize = self
            .kernel
            .params
            .iter()
            .map(|p| match p.kind {
                ParamKind::Input | ParamKind::Gather(_) => self.structs.count(p.ty),
                _ => 0,
            })
            .sum();
        if textures > INPUTS {
            self.error("inputs", span, format!("{textures} inputs; a kernel has at most {INPUTS}"));
        }
        let written: usize = self
            .kernel
            .params
            .iter()
            .map(|p| match p.kind {
                ParamKind::Output => self.structs.count(p.ty),
                _ => 0,
            })
            .sum();
        if written > 8 {
            let message = format!(
                "{written} outputs take {} passes, each of which computes everything",
                written.div_ceil(8)
            );
            self.report.warn(1, "passes", span, message);
        }
        if self.kernel.result == Type::Void && outputs + scatters + reduces == 0 {
            self.report.warn(1, "no-output", span, "the kernel has no output: hosts cannot call it");
        }
        let struct_constant =
            |p: &hir::Param| p.kind == ParamKind::Constant && matches!(p.ty, Type::Struct(_));
        if self.kernel.is_entry() && self.kernel.params.iter().any(struct_constant) {
            self.error("type", span, "a struct reaches a kernel in a stream, not as a constant");
        }
    }
}

fn always_returns(body: &[hir::Stmt]) -> bool {
    body.iter().any(|s| match s {
        hir::Stmt::Return(_) => true,
        hir::Stmt::Block(b) => always_returns(b),
        hir::Stmt::If(_, a, b) => always_returns(a) && always_returns(b),
        // Only a return leaves it.
        hir::Stmt::Loop(None, body, _) => !body.iter().any(breaks),
        _ => false,
    })
}

fn breaks(stmt: &hir::Stmt) -> bool {
    match stmt {
        hir::Stmt::Break => true,
        hir::Stmt::Block(b) => b.iter().any(breaks),
        hir::Stmt::If(_, a, b) => a.iter().chain(b).any(breaks),
        _ => false,
    }
}
