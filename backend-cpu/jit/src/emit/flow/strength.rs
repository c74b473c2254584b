//! Code for rounds whose addresses go on by steps, see [`Reduced`].

use std::collections::VecDeque;
use std::mem::replace;

use super::Flow;
use crate::emit::Frame;
use crate::emit::address::Addresses;
use crate::emit::packs::{At, Found, Packs};
use crate::emit::work::Work;
use crate::graph::{Node, Val};
use crate::op::Op;
use crate::program::{Part, Reduced};
use crate::target::{Base, Rm, Scalar};
use rustc_hash::FxHashMap;

/// Most addresses: to begin with more of them takes as long as rounds gain.
const MOST: usize = 32;

/// An address that goes on.
struct Pointer {
    view: u8,
    /// The number of the word.
    number: u32,
    at: At,
    /// Where on the stack that is which it goes on by.
    by: u32,
}

impl Flow<'_, '_> {
    /// Appends them, when pinned rows are in registers, unless there are too many addresses; the loop's other rounds come behind.
    pub(super) fn reduced(&mut self, of: &Reduced) {
        let (target, free) = (self.target, self.frame.slots);
        let (pointers, mut packs) = self.frame.pointers(of);
        if pointers.len() > MOST {
            self.frame.slots = free;
            return;
        }
        let registers = packs.iter().map(|packs| packs.registers).max().unwrap_or(0);
        let counter = match u8::try_from(registers) {
            Ok(number @ 1..) if number < target.addresses() => At::Kept(number),
            _ => At::Stack(self.frame.slot()),
        };
        packs.iter_mut().for_each(|packs| packs.registers += usize::from(matches!(counter, At::Kept(_))));
        let head = self.frame.code.bytes.len();
        let (before, ready) = (self.frame.slots, self.frame.kept.len());
        let (entry, doubted) = &of.entry;
        let (places, fails) = self.frame.on_stack_unless(&entry.graph, &entry.next, Some(*doubted));
        for (number, at) in places {
            let number = number as usize;
            let kept = &mut self.frame.kept;
            kept.resize(kept.len().max(number + 1), 0);
            kept[number] = at;
        }
        pointers.iter().for_each(|pointer| self.frame.point(of, pointer));
        self.frame.kept.truncate(ready);
        self.frame.slots = before;
        let others = replace(&mut self.frame.packs, packs);
        let next = self.frame.code.bytes.len();
        let rounds = (Base::Pool, self.frame.pool.word(of.rounds));
        target.scalar(&mut self.frame.code, Scalar::Move, 0, Ok(rounds));
        match counter {
            At::Kept(number) => target.keep_address(&mut self.frame.code, number),
            At::Stack(at) => target.word_to_stack(&mut self.frame.code, at),
        }
        let first = self.frame.code.bytes.len();
        self.list(&of.body);
        self.frame.go_on(&pointers);
        let more = target.count_down(&mut self.frame.code, counter);
        target.land_at(&mut self.frame.code, more, first);
        self.tick(None, false);
        // Where no edge is met addresses are what they are.
        let (_, edges) = self.frame.on_stack_unless(&entry.graph, &[], Some(of.again));
        target.again(&mut self.frame.code, next);
        edges.into_iter().for_each(|edge| self.land(edge));
        target.again(&mut self.frame.code, head);
        fails.into_iter().for_each(|fails| self.land(fails));
        self.frame.packs = others;
    }
}

impl Frame<'_> {
    /// What addresses there are, and for each block of the body where.
    fn pointers(&mut self, of: &Reduced) -> (Vec<Pointer>, VecDeque<Packs>) {
        let strips = self.strips.number;
        let mut accesses: Vec<Vec<(u8, Val, u32)>> = Vec::new();
        for part in &of.body {
            let Part::Block(block) = part else { continue };
            let work = Work::new(&block.body, &[], &self.strips);
            let roots = work.outputs.iter().map(|output| output.val).chain(work.tests.iter().copied());
            let needed = work.graph.needed(&roots.map(|val| (0, val)).collect::<Vec<_>>(), None);
            let all = Addresses::of(&work.graph, &needed).accesses(&work.graph).into_iter();
            let going = all.filter_map(|(view, first, _)| match work.graph.node(first) {
                Node::Kept(number) => Some((view, first, number)),
                _ => None,
            });
            let word = |number: u32| of.inductions.iter().any(|word| word.number == number / strips);
            accesses.push(going.filter(|(.., number)| word(*number)).collect());
        }
        let mut all: Vec<(u8, u32)> =
            accesses.iter().flatten().map(|(view, _, number)| (*view, *number)).collect();
        all.sort_unstable();
        all.dedup();
        let in_registers = all.len() <= usize::from(self.target.addresses());
        let each = self.place(1) / 8;
        let mut room = [0, 0];
        let mut pointers = Vec::with_capacity(all.len());
        for (k, (view, number)) in (0..).zip(all) {
            if k % each == 0 {
                room = [self.slot(), self.slot()];
            }
            let [at, by] = room.map(|room| room + 8 * (k % each));
            let at = if in_registers { At::Kept(k as u8) } else { At::Stack(at) };
            pointers.push(Pointer { view, number, at, by });
        }
        let registers = if in_registers { pointers.len() } else { 0 };
        let found: FxHashMap<(u8, u32), Found> = pointers
            .iter()
            .map(|of| ((of.view, of.number), Found { at: of.at, distance: Some(of.by) }))
            .collect();
        let of_block = |list: Vec<(u8, Val, u32)>| {
            let found = list.into_iter().map(|(view, first, number)| ((view, first), found[&(view, number)]));
            Packs::ready(found.collect(), registers)
        };
        (pointers, accesses.into_iter().map(of_block).collect())
    }

    /// Makes an address of a word that is ready, and what it goes on by.
    fn point(&mut self, of: &Reduced, pointer: &Pointer) {
        let (target, strips) = (self.target, self.strips.number);
        let &Pointer { view, number, at, by } = pointer;
        let Some(word) = of.inductions.iter().find(|word| word.number == number / strips) else { return };
        let further = self.strips.kept_for(word.by, number % strips);
        let [number, further] = [number, further].map(|of| Ok((Base::Stack, self.kept[of as usize])));
        let code = &mut self.code;
        // The last of the registers is another address's later.
        let last = target.addresses() - 1;
        target.scalar(code, Scalar::Move, 0, further);
        target.scalar(code, Scalar::Shl(2), 0, Err(0));
        target.extend(code);
        target.keep_address(code, last);
        target.address_to_stack(code, last, by, true);
        target.scalar(code, Scalar::Move, 0, number);
        target.element(code, view);
        match at {
            At::Kept(number) => target.keep_address(code, number),
            At::Stack(at) => {
                target.keep_address(code, last);
                target.address_to_stack(code, last, at, true);
            }
        }
    }

    /// Addresses for the next round.
    fn go_on(&mut self, pointers: &[Pointer]) {
        let (target, vector) = (self.target, self.place(1));
        let code = &mut self.code;
        for &Pointer { at, by, .. } in pointers {
            match at {
                At::Kept(number) => target.step_address(code, number, by),
                // Those of a vector all at once.
                At::Stack(at) if at % vector > 0 => {}
                At::Stack(at) => {
                    let sum = [Rm::Reg(0), Rm::Mem(Base::Stack, by), Rm::Reg(0)];
                    target.load(code, 0, Rm::Mem(Base::Stack, at));
                    target.operation(code, self.pool, Op::QAdd, 0, sum, None);
                    target.store(code, 0, Base::Stack, at);
                }
            }
        }
    }
}
