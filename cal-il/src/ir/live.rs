//! Which registers are live where: they hold a word that something may read later.
//!
//! Calls are taken by what their functions read and write wherever they are called from. A round over all statements goes on
//! what the round before found at the heads of loops and at the ends of functions, until nothing is new.

use crate::bits::BitSet;

use super::visit::{count, destinations_of, operands_of, tested_of};
use super::{Block, Operand, Program, Reg, Stmt, StmtKind};

/// The registers that are live when each statement begins, in the order in which programs are printed.
pub fn live(program: &Program) -> Vec<BitSet<Reg>> {
    let mut statements = 0;
    let bodies = program.functions.iter().map(|function| {
        let first = statements;
        statements += count(&function.body);
        first
    });
    let mut walk = Walk {
        first: bodies.collect(),
        at: vec![BitSet::default(); statements],
        ends: vec![BitSet::default(); program.functions.len()],
        begins: vec![BitSet::default(); program.functions.len()],
        heads: vec![None; statements],
        new: true,
    };
    if let Some(end) = walk.ends.first_mut() {
        end.extend(program.outputs.iter().flat_map(|output| output.registers));
    }
    while std::mem::take(&mut walk.new) {
        for (number, function) in program.functions.iter().enumerate() {
            let end = walk.ends[number].clone();
            let ways = Ways { leave: end.clone(), again: end.clone(), end: end.clone() };
            let begin = walk.block(&function.body, walk.first[number], end, &ways);
            walk.new |= walk.begins[number].union_with(&begin);
        }
    }
    walk.at
}

/// What is live where jumps lead.
struct Ways {
    leave: BitSet<Reg>,
    again: BitSet<Reg>,
    end: BitSet<Reg>,
}

struct Walk {
    /// First statement of each function.
    first: Vec<usize>,
    at: Vec<BitSet<Reg>>,
    /// After, and at the beginning of, each function.
    ends: Vec<BitSet<Reg>>,
    begins: Vec<BitSet<Reg>>,
    /// At the heads of loops, by statement.
    heads: Vec<Option<BitSet<Reg>>>,
    /// Something was found that the round has not gone on.
    new: bool,
}

impl Walk {
    /// What is live before a block whose first statement has the number `first`.
    fn block(&mut self, block: &Block, first: usize, after: BitSet<Reg>, ways: &Ways) -> BitSet<Reg> {
        let mut numbers = Vec::with_capacity(block.len());
        let mut next = first;
        for stmt in block {
            numbers.push(next);
            next += 1 + stmt.kind.blocks().map(|block| count(block)).sum::<usize>();
        }
        let mut live = after;
        for (stmt, number) in block.iter().zip(numbers).rev() {
            live = self.statement(stmt, number, live, ways);
            self.at[number].clone_from(&live);
        }
        live
    }

