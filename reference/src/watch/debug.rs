//! Steps through a launch: shows a debugger every instruction of IL before a wave executes it, and goes back.
//!
//! The launch runs in the calling thread, tile after tile or group after group; waves of a group take turns at barriers. So
//! it is the same each time, and going back is running again, from the start or from a copy of the memory that was made
//! when a part began.

mod map;
mod state;

use recal_hal::Extent;
use recal_il::ir::Program;
use recal_il::lower::Names;

use self::map::Map;
pub use self::state::{Call, Contents, Layout, State};
use super::{Event, Scene, Watch};
use crate::bytes::Memory;
use crate::{Launch, Machine, Stopped, WAVE, parts};
use state::Here;

/// What a debugger wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The instruction is executed.
    Go,
    /// The launch is run again, from a place before the step of this number; 0 is from the start.
    Again(u64),
    /// The launch ends here. What it stored stays.
    End,
}

/// Who looks at a launch.
pub trait Debugger {
    /// A wave is about to execute an instruction, or the end of the kernel; once more when the launch has ended.
    fn step(&mut self, state: &State<'_>) -> Next;
}

/// Memory as it was before a part.
struct Kept {
    part: u64,
    /// Instructions before it.
    number: u64,
    memories: Vec<Vec<u8>>,
    shared: Vec<[[u32; 4]; WAVE]>,
}

/// Instructions between two copies of the memory, if it is small.
const INTERVAL: u64 = 1 << 16;
/// Copies of the memory.
const MOST: usize = 16;
/// Bytes of all of them together, but the first.
const MOST_BYTES: usize = 256 << 20;

/// Copies of the memory that a launch may change.
struct History {
    /// Which of the machine's it may.
    written: Vec<usize>,
    kept: Vec<Kept>,
    interval: u64,
    most: usize,
}

/// The memories that a launch may change: some of the machine's, then its own.
fn changeable<'a, M: Memory>(
    machine: &'a mut Machine<M>,
    launch: &'a mut Launch<'_>,
    written: &'a [usize],
) -> impl Iterator<Item = &'a mut (dyn Memory + 'a)> {
    let bound = machine.memories.iter_mut().enumerate().filter(|(number, _)| written.contains(number));
    let bound = bound.map(|(_, memory)| memory as &mut dyn Memory);
    let own = launch.gds.values_mut().map(|memory| &mut **memory as &mut dyn Memory);
    bound.chain(own).chain([&mut *launch.counters as &mut dyn Memory])
}

/// A copy of all bytes of a memory.
fn copy(memory: &mut dyn Memory) -> Result<Vec<u8>, Stopped> {
    let (mut bytes, size) = (Vec::new(), memory.bytes());
    bytes.try_reserve_exact(size).map_err(|_| Stopped::Memory(size))?;
    bytes.resize(size, 0);
    memory.read(0, &mut bytes);
    Ok(bytes)
}

impl History {
    fn new<M: Memory>(machine: &mut Machine<M>, launch: &mut Launch<'_>) -> Result<History, Stopped> {
        let surfaces = machine.outputs.values().chain(machine.uavs.values()).chain(&machine.global);
        let mut written: Vec<usize> = surfaces.map(|surface| surface.memory).collect();
        written.sort_unstable();
        written.dedup();
        let bytes: usize = changeable(machine, launch, &written).map(|memory| memory.bytes()).sum();
        let most = (MOST_BYTES / bytes.max(1)).clamp(1, MOST);
        // A copy takes less time than what is between two.
        let interval = INTERVAL.max(bytes as u64 / 64);
        let mut history = History { written, kept: Vec::new(), interval, most };
        history.keep(machine, launch, 0, 0)?;
        Ok(history)
    }

    fn keep<M: Memory>(
        &mut self,
        machine: &mut Machine<M>,
        launch: &mut Launch<'_>,
        part: u64,
        number: u64,
    ) -> Result<(), Stopped> {
        let memories = changeable(machine, launch, &self.written).map(copy).collect::<Result<_, _>>()?;
        self.kept.push(Kept { part, number, memories, shared: launch.shared.clone() });
        Ok(())
    }

    /// A part is about to begin.
    fn part<M: Memory>(&mut self, machine: &mut Machine<M>, launch: &mut Launch<'_>, part: u64, number: u64) {
        let due =
            self.kept.last().is_some_and(|last| part > last.part && number >= last.number + self.interval);
        if !due || self.most == 1 {
            return;
        }
        if self.kept.len() >= self.most {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.interval *= 2;
        }
        if self.keep(machine, launch, part, number).is_err() {
            self.most = 1;
        }
    }

    /// Makes the memory what it was, at the last part that begins before the step of this number.
    fn back<M: Memory>(&self, machine: &mut Machine<M>, launch: &mut Launch<'_>, before: u64) -> (u64, u64) {
        let kept = self.kept.iter().rev().find(|kept| kept.number < before).unwrap_or(&self.kept[0]);
        for (memory, bytes) in changeable(machine, launch, &self.written).zip(&kept.memories) {
            memory.write(0, bytes);
        }
        launch.shared.clone_from(&kept.shared);
        (kept.part, kept.number)
    }
}

struct Stepper<'d> {
    debugger: &'d mut dyn Debugger,
    map: &'d Map,
    names: &'d Names,
    number: u64,
    /// What the debugger wants, if that is not to go on.
    wants: Option<Next>,
}

impl Watch for Stepper<'_> {
    fn before(&mut self, scene: &Scene<'_>, event: Event<'_>) -> bool {
        let instruction = match event {
            Event::Statement(stmt) => self.map.begins(stmt),
            Event::End => None,
            Event::Round(_) | Event::Closed(_) => return true,
        };
        if instruction.is_none() && !matches!(event, Event::End) {
            return true;
        }
        self.number += 1;
        let state = State {
            bound: scene.bound,
            launch: scene.launch,
            program: scene.program,
            extent: scene.extent,
            names: self.names,
            map: self.map,
            number: self.number,
            here: Some(Here { scene, instruction }),
        };
        let next = self.debugger.step(&state);
        if next != Next::Go {
            self.wants = Some(next);
        }
        next == Next::Go
    }
}

/// Runs a launch in the calling thread and shows `debugger` each instruction. `names` are those of the program's registers.
pub fn debug<M: Memory>(
    machine: &mut Machine<M>,
    launch: &mut Launch<'_>,
    program: &Program,
    names: &Names,
    extent: Extent,
    debugger: &mut dyn Debugger,
) -> Result<(), Stopped> {
    let map = Map::of(program);
    let mut history = History::new(machine, launch)?;
    let mut before = 0;
    loop {
        let (first, number) = history.back(machine, launch, before);
        let mut stepper = Stepper { debugger, map: &map, names, number, wants: None };
        for part in first..parts(extent) {
            history.part(machine, launch, part, stepper.number);
            match machine.run(program, extent, launch, part..part + 1, Some(&mut stepper)) {
                Ok(()) => {}
                Err(Stopped::Ended) => break,
                Err(stopped) => return Err(stopped),
            }
        }
        let (wants, number) = (stepper.wants, stepper.number + 1);
        let next = wants.unwrap_or_else(|| {
            let bound = machine.bound();
            debugger.step(&State { bound, launch, program, extent, names, map: &map, number, here: None })
        });
        match next {
            Next::Again(step) => before = step,
            Next::Go | Next::End => return Ok(()),
        }
    }
}
