//! Launches that somebody watches: they run on the plain interpreter, on this device's memory.
//!
//! Nothing else of the device has to do with it: the plain interpreter has code of its own for all that a program can hold.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use recal_hal::{Bindings, Error, Extent};
use recal_il::ir::Program;
use recal_il::lower::Names;
use recal_jit::Ask;
use recal_reference::watch::{
    self, Checker, Debugger, Event, Findings, Profile, Scene, Subject, TraceStep, Watch,
};
use recal_reference::{COUNTERS, Launch, Machine, Memory, Stopped, Surface};

use crate::context::{self, Counters, Stop, whole};
use crate::launch::affordable;
use crate::memory::View;

impl Memory for View<'_> {
    fn bytes(&self) -> usize {
        View::bytes(self)
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        let mut k = 0;
        while k < to.len() {
            // Whole words where there are such: who else writes one is seen to have done so, or not.
            let (at, rest) = (at + k, &mut to[k..]);
            if at % 4 == 0 && rest.len() >= 4 {
                rest[..4].copy_from_slice(&self.word(at / 4).to_le_bytes());
                k += 4;
            } else {
                rest[0] = self.byte(at);
                k += 1;
            }
        }
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        let mut k = 0;
        while k < from.len() {
            let (at, rest) = (at + k, &from[k..]);
            if at % 4 == 0 && rest.len() >= 4 {
                self.set_word(at / 4, u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]));
                k += 4;
            } else {
                self.set_byte(at, rest[0]);
                k += 1;
            }
        }
    }

    fn update(&mut self, at: usize, new: &mut dyn FnMut(u32) -> u32) -> u32 {
        let Some(cell) = self.atomic(at / 4) else { return 0 };
        let old = cell.fetch_update(Relaxed, Relaxed, |old| Some(new(old)));
        old.unwrap_or_else(|old| old)
    }

    fn update_wide(&mut self, at: usize, new: &mut dyn FnMut(u64) -> u64) -> u64 {
        let Some(cell) = self.atomic_wide(at / 4) else { return 0 };
        let old = cell.fetch_update(Relaxed, Relaxed, |old| Some(new(old)));
        old.unwrap_or_else(|old| old)
    }
}

/// Append counters as memory.
struct Counted<'a>(&'a Counters);

impl Memory for Counted<'_> {
    fn bytes(&self) -> usize {
        4 * COUNTERS
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        let counts = self.0.iter().flat_map(|counter| counter.load(Relaxed).to_le_bytes());
        to.iter_mut().zip(counts.skip(at)).for_each(|(to, byte)| *to = byte);
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        for (counter, word) in self.0[at / 4..].iter().zip(from.chunks_exact(4)) {
            counter.store(u32::from_le_bytes([word[0], word[1], word[2], word[3]]), Relaxed);
        }
    }

    fn update(&mut self, at: usize, new: &mut dyn FnMut(u32) -> u32) -> u32 {
        let old = self.0[at / 4].fetch_update(Relaxed, Relaxed, |old| Some(new(old)));
        old.unwrap_or_else(|old| old)
    }
}

/// All that is bound.
fn machine<'a>(
    program: &Program,
    bindings: &'a Bindings,
    extent: Extent,
) -> Result<Machine<View<'a>>, Error> {
    let components = program.interface.arrays.values().map(|elements| 4 * *elements as usize);
    affordable(program.registers as usize + components.sum::<usize>(), extent)?;
    // Floats are as they are computed, and where operands need no flush, there is none.
    let mut machine: Machine<View<'a>> =
        Machine { bare: true, payload: None, patience: u64::MAX, ..Machine::on(Vec::new()) };
    machine.samplers.extend(bindings.samplers.iter().copied());
    machine.params = bindings.domain_params.as_deref().copied();
    let mut bind = |surface: &'a recal_hal::Surface| -> Result<Surface, Error> {
        context::Surface::bind(surface)?;
        let view = whole(surface)?;
        let known = machine.memories.iter().position(|known| known.address() == view.address());
        let memory = known.unwrap_or_else(|| machine.memory(view));
        let &recal_hal::Surface { width, height, pitch, format, .. } = surface;
        Ok(Surface { memory, width, height, pitch, format })
    };
    let mut all = |list: &'a [(u32, recal_hal::Surface)]| {
        list.iter().map(|(number, surface)| Ok((*number, bind(surface)?))).collect::<Result<_, Error>>()
    };
    let (resources, constants) = (all(&bindings.resources)?, all(&bindings.constants)?);
    let (outputs, uavs) = (all(&bindings.outputs)?, all(&bindings.uavs)?);
    let global = bindings.global.as_ref().map(bind).transpose()?;
    Ok(Machine { resources, constants, outputs, uavs, global, ..machine })
}

