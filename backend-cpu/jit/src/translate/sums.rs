//! Loops that add up products of whole elements, see [`Sums`].

use recal_il::bits::BitSet;
use recal_il::isa::Algebra;
use rustc_hash::FxHashSet;

use super::strength::{Inductions, Rounds};
use super::*;
use crate::graph::interleaved::{Elements, Words, count};
use crate::op::{Kind, Relation};
use crate::program::{Sums, turned};

impl Translator<'_> {
    /// An innermost loop with its elements as they lie in memory, if it has any and does nothing else that asks for words.
    pub(super) fn sums(&self, body: &[Tree<'_>]) -> Option<Sums> {
        let simple = |tree: &Tree<'_>| match tree {
            Tree::Run(run) => !run.steps.iter().any(|step| matches!(**step, Step::Break(_))),
            Tree::Break(test, _) => test.is_none_or(|(_, lanes)| lanes == Shape::Same),
            _ => false,
        };
        if !self.in_lines || !self.target.interleaves() || !body.iter().all(simple) {
            return None;
        }
        let mut runs = Vec::new();
        each_run(body, &mut |run| runs.push(self.plain(run, Graph::plain(self.lazy))));
        let mut runs: Vec<Made> = runs.into_iter().collect::<Option<_>>()?;
        if runs.iter().any(|(graph, ..)| graph.nodes.iter().any(Node::acts)) {
            return None;
        }
        let elements = Elements::of(&runs);
        if elements.is_empty() {
            return None;
        }
        runs.iter_mut().enumerate().for_each(|(run, made)| elements.apply(run, made));
        runs.iter_mut().for_each(|(graph, outputs, test)| graph.load_whole(outputs, *test, true));
        let flushed = if self.lazy { unflushed(&mut runs, &elements) } else { FxHashSet::default() };
        let mut doubted = doubtful(&runs)?;
        // Each of its rows has words of all components.
        let in_doubt = |rows: &&Words<u32>| rows.iter().any(|row| doubted.contains(row));
        let whole: Vec<u32> =
            elements.rows.iter().filter(in_doubt).flat_map(|rows| rows[..count(rows)].to_vec()).collect();
        doubted.extend(whole);

        let mut kept = Invariants::new(body, self.lazy);
        elements.rows.iter().for_each(|rows| kept.lose(&rows[..count(rows)]));
        runs.iter().for_each(|(graph, outputs, _)| kept.want(graph, outputs));
        let mut steps = Vec::new();
        for (graph, outputs, test) in &mut runs {
            steps.extend(known(graph, &graph.needed(outputs, *test), &mut kept)?);
        }
        steps.sort_unstable();
        steps.dedup();
        let alike: Vec<Vec<bool>> = runs.iter().map(|(graph, ..)| graph.alike()).collect();
        let before = runs.clone();
        let next = ahead::ahead(&mut runs, &elements, &mut kept);
        let carried = runs.iter().zip(&next).map(|((graph, ..), next)| unlike(graph, next));
        let mut unlike: FxHashSet<u32> = carried.flatten().collect();
        runs.iter_mut().for_each(|(graph, ..)| kept.replace(graph));
        let mut same_kept: FxHashSet<u32> = FxHashSet::default();
        for ((graph, ..), alike) in runs.iter().zip(&alike) {
            for (val, node) in graph.nodes.iter().enumerate() {
                if let Node::Kept(number) = *node {
                    let of = if alike.get(val) == Some(&true) { &mut same_kept } else { &mut unlike };
                    of.insert(number);
                }
            }
        }
        same_kept.retain(|number| !unlike.contains(number));
        let rounds = Rounds { before: &before, runs: &runs, next: &next, alike: &alike };
        let found = Inductions::of(&rounds, self.lazy, &kept);
        same_kept.extend(found.iter().flat_map(|(found, _)| found.same()));

        let held: FxHashSet<u32> = elements.rows.iter().flatten().copied().collect();
        let written = || runs.iter().flat_map(|(_, outputs, _)| outputs.iter().map(|(row, _)| *row));
        let rows: BTreeSet<u32> = written().filter(|row| !held.contains(row)).collect();
        let mentioned: FxHashSet<u32> = runs.iter().flat_map(mentioned).collect();
        let hot = self.hottest(body).into_iter().filter(|row| mentioned.contains(row)).collect();
        let same = |row: &&u32| matches!(body, [Tree::Run(_), ..]) && always_alike(&runs, &alike, **row);
        let same_rows = rows.iter().filter(same).copied().collect();
        let reduced = match found {
            Some((found, graphs)) => {
                let made = |(graph, (_, outputs, test)): (Graph, &Made)| (graph, outputs.clone(), *test);
                let runs = graphs.into_iter().zip(&runs).map(|of| (made(of), Vec::new()));
                let parts = self.parts(body, runs)?;
                self.reduced(found, &kept, parts)
            }
            None => None,
        };
        let parts = self.parts(body, runs.into_iter().zip(next))?;
        Some(Sums {
            kept: kept.lowered(self.target).unwrap_or_default(),
            steps,
            entry: self.entry(&flushed),
            elements: elements.rows,
            rows: rows.into_iter().collect(),
            same_rows,
            same_kept: sorted(&same_kept),
            equal_rows: FxHashSet::default(),
            equal_kept: FxHashSet::default(),
            body: parts,
            reduced,
            hot,
            exit: self.exit(&flushed, &doubted),
        })
    }

    /// The parts of a loop whose runs are made, with what each leaves for the next round.
    fn parts(
        &self,
        body: &[Tree<'_>],
        mut runs: impl Iterator<Item = (Made, Vec<(u32, Val)>)>,
    ) -> Option<Vec<Part>> {
        let mut parts = Vec::with_capacity(body.len());
        for tree in body {
            let turned = tree.tests() && turned(&mut parts);
            parts.push(match tree {
                Tree::Break(test, step) => Part::Break(test.map(|of| of.0 != turned), step.number),
                _ => {
                    let (made, next) = runs.next()?;
                    Part::Block(Box::new(Block { body: self.leading(made, next), attempt: None }))
                }
            });
        }
        Some(parts)
    }

    /// The rows of an innermost loop that need not be flushed: what reads them takes denormals as zeros, and nothing does after it.
    pub(super) fn bare_rows(&self, body: &[Tree<'_>], after: &BitSet) -> FxHashSet<u32> {
        let mut runs = Vec::new();
        if !loops(body) {
            each_run(body, &mut |run| runs.extend(self.plain(run, Graph::new(self.lazy))));
        }
        let as_zeros =
            |op| matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::Flush | Op::Compare(Kind::Float, ..));
        let mut rows = flushed(&runs, &as_zeros);
        rows.retain(|row| !after.contains(*row));
        rows
    }

    /// Rows that are flushed when the loop ends must be flushed when it begins: it may end at once.
    fn entry(&self, flushed: &FxHashSet<u32>) -> Option<(Straight, Val)> {
        let mut graph = Graph::new(self.lazy);
        let mut all = None;
        for row in sorted(flushed) {
            let row = graph.add(Node::Row(row));
            let flushed = graph.flush(row);
            let other = graph.binary(Op::Compare(Kind::Signed, Relation::Equal, true), flushed, row);
            all = Some(all.map_or(other, |all| graph.binary(Op::Either, all, other)));
        }
        let all = all?;
        let (graph, place) = graph.lowered(self.target, [all]);
        Some((self.placed(graph, &place, Vec::new(), None), place[all.index()]))
    }

    fn exit(&self, flushed: &FxHashSet<u32>, doubted: &FxHashSet<u32>) -> (Straight, Option<Val>) {
        let mut graph = Graph::new(self.lazy);
        let (mut outputs, mut doubts) = (Vec::new(), Vec::new());
        for row in sorted(flushed.union(doubted)) {
            let mut val = graph.add(Node::Row(row));
            if flushed.contains(&row) {
                val = graph.flush(val);
                outputs.push((row, val));
            }
            if doubted.contains(&row) {
                doubts.push(val);
            }
        }
        let doubt = graph.doubted(doubts);
        let values = outputs.iter().map(|(_, val)| *val).chain(doubt);
        let (graph, place) = graph.lowered(self.target, values);
        (self.placed(graph, &place, outputs, None), doubt.map(|val| place[val.index()]))
    }
}

