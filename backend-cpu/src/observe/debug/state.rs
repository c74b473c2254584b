//! What a debugger sees of a launch that stands still.

use recal_hal::{Extent, Format};
use recal_il::diagnostic::Span;
use recal_il::inst::Uav;
use recal_il::ir::{Builtin, Program, Reg};
use recal_il::lower::Names;

use super::super::place::Area;
use crate::context::{Launch, Surface};
use crate::launch::{part_of, position_of};
use crate::memory::View;
use crate::op::Frame;
use crate::wave::{LANES, Row, Wave};

/// The wave that is about to do something.
pub(super) struct Here<'s> {
    pub(super) wave: &'s Wave,
    pub(super) lds: View<'s>,
    pub(super) shared: &'s [Row],
    pub(super) part: u64,
    /// `None` is the end of the kernel.
    pub(super) instruction: Option<usize>,
}

/// A launch that stands still: a wave is about to execute an instruction, or the launch has ended.
pub struct State<'s> {
    pub(super) launch: &'s Launch<'s>,
    pub(super) program: &'s Program,
    pub(super) spans: &'s [Span],
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
    View(View<'s>),
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
        self.spans
    }

    /// The one that is about to be executed; `None` at the end of the kernel or of the launch.
    pub fn instruction(&self) -> Option<usize> {
        self.here.as_ref().and_then(|here| here.instruction)
    }

    /// The threads.
    pub fn extent(&self) -> Extent {
        self.launch.extent
    }

    /// Number of the tile or group at work.
    pub fn part(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.part)
    }

    /// Number of the wave in its group.
    pub fn wave(&self) -> u32 {
        self.here.as_ref().map_or(0, |here| here.wave.index)
    }

    /// Lanes that have a thread; bit k is lane k.
    pub fn launched(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.wave.launched)
    }

    /// Lanes that execute the instruction; at the end of the kernel all that have a thread.
    pub fn active(&self) -> u64 {
        match &self.here {
            Some(Here { wave, instruction: None, .. }) => wave.launched,
            Some(here) => here.wave.exec,
            None => 0,
        }
    }

    /// Lanes that were discarded.
    pub fn discarded(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.wave.killed)
    }

    /// Position of the thread of a lane: column and row of the domain, or `vAbsTid`.
    pub fn position(&self, lane: u32) -> [u32; 3] {
        position_of(self.launch.extent, self.part(), self.wave() * LANES as u32 + lane)
    }

    /// Tile or group, wave and lane of the thread at a position.
    pub fn place_of(&self, thread: [u32; 3]) -> Option<(u64, u32, u32)> {
        let (part, number) = part_of(self.launch.extent, thread)?;
        Some((part, number / LANES as u32, number % LANES as u32))
    }

    /// Calls that are open, the outermost first.
    pub fn calls(&self) -> Vec<Call> {
        let code = self.launch.code;
        let frames = self.here.iter().flat_map(|here| &here.wave.frames);
        let calls = frames.filter_map(|frame| match frame {
            Frame::Call { back, .. } => Some(*back - 1),
            _ => None,
        });
        let call = |at: usize| {
            let target = match code.ops[at] {
                crate::op::Op::Call { target, .. } => target,
                _ => 0,
            };
            let body = code.bodies.iter().find(|(start, _)| *start == target);
            let label = body.and_then(|(_, label)| *label).unwrap_or(0);
            Call { label, from: code.op_spans[at] }
        };
        calls.map(call).collect()
    }

    /// What registers are called: `r0.x`, `o0.w`.
    pub fn names(&self) -> &'s Names {
        &self.launch.code.names
    }

    fn row(&self, row: usize, lane: u32) -> Option<u32> {
        let row = self.here.as_ref()?.wave.rows.get(row)?;
        row.0.get(lane as usize).copied()
    }

    /// A register of the program, in a lane.
    pub fn register(&self, register: Reg, lane: u32) -> Option<u32> {
        if register < self.launch.code.registers { self.row(register as usize, lane) } else { None }
    }

    /// A value that the launch defines, if the kernel uses it.
    pub fn builtin(&self, builtin: Builtin, lane: u32) -> Option<u32> {
        let (row, _) = self.launch.code.builtins.iter().find(|(_, known)| *known == builtin)?;
        self.row(*row as usize, lane)
    }

    /// The values that the launch defines and the kernel uses.
    pub fn builtins(&self) -> impl Iterator<Item = Builtin> {
        self.launch.code.builtins.iter().map(|(_, builtin)| *builtin)
    }

    /// A component of an element of `x#`, in a lane.
    pub fn array(&self, number: u32, element: u32, component: u8, lane: u32) -> Option<u32> {
        let elements = *self.program.interface.arrays.get(&number)?;
        let (first, _) = self.launch.code.arrays.iter().find(|(_, known)| *known == number)?;
        let row = *first as usize + 4 * element as usize + usize::from(component);
        if element < elements { self.row(row, lane) } else { None }
    }

    /// The `x#` and their elements.
    pub fn arrays(&self) -> impl Iterator<Item = (u32, u32)> {
        self.program.interface.arrays.iter().map(|(&number, &elements)| (number, elements))
    }

    /// A component of `sr#`, in a lane.
    pub fn shared(&self, register: u32, component: u8, lane: u32) -> Option<u32> {
        let row = self.here.as_ref()?.shared.get(4 * register as usize + usize::from(component))?;
        row.0.get(lane as usize).copied()
    }

    /// The memories that threads share, without outputs.
    pub fn memories(&self) -> Vec<Area> {
        let interface = &self.program.interface;
        let mut all: Vec<Area> = self.launch.code.resources.iter().map(|&n| Area::Resource(n)).collect();
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
        let (launch, code, interface) = (self.launch, self.launch.code, &self.program.interface);
        let place = |list: &[u32], number: u32| list.iter().position(|&n| n == number);
        let block = |view: View<'s>, list: &[(u32, u32)], number: u32, bytes: u32| {
            let (offset, _) = list.iter().find(|(_, known)| *known == number)?;
            Some(Contents::bytes(view.part(*offset as usize, bytes as usize)))
        };
        match area {
            Area::Resource(n) => {
                let surface = &launch.resources[place(&code.resources, n)?];
                Some(match interface.resources.contains_key(&n) {
                    true => Contents::texels(surface),
                    false => Contents::bytes(surface.view),
                })
            }
            Area::Constant(n) => Some(Contents::elements(launch.buffers[place(&code.buffers, n)?])),
            Area::Immediate => {
                Some(Contents { bytes: Bytes::Words(&code.immediates), layout: Layout::Elements })
            }
            Area::Global => interface.global.then(|| Contents::elements(launch.global)),
            Area::Uav(n) => {
                let surface = &launch.uavs[place(&code.uavs, n)?];
                Some(match interface.uavs.get(&n)? {
                    Uav::Typed { .. } => Contents::texels(surface),
                    Uav::Raw | Uav::Structured { .. } | Uav::Arena => Contents::bytes(surface.view),
                })
            }
            Area::Lds(n) => {
                let (here, bytes) = (self.here.as_ref()?, interface.lds.get(&n)?.bytes);
                block(here.lds, &code.lds_blocks, n, bytes)
            }
            Area::OwnLds => {
                let here = self.here.as_ref().filter(|_| code.lds_own > 0)?;
                Some(Contents::bytes(here.lds.part(code.lds_bytes as usize, usize::MAX)))
            }
            Area::Gds(n) => block(launch.gds, &code.gds_blocks, n, interface.gds.get(&n)?.bytes),
            Area::Array(_) | Area::Shared(_) => None,
        }
    }

    /// Numbers of the outputs.
    pub fn outputs(&self) -> impl Iterator<Item = u32> {
        self.launch.code.outputs.iter().map(|(number, _)| *number)
    }

    /// What the memory of an output holds. Tiles store their outputs when all their threads have ended.
    pub fn output(&self, number: u32) -> Option<Contents<'s>> {
        let place = self.outputs().position(|known| known == number)?;
        self.launch.outputs.get(place).map(Contents::texels)
    }
}

impl<'s> Contents<'s> {
    fn bytes(view: View<'s>) -> Contents<'s> {
        Contents { bytes: Bytes::View(view), layout: Layout::Bytes }
    }

    fn elements(view: View<'s>) -> Contents<'s> {
        Contents { bytes: Bytes::View(view), layout: Layout::Elements }
    }

    fn texels(surface: &Surface<'s>) -> Contents<'s> {
        let &Surface { view, width, height, pitch, format, .. } = surface;
        Contents { bytes: Bytes::View(view), layout: Layout::Texels { width, height, pitch, format } }
    }

    /// How it is counted.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        match self.bytes {
            Bytes::View(view) => view.bytes(),
            Bytes::Words(words) => 16 * words.len(),
        }
    }

    /// The byte at an address.
    pub fn byte(&self, at: usize) -> Option<u8> {
        let inside = at < self.size();
        inside.then(|| match self.bytes {
            Bytes::View(view) => view.byte(at),
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
