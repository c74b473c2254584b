//! The threads of a wave go through the program together: statement by statement, until they end or wait at a barrier.
//!
//! What is open, constructs and calls, is a stack of frames, so that a wave can stand still and go on. Threads that leave a construct
//! say so in their [`State`]; its end lets them go on.

use recal_hal::Extent;
use recal_il::ir::{Arm, Cond, Fence, LaneInst, Operand, Stmt, StmtKind};
use recal_il::isa::lane::{self, Class};
use recal_il::isa::{Algebra, Scalar};

use crate::group::Group;
use crate::thread::State;
use crate::watch::Event;
use crate::{Memory, Stopped, WAVE};

/// Threads of a wave: bit k is lane k.
pub type Mask = u64;

/// The lanes in a mask.
pub(crate) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < WAVE).then_some(lane)
    })
}

/// A wave of a group.
#[derive(Default)]
pub(crate) struct Wave<'p> {
    /// Number in the group.
    pub index: u32,
    /// Lanes that have a thread.
    pub launched: Mask,
    /// What is open, main first.
    pub frames: Vec<Frame<'p>>,
}

/// Something that is open.
pub(crate) struct Frame<'p> {
    /// Its statements that run now.
    block: &'p [Stmt],
    /// The next of them.
    at: usize,
    /// Who runs them, but for those who have left.
    pub threads: Mask,
    pub what: What<'p>,
}

/// What a frame is of.
pub(crate) enum What<'p> {
    Main,
    /// A side of an `if`; of the first one, who takes the other.
    If {
        stmt: &'p Stmt,
        other: Option<(&'p [Stmt], Mask)>,
    },
    Loop {
        stmt: &'p Stmt,
    },
    /// An arm of a switch, and who entered at which arm.
    Switch {
        stmt: &'p Stmt,
        arms: &'p [Arm],
        arm: usize,
        entered: Vec<Mask>,
    },
    Call {
        stmt: &'p Stmt,
        function: usize,
    },
}

/// Why a wave stands still.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It waits for the other waves of its group.
    Barrier,
    /// All its threads are done.
    End,
}

