//! A function as a vector program: blocks without flow, and constructs around them. Machine code is made of it
//! ([`crate::emit`]), or it is evaluated ([`crate::evaluate`]).

use crate::call::Act;
use crate::emit::Trail;
use crate::graph::interleaved::Words;
use crate::graph::{Field, Graph, Node, Val};
use crate::op::Op;
use rustc_hash::FxHashSet;

/// A function.
#[derive(Debug, Default)]
pub struct Program {
    pub parts: Vec<Part>,
    /// Operations on floats take denormals as zeros.
    pub lazy: bool,
    /// It is what all threads of a group do, and done once for a wave, whichever lanes execute.
    pub group: bool,
    /// Something in it loops.
    pub loops: bool,
    /// Something in it is called.
    pub calls: bool,
    /// The lanes of a strip take the same way, if all of them execute.
    pub together: bool,
    /// It has 64-bit elements that can stay whole if all lanes execute.
    pub wide: bool,
    /// Views of whose words, where there are no loops, those are asked for that lie behind the ones that a line reads: bit k is view k.
    pub next: u32,
    /// What of its loads is remembered from round to round.
    pub trail: Trail,
    /// Stores that learn how their words lie, of functions before.
    pub learned: u32,
    /// Words of views that are so much more when it has been done for a wave: view, word, and by how much.
    pub grown: Vec<(u8, Field, u32)>,
    /// Rows that all lines have in common when it begins.
    pub equal: FxHashSet<u32>,
    /// Lines take the same way, if all lanes execute.
    pub abreast: bool,
    /// The step that is a loop, in no construct, which may be left with the lanes that execute; strips with such lanes, and those of the wave after
    /// them, end then.
    pub repacks: Option<u32>,
}

/// Part of a function.
#[derive(Debug)]
pub enum Part {
    Block(Box<Block>),
    /// Two sides; lanes whose test is `nonzero` take the first. The test is that of the block before.
    If {
        nonzero: bool,
        then: Vec<Part>,
        otherwise: Vec<Part>,
        /// The step that it is.
        step: u32,
    },
    Loop(Box<Loop>),
    /// What lanes do one after another; in no loop.
    Call(Box<Call>),
    /// Lanes leave the innermost loop whose test is as said, or all; and the step.
    Break(Option<bool>, u32),
    /// The function ends with elements that are stored one after another, for strips whose lanes all execute.
    Emit(Box<Emitted>),
}

/// See [`Act`]; the view is that of the first operand.
#[derive(Debug)]
pub struct Call {
    pub act: Act,
    pub view: u8,
    pub graph: Graph,
    pub operands: Vec<Val>,
    /// Rows of the result.
    pub to: [u32; 2],
    /// The step that it is.
    pub step: u32,
}

/// Elements that a function stores last, see [`crate::Step::Emit`].
#[derive(Debug)]
pub struct Emitted {
    /// A way that is tried first: it changes nothing but what it stores in the end.
    pub whole: Option<Whole>,
    /// Leaves the words of elements in rows.
    pub block: Block,
    pub elements: Vec<Element>,
}

/// What is stored by [`crate::Step::Emit`].
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub view: u8,
    pub rows: Words<u32>,
    pub count: u32,
    pub past_caches: bool,
}

/// Elements that stay as they lie in memory from where they are loaded to where they are stored, and products without tests.
#[derive(Debug)]
pub struct Whole {
    /// What it finds ready, by number.
    pub kept: Option<(Graph, Vec<Val>)>,
    /// Those of it that must step from lane to lane, and by how much.
    pub steps: Vec<(u32, u32)>,
    /// That is looked at once, for all strips, before the first, in a function that does nothing else.
    pub once: Option<Once>,
    pub body: Straight,
    /// Lanes that are in doubt.
    pub doubted: Option<Val>,
    /// The vectors of each element.
    pub values: Vec<Words>,
}

/// What a way finds ready is but addresses, and depends on a row of columns, which are one more from lane to lane, and on what all lanes
/// have. A strip is good where its first lane's are as far from where a strip in the middle is as it is from that, and its last lane's
/// where they should be then.
#[derive(Debug)]
pub struct Once {
    /// The row.
    pub column: u32,
    /// What elements are at distances from.
    pub starts: Vec<Start>,
    pub members: Vec<Placed>,
}

