//! Loops that load and count, four rounds at a time.
//!
//! ```text
//!                          loop { count four rounds ahead
//! loop { A                        break if one of them would leave
//!        break if c    →          A B A B A B A B }
//!        B }               loop { A
//!                                 break if c
//!                                 B }
//! ```
//!
//! A device that runs a round at a time waits for its loads in each; of four rounds in a row it waits once. Compilers of devices
//! do the same to loops that they understand, but kernels of CAL count with floats.
//!
//! *Counting* is what decides whether a loop is left: all operations that exits depend on, in this round or in later ones. A
//! loop is unrolled if these are lane operations of its outermost block. Then the same operations tell beforehand, bit for bit,
//! whether any of the next four rounds leaves; nothing needs to be known about them. If none does, the four rounds run without
//! asking; else the loop as it was runs the rest, less than four rounds.
//!
//! Where a counter moves by constant steps towards a bound ([`Counter`]), the last of the four rounds tells for all.
//!
//! Loops whose rounds follow from constants are written out instead, whatever they do ([`whole`]).

use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

pub(crate) use self::constants::Constants;
use self::cost::Sum;
use super::visit::destinations_of;
use super::{Block, Cond, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, Stmt, StmtKind};
use crate::diagnostic::Span;

/// Rounds in a row.
const ROUNDS: usize = 4;
/// What a round may cost, in operations.
const LIMIT: u32 = 64;

/// The program with loops unrolled. `cost` says what an access costs, in operations; a loop with an access beyond
/// 64, or of operations that cost more together, stays as it is, as does one without a load, unless its rounds are known. Loops
/// whose many rounds follow from constants run several of them in a row if `counted` says so: compilers of devices would do it,
/// but not where they must not know all about counters.
pub fn unroll(program: &Program, counted: bool, cost: impl Fn(&MemoryInst) -> u32) -> Cow<'_, Program> {
    run(program, Pass { cost: &cost, counted, folded: false, next: program.registers })
}

/// The program with those loops written out whose rounds follow from constants, and nothing else changed: for who has no compiler
/// behind it that sees through counters. What counts is a constant in each round.
pub fn unroll_fully(program: &Program, cost: impl Fn(&MemoryInst) -> u32) -> Cow<'_, Program> {
    run(program, Pass { cost: &cost, counted: false, folded: true, next: program.registers })
}

fn run<'p>(program: &'p Program, mut pass: Pass<'_>) -> Cow<'p, Program> {
    if !program.functions.iter().any(|function| pass.finds(&function.body)) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    for function in &mut program.functions {
        pass.block(&mut function.body);
    }
    program.registers = pass.next;
    Cow::Owned(program)
}

struct Pass<'a> {
    cost: &'a dyn Fn(&MemoryInst) -> u32,
    counted: bool,
    /// Loops are written out or stay, counters are folded.
    folded: bool,
    /// The next free register.
    next: u32,
}

