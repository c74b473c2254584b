//! What registers hold, whatever order statements have: words that are never denormals, and float results as they come.

use crate::ir::visit;
use crate::ir::{Block, Builtin, LaneInst, Operand, Program, Reg, StmtKind};
use crate::isa::lane::{Class, Leaves};
use crate::isa::{Algebra, Scalar};

/// What is known of the words in each register.
pub(super) struct States {
    /// Never a denormal.
    pub(super) flushed: Vec<bool>,
    /// Holds float results as they come, with NaNs of any payload, and no NaN whose bits count.
    pub(super) loose: Vec<bool>,
    /// Has one definition, is never read before it, and a block deeper than the definition reads it as a float.
    pub(super) shared: Vec<bool>,
}

/// Whether `word` is a flushed number or the canonical NaN.
fn is_number(word: u32) -> bool {
    Scalar.flush(word) == word && Scalar.canonical(word) == word
}

impl States {
    /// `early` tells the registers that may be read before they are written.
    pub(super) fn of(program: &mut Program, early: &[bool]) -> Self {
        let count = program.registers as usize;
        let mut scan = Scan {
            flushed: vec![true; count],
            plain: vec![true; count],
            floats: vec![false; count],
            moves: Vec::new(),
            signs: Vec::new(),
            definitions: vec![(0, 0); count],
            shared: vec![false; count],
            blocks: 0,
        };
        program.functions.iter_mut().for_each(|function| scan.block(&mut function.body));
        let Scan { mut flushed, mut plain, floats: mut loose, moves, signs, definitions, mut shared, .. } =
            scan;
        let moves = Edges::of(moves, count);
        spread(&mut plain, false, &[&moves], |_| true);
        spread(&mut flushed, false, &[&moves, &Edges::of(signs, count)], |_| true);
        // The host reads outputs bit for bit, so they are kept exact.
        for output in &program.outputs {
            for reg in output.registers {
                plain[reg.index()] = false;
            }
        }
        let may = |reg: usize| flushed[reg] && plain[reg];
        for (reg, loose) in loose.iter_mut().enumerate() {
            *loose &= may(reg);
        }
        spread(&mut loose, true, &[&moves], |to| may(to.index()));
        for ((shared, (count, _)), early) in shared.iter_mut().zip(definitions).zip(early) {
            *shared &= count == 1 && !early;
        }
        Self { flushed, loose, shared }
    }
}

/// What statements say of the registers that they write, and which they read where.
struct Scan {
    flushed: Vec<bool>,
    /// No definition has a NaN whose bits count.
    plain: Vec<bool>,
    /// A definition is a float result.
    floats: Vec<bool>,
    /// Edges from a register to those that take its words over, as they are or with another sign.
    moves: Vec<(Reg, Reg)>,
    signs: Vec<(Reg, Reg)>,
    /// By register: how many statements so far write it, and the block of the last one.
    definitions: Vec<(u32, u32)>,
    /// Another block than that of the last definition reads it as a float.
    shared: Vec<bool>,
    /// Blocks met so far.
    blocks: u32,
}

impl Scan {
    fn block(&mut self, block: &mut Block) {
        self.blocks += 1;
        let here = self.blocks;
        for stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst, here),
                StmtKind::Memory(inst) => visit::memory_destinations(inst, &mut |reg| {
                    self.define(*reg, here);
                    self.any_word(*reg);
                }),
                kind => kind.blocks_mut().for_each(|block| self.block(block)),
            }
        }
    }

    fn lane(&mut self, inst: &LaneInst, here: u32) {
        let mut at = 0;
        for class in inst.op.arguments() {
            if let (Class::F, Operand::Reg(reg)) = (class, inst.args[at]) {
                self.shared[reg.index()] |= self.definitions[reg.index()].1 != here;
            }
            at += class.words();
        }
        let [low, high] = inst.dst;
        self.define(low, here);
        if high != low {
            self.define(high, here);
        }
        match inst.op.leaves() {
            Leaves::Operand => {
                let tested = usize::from(inst.args.len() > 1);
                inst.args[tested..].iter().for_each(|&operand| self.moved(operand, low, false));
            }
            Leaves::Sign => {
                self.moved(inst.args[0], low, true);
                self.plain[low.index()] = false;
            }
            Leaves::Float => self.floats[low.index()] = true,
            Leaves::Number => {}
            Leaves::Mask => self.plain[low.index()] = false,
            Leaves::Word => inst.dst.into_iter().for_each(|reg| self.any_word(reg)),
        }
    }

    /// `to` has the word of `operand`, perhaps with another sign.
    fn moved(&mut self, operand: Operand, to: Reg, sign: bool) {
        match operand {
            Operand::Reg(from) => if sign { &mut self.signs } else { &mut self.moves }.push((from, to)),
            Operand::Imm(word) => {
                self.flushed[to.index()] &= Scalar.flush(word) == word;
                self.plain[to.index()] &= is_number(word);
            }
            Operand::Builtin(Builtin::Position(_) | Builtin::Interpolant(..)) => {}
            Operand::Builtin(_) | Operand::Const { .. } => self.any_word(to),
        }
    }

    fn any_word(&mut self, reg: Reg) {
        self.flushed[reg.index()] = false;
        self.plain[reg.index()] = false;
    }

    fn define(&mut self, reg: Reg, here: u32) {
        let (count, block) = &mut self.definitions[reg.index()];
        *count += 1;
        *block = here;
    }
}

/// Edges between registers, by where they come from.
struct Edges {
    /// By register: where its edges begin in `to`; at the end, how many there are.
    first: Vec<u32>,
    to: Vec<Reg>,
    /// Where they come from, edge for edge.
    sources: Vec<Reg>,
}

impl Edges {
    fn of(edges: Vec<(Reg, Reg)>, registers: usize) -> Self {
        // How many each has, summed up to where they end; each edge then takes the place before that.
        let mut first = vec![0; registers + 1];
        edges.iter().for_each(|&(from, _)| first[from.index()] += 1);
        let mut end = 0;
        for count in &mut first {
            end += *count;
            *count = end;
        }
        let mut to = vec![Reg(0); edges.len()];
        for &(from, target) in &edges {
            let place = &mut first[from.index()];
            *place -= 1;
            to[*place as usize] = target;
        }
        Self { first, to, sources: edges.into_iter().map(|(from, _)| from).collect() }
    }

    fn from(&self, reg: Reg) -> &[Reg] {
        &self.to[self.first[reg.index()] as usize..self.first[reg.index() + 1] as usize]
    }
}

/// Gives `value` along `edges` to whatever a register that has it reaches.
fn spread(state: &mut [bool], value: bool, edges: &[&Edges], admits: impl Fn(Reg) -> bool) {
    let mut work: Vec<Reg> = Vec::new();
    for &from in edges.iter().flat_map(|edges| &edges.sources) {
        if state[from.index()] == value {
            work.push(from);
        }
    }
    while let Some(from) = work.pop() {
        for &to in edges.iter().flat_map(|edges| edges.from(from)) {
            if state[to.index()] != value && admits(to) {
                state[to.index()] = value;
                work.push(to);
            }
        }
    }
}
