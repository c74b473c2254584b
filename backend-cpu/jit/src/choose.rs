//! Choices with short sides: all lanes do both sides, and each takes what it would have done. Without jumps and masks what
//! is around becomes one block, whose values stay in registers.

use std::sync::OnceLock;

use recal_il::ir::lines::Shape;
use recal_il::isa::{LaneOp, lane};

use crate::Step;
use crate::graph::{Graph, Node, Val};
use crate::tree::{Numbered, Run, Tree};

/// Most operations of a side: about what masks and jumps cost, and what is mispredicted now and then.
const MOST: usize = 24;

/// Makes short sides parts of the runs around them. A choice that lanes in lines make alike stays a jump.
pub fn short(list: Vec<Tree<'_>>, in_lines: bool) -> Vec<Tree<'_>> {
    let mut made: Vec<Tree<'_>> = Vec::with_capacity(list.len());
    for tree in list {
        match (made.last_mut(), tree) {
            (Some(Tree::Run(before)), Tree::If { step, nonzero, lanes, then, otherwise }) => {
                let [then, otherwise] = [then, otherwise].map(|side| short(side, in_lines));
                let alike = in_lines && lanes == Shape::Same;
                match (alone(&then), alone(&otherwise)) {
                    (Some(first), Some(second)) if !alike => {
                        before.steps.push(step);
                        before.steps.extend(&first.steps);
                        before.steps.push(Numbered::new(step.number, &Step::Else));
                        before.steps.extend(&second.steps);
                        before.steps.push(Numbered::new(step.number, &Step::EndIf));
                        before.test = None;
                        before.open = true;
                    }
                    _ => made.push(Tree::If { step, nonzero, lanes, then, otherwise }),
                }
            }
            (Some(Tree::Run(before)), Tree::Run(run)) if before.open => {
                before.steps.extend(run.steps);
                (before.test, before.open) = (run.test, run.open);
            }
            (_, Tree::Loop { body, number, after }) => {
                made.push(Tree::Loop { body: short(body, in_lines), number, after });
            }
            (_, tree) => made.push(tree),
        }
    }
    made
}

/// The only run of a side, if it does nothing but a few operations on lanes.
fn alone<'t, 'a>(side: &'t [Tree<'a>]) -> Option<&'t Run<'a>> {
    static NOTHING: Run<'static> = Run::empty();
    let run = match side {
        [] => return Some(&NOTHING),
        [Tree::Run(run)] => run,
        _ => return None,
    };
    let mut count = 0;
    for step in &run.steps {
        count += match **step {
            Step::Lane { op, .. } => operations(op),
            Step::If { .. } | Step::Else | Step::EndIf => 1,
            _ => return None,
        };
        if count > MOST {
            return None;
        }
    }
    Some(run)
}

/// How many operations on vectors a lane operation is.
fn operations(op: LaneOp) -> usize {
    static KNOWN: [OnceLock<usize>; LaneOp::ALL.len()] = [const { OnceLock::new() }; LaneOp::ALL.len()];
    let count = || {
        let mut graph = Graph::default();
        let words: usize = op.arguments().iter().map(|class| class.words()).sum();
        let rows: Vec<Val> = (0..words as u32).map(|row| graph.add(Node::Row(row))).collect();
        lane::apply(&mut graph, op, &rows);
        graph.nodes.len() - words
    };
    *KNOWN[op as usize].get_or_init(count)
}