impl Pass<'_> {
    /// Whether there may be a loop to unroll.
    fn finds(&self, block: &Block) -> bool {
        block.iter().any(|stmt| match &stmt.kind {
            StmtKind::Loop { body } => {
                self.is_small(body) || whole::may_be(body, self.cost) || self.finds(body)
            }
            kind => kind.blocks().any(|block| self.finds(block)),
        })
    }

    fn block(&mut self, block: &mut Block) {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block.drain(..) {
            if let StmtKind::Loop { body } = &stmt.kind
                && let Some(rounds) = match self.folded {
                    true => whole::folded(body, &out, self.cost, stmt.span),
                    false => whole::written_out(body, &out, self.cost),
                }
            {
                out.extend(rounds);
                continue;
            }
            match &mut stmt.kind {
                StmtKind::Loop { body } if !self.folded && self.is_small(body) => {
                    let mut next = self.next;
                    if self.counted
                        && let Some(several) =
                            whole::several(body, &out, self.cost, &mut || Reg::fresh(&mut next))
                    {
                        *body = several;
                        self.next = next;
                    } else if let Some(body) = self.rounds(body, &out) {
                        out.push(Stmt { kind: StmtKind::Loop { body }, span: stmt.span });
                    }
                }
                kind => kind.blocks_mut().for_each(|block| self.block(block)),
            }
            out.push(stmt);
        }
        *block = out;
    }

    /// Whether a loop has loads and exits, and nothing in it but what may be repeated.
    fn is_small(&self, body: &Block) -> bool {
        let mut sum = Sum { cost: self.cost, loads_only: true, operations: 0, loads: 0 };
        let allowed = body.iter().all(|stmt| exit(stmt).is_some() || sum.add(stmt));
        allowed && sum.loads > 0 && sum.operations <= LIMIT
    }

    fn fresh(&mut self) -> Reg {
        Reg::fresh(&mut self.next)
    }

    /// The body of the loop that runs four rounds of another, if that counts. `before`: what the block has before the loop.
    fn rounds(&mut self, body: &Block, before: &Block) -> Option<Block> {
        let counting = counting(body)?;
        let counter = Counter::of(body, &counting);
        if counter.as_ref().is_some_and(|counter| counter.is_known(before)) {
            return None;
        }
        let mut block = self.decision(body, &counting, counter.as_ref())?;
        for _ in 0..ROUNDS {
            block.extend(body.iter().filter(|stmt| exit(stmt).is_none()).cloned());
        }
        Some(block)
    }

    /// Leaves if one of four rounds would.
    fn decision(&mut self, body: &Block, counting: &[bool], counter: Option<&Counter>) -> Option<Block> {
        let mut ahead = Ahead::default();
        let mut first = None;
        for round in 0..ROUNDS {
            let last = round == ROUNDS - 1;
            for (at, stmt) in body.iter().enumerate() {
                ahead.span = stmt.span;
                if let Some(cond) = exit(stmt) {
                    if counter.is_none() || last {
                        self.leave(&mut ahead, cond);
                    }
                    continue;
                }
                if let Some(Counter { register, wrapped: Some(op), up, .. }) =
                    counter.filter(|counter| counter.compared == at)
                {
                    let now = ahead.name(Operand::Reg(*register));
                    let start = *first.get_or_insert(now);
                    if last {
                        // What did not go on in its direction went past the end of all words.
                        let args = if *up { smallvec![start, now] } else { smallvec![now, start] };
                        let operand = self.compute(&mut ahead, *op, args);
                        self.leave(&mut ahead, Cond { operand, nonzero: true });
                    }
                }
                if let (true, StmtKind::Lane(inst)) = (counting[at], &stmt.kind) {
                    self.count(&mut ahead, inst);
                }
            }
        }
        ahead.finish()
    }

    /// An operation of the loop, on the registers of the rounds ahead.
    fn count(&mut self, ahead: &mut Ahead, inst: &LaneInst) {
        let args = inst.args.iter().map(|arg| ahead.name(*arg)).collect();
        let low = self.fresh();
        let dst = [low, if inst.dst[0] == inst.dst[1] { low } else { self.fresh() }];
        ahead.names.extend(inst.dst.into_iter().zip(dst));
        ahead.push(LaneInst { op: inst.op, dst, args });
    }

    fn compute(&mut self, ahead: &mut Ahead, op: LaneOp, args: SmallVec<[Operand; 4]>) -> Operand {
        let word = self.fresh();
        ahead.push(LaneInst { op, dst: [word; 2], args });
        Operand::Reg(word)
    }

    /// Adds a condition to those that leave.
    fn leave(&mut self, ahead: &mut Ahead, cond: Cond) {
        let cond = Cond { operand: ahead.name(cond.operand), ..cond };
        ahead.leaves = Some(match ahead.leaves {
            Some(others) => {
                let args = smallvec![self.word(ahead, others), self.word(ahead, cond)];
                Cond { operand: self.compute(ahead, LaneOp::Or, args), nonzero: true }
            }
            None => cond,
        });
    }

    /// A word that is not 0 where the condition holds.
    fn word(&mut self, ahead: &mut Ahead, cond: Cond) -> Operand {
        match cond.nonzero {
            true => cond.operand,
            false => self.compute(ahead, LaneOp::Ieq, smallvec![cond.operand, Operand::Imm(0)]),
        }
    }
}

