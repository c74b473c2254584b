//! What there is no instruction for, beside what [`super::super::masks`] does.

use crate::graph::{Graph, Inst, Node, Val};
use crate::op::{Kind, Op, Relation};
use crate::target::masks;

const SIGN: u32 = 0x8000_0000;

/// The operation by those that there are instructions for.
pub fn lower(graph: &mut Graph, inst: Inst) -> Val {
    masks::lower(graph, inst, alone)
}

fn alone(graph: &mut Graph, op: Op, [a, b, _]: [Val; 3]) -> Option<Val> {
    let compare =
        |graph: &mut Graph, kind, relation, a, b| graph.binary(Op::Compare(kind, relation, false), a, b);
    Some(match op {
        Op::Compare(kind @ (Kind::Float | Kind::Double), Relation::Unordered, negated) => {
            let mut number = compare(graph, kind, Relation::Equal, a, a);
            if a != b {
                let other = compare(graph, kind, Relation::Equal, b, b);
                number = masks::and(graph, number, other);
            }
            if negated { number } else { masks::not(graph, number) }
        }
        Op::Compare(kind @ (Kind::Float | Kind::Double), relation, true) => {
            let holds = compare(graph, kind, relation, a, b);
            masks::not(graph, holds)
        }
        // Of integers one of two relations holds.
        Op::Compare(kind, Relation::Less, true) => compare(graph, kind, Relation::LessEqual, b, a),
        Op::Compare(kind, Relation::LessEqual, true) => compare(graph, kind, Relation::Less, b, a),
        Op::Compare(kind, relation, true) => {
            let holds = compare(graph, kind, relation, a, b);
            masks::not(graph, holds)
        }
        Op::Common(true) => graph.binary(op, a, b),
        // The instructions hand on NaNs and order zeros.
        Op::FMin | Op::FMax => {
            let (x, y) = if op == Op::FMin { (a, b) } else { (b, a) };
            let first = compare(graph, Kind::Float, Relation::Less, x, y);
            graph.inst(Op::Select, [first, a, b])
        }
        // What has no bit in its exponent keeps its sign.
        Op::Flush => {
            let (exponent, sign) = (graph.add(Node::Word(0x7F80_0000)), graph.add(Node::Word(SIGN)));
            let normal = graph.binary(Op::Common(true), a, exponent);
            let kept = graph.binary(Op::Or, normal, sign);
            graph.binary(Op::And, a, kept)
        }
        _ => return None,
    })
}
