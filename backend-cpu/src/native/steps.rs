//! What functions are made of, as the compiler wants it.

use recal_il::isa::LaneOp;
use recal_jit::Step;

use super::{Builder, Item, What};
use crate::op::{self, Op, RowId, Test};

impl<'a> Builder<'a> {
    /// The operands of the copies among items.
    pub(super) fn copies(&self, items: &[Item]) -> Vec<[RowId; 2]> {
        let copied = |item: &Item| match (item.what, &self.code.ops[item.op]) {
            (What::Keep(to), Op::If { cond, .. }) => Some([to, cond.row]),
            _ => None,
        };
        items.iter().filter_map(copied).collect()
    }

    /// The steps that items are, among which there are these copies; `None` if there is no view for one of them.
    pub(super) fn steps<'s>(&mut self, items: &[Item], copies: &'s [[RowId; 2]]) -> Option<Vec<Step<'s>>>
    where
        'a: 's,
    {
        let code = self.code;
        let mut copies = copies.iter();
        let mut steps = Vec::with_capacity(items.len());
        for item in items {
            steps.push(match item.what {
                What::Keep(_) => Step::Lane { op: LaneOp::Mov, ids: copies.next()?, writes: 1, same: 0 },
                What::Again(row) => match &code.ops[item.op] {
                    Op::If { cond: Test { nonzero, lanes, .. }, .. } => {
                        Step::If { row, nonzero: *nonzero, lanes: *lanes }
                    }
                    op => unreachable!("{op:?} is no choice"),
                },
                What::Output(place, view, of) => self.output(place, view, of),
                What::Otherwise => Step::Else,
                What::Close => Step::EndIf,
                What::Step(number) => {
                    let op::Step { op, first, count, writes, same, .. } = code.steps[number as usize];
                    let ids = &code.operands[first as usize..][..usize::from(count)];
                    Step::Lane { op, ids, writes: usize::from(writes), same }
                }
                What::Test(row) => Step::Test { row },
                What::Barrier => Step::Barrier,
                What::Flow => match &code.ops[item.op] {
                    Op::If { cond: Test { row, nonzero, lanes, .. }, .. } => {
                        Step::If { row: *row, nonzero: *nonzero, lanes: *lanes }
                    }
                    Op::Else { .. } => Step::Else,
                    Op::EndIf { .. } => Step::EndIf,
                    Op::Loop => Step::Loop,
                    Op::EndLoop { .. } => Step::EndLoop,
                    Op::Break { cond, .. } => {
                        Step::Break(cond.as_ref().map(|cond| (cond.row, cond.nonzero, cond.lanes)))
                    }
                    op => unreachable!("{op:?} in a construct"),
                },
                What::Load(index, place) | What::Store(index, place) | What::Atomic(index, place) => {
                    self.moved(index, place)?
                }
            });
        }
        Some(steps)
    }
}
