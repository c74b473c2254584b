//! Loops around barriers and stores test where their rounds end.
//!
//! ```text
//! loop { A               A
//!        break if c  →   loop { break if c
//!        B                      B
//!        fence                  C
//!        C }                    A
//!                               fence }
//! ```
//!
//! Who runs what is between barriers for all waves of a group before anything else, or what is up to a store for all threads of a wave, has one
//! thing less to run in each round, and again one less where nothing but lane operations follows the last barrier: these do not care on which
//! side of it they are.

use std::borrow::Cow;

use super::visit::{any, continues, each_block};
use super::{Block, Fence, Program, Stmt, StmtKind};

/// Most operations that are there twice then.
const MOST: usize = 16;

/// The program with such loops changed.
pub fn rotate(program: &Program) -> Cow<'_, Program> {
    let loops = |kind: &StmtKind| matches!(kind, StmtKind::Loop { body } if parts(body));
    if !program.functions.iter().any(|function| any(&function.body, &loops)) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    for function in &mut program.functions {
        function.body = block(std::mem::take(&mut function.body));
    }
    Cow::Owned(program)
}

/// Threads wait for each other in it, or change what others may see.
fn parts(body: &Block) -> bool {
    any(body, &|kind| match kind {
        StmtKind::Fence(fence) => fence.contains(Fence::THREADS),
        StmtKind::Memory(inst) => !inst.is_load(),
        _ => false,
    })
}

fn block(list: Block) -> Block {
    let mut out = Block::with_capacity(list.len());
    for mut stmt in list {
        each_block(&mut stmt.kind, &mut block);
        if let StmtKind::Loop { body } = &mut stmt.kind
            && parts(body)
        {
            out.extend(turned(body));
        }
        out.push(stmt);
    }
    out
}

/// Changes a loop's body; what comes before the loop then.
fn turned(body: &mut Block) -> Block {
    let lanes = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Lane(_));
    let first = body.iter().take_while(lanes).count();
    let tests = matches!(body.get(first), Some(Stmt { kind: StmtKind::Break(Some(_)), .. }));
    let head: Block = match tests && first <= MOST && !continues(&body[first..]) {
        true => body.drain(..first).collect(),
        false => Block::new(),
    };
    body.extend(head.iter().cloned());
    let last = body.iter().rev().take_while(lanes).count();
    let fence = body.len() - last;
    if fence > 0 && matches!(body[fence - 1].kind, StmtKind::Fence(_)) {
        body[fence - 1..].rotate_left(1);
    }
    head
}

#[cfg(test)]
mod tests {
    use super::rotate;

    /// The lines of a kernel whose first statement is a loop of these statements, without where they come from.
    fn lines(body: &str) -> Vec<String> {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 256\ndcl_cb cb0[1]\ndcl_literal l0, 1, 4, 0, 0\n\
             mov r0.x, vTidInGrpFlat.x\nwhileloop\n{body}endloop\nmov g[0], r1\nend\n"
        );
        let program = crate::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let turned = rotate(&program);
        crate::ir::validate::validate(&turned).unwrap_or_else(|defects| panic!("{defects:#?}"));
        let text = turned.to_string();
        let kind = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| *word == "=").map_or(0, |at| at + 1);
            words.get(at).map(|word| word.to_string())
        };
        let lines: Vec<String> = text.lines().filter_map(kind).collect();
        let first = lines.iter().position(|line| line == "loop").unwrap();
        let end = first + lines[first..].iter().position(|line| line == "}").unwrap();
        lines[first - 1..=end].to_vec()
    }

    const HEAD: &str = "ige r2.x, r1.x, cb0[0].x\nbreak_logicalnz r2.x\n";
    const LDS: &str = "lds_store_id(0) r0.x, r2.x\n";
    const TAIL: &str = "fence_threads_lds\niadd r1.x, r1.x, l0.x\n";

    #[test]
    fn rounds_end_with_the_test_of_the_next_one() {
        let found = lines(&format!("{HEAD}{LDS}{TAIL}"));
        assert_eq!(found, ["Ige", "loop", "break", "RawStore", "Iadd", "Ige", "fence", "}"]);
    }

    #[test]
    fn who_goes_on_has_not_tested() {
        let found = lines(&format!("{HEAD}{LDS}continue_logicalz r0.x\n{TAIL}"));
        assert_eq!(found[1..], ["loop", "Ige", "break", "RawStore", "continue", "Iadd", "fence", "}"]);
    }

    #[test]
    fn stores_need_no_barrier() {
        let found = lines(&format!("{HEAD}{LDS}iadd r1.x, r1.x, l0.x\n"));
        assert_eq!(found, ["Ige", "loop", "break", "RawStore", "Iadd", "Ige", "}"]);
    }

    #[test]
    fn other_loops_stay() {
        let found = lines(&format!("{HEAD}fence_lds\niadd r1.x, r1.x, l0.x\n"));
        assert_eq!(found[1..], ["loop", "Ige", "break", "fence", "Iadd", "}"]);
    }

    /// What follows the last barrier accesses memory: it stays behind.
    #[test]
    fn accesses_stay_on_their_side() {
        let found = lines(&format!("{HEAD}{LDS}{TAIL}lds_store_id(0) r0.x, r1.x\n"));
        assert_eq!(found[1..], ["loop", "break", "RawStore", "fence", "Iadd", "RawStore", "Ige", "}"]);
    }
}
