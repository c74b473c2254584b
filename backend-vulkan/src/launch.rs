//! Launches: what is recorded of one, as a whole or slice by slice.
//!
//! Grids and domains may have more groups than dispatches can be recorded for, or than a device does in any time. Those
//! run in slices: the next is submitted when one before it is done. Commands behind such a launch wait until its last slice
//! is submitted.

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use recal_hal::timeline::Detail;
use recal_hal::{Bindings, Command, Error, Extent, Kernel, Result, Ticket};
use recal_il::ir::WAVE;
use recal_il::spirv::Assume;

use crate::kernel::{Chosen, Kind, VulkanKernel};
use crate::memory::Block;
use crate::once::barrier;
use crate::order::Lane;
use crate::queue::{Keep, State, VulkanQueue, each_shadow};
use crate::table;

/// Groups that every device takes in one dimension of a dispatch.
const GROUPS: u32 = 65535;
/// Dispatches of a slice.
const DISPATCHES: usize = 1024;
/// Groups of a slice, unless the options say otherwise: tens of milliseconds of a large device.
const SLICE: u64 = 1 << 24;
/// Slices that the device has at a time.
const UNDER_WAY: usize = 2;

/// Parts of a grid of groups that a dispatch takes, x first.
pub(crate) struct Pieces {
    groups: [u32; 3],
    /// Of a piece that is not at an end.
    size: [u32; 3],
    at: Option<[u32; 3]>,
}

impl Pieces {
    /// Pieces of at most so many groups, or of one.
    fn new(groups: [u32; 3], most: u64) -> Self {
        let mut size = [1; 3];
        let mut left = most.max(1);
        for (size, groups) in size.iter_mut().zip(groups) {
            *size = u64::from(groups.clamp(1, GROUPS)).min(left) as u32;
            left = (left / u64::from(*size)).max(1);
        }
        Self { groups, size, at: (!groups.contains(&0)).then_some([0; 3]) }
    }
}

impl Iterator for Pieces {
    /// First group and number of groups.
    type Item = ([u32; 3], [u32; 3]);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at?;
        let piece = (at, std::array::from_fn(|k| self.size[k].min(self.groups[k] - at[k])));
        self.at = (0..3).find_map(|k| {
            let mut next = at;
            next[..k].fill(0);
            next[k] = at[k].checked_add(self.size[k]).filter(|n| *n < self.groups[k])?;
            Some(next)
        });
        Some(piece)
    }
}

/// A launch that may be recorded.
pub(crate) struct Launch {
    pub kernel: Arc<dyn Kernel>,
    pub bindings: Arc<Bindings>,
    pub extent: Extent,
    pub pipeline: vk::Pipeline,
    pub kind: Option<Arc<Kind>>,
    pub table: table::Table,
    pub scratch: Option<Arc<Block>>,
    /// Its groups, if a single dispatch takes all.
    pub single: Option<[u32; 3]>,
    pieces: Pieces,
    /// Most groups of a slice.
    slice: u64,
    begun: bool,
    /// When the device began it, once it has done a slice.
    pub started: Option<Instant>,
}

impl Launch {
    /// The pieces of the next slice.
    fn next_slice(&mut self) -> Vec<<Pieces as Iterator>::Item> {
        let (mut slice, mut groups) = (Vec::new(), 0);
        while slice.len() < DISPATCHES && groups < self.slice {
            let Some(piece) = self.pieces.next() else { break };
            groups += piece.1.iter().map(|n| u64::from(*n)).product::<u64>();
            slice.push(piece);
        }
        slice
    }

    /// Whether it takes more than one slice.
    fn is_long(&self) -> bool {
        let of = |k: usize| u64::from(self.pieces.groups[k].div_ceil(self.pieces.size[k]));
        let pieces = (0..3).map(of).fold(1, u64::saturating_mul);
        let groups = self.pieces.groups.iter().fold(1, |all: u64, n| all.saturating_mul(u64::from(*n)));
        pieces > DISPATCHES as u64 || groups > self.slice
    }

    /// Whether nothing of it is left.
    fn is_over(&self) -> bool {
        self.pieces.at.is_none()
    }
}

/// A command that is recorded later.
pub(crate) struct Deferred {
    pub ticket: Ticket,
    pub work: Work,
}

pub(crate) enum Work {
    /// What is left of a launch in slices.
    Slices(Box<Launch>),
    /// What came after one.
    Command(Command),
}

