//! Counters that cannot wrap: drivers may know all about them.

use std::collections::{HashMap, HashSet};

use crate::ir::visit::{registers, statements};
use crate::ir::{Block, Cond, LaneInst, LaneOp, Operand, Reg, StmtKind};

/// Registers that a loop steps upwards only behind a test that leaves it at a constant bound, such that the bound and all steps of
/// a round together do not wrap.
pub(super) fn bounded_counters(body: &Block) -> HashSet<Reg> {
    let mut writes: HashMap<Reg, u32> = HashMap::new();
    let mut all = body.clone();
    statements(&mut all, &mut |stmt| {
        registers(&mut stmt.kind, &mut |reg, write| *writes.entry(*reg).or_default() += u32::from(write));
    });
    let once = |reg: Reg| writes.get(&reg) == Some(&1);
    let mut tests: HashMap<Reg, &LaneInst> = HashMap::new();
    // Those that were tested, with the room that is left for steps, and steps.
    let mut tested: HashMap<Reg, (u32, u32)> = HashMap::new();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Lane(inst) => {
                let step = match inst.args[..] {
                    [Operand::Reg(reg), Operand::Imm(step)] | [Operand::Imm(step), Operand::Reg(reg)]
                        if inst.op == LaneOp::Iadd && reg == inst.dst[0] && step as i32 > 0 =>
                    {
                        Some((reg, step))
                    }
                    _ => None,
                };
                if let Some((reg, step)) = step
                    && let Some((room, steps)) = tested.get_mut(&reg)
                    && step <= *room
                {
                    *room -= step;
                    *steps += 1;
                }
                tests.insert(inst.dst[0], inst);
            }
            kind => {
                if let Some((inst, cond)) = leaves(kind).and_then(|cond| match cond.operand {
                    Operand::Reg(test) if once(test) => Some((*tests.get(&test)?, cond)),
                    _ => None,
                }) && let Some((reg, most)) = bound(inst, cond.nonzero)
                {
                    tested.entry(reg).or_insert((most, 0));
                }
            }
        }
    }
    // Nothing else writes them.
    tested
        .into_iter()
        .filter(|(reg, (_, steps))| writes.get(reg) == Some(steps))
        .map(|(reg, _)| reg)
        .collect()
}

/// The condition of a statement that does nothing but leave the loop.
fn leaves(kind: &StmtKind) -> Option<Cond> {
    match kind {
        StmtKind::Break(cond) => *cond,
        StmtKind::If { cond, then, otherwise } => match (&then[..], &otherwise[..]) {
            ([stmt], []) if matches!(stmt.kind, StmtKind::Break(None)) => Some(*cond),
            _ => None,
        },
        _ => None,
    }
}

/// The register that is below a constant where the test does not leave, and the greatest step from there that does not wrap.
fn bound(inst: &LaneInst, nonzero: bool) -> Option<(Reg, u32)> {
    let signed = |bound: u32| (i32::MAX as u32).wrapping_sub(bound).min(i32::MAX as u32);
    match (inst.op, nonzero, &inst.args[..]) {
        (LaneOp::Ige, true, &[Operand::Reg(reg), Operand::Imm(bound)])
        | (LaneOp::Ilt, false, &[Operand::Reg(reg), Operand::Imm(bound)]) => Some((reg, signed(bound))),
        (LaneOp::Uge, true, &[Operand::Reg(reg), Operand::Imm(bound)])
        | (LaneOp::Ult, false, &[Operand::Reg(reg), Operand::Imm(bound)]) => Some((reg, u32::MAX - bound)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::bounded_counters;
    use crate::ir::StmtKind;
    use crate::ir::unroll::unroll;

    fn counters(start: &str, body: &str) -> usize {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\n\
             dcl_raw_uav_id(0)\ndcl_literal l0, 4, 512, 0x7FFFFFFE, -4\nmov r1, cb0[0]\nmov r1.x, {start}\nwhileloop\n{body}\nendloop\nmov g[0], r1\nend\n"
        );
        let program = crate::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let program = unroll(&program, true, |_| 4);
        let body = program.functions[0].body.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Loop { body } => Some(body),
            _ => None,
        });
        bounded_counters(body.expect("a loop")).len()
    }

    #[test]
    fn steps_towards_a_constant() {
        for test in [
            "ige r2.x, r1.x, l0.y\nbreak_logicalnz r2.x",
            "ilt r2.x, r1.x, l0.y\nbreak_logicalz r2.x",
            "uge r2.x, r1.x, l0.y\nbreak_logicalnz r2.x",
            "uge r2.x, r1.x, l0.y\nif_logicalnz r2.x\nbreak\nendif",
        ] {
            assert_eq!(counters("cb0[0].x", &format!("{test}\niadd r1.x, r1.x, l0.x")), 1, "{test}");
            // Several rounds in a row.
            let load = "uav_raw_load_id(0) r3.x, r1.x\niadd r1.y, r1.y, r3.x";
            assert_eq!(counters("l0.x", &format!("{test}\n{load}\niadd r1.x, r1.x, l0.x")), 1, "{test}");
        }
    }

    /// Each of these may wrap, or nobody can tell.
    #[test]
    fn others_may_wrap() {
        let test = "ige r2.x, r1.x, l0.y\nbreak_logicalnz r2.x";
        for body in [
            // A bound that is not known, or too near the end; a step downwards, or of any size.
            "ige r2.x, r1.x, cb0[0].y\nbreak_logicalnz r2.x\niadd r1.x, r1.x, l0.x".to_owned(),
            "ige r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\niadd r1.x, r1.x, l0.x".to_owned(),
            format!("{test}\niadd r1.x, r1.x, l0.w"),
            format!("{test}\niadd r1.x, r1.x, cb0[0].z"),
            // The first round steps before it looks; a second step; a test that does not leave.
            format!("iadd r1.x, r1.x, l0.x\n{test}"),
            format!("{test}\niadd r1.x, r1.x, l0.x\nif_logicalnz r1.y\niadd r1.x, r1.x, l0.x\nendif"),
            format!("if_logicalnz r1.y\n{test}\nendif\niadd r1.x, r1.x, l0.x"),
            "ige r2.x, r1.x, l0.y\nbreak_logicalz r2.x\niadd r1.x, r1.x, l0.x".to_owned(),
        ] {
            assert_eq!(counters("cb0[0].x", &body), 0, "{body}");
        }
    }
}
