//! Rounds of a loop whose addresses go on by steps, see [`Reduced`]: strength reduction of induction variables, in a version of the loop of
//! its own.
//!
//! What a loop samples at is a function of rows to which each round adds something, and which are held between edges. It goes on by steps
//! for as long as no edge is met; whether one is, the first and the last round say ([`Courses`]).

use super::*;
use crate::graph::course::{COLUMNS, Course, Courses};
use crate::op::{Kind, Relation};
use crate::program::{Induction, Reduced};

/// Most rounds at a time. More of them would leave more for the end of a loop, fewer would be looked at more often.
const ROUNDS: u32 = 32;
/// How far coordinates go on meanwhile, at least for eight rounds: what is left at an edge is so much at most.
const FAR: u32 = 128;
/// Most that a round adds to a coordinate.
const FARTHEST: u32 = 64;

/// The runs of a loop before and after something of them is ready, what that is for the next round, and of each value whether it is the
/// same in a line.
pub(super) struct Rounds<'a> {
    pub before: &'a [Made],
    pub runs: &'a [Made],
    pub next: &'a [Vec<(u32, Val)>],
    pub alike: &'a [Vec<bool>],
}

/// Induction variables of addresses, and what must be asked before rounds rely on them.
pub(super) struct Inductions {
    entry: Graph,
    next: Vec<(u32, Val)>,
    doubts: Vec<Val>,
    /// The same if rounds have gone on so already.
    again: Vec<Val>,
    /// So many at a time.
    rounds: u32,
    /// Numbers that are taken.
    count: u32,
    inductions: Vec<Induction>,
    /// Numbers of what is the same in a line.
    same: Vec<u32>,
}

/// A run whose rows grow, and by how much.
struct Growing<'a> {
    graph: &'a Graph,
    courses: Courses,
    steps: FxHashMap<u32, u32>,
}

impl Growing<'_> {
    /// A value as it is some rounds later, or before; `None` if it is more than arithmetic.
    fn later(&self, entry: &mut Graph, val: Val, rounds: i32) -> Option<Val> {
        let all = ahead::computed_from(self.graph, val)?;
        Some(entry.copied(self.graph, &all, |entry, node| {
            let of = entry.add(node);
            let step = if let Node::Row(row) = node { self.steps.get(&row) } else { None };
            match step.map(|step| *step as i32 * rounds) {
                None | Some(0) => of,
                Some(by) => {
                    let by = entry.word((by as f32).to_bits());
                    entry.binary(Op::FAdd, of, by)
                }
            }
        }))
    }

    /// Notes the numbers that a value is a sum of multiples of; `None` if it is none.
    fn numbers(&self, val: Val, found: &mut Vec<(Val, u32)>) -> Option<()> {
        match (self.courses.get(val), self.graph.as_inst(val)?) {
            (Some(Course::Same), _) => {}
            (Some(Course::Number(_, _, step)), _) => found.push((val, step)),
            (_, Inst { op: Op::Add, args: [a, b, _], mask: NO }) => {
                for arg in [a, b].into_iter().filter(|arg| self.courses.get(*arg) != Some(Course::Same)) {
                    self.numbers(arg, found)?;
                }
            }
            (_, Inst { op: Op::Mul, args: [a, b, _], mask: NO }) => {
                let same = |arg: Val| self.courses.get(arg) == Some(Course::Same);
                self.numbers(if same(a) { b } else { Some(a).filter(|_| same(b))? }, found)?;
            }
            (_, Inst { op: Op::ShlBy(_), args: [a, ..], mask: NO }) => self.numbers(a, found)?,
            _ => return None,
        }
        Some(())
    }
}

