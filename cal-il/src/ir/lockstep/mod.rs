//! Programs that count on the threads of a wave moving together (amd-il 5.8).
//!
//! Such a program may read what another thread of its wave wrote, with nothing in between: the wave executes each
//! instruction for all threads before the next. Devices run fewer threads at a time, or let them part. So here barriers
//! come between accesses by which threads may talk to each other. In: a program. Out: the same program with more fences,
//! each where all threads of the group pass.
//!
//! * In uniform flow a fence stands before an access that may meet an earlier one (`walk`).
//! * Where threads part, and talk all the same, branches, loops and calls become statements under masks, as a wave would
//!   execute them, with the fences between (`masked`). A loop goes on as long as any thread has not left it: the threads tell
//!   each other by a word of group memory.
//!
//! In a group of several waves all of them move together then, since barriers are the group's. Most programs of such groups have
//! barriers of their own wherever threads talk, and stay as they are: only those are changed that show that they count on waves, by a fence for LDS
//! that waits for nobody, or a load of what another thread of the wave is known to have stored since the last barrier.
//!
//! Two accesses meet if one writes and they may touch the same bytes for different threads (`access`). Memory of UAVs and
//! `g[]` counts only if the program loads from it after it has stored to it: a program that reads first and then writes
//! its results needs no barrier between. On the hardware of the time such loads wanted a fence; without any in the program
//! they are kept in order where all threads pass, and no masks are made for them.

mod access;
mod masked;

use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

use access::{Access, accesses, areas};

use super::divergence::Divergence;
use super::visit::{any, program_has, statements};
use super::{Area, Arm, Block, MemoryInst, Program, Reg, Stage, Stmt, StmtKind, WAVE};
use crate::inst::Fence;

/// What a statement orders that stands where all threads of a wave pass.
fn keep_order(fence: Fence) -> Fence {
    if fence.intersects(Fence::LDS | Fence::MEMORY) { fence | Fence::THREADS } else { fence }
}

/// Statements where threads of a one-wave group have parted and do not talk. The wave passes its barriers there by itself: nobody waits,
/// and on other devices nobody may.
fn apart(block: &[Stmt]) -> Block {
    let mut block = block.to_vec();
    statements(&mut block, &mut |statement| {
        if let StmtKind::Fence(fence) = &mut statement.kind
            && fence.contains(Fence::THREADS)
        {
            *fence = fence.difference(Fence::THREADS) | Fence::LDS;
        }
    });
    block
}

/// The program with the fences that it needs on devices whose threads do not move together. `room` says that there are
/// eight more bytes of group memory to be had.
pub fn keep<'a>(program: &'a Program, threads: u32, room: bool) -> Cow<'a, Program> {
    if program.stage != Stage::Compute {
        return Cow::Borrowed(program);
    }
    let accesses = accesses(program);
    let communicate = areas(&accesses, threads);
    let fences = all_fences(program);
    if communicate.is_empty() && (fences.is_empty() || threads > WAVE) {
        return Cow::Borrowed(program);
    }
    let mut pass = Pass {
        program,
        divergence: Divergence::of(program),
        accesses: &accesses,
        communicate,
        ordered: fences.contains(Fence::MEMORY),
        changes: program_has(program, &|kind| kind.memory().is_some_and(changes)),
        threads,
        registers: program.registers,
        room,
        votes: false,
        since: Vec::new(),
        exits: Vec::new(),
        depth: 0,
        probe: None,
    };
    if threads > WAVE && !pass.counts_on_waves() {
        return Cow::Borrowed(program);
    }
    let functions = (0..program.functions.len()).map(|n| pass.function(n)).collect();
    let mut kept = program.clone();
    for (function, body) in kept.functions.iter_mut().zip::<Vec<Block>>(functions) {
        function.body = body;
    }
    kept.registers = pass.registers;
    if pass.votes {
        kept.interface.lds.insert(masked::VOTES, crate::inst::Block { bytes: 4, stride: 0 });
    }
    Cow::Owned(kept)
}

/// Whether an access changes memory that other groups see.
fn changes(inst: &MemoryInst) -> bool {
    !inst.is_load() && inst.effect().0.is_global()
}

