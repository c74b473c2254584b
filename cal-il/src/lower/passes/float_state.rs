//! Places `Flush` and `Canon`, so that every operand has the class that its operation asks for.
//!
//! A register is *loose* if every definition is the result of a float operation, a flushed number, or a move or
//! selection of such: float operations read it as it is, and whatever reads bits gets it through `Canon`. All other
//! registers hold exact words, since some definition has a NaN whose bits count (a mask, an integer, a loaded word):
//! a float result is made canonical as it is written, and float operations read through `Flush` unless no
//! definition can be a denormal. Within a basic block each operand is flushed or made canonical once.
//!
//! The analysis ignores the order of statements, so its result holds wherever a register is read.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};

use crate::diagnostic::Span;
use crate::ir::{Block, Builtin, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::lane::Class;
use crate::isa::{Algebra, Scalar};

use crate::ir::visit::{self, Use};

pub(super) fn run(program: &mut Program) {
    let states = States::of(program);
    let mut pass = Pass { states, next: program.registers, cache: HashMap::new(), out: Block::new() };
    for function in &mut program.functions {
        function.body = pass.block(std::mem::take(&mut function.body));
    }
    program.registers = pass.next;
}

/// What is known of the words in each register.
struct States {
    /// Never a denormal.
    flushed: Vec<bool>,
    /// Holds float results as they come, with NaNs of any payload, and no NaN whose bits count.
    loose: Vec<bool>,
}

/// What an operation leaves in its destination.
enum Effect {
    /// One of these operands.
    Move(SmallVec<[Operand; 2]>),
    /// The operand with another sign; the bits of NaNs count.
    Sign(Operand),
    /// A flushed word; NaNs have any payload.
    Loose,
    /// A flushed number, or the canonical NaN.
    Number,
    /// All ones or 0: never a denormal, but the bits of the NaN count.
    Mask,
    /// Any word.
    Word,
}

fn effect(inst: &LaneInst) -> Effect {
    let args = &inst.args;
    match inst.op {
        LaneOp::Mov => Effect::Move(smallvec![args[0]]),
        LaneOp::Select | LaneOp::Cmov => Effect::Move(smallvec![args[1], args[2]]),
        LaneOp::AbsBits | LaneOp::NegBits => Effect::Sign(args[0]),
        LaneOp::Eq
        | LaneOp::Ne
        | LaneOp::Lt
        | LaneOp::Ge
        | LaneOp::Gt
        | LaneOp::Le
        | LaneOp::RawEq
        | LaneOp::RawNe
        | LaneOp::RawLt
        | LaneOp::RawGe
        | LaneOp::RawGt
        | LaneOp::RawLe
        | LaneOp::Ieq
        | LaneOp::Ine
        | LaneOp::Ilt
        | LaneOp::Ige
        | LaneOp::Ult
        | LaneOp::Uge
        | LaneOp::Deq
        | LaneOp::Dne
        | LaneOp::Dlt
        | LaneOp::Dge
        | LaneOp::Class
        | LaneOp::Dclass => Effect::Mask,
        LaneOp::Itof
        | LaneOp::Utof
        | LaneOp::Saturate
        | LaneOp::Sgn
        | LaneOp::SetNe
        | LaneOp::SetEq
        | LaneOp::SetGe
        | LaneOp::SetGt
        | LaneOp::SetLe
        | LaneOp::SetLt
        | LaneOp::Unpack0
        | LaneOp::Unpack1
        | LaneOp::Unpack2
        | LaneOp::Unpack3
        // Takes what float operations leave, so it is flushed.
        | LaneOp::Canon => Effect::Number,
        op if op.result() == Class::F => Effect::Loose,
        _ => Effect::Word,
    }
}

/// Whether `word` is a flushed number or the canonical NaN.
fn is_number(word: u32) -> bool {
    Scalar.flush(word) == word && Scalar.canonical(word) == word
}

impl States {
    fn of(program: &mut Program) -> Self {
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
                    match effect(inst) {
                        Effect::Move(from) => from.into_iter().for_each(|operand| moved(operand, &mut moves)),
                        Effect::Sign(operand) => {
                            moved(operand, &mut signs);
                            plain[dst] = false;
                        }
                        Effect::Loose => loose[dst] = true,
                        Effect::Number => {}
                        Effect::Mask => plain[dst] = false,
                        Effect::Word => {
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
        moves.sort_unstable();
        moves.dedup();
        spread(&mut plain, false, &moves, |_| true);
        let all: Vec<(Reg, Reg)> = {
            signs.extend_from_slice(&moves);
            signs.sort_unstable();
            signs
        };
        spread(&mut flushed, false, &all, |_| true);
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
        spread(&mut loose, true, &moves, |to| may(to as usize));
        Self { flushed, loose }
    }
}

/// Gives `value` along `edges` (sorted by source) to whatever a register that has it reaches.
fn spread(state: &mut [bool], value: bool, edges: &[(Reg, Reg)], admits: impl Fn(Reg) -> bool) {
    let mut work: Vec<Reg> = (0..state.len() as Reg).filter(|&reg| state[reg as usize] == value).collect();
    while let Some(from) = work.pop() {
        let first = edges.partition_point(|&(source, _)| source < from);
        for &(source, to) in &edges[first..] {
            if source != from {
                break;
            }
            if state[to as usize] != value && admits(to) {
                state[to as usize] = value;
                work.push(to);
            }
        }
    }
}
/// What a cached scratch register holds of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Form {
    Flushed,
    Canonical,
}

struct Pass {
    states: States,
    next: Reg,
    /// Forms of operands that are at hand in this basic block.
    cache: HashMap<(Operand, Form), Reg>,
    out: Block,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let outer = std::mem::take(&mut self.out);
        self.cache.clear();
        for stmt in block {
            self.statement(stmt);
        }
        self.cache.clear();
        std::mem::replace(&mut self.out, outer)
    }

    fn statement(&mut self, mut stmt: Stmt) {
        let span = stmt.span;
        if let Some((operand, how)) = visit::tested(&mut stmt.kind) {
            self.operand(operand, how, span);
        }
        match &mut stmt.kind {
            StmtKind::Lane(inst) => return self.lane(inst.clone(), span),
            StmtKind::Memory(inst) => {
                visit::memory_operands(inst, &mut |operand, how| self.operand(operand, how, span));
                visit::memory_destinations(inst, &mut |reg| self.forget(*reg));
            }
            StmtKind::If { then, otherwise, .. } => {
                *then = self.block(std::mem::take(then));
                *otherwise = self.block(std::mem::take(otherwise));
            }
            StmtKind::Loop { body } => *body = self.block(std::mem::take(body)),
            StmtKind::Switch { arms, .. } => {
                for arm in arms {
                    arm.body = self.block(std::mem::take(&mut arm.body));
                }
            }
            StmtKind::Call { .. } => self.cache.clear(),
            StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Return(_)
            | StmtKind::Discard(_)
            | StmtKind::Fence(_) => {}
        }
        self.out.push(stmt);
    }

    fn lane(&mut self, mut inst: LaneInst, span: Span) {
        let dst = inst.dst[0];
        let effect = effect(&inst);
        // A loose register takes over any float word, others only exact ones.
        let takes_any = self.states.loose[dst as usize];
        let mut at = 0;
        for class in inst.op.arguments() {
            for word in 0..class.words() {
                let how = match (inst.op, class, at + word) {
                    (LaneOp::Select | LaneOp::SelectF, _, 0) => Use::Test,
                    (LaneOp::Mov | LaneOp::Select, _, _) if takes_any => Use::Test,
                    (LaneOp::Cmov, _, 1 | 2) if takes_any => Use::Test,
                    (_, Class::F, _) => Use::Float,
                    _ => Use::Word,
                };
                self.operand(&mut inst.args[at + word], how, span);
            }
            at += class.words();
        }
        if matches!(effect, Effect::Loose) && !takes_any {
            let scratch = self.scratch();
            inst.dst = [scratch, scratch];
            self.push(inst, span);
            self.push(
                LaneInst { op: LaneOp::Canon, dst: [dst, dst], args: smallvec![Operand::Reg(scratch)] },
                span,
            );
            self.forget(dst);
            self.cache.insert((Operand::Reg(dst), Form::Flushed), scratch);
            return;
        }
        let written = inst.dst;
        self.push(inst, span);
        self.forget(written[0]);
        self.forget(written[1]);
    }

    /// Replaces `operand` by a form that suits its use.
    fn operand(&mut self, operand: &mut Operand, how: Use, span: Span) {
        let form = match (how, *operand) {
            (Use::Test, _) => return,
            (Use::Float, Operand::Imm(word)) => {
                *operand = Operand::Imm(Scalar.flush(word));
                return;
            }
            (Use::Float, Operand::Reg(reg)) if self.states.flushed[reg as usize] => return,
            (Use::Float, Operand::Builtin(Builtin::Position(_) | Builtin::Interpolant(..))) => return,
            (Use::Float, _) => Form::Flushed,
            (Use::Word, Operand::Reg(reg)) if self.states.loose[reg as usize] => Form::Canonical,
            (Use::Word, _) => return,
        };
        let key = (*operand, form);
        let reg = match self.cache.get(&key) {
            Some(&reg) => reg,
            None => {
                let op = match form {
                    Form::Flushed => LaneOp::Flush,
                    Form::Canonical => LaneOp::Canon,
                };
                let reg = self.scratch();
                self.push(LaneInst { op, dst: [reg, reg], args: smallvec![*operand] }, span);
                self.cache.insert(key, reg);
                reg
            }
        };
        *operand = Operand::Reg(reg);
    }

    fn push(&mut self, inst: LaneInst, span: Span) {
        self.out.push(Stmt { kind: StmtKind::Lane(inst), span });
    }

    /// A register for a form of an operand; its readers know what they get.
    fn scratch(&mut self) -> Reg {
        self.states.flushed.push(true);
        self.states.loose.push(false);
        self.next += 1;
        self.next - 1
    }

    fn forget(&mut self, reg: Reg) {
        self.cache.remove(&(Operand::Reg(reg), Form::Flushed));
        self.cache.remove(&(Operand::Reg(reg), Form::Canonical));
    }
}
