//! Small functions become part of their callers, and those that are called in one place.
//!
//! Drivers do that with all functions; some take longer for each call the more they have taken in before. In: a program.
//! Out: the same program without the calls of functions that are small, or called once, and end where they end. The functions themselves
//! stay, if any is called.

use std::borrow::Cow;

use super::visit::{any, calls, count, each_block, order, program_has};
use super::{Block, Program, Stmt, StmtKind};

/// Statements of a function that is small.
const SMALL: usize = 256;

/// Statements by which a program may grow.
const MOST: usize = 1 << 16;

/// The program without calls of small functions.
pub fn inline(program: &Program) -> Cow<'_, Program> {
    if !program_has(program, &|kind| matches!(kind, StmtKind::Call { .. })) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let reached = order(&program.functions);
    let mut places = vec![0; program.functions.len()];
    for &number in &reached {
        calls(&program.functions[number].body, &mut |callee| places[callee] += 1);
    }
    let mut pass = Pass { small: vec![None; program.functions.len()], room: MOST };
    for number in reached {
        let function = &mut out.functions[number];
        function.body = pass.block(std::mem::take(&mut function.body));
        pass.small[number] = small(&function.body, places[number] == 1);
    }
    if !any(&out.functions[0].body, &|kind| matches!(kind, StmtKind::Call { .. })) {
        out.functions.truncate(1);
    }
    Cow::Owned(out)
}

/// The statements of a function, and by how many a program grows with each call, if that is few and control leaves it at its end only. `once`: it
/// is called in one place.
fn small(body: &Block, once: bool) -> Option<(Block, usize)> {
    let mut body = body.as_slice();
    if let Some((Stmt { kind: StmtKind::Return(None), .. }, rest)) = body.split_last() {
        body = rest;
    }
    let leaves = any(body, &|kind| matches!(kind, StmtKind::Return(_) | StmtKind::Discard(_)));
    let grows = if once { 0 } else { count(body) };
    (!leaves && grows <= SMALL).then(|| (body.to_vec(), grows))
}

struct Pass {
    /// By function; callees come before callers, so a function that calls itself is never there.
    small: Vec<Option<(Block, usize)>>,
    /// Statements by which the program may still grow.
    room: usize,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for Stmt { kind, span } in block {
            let kind = match kind {
                StmtKind::Call { function, cond } => match self.body(function) {
                    None => StmtKind::Call { function, cond },
                    Some(body) => match cond {
                        None => {
                            out.extend(body);
                            continue;
                        }
                        Some(cond) => StmtKind::If { cond, then: body, otherwise: Block::new() },
                    },
                },
                mut other => {
                    each_block(&mut other, &mut |block| self.block(block));
                    other
                }
            };
            out.push(Stmt { kind, span });
        }
        out
    }

    /// What stands for a call of a function.
    fn body(&mut self, function: usize) -> Option<Block> {
        let (body, count) = self.small.get(function)?.as_ref()?;
        self.room = self.room.checked_sub(*count)?;
        Some(body.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_in_one_place_may_be_long() {
        let long = "add r0.x, r0.x, cb0[0].x\n".repeat(SMALL + 1);
        let called = |times: usize| {
            let text = format!(
                "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[1]\n{}mov o0, r0.xxxx\nendmain\nfunc 1\n{long}ret\nend\n",
                "call 1\n".repeat(times)
            );
            let program = crate::compile(text.as_bytes()).unwrap();
            program_has(&inline(&program), &|kind| matches!(kind, StmtKind::Call { .. }))
        };
        assert_eq!([1, 2].map(called), [false, true]);
    }
}
