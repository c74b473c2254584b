//! Constants that differ from lane to lane, as the places of threads in a group are where a graph is for known ones: what is computed of them
//! alone is a constant, too, and words that come from known lanes of known vectors are put in order.

use std::collections::BTreeMap;

use recal_il::ir::lines::{Shape, distance};
use recal_il::isa::Algebra;

use super::{Graph, Inst, NO, Node, Val};
use crate::evaluate::{MOST, Vector, compute, vector_of};
use crate::op::{OTHER, Op};

/// Most vectors that the words of one come from.
const SOURCES: usize = 4;

/// What a graph knows of them.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    /// Lanes of a vector; 0: there is none.
    lanes: usize,
    /// What comes of constants is one.
    pub(super) folds: bool,
    vectors: Vec<Vector>,
}

impl Fixed {
    /// The same constants where nothing becomes one any more.
    pub fn settled(&self) -> Fixed {
        Fixed { folds: false, ..self.clone() }
    }

    /// The words of [`Node::Lanes`].
    pub fn vector(&self, number: u32) -> Vector {
        self.vectors[number as usize]
    }

    /// The same for people.
    pub fn words(&self, number: u32) -> &[u32] {
        &self.vectors[number as usize][..self.lanes]
    }

    fn number(&mut self, vector: Vector) -> u32 {
        let known = self.vectors.iter().position(|other| *other == vector);
        known.unwrap_or_else(|| {
            self.vectors.push(vector);
            self.vectors.len() - 1
        }) as u32
    }
}

/// Where words of a vector are meanwhile: in which one, and in which of its lanes those of each lane.
struct Merged {
    val: Val,
    at: Vec<Option<u8>>,
}

/// Where a word of a vector comes from: a lane of another one.
pub type Source = (Val, u8);

impl Graph {
    /// An empty one, as by [`Graph::new`], for vectors of so many lanes: what comes of constants is one.
    pub fn of_lanes(lazy: bool, lanes: u32) -> Graph {
        Graph { fixed: Fixed { lanes: lanes as usize, folds: true, vectors: Vec::new() }, ..Graph::new(lazy) }
    }

    /// A word for each lane.
    pub fn vector(&mut self, mut words: Vector) -> Val {
        let own = self.lanes();
        let last = words[own - 1];
        words[own..].fill(last);
        if words.iter().all(|word| *word == words[0]) {
            return self.word(words[0]);
        }
        let number = self.fixed.number(words);
        self.add(Node::Lanes(number))
    }

    /// The lanes whose bits are set.
    pub fn lanes_of(&mut self, bits: u32) -> Val {
        let all = (1 << self.lanes()) - 1;
        self.add(match bits & all {
            0 => Node::Bool(false),
            bits if bits == all => Node::Bool(true),
            bits => Node::Mask(bits),
        })
    }

    fn lanes(&self) -> usize {
        if self.fixed.lanes == 0 { MOST } else { self.fixed.lanes }
    }

    /// The words, or the mask, of a constant.
    pub fn fixed_words(&self, val: Val) -> Option<Vector> {
        Some(match self.node(val) {
            Node::Word(word) => [word; MOST],
            Node::Lanes(number) => self.fixed.vector(number),
            Node::Bool(all) => vector_of(if all { !0 } else { 0 }),
            Node::Mask(bits) => vector_of(bits),
            _ => return None,
        })
    }

    /// The lanes of a mask that is known.
    pub fn fixed_lanes(&self, mask: Val) -> Option<u32> {
        match self.node(mask) {
            Node::Bool(all) => Some(if all { (1 << self.lanes()) - 1 } else { 0 }),
            Node::Mask(bits) => Some(bits),
            _ => None,
        }
    }

    /// The lanes that may be in a mask, as far as that is known.
    pub fn possible_lanes(&self, mask: Val) -> u32 {
        match self.as_inst(mask) {
            Some(Inst { op: Op::Both, args: [a, b, _], mask: NO }) => {
                self.possible_lanes(a) & self.possible_lanes(b)
            }
            Some(Inst { mask: around, .. }) if around != NO => self.possible_lanes(around),
            _ => self.fixed_lanes(mask).unwrap_or((1 << self.lanes()) - 1),
        }
    }

