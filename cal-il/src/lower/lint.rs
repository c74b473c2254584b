//! Warnings that need to know what a program reads: registers that nothing wrote, and short swizzles whose filling
//! matters. Compilers write both where nothing depends on it, so only reads that survive the passes count.

use super::build::Builder;
use super::{Names, passes, translate};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Cond, Kernel, Node, Register};
use crate::ir::{Block, Program, Reg, StmtKind, visit};

/// Warnings kept of one program.
const MAX_WARNINGS: usize = 50;

/// Adds the warnings to those of the program. `origins` and `names` tell what a register is called in the kernel, if it
/// may be read before it is written.
pub(super) fn run(kernel: &Kernel, program: &mut Program, origins: &[Option<Reg>], names: &Names) {
    let mut found = unwritten(kernel, program, origins, names);
    found.extend(short_swizzles(kernel));
    if found.is_empty() {
        return;
    }
    program.warnings.extend(found);
    program.warnings.truncate(MAX_WARNINGS);
    program.warnings.sort_by_key(|d| d.span.start);
}

/// Reads of `r#` that nothing has written, once for each register.
fn unwritten(
    kernel: &Kernel,
    program: &mut Program,
    origins: &[Option<Reg>],
    names: &Names,
) -> Vec<Diagnostic> {
    let mut unwritten: Vec<bool> = origins.iter().map(Option::is_some).collect();
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                if definition && let Some(unwritten) = unwritten.get_mut(*reg as usize) {
                    *unwritten = false;
                }
            });
        });
    }
    if !unwritten.contains(&true) {
        return Vec::new();
    }
    let called = called(program);
    let mut reads: Vec<(Span, &str, char)> = Vec::new();
    for (function, _) in program.functions.iter_mut().zip(called).filter(|(_, called)| *called) {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, _| {
                let at = *reg as usize;
                if !unwritten.get(at).is_some_and(|unwritten| *unwritten) {
                    return;
                }
                let name = origins[at].and_then(|origin| names.get(&origin)).and_then(|n| n.split_once('.'));
                if let Some((register, component)) = name.filter(|(register, _)| register.starts_with('r')) {
                    reads.push((stmt.span, register, component.chars().next().unwrap_or('x')));
                }
            });
        });
    }
    let mut told: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for &(span, register, _) in &reads {
        if found.len() >= MAX_WARNINGS {
            break;
        }
        if told.contains(&register) {
            continue;
        }
        told.push(register);
        let mut components: Vec<char> =
            reads.iter().filter(|read| read.0 == span && read.1 == register).map(|read| read.2).collect();
        components.sort_unstable_by_key(|c| "xyzw".find(*c));
        components.dedup();
        let components: String = components.into_iter().collect();
        let number = register[1..].parse().unwrap_or(u32::MAX);
        let what = match components.as_str() {
            _ if number >= kernel.macro_temps => "a register of this macro".to_string(),
            "xyzw" => format!("`{register}`"),
            some => format!("`{register}.{some}`"),
        };
        let place = operand(kernel, number, span);
        let message = format!("{what} is read, and nothing has written it");
        found.push(
            Diagnostic::warning("unwritten-register", place, message)
                .with_note("it reads as 0 here; on hardware it held what the last thread left"),
        );
    }
    found
}

/// The operand that reads `r{number}` in the instruction at `span`, or else, since copies are passed over, the first
/// that reads it at all.
fn operand(kernel: &Kernel, number: u32, span: Span) -> Span {
    let mut first = None;
    let mut here = None;
    for function in &kernel.functions {
        sources(&function.body, &mut |at, operand, register| {
            let base = match register {
                Register::Array(_, index)
                | Register::Const(_, index)
                | Register::Immediate(index)
                | Register::Global(index) => index.base.as_ref().map(|(base, _)| &**base),
                _ => None,
            };
            if [Some(register), base].contains(&Some(&Register::Temp(number))) {
                first = first.or(Some(operand));
                here = here.or(Some(operand).filter(|_| at == span));
            }
        });
    }
    here.or(first).unwrap_or(span)
}

