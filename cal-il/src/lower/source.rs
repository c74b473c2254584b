//! Source operands: register files, swizzles, relative indices and modifiers become operand words.

use crate::inst::{Index, Modifiers, Register, Src, ThreadId, Zeroop};
use crate::ir::{Builtin, Dst4, LaneOp, MemoryInst, Operand};
use crate::isa::View;

use super::build::Builder;

/// 1.0 as a word.
pub(super) const ONE: u32 = 0x3F80_0000;
const TWO: u32 = 0x4000_0000;
const MINUS_HALF: u32 = 0xBF00_0000;

/// The words that the positions of a source operand deliver; positions that were not asked for are 0.
pub(super) type Words = [Operand; 4];

/// No position is asked for.
pub(super) const NOTHING: Words = [Operand::Imm(0); 4];
/// What a position selects beside components, in their order.
const CONSTANTS: [Operand; 2] = [Operand::Imm(0), Operand::Imm(ONE)];

/// What `word` makes of components; 0 in the place of others.
fn each<'b>(
    builder: &mut Builder<'b>,
    components: u8,
    mut word: impl FnMut(&mut Builder<'b>, usize) -> Operand,
) -> Words {
    std::array::from_fn(|c| if components >> c & 1 == 1 { word(builder, c) } else { Operand::Imm(0) })
}

