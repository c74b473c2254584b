//! Code for constructs: masks of lanes and jumps. What lanes keep from one block to the next is in rows, and the rows
//! that an innermost loop uses most are in registers while it runs.
//!
//! Where not all lanes of a strip execute, or they may part, the mask `exec` always holds the lanes that execute. A construct keeps the lanes that entered it on the stack; a loop
//! with breaks in an `if` also those that have not left it, which the end of the `if` needs.

use super::Frame;
use crate::program::{Block, Loop, Part, breaks};
use crate::target::{Base, Masks, Rm, Target};

/// The construct around.
#[derive(Default)]
struct Around {
    /// Jumps to the end of the innermost loop.
    exits: Vec<usize>,
    /// Where the lanes are that have not left it.
    live: Option<u32>,
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
        for part in list {
            // A construct with a test comes after the block that makes it.
            let tested = test.unwrap_or_default();
            match part {
                Part::Block(block) => test = self.block(block),
                Part::If { nonzero, then, otherwise } => self.choice(tested, *nonzero, then, otherwise),
                Part::Loop(of) => self.repeat(of),
                Part::Break(None) => self.leave(None, true),
                Part::Break(Some(nonzero)) => self.leave(Some(tested), *nonzero),
            }
        }
    }

    fn block(&mut self, block: &Block) -> Option<u8> {
        let tried = block.attempt.as_ref().map(|(attempt, doubted)| self.frame.attempt(attempt, *doubted));
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

    /// `to` = the executing lanes whose test is as said
    fn chosen(&mut self, to: u8, test: u8, nonzero: bool) {
        match nonzero {
            true => self.and(to, self.masks.exec, test),
            false => self.and_not(to, test, self.masks.exec),
        }
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

    fn choice(&mut self, test: u8, nonzero: bool, then: &[Part], otherwise: &[Part]) {
        if !self.frame.masked {
            return self.choice_together(test, nonzero, then, otherwise);
        }
        let Masks { exec, scratch, .. } = *self.masks;
        let outer = self.frame.slot();
        // Without breaks the first side ends with the lanes that it began with: the others are the second side's.
        let other = (!otherwise.is_empty() && breaks(then)).then(|| self.frame.slot());
        self.store(exec, outer);
        if let Some(other) = other {
            self.chosen(scratch, test, !nonzero);
            self.store(scratch, other);
        }
        self.chosen(exec, test, nonzero);
        self.side(then);
        match other {
            Some(other) => self.load(exec, other),
            None if !otherwise.is_empty() => {
                self.load(scratch, outer);
                self.and_not(exec, exec, scratch);
            }
            None => {}
        }
        if !otherwise.is_empty() {
            self.side(otherwise);
        }
        self.load(exec, outer);
        if let (Some(live), true) = (self.around.live, breaks(then) || breaks(otherwise)) {
            self.load(scratch, live);
            self.and(exec, exec, scratch);
        }
        self.frame.slots -= 1 + u32::from(other.is_some());
    }

    /// One side of an `if`, passed over without lanes.
    fn side(&mut self, list: &[Part]) {
        let none = self.target.jump_if(&mut self.frame.code, self.masks.exec, false);
        self.around.sides.push(vec![none]);
        self.list(list);
        let jumps = self.around.sides.pop().unwrap_or_default();
        jumps.into_iter().for_each(|jump| self.land(jump));
    }

    fn leave(&mut self, test: Option<u8>, nonzero: bool) {
        if !self.frame.masked {
            let code = &mut self.frame.code;
            let exit = match test {
                Some(test) => self.target.jump_if(code, test, nonzero),
                None => self.target.jump(code),
            };
            return self.around.exits.push(exit);
        }
        let Masks { exec, scratch, temporary, .. } = *self.masks;
        let nested = !self.around.sides.is_empty();
        match test {
            Some(test) if !nested => self.chosen(exec, test, !nonzero),
            Some(test) => self.chosen(scratch, test, nonzero),
            None => self.target.mask_copy(&mut self.frame.code, scratch, exec),
        }
        if nested || test.is_none() {
            if let Some(live) = self.around.live {
                self.load(temporary, live);
                self.and_not(temporary, scratch, temporary);
                self.store(temporary, live);
            }
            self.and_not(exec, scratch, exec);
        }
        let jump = self.target.jump_if(&mut self.frame.code, exec, false);
        self.around.sides.last_mut().unwrap_or(&mut self.around.exits).push(jump);
    }

    fn repeat(&mut self, of: &Loop) {
        let (exec, masked) = (self.masks.exec, self.frame.masked);
        let outer = self.frame.slot();
        if masked {
            self.store(exec, outer);
        }
        let nested = masked
            && of.body.iter().any(|part| match part {
                Part::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
                _ => false,
            });
        let live = nested.then(|| self.frame.slot());
        if let Some(live) = live {
            self.store(exec, live);
        }
        let around = std::mem::replace(&mut self.around, Around { live, ..Around::default() });
        if let Some((graph, values)) = &of.kept {
            self.frame.keep(graph, values);
        }
        let pinned = of.hot.iter().copied().take(self.target.pinned());
        self.frame.pinned = pinned.collect();
        self.move_pinned(true);
        let head = self.frame.code.bytes.len();
        self.list(&of.body);
        self.tick();
        match masked {
            true => self.target.back(&mut self.frame.code, exec, head),
            false => self.target.again(&mut self.frame.code, head),
        }
        let ended = std::mem::replace(&mut self.around, around);
        ended.exits.into_iter().for_each(|exit| self.land(exit));
        if !of.hot.is_empty() {
            self.move_pinned(false);
            self.frame.pinned.clear();
        }
        if let Some((_, values)) = &of.kept {
            self.frame.kept.clear();
            self.frame.slots -= values.len() as u32;
        }
        if masked {
            self.load(exec, outer);
        }
        self.frame.slots -= 1 + u32::from(live.is_some());
    }

    /// Loads the pinned rows, or stores them.
    fn move_pinned(&mut self, load: bool) {
        self.frame.move_pinned(load);
    }

    /// Counts a back-edge, and now and then asks whether to stop. Nothing but masks and pinned rows is in registers.
    fn tick(&mut self) {
        let Some(ticks) = self.frame.ticks else { return };
        let (exec, mask) = (self.masks.exec, self.frame.slot());
        let more = self.target.count(&mut self.frame.code, ticks);
        if self.frame.masked {
            self.store(exec, mask);
        }
        self.frame.move_pinned(false);
        let Frame { code, pool, lazy, pinned, target, masked, .. } = &mut *self.frame;
        let vectors = target.vectors(*masked);
        let stop = target.ask(code, pool, *lazy, &mut |code| {
            for (at, row) in pinned.iter().enumerate() {
                target.load(code, vectors - 1 - at as u8, Rm::Mem(Base::Rows, 256 * row));
            }
            if *masked {
                target.mask_load(code, exec, mask);
            }
        });
        self.land(more);
        self.frame.stops.push(stop);
        self.frame.slots -= 1;
    }
}
