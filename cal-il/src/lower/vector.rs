//! Vector instructions: those that combine positions or write components of different meaning (amd-il-alu 3.8).
//!
//! Sums run from left to right, every step rounded, so a NaN always comes through.

use smallvec::smallvec;

use crate::inst::{Controls, Dst, Inst, Register, Relop, Src, Write, Zeroop};
use crate::ir::{LaneOp, Operand};
use crate::isa::{Vector, View};

use super::build::{Args, Builder};
use super::source::{ONE, Words};
use super::write::{Value, Values, written};

const ZERO_WORD: Operand = Operand::Imm(0);
const ONE_WORD: Operand = Operand::Imm(ONE);
const TWO_WORD: Operand = Operand::Imm(0x4000_0000);

impl Builder<'_> {
    pub fn vector_inst(&mut self, inst: &Inst, vector: Vector) {
        let Some(dst) = &inst.dst else {
            return self.refuse("operand-count", format!("`{}` needs a destination", inst.opcode.mnemonic()));
        };
        let c = &inst.controls;
        let src = self.sources(inst);
        match vector {
            Vector::Dot2 => self.dot_inst(inst, dst, 2),
            Vector::Dot3 => self.dot_inst(inst, dst, 3),
            Vector::Dot4 => self.dot_inst(inst, dst, 4),
            Vector::Dot2Add => {
                let (a, b) = (self.floats(&src[0], 2), self.floats(&src[1], 2));
                let add = self.position(&src[2], 3, View::Float);
                let dot = self.dot(c.ieee, &a, &b, 2);
                self.write_one(dst, c, Value::op(LaneOp::Add, &[dot, add]));
            }
            Vector::Length => {
                let a = self.floats(&src[0], 3);
                let square = self.dot(false, &a, &a, 3);
                self.write_one(dst, c, Value::op(LaneOp::Sqrt, &[square]));
            }
            Vector::Distance => {
                let (a, b) = (self.floats(&src[0], 3), self.floats(&src[1], 3));
                let d: Words = std::array::from_fn(|k| self.value(LaneOp::Sub, &[a[k], b[k]]));
                let square = self.dot(false, &d, &d, 3);
                self.write_one(dst, c, Value::op(LaneOp::Sqrt, &[square]));
            }
            Vector::Normalize => {
                let n = if c.nrm4 { 4 } else { 3 };
                let positions = written(dst) | ((1 << n) - 1);
                let a = self.source(&src[0], positions, View::Float);
                let square = self.dot(false, &a, &a, n);
                let zeroop = Operand::Imm(c.zeroop.unwrap_or(Zeroop::FltMax) as u32);
                let scale = self.value(LaneOp::Rsq, &[square, zeroop]);
                self.write_each(dst, c, |_, k| Value::op(LaneOp::Mul, &[a[k], scale]));
            }
            Vector::Cross => {
                let (a, b) = (self.floats(&src[0], 3), self.floats(&src[1], 3));
                self.write_each(dst, c, |builder, k| {
                    if k == 3 {
                        return Value::Word(ZERO_WORD);
                    }
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    let first = builder.value(LaneOp::Mul, &[a[i], b[j]]);
                    let second = builder.value(LaneOp::Mul, &[a[j], b[i]]);
                    Value::op(LaneOp::Sub, &[first, second])
                });
            }
            Vector::Reflect => {
                let positions = written(dst) | 0b0111;
                let a = self.source(&src[0], positions, View::Float);
                let mut n = self.source(&src[1], positions, View::Float);
                if c.normalize {
                    let square = self.dot(false, &n, &n, 3);
                    let infinity = Operand::Imm(Zeroop::Infinity as u32);
                    let scale = self.value(LaneOp::Rsq, &[square, infinity]);
                    n = n.map(|word| self.value(LaneOp::Mul, &[word, scale]));
                }
                let dot = self.dot(false, &a, &n, 3);
                let twice = self.value(LaneOp::MulIeee, &[dot, TWO_WORD]);
                self.write_each(dst, c, |builder, k| {
                    let along = builder.value(LaneOp::Mul, &[twice, n[k]]);
                    Value::op(LaneOp::Sub, &[a[k], along])
                });
            }
            Vector::FaceForward => {
                let a = self.source(&src[0], written(dst), View::Float);
                let (b, n) = (self.floats(&src[1], 3), self.floats(&src[2], 3));
                let dot = self.dot(false, &b, &n, 3);
                let toward = self.value(LaneOp::Lt, &[dot, ZERO_WORD]);
                self.write_each(dst, c, |builder, k| {
                    let away = builder.value(LaneOp::Neg, &[a[k]]);
                    Value::op(LaneOp::SelectF, &[toward, a[k], away])
                });
            }
            Vector::Lit => {
                let a = self.source(&src[0], 0b1011, View::Float);
                let mask = written(dst);
                let diffuse = self.value(LaneOp::Max, &[a[0], ZERO_WORD]);
                let specular = if mask & 0b0100 == 0 {
                    ZERO_WORD
                } else {
                    // Direct3D limits the exponent to what 8.8 fixed point holds.
                    let limit = 0x42FF_FF00;
                    let exponent = self.value(
                        LaneOp::Clamp,
                        &[a[3], Operand::Imm(limit | 0x8000_0000), Operand::Imm(limit)],
                    );
                    let power = self.value(LaneOp::Pow, &[a[1], exponent]);
                    let lit = self.value(LaneOp::Gt, &[a[0], ZERO_WORD]);
                    let seen = self.value(LaneOp::Gt, &[a[1], ZERO_WORD]);
                    let both = self.value(LaneOp::And, &[lit, seen]);
                    self.value(LaneOp::SelectF, &[both, power, ZERO_WORD])
                };
                let words = [ONE_WORD, diffuse, specular, ONE_WORD];
                self.write_each(dst, c, |_, k| Value::Word(words[k]));
            }
            Vector::Dst => {
                let a = self.source(&src[0], 0b0110, View::Float);
                let b = self.source(&src[1], 0b1010, View::Float);
                self.write_each(dst, c, |_, k| match k {
                    0 => Value::Word(ONE_WORD),
                    1 => Value::op(LaneOp::Mul, &[a[1], b[1]]),
                    2 => Value::Word(a[2]),
                    _ => Value::Word(b[3]),
                });
            }
            Vector::SinCos => {
                let a = self.position(&src[0], 3, View::Float);
                self.write_each(dst, c, |_, k| match k {
                    0 => Value::op(LaneOp::Cos, &[a]),
                    1 => Value::op(LaneOp::Sin, &[a]),
                    _ => Value::Word(ZERO_WORD),
                });
            }
            Vector::ExpPartial => {
                let a = self.position(&src[0], 3, View::Float);
                self.write_each(dst, c, |builder, k| match k {
                    0 => {
                        let whole = builder.value(LaneOp::Floor, &[a]);
                        Value::op(LaneOp::Exp, &[whole])
                    }
                    1 => Value::op(LaneOp::Frc, &[a]),
                    2 => Value::op(LaneOp::Exp, &[a]),
                    _ => Value::Word(ONE_WORD),
                });
            }
            Vector::LogPartial => self.log_partial(inst, dst),
            Vector::Transpose => self.transpose(inst, dst),
            Vector::Set => {
                let mask = written(dst);
                let a = self.source(&src[0], mask, View::Float);
                let b = self.source(&src[1], mask, View::Float);
                let op = match c.relop.unwrap_or(Relop::Eq) {
                    Relop::Ne => LaneOp::SetNe,
                    Relop::Eq => LaneOp::SetEq,
                    Relop::Ge => LaneOp::SetGe,
                    Relop::Gt => LaneOp::SetGt,
                    Relop::Le => LaneOp::SetLe,
                    Relop::Lt => LaneOp::SetLt,
                };
                self.write_each(dst, c, |_, k| Value::op(op, &[a[k], b[k]]));
            }
            Vector::Compare => {
                let mask = written(dst);
                let a = self.source(&src[0], mask, View::Float);
                let yes = self.source(&src[1], mask, View::Bits);
                let no = self.source(&src[2], mask, View::Bits);
                let with = Operand::Imm(c.cmpval.to_bits());
                let op = match c.relop.unwrap_or(Relop::Eq) {
                    Relop::Ne => LaneOp::Ne,
                    Relop::Eq => LaneOp::Eq,
                    Relop::Ge => LaneOp::Ge,
                    Relop::Gt => LaneOp::Gt,
                    Relop::Le => LaneOp::Le,
                    Relop::Lt => LaneOp::Lt,
                };
                self.write_each(dst, c, |builder, k| {
                    let test = builder.value(op, &[a[k], with]);
                    Value::op(LaneOp::Select, &[test, yes[k], no[k]])
                });
            }
            Vector::ConditionalMove => {
                let mask = written(dst);
                let test = self.source(&src[0], mask, View::Float);
                let value = self.source(&src[1], mask, View::Bits);
                let old = self.current(dst, mask);
                // What stays is neither scaled nor saturated.
                self.write_each(dst, &Controls::default(), |builder, k| {
                    let moved = match builder.finish(c, Value::Word(value[k])) {
                        Value::Op(op, args) => builder.value(op, &args),
                        _ => value[k],
                    };
                    Value::op(LaneOp::Cmov, &[test[k], moved, old[k]])
                });
            }
            Vector::Sad4 => {
                let (a, b) =
                    (self.source(&src[0], 0b1111, View::Int), self.source(&src[1], 0b1111, View::Int));
                let mut sum = self.position(&src[2], 0, View::Int);
                for k in 0..3 {
                    sum = self.value(LaneOp::Sad, &[a[k], b[k], sum]);
                }
                self.write(dst, Self::replicate(dst, Value::op(LaneOp::Sad, &[a[3], b[3], sum])));
            }
            Vector::PackBytes => {
                let a = self.source(&src[0], 0b1111, View::Float);
                self.write(dst, Self::replicate(dst, Value::op(LaneOp::F2u4, &a)));
            }
            Vector::DoubleFrexp => {
                let a = self.source(&src[0], 0b0011, View::Double);
                let mask = written(dst);
                let pair: Args = smallvec![a[0], a[1]];
                let mantissa = self.pair(LaneOp::DfrexpMant, &pair);
                let values: Values = std::array::from_fn(|k| {
                    (mask & (1 << k) != 0).then(|| match k {
                        0 => Value::Word(ZERO_WORD),
                        1 => Value::Op(LaneOp::DfrexpExp, pair.clone()),
                        _ => Value::Word(mantissa[k - 2]),
                    })
                });
                self.write(dst, values);
            }
            Vector::Frexp => {
                let a = self.position(&src[0], 0, View::Float);
                let mask = written(dst);
                let values: Values = std::array::from_fn(|k| {
                    (mask & (1 << k) != 0).then(|| match k {
                        1 => Value::op(LaneOp::FrexpExp, &[a]),
                        3 => Value::op(LaneOp::FrexpMant, &[a]),
                        _ => Value::Word(ZERO_WORD),
                    })
                });
                self.write(dst, values);
            }
            Vector::DivScale | Vector::DivFmas => {
                let mask = written(dst);
                let [a, b, n] = [0, 1, 2].map(|k| self.source(&src[k], mask, View::Float));
                if vector == Vector::DivFmas {
                    return self.write_each(dst, c, |builder, k| {
                        let flag = Operand::Reg(builder.flag(k));
                        Value::op(LaneOp::DivFmas, &[a[k], b[k], n[k], flag])
                    });
                }
                for k in (0..4).filter(|k| mask & (1 << k) != 0) {
                    let flag = self.value(LaneOp::DivScaleFlag, &[a[k], b[k], n[k]]);
                    let register = self.flag(k);
                    self.copy(register, flag);
                }
                self.write_each(dst, c, |_, k| Value::op(LaneOp::DivScale, &[a[k], b[k], n[k]]));
            }
            Vector::DoubleDivScale | Vector::DoubleDivFmas => {
                let mut args: Args = Args::new();
                for operand in src {
                    let words = self.source(operand, 0b0011, View::Double);
                    args.extend([words[0], words[1]]);
                }
                let register = self.flag(4);
                if vector == Vector::DoubleDivFmas {
                    args.push(Operand::Reg(register));
                    return self.write_wide(dst, LaneOp::DdivFmas, args);
                }
                let flag = self.value(LaneOp::DdivScaleFlag, &args);
                self.copy(register, flag);
                self.write_wide(dst, LaneOp::DdivScale, args);
            }
            Vector::PairMove => {
                let words = self.source(&src[0], 0b0011, View::Double);
                self.write_pair(dst, [words[0], words[1]]);
            }
            Vector::PairSelect => {
                let test = self.position(&src[0], 0, View::Int);
                let (a, b) =
                    (self.source(&src[1], 0b0011, View::Double), self.source(&src[2], 0b0011, View::Double));
                let mask = written(dst);
                let values: Values = std::array::from_fn(|k| {
                    (mask & (1 << k) != 0).then(|| Value::op(LaneOp::Select, &[test, a[k % 2], b[k % 2]]))
                });
                self.write(dst, values);
            }
        }
    }

    /// The first `n` positions as floats.
    fn floats(&mut self, src: &Src, n: usize) -> Words {
        self.source(src, (1 << n) - 1, View::Float)
    }

    /// Left to right, products and sums rounded one by one.
    fn dot(&mut self, ieee: bool, a: &Words, b: &Words, n: usize) -> Operand {
        let (op, args) = self.dot_step(ieee, a, b, n);
        self.value(op, &args)
    }

    /// All of a dot product but its last operation, which is returned.
    fn dot_step(&mut self, ieee: bool, a: &Words, b: &Words, n: usize) -> (LaneOp, Args) {
        let (mul, mad) = if ieee { (LaneOp::MulIeee, LaneOp::MadIeee) } else { (LaneOp::Mul, LaneOp::Mad) };
        let mut sum = self.value(mul, &[a[0], b[0]]);
        for k in 1..n - 1 {
            sum = self.value(mad, &[a[k], b[k], sum]);
        }
        (mad, smallvec![a[n - 1], b[n - 1], sum])
    }

    fn dot_inst(&mut self, inst: &Inst, dst: &Dst, n: usize) {
        let (a, b) = (self.floats(&self.sources(inst)[0], n), self.floats(&self.sources(inst)[1], n));
        let (op, args) = self.dot_step(inst.controls.ieee, &a, &b, n);
        self.write_one(dst, &inst.controls, Value::Op(op, args));
    }

    /// Writes one float to all components of the mask.
    fn write_one(&mut self, dst: &Dst, controls: &Controls, value: Value) {
        let value = self.finish(controls, value);
        self.write(dst, Self::replicate(dst, value));
    }

    /// Writes a float for each component of the mask.
    fn write_each(
        &mut self,
        dst: &Dst,
        controls: &Controls,
        mut value: impl FnMut(&mut Self, usize) -> Value,
    ) {
        let mask = written(dst);
        let mut values: Values = [None, None, None, None];
        for (k, slot) in values.iter_mut().enumerate() {
            if mask & (1 << k) != 0 {
                let v = value(self, k);
                *slot = Some(self.finish(controls, v));
            }
        }
        self.write(dst, values);
    }

    /// What the components of `dst` hold now.
    fn current(&mut self, dst: &Dst, components: u8) -> Words {
        let src = Src {
            register: dst.register.clone(),
            swizzle: [
                crate::inst::Select::X,
                crate::inst::Select::Y,
                crate::inst::Select::Z,
                crate::inst::Select::W,
            ],
            given: 4,
            modifiers: Default::default(),
            span: dst.span,
        };
        self.positions(&src, components)
    }

    /// Exponent and significand come from the bits, so that they belong together next to a power of two, where a
    /// rounded logarithm is already the next whole number. A zero has significand 1, as in Direct3D.
    fn log_partial(&mut self, inst: &Inst, dst: &Dst) {
        const INFINITY: Operand = Operand::Imm(0x7F80_0000);
        const TWO: Operand = Operand::Imm(0x4000_0000);
        let c = &inst.controls;
        let a = self.position(&self.sources(inst)[0], 3, View::Float);
        let a = self.value(LaneOp::Abs, &[a]);
        let zeroop = Operand::Imm(c.zeroop.unwrap_or(Zeroop::FltMax) as u32);
        let log = if written(dst) & 0b0101 != 0 { self.value(LaneOp::Log, &[a, zeroop]) } else { ZERO_WORD };
        let zero = self.value(LaneOp::Eq, &[a, ZERO_WORD]);
        self.write_each(dst, c, |builder, k| match k {
            0 => {
                let exponent = builder.value(LaneOp::FrexpExp, &[a]);
                let exponent = builder.value(LaneOp::Iadd, &[exponent, Operand::Imm(!0)]);
                let exponent = builder.value(LaneOp::Itof, &[exponent]);
                let finite = builder.value(LaneOp::Lt, &[a, INFINITY]);
                let exponent = builder.value(LaneOp::SelectF, &[finite, exponent, log]);
                Value::op(LaneOp::SelectF, &[zero, log, exponent])
            }
            1 => {
                let significand = builder.value(LaneOp::FrexpMant, &[a]);
                let significand = builder.value(LaneOp::MulIeee, &[significand, TWO]);
                Value::op(LaneOp::SelectF, &[zero, ONE_WORD, significand])
            }
            2 => Value::Word(log),
            _ => Value::Word(ONE_WORD),
        });
    }

    /// Rows are consecutive registers from the source on; columns go to consecutive registers from the
    /// destination on. Everything is read first.
    fn transpose(&mut self, inst: &Inst, dst: &Dst) {
        let (Register::Temp(to), Register::Temp(from)) = (&dst.register, &self.sources(inst)[0].register)
        else {
            return self.refuse("transpose", "`transpose` works on temporary registers `r#`");
        };
        let (to, from) = (*to, *from);
        let (rows, columns) = match inst.controls.matrix {
            (0, _) | (_, 0) => (4, 4),
            (rows, columns) => (rows.min(4), columns.min(4)),
        };
        let mut words: Vec<Words> = Vec::with_capacity(4);
        for row in 0..rows {
            let src =
                Src { register: Register::Temp(from + u32::from(row)), ..self.sources(inst)[0].clone() };
            let read = self.source(&src, 0b1111, View::Bits);
            // A copy, since the destination rows may be the source rows.
            words.push(read.map(|word| {
                let copy = self.scratch();
                self.copy(copy, word);
                Operand::Reg(copy)
            }));
        }
        for column in 0..columns {
            let values: Values = std::array::from_fn(|row| {
                (row < usize::from(rows)).then(|| Value::Word(words[row][usize::from(column)]))
            });
            let mask = std::array::from_fn(|row| match (dst.mask[row], &values[row]) {
                (Write::Result, None) => Write::Keep,
                (write, _) => write,
            });
            let target = Dst { register: Register::Temp(to + u32::from(column)), mask, span: dst.span };
            self.write(&target, values);
        }
    }
}
