//! How many low bits of words are always 0, so that several of them may be accessed at a time.
//!
//! Input: a program. Output: a number for each register, true of all that the register ever holds. Registers start as 0; each
//! definition takes away what it must, until nothing changes.

use std::cell::Cell;

use super::group::group_access;
use crate::ir::visit::{destinations_of, program_has};
use crate::ir::{Block, LaneInst, LaneOp, MemoryInst, Operand, Program, Reg, Space, StmtKind, Width};

/// Low bits of a word that is 0.
const ALL: u8 = 32;

/// Rounds after which nothing is claimed.
const ROUNDS: usize = 64;

/// Low bits that are 0, by register; empty if nobody needs to know.
#[derive(Debug, Default)]
pub(super) struct Alignment(Vec<u8>);

impl Alignment {
    /// Of the program's registers, where it accesses several words at one byte address.
    pub fn of(program: &Program) -> Self {
        let several = |kind: &StmtKind| matches!(kind, StmtKind::Memory(inst) if words(inst).is_some_and(|(.., count)| count > 1));
        if !program_has(program, &several) {
            return Self::default();
        }
        let mut this = Self(vec![ALL; program.registers as usize]);
        for _ in 0..ROUNDS {
            let mut changed = false;
            program.functions.iter().for_each(|function| this.block(&function.body, &mut changed));
            if !changed {
                return this;
            }
        }
        Self::default()
    }

    /// Low bits of an operand that are 0.
    pub fn zeros(&self, operand: &Operand) -> u8 {
        match operand {
            Operand::Imm(word) => word.trailing_zeros() as u8,
            Operand::Reg(register) => self.0.get(register.index()).copied().unwrap_or(0),
            Operand::Const { .. } | Operand::Builtin(_) => 0,
        }
    }

    fn block(&mut self, block: &Block, changed: &mut bool) {
        for statement in block {
            match &statement.kind {
                StmtKind::Lane(inst) => {
                    let zeros = self.result(inst);
                    inst.dst.into_iter().for_each(|register| self.lower(register, zeros, changed));
                }
                StmtKind::Memory(inst) => {
                    destinations_of(inst).into_iter().for_each(|register| self.lower(register, 0, changed));
                }
                kind => kind.blocks().for_each(|block| self.block(block, changed)),
            }
        }
    }

    fn lower(&mut self, register: Reg, zeros: u8, changed: &mut bool) {
        let known = &mut self.0[register.index()];
        if zeros < *known {
            *known = zeros;
            *changed = true;
        }
    }

    fn result(&self, inst: &LaneInst) -> u8 {
        let zeros = |k: usize| self.zeros(&inst.args[k]);
        let product = || zeros(0).saturating_add(zeros(1)).min(ALL);
        match inst.op {
            LaneOp::Mov | LaneOp::Inegate => zeros(0),
            LaneOp::And => zeros(0).max(zeros(1)),
            LaneOp::Or
            | LaneOp::Xor
            | LaneOp::Iadd
            | LaneOp::Isub
            | LaneOp::Imin
            | LaneOp::Imax
            | LaneOp::Umin
            | LaneOp::Umax => zeros(0).min(zeros(1)),
            LaneOp::Select => zeros(1).min(zeros(2)),
            LaneOp::Imul => product(),
            LaneOp::Imad => product().min(zeros(2)),
            LaneOp::Ishl => match inst.args[1] {
                Operand::Imm(by) => zeros(0).saturating_add((by % 32) as u8).min(ALL),
                _ => zeros(0),
            },
            LaneOp::Ushr => match inst.args[1] {
                Operand::Imm(_) if zeros(0) == ALL => ALL,
                Operand::Imm(by) => zeros(0).saturating_sub((by % 32) as u8),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Words of an element of group memory, 1, 2 or 4, such that most accesses are to whole elements. Atomics want single
    /// words.
    pub fn group_element(&self, program: &Program) -> u32 {
        if self.0.is_empty() {
            return 1;
        }
        // Accesses that whole elements of one, two and four words would do.
        let fit = [0, 1, 2].map(|_| Cell::new(0u32));
        let other = program_has(program, &|kind| {
            let StmtKind::Memory(inst) = kind else { return false };
            let Some((space, address, count)) = words(inst) else { return group_access(inst) };
            if let Space::Lds(_) = space {
                let wanted = [0, 0, 1, 2, 2][count];
                let aligned = self.zeros(address).saturating_sub(2);
                let fit = &fit[usize::from(aligned.min(wanted))];
                fit.set(fit.get() + 1);
            }
            false
        });
        let [one, two, four] = fit.map(Cell::into_inner);
        match () {
            () if other => 1,
            () if four > 0 && four >= one + two => 4,
            () if two + four > one => 2,
            () => 1,
        }
    }
}

/// What a plain access by dwords touches: where, from which byte on, and how many words up to the last.
fn words(inst: &MemoryInst) -> Option<(Space, &Operand, usize)> {
    let count = |present: [bool; 4]| present.iter().rposition(|present| *present).map_or(0, |last| last + 1);
    match inst {
        MemoryInst::RawLoad { space, address, width: Width::Dwords, dst } => {
            Some((*space, address, count(dst.map(|word| word.is_some()))))
        }
        MemoryInst::RawStore { space, address, width: Width::Dwords, src } => {
            Some((*space, address, count(src.map(|word| word.is_some()))))
        }
        _ => None,
    }
}
