//! Loops whose rounds follow from constants, written out.
//!
//! Compilers of devices see through counters that step towards a bound; a reduction halves. Where the rounds stand one after the
//! other, what counts is constant in each.

use rustc_hash::{FxHashMap, FxHashSet};

use smallvec::SmallVec;

use super::constants::Constants;
use super::{Block, Counter, LaneInst, LaneOp, MemoryInst, Operand, Reg, Stmt, StmtKind, Sum};
use super::{counting, exit, writes};
use crate::diagnostic::Span;
use crate::ir::visit::{memory_operands, named, registers, statements, tested, touched};
use crate::isa::lane::fold;

/// Most rounds.
const ROUNDS: usize = 16;
/// What all rounds together may cost, in operations.
const LIMIT: u32 = 256;

/// Whether a loop has exits, and nothing in it that may not be repeated or is too long for two rounds.
pub(super) fn may_be(body: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> bool {
    operations(body, cost).is_some_and(|operations| operations <= LIMIT / 2)
}

/// What a round costs, in operations; `None` if the loop cannot be written out.
fn operations(body: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> Option<u32> {
    let mut sum = Sum { cost, loads_only: false, operations: 0, loads: 0 };
    let mut exits = 0;
    for stmt in body {
        match exit(stmt) {
            Some(_) => exits += 1,
            None if sum.add(stmt) => {}
            None => return None,
        }
    }
    (exits > 0).then_some(sum.operations)
}

/// All rounds of a loop, one after the other, if they are few and nothing but constants decides how many.
/// `before`: what the block has before the loop.
pub(super) fn written_out(body: &Block, before: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> Option<Block> {
    let operations = operations(body, cost).filter(|operations| *operations <= LIMIT / 2)?;
    let counting = counting(body)?;
    if Counter::of(body, &counting).is_some_and(|counter| counter.is_known(before)) {
        return None;
    }
    let mut counts = Constants::after(before);
    let mut block = Block::new();
    let most = ROUNDS.min((LIMIT / operations.max(1)) as usize);
    let whole = rounds(body, &counting, most, &mut counts, &mut |stmt, _, _| block.push(stmt.clone()));
    whole.then_some(block)
}

/// The same of any counters, whose registers are constants in what reads them, and hold what they come to at the end.
pub(super) fn folded(
    body: &Block,
    before: &Block,
    cost: &dyn Fn(&MemoryInst) -> u32,
    span: Span,
) -> Option<Block> {
    let operations = operations(body, cost).filter(|operations| *operations <= LIMIT / 2)?;
    let counting = counting(body)?;
    let mut counts = Constants::after(before);
    let counted: FxHashSet<Reg> = body
        .iter()
        .zip(&counting)
        .filter_map(
            |(stmt, counts)| {
                if let StmtKind::Lane(inst) = &stmt.kind { counts.then_some(inst.dst) } else { None }
            },
        )
        .flatten()
        .collect();
    let mut block = Block::new();
    let mut known = true;
    // The last one may do no more than to leave.
    let most = 1 + ROUNDS.min((LIMIT / operations.max(1)) as usize);
    let whole = rounds(body, &counting, most, &mut counts, &mut |stmt, counts, counting| {
        if counting {
            return;
        }
        let mut round = vec![stmt.clone()];
        statements(&mut round, &mut |stmt| {
            let mut fold = |operand: &mut Operand| {
                if matches!(operand, Operand::Reg(reg) if counted.contains(reg)) {
                    match counts.word(*operand) {
                        Some(word) => *operand = Operand::Imm(word),
                        None => known = false,
                    }
                }
            };
            match &mut stmt.kind {
                StmtKind::Lane(inst) => inst.args.iter_mut().for_each(&mut fold),
                StmtKind::Memory(inst) => memory_operands(inst, &mut |operand, _| fold(operand)),
                kind => tested(kind).into_iter().for_each(|(operand, _)| fold(operand)),
            }
        });
        block.append(&mut round);
    });
    block.extend(counts.computed().into_iter().map(|(reg, word)| Stmt::copy(reg, Operand::Imm(word), span)));
    (whole && known).then_some(block)
}

/// Tells of what all rounds do, `most` of them at most, with what is known then and whether it counts; whether these are all.
fn rounds(
    body: &Block,
    counting: &[bool],
    most: usize,
    counts: &mut Constants<'_>,
    found: &mut dyn FnMut(&Stmt, &mut Constants<'_>, bool),
) -> bool {
    for _ in 0..most {
        for (at, stmt) in body.iter().enumerate() {
            if let Some(cond) = exit(stmt) {
                match counts.holds(cond) {
                    Some(true) => return true,
                    Some(false) => continue,
                    None => return false,
                }
            }
            if let (true, StmtKind::Lane(inst)) = (counting[at], &stmt.kind) {
                if counts.compute(inst).is_none() {
                    return false;
                }
            }
            found(stmt, counts, counting[at]);
        }
    }
    false
}

/// Rounds in a row, the first number that divides all of them.
const ROWS: &[u32] = &[8, 4, 2];
/// The same of loops that load from memory, and what a row may cost: a load takes as long as some hundred operations.
const FAR_ROWS: &[u32] = &[32, 16, 8, 4, 2];
const FAR_LIMIT: u32 = 4 * LIMIT;

/// Most rounds of a loop that are counted beforehand.
const COUNTED: u32 = 1 << 14;

/// The body of a loop that runs several rounds of another in a row, if constants say that it ends with the last of them: only the
/// first asks whether it ends.
pub(super) fn several(
    body: &Block,
    before: &Block,
    cost: &dyn Fn(&MemoryInst) -> u32,
    fresh: &mut dyn FnMut() -> Reg,
) -> Option<Block> {
    let operations = operations(body, cost)?;
    let counting = counting(body)?;
    let mut counts = Constants::after(before);
    let mut rounds = 0;
    let counter = Counter::of(body, &counting);
    // What is compared in each round.
    let mut compared: Vec<SmallVec<[u32; 4]>> = Vec::new();
    'rounds: loop {
        for (at, stmt) in body.iter().enumerate() {
            if let Some(cond) = exit(stmt) {
                if counts.holds(cond)? {
                    break 'rounds;
                }
            } else if let (true, StmtKind::Lane(inst)) = (counting[at], &stmt.kind) {
                if counter.as_ref().is_some_and(|counter| counter.compared == at) {
                    compared.push(inst.args.iter().map(|arg| counts.word(*arg)).collect::<Option<_>>()?);
                }
                counts.compute(inst)?;
            }
        }
        rounds += 1;
        if rounds > COUNTED {
            return None;
        }
    }
    let far = body.iter().any(|stmt| matches!(&stmt.kind, StmtKind::Memory(inst) if inst.is_far()));
    let (rows, limit) = if far { (FAR_ROWS, FAR_LIMIT) } else { (ROWS, LIMIT) };
    let fits = |row: &&u32| rounds % **row == 0 && rounds >= 2 * **row && operations * **row <= limit;
    let row = *rows.iter().find(fits)?;
    let mut block = body.clone();
    if let Some(counter) = counter.filter(|counter| counter.wrapped.is_some())
        && let StmtKind::Lane(inst) = &mut block[counter.compared].kind
    {
        tighten(inst, compared.iter().step_by(row as usize));
    }
    let asks = questions(body);
    // What is asked first is computed anew before. What stands behind an exit is for the next round.
    let first = body.iter().position(|stmt| exit(stmt).is_some()).unwrap_or(body.len());
    let goes_on = |(at, stmt): &(usize, &Stmt)| match &stmt.kind {
        StmtKind::Lane(inst) => *at > first || !inst.dst.iter().all(|reg| asks.contains(reg)),
        _ => exit(stmt).is_none(),
    };
    for _ in 1..row {
        block.extend(body.iter().enumerate().filter(goes_on).map(|(_, stmt)| stmt.clone()));
    }
    let from = block.iter().rposition(|stmt| exit(stmt).is_some()).map_or(0, |at| at + 1);
    let rest = block.split_off(from);
    block.extend(loads_first(rest, fresh));
    Some(block)
}

/// Statements that only compute and load, in an order in which loads from memory come first, with what they need, then the flushes of
/// what they load: so many are on their way at a time.
fn loads_first(block: Block, fresh: &mut dyn FnMut() -> Reg) -> Block {
    let plain = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Lane(_) | StmtKind::Memory(_));
    let far = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Memory(inst) if inst.is_far());
    if !block.iter().all(plain) || block.iter().filter(|stmt| far(stmt)).count() < 2 {
        return block;
    }
    let mut first = vec![false; block.len()];
    let mut needed: FxHashSet<Reg> = FxHashSet::default();
    for (at, stmt) in block.iter().enumerate().rev() {
        if far(stmt) || writes(stmt, &|reg| needed.contains(&reg)) {
            first[at] = true;
            let mut reads: SmallVec<[Reg; 8]> = SmallVec::new();
            named(&stmt.kind, &mut |reg, write| match write {
                true => _ = needed.remove(&reg),
                false => reads.push(reg),
            });
            needed.extend(reads);
        }
    }
    // What is brought forward has registers of its own; the rest stays in order among itself.
    let mut names: FxHashMap<Reg, Reg> = FxHashMap::default();
    let mut loaded: FxHashSet<Reg> = FxHashSet::default();
    let [mut out, mut flushes, mut rest] = [const { Block::new() }; 3];
    for (mut stmt, first) in block.into_iter().zip(first) {
        registers(&mut stmt.kind, &mut |reg, write| {
            if !write && let Some(name) = names.get(reg) {
                *reg = *name;
            }
        });
        let flush = matches!(&stmt.kind, StmtKind::Lane(LaneInst { op: LaneOp::Flush, args, .. })
            if matches!(args[..], [Operand::Reg(reg)] if loaded.contains(&reg)));
        let is_far = far(&stmt);
        let mut own: SmallVec<[(Reg, Reg); 4]> = SmallVec::new();
        registers(&mut stmt.kind, &mut |reg, write| {
            if write && (first || flush) {
                let name = match own.iter().find(|(before, _)| before == reg) {
                    Some((_, name)) => *name,
                    None => fresh(),
                };
                own.push((*reg, name));
                *reg = name;
                if is_far {
                    loaded.insert(name);
                }
            } else if write {
                names.remove(reg);
            }
        });
        names.extend(own);
        match (first, flush) {
            (true, _) => out.push(stmt),
            (false, true) => flushes.push(stmt),
            _ => rest.push(stmt),
        }
    }
    let span = rest.last().or(out.last()).map_or_else(Span::default, |stmt| stmt.span);
    out.append(&mut flushes);
    out.append(&mut rest);
    let mut last: Vec<(Reg, Reg)> = names.into_iter().collect();
    last.sort_unstable();
    out.extend(last.into_iter().map(|(reg, name)| Stmt::copy(reg, Operand::Reg(name), span)));
    out
}

/// Compares with a constant that no more words reach than those with which the comparison is made: who knows of ranges, not of steps, then
/// knows how far a row of rounds goes. `words`: the operands of each time.
fn tighten<'a>(inst: &mut LaneInst, words: impl Iterator<Item = &'a SmallVec<[u32; 4]>>) {
    let words: Vec<_> = words.collect();
    let Some(place) = inst.args.iter().position(|arg| matches!(arg, Operand::Imm(_))) else { return };
    let [.., last, end] = words[..] else { return };
    if fold(inst.op, last).0 == fold(inst.op, end).0 || inst.args.len() != 2 {
        return;
    }
    let last = last[1 - place];
    let same = |bound: &u32| {
        words.iter().all(|words| {
            let mut with = (*words).clone();
            with[place] = *bound;
            fold(inst.op, &with).0 == fold(inst.op, words).0
        })
    };
    if let Some(bound) = [last, last.wrapping_add(1), last.wrapping_sub(1)].into_iter().find(same) {
        inst.args[place] = Operand::Imm(bound);
    }
}

/// Registers that nothing but exits reads.
fn questions(body: &Block) -> FxHashSet<Reg> {
    let mut read: FxHashMap<Reg, bool> = FxHashMap::default();
    for stmt in body {
        let leaves = exit(stmt).is_some();
        touched(std::slice::from_ref(stmt), &mut |reg, write| {
            if !write {
                *read.entry(reg).or_insert(true) &= leaves;
            }
        });
    }
    read.into_iter().filter(|(_, only)| *only).map(|(reg, _)| reg).collect()
}
