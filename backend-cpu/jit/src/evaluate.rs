//! Evaluates a vector program: what its code must give, on any processor.

mod emitted;
mod memory;

use std::sync::atomic::Ordering::Relaxed;

use recal_il::ir::lines::{Shape, distance};

use crate::graph::interleaved::count;
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, OTHER, Op, Relation};
use crate::program::{Block, Part, Program, Straight, Sums};
use crate::row::{LANES, Row};
use crate::target::Blocks;
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
                        self.kept = wanted.iter().map(|&val| values[val as usize]).collect();
                    }
                    let mut left = 0;
                    while self.exec != 0 {
                        if self.list(&of.body, &mut left) || self.ticks.tick() {
                            return true;
                        }
                    }
                    self.exec = outer;
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
            (self.bits(values[*doubted as usize]) & self.exec == 0).then_some((attempt, values))
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
            if self.bits(values[*doubted as usize]) != 0 {
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
        while self.exec != 0 {
            if self.list(&of.body, &mut 0) || self.ticks.tick() {
                return Some(true);
            }
        }
        self.exec = exec;
        let (exit, doubted) = &of.exit;
        let values = self.values(&exit.graph);
        if doubted.is_some_and(|doubted| self.bits(values[doubted as usize]) != 0) {
            for (row, words) in changed.iter().zip(before) {
                self.rows[*row as usize].0[first..first + lanes].copy_from_slice(&words);
            }
            return None;
        }
        self.keep(exit, &values);
        move_words(self.rows, false);
        Some(false)
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
            let test = self.bits(values[leave.test as usize]);
            self.exec &= if leave.nonzero { !test } else { test };
        }
        for output in &body.outputs {
            let value = values[output.val as usize];
            for lane in (0..self.lanes).filter(|lane| output.unseen || self.exec >> lane & 1 == 1) {
                self.rows[output.row as usize].0[self.first + lane] = value[lane];
            }
        }
        body.next.iter().for_each(|&(number, val)| self.kept[number as usize] = values[val as usize]);
        body.test.map_or(0, |val| self.bits(values[val as usize]))
    }

    /// The lanes of a mask.
    fn bits(&self, mask: Vector) -> u32 {
        (0..self.lanes).fold(0, |bits, lane| bits | (mask[lane] >> 31) << lane)
    }

    /// All values of a graph; stores are done on the way.
    fn values(&mut self, graph: &Graph) -> Vec<Vector> {
        let mut values: Vec<Vector> = Vec::with_capacity(graph.nodes.len());
        for (val, &node) in (0..).zip(&graph.nodes) {
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
                        self.shaped(&values[inst.args[0] as usize], graph.shape_of(inst.args[0]));
                    }
                    self.inst(val, inst, graph, &values)
                }
            };
            values.push(value);
        }
        values
    }

    fn inst(&mut self, val: Val, inst: Inst, graph: &Graph, values: &[Vector]) -> Vector {
        let of = |val: Val| if val == NO { [0; MOST] } else { values[val as usize] };
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

/// An operation that depends on nothing but its operands.
pub fn compute(op: Op, a: Vector, b: Vector, c: Vector, lazy: bool) -> Vector {
    use Op::*;
    let block = |from: [usize; 4]| -> Vector {
        std::array::from_fn(|lane| {
            let of = from[lane % 4];
            if of < 4 { a[lane / 4 * 4 + of] } else { b[lane / 4 * 4 + of - 4] }
        })
    };
    let split = |from: [usize; 4]| -> Vector { std::array::from_fn(|lane| a[lane / 4 * 4 + from[lane % 4]]) };
    match op {
        ZipLow => block([0, 4, 1, 5]),
        ZipHigh => block([2, 6, 3, 7]),
        Even | Join => block([0, 2, 4, 6]),
        Odd => block([1, 3, 5, 7]),
        Blend(bits) => {
            std::array::from_fn(|lane| if bits >> (lane % 8) & 1 == 1 { b[lane] } else { a[lane] })
        }
        Permute => a.map(|from| b[from as usize % MOST]),
        Permute2 => c.map(|from| if from < OTHER { a[from as usize] } else { b[(from - OTHER) as usize] }),
        SplitLow => split([0, 0, 1, 1]),
        SplitHigh => split([2, 2, 3, 3]),
        op if op.wide() => {
            let quad = |v: Vector, k: usize| u64::from(v[2 * k + 1]) << 32 | u64::from(v[2 * k]);
            let words = [0, 1, 2, 3, 4, 5, 6, 7].map(|k| wide(op, quad(a, k), quad(b, k), quad(c, k)));
            std::array::from_fn(|lane| (words[lane / 2] >> (lane % 2 * 32)) as u32)
        }
        op => std::array::from_fn(|lane| narrow(op, a[lane], b[lane], c[lane], lazy)),
    }
}

/// A whole number, see [`Op::Round`].
fn rounded(how: u8, x: f32) -> f32 {
    match how {
        0 => x.round_ties_even(),
        1 => x.floor(),
        2 => x.ceil(),
        _ => x.trunc(),
    }
}

fn holds<T: PartialOrd>(relation: Relation, negated: bool, a: T, b: T) -> bool {
    let holds = match relation {
        Relation::Equal => a == b,
        Relation::Less => a < b,
        Relation::LessEqual => a <= b,
        Relation::Greater => a > b,
        Relation::Unordered => a.partial_cmp(&b).is_none(),
    };
    holds != negated
}

fn narrow(op: Op, a: u32, b: u32, c: u32, lazy: bool) -> u32 {
    use Op::*;
    let flushed = |word: u32| if word & 0x7F80_0000 == 0 { word & 0x8000_0000 } else { word };
    let float = |word: u32| f32::from_bits(if lazy { flushed(word) } else { word });
    let (x, y, z) = (float(a), float(b), float(c));
    let mask = |set: bool| if set { !0 } else { 0 };
    let top = |word: u32| word >> 31 == 1;
    let result = match op {
        Add => return a.wrapping_add(b),
        Sub => return a.wrapping_sub(b),
        Mul => return a.wrapping_mul(b),
        And | Both => return a & b,
        AndNot => return !a & b,
        Or | Either => return a | b,
        Xor => return a ^ b,
        Not => return !a,
        Shl => return a.checked_shl(b).unwrap_or(0),
        Shr => return a.checked_shr(b).unwrap_or(0),
        Sar => return (a as i32 >> b.min(31)) as u32,
        ShlBy(n) => return a << n,
        ShrBy(n) => return a >> n,
        SarBy(n) => return (a as i32 >> n) as u32,
        MinSigned => return (a as i32).min(b as i32) as u32,
        MaxSigned => return (a as i32).max(b as i32) as u32,
        LeadingZeros => return a.leading_zeros(),
        Flush => return flushed(a),
        Compare(kind, relation, negated) => {
            return mask(match kind {
                Kind::Signed => holds(relation, negated, a as i32, b as i32),
                Kind::Unsigned => holds(relation, negated, a, b),
                _ => holds(relation, negated, x, y),
            });
        }
        Common(any) => return mask((a & b != 0) == any),
        Doubtful => return mask(x.is_nan() || a == 0x8000_0000),
        Top => return mask(top(a)),
        Words | QWords | Copy => return a,
        Select => return if top(a) { b } else { c },
        Keep => return a & b,
        ToSigned | ToSignedBy(_) => {
            let whole = if let ToSignedBy(how) = op { rounded(how, x) } else { x.trunc() };
            let fits = (-2_147_483_648.0..2_147_483_648.0).contains(&whole);
            return if fits { whole as i32 as u32 } else { 0x8000_0000 };
        }
        FAdd => x + y,
        FSub => x - y,
        FMul => x * y,
        FDiv => x / y,
        FMin => {
            if x < y {
                x
            } else {
                y
            }
        }
        FMax => {
            if x > y {
                x
            } else {
                y
            }
        }
        FSqrt => x.sqrt(),
        FFma => x.mul_add(y, z),
        Round(how) => rounded(how, x),
        FromSigned => a as i32 as f32,
        FromUnsigned => a as f32,
        op => unreachable!("{op:?} is of another kind"),
    };
    result.to_bits()
}

fn wide(op: Op, a: u64, b: u64, c: u64) -> u64 {
    use Op::*;
    let mask = |set: bool| if set { !0 } else { 0 };
    let (x, y, z) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
    let result = match op {
        QAdd => return a.wrapping_add(b),
        QSub => return a.wrapping_sub(b),
        QMul => return a.wrapping_mul(b),
        QAnd => return a & b,
        QOr => return a | b,
        QXor => return a ^ b,
        QShl => return a.checked_shl(b as u32).unwrap_or(0),
        QShr => return a.checked_shr(b as u32).unwrap_or(0),
        QSar => return (a as i64 >> b.min(63)) as u64,
        QShlBy(n) => return a << n,
        QShrBy(n) => return a >> n,
        MulEvenUnsigned => return u64::from(a as u32) * u64::from(b as u32),
        MulEvenSigned => return (i64::from(a as i32) * i64::from(b as i32)) as u64,
        QTop => return mask(a >> 63 == 1),
        QSelect => return if a >> 63 == 1 { b } else { c },
        Compare(kind, relation, negated) => {
            return mask(match kind {
                Kind::SignedQuad => holds(relation, negated, a as i64, b as i64),
                Kind::UnsignedQuad => holds(relation, negated, a, b),
                _ => holds(relation, negated, x, y),
            });
        }
        DAdd => x + y,
        DMul => x * y,
        DDiv => x / y,
        DSqrt => x.sqrt(),
        DFma => x.mul_add(y, z),
        op => unreachable!("{op:?} is of another kind"),
    };
    result.to_bits()
}