impl Inductions {
    /// Makes runs find ready the words that accesses go on by, and looks where they lead; `None` if that can't be known.
    pub(super) fn of(of: &Rounds<'_>, lazy: bool, kept: &Invariants) -> Option<(Inductions, Vec<Graph>)> {
        let rows = of
            .before
            .iter()
            .flat_map(|(graph, outputs, _)| outputs.iter().filter_map(|(row, val)| step(graph, *row, *val)));
        let rounds = FAR.checked_div(rows.max().unwrap_or(0)).unwrap_or(ROUNDS);
        let mut found = Inductions {
            rounds: rounds.clamp(8, ROUNDS),
            entry: Graph::plain(lazy),
            next: Vec::new(),
            doubts: Vec::new(),
            again: Vec::new(),
            count: kept.count(),
            inductions: Vec::new(),
            same: Vec::new(),
        };
        let graphs: Option<Vec<Graph>> = (0..of.runs.len()).map(|run| found.run(of, run)).collect();
        let graphs = graphs.filter(|_| !found.inductions.is_empty())?;
        Some((found, graphs))
    }

    /// Numbers of what is the same in a line.
    pub(super) fn same(&self) -> &[u32] {
        &self.same
    }

    fn run(&mut self, of: &Rounds<'_>, run: usize) -> Option<Graph> {
        let (before, outputs, test) = &of.before[run];
        let mut made = of.runs[run].0.clone();
        let written = |other: usize| of.before[other].1.iter().map(|(row, _)| *row);
        let mut others = (0..of.before.len()).filter(|other| *other != run).flat_map(written);
        let steps: FxHashMap<u32, u32> =
            outputs.iter().filter_map(|&(row, val)| Some((row, step(before, row, val)?))).collect();
        if others.any(|row| steps.contains_key(&row)) {
            return None;
        }
        let all: FxHashSet<u32> = (0..of.before.len()).flat_map(written).collect();
        let courses = Courses::from(before, |val| match before.node(val) {
            Node::Row(row) if steps.contains_key(&row) => Some(Course::columns(steps[&row])),
            Node::Row(row) => (!all.contains(&row)).then_some(Course::Same),
            Node::Lanes(_) => Some(Course::Same),
            _ => None,
        });
        let growing = Growing { graph: before, courses, steps };
        let mut firsts: BTreeMap<Val, Option<u32>> = BTreeMap::new();
        for val in needed(before, outputs, *test) {
            let Some(Inst { op: Op::Member(..) | Op::Part(..) | Op::Pair(..), args: [first, ..], .. }) =
                before.as_inst(val)
            else {
                continue;
            };
            if growing.courses.get(first) != Some(Course::Same) {
                let step = if let Shape::Step(step) = before.shape_of(first) { Some(step) } else { None };
                firsts.insert(first, step);
            }
        }
        let mut points = Vec::new();
        for &first in firsts.keys() {
            growing.numbers(first, &mut points)?;
        }
        points.sort_unstable();
        points.dedup();
        self.look(&growing, &points)?;
        for (first, step) in firsts {
            let [now, later] = [0, 1].map(|rounds| growing.later(&mut self.entry, first, rounds));
            let (now, by) = (now?, self.entry.binary(Op::Sub, later?, now?));
            let number = self.count;
            self.count += 2;
            self.next.extend([(number, now), (number + 1, by)]);
            if of.alike[run][first.index()] {
                self.same.extend([number, number + 1]);
            }
            self.inductions.push(Induction { number, by: number + 1, step });
            made.nodes[first.index()] = Node::Kept(number);
        }
        // The loop's other rounds go on from there.
        for (number, _) in &of.next[run] {
            let val = of.runs[run].0.nodes.iter().position(|node| *node == Node::Kept(*number))?;
            let now = growing.later(&mut self.entry, Val::new(val), 0)?;
            self.next.push((*number, now));
        }
        self.alone(of, run, &made).then_some(made)
    }

