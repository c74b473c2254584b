//! Makes the flat operations fewer, without changing a bit of what they compute.
//!
//! * A loaded word that is only used flushed is flushed by the load.
//! * Multiply-adds of four components by one word, as `mad r, a.x, b, c` makes them, become one operation unless they are
//!   compiled; so do
//!   two or four of them in a chain, whose sums then stay in machine registers.
//! * A run of lane operations that became empty disappears.

use recal_il::bits::BitSet;
use recal_il::isa::LaneOp;
use rustc_hash::FxHashMap;

use crate::isa_choice::{Isa, MadShape};
use crate::op::{Code, Op, Pc, RowId, Step};

/// Applies all of it, multiply-adds for the instructions that steps are interpreted by; `labels` are positions in the operations and are kept up to date.
pub fn fuse(code: &mut Code, interpreted: Option<&Isa>, labels: &mut [Pc]) {
    let removed = flush_in_loads(code);
    let old = std::mem::take(&mut code.steps);
    // What is listed is compiled: its steps stay what they are.
    let [old_spans, old_op_spans] = [&mut code.step_spans, &mut code.op_spans].map(std::mem::take);
    let mut op_spans = old_op_spans.into_iter();
    let mut positions = Vec::with_capacity(code.ops.len() + 1);
    let mut ops = Vec::with_capacity(code.ops.len());
    for mut op in std::mem::take(&mut code.ops) {
        positions.push(ops.len() as Pc);
        let span = op_spans.next();
        if let Op::Lanes { first, end } = &mut op {
            let range = *first as usize..*end as usize;
            let steps: Vec<Step> = range.clone().filter(|i| !removed[*i]).map(|i| old[i]).collect();
            *first = code.steps.len() as u32;
            match interpreted {
                // Compiled code keeps sums in machine registers by itself.
                None => {
                    code.steps.extend(steps);
                    let spans = range.filter(|i| !removed[*i]).filter_map(|i| old_spans.get(i));
                    code.step_spans.extend(spans);
                }
                Some(isa) => multiply_adds(code, isa, &steps),
            }
            *end = code.steps.len() as u32;
            if first == end {
                continue;
            }
        }
        ops.push(op);
        code.op_spans.extend(span);
    }
    positions.push(ops.len() as Pc);
    code.ops = ops;
    labels.iter_mut().for_each(|label| *label = positions[*label as usize]);
}

/// A `Flush` that reads a loaded row.
struct Candidate {
    step: usize,
    access: usize,
    component: usize,
    to: RowId,
    /// Nothing mentioned `to` between the load and the flush.
    free: bool,
}

/// What is known of the rows in a run of operations without flow.
#[derive(Default)]
struct Run {
    clock: u32,
    /// Row written by a load: access, component, the clock before and after.
    loaded: FxHashMap<RowId, (usize, usize, [u32; 2])>,
    /// The clock when the run began, and when a row was mentioned last.
    began: u32,
    mentioned: Vec<u32>,
}

impl Run {
    /// The next one begins.
    fn next(&mut self) {
        self.loaded.clear();
        self.began = self.clock;
    }

    fn mention(&mut self, row: RowId) {
        self.clock += 1;
        let at = row as usize;
        self.mentioned.resize(self.mentioned.len().max(at + 1), 0);
        self.mentioned[at] = self.clock;
    }

    /// The run has not mentioned a row since.
    fn untouched(&self, row: RowId, since: u32) -> bool {
        self.mentioned.get(row as usize).is_none_or(|&last| last <= since.max(self.began))
    }
}

