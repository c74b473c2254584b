//! Where values live, by the flow of structured code in a line.

use crate::bits::BitSet;
use smallvec::SmallVec;

use super::V;

/// How control passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// To the next.
    On,
    /// To the next, or behind its [`Flow::Else`] or [`Flow::EndIf`].
    If,
    Else,
    EndIf,
    Loop,
    EndLoop,
    /// Begin of what [`Flow::Leave`] leaves.
    Region(u32),
    EndRegion(u32),
    /// Leaves the innermost loop; always, or on a condition.
    Break(bool),
    Continue(bool),
    Leave(u32, bool),
}

/// A place in the code.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub reads: SmallVec<[V; 8]>,
    pub writes: SmallVec<[V; 4]>,
    pub flow: Flow,
}

/// Times at which a value is kept: node `n` reads at `2 * n` and writes at `2 * n + 1`. Sorted, ends included.
pub(super) type Life = Vec<(u32, u32)>;

/// Whether two values are kept at the same time.
pub(super) fn overlap(a: &Life, b: &Life) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 <= y.1 && y.0 <= x.1 {
            return true;
        }
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    false
}

/// Both lives together.
pub(super) fn join(a: &Life, b: &Life) -> Life {
    let mut all: Life = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    let mut out = Life::new();
    for (from, to) in all {
        match out.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => out.push((from, to)),
        }
    }
    out
}

/// Where each node may go on; `nodes.len()` is the end.
fn successors(nodes: &[Node]) -> Vec<SmallVec<[usize; 2]>> {
    // First the ends of everything.
    let mut other = vec![usize::MAX; nodes.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut regions = std::collections::HashMap::new();
    let mut loops: Vec<usize> = Vec::new();
    let mut inner = vec![usize::MAX; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        match node.flow {
            Flow::If => open.push(at),
            Flow::Loop => {
                open.push(at);
                loops.push(at);
            }
            Flow::Else => {
                if let Some(start) = open.pop() {
                    other[start] = at + 1;
                }
                open.push(at);
            }
            Flow::EndIf => {
                if let Some(start) = open.pop() {
                    other[start] = at;
                }
            }
            Flow::EndLoop => {
                loops.pop();
                if let Some(start) = open.pop() {
                    other[start] = at + 1;
                    other[at] = start;
                }
            }
            Flow::EndRegion(id) => {
                regions.insert(id, at);
            }
            Flow::Break(_) | Flow::Continue(_) => inner[at] = loops.last().copied().unwrap_or(usize::MAX),
            Flow::On | Flow::Region(_) | Flow::Leave(..) => {}
        }
    }
    let end = nodes.len();
    let target = |at: usize| if at == usize::MAX { end } else { at };
    (nodes.iter().enumerate())
        .map(|(at, node)| {
            let (next, jump, always) = match node.flow {
                Flow::On | Flow::EndIf | Flow::Loop | Flow::Region(_) | Flow::EndRegion(_) => {
                    return SmallVec::from_slice(&[at + 1]);
                }
                Flow::If => (at + 1, target(other[at]), false),
                Flow::Else | Flow::EndLoop => (at + 1, target(other[at]), true),
                Flow::Break(always) => {
                    let to = inner.get(at).and_then(|start| other.get(*start)).copied().unwrap_or(end);
                    (at + 1, target(to), always)
                }
                Flow::Continue(always) => (at + 1, target(inner[at]), always),
                Flow::Leave(id, always) => (at + 1, regions.get(&id).copied().unwrap_or(end), always),
            };
            if always { SmallVec::from_slice(&[jump]) } else { SmallVec::from_slice(&[next, jump]) }
        })
        .collect()
}

/// The lives of `values` values.
pub(super) fn lives(nodes: &[Node], values: usize) -> Vec<Life> {
    let next = successors(nodes);
    // Blocks begin after flow and where it leads.
    let mut leads = vec![false; nodes.len() + 1];
    leads[0] = true;
    for (at, next) in next.iter().enumerate() {
        if next[..] != [at + 1] {
            leads[at + 1] = true;
            next.iter().for_each(|to| leads[*to] = true);
        }
    }
    let starts: Vec<usize> = (0..nodes.len()).filter(|at| leads[*at]).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([nodes.len()]).collect();
    let block_at = |at: usize| starts.partition_point(|start| *start <= at) - 1;
    let mut live_in = vec![BitSet::<V>::default(); starts.len()];
    let out_of = |live_in: &[BitSet<V>], block: usize| {
        let mut bits = BitSet::<V>::default();
        for to in next[ends[block] - 1].iter().filter(|to| **to < nodes.len()) {
            bits.union_with(&live_in[block_at(*to)]);
        }
        bits
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..starts.len()).rev() {
            let mut bits = out_of(&live_in, block);
            for node in nodes[starts[block]..ends[block]].iter().rev() {
                node.writes.iter().for_each(|v| bits.remove(*v));
                bits.extend(node.reads.iter().copied());
            }
            if bits != live_in[block] {
                live_in[block] = bits;
                changed = true;
            }
        }
    }
    let mut lives = vec![Life::new(); values];
    let mut until = vec![u32::MAX; values];
    for block in (0..starts.len()).rev() {
        let (start, end) = (2 * starts[block] as u32, 2 * ends[block] as u32 - 1);
        let bits = out_of(&live_in, block);
        let mut kept: Vec<V> = bits.iter().collect();
        kept.iter().for_each(|v| until[v.index()] = end);
        for (at, node) in nodes[starts[block]..ends[block]].iter().enumerate().rev() {
            let now = start + 2 * at as u32;
            for v in &node.writes {
                let to = std::mem::replace(&mut until[v.index()], u32::MAX);
                // What nobody reads is written all the same.
                lives[v.index()].push((now + 1, if to == u32::MAX { now + 1 } else { to }));
            }
            for v in &node.reads {
                if until[v.index()] == u32::MAX {
                    until[v.index()] = now;
                    kept.push(*v);
                }
            }
        }
        for v in kept {
            let to = std::mem::replace(&mut until[v.index()], u32::MAX);
            if to != u32::MAX {
                lives[v.index()].push((start, to));
            }
        }
    }
    lives.into_iter().map(|life| join(&life, &Life::new())).collect()
}
