//! Statements as structured control flow, functions, and the order of memory accesses between threads.
//!
//! Registers are variables across blocks, so no phi is needed. A `switch` whose arms fall through becomes a
//! sequence of conditional arms inside a one-case `OpSwitch`, which gives `break` its target and lets `continue`
//! pass.

use std::collections::HashSet;

use rspirv::spirv::{BuiltIn, Op, Word};
use smallvec::SmallVec;

use super::counters::bounded_counters;
use super::group::Filled;
use super::launch::Slot;
use super::rounds::Rounds;
use super::{Emitter, Mode};
use crate::inst::Fence;
use crate::ir::divergence::leaves;
use crate::ir::visit::{any, calls, destinations_of, order, program_has, written};
use crate::ir::{
    Arm, Block, Builtin, Cond, LaneInst, MemoryInst, Operand, PositionKind, Program, Reg, Space, Stage, Stmt,
    StmtKind, ThreadId,
};
use crate::isa::lane::Class;
use crate::isa::{Algebra, LaneOp};

/// Key of the R700 areas among the LDS blocks.
pub(super) const OWN_AREAS: u32 = u32::MAX;

/// Cases that an `OpSwitch` may have.
const MOST_CASES: usize = 16_383;

/// Where breaks and continues go, and what group memory has seen.
#[derive(Default)]
pub(super) struct Flow {
    breaks: Vec<Word>,
    continues: Vec<Word>,
    /// Blocks around the current statement.
    depth: u32,
    /// Threads of the group may have parted.
    pub parted: bool,
    /// What is known of group memory.
    pub filled: Filled,
    /// Main is being written, which runs once.
    main: bool,
    /// Ways out of loops that are never taken.
    pub second_exits: u32,
    pub rounds: Rounds,
    /// Functions that may kill the thread.
    killers: HashSet<usize>,
    /// Counters of the innermost loop that cannot wrap.
    bounded: HashSet<Reg>,
    /// Words of the function where the present run of instructions began.
    run: usize,
}

