//! What is to be done for one strip, or for two at a time: then each value is there twice, side by side, but for those that do
//! not depend on the strip. One strip's instructions go on while those of the other wait for results.

use recal_il::ir::lines::Shape;

use crate::graph::{Graph, Inst, Leave, NO, Node, Val};
use crate::op::Op;
use crate::program::{Output, Straight};

/// Registers with the tests of a block, one for each strip.
pub type Tests = [u8; 2];

/// A block for one strip or two. With two, the number of a row is doubled, and odd in the second.
pub struct Work {
    pub graph: Graph,
    pub outputs: Vec<Output>,
    /// Those of each strip.
    pub tests: Vec<Val>,
    /// The same of other values that were asked for.
    pub others: Vec<Vec<Val>>,
}

impl Work {
    /// The work of a block, and of values in it; `masked`: not all lanes execute.
    pub fn new(block: &Straight, others: &[Val], strips: u32, masked: bool) -> Work {
        let Straight { graph, outputs, test, .. } = block;
        Work::of(graph, outputs, *test, others, strips, masked)
    }

    /// The same for what makes a block up.
    pub fn of(
        graph: &Graph,
        outputs: &[Output],
        test: Option<Val>,
        others: &[Val],
        strips: u32,
        masked: bool,
    ) -> Work {
        let one = |val: Val| vec![val];
        if strips == 1 {
            let others = others.iter().copied().map(one).collect();
            return Work {
                graph: graph.to_extend(),
                outputs: outputs.to_vec(),
                tests: test.into_iter().collect(),
                others,
            };
        }
        let (doubled, place) = doubled(graph, masked);
        let both = |val: Val| place[val as usize];
        let output = |&Output { row, val, unseen }: &Output| {
            [0, 1].map(|strip| Output { row: 2 * row + strip, val: both(val)[strip as usize], unseen })
        };
        Work {
            outputs: outputs.iter().flat_map(output).collect(),
            tests: test.into_iter().flat_map(both).collect(),
            others: others.iter().map(|&val| both(val).to_vec()).collect(),
            graph: doubled,
        }
    }
}

/// The graph of two strips, and where both have a value.
fn doubled(graph: &Graph, masked: bool) -> (Graph, Vec<[Val; 2]>) {
    let mut to = Graph::new(graph.lazy);
    let mut place: Vec<[Val; 2]> = Vec::with_capacity(graph.nodes.len());
    for (val, &node) in (0..).zip(&graph.nodes) {
        to.step = graph.origin(val);
        let both = match node {
            // Two strips are of one line.
            Node::Row(row) if !masked && graph.same.contains(&val) => [to.add(Node::Row(2 * row)); 2],
            Node::Row(row) => [0, 1].map(|strip| to.add(Node::Row(2 * row + strip))),
            Node::Kept(number) => [0, 1].map(|strip| to.add(Node::Kept(2 * number + strip))),
            Node::Inst(inst) => {
                let moved = |strip: usize| {
                    let moved = |arg: Val| if arg == NO { NO } else { place[arg as usize][strip] };
                    Node::Inst(Inst { op: inst.op, args: inst.args.map(moved), mask: moved(inst.mask) })
                };
                // What is the same for a line is loaded once.
                let loads = matches!(inst.op, Op::Load(_) | Op::Part(..) | Op::Pair(..) | Op::Member(..));
                let same = loads && !masked && graph.shape_of(inst.args[0]) == Shape::Same;
                let first = to.add(moved(0));
                let second = match () {
                    () if same => first,
                    () if inst.op.pure() || loads && !masked => to.add(moved(1)),
                    () => to.apart(moved(1)),
                };
                [first, second]
            }
            node => [to.add(node); 2],
        };
        place.push(both);
        let shape = graph.shape_of(val);
        both.into_iter().for_each(|val| to.shape(val, shape));
    }
    let both = |leave: &Leave| {
        [0, 1].map(|strip| Leave { test: place[leave.test as usize][strip as usize], strip, ..*leave })
    };
    to.leaves = graph.leaves.iter().flat_map(both).collect();
    to.inside =
        graph.inside.iter().flat_map(|&(view, val)| place[val as usize].map(|val| (view, val))).collect();
    for (&val, parts) in &graph.groups {
        for strip in [0, 1] {
            let parts = parts.map(|part| if part == NO { NO } else { place[part as usize][strip] });
            to.groups.insert(place[val as usize][strip], parts);
        }
    }
    (to, place)
}
