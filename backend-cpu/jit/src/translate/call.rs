//! Steps that lanes do one after another: what is called, and with what.

use recal_il::ir::Width;
use recal_il::isa::Algebra;

use super::memory::{FAR, FAR_BYTE};
use super::{Translator, Values};
use crate::call::Act;
use crate::graph::{Graph, Val};
use crate::program::Call;
use crate::tree::Numbered;
use crate::{At, NONE, Step};

impl Translator<'_> {
    pub(super) fn call(&self, step: &Numbered<'_>) -> Option<Call> {
        let mut graph = Graph::new(self.lazy);
        graph.step = step.number;
        let mut values = self.values();
        let (act, view, to) = match **step {
            Step::Atomic { view, op, wide: false, to, alone, .. } => (Act::Word(op, alone), view, to),
            Step::Atomic { view, op, to, alone, .. } => (Act::Quad(op, alone), view, to),
            Step::Count { view, consume: false, to } => (Act::Append, view, [to, NONE]),
            Step::Count { view, to, .. } => (Act::Consume, view, [to, NONE]),
            Step::StorePart { view, width: Width::U8 | Width::I8, .. } => (Act::Byte, view, [NONE; 2]),
            Step::StoreTexel { view, format, .. } if format.bytes() == 1 => (Act::Byte, view, [NONE; 2]),
            Step::StorePart { view, .. } | Step::StoreTexel { view, .. } => (Act::Half, view, [NONE; 2]),
            _ => unreachable!("{:?} is done by all lanes at once", **step),
        };
        let operands = values.operands(&mut graph, step)?;
        let unsupported = graph.unsupported;
        let (graph, place) = graph.lowered(self.target, operands.iter().copied());
        let operands = operands.into_iter().map(|val| place[val.index()]).collect();
        (!unsupported).then_some(Call { act, view, graph, operands, to, step: step.number })
    }
}

impl Values<'_> {
    /// What [`Act`] says.
    fn operands(&mut self, graph: &mut Graph, step: &Step<'_>) -> Option<Vec<Val>> {
        Some(match *step {
            Step::Atomic { view, wide, at, from, .. } => {
                let place = match at {
                    At::Byte(address) => {
                        let (bytes, by) = (self.value(graph, address), graph.word(if wide { 3 } else { 2 }));
                        let number = graph.shr(bytes, by);
                        let one = graph.word(1);
                        if wide { graph.shl(number, one) } else { number }
                    }
                    At::Element([u, v], format) => {
                        let words = format.bytes().div_ceil(4).ilog2();
                        self.element_at(graph, view, format, [u, v], (words, FAR))?
                    }
                };
                // Those of words are the first of each pair.
                let sources = from.into_iter().step_by(if wide { 1 } else { 2 });
                let sources = sources.map(|row| match row {
                    NONE => graph.word(0),
                    row => self.value(graph, row),
                });
                std::iter::once(place).chain(sources.collect::<Vec<Val>>()).collect()
            }
            Step::Count { .. } => vec![graph.word(0)],
            Step::StorePart { address, from, .. } => {
                vec![self.value(graph, address), self.value(graph, from)]
            }
            Step::StoreTexel { view, format, coordinates, from } => {
                let unit = (format.bytes().ilog2(), FAR_BYTE);
                let first = self.element_at(graph, view, format, coordinates, unit)?;
                vec![first, self.encoded(graph, format, from)[0]?]
            }
            _ => return None,
        })
    }
}