fn outcome(result: Result<(), Stopped>) -> Result<(), Error> {
    match result {
        // Who watches knows why.
        Ok(()) | Err(Stopped::Ended) => Ok(()),
        Err(stopped @ Stopped::Memory(_)) => Err(Error::OutOfMemory(stopped.to_string())),
        Err(stopped) => Err(Error::Failed(stopped.to_string())),
    }
}

/// Checks, until the launch is told to stop.
struct Checks<'a> {
    checker: Checker<'a>,
    stop: &'a Stop,
    /// Statements since it was last asked about.
    statements: u32,
}

/// Statements of one wave between two looks at the clock: some tens of microseconds.
const STATEMENTS: u32 = 64;

impl Watch for Checks<'_> {
    fn part(&mut self, part: u64) {
        self.checker.part(part);
    }

    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        self.statements += 1;
        if self.statements >= STATEMENTS {
            self.statements = 0;
            if self.stop.stop() {
                return false;
            }
        }
        !self.stop.raised() && self.checker.before(scene, event)
    }
}

/// What a launch of a device has beside what is bound.
pub struct Shared<'a> {
    /// GDS.
    pub gds: View<'a>,
    /// Append counters.
    pub counters: &'a Counters,
    /// Signal to give up.
    pub stop: &'a Stop,
}

/// Runs the parts that `claim` gives out, and reports misuse.
pub fn check(
    subject: &Subject,
    findings: &Findings,
    bindings: &Bindings,
    extent: Extent,
    shared: Shared<'_>,
    mut claim: impl FnMut() -> Option<Range<u64>>,
) -> Result<(), Error> {
    let program = &subject.program;
    let mut machine = machine(program, bindings, extent)?;
    let mut end = 0;
    let blocks = program.interface.gds.iter().map(|(number, block)| {
        let memory: Box<dyn Memory> = Box::new(shared.gds.part(end, block.bytes as usize));
        end += (block.bytes as usize).next_multiple_of(16);
        (*number, memory)
    });
    let mut launch = Launch::on(program, blocks.collect(), Box::new(Counted(shared.counters)));
    let mut checks = Checks { checker: Checker::new(findings, subject), stop: shared.stop, statements: 0 };
    while let Some(range) = claim() {
        outcome(machine.run(program, extent, &mut launch, range, Some(&mut checks)))?;
        if shared.stop.raised() {
            break;
        }
    }
    Ok(())
}

/// Runs the tile or group of one thread and delivers what the thread executes. `thread` is its absolute position:
/// column and row of the domain, or `vAbsTid`. Stores of the part are made; other parts do not run. It ends when the sink has seen enough, and
/// is an error after `limit`.
pub fn trace(
    program: &Program,
    bindings: &Bindings,
    extent: Extent,
    thread: [u32; 3],
    limit: Option<Duration>,
    sink: &mut dyn FnMut(TraceStep) -> ControlFlow<()>,
) -> Result<(), Error> {
    let mut machine = machine(program, bindings, extent)?;
    match watch::trace(&mut machine, &mut Launch::of(program), program, extent, thread, limit, sink) {
        Some(Err(Stopped::Endless)) => {
            Err(Error::Timeout("the kernel ran longer than the watchdog allows".into()))
        }
        Some(result) => outcome(result),
        None => Err(Error::Failed("the traced thread is not part of the launch".into())),
    }
}

/// Runs a launch in the calling thread, one operation at a time, and counts. After `limit` it ends where it is: then fewer
/// parts have run than there are. Stores are made.
pub fn profile(
    program: &Program,
    bindings: &Bindings,
    extent: Extent,
    limit: Duration,
) -> Result<Profile, Error> {
    let mut machine = machine(program, bindings, extent)?;
    let profile = watch::profile(&mut machine, &mut Launch::of(program), program, extent, limit);
    profile.map_err(|stopped| Error::Failed(stopped.to_string()))
}

/// Runs a launch in the calling thread and shows `debugger` each instruction. `names` are those of the program's registers.
pub fn debug(
    program: &Program,
    names: Names,
    bindings: &Bindings,
    extent: Extent,
    debugger: &mut dyn Debugger,
) -> Result<(), Error> {
    let mut machine = machine(program, bindings, extent)?;
    outcome(watch::debug(&mut machine, &mut Launch::of(program), program, &names, extent, debugger))
}
