//! Registers, literals and instructions as text.

use std::collections::HashMap;
use std::fmt::Write as _;

/// A register of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reg {
    /// `r#`
    Temp(u32),
    /// `l#`
    Literal(u32),
    /// `cb#[#]`
    Constant(u32, u32),
    /// `cb#[r#.c + #]`
    ConstantAt(u32, u32, u8, u32),
    /// Anything else by its name.
    Named(&'static str),
}

/// A component that reads as 0.
pub(crate) const ZERO: u8 = 4;

/// Words to read: components of a register, in order. One component stands for as many as are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) reg: Reg,
    pub(crate) comps: Vec<u8>,
    pub(crate) neg: bool,
}

impl Op {
    pub(crate) fn new(reg: Reg, words: usize) -> Op {
        Op { reg, comps: (0..words as u8).collect(), neg: false }
    }

    pub(crate) fn temp(register: u32, words: usize) -> Op {
        Op::new(Reg::Temp(register), words)
    }

    /// Some of the words; one word stands for all.
    pub(crate) fn pick(&self, words: &[u8]) -> Op {
        let comps = words.iter().map(|w| self.comp(usize::from(*w))).collect();
        Op { reg: self.reg.clone(), comps, neg: self.neg }
    }

    pub(crate) fn word(&self, at: usize) -> Op {
        self.pick(&[at as u8])
    }

    /// The double at a place: a pair of words. One pair stands for all.
    pub(crate) fn pair(&self, at: usize) -> Op {
        let at = if self.comps.len() <= 2 { 0 } else { 2 * at as u8 };
        self.pick(&[at, at + 1])
    }

    pub(crate) fn negated(mut self) -> Op {
        self.neg = !self.neg;
        self
    }

    pub(crate) fn comp(&self, at: usize) -> u8 {
        self.comps.get(at).or(self.comps.last()).copied().unwrap_or(0)
    }

    /// Where to write so that this reads it.
    pub(crate) fn dst(&self) -> Dst {
        match self.reg {
            Reg::Temp(register) => Dst { register, comps: self.comps.clone() },
            // Nothing else is ever bound to a variable that is written.
            _ => Dst { register: u32::MAX, comps: self.comps.clone() },
        }
    }
}

/// Words to write: components of a temporary, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dst {
    pub(crate) register: u32,
    pub(crate) comps: Vec<u8>,
}

impl Dst {
    pub(crate) fn op(&self) -> Op {
        Op { reg: Reg::Temp(self.register), comps: self.comps.clone(), neg: false }
    }

    pub(crate) fn word(&self, at: usize) -> Dst {
        Dst { register: self.register, comps: vec![self.comps[at]] }
    }

    pub(crate) fn pair(&self, at: usize) -> Dst {
        Dst { register: self.register, comps: self.comps[2 * at..2 * at + 2].to_vec() }
    }
}

/// The program so far.
#[derive(Default)]
pub(crate) struct Asm {
    pub(crate) body: String,
    temps: u32,
    literals: Vec<Vec<u32>>,
    places: HashMap<u32, Vec<(u32, u8)>>,
}

const LETTERS: [char; 5] = ['x', 'y', 'z', 'w', '0'];