/// An address that is kept from strip to strip.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub view: u8,
    /// The number of what is ready.
    pub number: u32,
    /// Words of an element.
    pub step: u32,
}

/// Where elements are.
#[derive(Debug)]
pub struct Placed {
    /// The number of what is ready, and of the same for the last lane.
    pub number: u32,
    pub last: u32,
    /// Which of the starts it is so many words behind.
    pub start: u8,
    pub words: u32,
}

/// Repeats the body until all lanes have left.
#[derive(Debug, Default)]
pub struct Loop {
    /// What the body finds ready, by number: values of a graph.
    pub kept: Option<(Graph, Vec<Val>)>,
    pub body: Vec<Part>,
    /// The rows of an innermost loop that are used most, most first.
    pub hot: Vec<u32>,
    /// The step that it is.
    pub step: u32,
    /// Another way, which is tried first.
    pub sums: Option<Box<Sums>>,
    /// What is done around the loop, unless the other way was good.
    pub before: Option<Box<Block>>,
    pub after: Option<Box<Block>>,
}

/// A loop in which elements stay as they lie in memory and products are added up without asking for zeros, for strips whose lanes
/// all execute. If it can't be believed in the end, or does not begin as it must, nothing has changed.
#[derive(Debug)]
pub struct Sums {
    /// What the body finds ready, by number.
    pub kept: (Graph, Vec<Val>),
    /// Those of it that must step from lane to lane, and by how much.
    pub steps: Vec<(u32, u32)>,
    /// Lanes for which it does not begin as it must.
    pub entry: Option<(Straight, Val)>,
    /// Rows that hold the words of elements, and others that the body changes.
    pub elements: Vec<Words<u32>>,
    pub rows: Vec<u32>,
    /// Those of the latter, and what is ready, by number, that are the same for all lanes of a line.
    pub same_rows: Vec<u32>,
    pub same_kept: Vec<u32>,
    /// Rows, and what is ready, by number, that all lines have in common ([`crate::lines`]).
    pub equal_rows: FxHashSet<u32>,
    pub equal_kept: FxHashSet<u32>,
    pub body: Vec<Part>,
    /// Another way for many rounds, where there is one.
    pub reduced: Option<Reduced>,
    /// As of [`Loop`].
    pub hot: Vec<u32>,
    /// What is done last, and the lanes that are in doubt.
    pub exit: (Straight, Option<Val>),
}

/// Rounds of a loop whose addresses go on by steps: they are not computed then, but added to (strength reduction).
#[derive(Debug)]
pub struct Reduced {
    /// So many rounds at a time.
    pub rounds: u32,
    /// Leaves what is ready for them, and for the loop's other rounds, and the lanes for which addresses do not go on so long.
    pub entry: (Straight, Val),
    /// The lanes for which, when they have gone on so long, they do not go on for as many rounds more; as an entry's value.
    pub again: Val,
    pub inductions: Vec<Induction>,
    /// The loop's body, where accesses find their words ready. Nothing else reads those.
    pub body: Vec<Part>,
}

/// An induction variable: what is ready, by number, and more in each round.
#[derive(Clone, Copy, Debug)]
pub struct Induction {
    pub number: u32,
    /// The number of that which it is more by.
    pub by: u32,
    /// By how much it steps from lane to lane, if it does.
    pub step: Option<u32>,
}

/// Operations without flow.
#[derive(Debug)]
pub struct Block {
    pub body: Straight,
    /// The same without some tests, and the lanes for which they would have been needed: without any of them, what it
    /// computes is right. It does nothing but compute. [`NO`](crate::graph::NO): nothing is in doubt but where it loads from, and it may store once.
    pub attempt: Option<(Straight, Val)>,
}

/// The block before a construct tests the other way round if that saves an operation; true if it does.
pub fn turned(parts: &mut [Part]) -> bool {
    if let Some(Part::Block(block)) = parts.last_mut() { block.turn() } else { false }
}