/// Lets loads flush; returns which steps are no longer needed.
fn flush_in_loads(code: &mut Code) -> Vec<bool> {
    let mut candidates: FxHashMap<RowId, Vec<Candidate>> = FxHashMap::default();
    // Rows read by anything but a flush of what was loaded just before.
    let mut other = BitSet::new();
    other.extend(code.outputs.iter().flat_map(|(_, rows)| rows).copied());
    let mut run = Run::default();
    let mut removed = vec![false; code.steps.len()];
    let mut flushed = Vec::new();
    for op in &code.ops {
        match op {
            Op::Lanes { first, end } => {
                let first = *first as usize;
                for (at, step) in code.steps[first..*end as usize].iter().enumerate() {
                    let index = first + at;
                    let ids = &code.operands[step.first as usize..][..usize::from(step.count)];
                    let (writes, reads) = ids.split_at(usize::from(step.writes));
                    let loaded =
                        (step.op == LaneOp::Flush).then(|| run.loaded.get(&reads[0]).copied()).flatten();
                    // In place, right after the load: nobody sees what was loaded.
                    let in_place = loaded
                        .filter(|&(.., when)| writes[0] == reads[0] && run.untouched(reads[0], when[1]));
                    if let Some((access, component, _)) = in_place {
                        flushed.push((access, component));
                        removed[index] = true;
                    } else if let Some((access, component, when)) = loaded {
                        // The load itself may write the row, too, for a word that nobody reads.
                        let free = run.untouched(writes[0], when[0]);
                        let candidate = Candidate { step: index, access, component, to: writes[0], free };
                        candidates.entry(reads[0]).or_default().push(candidate);
                    } else {
                        other.extend(reads.iter().copied());
                    }
                    reads.iter().for_each(|&row| run.mention(row));
                    for &row in writes {
                        run.mention(row);
                        run.loaded.remove(&row);
                    }
                }
            }
            Op::Memory(index) => {
                let access = &code.memory[*index as usize];
                let before = run.clock;
                access.op.each_row(|row, written| {
                    run.mention(row);
                    if written {
                        run.loaded.remove(&row);
                    } else {
                        other.insert(row);
                    }
                });
                for (component, &row) in access.op.loaded().iter().flat_map(|rows| rows.iter().enumerate()) {
                    run.loaded.insert(row, (*index as usize, component, [before, run.clock]));
                }
            }
            op => {
                op.each_read(|row| other.insert(row));
                run.next();
            }
        }
    }
    for (access, component) in flushed {
        code.memory[access].flush |= 1 << component;
    }
    for (row, list) in candidates {
        let mut sources: Vec<_> = list.iter().map(|c| (c.access, c.component)).collect();
        sources.sort_unstable();
        sources.dedup();
        if other.contains(row) || sources.len() != list.len() || list.iter().any(|c| !c.free) {
            continue;
        }
        for candidate in list {
            let access = &mut code.memory[candidate.access];
            access.flush |= 1 << candidate.component;
            if let Some(rows) = access.op.loaded_mut() {
                rows[candidate.component] = candidate.to;
            }
            removed[candidate.step] = true;
        }
    }
    removed
}

/// Four multiply-adds that share a factor: `sum[k] = x · y[k] + z[k]`.
#[derive(Clone, Copy)]
struct Quad {
    op: LaneOp,
    sum: [RowId; 4],
    x: RowId,
    y: [RowId; 4],
    z: [RowId; 4],
}

impl Quad {
    /// The quad that four steps make, if none of them reads what another wrote.
    fn of(code: &Code, steps: &[Step]) -> Option<Quad> {
        let steps = steps.get(..4)?;
        let op = steps[0].op;
        if !matches!(op, LaneOp::Mad | LaneOp::MadIeee)
            || steps.iter().any(|step| step.op != op || step.writes != 1)
        {
            return None;
        }
        let ids = |k: usize| &code.operands[steps[k].first as usize..][..4];
        // The factors may come in either order, and the product does not depend on it.
        let first: [RowId; 2] = [ids(0)[1], ids(0)[2]];
        for x in first {
            let other = |k: usize| match (ids(k)[1] == x, ids(k)[2] == x) {
                (true, _) => Some(ids(k)[2]),
                (_, true) => Some(ids(k)[1]),
                _ => None,
            };
            let (Some(y0), Some(y1), Some(y2), Some(y3)) = (other(0), other(1), other(2), other(3)) else {
                continue;
            };
            let quad = Quad {
                op,
                sum: std::array::from_fn(|k| ids(k)[0]),
                x,
                y: [y0, y1, y2, y3],
                z: std::array::from_fn(|k| ids(k)[3]),
            };
            let distinct = (0..4).all(|k| !quad.sum[..k].contains(&quad.sum[k]));
            let apart = (0..4).all(|k| {
                let earlier = &quad.sum[..k];
                !earlier.contains(&x) && !earlier.contains(&quad.y[k]) && !earlier.contains(&quad.z[k])
            });
            if distinct && apart {
                return Some(quad);
            }
        }
        None
    }

