//! What is computed before a loop, or before something is called, and left on the stack.

use std::ops::Range;

use super::address::{Addresses, Addressing};
use super::frame::Frame;
use super::packs::{self, Next, Packs};
use super::work::Work;
use super::{Body, Order, Plan};
use crate::graph::{Graph, Val};
use crate::program::{Block, Part};
use crate::target::Base;

impl Frame<'_> {
    /// Appends what is done before a loop, so that its blocks begin with their addresses, or have but to add to what does not change of
    /// them; jumps that are taken if that can't be.
    pub fn pack(&mut self, body: &[Part]) -> Vec<usize> {
        let (mut fails, mut room) = (Vec::new(), 0..0);
        let blocks =
            || body.iter().filter_map(|part| if let Part::Block(of) = part { Some(of) } else { None });
        let next = blocks().flat_map(|block| block.body.next.iter().map(|(number, _)| *number));
        let all: Vec<u32> = next.flat_map(|number| self.strips.kept(number)).collect();
        for Block { body, .. } in blocks().map(|block| &**block) {
            let next: Vec<Val> = body.next.iter().map(|(_, val)| *val).collect();
            let work = Work::new(body, &next, &self.strips);
            let own: Vec<u32> = self.next_of(body, &work).into_iter().map(|(number, _)| number).collect();
            let roots = work.others.concat().into_iter().chain(work.tests);
            let roots: Vec<(u32, Val)> =
                work.outputs.iter().map(|output| output.val).chain(roots).map(|val| (0, val)).collect();
            let needed = work.graph.needed(&roots, None);
            let long = needed.iter().filter(|needed| **needed).count() >= packs::LONG;
            let addresses = Addresses::of(&work.graph, &needed);
            // Rows that are in registers stay there.
            let packs = match long && self.vectors() >= packs::NEEDED {
                true => Packs::of(&work.graph, &addresses, self, &Next { own: &own, all: &all }),
                false => {
                    for of in addresses.anchors(&work.graph, &all) {
                        fails.extend(self.anchor(of, &mut room));
                    }
                    Packs::default()
                }
            };
            self.packs.push_back(packs);
        }
        fails
    }

    /// Copies what addresses of a loop's first round are computed of.
    pub fn begin(&mut self) {
        let packs = std::mem::take(&mut self.packs);
        packs.iter().for_each(|packs| packs.begin(self));
        self.packs = packs;
    }

    /// Keeps the address of the word of a view whose number is ready, where there is room on the stack.
    fn anchor(&mut self, of: (u8, u32), room: &mut Range<u32>) -> Option<usize> {
        if self.anchors.contains_key(&of) {
            return None;
        }
        if room.start == room.end {
            let at = self.slot();
            *room = at..at + self.place(1);
        }
        self.anchors.insert(of, room.start);
        let jump = self.target.anchor(&mut self.code, of.0, self.kept[of.1 as usize], room.start);
        room.start += 8;
        Some(jump)
    }

    /// Places for the addresses of the elements that a block of a loop takes as they lie in memory.
    pub(super) fn ahead(&mut self, plan: &Plan) -> Vec<u32> {
        let groups = plan.addresses.members(&plan.graph);
        let each = self.target.lanes() / 2;
        let slots: Vec<u32> = (0..groups.div_ceil(each)).map(|_| self.slot()).collect();
        let places = slots.iter().flat_map(|at| (0..each).map(move |k| at + 8 * k));
        let places: Vec<u32> = places.take(groups as usize).collect();
        self.ahead.extend(&places);
        places
    }

    /// Appends a block that leaves values on the stack, for a loop.
    pub fn keep(&mut self, graph: &Graph, values: &[Val]) {
        self.kept.clear();
        let places = self.on_stack(graph, values);
        self.kept = vec![0; values.len() * self.strips.number as usize];
        places.into_iter().for_each(|(number, at)| self.kept[number as usize] = at);
    }

    /// Appends a block that leaves values on the stack: where each strip's are, by number, one place after another.
    pub fn on_stack(&mut self, graph: &Graph, values: &[Val]) -> Vec<(u32, u32)> {
        let values: Vec<(u32, Val)> = (0..).zip(values.iter().copied()).collect();
        self.on_stack_unless(graph, &values, None).0
    }

    /// The same for values with numbers; then jumps that are taken if there are lanes in `doubted`.
    pub fn on_stack_unless(
        &mut self,
        graph: &Graph,
        values: &[(u32, Val)],
        doubted: Option<Val>,
    ) -> (Vec<(u32, u32)>, Vec<usize>) {
        let wanted: Vec<Val> = values.iter().map(|(_, val)| *val).chain(doubted).collect();
        let work = Work::of(graph, &[], None, &wanted, &self.strips);
        let (found, doubts) = work.others.split_at(values.len());
        let each = values.iter().zip(found);
        let own: Vec<(u32, Val)> =
            each.flat_map(|((number, _), values)| self.kept_of(*number, values)).collect();
        // What is ready already changes where it is.
        let mut place = |number: u32| match self.kept.get(number as usize) {
            Some(&at) => (number, at),
            None => (number, self.slot()),
        };
        let places: Vec<(u32, u32)> = own.iter().map(|(number, _)| place(*number)).collect();
        let mut doubts = doubts.concat();
        doubts.dedup();
        let last: Vec<Val> = own.iter().map(|(_, val)| *val).chain(doubts.iter().copied()).collect();
        let plan = Plan::new(work.graph, &[], &last, &[], None, Addressing::Alone, (Order::Written, false));
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        for (time, &val) in plan.order.iter().enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
        }
        body.pinned.clear();
        for ((_, val), &(_, at)) in own.into_iter().zip(&places) {
            let from = body.fetch(val);
            body.target.store(&mut body.frame.code, from, Base::Stack, at);
        }
        let mut jumps = Vec::with_capacity(doubts.len());
        for doubt in doubts {
            let asked = body.fetch(doubt);
            jumps.push(body.target.jump_if(&mut body.frame.code, asked, true));
        }
        (places, jumps)
    }
}
