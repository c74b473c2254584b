//! Ordinary arithmetic: one lane operation for each component, pair or scalar.

use smallvec::SmallVec;

use crate::inst::{Dst, Inst, Src, Write};
use crate::ir::{LaneOp, Operand};
use crate::isa::lane::Class;
use crate::isa::{Choice, VectorRule, View};

use super::build::{Args, Builder};
use super::source::{NOTHING, ONE, Words};
use super::write::{Value, Values, written};

impl Builder<'_> {
    pub fn lane_inst(&mut self, inst: &Inst, view: View, choice: Choice) {
        let Some(dst) = &inst.dst else {
            return self.refuse("operand-count", format!("`{}` needs a destination", inst.opcode.mnemonic()));
        };
        let (op, zeroop) = match choice {
            Choice::One(op) => (op, None),
            Choice::Ieee { bare, ieee } => (if inst.controls.ieee { ieee } else { bare }, None),
            Choice::Zeroop { op, bare } => (op, Some(inst.controls.zeroop.unwrap_or(bare) as u32)),
        };
        let classes = op.arguments();
        let given = classes.len() - usize::from(zeroop.is_some());
        if self.sources(inst).len() != given {
            return self.refuse(
                "operand-count",
                format!(
                    "`{}` takes {given} sources, not {}",
                    inst.opcode.mnemonic(),
                    self.sources(inst).len()
                ),
            );
        }
        if op.result() == Class::Q || classes.contains(&Class::Q) {
            return self.wide_inst(inst, dst, op, view, zeroop);
        }
        let scalar = inst.opcode.row().rule == VectorRule::ScalarReplicated;
        let positions = if scalar { 0b1000 } else { written(dst) };
        let mut words: SmallVec<[Words; 4]> = SmallVec::new();
        for (k, (src, class)) in self.sources(inst).iter().zip(classes).enumerate() {
            words.push(NOTHING);
            self.source_to(src, positions, argument_view(view, op, k, *class), &mut words[k]);
        }
        if !scalar && self.each(inst, dst, op, &words, zeroop) {
            return;
        }
        let args = |k: usize| {
            let mut args = Args::new();
            words.iter().for_each(|words| args.push(words[k]));
            zeroop.into_iter().for_each(|zeroop| args.push(Operand::Imm(zeroop)));
            args
        };
        if scalar {
            let value = self.result(inst, view, op, args(3));
            return self.write(dst, Self::replicate(dst, value));
        }
        let mut values: Values = Values::default();
        for (k, value) in values.iter_mut().enumerate().filter(|(k, _)| positions & (1 << k) != 0) {
            *value = Some(self.result(inst, view, op, args(k)));
        }
        self.write(dst, values);
    }

    /// Emits `op` for each component of `dst`, if that is a register, nothing is done to the results, and no component reads
    /// what one before it wrote: as most instructions are.
    fn each(&mut self, inst: &Inst, dst: &Dst, op: LaneOp, words: &[Words], zeroop: Option<u32>) -> bool {
        let plain = inst.controls.scale == 0 && !inst.controls.saturate;
        let count = words.len() + usize::from(zeroop.is_some());
        if !plain || count > 4 {
            return false;
        }
        let Some(registers) = self.registers_of(dst) else { return false };
        let result = |k: usize| registers[k].filter(|_| dst.mask[k] == Write::Result);
        let reads_earlier = |k: usize| {
            (0..k).any(|c| registers[c].is_some_and(|reg| words.iter().any(|w| w[k] == Operand::Reg(reg))))
        };
        if (1..4).any(|k| result(k).is_some() && reads_earlier(k)) {
            return false;
        }
        for k in 0..4 {
            let Some(register) = registers[k] else { continue };
            match dst.mask[k] {
                Write::Keep => {}
                Write::Zero => self.copy(register, Operand::Imm(0)),
                Write::One => self.copy(register, Operand::Imm(ONE)),
                Write::Result => {
                    let mut args = [Operand::Imm(zeroop.unwrap_or(0)); 4];
                    words.iter().zip(&mut args).for_each(|(words, arg)| *arg = words[k]);
                    self.folded(op, register, &args[..count]);
                }
            }
        }
        true
    }

    /// The value of `op`, scaled and saturated if it is a float.
    fn result(&mut self, inst: &Inst, view: View, op: LaneOp, args: Args) -> Value {
        let float = op.result() == Class::F || matches!(view, View::Float | View::Bits) && is_move(op);
        let value = match (op, &args[..]) {
            (LaneOp::Mov, [word]) => Value::Word(*word),
            _ => Value::Op(op, args),
        };
        if float { self.finish(&inst.controls, value) } else { value }
    }

    /// Instructions with 64-bit operands or results: pairs come from positions 0 and 1, words from position 0.
    fn wide_inst(&mut self, inst: &Inst, dst: &Dst, op: LaneOp, view: View, zeroop: Option<u32>) {
        let mut args = Args::new();
        for (src, class) in self.sources(inst).iter().zip(op.arguments()) {
            match class {
                Class::Q => {
                    let words = self.source(src, 0b11, view);
                    args.extend([words[0], words[1]]);
                }
                class => args.push(self.word_of_pair_inst(src, *class)),
            }
        }
        args.extend(zeroop.map(Operand::Imm));
        if op.result() != Class::Q {
            let value = self.result(inst, view, op, args);
            return self.write(dst, Self::replicate(dst, value));
        }
        if inst.controls.saturate && view == View::Double {
            let [lo, hi] = self.pair(op, &args);
            return self.write_wide(dst, LaneOp::Dsaturate, Args::from_slice(&[lo, hi]));
        }
        self.write_wide(dst, op, args);
    }

    fn word_of_pair_inst(&mut self, src: &Src, class: Class) -> Operand {
        let view = if class == Class::F { View::Float } else { View::Int };
        self.position(src, 0, view)
    }

    /// Writes the result of a 64-bit operation to the pairs that the mask names.
    pub fn write_wide(&mut self, dst: &Dst, op: LaneOp, args: Args) {
        let values = match written(dst) {
            0b0011 => [Some(Value::Low(op, args)), Some(Value::High), None, None],
            0b1100 => [None, None, Some(Value::Low(op, args)), Some(Value::High)],
            0b1111 => {
                [Some(Value::Low(op, args)), Some(Value::High), Some(Value::Same(0)), Some(Value::Same(1))]
            }
            _ => {
                let words = self.pair(op, &args);
                return self.write_pair(dst, words);
            }
        };
        self.write(dst, values);
    }

    /// Writes a 64-bit value to the pairs of the mask, word by word.
    pub fn write_pair(&mut self, dst: &Dst, words: [Operand; 2]) {
        let mask = written(dst);
        let values = std::array::from_fn(|k| (mask & (1 << k) != 0).then(|| Value::Word(words[k % 2])));
        self.write(dst, values);
    }
}

/// How a 32-bit argument of an instruction with view `view` is read.
fn argument_view(view: View, op: LaneOp, k: usize, class: Class) -> View {
    match (class, op, k) {
        (Class::F, ..) => View::Float,
        // An exponent, and the classes that are asked for, beside floats.
        (_, LaneOp::Ldexp | LaneOp::Class, 1) => View::Int,
        _ => view,
    }
}

/// Operations that deliver one of their operands bit for bit.
pub(super) fn is_move(op: LaneOp) -> bool {
    matches!(op, LaneOp::Mov | LaneOp::Select | LaneOp::AbsBits)
}
