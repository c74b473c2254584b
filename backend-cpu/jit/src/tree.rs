//! Steps as a tree of constructs, and which rows are wanted where.

use std::ops::Deref;

use recal_il::bits::BitSet;
use recal_il::ir::lines::Shape;
use rustc_hash::FxHashMap;

use crate::{At, NONE, Step, choose, leave};

/// Part of a function with flow.
pub enum Tree<'a> {
    /// Steps without flow.
    Run(Run<'a>),
    /// Two sides; lanes whose test is `nonzero` take the first. The test is that of the run before. `step` is where it begins.
    If { step: Numbered<'a>, nonzero: bool, lanes: Shape, then: Vec<Tree<'a>>, otherwise: Vec<Tree<'a>> },
    /// Until all lanes have left; rows that are read after it.
    Loop { body: Vec<Tree<'a>>, number: u32, after: BitSet },
    /// A step that lanes do one after another.
    Call(Numbered<'a>),
    /// Lanes leave whose test is as said, or all.
    Break(Option<(bool, Shape)>, Numbered<'a>),
}

impl Tree<'_> {
    /// The run before it has a test for it.
    pub fn tests(&self) -> bool {
        matches!(self, Tree::If { .. } | Tree::Break(Some(_), _))
    }
}

/// A step, and its number in the function.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    pub number: u32,
    step: &'a Step<'a>,
}

impl<'a> Numbered<'a> {
    pub fn new(number: u32, step: &'a Step<'a>) -> Self {
        Numbered { number, step }
    }
}

impl<'a> Deref for Numbered<'a> {
    type Target = Step<'a>;

    fn deref(&self) -> &Step<'a> {
        self.step
    }
}

/// Steps without flow, but for choices that lanes make by themselves ([`crate::choose`]), and lanes that leave the loop around
/// ([`crate::leave`]).
#[derive(Default)]
pub struct Run<'a> {
    pub steps: Vec<Numbered<'a>>,
    /// The row that the construct after it tests.
    pub test: Option<u32>,
    /// Rows that are read later.
    pub live: BitSet,
    /// It ends with a choice, and what follows belongs to it.
    pub open: bool,
}

impl Run<'_> {
    /// Nothing to do.
    pub const fn empty() -> Self {
        Run { steps: Vec::new(), test: None, live: BitSet::new(), open: false }
    }
}

/// Calls `visit` for each row that a step reads (false), then for each that it writes (true).
pub fn each_row(step: &Step<'_>, mut visit: impl FnMut(u32, bool)) {
    let (reads, writes): (&[u32], &[u32]) = match step {
        Step::Lane { ids, writes, .. } => (&ids[*writes..], &ids[..*writes]),
        Step::Load { address, to, .. }
        | Step::LoadElement { element: address, to, .. }
        | Step::LoadPart { address, to, .. } => (std::slice::from_ref(address), to),
        Step::Sample { coordinates, to, .. } => (coordinates, to),
        Step::Store { address, from, .. } | Step::StoreElement { element: address, from, .. } => {
            visit(*address, false);
            (from, &[])
        }
        Step::StorePart { address, from, .. } => {
            visit(*address, false);
            (std::slice::from_ref(from), &[])
        }
        Step::StoreTexel { coordinates, from, .. } => {
            coordinates.iter().filter(|&&row| row != NONE).for_each(|&row| visit(row, false));
            (from, &[])
        }
        Step::Atomic { at, from, to, .. } => {
            let at = match at {
                At::Byte(address) => std::slice::from_ref(address),
                At::Element(coordinates, _) => coordinates,
            };
            at.iter().filter(|&&row| row != NONE).for_each(|&row| visit(row, false));
            (from, to)
        }
        Step::Count { to, .. } => (&[], std::slice::from_ref(to)),
        Step::Emit { rows, .. } => (rows, &[]),
        Step::Test { row } => (std::slice::from_ref(row), &[]),
        Step::If { row, .. } | Step::Break(Some((row, ..))) => (std::slice::from_ref(row), &[]),
        Step::Barrier | Step::Else | Step::EndIf | Step::Loop | Step::EndLoop | Step::Break(None) => {
            (&[], &[])
        }
    };
    reads.iter().filter(|&&row| row != NONE).for_each(|&row| visit(row, false));
    writes.iter().filter(|&&row| row != NONE).for_each(|&row| visit(row, true));
}

