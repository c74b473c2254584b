//! Group memory: its zeros at the start, and barriers.

use rspirv::spirv::{MemorySemantics, Op, Scope};

use super::Emitter;
use crate::bits::BitSet;
use crate::inst::Stage;
use crate::ir::{Builtin, Fence, MemoryInst, Operand, Space, ThreadId, Width};
use crate::isa::Algebra;

/// What is known of group memory, which is 0 at the start: that need not be written where nobody can tell.
#[derive(Debug)]
pub(super) enum Filled {
    /// All that was read so far had been stored to, and all threads had met since.
    So {
        /// Words stored to before the last barrier, and how many those are.
        stored: BitSet,
        count: u32,
        /// Words stored to since.
        since: Vec<u32>,
    },
    /// All words were stored to, and all threads met, before anything else was read.
    All,
    /// Words may be read that were not stored to.
    Unknown,
}

impl Default for Filled {
    fn default() -> Self {
        Self::So { stored: BitSet::default(), count: 0, since: Vec::new() }
    }
}

/// Whether an access is to group memory.
pub(super) fn group_access(inst: &MemoryInst) -> bool {
    matches!(
        inst,
        MemoryInst::RawLoad { space: Space::Lds(_), .. }
            | MemoryInst::RawStore { space: Space::Lds(_), .. }
            | MemoryInst::Atomic { space: Space::Lds(_), .. }
    )
}

