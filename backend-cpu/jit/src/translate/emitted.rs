//! Elements that a function stores last, see [`Emitted`].

use super::*;
use crate::graph::Inst;
use crate::graph::interleaved::{Elements, Words, count};
use crate::program::{Emitted, Whole};

/// Most steps of a run that is made twice to store words without rows between.
const SHORT: usize = 64;

impl<C: Fn(u32) -> Option<u32>, U: Fn(u32) -> bool> Translator<'_, C, U> {
    /// Makes the last of the parts, which is that of the run, store elements.
    pub(super) fn emitted(&self, run: &Run<'_>, elements: &[Element], parts: &mut Vec<Part>) {
        let Some(Part::Block(block)) = parts.pop() else { unreachable!("a function ends with a block") };
        let whole = self.whole_elements(run, elements);
        parts.push(Part::Emit(Box::new(Emitted { whole, block: *block, elements: elements.to_vec() })));
    }

    /// The run with elements as they lie in memory, if it does nothing else.
    fn whole_elements(&self, run: &Run<'_>, elements: &[Element]) -> Option<Whole> {
        let (mut graph, mut outputs, _) = self.plain(run, Graph::plain(self.lazy))?;
        let acts = |node: &Node| matches!(node, Node::Inst(inst) if inst.op.acts());
        if graph.nodes.iter().any(acts) {
            return None;
        }
        // Nobody reads other rows any more.
        let stored = |row: &u32| elements.iter().any(|of| of.rows.contains(row));
        outputs.retain(|(row, _)| stored(row));
        let wanted: Vec<Val> = outputs.iter().map(|&(_, val)| val).collect();
        let doubts = graph.doubts(&wanted);
        graph.believe(&doubts, &mut outputs);
        let mut made = (graph, outputs, None);
        // Elements of a word each lie in memory as lanes have them.
        let single = elements.iter().all(|of| of.count == 1);
        if single && run.steps.len() > SHORT {
            return None;
        }
        let found = if single { Elements::default() } else { Elements::of(std::slice::from_ref(&made)) };
        let words = |of: &Element| -> Words {
            std::array::from_fn(|k| if k < of.count as usize { of.rows[k] } else { NO })
        };
        let whole = |of: &Element| count(&words(of)) == of.count as usize && found.rows.contains(&words(of));
        if !single && (found.rows.len() != elements.len() || !elements.iter().all(whole)) {
            return None;
        }
        if !single {
            found.apply(0, &mut made);
        }
        let (mut graph, outputs, _) = made;
        let doubted = graph.doubted(doubts);
        let wanted: Vec<(u32, Val)> = outputs.iter().copied().chain(doubted.map(|val| (NO, val))).collect();
        let needed = graph.needed(&wanted, None);
        let read = |row: &u32| graph.find(Node::Row(*row)).is_some_and(|val| needed[val as usize]);
        if found.rows.iter().flatten().any(read) {
            return None;
        }
        let mut kept = Kept::new(&[], self.lazy);
        let mut steps = Vec::new();
        for val in (0..graph.nodes.len() as Val).filter(|val| needed[*val as usize]) {
            let Some(Inst { op: Op::Member(view, _), args: [first, ..], .. }) = graph.as_inst(val) else {
                continue;
            };
            if !graph.inside.contains(&(view, first)) {
                return None;
            }
            let step = count(&graph.groups[&val]) as u32;
            steps.push((kept.demand(&graph, first)?, step));
            graph.shapes.insert(first, Shape::Step(step));
        }
        steps.sort_unstable();
        steps.dedup();
        kept.replace(&mut graph);
        let value = |row: u32| outputs.iter().find(|(of, _)| *of == row).map(|(_, val)| *val);
        let values: Option<Vec<[Option<Val>; 4]>> = elements
            .iter()
            .map(|of| {
                let values: [Option<Val>; 4] = words(of).map(value);
                values[..of.count as usize].iter().all(Option::is_some).then_some(values)
            })
            .collect();
        let (graph, place) = graph.lowered(self.target);
        let placed = |val: Option<Val>| val.map_or(NO, |val| place[val as usize]);
        Some(Whole {
            kept: kept.lowered(self.target),
            steps,
            doubted: doubted.map(|val| place[val as usize]),
            values: values?.into_iter().map(|values| values.map(placed)).collect(),
            body: self.placed(graph, &place, Vec::new(), None),
        })
    }
}