impl VulkanQueue {
    /// Makes a launch ready to be recorded, all that may be wrong with it being told.
    fn prepare(
        &self,
        state: &mut State,
        kernel: Arc<dyn Kernel>,
        bindings: Arc<Bindings>,
        extent: Extent,
    ) -> Result<Launch> {
        let Some(own) = kernel.as_any().downcast_ref::<VulkanKernel>() else {
            return Err(Error::Failed("a kernel of another backend is launched".into()));
        };
        if own.is_pixel() != matches!(extent, Extent::Domain { .. }) {
            return Err(Error::Failed("pixel kernels run on domains, compute kernels on grids".into()));
        }
        let (groups, size) = match extent {
            Extent::Domain { width, height, .. } => {
                let [x, y, z] = own.group.unwrap_or([1; 3]);
                ([width.div_ceil(x), height.div_ceil(y), 1], [x, y, z])
            }
            Extent::Grid { groups, block } => (groups, block),
        };
        if own.group.is_some_and(|group| group != size) {
            return Err(Error::Failed(format!("the kernel's group size is not {size:?}")));
        }
        let scratch = self.scratch(state, own.scratch_words())?;
        let mut table = table::encode(
            &own.layout,
            &bindings,
            extent,
            size,
            &self.counters,
            scratch.as_deref(),
            &self.gpu.limits,
        )?;
        let assume = Assume {
            formats: table.formats,
            default_samplers: table.default_samplers,
            surfaces: table.surfaces,
            // Buffers end by themselves.
            padded: table.padded || table.pushed.storage.is_some(),
            whole_rows: table.whole_rows,
            buffers: table.pushed.storage.is_some(),
            uniforms: table.pushed.uniforms.is_some(),
            one_wave: size.iter().fold(1, |threads: u32, n| threads.saturating_mul(*n)) <= WAVE,
        };
        let Chosen { pipeline, uniforms, kind } = own.pipeline_for(assume, size)?;
        if !uniforms {
            table.pushed.uniforms = None;
            table.uses.uniforms.clear();
        }
        let slice = self.gpu.options.slice.unwrap_or(SLICE);
        let pieces = Pieces::new(groups, slice);
        let single = (pieces.size == groups).then_some(groups);
        let (begun, started) = (false, None);
        Ok(Launch {
            kernel,
            bindings,
            extent,
            pipeline,
            kind,
            table,
            scratch,
            single,
            pieces,
            slice,
            begun,
            started,
        })
    }

