//! Makes a kernel that shows a difference small: takes statements away and simplifies operands as long as the
//! difference stays.

use std::time::Instant;

use super::kernel::{Kernel, Statement};

/// The smallest kernel found within `budget` attempts, and before the deadline, for which `differs` holds.
pub fn shrink(
    kernel: Kernel,
    mut budget: usize,
    deadline: Instant,
    mut differs: impl FnMut(&Kernel) -> bool,
) -> Kernel {
    let mut best = kernel;
    loop {
        let mut progress = false;
        for edit in [Edit::Remove, Edit::Flatten, Edit::Simplify] {
            let mut at = 0;
            while budget > 0 && Instant::now() < deadline {
                let mut candidate = best.clone();
                let mut position = at;
                match candidate.bodies.iter_mut().find_map(|body| change(body, &mut position, edit)) {
                    None => break,
                    Some(false) => at += 1,
                    Some(true) => {
                        budget -= 1;
                        if differs(&candidate) {
                            best = candidate;
                            progress = true;
                        } else {
                            at += 1;
                        }
                    }
                }
            }
        }
        if !progress || budget == 0 || Instant::now() >= deadline {
            return best;
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    /// Takes a statement away.
    Remove,
    /// Puts the statements of an `if` in its place.
    Flatten,
    /// Strips one operand to its register.
    Simplify,
}

/// Applies `edit` at place number `position`, counted in preorder; `None` if there are fewer places, `Some(false)`
/// if nothing can be changed there.
fn change(body: &mut Vec<Statement>, position: &mut usize, edit: Edit) -> Option<bool> {
    let mut k = 0;
    while k < body.len() {
        let places = match (&body[k], edit) {
            (Statement::Line(line), Edit::Simplify) => line.operands.len(),
            _ => 1,
        };
        if *position < places {
            return Some(match (edit, &mut body[k]) {
                (Edit::Remove, _) => {
                    body.remove(k);
                    true
                }
                (Edit::Flatten, Statement::Block { arms, plain: true, .. }) => {
                    let inner: Vec<Statement> =
                        std::mem::take(arms).into_iter().flat_map(|(arm, _)| arm).collect();
                    body.splice(k..=k, inner);
                    true
                }
                (Edit::Simplify, Statement::Line(line)) => simplify(&mut line.operands[*position]),
                _ => false,
            });
        }
        *position -= places;
        if let Statement::Block { arms, .. } = &mut body[k] {
            for (arm, _) in arms {
                if let Some(changed) = change(arm, position, edit) {
                    return Some(changed);
                }
            }
        }
        k += 1;
    }
    None
}

/// `r1.xyzw_abs` becomes `r1.xyzw`, then `r1`.
fn simplify(operand: &mut String) -> bool {
    let bracket = operand.find(']').map_or(0, |k| k + 1);
    let cut = match operand[bracket..].find('_') {
        Some(modifier) if operand[bracket..][..modifier].contains('(') => None,
        Some(modifier) => Some(bracket + modifier),
        None => operand[bracket..].find('.').map(|k| bracket + k),
    };
    match cut {
        Some(cut) => {
            operand.truncate(cut);
            true
        }
        None => false,
    }
}
