//! Limits of coordinates that integers have again.

use super::{Graph, Inst, NO, Node, Val};
use crate::op::{Kind, Op, Relation};

/// How the number of a texel begins: the coordinate kept within limits, 0 if it is NaN, and the whole number below.
struct Limited {
    coordinate: Val,
    /// The minimum of the coordinate and the upper limit.
    below: Val,
    high: Val,
    /// The maximum of that and the lower limit.
    limited: Val,
    whole: Val,
}

impl Graph {
    /// Where nothing else is made of a coordinate's whole number than its maximum with 0, that NaN is 0 and the lower limit come of that:
    /// a number of them is not above 0. A minimum that is NaN is its second operand.
    pub fn drop_limits(&mut self, outputs: &[(u32, Val)], test: Option<Val>) {
        let found: Vec<(Val, Val, Limited)> = self
            .values()
            .filter_map(|val| match self.as_inst(val)? {
                Inst { op: Op::MaxSigned, args: [number, zero, _], mask: NO }
                    if self.word_of(zero) == Some(0) =>
                {
                    Some((val, number, self.limited(number)?))
                }
                _ => None,
            })
            .collect();
        if found.is_empty() {
            return;
        }
        // A maximum that nobody needs is not what uses its number.
        let needed = self.needed(outputs, test);
        let mut uses = vec![0; self.nodes.len()];
        let users =
            (0..self.nodes.len()).filter(|val| needed[*val]).filter_map(|val| self.as_inst(Val::new(val)));
        users.flat_map(Inst::operands).for_each(|arg| uses[arg.index()] += 1);
        outputs.iter().map(|(_, val)| *val).chain(test).for_each(|val| uses[val.index()] += 1);
        for (maximum, number, Limited { coordinate, below, high, limited, whole }) in found {
            let alone = [number, whole, limited, below].iter().all(|val| uses[val.index()] == 1);
            if needed[maximum.index()] && alone {
                self.change(below, Inst { op: Op::FMin, args: [high, coordinate, NO], mask: NO });
                self.change(whole, Inst { op: Op::Round(1), args: [below, NO, NO], mask: NO });
            }
        }
    }

    fn limited(&self, number: Val) -> Option<Limited> {
        let of = |val: Val, op: Op| self.as_inst(val).filter(|inst| inst.op == op);
        let Inst { args: [whole, ..], mask: NO, .. } = of(number, Op::ToSigned)? else { return None };
        let Inst { args: [limited, ..], mask: NO, .. } = of(whole, Op::Round(1))? else { return None };
        let Inst { args: [below, low, _], mask, .. } = of(limited, Op::FMax)?;
        let Inst { args: [coordinate, high, _], mask: NO, .. } = of(below, Op::FMin)? else { return None };
        let ordered = of(mask, Op::Compare(Kind::Float, Relation::Unordered, true))?;
        let [least, most] = [low, high].map(|limit| self.word_of(limit).map(f32::from_bits));
        let limits = least? <= 0.0 && (0.0..2_147_483_648.0).contains(&most?);
        (limits && ordered.args[..2] == [coordinate; 2]).then_some(Limited {
            coordinate,
            below,
            high,
            limited,
            whole,
        })
    }

    /// Makes a value another one.
    fn change(&mut self, val: Val, inst: Inst) {
        let before = std::mem::replace(&mut self.nodes[val.index()], Node::Inst(inst));
        if let Ok(known) = self.known.find_entry(before.hash(), |other| *other == val) {
            known.remove();
        }
        let nodes = &self.nodes;
        self.known.insert_unique(nodes[val.index()].hash(), val, |&val| nodes[val.index()].hash());
    }
}
