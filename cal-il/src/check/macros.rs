//! Macros: definitions, their private registers, expansion.
//!
//! Registers named in a macro (`r#`, `x#`, `l#`) are private to it: each expansion has `r#`, inputs and outputs of its own. A macro
//! cannot be active twice at the same time, so one set of arrays for each definition serves all its expansions.

use std::collections::HashMap;
use std::ops::Range;

use super::flow::{Builder, nothing};
use super::{Checker, Go};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{Controls, Dst, Inst, Node, Register as Resolved, Src, Write};
use crate::isa::Opcode;
use crate::text::ast::{Argument, File, OperandKind, Register, Statement};

/// Statements that macros may add. Far above any program met, low enough that a macro bomb stays small.
pub(super) const MAX_EXPANDED: usize = 250_000;
/// Deepest nesting of macro calls.
pub(super) const MAX_MACRO_DEPTH: usize = 64;

/// All macros of a program.
#[derive(Default)]
pub(super) struct Macros {
    pub list: Vec<Macro>,
    pub by_id: HashMap<u32, usize>,
    /// The first register that belongs to an expansion and has no name of its own in the program; the first one that is free.
    pub first_temp: u32,
    pub next_temp: u32,
    /// Macros being expanded, outermost first.
    pub active: Vec<usize>,
}

/// A macro definition.
pub(super) struct Macro {
    pub outs: u32,
    pub ins: u32,
    /// Statements of the body.
    pub body: Range<usize>,
    /// Numbers of the private `r#`, sorted; the k-th becomes register `base + k`.
    pub temps: Vec<u32>,
    /// First private register of the last expansion; inputs, outputs and temporaries follow each other.
    pub base: u32,
    /// Elements of the private arrays, and the numbers they get.
    pub arrays: HashMap<u32, u32>,
    /// Private literals, in textual order of declaration: (number, statement, value).
    pub literals: HashMap<u32, [u32; 4]>,
}

impl Macro {
    /// Register of `in#`.
    pub fn input(&self, k: u32) -> u32 {
        self.base + k
    }

    /// Register of `out#`.
    pub fn output(&self, k: u32) -> u32 {
        self.base + self.ins + k
    }

    /// Register of a private `r#`.
    pub fn temp(&self, number: u32) -> u32 {
        let at = self.temps.binary_search(&number).unwrap_or(0) as u32;
        self.base + self.ins + self.outs + at
    }

    fn registers(&self) -> u32 {
        self.ins + self.outs + self.temps.len() as u32
    }
}

