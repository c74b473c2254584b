//! Loop-invariant code motion: what does not change while an innermost loop runs is computed before.
//!
//! Most of it is where samples read: a column or line that a thread stays in.

use crate::NONE;
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::target::Target;
use crate::tree::{Tree, each_row, each_run};
use recal_il::bits::BitSet;
use rustc_hash::FxHashMap;

/// Fewest operations that are worth a place, and most places.
const WORTH: u32 = 3;
const MOST: usize = 48;

/// Values of a loop.
pub struct Invariants {
    /// Rows that the loop writes.
    written: BitSet,
    /// Computes the values.
    graph: Graph,
    /// Those that are wanted, by number.
    wanted: Vec<Val>,
}

impl Invariants {
    /// For a loop with this body; `lazy` as for [`Graph::new`].
    pub fn new(body: &[Tree<'_>], lazy: bool) -> Invariants {
        let mut written = BitSet::default();
        each_run(body, &mut |run| {
            for step in &run.steps {
                each_row(step, |row, write| {
                    if write {
                        written.insert(row)
                    }
                });
            }
        });
        Invariants { written, graph: Graph::new(lazy), wanted: Vec::new() }
    }

    /// Notes what the loop wants of a run.
    pub fn want(&mut self, graph: &Graph, outputs: &[(u32, Val)]) {
        let found = unchanging(&self.written, graph, |node| Some(self.graph.add(node)));
        let users = graph.values().filter(|val| !found.contains_key(val));
        let args = users.filter_map(|val| graph.as_inst(val)).flat_map(Inst::operands);
        for val in args.chain(outputs.iter().map(|&(_, val)| val)) {
            if let Some(&(WORTH.., Some(own))) = found.get(&val) {
                let known = graph.is_mask(val) || self.wanted.contains(&own);
                if !known && self.wanted.len() < MOST {
                    self.wanted.push(own);
                }
            }
        }
    }

    /// The rows hold something else while the loop runs.
    pub fn lose(&mut self, rows: &[u32]) {
        rows.iter().for_each(|row| self.written.insert(*row));
    }

    /// The number of a value of a run that the loop must find ready; `None` if it changes.
    pub fn demand(&mut self, graph: &Graph, val: Val) -> Option<u32> {
        let found = unchanging(&self.written, graph, |node| Some(self.graph.add(node)));
        let own = found.get(&val)?.1?;
        let known = self.wanted.iter().position(|&wanted| wanted == own);
        Some(known.unwrap_or_else(|| {
            self.wanted.push(own);
            self.wanted.len() - 1
        }) as u32)
    }

    /// The number of the last of some values of a run, each behind its operands, as it is when the loop begins.
    pub fn carry(&mut self, graph: &Graph, values: &[Val]) -> u32 {
        let last = self.graph.copied(graph, values, Graph::add);
        self.wanted.push(last);
        self.wanted.len() as u32 - 1
    }

    /// How many are wanted.
    pub fn count(&self) -> u32 {
        self.wanted.len() as u32
    }

    /// The rows that what is wanted comes from.
    pub fn rows(&self) -> impl Iterator<Item = u32> {
        let wanted: Vec<(u32, Val)> = self.wanted.iter().map(|val| (NONE, *val)).collect();
        let needed = self.graph.needed(&wanted, None);
        let nodes = self.graph.nodes.iter().zip(needed).filter(|(_, needed)| *needed);
        nodes.filter_map(|(node, _)| if let Node::Row(row) = node { Some(*row) } else { None })
    }

    /// The numbers of values, by number, of the lane `further` lanes on, whose columns are in a row.
    pub fn further_on(&mut self, column: u32, further: u32, numbers: &[u32]) -> Vec<u32> {
        let mut there: Vec<Val> = Vec::with_capacity(self.graph.nodes.len());
        for val in self.graph.values() {
            let moved = |arg: Val| if arg == NO { NO } else { there[arg.index()] };
            let node = match self.graph.node(val) {
                Node::Row(row) if row == column => {
                    let by = self.graph.add(Node::Word((further as f32).to_bits()));
                    Node::Inst(Inst { op: Op::FAdd, args: [val, by, NO], mask: NO })
                }
                Node::Inst(inst) => {
                    Node::Inst(Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..inst })
                }
                node => node,
            };
            there.push(self.graph.add(node));
        }
        let first = self.wanted.len() as u32;
        self.wanted.extend(
            numbers.iter().map(|number| there[self.wanted[*number as usize].index()]).collect::<Vec<_>>(),
        );
        (first..).take(numbers.len()).collect()
    }

    /// Computes what is wanted: a graph and its values.
    pub fn lowered(&self, target: &dyn Target) -> Option<(Graph, Vec<Val>)> {
        let (graph, place) = self.graph.lowered(target, self.wanted.iter().copied());
        let values = self.wanted.iter().map(|&val| place[val.index()]).collect();
        (!self.wanted.is_empty()).then_some((graph, values))
    }

    /// Makes a run take what is ready.
    pub fn replace(&self, graph: &mut Graph) {
        if self.wanted.is_empty() {
            return;
        }
        for (val, (_, own)) in unchanging(&self.written, graph, |node| self.graph.find(node)) {
            let number = own.and_then(|own| self.wanted.iter().position(|&wanted| wanted == own));
            if let Some(number) = number {
                graph.nodes[val.index()] = Node::Kept(number as u32);
            }
        }
    }
}

/// The values of a run that do not change if it writes no other rows than these: how many instructions they take, and
/// what `place` says of their nodes, if it knows the operands.
fn unchanging(
    written: &BitSet,
    graph: &Graph,
    mut place: impl FnMut(Node) -> Option<Val>,
) -> FxHashMap<Val, (u32, Option<Val>)> {
    let mut found: FxHashMap<Val, (u32, Option<Val>)> = FxHashMap::default();
    for (val, &node) in graph.numbered() {
        let Node::Inst(inst) = node else {
            if !matches!(node, Node::Row(row) if written.contains(row)) {
                found.insert(val, (0, place(node)));
            }
            continue;
        };
        let args: Option<Vec<_>> = inst.operands().map(|arg| found.get(&arg).copied()).collect();
        let Some(args) = args.filter(|_| inst.op.pure() && !graph.plain_products.contains(val.into())) else {
            continue;
        };
        let length = args.iter().fold(1, |sum: u32, (n, _)| sum.saturating_add(*n));
        let own: Option<Vec<Val>> = args.into_iter().map(|(_, own)| own).collect();
        let own = own.and_then(|own| {
            let mut own = own.into_iter();
            let mut moved = |arg| if arg == NO { NO } else { own.next().unwrap_or(NO) };
            place(Node::Inst(Inst { op: inst.op, args: inst.args.map(&mut moved), mask: moved(inst.mask) }))
        });
        found.insert(val, (length, own));
    }
    found
}
