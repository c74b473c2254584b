//! Which statements begin which instructions of the text.

use std::collections::HashMap;

use recal_il::diagnostic::Span;
use recal_il::ir::visit::{operands_of, tested_of};
use recal_il::ir::{Block, Builtin, Operand, Program, Stmt, StmtKind};
use recal_il::isa::LaneOp;

/// Instructions of a program.
pub struct Map {
    /// In the order of the text.
    pub spans: Vec<Span>,
    /// Places in `spans`, by the statement that an instruction begins with.
    begins: HashMap<*const Stmt, usize>,
    /// Values of the launch that the program uses.
    pub builtins: Vec<Builtin>,
}

impl Map {
    pub fn of(program: &Program) -> Map {
        let mut scan = Scan { last: Span::default(), begins: Vec::new(), builtins: Vec::new() };
        for function in &program.functions {
            scan.last = Span::default();
            scan.block(&function.body);
        }
        let mut spans: Vec<Span> = scan.begins.iter().map(|(_, span)| *span).collect();
        spans.sort_unstable_by_key(|span| (span.start, span.end));
        spans.dedup();
        let place = |(stmt, span): (*const Stmt, Span)| {
            let found = spans.binary_search_by_key(&(span.start, span.end), |s| (s.start, s.end));
            Some((stmt, found.ok()?))
        };
        let begins = scan.begins.into_iter().filter_map(place).collect();
        Map { spans, begins, builtins: scan.builtins }
    }

    /// The instruction that begins with a statement; `None` if it goes on with one.
    pub fn begins(&self, stmt: &Stmt) -> Option<usize> {
        self.begins.get(&std::ptr::from_ref(stmt)).copied()
    }
}

struct Scan {
    /// Of the statement before.
    last: Span,
    begins: Vec<(*const Stmt, Span)>,
    builtins: Vec<Builtin>,
}

impl Scan {
    fn block(&mut self, block: &Block) {
        block.iter().for_each(|stmt| self.statement(stmt));
    }

    /// What closes a construct has the place of what opens it.
    fn close(&mut self) {
        self.last = Span::default();
    }

    fn statement(&mut self, stmt: &Stmt) {
        let flush = match &stmt.kind {
            StmtKind::Lane(inst) => {
                self.uses(&inst.args);
                inst.op == LaneOp::Flush
            }
            StmtKind::Memory(inst) => {
                self.uses(&operands_of(inst));
                false
            }
            kind => {
                self.uses(tested_of(kind).as_slice());
                false
            }
        };
        // An instruction is several statements, one behind the other. Operands are flushed before their instruction, and constants
        // before all.
        if !flush {
            if stmt.span != self.last && stmt.span != Span::default() {
                self.begins.push((stmt, stmt.span));
            }
            self.last = stmt.span;
        }
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                self.block(then);
                if !otherwise.is_empty() {
                    self.close();
                    self.block(otherwise);
                }
                self.close();
            }
            StmtKind::Loop { body } => {
                self.block(body);
                self.close();
            }
            StmtKind::Switch { arms, .. } => {
                for arm in arms {
                    self.close();
                    self.block(&arm.body);
                }
                self.close();
            }
            _ => {}
        }
    }

    fn uses(&mut self, operands: &[Operand]) {
        for operand in operands {
            match operand {
                Operand::Builtin(builtin) if !self.builtins.contains(builtin) => self.builtins.push(*builtin),
                _ => {}
            }
        }
    }
}
