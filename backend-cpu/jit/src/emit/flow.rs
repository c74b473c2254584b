//! Code for constructs: masks of lanes and jumps. What lanes keep from one block to the next is in rows, and the rows
//! that an innermost loop uses most are in registers while it runs.
//!
//! Where not all lanes of a strip execute, or they may part, the mask `exec` always holds the lanes that execute. A construct keeps the lanes that entered it on the stack; a loop
//! with breaks in an `if` also those that have not left it, which the end of the `if` needs.

mod strength;
mod sums;

use super::walks::walks;
use super::{Frame, Tests};
use crate::call;
use crate::graph::{NO, Val};
use crate::program::{Block, Call, Loop, Part, breaks};
use crate::target::{Called, Masks, Rm, Target};

/// Bytes that every jump of a target can go back.
const NEAR: usize = 1 << 18;

/// The construct around.
#[derive(Default)]
struct Around {
    /// Jumps to the end of the innermost loop.
    exits: Vec<usize>,
    /// Where the lanes are that have not left it, of each strip.
    live: Option<Vec<u32>>,
    /// Jumps to the end of the innermost side of an `if` in it, if there is one.
    sides: Vec<Vec<usize>>,
}

/// Appends the code of a list.
pub fn code(list: &[Part], frame: &mut Frame<'_>) {
    let target = frame.target;
    Flow { target, masks: target.masks(), frame, around: Around::default() }.list(list);
}

struct Flow<'a, 'b> {
    target: &'static dyn Target,
    masks: &'static Masks,
    frame: &'a mut Frame<'b>,
    around: Around,
}

impl Flow<'_, '_> {
    fn list(&mut self, list: &[Part]) {
        let mut test = None;
        let around = self.frame.code.step();
        for part in list {
            // A construct with a test comes after the block that makes it.
            let tested = test.unwrap_or_default();
            match part {
                Part::Block(block) => test = self.block(block),
                Part::If { nonzero, then, otherwise, step } => {
                    self.frame.code.is_for(*step);
                    self.choice(tested, *nonzero, then, otherwise);
                }
                Part::Loop(of) => {
                    self.frame.code.is_for(of.step);
                    self.repeat(of);
                }
                Part::Call(of) => {
                    self.frame.code.is_for(of.step);
                    self.call(of);
                }
                Part::Emit(of) => {
                    let done = of.whole.as_ref().map(|whole| self.frame.whole(whole, &of.elements));
                    let starts = of.whole.iter().map(|whole| self.frame.starts(whole).len()).sum::<usize>();
                    let places: Vec<u32> = (0..starts).map(|_| self.frame.slot()).collect();
                    of.whole.iter().for_each(|whole| self.frame.other_way(whole, &places, true));
                    self.block(&of.block);
                    self.frame.elements(&of.elements);
                    of.whole.iter().for_each(|whole| self.frame.other_way(whole, &places, false));
                    done.into_iter().for_each(|done| self.land(done));
                    of.whole.iter().for_each(|whole| self.frame.next_strips(whole));
                }
                Part::Break(test, step) => {
                    self.frame.code.is_for(*step);
                    self.leave(test.map(|_| tested), test.unwrap_or(true));
                }
            }
        }
        self.frame.code.is_for(around);
    }

    fn block(&mut self, block: &Block) -> Option<Tests> {
        // Where lanes do not execute nothing is known of where they load from.
        let pays = |doubted: Val| doubted != NO || !self.frame.strips.masked;
        let attempt = block.attempt.as_ref().filter(|(_, doubted)| pays(*doubted));
        let tried = attempt.map(|(attempt, doubted)| self.frame.attempt(attempt, *doubted));
        let test = self.frame.block(&block.body);
        match tried {
            Some(done) => self.frame.attempted(done, test),
            None => test,
        }
    }

    fn load(&mut self, to: u8, at: u32) {
        self.target.mask_load(&mut self.frame.code, to, at);
    }

    fn store(&mut self, from: u8, at: u32) {
        self.target.mask_store(&mut self.frame.code, from, at);
    }

    fn and(&mut self, to: u8, a: u8, b: u8) {
        self.target.mask_and(&mut self.frame.code, to, a, b);
    }

    /// to = !a & b
    fn and_not(&mut self, to: u8, a: u8, b: u8) {
        self.target.mask_and_not(&mut self.frame.code, to, a, b);
    }

    fn land(&mut self, jump: usize) {
        self.target.land(&mut self.frame.code, jump);
    }

    /// `to` = the lanes of `exec` whose test is as said
    fn chosen(&mut self, to: u8, exec: u8, test: u8, nonzero: bool) {
        match nonzero {
            true => self.and(to, exec, test),
            false => self.and_not(to, test, exec),
        }
    }

    /// Places on the stack, one for each mask of executing lanes.
    fn slots(&mut self) -> Vec<u32> {
        self.frame.exec().iter().map(|_| self.frame.slot()).collect()
    }

