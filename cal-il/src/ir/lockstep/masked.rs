//! Statements under masks: as a wave executes them, with fences between that all threads pass.
//!
//! A mask is a register, all ones for the threads that execute, else 0. What needs no fence inside stays as it is, under
//! its mask.

use super::Pass;
use crate::inst::Fence;
use crate::ir::divergence::leaves;
use crate::ir::{Arm, Block, Cond, LaneOp, MemoryInst, Operand, Reg, Space, Stmt, StmtKind, Width};

/// Number of the block of group memory by which threads tell each other that they have not left a loop.
pub(super) const VOTES: u32 = u32::MAX - 1;

/// Whose a mask is, as far as leaving goes.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Branch,
    /// Threads that have not left the loop.
    Loop,
    /// Threads that are in this turn.
    Turn,
    Switch,
    Function,
}

/// Statements being written.
#[derive(Default)]
struct Region {
    out: Block,
    /// Those at hand, under the innermost mask.
    run: Block,
    levels: Vec<(Reg, Level)>,
}

impl Region {
    fn mask(&self) -> Reg {
        self.levels.last().map_or(Reg(0), |(register, _)| *register)
    }

    /// Ends the statements at hand.
    fn flush(&mut self) {
        if let Some(first) = self.run.first() {
            let span = first.span;
            let then = std::mem::take(&mut self.run);
            let kind = StmtKind::If { cond: Cond::any(self.mask()), then, otherwise: Vec::new() };
            self.out.push(Stmt { kind, span });
        }
    }

    /// Runs statements under another mask.
    fn level(&mut self, register: Reg, level: Level, f: impl FnOnce(&mut Self)) {
        self.flush();
        self.levels.push((register, level));
        f(self);
        self.flush();
        self.levels.pop();
    }
}

