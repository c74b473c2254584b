//! What there is no instruction for, beside what [`super::super::masks`] does.

use crate::evaluate::Vector;
use crate::graph::{Graph, Inst, Node, Val};
use crate::op::{Kind, OTHER, Op, Relation};
use crate::target::masks::{self, not};

const SIGN: u32 = 0x8000_0000;

/// The operation by those that there are instructions for.
pub fn lower(graph: &mut Graph, inst: Inst) -> Val {
    masks::lower(graph, inst, alone)
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

/// The words of each of two vectors go to their places, and there is a choice.
fn permuted(graph: &mut Graph, a: Val, b: Val, table: Val) -> Option<Val> {
    let table = graph.fixed_words(table)?;
    let identity = (0..8u32).collect::<Vec<u32>>();
    let mut moved = |of: Val, from: u32| {
        let own = |(lane, at): (u32, u32)| if at / OTHER == from { at % OTHER } else { lane };
        let words: Vector = std::array::from_fn(|lane| own((lane as u32, table[lane])));
        if words[..8] == identity {
            return of;
        }
        let words = graph.vector(words);
        graph.binary(Op::Permute, words, of)
    };
    let [a, b] = [moved(a, 0), moved(b, 1)];
    let second = (0..8).filter(|lane| table[*lane as usize] >= OTHER).fold(0, |bits, lane| bits | 1 << lane);
    Some(graph.binary(Op::Blend(second as u8), a, b))
}

fn alone(graph: &mut Graph, op: Op, [a, b, c]: [Val; 3]) -> Option<Val> {
    let word = |graph: &mut Graph, word: u32| graph.add(Node::Word(word));
    Some(match op {
        Op::Permute2 => return permuted(graph, a, b, c),
        Op::Select if let Node::Mask(lanes) = graph.node(a) => graph.binary(Op::Blend(lanes as u8), c, b),
        Op::Compare(kind @ (Kind::Float | Kind::Double), relation, negated) => {
            // What may stay in memory comes second.
            let computed = |val| matches!(graph.node(val), Node::Inst(_));
            match relation {
                Relation::Less if !computed(a) && computed(b) => {
                    graph.binary(Op::Compare(kind, Relation::Greater, negated), b, a)
                }
                Relation::LessEqual if !computed(a) && computed(b) => {
                    graph.binary(Op::Compare(kind, Relation::GreaterEqual, negated), b, a)
                }
                _ => graph.binary(op, a, b),
            }
        }
        Op::Compare(kind, relation, negated) => {
            let holds = integers(graph, kind, relation, a, b);
            if negated { not(graph, holds) } else { holds }
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
        // The sign is carried up from where it was shifted to.
        Op::QSar => {
            let sign = graph.add(Node::Quad(1 << 63));
            let bits = graph.binary(Op::QShr, a, b);
            let sign = graph.binary(Op::QShr, sign, b);
            let bits = graph.binary(Op::Xor, bits, sign);
            graph.binary(Op::QSub, bits, sign)
        }
        _ => return None,
    })
}
