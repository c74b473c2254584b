//! Waiting until a queue's commands are done.

use std::time::{Duration, Instant};

use ash::vk;
use recal_hal::{Queue, Result, Ticket};

use super::{SLICE, SPIN, VulkanQueue};
use crate::order::Lane;
use crate::timeline::Timeline;

impl VulkanQueue {
    /// Waits for what is submitted, without starting anything.
    pub fn settle(&self) {
        let goals = self.state.lock().order.goals(Ticket::MAX);
        if let Err(error) = self.wait_submitted(goals, None) {
            log::debug!("work in flight at the end of the process: {error}");
        }
    }

    /// Returns when no other thread is inside the driver for this queue.
    pub fn pause(&self) {
        let patience = Duration::from_secs(1);
        let state = self.state.try_lock_for(patience);
        let kernels = self.kernels.queue().try_lock_for(patience);
        drop(kernels);
        let copies = self.copies.as_ref().and_then(|copies| copies.queue().try_lock_for(patience));
        drop((state, copies));
    }

    /// Waits until the timelines of the lanes have reached these points, of chunks that are submitted, or for about the limit,
    /// and cleans up.
    pub(super) fn wait_submitted(&self, goals: [u64; 2], limit: Option<Duration>) -> Result<()> {
        let begun = Instant::now();
        // To sleep and be woken takes longer than many kernels. A device that is the processor needs it for itself.
        if self.gpu.facts.kind != vk::PhysicalDeviceType::CPU {
            let start = Instant::now();
            let reached = |lane: Lane| {
                let goal = goals[lane as usize];
                goal == 0 || !self.timeline(lane).position().is_ok_and(|position| position < goal)
            };
            while start.elapsed() < SPIN && !Lane::ALL.into_iter().all(reached) {
                std::hint::spin_loop();
            }
        }
        loop {
            let (semaphores, values): (Vec<_>, Vec<_>) = {
                let mut state = self.state.lock();
                self.retire(&mut state);
                let waits = |lane: &Lane| {
                    let next = state.order.running(*lane).next();
                    next.is_some_and(|chunk| chunk.point <= goals[*lane as usize])
                };
                let lanes = Lane::ALL.into_iter().filter(waits);
                lanes.map(|lane| (self.timeline(lane).semaphore, goals[lane as usize])).unzip()
            };
            let rest = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            if semaphores.is_empty() || rest == Some(Duration::ZERO) {
                return Ok(());
            }
            let slice = rest.map_or(SLICE, |rest| rest.min(SLICE));
            let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
            // SAFETY: the semaphores live as long as the queue, and `info` until the call returns.
            let result = unsafe { self.gpu.raw.wait_semaphores(&info, slice.as_nanos() as u64) };
            if let Err(error) = result {
                if error != vk::Result::TIMEOUT {
                    let error = self.gpu.error("waiting", error);
                    let error = self.gpu.lose(error);
                    self.abandon(&mut self.state.lock(), None, error.clone());
                    return Err(error);
                }
            }
        }
    }
}

impl Drop for VulkanQueue {
    fn drop(&mut self) {
        let issued = self.state.get_mut().order.issued();
        let waited = self.wait(issued);
        if let Err(error) = &waited {
            log::debug!("a queue was dropped with failed work: {error}");
        }
        // What was submitted before a failure may still be under way; and Mesa looks at the semaphores that work has waited
        // for after it said that the work is done.
        let late = self.copies.is_some() && self.gpu.facts.kind == vk::PhysicalDeviceType::CPU;
        if (waited.is_err() || late) && !self.gpu.hung() {
            [Some(&self.kernels), self.copies.as_ref()].into_iter().flatten().for_each(Timeline::idle);
        }
    }
}