/// The tree of steps whose constructs are closed; `after` are the rows that are read after them. Choices with short sides
/// become parts of runs; `in_lines` is whether anything is known of the lanes of a strip.
pub fn tree<'a>(steps: &'a [Step<'a>], after: BitSet, in_lines: bool) -> Vec<Tree<'a>> {
    let mut rest = (0..).zip(steps).map(|(number, step)| Numbered { number, step });
    let (list, _) = parse(&mut rest);
    let mut list = choose::short(list, in_lines);
    let exit = BitSet::default();
    liveness(&mut list, after.clone(), &exit, &mut Heads::default());
    if leave::early(&mut list, in_lines) {
        liveness(&mut list, after, &exit, &mut Heads::default());
    }
    list
}

/// Parses up to the end of the construct; what ends it, too.
fn parse<'a>(rest: &mut impl Iterator<Item = Numbered<'a>>) -> (Vec<Tree<'a>>, Option<Numbered<'a>>) {
    let mut list = Vec::new();
    let mut run = Run::default();
    let close = |list: &mut Vec<Tree<'a>>, run: &mut Run<'a>, test| {
        list.push(Tree::Run(Run { test, ..std::mem::take(run) }));
    };
    let mut end = None;
    while let Some(step) = rest.next() {
        match *step {
            Step::If { row, nonzero, lanes } => {
                close(&mut list, &mut run, Some(row));
                let (then, end) = parse(rest);
                let other = matches!(end.as_deref(), Some(Step::Else));
                let otherwise = if other { parse(rest).0 } else { Vec::new() };
                list.push(Tree::If { step, nonzero, lanes, then, otherwise });
            }
            Step::Loop => {
                close(&mut list, &mut run, None);
                list.push(Tree::Loop { body: parse(rest).0, number: step.number, after: BitSet::default() });
            }
            Step::Break(test) => {
                close(&mut list, &mut run, test.map(|(row, ..)| row));
                list.push(Tree::Break(test.map(|(_, nonzero, lanes)| (nonzero, lanes)), step));
            }
            _ if step.is_call() => {
                close(&mut list, &mut run, None);
                list.push(Tree::Call(step));
            }
            Step::Else | Step::EndIf | Step::EndLoop => {
                end = Some(step);
                break;
            }
            _ => run.steps.push(step),
        }
    }
    close(&mut list, &mut run, None);
    (list, end)
}

/// Rows that are read from the start of loops on, by the loops' numbers.
type Heads = FxHashMap<u32, BitSet>;

