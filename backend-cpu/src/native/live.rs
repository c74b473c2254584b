//! Rows that threads read later: liveness of registers, as each thread goes its own way through the operations.

use super::{Item, What};
use crate::op::{Code, Op, Pc, RowId};

/// A set of registers.
#[derive(Clone, PartialEq, Eq)]
pub struct Set(Box<[u64]>);

impl Set {
    fn none(code: &Code) -> Set {
        Set(vec![0; code.registers.div_ceil(u64::BITS) as usize].into())
    }

    /// Rows that are no registers are in no set.
    pub fn contains(&self, row: RowId) -> bool {
        self.0.get(row as usize / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }

    fn insert(&mut self, row: RowId) {
        self.0.get_mut(row as usize / 64).into_iter().for_each(|bits| *bits |= 1 << (row % 64));
    }

    fn remove(&mut self, row: RowId) {
        self.0.get_mut(row as usize / 64).into_iter().for_each(|bits| *bits &= !(1 << (row % 64)));
    }

    fn add(&mut self, other: &[u64]) {
        self.0.iter_mut().zip(other).for_each(|(bits, more)| *bits |= more);
    }
}

/// Where a thread goes after an operation.
#[derive(Clone, Copy)]
enum Next {
    To(Pc),
    Either(Pc, Pc),
    /// To one of the arms of a switch, or to its end.
    Arms,
    /// To other functions: nothing is known.
    Anywhere,
    /// Its outputs are read.
    End,
}

/// The registers that are read from each operation on.
pub struct Lives<'a> {
    code: &'a Code,
    next: Vec<Next>,
    /// One set after another, as words.
    before: Vec<u64>,
    words: usize,
}

impl<'a> Lives<'a> {
    /// Found once for all functions of a kernel.
    pub fn of(code: &'a Code) -> Lives<'a> {
        let words = Set::none(code).0.len();
        let next = next(code);
        let mut lives = Lives { code, before: vec![0; words * next.len()], next, words };
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
                            set.insert(row)
                        }
                    });
                }
                ref op => op.each_read(|row| set.insert(row)),
            }
            let place = &mut self.before[at * self.words..][..self.words];
            let begins = at > 0 && matches!(self.code.ops[at - 1], Op::Loop);
            more |= begins && *place != *set.0;
            place.copy_from_slice(&set.0);
        }
        more
    }

    fn steps(&self, set: &mut Set, first: u32, end: u32) {
        for step in (first..end).rev() {
            let (writes, reads) = self.code.ids(step as usize);
            writes.iter().for_each(|row| set.remove(*row));
            reads.iter().for_each(|row| set.insert(*row));
        }
    }

    /// Those that are read from an operation on.
    fn entering(&self, at: Pc) -> &[u64] {
        let at = at as usize * self.words;
        // Operations of other functions are not among them.
        self.before.get(at..at + self.words).unwrap_or_default()
    }

    /// Those that are read after an operation.
    fn leaving(&self, at: usize) -> Set {
        let mut set = Set::none(self.code);
        match self.next[at] {
            Next::To(to) => set.add(self.entering(to)),
            Next::Either(one, other) => {
                set.add(self.entering(one));
                set.add(self.entering(other));
            }
            Next::Arms => {
                let mut to = at + 1;
                while let Op::Arm { next, .. } = self.code.ops[to] {
                    set.add(self.entering(to as Pc));
                    to = next as usize;
                }
                set.add(self.entering(to as Pc));
            }
            Next::Anywhere => set.0.fill(!0),
            Next::End => {
                self.code.outputs.iter().flat_map(|(_, rows)| rows).for_each(|row| set.insert(*row));
            }
        }
        set
    }

    /// Those that are read after a function, `last` being what it does last but for closing choices.
    pub fn after(&self, items: &[Item], last: Item) -> Set {
        if last.op >= self.next.len() {
            let mut all = Set::none(self.code);
            all.0.fill(!0);
            return all;
        }
        let mut set = Set::none(self.code);
        match (last.what, &self.code.ops[last.op]) {
            // The choice itself comes next.
            (What::Keep(_), _) => set.add(self.entering(last.op as Pc)),
            // The second side comes next.
            (What::Flow, Op::Else { .. }) => set.add(self.entering(last.op as Pc + 1)),
            // All have left the loop.
            (_, Op::EndLoop { .. }) => set.add(self.entering(last.op as Pc + 1)),
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
                set.add(self.entering(if last.op < otherwise as usize { second } else { end }));
            }
        }
        set
    }
}

/// Where threads go after each operation of the main program.
fn next(code: &Code) -> Vec<Next> {
    let end = code.ops.iter().position(|op| matches!(op, Op::End)).unwrap_or(code.ops.len());
    let mut next = vec![Next::End; (end + 1).min(code.ops.len())];
    // Where those go that leave the constructs around, and that go on with the next round.
    let mut around: Vec<(Pc, Pc)> = Vec::new();
    for at in (0..next.len()).rev() {
        let follows = at as Pc + 1;
        let (exit, again) = around.last().copied().unwrap_or((end as Pc, end as Pc));
        let leave = |to: Pc, always: bool| if always { Next::To(to) } else { Next::Either(to, follows) };
        next[at] = match code.ops[at] {
            Op::EndLoop { body, .. } => {
                around.push((follows, at as Pc));
                Next::To(body)
            }
            Op::EndSwitch { .. } => {
                around.push((follows, again));
                Next::To(follows)
            }
            Op::Loop => {
                around.pop();
                Next::To(follows)
            }
            Op::Switch { .. } => {
                around.pop();
                Next::Arms
            }
            Op::Break { ref cond, .. } => leave(exit, cond.is_none()),
            Op::Continue { ref cond, .. } => leave(again, cond.is_none()),
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