/// All that some fence of the program orders.
fn all_fences(program: &Program) -> Fence {
    fn block(statements: &[Stmt]) -> Fence {
        let of = |statement: &Stmt| match &statement.kind {
            StmtKind::Fence(fence) => *fence,
            kind => kind.blocks().fold(Fence::empty(), |all, inner| all | block(inner)),
        };
        statements.iter().fold(Fence::empty(), |all, statement| all | of(statement))
    }
    program.functions.iter().fold(Fence::empty(), |all, function| all | block(&function.body))
}

/// What was accessed where control left a loop or a switch.
#[derive(Default)]
struct Exits {
    is_loop: bool,
    breaks: Vec<Access>,
    continues: Vec<Access>,
}

struct Pass<'a> {
    program: &'a Program,
    divergence: Divergence,
    /// Of all statements that count.
    accesses: &'a FxHashMap<*const Stmt, Access>,
    communicate: FxHashSet<Area>,
    /// The program has fences for memory.
    ordered: bool,
    /// It changes memory that other groups see.
    changes: bool,
    threads: u32,
    registers: u32,
    /// Loops may become loops with votes.
    room: bool,
    votes: bool,
    /// Accesses since the last fence.
    since: Vec<Access>,
    exits: Vec<Exits>,
    /// Loops around the current statement.
    depth: u32,
    /// Nothing is written yet: whether a load was met of what another thread of the wave has stored, with no barrier between.
    probe: Option<bool>,
}

/// Nested loops whose bodies are looked at more than once.
const DEEP: u32 = 4;

fn join(to: &mut Vec<Access>, from: &[Access]) {
    from.iter().for_each(|access| {
        if !to.iter().any(|known| known.same(access)) {
            to.push(*access);
        }
    });
}

