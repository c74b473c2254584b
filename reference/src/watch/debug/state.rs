//! What a debugger sees of a launch that stands still.

use recal_hal::{Extent, Format};
use recal_il::diagnostic::Span;
use recal_il::inst::Uav;
use recal_il::ir::{Builtin, Program, Reg};
use recal_il::lower::Names;

use super::super::place::Area;
use super::super::{Home, Scene};
use super::map::Map;
use crate::bytes::Memory;
use crate::parts::{part_of, position_of};
use crate::thread::{State as ThreadState, Thread};
use crate::wave::What;
use crate::{Bound, Launch, Surface, WAVE};

/// The wave that is about to do something.
pub(super) struct Here<'s> {
    pub(super) scene: &'s Scene<'s>,
    /// `None` is the end of the kernel.
    pub(super) instruction: Option<usize>,
}

/// A launch that stands still: a wave is about to execute an instruction, or the launch has ended.
pub struct State<'s> {
    pub(super) bound: Bound<'s>,
    pub(super) launch: &'s Launch<'s>,
    pub(super) program: &'s Program,
    pub(super) extent: Extent,
    pub(super) names: &'s Names,
    pub(super) map: &'s Map,
    pub(super) number: u64,
    pub(super) here: Option<Here<'s>>,
}

/// An open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Label of the function.
    pub label: u32,
    /// The instruction that called it.
    pub from: Span,
}

/// How memory is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By byte addresses.
    Bytes,
    /// By elements of four words.
    Elements,
    /// By column and row.
    Texels {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// Elements from one row to the next.
        pitch: u32,
        /// Of an element.
        format: Format,
    },
}

/// What a memory holds.
#[derive(Clone, Copy)]
pub struct Contents<'s> {
    bytes: Bytes<'s>,
    layout: Layout,
}