impl Builder<'_> {
    /// The positions of `src` in `positions` (bit k = position k), modified as `view` says.
    pub fn source(&mut self, src: &Src, positions: u8, view: View) -> Words {
        let mut words = NOTHING;
        self.source_to(src, positions, view, &mut words);
        words
    }

    /// The same, in place of zeros: a processor waits for what it copies right after it was put together.
    pub fn source_to(&mut self, src: &Src, positions: u8, view: View, words: &mut Words) {
        let mut wanted = positions;
        if let Some(divisor) = src.modifiers.div_comp {
            wanted |= 1 << divisor;
        }
        if view == View::Double || view == View::Quad {
            wanted |= 0b11;
        }
        self.positions_to(src, wanted, words);
        if src.modifiers != Modifiers::default() {
            *words = match view {
                View::Int => self.negate_int(src, *words, positions),
                View::Quad => self.negate_quad(src, *words),
                View::Double => self.modify_double(src, *words),
                View::Float | View::Bits => self.modify_float(src, *words, positions, view),
            };
        }
    }

    /// One position of `src`.
    pub fn position(&mut self, src: &Src, position: usize, view: View) -> Operand {
        self.source(src, 1 << position, view)[position]
    }

    /// The words at `positions` before modifiers. Memory-like files are read here, once an operand.
    pub fn positions(&mut self, src: &Src, positions: u8) -> Words {
        let mut words = NOTHING;
        self.positions_to(src, positions, &mut words);
        words
    }

    fn positions_to(&mut self, src: &Src, positions: u8, words: &mut Words) {
        let asked = |k: &usize| positions >> k & 1 == 1;
        let selects = |k: usize| src.swizzle[k] as usize;
        if let Register::Temp(number) = src.register {
            for k in (0..4).filter(asked) {
                words[k] = match selects(k) {
                    component @ 0..=3 => Operand::Reg(self.temp(number, component)),
                    constant => CONSTANTS[constant - 4],
                };
            }
        } else {
            let components = (0..4).filter(asked).fold(0, |components, k| components | 1 << selects(k));
            let [x, y, z, w] = self.register(&src.register, components & 0b1111);
            let selected = [x, y, z, w, CONSTANTS[0], CONSTANTS[1]];
            (0..4).filter(asked).for_each(|k| words[k] = selected[selects(k)]);
        }
        if let Some(&filler) = self.fillers.get(&src.span) {
            let given = usize::from(src.given);
            (given..4).filter(asked).for_each(|k| words[k] = Operand::Reg(filler));
        }
    }

    /// The stored components of `register` (bit k of `components` = component k).
    fn register(&mut self, register: &Register, components: u8) -> Words {
        if components == 0 {
            return [Operand::Imm(0); 4];
        }
        match *register {
            Register::Temp(number) => each(self, components, |b, c| Operand::Reg(b.temp(number, c))),
            Register::Output(number) => each(self, components, |b, c| Operand::Reg(b.output(number)[c])),
            Register::Literal(words) => words.map(Operand::Imm),
            Register::Interpolant(number) => {
                each(self, components, |_, c| Operand::Builtin(Builtin::Interpolant(number as u16, c as u8)))
            }
            Register::Position => each(self, components, |_, c| match c {
                0 | 1 => Operand::Builtin(Builtin::Position(c as u8)),
                _ => Operand::Imm(0),
            }),
            Register::ObjectIndex => each(self, components, |_, c| match c {
                0 => Operand::Builtin(Builtin::ObjectIndex),
                _ => Operand::Imm(0),
            }),
            Register::Thread(id) => each(self, components, |_, c| thread(id, c)),
            Register::Timer => each(self, components, |_, c| match c {
                0 | 1 => Operand::Builtin(Builtin::Timer(c as u8)),
                _ => Operand::Imm(0),
            }),
            Register::Nothing | Register::Mem => [Operand::Imm(0); 4],
            Register::Shared(number) => {
                self.load(components, |dst| MemoryInst::SharedLoad { register: number, dst })
            }
            Register::Array(array, ref index) => {
                let (index, offset) = self.index(index);
                self.load(components, |dst| MemoryInst::ArrayLoad { array, index, offset, dst })
            }
            Register::Global(ref index) => {
                let (index, offset) = self.index(index);
                self.load(components, |dst| MemoryInst::GlobalLoad { index, offset, dst })
            }
            Register::Const(buffer, ref index) => match self.index(index) {
                (Operand::Imm(base), offset) => {
                    let row = (base as i32).wrapping_add(offset);
                    std::array::from_fn(|c| match u32::try_from(row) {
                        Ok(row) => Operand::Const { buffer: buffer as u16, row, component: c as u8 },
                        Err(_) => Operand::Imm(0),
                    })
                }
                (index, offset) => {
                    self.load(components, |dst| MemoryInst::ConstLoad { buffer, index, offset, dst })
                }
            },
            Register::Immediate(ref index) => match self.index(index) {
                (Operand::Imm(base), offset) => {
                    let row = (base as i32).wrapping_add(offset);
                    let words =
                        usize::try_from(row).ok().and_then(|r| self.kernel.interface.immediates.get(r));
                    words.copied().unwrap_or([0; 4]).map(Operand::Imm)
                }
                (index, offset) => {
                    self.load(components, |dst| MemoryInst::ImmediateLoad { index, offset, dst })
                }
            },
        }
    }

    fn load(&mut self, components: u8, make: impl FnOnce(Dst4) -> MemoryInst) -> Words {
        let dst: Dst4 = std::array::from_fn(|c| (components & (1 << c) != 0).then(|| self.scratch()));
        let inst = make(dst);
        self.memory(inst);
        dst.map(|reg| reg.map_or(Operand::Imm(0), Operand::Reg))
    }

    /// Index operand and offset of a relative address.
    pub fn index(&mut self, index: &Index) -> (Operand, i32) {
        match &index.base {
            None => (Operand::Imm(0), index.offset),
            Some(base) => {
                let (register, component) = &**base;
                let c = usize::from(*component & 3);
                match self.register(register, 1 << c)[c] {
                    Operand::Imm(base) => (Operand::Imm(base.wrapping_add(index.offset as u32)), 0),
                    word => (word, index.offset),
                }
            }
        }
    }

    /// Two's complement; other modifiers mean nothing to integers (the checker warns).
    fn negate_int(&mut self, src: &Src, mut words: Words, positions: u8) -> Words {
        for (k, word) in words.iter_mut().enumerate() {
            if positions & src.modifiers.neg & (1 << k) != 0 {
                *word = self.value(LaneOp::Inegate, &[*word]);
            }
        }
        words
    }

    fn negate_quad(&mut self, src: &Src, mut words: Words) -> Words {
        if src.modifiers.neg & 0b11 != 0 {
            let [lo, hi] = self.pair(LaneOp::I64negate, &[words[0], words[1]]);
            words[0] = lo;
            words[1] = hi;
        }
        words
    }

    /// The sign of a double is that of position 1, its high word.
    fn modify_double(&mut self, src: &Src, mut words: Words) -> Words {
        if src.modifiers.abs {
            words[1] = self.value(LaneOp::AbsBits, &[words[1]]);
        }
        if src.modifiers.neg & 0b10 != 0 {
            words[1] = self.value(LaneOp::NegBits, &[words[1]]);
        }
        words
    }

    /// Modifiers in their documented order: invert, bias, x2, sign, divComp, abs, neg, sat.
    fn modify_float(&mut self, src: &Src, mut words: Words, positions: u8, view: View) -> Words {
        let m = src.modifiers;
        // A divisor is modified as what it divides, whether it is wanted itself or not.
        let positions = positions | m.div_comp.map_or(0, |divisor| 1 << (divisor & 3));
        let each =
            |b: &mut Self, words: &mut Words, f: &mut dyn FnMut(&mut Self, usize, Operand) -> Operand| {
                for (k, word) in words.iter_mut().enumerate() {
                    if positions & (1 << k) != 0 {
                        *word = f(b, k, *word);
                    }
                }
            };
        if m.invert {
            each(self, &mut words, &mut |b, _, v| b.value(LaneOp::Sub, &[Operand::Imm(ONE), v]));
        }
        if m.bias {
            each(self, &mut words, &mut |b, _, v| b.value(LaneOp::Add, &[v, Operand::Imm(MINUS_HALF)]));
        }
        if m.x2 {
            each(self, &mut words, &mut |b, _, v| b.value(LaneOp::MulIeee, &[v, Operand::Imm(TWO)]));
        }
        if m.sign {
            each(self, &mut words, &mut |b, _, v| b.value(LaneOp::Sgn, &[v]));
        }
        if let Some(divisor) = m.div_comp {
            let d = usize::from(divisor & 3);
            let by = words[d];
            let zeroop = Operand::Imm(Zeroop::FltMax as u32);
            each(self, &mut words, &mut |b, k, v| {
                if k < d { b.value(LaneOp::Div, &[v, by, zeroop]) } else { v }
            });
        }
        // Arithmetic sees flushed words; plain moves keep every bit.
        let (abs, neg) =
            if view == View::Bits { (LaneOp::AbsBits, LaneOp::NegBits) } else { (LaneOp::Abs, LaneOp::Neg) };
        if m.abs {
            each(self, &mut words, &mut |b, _, v| b.value(abs, &[v]));
        }
        if m.neg != 0 {
            each(self, &mut words, &mut |b, k, v| if m.neg & (1 << k) != 0 { b.value(neg, &[v]) } else { v });
        }
        if m.saturate {
            each(self, &mut words, &mut |b, _, v| b.value(LaneOp::Saturate, &[v]));
        }
        words
    }
}

fn thread(id: ThreadId, component: usize) -> Operand {
    match id {
        ThreadId::InGroupFlat | ThreadId::AbsoluteFlat | ThreadId::GroupFlat => {
            Operand::Builtin(Builtin::Thread(id, 0))
        }
        _ if component == 3 => Operand::Imm(0),
        _ => Operand::Builtin(Builtin::Thread(id, component as u8)),
    }
}
