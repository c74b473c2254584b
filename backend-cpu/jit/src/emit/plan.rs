//! Which values are needed, in which order, and when rows are stored.

use super::address::{Addresses, Addressing, Round};
use super::arrange::{self, Arrange, Operands};
use crate::graph::{Args, Graph, Inst, Node, Val};
use crate::op::Op;
use crate::program::Output;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What is to be stored when: instructions in order, and for each the rows that are stored after it.
pub struct Plan {
    /// The program, with copies.
    pub graph: Graph,
    pub order: Vec<Val>,
    pub stores: Vec<Vec<Output>>,
    /// When each value is used, as numbers of instructions doubled; a store counts one more.
    pub uses: Vec<Uses>,
    /// Accesses whose addresses are computed in general registers.
    pub addresses: Addresses,
    /// The number of the instruction after which lanes leave, if any do.
    pub leave: Option<usize>,
    /// That of the one after which values are looked at that may be in doubt, if there are any.
    pub asked: Option<usize>,
    /// What a loop finds ready and vectors read, by number; of anything else nobody reads more than the first lane's word.
    pub kept: FxHashSet<u32>,
    /// Of what the next round finds ready, what nothing but addresses that it begins with is computed of: nobody reads this round's any more.
    pub early: FxHashMap<Val, Vec<u32>>,
}

/// When a value is used.
pub type Uses = SmallVec<[u32; 4]>;

/// How instructions follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// As they are written.
    #[default]
    Written,
    /// One result after another, not all of them at once.
    Deep,
    /// The same, vector by vector of a group's threads; and then all stores, as they are written.
    StoresLast,
}

/// Each value right before what wants it first, so that chains of operations need a register each.
fn deepest_first(order: &[Val], operands: Operands<'_>) -> Vec<Val> {
    let mut wanted = vec![false; operands.len()];
    order.iter().flat_map(|&val| &operands[val.index()]).for_each(|&arg| wanted[arg.index()] = true);
    let mut open = vec![false; operands.len()];
    order.iter().for_each(|&val| open[val.index()] = true);
    let mut list = Vec::with_capacity(order.len());
    for &end in order.iter().filter(|val| !wanted[val.index()]) {
        // A value comes back when its operands are done.
        let mut stack = vec![(end, false)];
        while let Some((val, done)) = stack.pop() {
            if done {
                list.push(val);
            } else if std::mem::take(&mut open[val.index()]) {
                stack.push((val, true));
                stack.extend(operands[val.index()].iter().rev().map(|&arg| (arg, false)));
            }
        }
    }
    list
}