#[derive(Clone, Copy)]
enum Bytes<'s> {
    /// The first bytes of a memory.
    Memory(&'s dyn Memory, usize),
    Words(&'s [[u32; 4]]),
}

impl<'s> State<'s> {
    /// Number of the step, from 1: it is the same each time that the launch runs.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// All parts have run.
    pub fn ended(&self) -> bool {
        self.here.is_none()
    }

    /// The instructions of the kernel, in the order of the text.
    pub fn instructions(&self) -> &'s [Span] {
        &self.map.spans
    }

    /// The one that is about to be executed; `None` at the end of the kernel or of the launch.
    pub fn instruction(&self) -> Option<usize> {
        self.here.as_ref().and_then(|here| here.instruction)
    }

    /// The threads.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Number of the tile or group at work.
    pub fn part(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.scene.part)
    }

    /// Number of the wave in its group.
    pub fn wave(&self) -> u32 {
        self.here.as_ref().map_or(0, |here| here.scene.wave)
    }

    /// Lanes that have a thread; bit k is lane k.
    pub fn launched(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.scene.launched)
    }

    /// Lanes that execute the instruction; at the end of the kernel all that have a thread.
    pub fn active(&self) -> u64 {
        match &self.here {
            Some(Here { scene, instruction: None }) => scene.launched,
            Some(here) => here.scene.executing,
            None => 0,
        }
    }

    /// Lanes that were discarded.
    pub fn discarded(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.scene.in_state(ThreadState::Killed))
    }

    /// Position of the thread of a lane: column and row of the domain, or `vAbsTid`.
    pub fn position(&self, lane: u32) -> [u32; 3] {
        position_of(self.extent, self.part(), self.wave() * WAVE as u32 + lane)
    }

    /// Tile or group, wave and lane of the thread at a position.
    pub fn place_of(&self, thread: [u32; 3]) -> Option<(u64, u32, u32)> {
        let (part, number) = part_of(self.extent, thread)?;
        Some((part, number / WAVE as u32, number % WAVE as u32))
    }

    /// Calls that are open, the outermost first.
    pub fn calls(&self) -> Vec<Call> {
        let frames = self.here.iter().flat_map(|here| here.scene.frames);
        let calls = frames.filter_map(|frame| match frame.what {
            What::Call { stmt, function } => {
                Some(Call { label: self.program.functions[function].label.unwrap_or(0), from: stmt.span })
            }
            _ => None,
        });
        calls.collect()
    }

    /// What registers are called: `r0.x`, `o0.w`.
    pub fn names(&self) -> &'s Names {
        self.names
    }

    /// The thread of a lane.
    fn thread(&self, lane: u32) -> Option<&'s Thread> {
        let scene = self.here.as_ref()?.scene;
        scene.threads.get(scene.thread(lane as usize)).filter(|_| (lane as usize) < WAVE)
    }

    /// A register of the program, in a lane.
    pub fn register(&self, register: Reg, lane: u32) -> Option<u32> {
        let (scene, there) = (self.here.as_ref()?.scene, register.0 < self.program.registers);
        self.thread(lane).filter(|_| there)?;
        Some(scene.registers.line(register)[scene.thread(lane as usize)])
    }

    /// A value that the launch defines, if the kernel uses it.
    pub fn builtin(&self, builtin: Builtin, lane: u32) -> Option<u32> {
        let thread = self.thread(lane).filter(|_| self.map.builtins.contains(&builtin))?;
        Some(thread.builtin(self.program, self.extent, self.bound.params, builtin))
    }

    /// The values that the launch defines and the kernel uses.
    pub fn builtins(&self) -> impl Iterator<Item = Builtin> {
        self.map.builtins.iter().copied()
    }

    /// A component of an element of `x#`, in a lane.
    pub fn array(&self, number: u32, element: u32, component: u8, lane: u32) -> Option<u32> {
        let elements = self.thread(lane)?.arrays.get(&number)?;
        elements.get(element as usize)?.get(usize::from(component)).copied()
    }

    /// The `x#` and their elements.
    pub fn arrays(&self) -> impl Iterator<Item = (u32, u32)> {
        self.program.interface.arrays.iter().map(|(&number, &elements)| (number, elements))
    }

    /// A component of `sr#`, in a lane.
    pub fn shared(&self, register: u32, component: u8, lane: u32) -> Option<u32> {
        let bank = self.here.as_ref()?.scene.launch.shared.get(register as usize)?;
        bank.get(lane as usize)?.get(usize::from(component)).copied()
    }

    /// The memories that threads share, without outputs.
    pub fn memories(&self) -> Vec<Area> {
        let interface = &self.program.interface;
        let buffers = interface.srvs.keys().filter(|n| !interface.resources.contains_key(n));
        let resources = interface.resources.keys().chain(buffers);
        let mut all: Vec<Area> = resources.map(|&n| Area::Resource(n)).collect();
        all.extend(interface.constants.keys().map(|&n| Area::Constant(n)));
        all.extend((!interface.immediates.is_empty()).then_some(Area::Immediate));
        all.extend(interface.uavs.keys().map(|&n| Area::Uav(n)));
        all.extend(interface.global.then_some(Area::Global));
        all.extend(interface.lds.keys().map(|&n| Area::Lds(n)));
        all.extend((interface.lds_dwords_per_thread > 0).then_some(Area::OwnLds));
        all.extend(interface.gds.keys().map(|&n| Area::Gds(n)));
        all
    }

    /// What a memory holds, if the kernel has it. LDS is that of the group at work.
    pub fn memory(&self, area: Area) -> Option<Contents<'s>> {
        let (bound, interface) = (self.bound, &self.program.interface);
        let local = |home| self.here.as_ref()?.scene.memory(home).map(Contents::whole);
        match area {
            Area::Resource(n) => {
                let texels = interface.resources.contains_key(&n);
                let there = texels || interface.srvs.contains_key(&n);
                let surface = bound.resources.get(&n).filter(|_| there)?;
                Some(if texels { self.texels(surface) } else { self.bytes(surface, Layout::Bytes) })
            }
            Area::Constant(n) => {
                let surface = bound.constants.get(&n).filter(|_| interface.constants.contains_key(&n))?;
                Some(self.bytes(surface, Layout::Elements))
            }
            Area::Immediate => {
                Some(Contents { bytes: Bytes::Words(&interface.immediates), layout: Layout::Elements })
            }
            Area::Global => {
                let surface = bound.global.filter(|_| interface.global)?;
                Some(self.bytes(&surface, Layout::Elements))
            }
            Area::Uav(n) => {
                let surface = bound.uavs.get(&n)?;
                Some(match interface.uavs.get(&n)? {
                    Uav::Typed { .. } => self.texels(surface),
                    Uav::Raw | Uav::Structured { .. } | Uav::Arena => self.bytes(surface, Layout::Bytes),
                })
            }
            Area::Lds(n) => local(Home::Lds(n)),
            Area::OwnLds => local(Home::Own).filter(|_| interface.lds_dwords_per_thread > 0),
            Area::Gds(n) => self.launch.gds.get(&n).map(|memory| Contents::whole(&**memory)),
            Area::Array(_) | Area::Shared(_) => None,
        }
    }

    fn bytes(&self, surface: &Surface, layout: Layout) -> Contents<'s> {
        let memory = self.bound.memories.numbered(surface.memory);
        Contents { bytes: Bytes::Memory(memory, surface.bytes()), layout }
    }

    fn texels(&self, surface: &Surface) -> Contents<'s> {
        let &Surface { width, height, pitch, format, .. } = surface;
        self.bytes(surface, Layout::Texels { width, height, pitch, format })
    }

    /// Numbers of the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = u32> {
        self.program.outputs.iter().map(|output| output.index)
    }

    /// What the memory of an output holds. Tiles store their outputs when all their threads have ended.
    pub fn output(&self, number: u32) -> Option<Contents<'s>> {
        let there = self.outputs().any(|known| known == number);
        self.bound.outputs.get(&number).filter(|_| there).map(|surface| self.texels(surface))
    }
}

