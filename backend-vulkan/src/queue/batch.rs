//! The commands of a chunk, and what they keep until they are done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use recal_hal::{Bindings, Kernel, Memory, Ticket};
use recal_il::ir::Area;

use crate::import::{Imported, Shadow};
use crate::kernel::{Kind, VulkanKernel};
use crate::memory::{Block, shadow};
use crate::repeat::Repeat;
use crate::stamps::Stamps;
use crate::table::{Chunk, Report};

/// What a command keeps alive.
pub(crate) enum Keep {
    Kernel {
        kernel: Arc<dyn Kernel>,
        bindings: Arc<Bindings>,
        kind: Option<Arc<Kind>>,
        scratch: Option<Arc<Block>>,
        /// Launches of it, one after the other.
        times: u32,
    },
    Copy {
        src: Arc<dyn Memory>,
        dst: Arc<dyn Memory>,
        _between: Option<Block>,
    },
}

/// A launch that tells if the device ended one of its loops.
pub(super) struct Reporting {
    /// 0 until it is known.
    pub ticket: Ticket,
    /// Among those of the batch.
    pub chunk: usize,
    pub report: Report,
}

/// The commands of a chunk.
pub(crate) struct Batch {
    pub commands: vk::CommandBuffer,
    pub keeps: Vec<Keep>,
    /// How many commands that is.
    pub count: u32,
    pub(super) chunks: Vec<Chunk>,
    pub started: Instant,
    /// While a timeline is written: when the device did the commands.
    pub stamps: Option<Stamps>,
    pub(super) reports: Vec<Reporting>,
    /// When the launch began that this is a later slice of.
    pub since: Option<Instant>,
    /// Launches of it that came before.
    pub repeats: Vec<Arc<Repeat>>,
    /// All that would have been recorded so far, and how many times.
    pub alone: Option<(Arc<Repeat>, u32)>,
    /// Of the launch that was recorded last, which one it is if it came before.
    pub bound: usize,
}

impl Batch {
    /// Says which launch was recorded last.
    pub fn sign(&mut self, ticket: Ticket) {
        self.reports.iter_mut().filter(|report| report.ticket == 0).for_each(|report| report.ticket = ticket);
        if let Some(stamps) = &mut self.stamps {
            stamps.sign(ticket);
        }
    }

    /// The launches whose loops were ended, once they are done.
    pub(super) fn reported(&self) -> Vec<Ticket> {
        let ended = |r: &&Reporting| self.chunks.get(r.chunk).is_some_and(|chunk| chunk.reported(r.report));
        self.reports.iter().filter(ended).map(|report| report.ticket).collect()
    }

    /// Tells the kernels how long they took, each as long as the others.
    pub(super) fn tell(&self, time: Duration) {
        let share = time / self.count.max(1);
        for keep in &self.keeps {
            if let Keep::Kernel { kernel, kind, times, .. } = keep {
                if let (Some(own), Some(kind)) = (kernel.as_any().downcast_ref::<VulkanKernel>(), kind) {
                    own.ran(kind, share * *times);
                }
            }
        }
    }

    /// Keeps what a command uses.
    pub fn keep(&mut self, keep: Keep) {
        self.count += 1;
        self.keeps.push(keep);
    }

    /// Keeps what a launch without scratch memory uses, which may be the last one again.
    pub fn keep_launch(
        &mut self,
        kernel: Arc<dyn Kernel>,
        bindings: Arc<Bindings>,
        kind: &Option<Arc<Kind>>,
    ) {
        if let Some(Keep::Kernel { kernel: last, bindings: bound, scratch: None, times, .. }) =
            self.keeps.last_mut()
            && Arc::ptr_eq(bound, &bindings)
            && Arc::ptr_eq(last, &kernel)
        {
            *times += 1;
            self.count += 1;
            return;
        }
        self.keep(Keep::Kernel { kernel, bindings, kind: kind.clone(), scratch: None, times: 1 });
    }

    /// The commands are done, or never ran.
    pub(super) fn finish(&mut self, ran: bool) {
        for keep in self.keeps.drain(..) {
            match keep {
                Keep::Kernel { kernel, bindings, scratch, .. } => {
                    each_shadow(&*kernel, &bindings, |shadow, writes| shadow.leave(ran && writes));
                    drop(scratch);
                }
                Keep::Copy { src, dst, .. } => {
                    for (memory, writes) in [(src, false), (dst, true)] {
                        if let Some(shadow) = shadow(&*memory) {
                            shadow.leave(ran && writes);
                        }
                    }
                }
            }
        }
    }
}

/// Calls `f` for every memory that is bound to a kernel and is a shadow, with whether the kernel may write it.
pub(crate) fn each_shadow(kernel: &dyn Kernel, bindings: &Bindings, mut f: impl FnMut(&Shadow, bool)) {
    each_import(kernel, bindings, |imported, writes| {
        if let Some(shadow) = imported.shadow() {
            f(shadow, writes);
        }
    });
}

/// The same for every one that is the application's.
pub(crate) fn each_import(kernel: &dyn Kernel, bindings: &Bindings, mut f: impl FnMut(&Imported, bool)) {
    let kernel = kernel.as_any().downcast_ref::<VulkanKernel>();
    let stores = |area| kernel.is_none_or(|kernel| kernel.stores(area));
    let read = bindings.resources.iter().chain(&bindings.constants).map(|(_, surface)| (surface, false));
    let outputs = bindings.outputs.iter().map(|(_, surface)| (surface, true));
    let uavs = bindings.uavs.iter().map(|(number, surface)| (surface, stores(Area::Uav(*number))));
    let global = bindings.global.iter().map(|surface| (surface, stores(Area::Global)));
    for (surface, writes) in read.chain(outputs).chain(uavs).chain(global) {
        if let Some(imported) = surface.memory.as_any().downcast_ref() {
            f(imported, writes);
        }
    }
}
