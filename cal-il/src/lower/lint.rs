//! Warnings that need to know what a program reads: registers that nothing wrote, and short swizzles whose filling
//! matters. Compilers write both where nothing depends on it, so only reads that survive the passes count.

use std::ops::ControlFlow;

use super::build::Builder;
use super::passes::Registers;
use super::{Names, passes, translate};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Cond, Kernel, Node, Register};
use crate::ir::{Block, Program, StmtKind, visit};

/// Warnings kept of one program.
const MAX_WARNINGS: usize = 50;

/// Adds the warnings to those of the program. `registers` and `names` tell what a register is called in the kernel, if it
/// may be read before it is written.
pub(super) fn run(kernel: &Kernel, program: &mut Program, registers: &Registers, names: &Names) {
    let mut found = unwritten(kernel, program, registers, names);
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
    Registers { origins, definitions }: &Registers,
    names: &Names,
) -> Vec<Diagnostic> {
    // Passes after the split removed only definitions that nothing reads.
    let unwritten: Vec<bool> =
        origins.iter().zip(definitions).map(|(origin, count)| origin.is_some() && *count == 0).collect();
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
    let reads = |register: &Register| matches!(register, Register::Temp(n) if *n == number);
    let mut first = None;
    let here = kernel.functions.iter().try_for_each(|function| {
        sources(kernel, &function.body, &mut |at, operand, register| {
            let base = match register {
                Register::Array(_, index)
                | Register::Const(_, index)
                | Register::Immediate(index)
                | Register::Global(index) => index.base.as_ref().map(|base| &base.0),
                _ => None,
            };
            if reads(register) || base.is_some_and(reads) {
                first = first.or(Some(operand));
                if at == span {
                    return ControlFlow::Break(operand);
                }
            }
            ControlFlow::Continue(())
        })
    });
    here.break_value().or(first).unwrap_or(span)
}

/// Told the place of an instruction, and place and register of an operand; says whether that is it.
type Visit<'a> = &'a mut dyn FnMut(Span, Span, &Register) -> ControlFlow<Span>;

/// Calls `f` with the place of each instruction of a body and the place and register of each operand that it reads, until it has
/// found what it looks for. Of a destination that is memory it reads the index.
fn sources(kernel: &Kernel, body: &[Node], f: Visit<'_>) -> ControlFlow<Span> {
    let condition = |cond: &Cond, at: Span, f: Visit<'_>| match cond {
        Cond::NonZero(src) | Cond::Zero(src) => f(at, src.span, &src.register),
        Cond::Compare(_, sources) => sources.iter().try_for_each(|src| f(at, src.span, &src.register)),
    };
    body.iter().try_for_each(|node| match node {
        Node::Inst(inst) => {
            kernel.sources(inst).iter().try_for_each(|src| f(inst.span, src.span, &src.register))?;
            let mut memory = inst.dst.iter().filter(|dst| !matches!(dst.register, Register::Temp(_)));
            memory.try_for_each(|dst| f(inst.span, dst.span, &dst.register))
        }
        Node::If { cond, then, otherwise, span } => {
            condition(cond, *span, f)?;
            sources(kernel, then, f)?;
            sources(kernel, otherwise, f)
        }
        Node::Loop { body, .. } => sources(kernel, body, f),
        Node::Switch { selector, arms, span } => {
            f(*span, selector.span, &selector.register)?;
            arms.iter().try_for_each(|arm| sources(kernel, &arm.body, f))
        }
        Node::Break(cond, span)
        | Node::Continue(cond, span)
        | Node::Return(cond, span)
        | Node::Call { cond, span, .. } => cond.iter().try_for_each(|cond| condition(cond, *span, f)),
        Node::Discard(cond, span) => condition(cond, *span, f),
    })
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
    if program.functions.len() == 1 {
        return vec![true];
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
    let Registers { origins, .. } = passes::reduce(&mut program, &mut |_, _| {});
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
