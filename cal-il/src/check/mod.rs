//! Legality: syntax tree to checked kernel.
//!
//! [`check`] resolves declarations (they may stand anywhere), expands macros, nests control flow, links calls,
//! decodes specifiers and says what is illegal, several findings at once. It refuses graphics-only instructions
//! by name, undeclared memory, unbalanced flow, recursion, and sizes that no device of the time had.
//! What it drops with a warning is exactly what the reference says to ignore.

mod bodies;
mod calls;
mod controls;
mod declare;
mod flow;
mod instruction;
mod layout;
mod legal;
mod macros;
mod memory;
mod operand;

use std::collections::{BTreeMap, HashMap};

pub(crate) use layout::place_by_layout;

use crate::diagnostic::{Diagnostic, Severity, Span};
use crate::inst::{Function, Interface, Kernel, ShortSwizzle, Src, Stage};
use crate::text::Lost;
use crate::text::ast::{Ast, HeaderStage};

/// Errors after which the checker gives up.
const MAX_ERRORS: usize = 20;
/// Warnings kept.
const MAX_WARNINGS: usize = 50;

/// Checks a syntax tree.
pub fn check(ast: &Ast) -> Result<Kernel, Vec<Diagnostic>> {
    let stage = match ast.header.stage {
        HeaderStage::Pixel => Stage::Pixel,
        HeaderStage::Compute => Stage::Compute,
        _ => {
            return Err(vec![
                Diagnostic::error(
                    "graphics-stage",
                    ast.header.span,
                    "this program type needs a graphics pipeline",
                )
                .with_note("kernels start with `il_ps_…` (pixel) or `il_cs_…` (compute)"),
            ]);
        }
    };
    let mut checker = Checker {
        ast,
        stage,
        errors: Vec::new(),
        warnings: ast.warnings.clone(),
        interface: Interface::default(),
        inputs: HashMap::new(),
        output_masks: BTreeMap::new(),
        told_outputs: [false; 8],
        short_swizzles: Vec::new(),
        literals: declare::Literals::default(),
        macros: macros::Macros::default(),
        functions: Vec::new(),
        sources: Vec::new(),
        labels: HashMap::new(),
        calls: Vec::new(),
        temps: 0,
        expanded: 0,
    };
    // An error that makes every later finding noise ends the check.
    let _ = checker.run();
    if !checker.errors.is_empty() {
        checker.errors.sort_by_key(|d| d.span.start);
        checker.errors.extend(checker.warnings);
        return Err(checker.errors);
    }
    checker.interface.samplers.sort_unstable();
    checker.interface.counters.sort_unstable();
    checker.warnings.sort_by_key(|d| d.span.start);
    Ok(Kernel {
        stage,
        interface: checker.interface,
        functions: checker.functions,
        sources: checker.sources,
        temps: checker.temps,
        macro_temps: checker.macros.first_temp,
        short_swizzles: checker.short_swizzles,
        warnings: checker.warnings,
    })
}

/// The errors of a text that could be read in part: those of the reader, and what is illegal in the rest of it, except
/// for what may follow from the gaps.
pub(crate) fn beside(mut errors: Vec<Diagnostic>, ast: &Ast, lost: Lost) -> Vec<Diagnostic> {
    if lost.rest {
        return errors;
    }
    let follows = |d: &Diagnostic| {
        // A word that opens something can only lack what was lost behind it, any other what was lost before it.
        let flow = lost.flow.is_some_and(|(first, last)| match d.rule {
            "unclosed" => last > d.span.start,
            _ => FROM_FLOW.contains(&d.rule) && first < d.span.start,
        });
        lost.declarations && FROM_DECLARATIONS.contains(&d.rule) || flow
    };
    let found = check(ast).err().unwrap_or_default().into_iter().filter(|d| !follows(d));
    let (warnings, more): (Vec<_>, Vec<_>) = found.partition(|d| d.severity < Severity::Error);
    errors.extend(more);
    // What is missing at the end is told last, wherever it points.
    errors.sort_by_key(|d| (d.rule == "missing-end", d.span.start));
    errors.extend(warnings);
    errors
}

/// Rules that a kernel breaks when declarations are taken from it.
const FROM_DECLARATIONS: &[&str] = &["undeclared", "missing-group-size", "memory-kind", "resource-type"];

/// Rules that a kernel breaks when words that open and close are taken from it.
const FROM_FLOW: &[&str] = &[
    "unbalanced",
    "outside",
    "switch",
    "duplicate-case",
    "nesting",
    "undefined-function",
    "undefined-macro",
    "macro-flow",
    "macro-nesting",
    "macro-parameter",
    "redefined",
];

/// Stops the check: enough was said.
struct Stop;

type Go = Result<(), Stop>;

/// What `v#` was declared as.
#[derive(Clone, Copy, PartialEq)]
enum Input {
    Position,
    Interpolant,
}

/// An input declaration: kind, and components forced to constants by the mask.
#[derive(Clone, Copy)]
struct InputDecl {
    kind: Input,
    mask: [crate::inst::Write; 4],
}

struct Checker<'a> {
    ast: &'a Ast,
    stage: Stage,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    interface: Interface,
    /// Declared `v#`; `u32::MAX` is `vWinCoord`.
    inputs: HashMap<u32, InputDecl>,
    /// Declared masks of `o#`.
    output_masks: BTreeMap<u32, u8>,
    /// Undeclared `o#` that were told of.
    told_outputs: [bool; 8],
    short_swizzles: Vec<ShortSwizzle>,
    literals: declare::Literals,
    macros: macros::Macros,
    functions: Vec<Function>,
    /// Sources of all instructions, once all statements were read.
    sources: Vec<Src>,
    /// Index into `functions` and place of the definition, by label.
    labels: HashMap<u32, (usize, Span)>,
    /// Calls as (caller, callee, where).
    calls: Vec<(usize, usize, Span)>,
    temps: u32,
    /// Statements checked, macro bodies counted at every expansion.
    expanded: usize,
}

impl Checker<'_> {
    fn run(&mut self) -> Go {
        self.find_macros()?;
        self.collect_declarations()?;
        self.finish_declarations()?;
        self.find_functions()?;
        self.build()?;
        self.check_calls()?;
        self.finish_interface()
    }

    fn error(&mut self, d: Diagnostic) -> Go {
        self.errors.push(d);
        if self.errors.len() >= MAX_ERRORS { Err(Stop) } else { Ok(()) }
    }

    /// Reports an error and yields nothing.
    fn fail<T>(&mut self, d: Diagnostic) -> Result<Option<T>, Stop> {
        self.error(d).map(|()| None)
    }

    fn warn(&mut self, d: Diagnostic) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(d);
        }
    }

    /// Reports use in the wrong kind of program.
    fn wrong_stage(&mut self, span: Span, what: &str) -> Go {
        let (here, there) = match self.stage {
            Stage::Pixel => ("pixel", "compute"),
            Stage::Compute => ("compute", "pixel"),
        };
        self.error(
            Diagnostic::error("wrong-stage", span, format!("{what} does not exist in a {here} program"))
                .with_note(format!("it belongs to {there} programs")),
        )
    }
}

#[cfg(test)]
mod tests;
