//! A slow interpreter of programs, one thread at a time, for hand-worked cases. It takes contracts at their word:
//! a float operand that is not flushed fails the test, and a NaN that may have any payload gets an odd one.

use std::collections::HashMap;

use recal_il::ir::{
    AtomicAddress, AtomicOp, Block, Builtin, Cond, LaneInst, MemoryInst, Operand, Program, Space, StmtKind,
    ThreadId, Width,
};
use recal_il::isa::lane::{self, Class};
use recal_il::isa::{Algebra, Scalar};

/// Payload of NaNs that the contract leaves open.
const ODD_NAN: u32 = 0xFFC1_2345;

/// Memory around the threads.
#[derive(Clone, Default)]
pub struct Machine {
    pub constants: Vec<[u32; 4]>,
    pub global: Vec<[u32; 4]>,
    pub bytes: HashMap<Space, Vec<u8>>,
    /// Number of the thread at work.
    pub thread: u32,
    /// Regions run bare first: their operands are flushed only if there is no doubt.
    pub bare: bool,
}

enum Next {
    On,
    Break,
    Continue,
    Return,
}

struct Thread<'p> {
    program: &'p Program,
    registers: Vec<u32>,
    arrays: HashMap<u32, Vec<[u32; 4]>>,
    steps: u32,
}

impl Machine {
    /// Runs one thread; returns its outputs.
    pub fn run(&mut self, program: &Program) -> Vec<[u32; 4]> {
        let arrays = program.interface.arrays.iter().map(|(n, size)| (*n, vec![[0; 4]; *size as usize]));
        let mut thread = Thread {
            program,
            registers: vec![0; program.registers as usize],
            arrays: arrays.collect(),
            steps: 0,
        };
        thread.block(self, &program.functions[0].body);
        program.outputs.iter().map(|o| o.registers.map(|reg| thread.registers[reg as usize])).collect()
    }
}