/// What a run leaves for the next round that need not be the same in a line, by number.
fn unlike(graph: &Graph, next: &[(u32, Val)]) -> Vec<u32> {
    let alike = graph.alike();
    next.iter().filter(|(_, val)| !alike[val.index()]).map(|(number, _)| *number).collect()
}

/// The rows that a run reads or writes.
fn mentioned((graph, outputs, test): &Made) -> Vec<u32> {
    let needed = graph.needed(outputs, *test);
    let nodes = graph.nodes.iter().zip(needed).filter(|(_, needed)| *needed);
    let read = nodes.filter_map(|(node, _)| if let Node::Row(row) = node { Some(*row) } else { None });
    read.chain(outputs.iter().map(|(row, _)| *row)).collect()
}

/// A row is the same in a line when a loop begins, whose first run says so, and whatever runs leave in it is.
fn always_alike(runs: &[Made], alike: &[Vec<bool>], row: u32) -> bool {
    let first = runs[0].0.find(Node::Row(row)).is_some_and(|val| alike[0][val.index()]);
    let mut left = runs.iter().zip(alike).flat_map(|((_, outputs, _), alike)| {
        outputs.iter().filter(|(of, _)| *of == row).map(|(_, val)| alike[val.index()])
    });
    first && left.all(|same| same)
}

