//! Bodies: main, functions and calls.

use super::flow::{Builder, Place};
use super::{Checker, Go, Stop};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Function, Node};
use crate::isa::Opcode;
use crate::text::ast::{Number, OperandKind, Statement};

impl Checker<'_> {
    /// Numbers the functions in textual order; calls may come first.
    pub(super) fn find_functions(&mut self) -> Go {
        let ast = self.ast;
        self.functions.push(Function::default());
        for s in ast.statements.iter().filter(|s| s.opcode == Opcode::Func) {
            let Some(label) = self.label(s)? else { continue };
            let index = self.functions.len();
            self.functions.push(Function { label: Some(label), body: Vec::new() });
            if let Some((_, first)) = self.labels.insert(label, (index, s.span)) {
                let message = format!("function {label} is defined twice");
                self.error(Diagnostic::error("redefined", s.span, message).with_label(first, "here first"))?;
            }
        }
        Ok(())
    }

    /// The label operand: the last one.
    fn label(&mut self, s: &Statement) -> Result<Option<u32>, Stop> {
        match self.ast.operands(s).last().map(|o| o.kind) {
            Some(OperandKind::Number(Number::Integer { value, .. })) if value >= 0 => Ok(Some(value as u32)),
            _ => self.fail(Diagnostic::error("label", s.span, "a label is a non-negative integer")),
        }
    }

    pub(super) fn call(&mut self, b: &mut Builder, s: &Statement, opcode: Opcode) -> Go {
        let Some(label) = self.label(s)? else { return Ok(()) };
        let Some(cond) = self.condition(s, opcode)? else { return Ok(()) };
        let Some(&(function, _)) = self.labels.get(&label) else {
            let message = format!("function {label} is not defined");
            let mut known: Vec<u32> = self.labels.keys().copied().collect();
            known.sort_unstable();
            let list: Vec<String> = known.iter().take(8).map(u32::to_string).collect();
            let d = Diagnostic::error("undefined-function", s.span, message);
            return self.error(match list.is_empty() {
                true => d.with_note(format!("after `endmain`: `func {label}` … `ret` `endfunc`")),
                false => d.with_note(format!("functions that are defined: {}", list.join(", "))),
            });
        };
        let caller = match b.place {
            Place::Function(index) => index,
            _ => 0,
        };
        self.calls.push((caller, function, s.span));
        self.push(b, s, Node::Call { function, cond, span: s.span })
    }

    /// Reports constructs left open where a body ends, and forgets them.
    fn finish_body(&mut self, b: &mut Builder, end: &Statement) -> Go {
        while let Some((frame, _)) = Self::close(b) {
            if b.unbalanced {
                continue;
            }
            let (what, close) = frame.construct.words();
            let d = Diagnostic::error(
                "unclosed",
                frame.word,
                format!("this `{what}` is not closed by `{close}`"),
            );
            self.error(d.with_label(end.word, format!("`{close}` is missing before this")))?;
        }
        b.unbalanced = false;
        let mut body = std::mem::take(&mut b.nodes);
        self.check_return(b.place, end, &body);
        while matches!(body.last(), Some(Node::Return(None, _))) {
            body.pop();
        }
        match b.place {
            Place::Main => self.functions[0].body = body,
            Place::Function(index) => self.functions[index].body = body,
            Place::Between => {}
        }
        b.place = Place::Between;
        Ok(())
    }

    pub(super) fn end_main(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if b.place != Place::Main {
            let message =
                if b.main_ended { "main has already ended" } else { "`endmain` stands outside of main" };
            return self.error(Diagnostic::error("unbalanced", s.word, message));
        }
        b.main_ended = true;
        self.finish_body(b, s)
    }

    /// Warns of a function that does not end with `ret`, and of a main that only a function ends.
    fn check_return(&mut self, place: Place, end: &Statement, body: &[Node]) {
        if matches!(body.last(), Some(Node::Return(None, _))) {
            return;
        }
        match place {
            Place::Main if end.opcode == Opcode::Func => self.warn(
                Diagnostic::warning("missing-endmain", end.word, "main is not closed before this function")
                    .with_suggestion("close it", Span { end: end.word.start, ..end.word }, "endmain\n"),
            ),
            Place::Function(index) => {
                let label = self.functions[index].label.unwrap_or(0);
                let place = self.labels.get(&label).map_or(end.word, |&(_, span)| span);
                self.warn(
                    Diagnostic::warning(
                        "missing-ret",
                        place,
                        format!("function {label} does not end with `ret`"),
                    )
                    .with_label(end.word, "it returns here"),
                );
            }
            _ => {}
        }
    }

    pub(super) fn begin_function(&mut self, b: &mut Builder, s: &Statement) -> Go {
        self.finish_body(b, s)?;
        b.main_ended = true;
        let label = self.ast.operands(s).last().and_then(|o| match o.kind {
            OperandKind::Number(n) => Some(n.bits()),
            _ => None,
        });
        // A label in error was reported; its body is read for further findings and lands nowhere that matters.
        b.place = Place::Function(label.and_then(|l| self.labels.get(&l)).map_or(0, |&(index, _)| index));
        Ok(())
    }

    pub(super) fn end_function(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if !matches!(b.place, Place::Function(_)) {
            return self.error(Diagnostic::error("unbalanced", s.word, "`endfunc` without its `func`"));
        }
        self.finish_body(b, s)
    }

    pub(super) fn end(&mut self, b: &mut Builder, s: &Statement) -> Go {
        self.finish_body(b, s)
    }
}