impl Checker<'_> {
    /// Finds all definitions; a macro may be called before it is defined.
    pub(super) fn find_macros(&mut self) -> Go {
        let ast = self.ast;
        let mut open: Option<(usize, Span)> = None;
        for (at, statement) in ast.statements.iter().enumerate() {
            match statement.opcode {
                Opcode::Mdef if open.is_some() => {
                    self.error(Diagnostic::error(
                        "macro-nesting",
                        statement.word,
                        "a macro is defined inside a macro",
                    ))?;
                }
                Opcode::Mdef => open = Some((at, statement.word)),
                Opcode::Mend => match open.take() {
                    Some((start, _)) => self.define(start, at)?,
                    None => {
                        self.error(Diagnostic::error("unbalanced", statement.word, "`mend` without `mdef`"))?
                    }
                },
                Opcode::End if open.is_some() => break,
                _ => {}
            }
        }
        if let Some((_, span)) = open {
            return self.error(Diagnostic::error("unclosed", span, "this `mdef` is not closed by `mend`"));
        }
        if self.macros.list.is_empty() {
            self.macros.first_temp = u32::MAX;
            return Ok(());
        }
        let temps =
            ast.operands.iter().flat_map(|operand| temps_of(&operand.kind)).max().map_or(0, |n| n + 1);
        self.macros.first_temp = temps;
        self.macros.next_temp = temps;
        Ok(())
    }

    fn define(&mut self, start: usize, end: usize) -> Go {
        let ast = self.ast;
        let statement = &ast.statements[start];
        let Some([id, outs, ins]) = self.macro_numbers(statement)? else {
            return Ok(());
        };
        if self.macros.by_id.contains_key(&id) {
            return self.error(Diagnostic::error(
                "redefined",
                statement.word,
                format!("macro {id} is defined twice"),
            ));
        }
        self.macros.by_id.insert(id, self.macros.list.len());
        let body = start + 1..end;
        let mut temps: Vec<u32> = ast.statements[body.clone()]
            .iter()
            .flat_map(|s| ast.operands(s))
            .flat_map(|o| temps_of(&o.kind))
            .collect();
        temps.sort_unstable();
        temps.dedup();
        self.macros.list.push(Macro {
            outs,
            ins,
            body,
            temps,
            base: 0,
            arrays: HashMap::new(),
            literals: HashMap::new(),
        });
        Ok(())
    }

    /// Id, number of outputs, number of inputs.
    fn macro_numbers(&mut self, statement: &Statement) -> Result<Option<[u32; 3]>, super::Stop> {
        let ast = self.ast;
        let mut numbers = [0; 3];
        for s in ast.specifiers(statement) {
            let slot = match s.name {
                "" => 0,
                "out" => 1,
                "in" => 2,
                _ => continue,
            };
            let value = match ast.arguments(s).first() {
                Some(Argument::Number(n)) => n.bits(),
                _ => u32::MAX,
            };
            if value > if slot == 0 { 0xFFFF_FFFE } else { 1024 } {
                return self.fail(Diagnostic::error(
                    "macro-syntax",
                    s.span,
                    "a macro has a number and at most 1024 inputs and outputs",
                ));
            }
            numbers[slot] = value;
        }
        Ok(Some(numbers))
    }

    /// Expands a macro: inputs are copied in, the body runs, outputs are copied out.
    pub(super) fn expand(&mut self, b: &mut Builder, s: &Statement) -> Go {
        let ast = self.ast;
        let numbers: Vec<u32> = ast
            .specifiers(s)
            .iter()
            .flat_map(|x| ast.arguments(x))
            .filter_map(|a| if let Argument::Number(n) = a { Some(n.bits()) } else { None })
            .collect();
        let &[id, destinations] = numbers.as_slice() else { return Ok(()) };
        let Some(&at) = self.macros.by_id.get(&id) else {
            return self.error(Diagnostic::error(
                "undefined-macro",
                s.word,
                format!("macro {id} is not defined"),
            ));
        };
        if self.macros.active.contains(&at) {
            return self.give_up(Diagnostic::error("recursion", s.word, format!("macro {id} calls itself")));
        }
        if self.macros.active.len() >= MAX_MACRO_DEPTH {
            return self.give_up(Diagnostic::error(
                "macro-depth",
                s.word,
                format!("macros nest deeper than {MAX_MACRO_DEPTH}"),
            ));
        }
        let (outs, sources) = ast.operands(s).split_at(destinations as usize);
        let m = &self.macros.list[at];
        let (body, ins, out_count) = (m.body.clone(), m.ins, m.outs);
        if outs.len() != out_count as usize || sources.len() != ins as usize {
            return self.error(Diagnostic::error(
                "operand-count",
                s.word,
                format!(
                    "macro {id} has {out_count} outputs and {ins} inputs, this call has {} and {}",
                    outs.len(),
                    sources.len()
                ),
            ));
        }
        let count = m.registers();
        self.macros.list[at].base = self.macros.next_temp;
        self.macros.next_temp = self.macros.next_temp.saturating_add(count);
        for (k, operand) in sources.iter().enumerate() {
            let mut src = nothing(operand.span);
            if !self.source(operand, &mut src)? {
                continue;
            }
            let register = self.macros.list[at].input(k as u32);
            let register = Resolved::Temp(self.note_temp(register));
            let dst = Dst { register, mask: [Write::Result; 4], span: operand.span };
            let node = mov(b, dst, src);
            self.push(b, s, node)?;
        }
        let depth = b.frames.len();
        let (loops, switches) = (std::mem::take(&mut b.loops), std::mem::take(&mut b.switches));
        self.macros.active.push(at);
        let result = self.macro_body(b, body, depth, s);
        self.macros.active.pop();
        result?;
        b.loops += loops;
        b.switches += switches;
        for (k, operand) in outs.iter().enumerate() {
            let mut dst = Dst { register: Resolved::Nothing, mask: [Write::Keep; 4], span: operand.span };
            if !self.destination(operand, false, &mut dst)? {
                continue;
            }
            let register = self.macros.list[at].output(k as u32);
            let mut src = nothing(operand.span);
            src.register = Resolved::Temp(self.note_temp(register));
            let node = mov(b, dst, src);
            self.push(b, s, node)?;
        }
        Ok(())
    }

    fn macro_body(&mut self, b: &mut Builder, body: Range<usize>, depth: usize, call: &Statement) -> Go {
        let ast = self.ast;
        for at in body {
            let s = &ast.statements[at];
            self.expanded += 1;
            if self.expanded > MAX_EXPANDED + ast.statements.len() {
                let message = format!("macros expand to more than {MAX_EXPANDED} statements");
                return self.give_up(Diagnostic::error("macro-size", call.word, message));
            }
            let closes = matches!(
                s.opcode,
                Opcode::Endif
                    | Opcode::Endloop
                    | Opcode::Endswitch
                    | Opcode::Else
                    | Opcode::Case
                    | Opcode::Default
            );
            if closes && b.frames.len() <= depth {
                return self.give_up(Diagnostic::error(
                    "macro-flow",
                    s.word,
                    "a macro cannot close a construct of its caller",
                ));
            }
            self.statement(b, s)?;
        }
        if b.frames.len() > depth {
            let word = b.frames[depth].word;
            return self.give_up(Diagnostic::error(
                "macro-flow",
                word,
                "a macro must close the constructs that it opens",
            ));
        }
        Ok(())
    }

    /// The macro whose body is being expanded.
    pub(super) fn current_macro(&self) -> Option<&Macro> {
        self.macros.active.last().map(|&at| &self.macros.list[at])
    }
}

fn temps_of(kind: &OperandKind) -> impl Iterator<Item = u32> {
    let register: Option<Register> = match *kind {
        OperandKind::Destination { register, .. } | OperandKind::Source { register, .. } => Some(register),
        _ => None,
    };
    let direct = register.filter(|r| r.file == File::Temp).and_then(|r| r.number);
    let base =
        register.and_then(|r| r.index).and_then(|i| i.base).filter(|b| b.0 == File::Temp).and_then(|b| b.1);
    direct.into_iter().chain(base)
}

fn mov(b: &mut Builder, dst: Dst, src: Src) -> Node {
    let span = dst.span;
    let sources = (b.sources.len() as u32, 1);
    b.sources.push(src);
    Node::Inst(Inst { opcode: Opcode::Mov, controls: Controls::default(), dst: Some(dst), sources, span })
}
