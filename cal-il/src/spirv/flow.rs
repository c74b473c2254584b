//! Statements as structured control flow, functions, and the order of memory accesses between threads.
//!
//! Registers are variables across blocks, so no phi is needed. A `switch` whose arms fall through becomes a
//! sequence of conditional arms inside a one-case `OpSwitch`, which gives `break` its target and lets `continue`
//! pass.

use rustc_hash::{FxHashMap, FxHashSet};

use rspirv::spirv::{Op, Word};
use smallvec::SmallVec;

use super::counters::{Bound, bounded_counters};
use super::group::Filled;
use super::rounds::Rounds;
use super::uses::{discards, ends, returns};
use super::{Emitter, Mode};
use crate::ir::divergence::leaves;
use crate::ir::visit::continues;
use crate::ir::visit::{calls, destinations_of, order, written};
use crate::ir::{Arm, Block, Cond, LaneInst, Operand, Program, Reg, Stmt, StmtKind};
use crate::isa::{Algebra, LaneOp};

/// Cases that an `OpSwitch` may have.
const MOST_CASES: usize = 16_383;

/// Where breaks and continues go, and what group memory has seen.
#[derive(Default)]
pub(super) struct Flow {
    breaks: Vec<Word>,
    continues: Vec<Word>,
    /// Blocks around the current statement.
    pub depth: u32,
    /// Threads of the group may have parted.
    pub parted: bool,
    /// What is known of group memory.
    pub filled: Filled,
    /// Main is being written, which runs once.
    pub main: bool,
    /// Ways out of loops that are never taken.
    pub second_exits: u32,
    pub rounds: Rounds,
    /// Functions that may kill the thread.
    killers: FxHashSet<usize>,
    /// Counters of the innermost loop that cannot wrap.
    pub bounded: FxHashMap<Reg, Bound>,
    /// Blocks around the body of the innermost loop, and its own.
    body: u32,
    /// Words of the function where the present run of instructions began.
    pub run: usize,
}

impl Flow {
    pub fn of(program: &Program) -> Self {
        let mut killers = FxHashSet::default();
        for n in order(&program.functions) {
            let body = &program.functions[n].body;
            let mut kills = discards(body);
            calls(body, &mut |callee| kills |= killers.contains(&callee));
            if kills {
                killers.insert(n);
            }
        }
        Self { killers, ..Self::default() }
    }
}