/// Calls `f` with the place of each instruction and the place and register of each operand that it reads. Of a
/// destination that is memory it reads the index.
fn sources(body: &[Node], f: &mut dyn FnMut(Span, Span, &Register)) {
    let condition = |cond: &Cond, at: Span, f: &mut dyn FnMut(Span, Span, &Register)| match cond {
        Cond::NonZero(src) | Cond::Zero(src) => f(at, src.span, &src.register),
        Cond::Compare(_, a, b) => [a, b].into_iter().for_each(|src| f(at, src.span, &src.register)),
    };
    for node in body {
        match node {
            Node::Inst(inst) => {
                inst.src.iter().for_each(|src| f(inst.span, src.span, &src.register));
                let memory = inst.dst.iter().filter(|dst| !matches!(dst.register, Register::Temp(_)));
                memory.for_each(|dst| f(inst.span, dst.span, &dst.register));
            }
            Node::If { cond, then, otherwise, span } => {
                condition(cond, *span, f);
                sources(then, f);
                sources(otherwise, f);
            }
            Node::Loop { body, .. } => sources(body, f),
            Node::Switch { selector, arms, span } => {
                f(*span, selector.span, &selector.register);
                arms.iter().for_each(|arm| sources(&arm.body, f));
            }
            Node::Break(cond, span)
            | Node::Continue(cond, span)
            | Node::Return(cond, span)
            | Node::Call { cond, span, .. } => cond.iter().for_each(|cond| condition(cond, *span, f)),
            Node::Discard(cond, span) => condition(cond, *span, f),
        }
    }
}

/// Which functions main calls, directly or not.
fn called(program: &mut Program) -> Vec<bool> {
    fn calls(body: &mut Block, from: &mut Vec<usize>) {
        visit::statements(body, &mut |stmt| {
            if let StmtKind::Call { function, .. } = stmt.kind {
                from.push(function);
            }
        });
    }
    let mut called = vec![false; program.functions.len()];
    let mut next = vec![0];
    while let Some(function) = next.pop() {
        if !std::mem::replace(&mut called[function], true) {
            calls(&mut program.functions[function].body, &mut next);
        }
    }
    called
}

/// Short swizzles of which something reads a position that the text did not give. The kernel is lowered once more, with
/// a register of its own in the place of each filling: those that are still read in the end matter.
fn short_swizzles(kernel: &Kernel) -> Vec<Diagnostic> {
    if kernel.short_swizzles.is_empty() {
        return Vec::new();
    }
    let mut builder = Builder::new(kernel);
    let fillers = kernel.short_swizzles.iter().map(|short| (short.span, builder.scratch())).collect();
    builder.fillers = fillers;
    let markers = builder.fillers.clone();
    let Ok((mut program, _)) = translate(builder) else { return Vec::new() };
    let origins = passes::reduce(&mut program, &mut |_, _| {});
    let mut read = vec![false; kernel.short_swizzles.len()];
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                let origin = origins.get(*reg as usize).copied().flatten();
                if let Some(read) = origin.and_then(|origin| read.get_mut(origin as usize)) {
                    *read |= !definition;
                }
            });
        });
    }
    let mut told: Vec<Span> = Vec::new();
    let mut found = Vec::new();
    for short in &kernel.short_swizzles {
        let matters = markers.get(&short.span).is_some_and(|&marker| read[marker as usize]);
        if !matters || told.contains(&short.span) || found.len() >= MAX_WARNINGS {
            continue;
        }
        told.push(short.span);
        let (given, last) = (short.given, short.last + 1);
        let message = format!("this swizzle gives {given} positions, and position {last} is used");
        found.push(
            Diagnostic::warning("short-swizzle", short.span, message)
                .with_note("missing positions repeat the last one: `.xy` is `.xyyy`"),
        );
    }
    found
}
