//! What registers hold, whatever order statements have: words that are never denormals, and float results as they come.

use crate::ir::visit;
use crate::ir::{Builtin, Operand, Program, Reg, StmtKind};
use crate::isa::lane::Leaves;
use crate::isa::{Algebra, Scalar};

/// What is known of the words in each register.
pub(super) struct States {
    /// Never a denormal.
    pub(super) flushed: Vec<bool>,
    /// Holds float results as they come, with NaNs of any payload, and no NaN whose bits count.
    pub(super) loose: Vec<bool>,
}

/// Whether `word` is a flushed number or the canonical NaN.
fn is_number(word: u32) -> bool {
    Scalar.flush(word) == word && Scalar.canonical(word) == word
}

impl States {
    pub(super) fn of(program: &mut Program) -> Self {
        let count = program.registers as usize;
        let mut flushed = vec![true; count];
        // No definition has a NaN whose bits count.
        let mut plain = vec![true; count];
        let mut loose = vec![false; count];
        // Edges from a register to those that take its words over, as they are or with another sign.
        let mut moves: Vec<(Reg, Reg)> = Vec::new();
        let mut signs: Vec<(Reg, Reg)> = Vec::new();
        for function in &mut program.functions {
            visit::statements(&mut function.body, &mut |stmt| match &mut stmt.kind {
                StmtKind::Memory(inst) => visit::memory_destinations(inst, &mut |reg| {
                    flushed[*reg as usize] = false;
                    plain[*reg as usize] = false;
                }),
                StmtKind::Lane(inst) => {
                    let dst = inst.dst[0] as usize;
                    let mut moved = |operand: Operand, edges: &mut Vec<(Reg, Reg)>| match operand {
                        Operand::Reg(reg) => edges.push((reg, inst.dst[0])),
                        Operand::Imm(word) => {
                            flushed[dst] &= Scalar.flush(word) == word;
                            plain[dst] &= is_number(word);
                        }
                        Operand::Builtin(Builtin::Position(_) | Builtin::Interpolant(..)) => {}
                        Operand::Builtin(_) | Operand::Const { .. } => {
                            flushed[dst] = false;
                            plain[dst] = false;
                        }
                    };
                    match inst.op.leaves() {
                        Leaves::Operand => {
                            let tested = usize::from(inst.args.len() > 1);
                            inst.args[tested..].iter().for_each(|&operand| moved(operand, &mut moves));
                        }
                        Leaves::Sign => {
                            moved(inst.args[0], &mut signs);
                            plain[dst] = false;
                        }
                        Leaves::Float => loose[dst] = true,
                        Leaves::Number => {}
                        Leaves::Mask => plain[dst] = false,
                        Leaves::Word => {
                            for reg in inst.dst {
                                flushed[reg as usize] = false;
                                plain[reg as usize] = false;
                            }
                        }
                    }
                }
                _ => {}
            });
        }
        let moves = Edges::of(moves, count);
        spread(&mut plain, false, &[&moves], |_| true);
        spread(&mut flushed, false, &[&moves, &Edges::of(signs, count)], |_| true);
        // The host reads outputs bit for bit, so they are kept exact.
        for output in &program.outputs {
            for reg in output.registers {
                plain[reg as usize] = false;
            }
        }
        let may = |reg: usize| flushed[reg] && plain[reg];
        for (reg, loose) in loose.iter_mut().enumerate() {
            *loose &= may(reg);
        }
        spread(&mut loose, true, &[&moves], |to| may(to as usize));
        Self { flushed, loose }
    }
}

/// Edges between registers, by where they come from.
struct Edges {
    /// By register: where its edges begin in `to`; at the end, how many there are.
    first: Vec<u32>,
    to: Vec<Reg>,
}

impl Edges {
    fn of(edges: Vec<(Reg, Reg)>, registers: usize) -> Self {
        // How many each has, summed up to where they end; each edge then takes the place before that.
        let mut first = vec![0; registers + 1];
        edges.iter().for_each(|&(from, _)| first[from as usize] += 1);
        let mut end = 0;
        for count in &mut first {
            end += *count;
            *count = end;
        }
        let mut to = vec![0; edges.len()];
        for &(from, target) in &edges {
            let place = &mut first[from as usize];
            *place -= 1;
            to[*place as usize] = target;
        }
        Self { first, to }
    }

    fn from(&self, reg: Reg) -> &[Reg] {
        &self.to[self.first[reg as usize] as usize..self.first[reg as usize + 1] as usize]
    }
}

/// Gives `value` along `edges` to whatever a register that has it reaches.
fn spread(state: &mut [bool], value: bool, edges: &[&Edges], admits: impl Fn(Reg) -> bool) {
    let mut work: Vec<Reg> = (0..state.len() as Reg).filter(|&reg| state[reg as usize] == value).collect();
    while let Some(from) = work.pop() {
        for &to in edges.iter().flat_map(|edges| edges.from(from)) {
            if state[to as usize] != value && admits(to) {
                state[to as usize] = value;
                work.push(to);
            }
        }
    }
}
