//! Programs to text.

use std::fmt::{self, Display, Formatter, Write};

use super::memory::print_left;
use super::{Form, Shown, interface};
use crate::ir::{Block, Cond, Program, StmtKind};

/// A statement a line. The alternate form, `{:#}`, also has the places of instructions in the kernel's text.
impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}\nregisters {}", Shown(&self.stage), self.registers)?;
        interface::print(&self.interface, &self.declared, f)?;
        for output in &self.outputs {
            let [x, y, z, w] = output.registers;
            writeln!(f, "output {} = {x} {y} {z} {w}", output.index)?;
        }
        for (number, function) in self.functions.iter().enumerate() {
            write!(f, "function {number}")?;
            if let Some(label) = function.label {
                write!(f, " label {label}")?;
            }
            f.write_str(" {\n")?;
            block(f, &function.body, 1)?;
            f.write_str("}\n")?;
        }
        Ok(())
    }
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    // Deep nesting must not make the text quadratic.
    (0..depth.min(40)).try_for_each(|_| f.write_str("  "))
}

fn block(f: &mut Formatter<'_>, statements: &Block, depth: usize) -> fmt::Result {
    for stmt in statements {
        indent(f, depth)?;
        if f.alternate() {
            write!(f, "@{}:{} ", stmt.span.start, stmt.span.end)?;
        }
        match &stmt.kind {
            StmtKind::Lane(inst) => {
                let [low, high] = inst.dst;
                let left = [Some(low), Some(high)];
                print_left(if low == high { &left[..1] } else { &left }, f)?;
                f.write_str(inst.op.name())?;
                for (k, operand) in inst.args.iter().enumerate() {
                    write!(f, "{}{operand}", if k == 0 { " " } else { ", " })?;
                }
            }
            StmtKind::Memory(inst) => write!(f, "{inst}")?,
            StmtKind::If { cond, then, otherwise } => {
                writeln!(f, "if {cond} {{")?;
                block(f, then, depth + 1)?;
                if !otherwise.is_empty() {
                    indent(f, depth)?;
                    f.write_str("} else {\n")?;
                    block(f, otherwise, depth + 1)?;
                }
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Loop { body } => {
                f.write_str("loop {\n")?;
                block(f, body, depth + 1)?;
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Switch { selector, arms } => {
                writeln!(f, "switch {selector} {{")?;
                for arm in arms {
                    indent(f, depth + 1)?;
                    f.write_str("case ")?;
                    arm.labels.iter().try_for_each(|label| write!(f, "{label} "))?;
                    f.write_str(if arm.default { "default {\n" } else { "{\n" })?;
                    block(f, &arm.body, depth + 2)?;
                    indent(f, depth + 1)?;
                    f.write_str("}\n")?;
                }
                indent(f, depth)?;
                f.write_char('}')?;
            }
            StmtKind::Break(cond) => guarded(f, "break", cond)?,
            StmtKind::Continue(cond) => guarded(f, "continue", cond)?,
            StmtKind::Return(cond) => guarded(f, "return", cond)?,
            StmtKind::Call { function, cond } => guarded(f, &format!("call {function}"), cond)?,
            StmtKind::Discard(cond) => guarded(f, "discard", &Some(*cond))?,
            StmtKind::Fence(fence) => {
                f.write_str(if fence.is_empty() { "fence" } else { "fence " })?;
                fence.print(f)?;
            }
        }
        f.write_char('\n')?;
    }
    Ok(())
}

fn guarded(f: &mut Formatter<'_>, what: &str, cond: &Option<Cond>) -> fmt::Result {
    f.write_str(what)?;
    cond.as_ref().map_or(Ok(()), |cond| write!(f, " if {cond}"))
}