impl Emitter<'_> {
    /// Whether the zeros of group memory are never read.
    pub fn filled(&self) -> bool {
        !matches!(self.flow.filled, Filled::Unknown)
    }

    /// Notes what an access to group memory stores for all threads, or whether all that it loads was stored to.
    pub fn touch(&mut self, inst: &MemoryInst) {
        if !group_access(inst) || !matches!(self.flow.filled, Filled::So { .. }) {
            return;
        }
        let words = match inst {
            MemoryInst::RawStore { space, address, width: Width::Dwords, src } if self.all_threads() => {
                self.group_words(*space, address, src.map(|word| word.is_some()))
            }
            MemoryInst::RawLoad { space, address, width: Width::Dwords, dst } => {
                self.group_words(*space, address, dst.map(|word| word.is_some()))
            }
            _ => None,
        };
        let store = matches!(inst, MemoryInst::RawStore { width: Width::Dwords, .. });
        if let Filled::So { stored, since, .. } = &mut self.flow.filled {
            match words {
                Some(words) if store => since.extend(words),
                Some(words) if words.iter().all(|word| stored.contains(*word)) => {}
                None if store => {}
                // What is not a plain load or store reads, too.
                _ => self.flow.filled = Filled::Unknown,
            }
        }
    }

    /// The words of group memory that the threads of a group together touch at an address, where that can be known.
    fn group_words(&mut self, space: Space, address: &Operand, present: [bool; 4]) -> Option<Vec<u32>> {
        let Space::Lds(id) = space else { return None };
        let first = *self.lds.get(&id)?;
        let limit = self.program.interface.lds.get(&id)?.bytes / 4;
        let address = self.operand(address);
        let addresses = self.threads.values(address, &self.w.bits)?;
        let words = addresses.iter().flat_map(|address| {
            let at = move |k: u32| (address >> 2).wrapping_add(k);
            (0..4).filter(|k| present[*k as usize]).map(at)
        });
        Some(words.filter(|word| *word < limit).map(|word| first + word).collect())
    }

    /// Threads of the group have met at a barrier.
    fn met(&mut self) {
        let blocks = &self.program.interface.lds;
        let all: u32 = blocks.values().map(|block| block.bytes / 4).sum();
        // The two halves of a pair are written with atomics.
        if self.pairs.is_some() || !self.all_threads() {
            return;
        }
        if let Filled::So { stored, count, since } = &mut self.flow.filled {
            *count += since.drain(..).map(|word| u32::from(stored.insert_new(word))).sum::<u32>();
            if *count == all {
                self.flow.filled = Filled::All;
            }
        }
    }

    /// All words of group memory become 0 before anything else.
    pub fn zero_group_memory(&mut self) {
        let threads = {
            let xy = self.imul(self.block[0], self.block[1]);
            self.imul(xy, self.block[2])
        };
        let first = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let (u32, end) = (self.t.u32, self.word(self.shared_words / self.shared_width));
        let index = self.w.local(u32, None);
        self.w.store(index, first, None);
        let [head, check, body, next, merge] = [0; 5].map(|_| self.w.id());
        self.w.branch(head);
        self.w.label(head);
        self.w.loop_merge(merge, next);
        self.w.branch(check);
        self.w.label(check);
        let at = self.w.load(u32, index, None);
        let more = self.ult(at, end);
        self.w.branch_if(more, body, merge);
        self.w.label(body);
        if self.shared.is_some() {
            self.zero_element(at);
        }
        if self.pairs.is_some() {
            let (limit, quad) = (self.word(self.lds_words / 2), self.w.quad(0));
            let more = self.ult(at, limit);
            self.when(more, |e| {
                let pointer = e.pair_pointer(at);
                e.w.store(pointer, quad, None);
            });
        }
        self.w.branch(next);
        self.w.label(next);
        let at = self.iadd(at, threads);
        self.w.store(index, at, None);
        self.w.branch(head);
        self.w.label(merge);
        self.barrier();
    }

    /// A barrier of the group that orders its memory.
    pub fn barrier(&mut self) {
        let group = self.word(Scope::Workgroup as u32);
        let semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::WORKGROUP_MEMORY;
        let semantics = self.word(semantics.bits());
        self.w.act(Op::ControlBarrier, &[group, group, semantics]);
        self.met();
    }

    pub fn fence(&mut self, fence: Fence) {
        let compute = self.program.stage == Stage::Compute;
        // Threads of a pixel kernel have no group: none waits for others, and there is no group memory.
        let fence = if compute { fence } else { fence.difference(Fence::THREADS | Fence::LDS) };
        if fence.is_empty() {
            return;
        }
        let device = fence.intersects(Fence::MEMORY | Fence::MEMORY_READ | Fence::MEMORY_WRITE | Fence::GDS);
        let scope = self.word(if device { Scope::Device as u32 } else { Scope::Workgroup as u32 });
        let mut semantics = MemorySemantics::ACQUIRE_RELEASE;
        if device {
            semantics |= MemorySemantics::UNIFORM_MEMORY;
        }
        if compute && self.shared.is_some() {
            semantics |= MemorySemantics::WORKGROUP_MEMORY;
        }
        if !semantics.intersects(MemorySemantics::UNIFORM_MEMORY | MemorySemantics::WORKGROUP_MEMORY) {
            // Semantics without a storage class order nothing.
            semantics = MemorySemantics::ACQUIRE_RELEASE | MemorySemantics::UNIFORM_MEMORY;
        }
        let semantics = self.word(semantics.bits());
        if compute && fence.contains(Fence::THREADS) {
            let group = self.word(Scope::Workgroup as u32);
            self.w.act(Op::ControlBarrier, &[group, scope, semantics]);
            self.met();
        } else if self.target.fences_apart || (compute && self.all_threads()) {
            self.w.act(Op::MemoryBarrier, &[scope, semantics]);
        } else {
            // A barrier for memory would wait for all threads, as on llvmpipe, and not all may come by. So an atomic that changes
            // nothing: relaxed by name, for an order would be a barrier again, but the processor's atomics keep all accesses in order.
            let (pointer, relaxed, zero) = (self.zero_pointer(), self.word(0), self.hidden_zero());
            self.w.op(Op::AtomicOr, self.t.u32, &[pointer, scope, relaxed, zero]);
        }
    }
}
