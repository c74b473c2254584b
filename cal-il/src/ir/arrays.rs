//! Small indexed temporaries become registers, and computed numbers of elements choices among them.
//!
//! Threads of a wave ask for elements of their own, one after another, where an array is memory. A load of one of n registers is n − 1
//! choices, by the bits of the number, and a store n: all threads do them together, and nothing is memory. In: a program. Out: the same
//! one without arrays that are worth it; others stay.

use std::borrow::Cow;
use std::mem;

use super::made::{Made, in_place};
use super::visit::statements;
use super::{Dst4, LaneOp, MemoryInst, Operand, Program, Reg, Src4, StmtKind};

/// Most words of an array that becomes registers.
const WORDS: u32 = 128;

/// Most operations that all accesses to an array become.
const MOST: u32 = 8192;

/// Numbers of elements do not wrap into an array by offsets that are not so large.
const FAR: u32 = 1 << 30;

/// The program without small arrays.
pub fn in_registers(program: &Program) -> Cow<'_, Program> {
    if program.interface.arrays.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let (mut arrays, mut next) = (Vec::new(), program.registers);
    for (&number, &elements) in &program.interface.arrays {
        let mut array = Array { number, elements, components: 0, rows: Vec::new() };
        let mut accesses = 0u32;
        for function in &mut out.functions {
            statements(&mut function.body, &mut |stmt| {
                if let Some((components, offset)) = array.accessed(&stmt.kind) {
                    array.components |= components;
                    // One operation tells of a number what it is, one takes a component.
                    let operations =
                        if offset.unsigned_abs() < FAR { 1 + components.count_ones() } else { MOST + 1 };
                    accesses = accesses.saturating_add(operations);
                }
            });
        }
        let words = elements.saturating_mul(array.components.count_ones());
        if words <= WORDS && elements.saturating_mul(accesses) <= MOST {
            for _ in 0..elements {
                array.rows.push(
                    [0, 1, 2, 3].map(|k| (array.components >> k & 1 == 1).then(|| Reg::fresh(&mut next))),
                );
            }
            arrays.push(array);
        }
    }
    let find = |number: u32| arrays.iter().find(|array: &&Array| array.number == number);
    for function in &mut out.functions {
        let body = mem::take(&mut function.body);
        function.body = in_place(body, &mut next, &mut |inst, made| match *inst {
            MemoryInst::ArrayLoad { array, index, offset, dst } => {
                find(array).map(|array| array.load(made, index, offset, dst)).is_some()
            }
            MemoryInst::ArrayStore { array, index, offset, src } => {
                find(array).map(|array| array.store(made, index, offset, src)).is_some()
            }
            _ => false,
        });
    }
    out.registers = next;
    out.interface.arrays.retain(|number, _| find(*number).is_none());
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
    /// The components that a statement accesses, and the offset, if it accesses this array.
    fn accessed(&self, kind: &StmtKind) -> Option<(u32, i32)> {
        let bits = |taken: [bool; 4]| (0..4).filter(|&k| taken[k]).fold(0, |bits, k| bits | 1 << k);
        match kind.memory()? {
            MemoryInst::ArrayLoad { array, dst, offset, .. } if *array == self.number => {
                Some((bits(dst.map(|register| register.is_some())), *offset))
            }
            MemoryInst::ArrayStore { array, src, offset, .. } if *array == self.number => {
                Some((bits(src.map(|operand| operand.is_some())), *offset))
            }
            _ => None,
        }
    }

    fn load(&self, made: &mut Made<'_>, index: Operand, offset: i32, dst: Dst4) {
        let number = number_of(made, index, offset);
        let element = |number: u32, k: usize| {
            let row = self.rows.get(number as usize).and_then(|element| element[k]);
            row.map_or(Operand::Imm(0), Operand::Reg)
        };
        let wanted = |k: &usize| dst[*k].is_some();
        // All are read before any is written: the number may be one of them.
        let words: Vec<(usize, Operand)> = match number {
            Operand::Imm(number) => (0..4).filter(wanted).map(|k| (k, element(number, k))).collect(),
            _ => {
                let bits = self.elements.next_power_of_two().trailing_zeros();
                let tests: Vec<Operand> =
                    (0..bits).map(|bit| made.value(LaneOp::And, [number, Operand::Imm(1 << bit)])).collect();
                let inside = made.value(LaneOp::Ult, [number, Operand::Imm(self.elements)]);
                let mut all = Vec::new();
                for k in (0..4).filter(wanted) {
                    let mut words: Vec<Operand> = (0..1 << bits).map(|number| element(number, k)).collect();
                    for test in &tests {
                        let choose = |pair: &[Operand]| match pair {
                            [one, other] if one == other => *one,
                            [one, other] => made.value(LaneOp::Select, [*test, *other, *one]),
                            _ => unreachable!("a power of two"),
                        };
                        words = words.chunks(2).map(choose).collect();
                    }
                    all.push((k, made.value(LaneOp::And, [words[0], inside])));
                }
                all
            }
        };
        for (k, word) in words {
            if let Some(to) = dst[k] {
                made.lane(LaneOp::Mov, to, [word]);
            }
        }
    }

    fn store(&self, made: &mut Made<'_>, index: Operand, offset: i32, src: Src4) {
        let number = number_of(made, index, offset);
        for (at, element) in (0..).zip(&self.rows) {
            let here = match number {
                Operand::Imm(number) if number == at => None,
                Operand::Imm(_) => continue,
                _ => Some(made.value(LaneOp::Ieq, [number, Operand::Imm(at)])),
            };
            for (to, from) in element.iter().zip(src).filter_map(|(to, from)| Some(((*to)?, from?))) {
                match here {
                    None => made.lane(LaneOp::Mov, to, [from]),
                    Some(here) => made.lane(LaneOp::Select, to, [here, from, Operand::Reg(to)]),
                }
            }
        }
    }
}

/// The number of an element.
fn number_of(made: &mut Made<'_>, index: Operand, offset: i32) -> Operand {
    match (index, offset) {
        (Operand::Imm(index), _) => Operand::Imm(index.wrapping_add_signed(offset)),
        (index, 0) => index,
        _ => made.value(LaneOp::Iadd, [index, Operand::Imm(offset as u32)]),
    }
}
