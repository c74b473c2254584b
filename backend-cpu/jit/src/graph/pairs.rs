//! 64-bit elements that stay whole: where nobody takes their words apart, they are loaded, and kept in rows while a loop
//! runs, as the two vectors that operations on them take.

use std::collections::BTreeMap;

use recal_il::ir::lines::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Graph, Inst, NO, Node, Val};
use crate::op::Op;

/// A run: its graph, the rows that it changes, and its test.
pub type Made = (Graph, Vec<(u32, Val)>, Option<Val>);

/// Who takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    ByNobody,
    /// By those who take the element that it makes up with this value, as the low word or the high one.
    Whole {
        with: Val,
        low: bool,
    },
    Otherwise,
}

/// Rows that hold the words of 64-bit elements: those with the high words, by those with the low ones.
#[derive(Debug, Default)]
pub struct Pairs(BTreeMap<u32, u32>);

impl Pairs {
    /// Those that the runs of a loop change, and take and leave whole.
    pub fn of(runs: &[Made]) -> Pairs {
        let mut pairs = BTreeMap::new();
        // By row, the one that it is with; none if it may not be whole.
        let mut with: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        for (graph, outputs, test) in runs {
            for (node, taken) in graph.nodes.iter().zip(graph.taken(outputs, *test)) {
                let (Node::Row(row), true) = (*node, taken != Taken::ByNobody) else { continue };
                let partner = match taken {
                    Taken::Whole { with, low } => match graph.node(with) {
                        Node::Row(other) => Some((other, low)),
                        _ => None,
                    },
                    _ => None,
                };
                let known = with.entry(row).or_insert(partner.map(|(other, _)| other));
                *known = known.filter(|&known| partner.is_some_and(|(other, _)| other == known));
                if let Some((high, true)) = partner {
                    pairs.insert(row, high);
                }
            }
        }
        pairs.retain(|low, high| {
            with.get(low) == Some(&Some(*high))
                && with.get(high) == Some(&Some(*low))
                && runs.iter().all(|(graph, outputs, _)| left_whole(graph, outputs, *low, *high))
                && runs.iter().any(|(_, outputs, _)| outputs.iter().any(|(row, _)| row == low))
        });
        Pairs(pairs)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A run that makes whole elements of the words in the rows, or the reverse.
    pub fn moved(&self, whole: bool) -> Made {
        let mut graph = Graph::default();
        let mut outputs = Vec::new();
        for (&low, &high) in &self.0 {
            let rows = [low, high].map(|row| graph.add(Node::Row(row)));
            let ops = if whole { [Op::ZipLow, Op::ZipHigh] } else { [Op::Even, Op::Odd] };
            let [first, second] = ops.map(|op| graph.binary(op, rows[0], rows[1]));
            outputs.extend([(low, first), (high, second)]);
        }
        (graph, outputs, None)
    }

    /// Makes a run take and leave whole elements.
    pub fn apply(&self, graph: &mut Graph, outputs: &mut [(u32, Val)]) {
        for val in 0..graph.nodes.len() {
            if let Node::Inst(Inst { op: op @ (Op::ZipLow | Op::ZipHigh), args: [low, high, _], mask: NO }) =
                graph.nodes[val]
            {
                let rows = [low, high].map(|arg| graph.node(arg));
                if let [Node::Row(low), Node::Row(high)] = rows
                    && self.0.get(&low) == Some(&high)
                {
                    graph.nodes[val] = Node::Row(if op == Op::ZipLow { low } else { high });
                }
            }
        }
        let rows: FxHashSet<u32> = self.0.iter().flat_map(|(low, high)| [*low, *high]).collect();
        for (row, val) in outputs.iter_mut().filter(|(row, _)| rows.contains(row)) {
            match graph.parts(*val) {
                Some((Op::Even, [first, ..], NO)) => *val = first,
                Some((Op::Odd, [_, second, _], NO)) => *val = second,
                _ => debug_assert!(graph.word_of(*val).is_some(), "row {row} is not left whole"),
            }
        }
    }
}

/// The run leaves nothing in the rows, or a whole element: the same constant in both is one, too.
fn left_whole(graph: &Graph, outputs: &[(u32, Val)], low: u32, high: u32) -> bool {
    let left = |row: u32| outputs.iter().find(|(of, _)| *of == row).map(|(_, val)| *val);
    match (left(low), left(high)) {
        (None, None) => true,
        (Some(a), Some(b)) => match (graph.parts(a), graph.parts(b)) {
            (Some((Op::Even, a, NO)), Some((Op::Odd, b, NO))) => a == b,
            _ => a == b && graph.word_of(a).is_some(),
        },
        _ => false,
    }
}

impl Graph {
    /// Who takes each value.
    fn taken(&self, outputs: &[(u32, Val)], test: Option<Val>) -> Vec<Taken> {
        let mut taken = vec![Taken::ByNobody; self.nodes.len()];
        let note = |taken: &mut [Taken], val: Val, by: Taken| {
            let place = &mut taken[val.index()];
            *place = if *place == Taken::ByNobody || *place == by { by } else { Taken::Otherwise };
        };
        outputs
            .iter()
            .map(|&(_, val)| val)
            .chain(test)
            .chain(self.leaves.iter().map(|leave| leave.test))
            .for_each(|val| note(&mut taken, val, Taken::Otherwise));
        for val in (0..self.nodes.len()).rev() {
            let Node::Inst(inst) = self.nodes[val] else { continue };
            match inst {
                _ if taken[val] == Taken::ByNobody && !inst.op.acts() => {}
                Inst { op: Op::ZipLow | Op::ZipHigh, args: [a, b, _], mask: NO } if a != b => {
                    note(&mut taken, a, Taken::Whole { with: b, low: true });
                    note(&mut taken, b, Taken::Whole { with: a, low: false });
                }
                _ => inst.operands().for_each(|arg| note(&mut taken, arg, Taken::Otherwise)),
            }
        }
        taken
    }

