//! All threads of a group at once, where their places in it are known: what a thread stores to memory of the group stays in a register, and
//! who loads it takes it from there.
//!
//! The steps are done in lockstep, each by all threads before the next one. Where two waves access a word of the group's memory and one of them
//! stores to it, a barrier must be between them, so that no order is left in which they could do it; the same goes for memory that others
//! see, of which nothing is known but whether it is stored to.

use recal_il::isa::Algebra;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Constant, Values, WORTH};
use crate::emit;
use crate::evaluate::MOST;
use crate::graph::fixed::Source;
use crate::graph::{Field, Graph, NO, Node, Val};
use crate::op::Op;
use crate::program::{Block, Part, Program, Straight};
use crate::row::LANES;
use crate::target::Target;
use crate::{NONE, Shared, Step};

/// Most operations of a group, and of what comes of them for a target.
const LONGEST: usize = 8192;
const MOST_NEEDED: usize = 4096;

/// What is known of groups whose threads are compiled together.
pub struct Group<'c> {
    /// How many there are.
    pub threads: u32,
    /// Rows in which each thread has a word of its own when it begins, and these words, one after another.
    pub own: &'c [(u32, Vec<u32>)],
    /// Rows that are the same for all threads of all groups of a launch.
    pub same: &'c FxHashSet<u32>,
    /// Words of views that are shared by the threads of a group, and so much more in the next one: view, word, and by how much.
    pub grown: &'c [(u8, u8, u32)],
    /// Views that are memory of the group alone, zeros when it begins; and their words.
    pub memories: &'c FxHashMap<u8, u32>,
}

/// The program of a group's threads, a [`Step::Barrier`] being a barrier; `None` if it can't be made, or what it needs is not known.
pub fn program(
    steps: &[Step<'_>],
    group: &Group<'_>,
    target: &dyn Target,
    lazy: bool,
    constant: Constant<'_>,
    shared: &FxHashMap<u32, Shared>,
) -> Option<Program> {
    let mut threads = Threads::new(group, target.lanes(), lazy, constant, shared);
    for (number, step) in (0..).zip(steps) {
        threads.graph.step = number;
        threads.step(step)?;
        if threads.graph.unsupported || threads.graph.nodes.len() > LONGEST {
            return None;
        }
    }
    let graph = threads.graph;
    let needed = graph.needed(&[], None);
    let used = || graph.nodes.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(node, _)| node);
    let known = used().all(|node| !matches!(node, Node::Row(row) if !group.same.contains(row)));
    let flush = |node: &&Node| matches!(node, Node::Inst(inst) if inst.op == Op::Flush);
    let pays = !lazy || used().filter(flush).count() > WORTH;
    if !known || !pays {
        return None;
    }
    let shared = |&(view, word, by): &(u8, u8, u32)| {
        let field = Field::Shared(word);
        used().any(|node| *node == Node::Field(view, field)).then_some((view, field, by))
    };
    let grown = group.grown.iter().filter_map(shared).collect();
    let (graph, _) = graph.lowered(target, []);
    let needed = graph.needed(&[], None);
    let count = needed.iter().filter(|needed| **needed).count();
    let stores = graph.nodes.iter().filter(|node| node.acts()).count();
    let straight = |graph: Graph| Straight { graph, outputs: Vec::new(), test: None, next: Vec::new() };
    // Loads at known distances from each other, if all that they load is there. What they load stays in memory for a while: nothing may be stored there.
    let near = stores == 1 && emit::near(&graph, &needed, target) > 0;
    let attempt = near.then(|| (straight(graph.to_extend()), NO));
    let parts = vec![Part::Block(Box::new(Block { body: straight(graph), attempt }))];
    (count <= MOST_NEEDED).then_some(Program { parts, lazy, group: true, grown, ..Program::default() })
}

/// Who has accessed a word since the last barrier: which that was, and the waves, bit by bit.
#[derive(Clone, Copy, Default)]
struct Touched {
    barrier: u32,
    waves: u64,
}

impl Touched {
    fn waves(self, barrier: u32) -> u64 {
        if self.barrier == barrier { self.waves } else { 0 }
    }

    fn add(&mut self, barrier: u32, waves: u64) {
        *self = Touched { barrier, waves: self.waves(barrier) | waves };
    }
}

/// A word of the group's memory.
#[derive(Clone, Copy)]
struct Word {
    from: Source,
    loaded: Touched,
    stored: Touched,
}

/// Lanes that go on from a choice.
struct Taken {
    outer: Val,
    mask: Val,
    nonzero: bool,
}

/// The threads of a strip.
struct Strip<'c> {
    values: Values<'c>,
    /// Those that execute.
    exec: Val,
    choices: Vec<Taken>,
    /// The wave that they are of, as a bit.
    wave: u64,
}

