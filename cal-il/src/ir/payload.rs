//! Doubles keep NaNs of any payload where nobody reads their bits.
//!
//! A NaN that arithmetic gives is the canonical one, which takes other devices some instructions after each operation. Sums and
//! products of doubles do not care. So a pair of registers that holds nothing but their results holds them as they come, and
//! whoever takes it bit for bit gets it through [`LaneOp::Dcanon`]. In the middle of a loop that is an operation less; a result
//! that is stored at once would not gain anything and stays. Registers that are outputs become exact where the thread ends.

use rustc_hash::FxHashMap;
use std::borrow::Cow;

use smallvec::smallvec;

use super::visit::{any, each_block, memory_destinations, memory_operands, statements, tested};
use super::{Block, LaneInst, LaneOp, Operand, Program, Reg, Stmt, StmtKind};
use crate::diagnostic::Span;
use crate::isa::lane::Class;

/// The program with payloads left open.
pub fn loosen(program: &Program) -> Cow<'_, Program> {
    let doubles = |kind: &StmtKind| matches!(kind, StmtKind::Lane(inst) if bare(inst.op).is_some());
    if !program.functions.iter().any(|function| any(&function.body, &doubles)) {
        return Cow::Borrowed(program);
    }
    let mut out = program.clone();
    let pairs = pairs(&mut out);
    if pairs.is_empty() {
        return Cow::Borrowed(program);
    }
    let mut outputs: Vec<[Reg; 2]> = out
        .outputs
        .iter()
        .flat_map(|output| output.registers)
        .filter_map(|reg| {
            pairs.get(&reg).map(|&(other, high)| if high { [other, reg] } else { [reg, other] })
        })
        .collect();
    outputs.sort_unstable();
    outputs.dedup();
    let mut pass = Pass { pairs, next: program.registers, ends: Vec::new() };
    for (number, function) in out.functions.iter_mut().enumerate() {
        // Main ends the thread.
        pass.ends = if number == 0 { outputs.clone() } else { Vec::new() };
        function.body = pass.block(std::mem::take(&mut function.body));
        pass.end(Span::default(), &mut function.body);
    }
    out.registers = pass.next;
    Cow::Owned(out)
}

/// The operation whose NaNs have any payload.
fn bare(op: LaneOp) -> Option<LaneOp> {
    op.native().filter(|_| op.result() == Class::Q)
}

/// Whether an operation takes a NaN of any payload for its arguments of 64 bits.
fn is_indifferent(op: LaneOp) -> bool {
    bare(op).is_some()
        || matches!(
            op,
            LaneOp::Deq | LaneOp::Dne | LaneOp::Dlt | LaneOp::Dge | LaneOp::D2f | LaneOp::Dtoi | LaneOp::Dtou
        )
}

/// What is known of a register.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The other word, and whether this is the high one.
    partner: Option<(Reg, bool)>,
    /// It is written by something else.
    other: bool,
    /// Readers that do not care.
    indifferent: u32,
}

/// Low registers and high ones of the pairs that may hold any NaN, each by the other.
fn pairs(program: &mut Program) -> FxHashMap<Reg, (Reg, bool)> {
    let mut words = vec![Word::default(); program.registers as usize];
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| {
            let StmtKind::Lane(LaneInst { op, dst: [low, high], .. }) = stmt.kind else { return };
            if bare(op).is_none() {
                return;
            }
            for (reg, partner) in [(low, (high, false)), (high, (low, true))] {
                let word = &mut words[reg.index()];
                word.other |= word.partner.is_some_and(|known| known != partner);
                word.partner = Some(partner);
            }
        });
    }
    for function in &mut program.functions {
        statements(&mut function.body, &mut |stmt| match &mut stmt.kind {
            StmtKind::Lane(inst) => {
                let [low, high] = inst.dst;
                if let (LaneOp::Mov, Operand::Imm(bits)) = (inst.op, inst.args[0]) {
                    // A high word that makes no NaN, whatever the low one, or no bits that would make one of infinity.
                    let word = &mut words[low.index()];
                    let high = matches!(word.partner, Some((_, true))) && bits & 0x7FF0_0000 != 0x7FF0_0000;
                    word.other |= bits != 0 && !high;
                } else if bare(inst.op).is_none() {
                    words[low.index()].other = true;
                    words[high.index()].other = true;
                }
                if is_indifferent(inst.op) {
                    for arg in &inst.args {
                        if let Operand::Reg(reg) = arg {
                            words[reg.index()].indifferent += 1;
                        }
                    }
                }
            }
            StmtKind::Memory(inst) => memory_destinations(inst, &mut |reg| words[reg.index()].other = true),
            _ => {}
        });
    }
    let fits = |reg: Reg| {
        let word = words[reg.index()];
        let (partner, high) = word.partner?;
        let other = words[partner.index()];
        let both = other.partner == Some((reg, !high)) && !word.other && !other.other;
        (both && word.indifferent > 0 && other.indifferent > 0).then_some((partner, high))
    };
    (0..program.registers).map(Reg).filter_map(|reg| Some((reg, fits(reg)?))).collect()
}

struct Pass {
    /// By word: the other one, and whether this is the high one.
    pairs: FxHashMap<Reg, (Reg, bool)>,
    next: u32,
    /// Pairs that are read when the function ends.
    ends: Vec<[Reg; 2]>,
}

