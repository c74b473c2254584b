//! What a block leaves: values in rows, by stores or by the instructions that compute them, and the lanes that stay in the loop around
//! ([`crate::leave`]).

use super::{Body, Frame};
use crate::graph::{Inst, Leave, NO, Node, Val};
use crate::op::Op;
use crate::program::Output;
use crate::target::Rm;
use smallvec::{SmallVec, smallvec};

impl Body<'_, '_> {
    /// Lanes leave the loop around; then rows are stored.
    pub(super) fn leave(&mut self, stores: &[Output]) {
        let done = self.now;
        // What is still to be asked has a use ahead.
        self.now = done - 1;
        for &Leave { test, nonzero, strip, step } in &self.graph.leaves {
            if self.leaves_by(test) {
                continue;
            }
            self.pinned = smallvec![test];
            let (test_in, exec) = (self.fetch(test), self.target.masks().exec[usize::from(strip)]);
            let code = &mut self.frame.code;
            code.is_for(step);
            match nonzero {
                true => self.target.mask_and_not(code, exec, test_in, exec),
                false => self.target.mask_and(code, exec, exec, test_in),
            }
        }
        self.now = done;
        // Two of them may ask the same, and where masks are vectors a row may hold it.
        let stored = |val: Val| stores.iter().any(|output| output.val == val);
        self.graph
            .leaves
            .iter()
            .filter(|leave| !stored(leave.test))
            .for_each(|leave| self.release(leave.test));
    }

    /// Looks at values that may be in doubt, one for each strip or one for all; jumps that are taken if there are lanes in one.
    pub(super) fn look(&mut self, doubted: &[Val]) -> Vec<usize> {
        let mut jumps = Vec::with_capacity(doubted.len());
        for (strip, &val) in doubted.iter().enumerate() {
            self.pinned = smallvec![val];
            let mut asked = self.fetch(val);
            if let Some(&exec) = self.frame.exec().get(strip) {
                let scratch = self.target.masks().scratch;
                self.target.mask_and(&mut self.frame.code, scratch, exec, asked);
                asked = scratch;
            }
            jumps.push(self.target.jump_if(&mut self.frame.code, asked, true));
        }
        self.now += 1;
        doubted.iter().for_each(|val| self.release(*val));
        self.now -= 1;
        jumps
    }

    /// A comparison whose lanes leave, and that nobody else wants, leaves in the mask of executing lanes those that stay.
    pub(super) fn narrow(&mut self, val: Val, op: Op, inst: Inst) -> bool {
        let leave = self.graph.leaves.iter().find(|leave| leave.test == val);
        let Some(&Leave { nonzero, strip, .. }) = leave.filter(|_| self.leaves_by(val)) else { return false };
        let op = match op {
            Op::Compare(kind, relation, not) => Op::Compare(kind, relation, not != nonzero),
            Op::Common(not) => Op::Common(not != nonzero),
            _ => return false,
        };
        let first = Rm::Reg(self.fetch(inst.args[0]));
        let second = self.operand(inst.args[1], false);
        inst.operands().for_each(|arg| self.release(arg));
        let exec = self.target.masks().exec[usize::from(strip)];
        let Frame { code, pool, .. } = &mut *self.frame;
        self.target.operation(code, pool, op, exec, [first, second, Rm::Reg(0)], Some(exec));
        true
    }

    /// See [`Body::narrow`].
    fn leaves_by(&self, val: Val) -> bool {
        let simple = |inst: Inst| {
            matches!(inst.op, Op::Compare(..) | Op::Common(_)) && inst.mask == NO && !inst.op.wide()
        };
        self.target.narrows()
            && self.uses[val.index()].len() == 1
            && self.graph.leaves.iter().filter(|leave| leave.test == val).count() == 1
            && self.graph.as_inst(val).is_some_and(simple)
    }

    /// The register of a row, if the value at hand is all that the row becomes and nobody else wants it, and its mask: the instruction then
    /// changes the row.
    pub(super) fn merge_into(&self, val: Val, stores: &[Output]) -> Option<(u8, u8)> {
        let [Output { row, unseen: false, .. }] = *stores else { return None };
        let Inst { op, mask: NO, args: [first, second, NO] } = self.graph.as_inst(val)? else { return None };
        let pin = self.frame.pin(row).filter(|pin| self.vectors[usize::from(*pin)].is_none())?;
        let alone = self.uses[val.index()][..] == [self.now + 1] && second != NO;
        let exec = *self.frame.exec().get(self.frame.strip_of(row))?;
        let grows = first != second
            && [first, second].iter().any(|val| *val != NO && self.graph.node(*val) == Node::Row(row));
        (alone && self.target.merges(op, grows)).then_some((pin, exec))
    }

    /// Stores values in rows; there may be more of them than registers.
    pub(super) fn store_rows(&mut self, stores: &[Output]) {
        // As good as always there is nothing to store yet.
        if stores.is_empty() {
            return;
        }
        let done = self.now;
        let mut stores: SmallVec<[Output; 4]> = stores.into();
        if stores.len() > 1 {
            // What is in registers first.
            stores.sort_by_key(|output| self.place[output.val.index()].register.is_none());
        }
        for (k, &Output { row, val, unseen }) in stores.iter().enumerate() {
            self.frame.code.is_for(self.graph.origin(val));
            // What is still to be stored has a use ahead.
            self.now = done - 1;
            self.pinned = smallvec![val];
            self.free.append(&mut self.freed);
            let from = self.fetch(val);
            let (pin, strip) = (self.frame.pin(row), self.frame.strip_of(row));
            match pin {
                Some(pin) => self.make_way(pin, val),
                None => self.frame.touch(),
            }
            let exec = self.frame.exec().get(strip).copied().filter(|_| !unseen);
            let (base, at) = self.frame.place_of(row);
            let code = &mut self.frame.code;
            match pin {
                Some(to) if to == from => {}
                Some(to) => match exec {
                    Some(exec) => self.target.merge(code, to, from, exec),
                    None => self.target.load(code, to, Rm::Reg(from)),
                },
                None => match exec {
                    Some(exec) => self.target.merge_store(code, from, base, at, exec),
                    None => self.target.store(code, from, base, at),
                },
            }
            self.settled |= pin.map_or(0, |pin| 1 << pin);
            self.now = done;
            if stores[k + 1..].iter().all(|later| later.val != val) {
                self.release(val);
            }
        }
    }
}
