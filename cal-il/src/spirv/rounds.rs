//! Loops that a device ends. Some drivers let the loops of a thread have so many rounds together, and then go on behind the
//! loop as if it were over. The module tells of that.
//!
//! A thread that leaves a loop as the program says takes the number of its entry into the loop along. One that finds itself
//! behind the loop with anything else has not left it. The driver cannot work that out: there is another way out that brings
//! something else, and that is never taken.

use rspirv::spirv::{Op, Word};

use super::Emitter;
use crate::ir::visit::program_has;
use crate::ir::{Program, StmtKind};
use crate::isa::Algebra;

/// A loop that is being written.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    /// Entries into loops so far: none has the number of one before.
    number: Word,
    /// The variable that takes it along.
    left: Word,
}

/// What the module knows of its loops.
#[derive(Default)]
pub(super) struct Rounds {
    /// The loops around the current statement; `None` stands for what else can be left.
    pub loops: Vec<Option<Leaving>>,
    /// Variables of the thread: its entries into loops; not 0 if one was ended.
    entries: Option<Word>,
    ended: Option<Word>,
}

impl Rounds {
    /// The loop that the next `break` leaves.
    pub fn innermost(&self) -> Option<Leaving> {
        self.loops.last().copied().flatten()
    }
}

/// Whether a program has loops.
pub(super) fn has_loops(program: &Program) -> bool {
    program_has(program, &|kind| matches!(kind, StmtKind::Loop { .. }))
}

impl Emitter<'_> {
    /// Comes before a loop.
    pub fn enter_loop(&mut self) {
        let leaving = self.target.ends_loops.then(|| {
            let u32 = self.t.u32;
            let entries = match self.flow.rounds.entries {
                Some(entries) => entries,
                None => {
                    let zero = self.w.word(0);
                    let [entries, ended] = [0; 2].map(|_| self.private(u32, zero));
                    self.flow.rounds.ended = Some(ended);
                    *self.flow.rounds.entries.insert(entries)
                }
            };
            let (before, one) = (self.w.load(u32, entries, None), self.word(1));
            let number = self.w.op(Op::IAdd, u32, &[before, one]);
            self.w.store(entries, number, None);
            Leaving { number, left: self.w.local(u32, None) }
        });
        self.flow.rounds.loops.push(leaving);
    }

    /// The thread leaves the innermost loop or switch, as the program says.
    pub fn leaves_loop(&mut self) {
        if let Some(Leaving { number, left }) = self.flow.rounds.innermost() {
            self.w.store(left, number, None);
        }
    }

    /// Comes behind the innermost loop.
    pub fn left_loop(&mut self) {
        let Some(Leaving { number, left }) = self.flow.rounds.loops.pop().flatten() else { return };
        let (Some(ended), u32) = (self.flow.rounds.ended, self.t.u32) else { return };
        let (left, before) = (self.w.load(u32, left, None), self.w.load(u32, ended, None));
        let differs = self.w.op(Op::BitwiseXor, u32, &[left, number]);
        let now = self.w.op(Op::BitwiseOr, u32, &[before, differs]);
        self.w.store(ended, now, None);
    }

    /// A way out of a loop, to `merge`, that is never taken: for drivers that do not keep what a thread computed in the
    /// round in which it leaves by a loop's only exit, where `parts` says that threads leave at different times; and for
    /// those that end loops. Registers must be in their variables.
    pub fn second_exit(&mut self, merge: Word, parts: bool, leaving: Option<Leaving>) {
        if leaving.is_none() && (self.target.keeps_exits || !parts) {
            return;
        }
        // A test for zero would tell the driver what the zero is; and of an outer loop's test it knows the outcome.
        self.flow.second_exits += 1;
        let (many, hidden, stay) =
            (self.word(i32::MAX as u32 - self.flow.second_exits), self.hidden_zero(), self.w.id());
        let leaves = self.w.op(Op::ULessThan, self.t.bool, &[many, hidden]);
        match leaving {
            None => self.w.branch_if(leaves, merge, stay),
            Some(Leaving { left, .. }) => {
                let away = self.w.id();
                self.w.selection_merge(stay);
                self.w.branch_if(leaves, away, stay);
                self.w.label(away);
                self.w.store(left, hidden, None);
                self.w.branch(merge);
            }
        }
        self.w.label(stay);
    }

    /// Comes last: notes in the launch table's place for it that a loop was ended.
    pub fn report_rounds(&mut self) {
        let (Some(ended), Some(row)) = (self.flow.rounds.ended, self.layout.report) else { return };
        let (ended, zero) = (self.w.load(self.t.u32, ended, None), self.word(0));
        let any = self.w.op(Op::INotEqual, self.t.bool, &[ended, zero]);
        self.when(any, |e| {
            let head = e.row_at(row);
            let words = e.head_words(None, head);
            let (first, one) = (e.word(0), e.word(1));
            let pointer = e.pointer_to(words, first);
            e.store_through(words, pointer, one);
        });
    }
}
