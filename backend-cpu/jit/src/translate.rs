//! From the steps of a function to its vector program.

mod ahead;
mod attempt;
mod call;
mod emitted;
mod flushes;
pub mod group;
mod halves;
mod memory;
mod strength;
mod sums;

use std::collections::{BTreeMap, BTreeSet};

use recal_il::bits::BitSet;
use recal_il::ir::Width;
use recal_il::ir::lines::Shape;
use recal_il::isa::memory::element;
use recal_il::isa::{Algebra, lane};
use rustc_hash::{FxHashMap, FxHashSet};

use self::flushes::flushes;
use self::memory::FAR;
use crate::function::Later;
use crate::graph::pairs::{Made, Pairs};
use crate::graph::{Field, Graph, Inst, Leave, NO, Node, Val};
use crate::licm::Invariants;
use crate::op::Op;
use crate::program::{Block, Element, Loop, Output, Part, Program, Straight, turned};
use crate::target::Target;
use crate::tree::{Run, Tree, calls, each_run, loops, mentions, together};
use crate::{NONE, Shared, Step};

/// Most operations of a run.
const LONGEST: usize = 12000;
/// How many flushes make up for a change of the float mode.
const WORTH: usize = 8;

/// The word that a row always has.
pub type Constant<'c> = &'c (dyn Fn(u32) -> Option<u32> + Sync);

/// What is known of rows.
#[derive(Clone, Copy)]
pub struct Known<'c> {
    /// The words of rows that never change.
    pub constant: Constant<'c>,
    /// Rows whose words are elsewhere.
    pub shared: &'c FxHashMap<u32, Shared>,
    /// Lanes that do not execute never show what they have in a row.
    pub unseen: &'c (dyn Fn(u32) -> bool + Sync),
    /// What becomes of those of the function after it.
    pub later: &'c Later,
    /// The row of columns where elements are stored, see [`crate::Compiler::with_column`].
    pub column: Option<u32>,
    /// They are as another function left them, which has the same float mode.
    pub bound: bool,
    /// Threads that may translate.
    pub threads: usize,
}

/// Translates functions.
pub struct Translator<'c> {
    target: &'c dyn Target,
    rows: Known<'c>,
    /// Operations on floats take denormals as zeros.
    lazy: bool,
    /// The lanes of a strip are in a line.
    in_lines: bool,
    /// How many flushes there are, those in loops counted several times.
    flushes: usize,
    /// What the innermost loop finds ready, when it is one.
    kept: Option<Invariants>,
    /// For code that runs where all lanes of all strips execute, and those of a line stay together.
    whole: bool,
    /// Rows of the innermost loop that hold 64-bit elements, when it is one.
    pairs: Pairs,
    /// Rows of the innermost loop that nothing but sums, products and comparisons of floats reads, when it is one: they need not be flushed.
    bare: FxHashSet<u32>,
    /// Rows that no lane reads any more which has left the loop around, or has not entered it.
    lost: FxHashSet<u32>,
    /// Constructs around.
    depth: u32,
    /// Code for all lanes would be other code.
    wide: bool,
}

