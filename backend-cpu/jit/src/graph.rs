//! The vector program of a run of lane operations: a graph of operations on vectors.
//!
//! [`Graph`] is an [`Algebra`]: the functions of `recal_il::isa::lane` are called with its values and leave operations
//! behind, each once. They name no instruction; what a target has none for it expresses by others (`lower`).

pub mod course;
mod denormals;
mod doubt;
mod field;
pub mod fixed;
pub mod interleaved;
mod limits;
mod lower;
mod node;
pub mod pairs;
mod primitives;
mod sample;

pub use self::field::Field;
pub use self::node::{Args, Inst, NO, Node, Val};
pub use self::sample::{SURFACES, checked_once, unit_code};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use recal_il::bits::BitSet;
use recal_il::ir::lines::Shape;
use recal_il::isa::Algebra;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::NONE;
use crate::op::{Kind, Op, Relation};

/// Lanes of a strip that leave a loop: whose test is set, or is not.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    pub test: Val,
    pub nonzero: bool,
    pub strip: u8,
    /// The step that it is.
    pub step: u32,
}

/// The operations of a run.
#[derive(Clone, Debug)]
pub struct Graph {
    pub nodes: Vec<Node>,
    /// The step that asked for each of them first.
    origins: Vec<u32>,
    /// The step at hand.
    pub step: u32,
    /// The values by what they are.
    known: HashTable<Val>,
    /// Something was asked for that there is no operation for.
    pub unsupported: bool,
    /// Operations on floats take denormals as zeros, so that what only they use need not be flushed.
    pub lazy: bool,
    /// A float was asked about since this was last cleared.
    pub floats: bool,
    /// Loads of neighbouring words at a time, by any of their values.
    pub groups: FxHashMap<Val, [Val; 4]>,
    /// What is known of numbers of words, in the lanes that execute: modulo 2^30, so who relies on steps looks whether the
    /// first and the last word are in the view.
    pub shapes: FxHashMap<Val, Shape>,
    /// Values that are the same in the lanes of a line that execute, as they were said to be.
    pub same: FxHashSet<Val>,
    /// Numbers of words of views that lie inside, with all words of the element, in all lanes.
    pub inside: FxHashSet<(u8, Val)>,
    /// Accesses and results of other strips than the first, with the strip.
    pub strips: FxHashMap<Val, u8>,
    /// Loads of other strips whose first words are so many behind another value, the number of the first strip's.
    pub beside: FxHashMap<Val, (Val, u32)>,
    /// Lanes that leave the loop around before rows change.
    pub leaves: Vec<Leave>,
    /// Of the texels of the sample at hand.
    pub sampling: Shape,
    /// Products that ask for zeros of their factors, by their masks.
    asking: BitSet,
    /// Products are made without asking for zeros.
    pub plain: bool,
    /// Those products. They may be NaN, or -0, where +0 is right.
    pub plain_products: BitSet,
    /// What is known of constants that differ from lane to lane.
    pub fixed: fixed::Fixed,
    /// The last value that acts.
    acted: Val,
    /// The lanes that stores are for; [`NO`]: all that execute.
    pub storing: Val,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph {
            nodes: Vec::new(),
            origins: Vec::new(),
            step: NONE,
            known: HashTable::new(),
            unsupported: false,
            lazy: false,
            floats: false,
            groups: FxHashMap::default(),
            shapes: FxHashMap::default(),
            same: FxHashSet::default(),
            inside: FxHashSet::default(),
            strips: FxHashMap::default(),
            beside: FxHashMap::default(),
            leaves: Vec::new(),
            sampling: Shape::default(),
            asking: BitSet::new(),
            plain: false,
            plain_products: BitSet::new(),
            fixed: fixed::Fixed::default(),
            acted: NO,
            storing: NO,
        }
    }
}

impl Graph {
    /// An empty one; `lazy`: instructions on floats take denormals as zeros.
    pub fn new(lazy: bool) -> Graph {
        Graph { lazy, ..Graph::default() }
    }

    /// The same that makes products without asking for zeros.
    pub fn plain(lazy: bool) -> Graph {
        Graph { lazy, plain: true, ..Graph::default() }
    }

