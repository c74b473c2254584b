//! Loops that go through memory in steps which only run time knows, as down a column of a matrix: no processor guesses them from one page
//! to the next, so what later rounds read is asked for.

use recal_il::ir::lines::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Body;
use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::{Part, Straight};

/// Bytes of a line of the caches.
const LINE: u32 = 64;
/// Steps that are known and no shorter are as hard to guess.
const LONG: u32 = 2048;

/// Rows that each round of a loop makes more by what it does not change; none where loops or calls are in it.
pub fn walks(body: &[Part]) -> FxHashSet<u32> {
    let mut written = FxHashMap::default();
    let mut blocks = Vec::new();
    if !collect(body, true, &mut blocks, &mut written) {
        return FxHashSet::default();
    }
    let walks = |row: u32, of: &Straight| {
        let val = of.outputs.iter().find(|output| output.row == row).map(|output| output.val);
        let fixed = |row: &u32| !written.contains_key(row);
        val.and_then(|val| sum(&of.graph, val)).is_some_and(|found| {
            let (own, others): (Vec<u32>, Vec<u32>) = found.rows.iter().partition(|of| **of == row);
            own.len() == 1
                && others.iter().all(fixed)
                && (found.unknown || !others.is_empty() || found.words >= LONG)
        })
    };
    let all = blocks.iter().flat_map(|of| of.outputs.iter().map(move |output| (output.row, *of)));
    all.filter(|(row, of)| written[row] == 1 && walks(*row, of)).map(|(row, _)| row).collect()
}

/// Notes the blocks that every round runs, and how often rows are written; false if it does not consist of blocks alone.
fn collect<'a>(
    body: &'a [Part],
    always: bool,
    blocks: &mut Vec<&'a Straight>,
    written: &mut FxHashMap<u32, u32>,
) -> bool {
    body.iter().all(|part| match part {
        Part::Block(block) => {
            for output in &block.body.outputs {
                *written.entry(output.row).or_default() += if always { 1 } else { 2 };
            }
            if always {
                blocks.push(&block.body);
            }
            true
        }
        Part::If { then, otherwise, .. } => {
            collect(then, false, blocks, written) && collect(otherwise, false, blocks, written)
        }
        Part::Break(..) => true,
        Part::Loop(_) | Part::Call(_) | Part::Emit(_) => false,
    })
}

/// What is added up to something.
#[derive(Default)]
struct Sum {
    rows: Vec<u32>,
    words: u32,
    /// Something is that only run time knows, beside rows.
    unknown: bool,
}

/// A sum of rows and constants.
fn sum(graph: &Graph, val: Val) -> Option<Sum> {
    const MOST: usize = 16;
    let (mut found, mut open, mut count) = (Sum::default(), vec![val], 0);
    while let Some(val) = open.pop() {
        count += 1;
        match graph.node(val) {
            _ if count > MOST => return None,
            Node::Inst(Inst { op: Op::Add, args: [a, b, _], mask: NO }) => open.extend([a, b]),
            Node::Row(row) => found.rows.push(row),
            Node::Word(word) => found.words = found.words.wrapping_add(word),
            Node::Kept(_) | Node::Field(..) => found.unknown = true,
            _ => return None,
        }
    }
    Some(found)
}

impl Body<'_, '_> {
    /// The place on the stack for the address of a load whose words will lie elsewhere in each round; one load of a block asks for a line.
    pub(super) fn walk(&mut self, index: Val) -> Option<u32> {
        let Inst { op: Op::ShrBy(2), args: [address, ..], .. } = self.graph.as_inst(index)? else {
            return None;
        };
        let lanes = self.target.lanes();
        let known = matches!(self.graph.shape_of(index).among(lanes), Shape::Same | Shape::Step(1));
        let number = self.frame.strips.number;
        let walks = &self.frame.walks;
        let found = sum(self.graph, address).filter(|_| known && !walks.is_empty())?;
        let row = found.rows.into_iter().find(|row| walks.contains_key(&(row / number)))?;
        let begins = row % number * lanes * 4 % LINE == 0;
        (begins && self.walked.insert(row)).then(|| walks[&(row / number)])
    }
}
