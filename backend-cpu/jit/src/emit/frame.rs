//! What the blocks of a function share.

use std::collections::VecDeque;

use super::address::{Addressing, Round};
use super::packs::Packs;
use super::work::{Strips, Tests, Work};
use super::{Arrange, Body, Code, Order, Plan, Pool, STACK, Trail};
use crate::graph::{NO, Val};
use crate::op::Op;
use crate::program::Straight;
use crate::target::{self, Base, Rm, Target};
use rustc_hash::FxHashMap;

/// Fewest vector registers that are left to blocks.
const LEAST: usize = 6;

/// What the blocks of a function share.
pub struct Frame<'a> {
    pub target: &'static dyn Target,
    /// The code for a strip.
    pub code: Code,
    pub pool: &'a mut Pool,
    /// The strips that are done at a time; see [`Work`] for the numbers of rows.
    pub strips: Strips,
    /// Neighbouring lanes that are looked at together.
    pub line: u32,
    /// Rows that are in registers, from the last one down.
    pub pinned: Vec<u32>,
    /// Rows that are on the stack, and where.
    pub moved: FxHashMap<u32, u32>,
    /// Where the values that a loop finds ready are.
    pub kept: Vec<u32>,
    /// For a view and a value that is ready, each strip's, how far its elements are from an address that is kept, by number.
    pub based: FxHashMap<(u8, u32), (u8, u32)>,
    /// Where the places on the stack are that have the addresses of words of a view whose numbers are ready.
    pub anchors: FxHashMap<(u8, u32), u32>,
    /// Places on the stack, two of eight bytes each, for stores that ask for where later ones will be.
    pub earlier: Vec<u32>,
    /// Words in the table of views that are so much more for the next wave, and by how much.
    pub grown: Vec<(u32, u32)>,
    /// It consists of stores of elements alone.
    pub alone: bool,
    /// What is done once, before the strips.
    pub before: Code,
    /// Places on the stack that are taken while a block runs, and the most that were.
    pub slots: u32,
    pub most: u32,
    /// Denormal operands count as zeros.
    pub lazy: bool,
    /// Where the count of back-edges is kept, see [`crate::Ticks`].
    pub ticks: Option<u32>,
    /// Stores that learn how their words lie, of the functions before and so far.
    pub learned: u32,
    /// Where the address of the first strip's rows is kept.
    pub origin: Option<u32>,
    /// Where addresses are kept of what was read last time, see [`Target::fetch_ahead`].
    pub ahead: Vec<u32>,
    /// Rows by which the loop at hand goes through memory, see [`walks`](super::walks), and where on the stack the last address is.
    pub walks: FxHashMap<u32, u32>,
    /// What loads remember from round to round.
    pub trail: Trail,
    /// The addresses that the blocks to come of a loop begin with.
    pub packs: VecDeque<Packs>,
    /// Jumps to the end of the function.
    pub stops: Vec<usize>,
    /// The same to the end of the strips at hand.
    pub skips: Vec<usize>,
    /// See [`crate::program::Program`].
    pub repacks: Option<u32>,
    /// Operations, and moves of values to the stack and back.
    pub instructions: u32,
    pub moves: u32,
    /// Most rows that a loop keeps in registers.
    pub pins: usize,
    /// The code is for a loop that adds up products, see [`crate::program::Sums`].
    pub summing: bool,
    /// Rounds of such loops may go on by steps, see [`crate::program::Reduced`].
    pub reduced: bool,
    /// Nothing in it loops.
    pub straight: bool,
    /// See [`crate::program::Program`].
    pub next: u32,
    /// Blocks compute one result after another.
    pub order: Order,
    /// How its instructions are arranged.
    pub arrange: Option<Arrange>,
    /// How often innermost loops, or functions without loops, read and write rows and the stack.
    pub touches: u32,
}

