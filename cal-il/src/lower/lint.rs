//! Warnings that need to know what a program reads: registers that nothing wrote, and short swizzles whose filling
//! matters. Compilers write both where nothing depends on it, so only reads that survive the passes count.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::build::{Builder, COMPONENTS, Files};
use super::passes::Registers;
use super::{passes, translate};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Cond, Kernel, Node, Register};
use crate::ir::{Block, Program, Reg, StmtKind, visit};

/// Warnings kept of one program.
const MAX_WARNINGS: usize = 50;

/// Adds the warnings to those of the program. `registers` and `files` tell what a register is called in the kernel, if it
/// may be read before it is written.
pub(super) fn run(kernel: &Kernel, program: &mut Program, registers: &Registers, files: &Files) {
    let mut found = unwritten(kernel, program, registers, files);
    found.extend(short_swizzles(kernel));
    if found.is_empty() {
        return;
    }
    program.warnings.extend(found);
    program.warnings.truncate(MAX_WARNINGS);
    program.warnings.sort_by_key(|d| d.span.start);
}

/// Number and component of an `r#`.
type Temp = (usize, usize);

/// The registers that nothing writes and something reads, with the `r#` that each is.
fn missing(Registers { origins, definitions, uses }: &Registers, files: &Files) -> FxHashMap<Reg, Temp> {
    let all = origins.iter().zip(definitions).zip(uses).zip((0..).map(Reg));
    // Passes after the split removed only definitions that nothing reads.
    let missing = all.filter(|(((_, definitions), uses), _)| **definitions == 0 && **uses != 0);
    let mut registers: FxHashMap<Reg, Reg> =
        missing.filter_map(|(((origin, _), _), reg)| Some(((*origin)?, reg))).collect();
    if registers.is_empty() {
        return FxHashMap::default();
    }
    files.temps().filter_map(|(reg, n, component)| Some((registers.remove(&reg)?, (n, component)))).collect()
}

/// Reads of `r#` that nothing has written, once for each register.
fn unwritten(
    kernel: &Kernel,
    program: &mut Program,
    registers: &Registers,
    files: &Files,
) -> Vec<Diagnostic> {
    let missing = missing(registers, files);
    // Those that were not met yet: of the others the first read is known.
    let mut left = missing.clone();
    let called = called(program);
    let mut reads: Vec<(Span, Temp)> = Vec::new();
    for (function, _) in program.functions.iter_mut().zip(called).filter(|(_, called)| *called) {
        visit::statements(&mut function.body, &mut |stmt| {
            if left.is_empty() {
                return;
            }
            visit::registers(&mut stmt.kind, &mut |reg, _| {
                if let Some(&temp) = missing.get(reg) {
                    reads.push((stmt.span, temp));
                    left.remove(reg);
                }
            });
        });
    }
    let mut told: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for &(span, (number, _)) in &reads {
        if found.len() >= MAX_WARNINGS {
            break;
        }
        if told.contains(&number) {
            continue;
        }
        told.push(number);
        let mut components: Vec<usize> =
            reads.iter().filter(|read| read.0 == span && read.1.0 == number).map(|read| read.1.1).collect();
        components.sort_unstable();
        components.dedup();
        let components: String = components.into_iter().map(|component| COMPONENTS[component]).collect();
        let number = number as u32;
        let what = match components.as_str() {
            _ if number >= kernel.macro_temps => "a register of this macro".to_string(),
            "xyzw" => format!("`r{number}`"),
            some => format!("`r{number}.{some}`"),
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
                let origin = origins.get(reg.index()).copied().flatten();
                if let Some(read) = origin.and_then(|origin| read.get_mut(origin.index())) {
                    *read |= !definition;
                }
            });
        });
    }
    let mut told: Vec<Span> = Vec::new();
    let mut found = Vec::new();
    for short in &kernel.short_swizzles {
        let matters = markers.get(&short.span).is_some_and(|&marker| read[marker.index()]);
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
