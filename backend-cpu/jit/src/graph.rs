//! The meaning of a run of lane operations as a graph of vector instructions.
//!
//! [`Graph`] is an [`Algebra`]: the functions of `recal_il::isa::lane` are called with its values and leave
//! instructions behind, each once. Sixteen lanes are a vector of words, or two vectors of 64-bit words: the even
//! and the odd pairs of four, as unpacking two vectors of words gives them. Truth values are mask registers.

mod doubt;
mod primitives;

use std::collections::{HashMap, HashSet};

use recal_il::isa::Algebra;

use crate::Sample;
use crate::encode::{Enc, inst::*};

/// Number of a node.
pub type Val = u32;
/// No value.
pub const NO: Val = Val::MAX;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// What a row holds when the run starts.
    Row(u32),
    /// A constant.
    Word(u32),
    /// A constant of 64 bits.
    Quad(u64),
    /// A constant truth value.
    Bool(bool),
    /// A word of a view, the same for all lanes.
    Field(u8, Field),
    /// What does not change while a loop runs, and where on the stack it is.
    Kept(u32),
    /// A result.
    Inst(Inst),
}

/// Words of a [`crate::View`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    LastColumn = 3,
    LastLine = 4,
    LineWords = 5,
    Width = 6,
    Height = 7,
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    pub form: Form,
    pub enc: Enc,
    pub args: [Val; 3],
    pub imm: u8,
}

/// How the operands of an instruction are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// op(a, b), or zero where the mask c, if there is one, is not set.
    Binary,
    /// The same with an immediate.
    BinaryImm,
    /// op(a)
    Unary,
    /// The same with an immediate.
    UnaryImm,
    /// a shifted by a constant; the digit of the opcode is in the upper bits of `imm`.
    Shift(u8),
    /// a · b + c
    Fma,
    /// Denormals of a to zero: by its class, or, where denormals count as zeros, by adding −0.
    Flush,
    /// Mask of op(a, b) by a predicate, within the mask c, if there is one.
    Compare,
    /// The same without a predicate.
    Test,
    /// Mask of the lanes of a whose class is in `imm`.
    Classify,
    /// mask a ? b : c
    Select,
    /// mask a ? b : 0
    Keep,
    /// All ones where the mask a is set.
    Expand,
    /// The mask of the top bits of a.
    Collect,
    /// Masks.
    And,
    Or,
    Not,
    /// The constant, or row, a in a register.
    Copy,
    /// Words number a of the view `imm`; 0 outside the view.
    Load,
    /// One of a group of loads, see [`Graph::groups`]: of the words number a, and so many after them.
    Part(u8),
    /// The mask a becomes the result of the function.
    Return,
    /// Stores b as words number a of the view `imm`.
    Store,
}

/// Predicates of comparisons; bit 2 negates.
const EQUAL: u8 = 0;
const LESS: u8 = 1;
const LESS_EQUAL: u8 = 2;
const UNORDERED: u8 = 3;
const NEGATED: u8 = 4;

/// The instructions of a run.
#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    known: HashMap<Node, Val>,
    /// Something was asked for that there is no instruction for.
    pub unsupported: bool,
    /// Instructions on floats take denormals as zeros, so that what only they use need not be flushed.
    pub lazy: bool,
    /// A float was asked about since this was last cleared.
    pub floats: bool,
    /// Loads of neighbouring words at a time, by any of their values.
    pub groups: HashMap<Val, [Val; 4]>,
    /// Products are made without asking for zeros.
    pub plain: bool,
    /// Those products. They may be NaN, or -0, where +0 is right.
    pub plain_products: HashSet<Val>,
}

impl Graph {
    /// An empty one; `lazy`: instructions on floats take denormals as zeros.
    pub fn new(lazy: bool) -> Graph {
        Graph { lazy, ..Graph::default() }
    }

    /// The same that makes products without asking for zeros.
    pub fn plain() -> Graph {
        Graph { lazy: true, plain: true, ..Graph::default() }
    }

