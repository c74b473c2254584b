//! Jumps become choices: what is left of flow are `if`s, loops and their breaks.
//!
//! ```text
//! loop { break if a             loop { break if a
//!        B                             B
//!        if c { C; continue }   →      if c { C }
//!        D }                           else { D } }
//! ```
//!
//! `continue`, `switch` and returns in the middle are gone then, so who runs programs in rows or compiles them has two constructs and
//! one way out of them. Each thread executes the same statements in the same order, with the same others: words remember who has
//! left where several ways meet again. What remains are calls, and what ends threads between the constructs of main: returns, and
//! discards, which in functions stay where they are.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;

use super::visit::{any, written};
use super::{Arm, Block, Cond, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::diagnostic::Span;

/// Statements behind a jump go to the other side of its choice, as often as this, one in another; then words remember who jumped.
const DEEP: u32 = 8;

/// The program without jumps, but those of main between constructs.
pub fn without_jumps(program: &Program) -> Cow<'_, Program> {
    let jumps = |kind: &StmtKind| {
        matches!(
            kind,
            StmtKind::Switch { .. } | StmtKind::Continue(_) | StmtKind::Return(_) | StmtKind::Discard(_)
        )
    };
    let constructs = |stmt: &Stmt| matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Loop { .. });
    let found = |(number, function): (usize, &super::Function)| match number {
        0 => function.body.iter().any(|stmt| {
            matches!(stmt.kind, StmtKind::Switch { .. })
                || constructs(stmt) && any(std::slice::from_ref(stmt), &jumps)
        }),
        _ => any(&function.body, &|kind| jumps(kind) && !matches!(kind, StmtKind::Discard(_))),
    };
    if !program.functions.iter().enumerate().any(found) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let mut pass = Pass { program, next: program.registers, returned: None, killed: None };
    for (number, function) in out.functions.iter_mut().enumerate() {
        let body = mem::take(&mut function.body);
        function.body = if number == 0 { pass.main(body) } else { pass.function(body) };
    }
    out.registers = pass.next;
    Cow::Owned(out)
}

/// A jump that is taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Jump {
    /// To the next round of a loop.
    Continue,
    /// Out of a switch.
    Break,
    /// Out of a function.
    Return,
}

impl Jump {
    /// The condition, if it is such a jump.
    fn taken(self, kind: &StmtKind) -> Option<Option<Cond>> {
        match (self, kind) {
            (Jump::Continue, StmtKind::Continue(cond))
            | (Jump::Break, StmtKind::Break(cond))
            | (Jump::Return, StmtKind::Return(cond)) => Some(*cond),
            _ => None,
        }
    }
}

/// What threads do that execute statements.
#[derive(Clone, Copy)]
struct Way {
    /// Some come to the end.
    falls: bool,
    /// Some jump.
    jumps: bool,
}

/// What statements do with a jump. Those of loops are left by then.
fn way(block: &[Stmt], jump: Jump) -> Way {
    let mut jumps = false;
    for stmt in block {
        match &stmt.kind {
            kind if jump.taken(kind).is_some() => {
                jumps = true;
                if jump.taken(kind) == Some(None) {
                    return Way { falls: false, jumps };
                }
            }
            StmtKind::Break(None) | StmtKind::Continue(None) | StmtKind::Return(None) => {
                return Way { falls: false, jumps };
            }
            StmtKind::If { then, otherwise, .. } => {
                let (then, otherwise) = (way(then, jump), way(otherwise, jump));
                jumps |= then.jumps || otherwise.jumps;
                if !then.falls && !otherwise.falls {
                    return Way { falls: false, jumps };
                }
            }
            _ => {}
        }
    }
    Way { falls: true, jumps }
}