impl Block {
    /// Tests what its test is the complement of, if it is one; true if it does now.
    fn turn(&mut self) -> bool {
        let tests: Option<Vec<Val>> = self.versions().map(|of| of.graph.complemented(of.test?)).collect();
        let turned = tests.is_some();
        let of_each = self.versions_mut().zip(tests.unwrap_or_default());
        of_each.for_each(|(of, test)| of.test = Some(test));
        turned
    }

    fn versions(&self) -> impl Iterator<Item = &Straight> {
        std::iter::once(&self.body).chain(self.attempt.iter().map(|(of, _)| of))
    }

    fn versions_mut(&mut self) -> impl Iterator<Item = &mut Straight> {
        std::iter::once(&mut self.body).chain(self.attempt.iter_mut().map(|(of, _)| of))
    }
}

/// What is computed, and what is kept of it.
#[derive(Debug)]
pub struct Straight {
    pub graph: Graph,
    pub outputs: Vec<Output>,
    /// The test of the construct that follows.
    pub test: Option<Val>,
    /// What the next round of the loop finds ready instead, by number.
    pub next: Vec<(u32, Val)>,
}

/// What a row is to hold.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub row: u32,
    pub val: Val,
    /// Nobody sees what lanes that do not execute have in it.
    pub unseen: bool,
}

/// Values of a list.
pub fn size(list: &[Part]) -> usize {
    let of = |part: &Part| match part {
        Part::Block(block) => block.body.graph.nodes.len(),
        Part::If { then, otherwise, .. } => size(then) + size(otherwise),
        Part::Loop(of) => size(&of.body),
        Part::Call(of) => of.graph.nodes.len(),
        Part::Emit(of) => of.block.body.graph.nodes.len(),
        Part::Break(..) => 0,
    };
    list.iter().map(of).sum()
}

/// The most values that a step of a list becomes.
pub fn longest(list: &[Part]) -> usize {
    let of = |part: &Part| match part {
        Part::Block(block) => block.body.graph.longest(),
        Part::If { then, otherwise, .. } => longest(then).max(longest(otherwise)),
        Part::Loop(of) => longest(&of.body),
        Part::Call(of) => of.graph.longest(),
        Part::Emit(of) => of.block.body.graph.longest(),
        Part::Break(..) => 0,
    };
    list.iter().map(of).max().unwrap_or(0)
}

/// A loop in a list adds up products of whole elements.
pub fn sums(list: &[Part]) -> bool {
    list.iter().any(|part| match part {
        Part::If { then, otherwise, .. } => sums(then) || sums(otherwise),
        Part::Loop(of) => of.sums.is_some() || sums(&of.body),
        _ => false,
    })
}

/// Something in a list computes with floats.
pub fn floats(list: &[Part]) -> bool {
    let of =
        |graph: &Graph| graph.nodes.iter().any(|node| matches!(node, Node::Inst(inst) if inst.op.floats()));
    let block = |block: &Block| of(&block.body.graph);
    list.iter().any(|part| match part {
        Part::Block(of) => block(of),
        Part::If { then, otherwise, .. } => floats(then) || floats(otherwise),
        Part::Loop(inner) => {
            let around = || inner.before.iter().chain(&inner.after).any(|of| block(of));
            floats(&inner.body) || around() || inner.kept.as_ref().is_some_and(|(graph, _)| of(graph))
        }
        Part::Call(call) => of(&call.graph),
        Part::Emit(of) => block(&of.block),
        Part::Break(..) => false,
    })
}

/// Something in a list stores words.
pub fn stores(list: &[Part]) -> bool {
    let store = |node: &Node| matches!(node, Node::Inst(inst) if matches!(inst.op, Op::Store(_)));
    list.iter().any(|part| match part {
        Part::Block(of) => of.body.graph.nodes.iter().any(store),
        Part::If { then, otherwise, .. } => stores(then) || stores(otherwise),
        Part::Loop(of) => stores(&of.body),
        Part::Call(_) | Part::Emit(_) | Part::Break(..) => false,
    })
}

/// Lanes leave the loop around the list.
pub fn breaks(list: &[Part]) -> bool {
    list.iter().any(|part| match part {
        Part::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        Part::Break(..) => true,
        Part::Block(_) | Part::Loop(_) | Part::Call(_) | Part::Emit(_) => false,
    })
}
