//! Evaluates a vector program: what its code must give, on any processor.

mod compute;
mod emitted;
mod memory;

use std::sync::atomic::Ordering::Relaxed;

use recal_il::ir::lines::{Shape, distance};

pub use self::compute::compute;
use crate::graph::interleaved::count;
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::{Block, Induction, Part, Program, Reduced, Straight, Sums};
use crate::row::{LANES, Row};
use crate::target::Blocks;
use crate::ticks::LEAVE;
use crate::{Ticks, View};

/// Most lanes of a strip.
pub const MOST: usize = 16;
/// A vector; masks are words that are all ones or 0.
pub type Vector = [u32; MOST];

/// The mask of some lanes.
pub fn vector_of(bits: u32) -> Vector {
    std::array::from_fn(|lane| if bits >> lane & 1 == 1 { !0 } else { 0 })
}

/// Does what [`crate::Module::call`] does, in strips of `lanes`.
pub fn evaluate(
    program: &Program,
    lanes: usize,
    rows: &mut [Row],
    views: &[View],
    exec: u64,
    ticks: &mut Ticks<'_>,
) -> u64 {
    let mut result = 0;
    let strips = if program.group { 1 } else { LANES / lanes };
    for strip in 0..strips {
        let first = lanes * strip;
        let exec = if program.group { !0 } else { (exec >> first) as u32 } & ((1 << lanes) - 1);
        if exec != 0 {
            let mut strip = Strip {
                together: program.together && exec == (1 << lanes) - 1,
                lazy: program.lazy,
                rows: &mut *rows,
                views,
                first,
                lanes,
                exec,
                result: 0,
                repacks: program.repacks,
                later: program.repacks.is_some() && result != 0,
                kept: Vec::new(),
                ticks: &mut *ticks,
            };
            let stop = strip.list(&program.parts, &mut 0);
            result |= u64::from(strip.result) << first;
            if stop {
                break;
            }
        }
    }
    result
}

struct Strip<'a, 't> {
    /// All lanes execute, and are said to stay together.
    together: bool,
    lazy: bool,
    rows: &'a mut [Row],
    views: &'a [View],
    first: usize,
    lanes: usize,
    /// The lanes that execute.
    exec: u32,
    result: u32,
    /// See [`Program`], and whether strips before this one have lanes in the loop.
    repacks: Option<u32>,
    later: bool,
    kept: Vec<Vector>,
    ticks: &'a mut Ticks<'t>,
}

impl Strip<'_, '_> {
    /// True if the function is to end; `left` are the lanes that have left the innermost loop.
    fn list(&mut self, list: &[Part], left: &mut u32) -> bool {
        let mut test = 0;
        for part in list {
            if self.exec == 0 {
                break;
            }
            match part {
                Part::Block(block) => test = self.block(block),
                Part::If { nonzero, then, otherwise, .. } => {
                    let outer = self.exec;
                    let chosen = if *nonzero { test } else { !test };
                    self.agreed(chosen);
                    for (side, lanes) in [(then, outer & chosen), (otherwise, outer & !chosen)] {
                        self.exec = lanes;
                        if self.list(side, left) {
                            return true;
                        }
                    }
                    self.exec = outer & !*left;
                }
                Part::Loop(of) => {
                    let outer = self.exec;
                    if let Some(sums) = of.sums.as_deref().filter(|_| self.together) {
                        match self.sums(sums) {
                            Some(true) => return true,
                            Some(false) => continue,
                            None => {}
                        }
                    }
                    let around = |strip: &mut Self, block: &Option<Box<Block>>| {
                        if let Some(block) = block {
                            let values = strip.values(&block.body.graph);
                            strip.keep(&block.body, &values);
                        }
                    };
                    around(self, &of.before);
                    if let Some((graph, wanted)) = &of.kept {
                        let values = self.values(graph);
                        self.kept = wanted.iter().map(|&val| values[val.index()]).collect();
                    }
                    let mut left = 0;
                    let repacks = self.repacks == Some(of.step);
                    while self.exec != 0 {
                        if self.list(&of.body, &mut left) {
                            return true;
                        }
                        match self.ticks.round(if repacks { self.exec } else { u32::MAX }) {
                            0 => {}
                            LEAVE => break,
                            _ => return true,
                        }
                    }
                    if repacks {
                        self.result = self.exec;
                    }
                    self.exec = if repacks && (self.later || self.result != 0) { 0 } else { outer };
                    around(self, &of.after);
                }
                Part::Call(of) => self.call(of),
                Part::Emit(of) => {
                    if !self.whole(of) {
                        self.block(&of.block);
                        self.elements(&of.elements);
                    }
                }
                Part::Break(condition, _) => {
                    let leave = match condition {
                        Some(nonzero) => self.exec & if *nonzero { test } else { !test },
                        None => self.exec,
                    };
                    self.agreed(leave);
                    *left |= leave;
                    self.exec &= !leave;
                }
            }
        }
        false
    }

