//! A thread: its registers and arrays, and what the launch defines for it.

use std::collections::BTreeMap;

use recal_hal::{DomainParam, Extent};
use recal_il::ir::{Builtin, PositionKind, Program, Reg, ThreadId};

use crate::{WAVE, parts};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It executes statements.
    Running,
    /// It has left the innermost loop or switch.
    Broken,
    /// It waits for the next round of the innermost loop.
    Continued,
    /// It has returned from the innermost function.
    Returned,
    /// It was discarded.
    Killed,
}

/// The registers of the threads of a group: a line for each register, a column for each thread.
pub struct Registers {
    words: Vec<u32>,
    threads: usize,
}

impl Registers {
    pub fn new(program: &Program, threads: usize) -> Registers {
        Registers { words: vec![0; program.registers as usize * threads], threads }
    }

    /// A register of all threads.
    pub fn line(&self, register: Reg) -> &[u32] {
        &self.words[register.index() * self.threads..][..self.threads]
    }

    pub fn set(&mut self, register: Reg, thread: usize, word: u32) {
        self.words[register.index() * self.threads..][..self.threads][thread] = word;
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// `x#`
    pub arrays: BTreeMap<u32, Vec<[u32; 4]>>,
    pub state: State,
    /// Number in the group.
    pub number: u32,
    /// Place in the group, or in the domain.
    pub own: [u32; 3],
    /// Place of the group.
    group: [u32; 3],
    /// Number of the group.
    group_number: u32,
}

/// The threads of a tile or group, in order; those of a tile that are not in the domain, too.
pub fn threads_of(program: &Program, extent: Extent, part: u64) -> Vec<Thread> {
    let place = parts::place(extent, part);
    let thread = |number: u32| {
        let own = parts::own(extent, number);
        let (own, group, group_number) = match extent {
            Extent::Domain { .. } => ([0, 1, 2].map(|k| place[k] + own[k]), [0; 3], 0),
            Extent::Grid { .. } => (own, place, part as u32),
        };
        Thread {
            arrays: (program.interface.arrays.iter())
                .map(|(array, elements)| (*array, vec![[0; 4]; *elements as usize]))
                .collect(),
            state: State::Running,
            number,
            own,
            group,
            group_number,
        }
    };
    (0..parts::threads(extent)).map(thread).collect()
}

impl Thread {
    /// Lane in its wave.
    pub fn lane(&self) -> usize {
        self.number as usize % WAVE
    }

    /// Column and row of a pixel.
    pub fn pixel(&self, extent: Extent) -> [u32; 2] {
        match extent {
            Extent::Domain { x, y, .. } => [x.wrapping_add(self.own[0]), y.wrapping_add(self.own[1])],
            Extent::Grid { .. } => [0; 2],
        }
    }

    /// A value that the launch defines.
    pub fn builtin(
        &self,
        program: &Program,
        extent: Extent,
        params: Option<&[DomainParam; 8]>,
        builtin: Builtin,
    ) -> u32 {
        match extent {
            Extent::Domain { width, height, .. } => match builtin {
                Builtin::Position(k @ 0..=1) => {
                    let whole = program.interface.position == Some(PositionKind::Whole);
                    position(self.pixel(extent)[usize::from(k)], whole)
                }
                Builtin::ObjectIndex => self.own[1].wrapping_mul(width).wrapping_add(self.own[0]),
                Builtin::Interpolant(n, k) => match params.and_then(|params| params.get(n as usize)) {
                    Some(param) => interpolated(param, k, [self.own[0], self.own[1]], [width, height]),
                    // Without corner values, the centre of the pixel.
                    None => self.pixel(extent).get(usize::from(k)).map_or(0, |at| position(*at, false)),
                },
                _ => 0,
            },
            Extent::Grid { block, .. } => match builtin {
                Builtin::Thread(ThreadId::InGroup, k @ 0..3) => self.own[usize::from(k)],
                Builtin::Thread(ThreadId::InGroupFlat, _) => self.number,
                Builtin::Thread(ThreadId::Group, k @ 0..3) => self.group[usize::from(k)],
                Builtin::Thread(ThreadId::GroupFlat, _) => self.group_number,
                Builtin::Thread(ThreadId::Absolute, k @ 0..3) => {
                    let k = usize::from(k);
                    self.group[k].wrapping_mul(block[k]).wrapping_add(self.own[k])
                }
                Builtin::Thread(ThreadId::AbsoluteFlat, _) | Builtin::ObjectIndex => {
                    self.group_number.wrapping_mul(block.iter().product()).wrapping_add(self.number)
                }
                Builtin::WaveSlot => self.number / WAVE as u32,
                _ => 0,
            },
        }
    }
}

fn position(index: u32, whole: bool) -> u32 {
    let half = if whole { 0.0 } else { 0.5 };
    ((f64::from(index) + half) as f32).to_bits()
}

/// Linear over the domain, at the pixel's centre; each step is rounded to single precision and flushed.
fn interpolated(param: &DomainParam, component: u8, at: [u32; 2], size: [u32; 2]) -> u32 {
    let flush = |value: f32| if value.is_subnormal() { 0f32.copysign(value) } else { value };
    let k = usize::from(component & 3);
    let [u, v] = [0, 1].map(|axis| flush((at[axis] as f32 + 0.5) / size[axis] as f32));
    let [ul, ll, lr] = [param.ul, param.ll, param.lr].map(|corner| flush(corner[k]));
    let across = flush(flush(lr - ll) * u);
    let down = flush(flush(ll - ul) * v);
    let value = flush(flush(ul + across) + down);
    if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() }
}