impl Flow {
    pub fn of(program: &Program) -> Self {
        let mut killers = HashSet::new();
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

/// Whether double-precision instructions occur: the module needs float controls for them.
pub(super) fn uses_double(program: &Program) -> bool {
    program_has(program, &|kind| match kind {
        StmtKind::Lane(inst) => inst.op.result() == Class::Q || inst.op.arguments().contains(&Class::Q),
        _ => false,
    })
}

/// Whether threads exchange what they read from the R700 areas.
pub(super) fn exchanges(program: &Program) -> bool {
    program_has(program, &|kind| {
        matches!(kind, StmtKind::Memory(MemoryInst::LdsReadAny { neighbor_exchange: true, .. }))
    })
}

/// Whether there are 64-bit atomics on LDS: then its blocks are pairs of words.
pub(super) fn pairs(program: &Program) -> bool {
    program_has(program, &|kind| {
        matches!(kind, StmtKind::Memory(MemoryInst::Atomic { space: Space::Lds(_), wide: Some(_), .. }))
    })
}

/// Whether the program orders global memory between threads.
pub(super) fn orders_memory(program: &Program) -> bool {
    let atomic = |kind: &StmtKind| matches!(kind, StmtKind::Memory(MemoryInst::Atomic { .. }));
    fences_memory(program) || program_has(program, &atomic)
}

/// Whether it does so by fences.
pub(super) fn fences_memory(program: &Program) -> bool {
    program_has(program, &|kind| match kind {
        StmtKind::Fence(fence) => {
            fence.intersects(Fence::MEMORY | Fence::MEMORY_READ | Fence::MEMORY_WRITE | Fence::GDS)
        }
        _ => false,
    })
}

fn discards(block: &Block) -> bool {
    any(block, &|kind| matches!(kind, StmtKind::Discard(_)))
}

/// Whether main stands in the entry point itself, so that what its threads have in common is there before the test
/// whether they are in the domain: drivers that run threads under masks load it for all of them at once then.
/// Nothing leaves such a main but its end, which is where outputs are stored.
pub(super) fn inlines_main(program: &Program) -> bool {
    program.stage == Stage::Pixel
        && program.functions.first().is_some_and(|main| !returns(&main.body))
        && !program_has(program, &|kind| matches!(kind, StmtKind::Discard(_)))
}

impl Emitter<'_> {
    /// Writes all functions of the program; returns main's, `None` if that is to stand in the entry point.
    pub fn program_functions(&mut self) -> Option<Word> {
        let program = self.program;
        let order = order(&program.functions);
        for n in &order {
            let id = self.w.id();
            self.functions.insert(*n, id);
        }
        let void = self.t.void;
        let inline = inlines_main(program);
        for n in order.into_iter().filter(|n| *n > 0 || !inline) {
            let function = self.functions[&n];
            self.memo = Default::default();
            self.flow.parted = self.divergence.parted(n);
            self.flow.main = n == 0;
            self.flow.run = 0;
            self.w.begin(function, void, &[]);
            if n == 0 {
                self.start_registers();
            }
            self.block(&program.functions[n].body);
            if self.w.reachable() {
                self.spill();
                self.w.return_void();
            }
            self.w.end();
        }
        (!inline).then(|| self.functions[&0])
    }

    /// Whether main is being written, which runs once.
    pub fn in_main(&self) -> bool {
        self.flow.main
    }

    /// Whether all threads that are left come by the current statement, once.
    pub fn all_threads(&self) -> bool {
        self.flow.main && self.flow.depth == 1 && !self.flow.parted
    }

    /// Writes the entry point around main, or around a call of it.
    pub fn entry(&mut self, entry: Word, body: Option<Word>) {
        let void = self.t.void;
        self.memo = Default::default();
        self.flow.main = false;
        self.w.begin(entry, void, &[]);
        match self.program.stage {
            Stage::Pixel => {
                let domain = self.row_at(0);
                let (width, height) = (self.part(domain, 2), self.part(domain, 3));
                let (x, y) = (self.domain_index(0), self.domain_index(1));
                let (in_x, in_y) = (self.ult(x, width), self.ult(y, height));
                let inside = self.both(in_x, in_y);
                self.when(inside, |e| {
                    match body {
                        Some(body) => {
                            e.w.op(Op::FunctionCall, void, &[body]);
                        }
                        None => e.main(),
                    }
                    match e.killed {
                        None => e.outputs(),
                        Some(killed) => {
                            let killed = e.w.load(e.t.u32, killed, None);
                            let zero = e.word(0);
                            let alive = e.ieq(killed, zero);
                            e.when(alive, |e| e.outputs());
                        }
                    }
                });
            }
            Stage::Compute => {
                if self.shared_words > 0 && !self.filled() {
                    self.zero_group_memory();
                }
                if let Some(body) = body {
                    self.w.op(Op::FunctionCall, void, &[body]);
                }
            }
        }
        self.report_rounds();
        self.w.return_void();
        self.w.end();
    }

    /// Writes main where it is not a function.
    fn main(&mut self) {
        let program = self.program;
        self.flow.parted = false;
        self.flow.main = true;
        self.flow.run = 0;
        self.start_registers();
        self.block(&program.functions[0].body);
    }

    fn outputs(&mut self) {
        let program = self.program;
        for output in &program.outputs {
            let words = output.registers.map(|register| self.read(register));
            let row = self.layout.row(Slot::Output(output.index));
            let (x, y) = (self.position_index(0), self.position_index(1));
            self.store_texel(row, x, Some(y), words);
        }
    }

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

    fn block(&mut self, block: &Block) {
        self.flow.depth += 1;
        for statement in block {
            if self.w.reachable() {
                self.end_run();
                self.statement(statement);
            }
        }
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
        let value = self.w.op(Op::BitwiseXor, self.t.u32, &[zero, value]);
        self.solid.insert(value);
        self.write(register, value);
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
        if steps && !self.flow.continues.is_empty() && !self.flow.bounded.contains(&inst.dst[0]) {
            self.hide_steps(inst, &mut words);
        }
        let newest = self.w.newest();
        let (lo, hi) = self.apply(inst.op, &words);
        // Words that were there before may be equal in the present branch only.
        if self.shared.is_some() && lo > newest {
            self.threads.is_result(lo, inst.op, &words);
        }
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
        let around = std::mem::replace(&mut self.flow.bounded, bounded_counters(body));
        let outer = self.flow.parted;
        let parts = self.divergence.loop_parts(body);
        self.flow.parted |= parts;
        self.second_exit(merge, parts, self.flow.rounds.innermost());
        self.block(body);
        if self.w.reachable() {
            self.spill();
            self.w.branch(next);
        }
        self.w.label(next);
        self.w.branch(head);
        self.flow.breaks.pop();
        self.flow.continues.pop();
        self.flow.bounded = around;
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
            let mut seen = HashSet::new();
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

    /// An operand's word.
    pub fn operand(&mut self, operand: &Operand) -> Word {
        match operand {
            Operand::Reg(register) => self.read(*register),
            Operand::Imm(bits) => self.word(*bits),
            Operand::Const { buffer, row, component } => {
                let words = self.constant_row(*buffer, *row);
                self.part(words, u32::from(*component))
            }
            Operand::Builtin(builtin) => self.builtin(*builtin),
        }
    }

    /// Component of a launch identifier.
    pub fn launch_id(&mut self, builtin: BuiltIn, component: u32) -> Word {
        let variable = self.input(builtin);
        let outer = self.w.hoist(true);
        let value = self.w.load_fixed(self.t.uvec3, variable);
        let part = self.part(value, component);
        self.w.hoist(outer);
        if let (BuiltIn::LocalInvocationId, Some(size)) = (builtin, self.group) {
            self.facts.limit(part, size[component as usize] - 1);
            self.threads.is_number(part, Some(component as u8));
        }
        part
    }

    /// Column (0) or row (1) of the pixel in its domain.
    pub fn domain_index(&mut self, axis: u32) -> Word {
        let outer = self.w.hoist(true);
        let group = self.launch_id(BuiltIn::WorkgroupId, axis);
        let thread = self.launch_id(BuiltIn::LocalInvocationId, axis);
        let side = self.word(self.group.expect("pixel kernels have a tile")[axis as usize]);
        let first = self.imul(group, side);
        let index = self.iadd(first, thread);
        self.w.hoist(outer);
        index
    }

    /// The same, of all columns or rows.
    pub fn position_index(&mut self, axis: u32) -> Word {
        let index = self.domain_index(axis);
        if self.assume.surfaces.at_origin {
            return index;
        }
        let outer = self.w.hoist(true);
        let domain = self.row_at(0);
        let first = self.part(domain, axis);
        let index = self.iadd(index, first);
        self.w.hoist(outer);
        index
    }

    /// x + Sx (y + Sy z)
    fn flatten(&mut self, [x, y, z]: [Word; 3], [sx, sy]: [Word; 2]) -> Word {
        let plane = self.imul(sy, z);
        let rows = self.iadd(y, plane);
        let rows = self.imul(sx, rows);
        self.iadd(x, rows)
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Word {
        if let Some(value) = self.memo.builtins.get(&builtin) {
            return *value;
        }
        // Corner values take a division each: where they are used.
        if let Builtin::Interpolant(register, component) = builtin {
            return self.interpolant(register, component.into());
        }
        let outer = self.w.hoist(true);
        let value = match builtin {
            Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute | ThreadId::Group, 3..) => self.word(0),
            Builtin::Thread(ThreadId::InGroup, k) => self.launch_id(BuiltIn::LocalInvocationId, k.into()),
            Builtin::Thread(ThreadId::Group, k) => self.launch_id(BuiltIn::WorkgroupId, k.into()),
            Builtin::Thread(ThreadId::Absolute, k) => {
                let group = self.launch_id(BuiltIn::WorkgroupId, k.into());
                let thread = self.launch_id(BuiltIn::LocalInvocationId, k.into());
                let first = self.imul(group, self.block[usize::from(k)]);
                self.iadd(first, thread)
            }
            Builtin::Thread(ThreadId::InGroupFlat, _) if matches!(self.group, Some([_, 1, 1])) => {
                self.launch_id(BuiltIn::LocalInvocationId, 0)
            }
            Builtin::Thread(ThreadId::InGroupFlat, _) => {
                let id = [0, 1, 2].map(|k| self.launch_id(BuiltIn::LocalInvocationId, k));
                let flat = self.flatten(id, [self.block[0], self.block[1]]);
                self.threads.is_number(flat, None);
                flat
            }
            Builtin::Thread(ThreadId::GroupFlat, _) => {
                let id = [0, 1, 2].map(|k| self.launch_id(BuiltIn::WorkgroupId, k));
                let groups = self.row_at(0);
                let sizes = [self.part(groups, 0), self.part(groups, 1)];
                self.flatten(id, sizes)
            }
            Builtin::Thread(ThreadId::AbsoluteFlat, _) => {
                let group = self.builtin(Builtin::Thread(ThreadId::GroupFlat, 0));
                let thread = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
                let xy = self.imul(self.block[0], self.block[1]);
                let threads = self.imul(xy, self.block[2]);
                let first = self.imul(group, threads);
                self.iadd(first, thread)
            }
            Builtin::Position(k @ (0 | 1)) => {
                let index = self.position_index(k.into());
                // Far below 2^24: exact.
                let whole = self.itof_raw(index);
                let position = if self.program.interface.position == Some(PositionKind::Whole) {
                    whole
                } else {
                    let half = self.word(0x3F00_0000);
                    self.fadd_raw(whole, half)
                };
                self.memo.whole.insert(position, (index, k.into()));
                position
            }
            Builtin::Position(_) => self.word(0),
            Builtin::ObjectIndex => {
                if self.program.stage == Stage::Compute {
                    self.builtin(Builtin::Thread(ThreadId::AbsoluteFlat, 0))
                } else {
                    let domain = self.row_at(0);
                    let width = self.part(domain, 2);
                    let (x, y) = (self.domain_index(0), self.domain_index(1));
                    let row = self.imul(y, width);
                    self.iadd(row, x)
                }
            }
            Builtin::Timer(_) | Builtin::ComputeUnit | Builtin::WaveSlot | Builtin::Interpolant(..) => {
                self.word(0)
            }
        };
        self.w.hoist(outer);
        self.memo.builtins.insert(builtin, value);
        value
    }
}

/// Whether the end of the statements is never reached.
fn ends(block: &Block) -> bool {
    match block.last().map(|statement| &statement.kind) {
        Some(StmtKind::Break(None) | StmtKind::Continue(None) | StmtKind::Return(None)) => true,
        Some(StmtKind::If { then, otherwise, .. }) => ends(then) && ends(otherwise),
        _ => false,
    }
}

fn returns(block: &Block) -> bool {
    any(block, &|kind| matches!(kind, StmtKind::Return(_) | StmtKind::Discard(_)))
}

fn continues(block: &Block) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::Continue(_) => true,
        StmtKind::If { then, otherwise, .. } => continues(then) || continues(otherwise),
        StmtKind::Switch { arms, .. } => arms.iter().any(|arm| continues(&arm.body)),
        _ => false,
    })
}