impl Asm {
    pub(crate) fn line(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// A fresh temporary.
    pub(crate) fn temp(&mut self, words: usize) -> Dst {
        self.temps += 1;
        Dst { register: self.temps - 1, comps: (0..words as u8).collect() }
    }

    /// Numbers of the program's text.
    pub(crate) fn literal(&mut self, words: &[u32]) -> Op {
        let same = words.iter().all(|w| *w == words[0]);
        let wanted = if same { &words[..1] } else { words };
        let known = self.places.get(&wanted[0]).and_then(|places| {
            places
                .iter()
                .map(|(register, _)| *register)
                .find(|r| wanted.iter().all(|w| self.literals[*r as usize].contains(w)))
        });
        let register = known.unwrap_or_else(|| {
            let room = self
                .literals
                .last()
                .is_some_and(|last| last.len() + wanted.iter().filter(|w| !last.contains(w)).count() <= 4);
            if !room {
                self.literals.push(Vec::new());
            }
            self.literals.len() as u32 - 1
        });
        let comps = wanted.iter().map(|word| self.place_literal(register, *word)).collect();
        Op { reg: Reg::Literal(register), comps, neg: false }
    }

    /// A double as a literal: its low and high word.
    pub(crate) fn literal_pair(&mut self, low: u32, high: u32) -> Op {
        let op = self.literal(&[low, high]);
        op.pick(&[0, 1])
    }

    fn place_literal(&mut self, register: u32, word: u32) -> u8 {
        let held = &mut self.literals[register as usize];
        if let Some(at) = held.iter().position(|w| *w == word) {
            return at as u8;
        }
        held.push(word);
        let at = held.len() as u8 - 1;
        self.places.entry(word).or_default().push((register, at));
        at
    }

    pub(crate) fn int(&mut self, value: u32) -> Op {
        self.literal(&[value])
    }

    pub(crate) fn float(&mut self, value: f32) -> Op {
        self.literal(&[value.to_bits()])
    }

    /// The declarations of the literals.
    pub(crate) fn declare(&self, text: &mut String) {
        for (number, words) in self.literals.iter().enumerate() {
            let word = |at: usize| words.get(at).copied().unwrap_or(0);
            let _ = writeln!(
                text,
                "dcl_literal l{number}, 0x{:08X}, 0x{:08X}, 0x{:08X}, 0x{:08X}",
                word(0),
                word(1),
                word(2),
                word(3)
            );
        }
    }

    fn mask(comps: &[u8]) -> String {
        if comps.len() == 4 {
            return String::new();
        }
        let mut mask = String::from(".");
        (0..4u8).for_each(|c| mask.push(if comps.contains(&c) { LETTERS[usize::from(c)] } else { '_' }));
        mask
    }

    fn source(&self, op: &Op, swizzle: [u8; 4], neg: &str) -> String {
        let mut text = match op.reg {
            Reg::Temp(n) => format!("r{n}"),
            Reg::Literal(n) => format!("l{n}"),
            Reg::Constant(buffer, slot) => format!("cb{buffer}[{slot}]"),
            Reg::ConstantAt(buffer, register, comp, slot) => {
                format!("cb{buffer}[r{register}.{} + {slot}]", LETTERS[usize::from(comp)])
            }
            Reg::Named(name) => name.to_owned(),
        };
        if swizzle != [0, 1, 2, 3] {
            text.push('.');
            swizzle.iter().for_each(|c| text.push(LETTERS[usize::from(*c)]));
        }
        if op.neg {
            text += neg;
        }
        text
    }

    /// An instruction that treats components one by one.
    pub(crate) fn each(&mut self, name: &str, dst: &Dst, sources: &[&Op]) {
        let mut text = format!("{name} r{}{}", dst.register, Self::mask(&dst.comps));
        for op in sources {
            let mut swizzle = [op.comp(0); 4];
            for (at, to) in dst.comps.iter().enumerate() {
                swizzle[usize::from(*to)] = op.comp(at);
            }
            let _ = write!(text, ", {}", self.source(op, swizzle, "_neg(xyzw)"));
        }
        self.line(&text);
    }

    /// An instruction whose source is text.
    pub(crate) fn each_of(&mut self, name: &str, dst: &Dst, source: &str) {
        let text = format!("{name} r{}{}, {source}", dst.register, Self::mask(&dst.comps));
        self.line(&text);
    }

    /// An instruction that reads words in order wherever it writes: dot products, doubles, addresses.
    pub(crate) fn whole(&mut self, name: &str, dst: &Dst, sources: &[&Op]) {
        let mut text = format!("{name} r{}{}", dst.register, Self::mask(&dst.comps));
        for op in sources {
            let _ = write!(text, ", {}", self.in_order(op, "_neg(xyzw)"));
        }
        self.line(&text);
    }

    /// One operation on doubles for each of them.
    pub(crate) fn doubles(&mut self, name: &str, dst: &Dst, sources: &[&Op]) {
        for at in 0..dst.comps.len() / 2 {
            let to = dst.pair(at);
            let mut text = format!("{name} r{}{}", to.register, Self::mask(&to.comps));
            for op in sources {
                let _ = write!(text, ", {}", self.in_order(&op.pair(at), "_neg(y)"));
            }
            self.line(&text);
        }
    }

    fn in_order(&self, op: &Op, neg: &str) -> String {
        let swizzle = [op.comp(0), op.comp(1), op.comp(2), op.comp(3)];
        self.source(op, swizzle, neg)
    }

    /// An operand alone, as `if_logicalnz` takes it.
    pub(crate) fn shown(&self, op: &Op) -> String {
        self.in_order(op, "_neg(xyzw)")
    }

    /// `mov`, unless it would move nothing.
    pub(crate) fn mov(&mut self, dst: &Dst, op: &Op) {
        if dst.op() != *op {
            self.each("mov", dst, &[op]);
        }
    }

    /// A fresh temporary with what an instruction gives.
    pub(crate) fn new_each(&mut self, name: &str, words: usize, sources: &[&Op]) -> Op {
        let dst = self.temp(words);
        self.each(name, &dst, sources);
        dst.op()
    }

    /// All four components of an output; those that the type lacks are 0.
    pub(crate) fn store_output(&mut self, number: usize, op: &Op) {
        let padded = self.padded(op);
        self.line(&format!("mov o{number}, {padded}"));
    }

    /// An operand of four words, with zeros behind its own.
    pub(crate) fn padded(&self, op: &Op) -> String {
        let comp = |at: usize| op.comps.get(at).copied().unwrap_or(ZERO);
        self.source(op, [comp(0), comp(1), comp(2), comp(3)], "_neg(xyzw)")
    }
}