impl Pass {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Block::with_capacity(block.len());
        for mut stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst, stmt.span, &mut out),
                StmtKind::Memory(inst) => {
                    memory_operands(inst, &mut |operand, _| self.exact(operand, stmt.span, &mut out));
                }
                kind => {
                    if let Some((operand, _)) = tested(kind) {
                        self.exact(operand, stmt.span, &mut out);
                    }
                }
            }
            if let StmtKind::Return(_) = stmt.kind {
                self.end(stmt.span, &mut out);
            }
            each_block(&mut stmt.kind, &mut |block| self.block(block));
            out.push(stmt);
        }
        out
    }

    /// What the end reads, exact.
    fn end(&self, span: Span, out: &mut Block) {
        out.extend(self.ends.iter().map(|&[low, high]| {
            let args = smallvec![Operand::Reg(low), Operand::Reg(high)];
            Stmt { kind: StmtKind::Lane(LaneInst { op: LaneOp::Dcanon, dst: [low, high], args }), span }
        }));
    }

    fn lane(&mut self, inst: &mut LaneInst, span: Span, out: &mut Block) {
        let indifferent = is_indifferent(inst.op);
        let mut at = 0;
        for class in inst.op.arguments() {
            let words = at..at + class.words();
            at = words.end;
            if let (Class::Q, true, &[low, high]) = (class, indifferent, &inst.args[words.clone()]) {
                let whole = matches!((low, high), (Operand::Reg(low), Operand::Reg(high))
                    if self.pairs.get(&low) == Some(&(high, false)));
                if whole {
                    continue;
                }
            }
            for word in words {
                self.exact(&mut inst.args[word], span, out);
            }
        }
        if let (Some(op), true) = (bare(inst.op), self.pairs.contains_key(&inst.dst[0])) {
            inst.op = op;
        }
    }

    /// The operand bit for bit.
    fn exact(&mut self, operand: &mut Operand, span: Span, out: &mut Block) {
        let Operand::Reg(reg) = *operand else { return };
        let Some((partner, is_high)) = self.pairs.get(&reg).copied() else { return };
        let (low, high) = if is_high { (partner, reg) } else { (reg, partner) };
        let to = [(); 2].map(|()| Reg::fresh(&mut self.next));
        let inst =
            LaneInst { op: LaneOp::Dcanon, dst: to, args: smallvec![Operand::Reg(low), Operand::Reg(high)] };
        out.push(Stmt { kind: StmtKind::Lane(inst), span });
        *operand = Operand::Reg(to[usize::from(is_high)]);
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::{is_indifferent, loosen};
    use crate::ir::visit::{registers, statements};
    use crate::ir::{LaneOp, StmtKind};

    /// Bare operations, and canonical forms made, after all reads were looked at.
    fn bare_and_canonical(body: &str) -> (usize, usize) {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[4]\n\
             dcl_literal l0, 0, 1, 2, 0x7FF00000\nmov r0, cb0[0]\nmov r1, cb0[1]\n{body}\nend\n"
        );
        let program = crate::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut program = loosen(&program).into_owned();
        crate::ir::validate::validate(&program).unwrap_or_else(|defects| panic!("{defects:#?}"));
        let (mut loose, mut forms) = (FxHashSet::default(), 0);
        let mut count = 0;
        statements(&mut program.functions[0].body, &mut |stmt| {
            if let StmtKind::Lane(inst) = &stmt.kind {
                if inst.op.is_bare() {
                    loose.extend(inst.dst);
                    count += 1;
                }
                forms += usize::from(inst.op == LaneOp::Dcanon);
            }
        });
        let shown = program.to_string();
        statements(&mut program.functions[0].body, &mut |stmt| {
            let indifferent = match &stmt.kind {
                StmtKind::Lane(inst) => {
                    inst.op.is_bare() || is_indifferent(inst.op) || inst.op == LaneOp::Dcanon
                }
                _ => false,
            };
            registers(&mut stmt.kind, &mut |reg, write| {
                assert!(write || indifferent || !loose.contains(reg), "%{reg} is read bit for bit\n{shown}");
            });
        });
        (count, forms)
    }

    #[test]
    fn sums_in_loops_are_loose() {
        let body = "mov r2, l0.x\nwhileloop\nige r3.x, r2.z, cb0[2].x\nbreak_logicalnz r3.x\n\
                    dmad r2.xy, r0.xy, r1.xy, r2.xy\niadd r2.z, r2.z, l0.y\nendloop\nmov g[0], r2";
        assert_eq!(bare_and_canonical(body), (1, 2));
    }

    #[test]
    fn chains_are_loose_and_ends_are_not() {
        assert_eq!(
            bare_and_canonical("dadd r2.xy, r0.xy, r1.xy\ndmul r3.xy, r2.xy, r2.xy\nmov g[0], r3").0,
            1
        );
        assert_eq!(bare_and_canonical("dadd r2.xy, r0.xy, r1.xy\nmov g[0], r2").0, 0);
    }

    /// Half of a sum goes into a product, and the other half is looked at.
    #[test]
    fn halves_that_are_read_alone_are_exact() {
        assert_eq!(
            bare_and_canonical(
                "dsub r2.xy, r0.xy, r1.xy\ndmad r3.xy, r0.xy, r1.xy, r2_abs\nmov g[0], r2\nmov g[1], r3"
            )
            .0,
            0
        );
    }

    /// Words that something else writes as well may be NaNs whose bits count.
    #[test]
    fn other_words_stay() {
        for start in ["mov r2, cb0[3]", "mov r2, l0.x\nmov r2.y, l0.w", "mov r2, l0.y"] {
            let body = format!(
                "{start}\nwhileloop\nige r3.x, r2.z, cb0[2].x\nbreak_logicalnz r3.x\n\
                 dmad r2.xy, r0.xy, r1.xy, r2.xy\niadd r2.z, r2.z, l0.y\nendloop\nmov g[0], r2"
            );
            assert_eq!(bare_and_canonical(&body).0, 0, "{start}");
        }
    }
}
