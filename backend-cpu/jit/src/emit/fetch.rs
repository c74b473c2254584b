//! Values as operands: in a register, or where they are in memory.

use super::place::Place;
use super::{Body, Frame, Held};
use crate::graph::{Node, Val};
use crate::op::Op;
use crate::target::{Base, Rm};

/// The next instructions, as times; and how many of them have an operand, too, if it is worth an instruction to load it once for all.
const SOON: u32 = 16;
const AGAIN: usize = 2;

impl Body<'_, '_> {
    /// The register that holds `val`, loaded if need be.
    pub(super) fn fetch(&mut self, val: Val) -> u8 {
        if let Some(register) = self.place[val.index()].register.or_else(|| self.pin(val)) {
            return register;
        }
        let register = self.take(val);
        let from = match (self.graph.node(val), self.place[val.index()].slot) {
            (Node::Row(row), _) => {
                let (base, at) = self.frame.place_of(row);
                Rm::Mem(base, at)
            }
            (Node::Kept(number), _) => Rm::Mem(Base::Stack, self.frame.kept[number as usize]),
            (node @ (Node::Word(_) | Node::Quad(_) | Node::Field(..)), _) => {
                let Frame { code, pool, .. } = &mut *self.frame;
                self.target.constant(code, pool, register, node);
                return register;
            }
            (Node::Mask(bits), _) if self.in_mask_register(val) => {
                let Frame { code, pool, .. } = &mut *self.frame;
                self.target.mask_constant(code, pool, register, bits);
                return register;
            }
            (Node::Lanes(_) | Node::Mask(_), _) => Rm::Mem(Base::Pool, self.table(val)),
            (_, Some(at)) if self.in_mask_register(val) => {
                self.target.mask_load(&mut self.frame.code, register, at);
                return register;
            }
            (_, Some(at)) => {
                self.frame.moves += 1;
                Rm::Mem(Base::Stack, at)
            }
            (Node::Inst(inst), None) if let Some((base, at)) = self.place[val.index()].single => {
                self.frame.touch();
                let wide = matches!(inst.op, Op::Pair(..));
                self.target.broadcast(&mut self.frame.code, register, base, at, wide);
                return register;
            }
            (Node::Inst(_), None) if let Some((base, bytes)) = self.place[val.index()].near => {
                self.target.near(&mut self.frame.code, register, base, bytes);
                return register;
            }
            (Node::Inst(_), None) if let Some((at, bytes)) = self.place[val.index()].far => {
                self.frame.touch();
                self.take_address(at);
                self.target.near(&mut self.frame.code, register, Base::First, bytes);
                return register;
            }
            (node, None) => unreachable!("{node:?} is used before it is computed"),
        };
        self.frame.touch();
        self.target.load(&mut self.frame.code, register, from);
        register
    }

    /// Where a constant that differs from lane to lane is.
    pub(super) fn table(&mut self, val: Val) -> u32 {
        let words = self.graph.fixed_words(val).unwrap_or_default();
        self.frame.pool.table(&words[..self.target.lanes() as usize])
    }

    /// Makes an address on the stack the one that [`Base::First`] is.
    pub(super) fn take_address(&mut self, at: u32) {
        if self.held != Some(Held::At(at)) {
            self.target.take_address(&mut self.frame.code, at);
            self.held = Some(Held::At(at));
        }
    }

    /// An operand of an instruction that may be in memory.
    pub(super) fn operand(&mut self, val: Val, wide: bool) -> Rm {
        if self.place[val.index()].register.is_none() {
            let found = match self.graph.node(val) {
                node @ (Node::Word(_) | Node::Quad(_) | Node::Field(..)) => {
                    self.target.operand(self.frame.pool, node, wide)
                }
                Node::Lanes(_) | Node::Mask(_) if !self.in_mask_register(val) => {
                    Some(Rm::Mem(Base::Pool, self.table(val)))
                }
                Node::Row(row) if self.frame.pin(row).is_none() && self.passes(val) => {
                    let (base, at) = self.frame.place_of(row);
                    Some(Rm::Mem(base, at))
                }
                Node::Kept(number) if self.passes(val) => {
                    Some(Rm::Mem(Base::Stack, self.frame.kept[number as usize]))
                }
                Node::Inst(_) if !self.in_mask_register(val) && self.passes(val) => {
                    let Place { slot, single, far, near, .. } = self.place[val.index()];
                    let single = single.filter(|_| self.target.splats());
                    let found = slot.map(|at| Rm::Mem(Base::Stack, at));
                    let near = near.map(|(base, bytes)| Rm::Mem(base, bytes));
                    found.or(single.map(|(base, at)| Rm::Splat(base, at))).or(near).or_else(|| {
                        let (at, bytes) = far?;
                        self.take_address(at);
                        Some(Rm::Mem(Base::First, bytes))
                    })
                }
                _ => None,
            };
            if let Some(found) = found {
                if self.spare == Some(val) {
                    return Rm::Reg(self.target.spare().unwrap_or_default());
                }
                let copied = matches!(found, Rm::Splat(Base::Stack | Base::Kept(_), _));
                if copied || matches!(found, Rm::Mem(Base::Rows | Base::Stack | Base::First, _)) {
                    self.frame.touch();
                }
                return self.in_spare(val, found).map_or(found, Rm::Reg);
            }
        }
        Rm::Reg(self.fetch(val))
    }

    /// The register that no value is given, with what is in memory, if that is an operand of some of the next instructions, too.
    fn in_spare(&mut self, val: Val, from: Rm) -> Option<u8> {
        let register = self.target.spare().filter(|_| !self.frame.strips.masked)?;
        let soon = |time: &&u32| (self.now + 1..=self.now + SOON).contains(*time);
        let again = self.uses[val.index()].iter().filter(soon).count() >= AGAIN;
        if !again || !matches!(from, Rm::Mem(..)) {
            return None;
        }
        self.target.load(&mut self.frame.code, register, from);
        self.spare = Some(val);
        Some(register)
    }

    /// A value in memory is not worth a register: all are taken by what is used before it is used again, or who would
    /// give way would have to be stored.
    fn passes(&self, val: Val) -> bool {
        let Some(next) = self.next_use(val) else { return true };
        let given = &self.vectors[..usize::from(self.given)];
        if given.contains(&None) {
            return false;
        }
        let others = given.iter().flatten().filter(|owner| !self.pinned.contains(owner));
        let last = others.max_by_key(|owner| self.next_use(**owner).unwrap_or(u32::MAX));
        last.is_none_or(|&owner| {
            let sooner = self.next_use(owner).is_some_and(|time| time < next);
            let stored = self.place[owner.index()].slot.is_some();
            sooner || matches!(self.graph.node(owner), Node::Inst(_)) && !stored
        })
    }
}
