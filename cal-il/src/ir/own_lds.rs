//! The LDS that threads own, as on the R700, becomes a block of LDS as later chips have it.
//!
//! A thread writes its own dwords only, and reads those of any thread of its group. With the exchange each aligned quad of threads
//! transposes what it loads: four more dwords of a thread hold its line meanwhile. Threads that do not execute load zeros. In: a program.
//! Out: the same one with byte addresses in place of threads and offsets.

use std::borrow::Cow;
use std::mem;

use super::made::{Made, in_place};
use super::visit::program_has;
use super::{
    Builtin, Dst4, GroupSize, LaneOp, MemoryBlock, MemoryInst, Operand, Program, Space, Src4, Width,
};
use crate::inst::ThreadId;

/// A byte address that is in no block, nor are those that follow it.
const OUTSIDE: u32 = 1 << 31;

/// Bytes of a line of the exchange.
const LINE: u32 = 16;

/// Number of the block.
const OWN: u32 = u32::MAX;

/// The program without LDS of threads. `most`: threads of a group, where the program leaves it to launches.
pub fn in_a_block(program: &Program, most: u32) -> Cow<'_, Program> {
    let own = program.interface.lds_dwords_per_thread;
    if own == 0 {
        return Cow::Borrowed(program);
    }
    let threads = match program.interface.group {
        Some(GroupSize::Exact([x, y, z])) => x * y * z,
        Some(GroupSize::AtMost(threads)) => threads.min(most),
        None => 0,
    };
    let mut out = program.clone();
    let exchanges = program_has(program, &|kind| {
        matches!(kind.memory(), Some(MemoryInst::LdsReadAny { neighbor_exchange: true, .. }))
    });
    let bytes = threads * (4 * own + if exchanges { LINE } else { 0 });
    out.interface.lds.insert(OWN, MemoryBlock { bytes, stride: 0 });
    out.interface.lds_dwords_per_thread = 0;
    let areas = Areas { space: Space::Lds(OWN), own, threads };
    for function in &mut out.functions {
        let body = mem::take(&mut function.body);
        function.body = in_place(body, &mut out.registers, &mut |inst, made| {
            match *inst {
                MemoryInst::LdsWriteOwn { offset, src } => areas.write(made, offset, src),
                MemoryInst::LdsReadAny { thread, offset, neighbor_exchange, dst } => {
                    areas.read(made, thread, offset, neighbor_exchange, dst);
                }
                _ => return false,
            }
            true
        });
    }
    Cow::Owned(out)
}

#[derive(Clone, Copy)]
struct Areas {
    space: Space,
    /// Dwords of each thread.
    own: u32,
    /// Most threads of a group.
    threads: u32,
}

/// The number of the thread in its group.
const THREAD: Operand = Operand::Builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));

fn imm(word: u32) -> Operand {
    Operand::Imm(word)
}

/// All ones if the word is below the limit.
fn below(made: &mut Made<'_>, word: Operand, limit: u32) -> Operand {
    match word {
        Operand::Imm(word) => imm(if word < limit { !0 } else { 0 }),
        _ => made.value(LaneOp::Ult, [word, imm(limit)]),
    }
}

fn both(made: &mut Made<'_>, a: Operand, b: Operand) -> Operand {
    match (a, b) {
        (Operand::Imm(0), _) | (_, Operand::Imm(0)) => imm(0),
        (Operand::Imm(u32::MAX), word) | (word, Operand::Imm(u32::MAX)) => word,
        _ => made.value(LaneOp::And, [a, b]),
    }
}

impl Areas {
    fn store(self, made: &mut Made<'_>, address: Operand, src: Src4) {
        let inst = MemoryInst::RawStore { space: self.space, address, width: Width::Dwords, src };
        made.memory(inst);
    }

    fn load(self, made: &mut Made<'_>, address: Operand, dst: Dst4) {
        let inst = MemoryInst::RawLoad { space: self.space, address, width: Width::Dwords, dst };
        made.memory(inst);
    }

    fn write(self, made: &mut Made<'_>, offset: u32, src: Src4) {
        let own = self.own;
        let src = [0, 1, 2, 3].map(|k| src[k as usize].filter(|_| offset.saturating_add(k) < own));
        if src.iter().any(Option::is_some) {
            let area = made.value(LaneOp::Imul, [THREAD, imm(4 * own)]);
            let address = made.value(LaneOp::Iadd, [area, imm(4 * offset)]);
            self.store(made, address, src);
        }
    }

    fn read(self, made: &mut Made<'_>, thread: Operand, offset: Operand, exchange: bool, dst: Dst4) {
        let Areas { own, threads, .. } = self;
        let (known, within) = (below(made, thread, threads), below(made, offset, own));
        let inside = both(made, known, within);
        let area = made.value(LaneOp::Imul, [thread, imm(own)]);
        let dword = made.value(LaneOp::Iadd, [area, offset]);
        let byte = made.value(LaneOp::Ishl, [dword, imm(2)]);
        let address = made.value(LaneOp::Select, [inside, byte, imm(OUTSIDE)]);
        let loaded = dst.map(|to| (exchange || to.is_some()).then(|| made.register()));
        self.load(made, address, loaded);
        // What lies behind the last dword belongs to the next thread.
        let mut words = loaded.map(|register| register.map(Operand::Reg));
        for (k, word) in (0..).zip(&mut words).skip(1) {
            if let Some(word) = word {
                let within = below(made, offset, own - k);
                *word = both(made, *word, within);
            }
        }
        if exchange {
            return self.exchange(made, words, dst);
        }
        for (to, word) in dst.into_iter().zip(words) {
            if let (Some(to), Some(word)) = (to, word) {
                made.lane(LaneOp::Mov, to, [word]);
            }
        }
    }

    /// The threads of a quad transpose their words.
    fn exchange(self, made: &mut Made<'_>, words: Src4, dst: Dst4) {
        let first = 4 * self.own * self.threads;
        let line = made.value(LaneOp::Imul, [THREAD, imm(LINE)]);
        let line = made.value(LaneOp::Iadd, [line, imm(first)]);
        let place = made.value(LaneOp::And, [THREAD, imm(3)]);
        let before = made.value(LaneOp::Imul, [place, imm(LINE)]);
        let quad = made.value(LaneOp::Isub, [line, before]);
        let column = made.value(LaneOp::Ishl, [place, imm(2)]);
        let column = made.value(LaneOp::Iadd, [quad, column]);
        let column = [0, 1, 2, 3].map(|k| made.value(LaneOp::Iadd, [column, imm(LINE * k)]));
        for of in column {
            self.store(made, of, [Some(imm(0)), None, None, None]);
        }
        self.store(made, line, words);
        for (of, to) in column.into_iter().zip(dst) {
            if to.is_some() {
                self.load(made, of, [to, None, None, None]);
            }
        }
    }
}