impl<'s> Contents<'s> {
    fn whole(memory: &'s dyn Memory) -> Contents<'s> {
        Contents { bytes: Bytes::Memory(memory, memory.bytes()), layout: Layout::Bytes }
    }

    /// How it is counted.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        match self.bytes {
            Bytes::Memory(_, bytes) => bytes,
            Bytes::Words(words) => 16 * words.len(),
        }
    }

    /// The byte at an address.
    pub fn byte(&self, at: usize) -> Option<u8> {
        let inside = at < self.size();
        inside.then(|| match self.bytes {
            Bytes::Memory(memory, _) => {
                let mut byte = [0];
                memory.read(at, &mut byte);
                byte[0]
            }
            Bytes::Words(words) => words[at / 16][at / 4 % 4].to_le_bytes()[at % 4],
        })
    }

    /// The four bytes from an address on.
    pub fn word(&self, at: usize) -> Option<u32> {
        let bytes: Option<Vec<u8>> = (at..at.checked_add(4)?).map(|at| self.byte(at)).collect();
        Some(u32::from_le_bytes(bytes?.try_into().ok()?))
    }

    /// The components of an element as a kernel reads them, if it is inside. What is counted by bytes has none.
    pub fn element(&self, column: u32, row: u32) -> Option<Vec<u32>> {
        let (column, row) = (column as usize, row as usize);
        match self.layout {
            Layout::Bytes => None,
            Layout::Elements => {
                let at = column.checked_mul(16).filter(|_| row == 0)?;
                (0..4).map(|k| self.word(at + 4 * k)).collect()
            }
            Layout::Texels { width, height, pitch, format } => {
                if column >= width as usize || row >= height as usize {
                    return None;
                }
                let size = format.bytes() as usize;
                let first = (row * pitch as usize + column) * size;
                let mut bytes = [0; 16];
                for (k, byte) in bytes[..size].iter_mut().enumerate() {
                    *byte = self.byte(first + k)?;
                }
                Some(format.decode(&bytes)[..format.read_words() as usize].to_vec())
            }
        }
    }
}
