//! Elements that a function stores last, see [`Emitted`].

use super::*;
use crate::graph::Inst;
use crate::graph::course::Courses;
use crate::graph::interleaved::{Elements, Words, count};
use crate::program::{Emitted, Once, Placed, Start, Whole};

/// Most steps of a run that is made twice to store words without rows between.
const SHORT: usize = 64;

impl Translator<'_> {
    /// Makes the last of the parts, which is that of the run, store elements.
    pub(super) fn emitted(&self, run: &Run<'_>, elements: &[Element], parts: &mut Vec<Part>) {
        let Some(Part::Block(block)) = parts.pop() else { unreachable!("a function ends with a block") };
        let whole = self.whole_elements(run, elements);
        parts.push(Part::Emit(Box::new(Emitted { whole, block: *block, elements: elements.to_vec() })));
    }

    /// What elements are at distances from, and those; `None` if it is more than there are registers for. The distances are those away
    /// from edges, where nothing is clamped.
    fn starts(&self, graph: &Graph, mut found: Vec<Found>) -> Option<(Vec<Start>, Vec<Placed>)> {
        found.sort_unstable_by_key(|of| (of.view, of.number));
        found.dedup_by_key(|of| (of.view, of.number));
        let mut sums: Vec<(u8, BTreeMap<Val, u32>, u32)> = Vec::new();
        let mut starts: Vec<Start> = Vec::new();
        let mut members = Vec::new();
        for Found { view, number, step, first } in found {
            let mut sum = Sum::default();
            sum.add(graph, first, 1);
            let known = sums.iter().position(|(of, terms, _)| *of == view && *terms == sum.terms);
            let start = known.unwrap_or_else(|| {
                sums.push((view, sum.terms, sum.constant));
                starts.push(Start { view, number, step });
                starts.len() - 1
            });
            if starts[start].step != step || starts.len() > usize::from(self.target.addresses()) {
                return None;
            }
            let words = sum.constant.wrapping_sub(sums[start].2);
            members.push(Placed { number, last: NONE, start: start as u8, words });
        }
        Some((starts, members))
    }

    /// The run with elements as they lie in memory, if it does nothing else.
    fn whole_elements(&self, run: &Run<'_>, elements: &[Element]) -> Option<Whole> {
        let (mut graph, mut outputs, _) = self.plain(run, Graph::plain(self.lazy))?;
        if graph.nodes.iter().any(Node::acts) {
            return None;
        }
        // Nobody reads other rows any more.
        let stored = |row: &u32| elements.iter().any(|of| of.rows.contains(row));
        outputs.retain(|(row, _)| stored(row));
        let wanted: Vec<Val> = outputs.iter().map(|&(_, val)| val).collect();
        let doubts = graph.doubts(&wanted, &graph.plain_products);
        graph.believe(&doubts, &mut outputs);
        let mut made = (graph, outputs, None);
        // Elements of a word each lie in memory as lanes have them.
        let single = elements.iter().all(|of| of.count == 1);
        if single && run.steps.len() > SHORT {
            return None;
        }
        let found = if single { Elements::default() } else { Elements::of(std::slice::from_ref(&made)) };
        let words = |of: &Element| -> Words<u32> {
            std::array::from_fn(|k| if k < of.count as usize { of.rows[k] } else { NONE })
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
        let wanted: Vec<(u32, Val)> = outputs.iter().copied().chain(doubted.map(|val| (NONE, val))).collect();
        let needed = graph.needed(&wanted, None);
        let read = |row: &u32| graph.find(Node::Row(*row)).is_some_and(|val| needed[val.index()]);
        if found.rows.iter().flatten().any(read) {
            return None;
        }
        let courses = self.rows.column.map(|column| Courses::of(&graph, column));
        if let (Some(courses), true) = (&courses, single) {
            graph.side_by_side(courses, &needed);
        }
        let mut kept = Invariants::new(&[], self.lazy);
        let mut steps = Vec::new();
        let mut members = Vec::new();
        let mut known = courses.is_some();
        for val in graph.values().filter(|val| needed[val.index()]) {
            let Some(Inst { op: Op::Member(view, _), args: [first, ..], .. }) = graph.as_inst(val) else {
                continue;
            };
            if !graph.inside.contains(&(view, first)) {
                return None;
            }
            let step = count(&graph.groups[&val]) as u32;
            known &= courses.as_ref().is_some_and(|courses| courses.grows(first, step));
            let number = kept.demand(&graph, first)?;
            steps.push((number, step));
            members.push(Found { view, number, step, first });
            graph.shapes.insert(first, Shape::Step(step));
        }
        steps.sort_unstable();
        steps.dedup();
        let starts = self.starts(&graph, members);
        kept.replace(&mut graph);
        let same = |row: u32| graph.find(Node::Row(row)).is_some_and(|val| graph.same.contains(&val));
        let column = self.rows.column.filter(|column| {
            let alike = kept.rows().all(|row| row == *column || same(row));
            known && !steps.is_empty() && alike && graph.kept_are_addresses(&outputs, &needed)
        });
        let once = column.zip(starts).map(|(column, (starts, members))| {
            let numbers: Vec<u32> = members.iter().map(|of| of.number).collect();
            let last = kept.further_on(column, self.target.lanes() - 1, &numbers);
            let members = members.into_iter().zip(last).map(|(of, last)| Placed { last, ..of }).collect();
            Once { column, starts, members }
        });
        let value = |row: u32| outputs.iter().find(|(of, _)| *of == row).map(|(_, val)| *val);
        let values: Option<Vec<[Option<Val>; 4]>> = elements
            .iter()
            .map(|of| {
                let values: [Option<Val>; 4] = words(of).map(value);
                values[..of.count as usize].iter().all(Option::is_some).then_some(values)
            })
            .collect();
        let values = values?;
        let wanted = values.iter().flatten().flatten().copied().chain(doubted);
        let (graph, place) = graph.lowered(self.target, wanted);
        let placed = |val: Option<Val>| val.map_or(NO, |val| place[val.index()]);
        Some(Whole {
            kept: kept.lowered(self.target),
            steps,
            once,
            doubted: doubted.map(|val| place[val.index()]),
            values: values.into_iter().map(|values| values.map(placed)).collect(),
            body: self.placed(graph, &place, Vec::new(), None),
        })
    }
}

