//! In which order sums grow: so many of them are in registers, and take what they have in common while it is there, too. And what comes first,
//! or two by two.

use crate::graph::{Args, Graph, Inst, NO, Node, Val};
use crate::op::Op;
use crate::program::Output;
use rustc_hash::{FxHashMap, FxHashSet};

/// How the instructions of a block that adds up products are arranged.
#[derive(Clone, Debug, Default)]
pub struct Arrange {
    /// Sums that grow together; 0: all is done as it is written.
    pub sums: usize,
    /// Which of them.
    pub together: Together,
    /// They go on in other rows than they began in: sums in the order in which they are written grow together.
    pub moving: bool,
    /// Which of the vectors of elements rows hold.
    pub members: FxHashMap<u32, u32>,
}

/// Which sums grow together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Together {
    /// Those of the same elements.
    #[default]
    Elements,
    /// Those of the same lanes.
    Lanes,
    /// The products of so many factors with as many others as there is room for: each factor is loaded for several of them.
    Factors(usize),
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
        match self.together {
            Together::Elements => {}
            Together::Lanes => sums.sort_by_key(|(member, ..)| *member),
            Together::Factors(first) => {
                let others = (self.sums / first).max(1);
                let ranks = ranks(graph, sums.iter().map(|(_, steps, _)| steps[0]));
                let key = |[one, other]: [usize; 2]| [one / first, other / others, other, one];
                let mut keyed: Vec<_> = ranks.into_iter().map(key).zip(sums).collect();
                keyed.sort_by_key(|(key, _)| *key);
                sums = keyed.into_iter().map(|(_, sum)| sum).collect();
            }
        }
        if self.moving {
            sums.sort_by_key(|(_, steps, _)| steps.last().copied());
        }
        let mut done = undone(operands.len(), &order);
        let mut arranged = Vec::with_capacity(order.len());
        for together in sums.chunks(self.sums) {
            let most = together.iter().map(|(_, steps, _)| steps.len()).max().unwrap_or(0);
            for step in 0..most {
                together.iter().filter_map(|(_, steps, _)| steps.get(step)).for_each(|val| {
                    demand(operands, *val, &mut done, &mut arranged);
                });
            }
            together.iter().for_each(|(_, _, val)| demand(operands, *val, &mut done, &mut arranged));
        }
        order.into_iter().for_each(|val| demand(operands, val, &mut done, &mut arranged));
        arranged
    }
}

/// Of sums of products, by the values that they become first: which of all their first factors, and of all their second ones, each has. A factor is a first one, or a
/// second one, of all of them.
fn ranks(graph: &Graph, sums: impl Iterator<Item = Val>) -> Vec<[usize; 2]> {
    let mut known: [FxHashMap<Val, usize>; 2] = Default::default();
    let mut rank = |val: Val| {
        let Some([mut one, mut other]) = factors(graph, val) else { return [usize::MAX; 2] };
        if known[1].contains_key(&one) || known[0].contains_key(&other) {
            std::mem::swap(&mut one, &mut other);
        }
        [(0, one), (1, other)].map(|(at, factor)| {
            let next = known[at].len();
            *known[at].entry(factor).or_insert(next)
        })
    };
    sums.map(&mut rank).collect()
}

/// The factors of the product that becomes part of a sum.
fn factors(graph: &Graph, val: Val) -> Option<[Val; 2]> {
    let of = |inst: Inst, ops: [Op; 2]| ops.contains(&inst.op).then_some([inst.args[0], inst.args[1]]);
    let inst = graph.as_inst(val)?;
    let mut parts = inst.operands().filter_map(|arg| graph.as_inst(arg));
    of(inst, [Op::FFma, Op::DFma]).or_else(|| parts.find_map(|part| of(part, [Op::FMul, Op::DMul])))
}

/// The same instructions, these values first.
pub fn first(order: Vec<Val>, wanted: &FxHashSet<Val>, operands: Operands<'_>) -> Vec<Val> {
    if wanted.is_empty() {
        return order;
    }
    let mut done = undone(operands.len(), &order);
    let mut arranged = Vec::with_capacity(order.len());
    let first: Vec<Val> = order.iter().filter(|val| wanted.contains(val)).copied().collect();
    first.into_iter().chain(order).for_each(|val| demand(operands, val, &mut done, &mut arranged));
    arranged
}

/// Where instructions of floats alternate with what needs them, as products with the sums that they go to, two of each kind follow each other.
/// Loads may be between the first two and the others.
pub fn in_pairs(graph: &Graph, order: &mut [Val], operands: Operands<'_>) {
    let inst = |val: Val| graph.as_inst(val).filter(|inst| inst.op.floats());
    let alike =
        |one: Val, other: Val| inst(one).zip(inst(other)).is_some_and(|(one, other)| one.op == other.op);
    let loads = |val: Val| graph.as_inst(val).is_some_and(|inst| inst.op.loads());
    let needs = |val: Val, arg: Val| operands[val.index()].contains(&arg);
    let mut at = 0;
    while let Some(&[a, b]) = order.get(at..at + 2) {
        let rest = &order[at + 2..];
        let between = rest.iter().take_while(|val| loads(**val) && !needs(**val, b)).count();
        match rest.get(between..between + 2) {
            Some(&[c, d]) if needs(b, a) && alike(a, c) && alike(b, d) && !needs(c, b) => {
                order[at + 1..at + 3 + between].rotate_left(1);
                at += 4 + between;
            }
            _ => at += 1,
        }
    }
}