/// Notes the rows that are read after each run; returns those that are read from the start of the list on. `after` are
/// those that are read after it, `exit` after the innermost loop.
fn liveness(list: &mut [Tree<'_>], after: BitSet, exit: &BitSet, heads: &mut Heads) -> BitSet {
    let mut rows = after;
    for tree in list.iter_mut().rev() {
        match tree {
            Tree::Run(run) => {
                run.live = rows.clone();
                run.test.into_iter().for_each(|row| rows.insert(row));
                // What is read after the choices around, and from the start of their second sides on.
                let mut around: Vec<(BitSet, Option<BitSet>)> = Vec::new();
                for step in run.steps.iter().rev() {
                    each_row(step, |row, written| {
                        if written {
                            rows.remove(row)
                        }
                    });
                    match (&**step, around.last_mut()) {
                        (Step::Break(_), _) => _ = rows.union_with(exit),
                        (Step::EndIf, _) => around.push((rows.clone(), None)),
                        (Step::Else, Some((after, other))) => {
                            *other = Some(std::mem::replace(&mut rows, after.clone()));
                        }
                        (Step::If { .. }, Some(_)) => {
                            let (after, other) = around.pop().unwrap_or_default();
                            rows.union_with(&other.unwrap_or(after));
                        }
                        _ => {}
                    }
                    each_row(step, |row, written| {
                        if !written {
                            rows.insert(row)
                        }
                    });
                }
            }
            Tree::If { then, otherwise, .. } => {
                let other = liveness(otherwise, rows.clone(), exit, heads);
                rows = liveness(then, rows, exit, heads);
                rows.union_with(&other);
            }
            Tree::Loop { body, number, after } => {
                after.clone_from(&rows);
                // What was read in an earlier round of a loop around is read still: else each loop in another would take twice as long.
                let mut head = heads.remove(number).unwrap_or_default();
                loop {
                    let before = liveness(body, head.clone(), &rows, heads);
                    if !head.union_with(&before) {
                        break;
                    }
                }
                heads.insert(*number, head.clone());
                rows = head;
            }
            Tree::Call(step) => {
                each_row(step, |row, written| {
                    if written {
                        rows.remove(row)
                    }
                });
                each_row(step, |row, written| {
                    if !written {
                        rows.insert(row)
                    }
                });
            }
            Tree::Break(None, _) => rows = exit.clone(),
            Tree::Break(Some(_), _) => _ = rows.union_with(exit),
        }
    }
    rows
}

/// How often runs of a list find rows in their places, or leave them there.
pub fn mentions(list: &[Tree<'_>], counts: &mut FxHashMap<u32, usize>) {
    for tree in list {
        match tree {
            Tree::Run(run) => {
                let mut written = BitSet::default();
                let mut found = BitSet::default();
                for step in &run.steps {
                    each_row(step, |row, write| match write {
                        true => written.insert(row),
                        false if !written.contains(row) && !found.contains(row) => {
                            found.insert(row);
                            *counts.entry(row).or_default() += 1;
                        }
                        false => {}
                    });
                }
                let mut left = BitSet::default();
                for step in &run.steps {
                    each_row(step, |row, write| {
                        if write && run.live.contains(row) && !left.contains(row) {
                            left.insert(row);
                            *counts.entry(row).or_default() += 1;
                        }
                    });
                }
            }
            Tree::If { then, otherwise, .. } => {
                mentions(then, counts);
                mentions(otherwise, counts);
            }
            Tree::Loop { body, .. } => mentions(body, counts),
            Tree::Call(_) | Tree::Break(..) => {}
        }
    }
}

/// Visits the runs of a list.
pub fn each_run<'t>(list: &'t [Tree<'t>], visit: &mut impl FnMut(&'t Run<'t>)) {
    for tree in list {
        match tree {
            Tree::Run(run) => visit(run),
            Tree::If { then, otherwise, .. } => {
                each_run(then, visit);
                each_run(otherwise, visit);
            }
            Tree::Loop { body, .. } => each_run(body, visit),
            Tree::Call(_) | Tree::Break(..) => {}
        }
    }
}

/// The lanes of a line stay together, if all of them execute.
pub fn together(list: &[Tree<'_>]) -> bool {
    list.iter().all(|tree| match tree {
        Tree::Run(run) => !run.steps.iter().any(|step| matches!(**step, Step::Break(_))),
        Tree::Call(_) => true,
        Tree::If { lanes, then, otherwise, .. } => {
            *lanes == Shape::Same && together(then) && together(otherwise)
        }
        Tree::Loop { body, .. } => together(body),
        Tree::Break(test, _) => test.is_none_or(|(_, lanes)| lanes == Shape::Same),
    })
}

/// A loop is among the list.
pub fn loops(list: &[Tree<'_>]) -> bool {
    list.iter().any(|tree| match tree {
        Tree::If { then, otherwise, .. } => loops(then) || loops(otherwise),
        Tree::Loop { .. } => true,
        Tree::Run(_) | Tree::Call(_) | Tree::Break(..) => false,
    })
}

/// A step that lanes do one after another is among the list.
pub fn calls(list: &[Tree<'_>]) -> bool {
    list.iter().any(|tree| match tree {
        Tree::If { then, otherwise, .. } => calls(then) || calls(otherwise),
        Tree::Loop { body, .. } => calls(body),
        Tree::Call(_) => true,
        Tree::Run(_) | Tree::Break(..) => false,
    })
}