    /// A block's test.
    fn block(&mut self, block: &Block) -> u32 {
        // Where nothing is in doubt it is the same.
        let tried = block.attempt.as_ref().filter(|(_, doubted)| *doubted != NO);
        let tried = tried.and_then(|(attempt, doubted)| {
            let values = self.values(&attempt.graph);
            (self.bits(values[doubted.index()]) & self.exec == 0).then_some((attempt, values))
        });
        let (body, values) = tried.unwrap_or_else(|| (&block.body, self.values(&block.body.graph)));
        self.keep(body, &values)
    }

    /// The other way of a loop: whether the function is to end, or `None`, and nothing has changed, if it can't be believed.
    fn sums(&mut self, of: &Sums) -> Option<bool> {
        if !self.ready(&of.kept, &of.steps) {
            return None;
        }
        if let Some((entry, doubted)) = &of.entry {
            let values = self.values(&entry.graph);
            if self.bits(values[doubted.index()]) != 0 {
                return None;
            }
        }
        let (first, lanes, exec) = (self.first, self.lanes, self.exec);
        let changed: Vec<u32> =
            of.elements.iter().flat_map(|words| &words[..count(words)]).chain(&of.rows).copied().collect();
        let part = |rows: &[Row], row: u32| rows[row as usize].0[first..first + lanes].to_vec();
        let before: Vec<Vec<u32>> = changed.iter().map(|&row| part(self.rows, row)).collect();
        // Where each word of an element is.
        let places = |n: usize| (0..n * lanes).map(move |at| (at, at % n * lanes + at / n));
        let move_words = |rows: &mut [Row], there: bool| {
            for words in &of.elements {
                let words = &words[..count(words)];
                let old: Vec<u32> = words.iter().flat_map(|&row| part(rows, row)).collect();
                for (whole, apart) in places(words.len()) {
                    let (to, from) = if there { (whole, apart) } else { (apart, whole) };
                    rows[words[to / lanes] as usize].0[first + to % lanes] = old[from];
                }
            }
        };
        move_words(self.rows, true);
        let mut reduced = of.reduced.as_ref();
        let mut gone = false;
        while self.exec != 0 {
            reduced = reduced.filter(|of| gone && self.goes_again(of) || self.goes(of));
            gone = reduced.is_some();
            let (rounds, body) = reduced.map_or((1, &of.body), |of| (of.rounds, &of.body));
            for _ in 0..rounds {
                if self.list(body, &mut 0) || self.ticks.tick() {
                    return Some(true);
                }
                if self.exec == 0 {
                    break;
                }
                reduced.iter().for_each(|of| self.go_on(&of.inductions));
            }
        }
        self.exec = exec;
        let (exit, doubted) = &of.exit;
        let values = self.values(&exit.graph);
        if doubted.is_some_and(|doubted| self.bits(values[doubted.index()]) != 0) {
            for (row, words) in changed.iter().zip(before) {
                self.rows[*row as usize].0[first..first + lanes].copy_from_slice(&words);
            }
            return None;
        }
        self.keep(exit, &values);
        move_words(self.rows, false);
        Some(false)
    }

    /// Makes ready what is needed; whether rounds can be done so.
    fn goes(&mut self, of: &Reduced) -> bool {
        let (entry, doubted) = &of.entry;
        let values = self.values(&entry.graph);
        let last = entry.next.iter().map(|(number, _)| *number as usize).max().unwrap_or(0);
        self.kept.resize(self.kept.len().max(last + 1), Vector::default());
        self.keep(entry, &values);
        self.bits(values[doubted.index()]) == 0
    }

    /// Whether rounds can be done so for as long again.
    ///
    /// # Panics
    /// If they have not come to where they would begin.
    fn goes_again(&mut self, of: &Reduced) -> bool {
        let ((entry, _), lanes) = (&of.entry, self.lanes);
        let values = self.values(&entry.graph);
        let again = self.bits(values[of.again.index()]) == 0;
        for of in of.inductions.iter().filter(|_| again) {
            for number in [of.number, of.by] {
                let found = entry.next.iter().find(|(other, _)| *other == number);
                let now = found.map(|(_, val)| &values[val.index()][..lanes]);
                assert_eq!(
                    now,
                    Some(&self.kept[number as usize][..lanes]),
                    "number {number} of what goes on"
                );
            }
        }
        again
    }

    /// What is ready for the next round.
    fn go_on(&mut self, inductions: &[Induction]) {
        for Induction { number, by, .. } in inductions {
            let by = self.kept[*by as usize];
            let words = self.kept[*number as usize].iter_mut().zip(by);
            words.for_each(|(word, by)| *word = word.wrapping_add(by));
        }
    }

    /// # Panics
    /// If lanes part that are said to stay together.
    fn agreed(&self, chosen: u32) {
        let chosen = chosen & self.exec;
        assert!(!self.together || chosen == 0 || chosen == self.exec, "lanes part");
    }