fn undone(count: usize, order: &[Val]) -> Vec<bool> {
    let mut done = vec![true; count];
    order.iter().for_each(|val| done[val.index()] = false);
    done
}

/// What each instruction needs.
pub type Operands<'a> = &'a [Args];

/// Appends what a value needs, and the value.
fn demand(operands: Operands<'_>, val: Val, done: &mut [bool], order: &mut Vec<Val>) {
    let mut open = vec![val];
    while let Some(&val) = open.last() {
        if done[val.index()] {
            open.pop();
            continue;
        }
        let before = open.len();
        open.extend(operands[val.index()].iter().filter(|arg| !done[arg.index()]));
        // The first operand is computed first.
        open[before..].reverse();
        if open.len() == before {
            done[val.index()] = true;
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

/// How a row, or any, becomes a value by adding to it, first sum first; `None` if nothing is added. Of 64-bit elements it is a vector of them, which two rows become and of which
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
            return Some(steps).filter(|steps| !steps.is_empty());
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

#[cfg(test)]
mod tests {
    use super::{Arrange, Together, in_pairs};
    use crate::graph::{Args, Graph, Inst, Node, Val};
    use crate::op::Op;
    use crate::program::Output;

    /// Sums of the products of four factors with four others, a step each: a few of them have as few factors as there can be.
    #[test]
    fn sums_that_grow_together_have_factors_in_common() {
        let mut graph = Graph::default();
        let rows: Vec<Val> = (0..24).map(|row| graph.add(Node::Row(row))).collect();
        let (mut outputs, mut order) = (Vec::new(), Vec::new());
        for at in 0..16 {
            let mut factors = [rows[16 + at / 4], rows[20 + at % 4]];
            // Some are written the other way round.
            factors.rotate_left(at % 3 / 2);
            let product = graph.binary(Op::FMul, factors[0], factors[1]);
            let sum = graph.binary(Op::FAdd, rows[at], product);
            order.extend([product, sum]);
            outputs.push(Output { row: at as u32, val: sum, unseen: false });
        }
        let operands: Vec<Args> =
            graph.values().map(|val| graph.as_inst(val).map_or(Args::new(), Inst::args)).collect();
        for (together, most) in [(Together::Elements, 5), (Together::Factors(2), 4)] {
            let arrange = Arrange { sums: 4, together, ..Arrange::default() };
            let arranged = arrange.order(&graph, order.clone(), &outputs, &operands);
            assert_eq!(arranged.len(), order.len());
            for few in arranged.chunks(8) {
                let mut factors: Vec<Val> =
                    few.iter().flat_map(|val| &operands[val.index()]).copied().collect();
                factors.retain(|arg| rows[16..].contains(arg));
                factors.sort_unstable();
                factors.dedup();
                assert_eq!(factors.len(), most, "{together:?}");
            }
        }
    }

    /// What the order becomes, as places in the one before.
    fn paired(graph: &Graph, order: &[Val]) -> Vec<usize> {
        let args = |val| graph.as_inst(val).map_or(Args::new(), Inst::args);
        let operands: Vec<Args> = graph.values().map(args).collect();
        let mut after = order.to_vec();
        in_pairs(graph, &mut after, &operands);
        after.iter().filter_map(|val| order.iter().position(|other| other == val)).collect()
    }

    #[test]
    fn products_and_sums_come_two_by_two() {
        let mut graph = Graph::default();
        let rows: Vec<Val> = (0..4).map(|row| graph.add(Node::Row(row))).collect();
        let mut order = Vec::new();
        for at in 0..3 {
            let product = graph.binary(Op::FMul, rows[at], rows[3]);
            order.extend([product, graph.binary(Op::FAdd, product, rows[at + 1])]);
        }
        // The last sum is another product's operand.
        let last = order[5];
        let product = graph.binary(Op::FMul, last, rows[3]);
        order.extend([product, graph.binary(Op::FAdd, product, rows[0])]);
        assert_eq!(paired(&graph, &order), [0, 2, 1, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn loads_do_not_part_products_from_sums_and_what_they_need_does() {
        let mut graph = Graph::default();
        let [row, factor] = [0, 1].map(|row| graph.add(Node::Row(row)));
        let product = graph.binary(Op::FMul, row, factor);
        let sum = graph.binary(Op::FAdd, product, factor);
        for (index, expected) in [(row, [0, 2, 3, 1, 4]), (sum, [0, 1, 2, 3, 4])] {
            let load = graph.unary(Op::Load(0), index);
            let other = graph.binary(Op::FMul, load, factor);
            let order = [product, sum, load, other, graph.binary(Op::FAdd, other, factor)];
            assert_eq!(paired(&graph, &order), expected);
        }
    }
}
