//! In which order sums grow: so many of them are in registers, and take what they have in common while it is there, too.

use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::Output;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// How the instructions of a block that adds up products are arranged.
#[derive(Clone, Debug, Default)]
pub struct Arrange {
    /// Sums that grow together; 0: all is done as it is written.
    pub sums: usize,
    /// Those of the same lanes, else those of the same elements.
    pub by_lanes: bool,
    /// They go on in other rows than they began in: sums in the order in which they are written grow together.
    pub moving: bool,
    /// Which of the vectors of elements rows hold.
    pub members: FxHashMap<u32, u32>,
}

impl Arrange {
    /// The same instructions, each after those that it needs.
    pub fn order(
        &self,
        graph: &Graph,
        order: Vec<Val>,
        outputs: &[Output],
        operands: Operands<'_>,
    ) -> Vec<Val> {
        if self.sums == 0 {
            return order;
        }
        let mut sums: Vec<(u32, Vec<Val>, Val)> = outputs
            .iter()
            .filter_map(|output| {
                let from = (!self.moving).then_some(output.row);
                let member = self.members.get(&output.row).copied().unwrap_or(0);
                Some((member, growth(graph, output.val, from)?, output.val))
            })
            .collect();
        if self.by_lanes {
            sums.sort_by_key(|(member, ..)| *member);
        }
        if self.moving {
            sums.sort_by_key(|(_, steps, _)| steps.last().copied());
        }
        let mut done = undone(graph, &order);
        let mut arranged = Vec::with_capacity(order.len());
        for together in sums.chunks(self.sums) {
            let most = together.iter().map(|(_, steps, _)| steps.len()).max().unwrap_or(0);
            for step in 0..most {
                together.iter().filter_map(|(_, steps, _)| steps.get(step)).for_each(|val| {
                    demand(graph, operands, *val, &mut done, &mut arranged);
                });
            }
            together.iter().for_each(|(_, _, val)| demand(graph, operands, *val, &mut done, &mut arranged));
        }
        order.into_iter().for_each(|val| demand(graph, operands, val, &mut done, &mut arranged));
        arranged
    }
}

/// The same instructions, these values first.
pub fn first(graph: &Graph, order: Vec<Val>, wanted: &FxHashSet<Val>, operands: Operands<'_>) -> Vec<Val> {
    if wanted.is_empty() {
        return order;
    }
    let mut done = undone(graph, &order);
    let mut arranged = Vec::with_capacity(order.len());
    let first: Vec<Val> = order.iter().filter(|val| wanted.contains(val)).copied().collect();
    first.into_iter().chain(order).for_each(|val| demand(graph, operands, val, &mut done, &mut arranged));
    arranged
}

fn undone(graph: &Graph, order: &[Val]) -> Vec<bool> {
    let mut done = vec![true; graph.nodes.len()];
    order.iter().for_each(|val| done[*val as usize] = false);
    done
}

/// What an instruction needs.
pub type Operands<'a> = &'a dyn Fn(Val, Inst) -> Args;
/// Few values.
pub type Args = SmallVec<[Val; 4]>;

/// Appends what a value needs, and the value.
fn demand(graph: &Graph, operands: Operands<'_>, val: Val, done: &mut [bool], order: &mut Vec<Val>) {
    let mut open = vec![val];
    while let Some(&val) = open.last() {
        if done[val as usize] {
            open.pop();
            continue;
        }
        let before = open.len();
        let args = graph.as_inst(val).into_iter().flat_map(|inst| operands(val, inst));
        open.extend(args.filter(|arg| !done[*arg as usize]));
        // The first operand is computed first.
        open[before..].reverse();
        if open.len() == before {
            done[val as usize] = true;
            order.push(val);
            open.pop();
        }
    }
}

/// Values of a block that grow so, by more than one step.
pub fn grown(graph: &Graph, outputs: &[Output]) -> usize {
    let grows = |output: &&Output| growth(graph, output.val, None).is_some_and(|steps| steps.len() > 1);
    outputs.iter().filter(grows).count()
}

/// How a row, or any, becomes a value by adding to it, first sum first. Of 64-bit elements it is a vector of them, which two rows become and of which
/// the row has the low or the high words.
fn growth(graph: &Graph, mut val: Val, row: Option<u32>) -> Option<Vec<Val>> {
    let mut steps = Vec::new();
    match graph.as_inst(val) {
        Some(Inst { op: Op::Even, args: [first, ..], mask: NO }) => val = first,
        Some(Inst { op: Op::Odd, args: [_, second, _], mask: NO }) => val = second,
        _ => {}
    }
    let is_row = |val: Val| matches!(graph.node(val), Node::Row(from) if row.is_none_or(|row| row == from));
    let from_row = |val: Val| match graph.as_inst(val) {
        Some(Inst { op: Op::ZipLow | Op::ZipHigh, args: [low, high, _], mask: NO }) => {
            is_row(low) || is_row(high)
        }
        _ => is_row(val),
    };
    loop {
        if from_row(val) {
            steps.reverse();
            return Some(steps);
        }
        let inst = graph.as_inst(val)?;
        steps.push(val);
        let grows = |val: &&Val| match graph.node(**val) {
            _ if from_row(**val) => true,
            Node::Inst(inst) => {
                matches!(inst.op, Op::FAdd | Op::DAdd | Op::FFma | Op::DFma | Op::Select | Op::QSelect)
            }
            _ => false,
        };
        let from = match inst.op {
            Op::FAdd | Op::DAdd => &inst.args[..2],
            Op::FFma | Op::DFma => &inst.args[2..],
            // Its canonical form.
            Op::Select | Op::QSelect => &inst.args[1..],
            _ => return None,
        };
        val = *from.iter().find(grows)?;
    }
}
