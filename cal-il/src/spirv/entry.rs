//! The functions of a module: the program's, and the entry point around main.

use rspirv::spirv::{Op, Word};

use super::Emitter;
use super::launch::Slot;
use super::uses::inlines_main;
use crate::ir::Stage;
use crate::ir::visit::order;
use crate::isa::Algebra;

impl Emitter<'_> {
    /// Writes all functions of the program; returns main's, `None` if that is to stand in the entry point.
    pub fn program_functions(&mut self) -> Option<Word> {
        let program = self.program;
        let order = order(&program.functions);
        for n in &order {
            let id = self.w.id();
            self.functions.insert(*n, id);
        }
        let void = self.t.void;
        let inline = inlines_main(program);
        for n in order.into_iter().filter(|n| *n > 0 || !inline) {
            let function = self.functions[&n];
            self.memo = Default::default();
            self.flow.parted = self.divergence.parted(n);
            self.flow.main = n == 0;
            self.flow.run = 0;
            self.w.begin(function, void, &[]);
            if n == 0 {
                self.start_registers();
            }
            self.block(&program.functions[n].body);
            if self.w.reachable() {
                self.spill();
                self.w.return_void();
            }
            self.w.end();
        }
        (!inline).then(|| self.functions[&0])
    }

    /// Whether main is being written, which runs once.
    pub fn in_main(&self) -> bool {
        self.flow.main
    }

    /// Whether all threads that are left come by the current statement, once.
    pub fn all_threads(&self) -> bool {
        self.flow.main && self.flow.depth == 1 && !self.flow.parted
    }

    /// Writes the entry point around main, or around a call of it.
    pub fn entry(&mut self, entry: Word, body: Option<Word>) {
        let void = self.t.void;
        self.memo = Default::default();
        self.flow.main = false;
        self.w.begin(entry, void, &[]);
        match self.program.stage {
            Stage::Pixel => {
                let domain = self.row_at(0);
                let (width, height) = (self.part(domain, 2), self.part(domain, 3));
                let (x, y) = (self.domain_index(0), self.domain_index(1));
                let (in_x, in_y) = (self.ult(x, width), self.ult(y, height));
                let inside = self.both(in_x, in_y);
                self.when(inside, |e| {
                    match body {
                        Some(body) => {
                            e.w.op(Op::FunctionCall, void, &[body]);
                        }
                        None => e.main(),
                    }
                    match e.killed {
                        None => e.outputs(),
                        Some(killed) => {
                            let killed = e.w.load(e.t.u32, killed, None);
                            let zero = e.word(0);
                            let alive = e.ieq(killed, zero);
                            e.when(alive, |e| e.outputs());
                        }
                    }
                });
            }
            Stage::Compute => {
                if self.shared_words > 0 && !self.filled() {
                    self.zero_group_memory();
                }
                if let Some(body) = body {
                    self.w.op(Op::FunctionCall, void, &[body]);
                }
            }
        }
        self.report_rounds();
        self.w.return_void();
        self.w.end();
    }

    /// Writes main where it is not a function.
    fn main(&mut self) {
        let program = self.program;
        self.flow.parted = false;
        self.flow.main = true;
        self.flow.run = 0;
        self.start_registers();
        self.block(&program.functions[0].body);
    }

    fn outputs(&mut self) {
        let program = self.program;
        for output in &program.outputs {
            let words = output.registers.map(|register| self.read(register));
            let row = self.layout.row(Slot::Output(output.index));
            let (x, y) = (self.position_index(0), self.position_index(1));
            self.store_texel(row, x, Some(y), words);
        }
    }
}
