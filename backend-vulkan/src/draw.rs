//! What a queue did, for the timeline of `CAL_TIMELINE`.

use std::borrow::Cow;
use std::time::Instant;

use ash::vk;
use recal_hal::Ticket;
use recal_hal::timeline::{self, Detail, Flows, Span, Track};

use crate::order::{Chunk, Lane};
use crate::queue::{Batch, Keep, State, VulkanQueue};
use crate::stamps::Stamps;

impl VulkanQueue {
    /// The device takes the time before the command that is recorded next, if a timeline is written.
    pub(crate) fn time(
        &self,
        state: &mut State,
        lane: Lane,
        commands: vk::CommandBuffer,
        name: &'static str,
        detail: &Detail,
    ) {
        if let Some(stamps) = state.order.open(lane).and_then(|batch| batch.stamps.as_mut()) {
            stamps.begin(commands, name, detail.clone());
        }
    }

    /// And after it.
    pub(crate) fn timed(&self, state: &mut State, lane: Lane, commands: vk::CommandBuffer) {
        if let Some(stamps) = state.order.open(lane).and_then(|batch| batch.stamps.as_mut()) {
            stamps.end(commands);
        }
    }

    /// Times for a new chunk, if a timeline is written and the lane's queue takes them.
    pub(crate) fn stamps(&self, state: &mut State, lane: Lane) -> Option<Stamps> {
        let family = usize::from(lane == Lane::Copies && self.gpu.facts.copy_count > 0);
        let bits = self.gpu.facts.timestamp_bits[family];
        if !timeline::is_on() || self.gpu.timing.is_none() || bits == 0 {
            return None;
        }
        let stamps = state.free_stamps.pop().map_or_else(|| Stamps::new(&self.gpu), Ok);
        let mut stamps = stamps.inspect_err(|error| log::debug!("a chunk without times: {error}")).ok()?;
        stamps.reset();
        Some(stamps)
    }

    /// Records for the timeline what a chunk did: command by command where the device took the times, and as far as the host sees
    /// it, from its submission, or the end of the chunk before, to when it was seen to be done.
    pub(crate) fn draw(
        &self,
        state: &mut State,
        lane: Lane,
        chunk: &mut Chunk<Batch>,
        start: Instant,
        end: Instant,
    ) {
        if !timeline::is_on() {
            state.flows.clear();
            return;
        }
        let own = |ticket: Ticket| (chunk.first..=chunk.last).contains(&ticket);
        let kind = if lane == Lane::Copies { "Vulkan queue of copies" } else { "Vulkan queue" };
        let number = self.numbers[lane as usize];
        let started = chunk.work.started;
        let times = chunk.work.stamps.as_mut().map_or_else(Vec::new, |stamps| stamps.times([started, end]));
        let read = self.gpu.timing.as_ref().is_some_and(|timing| timing.is_read());
        for (mark, [from, to]) in times {
            // A launch in slices is arrived at in the first.
            let at = state.flows.iter().position(|(ticket, _)| *ticket == mark.ticket);
            let arrives =
                at.and_then(|at| state.flows.remove(at)).map_or(Flows::None, |(_, f)| Flows::One(f));
            let from = state.last_drawn[lane as usize].map_or(from, |last| from.max(last));
            let to = to.max(from);
            state.last_drawn[lane as usize] = Some(to);
            let track = Track::Device { queue: kind, number, read };
            let detail = mark.detail;
            timeline::record(Span { detail, arrives, ..Span::new(track, "device", mark.name, [from, to]) });
        }
        let arrives = state.flows.iter().filter(|(t, _)| own(*t)).map(|(_, flow)| *flow).collect();
        // The lanes' chunks may overlap in tickets; what is of one lane is drawn with the first that ends.
        state.flows.retain(|(ticket, _)| !own(*ticket));
        let copies = chunk.work.keeps.iter().filter(|keep| matches!(keep, Keep::Copy { .. })).count();
        let name = match (chunk.work.keeps.len() - copies, copies) {
            (1, 0) => "launch".into(),
            (0, 1) => "copy".into(),
            (launches, 0) => format!("{launches} launches").into(),
            (0, copies) => format!("{copies} copies").into(),
            (launches, copies) => Cow::from(format!("{launches} launches, {copies} copies")),
        };
        let track = Track::Queue(kind, number);
        let detail = Detail::text("clock", "the host's: from submission to when the end was seen");
        timeline::record(Span { detail, arrives, ..Span::new(track, "queue", name, [start, end]) });
    }
}