    /// A register with a lane if any lane executes, and none if none does.
    fn any(&mut self) -> u8 {
        match *self.frame.exec() {
            [first, second] => {
                self.target.mask_or(&mut self.frame.code, self.masks.scratch, first, second);
                self.masks.scratch
            }
            _ => self.masks.exec[0],
        }
    }

    /// Jumps if no lane executes.
    fn jump_if_none(&mut self) -> usize {
        let any = self.any();
        self.target.jump_if(&mut self.frame.code, any, false)
    }

    /// A choice that all lanes of a strip make alike.
    fn choice_together(&mut self, test: u8, nonzero: bool, then: &[Part], otherwise: &[Part]) {
        let mut over = self.target.jump_if(&mut self.frame.code, test, !nonzero);
        self.list(then);
        if !otherwise.is_empty() {
            let end = self.target.jump(&mut self.frame.code);
            self.land(over);
            self.list(otherwise);
            over = end;
        }
        self.land(over);
    }

    fn choice(&mut self, tests: Tests, nonzero: bool, then: &[Part], otherwise: &[Part]) {
        if !self.frame.strips.masked {
            return self.choice_together(tests[0], nonzero, then, otherwise);
        }
        let (execs, scratch) = (self.frame.exec(), self.masks.scratch);
        let before = self.frame.slots;
        let outer = self.slots();
        // Without breaks the first side ends with the lanes that it began with: the others are the second side's.
        let other = (!otherwise.is_empty() && breaks(then)).then(|| self.slots());
        for (strip, &exec) in execs.iter().enumerate() {
            self.store(exec, outer[strip]);
            if let Some(other) = &other {
                self.chosen(scratch, exec, tests[strip], !nonzero);
                self.store(scratch, other[strip]);
            }
            self.chosen(exec, exec, tests[strip], nonzero);
        }
        self.side(then);
        for (strip, &exec) in execs.iter().enumerate() {
            match &other {
                Some(other) => self.load(exec, other[strip]),
                None if !otherwise.is_empty() => {
                    self.load(scratch, outer[strip]);
                    self.and_not(exec, exec, scratch);
                }
                None => {}
            }
        }
        if !otherwise.is_empty() {
            self.side(otherwise);
        }
        let live = self.around.live.clone().filter(|_| breaks(then) || breaks(otherwise));
        for (strip, &exec) in execs.iter().enumerate() {
            self.load(exec, outer[strip]);
            if let Some(live) = &live {
                self.load(scratch, live[strip]);
                self.and(exec, exec, scratch);
            }
        }
        self.frame.slots = before;
    }

    /// One side of an `if`, passed over without lanes.
    fn side(&mut self, list: &[Part]) {
        let none = self.jump_if_none();
        self.around.sides.push(vec![none]);
        self.list(list);
        let jumps = self.around.sides.pop().unwrap_or_default();
        jumps.into_iter().for_each(|jump| self.land(jump));
    }

    fn leave(&mut self, tests: Option<Tests>, nonzero: bool) {
        if !self.frame.strips.masked {
            let code = &mut self.frame.code;
            let exit = match tests {
                Some([test, _]) => self.target.jump_if(code, test, nonzero),
                None => self.target.jump(code),
            };
            return self.around.exits.push(exit);
        }
        let Masks { scratch, temporary, .. } = *self.masks;
        let nested = !self.around.sides.is_empty();
        for (strip, &exec) in self.frame.exec().iter().enumerate() {
            match tests.map(|tests| tests[strip]) {
                Some(test) if !nested => self.chosen(exec, exec, test, !nonzero),
                Some(test) => self.chosen(scratch, exec, test, nonzero),
                None => self.target.mask_copy(&mut self.frame.code, scratch, exec),
            }
            if nested || tests.is_none() {
                if let Some(live) = self.around.live.as_ref().map(|live| live[strip]) {
                    self.load(temporary, live);
                    self.and_not(temporary, scratch, temporary);
                    self.store(temporary, live);
                }
                self.and_not(exec, scratch, exec);
            }
        }
        let jump = self.jump_if_none();
        self.around.sides.last_mut().unwrap_or(&mut self.around.exits).push(jump);
    }

    fn repeat(&mut self, of: &Loop) {
        let end = of.sums.as_ref().map(|sums| self.sums(sums));
        let counted = self.frame.counted();
        self.other_way(of);
        if let Some(end) = end {
            self.frame.count(counted);
            self.land(end);
        }
    }

    fn other_way(&mut self, of: &Loop) {
        of.before.iter().for_each(|block| _ = self.block(block));
        self.rounds(of);
        of.after.iter().for_each(|block| _ = self.block(block));
    }

