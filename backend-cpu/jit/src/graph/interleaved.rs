//! Elements of two or four words that stay as they lie in memory: each vector has whole elements of some of the lanes, one after
//! another, and as many vectors as an element has words have those of all lanes.
//!
//! Where nothing is done with elements but the same with each of their words, and whatever else takes part is the same for all
//! lanes, it does not matter which word is where: the operations on one vector for each component are those on one vector for
//! each part of the lanes. So only loads, and rows that a loop begins and ends with, know the difference.

use recal_il::ir::lines::Shape;
use rustc_hash::FxHashMap;

use super::pairs::Made;
use super::{Graph, Inst, NO, Node, Val};
use crate::NONE;
use crate::op::Op;

/// What the words of an element are in, two or four values or rows, first word first; [`Place::NONE`] behind them.
pub type Words<T = Val> = [T; 4];

/// What a word of an element is in.
pub trait Place: Copy + Eq {
    /// Nothing.
    const NONE: Self;
}

impl Place for Val {
    const NONE: Val = NO;
}

impl Place for u32 {
    const NONE: u32 = NONE;
}

/// How many there are.
pub fn count<T: Place>(words: &Words<T>) -> usize {
    words.iter().filter(|word| **word != T::NONE).count()
}

/// Elements in the runs of a loop.
#[derive(Debug, Default)]
pub struct Elements {
    /// The rows that hold them.
    pub rows: Vec<Words<u32>>,
    /// The values that are, for each run.
    values: Vec<Vec<Words>>,
}

impl Elements {
    /// Those that the runs of a loop load, and leave whole.
    pub fn of(runs: &[Made]) -> Elements {
        let mut search = Search::new(runs);
        for (run, (graph, ..)) in runs.iter().enumerate() {
            for val in graph.values() {
                let Some(&parts) = graph.groups.get(&val).filter(|parts| parts[0] == val) else { continue };
                let wanted = parts.iter().any(|part| *part != NO && search.needed[run][part.index()]);
                if wanted && !search.of[run].contains_key(&val) {
                    search.explore(run, parts);
                }
            }
        }
        let Search { found, rows, .. } = search;
        let mut values = vec![Vec::new(); runs.len()];
        found.into_iter().for_each(|(run, words)| values[run].push(words));
        let mut rows: Vec<Words<u32>> = rows.into_values().collect();
        rows.sort_unstable();
        rows.dedup();
        Elements { rows, values }
    }

    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Vec::is_empty)
    }

    /// Makes a run take and leave elements as they lie in memory.
    pub fn apply(&self, run: usize, made: &mut Made) {
        let (graph, outputs, _) = made;
        let mut instead: FxHashMap<Val, Val> = FxHashMap::default();
        for words in &self.values[run] {
            let wide = count(words) == 4;
            for (k, &val) in words[..count(words)].iter().enumerate() {
                let [first, second] = graph.arguments(val);
                match graph.as_inst(val).map(|inst| inst.op) {
                    Some(Op::Part(view, _)) => {
                        let inst = Inst { op: Op::Member(view, k as u8), args: [first, NO, NO], mask: NO };
                        graph.nodes[val.index()] = Node::Inst(inst);
                    }
                    // Low and high vectors, words with even and odd numbers, are but other names.
                    Some(Op::ZipLow | Op::ZipHigh | Op::Even | Op::Odd) => {
                        debug_assert!(wide || k < 2);
                        instead.insert(val, if k % 2 == 0 { first } else { second });
                    }
                    _ => {}
                }
            }
        }
        // An element that is the same for all lanes is the same in both vectors.
        let alike = graph.alike();
        for val in graph.values() {
            if alike[val.index()] && graph.alias(val) != val {
                instead.insert(val, graph.alias(val));
            }
        }
        let last = |mut val: Val| {
            while let Some(&other) = instead.get(&val) {
                val = other;
            }
            val
        };
        let moved = |val: Val| if val == NO { NO } else { last(val) };
        for node in &mut graph.nodes {
            if let Node::Inst(inst) = node {
                *inst = Inst { args: inst.args.map(moved), mask: moved(inst.mask), ..*inst };
            }
        }
        outputs.iter_mut().for_each(|(_, val)| *val = moved(*val));
    }
}