impl<'a> Frame<'a> {
    pub fn new(
        target: &'static dyn Target,
        pool: &'a mut Pool,
        masked: bool,
        lazy: bool,
        line: u32,
        strips: u32,
    ) -> Frame<'a> {
        Frame {
            target,
            code: Code::default(),
            pool,
            strips: Strips {
                number: strips,
                line: (line / target.lanes()).max(1),
                masked,
                ..Strips::default()
            },
            line: line.min(target.lanes()),
            pinned: Vec::new(),
            moved: FxHashMap::default(),
            kept: Vec::new(),
            based: FxHashMap::default(),
            anchors: FxHashMap::default(),
            earlier: Vec::new(),
            grown: Vec::new(),
            alone: false,
            before: Code::default(),
            slots: 0,
            most: 0,
            lazy,
            ticks: None,
            learned: 0,
            origin: None,
            ahead: Vec::new(),
            walks: FxHashMap::default(),
            trail: Trail::default(),
            packs: VecDeque::new(),
            stops: Vec::new(),
            skips: Vec::new(),
            repacks: None,
            instructions: 0,
            moves: 0,
            pins: target.pinned(),
            summing: false,
            reduced: false,
            straight: false,
            next: 0,
            order: Order::default(),
            arrange: None,
            touches: 0,
        }
    }

    /// A place on the stack for the rest of the function.
    pub fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.most = self.most.max(self.slots);
        self.place(self.slots - 1)
    }

    /// Where a place on the stack is.
    pub fn place(&self, slot: u32) -> u32 {
        4 * self.target.lanes() * slot
    }

    /// Vector registers that blocks are given.
    pub fn vectors(&self) -> u8 {
        self.given() - self.pinned.len() as u8
    }

    fn given(&self) -> u8 {
        self.target.vectors(if self.strips.masked { self.strips.number as u8 } else { 0 })
    }

    /// Most rows that could be in registers while the largest access has what it needs.
    pub fn most_pins(&self) -> usize {
        (self.target.pinned() * 3 / 2).min(usize::from(self.given()).saturating_sub(LEAST))
    }

    /// An operation reads or writes a row, or the stack.
    pub fn touch(&mut self) {
        self.touches += u32::from(self.summing || self.straight || !self.pinned.is_empty());
    }

    /// Where a row is.
    pub fn row(&self, row: u32) -> u32 {
        let number = self.strips.number;
        256 * (row / number) + row % number * 4 * self.target.lanes()
    }

    /// The same, or its place on the stack.
    pub fn place_of(&self, row: u32) -> (Base, u32) {
        self.moved.get(&row).map_or_else(|| (Base::Rows, self.row(row)), |&at| (Base::Stack, at))
    }

    /// The strip that the number of a row, or of what is ready, is of.
    pub fn strip_of(&self, number: u32) -> usize {
        (number % self.strips.number) as usize
    }

    /// The masks of executing lanes, if not all execute.
    pub fn exec(&self) -> &'static [u8] {
        let Strips { number, masked, .. } = self.strips;
        &self.target.masks().exec[..if masked { number as usize } else { 0 }]
    }

    /// Moves tests to their known places.
    pub fn tested(&mut self, [first, second]: Tests) -> Tests {
        let (target, masks) = (self.target, self.target.masks());
        if self.strips.number == 1 || !self.strips.masked {
            target.mask_copy(&mut self.code, masks.tested[0], first);
            return masks.tested;
        }
        // Either may be where the other is to go.
        target.mask_copy(&mut self.code, masks.scratch, first);
        target.mask_copy(&mut self.code, masks.tested[1], second);
        target.mask_copy(&mut self.code, masks.tested[0], masks.scratch);
        masks.tested
    }

    /// The register of a pinned row.
    pub fn pin(&self, row: u32) -> Option<u8> {
        let at = self.pinned.iter().position(|&pinned| pinned == row)?;
        Some(self.given() - 1 - at as u8)
    }

    /// Pins the first of these rows.
    pub fn pin_rows(&mut self, hot: &[u32]) {
        let pinned = hot.iter().flat_map(|row| self.strips.rows(*row));
        self.pinned = pinned.take(self.pins).collect();
    }

    /// What was counted so far.
    pub fn counted(&self) -> [u32; 3] {
        [self.instructions, self.moves, self.touches]
    }

    /// Counts nothing that came after.
    pub fn count(&mut self, [instructions, moves, touches]: [u32; 3]) {
        (self.instructions, self.moves, self.touches) = (instructions, moves, touches);
    }

    /// Loads the pinned rows, or stores them.
    pub fn move_pinned(&mut self, load: bool) {
        for (register, base, at) in self.places_of_pinned() {
            match load {
                true => self.target.load(&mut self.code, register, Rm::Mem(base, at)),
                false => self.target.store(&mut self.code, register, base, at),
            }
        }
    }

    /// The registers of pinned rows, and where the rows are.
    pub fn places_of_pinned(&self) -> Vec<(u8, Base, u32)> {
        let last = self.given() - 1;
        let place = |(at, &row): (usize, &u32)| {
            let (base, place) = self.place_of(row);
            (last - at as u8, base, place)
        };
        self.pinned.iter().enumerate().map(place).collect()
    }

    /// Appends a block; the mask registers of its test.
    pub fn block(&mut self, block: &Straight) -> Option<Tests> {
        let next: Vec<Val> = block.next.iter().map(|(_, val)| *val).collect();
        let work = Work::new(block, &next, &self.strips);
        let next = self.next_of(block, &work);
        let last: Vec<Val> = work.tests.iter().copied().chain(next.iter().map(|(_, val)| *val)).collect();
        let arrange = self.arrange.as_ref().filter(|_| self.summing || self.straight);
        let packs = self.packs.pop_front();
        let round = Round { next: &next, packs: packs.as_ref() };
        let summing = self.summing;
        let addressing = if summing { Addressing::Scalar(round) } else { Addressing::Alone };
        let order = (self.order, self.target.pairs());
        let plan = Plan::new(work.graph, &work.outputs, &last, &[], arrange, addressing, order);
        let ahead = self.ahead(&plan);
        let packs = packs.unwrap_or_default();
        packs.compute(self);
        let mut body = Body::new(self, &plan.graph, &plan.uses).replacing(&plan.stores);
        (body.addresses, body.ahead, body.reserved) = (Some(&plan.addresses), ahead, packs.registers);
        for (time, (&val, stores)) in plan.order.iter().zip(&plan.stores).enumerate() {
            body.now = 2 * time as u32;
            body.merging = if plan.leave == Some(time) { None } else { body.merge_into(val, stores) };
            let merged = body.merging.map(|(pin, _)| 1 << pin);
            body.instruction(val);
            body.now += 1;
            if plan.leave == Some(time) {
                body.leave(stores);
            }
            match merged {
                Some(pin) => body.settled |= pin,
                None => body.store_rows(stores),
            }
            if plan.addresses.words.contains(&val) {
                body.release(val);
            }
            if let Some(numbers) = plan.early.get(&val) {
                let from = body.fetch(val);
                for at in numbers.iter().filter_map(|number| packs.word(*number)) {
                    body.target.first_to_stack(&mut body.frame.code, from, at);
                }
                body.release(val);
            }
        }
        let early = |number: u32, val: Val| plan.early.get(&val).is_some_and(|list| list.contains(&number));
        for (number, val) in next.into_iter().filter(|(number, val)| !early(*number, *val)) {
            body.pinned = work.tests.iter().copied().chain([val]).collect();
            let (from, at) = (body.fetch(val), body.frame.kept[number as usize]);
            body.frame.touch();
            let code = &mut body.frame.code;
            // A processor does not hand a word what a store of a whole vector holds: it waits until all that came before is done.
            if !summing || plan.kept.contains(&number) {
                body.target.store(code, from, Base::Stack, at);
            } else {
                body.target.first_to_stack(code, from, at);
            }
            if let Some(at) = packs.word(number) {
                body.target.first_to_stack(code, from, at);
            }
        }
        body.end(&work.tests)
    }

    /// What a block leaves for the next round, each strip's, by number.
    pub(super) fn next_of(&self, block: &Straight, work: &Work) -> Vec<(u32, Val)> {
        let each = block.next.iter().zip(&work.others);
        each.flat_map(|((number, _), values)| self.kept_of(*number, values)).collect()
    }

    /// What is to be ready of each strip's values, by number.
    pub(super) fn kept_of(&self, number: u32, values: &[Val]) -> impl Iterator<Item = (u32, Val)> {
        self.strips.kept(number).map(|number| (number, values[self.strip_of(number)]))
    }

    /// [`Frame::block`] for one that changes nothing if there are executing lanes in `doubted`, if that is anything, or loads are not where
    /// they should be: then the block that follows is run. What [`Frame::attempted`] wants to know.
    pub fn attempt(&mut self, block: &Straight, doubted: Val) -> usize {
        // Whether loads are where they should be is asked before anything is done.
        let doubted = Some(doubted).filter(|doubted| *doubted != NO);
        let mut work = Work::new(block, doubted.as_slice(), &self.strips);
        let mut doubted = work.others.concat();
        if !self.strips.masked {
            let either = if self.target.masks().registers.is_some() { Op::Either } else { Op::Or };
            let any = doubted.into_iter().reduce(|all, lanes| work.graph.binary(either, all, lanes));
            doubted = any.into_iter().collect();
        }
        let near = if self.strips.masked { Addressing::Alone } else { Addressing::Near(self.target) };
        let arrange = self.arrange.as_ref().filter(|_| self.straight);
        let order = (self.order, self.target.pairs());
        let plan = Plan::new(work.graph, &work.outputs, &work.tests, &doubted, arrange, near, order);
        let mut body = Body::new(self, &plan.graph, &plan.uses);
        if doubted.is_empty() {
            body = body.replacing(&plan.stores);
        }
        body.addresses = Some(&plan.addresses);
        let mut fails = body.find_bases(&plan.addresses.bases);
        for (time, (&val, stores)) in plan.order.iter().zip(&plan.stores).enumerate() {
            body.now = 2 * time as u32;
            body.instruction(val);
            if plan.asked == Some(time) {
                fails.extend(body.look(&doubted));
            }
            body.now += 1;
            body.store_rows(stores);
        }
        let target = body.target;
        if let Some(tests) = body.end(&work.tests) {
            self.tested(tests);
        }
        let done = target.jump(&mut self.code);
        fails.into_iter().for_each(|fails| target.land(&mut self.code, fails));
        done
    }

    /// Joins an attempt and what was done instead, whose test is in the registers `tests`.
    pub fn attempted(&mut self, done: usize, tests: Option<Tests>) -> Option<Tests> {
        let tests = tests.map(|tests| self.tested(tests));
        self.target.land(&mut self.code, done);
        tests
    }

    /// It needs no more places on the stack than there may be.
    pub fn fits(&self) -> bool {
        self.place(self.most) <= STACK
    }

    /// Appends the function to `code`; false, and nothing appended, if it needs too many places on the stack.
    pub fn finish(self, code: &mut Code) -> bool {
        let stack = self.place(self.most).next_multiple_of(64);
        if stack <= STACK {
            let frame = target::Frame {
                body: &self.code,
                before: &self.before,
                stack,
                masked: self.strips.masked,
                strips: self.strips.number as u8,
                ticks: self.ticks,
                origin: self.origin,
                grown: &self.grown,
                ahead: &self.ahead,
                stops: &self.stops,
            };
            self.target.function(code, self.pool, &frame);
        }
        stack <= STACK
    }
}