    fn rounds(&mut self, of: &Loop) {
        let (execs, masked) = (self.frame.exec(), self.frame.strips.masked);
        let before = self.frame.slots;
        let outer = self.slots();
        if masked {
            execs.iter().zip(&outer).for_each(|(&exec, &at)| self.store(exec, at));
        }
        let nested = masked
            && of.body.iter().any(|part| match part {
                Part::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
                _ => false,
            });
        let live = nested.then(|| self.slots());
        if let Some(live) = &live {
            execs.iter().zip(live).for_each(|(&exec, &at)| self.store(exec, at));
        }
        let around = std::mem::replace(&mut self.around, Around { live, ..Around::default() });
        if let Some((graph, values)) = &of.kept {
            self.frame.keep(graph, values);
        }
        self.frame.pin_rows(&of.hot);
        self.move_pinned(true);
        let head = self.frame.code.bytes.len();
        if self.target.fetches_later() {
            self.frame.walks = walks(&of.body).into_iter().map(|row| (row, self.frame.slot())).collect();
        }
        self.list(&of.body);
        self.frame.walks.clear();
        let repacks = masked && self.frame.repacks == Some(of.step);
        self.tick((!masked).then_some(head), repacks);
        match masked {
            true => {
                // Where lanes leave within a block, this is what is left of the break.
                let around = self.frame.code.step();
                if let Some(Part::Block(block)) = of.body.last() {
                    let leave = block.body.graph.leaves.last();
                    leave.into_iter().for_each(|leave| self.frame.code.is_for(leave.step));
                }
                let any = self.any();
                self.target.back(&mut self.frame.code, any, head);
                self.frame.code.is_for(around);
            }
            false => self.target.again(&mut self.frame.code, head),
        }
        let ended = std::mem::replace(&mut self.around, around);
        ended.exits.into_iter().for_each(|exit| self.land(exit));
        if !of.hot.is_empty() {
            self.move_pinned(false);
            self.frame.pinned.clear();
        }
        self.frame.kept.clear();
        if repacks {
            self.hand_over();
        }
        if masked {
            execs.iter().zip(&outer).for_each(|(&exec, &at)| self.load(exec, at));
        }
        self.frame.slots = before;
    }

    /// Lanes that are in the loop still are part of the function's result. Strips that have some go on later, and so do those after them, so that what lanes
    /// store is stored in their order.
    fn hand_over(&mut self) {
        let execs = self.frame.exec();
        let Frame { code, pool, skips, target, .. } = &mut *self.frame;
        for (&exec, after) in execs.iter().rev().zip(0..) {
            target.give(code, pool, exec, after);
        }
        skips.push(target.jump_if_given(code));
    }

    /// Calls what lanes do one after another. Nothing but masks is in registers, as it is in no loop.
    fn call(&mut self, of: &Call) {
        let Some(ticks) = self.frame.ticks else { return };
        let before = self.frame.slots;
        let operands = self.frame.on_stack(&of.graph, &of.operands);
        let masks: Vec<(u8, u32)> = self.frame.exec().iter().copied().zip(self.slots()).collect();
        masks.iter().for_each(|&(exec, at)| self.store(exec, at));
        let Frame { code, pool, strips, target, .. } = &mut *self.frame;
        let lanes = strips.number * target.lanes();
        let words = call::Call { act: of.act, view: of.view, lanes, to: of.to }.words();
        let at = Called { ticks, words: pool.table(&words), operands: operands[0].1, lanes };
        let execs: Vec<u8> = masks.iter().map(|(exec, _)| *exec).collect();
        target.call(code, pool, &at, &execs);
        masks.iter().for_each(|&(exec, at)| self.load(exec, at));
        self.frame.slots = before;
    }

    /// Loads the pinned rows, or stores them.
    fn move_pinned(&mut self, load: bool) {
        self.frame.move_pinned(load);
    }

    /// Counts a back-edge, and now and then asks whether to stop. Nothing but masks and pinned rows is in registers. `head`: where to go
    /// on if it did not ask. `repacks`: the answer may be to leave the loop.
    fn tick(&mut self, head: Option<usize>, repacks: bool) {
        let Some(ticks) = self.frame.ticks else { return };
        let before = self.frame.slots;
        let (execs, places) = (self.frame.exec(), self.slots());
        let mut more = vec![self.target.count(&mut self.frame.code, ticks)];
        if repacks {
            let Frame { code, pool, target, .. } = &mut *self.frame;
            more.push(target.look(code, pool, ticks, execs));
        }
        let masks: Vec<(u8, u32)> = execs.iter().copied().zip(places).collect();
        masks.iter().for_each(|&(exec, at)| self.store(exec, at));
        self.frame.move_pinned(false);
        let pinned = self.frame.places_of_pinned();
        let Frame { code, pool, lazy, target, .. } = &mut *self.frame;
        let stop = target.ask(code, pool, *lazy, &mut |code| {
            pinned.iter().for_each(|&(to, base, at)| target.load(code, to, Rm::Mem(base, at)));
            masks.iter().for_each(|&(exec, at)| target.mask_load(code, exec, at));
        });
        if repacks {
            self.around.exits.push(target.jump_if_told(code));
        }
        for more in more {
            match head {
                Some(head) if self.frame.code.bytes.len() - head < NEAR => {
                    self.target.land_at(&mut self.frame.code, more, head);
                }
                _ => self.land(more),
            }
        }
        self.frame.stops.push(stop);
        self.frame.slots = before;
    }
}
