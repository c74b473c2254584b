//! What the addresses of a loop come from, computed a round ahead.
//!
//! An address that comes from vectors comes late, and until then a processor only collects what waits for it, as far as it has
//! room. So a round begins with what the next one needs, and finds its own ready.

use super::{FxHashMap, Inst, Invariants, Made, NO, Node, Val};
use crate::NONE;
use crate::emit;
use crate::graph::Graph;
use crate::graph::interleaved::Elements;
use rustc_hash::FxHashSet;

/// Most operations of such a value.
const MOST: usize = 64;

/// Makes runs of a loop find ready what their addresses come from; for each run the numbers of what it leaves for the next round.
pub(super) fn ahead(runs: &mut [Made], elements: &Elements, kept: &mut Invariants) -> Vec<Vec<(u32, Val)>> {
    let held: FxHashSet<u32> = elements.rows.iter().flatten().copied().collect();
    let written: Vec<FxHashSet<u32>> =
        runs.iter().map(|(_, outputs, _)| outputs.iter().map(|(row, _)| *row).collect()).collect();
    let mut left = Vec::with_capacity(runs.len());
    for (run, (graph, outputs, test)) in runs.iter_mut().enumerate() {
        let by_others = |row: &u32| {
            let mut others = (0..written.len()).filter(|other| *other != run);
            held.contains(row) || others.any(|other| written[other].contains(row))
        };
        let mut words: Vec<Val> = emit::words(graph, &graph.needed(outputs, *test)).into_iter().collect();
        words.sort_unstable();
        let mut found = Vec::new();
        for val in words {
            let Some(all) = computed_from(graph, val) else { continue };
            let rows = || all.iter().filter_map(|val| row_of(graph, *val));
            if rows().any(|row| by_others(&row)) || !rows().any(|row| written[run].contains(&row)) {
                continue;
            }
            let number = kept.carry(graph, &all);
            found.push((val, number, next(graph, &all, outputs)));
        }
        found.iter().for_each(|&(val, number, _)| graph.nodes[val.index()] = Node::Kept(number));
        left.push(found.into_iter().map(|(_, number, next)| (number, next)).collect());
    }
    left
}

fn row_of(graph: &Graph, val: Val) -> Option<u32> {
    if let Node::Row(row) = graph.node(val) { Some(row) } else { None }
}

/// A value with all that it is computed from, operands first; `None` if that is more than arithmetic, or too much.
pub(super) fn computed_from(graph: &Graph, val: Val) -> Option<Vec<Val>> {
    let mut open = vec![val];
    let mut all = Vec::new();
    while let Some(val) = open.pop() {
        if all.contains(&val) {
            continue;
        }
        if let Some(inst) = graph.as_inst(val) {
            if !inst.op.pure() || graph.plain_products.contains(val.into()) || all.len() > MOST {
                return None;
            }
            open.extend(inst.operands());
        }
        all.push(val);
    }
    all.sort_unstable();
    Some(all)
}

/// The last of these values as the next round would compute it, from what this one leaves in rows.
fn next(graph: &mut Graph, all: &[Val], outputs: &[(u32, Val)]) -> Val {
    let mut place: FxHashMap<Val, Val> = FxHashMap::default();
    let mut last = NO;
    for &val in all {
        graph.step = graph.origin(val);
        let moved = |arg: Val| place.get(&arg).copied().unwrap_or(NO);
        last = match graph.node(val) {
            Node::Row(row) => outputs.iter().find(|(other, _)| *other == row).map_or(val, |(_, val)| *val),
            Node::Inst(inst) => {
                let inst = Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..inst };
                graph.add(Node::Inst(inst))
            }
            _ => val,
        };
        place.insert(val, last);
    }
    graph.step = NONE;
    last
}
