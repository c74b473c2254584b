//! Syntax trees to checked kernels: the rules of the language.
//!
//! Input: the items of a file. Output: [`hir::Kernel`]s, or findings; a kernel with an error gives none. Rules are named as in
//! `docs/brook.md`.

mod call;
mod convert;
mod expr;
mod intrinsic;
mod kernel;
mod place;
mod stmt;

use std::collections::HashMap;

use crate::ast::{Item, Kernel, Name};
use crate::diagnostic::{Report, Span};
use crate::hir;
use crate::parse::File;
use crate::types::{Structs, Type};

/// How strict the checks are.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// No conversion without a cast.
    pub strong: bool,
    /// Gather arrays with sizes are textures as well.
    pub no_constant_arrays: bool,
}

/// What a name means in a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning {
    /// A parameter.
    Param(usize),
    /// A local; true if it is constant.
    Local(hir::VarId, bool),
    /// The shared array.
    Shared,
}

/// Checks one kernel.
pub(crate) struct Checker<'c> {
    pub(crate) report: &'c mut Report,
    pub(crate) structs: &'c Structs,
    pub(crate) rules: Rules,
    /// Kernels before this one.
    pub(crate) kernels: &'c [hir::Kernel],
    /// All kernels by name; `None` of those that were wrong.
    pub(crate) names: &'c HashMap<String, Option<usize>>,
    /// Kernels that are declared further down.
    pub(crate) later: &'c [&'c str],
    pub(crate) kernel: hir::Kernel,
    pub(crate) scopes: Vec<HashMap<String, Meaning>>,
    pub(crate) loops: u32,
}

/// Checks all kernels of a file.
pub fn check(file: &File, rules: Rules, report: &mut Report) -> Vec<hir::Kernel> {
    let mut kernels: Vec<hir::Kernel> = Vec::new();
    let mut names: HashMap<String, Option<usize>> = HashMap::new();
    let list: Vec<&Kernel> = file
        .items
        .iter()
        .filter_map(|i| if let Item::Kernel(k, _) = i { Some(&**k) } else { None })
        .collect();
    let all: Vec<&str> = list.iter().map(|k| k.name.text.as_str()).collect();
    for (at, kernel) in list.iter().enumerate() {
        if report.is_full() {
            break;
        }
        let name = &kernel.name;
        if names.contains_key(&name.text) {
            report.error("redefinition", name.span, format!("a kernel `{}` is there already", name.text));
            continue;
        }
        let before = report.errors();
        let checker = Checker {
            report,
            structs: &file.structs,
            rules,
            kernels: &kernels,
            names: &names,
            later: &all[at..],
            kernel: hir::Kernel {
                name: name.text.clone(),
                result: Type::Void,
                params: Vec::new(),
                vars: Vec::new(),
                body: Vec::new(),
                reduce: kernel.quals.reduce.is_some(),
                group: None,
                shared: None,
                uses: hir::Uses::default(),
            },
            scopes: vec![HashMap::new()],
            loops: 0,
        };
        let checked = checker.run(kernel);
        if checked.is_entry() && crate::cpp::is_taken(&name.text) {
            report.error(
                "name",
                name.span,
                format!("`{}` is a word of C++ or a type, and hosts call the kernel", name.text),
            );
        }
        if report.errors() == before {
            names.insert(name.text.clone(), Some(kernels.len()));
            kernels.push(checked);
        } else {
            names.insert(name.text.clone(), None);
        }
    }
    kernels
}

impl Checker<'_> {
    pub(crate) fn error(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        self.report.error(rule, span, message);
    }

    /// A finding that is an error under strong typing and a warning of the level under weak typing.
    pub(crate) fn strict(
        &mut self,
        level: u8,
        rule: &'static str,
        span: Span,
        message: impl Into<String>,
        note: &str,
    ) {
        if self.rules.strong {
            self.report.error_note(rule, span, message, note);
        } else {
            self.report.warn(level, rule, span, message);
        }
    }

    pub(crate) fn show(&self, ty: Type) -> String {
        self.structs.show(ty)
    }

    pub(crate) fn lookup(&self, name: &str) -> Option<Meaning> {
        self.scopes.iter().rev().find_map(|s| s.get(name).copied())
    }

    /// A new local; told if the name is a parameter's or stands in this block already.
    pub(crate) fn declare(&mut self, name: &Name, ty: Type, constant: bool) -> hir::VarId {
        self.check_name(name);
        let id = self.kernel.vars.len();
        self.kernel.vars.push(hir::Var { name: name.text.clone(), ty });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text.clone(), Meaning::Local(id, constant));
        }
        id
    }

    pub(crate) fn check_name(&mut self, name: &Name) {
        let text = &name.text;
        if self.kernel.params.iter().any(|p| p.name == *text) {
            self.error("redefinition", name.span, format!("a parameter is called `{text}` already"));
        } else if self.scopes.last().is_some_and(|s| s.contains_key(text)) {
            self.error("redefinition", name.span, format!("`{text}` is declared already"));
        }
    }
}
