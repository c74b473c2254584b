//! Code for constructs: masks of lanes and jumps. What lanes keep from one run of steps to the next is in rows, and
//! the rows that an innermost loop uses most are in registers while it runs.
//!
//! `EXEC` always holds the lanes that execute. A construct keeps the lanes that entered it on the stack; a loop with
//! breaks in an `if` also those that have not left it, which the end of the `if` needs.

use crate::emit::{EXEC, Frame, SCRATCH, TEST, float_mode};
use crate::encode::{Base, Lanes, NOT_ZERO, Rm, ZERO, inst::*};
use crate::tree::{Run, Tree, breaks, loops, mentions};

/// Most rows that a loop keeps in registers.
const PINNED: usize = 16;

/// What makes the code of a run; the mask register of its test. `None` if it can't be made.
pub trait Runs {
    fn run(&mut self, frame: &mut Frame<'_>, run: &Run<'_>) -> Option<Option<u8>>;
    /// The row never changes.
    fn constant(&self, row: u32) -> bool;
    /// Code before an innermost loop, for what does not change in its runs.
    fn enter(&mut self, frame: &mut Frame<'_>, body: &[Tree<'_>]);
    /// The loop has ended.
    fn leave(&mut self, frame: &mut Frame<'_>);
}

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

/// Appends the code of a list. `None` if it can't be made.
pub fn code(list: &[Tree<'_>], frame: &mut Frame<'_>, runs: &mut impl Runs) -> Option<()> {
    Flow { frame, runs, around: Around::default() }.list(list)
}

struct Flow<'a, 'b, R> {
    frame: &'a mut Frame<'b>,
    runs: &'a mut R,
    around: Around,
}

impl<R: Runs> Flow<'_, '_, R> {
    fn list(&mut self, list: &[Tree<'_>]) -> Option<()> {
        let mut test = None;
        for tree in list {
            match tree {
                Tree::Run(run) => test = self.runs.run(self.frame, run)?,
                Tree::If { nonzero, then, otherwise } => self.choice(test?, *nonzero, then, otherwise)?,
                Tree::Loop { body } => self.repeat(body)?,
                Tree::Break(None) => self.leave(None, true),
                Tree::Break(Some(nonzero)) => self.leave(Some(test?), *nonzero),
            }
        }
        Some(())
    }

    /// `to` = the executing lanes whose test is as said
    fn chosen(&mut self, to: u8, test: u8, nonzero: bool) {
        match nonzero {
            true => self.frame.code.mask_and(to, EXEC, test),
            false => self.frame.code.mask_and_not(to, test, EXEC),
        }
    }

    fn choice(&mut self, test: u8, nonzero: bool, then: &[Tree<'_>], otherwise: &[Tree<'_>]) -> Option<()> {
        let outer = self.frame.slot();
        // Without breaks the first side ends with the lanes that it began with: the others are the second side's.
        let other = (!otherwise.is_empty() && breaks(then)).then(|| self.frame.slot());
        self.frame.code.mask_store(EXEC, outer);
        if let Some(other) = other {
            self.chosen(SCRATCH, test, !nonzero);
            self.frame.code.mask_store(SCRATCH, other);
        }
        self.chosen(EXEC, test, nonzero);
        self.side(then)?;
        match other {
            Some(other) => self.frame.code.mask_load(EXEC, other),
            None if !otherwise.is_empty() => {
                self.frame.code.mask_load(SCRATCH, outer);
                self.frame.code.mask_and_not(EXEC, EXEC, SCRATCH);
            }
            None => {}
        }
        if !otherwise.is_empty() {
            self.side(otherwise)?;
        }
        self.frame.code.mask_load(EXEC, outer);
        if let (Some(live), true) = (self.around.live, breaks(then) || breaks(otherwise)) {
            self.frame.code.mask_load(SCRATCH, live);
            self.frame.code.mask_and(EXEC, EXEC, SCRATCH);
        }
        self.frame.slots -= 1 + u32::from(other.is_some());
        Some(())
    }

    /// One side of an `if`, passed over without lanes.
    fn side(&mut self, list: &[Tree<'_>]) -> Option<()> {
        self.frame.code.mask_test(EXEC);
        let none = self.frame.code.jump(Some(ZERO));
        self.around.sides.push(vec![none]);
        self.list(list)?;
        let jumps = self.around.sides.pop()?;
        jumps.into_iter().for_each(|jump| self.frame.code.land(jump));
        Some(())
    }

    fn leave(&mut self, test: Option<u8>, nonzero: bool) {
        let nested = !self.around.sides.is_empty();
        match test {
            Some(test) if !nested => self.chosen(EXEC, test, !nonzero),
            Some(test) => self.chosen(SCRATCH, test, nonzero),
            None => self.frame.code.mask_and(SCRATCH, EXEC, EXEC),
        }
        if nested || test.is_none() {
            if let Some(live) = self.around.live {
                self.frame.code.mask_load(TEST, live);
                self.frame.code.mask_and_not(TEST, SCRATCH, TEST);
                self.frame.code.mask_store(TEST, live);
            }
            self.frame.code.mask_and_not(EXEC, SCRATCH, EXEC);
        }
        self.frame.code.mask_test(EXEC);
        let jump = self.frame.code.jump(Some(ZERO));
        self.around.sides.last_mut().unwrap_or(&mut self.around.exits).push(jump);
    }

    fn repeat(&mut self, body: &[Tree<'_>]) -> Option<()> {
        let outer = self.frame.slot();
        self.frame.code.mask_store(EXEC, outer);
        let nested = body.iter().any(|tree| match tree {
            Tree::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
            _ => false,
        });
        let live = nested.then(|| self.frame.slot());
        if let Some(live) = live {
            self.frame.code.mask_store(EXEC, live);
        }
        let around = std::mem::replace(&mut self.around, Around { live, ..Around::default() });
        let innermost = !loops(body);
        if innermost {
            self.runs.enter(self.frame, body);
            self.frame.pinned = self.hottest(body);
            self.move_pinned(true);
        }
        let head = self.frame.code.bytes.len();
        self.list(body)?;
        self.tick()?;
        self.frame.code.mask_test(EXEC);
        self.frame.code.back(NOT_ZERO, head);
        let ended = std::mem::replace(&mut self.around, around);
        ended.exits.into_iter().for_each(|exit| self.frame.code.land(exit));
        if innermost {
            self.move_pinned(false);
            self.frame.pinned.clear();
            self.runs.leave(self.frame);
        }
        self.frame.code.mask_load(EXEC, outer);
        self.frame.slots -= 1 + u32::from(live.is_some());
        Some(())
    }

    /// The rows that are mentioned most often.
    fn hottest(&self, body: &[Tree<'_>]) -> Vec<u32> {
        let mut counts = std::collections::HashMap::new();
        mentions(body, &mut counts);
        let mut rows: Vec<(usize, u32)> = counts
            .into_iter()
            .filter(|(row, _)| !self.runs.constant(*row))
            .map(|(row, n)| (n, row))
            .collect();
        rows.sort_unstable_by_key(|&(count, row)| (std::cmp::Reverse(count), row));
        rows.truncate(PINNED);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Loads the pinned rows, or stores them.
    fn move_pinned(&mut self, load: bool) {
        for row in self.frame.pinned.clone() {
            let Some(register) = self.frame.pin(row) else { continue };
            let at = Rm::Mem(Base::Rows, 256 * row);
            self.frame.code.vector(if load { LOAD } else { STORE }, register, 0, at, Lanes::All, None);
        }
    }

    /// Counts a back-edge, and now and then asks whether to stop. Nothing but masks and pinned rows is in registers.
    fn tick(&mut self) -> Option<()> {
        let (at, mask) = (self.frame.ticks?, self.frame.slot());
        let code = &mut self.frame.code;
        code.raw(&[0x4C, 0x8B, 0x91]); // mov r10, [rcx + at]
        code.raw(&at.to_le_bytes());
        code.raw(&[0x41, 0xFF, 0x0A]); // dec dword [r10]
        let more = code.jump(Some(NOT_ZERO));
        code.mask_store(EXEC, mask);
        self.move_pinned(false);
        if self.frame.lazy {
            float_mode(&mut self.frame.code, self.frame.pool, false);
        }
        let code = &mut self.frame.code;
        code.raw(&[0xC5, 0xF8, 0x77]); // vzeroupper
        // push rax, rcx, rdx, rsi, rdi, r8, r9; the stack is a multiple of 64
        code.raw(&[0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51]);
        code.raw(&[0x48, 0x83, 0xEC, 8]); // sub rsp, 8
        code.raw(&[0x4C, 0x89, 0xD7]); // mov rdi, r10
        code.raw(&[0x41, 0xFF, 0x52, 8]); // call [r10 + 8]
        code.raw(&[0x41, 0x89, 0xC3]); // mov r11d, eax
        code.raw(&[0x48, 0x83, 0xC4, 8]); // add rsp, 8
        code.raw(&[0x41, 0x59, 0x41, 0x58, 0x5F, 0x5E, 0x5A, 0x59, 0x58]); // pop r9, r8, rdi, rsi, rdx, rcx, rax
        if self.frame.lazy {
            float_mode(&mut self.frame.code, self.frame.pool, true);
        }
        self.move_pinned(true);
        let code = &mut self.frame.code;
        code.mask_load(EXEC, mask);
        code.raw(&[0x45, 0x84, 0xDB]); // test r11b, r11b
        let stop = code.jump(Some(NOT_ZERO));
        code.land(more);
        self.frame.stops.push(stop);
        self.frame.slots -= 1;
        Some(())
    }
}