impl Pass<'_> {
    fn register(&mut self) -> Reg {
        Reg::fresh(&mut self.registers)
    }

    /// The access of a statement, if by it threads may talk.
    fn access(&self, statement: &Stmt) -> Option<Access> {
        let access = self.accesses.get(&std::ptr::from_ref(statement))?;
        self.communicate.contains(&access.area).then_some(*access)
    }

    /// All accesses in the statements and what they call; `turns` counts the loops around that are among them.
    fn collect(&self, block: &[Stmt], turns: bool, out: &mut Vec<(Access, bool)>) {
        for statement in block {
            out.extend(self.access(statement).map(|access| (access, turns)));
            match &statement.kind {
                StmtKind::Loop { body } => self.collect(body, true, out),
                StmtKind::Call { function, .. } => {
                    self.collect(&self.program.functions[*function].body, turns, out);
                }
                kind => kind.blocks().for_each(|block| self.collect(block, turns, out)),
            }
        }
    }

    fn all(&self, block: &[Stmt]) -> Vec<Access> {
        let mut all = Vec::new();
        self.collect(block, false, &mut all);
        let mut out = Vec::new();
        all.iter().for_each(|(access, _)| join(&mut out, &[*access]));
        out
    }

    /// Whether statements go under masks where threads part.
    fn talks(&self, block: &[Stmt]) -> bool {
        self.tells(block) || self.changes && self.waits(block)
    }

    /// Whether threads wait for each other within the statements until memory that others see is in order.
    fn waits(&self, block: &[Stmt]) -> bool {
        any(block, &|kind| match kind {
            StmtKind::Fence(fence) => fence.contains(Fence::THREADS | Fence::MEMORY),
            StmtKind::Call { function, .. } => self.waits(&self.program.functions[*function].body),
            _ => false,
        })
    }

    /// Whether threads may talk within the statements.
    fn tells(&self, block: &[Stmt]) -> bool {
        let mut all = Vec::new();
        self.collect(block, false, &mut all);
        all.retain(|(access, _)| self.ordered || !access.area.is_global());
        all.iter().enumerate().any(|(k, (a, turns))| {
            let from = if *turns { k } else { k + 1 };
            all[from..].iter().any(|(b, _)| a.meets(b, self.threads))
        })
    }

    /// Whether an access meets one since the last fence.
    fn met(&self, accesses: &[Access]) -> bool {
        accesses.iter().any(|a| self.since.iter().any(|b| a.meets(b, self.threads)))
    }

    /// What orders the accesses since the last fence.
    fn ordering(&self) -> Fence {
        let global = self.since.iter().any(|access| access.area.is_global());
        let fence = Fence::THREADS | Fence::LDS;
        if global { fence | Fence::MEMORY } else { fence }
    }

    /// A fence of the program itself: what it orders is over.
    fn passed(&mut self, fence: Fence) {
        if fence.contains(Fence::THREADS) {
            let global = fence.contains(Fence::MEMORY);
            self.since.retain(|access| access.area.is_global() && !global);
        }
    }

    /// Whether a program of groups of several waves counts on the threads of each moving together.
    fn counts_on_waves(&mut self) -> bool {
        let lds = |area: &Area| matches!(area, Area::Lds(_));
        if self.communicate.iter().any(lds)
            && program_has(
                self.program,
                &|kind| matches!(kind, StmtKind::Fence(fence) if fence.contains(Fence::LDS) && !fence.contains(Fence::THREADS)),
            )
        {
            return true;
        }
        self.probe = Some(false);
        (0..self.program.functions.len()).for_each(|number| _ = self.function(number));
        (self.registers, self.votes) = (self.program.registers, false);
        self.since.clear();
        self.probe.take() == Some(true)
    }

    /// Statements where threads have parted and do not talk.
    fn apart(&self, block: &[Stmt]) -> Block {
        // Barriers of groups of several waves are also for the other waves.
        if self.threads > WAVE { block.to_vec() } else { apart(block) }
    }

    /// Puts a fence before accesses that meet earlier ones, and notes them.
    fn before(&mut self, accesses: &[Access], like: &Stmt, out: &mut Block) {
        if let Some(relied) = &mut self.probe {
            // What all threads load the one that stored it may load alone.
            let stored = |a: &Access, b: &Access| {
                b.writes && !a.writes && a.is_apart() && b.is_apart() && a.meets(b, WAVE)
            };
            *relied |= accesses.iter().any(|a| self.since.iter().any(|b| stored(a, b)));
        } else if self.met(accesses) {
            out.push(Stmt { kind: StmtKind::Fence(self.ordering()), span: like.span });
            self.since.clear();
        }
        join(&mut self.since, accesses);
    }

    fn function(&mut self, number: usize) -> Block {
        let program = self.program;
        let body = &program.functions[number].body;
        if self.divergence.parted(number) {
            // Where threads may talk it becomes part of its callers.
            return self.apart(body);
        }
        // Who calls may have done anything.
        self.since.clear();
        if number > 0 && self.probe.is_none() {
            let all: Vec<Access> = program.functions.iter().flat_map(|f| self.all(&f.body)).collect();
            join(&mut self.since, &all);
        }
        let mut out = Vec::new();
        match (self.returns_apart(body), self.talks(body)) {
            (false, _) => self.walk(body, &mut out),
            (true, true) if self.can_mask(body) => self.region(body, &mut out),
            (true, talks) => {
                if let Some(first) = body.first() {
                    let all = self.all(body);
                    self.before(&all, first, &mut out);
                }
                out.extend(if talks && self.tells(body) { body.clone() } else { self.apart(body) });
            }
        }
        out
    }

    /// Whether some threads may return from the statements and others not.
    fn returns_apart(&self, block: &[Stmt]) -> bool {
        let returns = |block: &[Stmt]| any(block, &|kind| matches!(kind, StmtKind::Return(_)));
        block.iter().any(|statement| match &statement.kind {
            StmtKind::Return(Some(cond)) => self.divergence.parts(cond),
            StmtKind::If { cond, then, otherwise } => {
                (self.divergence.parts(cond) && (returns(then) || returns(otherwise)))
                    || self.returns_apart(then)
                    || self.returns_apart(otherwise)
            }
            StmtKind::Loop { body } => {
                self.returns_apart(body) || (self.divergence.exits(body) && returns(body))
            }
            StmtKind::Switch { selector, arms } => arms.iter().any(|arm| {
                let apart = self.divergence.differs(selector) || self.divergence.exits(&arm.body);
                (apart && returns(&arm.body)) || self.returns_apart(&arm.body)
            }),
            _ => false,
        })
    }

    /// Whether threads part at the statement or inside it, so that it must be taken as a whole.
    fn parts(&self, statement: &Stmt) -> bool {
        match &statement.kind {
            StmtKind::If { cond, .. } => self.divergence.parts(cond),
            StmtKind::Loop { body } => self.divergence.loop_parts(body),
            StmtKind::Switch { selector, arms } => {
                self.divergence.differs(selector) || arms.iter().any(|arm| self.divergence.exits(&arm.body))
            }
            StmtKind::Call { function, cond } => {
                cond.is_some_and(|cond| self.divergence.parts(&cond)) || self.divergence.parted(*function)
            }
            _ => false,
        }
    }

    /// Statements that all threads pass together.
    fn walk(&mut self, block: &[Stmt], out: &mut Block) {
        for statement in block {
            if self.parts(statement) {
                let one = std::slice::from_ref(statement);
                let talks = self.talks(one);
                if talks && self.can_mask(one) {
                    self.region(one, out);
                } else {
                    let all = self.all(one);
                    self.before(&all, statement, out);
                    out.extend(if talks && self.tells(one) { one.to_vec() } else { self.apart(one) });
                }
                continue;
            }
            let kind = match &statement.kind {
                StmtKind::If { cond, then, otherwise } => {
                    let mut bodies = [Vec::new(), Vec::new()];
                    let before = self.since.clone();
                    self.walk(then, &mut bodies[0]);
                    let after = std::mem::replace(&mut self.since, before);
                    self.walk(otherwise, &mut bodies[1]);
                    join(&mut self.since, &after);
                    let [then, otherwise] = bodies;
                    StmtKind::If { cond: *cond, then, otherwise }
                }
                StmtKind::Loop { body } => StmtKind::Loop { body: self.turns(body) },
                StmtKind::Switch { selector, arms } => {
                    StmtKind::Switch { selector: *selector, arms: self.arms(arms) }
                }
                StmtKind::Call { function, .. } => {
                    if self.probe.is_none() {
                        let all = self.all(&self.program.functions[*function].body);
                        join(&mut self.since, &all);
                    }
                    statement.kind.clone()
                }
                StmtKind::Fence(fence) => {
                    let fence = keep_order(*fence);
                    self.passed(fence);
                    StmtKind::Fence(fence)
                }
                other => {
                    if let Some(access) = self.access(statement) {
                        self.before(&[access], statement, out);
                    }
                    self.leave(other);
                    other.clone()
                }
            };
            out.push(Stmt { kind, span: statement.span });
        }
    }

    /// Notes what was accessed where control may leave.
    fn leave(&mut self, kind: &StmtKind) {
        let since = &self.since;
        match kind {
            StmtKind::Break(_) => {
                if let Some(exits) = self.exits.last_mut() {
                    join(&mut exits.breaks, since);
                }
            }
            StmtKind::Continue(_) => {
                if let Some(exits) = self.exits.iter_mut().rev().find(|exits| exits.is_loop) {
                    join(&mut exits.continues, since);
                }
            }
            _ => {}
        }
    }

    /// The body of a loop whose turns all threads take together.
    fn turns(&mut self, body: &[Stmt]) -> Block {
        self.depth += 1;
        if self.depth > DEEP {
            let all = self.all(body);
            join(&mut self.since, &all);
        }
        loop {
            let entry = self.since.clone();
            self.exits.push(Exits { is_loop: true, ..Exits::default() });
            let mut out = Vec::new();
            self.walk(body, &mut out);
            let exits = self.exits.pop().unwrap_or_default();
            let mut next = entry.clone();
            join(&mut next, &exits.continues);
            join(&mut next, &self.since);
            if next.len() == entry.len() {
                self.since = exits.breaks;
                self.depth -= 1;
                return out;
            }
            // The turn before has done something that this one had not reckoned with.
            self.since = next;
        }
    }

    fn arms(&mut self, arms: &[Arm]) -> Vec<Arm> {
        let before = self.since.clone();
        self.exits.push(Exits::default());
        let mut after = before.clone();
        let arms = arms
            .iter()
            .map(|arm| {
                // From above, or from the switch.
                join(&mut self.since, &before);
                let mut body = Vec::new();
                self.walk(&arm.body, &mut body);
                join(&mut after, &self.since);
                Arm { labels: arm.labels.clone(), default: arm.default, body }
            })
            .collect();
        join(&mut after, &self.exits.pop().unwrap_or_default().breaks);
        self.since = after;
        arms
    }

    /// Whether statements can run under masks: votes need group memory.
    fn can_mask(&self, block: &[Stmt]) -> bool {
        self.room
            || block.iter().all(|statement| match &statement.kind {
                StmtKind::Loop { .. } => false,
                StmtKind::Call { function, .. } => self.can_mask(&self.program.functions[*function].body),
                kind => kind.blocks().all(|block| self.can_mask(block)),
            })
    }
}
