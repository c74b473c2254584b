//! The waves of a group, or the one of a tile: they take turns at barriers, and leave their outputs.

use std::collections::BTreeMap;

use recal_hal::Extent;
use recal_il::ir::{Operand, Program};

use crate::parts::launched;
use crate::thread::{Registers, State, Thread, threads_of};
use crate::watch::{Event, Scene, Watch};
use crate::wave::{Mask, Pause, Wave};
use crate::{Launch, Machine, Memory, Stopped, WAVE};

/// What the threads of a group share.
#[derive(Default)]
pub(crate) struct Local {
    /// LDS blocks.
    pub lds: BTreeMap<u32, Vec<u8>>,
    /// R700 LDS: the dwords of each thread.
    pub owned: Vec<u8>,
}

pub(crate) struct Group<'p, 'l, M> {
    pub machine: &'p mut Machine<M>,
    pub launch: &'p mut Launch<'l>,
    pub program: &'p Program,
    pub extent: Extent,
    pub part: u64,
    pub threads: Vec<Thread>,
    pub registers: Registers,
    pub local: Local,
    pub watch: Option<&'p mut dyn Watch>,
    waves: u32,
    /// Operands of the operation at hand.
    pub words: Vec<u32>,
}

impl<'p, 'l, M: Memory> Group<'p, 'l, M> {
    pub fn new(
        machine: &'p mut Machine<M>,
        launch: &'p mut Launch<'l>,
        program: &'p Program,
        extent: Extent,
        part: u64,
        watch: Option<&'p mut dyn Watch>,
    ) -> Group<'p, 'l, M> {
        let interface = &program.interface;
        let threads = threads_of(program, extent, part);
        let lds = interface.lds.iter().map(|(number, block)| (*number, vec![0; block.bytes as usize]));
        let owned = vec![0; 4 * threads.len() * interface.lds_dwords_per_thread as usize];
        Group {
            machine,
            launch,
            program,
            extent,
            part,
            registers: Registers::new(program, threads.len()),
            local: Local { lds: lds.collect(), owned },
            watch,
            waves: threads.len().div_ceil(WAVE) as u32,
            threads,
            words: Vec::new(),
        }
    }

    /// Runs all threads from begin to end; those that were not discarded leave their outputs.
    pub fn run(mut self) -> Result<(), Stopped> {
        if let Some(watch) = &mut self.watch {
            watch.part(self.part);
        }
        let wave =
            |index| Wave { index, launched: launched(self.extent, self.part, index), ..Wave::default() };
        let mut waves: Vec<Wave<'p>> = (0..self.waves).map(wave).collect();
        waves.iter_mut().for_each(|wave| self.begin(wave));
        // A wave that has ended counts as arrived at every barrier.
        while !waves.is_empty() {
            let mut rest = Vec::new();
            for mut wave in waves {
                if self.go_on(&mut wave)? == Pause::Barrier {
                    rest.push(wave);
                }
            }
            waves = rest;
        }
        self.store_outputs();
        Ok(())
    }

    fn store_outputs(&mut self) {
        let there = launched(self.extent, self.part, 0);
        for output in &self.program.outputs {
            let Some(surface) = self.machine.outputs.get(&output.index).copied() else { continue };
            for thread in self.threads.iter().filter(|thread| thread.state != State::Killed) {
                let [column, row] = thread.pixel(self.extent);
                let inside =
                    there >> thread.lane() & 1 == 1 && column < surface.width && row < surface.height;
                if inside {
                    let words = output
                        .registers
                        .map(|register| self.registers.line(register)[thread.number as usize]);
                    let element = row.wrapping_mul(surface.pitch).wrapping_add(column);
                    self.machine.store_element(&surface, element, words);
                }
            }
        }
    }

    pub fn patience(&mut self, statements: u64) -> Result<(), Stopped> {
        self.launch.patience = self.launch.patience.checked_sub(statements).ok_or(Stopped::Endless)?;
        Ok(())
    }

    /// A word that thread `t` reads.
    pub fn word(&self, t: usize, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(register) => self.registers.line(register)[t],
            Operand::Imm(word) => word,
            Operand::Const { buffer, row, component } => {
                self.machine.bound().constant(buffer.into(), u64::from(row), usize::from(component))
            }
            Operand::Builtin(builtin) => {
                self.threads[t].builtin(self.program, self.extent, self.machine.params.as_ref(), builtin)
            }
        }
    }

    /// What is seen of the wave, with these lanes at work.
    fn scene<'s>(&'s self, wave: &'s Wave<'p>, executing: Mask) -> Scene<'s> {
        Scene {
            bound: self.machine.bound(),
            launch: &*self.launch,
            program: self.program,
            extent: self.extent,
            part: self.part,
            threads: &self.threads,
            registers: &self.registers,
            local: &self.local,
            frames: &wave.frames,
            waves: self.waves,
            wave: wave.index,
            launched: wave.launched,
            executing,
        }
    }

    /// Tells the watcher what is about to happen.
    pub fn before(&mut self, wave: &Wave<'p>, now: Mask, event: Event<'_>) -> Result<(), Stopped> {
        let Some(watch) = self.watch.take() else { return Ok(()) };
        let goes_on = watch.before(&self.scene(wave, now), event);
        self.watch = Some(watch);
        if goes_on { Ok(()) } else { Err(Stopped::Ended) }
    }

    /// Tells the watcher what has happened.
    pub fn after(&mut self, wave: &Wave<'p>, now: Mask, event: Event<'_>) {
        let Some(watch) = self.watch.take() else { return };
        watch.after(&self.scene(wave, now), event);
        self.watch = Some(watch);
    }
}