/// The operations that count ahead.
#[derive(Default)]
struct Ahead {
    block: Block,
    /// What the registers of the loop are called in the round at hand.
    names: FxHashMap<Reg, Reg>,
    /// Holds if one of the rounds so far leaves.
    leaves: Option<Cond>,
    span: Span,
}

impl Ahead {
    fn name(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(reg) => Operand::Reg(self.names.get(&reg).copied().unwrap_or(reg)),
            other => other,
        }
    }

    fn push(&mut self, inst: LaneInst) {
        self.block.push(Stmt { kind: StmtKind::Lane(inst), span: self.span });
    }

    /// The operations that the decision needs, and the decision.
    fn finish(self) -> Option<Block> {
        let cond = self.leaves?;
        let mut needed = FxHashSet::from_iter([cond.operand]);
        let mut kept = vec![Stmt { kind: StmtKind::Break(Some(cond)), span: self.span }];
        for stmt in self.block.into_iter().rev() {
            if let StmtKind::Lane(inst) = &stmt.kind
                && inst.dst.iter().any(|reg| needed.contains(&Operand::Reg(*reg)))
            {
                needed.extend(inst.args.iter().copied());
                kept.push(stmt);
            }
        }
        kept.reverse();
        Some(kept)
    }
}

/// The condition under which a statement leaves the loop, if it does nothing else.
pub(crate) fn exit(stmt: &Stmt) -> Option<Cond> {
    let breaks = |block: &Block| matches!(block[..], [Stmt { kind: StmtKind::Break(None), .. }]);
    match &stmt.kind {
        StmtKind::Break(cond) => *cond,
        StmtKind::If { cond, then, otherwise } if breaks(then) && otherwise.is_empty() => Some(*cond),
        StmtKind::If { cond, then, otherwise } if then.is_empty() && breaks(otherwise) => {
            Some(Cond { nonzero: !cond.nonzero, ..*cond })
        }
        _ => None,
    }
}

/// By statement: whether it counts. `None` if something else than lane operations decides about exits.
pub(crate) fn counting(body: &Block) -> Option<Vec<bool>> {
    let mut counts = vec![false; body.len()];
    let mut needed: FxHashSet<Operand> = body.iter().filter_map(exit).map(|cond| cond.operand).collect();
    // What a round needs, the round before may compute.
    let mut grows = true;
    while grows {
        grows = false;
        for (at, stmt) in body.iter().enumerate() {
            if !counts[at] && writes(stmt, &|reg| needed.contains(&Operand::Reg(reg))) {
                let StmtKind::Lane(inst) = &stmt.kind else { return None };
                needed.extend(inst.args.iter().copied());
                counts[at] = true;
                grows = true;
            }
        }
    }
    Some(counts)
}

/// Whether a statement, or one of its blocks, writes such a register.
fn writes(stmt: &Stmt, which: &dyn Fn(Reg) -> bool) -> bool {
    match &stmt.kind {
        StmtKind::Lane(inst) => inst.dst.into_iter().any(which),
        StmtKind::Memory(inst) => destinations_of(inst).into_iter().any(which),
        // What is called may write anything.
        StmtKind::Call { .. } => true,
        kind => kind.blocks().flatten().any(|stmt| writes(stmt, which)),
    }
}

/// The only write of a register in a loop: where, and what computes it.
fn only_write<'b>(body: &'b Block, counting: &[bool], register: Reg) -> Option<(usize, &'b LaneInst)> {
    let mut found = body.iter().enumerate().filter(|(_, stmt)| writes(stmt, &|reg| reg == register));
    match (found.next()?, found.next()) {
        ((at, Stmt { kind: StmtKind::Lane(inst), .. }), None) if counting[at] => Some((at, inst)),
        _ => None,
    }
}