impl Thread<'_> {
    fn word(&self, m: &Machine, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(reg) => self.registers[reg as usize],
            Operand::Imm(word) => word,
            Operand::Const { buffer: _, row, component } => {
                m.constants.get(row as usize).map_or(0, |row| row[usize::from(component)])
            }
            Operand::Builtin(Builtin::Thread(
                ThreadId::Absolute | ThreadId::AbsoluteFlat | ThreadId::InGroup | ThreadId::InGroupFlat,
                0,
            )) => m.thread,
            Operand::Builtin(Builtin::Position(0)) => (m.thread as f32 + 0.5).to_bits(),
            Operand::Builtin(Builtin::Position(_)) => 0.5f32.to_bits(),
            Operand::Builtin(_) => 0,
        }
    }

    fn cond(&self, m: &Machine, cond: &Option<Cond>) -> bool {
        cond.is_none_or(|cond| (self.word(m, cond.operand) != 0) == cond.nonzero)
    }

    fn block(&mut self, m: &mut Machine, block: &Block) -> Next {
        for stmt in block {
            self.steps += 1;
            assert!(self.steps < 1_000_000, "endless loop");
            let next = match &stmt.kind {
                StmtKind::Lane(inst) => {
                    self.lane(m, inst);
                    Next::On
                }
                StmtKind::Memory(inst) => {
                    self.memory(m, inst);
                    Next::On
                }
                StmtKind::If { cond, then, otherwise } => {
                    let branch = if self.cond(m, &Some(*cond)) { then } else { otherwise };
                    self.block(m, branch)
                }
                StmtKind::Loop { body } => loop {
                    match self.block(m, body) {
                        Next::On | Next::Continue => {}
                        Next::Break => break Next::On,
                        Next::Return => break Next::Return,
                    }
                },
                StmtKind::Switch { selector, arms } => {
                    let value = self.word(m, *selector) as i32;
                    let first = (arms.iter().position(|arm| arm.labels.contains(&value)))
                        .or_else(|| arms.iter().position(|arm| arm.default));
                    let mut next = Next::On;
                    for arm in &arms[first.unwrap_or(arms.len())..] {
                        next = self.block(m, &arm.body);
                        if !matches!(next, Next::On) {
                            break;
                        }
                    }
                    if matches!(next, Next::Break) { Next::On } else { next }
                }
                StmtKind::Break(cond) if self.cond(m, cond) => Next::Break,
                StmtKind::Continue(cond) if self.cond(m, cond) => Next::Continue,
                StmtKind::Return(cond) if self.cond(m, cond) => Next::Return,
                StmtKind::Call { function, cond } if self.cond(m, cond) => {
                    let program = self.program;
                    self.block(m, &program.functions[*function].body);
                    Next::On
                }
                StmtKind::Discard(cond) if self.cond(m, &Some(*cond)) => panic!("discarded"),
                _ => Next::On,
            };
            if !matches!(next, Next::On) {
                return next;
            }
        }
        Next::On
    }

    fn lane(&mut self, m: &Machine, inst: &LaneInst) {
        let words: Vec<u32> = inst.args.iter().map(|arg| self.word(m, *arg)).collect();
        let mut at = 0;
        for class in inst.op.arguments() {
            if *class == Class::F && !m.bare {
                assert_eq!(
                    Scalar.flush(words[at]),
                    words[at],
                    "{} gets a denormal\n{}",
                    inst.op.name(),
                    self.program
                );
            }
            at += class.words();
        }
        let (low, high) = lane::fold(inst.op, &words);
        let low = match inst.op.result() {
            Class::F if f32::from_bits(low).is_nan() => ODD_NAN,
            _ => low,
        };
        self.registers[inst.dst[0] as usize] = low;
        if let Some(high) = high {
            self.registers[inst.dst[1] as usize] = high;
        }
    }

    fn rows<'m>(&'m mut self, m: &'m mut Machine, array: Option<u32>) -> &'m mut Vec<[u32; 4]> {
        match array {
            Some(array) => self.arrays.get_mut(&array).unwrap(),
            None => &mut m.global,
        }
    }

    fn memory(&mut self, m: &mut Machine, inst: &MemoryInst) {
        let at = |t: &Self, m: &Machine, index: Operand, offset: i32| {
            (t.word(m, index) as i32).wrapping_add(offset) as u32 as usize
        };
        match inst {
            MemoryInst::ConstLoad { index, offset, dst, .. } => {
                let row = m.constants.get(at(self, m, *index, *offset)).copied().unwrap_or([0; 4]);
                self.load(dst, row);
            }
            MemoryInst::ImmediateLoad { index, offset, dst } => {
                let rows = &self.program.interface.immediates;
                let row = rows.get(at(self, m, *index, *offset)).copied().unwrap_or([0; 4]);
                self.load(dst, row);
            }
            MemoryInst::ArrayLoad { index, offset, dst, .. }
            | MemoryInst::GlobalLoad { index, offset, dst } => {
                let array = match inst {
                    MemoryInst::ArrayLoad { array, .. } => Some(*array),
                    _ => None,
                };
                let at = at(self, m, *index, *offset);
                let row = self.rows(m, array).get(at).copied().unwrap_or([0; 4]);
                self.load(dst, row);
            }
            MemoryInst::ArrayStore { index, offset, src, .. }
            | MemoryInst::GlobalStore { index, offset, src } => {
                let array = match inst {
                    MemoryInst::ArrayStore { array, .. } => Some(*array),
                    _ => None,
                };
                let at = at(self, m, *index, *offset);
                let words = src.map(|word| word.map(|word| self.word(m, word)));
                if let Some(row) = self.rows(m, array).get_mut(at) {
                    for (to, word) in row.iter_mut().zip(words) {
                        *to = word.unwrap_or(*to);
                    }
                }
            }
            MemoryInst::RawLoad { space, address, width, dst } => {
                let address = self.word(m, *address) as usize;
                let bytes = &m.bytes[space];
                let get = |at: usize, n: usize| -> u32 {
                    (bytes.get(at..at + n).unwrap_or(&[])).iter().rev().fold(0, |w, b| w << 8 | u32::from(*b))
                };
                let row = match width {
                    Width::Dwords => std::array::from_fn(|k| get((address & !3) + 4 * k, 4)),
                    Width::U8 => [get(address, 1); 4],
                    Width::I8 => [get(address, 1) as i8 as u32; 4],
                    Width::U16 => [get(address & !1, 2); 4],
                    Width::I16 => [get(address & !1, 2) as i16 as u32; 4],
                };
                self.load(dst, row);
            }
            MemoryInst::RawStore { space, address, width, src } => {
                let address = self.word(m, *address) as usize;
                let words = src.map(|word| word.map(|word| self.word(m, word)));
                let bytes = m.bytes.get_mut(space).unwrap();
                let (base, size) = match width {
                    Width::Dwords => (address & !3, 4),
                    Width::U8 | Width::I8 => (address, 1),
                    Width::U16 | Width::I16 => (address & !1, 2),
                };
                for (k, word) in words.into_iter().enumerate() {
                    let at = base + 4 * k;
                    if let (Some(word), Some(to)) = (word, bytes.get_mut(at..at + size)) {
                        to.copy_from_slice(&word.to_le_bytes()[..size]);
                    }
                }
            }
            MemoryInst::Atomic {
                op,
                space,
                address: AtomicAddress::Byte(address),
                src,
                src2,
                dst,
                wide: None,
            } => {
                let at = (self.word(m, *address) & !3) as usize;
                let s = self.word(m, *src);
                let s2 = src2.map_or(0, |word| self.word(m, word));
                let Some(slot) = m.bytes.get_mut(space).unwrap().get_mut(at..at + 4) else { return };
                let old = u32::from_le_bytes(slot.try_into().unwrap());
                let new = match op {
                    AtomicOp::Add => old.wrapping_add(s),
                    AtomicOp::Sub => old.wrapping_sub(s),
                    AtomicOp::RSub => s.wrapping_sub(old),
                    AtomicOp::Min => (old as i32).min(s as i32) as u32,
                    AtomicOp::Max => (old as i32).max(s as i32) as u32,
                    AtomicOp::UMin => old.min(s),
                    AtomicOp::UMax => old.max(s),
                    AtomicOp::And => old & s,
                    AtomicOp::Or => old | s,
                    AtomicOp::Xor => old ^ s,
                    AtomicOp::Xchg => s,
                    AtomicOp::CmpXchg if old == s2 => s,
                    AtomicOp::CmpXchg => old,
                    AtomicOp::MskOr => old & !s | s2,
                    AtomicOp::Inc if old >= s => 0,
                    AtomicOp::Inc => old + 1,
                    AtomicOp::Dec if old == 0 || old > s => s,
                    AtomicOp::Dec => old - 1,
                };
                slot.copy_from_slice(&new.to_le_bytes());
                if let Some(dst) = dst {
                    self.registers[*dst as usize] = old;
                }
            }
            other => panic!("`{other}` is not in this interpreter"),
        }
    }

    fn load(&mut self, dst: &[Option<u32>; 4], row: [u32; 4]) {
        for (dst, word) in dst.iter().zip(row) {
            if let Some(dst) = dst {
                self.registers[*dst as usize] = word;
            }
        }
    }
}
