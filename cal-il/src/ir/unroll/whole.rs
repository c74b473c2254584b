//! Loops whose rounds follow from constants, written out.
//!
//! Compilers of devices see through counters that step towards a bound; a reduction halves. Where the rounds stand one after the
//! other, what counts is constant in each.

use std::collections::{HashMap, HashSet};

use smallvec::smallvec;

use super::{Block, Cond, Counter, LaneInst, LaneOp, MemoryInst, Operand, Reg, Stmt, StmtKind, Sum};
use super::{counting, exit, writes};
use crate::diagnostic::Span;
use crate::ir::visit::{memory_operands, registers, statements, tested};
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
    let mut counts = Constants { before, words: HashMap::new() };
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
    let mut counts = Constants { before, words: HashMap::new() };
    let counted: HashSet<Reg> = body
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
    let mut last: Vec<(Reg, u32)> = counts.words.into_iter().collect();
    last.sort_unstable();
    block.extend(last.into_iter().map(|(reg, word)| {
        let inst = LaneInst { op: LaneOp::Mov, dst: [reg; 2], args: smallvec![Operand::Imm(word)] };
        Stmt { kind: StmtKind::Lane(inst), span }
    }));
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

/// Most rounds of a loop that are counted beforehand.
const COUNTED: u32 = 1 << 14;

/// The body of a loop that runs several rounds of another in a row, if constants say that it ends with the last of them: only the
/// first asks whether it ends.
pub(super) fn several(body: &Block, before: &Block, cost: &dyn Fn(&MemoryInst) -> u32) -> Option<Block> {
    let operations = operations(body, cost)?;
    let counting = counting(body)?;
    let mut counts = Constants { before, words: HashMap::new() };
    let mut rounds = 0;
    'rounds: loop {
        for (at, stmt) in body.iter().enumerate() {
            if let Some(cond) = exit(stmt) {
                if counts.holds(cond)? {
                    break 'rounds;
                }
            } else if let (true, StmtKind::Lane(inst)) = (counting[at], &stmt.kind) {
                counts.compute(inst)?;
            }
        }
        rounds += 1;
        if rounds > COUNTED {
            return None;
        }
    }
    let row = [8, 4, 2].into_iter().find(|row| rounds % row == 0 && operations * row <= LIMIT)?;
    if rounds < 2 * row {
        return None;
    }
    let mut block = body.clone();
    let asks = questions(body);
    let goes_on = |stmt: &&Stmt| match &stmt.kind {
        StmtKind::Lane(inst) => !asks.contains(&inst.dst[0]),
        _ => exit(stmt).is_none(),
    };
    for _ in 1..row {
        block.extend(body.iter().filter(goes_on).cloned());
    }
    Some(block)
}

/// Registers that nothing but exits reads.
fn questions(body: &Block) -> HashSet<Reg> {
    let mut read: HashMap<Reg, bool> = HashMap::new();
    for stmt in body {
        let leaves = exit(stmt).is_some();
        statements(&mut vec![stmt.clone()], &mut |stmt| {
            registers(&mut stmt.kind, &mut |reg, write| {
                if !write {
                    *read.entry(*reg).or_insert(true) &= leaves;
                }
            });
        });
    }
    read.into_iter().filter(|(_, only)| *only).map(|(reg, _)| reg).collect()
}

/// Registers with known words.
struct Constants<'a> {
    before: &'a Block,
    words: HashMap<Reg, u32>,
}

impl Constants<'_> {
    fn holds(&mut self, cond: Cond) -> Option<bool> {
        Some((self.word(cond.operand)? != 0) == cond.nonzero)
    }

    fn compute(&mut self, inst: &LaneInst) -> Option<()> {
        let args: Vec<u32> = inst.args.iter().map(|arg| self.word(*arg)).collect::<Option<_>>()?;
        let (low, high) = fold(inst.op, &args);
        self.words.insert(inst.dst[0], low);
        if let Some(high) = high {
            self.words.insert(inst.dst[1], high);
        }
        Some(())
    }

    fn word(&mut self, operand: Operand) -> Option<u32> {
        let reg = match operand {
            Operand::Imm(word) => return Some(word),
            Operand::Reg(reg) => reg,
            _ => return None,
        };
        if let Some(word) = self.words.get(&reg) {
            return Some(*word);
        }
        let start = self.before.iter().rev().find(|stmt| writes(stmt, &|written| written == reg))?;
        match &start.kind {
            StmtKind::Lane(LaneInst { op: LaneOp::Mov, args, .. }) => match args[..] {
                [Operand::Imm(word)] => Some(word),
                _ => None,
            },
            _ => None,
        }
    }
}
