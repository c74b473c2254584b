//! Operations of targets whose masks are vectors: what is done with masks is done with words, all ones or 0.

use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, Op, Relation};

/// An operation in the own way of a target, if it has one.
pub type Own = fn(&mut Graph, Op, [Val; 3]) -> Option<Val>;

/// The operation by those that there are instructions for.
pub fn lower(graph: &mut Graph, inst: Inst, own: Own) -> Val {
    // The lanes of a store are part of what it does.
    if inst.op.acts() {
        return graph.add(Node::Inst(inst));
    }
    let Inst { op, args, mask } = inst;
    let val = own(graph, op, args).unwrap_or_else(|| alone(graph, op, args, own));
    if mask == NO { val } else { and(graph, mask, val) }
}

/// `mask ? a : 0`, which is `mask & a`.
pub fn and(graph: &mut Graph, mask: Val, a: Val) -> Val {
    match (graph.complemented(mask), graph.complemented(a)) {
        (Some(other), _) => graph.binary(Op::AndNot, other, a),
        (_, Some(other)) => graph.binary(Op::AndNot, other, mask),
        _ => graph.binary(Op::And, mask, a),
    }
}

pub fn not(graph: &mut Graph, a: Val) -> Val {
    graph.complemented(a).unwrap_or_else(|| graph.unary(Op::Not, a))
}

fn alone(graph: &mut Graph, op: Op, args: [Val; 3], own: Own) -> Val {
    let [a, b, c] = args;
    let compare = |graph: &mut Graph, kind, relation, a, b| {
        let op = Op::Compare(kind, relation, false);
        lower(graph, Inst { op, args: [a, b, NO], mask: NO }, own)
    };
    match op {
        Op::Xor if graph.node(b) == Node::Word(u32::MAX) => not(graph, a),
        Op::Words => a,
        Op::Both | Op::Keep => and(graph, a, b),
        Op::Either => graph.binary(Op::Or, a, b),
        Op::Not => not(graph, a),
        Op::Join => graph.binary(Op::Even, a, b),
        Op::SplitLow => graph.binary(Op::ZipLow, a, a),
        Op::SplitHigh => graph.binary(Op::ZipHigh, a, a),
        Op::Select => match graph.complemented(a) {
            Some(other) => graph.inst(Op::Select, [other, c, b]),
            None => graph.inst(op, args),
        },
        Op::Common(any) => {
            let zero = graph.add(Node::Word(0));
            let common = if a == b { a } else { graph.binary(Op::And, a, b) };
            let none = compare(graph, Kind::Signed, Relation::Equal, common, zero);
            if any { not(graph, none) } else { none }
        }
        Op::Doubtful => {
            let zero = graph.add(Node::Word(0x8000_0000));
            let nan = compare(graph, Kind::Float, Relation::Unordered, a, a);
            let negative = compare(graph, Kind::Signed, Relation::Equal, a, zero);
            graph.binary(Op::Or, nan, negative)
        }
        Op::QMul => {
            let [high_a, high_b] = [a, b].map(|val| graph.unary(Op::QShrBy(32), val));
            let first = graph.binary(Op::MulEvenUnsigned, high_a, b);
            let second = graph.binary(Op::MulEvenUnsigned, a, high_b);
            let crossed = graph.binary(Op::QAdd, first, second);
            let crossed = graph.unary(Op::QShlBy(32), crossed);
            let low = graph.binary(Op::MulEvenUnsigned, a, b);
            graph.binary(Op::QAdd, low, crossed)
        }
        op => graph.inst(op, args),
    }
}
