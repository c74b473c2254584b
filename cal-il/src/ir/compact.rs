//! Packs registers: values whose lives do not overlap share one.
//!
//! Lowering gives every value a register of its own, which suits analyses and a back end that builds on values. A
//! backend that keeps 64 lanes of each register in memory wants few of them.
//!
//! Shared are registers with one definition whose uses all lie in its block or deeper; such a value is dead at the
//! end of its block and whenever a loop around it starts again. It lives from its definition to its last use, or to
//! the end of the outermost loop between the two. All other registers, among them those that rely on the zero of
//! the beginning, stay alone. Each function has registers of its own.

use super::uniformity::single_local_registers;
use super::{Block, Program, Reg, StmtKind, visit};
use crate::isa::lane::Class;

/// Packs the registers of `program`.
pub fn compact(program: &mut Program) {
    let shareable = single_local_registers(program);
    let count = program.registers as usize;
    let mut lives = Lives {
        shareable: &shareable,
        defined: vec![0; count],
        last: vec![0; count],
        position: 0,
        loops: Vec::new(),
    };
    for function in &mut program.functions {
        lives.block(&mut function.body);
    }
    let last = lives.last;
    let mut packer = Packer {
        shareable: &shareable,
        last: &last,
        map: vec![None; count],
        free: Vec::new(),
        ending: std::collections::BinaryHeap::new(),
        registers: 0,
        position: 0,
    };
    for output in &mut program.outputs {
        output.registers = output.registers.map(|reg| packer.register(reg));
    }
    for function in &mut program.functions {
        packer.block(&mut function.body);
        // The next function may run in the middle of this one.
        packer.free.clear();
        packer.ending.clear();
    }
    program.registers = packer.registers;
}

/// First walk: where values die.
struct Lives<'a> {
    shareable: &'a [bool],
    defined: Vec<u32>,
    last: Vec<u32>,
    position: u32,
    /// Loops around: where they start, and registers that live to their end.
    loops: Vec<(u32, Vec<Reg>)>,
}

impl Lives<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            self.position += 1;
            let here = self.position;
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                let index = reg.index();
                if !self.shareable[index] {
                    return;
                }
                self.last[index] = here;
                if definition {
                    self.defined[index] = here;
                } else {
                    let outermost = self.loops.partition_point(|(start, _)| *start < self.defined[index]);
                    if let Some((_, extended)) = self.loops.get_mut(outermost)
                        && extended.last() != Some(reg)
                    {
                        extended.push(*reg);
                    }
                }
            });
            match &mut stmt.kind {
                StmtKind::Loop { body } => {
                    self.loops.push((here, Vec::new()));
                    self.block(body);
                    self.position += 1;
                    if let Some((_, extended)) = self.loops.pop() {
                        extended.into_iter().for_each(|reg| self.last[reg.index()] = self.position);
                    }
                }
                kind => kind.blocks_mut().for_each(|block| self.block(block)),
            }
        }
    }
}

/// Second walk, with the same positions: registers are handed out and taken back.
struct Packer<'a> {
    shareable: &'a [bool],
    last: &'a [u32],
    map: Vec<Option<Reg>>,
    free: Vec<Reg>,
    /// Registers in use by the position after which they are free, soonest first.
    ending: std::collections::BinaryHeap<std::cmp::Reverse<(u32, Reg)>>,
    /// Those that were given out.
    registers: u32,
    position: u32,
}

impl Packer<'_> {
    /// Takes back what nobody reads after `position`.
    fn release(&mut self, position: u32) {
        while let Some(std::cmp::Reverse((end, reg))) = self.ending.peek().copied() {
            if end > position {
                break;
            }
            self.ending.pop();
            self.free.push(reg);
        }
    }

    fn register(&mut self, old: Reg) -> Reg {
        let index = old.index();
        if let Some(new) = self.map[index] {
            return new;
        }
        let shared = self.shareable[index];
        let reused = if shared { self.free.pop() } else { None };
        let new = reused.unwrap_or_else(|| Reg::fresh(&mut self.registers));
        if shared {
            self.ending.push(std::cmp::Reverse((self.last[index], new)));
        }
        self.map[index] = Some(new);
        new
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            self.position += 1;
            let here = self.position;
            self.release(here - 1);
            // A result of one word may take the place of an operand that dies here.
            let in_place = match &stmt.kind {
                StmtKind::Lane(inst) => inst.op.result() != Class::Q,
                _ => false,
            };
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                if definition && in_place {
                    self.release(here);
                }
                *reg = self.register(*reg);
            });
            match &mut stmt.kind {
                StmtKind::Loop { body } => {
                    self.block(body);
                    self.position += 1;
                }
                kind => kind.blocks_mut().for_each(|block| self.block(block)),
            }
        }
    }
}
