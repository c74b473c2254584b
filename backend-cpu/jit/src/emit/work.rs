//! What is to be done for one strip, or for several at a time: then each value is there once for each, side by side, but for those that
//! do not depend on the strip. One strip's instructions go on while those of another wait for results.

use recal_il::ir::lines::Shape;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Graph, Inst, Leave, NO, Node, Val};
use crate::op::Op;
use crate::program::{Output, Straight};

/// Registers with the tests of a block, one for each strip.
pub type Tests = [u8; 2];

/// Most strips at a time; not more than two where not all lanes execute.
pub const MOST: u32 = 4;

/// A block for some strips. The number of a row is multiplied by how many there are; what is added says which.
pub struct Work {
    pub graph: Graph,
    pub outputs: Vec<Output>,
    /// Those of each strip, or the first one's, which the others share where all lanes execute.
    pub tests: Vec<Val>,
    /// Each strip's, of other values that were asked for.
    pub others: Vec<Vec<Val>>,
}

/// How many strips are done at a time, and what is known of them.
#[derive(Clone, Debug, Default)]
pub struct Strips {
    pub number: u32,
    /// How many of them are in a line.
    pub line: u32,
    /// Not all lanes execute.
    pub masked: bool,
    /// There is one value for all of them, and rows are the first one's.
    pub together: bool,
    /// Rows, and what is ready, by number, that some of them have in common: the first strip of those has it for all.
    pub rows: FxHashMap<u32, Common>,
    pub kept: FxHashMap<u32, Common>,
    /// Rows that all lines have in common when a function of one block begins.
    pub equal: FxHashSet<u32>,
    /// What is ready and one strip's is so much more than that of the one before in its line.
    pub steps: FxHashMap<u32, u32>,
}

/// Which strips have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    All,
    /// Those of a line.
    Line,
    /// Those at the same place of their lines.
    Lines,
}

impl Strips {
    /// The numbers of a row, of each strip that has it for itself or for others.
    pub fn rows(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.each(row, &self.rows)
    }

    /// The same of what is ready.
    pub fn kept(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        self.each(number, &self.kept)
    }

    /// The first strip of a strip's line.
    pub fn first(&self, strip: u32) -> u32 {
        strip - strip % self.line
    }

    /// The strip that has a row for a strip.
    pub fn of_row(&self, row: u32, strip: u32) -> u32 {
        self.holder(self.rows.get(&row), strip)
    }

    /// The number of what is ready for a strip.
    pub fn kept_for(&self, of: u32, strip: u32) -> u32 {
        self.number * of + self.holder(self.kept.get(&of), strip)
    }

    fn holder(&self, common: Option<&Common>, strip: u32) -> u32 {
        match common {
            None => strip,
            Some(Common::All) => 0,
            Some(Common::Line) => self.first(strip),
            Some(Common::Lines) => strip % self.line,
        }
    }

    fn each(&self, of: u32, common: &FxHashMap<u32, Common>) -> impl Iterator<Item = u32> + '_ {
        let common = common.get(&of).copied();
        let holds = move |strip: &u32| self.holder(common.as_ref(), *strip) == *strip;
        (0..self.number).filter(holds).map(move |strip| self.number * of + strip)
    }
}

impl Work {
    /// The work of a block, and of values in it.
    pub fn new(block: &Straight, others: &[Val], strips: &Strips) -> Work {
        let Straight { graph, outputs, test, .. } = block;
        Work::of(graph, outputs, *test, others, strips)
    }

    /// The same for what makes a block up.
    pub fn of(graph: &Graph, outputs: &[Output], test: Option<Val>, others: &[Val], strips: &Strips) -> Work {
        let number = strips.number;
        if number == 1 || strips.together {
            let mut graph = graph.to_extend();
            for node in &mut graph.nodes {
                if let Node::Row(row) = node {
                    *row *= number;
                }
            }
            return Work {
                graph,
                outputs: outputs.to_vec(),
                tests: test.into_iter().collect(),
                others: others.iter().map(|&val| vec![val]).collect(),
            };
        }
        let (repeated, place) = repeated(graph, strips);
        let all = |val: Val| &place[val.index()][..number as usize];
        let outputs = outputs.iter().flat_map(|&Output { row, val, unseen }| {
            strips.rows(row).map(move |row| Output { row, val: all(val)[(row % number) as usize], unseen })
        });
        let own = if strips.masked { number } else { 1 };
        Work {
            outputs: outputs.collect(),
            tests: test.into_iter().flat_map(|test| all(test)[..own as usize].to_vec()).collect(),
            others: others.iter().map(|&val| all(val).to_vec()).collect(),
            graph: repeated,
        }
    }
}

