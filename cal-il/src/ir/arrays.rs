//! Small indexed temporaries become registers, and computed numbers of elements choices among them.
//!
//! Threads of a wave ask for elements of their own, one after another, where an array is memory. A load of one of n registers is n − 1
//! choices, by the bits of the number, and a store n: all threads do them together, and nothing is memory. In: a program. Out: the same
//! one without arrays that are worth it; others stay.

use std::borrow::Cow;
use std::mem;

use super::visit::statements;
use super::{Block, Dst4, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, Src4, Stmt, StmtKind};
use crate::diagnostic::Span;

/// Most words of an array that becomes registers.
const WORDS: u32 = 128;

/// Most operations that all accesses to an array become.
const MOST: u32 = 8192;

/// The program without small arrays.
pub fn in_registers(program: &Program) -> Cow<'_, Program> {
    if program.interface.arrays.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let mut pass = Pass { arrays: Vec::new(), next: program.registers };
    for (&number, &elements) in &program.interface.arrays {
        let mut array = Array { number, elements, components: 0, rows: Vec::new() };
        let mut accesses = 0u32;
        for function in &mut out.functions {
            statements(&mut function.body, &mut |stmt| {
                if let Some(components) = array.accessed(&stmt.kind) {
                    array.components |= components;
                    // One operation tells of a number what it is, one takes a component.
                    accesses += 1 + components.count_ones();
                }
            });
        }
        let words = elements.saturating_mul(array.components.count_ones());
        if words <= WORDS && elements.saturating_mul(accesses) <= MOST {
            for _ in 0..elements {
                let taken = [0, 1, 2, 3].map(|k| {
                    let has = array.components >> k & 1 == 1;
                    has.then(|| pass.register())
                });
                array.rows.push(taken);
            }
            pass.arrays.push(array);
        }
    }
    for function in &mut out.functions {
        function.body = pass.block(mem::take(&mut function.body));
    }
    out.registers = pass.next;
    out.interface.arrays.retain(|number, _| pass.arrays.iter().all(|array| array.number != *number));
    Cow::Owned(out)
}

/// An array, and the registers that its elements become.
struct Array {
    number: u32,
    elements: u32,
    /// Those that something accesses: bit k is component k.
    components: u32,
    rows: Vec<[Option<Reg>; 4]>,
}

impl Array {
    /// The components that a statement accesses, if it accesses this array.
    fn accessed(&self, kind: &StmtKind) -> Option<u32> {
        let bits = |taken: [bool; 4]| (0..4).filter(|&k| taken[k]).fold(0, |bits, k| bits | 1 << k);
        match kind.memory()? {
            MemoryInst::ArrayLoad { array, dst, .. } if *array == self.number => {
                Some(bits(dst.map(|register| register.is_some())))
            }
            MemoryInst::ArrayStore { array, src, .. } if *array == self.number => {
                Some(bits(src.map(|operand| operand.is_some())))
            }
            _ => None,
        }
    }
}

struct Pass {
    arrays: Vec<Array>,
    next: Reg,
}

/// What an access becomes.
struct Made<'b> {
    next: &'b mut Reg,
    out: &'b mut Block,
    span: Span,
}

impl Pass {
    fn register(&mut self) -> Reg {
        self.next += 1;
        self.next - 1
    }

    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            let Pass { arrays, next } = self;
            let mut made = Made { next, out: &mut out, span: stmt.span };
            match &mut stmt.kind {
                StmtKind::Memory(inst) => match **inst {
                    MemoryInst::ArrayLoad { array, index, offset, dst } => {
                        if let Some(array) = arrays.iter().find(|other| other.number == array) {
                            made.load(array, index, offset, dst);
                            continue;
                        }
                    }
                    MemoryInst::ArrayStore { array, index, offset, src } => {
                        if let Some(array) = arrays.iter().find(|other| other.number == array) {
                            made.store(array, index, offset, src);
                            continue;
                        }
                    }
                    _ => {}
                },
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
    fn lane<const N: usize>(&mut self, op: LaneOp, to: Reg, args: [Operand; N]) {
        let inst = LaneInst { op, dst: [to, to], args: args.into_iter().collect() };
        self.out.push(Stmt { kind: StmtKind::Lane(inst), span: self.span });
    }

    fn value<const N: usize>(&mut self, op: LaneOp, args: [Operand; N]) -> Operand {
        let to = *self.next;
        *self.next += 1;
        self.lane(op, to, args);
        Operand::Reg(to)
    }

    /// The number of an element.
    fn number(&mut self, index: Operand, offset: i32) -> Operand {
        match (index, offset) {
            (Operand::Imm(index), _) => Operand::Imm(index.wrapping_add_signed(offset)),
            (index, 0) => index,
            _ => self.value(LaneOp::Iadd, [index, Operand::Imm(offset as u32)]),
        }
    }

    fn load(&mut self, array: &Array, index: Operand, offset: i32, dst: Dst4) {
        let number = self.number(index, offset);
        let element = |number: u32, k: usize| {
            let row = array.rows.get(number as usize).and_then(|element| element[k]);
            row.map_or(Operand::Imm(0), Operand::Reg)
        };
        let wanted = |k: &usize| dst[*k].is_some();
        // All are read before any is written: the number may be one of them.
        let words: Vec<(usize, Operand)> = match number {
            Operand::Imm(number) => (0..4).filter(wanted).map(|k| (k, element(number, k))).collect(),
            _ => {
                let bits = array.elements.next_power_of_two().trailing_zeros();
                let tests: Vec<Operand> =
                    (0..bits).map(|bit| self.value(LaneOp::And, [number, Operand::Imm(1 << bit)])).collect();
                let inside = self.value(LaneOp::Ult, [number, Operand::Imm(array.elements)]);
                let mut all = Vec::new();
                for k in (0..4).filter(wanted) {
                    let mut words: Vec<Operand> = (0..1 << bits).map(|number| element(number, k)).collect();
                    for test in &tests {
                        let choose = |pair: &[Operand]| match pair {
                            [one, other] if one == other => *one,
                            [one, other] => self.value(LaneOp::Select, [*test, *other, *one]),
                            _ => unreachable!("a power of two"),
                        };
                        words = words.chunks(2).map(choose).collect();
                    }
                    all.push((k, self.value(LaneOp::And, [words[0], inside])));
                }
                all
            }
        };
        for (k, word) in words {
            if let Some(to) = dst[k] {
                self.lane(LaneOp::Mov, to, [word]);
            }
        }
    }

    fn store(&mut self, array: &Array, index: Operand, offset: i32, src: Src4) {
        let number = self.number(index, offset);
        for (at, element) in (0..).zip(&array.rows) {
            let here = match number {
                Operand::Imm(number) if number == at => None,
                Operand::Imm(_) => continue,
                _ => Some(self.value(LaneOp::Ieq, [number, Operand::Imm(at)])),
            };
            for (to, from) in element.iter().zip(src).filter_map(|(to, from)| Some(((*to)?, from?))) {
                match here {
                    None => self.lane(LaneOp::Mov, to, [from]),
                    Some(here) => self.lane(LaneOp::Select, to, [here, from, Operand::Reg(to)]),
                }
            }
        }
    }
}