    pub fn add(&mut self, node: Node) -> Val {
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as Val - 1
        })
    }

    /// The node, if it is there.
    pub fn find(&self, node: Node) -> Option<Val> {
        self.known.get(&node).copied()
    }

    pub fn node(&self, val: Val) -> Node {
        self.nodes[val as usize]
    }

    pub fn inst(&mut self, form: Form, enc: Enc, args: [Val; 3], imm: u8) -> Val {
        self.add(Node::Inst(Inst { form, enc, args, imm }))
    }

    /// The values are masks.
    pub fn is_mask(&self, val: Val) -> bool {
        use Form::*;
        match self.node(val) {
            Node::Bool(_) => true,
            Node::Inst(inst) => matches!(inst.form, Compare | Test | Classify | Collect | And | Or | Not),
            _ => false,
        }
    }

    fn binary(&mut self, enc: Enc, a: Val, b: Val) -> Val {
        self.inst(Form::Binary, enc, [a, b, NO], 0)
    }

    /// For operations whose operands may change places: constants are last, where they can come from memory.
    fn symmetric(&mut self, enc: Enc, a: Val, b: Val) -> Val {
        match self.node(a) {
            Node::Word(_) | Node::Quad(_) | Node::Field(..) => self.binary(enc, b, a),
            _ => self.binary(enc, a, b),
        }
    }

    fn compare(&mut self, enc: Enc, a: Val, b: Val, predicate: u8) -> Val {
        self.inst(Form::Compare, enc, [a, b, NO], predicate)
    }

    fn compare_floats(&mut self, a: Val, b: Val, predicate: u8) -> Val {
        let (a, b) = (self.float(a), self.float(b));
        self.compare(CMPPS, a, b, predicate)
    }

    fn rounded(&mut self, a: Val, how: u8) -> Val {
        let a = self.float(a);
        self.inst(Form::UnaryImm, RNDSCALEPS, [a, NO, NO], how)
    }

    fn word_of(&self, val: Val) -> Option<u32> {
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

    pub fn as_inst(&self, val: Val) -> Option<Inst> {
        if val == NO {
            return None;
        }
        if let Node::Inst(inst) = self.node(val) { Some(inst) } else { None }
    }

    /// What an instruction on floats may take instead of `val`.
    fn float(&mut self, val: Val) -> Val {
        self.floats = true;
        match self.as_inst(val) {
            Some(Inst { form: Form::Flush, args: [inner, ..], .. }) if self.lazy => inner,
            _ => val,
        }
    }

    /// A choice among flushed values may be made before they are flushed.
    fn flushed_later(&self, val: Val) -> Option<(Val, bool)> {
        match self.node(val) {
            Node::Inst(Inst { form: Form::Flush, args: [inner, ..], .. }) if self.lazy => Some((inner, true)),
            Node::Word(word) if word & 0x7F80_0000 != 0 || word & 0x007F_FFFF == 0 => Some((val, false)),
            _ => None,
        }
    }

    /// Loads of the components of an element of `count` words, the first of which has the number `first`.
    pub fn group(&mut self, view: u8, first: Val, count: u32) -> [Val; 4] {
        let part = |g: &mut Graph, k| g.inst(Form::Part(k as u8), PGATHERDD, [first, NO, NO], view);
        let mut parts = [NO; 4];
        (0..count).for_each(|k| parts[k as usize] = part(self, k));
        parts[..count as usize].iter().for_each(|&val| _ = self.groups.insert(val, parts));
        parts
    }

    fn none(&mut self) -> Val {
        self.unsupported = true;
        self.word(0)
    }

    /// Shifts by a constant: digit 6 left, 2 right, 4 right with the sign.
    fn shifted(&mut self, a: Val, n: u32, digit: u8, variable: Enc, count: Val) -> Val {
        if n == 0 {
            a
        } else if n < 32 {
            self.inst(Form::Shift(digit), PSHIFTD, [a, NO, NO], n as u8)
        } else {
            self.binary(variable, a, count)
        }
    }

    /// Each half by the same instruction.
    fn halves(&mut self, enc: Enc, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        [0, 1].map(|k| self.symmetric(enc, a[k], b[k]))
    }

    fn halves_in_order(&mut self, enc: Enc, a: [Val; 2], b: [Val; 2]) -> [Val; 2] {
        [0, 1].map(|k| self.binary(enc, a[k], b[k]))
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
        let wide = halves.map(|half| self.inst(Form::Expand, PMOVM2Q, [half, NO, NO], 0));
        let words = self.inst(Form::BinaryImm, SHUFPS, [wide[0], wide[1], NO], 0x88);
        self.inst(Form::Collect, PMOVD2M, [words, NO, NO], 0)
    }

    /// The reverse.
    fn split(&mut self, mask: Val) -> [Val; 2] {
        if self.bool_of(mask).is_some() {
            return [mask; 2];
        }
        if let Some(Inst { form: Form::Collect, args: [words, ..], .. }) = self.as_inst(mask) {
            if let Some(Inst { form: Form::BinaryImm, args: [a, b, _], imm: 0x88, .. }) = self.as_inst(words)
            {
                if let [Some(a), Some(b)] = [a, b].map(|half| self.as_inst(half)) {
                    if a.form == Form::Expand && b.form == Form::Expand {
                        return [a.args[0], b.args[0]];
                    }
                }
            }
        }
        let words = self.mask(mask);
        self.pack(words, words).map(|half| self.inst(Form::Collect, PMOVQ2M, [half, NO, NO], 0))
    }

    fn compare_halves(&mut self, enc: Enc, a: [Val; 2], b: [Val; 2], predicate: u8) -> Val {
        let halves = [0, 1].map(|k| self.compare(enc, a[k], b[k], predicate));
        self.join(halves)
    }

    fn widened(&mut self, n: Val) -> [Val; 2] {
        let zero = self.word(0);
        self.pack(n, zero)
    }

    /// `mask ? a : 0`
    fn keep(&mut self, mask: Val, a: Val) -> Val {
        if let Some(mask) = self.bool_of(mask) {
            return if mask { a } else { self.word(0) };
        }
        match self.as_inst(a) {
            // What is flushed may as well be zero before.
            Some(Inst { form: Form::Flush, args: [inner, ..], .. }) => {
                let inner = self.keep(mask, inner);
                self.flush(inner)
            }
            Some(Inst { form: Form::Binary, enc: MULPS, args: [x, y, NO], .. })
                if self.plain && self.asks_for_zeros(mask, [x, y]) =>
            {
                self.plain_products.insert(a);
                a
            }
            Some(Inst { form: Form::Binary, enc, args: [x, y, NO], .. }) if !enc.wide() => {
                self.inst(Form::Binary, enc, [x, y, mask], 0)
            }
            _ => match self.word_of(a) {
                Some(0) => a,
                Some(u32::MAX) => self.mask(mask),
                _ => self.inst(Form::Keep, LOAD, [mask, a, NO], 0),
            },
        }
    }
}