/// The choice, the other way round if nothing is done where the condition holds.
fn choice(cond: Cond, then: Block, otherwise: Block, span: Span) -> Stmt {
    let kind = match then.is_empty() {
        true => {
            let cond = Cond { nonzero: !cond.nonzero, ..cond };
            StmtKind::If { cond, then: otherwise, otherwise: then }
        }
        false => StmtKind::If { cond, then, otherwise },
    };
    Stmt { kind, span }
}

struct Pass<'p> {
    program: &'p Program,
    /// How many registers there are.
    next: u32,
    /// Of the function at hand: the thread has returned from within a construct.
    returned: Option<Reg>,
    /// It is to be discarded.
    killed: Option<Reg>,
}

impl Pass<'_> {
    fn register(&mut self) -> Reg {
        Reg::fresh(&mut self.next)
    }

    fn function(&mut self, body: Block) -> Block {
        let body = self.within(body, false);
        let body = self.away(body, Jump::Return, None, 0);
        self.begun(body)
    }

    /// Threads return between constructs of main, and are discarded there.
    fn main(&mut self, body: Block) -> Block {
        let mut out = Block::with_capacity(body.len());
        for stmt in body {
            if !matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Loop { .. } | StmtKind::Switch { .. }) {
                out.push(stmt);
                continue;
            }
            let one = std::slice::from_ref(&stmt);
            let discards = any(one, &|kind| matches!(kind, StmtKind::Discard(_)));
            for part in self.within(vec![stmt], true) {
                if !way(std::slice::from_ref(&part), Jump::Return).jumps {
                    out.push(part);
                    continue;
                }
                let (returned, span) = (self.returned(), part.span);
                if matches!(part.kind, StmtKind::If { .. }) {
                    out.extend(self.away(vec![part], Jump::Return, Some(returned), 0));
                }
                // Nobody is asked who has returned.
                if let (Some(killed), true) = (self.killed, discards) {
                    out.push(Stmt { kind: StmtKind::Discard(Cond::any(killed)), span });
                }
                out.push(Stmt { kind: StmtKind::Return(Some(Cond::any(returned))), span });
            }
        }
        while matches!(out.last(), Some(Stmt { kind: StmtKind::Return(_), .. })) {
            out.pop();
        }
        self.begun(out)
    }

    fn returned(&mut self) -> Reg {
        *self.returned.get_or_insert_with(|| Reg::fresh(&mut self.next))
    }

    /// What a function begins with.
    fn begun(&mut self, mut body: Block) -> Block {
        let span = body.first().map_or(Span::default(), |stmt| stmt.span);
        let words = self.returned.take().into_iter().chain(self.killed.take());
        body.splice(0..0, words.map(|register| Stmt::copy(register, Operand::Imm(0), span)));
        body
    }

    /// Takes jumps out of the constructs in `block`, from the inner ones to the outer ones. In main, discards are returns behind which the
    /// thread is to be discarded.
    fn within(&mut self, block: Block, main: bool) -> Block {
        let mut out = Block::with_capacity(block.len());
        for Stmt { kind, span } in block {
            match kind {
                StmtKind::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.within(then, main), self.within(otherwise, main));
                    out.push(Stmt { kind: StmtKind::If { cond, then, otherwise }, span });
                }
                StmtKind::Loop { body } => {
                    let body = self.within(body, main);
                    let returns = way(&body, Jump::Return).jumps;
                    let body = if returns { self.returning(body) } else { body };
                    let body = self.away(body, Jump::Continue, None, 0);
                    out.push(Stmt { kind: StmtKind::Loop { body }, span });
                    if returns {
                        let cond = Cond::any(self.returned());
                        out.push(Stmt { kind: StmtKind::Return(Some(cond)), span });
                    }
                }
                StmtKind::Switch { selector, arms } => {
                    let arms = arms.into_iter().map(|arm| Arm { body: self.within(arm.body, main), ..arm });
                    let arms = arms.collect();
                    self.switch(selector, arms, span, &mut out);
                }
                StmtKind::Discard(cond) if main => {
                    let killed = *self.killed.get_or_insert_with(|| Reg::fresh(&mut self.next));
                    let then = vec![
                        Stmt::copy(killed, Operand::Imm(1), span),
                        Stmt { kind: StmtKind::Return(None), span },
                    ];
                    out.push(choice(cond, then, Block::new(), span));
                }
                kind => out.push(Stmt { kind, span }),
            }
            // What nobody comes to has no jumps.
            if out.last().is_some_and(|stmt| !way(std::slice::from_ref(stmt), Jump::Return).falls) {
                break;
            }
        }
        out
    }

    /// Returns in a loop leave it first.
    fn returning(&mut self, block: Block) -> Block {
        let returned = self.returned();
        let mut out = Block::with_capacity(block.len());
        for Stmt { kind, span } in block {
            let left = |out: &mut Block| {
                out.push(Stmt::copy(returned, Operand::Imm(1), span));
                out.push(Stmt { kind: StmtKind::Break(None), span });
            };
            match kind {
                StmtKind::Return(Some(cond)) if cond == Cond::any(returned) => {
                    out.push(Stmt { kind: StmtKind::Break(Some(cond)), span });
                }
                StmtKind::Return(Some(cond)) => {
                    let mut then = Block::new();
                    left(&mut then);
                    out.push(choice(cond, then, Block::new(), span));
                }
                StmtKind::Return(None) => left(&mut out),
                StmtKind::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.returning(then), self.returning(otherwise));
                    out.push(Stmt { kind: StmtKind::If { cond, then, otherwise }, span });
                }
                kind => out.push(Stmt { kind, span }),
            }
        }
        out
    }

    /// The arms of a switch are choices, one after another. A thread that falls from one into the next says so.
    fn switch(&mut self, selector: Operand, arms: Vec<Arm>, span: Span, out: &mut Block) {
        let mut selector = selector;
        if let Operand::Reg(register) = selector {
            let mut changes = false;
            for arm in &arms {
                written(self.program, &arm.body, &mut |other| changes |= other == register);
            }
            if changes {
                let kept = self.register();
                out.push(Stmt::copy(kept, selector, span));
                selector = Operand::Reg(kept);
            }
        }
        // Who takes the default arm: none of the other labels is theirs.
        let labels: Vec<Vec<i32>> = arms.iter().map(|arm| arm.labels.clone()).collect();
        let last = arms.len().saturating_sub(1);
        // The word that says who falls into the arm at hand.
        let mut falling: Option<Reg> = None;
        for (number, Arm { default, mut body, .. }) in arms.into_iter().enumerate() {
            let mut own: Vec<i32> = match default {
                true => {
                    let others = labels.iter().enumerate().filter(|(other, _)| *other != number);
                    others.flat_map(|(_, labels)| labels).copied().collect()
                }
                false => labels[number].clone(),
            };
            // The first arm with a label has it.
            if !default {
                own.retain(|label| !labels[..number].iter().flatten().any(|earlier| earlier == label));
            }
            let into = falling.take();
            let falls = number < last && way(&body, Jump::Break).falls;
            let mut taken = Cond { operand: self.one_of(selector, &own, span, out), nonzero: !default };
            if let Some(into) = into {
                let both = self.register();
                let mut operand = taken.operand;
                if default {
                    let none = self.register();
                    out.push(Stmt::lane(LaneOp::Ieq, none, [operand, Operand::Imm(0)], span));
                    operand = Operand::Reg(none);
                }
                out.push(Stmt::lane(LaneOp::Or, both, [operand, Operand::Reg(into)], span));
                taken = Cond::any(both);
            }
            if falls {
                let register = self.register();
                out.push(Stmt::copy(register, Operand::Imm(0), span));
                body.push(Stmt::copy(register, Operand::Imm(1), span));
                falling = Some(register);
            }
            let body = self.away(body, Jump::Break, None, 0);
            if !body.is_empty() {
                out.push(choice(taken, body, Block::new(), span));
            }
        }
    }

    /// A word that is not 0 if the operand is one of the numbers.
    fn one_of(&mut self, operand: Operand, numbers: &[i32], span: Span, out: &mut Block) -> Operand {
        let mut any = Operand::Imm(0);
        for (at, number) in numbers.iter().enumerate() {
            let mut one = self.register();
            out.push(Stmt::lane(LaneOp::Ieq, one, [operand, Operand::Imm(*number as u32)], span));
            if at > 0 {
                let both = self.register();
                out.push(Stmt::lane(LaneOp::Or, both, [any, Operand::Reg(one)], span));
                one = both;
            }
            any = Operand::Reg(one);
        }
        any
    }

    /// Takes a jump out of statements whose constructs have none: threads that jump go to their end. They set `flag` before, if there is
    /// one; it is 0 where the statements begin.
    fn away(&mut self, block: Block, jump: Jump, flag: Option<Reg>, deep: u32) -> Block {
        if !way(&block, jump).jumps {
            return block;
        }
        let mut out = Block::with_capacity(block.len());
        let mut rest: VecDeque<Stmt> = block.into();
        while let Some(Stmt { kind, span }) = rest.pop_front() {
            let (cond, then, otherwise) = match (jump.taken(&kind), kind) {
                (Some(None), _) => {
                    out.extend(flag.map(|flag| Stmt::copy(flag, Operand::Imm(1), span)));
                    return out;
                }
                (Some(Some(cond)), kind) => {
                    let jump = match kind {
                        StmtKind::Continue(_) => StmtKind::Continue(None),
                        StmtKind::Break(_) => StmtKind::Break(None),
                        _ => StmtKind::Return(None),
                    };
                    (cond, vec![Stmt { kind: jump, span }], Block::new())
                }
                (None, StmtKind::If { cond, then, otherwise }) => (cond, then, otherwise),
                (None, kind) => {
                    out.push(Stmt { kind, span });
                    continue;
                }
            };
            let [first, second] = [&then, &otherwise].map(|side| way(side, jump));
            if !first.jumps && !second.jumps {
                out.push(Stmt { kind: StmtKind::If { cond, then, otherwise }, span });
                continue;
            }
            let (mut then, mut otherwise) = (then, otherwise);
            if deep < DEEP && !first.falls && !second.jumps {
                otherwise.extend(mem::take(&mut rest));
            } else if deep < DEEP && !second.falls && !first.jumps {
                then.extend(mem::take(&mut rest));
            }
            if rest.is_empty() {
                let [then, otherwise] = [then, otherwise].map(|side| self.away(side, jump, flag, deep + 1));
                out.push(choice(cond, then, otherwise, span));
                return out;
            }
            let left = match flag {
                Some(flag) => flag,
                None => {
                    let left = self.register();
                    out.push(Stmt::copy(left, Operand::Imm(0), span));
                    left
                }
            };
            let [then, otherwise] = [then, otherwise].map(|side| self.away(side, jump, Some(left), deep + 1));
            out.push(choice(cond, then, otherwise, span));
            self.guarded(rest, jump, left, deep, &mut out);
            return out;
        }
        out
    }

    /// The statements behind one where some have jumped, who have set `left`: part by part, each up to the next such statement.
    fn guarded(&mut self, rest: VecDeque<Stmt>, jump: Jump, left: Reg, deep: u32, out: &mut Block) {
        let mut part = Block::new();
        let stays = Cond { operand: Operand::Reg(left), nonzero: false };
        for stmt in rest {
            let span = stmt.span;
            let jumps = way(std::slice::from_ref(&stmt), jump).jumps;
            part.push(stmt);
            if jumps {
                let part = self.away(mem::take(&mut part), jump, Some(left), deep + 1);
                out.push(choice(stays, part, Block::new(), span));
            }
        }
        if let Some(span) = part.first().map(|stmt| stmt.span) {
            out.push(choice(stays, part, Block::new(), span));
        }
    }
}
