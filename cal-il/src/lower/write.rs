//! Destination operands: scale, saturate, masks with forced constants, and every writable register file.

use smallvec::{SmallVec, smallvec};

use crate::inst::{Controls, Dst, Register, Write};
use crate::ir::{Dst4, LaneInst, LaneOp, MemoryInst, Operand, Reg, Src4};

use super::build::{Args, Builder};
use super::source::ONE;

/// What a destination component becomes.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// This word.
    Word(Operand),
    /// The result of an operation.
    Op(LaneOp, Args),
    /// The low word of a 64-bit operation.
    Low(LaneOp, Args),
    /// The high word of the operation in the component before.
    High,
    /// What the given component becomes.
    Same(usize),
}

impl Value {
    pub fn op(op: LaneOp, args: &[Operand]) -> Self {
        Value::Op(op, SmallVec::from_slice(args))
    }
}

/// Values of the components that a mask writes; `None` elsewhere.
pub(super) type Values = [Option<Value>; 4];

/// Bit k = component k takes the result.
pub(super) fn written(dst: &Dst) -> u8 {
    (0..4).filter(|&k| dst.mask[k] == Write::Result).fold(0, |bits, k| bits | 1 << k)
}

impl Builder<'_> {
    /// `value` in every component that `dst` writes.
    pub fn replicate(dst: &Dst, value: Value) -> Values {
        let mask = written(dst);
        let first = mask.trailing_zeros() as usize;
        let mut values = Values::default();
        for k in (first + 1..4).filter(|k| mask & (1 << k) != 0) {
            values[k] = Some(Value::Same(first));
        }
        if let Some(place) = values.get_mut(first) {
            *place = Some(value);
        }
        values
    }

    /// The scale and saturation of a float result.
    #[inline]
    pub fn finish(&mut self, controls: &Controls, value: Value) -> Value {
        if controls.scale == 0 && !controls.saturate {
            return value;
        }
        let (mut op, mut args) = match value {
            Value::Op(op, args) => (op, args),
            Value::Word(word) => (LaneOp::Mov, smallvec![word]),
            other => return other,
        };
        if controls.scale != 0 {
            let v = self.value(op, &args);
            let factor = ((127 + i32::from(controls.scale)) as u32) << 23;
            (op, args) = (LaneOp::MulIeee, smallvec![v, Operand::Imm(factor)]);
        }
        if controls.saturate {
            let v = self.value(op, &args);
            (op, args) = (LaneOp::Saturate, smallvec![v]);
        }
        Value::Op(op, args)
    }

    /// Writes `values` and the constants that the mask forces. All operands are read before anything is written.
    pub fn write(&mut self, dst: &Dst, mut values: Values) {
        for (value, write) in values.iter_mut().zip(dst.mask) {
            match write {
                Write::Keep => *value = None,
                Write::Result => {
                    value.get_or_insert(Value::Word(Operand::Imm(0)));
                }
                Write::Zero => *value = Some(Value::Word(Operand::Imm(0))),
                Write::One => *value = Some(Value::Word(Operand::Imm(ONE))),
            }
        }
        match self.registers_of(dst) {
            Some(registers) => self.assign(registers, &mut values),
            None => {
                let words = self.evaluate(values);
                self.store(dst, words);
            }
        }
    }

    /// The registers behind a destination that is one; `None` for memory-like files.
    #[inline]
    pub fn registers_of(&mut self, dst: &Dst) -> Option<Dst4> {
        match dst.register {
            Register::Temp(number) => {
                Some(std::array::from_fn(|c| (dst.mask[c] != Write::Keep).then(|| self.temp(number, c))))
            }
            Register::Output(number) => Some(self.output(number).map(Some)),
            _ => None,
        }
    }

    fn assign(&mut self, registers: Dst4, components: &mut Values) {
        let register = |c: usize| registers[c].expect("a written component has a register");
        if Self::in_order(&registers, components) {
            for (c, component) in components.iter().enumerate() {
                match component {
                    Some(Value::Word(word)) => self.copy(register(c), *word),
                    Some(Value::Op(op, args)) => self.folded(*op, register(c), args),
                    Some(Value::Same(of)) => self.copy(register(c), Operand::Reg(register(*of))),
                    Some(Value::Low(..) | Value::High) | None => {}
                }
            }
            return;
        }
        let mut insts: SmallVec<[LaneInst; 4]> = SmallVec::new();
        let mut copies: SmallVec<[(Reg, Reg); 4]> = SmallVec::new();
        for c in 0..4 {
            match components[c].take() {
                None => {}
                Some(Value::Word(word)) => {
                    insts.push(LaneInst::word(LaneOp::Mov, register(c), [word]));
                }
                Some(Value::Op(op, args)) => insts.push(match super::fold::fold(op, &args) {
                    Some((word, None)) => LaneInst::word(LaneOp::Mov, register(c), [Operand::Imm(word)]),
                    _ => LaneInst { op, dst: [register(c); 2], args },
                }),
                Some(Value::Low(op, args)) => {
                    let high = if matches!(components.get(c + 1), Some(Some(Value::High))) {
                        components[c + 1] = None;
                        register(c + 1)
                    } else {
                        self.scratch()
                    };
                    insts.push(LaneInst { op, dst: [register(c), high], args });
                }
                Some(Value::High) => {
                    debug_assert!(false, "a high word follows its low word");
                }
                Some(Value::Same(of)) => copies.push((register(c), register(of))),
            }
        }
        self.parallel(insts);
        for (dst, src) in copies {
            self.copy(dst, Operand::Reg(src));
        }
    }

    /// Whether components are words and single operations none of which reads what one before it writes, as most are.
    fn in_order(registers: &Dst4, components: &Values) -> bool {
        let mut written = [None; 4];
        components.iter().zip(registers).enumerate().all(|(c, (component, register))| {
            let free = |arg: &Operand| !matches!(*arg, Operand::Reg(reg) if written.contains(&Some(reg)));
            let fits = match component {
                None => return true,
                Some(Value::Same(_)) => true,
                Some(Value::Word(word)) => free(word),
                Some(Value::Op(_, args)) => args.iter().all(free),
                Some(Value::Low(..) | Value::High) => false,
            };
            written[c] = *register;
            fits
        })
    }

    /// The words of `components`, in scratch registers where they are computed.
    fn evaluate(&mut self, components: Values) -> Src4 {
        let mut words: Src4 = [None; 4];
        let mut high = None;
        for (c, component) in components.into_iter().enumerate() {
            words[c] = match component {
                None => None,
                Some(Value::Word(word)) => Some(word),
                Some(Value::Op(op, args)) => Some(self.value(op, &args)),
                Some(Value::Low(op, args)) => {
                    let [lo, hi] = self.pair(op, &args);
                    high = Some(hi);
                    Some(lo)
                }
                Some(Value::High) => high,
                Some(Value::Same(of)) => words[of],
            };
        }
        words
    }

    fn store(&mut self, dst: &Dst, src: Src4) {
        let inst = match &dst.register {
            Register::Array(array, index) => {
                let (index, offset) = self.index(index);
                MemoryInst::ArrayStore { array: *array, index, offset, src }
            }
            Register::Global(index) => {
                let (index, offset) = self.index(index);
                MemoryInst::GlobalStore { index, offset, src }
            }
            Register::Shared(number) => MemoryInst::SharedStore { register: *number, src },
            other => return self.refuse("destination", format!("{other:?} cannot be written")),
        };
        self.memory(inst);
    }

    /// Emits a load into `dst`: `make` gets the registers of the components that take the result. Float results
    /// of texture reads are then scaled and saturated.
    pub fn load_into(&mut self, dst: &Dst, controls: &Controls, make: impl FnOnce(Dst4) -> MemoryInst) {
        let mask = written(dst);
        let plain = controls.scale == 0 && !controls.saturate;
        if let (true, Some(registers)) = (plain, self.registers_of(dst)) {
            let loaded = std::array::from_fn(|c| registers[c].filter(|_| mask & (1 << c) != 0));
            self.memory(make(loaded));
            for (write, register) in dst.mask.iter().zip(registers) {
                let forced = match write {
                    Write::Zero => 0,
                    Write::One => ONE,
                    Write::Keep | Write::Result => continue,
                };
                if let Some(register) = register {
                    self.copy(register, Operand::Imm(forced));
                }
            }
            return;
        }
        let loaded: Dst4 = std::array::from_fn(|c| (mask & (1 << c) != 0).then(|| self.scratch()));
        self.memory(make(loaded));
        let values = loaded.map(|reg| reg.map(|reg| self.finish(controls, Value::Word(Operand::Reg(reg)))));
        self.write(dst, values);
    }

    /// Emits a load of one word that goes to every component that `dst` writes.
    pub fn load_word(&mut self, dst: &Dst, make: impl FnOnce(Reg) -> MemoryInst) {
        if written(dst) == 0 {
            let unused = self.scratch();
            self.memory(make(unused));
            return self.write(dst, [None, None, None, None]);
        }
        let first = written(dst).trailing_zeros() as usize;
        let register = match self.registers_of(dst) {
            Some(registers) => registers[first].unwrap_or(Reg(0)),
            None => self.scratch(),
        };
        self.memory(make(register));
        self.write(dst, Self::replicate(dst, Value::Word(Operand::Reg(register))));
    }
}