    fn statement(&mut self, stmt: &Stmt, number: usize, after: BitSet<Reg>, ways: &Ways) -> BitSet<Reg> {
        let read = |live: &mut BitSet<Reg>, operand: Option<Operand>| {
            if let Some(Operand::Reg(reg)) = operand {
                live.insert(reg);
            }
        };
        let always = |conditional: bool, to: &BitSet<Reg>| {
            let mut live = to.clone();
            if conditional {
                live.union_with(&after);
            }
            live
        };
        let mut live = match &stmt.kind {
            StmtKind::Lane(inst) => {
                let mut live = after;
                inst.dst.iter().for_each(|reg| live.remove(*reg));
                inst.args.iter().for_each(|operand| read(&mut live, Some(*operand)));
                return live;
            }
            StmtKind::Memory(inst) => {
                let mut live = after;
                destinations_of(inst).iter().for_each(|reg| live.remove(*reg));
                operands_of(inst).iter().for_each(|operand| read(&mut live, Some(*operand)));
                return live;
            }
            StmtKind::If { then, otherwise, .. } => {
                let second = number + 1 + count(then);
                let mut live = self.block(then, number + 1, after.clone(), ways);
                live.union_with(&self.block(otherwise, second, after, ways));
                live
            }
            StmtKind::Loop { body } => {
                let head = self.heads[number].clone().unwrap_or_default();
                let inner = Ways { leave: after, again: head.clone(), end: ways.end.clone() };
                let live = self.block(body, number + 1, head, &inner);
                self.new |= self.heads[number].get_or_insert_default().union_with(&live);
                live
            }
            StmtKind::Switch { arms, .. } => {
                let inner = Ways { leave: after.clone(), again: ways.again.clone(), end: ways.end.clone() };
                let mut all =
                    if arms.iter().any(|arm| arm.default) { BitSet::default() } else { after.clone() };
                let mut first = number + 1 + arms.iter().map(|arm| count(&arm.body)).sum::<usize>();
                let mut live = after;
                // An arm falls through into the next.
                for arm in arms.iter().rev() {
                    first -= count(&arm.body);
                    live = self.block(&arm.body, first, live, &inner);
                    all.union_with(&live);
                }
                all
            }
            StmtKind::Break(cond) => always(cond.is_some(), &ways.leave),
            StmtKind::Continue(cond) => always(cond.is_some(), &ways.again),
            StmtKind::Return(cond) => always(cond.is_some(), &ways.end),
            StmtKind::Call { function, cond } => {
                match self.ends.get_mut(*function) {
                    Some(end) => self.new |= end.union_with(&after),
                    None => return after,
                }
                always(cond.is_some(), &self.begins[*function])
            }
            StmtKind::Discard(_) | StmtKind::Fence(_) => after,
        };
        read(&mut live, tested_of(&stmt.kind));
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is live before the statements of a program.
    fn of(body: &str) -> Vec<Vec<u32>> {
        of_program(&format!("program compute\nregisters 6\nfunction 0 {{\n{body}\n}}\n"))
    }

    fn of_program(text: &str) -> Vec<Vec<u32>> {
        let program = crate::ir::text::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        live(&program).iter().map(|live| live.iter().map(|reg| reg.0).collect()).collect()
    }

    #[test]
    fn words_live_from_their_definition_to_their_last_use() {
        let found =
            of("%0 = Iadd 1, 2\n%1 = Iadd %0, 3\n%2 = Iadd %0, %1\n%0 = Iadd %2, %2\n%3 = Iadd %0, %0");
        assert_eq!(found, [vec![], vec![0], vec![0, 1], vec![2], vec![0]]);
    }

    #[test]
    fn what_a_loop_carries_is_live_all_through_it() {
        let found = of(
            "%0 = Iadd 1, 2\nloop {\n  %1 = Ige %0, 5\n  break if %1\n  %0 = Iadd %0, 1\n  %2 = Iadd %2, 1\n}\n%3 = Iadd %2, 1",
        );
        // %2 starts as 0 and is read in every round.
        assert_eq!(found, [vec![2], vec![0, 2], vec![0, 2], vec![0, 1, 2], vec![0, 2], vec![0, 2], vec![2]]);
    }

    #[test]
    fn sides_of_a_choice_are_apart() {
        let found = of("if %0 {\n  %1 = Iadd %2, 1\n} else {\n  %1 = Iadd %3, 1\n}\n%4 = Iadd %1, 1");
        assert_eq!(found, [vec![0, 2, 3], vec![2], vec![3], vec![1]]);
    }

    #[test]
    fn functions_are_part_of_the_way() {
        let text = "program compute\nregisters 4\nfunction 0 {\n%0 = Iadd 1, 2\ncall 1\n%3 = Iadd %1, %2\n}\n\
            function 1 label 7 {\n%1 = Iadd %0, 1\n}\n";
        assert_eq!(of_program(text), [vec![2], vec![0, 2], vec![1, 2], vec![0, 2]]);
    }
}