    /// Looks whether numbers go on by steps to the last round, and rows with them.
    fn look(&mut self, growing: &Growing<'_>, points: &[(Val, u32)]) -> Option<()> {
        let (entry, rounds) = (&mut self.entry, self.rounds);
        for &(val, step) in points {
            let last = growing.later(entry, val, rounds as i32 - 1)?;
            // The last of the rounds before has gone on by a step, too, not only to where an edge is.
            for (doubts, first) in [(&mut self.doubts, 0), (&mut self.again, -1)] {
                let before = growing.later(entry, val, first)?;
                let far = entry.binary(Op::Sub, last, before);
                let known = entry.word((rounds as i32 - 1 - first) as u32 * step);
                doubts.push(entry.binary(Op::Compare(Kind::Signed, Relation::Equal, true), far, known));
            }
        }
        let read = |row: &&u32| entry.find(Node::Row(**row)).is_some();
        let mut rows: Vec<u32> = growing.steps.keys().filter(read).copied().collect();
        rows.sort_unstable();
        for row in rows {
            let most = entry.word((COLUMNS - (rounds * growing.steps[&row]) as f32).to_bits());
            let row = entry.add(Node::Row(row));
            // Floats above 0 are ordered as their words are; those below it have larger ones.
            let far = entry.binary(Op::Compare(Kind::Unsigned, Relation::Less, false), most, row);
            let twice = entry.binary(Op::FAdd, row, row);
            let whole = entry.unary(Op::Round(1), twice);
            self.doubts
                .extend([far, entry.binary(Op::Compare(Kind::Float, Relation::Equal, true), whole, twice)]);
            self.again.push(far);
        }
        Some(())
    }

    /// Nothing but accesses reads what goes on.
    fn alone(&self, of: &Rounds<'_>, run: usize, graph: &Graph) -> bool {
        let (_, outputs, test) = &of.runs[run];
        let going = |val: Val| match graph.node(val) {
            Node::Kept(number) => {
                let ahead = || of.next.iter().flatten().any(|(other, _)| *other == number);
                self.inductions.iter().any(|of| of.number == number) || ahead()
            }
            _ => false,
        };
        let reads = |val: Val| match graph.as_inst(val) {
            Some(Inst { op: Op::Member(..) | Op::Part(..) | Op::Pair(..), .. }) => false,
            Some(inst) => inst.operands().any(going),
            None => false,
        };
        let ends = outputs.iter().map(|(_, val)| *val).chain(*test);
        !needed(graph, outputs, *test).any(reads) && !{ ends }.any(going)
    }
}

/// The values that are needed.
fn needed(graph: &Graph, outputs: &[(u32, Val)], test: Option<Val>) -> impl Iterator<Item = Val> + use<> {
    let needed = graph.needed(outputs, test);
    Val::all(needed.len()).filter(move |val| needed[val.index()])
}

/// What a run adds to a row, if that is a whole number, and all it does.
fn step(graph: &Graph, row: u32, mut val: Val) -> Option<u32> {
    let mut all = 0.0;
    while graph.node(val) != Node::Row(row) {
        let Inst { op: Op::FAdd, args: [a, b, _], mask: NO } =
            graph.as_inst(graph.before_flush(val).unwrap_or(val))?
        else {
            return None;
        };
        let (by, other) = graph.word_of(b).map(|by| (by, a)).or_else(|| Some((graph.word_of(a)?, b)))?;
        let by = f32::from_bits(by);
        if by.fract() != 0.0 || by < 1.0 {
            return None;
        }
        all += by;
        val = other;
    }
    (1.0..=FARTHEST as f32).contains(&all).then_some(all as u32)
}

impl Translator<'_> {
    /// The other way, with a body.
    pub(super) fn reduced(&self, found: Inductions, kept: &Invariants, body: Vec<Part>) -> Option<Reduced> {
        let Inductions { mut entry, next, doubts, again, inductions, rounds, .. } = found;
        let mut any =
            |doubts: Vec<Val>| doubts.into_iter().reduce(|all, doubt| entry.binary(Op::Either, all, doubt));
        let (doubted, again) = (any(doubts)?, any(again)?);
        kept.replace(&mut entry);
        let values = next.iter().map(|(_, val)| *val).chain([doubted, again]);
        let (graph, place) = entry.lowered(self.target, values);
        let next = next.into_iter().map(|(number, val)| (number, place[val.index()])).collect();
        let entry = Straight { next, ..self.placed(graph, &place, Vec::new(), None) };
        Some(Reduced {
            rounds,
            entry: (entry, place[doubted.index()]),
            again: place[again.index()],
            inductions,
            body,
        })
    }
}