/// A register that moves by the same step in each round, and the one exit, taken where it has reached or passed a bound
/// that stays the same.
///
/// If the last of some rounds does not leave, neither do those before:
///
/// * A float does not move back. The step is finite and no denormal, so the sum, rounded and flushed, is not below the
///   other addend if the step is positive, nor above it if it is negative. It is NaN only if the counter was from the
///   start, and then all rounds compare alike. So they do with a bound that is NaN.
/// * An integer moves on unless it wraps. Over the rounds it moves by less than 2^32, so it wraps at most once, and then
///   the last is on the wrong side of the first.
struct Counter {
    register: Reg,
    /// Statement that compares it.
    compared: usize,
    bound: Operand,
    up: bool,
    /// The comparison that tells whether a later integer has wrapped: not beyond an earlier one.
    wrapped: Option<LaneOp>,
}

impl Counter {
    fn of(body: &Block, counting: &[bool]) -> Option<Self> {
        use LaneOp as L;
        let mut exits = body.iter().enumerate().filter_map(|(at, stmt)| Some((at, exit(stmt)?)));
        let ((left, cond), None) = (exits.next()?, exits.next()) else { return None };
        let Operand::Reg(decides) = cond.operand else { return None };
        let (compared, compare) = only_write(body, counting, decides)?;
        if compared > left {
            // The first round has another word there.
            return None;
        }
        let (first_is_greater, wrapped) = match compare.op {
            L::Ge | L::Gt | L::SetGe | L::SetGt => (true, None),
            L::Le | L::Lt | L::SetLe | L::SetLt => (false, None),
            L::Ige => (true, Some(L::Ige)),
            L::Ilt => (false, Some(L::Ige)),
            L::Uge => (true, Some(L::Uge)),
            L::Ult => (false, Some(L::Uge)),
            _ => return None,
        };
        let [a, b] = compare.args[..] else { return None };
        let stays = |operand| match operand {
            Operand::Reg(register) => !body.iter().any(|stmt| writes(stmt, &|reg| reg == register)),
            _ => true,
        };
        [(a, b, first_is_greater), (b, a, !first_is_greater)].into_iter().find_map(
            |(counter, bound, greater)| {
                let Operand::Reg(register) = counter else { return None };
                let (_, add) = only_write(body, counting, register)?;
                let up = goes_up(add, register, wrapped.is_none())?;
                // Left where it is great, a counter has to go up.
                (stays(bound) && up == (greater == cond.nonzero)).then_some(Self {
                    register,
                    compared,
                    bound,
                    up,
                    wrapped,
                })
            },
        )
    }

    /// Whether the number of rounds is a constant: compilers of devices see that, and need no loop for the rest.
    fn is_known(&self, before: &Block) -> bool {
        let start = before.iter().rev().find(|stmt| writes(stmt, &|reg| reg == self.register));
        let constant = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Lane(inst) => inst.op == LaneOp::Mov && matches!(inst.args[..], [Operand::Imm(_)]),
            _ => false,
        };
        self.wrapped.is_some() && matches!(self.bound, Operand::Imm(_)) && start.is_some_and(constant)
    }
}

/// Whether the operation moves the register up, or down, by a step that [`Counter`] knows.
fn goes_up(inst: &LaneInst, register: Reg, float: bool) -> Option<bool> {
    let step = match inst.args[..] {
        [Operand::Reg(reg), Operand::Imm(step)] if reg == register => step,
        [Operand::Imm(step), Operand::Reg(reg)]
            if reg == register && !matches!(inst.op, LaneOp::Isub | LaneOp::Sub) =>
        {
            step
        }
        _ => return None,
    };
    // The sign bits of floats and integers are the same.
    let positive = (step as i32) > 0;
    let fits = if float {
        f32::from_bits(step).is_normal()
    } else {
        step != 0 && (step as i32).unsigned_abs() <= 1 << 29
    };
    match inst.op {
        LaneOp::Add if float && fits => Some(positive),
        LaneOp::Sub if float && fits => Some(!positive),
        LaneOp::Iadd if !float && fits => Some(positive),
        LaneOp::Isub if !float && fits => Some(!positive),
        _ => None,
    }
}

mod constants;
mod cost;
mod whole;

#[cfg(test)]
mod tests;