struct Threads<'c> {
    graph: Graph,
    strips: Vec<Strip<'c>>,
    lanes: usize,
    memories: &'c FxHashMap<u8, u32>,
    words: FxHashMap<(u8, u32), Word>,
    /// The waves that have loaded from memory that others see, or stored there, since the last barrier, and whether any has stored.
    others: [Touched; 2],
    stored: bool,
    barrier: u32,
}

impl<'c> Threads<'c> {
    fn new(
        group: &Group<'c>,
        lanes: u32,
        lazy: bool,
        constant: Constant<'c>,
        shared: &'c FxHashMap<u32, Shared>,
    ) -> Threads<'c> {
        let mut graph = Graph::of_lanes(lazy, lanes);
        let lanes = lanes as usize;
        let threads = group.threads as usize;
        let strip = |first: usize| {
            let mut rows = FxHashMap::default();
            for (row, words) in group.own {
                let words = std::array::from_fn(|lane| {
                    words.get(first + lane.min(lanes - 1)).copied().unwrap_or_default()
                });
                rows.insert(*row, graph.vector(words));
            }
            let here = (threads - first).min(lanes);
            Strip {
                values: Values {
                    constant,
                    shared,
                    in_lines: false,
                    rows,
                    written: Vec::new(),
                    choices: Vec::new(),
                },
                exec: graph.lanes_of(((1u64 << here) - 1) as u32),
                choices: Vec::new(),
                wave: 1 << (first / LANES),
            }
        };
        let strips = (0..threads).step_by(lanes).map(strip).collect();
        Threads {
            graph,
            strips,
            lanes,
            memories: group.memories,
            words: FxHashMap::default(),
            others: [Touched::default(); 2],
            stored: false,
            barrier: 1,
        }
    }

    fn step(&mut self, step: &Step<'_>) -> Option<()> {
        let own = |view: u8| self.memories.get(&view).copied();
        match *step {
            Step::Barrier => {
                self.barrier += 1;
                return Some(());
            }
            Step::Load { view, address, to, flush, .. } if let Some(words) = own(view) => {
                return self.load((view, words), address, to, flush);
            }
            Step::Store { view, address, from, .. } if let Some(words) = own(view) => {
                let mut stored = FxHashSet::default();
                return self
                    .executing()
                    .into_iter()
                    .try_for_each(|strip| self.store(strip, (view, words), address, from, &mut stored));
            }
            Step::Load { .. } | Step::Sample { .. } => self.access(false)?,
            Step::LoadElement { view, .. } | Step::LoadPart { view, .. } if own(view).is_none() => {
                self.access(false)?;
            }
            Step::Store { .. } => self.access(true)?,
            Step::StoreElement { view, .. } if own(view).is_none() => self.access(true)?,
            Step::StoreTexel { .. } if !step.is_call() => self.access(true)?,
            Step::Lane { .. } => {}
            Step::If { .. } | Step::Else | Step::EndIf => {
                (0..self.strips.len()).for_each(|strip| self.choice(strip, step));
                return Some(());
            }
            _ => return None,
        }
        for strip in self.executing() {
            let from = self.graph.nodes.len();
            let Strip { values, exec, .. } = &mut self.strips[strip];
            self.graph.storing = if self.graph.node(*exec) == Node::Bool(true) { NO } else { *exec };
            values.step(&mut self.graph, step);
            self.graph.storing = NO;
            self.note_shapes(from);
        }
        Some(())
    }

    /// The strips of which any thread may execute.
    fn executing(&self) -> Vec<usize> {
        let none = |strip: &usize| self.graph.node(self.strips[*strip].exec) == Node::Bool(false);
        (0..self.strips.len()).filter(|strip| !none(strip)).collect()
    }

    fn choice(&mut self, strip: usize, step: &Step<'_>) {
        let Strip { values, exec, choices, .. } = &mut self.strips[strip];
        let graph = &mut self.graph;
        values.step(graph, step);
        match step {
            Step::If { nonzero, .. } => {
                let mask = values.choices.last().map_or(NO, |choice| choice.mask);
                let taken = Taken { outer: *exec, mask, nonzero: *nonzero };
                *exec = taken.lanes(graph, true);
                choices.push(taken);
            }
            Step::Else => {
                if let Some(taken) = choices.last() {
                    *exec = taken.lanes(graph, false);
                }
            }
            _ => choices.pop().into_iter().for_each(|taken| *exec = taken.outer),
        }
    }

    /// An access to memory that others see; `None` if it shows in which order waves do theirs.
    fn access(&mut self, stores: bool) -> Option<()> {
        // Loads are before stores in a block.
        if self.stored && !stores {
            return None;
        }
        let waves = self.executing().into_iter().fold(0, |waves, strip| waves | self.strips[strip].wave);
        let before = self.others.map(|of| of.waves(self.barrier));
        let clashes = if stores { before[0] | before[1] } else { before[1] };
        let alone = (clashes | waves).count_ones() <= 1;
        self.others[usize::from(stores)].add(self.barrier, waves);
        self.stored |= stores && waves != 0;
        (clashes == 0 || alone).then_some(())
    }

    /// Notes the shapes of the numbers of words that accesses were made for since then.
    fn note_shapes(&mut self, from: usize) {
        for val in from..self.graph.nodes.len() {
            if let Some(inst) = self.graph.as_inst(Val::new(val))
                && matches!(inst.op, Op::Load(_) | Op::Part(..) | Op::Store(_) | Op::StoreBlocks(..))
            {
                let shape = self.graph.shape_by_constants(inst.args[0]);
                self.graph.shape(inst.args[0], shape);
            }
        }
    }

    /// The lanes of a strip that may execute, and the numbers of the words that they access, if these are known.
    fn places(&mut self, strip: usize, address: u32) -> Option<(u32, [u32; MOST])> {
        let Strip { values, exec, .. } = &mut self.strips[strip];
        let bytes = values.value(&mut self.graph, address);
        let words = self.graph.fixed_words(bytes)?.map(|bytes| bytes / 4);
        Some((self.graph.possible_lanes(*exec), words))
    }

    /// Where the word of a memory is at a place.
    fn word(&mut self, (view, words): (u8, u32), place: u32) -> Source {
        let known = self.words.get(&(view, place)).filter(|_| place < words);
        known.map_or_else(|| (self.graph.word(0), 0), |word| word.from)
    }

    fn load(&mut self, (view, words): (u8, u32), address: u32, to: [u32; 4], flush: u8) -> Option<()> {
        let strips = self.executing();
        let places: Option<Vec<(u32, [u32; MOST])>> =
            strips.iter().map(|strip| self.places(*strip, address)).collect();
        let places = places?;
        for (k, row) in (0..).zip(to).filter(|(_, row)| *row != NONE) {
            let mut wanted = Vec::with_capacity(strips.len());
            for (strip, (exec, places)) in strips.iter().zip(&places) {
                let (wave, barrier) = (self.strips[*strip].wave, self.barrier);
                let mut from: Vec<Option<Source>> = vec![None; self.lanes];
                for lane in (0..self.lanes).filter(|lane| exec >> lane & 1 == 1) {
                    let place = places[lane] + k;
                    let source = self.word((view, words), place);
                    from[lane] = Some(source);
                    if place < words {
                        let untouched =
                            Word { from: source, loaded: Touched::default(), stored: Touched::default() };
                        let word = self.words.entry((view, place)).or_insert(untouched);
                        word.loaded.add(barrier, wave);
                        if word.stored.waves(barrier) & !wave != 0 {
                            return None;
                        }
                    }
                }
                wanted.push(from);
            }
            let loaded = self.graph.gathered(&wanted)?;
            for (strip, word) in strips.iter().zip(loaded) {
                let word = if flush >> k & 1 == 1 { self.graph.flush(word) } else { word };
                self.strips[*strip].values.write(row, word);
            }
        }
        Some(())
    }

    fn store(
        &mut self,
        strip: usize,
        (view, words): (u8, u32),
        address: u32,
        from: [u32; 4],
        stored: &mut FxHashSet<u32>,
    ) -> Option<()> {
        let (exec, places) = self.places(strip, address)?;
        let (wave, barrier) = (self.strips[strip].wave, self.barrier);
        for (k, row) in (0..).zip(from).filter(|(_, row)| *row != NONE) {
            let mut val = self.strips[strip].values.value(&mut self.graph, row);
            // Who may execute leaves what there was if it does not.
            let chosen = self.strips[strip].exec;
            if self.graph.fixed_lanes(chosen).is_none() {
                let before: Vec<Option<Source>> = (0..self.lanes)
                    .map(|lane| (exec >> lane & 1 == 1).then(|| self.word((view, words), places[lane] + k)))
                    .collect();
                let before = self.graph.gathered(&[before])?[0];
                val = self.graph.select(chosen, val, before);
            }
            for lane in (0..self.lanes).filter(|lane| exec >> lane & 1 == 1) {
                let place = places[lane] + k;
                if place >= words {
                    continue;
                }
                // Which of two threads comes last is for others to say.
                if !stored.insert(place) {
                    return None;
                }
                let from = self.graph.source(val, lane as u8);
                let before = self.words.get(&(view, place)).copied();
                let [mut done, loaded] =
                    before.map_or([Touched::default(); 2], |word| [word.stored, word.loaded]);
                if (done.waves(barrier) | loaded.waves(barrier)) & !wave != 0 {
                    return None;
                }
                done.add(barrier, wave);
                self.words.insert((view, place), Word { from, loaded, stored: done });
            }
        }
        Some(())
    }
}

impl Taken {
    /// The lanes that take the first side, or the second one.
    fn lanes(&self, graph: &mut Graph, first: bool) -> Val {
        let mask = if self.nonzero == first { self.mask } else { graph.negate(self.mask) };
        graph.both(self.outer, mask)
    }
}
