//! Places `Flush` and `Canon`, so that every operand has the class that its operation asks for.
//!
//! A register is *loose* if every definition is the result of a float operation, a flushed number, or a move or
//! selection of such: float operations read it as it is, and whatever reads bits gets it through `Canon`. All other
//! registers hold exact words, since some definition has a NaN whose bits count (a mask, an integer, a loaded word):
//! a float result is made canonical as it is written, and float operations read through `Flush` unless no
//! definition can be a denormal. Within a basic block each operand is flushed or made canonical once; a register
//! with one definition that deeper blocks read as a float is flushed where it is defined, and a constant buffer word
//! that loops or functions read as a float at the beginning of main.
//!
//! The analysis ignores the order of statements, so its result holds wherever a register is read.

mod states;

use std::iter::once_with;

use rustc_hash::FxHashMap;

use crate::diagnostic::Span;
use crate::ir::{Block, Builtin, Fence, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::lane::{Class, Leaves};
use crate::isa::{Algebra, Scalar};

use crate::ir::visit::{self, Use};

use states::States;

/// Places flushes. `early` tells the registers that may be read before they are written.
pub(super) fn run(program: &mut Program, early: &[bool]) {
    let states = States::of(program, early);
    let cache = Cache {
        forms: vec![(0, Reg(0)); program.registers as usize],
        permanent: vec![None; program.registers as usize],
        others: FxHashMap::default(),
        block: 1,
    };
    let mut pass = Pass {
        states,
        next: program.registers,
        cache,
        at: 0,
        inserted: Vec::new(),
        prologue: Block::new(),
        constants: FxHashMap::default(),
        depth: 0,
    };
    for (number, function) in program.functions.iter_mut().enumerate() {
        pass.depth = usize::from(number != 0);
        pass.block(&mut function.body);
    }
    program.registers = pass.next;
    if !pass.prologue.is_empty() {
        let main = &mut program.functions[0].body;
        pass.prologue.append(main);
        *main = pass.prologue;
    }
}

/// A form of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Flushed,
    Canonical,
}

/// Forms of operands that are at hand in this basic block.
struct Cache {
    /// By register: block in which the entry counts, and the register that holds its flushed or canonical form.
    /// A register needs one of the two only.
    forms: Vec<(u32, Reg)>,
    /// By register: its flushed form, where that counts for good.
    permanent: Vec<Option<Reg>>,
    /// Flushed words of other operands.
    others: FxHashMap<Operand, Reg>,
    block: u32,
}

impl Cache {
    fn get(&self, operand: Operand) -> Option<Reg> {
        match operand {
            Operand::Reg(reg) => {
                let (block, form) = *self.forms.get(reg.index())?;
                self.permanent[reg.index()].or((block == self.block).then_some(form))
            }
            other => self.others.get(&other).copied(),
        }
    }

    fn put(&mut self, operand: Operand, form: Reg) {
        match operand {
            Operand::Reg(reg) => self.forms[reg.index()] = (self.block, form),
            other => {
                self.others.insert(other, form);
            }
        }
    }

    fn forget(&mut self, reg: Reg) {
        if let Some(entry) = self.forms.get_mut(reg.index()) {
            entry.0 = 0;
        }
    }

    fn clear(&mut self) {
        self.block += 1;
        self.others.clear();
    }
}

struct Pass {
    states: States,
    next: u32,
    cache: Cache,
    /// Before which statement of the block at hand statements come that are made now.
    at: usize,
    /// They, in order.
    inserted: Vec<(usize, Stmt)>,
    /// What goes to the beginning of main.
    prologue: Block,
    /// Constants that the prologue flushes.
    constants: FxHashMap<Operand, Reg>,
    /// Loops around, or 1 in a function.
    depth: usize,
}

impl Pass {
    fn block(&mut self, block: &mut Block) {
        let outer = (self.at, std::mem::take(&mut self.inserted));
        self.cache.clear();
        for (at, stmt) in block.iter_mut().enumerate() {
            self.at = at;
            self.statement(stmt);
        }
        self.cache.clear();
        let inserted;
        (self.at, inserted) = (outer.0, std::mem::replace(&mut self.inserted, outer.1));
        insert(block, inserted);
    }