fn sorted<'a>(rows: impl IntoIterator<Item = &'a u32>) -> Vec<u32> {
    rows.into_iter().copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

/// What reads rows, in all runs.
fn readers<'a>(runs: &'a [Made], row: u32) -> impl Iterator<Item = Option<Inst>> + 'a {
    runs.iter()
        .filter_map(move |(graph, outputs, test)| Some((graph, outputs, test, graph.find(Node::Row(row))?)))
        .flat_map(|(graph, outputs, test, val)| {
            let needed = graph.needed(outputs, *test);
            let insts = graph
                .values()
                .filter(move |user| needed[user.index()])
                .filter_map(|user| graph.as_inst(user))
                .filter(move |inst| inst.operands().any(|arg| arg == val))
                .map(Some);
            let moved = outputs.iter().filter(move |(_, of)| *of == val).map(|_| None);
            let tested = test.filter(|test| *test == val).map(|_| None);
            insts.chain(moved).chain(tested)
        })
}

/// Leaves rows as they are that are flushed each time and read by operations alone that take denormals as zeros; which they are.
fn unflushed(runs: &mut [Made], elements: &Elements) -> FxHashSet<u32> {
    let as_zeros = |op| {
        matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FMin | Op::Flush | Op::Compare(Kind::Float, ..))
    };
    let mut rows = flushed(runs, &as_zeros);
    let all = rows.clone();
    for words in elements.rows.iter().map(|words| &words[..count(words)]) {
        if !words.iter().all(|row| all.contains(row)) {
            words.iter().for_each(|row| _ = rows.remove(row));
        }
    }
    for (graph, outputs, _) in runs {
        for (_, val) in outputs.iter_mut().filter(|(row, _)| rows.contains(row)) {
            *val = graph.before_flush(*val).unwrap_or(*val);
        }
    }
    rows
}

