//! Group memory: its zeros at the start, and barriers.

use std::collections::BTreeSet;

use rspirv::spirv::{MemorySemantics, Op, Scope, Word};

use super::Emitter;
use crate::inst::Stage;
use crate::ir::{Builtin, Fence, MemoryInst, Space, ThreadId, Width};
use crate::isa::Algebra;

/// What is known of group memory, which is 0 at the start: that need not be written where nobody can tell.
#[derive(Debug)]
pub(super) enum Filled {
    /// Nothing was read so far; all words of these blocks were stored to.
    Blocks(BTreeSet<u32>),
    /// All words were stored to, and all threads met, before anything was read.
    All,
    /// Words may be read that were not stored to.
    Unknown,
}

impl Default for Filled {
    fn default() -> Self {
        Self::Blocks(BTreeSet::new())
    }
}

/// Whether an access is to group memory.
pub(super) fn group_access(inst: &MemoryInst) -> bool {
    matches!(
        inst,
        MemoryInst::RawLoad { space: Space::Lds(_), .. }
            | MemoryInst::RawStore { space: Space::Lds(_), .. }
            | MemoryInst::Atomic { space: Space::Lds(_), .. }
            | MemoryInst::LdsReadAny { .. }
            | MemoryInst::LdsWriteOwn { .. }
    )
}

impl Emitter<'_> {
    /// Whether the zeros of group memory are never read.
    pub fn filled(&self) -> bool {
        matches!(self.flow.filled, Filled::All)
    }

    /// A store to group memory of `words` words from a byte address on: of all threads together, perhaps of a whole block.
    pub fn fill(&mut self, space: Space, address: Word, words: u32) {
        let (Space::Lds(id), Some(group), true) = (space, self.group, self.all_threads()) else { return };
        let flat = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let bytes = self.program.interface.lds.get(&id).map_or(0, |block| block.bytes);
        let threads: u32 = group.iter().product();
        let whole = self.facts.product(address) == Some((flat, 4 * words)) && threads * 4 * words >= bytes;
        if let (true, Filled::Blocks(blocks)) = (whole, &mut self.flow.filled) {
            blocks.insert(id);
        }
    }

    /// A group access that is not a plain store reads.
    pub fn touch(&mut self, inst: &MemoryInst) {
        if !group_access(inst) {
            return;
        }
        let store = matches!(inst, MemoryInst::RawStore { width: Width::Dwords, .. });
        if !store && !self.filled() {
            self.flow.filled = Filled::Unknown;
        }
    }

    /// Threads of the group have met at a barrier.
    fn met(&mut self) {
        let blocks = &self.program.interface.lds;
        let plain = self.pairs.is_none() && self.program.interface.lds_dwords_per_thread == 0;
        let all = matches!(&self.flow.filled, Filled::Blocks(filled) if blocks.keys().all(|id| filled.contains(id)));
        if plain && all && self.all_threads() {
            self.flow.filled = Filled::All;
        }
    }

    /// All words of group memory become 0 before anything else.
    pub fn zero_group_memory(&mut self) {
        let threads = {
            let xy = self.imul(self.block[0], self.block[1]);
            self.imul(xy, self.block[2])
        };
        let first = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
        let (u32, end) = (self.t.u32, self.word(self.shared_words));
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
        let zero = self.word(0);
        if self.shared.is_some() {
            let pointer = self.shared_pointer(at);
            self.w.store(pointer, zero, None);
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
        let device = fence.intersects(Fence::MEMORY | Fence::MEMORY_READ | Fence::MEMORY_WRITE | Fence::GDS);
        let compute = self.program.stage == Stage::Compute;
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
        } else {
            self.w.act(Op::MemoryBarrier, &[scope, semantics]);
        }
    }
}
