//! Operands: registers, words, constants, and what a thread knows of itself.

use rspirv::spirv::{BuiltIn, Word};

use super::Emitter;
use crate::ir::{Builtin, Operand, PositionKind, Stage, ThreadId};
use crate::isa::Algebra;

impl Emitter<'_> {
    /// An operand's word.
    pub fn operand(&mut self, operand: &Operand) -> Word {
        match operand {
            Operand::Reg(register) => self.read(*register),
            Operand::Imm(bits) => self.word(*bits),
            Operand::Const { buffer, row, component } => {
                let buffer = u32::from(*buffer);
                let uniform = self.is_uniform(buffer, *row, *component);
                let words = self.constant_row(buffer, *row, uniform);
                self.part(words, u32::from(*component))
            }
            Operand::Builtin(builtin) => self.builtin(*builtin),
        }
    }

    /// Component of a launch identifier.
    pub fn launch_id(&mut self, builtin: BuiltIn, component: u32) -> Word {
        let variable = self.input(builtin);
        let outer = self.w.hoist(true);
        let value = self.w.load_fixed(self.t.uvec3, variable);
        let part = self.part(value, component);
        self.w.hoist(outer);
        if let (BuiltIn::LocalInvocationId, Some(size)) = (builtin, self.group) {
            self.facts.limit_always(part, size[component as usize] - 1);
            self.threads.is_number(part, Some(component as u8));
        }
        part
    }

    /// Column (0) or row (1) of the pixel in its domain.
    pub fn domain_index(&mut self, axis: u32) -> Word {
        let outer = self.w.hoist(true);
        let group = self.launch_id(BuiltIn::WorkgroupId, axis);
        let thread = self.launch_id(BuiltIn::LocalInvocationId, axis);
        let side = self.word(self.group.expect("pixel kernels have a tile")[axis as usize]);
        let first = self.imul(group, side);
        let index = self.iadd(first, thread);
        self.w.hoist(outer);
        index
    }

    /// The same, of all columns or rows.
    pub fn position_index(&mut self, axis: u32) -> Word {
        let index = self.domain_index(axis);
        if self.assume.surfaces.at_origin {
            return index;
        }
        let outer = self.w.hoist(true);
        let domain = self.row_at(0);
        let first = self.part(domain, axis);
        let index = self.iadd(index, first);
        self.w.hoist(outer);
        index
    }

    /// x + Sx (y + Sy z)
    fn flatten(&mut self, [x, y, z]: [Word; 3], [sx, sy]: [Word; 2]) -> Word {
        let plane = self.imul(sy, z);
        let rows = self.iadd(y, plane);
        let rows = self.imul(sx, rows);
        self.iadd(x, rows)
    }

    pub fn builtin(&mut self, builtin: Builtin) -> Word {
        if let Some(value) = self.memo.builtins.get(&builtin) {
            return *value;
        }
        // Corner values take a division each: where they are used.
        if let Builtin::Interpolant(register, component) = builtin {
            return self.interpolant(register.into(), component.into());
        }
        let outer = self.w.hoist(true);
        let value = match builtin {
            Builtin::Thread(ThreadId::InGroup | ThreadId::Absolute | ThreadId::Group, 3..) => self.word(0),
            Builtin::Thread(ThreadId::InGroup, k) => self.launch_id(BuiltIn::LocalInvocationId, k.into()),
            Builtin::Thread(ThreadId::Group, k) => self.launch_id(BuiltIn::WorkgroupId, k.into()),
            Builtin::Thread(ThreadId::Absolute, k) => {
                let group = self.launch_id(BuiltIn::WorkgroupId, k.into());
                let thread = self.launch_id(BuiltIn::LocalInvocationId, k.into());
                let first = self.imul(group, self.block[usize::from(k)]);
                self.iadd(first, thread)
            }
            Builtin::Thread(ThreadId::InGroupFlat, _) if matches!(self.group, Some([_, 1, 1])) => {
                self.launch_id(BuiltIn::LocalInvocationId, 0)
            }
            Builtin::Thread(ThreadId::InGroupFlat, _) => {
                let id = [0, 1, 2].map(|k| self.launch_id(BuiltIn::LocalInvocationId, k));
                let flat = self.flatten(id, [self.block[0], self.block[1]]);
                self.threads.is_number(flat, None);
                flat
            }
            Builtin::Thread(ThreadId::GroupFlat, _) => {
                let id = [0, 1, 2].map(|k| self.launch_id(BuiltIn::WorkgroupId, k));
                let groups = self.row_at(0);
                let sizes = [self.part(groups, 0), self.part(groups, 1)];
                self.flatten(id, sizes)
            }
            Builtin::Thread(ThreadId::AbsoluteFlat, _) => {
                let group = self.builtin(Builtin::Thread(ThreadId::GroupFlat, 0));
                let thread = self.builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
                let xy = self.imul(self.block[0], self.block[1]);
                let threads = self.imul(xy, self.block[2]);
                let first = self.imul(group, threads);
                self.iadd(first, thread)
            }
            Builtin::Position(k @ (0 | 1)) => {
                let index = self.position_index(k.into());
                // Far below 2^24: exact.
                let whole = self.itof_raw(index);
                let position = if self.program.interface.position == Some(PositionKind::Whole) {
                    whole
                } else {
                    let half = self.word(0x3F00_0000);
                    self.fadd_raw(whole, half)
                };
                self.memo.whole.insert(position, (index, k.into()));
                position
            }
            Builtin::Position(_) => self.word(0),
            Builtin::ObjectIndex => {
                if self.program.stage == Stage::Compute {
                    self.builtin(Builtin::Thread(ThreadId::AbsoluteFlat, 0))
                } else {
                    let domain = self.row_at(0);
                    let width = self.part(domain, 2);
                    let (x, y) = (self.domain_index(0), self.domain_index(1));
                    let row = self.imul(y, width);
                    self.iadd(row, x)
                }
            }
            Builtin::Timer(_) | Builtin::ComputeUnit | Builtin::WaveSlot | Builtin::Interpolant(..) => {
                self.word(0)
            }
        };
        self.w.hoist(outer);
        self.memo.builtins.insert(builtin, value);
        value
    }
}