    fn statement(&mut self, stmt: &mut Stmt) {
        let span = stmt.span;
        if let Some((operand, how)) = visit::tested(&mut stmt.kind) {
            self.operand(operand, how, span);
        }
        match &mut stmt.kind {
            StmtKind::Lane(inst) => self.lane(inst, span),
            StmtKind::Memory(inst) => {
                visit::memory_operands(inst, &mut |operand, how| self.operand(operand, how, span));
                self.at += 1;
                visit::memory_destinations(inst, &mut |reg| self.defined(*reg, span));
            }
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
            }
            StmtKind::Loop { body } => {
                self.depth += 1;
                self.block(body);
                self.depth -= 1;
            }
            StmtKind::Switch { arms, .. } => arms.iter_mut().for_each(|arm| self.block(&mut arm.body)),
            StmtKind::Call { .. } => self.cache.clear(),
            StmtKind::Break(_)
            | StmtKind::Continue(_)
            | StmtKind::Return(_)
            | StmtKind::Discard(_)
            | StmtKind::Fence(_) => {}
        }
    }

    fn lane(&mut self, inst: &mut LaneInst, span: Span) {
        let [dst, high] = inst.dst;
        let leaves_loose = inst.op.leaves() == Leaves::Float;
        // A loose register takes over any float word, others only exact ones.
        let takes_any = self.states.loose[dst.index()];
        match inst.op {
            LaneOp::Mov | LaneOp::Select | LaneOp::SelectF | LaneOp::Cmov => {
                self.taken(inst, takes_any, span);
            }
            _ => {
                let mut args = inst.args.iter_mut();
                for class in inst.op.arguments() {
                    for operand in args.by_ref().take(class.words()) {
                        match class {
                            Class::F => self.float(operand, span),
                            Class::W | Class::Q => self.word(operand, span),
                        }
                    }
                }
            }
        }
        self.at += 1;
        if leaves_loose && !takes_any {
            let scratch = self.scratch();
            inst.dst = [scratch; 2];
            self.push(LaneOp::Canon, dst, Operand::Reg(scratch), span);
            // Before it became canonical the word was fit for arithmetic.
            self.cache.put(Operand::Reg(dst), scratch);
            if self.states.shared[dst.index()] {
                self.cache.permanent[dst.index()] = Some(scratch);
            }
            return;
        }
        self.defined(dst, span);
        if high != dst {
            self.defined(high, span);
        }
    }

    /// The operands of what takes a word over, as a register does that takes any float or exact ones only, or of what chooses one.
    fn taken(&mut self, inst: &mut LaneInst, takes_any: bool, span: Span) {
        for (at, operand) in inst.args.iter_mut().enumerate() {
            match (inst.op, at) {
                (LaneOp::Select | LaneOp::SelectF, 0) => {}
                (LaneOp::Mov | LaneOp::Select, _) | (LaneOp::Cmov, 1 | 2) if takes_any => {}
                (LaneOp::SelectF, _) | (LaneOp::Cmov, 0) => self.float(operand, span),
                _ => self.word(operand, span),
            }
        }
    }

    /// `reg` has a new word: forms of the old one are void.
    fn defined(&mut self, reg: Reg, span: Span) {
        self.cache.forget(reg);
        if self.states.shared[reg.index()] && !self.states.flushed[reg.index()] {
            let form = self.scratch();
            self.push(LaneOp::Flush, form, Operand::Reg(reg), span);
            self.cache.permanent[reg.index()] = Some(form);
        }
    }

    /// Replaces `operand` by a form that suits its use.
    fn operand(&mut self, operand: &mut Operand, how: Use, span: Span) {
        match how {
            Use::Test => {}
            Use::Float => self.float(operand, span),
            Use::Word => self.word(operand, span),
        }
    }

    /// Replaces `operand` by a word that arithmetic may read.
    #[inline]
    fn float(&mut self, operand: &mut Operand, span: Span) {
        match *operand {
            Operand::Imm(word) => *operand = Operand::Imm(Scalar.flush(word)),
            Operand::Reg(reg) if self.states.flushed[reg.index()] => {}
            Operand::Builtin(Builtin::Position(_) | Builtin::Interpolant(..)) => {}
            Operand::Reg(_) | Operand::Const { .. } | Operand::Builtin(_) => {
                self.form(operand, Form::Flushed, span);
            }
        }
    }

    /// Replaces `operand` by a word whose bits are right.
    #[inline]
    fn word(&mut self, operand: &mut Operand, span: Span) {
        if matches!(*operand, Operand::Reg(reg) if self.states.loose[reg.index()]) {
            self.form(operand, Form::Canonical, span);
        }
    }

    /// Replaces `operand` by a form of it.
    fn form(&mut self, operand: &mut Operand, form: Form, span: Span) {
        let reg = match self.cache.get(*operand) {
            Some(reg) => reg,
            None if self.depth > 0 && matches!(operand, Operand::Const { .. }) => {
                self.hoisted(*operand, span)
            }
            None => {
                let op = match form {
                    Form::Flushed => LaneOp::Flush,
                    Form::Canonical => LaneOp::Canon,
                };
                let reg = self.scratch();
                self.push(op, reg, *operand, span);
                self.cache.put(*operand, reg);
                reg
            }
        };
        *operand = Operand::Reg(reg);
    }

    /// Computes `op` of a word into `to`, before the statement at hand: made where it stays, as [`Builder::lane`](crate::lower::build::Builder::lane) does.
    fn push(&mut self, op: LaneOp, to: Reg, word: Operand, span: Span) {
        let at = self.at;
        self.inserted.extend(once_with(|| (at, Stmt::lane(op, to, [word], span))));
    }

    /// A register for a form of an operand; its readers know what they get.
    fn scratch(&mut self) -> Reg {
        self.states.flushed.push(true);
        self.states.loose.push(false);
        Reg::fresh(&mut self.next)
    }

    /// The flushed form of a constant, computed at the beginning of main.
    fn hoisted(&mut self, constant: Operand, span: Span) -> Reg {
        if let Some(&reg) = self.constants.get(&constant) {
            return reg;
        }
        let reg = self.scratch();
        let inst = LaneInst::word(LaneOp::Flush, reg, [constant]);
        self.prologue.push(Stmt { kind: StmtKind::Lane(inst), span });
        self.constants.insert(constant, reg);
        reg
    }
}

/// Puts statements before those of a block with these numbers, which do not fall.
fn insert(block: &mut Block, inserted: Vec<(usize, Stmt)>) {
    let mut from = block.len();
    let blank = || Stmt { kind: StmtKind::Fence(Fence::empty()), span: Span::default() };
    block.extend(std::iter::repeat_with(blank).take(inserted.len()));
    // From the end on each goes where it stays.
    let mut to = block.len();
    for (at, stmt) in inserted.into_iter().rev() {
        while from > at {
            (from, to) = (from - 1, to - 1);
            block.swap(from, to);
        }
        to -= 1;
        block[to] = stmt;
    }
}
