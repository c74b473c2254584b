//! A function as a vector program: blocks without flow, and constructs around them. Machine code is made of it
//! ([`crate::emit`]), or it is evaluated ([`crate::evaluate`]).

use crate::graph::{Graph, Val};

/// A function.
#[derive(Debug)]
pub struct Program {
    pub parts: Vec<Part>,
    /// Operations on floats take denormals as zeros.
    pub lazy: bool,
    /// Something in it loops.
    pub loops: bool,
    /// The lanes of a strip take the same way, if all of them execute.
    pub together: bool,
    /// It has 64-bit elements that can stay whole if all lanes execute.
    pub wide: bool,
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
    /// Lanes leave the innermost loop whose test is as said, or all; and the step.
    Break(Option<bool>, u32),
}

/// Repeats the body until all lanes have left.
#[derive(Debug)]
pub struct Loop {
    /// What the body finds ready, by number: values of a graph.
    pub kept: Option<(Graph, Vec<Val>)>,
    pub body: Vec<Part>,
    /// The rows of an innermost loop that are used most, most first.
    pub hot: Vec<u32>,
    /// The step that it is.
    pub step: u32,
}

/// Operations without flow.
#[derive(Debug)]
pub struct Block {
    pub body: Straight,
    /// The same without some tests, and the lanes for which they would have been needed: without any of them, what it
    /// computes is right. It does nothing but compute.
    pub attempt: Option<(Straight, Val)>,
}

/// What is computed, and what is kept of it.
#[derive(Debug)]
pub struct Straight {
    pub graph: Graph,
    pub outputs: Vec<Output>,
    /// The test of the construct that follows.
    pub test: Option<Val>,
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
        Part::Break(..) => 0,
    };
    list.iter().map(of).sum()
}

/// Lanes leave the loop around the list.
pub fn breaks(list: &[Part]) -> bool {
    list.iter().any(|part| match part {
        Part::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        Part::Break(..) => true,
        Part::Block(_) | Part::Loop(_) => false,
    })
}