/// The program of a function; `None` if it can't be made. `whole`: for strips of which all lanes execute, those of a line
/// together; then it ends with `elements`.
pub fn program(
    tree: &[Tree<'_>],
    elements: &[Element],
    target: &dyn Target,
    lazy: bool,
    in_lines: bool,
    whole: bool,
    rows: Known<'_>,
) -> Option<Program> {
    let mut translator = Translator {
        target,
        rows,
        lazy,
        in_lines,
        flushes: 0,
        kept: None,
        whole,
        pairs: Pairs::default(),
        bare: FxHashSet::default(),
        lost: FxHashSet::default(),
        depth: 0,
        wide: false,
    };
    let mut parts = translator.list(tree)?;
    if let (Some(Tree::Run(run)), true) = (tree.last(), whole && !elements.is_empty()) {
        translator.emitted(run, elements, &mut parts);
    }
    // Changing the float mode takes as long as some flushes.
    let Translator { flushes, wide, rows, .. } = translator;
    let (loops, calls, together) = (loops(tree), calls(tree), in_lines && together(tree));
    let made = Program { parts, lazy, loops, calls, together, wide, ..Program::default() };
    (!lazy || rows.bound || flushes > WORTH).then_some(made)
}

impl Translator<'_> {
    /// The parts of a list, one after another.
    fn each(&mut self, list: &[Tree<'_>]) -> Option<Vec<Part>> {
        let mut parts = Vec::with_capacity(list.len());
        for tree in list {
            let turned = tree.tests() && turned(&mut parts);
            parts.push(match tree {
                Tree::Run(run) => Part::Block(Box::new(self.block(run)?)),
                Tree::If { step, nonzero, then, otherwise, .. } => {
                    // Lanes that take the other side go on with what they have.
                    let lost = std::mem::take(&mut self.lost);
                    let [then, otherwise] = [self.inner(then)?, self.inner(otherwise)?];
                    self.lost = lost;
                    Part::If { nonzero: *nonzero != turned, then, otherwise, step: step.number }
                }
                Tree::Loop { body, .. } if calls(body) => return None,
                Tree::Loop { body, number, after } => {
                    let sums = self.sums(body).map(Box::new);
                    self.wide |= sums.is_some();
                    self.pairs = self.pairs_of(body);
                    self.bare = if self.lazy { self.bare_rows(body, after) } else { FxHashSet::default() };
                    let lost = self.lost_in(body, after);
                    let [before, after] = [true, false].map(|whole| self.moved(whole));
                    let outer = std::mem::replace(&mut self.lost, lost);
                    let repeat = self.repeat(body, *number);
                    self.lost = outer;
                    self.pairs = Pairs::default();
                    self.bare.clear();
                    let sums = sums.filter(|_| self.whole);
                    Part::Loop(Box::new(Loop { sums, before, after, ..repeat? }))
                }
                Tree::Call(step) => Part::Call(Box::new(self.call(step)?)),
                Tree::Break(test, step) => Part::Break(test.map(|of| of.0 != turned), step.number),
            });
        }
        Some(parts)
    }

    /// The parts of a construct.
    fn inner(&mut self, list: &[Tree<'_>]) -> Option<Vec<Part>> {
        self.depth += 1;
        let parts = self.list(list);
        self.depth -= 1;
        parts
    }

    /// Rows that a loop which is in no construct of the function changes and nobody reads after it.
    fn lost_in(&self, body: &[Tree<'_>], after: &BitSet) -> FxHashSet<u32> {
        let mut counts = FxHashMap::default();
        if self.depth == 0 {
            mentions(body, &mut counts);
        }
        let Later { read, kept } = self.rows.later;
        let lost = |row: &u32| ![after, read, kept].iter().any(|rows| rows.contains(*row));
        counts.into_keys().filter(lost).collect()
    }

    /// The rows that an innermost loop may hold 64-bit elements in.
    fn pairs_of(&self, body: &[Tree<'_>]) -> Pairs {
        if !self.whole || loops(body) {
            return Pairs::default();
        }
        let mut runs = Vec::new();
        each_run(body, &mut |run| runs.extend(self.graph(run, Graph::new(self.lazy))));
        Pairs::of(&runs)
    }

    /// A block that puts the words of 64-bit elements together, or apart.
    fn moved(&self, whole: bool) -> Option<Box<Block>> {
        let block = || Box::new(Block { body: self.straight(self.pairs.moved(whole)), attempt: None });
        (!self.pairs.is_empty()).then(block)
    }

    fn repeat(&mut self, body: &[Tree<'_>], step: u32) -> Option<Loop> {
        if loops(body) {
            return Some(Loop { body: self.inner(body)?, step, ..Loop::default() });
        }
        let mut kept = Invariants::new(body, self.lazy);
        each_run(body, &mut |run| {
            // What can't be made is noticed when its code is wanted.
            if let Some((graph, outputs, _)) = self.graph(run, Graph::new(self.lazy)) {
                kept.want(&graph, &outputs);
            }
        });
        let ready = kept.lowered(self.target);
        self.kept = Some(kept);
        let list = self.inner(body);
        self.kept = None;
        Some(Loop { kept: ready, body: list?, hot: self.hottest(body), step, ..Loop::default() })
    }

    /// The rows that are mentioned most often.
    fn hottest(&self, body: &[Tree<'_>]) -> Vec<u32> {
        let mut counts = FxHashMap::default();
        mentions(body, &mut counts);
        let mut rows: Vec<(usize, u32)> = counts
            .into_iter()
            .filter(|(row, _)| (self.rows.constant)(*row).is_none() && !self.rows.shared.contains_key(row))
            .map(|(row, n)| (n, row))
            .collect();
        rows.sort_unstable_by_key(|&(count, row)| (std::cmp::Reverse(count), row));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn straight(&self, made: Made) -> Straight {
        self.leading(made, Vec::new())
    }

    /// The same with what it leaves for the next round.
    fn leading(&self, (graph, outputs, test): Made, next: Vec<(u32, Val)>) -> Straight {
        let wanted = outputs.iter().chain(&next).map(|(_, val)| *val).chain(test);
        let (graph, place) = graph.lowered(self.target, wanted);
        let next = next.into_iter().map(|(number, val)| (number, place[val.index()])).collect();
        Straight { next, ..self.placed(graph, &place, outputs, test) }
    }

    fn placed(&self, graph: Graph, place: &[Val], outputs: Vec<(u32, Val)>, test: Option<Val>) -> Straight {
        let unseen = |row: u32| (self.rows.unseen)(row) || self.lost.contains(&row);
        let output = |(row, val): (u32, Val)| Output { row, val: place[val.index()], unseen: unseen(row) };
        Straight {
            graph,
            outputs: outputs.into_iter().map(output).collect(),
            test: test.map(|val| place[val.index()]),
            next: Vec::new(),
        }
    }

    /// The steps of a run in a graph, which is empty.
    fn graph(&self, run: &Run<'_>, graph: Graph) -> Option<Made> {
        let (mut graph, mut outputs, test) = self.plain(run, graph)?;
        for (_, val) in outputs.iter_mut().filter(|(row, _)| self.bare.contains(row)) {
            *val = graph.before_flush(*val).unwrap_or(*val);
        }
        self.pairs.apply(&mut graph, &mut outputs);
        graph.load_whole(&outputs, test, self.whole);
        if let Some(kept) = &self.kept {
            kept.replace(&mut graph);
        }
        Some((graph, outputs, test))
    }

    fn values(&self) -> Values<'_> {
        Values {
            constant: self.rows.constant,
            shared: self.rows.shared,
            in_lines: self.in_lines,
            rows: FxHashMap::default(),
            written: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The same with a word of each lane in a vector.
    fn plain(&self, run: &Run<'_>, mut graph: Graph) -> Option<Made> {
        let mut values = self.values();
        graph.reserve(VALUES * run.steps.len());
        values.rows.reserve(ROWS * run.steps.len());
        for step in &run.steps {
            graph.step = step.number;
            values.step(&mut graph, step);
            if graph.unsupported || graph.nodes.len() > LONGEST {
                return None;
            }
        }
        graph.step = NONE;
        let test = run.test.map(|row| {
            let word = values.value(&mut graph, row);
            graph.tested(word)
        });
        values.written.sort_unstable();
        values.written.dedup();
        let live = values.written.iter().filter(|&&row| run.live.contains(row));
        let outputs: Vec<(u32, Val)> = live.map(|&row| (row, values.rows[&row])).collect();
        graph.drop_limits(&outputs, test);
        Some((graph, outputs, test))
    }
}

/// About as many values as a step becomes, and rows as it touches first.
const VALUES: usize = 4;
const ROWS: usize = 2;
/// Most words that a lane operation takes.
const WORDS: usize = 8;

/// What rows hold.
struct Values<'c> {
    constant: Constant<'c>,
    shared: &'c FxHashMap<u32, Shared>,
    /// The lanes of a strip are in a line.
    in_lines: bool,
    rows: FxHashMap<u32, Val>,
    written: Vec<u32>,
    choices: Vec<Choice>,
}

/// A choice whose sides all lanes do.
struct Choice {
    mask: Val,
    nonzero: bool,
    /// The rows that the side at hand has written, and what they held before.
    before: Vec<(u32, Option<Val>)>,
    /// What the first side left in rows, once it has ended.
    first: Option<BTreeMap<u32, Val>>,
}

impl Values<'_> {
    fn value(&mut self, graph: &mut Graph, row: u32) -> Val {
        if let Some(&val) = self.rows.get(&row) {
            return val;
        }
        let val = match ((self.constant)(row), self.shared.get(&row)) {
            (Some(word), _) => graph.word(word),
            (None, Some(&Shared { view, word, plus })) => {
                let word = graph.add(Node::Field(view, Field::Shared(word)));
                let own = plus.map(|row| self.value(graph, row));
                own.map_or(word, |own| graph.iadd(own, word))
            }
            (None, None) => graph.add(Node::Row(row)),
        };
        self.rows.insert(row, val);
        val
    }

    fn write(&mut self, row: u32, val: Val) {
        let before = self.rows.insert(row, val);
        if let Some(choice) = self.choices.last_mut() {
            choice.before.push((row, before));
        }
        self.written.push(row);
    }

    /// Ends a side of the innermost choice: what it left in rows, which hold again what they held before.
    fn undo(&mut self, before: Vec<(u32, Option<Val>)>) -> BTreeMap<u32, Val> {
        let left = before.iter().map(|&(row, _)| (row, self.rows[&row])).collect();
        for (row, val) in before.into_iter().rev() {
            match val {
                Some(val) => _ = self.rows.insert(row, val),
                None => _ = self.rows.remove(&row),
            }
        }
        left
    }

    fn step(&mut self, graph: &mut Graph, step: &Step<'_>) {
        // What is known of lanes that take a side says nothing of those that only follow them.
        let alone = self.in_lines && self.choices.is_empty() && graph.leaves.is_empty();
        match *step {
            Step::Lane { op, ids, writes, same } => {
                let (to, from) = ids.split_at(writes);
                let mut words = [NO; WORDS];
                let words = &mut words[..from.len()];
                words.iter_mut().zip(from).for_each(|(word, &row)| *word = self.value(graph, row));
                let alike = (0..32).zip(&*words).filter(|(k, _)| alone && same >> k & 1 == 1);
                for (_, &word) in alike {
                    graph.same.insert(word);
                    // So is what a word that all lanes share was added to.
                    graph.same.extend(graph.sum_with_shared(word));
                }
                graph.floats = false;
                let (lo, hi) = lane::apply(graph, op, words);
                // Code that looks at the bits of floats on the way may want denormals.
                graph.unsupported |= graph.lazy && graph.floats && !flushes(op);
                to.iter().zip(std::iter::once(lo).chain(hi)).for_each(|(&row, val)| self.write(row, val));
            }
            Step::Load { view, address, to, flush, lanes } => {
                let first = self.word_of(graph, address, lanes);
                let reach = 4 - to.iter().rev().take_while(|&&row| row == NONE).count() as u32;
                self.load(graph, view, first, reach, to, flush);
            }
            Step::LoadElement { view, element, offset, to, flush, lanes } => {
                let (first, inside) = self.element(graph, element, offset);
                self.shape_element(graph, first, lanes);
                self.load(graph, view, first, 4, to, flush);
                for row in to.into_iter().filter(|&row| row != NONE) {
                    let word = self.value(graph, row);
                    let word = graph.keep(inside, word);
                    self.write(row, word);
                }
            }
            Step::LoadPart { view, address, width, to, flush, lanes } => {
                let bytes = self.value(graph, address);
                let first =
                    self.word_of(graph, address, if lanes == Shape::Same { lanes } else { Shape::Any });
                let word = graph.unary(Op::Load(view), first);
                let part = graph.word(if matches!(width, Width::U8 | Width::I8) { 3 } else { 2 });
                let (part, three) = (graph.and(bytes, part), graph.word(3));
                let shift = graph.shl(part, three);
                let low = graph.shr(word, shift);
                let word = element::extended(graph, width, low);
                for (k, row) in to.into_iter().enumerate().filter(|&(_, row)| row != NONE) {
                    self.write(row, if flush >> k & 1 == 1 { graph.flush(word) } else { word });
                }
            }
            Step::Sample { view, sample, coordinates, to, flush, lanes, same } => {
                let coordinates = coordinates.map(|row| (row != NONE).then(|| self.value(graph, row)));
                let alike = (0..).zip(coordinates).filter(|(k, _)| alone && same >> k & 1 == 1);
                graph.same.extend(alike.filter_map(|(_, word)| word));
                graph.sampling = if self.in_lines { lanes } else { Shape::Any };
                let words = graph.sampled(view, &sample, coordinates, to.map(|row| row != NONE));
                graph.sampling = Shape::Any;
                for (k, row) in to.into_iter().enumerate().filter(|&(_, row)| row != NONE) {
                    self.write(row, if flush >> k & 1 == 1 { graph.flush(words[k]) } else { words[k] });
                }
            }
            Step::Store { view, address, from, lanes } => {
                let first = self.word_of(graph, address, lanes);
                self.store(graph, view, first, from);
            }
            Step::StoreElement { view, element, offset, from, lanes } => {
                let (first, inside) = self.element(graph, element, offset);
                let far = graph.word(FAR);
                let outside = graph.or(first, far);
                let first = graph.select(inside, first, outside);
                self.shape_element(graph, first, lanes);
                self.store(graph, view, first, from);
            }
            Step::StoreTexel { view, format, coordinates, from } => {
                let unit = (format.bytes() / 4).ilog2();
                if let Some(first) = self.element_at(graph, view, format, coordinates, (unit, FAR)) {
                    let words = self.encoded(graph, format, from);
                    self.store_words(graph, view, first, words);
                }
            }
            Step::Test { row } => {
                let word = self.value(graph, row);
                graph.result(word);
            }
            Step::If { row, nonzero, .. } => {
                let word = self.value(graph, row);
                let mask = graph.tested(word);
                self.choices.push(Choice { mask, nonzero, before: Vec::new(), first: None });
            }
            Step::Else => {
                if let Some(mut choice) = self.choices.pop() {
                    choice.first = Some(self.undo(std::mem::take(&mut choice.before)));
                    self.choices.push(choice);
                }
            }
            Step::Break(Some((row, nonzero, _))) => {
                let word = self.value(graph, row);
                let test = graph.tested(word);
                graph.leaves.push(Leave { test, nonzero, strip: 0, step: graph.step });
            }
            Step::EndIf => self.choices.pop().into_iter().for_each(|choice| self.join(graph, choice)),
            Step::Barrier
            | Step::Loop
            | Step::EndLoop
            | Step::Break(None)
            | Step::StorePart { .. }
            | Step::Atomic { .. }
            | Step::Count { .. }
            | Step::Emit { .. } => unreachable!("this is no step of a run"),
        }
    }

    /// Takes of each row what the side of a lane left there.
    fn join(&mut self, graph: &mut Graph, choice: Choice) {
        let Choice { mask, nonzero, before, first } = choice;
        let second = self.undo(before);
        let [first, second] = match first {
            Some(first) => [first, second],
            None => [second, BTreeMap::new()],
        };
        let rows: BTreeSet<u32> = first.keys().chain(second.keys()).copied().collect();
        for row in rows {
            let before = self.value(graph, row);
            let [a, b] = [&first, &second].map(|side| side.get(&row).copied().unwrap_or(before));
            let [a, b] = if nonzero { [a, b] } else { [b, a] };
            let val = if a == b { a } else { graph.select(mask, a, b) };
            self.write(row, val);
        }
    }
}
