//! Command buffers: begun, ended, and used again.

use ash::vk;
use recal_hal::Result;

use super::{State, VulkanQueue};
use crate::once::barrier;
use crate::order::Lane;

impl VulkanQueue {
    /// A command buffer of which no submission is under way.
    pub fn command_buffer(&self, state: &mut State, lane: Lane) -> Result<vk::CommandBuffer> {
        match state.free_commands[lane as usize].pop() {
            Some(commands) => Ok(commands),
            None => self.timeline(lane).commands(),
        }
    }

    /// One whose recording is begun.
    pub(super) fn begin_commands(&self, state: &mut State, lane: Lane) -> Result<vk::CommandBuffer> {
        let commands = self.command_buffer(state, lane)?;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is new, or its last submission is done.
        if let Err(error) = unsafe { self.gpu.raw.begin_command_buffer(commands, &begin) } {
            state.free_commands(lane, [commands]);
            return Err(self.gpu.error("command buffer", error));
        }
        Ok(commands)
    }

    /// Ends a submission's commands; `plain` are kernels that write nothing which the host sees.
    pub(super) fn end_recording(
        &self,
        commands: vk::CommandBuffer,
        plain: bool,
    ) -> Result<vk::CommandBuffer> {
        if !plain {
            let next = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
            barrier(&self.gpu.raw, commands, next);
        }
        // SAFETY: recording.
        unsafe { self.gpu.raw.end_command_buffer(commands) }
            .map_err(|error| self.gpu.error("command buffer", error))?;
        Ok(commands)
    }
}