    /// # Panics
    /// If numbers of words are not as they are said to be.
    fn shaped(&self, index: &Vector, shape: Shape) {
        let executing: Vec<u32> = (0..self.lanes as u32).filter(|lane| self.exec >> lane & 1 == 1).collect();
        let bits = match shape {
            Shape::Any => return,
            Shape::Same => [0; 4],
            Shape::Step(step) => [0, 1, 2, 3].map(|k| step << k),
            Shape::Bits(bits) => bits,
        };
        let base = |lane: u32| index[lane as usize].wrapping_sub(distance(bits, lane)) & 0x3FFF_FFFF;
        assert!(
            executing.windows(2).all(|pair| base(pair[0]) == base(pair[1])),
            "{index:x?} is not {shape:?}"
        );
    }

    /// Stores what a block computed; its test.
    fn keep(&mut self, body: &Straight, values: &[Vector]) -> u32 {
        for leave in &body.graph.leaves {
            let test = self.bits(values[leave.test.index()]);
            self.exec &= if leave.nonzero { !test } else { test };
        }
        for output in &body.outputs {
            let value = values[output.val.index()];
            for lane in (0..self.lanes).filter(|lane| output.unseen || self.exec >> lane & 1 == 1) {
                self.rows[output.row as usize].0[self.first + lane] = value[lane];
            }
        }
        body.next.iter().for_each(|&(number, val)| self.kept[number as usize] = values[val.index()]);
        body.test.map_or(0, |val| self.bits(values[val.index()]))
    }

    /// The lanes of a mask.
    fn bits(&self, mask: Vector) -> u32 {
        (0..self.lanes).fold(0, |bits, lane| bits | (mask[lane] >> 31) << lane)
    }

    /// All values of a graph; stores are done on the way.
    fn values(&mut self, graph: &Graph) -> Vec<Vector> {
        let mut values: Vec<Vector> = Vec::with_capacity(graph.nodes.len());
        for (val, &node) in graph.numbered() {
            let value = match node {
                Node::Row(row) => std::array::from_fn(|lane| match lane < self.lanes {
                    true => self.rows[row as usize].0[self.first + lane],
                    false => 0,
                }),
                Node::Word(word) => [word; MOST],
                Node::Quad(quad) => std::array::from_fn(|lane| (quad >> (lane % 2 * 32)) as u32),
                Node::Bool(set) => [if set { !0 } else { 0 }; MOST],
                Node::Lanes(number) => graph.fixed.vector(number),
                Node::Mask(bits) => vector_of(bits),
                Node::Field(view, field) => [self.views[usize::from(view)].texels[field.number()]; MOST],
                Node::Kept(number) => self.kept[number as usize],
                Node::Inst(inst) => {
                    if matches!(
                        inst.op,
                        Op::Load(_)
                            | Op::Part(..)
                            | Op::Pair(..)
                            | Op::Member(..)
                            | Op::Store(_)
                            | Op::StoreBlocks(..)
                    ) {
                        self.shaped(&values[inst.args[0].index()], graph.shape_of(inst.args[0]));
                    }
                    self.inst(val, inst, graph, &values)
                }
            };
            values.push(value);
        }
        values
    }

    fn inst(&mut self, val: Val, inst: Inst, graph: &Graph, values: &[Vector]) -> Vector {
        let of = |val: Val| if val == NO { [0; MOST] } else { values[val.index()] };
        let [a, b, c] = inst.args.map(of);
        let lanes = self.lanes;
        let executes = |exec: u32, lane: usize| lane < lanes && exec >> lane & 1 == 1;
        let mut value = match inst.op {
            Op::Member(view, k) => self.member(view, k, graph.groups[&val], a),
            Op::Load(view) | Op::Part(view, _) | Op::Pair(view, _)
                if graph.inside.contains(&(view, inst.args[0])) =>
            {
                let (count, k) = match inst.op {
                    Op::Part(_, k) => (1, k),
                    Op::Pair(_, k) => (2, k / 2 * 2),
                    _ => (1, 0),
                };
                let last = u32::from(k) + count - 1;
                let end = self.views[usize::from(view)].words.saturating_sub(last);
                assert!(a[..lanes].iter().all(|at| *at < end), "{a:x?} is not inside");
                self.loaded(inst.op, a)
            }
            Op::Load(_) | Op::Part(..) | Op::Pair(..) => self.loaded(inst.op, a),
            Op::Store(view) => {
                let exec = self.exec & if inst.mask == NO { !0 } else { self.bits(of(inst.mask)) };
                for lane in (0..lanes).filter(|&lane| executes(exec, lane)) {
                    if let Some(word) = self.views[usize::from(view)].word(a[lane]) {
                        word.store(b[lane], Relaxed);
                    }
                }
                a
            }
            Op::StoreBlocks(view, number, words) => {
                let outer = self.exec;
                self.exec &= if inst.mask == NO { !0 } else { self.bits(of(inst.mask)) };
                self.store_blocks(view, Blocks { number: number.into(), words }, a, b);
                self.exec = outer;
                a
            }
            Op::Return => {
                self.result = self.bits(a);
                a
            }
            op => compute(op, a, b, c, self.lazy),
        };
        if inst.mask != NO {
            let mask = of(inst.mask);
            value = std::array::from_fn(|lane| value[lane] & mask[lane]);
        }
        value
    }
}
