//! Registers for values, by where they live.

use smallvec::{SmallVec, smallvec};

use super::group::{Groups, flow};
use super::live::{Flow, Life, Node, join, lives, overlap};
use super::pack::writes;
use super::translate::Kernel;
use super::{Bundle, Clause, Code, NAMES, Src, V};

/// Gives a register to each group of values.
pub(super) fn allocate(
    clauses: Vec<Clause>,
    channels: &[Option<u8>],
    groups: &Groups,
    kernel: &Kernel,
) -> Code {
    let count = channels.len();
    let (nodes, stored) = nodes(&clauses, kernel, count);
    let lives = lives(&nodes, count);
    let alone = |value: V| -> SmallVec<[V; 4]> { smallvec![value] };
    let mut vectors: Vec<SmallVec<[V; 4]>> =
        groups.members.iter().filter(|m| !m.is_empty()).cloned().collect();
    vectors.extend((groups.group.len()..count).map(|value| alone(V(value as u32))));
    let start = |vector: &SmallVec<[V; 4]>| {
        let first = |v: &V| lives[v.index()].first().map_or(u32::MAX, |life| life.0);
        vector.iter().filter(|v| stored[v.index()]).map(first).min().unwrap_or(u32::MAX)
    };
    // Inputs have their registers already.
    let input = |vector: &SmallVec<[V; 4]>| {
        vector.iter().find_map(|v| kernel.inputs.get(v)).map(|(register, _)| *register)
    };
    vectors.sort_by_cached_key(|vector| (input(vector).is_none(), start(vector)));
    let mut taken: Vec<[Life; 4]> = Vec::new();
    let mut places: Vec<Option<(u32, u8)>> = vec![None; count];
    for vector in &vectors {
        let members: SmallVec<[(V, usize); 4]> = (vector.iter())
            .filter(|v| stored[v.index()] && !lives[v.index()].is_empty())
            .map(|v| (*v, usize::from(channels[v.index()].unwrap_or(0))))
            .collect();
        if members.is_empty() {
            continue;
        }
        let fits =
            |register: &[Life; 4]| members.iter().all(|(v, c)| !overlap(&register[*c], &lives[v.index()]));
        let register = match input(vector) {
            Some(register) => register as usize,
            None => taken.iter().position(fits).unwrap_or(taken.len()),
        };
        if taken.len() <= register {
            taken.resize(register + 1, Default::default());
        }
        for (value, channel) in members {
            let life = &mut taken[register][channel];
            *life = join(life, &lives[value.index()]);
            places[value.index()] = Some((register as u32, channel as u8));
        }
    }
    let gprs = taken.len() as u32;
    Code { clauses, places, gprs: gprs.min(NAMES), scratch: kernel.scratch + gprs.saturating_sub(NAMES) }
}

/// A bundle, fetch, write or flow each, and the values that need a register: those that somebody reads later than in the next
/// VLIW instruction.
fn nodes(clauses: &[Clause], kernel: &Kernel, count: usize) -> (Vec<Node>, Vec<bool>) {
    let mut stored = vec![false; count];
    let node = |reads, writes, flow| Node { reads, writes, flow };
    // Inputs are there at the start.
    let mut nodes = vec![node(smallvec![], kernel.inputs.keys().copied().collect(), Flow::On)];
    for clause in clauses {
        match clause {
            Clause::Alu(bundles) => {
                for (at, bundle) in bundles.iter().enumerate() {
                    let before = at.checked_sub(1).map(|before| &bundles[before]);
                    let (reads, results) = words(bundle, before);
                    nodes.push(node(reads, results, Flow::On));
                }
            }
            Clause::Fetch(list) => {
                for fetch in list {
                    let reads = fetch.address.iter().filter_map(Src::value).chain(fetch.data.iter().copied());
                    nodes.push(node(
                        reads.collect(),
                        fetch.dst.iter().flatten().copied().collect(),
                        Flow::On,
                    ));
                }
            }
            Clause::Write(write) => {
                let reads = write.address.iter().chain(&write.data).copied().collect();
                nodes.push(node(reads, write.back.iter().copied().collect(), Flow::On));
            }
            Clause::Mark(mark, _) => nodes.push(node(smallvec![], smallvec![], flow(*mark))),
        }
    }
    nodes.iter().flat_map(|node| &node.reads).for_each(|v| stored[v.index()] = true);
    (nodes, stored)
}

/// What a bundle reads from registers, and what it computes.
fn words(bundle: &Bundle, before: Option<&Bundle>) -> (SmallVec<[V; 8]>, SmallVec<[V; 4]>) {
    let (mut reads, mut results) = (SmallVec::new(), SmallVec::new());
    for (alu, from) in bundle.slots.iter().flatten() {
        let slot = &alu.slots[*from];
        let values = slot.srcs.iter().filter_map(Src::value);
        reads.extend(values.filter(|v| !before.is_some_and(|before| writes(before, *v))));
        results.extend(slot.dst);
    }
    (reads, results)
}