    /// The same values, to which more can be added; those that are there are not found again.
    pub fn to_extend(&self) -> Graph {
        Graph {
            nodes: self.nodes.clone(),
            origins: self.origins.clone(),
            groups: self.groups.clone(),
            shapes: self.shapes.clone(),
            same: self.same.clone(),
            inside: self.inside.clone(),
            strips: self.strips.clone(),
            beside: self.beside.clone(),
            leaves: self.leaves.clone(),
            fixed: self.fixed.clone(),
            lazy: self.lazy,
            ..Graph::default()
        }
    }

    /// Room for so many more values.
    pub fn reserve(&mut self, count: usize) {
        self.nodes.reserve(count);
        self.origins.reserve(count);
        let nodes = &self.nodes;
        self.known.reserve(count, |&val| nodes[val.index()].hash());
    }

    #[inline]
    pub fn add(&mut self, node: Node) -> Val {
        self.find_or_add(&node)
    }

    /// The same. A node is copied once, to where it stays: a processor waits for what it copies right after it was put together.
    fn find_or_add(&mut self, node: &Node) -> Val {
        if self.fixed.folds
            && let Some(folded) = self.folded(node)
        {
            return folded;
        }
        let nodes = &self.nodes;
        let hash = |&val: &Val| nodes[val.index()].hash();
        let val = Val::new(nodes.len());
        match self.known.entry(node.hash(), |&val| nodes[val.index()] == *node, hash) {
            // Others may have stored there since.
            Entry::Occupied(mut known) if node.acts() && self.acted != *known.get() => *known.get_mut() = val,
            Entry::Occupied(known) => return *known.get(),
            Entry::Vacant(place) => _ = place.insert(val),
        }
        self.push(node);
        val
    }

    fn push(&mut self, node: &Node) {
        if node.acts() {
            self.acted = Val::new(self.nodes.len());
        }
        self.nodes.push(*node);
        self.origins.push(self.step);
    }

    /// A node of another strip than the first, whatever is there already.
    pub fn apart(&mut self, node: Node, strip: u8) -> Val {
        self.push(&node);
        let val = Val::new(self.nodes.len() - 1);
        self.strips.insert(val, strip);
        val
    }

    /// The node, if it is there.
    pub fn find(&self, node: Node) -> Option<Val> {
        self.known.find(node.hash(), |&val| self.nodes[val.index()] == node).copied()
    }

    /// The step that asked for a value first; [`NONE`]: none did.
    pub fn origin(&self, val: Val) -> u32 {
        self.origins.get(val.index()).copied().unwrap_or(NONE)
    }