/// The same is done with each word, or with each half of an element.
fn by_component(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Add | Sub
            | Mul
            | And
            | AndNot
            | Or
            | Xor
            | FAdd
            | FSub
            | FMul
            | FDiv
            | FMin
            | FMax
            | FSqrt
            | FFma
            | Flush
            | DAdd
            | DMul
            | DFma
    )
}

struct Search<'a> {
    runs: &'a [Made],
    alike: Vec<Vec<bool>>,
    /// Values that anybody wants.
    needed: Vec<Vec<bool>>,
    /// Those who want a value, with the place of the operand.
    users: Vec<Vec<Vec<(Val, u8)>>>,
    /// The element that a value is a word of.
    of: Vec<FxHashMap<Val, Words>>,
    rows: FxHashMap<u32, Words<u32>>,
    found: Vec<(usize, Words)>,
    /// What is to be looked at.
    open: Vec<(usize, Words)>,
    /// Rows that were added since the search for one element began.
    added: Vec<Words<u32>>,
}

impl<'a> Search<'a> {
    fn new(runs: &'a [Made]) -> Search<'a> {
        let mut search = Search {
            runs,
            alike: Vec::new(),
            needed: Vec::new(),
            users: Vec::new(),
            of: vec![FxHashMap::default(); runs.len()],
            rows: FxHashMap::default(),
            found: Vec::new(),
            open: Vec::new(),
            added: Vec::new(),
        };
        for (graph, outputs, test) in runs {
            let needed = graph.needed(outputs, *test);
            let mut users = vec![Vec::new(); graph.nodes.len()];
            for (val, node) in graph.numbered().filter(|(val, _)| needed[val.index()]) {
                if let Node::Inst(inst) = node {
                    let places = inst.args.into_iter().chain([inst.mask]);
                    (0..).zip(places).filter(|(_, arg)| *arg != NO).for_each(|(place, arg)| {
                        users[arg.index()].push((val, place));
                    });
                }
            }
            search.alike.push(graph.alike());
            search.needed.push(needed);
            search.users.push(users);
        }
        search
    }

    /// Notes an element with everything that it leads to, or nothing.
    fn explore(&mut self, run: usize, words: Words) {
        let before = self.found.len();
        self.added.clear();
        let mut good = self.require(run, words);
        while let Some((run, words)) = self.open.pop() {
            good = good && self.made(run, words) && self.taken(run, words);
        }
        if !good {
            for (run, words) in self.found.drain(before..) {
                words.iter().for_each(|val| _ = self.of[run].remove(val));
            }
            self.added.drain(..).flatten().for_each(|row| _ = self.rows.remove(&row));
        }
    }

    /// The values are the words of an element.
    fn require(&mut self, run: usize, words: Words) -> bool {
        let n = count(&words);
        if let Some(known) = self.of[run].get(&words[0]) {
            return *known == words;
        }
        let list = &words[..n];
        let distinct = (1..n).all(|k| !list[..k].contains(&list[k]));
        if !matches!(n, 2 | 4) || !distinct || list.iter().any(|val| self.of[run].contains_key(val)) {
            return false;
        }
        list.iter().for_each(|val| _ = self.of[run].insert(*val, words));
        self.found.push((run, words));
        self.open.push((run, words));
        true
    }

    /// The values are the words of an element, or but one that is the same for all lanes.
    fn operands(&mut self, run: usize, words: Words) -> bool {
        let (graph, n) = (&self.runs[run].0, count(&words));
        match n {
            0 => true,
            // An element that is the same for all lanes is the same in both vectors.
            _ if words[..n].iter().all(|val| self.alike[run][val.index()]) => {
                words[..n].iter().all(|val| graph.alias(*val) == graph.alias(words[0]))
                    || self.require(run, words)
            }
            _ => self.require(run, words),
        }
    }

    /// The rows hold the words of an element, wherever the loop reads or writes them.
    fn require_rows(&mut self, rows: Words<u32>) -> bool {
        let n = count(&rows);
        if let Some(known) = self.rows.get(&rows[0]) {
            return *known == rows;
        }
        let distinct = (1..n).all(|k| !rows[..k].contains(&rows[k]));
        if !distinct || rows[..n].iter().any(|row| self.rows.contains_key(row)) {
            return false;
        }
        rows[..n].iter().for_each(|row| _ = self.rows.insert(*row, rows));
        self.added.push(rows);
        let runs = self.runs;
        runs.iter().enumerate().all(|(run, (graph, outputs, _))| {
            let read = each(rows, |row| {
                graph.find(Node::Row(row)).filter(|val| self.needed[run][val.index()]).unwrap_or(NO)
            });
            let left =
                each(rows, |row| outputs.iter().find(|(other, _)| *other == row).map_or(NO, |(_, val)| *val));
            let all = |words: &Words| matches!(count(words), 0) || count(words) == n;
            all(&read)
                && all(&left)
                && (count(&read) == 0 || self.require(run, read))
                && self.operands(run, left)
        })
    }

    /// The values come from words of elements, in the same way.
    fn made(&mut self, run: usize, words: Words) -> bool {
        let (graph, n) = (&self.runs[run].0, count(&words));
        let nodes = words[..n].iter().map(|val| graph.node(*val));
        let rows: Vec<u32> = nodes
            .clone()
            .filter_map(|node| if let Node::Row(row) = node { Some(row) } else { None })
            .collect();
        if rows.len() == n {
            return self.require_rows(each_of(n, |k| rows[k]));
        }
        let insts: Vec<Inst> =
            nodes.filter_map(|node| if let Node::Inst(inst) = node { Some(inst) } else { None }).collect();
        if insts.len() != n {
            return false;
        }
        let args = |place: usize| each_of(n, |k| [insts[k].args, [insts[k].mask; 3]][place / 3][place % 3]);
        match insts[0].op {
            Op::Part(..) => {
                graph.groups.get(&words[0]) == Some(&words) && !self.alike[run][insts[0].args[0].index()]
            }
            op @ (Op::ZipLow | Op::Even) => {
                let ops = if op == Op::Even { [Op::Even, Op::Odd] } else { [Op::ZipLow, Op::ZipHigh] };
                let right = (0..n).all(|k| {
                    insts[k].op == ops[k % 2] && insts[k].args == insts[k / 2 * 2].args && insts[k].mask == NO
                });
                right && self.require(run, each_of(n, |k| insts[k].args[k % 2]))
            }
            op if by_component(op) => {
                insts.iter().all(|inst| inst.op == op)
                    && (0..4).all(|place| {
                        let args = args(place);
                        (count(&args) == 0 || count(&args) == n) && self.operands(run, args)
                    })
            }
            _ => false,
        }
    }

    /// Whoever takes one of the values takes the others in the same way.
    fn taken(&mut self, run: usize, words: Words) -> bool {
        let (graph, outputs, test) = &self.runs[run];
        let n = count(&words);
        if test.is_some_and(|test| words.contains(&test)) {
            return false;
        }
        // Two words as an element, or the reverse.
        for ops in [[Op::ZipLow, Op::ZipHigh], [Op::Even, Op::Odd]] {
            let is = |(user, _): &&(Val, u8)| graph.as_inst(*user).is_some_and(|inst| ops.contains(&inst.op));
            if words[..n].iter().any(|val| self.users[run][val.index()].iter().any(|user| is(&user))) {
                let of = each_of(n, |k| {
                    let args = [words[k / 2 * 2], words[k / 2 * 2 + 1], NO];
                    graph.find(Node::Inst(Inst { op: ops[k % 2], args, mask: NO })).unwrap_or(NO)
                });
                if count(&of) != n || !self.require(run, of) {
                    return false;
                }
            }
        }
        let others = |val: Val| -> Vec<(Val, u8)> {
            let other = |(user, _): &&(Val, u8)| {
                graph.as_inst(*user).is_some_and(|inst| {
                    !matches!(inst.op, Op::ZipLow | Op::ZipHigh | Op::Even | Op::Odd)
                        || !words.contains(&inst.args[0])
                        || !words.contains(&inst.args[1])
                })
            };
            self.users[run][val.index()].iter().filter(other).copied().collect()
        };
        let lists: Vec<Vec<(Val, u8)>> = words[..n].iter().map(|val| others(*val)).collect();
        let rows: Vec<Vec<u32>> = words[..n]
            .iter()
            .map(|val| outputs.iter().filter(|(_, of)| of == val).map(|(row, _)| *row).collect())
            .collect();
        let even = lists.iter().all(|list| list.len() == lists[0].len())
            && rows.iter().all(|list| list.len() == rows[0].len());
        even && (0..lists[0].len()).all(|at| {
            lists.iter().all(|list| list[at].1 == lists[0][at].1)
                && self.require(run, each_of(n, |k| lists[k][at].0))
        }) && (0..rows[0].len()).all(|at| self.require_rows(each_of(n, |k| rows[k][at])))
    }
}

/// What `of` says of each word, by number.
fn each_of<T: Place>(n: usize, of: impl Fn(usize) -> T) -> Words<T> {
    std::array::from_fn(|k| if k < n { of(k) } else { T::NONE })
}

/// The same by the word.
fn each<T: Place, U: Place>(words: Words<T>, of: impl Fn(T) -> U) -> Words<U> {
    words.map(|word| if word == T::NONE { U::NONE } else { of(word) })
}

impl Graph {
    fn arguments(&self, val: Val) -> [Val; 2] {
        self.as_inst(val).map_or([NO; 2], |inst| [inst.args[0], inst.args[1]])
    }