    /// True if `next` goes on with the sums and its factors are not among them.
    fn feeds(&self, next: &Quad) -> bool {
        self.op == next.op
            && next.z == self.sum
            && !self.sum.contains(&next.x)
            && !next.y.iter().any(|y| self.sum.contains(y))
    }
}

/// Appends `steps` with multiply-adds fused.
fn multiply_adds(code: &mut Code, isa: &Isa, steps: &[Step]) {
    let mut at = 0;
    while at < steps.len() {
        let Some(first) = Quad::of(code, &steps[at..]) else {
            code.steps.push(steps[at]);
            at += 1;
            continue;
        };
        let mut chain = vec![first];
        while chain.len() < 4 {
            let next = Quad::of(code, &steps[at + 4 * chain.len()..]);
            match next {
                Some(next) if chain[chain.len() - 1].feeds(&next) && apart(&chain, &next) => chain.push(next),
                _ => break,
            }
        }
        // Sums on the way are not written, the last but one excepted; so nothing may read the others later.
        let possible = |&length: &usize| {
            length == 1
                || length <= chain.len() && {
                    let live = live(code, &chain[..length], &steps[at + 4 * length..]);
                    live.iter().all(|row| chain[length - 2].sum.contains(row))
                }
        };
        let length = [4, 2, 1].into_iter().find(possible).unwrap_or(1);
        chain.truncate(length);
        emit(code, isa, &chain, &steps[at + 4 * length..]);
        at += 4 * length;
    }
}

/// Appends one operation for the chain; `rest` are the steps that follow it.
fn emit(code: &mut Code, isa: &Isa, chain: &[Quad], rest: &[Step]) {
    let last = chain[chain.len() - 1];
    let middle = chain.len() > 1 && !live(code, chain, rest).is_empty();
    let first = code.operands.len() as u32;
    code.operands.extend(last.sum);
    if middle {
        code.operands.extend(chain[chain.len() - 2].sum);
    }
    let writes = (code.operands.len() as u32 - first) as u16;
    code.operands.extend(chain[0].z);
    for quad in chain {
        code.operands.push(quad.x);
        code.operands.extend(quad.y);
    }
    let count = (code.operands.len() as u32 - first) as u16;
    let shape = MadShape { op: last.op, length: chain.len(), middle };
    code.steps.push(Step {
        op: last.op,
        handler: isa.mad(shape),
        first,
        count,
        writes,
        same: 0,
        down: 0,
        fused: true,
    });
}

/// True if no earlier sum of the chain is a factor of `next`.
fn apart(chain: &[Quad], next: &Quad) -> bool {
    chain.iter().all(|quad| !quad.sum.contains(&next.x) && !quad.sum.iter().any(|sum| next.y.contains(sum)))
}

/// The sums on the way that may be read after the chain.
fn live(code: &Code, chain: &[Quad], rest: &[Step]) -> Vec<RowId> {
    let (last, inner) = (chain[chain.len() - 1].sum, &chain[..chain.len() - 1]);
    let rows = inner.iter().flat_map(|quad| quad.sum);
    rows.filter(|row| !last.contains(row) && !dead(code, *row, rest)).collect()
}

/// True if the row is overwritten before anything reads it.
fn dead(code: &Code, row: RowId, rest: &[Step]) -> bool {
    for step in rest {
        let ids = &code.operands[step.first as usize..][..usize::from(step.count)];
        let (writes, reads) = ids.split_at(usize::from(step.writes));
        if reads.contains(&row) {
            return false;
        }
        if writes.contains(&row) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
