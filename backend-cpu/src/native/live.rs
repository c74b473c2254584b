//! Rows that threads read later: liveness of registers, as each thread goes its own way through the operations.

use recal_il::bits::BitSet;

use super::{Item, What};
use crate::op::{Code, Op, Pc, RowId};

/// Where a thread goes after an operation.
#[derive(Clone, Copy)]
enum Next {
    To(Pc),
    Either(Pc, Pc),
    /// To other functions: nothing is known.
    Anywhere,
    /// Its outputs are read.
    End,
}

/// The registers that are read from each operation on.
pub struct Lives<'a> {
    code: &'a Code,
    next: Vec<Next>,
    before: Vec<BitSet>,
}

impl<'a> Lives<'a> {
    /// Found once for all functions of a kernel.
    pub fn of(code: &'a Code) -> Lives<'a> {
        let next = next(code);
        let mut lives = Lives { code, before: vec![BitSet::default(); next.len()], next };
        // What loops hand on to their next round is known after it was seen once.
        while lives.pass() {}
        lives
    }

    /// Goes back over all operations; true if a loop begins with more than before.
    fn pass(&mut self) -> bool {
        let mut more = false;
        for at in (0..self.next.len()).rev() {
            let mut set = self.leaving(at);
            match self.code.ops[at] {
                Op::Lanes { first, end } => self.steps(&mut set, first, end),
                Op::Memory(index) => {
                    let op = &self.code.memory[index as usize].op;
                    op.each_row(|row, written| {
                        if written {
                            set.remove(row)
                        }
                    });
                    op.each_row(|row, written| {
                        if !written {
                            self.read(&mut set, row);
                        }
                    });
                }
                ref op => op.each_read(|row| self.read(&mut set, row)),
            }
            let begins = at > 0 && matches!(self.code.ops[at - 1], Op::Loop);
            more |= begins && self.before[at] != set;
            self.before[at] = set;
        }
        more
    }

    fn steps(&self, set: &mut BitSet, first: u32, end: u32) {
        for step in (first..end).rev() {
            let (writes, reads) = self.code.ids(step as usize);
            writes.iter().for_each(|row| set.remove(*row));
            reads.iter().for_each(|row| self.read(set, *row));
        }
    }

    /// A row is read; those that are no registers are in no set.
    fn read(&self, set: &mut BitSet, row: RowId) {
        if row < self.code.registers {
            set.insert(row);
        }
    }

    /// Adds those that are read from an operation on. Operations of other functions are not among them.
    fn entering(&self, set: &mut BitSet, at: Pc) {
        if let Some(before) = self.before.get(at as usize) {
            set.union_with(before);
        }
    }

    /// Those that are read after an operation.
    fn leaving(&self, at: usize) -> BitSet {
        let mut set = BitSet::default();
        match self.next[at] {
            Next::To(to) => self.entering(&mut set, to),
            Next::Either(one, other) => {
                self.entering(&mut set, one);
                self.entering(&mut set, other);
            }
            Next::Anywhere => set = BitSet::all(self.code.registers),
            Next::End => {
                self.code.outputs.iter().flat_map(|(_, rows)| rows).for_each(|row| self.read(&mut set, *row));
            }
        }
        set
    }

    /// Those that are read from an operation on.
    pub fn before(&self, op: usize) -> &BitSet {
        &self.before[op]
    }

    /// Those that are read after a function, `last` being what it does last but for closing choices.
    pub fn after(&self, items: &[Item], last: Item) -> BitSet {
        if last.op >= self.next.len() {
            return BitSet::all(self.code.registers);
        }
        let mut set = BitSet::default();
        match (last.what, &self.code.ops[last.op]) {
            // The choice itself comes next.
            (What::Keep(_), _) => self.entering(&mut set, last.op as Pc),
            // The second side comes next.
            (What::Flow, Op::Else { .. }) => self.entering(&mut set, last.op as Pc + 1),
            // All have left the loop.
            (_, Op::EndLoop { .. }) => self.entering(&mut set, last.op as Pc + 1),
            _ => set = self.leaving(last.op),
        }
        if let (What::Step(number), &Op::Lanes { end, .. }) = (last.what, &self.code.ops[last.op]) {
            self.steps(&mut set, number + 1, end);
        }
        // Lanes that are not where it ends go on behind the side that they have taken, or with the one that they are going to take.
        for item in items.iter().filter(|item| matches!(item.what, What::Close)) {
            if let Op::If { otherwise, .. } = self.code.ops[item.op] {
                let (second, end) = match self.code.ops[otherwise as usize] {
                    Op::Else { end } => (otherwise + 1, end),
                    _ => (otherwise, otherwise),
                };
                self.entering(&mut set, if last.op < otherwise as usize { second } else { end });
            }
        }
        set
    }
}

/// Where threads go after each operation of the main program.
fn next(code: &Code) -> Vec<Next> {
    let end = code.ops.iter().position(|op| matches!(op, Op::End)).unwrap_or(code.ops.len());
    let mut next = vec![Next::End; (end + 1).min(code.ops.len())];
    // Where those go that leave the loops around.
    let mut around: Vec<Pc> = Vec::new();
    for at in (0..next.len()).rev() {
        let follows = at as Pc + 1;
        let exit = around.last().copied().unwrap_or(end as Pc);
        let leave = |to: Pc, always: bool| if always { Next::To(to) } else { Next::Either(to, follows) };
        next[at] = match code.ops[at] {
            Op::EndLoop { body, .. } => {
                around.push(follows);
                Next::To(body)
            }
            Op::Loop => {
                around.pop();
                Next::To(follows)
            }
            Op::Break { ref cond, .. } => leave(exit, cond.is_none()),
            Op::Return { ref cond, .. } => leave(end as Pc, cond.is_none()),
            Op::If { otherwise, .. } => {
                let other = matches!(code.ops[otherwise as usize], Op::Else { .. });
                Next::Either(follows, otherwise + Pc::from(other))
            }
            Op::Else { end } => Next::To(end),
            Op::Call { .. } | Op::EndFunction => Next::Anywhere,
            Op::End => Next::End,
            _ => Next::To(follows),
        };
    }
    next
}
