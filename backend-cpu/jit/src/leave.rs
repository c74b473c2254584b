//! Breaks in the middle of a loop that are no places where code parts: all that a round computes is one block, lanes leave within it, and
//! rows change for those that stay. One jump for each round is left, and what comes before and after a break is computed side by side.

use recal_il::bits::BitSet;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;

use crate::Step;
use crate::tree::{Numbered, Run, Tree, each_row};

/// Most products that ask for zeros: where there are more, blocks are better tried without asking.
const PRODUCTS: usize = 6;

/// Makes the bodies of innermost loops runs, where that can be done; true if it was.
pub fn early(list: &mut [Tree<'_>], in_lines: bool) -> bool {
    let mut any = false;
    for tree in list {
        any |= match tree {
            Tree::If { then, otherwise, .. } => early(then, in_lines) | early(otherwise, in_lines),
            Tree::Loop { body, after, .. } => match joined(body, after, in_lines) {
                Some(run) => {
                    *body = vec![Tree::Run(run)];
                    true
                }
                None => early(body, in_lines),
            },
            Tree::Run(_) | Tree::Call(_) | Tree::Break(..) => false,
        };
    }
    any
}

/// A body as one run. What lanes that have left are still asked to compute must be nothing but arithmetic, and of what was computed
/// before they left nothing may be seen outside.
fn joined<'a>(body: &[Tree<'a>], after: &BitSet, in_lines: bool) -> Option<Run<'a>> {
    let mut joined = Run::empty();
    let (mut breaks, mut parts, mut products) = (0, false, 0);
    let (last, rest) = body.split_last()?;
    for (number, tree) in body.iter().enumerate() {
        match tree {
            Tree::Run(run) => {
                for step in &run.steps {
                    let (simple, product) = kind(step);
                    if !simple && (breaks > 0 || !loads(step)) {
                        return None;
                    }
                    products += usize::from(product);
                    let mut seen = false;
                    each_row(step, |row, written| seen |= written && after.contains(row));
                    if seen && number < rest.len() {
                        return None;
                    }
                }
                joined.steps.extend(&run.steps);
            }
            Tree::Break(Some((_, lanes)), step) => {
                breaks += 1;
                parts |= !(in_lines && *lanes == Shape::Same);
                joined.steps.push(*step);
            }
            _ => return None,
        }
    }
    (parts && products <= PRODUCTS && matches!(last, Tree::Run(_))).then_some(joined)
}

fn loads(step: &Step<'_>) -> bool {
    matches!(step, Step::Load { .. } | Step::LoadElement { .. } | Step::LoadPart { .. } | Step::Sample { .. })
}

/// Whether a step is arithmetic, and whether it asks for zeros.
fn kind(step: &Numbered<'_>) -> (bool, bool) {
    match **step {
        Step::Lane { op, .. } => (true, matches!(op, LaneOp::Mul | LaneOp::Mad | LaneOp::Lrp)),
        Step::If { .. } | Step::Else | Step::EndIf => (true, false),
        _ => (false, false),
    }
}