impl Graph {
    /// Number of the texel that a coordinate means, with the nearest filter and clamped to the edges.
    fn texel(&mut self, coordinate: Val, normal: bool, offset: i32, size: Option<Val>, last: Val) -> Val {
        // Instructions may take a negative denormal as a zero, but it lies in the texel before. What is to be
        // flushed is a zero.
        let (plain, zero) = (self.float(coordinate), self.word(0));
        let below = if self.lazy && !normal && plain == coordinate {
            let (least, count) = (self.word(0x7FFF_FFFF), self.word(0x007F_FFFF));
            let place = self.iadd(coordinate, least);
            let tiny = self.ult(place, count);
            self.mask(tiny)
        } else {
            zero
        };
        let coordinate = plain;
        let value = size.map_or(coordinate, |size| self.binary(MULPS, coordinate, size));
        let number = self.is_nan(coordinate);
        let number = self.negate(number);
        let value = self.keep(number, value);
        // Within bounds where integers are safe.
        let (far, near) = (self.word(1.0e9f32.to_bits()), self.word((-1.0e9f32).to_bits()));
        let value = self.binary(MINPS, value, far);
        let value = self.binary(MAXPS, value, near);
        let value = self.ffloor(value);
        let whole = self.ftoi_raw(value);
        let whole = self.iadd(whole, below);
        let offset = self.word(offset as u32);
        let texel = self.iadd(whole, offset);
        let texel = self.binary(PMAXSD, texel, zero);
        self.binary(PMINSD, texel, last)
    }

    /// Number of the first word of the texel at `coordinates`, the second of which may be missing, in a view.
    pub fn sampled(&mut self, view: u8, sample: &Sample, coordinates: [Option<Val>; 2]) -> Val {
        let field = |g: &mut Graph, field| g.add(Node::Field(view, field));
        let size = |g: &mut Graph, of| (!sample.unnormalized).then(|| field(g, of));
        let [column, line] = coordinates;
        let mut word = self.word(0);
        if let Some(u) = column {
            let (size, last) = (size(self, Field::Width), field(self, Field::LastColumn));
            let column = self.texel(u, sample.normal[0], sample.offset[0], size, last);
            let words = self.word(sample.words);
            word = self.imul(column, words);
        }
        if let Some(v) = line {
            let (size, last) = (size(self, Field::Height), field(self, Field::LastLine));
            let line = self.texel(v, sample.normal[1], sample.offset[1], size, last);
            let pitch = field(self, Field::LineWords);
            let start = self.binary(PMULLD, line, pitch);
            word = self.iadd(word, start);
        }
        word
    }

    /// The lanes whose word is not 0.
    pub fn tested(&mut self, word: Val) -> Val {
        let mask = self.ine_zero(word);
        // A constant is tested as it is.
        if self.bool_of(mask).is_some() { self.inst(Form::Test, PTESTMD, [word, word, NO], 0) } else { mask }
    }

    /// Makes the lanes whose word is not 0 the result of the function.
    pub fn result(&mut self, word: Val) {
        let mask = self.tested(word);
        self.inst(Form::Return, LOAD, [mask, NO, NO], 0);
    }

    /// High halves of products: of the words with even numbers, then of the others.
    fn high_product(&mut self, multiply: Enc, a: Val, b: Val) -> Val {
        let down = |g: &mut Graph, v: Val| g.inst(Form::Shift(2), PSHIFTQ, [v, NO, NO], 32);
        // Constants are the same in both places.
        let odd = |g: &mut Graph, v: Val| if g.word_of(v).is_some() { v } else { down(g, v) };
        let even = self.binary(multiply, a, b);
        let (a, b) = (odd(self, a), odd(self, b));
        let odd = self.binary(multiply, a, b);
        let upper = self.add(Node::Quad(0xFFFF_FFFF_0000_0000));
        let (even, odd) = (down(self, even), self.binary(PANDQ, odd, upper));
        self.binary(PORD, even, odd)
    }
}