impl<'p, M: Memory> Group<'p, '_, M> {
    /// Lanes of `mask` whose threads are in a state.
    pub fn in_state(&self, wave: &Wave<'p>, mask: Mask, state: State) -> Mask {
        let first = wave.index as usize * WAVE;
        lanes(mask)
            .filter(|lane| self.threads[first + lane].state == state)
            .fold(0, |mask, lane| mask | 1 << lane)
    }

    fn running(&self, wave: &Wave<'p>, mask: Mask) -> Mask {
        self.in_state(wave, mask, State::Running)
    }

    fn set(&mut self, wave: &Wave<'p>, mask: Mask, state: State) {
        let first = wave.index as usize * WAVE;
        lanes(mask).for_each(|lane| self.threads[first + lane].state = state);
    }

    /// Whoever is in the state `from` runs again.
    fn again(&mut self, wave: &Wave<'p>, mask: Mask, from: State) {
        self.set(wave, self.in_state(wave, mask, from), State::Running);
    }

    /// Lanes for which the condition holds.
    fn hold(&self, wave: &Wave<'p>, now: Mask, cond: Option<Cond>) -> Mask {
        let Some(cond) = cond else { return now };
        let first = wave.index as usize * WAVE;
        let holds = |lane: &usize| (self.word(first + lane, cond.operand) != 0) == cond.nonzero;
        lanes(now).filter(holds).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Runs the wave from where it is.
    pub fn go_on(&mut self, wave: &mut Wave<'p>) -> Result<Pause, Stopped> {
        let mut now = self.executing(wave);
        loop {
            let Some(frame) = wave.frames.last_mut() else { return Ok(Pause::End) };
            let block = frame.block;
            match block.get(frame.at) {
                Some(stmt) if now != 0 => {
                    frame.at += 1;
                    self.patience(now.count_ones().into())?;
                    self.before(wave, now, Event::Statement(stmt))?;
                    self.statement(wave, now, stmt)?;
                    // Arithmetic and memory leave everybody where they are.
                    if !matches!(stmt.kind, StmtKind::Lane(_) | StmtKind::Memory(_)) {
                        now = self.executing(wave);
                    }
                    self.after(wave, now, Event::Statement(stmt));
                    let barrier =
                        matches!(&stmt.kind, StmtKind::Fence(fence) if fence.contains(Fence::THREADS));
                    // There is no group in a pixel program.
                    if barrier && matches!(self.extent, Extent::Grid { .. }) {
                        return Ok(Pause::Barrier);
                    }
                }
                _ => {
                    self.close(wave, now)?;
                    now = self.executing(wave);
                }
            }
        }
    }

    /// Lanes that execute what comes next.
    fn executing(&self, wave: &Wave<'p>) -> Mask {
        wave.frames.last().map_or(0, |frame| self.running(wave, frame.threads))
    }

    fn open(&mut self, wave: &mut Wave<'p>, block: &'p [Stmt], threads: Mask, what: What<'p>) {
        wave.frames.push(Frame { block, at: 0, threads, what });
    }

    /// Makes the wave ready to begin.
    pub fn begin(&mut self, wave: &mut Wave<'p>) {
        let launched = wave.launched;
        self.open(wave, &self.program.functions[0].body, launched, What::Main);
    }

    /// The statements of the last frame are done, by those in `now` to their end.
    fn close(&mut self, wave: &mut Wave<'p>, now: Mask) -> Result<(), Stopped> {
        let Some(frame) = wave.frames.pop() else { return Ok(()) };
        let threads = frame.threads;
        let closed = match frame.what {
            What::Main => return self.before(wave, now, Event::End),
            What::If { stmt, other: Some((block, others)) } => {
                self.open(wave, block, others, What::If { stmt, other: None });
                return Ok(());
            }
            What::If { stmt, other: None } => stmt,
            What::Loop { stmt } => {
                self.again(wave, threads, State::Continued);
                if self.running(wave, threads) != 0 {
                    // A loop of nothing never ends, too.
                    self.patience(1)?;
                    self.open(wave, frame.block, threads, What::Loop { stmt });
                    let now = self.running(wave, threads);
                    self.before(wave, now, Event::Round(stmt))?;
                    self.after(wave, now, Event::Round(stmt));
                    return Ok(());
                }
                self.again(wave, threads, State::Broken);
                stmt
            }
            What::Switch { stmt, arms, arm, entered } => {
                let next = arm + 1;
                if next < arms.len() {
                    // Who entered before falls through.
                    let here = threads | entered[next];
                    self.open(wave, &arms[next].body, here, What::Switch { stmt, arms, arm: next, entered });
                    return Ok(());
                }
                self.again(wave, threads, State::Broken);
                stmt
            }
            What::Call { stmt, .. } => {
                self.again(wave, threads, State::Returned);
                stmt
            }
        };
        self.after(wave, self.executing(wave), Event::Closed(closed));
        Ok(())
    }

    fn statement(&mut self, wave: &mut Wave<'p>, now: Mask, stmt: &'p Stmt) -> Result<(), Stopped> {
        let first = wave.index as usize * WAVE;
        match &stmt.kind {
            StmtKind::Lane(inst) => self.lane(first, now, inst)?,
            StmtKind::Memory(inst) => self.access(first, now, inst),
            StmtKind::If { cond, then, otherwise } => {
                let yes = self.hold(wave, now, Some(*cond));
                self.open(wave, then, yes, What::If { stmt, other: Some((otherwise, now & !yes)) });
            }
            StmtKind::Loop { body } => self.open(wave, body, now, What::Loop { stmt }),
            StmtKind::Switch { selector, arms } => {
                let mut entered = vec![0; arms.len()];
                for lane in lanes(now) {
                    let value = self.word(first + lane, *selector) as i32;
                    let named = arms.iter().position(|arm| arm.labels.contains(&value));
                    if let Some(arm) = named.or_else(|| arms.iter().position(|arm| arm.default)) {
                        entered[arm] |= 1 << lane;
                    }
                }
                if let Some(arm) = arms.first() {
                    let here = entered[0];
                    self.open(wave, &arm.body, here, What::Switch { stmt, arms, arm: 0, entered });
                }
            }
            StmtKind::Break(cond) => self.leave(wave, now, *cond, State::Broken),
            StmtKind::Continue(cond) => self.leave(wave, now, *cond, State::Continued),
            StmtKind::Return(cond) => self.leave(wave, now, *cond, State::Returned),
            StmtKind::Discard(cond) => self.leave(wave, now, Some(*cond), State::Killed),
            StmtKind::Call { function, cond } => {
                let called = self.hold(wave, now, *cond);
                if called != 0 {
                    let body = &self.program.functions[*function].body;
                    self.open(wave, body, called, What::Call { stmt, function: *function });
                }
            }
            // The wave has executed all that comes before. If it is a barrier, it stands still now.
            StmtKind::Fence(_) => {}
        }
        Ok(())
    }

    fn leave(&mut self, wave: &Wave<'p>, now: Mask, cond: Option<Cond>, state: State) {
        self.set(wave, self.hold(wave, now, cond), state);
    }

    /// Executes an operation for threads of a wave. Each reads its operands before it writes, and no other's.
    fn lane(&mut self, first: usize, now: Mask, inst: &LaneInst) -> Result<(), Stopped> {
        let count = inst.args.len();
        let mut words = std::mem::take(&mut self.words);
        words.resize(count * WAVE, 0);
        for (k, arg) in inst.args.iter().enumerate() {
            if let Operand::Reg(register) = *arg {
                let line = &self.registers.line(register)[first..];
                lanes(now).for_each(|lane| words[lane * count + k] = line[lane]);
            } else {
                lanes(now).for_each(|lane| words[lane * count + k] = self.word(first + lane, *arg));
            }
        }
        for lane in lanes(now) {
            let (low, high) = self.apply(inst, &words[lane * count..][..count])?;
            self.registers.set(inst.dst[0], first + lane, low);
            if let Some(high) = high {
                self.registers.set(inst.dst[1], first + lane, high);
            }
        }
        self.words = words;
        Ok(())
    }

    /// What an operation makes of a thread's words.
    fn apply(&self, inst: &LaneInst, words: &[u32]) -> Result<(u32, Option<u32>), Stopped> {
        if !self.machine.bare {
            let mut at = 0;
            for class in inst.op.arguments() {
                if *class == Class::F && Scalar.flush(words[at]) != words[at] {
                    return Err(Stopped::Unflushed(inst.op.name().into()));
                }
                at += class.words();
            }
        }
        let (low, high) = lane::fold(inst.op, words);
        let low = match self.machine.payload {
            Some(payload) if inst.op.result() == Class::F && f32::from_bits(low).is_nan() => payload,
            _ => low,
        };
        Ok((low, high))
    }
}
