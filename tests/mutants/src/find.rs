//! Finds what can be changed in a source file, and where text has to go for it.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, ReturnType, Stmt, Type, UnOp};

/// A place whose text is surrounded. Insertions only, and perhaps one replacement within, so that places nest freely.
pub struct Site {
    /// Bytes of what is surrounded.
    pub range: std::ops::Range<usize>,
    /// An operator that gives way.
    pub operator: Option<std::ops::Range<usize>>,
    /// Line and column.
    pub at: (usize, usize),
    /// How the text is made.
    pub shape: Shape,
    /// What may be done here, in words.
    pub mutants: Vec<String>,
}

/// What stands around a place.
pub enum Shape {
    /// `a op b` of values or, if they are compared, of references; the operators, the original one last.
    Binary { operators: Vec<String>, compared: bool },
    /// `a op= b`.
    Assign { operators: Vec<String> },
    /// `a && b` and `a || b`, which become each other.
    Connective { and: bool },
    /// A condition, which is negated.
    Condition,
    /// `!a` or `-a`, the operator being left out.
    Unary(char),
    /// A whole number, which becomes others.
    Literal(Vec<String>),
    /// A statement that is left out.
    Statement,
    /// The beginning of a function, which ends at once with these.
    Body(Vec<String>),
}

/// All places of a file.
pub fn sites(text: &str) -> Result<Vec<Site>, String> {
    let file = syn::parse_file(text).map_err(|e| e.to_string())?;
    let mut finder = Finder { sites: Vec::new(), late: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.sites)
}

struct Finder {
    sites: Vec<Site>,
    /// Variables of the function that are given a value later.
    late: Vec<String>,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return attribute.path().is_ident("test") };
        list.path.is_ident("cfg") && list.tokens.to_string().contains("test")
    })
}

/// `let` somewhere in a chain of `&&`.
fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn others(op: &BinOp) -> Option<(&'static [&'static str], &'static str, bool)> {
    Some(match op {
        BinOp::Lt(_) => (&["<=", ">="], "<", true),
        BinOp::Le(_) => (&["<", ">"], "<=", true),
        BinOp::Gt(_) => (&[">=", "<="], ">", true),
        BinOp::Ge(_) => (&[">", "<"], ">=", true),
        BinOp::Eq(_) => (&["!="], "==", true),
        BinOp::Ne(_) => (&["=="], "!=", true),
        BinOp::Add(_) => (&["-"], "+", false),
        BinOp::Sub(_) => (&["+"], "-", false),
        BinOp::Mul(_) => (&["+"], "*", false),
        BinOp::Div(_) => (&["*"], "/", false),
        BinOp::Rem(_) => (&["/"], "%", false),
        BinOp::Shl(_) => (&[">>"], "<<", false),
        BinOp::Shr(_) => (&["<<"], ">>", false),
        BinOp::BitAnd(_) => (&["|"], "&", false),
        BinOp::BitOr(_) => (&["&"], "|", false),
        BinOp::BitXor(_) => (&["|"], "^", false),
        _ => return None,
    })
}

fn assigning(op: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        BinOp::AddAssign(_) => ("-=", "+="),
        BinOp::SubAssign(_) => ("+=", "-="),
        BinOp::MulAssign(_) => ("+=", "*="),
        BinOp::DivAssign(_) => ("*=", "/="),
        BinOp::ShlAssign(_) => (">>=", "<<="),
        BinOp::ShrAssign(_) => ("<<=", ">>="),
        BinOp::BitAndAssign(_) => ("|=", "&="),
        BinOp::BitOrAssign(_) => ("&=", "|="),
        BinOp::BitXorAssign(_) => ("|=", "^="),
        _ => return None,
    })
}

/// What a function of this type may give at once.
fn values(output: &ReturnType) -> Vec<String> {
    let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let ReturnType::Type(_, kind) = output else { return strings(&[""]) };
    let Type::Path(path) = &**kind else { return Vec::new() };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    match last.ident.to_string().as_str() {
        "bool" => strings(&["true", "false"]),
        "Option" => strings(&["None"]),
        "Mask" | "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => strings(&["0", "1"]),
        _ => Vec::new(),
    }
}

impl Finder {
    fn add(&mut self, span: Span, operator: Option<Span>, shape: Shape, mutants: Vec<String>) {
        let start = span.start();
        self.sites.push(Site {
            range: span.byte_range(),
            operator: operator.map(|o| o.byte_range()),
            at: (start.line, start.column + 1),
            shape,
            mutants,
        });
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() || signature.asyncness.is_some() || block.stmts.is_empty() {
            return;
        }
        let values = values(&signature.output);
        if !values.is_empty() {
            let mutants = values.iter().map(|v| format!("{} returns {v} at once", signature.ident)).collect();
            let inside = block.brace_token.span.open().byte_range().end;
            let at = block.brace_token.span.open().start();
            self.sites.push(Site {
                range: inside..inside,
                operator: None,
                at: (at.line, at.column + 1),
                shape: Shape::Body(values),
                mutants,
            });
        }
        let before = std::mem::take(&mut self.late);
        self.visit_block(block);
        self.late = before;
    }