    /// The most values that a step asked for one after another.
    pub fn longest(&self) -> usize {
        self.origins.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0)
    }

    /// All values, operands before what is computed of them.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Val> + use<> {
        Val::all(self.nodes.len())
    }

    /// Each value with its node.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (Val, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(index, node)| (Val::new(index), node))
    }

    pub fn node(&self, val: Val) -> Node {
        self.nodes[val.index()]
    }

    pub fn as_inst(&self, val: Val) -> Option<Inst> {
        if val == NO {
            return None;
        }
        if let Node::Inst(inst) = self.node(val) { Some(inst) } else { None }
    }

    /// The operation and operands of a value.
    fn parts(&self, val: Val) -> Option<(Op, [Val; 3], Val)> {
        self.as_inst(val).map(|inst| (inst.op, inst.args, inst.mask))
    }

    pub fn inst(&mut self, op: Op, args: [Val; 3]) -> Val {
        self.add(Node::Inst(Inst { op, args, mask: NO }))
    }

    pub fn unary(&mut self, op: Op, a: Val) -> Val {
        self.inst(op, [a, NO, NO])
    }

    /// The row that a word which all lanes share is added to, of such a sum.
    pub fn sum_with_shared(&self, val: Val) -> Option<Val> {
        let inst = self.as_inst(val).filter(|inst| inst.op == Op::Add)?;
        let [a, b, _] = inst.args;
        let shared = |val: Val| matches!(self.node(val), Node::Field(..));
        [(a, b), (b, a)]
            .into_iter()
            .find(|&(row, word)| shared(word) && matches!(self.node(row), Node::Row(_)))
            .map(|(row, _)| row)
    }

    pub fn binary(&mut self, op: Op, a: Val, b: Val) -> Val {
        self.inst(op, [a, b, NO])
    }

    fn within(&mut self, op: Op, a: Val, b: Val, mask: Val) -> Val {
        self.add(Node::Inst(Inst { op, args: [a, b, NO], mask }))
    }

    /// A store, for the lanes that it is for.
    pub fn storing(&mut self, op: Op, index: Val, words: Val) {
        self.within(op, index, words, self.storing);
    }

    /// The value is a mask.
    pub fn is_mask(&self, val: Val) -> bool {
        match self.node(val) {
            Node::Bool(_) | Node::Mask(_) => true,
            Node::Inst(inst) => inst.op.is_mask(),
            _ => false,
        }
    }

    /// For operations whose operands may change places: constants are last, where they can come from memory.
    fn symmetric(&mut self, op: Op, a: Val, b: Val) -> Val {
        match self.node(a) {
            Node::Word(_) | Node::Quad(_) | Node::Field(..) => self.binary(op, b, a),
            _ => self.binary(op, a, b),
        }
    }

    fn compare(&mut self, kind: Kind, relation: Relation, a: Val, b: Val) -> Val {
        self.binary(Op::Compare(kind, relation, false), a, b)
    }

    fn compare_floats(&mut self, relation: Relation, a: Val, b: Val) -> Val {
        let (a, b) = (self.float(a), self.float(b));
        self.compare(Kind::Float, relation, a, b)
    }

    fn rounded(&mut self, a: Val, how: u8) -> Val {
        let a = self.float(a);
        self.unary(Op::Round(how), a)
    }

    pub fn word_of(&self, val: Val) -> Option<u32> {
        if let Node::Word(word) = self.node(val) { Some(word) } else { None }
    }

    fn quad_of(&self, val: Val) -> Option<u64> {
        if let Node::Quad(quad) = self.node(val) { Some(quad) } else { None }
    }

    fn bool_of(&self, val: Val) -> Option<bool> {
        if let Node::Bool(bool) = self.node(val) { Some(bool) } else { None }
    }

    fn bool(&mut self, value: bool) -> Val {
        self.add(Node::Bool(value))
    }

    /// What an operation on floats may take instead of `val`.
    fn float(&mut self, val: Val) -> Val {
        self.floats = true;
        match self.as_inst(val) {
            Some(Inst { op: Op::Flush, args: [inner, ..], .. }) if self.lazy => inner,
            _ => val,
        }
    }

    /// A choice among flushed values may be made before they are flushed. Constants among them are what flushing leaves as they
    /// are: not denormals, and not signalling NaNs, which a sum makes quiet.
    fn flushed_later(&self, val: Val) -> Option<(Val, bool)> {
        match self.node(val) {
            Node::Inst(Inst { op: Op::Flush, args: [inner, ..], .. }) if self.lazy => Some((inner, true)),
            Node::Word(word) => {
                let (exponent, quiet, fraction) =
                    (word & 0x7F80_0000, word & 0x0040_0000, word & 0x007F_FFFF);
                let kept = match exponent {
                    0 => fraction == 0,
                    0x7F80_0000 => fraction == 0 || quiet != 0,
                    _ => true,
                };
                kept.then_some((val, false))
            }
            _ => None,
        }
    }

    /// Loads of the components of an element of `count` words, the first of which has the number `first`.
    pub fn group(&mut self, view: u8, first: Val, count: u32) -> [Val; 4] {
        let part = |g: &mut Graph, k| g.unary(Op::Part(view, k as u8), first);
        let mut parts = [NO; 4];
        (0..count).for_each(|k| parts[k as usize] = part(self, k));
        parts[..count as usize].iter().for_each(|&val| _ = self.groups.insert(val, parts));
        parts
    }

    /// Notes the shape of the number of a word.
    pub fn shape(&mut self, val: Val, shape: Shape) {
        if shape != Shape::Any {
            self.shapes.insert(val, shape);
        }
    }

    /// What is known of the number of a word.
    pub fn shape_of(&self, val: Val) -> Shape {
        self.shapes.get(&val).copied().unwrap_or(Shape::Any)
    }

    fn none(&mut self) -> Val {
        self.unsupported = true;
        self.word(0)
    }

    /// Shifts by a constant.
    fn shifted(&mut self, a: Val, n: u32, by: fn(u8) -> Op, variable: Op, count: Val) -> Val {
        match n {
            0 => a,
            1..32 => self.unary(by(n as u8), a),
            _ => self.binary(variable, a, count),
        }
    }

    /// Each half by the same operation.
    fn halves(&mut self, op: Op, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        [0, 1].map(|k| self.symmetric(op, a[k], b[k]))
    }

    fn halves_in_order(&mut self, op: Op, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        [0, 1].map(|k| self.binary(op, a[k], b[k]))
    }

    /// The masks of two halves as one.
    fn join(&mut self, halves: [Val; 2]) -> Val {
        if let [Some(a), Some(b)] = halves.map(|half| self.bool_of(half)) {
            if a == b {
                return halves[0];
            }
        }
        if halves.iter().any(|&half| self.bool_of(half).is_some()) {
            return self.none();
        }
        self.binary(Op::Join, halves[0], halves[1])
    }

    /// The reverse.
    fn split(&mut self, mask: Val) -> [Val; 2] {
        if self.bool_of(mask).is_some() {
            return [mask; 2];
        }
        match self.parts(mask) {
            Some((Op::Join, [a, b, _], _)) => [a, b],
            _ => [Op::SplitLow, Op::SplitHigh].map(|op| self.unary(op, mask)),
        }
    }

    fn compare_halves(&mut self, kind: Kind, relation: Relation, a: [Val; 2], b: [Val; 2]) -> Val {
        let halves = [0, 1].map(|k| self.compare(kind, relation, a[k], b[k]));
        self.join(halves)
    }

    fn widened(&mut self, n: Val) -> [Val; 2] {
        let zero = self.word(0);
        self.pack(n, zero)
    }

    /// `mask ? a : 0`
    pub fn keep(&mut self, mask: Val, a: Val) -> Val {
        if let Some(mask) = self.bool_of(mask) {
            return if mask { a } else { self.word(0) };
        }
        match self.parts(a) {
            // What is flushed may as well be zero before.
            Some((Op::Flush, [inner, ..], _)) => {
                let inner = self.keep(mask, inner);
                self.flush(inner)
            }
            // The square of a zero is +0 anyhow.
            Some((Op::FMul, [x, y, _], NO)) if x == y && self.asks_for_zeros(mask, [x, y]) => a,
            Some((Op::FMul, [x, y, _], NO)) if self.plain && self.asks_for_zeros(mask, [x, y]) => {
                self.plain_products.insert(a.into());
                a
            }
            Some((op, [x, y, NO], NO))
                if y != NO && !op.wide() && !op.is_mask() && op.pure() && op != Op::Keep =>
            {
                let kept = self.within(op, x, y, mask);
                // In these lanes it asks for no zeros either.
                if self.plain_products.contains(a.into()) {
                    self.plain_products.insert(kept.into());
                }
                if op == Op::FMul && self.asks_for_zeros(mask, [x, y]) {
                    self.asking.insert(kept.into());
                }
                kept
            }
            _ => match self.word_of(a) {
                Some(0) => a,
                Some(u32::MAX) => self.mask(mask),
                _ => self.binary(Op::Keep, mask, a),
            },
        }
    }
}

impl Graph {
    /// The lanes whose word is not 0.
    pub fn tested(&mut self, word: Val) -> Val {
        let mask = self.ine_zero(word);
        // A constant is tested as it is.
        if self.bool_of(mask).is_some() { self.binary(Op::Common(true), word, word) } else { mask }
    }

    /// What a value that is flushed was before.
    pub fn before_flush(&self, val: Val) -> Option<Val> {
        match self.parts(val) {
            Some((Op::Flush, [inner, ..], NO)) => Some(inner),
            _ => None,
        }
    }

    /// Makes the lanes whose word is not 0 the result of the function.
    pub fn result(&mut self, word: Val) {
        let mask = self.tested(word);
        self.unary(Op::Return, mask);
    }
}
