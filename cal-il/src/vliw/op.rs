//! What a lane operation becomes on a chip: its instructions, and the slots that take them.
//!
//! What the chips do in one instruction is that instruction. The rest follows the usual sequences of their compilers (divisions,
//! range reduction, Newton steps, integer division); where those differ from compiler to compiler, [`Emit::chain`] stands for a
//! sequence of about that length in which each instruction waits for the one before.

use smallvec::{SmallVec, smallvec};

use super::chip::Generation;
use super::table::{direct, direct_wide};
use super::{Alu, Chip, Slot, Src, Unit, V, Word};
use crate::isa::LaneOp;

/// Takes the instructions of a kernel.
pub(super) struct Emit<'c> {
    pub chip: &'c Chip,
    pub values: u32,
    pub out: Vec<Alu>,
}

const fn imm(word: u32) -> Src {
    Src { word: Word::Imm(word), neg: false, abs: false }
}

const fn float(value: f32) -> Src {
    imm(value.to_bits())
}

impl Emit<'_> {
    pub fn temp(&mut self) -> V {
        V::fresh(&mut self.values)
    }

    /// An instruction of one slot that writes `dst`.
    pub fn put(&mut self, name: &'static str, unit: Unit, dst: V, srcs: &[Src]) {
        let slots = smallvec![Slot { dst: Some(dst), srcs: SmallVec::from_slice(srcs) }];
        self.out.push(Alu { name, unit, slots, clamp: false, at: 0 });
    }

    /// The same, with a result of its own.
    pub fn get(&mut self, name: &'static str, unit: Unit, srcs: &[Src]) -> Src {
        let temp = self.temp();
        self.put(name, unit, temp, srcs);
        Src::of(temp)
    }

    fn trans(&mut self, name: &'static str, srcs: &[Src]) -> Src {
        self.get(name, Unit::Trans, srcs)
    }

    fn any(&mut self, name: &'static str, srcs: &[Src]) -> Src {
        self.get(name, Unit::Any, srcs)
    }

    /// About so many instructions, one after the other.
    fn chain(&mut self, names: &[&'static str], times: usize, dst: V, srcs: &[Src]) {
        let mut last = srcs[0];
        for (n, name) in std::iter::repeat_n(names, times).flatten().enumerate() {
            let unit =
                if name.starts_with("MULLO") || name.starts_with("MULHI") { Unit::Trans } else { Unit::Any };
            let arguments = [last, srcs[n % srcs.len()]];
            if n + 1 == names.len() * times {
                self.put(name, unit, dst, &arguments);
                return;
            }
            last = self.get(name, unit, &arguments);
        }
    }

    /// An instruction of doubles: two slots, or four.
    fn wide(&mut self, name: &'static str, dst: &[V], srcs: &[Src]) {
        let quad = ["MUL_64", "FMA_64", "MULADD_64", "RECIP_64", "RECIPSQRT_64", "SQRT_64"].contains(&name);
        let (unit, count) = if quad { (Unit::Quad, 4) } else { (Unit::Pair, 2) };
        // Each slot reads one word of each operand.
        let word = |slot: usize| srcs.chunks(2).map(|pair| pair[slot % pair.len()]).collect();
        let slots = (0..count).map(|slot| Slot { dst: dst.get(slot).copied(), srcs: word(slot) }).collect();
        self.out.push(Alu { name, unit, slots, clamp: false, at: 0 });
    }

    fn wide_get(&mut self, name: &'static str, srcs: &[Src]) -> [Src; 2] {
        let pair = [self.temp(), self.temp()];
        self.wide(name, &pair, srcs);
        pair.map(Src::of)
    }

    /// 1/x and its kin: a first guess and Newton steps.
    fn wide_root(&mut self, guess: &'static str, steps: usize, a: [Src; 2]) -> [Src; 2] {
        let fma = self.fma64();
        let mut x = self.wide_get(guess, &a);
        for _ in 0..steps {
            let rest = self.wide_get(fma, &[a[0], a[1], x[0], x[1], imm(0), imm(0x3ff0_0000)]);
            x = self.wide_get(fma, &[x[0], x[1], rest[0], rest[1], x[0], x[1]]);
        }
        x
    }

    fn fma64(&self) -> &'static str {
        if self.chip.generation >= Generation::Evergreen { "FMA_64" } else { "MULADD_64" }
    }

    /// Sine and cosine take revolutions from R700 on, radians before, in one period.
    fn reduced(&mut self, a: Src) -> Src {
        let turns = self.any("MULADD_IEEE", &[a, float(0.159_154_94), float(0.5)]);
        let part = self.any("FRACT", &[turns]);
        if self.chip.generation == Generation::R600 {
            return self.any("MULADD", &[part, float(std::f32::consts::TAU), float(-std::f32::consts::PI)]);
        }
        self.any("ADD", &[part, float(-0.5)])
    }

    /// Translates one operation.
    pub fn lane(&mut self, op: LaneOp, dst: [V; 2], a: &[Src]) {
        use LaneOp as L;
        let evergreen = self.chip.generation >= Generation::Evergreen;
        if let Some((name, unit, order)) = direct(op, self.chip.generation) {
            let srcs: SmallVec<[Src; 4]> = order.iter().map(|n| a[*n]).collect();
            return self.put(name, unit, dst[0], &srcs);
        }
        if let Some(name) = direct_wide(op, self.fma64()) {
            let dst = if dst[0] == dst[1] { &dst[..1] } else { &dst };
            let swapped = [a[a.len() / 2..].to_vec(), a[..a.len() / 2].to_vec()].concat();
            let negated = |n: usize| if n == 3 { a[n].negated() } else { a[n] };
            return match op {
                L::Dlt => self.wide(name, dst, &swapped),
                L::Dsub | L::BareDsub => self.wide(name, dst, &[a[0], a[1], a[2], negated(3)]),
                _ => self.wide(name, dst, a),
            };
        }
        let d = dst[0];
        match op {
            L::Sub | L::BareSub => self.put("ADD", Unit::Any, d, &[a[0], a[1].negated()]),
            L::Neg | L::NegBits => self.put("MOV", Unit::Any, d, &[a[0].negated()]),
            L::Abs | L::AbsBits => self.put("MOV", Unit::Any, d, &[a[0].magnitude()]),
            L::Saturate => {
                self.put("MOV", Unit::Any, d, &a[..1]);
                self.out.iter_mut().for_each(|last| last.clamp = last.slots[0].dst == Some(d));
            }
            L::Inegate => self.put("SUB_INT", Unit::Any, d, &[imm(0), a[0]]),
            L::Imad => {
                let product = self.trans("MULLO_INT", &a[..2]);
                self.put("ADD_INT", Unit::Any, d, &[product, a[2]]);
            }
            L::Imin3 | L::Imax3 | L::Umin3 | L::Umax3 | L::Min3 | L::Max3 | L::Clamp => {
                let [first, second] = match op {
                    L::Imin3 => ["MIN_INT"; 2],
                    L::Imax3 => ["MAX_INT"; 2],
                    L::Umin3 => ["MIN_UINT"; 2],
                    L::Umax3 => ["MAX_UINT"; 2],
                    L::Min3 => ["MIN_DX10"; 2],
                    L::Max3 => ["MAX_DX10"; 2],
                    _ => ["MAX_DX10", "MIN_DX10"],
                };
                let part = self.any(first, &a[..2]);
                self.put(second, Unit::Any, d, &[part, a[2]]);
            }
            L::Imed3 | L::Umed3 | L::Med3 => {
                let [least, most] = match op {
                    L::Imed3 => ["MIN_INT", "MAX_INT"],
                    L::Umed3 => ["MIN_UINT", "MAX_UINT"],
                    _ => ["MIN_DX10", "MAX_DX10"],
                };
                let (low, high) = (self.any(least, &a[..2]), self.any(most, &a[..2]));
                let high = self.any(least, &[high, a[2]]);
                self.put(most, Unit::Any, d, &[low, high]);
            }
            L::Icarry | L::Iborrow if evergreen => {
                let name = if op == L::Icarry { "ADDC_UINT" } else { "SUBB_UINT" };
                self.put(name, Unit::Any, d, &a[..2]);
            }
            L::Icarry => {
                let sum = self.any("ADD_INT", &a[..2]);
                let carry = self.any("SETGT_UINT", &[a[0], sum]);
                self.put("AND_INT", Unit::Any, d, &[carry, imm(1)]);
            }
            L::Iborrow => {
                let borrow = self.any("SETGT_UINT", &[a[1], a[0]]);
                self.put("AND_INT", Unit::Any, d, &[borrow, imm(1)]);
            }
            L::Imul24 | L::Imul24High | L::Imad24 => {
                let [x, y] = [a[0], a[1]].map(|a| {
                    let up = self.get("LSHL_INT", self.shift(), &[a, imm(8)]);
                    self.get("ASHR_INT", self.shift(), &[up, imm(8)])
                });
                let name = if op == L::Imul24High { "MULHI_INT" } else { "MULLO_INT" };
                if op == L::Imad24 {
                    let product = self.trans(name, &[x, y]);
                    self.put("ADD_INT", Unit::Any, d, &[product, a[2]]);
                } else {
                    self.put(name, Unit::Trans, d, &[x, y]);
                }
            }
            L::Udiv | L::Umod => {
                let guess = self.trans("RECIP_UINT", &[a[1]]);
                let (low, high) =
                    (self.trans("MULLO_INT", &[guess, a[1]]), self.trans("MULHI_UINT", &[guess, a[1]]));
                let minus = self.any("SUB_INT", &[imm(0), low]);
                let error = self.any("CNDE_INT", &[high, minus, low]);
                let error = self.trans("MULHI_UINT", &[error, guess]);
                let (up, down) = (self.any("ADD_INT", &[guess, error]), self.any("SUB_INT", &[guess, error]));
                let guess = self.any("CNDE_INT", &[high, up, down]);
                let quotient = self.trans("MULHI_UINT", &[guess, a[0]]);
                let product = self.trans("MULLO_INT", &[quotient, a[1]]);
                let rest = self.any("SUB_INT", &[a[0], product]);
                let (enough, whole) =
                    (self.any("SETGE_UINT", &[rest, a[1]]), self.any("SETGE_UINT", &[a[0], product]));
                let (base, step, back) = match op {
                    L::Udiv => (quotient, imm(1), imm(u32::MAX)),
                    _ => (rest, a[1], a[1]),
                };
                let [add, sub] = if op == L::Udiv { ["ADD_INT"; 2] } else { ["SUB_INT", "ADD_INT"] };
                let (more, less) = (self.any(add, &[base, step]), self.any(sub, &[base, back]));
                let both = self.any("AND_INT", &[enough, whole]);
                let right = self.any("CNDE_INT", &[both, base, more]);
                self.put("CNDE_INT", Unit::Any, d, &[whole, less, right]);
            }
            L::UbitInsert => {
                let mask = self.get("BFM_INT", Unit::Vec, &[a[0], a[1]]);
                let value = self.get("LSHL_INT", self.shift(), &[a[2], a[1]]);
                self.put("BFI_INT", Unit::Vec, d, &[mask, value, a[3]]);
            }
            L::Lrp => {
                let step = self.any("ADD", &[a[1], a[2].negated()]);
                self.put("MULADD", Unit::Any, d, &[step, a[0], a[2]]);
            }
            L::Sgn => {
                let part = self.any("CNDGT", &[a[0], float(1.0), a[0]]);
                self.put("CNDGE", Unit::Any, d, &[part, part, float(-1.0)]);
            }
            L::Rnd => {
                let half = self.any("ADD", &[a[0], float(0.5)]);
                self.put("FLOOR", Unit::Any, d, &[half]);
            }
            L::Div | L::Mod => {
                let inverse = self.trans("RECIP_IEEE", &[a[1]]);
                if op == L::Div {
                    return self.put("MUL_IEEE", Unit::Any, d, &[inverse, a[0]]);
                }
                let quotient = self.any("MUL_IEEE", &[inverse, a[0]]);
                let whole = self.any("TRUNC", &[quotient]);
                self.put("MULADD_IEEE", Unit::Any, d, &[whole.negated(), a[1], a[0]]);
            }
            L::Exn => {
                let power = self.any("MUL_IEEE", &[a[0], float(std::f32::consts::LOG2_E)]);
                self.put("EXP_IEEE", Unit::Trans, d, &[power]);
            }
            L::Ln => {
                let log = self.trans("LOG_IEEE", &a[..1]);
                self.put("MUL_IEEE", Unit::Any, d, &[log, float(std::f32::consts::LN_2)]);
            }
            L::Pow => {
                let log = self.trans("LOG_IEEE", &a[..1]);
                let power = self.any("MUL", &[log, a[1]]);
                self.put("EXP_IEEE", Unit::Trans, d, &[power]);
            }
            L::Sin | L::Cos | L::Tan => {
                let part = self.reduced(a[0]);
                if op != L::Tan {
                    return self.put(if op == L::Sin { "SIN" } else { "COS" }, Unit::Trans, d, &[part]);
                }
                let (sine, cosine) = (self.trans("SIN", &[part]), self.trans("COS", &[part]));
                let inverse = self.trans("RECIP_IEEE", &[cosine]);
                self.put("MUL_IEEE", Unit::Any, d, &[sine, inverse]);
            }
            L::Pireduce => {
                let part = self.any("MULADD_IEEE", &[a[0], float(0.159_154_94), float(0.5)]);
                let part = self.any("FRACT", &[part]);
                let tau = float(std::f32::consts::TAU);
                self.put("MULADD", Unit::Any, d, &[part, tau, float(-std::f32::consts::PI)]);
            }
            L::Asin | L::Acos | L::Atan => self.chain(&["MULADD_IEEE"], 12, d, a),
            L::Ldexp => {
                let power = self.trans("INT_TO_FLT", &a[1..2]);
                let power = self.trans("EXP_IEEE", &[power]);
                self.put("MUL_IEEE", Unit::Any, d, &[a[0], power]);
            }
            L::FrexpExp | L::FrexpMant => self.chain(&["AND_INT", "SUB_INT"], 2, d, a),
            L::Class | L::Dclass => self.chain(&["AND_INT", "SETE_INT"], 4, d, a),
            L::Ftoi | L::Ftou if evergreen => {
                let whole = self.any("TRUNC", &a[..1]);
                let name = if op == L::Ftoi { "FLT_TO_INT" } else { "FLT_TO_UINT" };
                let unit = if op == L::Ftoi || self.chip.is_cayman() { Unit::Vec } else { Unit::Trans };
                self.put(name, unit, d, &[whole]);
            }
            L::FtoiFlr | L::FtoiRpi if !evergreen => {
                let whole = self.any(if op == L::FtoiFlr { "FLOOR" } else { "RNDNE" }, &a[..1]);
                self.put("FLT_TO_INT", Unit::Trans, d, &[whole]);
            }
            L::F2u4 => {
                let slots = (0..4).map(|n| Slot { dst: (n == 0).then_some(d), srcs: smallvec![a[n]] });
                self.out.push(Alu {
                    name: "FLT_TO_UINT4",
                    unit: Unit::Quad,
                    slots: slots.collect(),
                    clamp: false,
                    at: 0,
                });
            }
            L::Dabs => {
                self.put("MOV", Unit::Any, d, &a[..1]);
                self.put("MOV", Unit::Any, dst[1], &[a[1].magnitude()]);
            }
            L::Drcp | L::Drsq | L::Dsqrt => {
                let guess = if op == L::Drcp { "RECIP_64" } else { "RECIPSQRT_64" };
                let x = self.wide_root(guess, 2, [a[0], a[1]]);
                let one = [imm(0), imm(0x3ff0_0000)];
                let by = if op == L::Dsqrt { [a[0], a[1]] } else { one };
                self.wide("MUL_64", &dst, &[x[0], x[1], by[0], by[1]]);
            }
            L::Ddiv => {
                let x = self.wide_root("RECIP_64", 2, [a[2], a[3]]);
                let q = self.wide_get("MUL_64", &[a[0], a[1], x[0], x[1]]);
                let rest = self.wide_get(self.fma64(), &[q[0], q[1].negated(), a[2], a[3], a[0], a[1]]);
                self.wide(self.fma64(), &dst, &[rest[0], rest[1], x[0], x[1], q[0], q[1]]);
            }
            L::Dsaturate => {
                let low = self.wide_get("MAX_64", &[a[0], a[1], imm(0), imm(0)]);
                self.wide("MIN_64", &dst, &[low[0], low[1], imm(0), imm(0x3ff0_0000)]);
            }
            L::Dtoi | L::Dtou => self.chain(&["SUB_INT", "LSHR_INT", "CNDE_INT"], 4, d, a),
            L::Itod | L::Utod => {
                let [high, low] = [16, 0].map(|by| {
                    let part = self.get("LSHR_INT", self.shift(), &[a[0], imm(by)]);
                    let part = self.trans("UINT_TO_FLT", &[part]);
                    self.wide_get("FLT32_TO_FLT64", &[part])
                });
                let scale = [imm(0), imm(0x40f0_0000)];
                self.wide(self.fma64(), &dst, &[high[0], high[1], scale[0], scale[1], low[0], low[1]]);
            }
            L::I64add | L::I64sub | L::I64negate => {
                let (name, step, over) = if op == L::I64add {
                    ("ADD_INT", "ADD_INT", "ADDC_UINT")
                } else {
                    ("SUB_INT", "SUB_INT", "SUBB_UINT")
                };
                let zero = [imm(0), imm(0)];
                let (x, y) = if op == L::I64negate { (&zero[..], &a[..2]) } else { (&a[..2], &a[2..]) };
                let carry = self.any(over, &[x[0], y[0]]);
                let high = self.any(name, &[x[1], y[1]]);
                self.put(name, Unit::Any, d, &[x[0], y[0]]);
                self.put(step, Unit::Any, dst[1], &[high, carry]);
            }
            L::I64mul => {
                let high = self.trans("MULHI_UINT", &[a[0], a[2]]);
                let one = self.trans("MULLO_INT", &[a[0], a[3]]);
                let other = self.trans("MULLO_INT", &[a[1], a[2]]);
                let sum = self.any("ADD_INT", &[one, other]);
                self.put("MULLO_INT", Unit::Trans, d, &[a[0], a[2]]);
                self.put("ADD_INT", Unit::Any, dst[1], &[high, sum]);
            }
            L::I64div | L::I64mod | L::U64div | L::U64mod => {
                self.chain(&["MULHI_UINT", "ADDC_UINT", "ADD_INT", "CNDE_INT"], 20, d, a);
                self.put("CNDE_INT", Unit::Any, dst[1], &[Src::of(d), a[1], a[3]]);
            }
            L::I64shl | L::I64shr | L::U64shr => {
                self.chain(&["LSHL_INT", "LSHR_INT", "OR_INT"], 2, d, a);
                self.put("CNDE_INT", Unit::Any, dst[1], &[a[2], Src::of(d), a[1]]);
            }
            L::I64min | L::I64max | L::U64min | L::U64max => {
                let high = self.any("SETGT_INT", &[a[1], a[3]]);
                let same = self.any("SETE_INT", &[a[1], a[3]]);
                let low = self.any("SETGT_UINT", &[a[0], a[2]]);
                let choice = self.any("CNDE_INT", &[same, high, low]);
                self.put("CNDE_INT", Unit::Any, d, &[choice, a[0], a[2]]);
                self.put("CNDE_INT", Unit::Any, dst[1], &[choice, a[1], a[3]]);
            }
            L::I64eq | L::I64ne => {
                let [low, high] = [0, 1].map(|n| self.any("XOR_INT", &[a[n], a[n + 2]]));
                let both = self.any("OR_INT", &[low, high]);
                self.put(
                    if op == L::I64eq { "SETE_INT" } else { "SETNE_INT" },
                    Unit::Any,
                    d,
                    &[both, imm(0)],
                );
            }
            L::I64lt | L::I64ge | L::U64lt | L::U64ge => {
                let high = self.any("SETGT_INT", &[a[3], a[1]]);
                let same = self.any("SETE_INT", &[a[1], a[3]]);
                let low = self.any("SETGT_UINT", &[a[2], a[0]]);
                self.put("CNDE_INT", Unit::Any, d, &[same, high, low]);
            }
            _ => {
                self.chain(&["MULADD_IEEE"], 4, d, a);
                if dst[1] != d {
                    self.put("MOV", Unit::Any, dst[1], &[Src::of(d)]);
                }
            }
        }
    }

    fn shift(&self) -> Unit {
        if self.chip.generation == Generation::R600 { Unit::Trans } else { Unit::Any }
    }
}