    fn condition(&mut self, expr: &Expr) {
        let plain = match expr {
            // Comparisons have mutants of their own, and so have negations.
            Expr::Binary(binary) => others(&binary.op).is_none_or(|(.., compares)| !compares),
            Expr::Unary(_) | Expr::Let(_) | Expr::Lit(_) => false,
            _ => true,
        };
        if let (Expr::Binary(binary), true) = (expr, has_let(expr)) {
            self.condition(&binary.left);
            self.condition(&binary.right);
            return;
        }
        if plain {
            self.add(expr.span(), None, Shape::Condition, vec!["negated".into()]);
        }
        self.visit_expr(expr);
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Fn(function) if !is_test(&function.attrs) => {
                self.function(&function.sig, &function.block)
            }
            syn::Item::Impl(block) if !is_test(&block.attrs) => {
                block.items.iter().for_each(|item| self.visit_impl_item(item));
            }
            syn::Item::Trait(block) => block.items.iter().for_each(|item| self.visit_trait_item(item)),
            syn::Item::Mod(module) if !is_test(&module.attrs) => visit::visit_item_mod(self, module),
            // Constants, types, macros.
            _ => {}
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        if let syn::ImplItem::Fn(function) = item {
            if !is_test(&function.attrs) {
                self.function(&function.sig, &function.block);
            }
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        if let syn::TraitItem::Fn(syn::TraitItemFn { sig, default: Some(block), .. }) = item {
            self.function(sig, block);
        }
    }

    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if local.init.is_none() {
            if let syn::Pat::Ident(name) = &local.pat {
                self.late.push(name.ident.to_string());
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt {
            let late = |e: &Expr| matches!(e, Expr::Path(p) if p.path.get_ident().is_some_and(|i| self.late.contains(&i.to_string())));
            let what = match expr {
                Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => "early exit ignored",
                Expr::MethodCall(_) | Expr::Call(_) => "statement left out",
                Expr::Assign(assign) if !late(&assign.left) => "statement left out",
                _ => "",
            };
            if !what.is_empty() {
                self.add(stmt.span(), None, Shape::Statement, vec![what.into()]);
            }
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr_if(&mut self, expr: &'ast syn::ExprIf) {
        self.condition(&expr.cond);
        self.visit_block(&expr.then_branch);
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, expr: &'ast syn::ExprWhile) {
        self.condition(&expr.cond);
        self.visit_block(&expr.body);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let (span, operator) = (binary.span(), binary.op.span());
        if let Some((with, original, compared)) = others(&binary.op) {
            let mutants = with.iter().map(|new| format!("{original} is {new}")).collect();
            let operators = with.iter().chain([&original]).map(|o| (*o).to_owned()).collect();
            self.add(span, Some(operator), Shape::Binary { operators, compared }, mutants);
        } else if let Some((with, original)) = assigning(&binary.op) {
            let operators = vec![with.to_owned(), original.to_owned()];
            self.add(
                span,
                Some(operator),
                Shape::Assign { operators },
                vec![format!("{original} is {with}")],
            );
        } else if !has_let(&binary.left) && !has_let(&binary.right) {
            let and = matches!(binary.op, BinOp::And(_));
            let word = if and { "&& is ||" } else { "|| is &&" };
            self.add(span, Some(operator), Shape::Connective { and }, vec![word.into()]);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        let operator = match unary.op {
            UnOp::Not(_) => Some('!'),
            UnOp::Neg(_) if !matches!(*unary.expr, Expr::Lit(_)) => Some('-'),
            _ => None,
        };
        if let Some(operator) = operator {
            let what = vec![format!("without {operator}")];
            self.add(unary.span(), Some(unary.op.span()), Shape::Unary(operator), what);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_lit(&mut self, expr: &'ast syn::ExprLit) {
        let Lit::Int(int) = &expr.lit else { return };
        let Ok(value) = int.base10_parse::<u64>() else { return };
        // The largest of a type has no next one; others are found when they do not compile.
        if value >= 0x7FFF_FFFF {
            return;
        }
        let mut new = vec![format!("{}{}", value + 1, int.suffix())];
        if value > 1 {
            new.push(format!("{}{}", value - 1, int.suffix()));
        }
        let what = new.iter().map(|n| format!("{int} is {n}")).collect();
        self.add(int.span(), None, Shape::Literal(new), what);
    }
}
