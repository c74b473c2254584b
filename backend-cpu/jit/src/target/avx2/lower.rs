//! What there is no instruction for. Masks are vectors, so that what is done with masks is done with words.

use crate::graph::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, Op, Relation};

const SIGN: u32 = 0x8000_0000;

/// The operation by those that there are instructions for.
pub fn lower(graph: &mut Graph, inst: Inst) -> Val {
    let Inst { op, args, mask } = inst;
    let val = alone(graph, op, args);
    if mask == NO { val } else { and(graph, mask, val) }
}

/// The mask is the complement of this one.
fn complement(graph: &Graph, mask: Val) -> Option<Val> {
    match graph.as_inst(mask) {
        Some(Inst { op: Op::Xor, args: [inner, ones, _], .. })
            if graph.node(ones) == Node::Word(u32::MAX) =>
        {
            Some(inner)
        }
        _ => None,
    }
}

/// `mask ? a : 0`, which is `mask & a`.
fn and(graph: &mut Graph, mask: Val, a: Val) -> Val {
    match (complement(graph, mask), complement(graph, a)) {
        (Some(other), _) => graph.binary(Op::AndNot, other, a),
        (_, Some(other)) => graph.binary(Op::AndNot, other, mask),
        _ => graph.binary(Op::And, mask, a),
    }
}

fn not(graph: &mut Graph, a: Val) -> Val {
    let ones = graph.add(Node::Word(u32::MAX));
    complement(graph, a).unwrap_or_else(|| graph.binary(Op::Xor, a, ones))
}

fn compare(graph: &mut Graph, kind: Kind, relation: Relation, a: Val, b: Val) -> Val {
    graph.binary(Op::Compare(kind, relation, false), a, b)
}

/// a with its sign bit the other way, so that unsigned numbers are in the order of signed ones.
fn shifted(graph: &mut Graph, a: Val, wide: bool) -> Val {
    let sign = match (graph.node(a), wide) {
        (Node::Word(word), false) => return graph.add(Node::Word(word ^ SIGN)),
        (Node::Quad(quad), true) => return graph.add(Node::Quad(quad ^ 1 << 63)),
        (_, false) => Node::Word(SIGN),
        (_, true) => Node::Quad(1 << 63),
    };
    let sign = graph.add(sign);
    graph.binary(Op::Xor, a, sign)
}

fn integers(graph: &mut Graph, kind: Kind, relation: Relation, a: Val, b: Val) -> Val {
    let signed = if kind.wide() { Kind::SignedQuad } else { Kind::Signed };
    if relation == Relation::Equal {
        return compare(graph, signed, relation, a, b);
    }
    let [a, b] = match kind {
        Kind::Unsigned | Kind::UnsignedQuad => [a, b].map(|val| shifted(graph, val, kind.wide())),
        _ => [a, b],
    };
    match relation {
        // a <= b is not a > b
        Relation::LessEqual => {
            let greater = compare(graph, signed, Relation::Greater, a, b);
            not(graph, greater)
        }
        _ => compare(graph, signed, Relation::Greater, b, a),
    }
}

fn alone(graph: &mut Graph, op: Op, args: [Val; 3]) -> Val {
    let [a, b, _] = args;
    let word = |graph: &mut Graph, word: u32| graph.add(Node::Word(word));
    match op {
        Op::Words => a,
        Op::Both | Op::Keep => and(graph, a, b),
        Op::Either => graph.binary(Op::Or, a, b),
        Op::Not => not(graph, a),
        Op::Join => graph.binary(Op::Even, a, b),
        Op::SplitLow => graph.binary(Op::ZipLow, a, a),
        Op::SplitHigh => graph.binary(Op::ZipHigh, a, a),
        Op::Select => match complement(graph, a) {
            Some(other) => graph.inst(Op::Select, [other, args[2], b]),
            None => graph.inst(op, args),
        },
        Op::Compare(kind @ (Kind::Float | Kind::Double), relation, negated) => {
            graph.binary(Op::Compare(kind, relation, negated), a, b)
        }
        Op::Compare(kind, relation, negated) => {
            let holds = integers(graph, kind, relation, a, b);
            if negated { not(graph, holds) } else { holds }
        }
        Op::Common(any) => {
            let zero = word(graph, 0);
            let common = if a == b { a } else { graph.binary(Op::And, a, b) };
            let none = compare(graph, Kind::Signed, Relation::Equal, common, zero);
            if any { not(graph, none) } else { none }
        }
        Op::Doubtful => {
            let zero = word(graph, SIGN);
            let nan = compare(graph, Kind::Float, Relation::Unordered, a, a);
            let negative = compare(graph, Kind::Signed, Relation::Equal, a, zero);
            graph.binary(Op::Or, nan, negative)
        }
        // The exponents of denormals and zeros are 0; all but the sign goes.
        Op::Flush => {
            let (exponent, zero, rest) = (word(graph, 0x7F80_0000), word(graph, 0), word(graph, !SIGN));
            let bits = graph.binary(Op::And, a, exponent);
            let small = compare(graph, Kind::Signed, Relation::Equal, bits, zero);
            let lost = graph.binary(Op::And, small, rest);
            graph.binary(Op::AndNot, lost, a)
        }
        // The exponent of a float says it. The bit below the highest one is cleared, so that none rounds up; the
        // float of a word with the highest bit is negative, and its exponent then far too large.
        Op::LeadingZeros => {
            let half = graph.unary(Op::ShrBy(1), a);
            let top = graph.binary(Op::AndNot, half, a);
            let float = graph.unary(Op::FromSigned, top);
            let exponent = graph.unary(Op::ShrBy(23), float);
            let (bias, zero, most) = (word(graph, 158), word(graph, 0), word(graph, 32));
            let count = graph.binary(Op::Sub, bias, exponent);
            let count = graph.binary(Op::MaxSigned, count, zero);
            graph.binary(Op::MinSigned, count, most)
        }
        // Both halves are exact, so their sum is rounded once.
        Op::FromUnsigned => {
            let (low, scale) = (word(graph, 0xFFFF), word(graph, 65536.0f32.to_bits()));
            let high = graph.unary(Op::ShrBy(16), a);
            let low = graph.binary(Op::And, a, low);
            let [high, low] = [high, low].map(|half| graph.unary(Op::FromSigned, half));
            let high = graph.binary(Op::FMul, high, scale);
            graph.binary(Op::FAdd, high, low)
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
        // The sign is carried up from where it was shifted to.
        Op::QSar => {
            let sign = graph.add(Node::Quad(1 << 63));
            let bits = graph.binary(Op::QShr, a, b);
            let sign = graph.binary(Op::QShr, sign, b);
            let bits = graph.binary(Op::Xor, bits, sign);
            graph.binary(Op::QSub, bits, sign)
        }
        op => graph.inst(op, args),
    }
}