/// Elements that are loaded.
struct Found {
    view: u8,
    /// The number of their address among what is ready, and the address.
    number: u32,
    first: Val,
    /// Words of an element.
    step: u32,
}

/// A number as a sum, as it is where nothing is clamped.
#[derive(Default)]
struct Sum {
    terms: BTreeMap<Val, u32>,
    constant: u32,
}

impl Sum {
    /// Adds a multiple of a value.
    fn add(&mut self, graph: &Graph, val: Val, times: u32) {
        let constant = |val: Val| matches!(graph.node(val), Node::Word(_) | Node::Field(..));
        match graph.as_inst(val) {
            Some(Inst { op: Op::Add, args: [a, b, _], mask: NO }) => {
                self.add(graph, a, times);
                self.add(graph, b, times);
            }
            Some(Inst { op: Op::MinSigned | Op::MaxSigned, args: [a, b, _], mask: NO }) if constant(b) => {
                self.add(graph, a, times);
            }
            Some(Inst { op: Op::ShlBy(by), args: [a, ..], mask: NO }) => {
                self.add(graph, a, times.wrapping_mul(1 << by));
            }
            _ => match graph.word_of(val) {
                Some(word) => self.constant = self.constant.wrapping_add(word.wrapping_mul(times)),
                None => {
                    let of = self.terms.entry(val).or_default();
                    *of = of.wrapping_add(times);
                }
            },
        }
    }
}

impl Graph {
    /// Words that are known to lie one after another, if the last of them is where it should be, are loaded as elements of one word.
    fn side_by_side(&mut self, courses: &Courses, needed: &[bool]) {
        for val in self.values().filter(|val| needed[val.index()]) {
            let Some(Inst { op: Op::Load(view), args, mask: NO }) = self.as_inst(val) else { continue };
            if self.inside.contains(&(view, args[0])) && courses.grows(args[0], 1) {
                self.nodes[val.index()] = Node::Inst(Inst { op: Op::Member(view, 0), args, mask: NO });
                self.groups.insert(val, [val, NO, NO, NO]);
            }
        }
    }

    /// What is ready is where elements are, and nothing else.
    fn kept_are_addresses(&self, outputs: &[(u32, Val)], needed: &[bool]) -> bool {
        let is_kept = |val: Val| matches!(self.node(val), Node::Kept(_));
        let mut insts = self.nodes.iter().zip(needed).filter_map(|(node, needed)| match node {
            Node::Inst(inst) if *needed => Some(inst),
            _ => None,
        });
        let member = |inst: &Inst| matches!(inst.op, Op::Member(..));
        insts.all(|inst| member(inst) || !inst.operands().any(is_kept))
            && !outputs.iter().any(|(_, val)| is_kept(*val))
    }
}