/// The graph of several strips, and where each has a value.
fn repeated(graph: &Graph, strips: &Strips) -> (Graph, Vec<[Val; MOST as usize]>) {
    let &Strips { number, masked, .. } = strips;
    let mut to = Graph::new(graph.lazy);
    let mut place: Vec<[Val; MOST as usize]> = Vec::with_capacity(graph.nodes.len());
    // By how much a strip's value is more than that of the one before in its line, if that is known.
    let mut steps: Vec<Option<u32>> = Vec::with_capacity(graph.nodes.len());
    for (val, &node) in graph.numbered() {
        to.step = graph.origin(val);
        let mut each = |node: &dyn Fn(u32) -> Node| {
            let mut all = [NO; MOST as usize];
            (0..number).for_each(|strip| all[strip as usize] = to.add(node(strip)));
            all
        };
        let mut step = None;
        let all = match node {
            Node::Row(row) if strips.rows.contains_key(&row) => {
                each(&|strip| Node::Row(number * row + strips.of_row(row, strip)))
            }
            Node::Row(row) => {
                let same = !masked && graph.same.contains(&val);
                let first = |strip: u32| if same { strips.first(strip) } else { strip };
                let place =
                    |strip: u32| if strips.equal.contains(&row) { strip % strips.line } else { strip };
                each(&|strip| Node::Row(number * row + place(first(strip))))
            }
            Node::Kept(of) => {
                step = strips.steps.get(&of).copied();
                let common = strips.kept.get(&of);
                each(&|strip| Node::Kept(number * of + strips.holder(common, strip)))
            }
            Node::Inst(inst) => {
                let moved = |strip: u32| {
                    let moved = |arg: Val| if arg == NO { NO } else { place[arg.index()][strip as usize] };
                    Node::Inst(Inst { op: inst.op, args: inst.args.map(moved), mask: moved(inst.mask) })
                };
                if let Inst { op: Op::Add, args: [a, b, _], mask: NO } = inst {
                    let known = steps[a.index()].zip(steps[b.index()]);
                    step = known.map(|(a, b)| a.wrapping_add(b));
                }
                // What is the same for a line is loaded once.
                let loads = inst.op.loads();
                let same = loads && !masked && graph.shape_of(inst.args[0]) == Shape::Same;
                match () {
                    () if same => each(&|strip| moved(strips.first(strip))),
                    () if inst.op.pure() || loads && !masked => each(&moved),
                    () => {
                        let mut all = [NO; MOST as usize];
                        all[0] = to.add(moved(0));
                        (1..number)
                            .for_each(|strip| all[strip as usize] = to.apart(moved(strip), strip as u8));
                        all
                    }
                }
            }
            node => each(&|_| node),
        };
        if (0..number).all(|strip| all[strip as usize] == all[strips.first(strip) as usize]) {
            step = Some(0);
        }
        if let Node::Inst(Inst { op: Op::Member(..), args: [first, ..], .. }) = node
            && let Some(by @ 1..) = steps[first.index()]
        {
            let of = |strip: u32| place[first.index()][strips.first(strip) as usize];
            let others = (0..number).filter(|strip| strips.first(*strip) < *strip);
            to.beside.extend(others.map(|strip| {
                (all[strip as usize], (of(strip), by.wrapping_mul(strip - strips.first(strip))))
            }));
        }
        place.push(all);
        steps.push(step);
        let shape = graph.shape_of(val);
        all[..number as usize].iter().for_each(|&val| to.shape(val, shape));
    }
    let all = |val: Val| (0..number as usize).map(move |strip| (strip, val.index()));
    for leave in &graph.leaves {
        let of =
            |(strip, val): (usize, usize)| Leave { test: place[val][strip], strip: strip as u8, ..*leave };
        to.leaves.extend(all(leave.test).map(of));
    }
    for &(view, val) in &graph.inside {
        to.inside.extend(all(val).map(|(strip, val)| (view, place[val][strip])));
    }
    for (&val, parts) in &graph.groups {
        for (strip, val) in all(val) {
            let parts = parts.map(|part| if part == NO { NO } else { place[part.index()][strip] });
            to.groups.insert(place[val][strip], parts);
        }
    }
    (to, place)
}