impl Plan {
    /// Copies are added to the graph. `last` are wanted when everything else is done. No row is stored before values are looked at that are `doubted`; what
    /// they are not computed of comes behind that. `in_pairs`: see [`arrange::in_pairs`].
    pub fn new(
        mut graph: Graph,
        outputs: &[Output],
        last: &[Val],
        doubted: &[Val],
        arrange: Option<&Arrange>,
        addressing: Addressing<'_>,
        (by, in_pairs): (Order, bool),
    ) -> Plan {
        // What is not computed is copied to a register last, before any row that it came from may change.
        let mut results = Vec::new();
        let mut copies = Vec::new();
        for &output in outputs {
            match graph.node(output.val) {
                Node::Row(same) if same == output.row => {}
                Node::Inst(_) => results.push(output),
                _ => {
                    graph.step = graph.origin(output.val);
                    let copy = graph.unary(Op::Copy, output.val);
                    copies.push(copy);
                    results.push(Output { val: copy, ..output });
                }
            }
        }
        let count = graph.nodes.len();
        let tests: Vec<Val> = graph.leaves.iter().map(|leave| leave.test).collect();
        let wanted = last.iter().chain(&tests).chain(doubted).copied();
        let roots: Vec<Val> = results.iter().map(|output| output.val).chain(wanted).collect();
        let mut operands: Vec<Args> =
            Val::all(count).map(|val| graph.as_inst(val).map_or(Args::new(), Inst::args)).collect();
        let all = || needed(&graph, &roots, &operands);
        let addresses = match addressing {
            Addressing::Alone => Addresses::default(),
            Addressing::Scalar(Round { packs: Some(packs), .. }) => {
                Addresses::of(&graph, &all()).without(&graph, packs)
            }
            Addressing::Scalar(_) => Addresses::of(&graph, &all()),
            Addressing::Near(target) => Addresses::near(&graph, &all(), target),
        };
        for (&val, leaves) in &addresses.leaves {
            operands[val.index()] = Args::from_slice(leaves);
        }
        let needed = needed(&graph, &roots, &operands);
        let is_copy = |val: Val| graph.as_inst(val).is_some_and(|inst| inst.op == Op::Copy);
        let chosen = |val: &Val| needed[val.index()] && graph.as_inst(*val).is_some() && !is_copy(*val);
        let mut order: Vec<Val> = Vec::with_capacity(count);
        order.extend(Val::all(count).filter(chosen));
        order = match by {
            Order::Written => order,
            Order::Deep => deepest_first(&order, &operands),
            Order::StoresLast => {
                let acts = |val: &Val| graph.nodes[val.index()].acts();
                let (stores, others): (Vec<Val>, Vec<Val>) = order.iter().partition(|val| acts(val));
                // Each store of a step is another vector's.
                let mut number: FxHashMap<u32, usize> = FxHashMap::default();
                let mut ends: Vec<(usize, Val)> = Vec::with_capacity(stores.len());
                for &val in &stores {
                    let number = number.entry(graph.origin(val)).or_default();
                    ends.push((*number, val));
                    *number += 1;
                }
                ends.sort_by_key(|(number, _)| *number);
                let all: Vec<Val> = others.into_iter().chain(ends.into_iter().map(|(_, val)| val)).collect();
                let list = deepest_first(&all, &operands).into_iter();
                list.filter(|val| !acts(val)).chain(stores).collect()
            }
        };
        if let Some(arrange) = arrange {
            order = arrange.order(&graph, order, outputs, &operands);
        }
        let mut first = addresses.words.clone();
        // What the next round waits for, likewise.
        let round = if let Addressing::Scalar(round) = addressing { Some(round) } else { None };
        if round.is_some() {
            first.extend(last);
        }
        first.extend(&tests);
        order = arrange::first(order, &first, &operands);
        if in_pairs {
            arrange::in_pairs(&graph, &mut order, &operands);
        }
        let mut asked = None;
        if !doubted.is_empty() {
            let first = self::needed(&graph, doubted, &operands);
            let (before, behind): (Vec<Val>, Vec<Val>) = order.iter().partition(|val| first[val.index()]);
            asked = Some(before.len().saturating_sub(1));
            order = before.into_iter().chain(behind).collect();
        }
        let leave = order.iter().rposition(|val| tests.contains(val));
        copies.sort_unstable();
        copies.dedup();
        order.extend(copies);
        let mut uses = vec![Uses::new(); count];
        let mut when = vec![0; count];
        for (time, &val) in order.iter().enumerate() {
            when[val.index()] = time;
            let read = |arg: &Val| !addresses.leaves.contains_key(&val) || !addresses.words.contains(arg);
            for &arg in operands[val.index()].iter().filter(|arg| read(arg)) {
                if uses[arg.index()].last() != Some(&(2 * time as u32)) {
                    uses[arg.index()].push(2 * time as u32);
                }
            }
        }
        let mut stores = vec![Vec::new(); order.len()];
        let mut last_read: FxHashMap<u32, usize> = results.iter().map(|output| (output.row, 0)).collect();
        for (node, uses) in graph.nodes.iter().zip(&uses) {
            if let (Node::Row(row), Some(&last)) = (node, uses.last())
                && let Some(time) = last_read.get_mut(row)
            {
                *time = last as usize / 2;
            }
        }
        for output in results {
            let early = when[output.val.index()].max(last_read[&output.row]);
            let time = early.max(leave.max(asked).unwrap_or(0));
            stores[time].push(output);
            uses[output.val.index()].push(2 * time as u32 + 1);
        }
        let number = |val: Val| if let Node::Kept(number) = graph.node(val) { Some(number) } else { None };
        let (mut kept, mut scalars): (FxHashSet<u32>, FxHashSet<u32>) = Default::default();
        if graph.nodes.iter().any(|node| matches!(node, Node::Kept(_))) {
            let by_vectors = order.iter().filter(|val| !addresses.leaves.contains_key(val));
            let args = by_vectors.filter_map(|val| graph.as_inst(*val)).flat_map(Inst::operands);
            kept.extend(args.chain(last.iter().copied()).filter_map(number));
            scalars.extend(addresses.leaves.values().flatten().filter_map(|leaf| number(*leaf)));
        }
        let mut early: FxHashMap<Val, Vec<u32>> = FxHashMap::default();
        let mut late: Vec<Val> = last.to_vec();
        let round = round.unwrap_or_default();
        for &(number, val) in round.next {
            let packed = round.packs.is_some_and(|packs| packs.word(number).is_some());
            let read = kept.contains(&number) || scalars.contains(&number);
            if packed && !read && graph.as_inst(val).is_some() {
                early.entry(val).or_default().push(number);
                if let Some(at) = late.iter().position(|other| *other == val) {
                    late.swap_remove(at);
                }
            }
        }
        let at_once = addresses.words.iter().chain(early.keys());
        at_once.for_each(|&val| uses[val.index()].push(2 * when[val.index()] as u32 + 1));
        let left = 2 * leave.unwrap_or(0) as u32 + 1;
        tests.iter().for_each(|&test| uses[test.index()].push(left));
        late.iter().for_each(|&val| uses[val.index()].push(2 * order.len() as u32 + 1));
        let looked_at = 2 * asked.unwrap_or(0) as u32 + 1;
        doubted.iter().for_each(|&val| uses[val.index()].push(looked_at));
        uses.iter_mut().filter(|list| list.len() > 1).for_each(|list| list.sort_unstable());
        Plan { graph, order, stores, uses, addresses, leave, asked, kept, early }
    }
}

/// Which values are needed for some.
fn needed(graph: &Graph, roots: &[Val], operands: Operands<'_>) -> Vec<bool> {
    let mut needed: Vec<bool> = graph.nodes.iter().map(Node::acts).collect();
    roots.iter().for_each(|&val| needed[val.index()] = true);
    for val in (0..graph.nodes.len()).rev() {
        if needed[val] {
            operands[val].iter().for_each(|&arg| needed[arg.index()] = true);
        }
    }
    needed
}