    /// The low vector of an element, for its high one: the same if all lanes have the same element.
    fn alias(&self, val: Val) -> Val {
        match self.as_inst(val) {
            Some(inst @ Inst { op: Op::ZipHigh, .. }) => {
                self.find(Node::Inst(Inst { op: Op::ZipLow, ..inst })).unwrap_or(val)
            }
            _ => val,
        }
    }

    /// The values that anybody wants.
    pub fn needed(&self, outputs: &[(u32, Val)], test: Option<Val>) -> Vec<bool> {
        self.reached(outputs.iter().map(|&(_, val)| val).chain(test), |_| None)
    }

    /// What these values and what acts are computed of; `with` says what else comes with a value: others that are computed of the same.
    pub fn reached(
        &self,
        wanted: impl IntoIterator<Item = Val>,
        with: impl Fn(Val) -> Option<[Val; 4]>,
    ) -> Vec<bool> {
        let mut needed: Vec<bool> = self.nodes.iter().map(Node::acts).collect();
        let leaves = self.leaves.iter().map(|leave| leave.test);
        wanted.into_iter().chain(leaves).for_each(|val| needed[val.index()] = true);
        for val in (0..self.nodes.len()).rev() {
            if let (Node::Inst(inst), true) = (self.nodes[val], needed[val]) {
                for arg in inst.operands() {
                    needed[arg.index()] = true;
                }
                if let Some(others) = with(Val::new(val)) {
                    others
                        .iter()
                        .filter(|other| **other != NO)
                        .for_each(|other| needed[other.index()] = true);
                }
            }
        }
        needed
    }

    /// The values that are the same in all lanes of a strip of which all execute, or elements that are.
    pub fn alike(&self) -> Vec<bool> {
        let mut alike = Vec::with_capacity(self.nodes.len());
        for (val, node) in self.numbered() {
            let same = match node {
                Node::Word(_) | Node::Quad(_) | Node::Bool(_) | Node::Field(..) => true,
                Node::Row(_) | Node::Kept(_) | Node::Lanes(_) | Node::Mask(_) => false,
                Node::Inst(Inst {
                    op: Op::Load(_) | Op::Part(..) | Op::Pair(..), args: [first, ..], ..
                }) => alike[first.index()] || self.shape_of(*first) == Shape::Same,
                Node::Inst(inst) => inst.op.pure() && inst.operands().all(|arg| alike[arg.index()]),
            };
            alike.push(same || self.same.contains(&val));
        }
        alike
    }
}
