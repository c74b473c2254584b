//! What a queue did, for the timeline of `CAL_TIMELINE`.

use std::time::Instant;

use recal_hal::Ticket;
use recal_hal::timeline::{self, Span, Track};

use crate::order::{Chunk, Lane};
use crate::queue::{Batch, Keep, State, VulkanQueue};

impl VulkanQueue {
    /// Records for the timeline what a chunk did, as far as the host sees it: from its submission, or the end of the chunk before,
    /// to when it was seen to be done.
    pub(crate) fn draw(
        &self,
        state: &mut State,
        lane: Lane,
        chunk: &Chunk<Batch>,
        start: Instant,
        end: Instant,
    ) {
        if !timeline::is_on() {
            state.flows.clear();
            return;
        }
        let own = |ticket: Ticket| (chunk.first..=chunk.last).contains(&ticket);
        let arrives: Vec<u64> = state.flows.iter().filter(|(t, _)| own(*t)).map(|(_, flow)| *flow).collect();
        // The lanes' chunks may overlap in tickets; what is of one lane is drawn with the first that ends.
        state.flows.retain(|(ticket, _)| !own(*ticket));
        let copies = chunk.work.keeps.iter().filter(|keep| matches!(keep, Keep::Copy { .. })).count();
        let name = match (chunk.work.keeps.len() - copies, copies) {
            (1, 0) => "launch".to_owned(),
            (0, 1) => "copy".to_owned(),
            (launches, 0) => format!("{launches} launches"),
            (0, copies) => format!("{copies} copies"),
            (launches, copies) => format!("{launches} launches, {copies} copies"),
        };
        let kind = if lane == Lane::Copies { "Vulkan queue of copies" } else { "Vulkan queue" };
        timeline::record(&Span {
            track: Track::Queue(kind, self.numbers[lane as usize]),
            kind: "queue",
            name: &name,
            start,
            end,
            details: &[("clock", "the host's: from submission to when the end was seen".into())],
            leaves: None,
            arrives: &arrives,
        });
    }
}