    /// Loads elements whole whose words nobody takes alone. `whole`: all lanes execute, so that what is the same for the
    /// lanes of a line is the same in both vectors.
    pub fn load_whole(&mut self, outputs: &[(u32, Val)], test: Option<Val>, whole: bool) {
        if self.groups.is_empty() {
            return;
        }
        let taken = self.taken(outputs, test);
        let mut found: Vec<[Val; 4]> = self.groups.values().copied().collect();
        found.sort_unstable();
        found.dedup();
        let mut groups = FxHashMap::<Val, u32>::default();
        found.iter().flatten().for_each(|part| *groups.entry(*part).or_default() += 1);
        found.retain(|parts| {
            let is = |low: Val, high: Val| {
                let of = |val: Val| if val == NO { Taken::ByNobody } else { taken[val.index()] };
                let [a, b] = [of(low), of(high)];
                a == Taken::ByNobody && b == Taken::ByNobody
                    || a == Taken::Whole { with: high, low: true }
                        && b == Taken::Whole { with: low, low: false }
            };
            let apart = parts.iter().all(|part| *part == NO || groups[part] == 1);
            apart && is(parts[0], parts[1]) && is(parts[2], parts[3])
        });
        // Which vector of a group an element's words become.
        let mut vectors: FxHashMap<[Val; 2], ([Node; 2], [Val; 4])> = FxHashMap::default();
        for parts in &found {
            for (k, words) in [(0, [parts[0], parts[1]]), (2, [parts[2], parts[3]])] {
                let Some(inst @ Inst { op: Op::Part(view, _), args: [first, ..], .. }) =
                    self.as_inst(words[0])
                else {
                    continue;
                };
                let same = whole && self.alike_in_pairs(first);
                let of = |k: u8| Node::Inst(Inst { op: Op::Pair(view, k), ..inst });
                vectors.insert(words, ([of(k), of(if same { k } else { k + 1 })], *parts));
                words.into_iter().zip([k, k + 1]).for_each(|(word, k)| self.nodes[word.index()] = of(k));
            }
        }
        for (val, node) in self.values().zip(&mut self.nodes) {
            if let Node::Inst(Inst { op: op @ (Op::ZipLow | Op::ZipHigh), args: [low, high, _], mask: NO }) =
                *node
                && let Some((vectors, parts)) = vectors.get(&[low, high])
            {
                *node = vectors[usize::from(op == Op::ZipHigh)];
                self.groups.insert(val, *parts);
            }
        }
    }

    /// Where they begin, both vectors of 64-bit elements are the same: of four lanes the first one has the first two, and the second one
    /// the others.
    fn alike_in_pairs(&self, first: Val) -> bool {
        match self.shape_of(first) {
            Shape::Same => true,
            Shape::Bits([_, halves, ..]) => halves == 0,
            Shape::Step(_) | Shape::Any => false,
        }
    }

    /// If all lanes execute, some of it may be done once for both vectors of 64-bit elements, or rows may hold them `in_loop`.
    pub fn gains_from_whole(&self, in_loop: bool) -> bool {
        self.nodes.iter().any(|node| match node {
            Node::Inst(Inst { op: Op::Pair(..), args: [first, ..], .. }) => self.alike_in_pairs(*first),
            Node::Inst(inst) => in_loop && inst.op == Op::ZipLow,
            _ => false,
        })
    }
}