    /// Records the next slice of a launch.
    fn record_slice(&self, state: &mut State, launch: &mut Launch) -> Result<()> {
        // What may fail comes first: recorded commands run, whether the launch was accepted or not.
        self.await_other(state, Lane::Kernels, &launch.table.uses)?;
        let (set, offset) = self.put(state, &mut launch.table)?;
        let commands = self.recording(state, Lane::Kernels)?.commands;
        // Scratch memory is filled before the first slice.
        let scratch = launch.scratch.as_ref().filter(|_| !launch.begun);
        self.order(state, Lane::Kernels, commands, &launch.table.uses, scratch.is_some());
        launch.begun = true;
        self.time(state, Lane::Kernels, commands, "launch", &Detail::Extent(launch.extent));
        let raw = &self.gpu.raw;
        if let Some(scratch) = scratch {
            // SAFETY: recording; the block is kept with the command.
            unsafe { raw.cmd_fill_buffer(commands, scratch.buffer, 0, vk::WHOLE_SIZE, 0) };
            barrier(raw, commands, vk::PipelineStageFlags::ALL_COMMANDS);
        }
        // SAFETY: recording; pipeline, set and all memories are kept until the command is done.
        unsafe {
            raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, launch.pipeline);
            raw.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                self.gpu.pipeline_layout,
                0,
                &[set],
                &[offset],
            );
            if let Some(push) = &self.gpu.push {
                push.bind(commands, self.gpu.pipeline_layout, &launch.table.pushed);
            }
            for ([x, y, z], [width, height, depth]) in launch.next_slice() {
                raw.cmd_dispatch_base(commands, x, y, z, width, height, depth);
            }
        }
        self.timed(state, Lane::Kernels, commands);
        each_shadow(&*launch.kernel, &launch.bindings, |shadow, _| shadow.enter());
        let (kernel, bindings, kind) = (launch.kernel.clone(), launch.bindings.clone(), launch.kind.clone());
        let keep = Keep::Kernel { kernel, bindings, kind, scratch: launch.scratch.clone(), times: 1 };
        let batch = self.recording(state, Lane::Kernels)?;
        batch.keep(keep);
        batch.bound = 0;
        Ok(())
    }

    /// Records a command, or keeps it until it can be; its ticket.
    pub(crate) fn append(&self, state: &mut State, command: Command) -> Result<Ticket> {
        if !state.deferred.is_empty() || self.has_to_wait(state, &command)? {
            return Ok(self.defer(state, Work::Command(command)));
        }
        match self.begin(state, command)? {
            Ok(lane) => {
                let ticket = state.order.promise();
                state.stamp(lane, ticket);
                self.submit_full(state, lane)?;
                Ok(ticket)
            }
            Err(launch) => {
                let ticket = self.defer(state, Work::Slices(launch));
                self.advance(state)?;
                Ok(ticket)
            }
        }
    }

    fn defer(&self, state: &mut State, work: Work) -> Ticket {
        let ticket = state.order.promise();
        state.deferred.push_back(Deferred { ticket, work });
        ticket
    }

    /// Records a command in a lane, or makes a launch ready that wants slices.
    fn begin(&self, state: &mut State, command: Command) -> Result<Result<Lane, Box<Launch>>> {
        Ok(match command {
            Command::Launch { kernel, bindings, extent } => {
                state.beside.launches(self.done());
                if let Some(repeat) = state.repeats.find(&kernel, &bindings, extent) {
                    self.again(state, repeat, kernel, bindings)?;
                    return Ok(Ok(Lane::Kernels));
                }
                let mut launch = self.prepare(state, kernel, bindings, extent)?;
                if launch.is_long() {
                    return Ok(Err(Box::new(launch)));
                }
                self.record_slice(state, &mut launch)?;
                if let Err(error) = self.remember(state, &mut launch) {
                    log::debug!("a launch is not kept: {error}");
                }
                Ok(Lane::Kernels)
            }
            Command::Copy { src, dst } => Ok(self.copy(state, &src, &dst)?),
        })
    }

    /// Goes on with what is deferred, as far as that is possible now. An error if the device is lost.
    pub(crate) fn advance(&self, state: &mut State) -> Result<()> {
        let mut recorded = false;
        while let Some(Deferred { ticket, work }) = state.deferred.pop_front() {
            state.current = Some(ticket);
            let mut launch = match work {
                Work::Slices(launch) => launch,
                Work::Command(command) if self.has_to_wait(state, &command)? => {
                    state.deferred.push_front(Deferred { ticket, work: Work::Command(command) });
                    break;
                }
                Work::Command(command) => match self.begin(state, command) {
                    Ok(Ok(lane)) => {
                        state.stamp(lane, ticket);
                        self.submit_full(state, lane)?;
                        recorded = true;
                        continue;
                    }
                    Ok(Err(launch)) => launch,
                    Err(error) => {
                        state.fail(ticket..=ticket, error);
                        continue;
                    }
                },
            };
            let under_way = state.order.running(Lane::Kernels).filter(|chunk| chunk.first == ticket).count();
            if under_way >= UNDER_WAY || crate::exit::closing() {
                state.deferred.push_front(Deferred { ticket, work: Work::Slices(launch) });
                break;
            }
            // Slices have submissions of their own: their times are looked at.
            self.submit_recorded(state, Lane::Kernels)?;
            if let Err(error) = self.record_slice(state, &mut launch) {
                self.gpu.check()?;
                state.fail(ticket..=ticket, error);
                continue;
            }
            state.stamp(Lane::Kernels, ticket);
            self.recording(state, Lane::Kernels)?.since = launch.started;
            self.submit_recorded(state, Lane::Kernels)?;
            if !launch.is_over() {
                state.deferred.push_front(Deferred { ticket, work: Work::Slices(launch) });
            }
        }
        state.current = None;
        // Who flushed before does not do it again.
        if recorded && !crate::exit::closing() {
            self.submit_all(state)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All groups, each once.
    #[test]
    fn pieces_cover_the_grid() {
        for (groups, most) in [
            ([1, 1, 1], 1),
            ([7, 5, 3], 1),
            ([7, 5, 3], 10),
            ([7, 5, 3], 20),
            ([7, 5, 3], 1000),
            ([70_000, 2, 1], 1 << 24),
            ([0, 5, 3], 10),
        ] {
            let mut seen = std::collections::HashSet::new();
            for (at, size) in Pieces::new(groups, most) {
                assert!(size.iter().all(|n| *n <= GROUPS));
                let count: u64 = size.iter().map(|n| u64::from(*n)).product();
                assert!(count <= most, "{groups:?}: a piece of {size:?}");
                for z in 0..size[2] {
                    for y in 0..size[1] {
                        for x in 0..size[0] {
                            assert!(seen.insert([at[0] + x, at[1] + y, at[2] + z]), "{groups:?}: twice");
                        }
                    }
                }
            }
            let all: usize = groups.iter().map(|n| *n as usize).product();
            assert_eq!(seen.len(), all);
            assert!(seen.iter().all(|at| (0..3).all(|k| at[k] < groups[k])));
        }
    }

    /// The largest grids are cut as they are walked, and have an end.
    #[test]
    fn the_largest_grids_have_pieces() {
        let mut pieces = Pieces::new([u32::MAX; 3], 1 << 24);
        assert_eq!(pieces.next(), Some(([0; 3], [65535, 256, 1])));
        assert_eq!(pieces.next(), Some(([65535, 0, 0], [65535, 256, 1])));
        pieces.at = Some([u32::MAX - 1; 3]);
        assert_eq!(pieces.next(), Some(([u32::MAX - 1; 3], [1; 3])));
        assert_eq!(pieces.next(), None);
    }
}