impl Pass<'_> {
    /// Statements that threads may reach or leave apart, where all threads of the group pass.
    pub(super) fn region(&mut self, block: &[Stmt], out: &mut Block) {
        let Some(first) = block.first() else { return };
        let all = self.register();
        let mut region = Region { out: std::mem::take(out), ..Region::default() };
        region.out.push(Stmt::copy(all, Operand::Imm(u32::MAX), first.span));
        region.level(all, Level::Function, |region| self.masked(block, region));
        *out = region.out;
    }

    fn masked(&mut self, block: &[Stmt], region: &mut Region) {
        for statement in block {
            let one = std::slice::from_ref(statement);
            match &statement.kind {
                StmtKind::Lane(_) | StmtKind::Memory(_) => {
                    let access = self.access(statement);
                    self.fence_before(access.as_slice(), statement, region);
                    region.run.push(statement.clone());
                }
                StmtKind::Fence(fence) => {
                    let fence = *fence | Fence::THREADS;
                    region.flush();
                    region.out.push(Stmt { kind: StmtKind::Fence(fence), span: statement.span });
                    self.passed(fence);
                }
                StmtKind::Break(cond) => {
                    self.gone(cond.as_ref(), &[Level::Loop, Level::Switch], statement, region)
                }
                StmtKind::Continue(cond) => self.gone(cond.as_ref(), &[Level::Turn], statement, region),
                StmtKind::Return(cond) => self.gone(cond.as_ref(), &[Level::Function], statement, region),
                StmtKind::Discard(cond) => self.gone(Some(cond), &[], statement, region),
                _ if !leaves(one) && !self.talks(one) => {
                    let all = self.all(one);
                    self.fence_before(&all, statement, region);
                    region.run.extend(self.apart(one));
                }
                StmtKind::If { cond, then, otherwise } => {
                    self.branches(cond, then, otherwise, statement, region)
                }
                StmtKind::Loop { body } => self.endless(body, statement, region),
                StmtKind::Switch { selector, arms } => self.switch(*selector, arms, statement, region),
                StmtKind::Call { function, cond } => {
                    let mask = self.mask(cond.as_ref(), statement, region);
                    let program = self.program;
                    let body = &program.functions[*function].body;
                    region.level(mask, Level::Function, |region| self.masked(body, region));
                }
            }
        }
    }

    fn fence_before(&mut self, accesses: &[super::Access], like: &Stmt, region: &mut Region) {
        if self.met(accesses) {
            region.flush();
        }
        self.before(accesses, like, &mut region.out);
    }

    /// A new mask: the threads of the present one for which a condition holds.
    fn mask(&mut self, cond: Option<&Cond>, like: &Stmt, region: &mut Region) -> Reg {
        let mask = self.register();
        region.out.push(Stmt::copy(mask, Operand::Imm(0), like.span));
        let held = match cond {
            None => Stmt::copy(mask, Operand::Imm(u32::MAX), like.span),
            Some(cond) => {
                let op = if cond.nonzero { LaneOp::Ine } else { LaneOp::Ieq };
                Stmt::lane(op, mask, [cond.operand, Operand::Imm(0)], like.span)
            }
        };
        region.run.push(held);
        mask
    }

    /// Threads leave the innermost of some levels, and all inside.
    fn gone(&mut self, cond: Option<&Cond>, levels: &[Level], like: &Stmt, region: &mut Region) {
        let to = region.levels.iter().rposition(|(_, level)| levels.contains(level)).unwrap_or(0);
        let cleared: Block = region.levels[to..]
            .iter()
            .map(|(register, _)| Stmt::copy(*register, Operand::Imm(0), like.span))
            .collect();
        match cond {
            None => region.run.extend(cleared),
            Some(cond) => {
                let kind = StmtKind::If { cond: *cond, then: cleared, otherwise: Vec::new() };
                region.run.push(Stmt { kind, span: like.span });
            }
        }
        region.flush();
    }

    fn branches(&mut self, cond: &Cond, then: &[Stmt], otherwise: &[Stmt], like: &Stmt, region: &mut Region) {
        // Before either side changes what is tested.
        let other = Cond { nonzero: !cond.nonzero, ..*cond };
        let yes = self.mask(Some(cond), like, region);
        let no = (!otherwise.is_empty()).then(|| self.mask(Some(&other), like, region));
        region.level(yes, Level::Branch, |region| self.masked(then, region));
        if let Some(no) = no {
            region.level(no, Level::Branch, |region| self.masked(otherwise, region));
        }
    }

    fn endless(&mut self, body: &[Stmt], like: &Stmt, region: &mut Region) {
        self.votes = true;
        let live = self.mask(None, like, region);
        region.flush();
        let before = std::mem::take(&mut region.out);
        let turn = self.register();
        region.out.push(Stmt::copy(turn, Operand::Reg(live), like.span));
        region.level(live, Level::Loop, |region| {
            region.level(turn, Level::Turn, |region| self.masked(body, region));
        });
        self.vote(live, like, &mut region.out);
        let body = std::mem::replace(&mut region.out, before);
        region.out.push(Stmt { kind: StmtKind::Loop { body }, span: like.span });
        self.since.clear();
    }

    /// Leaves the loop if no thread's mask is set.
    fn vote(&mut self, mask: Reg, like: &Stmt, out: &mut Block) {
        let any = self.register();
        let (space, address, width) = (Space::Lds(VOTES), Operand::Imm(0), Width::Dwords);
        let say = |word| {
            let src = [Some(Operand::Imm(word)), None, None, None];
            StmtKind::from(MemoryInst::RawStore { space, address, width, src })
        };
        let statement = |kind| Stmt { kind, span: like.span };
        let load = MemoryInst::RawLoad { space, address, width, dst: [Some(any), None, None, None] };
        let none = Cond { operand: Operand::Reg(any), nonzero: false };
        let fence = StmtKind::Fence(Fence::THREADS | Fence::LDS);
        let then = vec![statement(say(1))];
        // The first fence also stands between this turn and the next.
        out.extend(
            [
                StmtKind::Fence(self.ordering()),
                say(0),
                fence.clone(),
                StmtKind::If { cond: Cond::any(mask), then, otherwise: Vec::new() },
                fence,
                StmtKind::from(load),
                StmtKind::Break(Some(none)),
            ]
            .map(statement),
        );
    }

    /// Arms in turn from the first that is meant, in a level that `break` leaves.
    fn switch(&mut self, selector: Operand, arms: &[Arm], like: &Stmt, region: &mut Region) {
        let (start, same) = (self.register(), self.register());
        let default = arms.iter().position(|arm| arm.default).unwrap_or(arms.len());
        region.run.push(Stmt::copy(start, Operand::Imm(default as u32), like.span));
        for (k, arm) in arms.iter().enumerate().rev() {
            for label in &arm.labels {
                region.run.push(Stmt::lane(
                    LaneOp::Ieq,
                    same,
                    [selector, Operand::Imm(*label as u32)],
                    like.span,
                ));
                let args = [Operand::Reg(same), Operand::Imm(k as u32), Operand::Reg(start)];
                region.run.push(Stmt::lane(LaneOp::Select, start, args, like.span));
            }
        }
        let all = self.mask(None, like, region);
        region.level(all, Level::Switch, |region| {
            for (k, arm) in arms.iter().enumerate() {
                let late = self.register();
                let args = [Operand::Imm(k as u32), Operand::Reg(start)];
                region.run.push(Stmt::lane(LaneOp::Ult, late, args, like.span));
                let runs = Cond { operand: Operand::Reg(late), nonzero: false };
                let runs = self.mask(Some(&runs), like, region);
                region.level(runs, Level::Branch, |region| self.masked(&arm.body, region));
            }
        });
    }
}
