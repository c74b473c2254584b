//! Interpolated inputs of pixel kernels in SPIR-V.

use rspirv::spirv::{Op, Word};

use super::Emitter;
use crate::isa::Algebra;

impl Emitter<'_> {
    /// Component of an interpolated input: the corner values, linear over the domain, at the pixel's centre; without
    /// corner values the position. Each step is rounded and flushed.
    pub fn interpolant(&mut self, register: u32, component: u32) -> Word {
        let Some(first) = self.layout.interpolants else { return self.word(0) };
        let first = first + 3 * register.min(7);
        let [ul, ll, lr] = [0, 1, 2].map(|k| {
            let row = self.row_at(first + k);
            let corner = self.part(row, component);
            self.flush(corner)
        });
        let (domain, half) = (self.row_at(0), self.word(0x3F00_0000));
        let [u, v] = [0, 1].map(|axis| {
            let index = self.domain_index(axis);
            let index = self.itof_raw(index);
            let centre = self.fadd_raw(index, half);
            let size = self.part(domain, 2 + axis);
            let size = self.itof_raw(size);
            crate::isa::lane::division::quotient(self, centre, size)
        });
        use crate::isa::lane::float::{add, mul_ieee, sub};
        let (across, down) = (sub(self, lr, ll), sub(self, ll, ul));
        let (across, down) = (mul_ieee(self, across, u), mul_ieee(self, down, v));
        let sum = add(self, ul, across);
        let value = add(self, sum, down);
        let value = self.canonical(value);
        let position = if component < 2 {
            let index = self.position_index(component);
            let index = self.itof_raw(index);
            self.fadd_raw(index, half)
        } else {
            self.word(0)
        };
        let (row, zero) = (self.row_at(1), self.word(0));
        let given = self.part(row, 3);
        let given = self.w.op(Op::INotEqual, self.t.bool, &[given, zero]);
        self.select(given, value, position)
    }
}