impl Emitter<'_> {
    /// Runs `f` where the condition holds. What `f` finds out is forgotten, registers must not be written.
    pub fn when(&mut self, condition: Word, f: impl FnOnce(&mut Self)) {
        let (yes, merge) = (self.w.id(), self.w.id());
        self.w.selection_merge(merge);
        self.w.branch_if(condition, yes, merge);
        self.w.label(yes);
        let mark = self.mark();
        f(self);
        self.rewind(mark);
        self.w.branch(merge);
        self.w.label(merge);
    }

    /// The word of `f` where the condition holds, else 0.
    pub fn when_else_zero(&mut self, condition: Word, f: impl FnOnce(&mut Self) -> Word) -> Word {
        let (yes, merge, before) = (self.w.id(), self.w.id(), self.w.current());
        self.w.selection_merge(merge);
        self.w.branch_if(condition, yes, merge);
        self.w.label(yes);
        let mark = self.mark();
        let value = f(self);
        self.rewind(mark);
        let last = self.w.current();
        self.w.branch(merge);
        self.w.label(merge);
        let zero = self.word(0);
        self.w.op(Op::Phi, self.t.u32, &[value, last, zero, before])
    }

    fn condition(&mut self, cond: &Cond) -> Word {
        let value = self.operand(&cond.operand);
        if let Some(truth) = self.memo.truths.get(&value) {
            return if cond.nonzero { truth } else { self.negate(truth) };
        }
        if let Some(bits) = self.w.bits.get(&value) {
            return self.w.truth((*bits != 0) == cond.nonzero);
        }
        // Where a value is found to be 0, drivers know it, and all that equal it: faithful mode compares with a zero that
        // they do not know.
        let faithful = self.target.mode == Mode::Faithful;
        let zero = if faithful { self.compared_zero() } else { self.word(0) };
        let op = if cond.nonzero { Op::INotEqual } else { Op::IEqual };
        self.w.op(op, self.t.bool, &[value, zero])
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.flow.depth += 1;
        let around = self.w.origin();
        for statement in block {
            if self.w.reachable() {
                self.end_run();
                self.w.comes_from(statement.span);
                self.statement(statement);
            }
        }
        self.w.comes_from(around);
        self.flow.depth -= 1;
    }

    /// Ends a run of instructions that has become long: llvmpipe's compiler takes it as one block, for which its time grows
    /// faster than the length. A load by address ends the block there, conditions do not; it is of a word that is 0, and the
    /// register that was written last depends on it, so that it stays.
    fn end_run(&mut self) {
        let now = self.w.length();
        if now - self.flow.run < self.target.longest_run as usize {
            return;
        }
        let Some(register) = self.last_written() else { return };
        self.flow.run = now;
        let pointer = self.zero_pointer();
        let zero = self.w.load_volatile(self.t.u32, pointer, 4);
        let value = self.read(register);
        let hidden = self.w.op(Op::BitwiseXor, self.t.u32, &[zero, value]);
        self.solid.insert(hidden);
        self.same_place(value, hidden);
        self.write(register, hidden);
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Lane(inst) => self.lane(inst),
            StmtKind::Memory(inst) => {
                self.touch(inst);
                self.memory(inst);
                debug_assert!(
                    destinations_of(inst).iter().all(|register| self.memo.registers.get(register).is_some())
                );
            }
            StmtKind::If { cond, then, otherwise } => self.branches(cond, then, otherwise),
            StmtKind::Loop { body } => self.endless(body),
            StmtKind::Switch { selector, arms } => self.switch(selector, arms),
            StmtKind::Break(cond) => {
                if let Some(to) = self.flow.breaks.last().copied() {
                    self.jump(cond.as_ref(), Some(to));
                }
            }
            StmtKind::Continue(cond) => {
                if let Some(to) = self.flow.continues.last().copied() {
                    self.jump(cond.as_ref(), Some(to));
                }
            }
            StmtKind::Return(cond) => self.jump(cond.as_ref(), None),
            StmtKind::Call { function, cond } => self.call(*function, cond.as_ref()),
            StmtKind::Discard(cond) => self.discard(cond),
            StmtKind::Fence(fence) => self.fence(*fence),
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        let mut words: SmallVec<[Word; 6]> = inst.args.iter().map(|operand| self.operand(operand)).collect();
        let steps = matches!(inst.op, LaneOp::Iadd | LaneOp::Isub);
        if steps && !self.flow.continues.is_empty() && !self.flow.bounded.contains_key(&inst.dst[0]) {
            self.hide_steps(inst, &mut words);
        }
        let newest = self.w.newest();
        let (lo, hi) = self.apply(inst.op, &words);
        // Words that were there before may be equal in the present branch only.
        if self.shared.is_some() && lo > newest {
            self.threads.is_result(lo, inst.op, &words);
        }
        self.step_place(inst, &words, lo);
        self.write(inst.dst[0], lo);
        if let Some(hi) = hi {
            self.write(inst.dst[1], hi);
        }
    }

    /// Some drivers compute how often a loop runs, and forget that its counter may wrap. So they must not know a step that
    /// is large; in faithful mode, none of a counter but 1.
    fn hide_steps(&mut self, inst: &LaneInst, words: &mut [Word]) {
        let counts = inst.args.contains(&Operand::Reg(inst.dst[0]));
        let least = if counts && self.target.mode == Mode::Faithful { 2 } else { 1 << 16 };
        for (word, operand) in words.iter_mut().zip(&inst.args) {
            if matches!(operand, Operand::Imm(step) if (*step as i32).unsigned_abs() >= least) {
                *word = self.hidden(*word);
            }
        }
    }

    /// Goes to a label, or returns, if the condition holds.
    fn jump(&mut self, cond: Option<&Cond>, to: Option<Word>) {
        let breaks = to.is_some() && to == self.flow.breaks.last().copied();
        let Some(cond) = cond else {
            self.spill();
            if breaks {
                self.leaves_loop();
            }
            return match to {
                Some(to) => self.w.branch(to),
                None => self.w.return_void(),
            };
        };
        let condition = self.condition(cond);
        self.spill();
        self.flow.parted |= self.divergence.parts(cond);
        let merge = self.w.id();
        self.w.selection_merge(merge);
        match to {
            Some(to) if breaks && self.flow.rounds.innermost().is_some() => {
                let leave = self.w.id();
                self.w.branch_if(condition, leave, merge);
                self.w.label(leave);
                self.leaves_loop();
                self.w.branch(to);
            }
            Some(to) => self.w.branch_if(condition, to, merge),
            None => {
                let leave = self.w.id();
                self.w.branch_if(condition, leave, merge);
                self.w.label(leave);
                self.w.return_void();
            }
        }
        self.w.label(merge);
        if breaks && self.flow.depth == self.flow.body {
            self.goes_on(cond);
        }
    }

    fn branches(&mut self, cond: &Cond, then: &Block, otherwise: &Block) {
        let value = self.operand(&cond.operand);
        let truth = self.memo.truths.get(&value);
        let condition = self.condition(cond);
        self.spill();
        let [yes, no, merge] = [0; 3].map(|_| self.w.id());
        self.w.selection_merge(merge);
        self.w.branch_if(condition, yes, if otherwise.is_empty() { merge } else { no });
        let before = self.mark();
        let parts = self.divergence.parts(cond);
        let outer = self.flow.parted;
        for (label, side) in [(yes, then), (no, otherwise)] {
            if label == no && otherwise.is_empty() {
                continue;
            }
            self.flow.parted = outer || parts;
            self.rewind(before);
            self.w.label(label);
            let holds = (label == yes) == cond.nonzero;
            let assumed = truth.filter(|_| holds).map(|truth| self.assume_holds(truth));
            self.block(side);
            if let Some(assumed) = assumed {
                self.forget_assumed(assumed);
            }
            if self.w.reachable() {
                self.spill();
                self.w.branch(merge);
            }
        }
        let gone = leaves(then) || leaves(otherwise);
        let inner = self.divergence.exits(then) || self.divergence.exits(otherwise);
        self.flow.parted = outer || (parts && gone) || inner;
        self.rewind(before);
        self.forget(then);
        self.forget(otherwise);
        self.w.label(merge);
    }

    fn endless(&mut self, body: &Block) {
        let around = (std::mem::replace(&mut self.flow.bounded, bounded_counters(body)), self.flow.body);
        let counters = self.counters();
        self.flow.body = self.flow.depth + 1;
        self.spill();
        self.forget(body);
        self.enter_loop();
        let before = self.mark();
        let [head, first, next, merge] = [0; 4].map(|_| self.w.id());
        self.w.branch(head);
        self.w.label(head);
        self.w.loop_merge(merge, next);
        self.w.branch(first);
        self.w.label(first);
        self.flow.run = self.w.length();
        self.flow.breaks.push(merge);
        self.flow.continues.push(next);
        let outer = self.flow.parted;
        let parts = self.divergence.loop_parts(body);
        self.flow.parted |= parts;
        self.second_exit(merge, parts, self.flow.rounds.innermost());
        let assumed = self.assume_counters(&counters);
        self.block(body);
        self.forget_assumed(assumed);
        if self.w.reachable() {
            self.spill();
            self.w.branch(next);
        }
        self.w.label(next);
        self.w.branch(head);
        self.flow.breaks.pop();
        self.flow.continues.pop();
        (self.flow.bounded, self.flow.body) = around;
        self.flow.parted = outer || returns(body);
        self.rewind(before);
        self.w.label(merge);
        self.left_loop();
        self.flow.run = self.w.length();
    }

    fn switch(&mut self, selector: &Operand, arms: &[Arm]) {
        let mut value = self.operand(selector);
        if self.target.mode == Mode::Faithful && self.w.bits.get(&value).is_none() {
            // As for conditions.
            let zero = self.compared_zero();
            value = self.w.op(Op::BitwiseXor, self.t.u32, &[zero, value]);
        }
        self.spill();
        // Arms before the one at hand may have run.
        arms.iter().for_each(|arm| self.forget(&arm.body));
        let before = self.mark();
        let merge = self.w.id();
        let outer = self.flow.parted;
        let inner = outer
            || self.divergence.differs(selector)
            || arms.iter().any(|arm| self.divergence.exits(&arm.body));
        self.flow.parted = inner;
        self.flow.breaks.push(merge);
        self.flow.rounds.loops.push(None);
        let (last, rest) = match arms.split_last() {
            Some((last, rest)) => (Some(last), rest),
            None => (None, &[][..]),
        };
        let count: usize = arms.iter().map(|arm| arm.labels.len()).sum();
        if count <= MOST_CASES && rest.iter().all(|arm| ends(&arm.body)) {
            let labels: Vec<Word> = arms.iter().map(|_| self.w.id()).collect();
            let mut cases = Vec::new();
            let mut default = merge;
            let mut seen = FxHashSet::default();
            for (arm, label) in rest.iter().chain(last).zip(&labels) {
                cases.extend(arm.labels.iter().filter(|v| seen.insert(**v)).map(|v| (*v as u32, *label)));
                if arm.default {
                    default = *label;
                }
            }
            self.w.selection_merge(merge);
            self.w.switch(value, default, &cases);
            for (arm, label) in arms.iter().zip(labels) {
                self.arm(arm, label, merge, before);
            }
        } else {
            // The number of the arm at which to start, then each arm in turn from there on.
            let mut start = self.word(arms.len() as u32);
            if let Some(k) = arms.iter().position(|arm| arm.default) {
                start = self.word(k as u32);
            }
            for (k, arm) in arms.iter().enumerate().rev() {
                let number = self.word(k as u32);
                for label in &arm.labels {
                    let label = self.word(*label as u32);
                    let same = self.ieq(value, label);
                    start = self.select(same, number, start);
                }
            }
            let (all, zero) = (self.w.id(), self.word(0));
            self.w.selection_merge(merge);
            self.w.switch(zero, all, &[]);
            self.w.label(all);
            for (k, arm) in arms.iter().enumerate() {
                let (label, next, number) = (self.w.id(), self.w.id(), self.word(k as u32));
                // An arm runs if the start is not after it.
                let after = self.ult(number, start);
                let runs = self.negate(after);
                self.w.selection_merge(next);
                self.w.branch_if(runs, label, next);
                self.arm(arm, label, next, before);
                self.rewind(before);
                self.w.label(next);
            }
            self.w.branch(merge);
        }
        self.flow.breaks.pop();
        self.flow.rounds.loops.pop();
        self.flow.parted =
            outer || (inner && arms.iter().any(|arm| returns(&arm.body) || continues(&arm.body)));
        self.rewind(before);
        self.w.label(merge);
    }

    fn arm(&mut self, arm: &Arm, label: Word, next: Word, before: super::registers::Mark) {
        self.rewind(before);
        let parted = self.flow.parted;
        self.w.label(label);
        self.block(&arm.body);
        if self.w.reachable() {
            self.spill();
            self.w.branch(next);
        }
        self.flow.parted = parted;
    }

    fn call(&mut self, function: usize, cond: Option<&Cond>) {
        let Some(callee) = self.functions.get(&function).copied() else { return };
        let void = self.t.void;
        self.spill();
        match cond {
            None => {
                self.w.op(Op::FunctionCall, void, &[callee]);
            }
            Some(cond) => {
                let condition = self.condition(cond);
                self.when(condition, |e| {
                    e.w.op(Op::FunctionCall, void, &[callee]);
                });
            }
        }
        let program = self.program;
        let registers = &mut self.memo.registers;
        written(program, &program.functions[function].body, &mut |register| registers.remove(&register));
        if self.flow.killers.contains(&function) {
            let killed = self.killed();
            let (killed, zero) = (self.w.load(self.t.u32, killed, None), self.word(0));
            let gone = self.w.op(Op::INotEqual, self.t.bool, &[killed, zero]);
            self.leave_if(gone, |_| ());
        }
    }

    /// Returns if the condition holds.
    fn leave_if(&mut self, condition: Word, before: impl FnOnce(&mut Self)) {
        let (leave, merge) = (self.w.id(), self.w.id());
        self.w.selection_merge(merge);
        self.w.branch_if(condition, leave, merge);
        self.w.label(leave);
        before(self);
        self.w.return_void();
        self.w.label(merge);
    }

    fn discard(&mut self, cond: &Cond) {
        let condition = self.condition(cond);
        self.spill();
        self.leave_if(condition, |e| {
            let (killed, one) = (e.killed(), e.word(1));
            e.w.store(killed, one, None);
        });
    }

    fn killed(&mut self) -> Word {
        if let Some(killed) = self.killed {
            return killed;
        }
        let zero = self.w.word(0);
        let killed = self.private(self.t.u32, zero);
        self.killed = Some(killed);
        killed
    }
}
