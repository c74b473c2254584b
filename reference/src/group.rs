//! The threads of a group go through the program together.

use std::collections::BTreeMap;

use recal_hal::Extent;
use recal_il::ir::{Block, Cond, LaneInst, Operand, Program, Stmt, StmtKind};
use recal_il::isa::lane::{self, Class};
use recal_il::isa::{Algebra, Scalar};

use crate::thread::{State, Thread};
use crate::{Launch, Machine, ODD_NAN, Stopped};

pub(crate) struct Group<'m> {
    pub machine: &'m mut Machine,
    pub launch: &'m mut Launch,
    pub program: &'m Program,
    pub extent: Extent,
    pub threads: Vec<Thread>,
    /// LDS blocks.
    pub lds: BTreeMap<u32, Vec<u8>>,
    /// R700 LDS: the dwords of each thread.
    pub owned: Vec<u32>,
}

impl<'m> Group<'m> {
    pub fn new(
        machine: &'m mut Machine,
        launch: &'m mut Launch,
        program: &'m Program,
        extent: Extent,
        threads: Vec<Thread>,
        lds: BTreeMap<u32, Vec<u8>>,
    ) -> Group<'m> {
        let owned = vec![0; threads.len() * program.interface.lds_dwords_per_thread as usize];
        Group { machine, launch, program, extent, threads, lds, owned }
    }

    /// Runs all threads from begin to end; those that were not discarded leave their outputs.
    pub fn run(mut self) -> Result<(), Stopped> {
        let all: Vec<usize> = (0..self.threads.len()).collect();
        self.block(&all, &self.program.functions[0].body)?;
        for output in &self.program.outputs {
            let Some(surface) = self.machine.outputs.get(&output.index).copied() else { continue };
            for thread in self.threads.iter().filter(|thread| thread.state != State::Killed) {
                let [column, row] = thread.pixel(self.extent);
                if column < surface.width && row < surface.height {
                    let words = output.registers.map(|register| thread.registers[register as usize]);
                    self.machine.store_element(
                        &surface,
                        row.wrapping_mul(surface.pitch).wrapping_add(column),
                        words,
                    );
                }
            }
        }
        Ok(())
    }

    /// Runs a block for those of `threads` that are running.
    fn block(&mut self, threads: &[usize], block: &'m Block) -> Result<(), Stopped> {
        for stmt in block {
            let now = self.running(threads);
            if now.is_empty() {
                break;
            }
            let left = self.launch.patience.checked_sub(now.len() as u64);
            self.launch.patience = left.ok_or(Stopped::Endless)?;
            self.statement(&now, stmt)?;
        }
        Ok(())
    }

    fn running(&self, threads: &[usize]) -> Vec<usize> {
        threads.iter().copied().filter(|&t| self.threads[t].state == State::Running).collect()
    }

    /// Whoever is in the state `from` runs again.
    fn again(&mut self, threads: &[usize], from: State) {
        for &t in threads {
            if self.threads[t].state == from {
                self.threads[t].state = State::Running;
            }
        }
    }

    fn statement(&mut self, now: &[usize], stmt: &'m Stmt) -> Result<(), Stopped> {
        match &stmt.kind {
            StmtKind::Lane(inst) => now.iter().try_for_each(|&t| self.lane(t, inst))?,
            StmtKind::Memory(inst) => self.access(now, inst),
            StmtKind::If { cond, then, otherwise } => {
                let (yes, no): (Vec<usize>, Vec<usize>) = now.iter().partition(|&&t| self.holds(t, cond));
                self.block(&yes, then)?;
                self.block(&no, otherwise)?;
            }
            StmtKind::Loop { body } => {
                // A loop of nothing never ends, too.
                while !self.running(now).is_empty() {
                    self.launch.patience = self.launch.patience.checked_sub(1).ok_or(Stopped::Endless)?;
                    self.block(now, body)?;
                    self.again(now, State::Continued);
                }
                self.again(now, State::Broken);
            }
            StmtKind::Switch { selector, arms } => {
                let entry = |t: usize| {
                    let value = self.word(t, *selector) as i32;
                    let named = arms.iter().position(|arm| arm.labels.contains(&value));
                    named.or_else(|| arms.iter().position(|arm| arm.default))
                };
                let entries: Vec<(usize, usize)> = now.iter().filter_map(|&t| Some((t, entry(t)?))).collect();
                for (k, arm) in arms.iter().enumerate() {
                    // Who entered before falls through.
                    let here: Vec<usize> =
                        entries.iter().filter(|(_, at)| *at <= k).map(|(t, _)| *t).collect();
                    self.block(&here, &arm.body)?;
                }
                self.again(now, State::Broken);
            }
            StmtKind::Break(cond) => self.leave(now, cond, State::Broken),
            StmtKind::Continue(cond) => self.leave(now, cond, State::Continued),
            StmtKind::Return(cond) => self.leave(now, cond, State::Returned),
            StmtKind::Discard(cond) => self.leave(now, &Some(*cond), State::Killed),
            StmtKind::Call { function, cond } => {
                let called: Vec<usize> =
                    now.iter().copied().filter(|&t| cond.is_none_or(|cond| self.holds(t, &cond))).collect();
                self.block(&called, &self.program.functions[*function].body)?;
                self.again(&called, State::Returned);
            }
            // All threads of the group are here.
            StmtKind::Fence(_) => {}
        }
        Ok(())
    }

    fn leave(&mut self, now: &[usize], cond: &Option<Cond>, state: State) {
        for &t in now {
            if cond.is_none_or(|cond| self.holds(t, &cond)) {
                self.threads[t].state = state;
            }
        }
    }

    fn holds(&self, t: usize, cond: &Cond) -> bool {
        (self.word(t, cond.operand) != 0) == cond.nonzero
    }

    /// A word that thread `t` reads.
    pub fn word(&self, t: usize, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(register) => self.threads[t].registers[register as usize],
            Operand::Imm(word) => word,
            Operand::Const { buffer, row, component } => {
                self.machine.constant(buffer, u64::from(row), usize::from(component))
            }
            Operand::Builtin(builtin) => {
                self.threads[t].builtin(self.program, self.extent, self.machine.params.as_ref(), builtin)
            }
        }
    }

    fn lane(&mut self, t: usize, inst: &LaneInst) -> Result<(), Stopped> {
        let words: Vec<u32> = inst.args.iter().map(|arg| self.word(t, *arg)).collect();
        let mut at = 0;
        for class in inst.op.arguments() {
            if *class == Class::F && !self.machine.bare && Scalar.flush(words[at]) != words[at] {
                return Err(Stopped::Unflushed(inst.op.name().into()));
            }
            at += class.words();
        }
        let (low, high) = lane::fold(inst.op, &words);
        let low = match inst.op.result() {
            Class::F if f32::from_bits(low).is_nan() => ODD_NAN,
            _ => low,
        };
        let registers = &mut self.threads[t].registers;
        registers[inst.dst[0] as usize] = low;
        if let Some(high) = high {
            registers[inst.dst[1] as usize] = high;
        }
        Ok(())
    }
}