    /// The constant that comes of constants; floats are left to the processor.
    #[inline(never)]
    pub(super) fn folded(&mut self, node: &Node) -> Option<Val> {
        let Node::Inst(inst) = *node else { return None };
        let Inst { op, args, mask } = inst;
        if !op.pure() || op.wide() || op.floats() {
            return None;
        }
        let of = |val: Val| if val == NO { Some([0; MOST]) } else { self.fixed_words(val) };
        let [a, b, c] = [of(args[0])?, of(args[1])?, of(args[2])?];
        let mut words = compute(op, a, b, c, self.lazy);
        if mask != NO {
            let mask = self.fixed_words(mask)?;
            words.iter_mut().zip(mask).for_each(|(word, mask)| *word &= mask);
        }
        Some(match op.is_mask() {
            true => {
                let lanes =
                    self.lanes_of((0..).zip(words).fold(0, |bits, (lane, word)| bits | (word >> 31) << lane));
                // A mask of 64-bit elements is something else on each target, unless it has all or none.
                let wide = matches!(op, Op::SplitLow | Op::SplitHigh);
                Some(lanes).filter(|lanes| !wide || self.bool_of(*lanes).is_some())?
            }
            false => self.vector(words),
        })
    }

    /// How much more than the first lane's the number of a word is in each lane, modulo 2^30, if that is known.
    fn distances(&self, val: Val) -> Option<Vector> {
        let each = |with: &dyn Fn(usize) -> Option<u32>| -> Option<Vector> {
            let mut words = [0; MOST];
            for (lane, word) in words.iter_mut().enumerate() {
                *word = with(lane)?;
            }
            Some(words)
        };
        match self.node(val) {
            Node::Word(_) | Node::Field(..) | Node::Row(_) => Some([0; MOST]),
            Node::Lanes(number) => {
                let words = self.fixed.vector(number);
                each(&|lane| Some(words[lane].wrapping_sub(words[0])))
            }
            Node::Inst(Inst { op, args: [a, b, NO], mask: NO }) if a != NO => {
                let a = self.distances(a)?;
                let of = |b: Val| self.distances(b);
                match op {
                    Op::Add => of(b).and_then(|b| each(&|lane| Some(a[lane].wrapping_add(b[lane])))),
                    Op::Sub => of(b).and_then(|b| each(&|lane| Some(a[lane].wrapping_sub(b[lane])))),
                    Op::ShlBy(by) => each(&|lane| Some(a[lane] << by)),
                    // Bytes to words: what they differ by has no part in what is shifted out.
                    Op::ShrBy(2) => each(&|lane| (a[lane] % 4 == 0).then(|| (a[lane] as i32 >> 2) as u32)),
                    // Numbers of words are taken modulo 2^30 anyhow.
                    Op::And if self.word_of(b) == Some(0x3FFF_FFFF) => Some(a),
                    op if op.pure() && !op.wide() => {
                        let alike = a == [0; MOST] && (b == NO || of(b)? == [0; MOST]);
                        alike.then_some(a)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The shape of the number of a word where that follows from constants; [`Shape::Any`] if it does not.
    pub fn shape_by_constants(&self, val: Val) -> Shape {
        let Some(words) = self.distances(val) else { return Shape::Any };
        let words = &words[..self.lanes()];
        let bits = [0, 1, 2, 3].map(|k| words.get(1 << k).copied().unwrap_or_default());
        let all = (0..).zip(words).all(|(lane, word)| distance(bits, lane) == *word);
        if all { Shape::Bits(bits).among(words.len() as u32) } else { Shape::Any }
    }

    /// Where a word of a vector comes from, through choices and permutations that are known.
    pub fn source(&self, mut val: Val, mut lane: u8) -> Source {
        loop {
            let table = |of: Val| match self.node(of) {
                Node::Lanes(number) => Some(self.fixed.vector(number)[usize::from(lane)]),
                Node::Word(word) => Some(word),
                _ => None,
            };
            let Some(Inst { op, args: [a, b, c], mask: NO }) = self.as_inst(val) else { return (val, lane) };
            let next = match op {
                Op::Select => {
                    self.fixed_lanes(a).map(|bits| (if bits >> lane & 1 == 1 { b } else { c }, lane))
                }
                Op::Permute => table(a).map(|from| (b, from as u8)),
                Op::Permute2 => table(c)
                    .map(|from| if from < OTHER { (a, from as u8) } else { (b, (from - OTHER) as u8) }),
                _ => None,
            };
            match next {
                Some(next) => (val, lane) = next,
                None => return (val, lane),
            }
        }
    }

    /// Vectors of words from known lanes, for several strips; where nothing is said of a lane, it may have any. `None` if they come from too many.
    pub fn gathered(&mut self, wanted: &[Vec<Option<Source>>]) -> Option<Vec<Val>> {
        let mut made: Vec<Option<Val>> = wanted.iter().map(|from| self.gathered_alone(from)).collect();
        // Those that come from the same vectors are made of these together.
        let mut rest: BTreeMap<Vec<Val>, Vec<usize>> = BTreeMap::new();
        for (number, from) in wanted.iter().enumerate().filter(|(number, _)| made[*number].is_none()) {
            let mut sources: Vec<Val> = from.iter().flatten().map(|(val, _)| *val).collect();
            sources.sort_unstable();
            sources.dedup();
            rest.entry(sources).or_default().push(number);
        }
        for (sources, numbers) in rest {
            let wants: Vec<&[Option<Source>]> = numbers.iter().map(|number| &wanted[*number][..]).collect();
            if sources.len() > self.lanes() || 2 * numbers.len() < sources.len() {
                return None;
            }
            let merged = self.merged(&wants, &sources, true)?;
            numbers.into_iter().zip(merged).for_each(|(number, of)| made[number] = Some(of.val));
        }
        made.into_iter().collect()
    }

    /// The words that vectors want of some others: of those in the first half, and of those in the second half, with as many wants in a
    /// vector as have room, and then both together. `last`: each want has a vector, and its words their lanes.
    fn merged(&mut self, wants: &[&[Option<Source>]], sources: &[Val], last: bool) -> Option<Vec<Merged>> {
        if let [source] = *sources {
            let own = |from: &&[Option<Source>]| {
                let at = from.iter().map(|of| of.filter(|(val, _)| *val == source).map(|(_, at)| at));
                Merged { val: source, at: at.collect() }
            };
            return Some(wants.iter().map(own).collect());
        }
        let (first, second) = sources.split_at(sources.len().div_ceil(2));
        let halves = [self.merged(wants, first, false)?, self.merged(wants, second, false)?];
        let lanes = self.lanes();
        let count = |number: usize| halves.iter().flat_map(|half| &half[number].at).flatten().count();
        let mut made: Vec<Merged> = Vec::with_capacity(wants.len());
        let mut number = 0;
        while number < wants.len() {
            let of = [0, 1].map(|half| halves[half][number].val);
            let mut table: Vector = std::array::from_fn(|lane| lane as u32);
            let mut used = 0;
            let begin = number;
            while number < wants.len()
                && of == [0, 1].map(|half| halves[half][number].val)
                && used + count(number) <= lanes
                && !(last && number > begin)
            {
                let mut at = vec![None; lanes];
                for (half, offset) in halves.iter().zip([0, OTHER]) {
                    for (lane, from) in half[number].at.iter().enumerate() {
                        if let Some(from) = from {
                            let place = if last { lane } else { used };
                            table[place] = offset + u32::from(*from);
                            at[lane] = Some(place as u8);
                            used += 1;
                        }
                    }
                }
                made.push(Merged { val: NO, at });
                number += 1;
            }
            if number == begin {
                return None;
            }
            let table = self.vector(table);
            let val = self.inst(Op::Permute2, [of[0], of[1], table]);
            made[begin..].iter_mut().for_each(|merged| merged.val = val);
        }
        Some(made)
    }

    /// One of these vectors.
    fn gathered_alone(&mut self, from: &[Option<Source>]) -> Option<Val> {
        let words = (0..).zip(from).filter_map(|(lane, of)| of.map(|(val, at)| (lane, val, at)));
        let words: Vec<(u8, Val, u8)> = words.collect();
        let fixed: Option<Vec<(u8, u32)>> = words
            .iter()
            .map(|&(lane, val, at)| Some((lane, self.fixed_words(val)?[usize::from(at)])))
            .collect();
        if let Some(fixed) = fixed {
            let mut vector = [fixed.first().map_or(0, |(_, word)| *word); MOST];
            fixed.into_iter().for_each(|(lane, word)| vector[usize::from(lane)] = word);
            return Some(self.vector(vector));
        }
        let mut sources: Vec<Val> = Vec::new();
        words.iter().for_each(|(_, val, _)| {
            if !sources.contains(val) {
                sources.push(*val);
            }
        });
        let in_place = |of: Val| words.iter().all(|&(lane, val, at)| val != of || lane == at);
        let identity: Vector = std::array::from_fn(|lane| lane as u32);
        let table_of = |of: Val, offset: u32| {
            let mut table = identity;
            let own = words.iter().filter(|(_, val, _)| *val == of);
            own.for_each(|&(lane, _, at)| table[usize::from(lane)] = offset + u32::from(at));
            table
        };
        // Those that need not be moved come first: with them, others are moved and put together at once.
        sources.sort_by_key(|val| !in_place(*val));
        let (&first, rest) = sources.split_first()?;
        if sources.len() > SOURCES {
            return None;
        }
        let mut made = first;
        if !in_place(first) && rest.is_empty() {
            let table = self.vector(table_of(first, 0));
            return Some(self.binary(Op::Permute, table, first));
        }
        for (number, &other) in rest.iter().enumerate() {
            if in_place(other) {
                let bits = words.iter().filter(|(_, val, _)| *val == other);
                let bits = bits.fold(0, |bits, (lane, ..)| bits | 1 << lane);
                let mask = self.lanes_of(bits);
                made = self.select(mask, other, made);
                continue;
            }
            let mut table = if number == 0 { table_of(first, 0) } else { identity };
            for &(lane, val, at) in &words {
                if val == other {
                    table[usize::from(lane)] = OTHER + u32::from(at);
                }
            }
            let table = self.vector(table);
            made = self.inst(Op::Permute2, [made, other, table]);
        }
        Some(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::compute;

    fn graph() -> Graph {
        Graph::of_lanes(false, 8)
    }

    #[test]
    fn what_comes_of_constants_is_one() {
        let mut g = graph();
        let threads = g.vector(std::array::from_fn(|lane| 8 + lane as u32));
        let two = g.word(2);
        let bytes = g.shl(threads, two);
        assert_eq!(
            g.fixed_words(bytes).map(|words| words[..8].to_vec()),
            Some((8..16).map(|n| 4 * n).collect())
        );
        let twelve = g.word(12);
        let below = g.ult(threads, twelve);
        assert_eq!(g.fixed_lanes(below), Some(0b1111));
        let above = g.negate(below);
        assert_eq!(g.fixed_lanes(above), Some(0b1111_0000));
        let all = g.either(below, above);
        assert_eq!(g.node(all), Node::Bool(true));
        let row = g.add(Node::Row(3));
        let sum = g.iadd(row, threads);
        assert!(g.as_inst(sum).is_some());
        // A row is the same for all lanes here.
        let bytes = g.shl(sum, two);
        let (first, two) = (g.shr(bytes, two), g.word(2));
        assert_eq!(g.shape_by_constants(first), Shape::Step(1));
        let apart = g.shl(sum, two);
        assert_eq!(g.shape_by_constants(apart), Shape::Step(4));
        let odd = g.iadd(bytes, below);
        assert_eq!(g.shape_by_constants(odd), Shape::Any);
    }

    #[test]
    fn masks_of_wide_elements_are_constants_if_they_have_all_or_none() {
        let mut g = graph();
        let mut halves = |lanes: u32| {
            let mask = g.lanes_of(lanes);
            g.split(mask).map(|half| g.fixed_lanes(half))
        };
        assert_eq!(halves(0b1100_1100), [Some(0), Some(255)]);
        assert_eq!(halves(0b1100_1101), [None, Some(255)]);
    }

    #[test]
    fn words_come_from_where_they_were_left() {
        let values = |g: &mut Graph| [0, 1, 2].map(|row| g.add(Node::Row(row)));
        let of = |row: u32| -> Vector { std::array::from_fn(|lane| 100 * row + lane as u32) };
        // What a value is, by evaluating what it is made of.
        fn evaluated(g: &Graph, val: Val, of: &dyn Fn(u32) -> Vector) -> Vector {
            match g.node(val) {
                Node::Row(row) => of(row),
                Node::Inst(Inst { op, args, .. }) => {
                    let [a, b, c] = args.map(|arg| if arg == NO { [0; MOST] } else { evaluated(g, arg, of) });
                    compute(op, a, b, c, false)
                }
                _ => g.fixed_words(val).unwrap_or_else(|| panic!("{:?}", g.node(val))),
            }
        }
        for (number, order) in [
            [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7)],
            [(1, 7), (1, 6), (1, 5), (1, 4), (1, 3), (1, 2), (1, 1), (1, 0)],
            [(0, 0), (0, 2), (0, 4), (0, 6), (1, 0), (1, 2), (1, 4), (1, 6)],
            [(0, 0), (2, 1), (0, 2), (2, 3), (0, 4), (2, 5), (0, 6), (2, 7)],
            [(0, 0), (2, 1), (1, 3), (1, 2), (0, 4), (2, 5), (2, 7), (1, 7)],
            [(2, 3), (2, 3), (0, 2), (1, 3), (1, 4), (1, 5), (0, 6), (2, 7)],
        ]
        .into_iter()
        .enumerate()
        {
            let mut g = graph();
            let rows = values(&mut g);
            let from: Vec<Option<Source>> =
                order.iter().map(|&(row, lane)| Some((rows[row], lane))).collect();
            let made = g.gathered(&[from]).unwrap()[0];
            let words = evaluated(&g, made, &of);
            for (lane, (row, at)) in order.into_iter().enumerate() {
                assert_eq!(words[lane], 100 * row as u32 + u32::from(at), "{number}: lane {lane}");
                assert_eq!(g.source(made, lane as u8), (rows[row], at), "{number}: lane {lane}");
            }
            assert_eq!(number == 0, made == rows[0]);
        }
        let mut g = graph();
        let rows = [0, 1, 2, 3, 4].map(|row| g.add(Node::Row(row)));
        let many: Vec<Option<Source>> = (0..8).map(|lane| Some((rows[lane % 5], 0))).collect();
        assert_eq!(g.gathered(&[many]), None);
        // Eight vectors that want a word of each of eight others.
        let mut g = graph();
        let rows: Vec<Val> = (0..8).map(|row| g.add(Node::Row(row))).collect();
        let wanted: Vec<Vec<Option<Source>>> =
            (0..8).map(|column| rows.iter().map(|row| Some((*row, column))).collect()).collect();
        let made = g.gathered(&wanted).unwrap();
        for (column, val) in made.into_iter().enumerate() {
            let words = evaluated(&g, val, &of);
            (0..8).for_each(|row| assert_eq!(words[row], 100 * row as u32 + column as u32));
        }
        let permutes = g.nodes.iter().filter(|node| matches!(node, Node::Inst(_))).count();
        assert_eq!(permutes, 3 * 8);
    }
}