/// Rows that are flushed each time and read by certain operations alone.
fn flushed(runs: &[Made], by: &dyn Fn(Op) -> bool) -> FxHashSet<u32> {
    let flushed = |graph: &Graph, val: Val| graph.before_flush(val).is_some();
    let mut rows: FxHashSet<u32> = FxHashSet::default();
    for (graph, outputs, _) in runs {
        rows.extend(outputs.iter().filter(|(_, val)| flushed(graph, *val)).map(|(row, _)| *row));
    }
    rows.retain(|&row| {
        let always = runs.iter().all(|(graph, outputs, _)| {
            let of = outputs.iter().find(|(other, _)| *other == row);
            of.is_none_or(|(_, val)| {
                flushed(graph, *val) || graph.never_denormal(*val) || graph.node(*val) == Node::Word(0)
            })
        });
        always && readers(runs, row).all(|inst| inst.is_some_and(|inst| by(inst.op)))
    });
    rows
}

/// The rows that are in doubt if products are made without asking for zeros; `None` if anything but sums is made of them.
///
/// Sums of values in doubt are right, or NaN, or -0 where +0 is right, as in [`Graph::doubts`], and so they stay however often
/// something is added: NaN stays NaN, and what is added to a zero of any sign gives the same unless it is -0 itself.
fn doubtful(runs: &[Made]) -> Option<FxHashSet<u32>> {
    let mut rows = FxHashSet::default();
    loop {
        let before = rows.len();
        for (graph, outputs, test) in runs {
            let needed = graph.needed(outputs, *test);
            let mut doubtful = vec![false; graph.nodes.len()];
            for (val, node) in graph.numbered().filter(|(val, _)| needed[val.index()]) {
                doubtful[val.index()] = match node {
                    Node::Row(row) => rows.contains(row),
                    Node::Inst(inst) => {
                        let any = inst.operands().any(|arg| doubtful[arg.index()]);
                        if any && !matches!(inst.op, Op::FAdd | Op::Flush) {
                            return None;
                        }
                        any || graph.plain_products.contains(val.into())
                    }
                    _ => false,
                };
            }
            if test.is_some_and(|test| doubtful[test.index()]) {
                return None;
            }
            rows.extend(outputs.iter().filter(|(_, val)| doubtful[val.index()]).map(|(row, _)| *row));
        }
        if rows.len() == before {
            return Some(rows);
        }
    }
}

/// Notes the shape of the number of each word that a run loads, as it must be: what it needs for that, by number, and its step.
/// `None` if nothing can be said of it.
fn known(graph: &mut Graph, needed: &[bool], kept: &mut Invariants) -> Option<Vec<(u32, u32)>> {
    let alike = graph.alike();
    let mut steps = Vec::new();
    for val in graph.values().filter(|val| needed[val.index()]) {
        let Some(Inst { op, args: [first, ..], .. }) = graph.as_inst(val) else { continue };
        let (view, step) = match op {
            Op::Load(view) | Op::Part(view, _) | Op::Pair(view, _) => (view, 1),
            Op::Member(view, _) => (view, count(&graph.groups[&val]) as u32),
            _ => continue,
        };
        if !graph.inside.contains(&(view, first)) {
            return None;
        }
        if alike[first.index()] {
            graph.shape(first, Shape::Same);
            continue;
        }
        // Elements that are taken apart are looked at each time.
        if matches!(op, Op::Part(..) | Op::Pair(..)) && graph.shape_of(first) != Shape::Same {
            return None;
        }
        if graph.shape_of(first) == Shape::Any {
            steps.push((kept.demand(graph, stepping(graph, &alike, first)?)?, step));
            graph.shape(first, Shape::Step(step));
        }
        if graph.shape_of(first) != Shape::Step(step) {
            return None;
        }
    }
    Some(steps)
}

/// The only term of a sum that is not the same for all lanes.
fn stepping(graph: &Graph, alike: &[bool], mut sum: Val) -> Option<Val> {
    while let Some(Inst { op: Op::Add, args: [a, b, _], mask: NO }) = graph.as_inst(sum) {
        sum = match (alike[a.index()], alike[b.index()]) {
            (true, false) => b,
            (false, true) => a,
            _ => break,
        };
    }
    Some(sum)
}
