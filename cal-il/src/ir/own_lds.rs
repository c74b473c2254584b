//! The LDS that threads own, as on the R700, becomes a block of LDS as later chips have it.
//!
//! A thread writes its own dwords only, and reads those of any thread of its group. With the exchange each aligned quad of threads
//! transposes what it loads: four more dwords of a thread hold its line meanwhile. Threads that do not execute load zeros. In: a program.
//! Out: the same one with byte addresses in place of threads and offsets.

use std::borrow::Cow;
use std::mem;

use super::visit::program_has;
use super::{
    Block, Builtin, Dst4, GroupSize, LaneInst, LaneOp, MemoryBlock, MemoryInst, Operand, Program, Reg, Space,
    Src4, Stmt, StmtKind, Width,
};
use crate::diagnostic::Span;
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
    let mut pass = Pass { space: Space::Lds(OWN), own, threads, next: out.registers };
    for function in &mut out.functions {
        function.body = pass.block(mem::take(&mut function.body));
    }
    out.registers = pass.next;
    Cow::Owned(out)
}

struct Pass {
    space: Space,
    /// Dwords of each thread.
    own: u32,
    /// Most threads of a group.
    threads: u32,
    next: Reg,
}

/// The number of the thread in its group.
const THREAD: Operand = Operand::Builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));

fn imm(word: u32) -> Operand {
    Operand::Imm(word)
}

/// What an access becomes.
struct Made<'p> {
    pass: &'p mut Pass,
    out: &'p mut Block,
    span: Span,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            let span = stmt.span;
            match &mut stmt.kind {
                StmtKind::Memory(inst) => {
                    let mut made = Made { pass: self, out: &mut out, span };
                    match **inst {
                        MemoryInst::LdsWriteOwn { offset, src } => {
                            made.write(offset, src);
                            continue;
                        }
                        MemoryInst::LdsReadAny { thread, offset, neighbor_exchange, dst } => {
                            made.read(thread, offset, neighbor_exchange, dst);
                            continue;
                        }
                        _ => {}
                    }
                }
                StmtKind::If { then, otherwise, .. } => {
                    *then = self.block(mem::take(then));
                    *otherwise = self.block(mem::take(otherwise));
                }
                StmtKind::Loop { body } => *body = self.block(mem::take(body)),
                StmtKind::Switch { arms, .. } => {
                    arms.iter_mut().for_each(|arm| arm.body = self.block(mem::take(&mut arm.body)));
                }
                _ => {}
            }
            out.push(stmt);
        }
        out
    }
}

impl Made<'_> {
    fn register(&mut self) -> Reg {
        self.pass.next += 1;
        self.pass.next - 1
    }

    fn lane<const N: usize>(&mut self, op: LaneOp, to: Reg, args: [Operand; N]) {
        let inst = LaneInst { op, dst: [to, to], args: args.into_iter().collect() };
        self.out.push(Stmt { kind: StmtKind::Lane(inst), span: self.span });
    }

    fn value<const N: usize>(&mut self, op: LaneOp, args: [Operand; N]) -> Operand {
        let to = self.register();
        self.lane(op, to, args);
        Operand::Reg(to)
    }

    /// All ones if the word is below the limit.
    fn below(&mut self, word: Operand, limit: u32) -> Operand {
        match word {
            Operand::Imm(word) => imm(if word < limit { !0 } else { 0 }),
            _ => self.value(LaneOp::Ult, [word, imm(limit)]),
        }
    }

    fn both(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Imm(0), _) | (_, Operand::Imm(0)) => imm(0),
            (Operand::Imm(u32::MAX), word) | (word, Operand::Imm(u32::MAX)) => word,
            _ => self.value(LaneOp::And, [a, b]),
        }
    }

    fn store(&mut self, address: Operand, src: Src4) {
        let inst = MemoryInst::RawStore { space: self.pass.space, address, width: Width::Dwords, src };
        self.out.push(Stmt { kind: inst.into(), span: self.span });
    }

    fn load(&mut self, address: Operand, dst: Dst4) {
        let inst = MemoryInst::RawLoad { space: self.pass.space, address, width: Width::Dwords, dst };
        self.out.push(Stmt { kind: inst.into(), span: self.span });
    }

    fn write(&mut self, offset: u32, src: Src4) {
        let own = self.pass.own;
        let src = [0, 1, 2, 3].map(|k| src[k as usize].filter(|_| offset.saturating_add(k) < own));
        if src.iter().any(Option::is_some) {
            let area = self.value(LaneOp::Imul, [THREAD, imm(4 * own)]);
            let address = self.value(LaneOp::Iadd, [area, imm(4 * offset)]);
            self.store(address, src);
        }
    }

    fn read(&mut self, thread: Operand, offset: Operand, exchange: bool, dst: Dst4) {
        let Pass { own, threads, .. } = *self.pass;
        let (known, within) = (self.below(thread, threads), self.below(offset, own));
        let inside = self.both(known, within);
        let area = self.value(LaneOp::Imul, [thread, imm(own)]);
        let dword = self.value(LaneOp::Iadd, [area, offset]);
        let byte = self.value(LaneOp::Ishl, [dword, imm(2)]);
        let address = self.value(LaneOp::Select, [inside, byte, imm(OUTSIDE)]);
        let loaded = dst.map(|to| (exchange || to.is_some()).then(|| self.register()));
        self.load(address, loaded);
        // What lies behind the last dword belongs to the next thread.
        let mut words = loaded.map(|register| register.map(Operand::Reg));
        for (k, word) in (0..).zip(&mut words).skip(1) {
            if let Some(word) = word {
                let within = self.below(offset, own - k);
                *word = self.both(*word, within);
            }
        }
        if exchange {
            return self.exchange(words, dst);
        }
        for (to, word) in dst.into_iter().zip(words) {
            if let (Some(to), Some(word)) = (to, word) {
                self.lane(LaneOp::Mov, to, [word]);
            }
        }
    }

    /// The threads of a quad transpose their words.
    fn exchange(&mut self, words: Src4, dst: Dst4) {
        let first = 4 * self.pass.own * self.pass.threads;
        let line = self.value(LaneOp::Imul, [THREAD, imm(LINE)]);
        let line = self.value(LaneOp::Iadd, [line, imm(first)]);
        let place = self.value(LaneOp::And, [THREAD, imm(3)]);
        let before = self.value(LaneOp::Imul, [place, imm(LINE)]);
        let quad = self.value(LaneOp::Isub, [line, before]);
        let column = self.value(LaneOp::Ishl, [place, imm(2)]);
        let column = self.value(LaneOp::Iadd, [quad, column]);
        let column = [0, 1, 2, 3].map(|k| self.value(LaneOp::Iadd, [column, imm(LINE * k)]));
        for of in column {
            self.store(of, [Some(imm(0)), None, None, None]);
        }
        self.store(line, words);
        for (of, to) in column.into_iter().zip(dst) {
            if to.is_some() {
                self.load(of, [to, None, None, None]);
            }
        }
    }
}
