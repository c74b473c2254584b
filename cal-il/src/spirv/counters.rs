//! Counters that cannot wrap: drivers may know all about them.

use rustc_hash::FxHashMap;

use super::Emitter;
use super::facts::Assumed;
use crate::ir::visit::touched;
use crate::ir::{Block, Cond, LaneInst, LaneOp, Operand, Reg, StmtKind};

/// What bounds a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// The register that the loop is left by.
    pub test: Reg,
    /// The least word at which it is left.
    pub end: u32,
    /// Words compare as signed ones.
    pub signed: bool,
    /// All steps of a round.
    pub steps: u32,
}

impl Bound {
    /// The greatest word at the beginning of a round, if the first begins with `start`.
    pub fn most(&self, start: u32) -> Option<u32> {
        let limit = if self.signed { i32::MAX as u32 } else { u32::MAX };
        // Behind the test it was below the end.
        let next = self.end.checked_sub(1)?.checked_add(self.steps)?;
        Some(start.max(next)).filter(|most| *most <= limit)
    }
}

/// Registers that a loop steps upwards only behind a test that leaves it at a constant bound, such that the bound and all steps of
/// a round together do not wrap.
pub(super) fn bounded_counters(body: &Block) -> FxHashMap<Reg, Bound> {
    let mut writes: FxHashMap<Reg, u32> = FxHashMap::default();
    touched(body, &mut |reg, write| *writes.entry(reg).or_default() += u32::from(write));
    let once = |reg: Reg| writes.get(&reg) == Some(&1);
    let mut tests: FxHashMap<Reg, &LaneInst> = FxHashMap::default();
    // Those that were tested, with the room that is left for steps, how many these are, and what bounds them.
    let mut tested: FxHashMap<Reg, (u32, u32, Bound)> = FxHashMap::default();
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
                    && let Some((room, steps, bound)) = tested.get_mut(&reg)
                    && step <= *room
                {
                    *room -= step;
                    *steps += 1;
                    bound.steps += step;
                }
                tests.insert(inst.dst[0], inst);
            }
            kind => {
                if let Some((inst, cond)) = leaves(kind).and_then(|cond| match cond.operand {
                    Operand::Reg(test) if once(test) => Some((*tests.get(&test)?, cond)),
                    _ => None,
                }) && let Some((reg, room, bound)) = bound(inst, cond.nonzero)
                {
                    tested.entry(reg).or_insert((room, 0, bound));
                }
            }
        }
    }
    // Nothing else writes them.
    tested
        .into_iter()
        .filter(|(reg, (_, steps, _))| writes.get(reg) == Some(steps))
        .map(|(reg, (_, _, bound))| (reg, bound))
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

/// The register that is below a constant where the test does not leave, the greatest sum of steps from there that does not wrap, and
/// what is known of it.
fn bound(inst: &LaneInst, nonzero: bool) -> Option<(Reg, u32, Bound)> {
    let signed = match (inst.op, nonzero) {
        (LaneOp::Ige, true) | (LaneOp::Ilt, false) => true,
        (LaneOp::Uge, true) | (LaneOp::Ult, false) => false,
        _ => return None,
    };
    let [Operand::Reg(reg), Operand::Imm(end)] = inst.args[..] else { return None };
    let greatest = i32::MAX as u32;
    let room = if signed { greatest.wrapping_sub(end).min(greatest) } else { u32::MAX - end };
    Some((reg, room, Bound { test: inst.dst[0], end, signed, steps: 0 }))
}

impl Emitter<'_> {
    /// Behind a test that would have left the innermost loop, at the outermost level of its body: counters are below their ends.
    pub fn goes_on(&mut self, cond: &Cond) {
        let tested = |bound: &Bound| cond.operand == Operand::Reg(bound.test);
        let Some((counter, bound)) = self.flow.bounded.iter().find(|(_, bound)| tested(bound)) else {
            return;
        };
        let (counter, bound) = (*counter, *bound);
        let word = self.read(counter);
        // As a signed word it may be below 0.
        if let Some(most) = bound.end.checked_sub(1)
            && (!bound.signed || self.most(word) <= i32::MAX as u32)
        {
            self.facts.limit(word, most);
        }
    }

    /// Before a loop: counters that begin with a constant have a greatest word at its head.
    pub fn counters(&self) -> Vec<(Reg, u32)> {
        let mut most = Vec::new();
        for (counter, bound) in &self.flow.bounded {
            let start = self.memo.registers.get(counter).and_then(|word| self.w.bits.get(&word).copied());
            most.extend(start.and_then(|start| bound.most(start)).map(|most| (*counter, most)));
        }
        most.sort_unstable();
        most
    }

    /// At the head of a loop.
    pub fn assume_counters(&mut self, counters: &[(Reg, u32)]) -> Assumed {
        let before = self.assumed();
        for (counter, most) in counters {
            let word = self.read(*counter);
            self.facts.limit(word, *most);
        }
        before
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
