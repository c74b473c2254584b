//! Upward-exposed reads: which registers may be read before they are written, as 0.

use smallvec::SmallVec;

use super::visit::touched;
use super::{Block, Operand, Program, Reg, StmtKind};
use crate::bits::BitSet;

/// Adds them to `out`. What happens before a call, and in it, counts as nothing.
pub fn upward_exposed(program: &Program, out: &mut BitSet<Reg>) {
    program.functions.iter().for_each(|function| collect(&function.body, &mut Written::default(), out));
}

/// Registers that were written, with the order in which they were.
#[derive(Default)]
struct Written {
    set: BitSet<Reg>,
    order: Vec<Reg>,
}

impl Written {
    fn insert(&mut self, register: Reg) {
        if self.set.insert_new(register) {
            self.order.push(register);
        }
    }

    /// Takes back what was written since there were `count`; returns it.
    fn undo(&mut self, count: usize) -> Vec<Reg> {
        let since = self.order.split_off(count);
        since.iter().for_each(|register| self.set.remove(*register));
        since
    }
}

/// Collects those of a block that are not in `written` before.
fn collect(block: &Block, written: &mut Written, out: &mut BitSet<Reg>) {
    for statement in block {
        let before = written.order.len();
        match &statement.kind {
            StmtKind::If { cond, then, otherwise } => {
                out.extend(register(&cond.operand).filter(|register| !written.set.contains(*register)));
                collect(then, written, out);
                let mut both = written.undo(before);
                collect(otherwise, written, out);
                both.retain(|register| written.set.contains(*register));
                written.undo(before);
                both.into_iter().for_each(|register| written.insert(register));
            }
            StmtKind::Loop { body } => {
                collect(body, written, out);
                written.undo(before);
            }
            StmtKind::Switch { selector, arms } => {
                out.extend(register(selector).filter(|register| !written.set.contains(*register)));
                for arm in arms {
                    collect(&arm.body, written, out);
                    written.undo(before);
                }
            }
            _ => {
                // A statement reads before it writes.
                let mut writes: SmallVec<[Reg; 4]> = SmallVec::new();
                touched(std::slice::from_ref(statement), &mut |register, write| {
                    if write {
                        writes.push(register);
                    } else if !written.set.contains(register) {
                        out.insert(register);
                    }
                });
                writes.into_iter().for_each(|register| written.insert(register));
            }
        }
    }
}

/// The register that an operand is.
fn register(operand: &Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(register) => Some(*register),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_some_ways_write_may_be_read_before() {
        let text = "program compute\nregisters 10\nfunction 0 {\n\
            %1 = Iadd %0, 1\n%2 = Iadd %1, %2\n\
            if %1 {\n  %3 = Iadd 1, 2\n  %4 = Iadd 1, 2\n} else {\n  %3 = Iadd 2, 3\n}\n%5 = Iadd %3, %4\n\
            loop {\n  %6 = Iadd 1, 2\n  break if %6\n  %7 = Iadd %6, 1\n}\n%5 = Iadd %7, 1\n\
            call 1\n}\nfunction 1 label 7 {\n%8 = Iadd %1, 1\n%9 = Iadd %8, 1\n}\n";
        let program = crate::ir::text::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e:?}"));
        let mut early = BitSet::<Reg>::default();
        upward_exposed(&program, &mut early);
        assert_eq!(early.iter().map(|reg| reg.0).collect::<Vec<u32>>(), [0, 1, 2, 4, 7]);
    }
}
