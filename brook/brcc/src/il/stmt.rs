//! Statements.

use super::Emitter;
use super::asm::Op;
use crate::hir::{Expr, Stmt};

/// What `continue` has to do before it goes to the head of the loop.
#[derive(Clone, Copy)]
pub(crate) enum Continue<'k> {
    /// Run the step of a `for`.
    Step(Option<&'k Expr>),
    /// Test the condition of a `do`.
    Test(&'k Expr),
}

impl<'k> Emitter<'k> {
    pub(crate) fn statements(&mut self, body: &'k [Stmt]) -> Result<(), String> {
        for statement in body {
            self.statement(statement)?;
            // What follows is never reached, and some of it IL would refuse.
            if matches!(statement, Stmt::Break | Stmt::Continue | Stmt::Return(_)) {
                break;
            }
        }
        self.check_length()
    }

    fn statement(&mut self, statement: &'k Stmt) -> Result<(), String> {
        match statement {
            Stmt::Expr(e) => {
                self.leaves(e)?;
            }
            Stmt::Local(id, init) => {
                let frame = self.frames.len() - 1;
                let ty = self.frames[frame].kernel.vars[*id].ty;
                // A loop comes here again: the registers stay.
                if self.frames[frame].vars[*id].is_none() {
                    let fresh = self.fresh(ty);
                    self.frames[frame].vars[*id] = Some(fresh);
                }
                if let Some(init) = init {
                    let to = self.frames[frame].vars[*id].clone().unwrap_or_default();
                    self.assign_leaves(&to, init)?;
                }
            }
            Stmt::If(condition, then, otherwise) => {
                let (test, inverted) = self.condition(condition)?;
                let word = if inverted { "if_logicalz" } else { "if_logicalnz" };
                let test = self.asm.shown(&test);
                self.asm.line(&format!("{word} {test}"));
                self.statements(then)?;
                if !otherwise.is_empty() {
                    self.asm.line("else");
                    self.statements(otherwise)?;
                }
                self.asm.line("endif");
            }
            Stmt::Loop(condition, body, step) => {
                self.asm.line("whileloop");
                if let Some(condition) = condition {
                    self.leave_unless(condition)?;
                }
                self.continues.push(Continue::Step(step.as_ref()));
                self.statements(body)?;
                self.continues.pop();
                if let (Some(step), false) = (step, ends(body)) {
                    self.leaves(step)?;
                }
                self.asm.line("endloop");
            }
            Stmt::DoWhile(body, condition) => {
                self.asm.line("whileloop");
                self.continues.push(Continue::Test(condition));
                self.statements(body)?;
                self.continues.pop();
                if !ends(body) {
                    self.leave_unless(condition)?;
                }
                self.asm.line("endloop");
            }
            Stmt::Break => self.asm.line("break"),
            Stmt::Continue => {
                match self.continues.last().copied() {
                    Some(Continue::Step(Some(step))) => {
                        self.leaves(step)?;
                    }
                    Some(Continue::Test(condition)) => self.leave_unless(condition)?,
                    Some(Continue::Step(None)) | None => {}
                }
                self.asm.line("continue");
            }
            Stmt::Return(value) => {
                let frame = &self.frames[self.frames.len() - 1];
                let (result, function) = (frame.result.clone(), frame.function);
                if let Some(value) = value {
                    self.assign_leaves(&result, value)?;
                }
                if function {
                    self.asm.line("ret_dyn");
                }
            }
            Stmt::Block(body) => self.statements(body)?,
            Stmt::Sync => self.asm.line("fence_threads_memory_lds"),
        }
        Ok(())
    }

    fn leave_unless(&mut self, condition: &'k Expr) -> Result<(), String> {
        let (test, inverted) = self.condition(condition)?;
        let word = if inverted { "break_logicalnz" } else { "break_logicalz" };
        let test = self.asm.shown(&test);
        self.asm.line(&format!("{word} {test}"));
        Ok(())
    }

    /// Stores a value, vector or struct.
    pub(crate) fn assign_leaves(&mut self, to: &[Op], value: &'k Expr) -> Result<(), String> {
        if let [one] = to {
            if value.ty.scalar().is_some() {
                self.value_into(value, &one.dst())?;
                return Ok(());
            }
        }
        let leaves = self.leaves(value)?;
        for (to, from) in to.iter().zip(&leaves) {
            self.asm.mov(&to.dst(), from);
        }
        Ok(())
    }
}

/// True if nothing behind the last statement is reached.
fn ends(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Break | Stmt::Continue | Stmt::Return(_)) => true,
        Some(Stmt::Block(inner)) => ends(inner),
        _ => false,
    }
}
