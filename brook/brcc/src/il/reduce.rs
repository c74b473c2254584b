//! Reductions: each thread combines a block of the input, left to right, row by row.

use super::asm::{Dst, Op, Reg};
use super::{Emitter, Frame, Usage};
use crate::hir::{self, ParamKind};

impl Emitter<'_> {
    pub(crate) fn reduction(&mut self) -> Result<(), String> {
        let kernel = self.kernel;
        let find = |kind: ParamKind| kernel.params.iter().position(|p| p.kind == kind);
        let (Some(input), Some(output)) = (find(ParamKind::Input), find(ParamKind::Reduce)) else {
            return Err("a reduction without streams".to_owned());
        };
        let factor = self.shape(input, Usage::ReductionFactor);
        let axes = if self.translation { 4 } else { 2 };
        // The first element of this thread's block.
        let base = self.asm.temp(axes);
        if self.translation {
            let width = self.shape(output, Usage::BufferShape).word(0);
            let index = self.thread_index(&width);
            let stream = self.shape(output, Usage::StreamShape);
            let position = self.asm.temp(4);
            self.split(&index, &stream, 4, &position);
            let list: Vec<u8> = (0..axes as u8).collect();
            self.asm.each("imul", &base, &[&position.op().pick(&list), &factor.pick(&list)]);
        } else {
            let cell = self.asm.new_each("ftoi", 2, &[&Op::new(Reg::Named("v0"), 2)]);
            self.asm.each("imul", &base, &[&cell, &factor.pick(&[0, 1])]);
        }
        let ty = kernel.params[input].ty;
        let sum = self.fresh(ty);
        let first = self.element_at(input, &base);
        self.asm.mov(&sum[0].dst(), &first);

        let mut vars: Vec<Option<Vec<Op>>> = vec![None; kernel.vars.len()];
        for (at, param) in kernel.params.iter().enumerate() {
            if param.kind == ParamKind::Constant {
                let (buffer, slot) = self.layout.slot(at, Usage::User);
                vars[at] = Some(vec![Op::new(Reg::Constant(buffer, slot), super::expr::words(param.ty))]);
            }
        }
        vars[output] = Some(sum.clone());
        let counters: Vec<Dst> = (0..axes).map(|_| self.asm.temp(1)).collect();
        self.loops(axes, axes, &counters, &factor, &mut |e| {
            let at = e.asm.temp(axes);
            for (axis, counter) in counters.iter().enumerate() {
                e.asm.each("iadd", &at.word(axis), &[&base.op().word(axis), &counter.op()]);
            }
            let next = e.element_at(input, &at);
            let mut vars = vars.clone();
            vars[input] = Some(vec![next]);
            e.frames.push(Frame { kernel, vars, arrays: Vec::new(), result: Vec::new(), function: false });
            let done = if hir::returns_early(&kernel.body) {
                e.function(|e| e.statements(&kernel.body))
            } else {
                e.statements(&kernel.body)
            };
            e.frames.pop();
            done
        })?;
        self.asm.store_output(0, &sum[0]);
        Ok(())
    }

    /// Nested loops over the block, x innermost; the first element, which is there already, is left out.
    fn loops(
        &mut self,
        axis: usize,
        axes: usize,
        counters: &[Dst],
        factor: &Op,
        body: &mut dyn FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(axis) = axis.checked_sub(1) else {
            return body(self);
        };
        let counter = &counters[axis];
        let (zero, one) = (self.asm.int(0), self.asm.int(1));
        if axis == 0 {
            // 1 where all outer counters are 0.
            let mut outer = counters[1].op();
            for other in &counters[2..axes] {
                outer = self.asm.new_each("ior", 1, &[&outer, &other.op()]);
            }
            self.asm.each("cmov_logical", counter, &[&outer, &zero, &one]);
        } else {
            self.asm.mov(counter, &zero);
        }
        self.asm.line("whileloop");
        let done = self.asm.new_each("ige", 1, &[&counter.op(), &factor.word(axis)]);
        let test = self.asm.shown(&done);
        self.asm.line(&format!("break_logicalnz {test}"));
        self.loops(axis, axes, counters, factor, body)?;
        self.asm.each("iadd", counter, &[&counter.op(), &one]);
        self.asm.line("endloop");
        Ok(())
    }

    /// The input's element at whole coordinates.
    fn element_at(&mut self, input: usize, at: &Dst) -> Op {
        let ty = self.kernel.params[input].ty;
        if !self.translation {
            return self.sample_cell(input, ty, &at.op(), None)[0].clone();
        }
        let stream = self.shape(input, Usage::StreamShape);
        let index = self.linear(&at.op(), &stream);
        let buffer = self.shape(input, Usage::BufferShape);
        let cell = self.asm.temp(2);
        self.asm.each("umod", &cell.word(0), &[&index, &buffer.word(0)]);
        self.asm.each("udiv", &cell.word(1), &[&index, &buffer.word(0)]);
        self.sample_cell(input, ty, &cell.op(), None)[0].clone()
    }
}
