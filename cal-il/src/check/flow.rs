//! Structure: main and functions, nested constructs, macro expansion.

use std::collections::HashSet;
use std::ops::Range;

use super::declare::literal_of;
use super::macros::{MAX_EXPANDED, MAX_MACRO_DEPTH};
use super::operand::float_modifiers;
use super::{Checker, Go, Stop, legal};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{
    Arm, Cond, Controls, Dst, Function, Inst, MAX_NESTING, Modifiers, Node, Register, Relop, Select, Src,
    Stage, Write,
};
use crate::isa::{Category, Opcode};
use crate::text::ast::{Argument, Number, OperandKind, Statement};

/// An open construct.
enum Construct {
    If { cond: Cond, then: Option<Vec<Node>> },
    Loop,
    Switch { selector: Src, arms: Vec<Arm>, labels: HashSet<i32>, default: bool },
}

/// An open construct and the statements around it.
struct Frame {
    construct: Construct,
    outer: Vec<Node>,
    word: Span,
    span: Span,
}

/// Which body is being read.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Main,
    /// After `endmain` or `endfunc`.
    Between,
    Function(usize),
}

/// The bodies while they are read.
struct Builder {
    place: Place,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    main_ended: bool,
    /// Enclosing loops and switches of the current place.
    loops: usize,
    switches: usize,
    /// A closing word without its opener was reported: what else does not match is a consequence.
    unbalanced: bool,
}

impl Checker<'_> {
    /// Numbers the functions in textual order; calls may come first.
    pub(super) fn find_functions(&mut self) -> Go {
        let ast = self.ast;
        self.functions.push(Function::default());
        for s in ast.statements.iter().filter(|s| s.opcode == Opcode::Func) {
            let Some(label) = self.label(s)? else { continue };
            let index = self.functions.len();
            self.functions.push(Function { label: Some(label), body: Vec::new() });
            if self.labels.insert(label, (index, s.span)).is_some() {
                self.error(Diagnostic::error(
                    "redefined",
                    s.span,
                    format!("function {label} is defined twice"),
                ))?;
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

    pub(super) fn build(&mut self) -> Go {
        let mut b = Builder {
            place: Place::Main,
            nodes: Vec::new(),
            frames: Vec::new(),
            main_ended: false,
            loops: 0,
            switches: 0,
            unbalanced: false,
        };
        self.statements(&mut b, 0..self.ast.statements.len())
    }

    fn statements(&mut self, b: &mut Builder, range: Range<usize>) -> Go {
        let ast = self.ast;
        let mut in_macro = false;
        for at in range {
            let s = &ast.statements[at];
            match s.opcode {
                Opcode::Mdef => in_macro = true,
                Opcode::Mend => in_macro = false,
                _ if in_macro => {}
                _ => {
                    self.expanded += 1;
                    if self.expanded > MAX_EXPANDED + ast.statements.len() {
                        return self.give_up(Diagnostic::error(
                            "macro-size",
                            s.word,
                            format!("macros expand to more than {MAX_EXPANDED} statements"),
                        ));
                    }
                    self.statement(b, s)?;
                }
            }
        }
        Ok(())
    }

    /// Reports an error after which nothing else would be worth reading.
    fn give_up(&mut self, d: Diagnostic) -> Go {
        self.errors.push(d);
        Err(Stop)
    }

    fn statement(&mut self, b: &mut Builder, s: &Statement) -> Go {
        use Opcode as O;
        if let Some((rule, message, note)) = legal::refusal(s.opcode) {
            // Declarations were refused when they were collected.
            if s.opcode.row().category == Category::Decl {
                return Ok(());
            }
            let d = Diagnostic::error(rule, s.word, format!("`{}` {message}", s.opcode.mnemonic()))
                .with_note(note);
            return self.error(d);
        }
        let opcode = legal::modern(s.opcode);
        let inside_macro = !self.macros.active.is_empty();
        if inside_macro
            && matches!(
                opcode,
                O::Func
                    | O::Endfunc
                    | O::Endmain
                    | O::Ret
                    | O::RetDyn
                    | O::RetLogicalnz
                    | O::RetLogicalz
                    | O::End
            )
        {
            let d = Diagnostic::error(
                "macro-flow",
                s.word,
                format!("`{}` cannot stand in a macro", s.opcode.mnemonic()),
            );
            return self.error(d);
        }
        match opcode {
            O::DclLiteral => {
                if !inside_macro && let Some((number, value)) = literal_of(self.ast.operands(s)) {
                    self.literals.set(number, value);
                }
                return Ok(());
            }
            _ if opcode.row().category == Category::Decl => return Ok(()),
            O::Endmain => return self.end_main(b, s),
            O::Func => return self.begin_function(b, s),
            O::Endfunc => return self.end_function(b, s),
            O::End => return self.end(b, s),
            _ => {}
        }
        if b.place == Place::Between {
            let d = Diagnostic::error(
                "outside",
                s.word,
                format!("`{}` stands outside of main and of every function", s.opcode.mnemonic()),
            );
            return self
                .error(d.with_note("after `endmain` only functions, macros and declarations may stand"));
        }
        match opcode {
            O::IfLogicalnz | O::IfLogicalz | O::Ifc => self.begin_if(b, s, opcode),
            O::Else => self.begin_else(b, s),
            O::Endif => self.end_if(b, s),
            O::Whileloop => self.open(b, s, Construct::Loop),
            O::Endloop => self.end_loop(b, s),
            O::Switch => self.begin_switch(b, s),
            O::Case | O::Default => self.begin_arm(b, s),
            O::Endswitch => self.end_switch(b, s),
            O::Break | O::Breakc | O::BreakLogicalnz | O::BreakLogicalz => {
                if b.loops + b.switches == 0 {
                    return self.misplaced(s, "a loop or `switch`");
                }
                let Some(cond) = self.condition(s, opcode)? else { return Ok(()) };
                self.push(b, s, Node::Break(cond, s.span))
            }
            O::Continue | O::Continuec | O::ContinueLogicalnz | O::ContinueLogicalz => {
                if b.loops == 0 {
                    return self.misplaced(s, "a loop");
                }
                let Some(cond) = self.condition(s, opcode)? else { return Ok(()) };
                self.push(b, s, Node::Continue(cond, s.span))
            }
            O::Ret | O::RetDyn | O::RetLogicalnz | O::RetLogicalz => {
                let Some(cond) = self.condition(s, opcode)? else { return Ok(()) };
                self.push(b, s, Node::Return(cond, s.span))
            }
            O::DiscardLogicalnz | O::DiscardLogicalz => {
                if self.stage == Stage::Compute {
                    return self.wrong_stage(s.word, "`discard`");
                }
                match self.condition(s, opcode)? {
                    Some(Some(cond)) => self.push(b, s, Node::Discard(cond, s.span)),
                    _ => Ok(()),
                }
            }
            O::Call | O::CallLogicalnz | O::CallLogicalz => self.call(b, s, opcode),
            O::Mcall => self.expand(b, s),
            O::Nop => Ok(()),
            _ => match self.instruction(s, opcode)? {
                Some(inst) => self.push(b, s, Node::Inst(inst)),
                None => Ok(()),
            },
        }
    }

    fn misplaced(&mut self, s: &Statement, inside: &str) -> Go {
        let name = s.opcode.mnemonic();
        self.error(Diagnostic::error("unbalanced", s.word, format!("`{name}` stands outside of {inside}")))
    }

    fn push(&mut self, b: &mut Builder, s: &Statement, node: Node) -> Go {
        if let Some(Frame { construct: Construct::Switch { arms, .. }, .. }) = b.frames.last()
            && arms.is_empty()
        {
            let d = Diagnostic::error(
                "switch",
                s.word,
                "a statement stands in a `switch` before the first `case`",
            );
            return self.error(d);
        }
        b.nodes.push(node);
        Ok(())
    }

    fn open(&mut self, b: &mut Builder, s: &Statement, construct: Construct) -> Go {
        if b.frames.len() >= MAX_NESTING {
            return self.give_up(
                Diagnostic::error("nesting", s.word, format!("constructs nest deeper than {MAX_NESTING}"))
                    .with_note("the hardware allowed 32 levels"),
            );
        }
        match construct {
            Construct::Loop => b.loops += 1,
            Construct::Switch { .. } => b.switches += 1,
            Construct::If { .. } => {}
        }
        if let Some(Frame { construct: Construct::Switch { arms, .. }, .. }) = b.frames.last()
            && arms.is_empty()
        {
            self.error(Diagnostic::error(
                "switch",
                s.word,
                "a statement stands in a `switch` before the first `case`",
            ))?;
        }
        let outer = std::mem::take(&mut b.nodes);
        b.frames.push(Frame { construct, outer, word: s.word, span: s.span });
        Ok(())
    }

    /// Closes the innermost construct: its statements, and the frame.
    fn close(b: &mut Builder) -> Option<(Frame, Vec<Node>)> {
        let mut frame = b.frames.pop()?;
        match frame.construct {
            Construct::Loop => b.loops -= 1,
            Construct::Switch { .. } => b.switches -= 1,
            Construct::If { .. } => {}
        }
        let inner = std::mem::replace(&mut b.nodes, std::mem::take(&mut frame.outer));
        Some((frame, inner))
    }

    /// The condition of a flow statement: `Some(None)` = unconditional.
    #[allow(clippy::option_option)]
    fn condition(&mut self, s: &Statement, opcode: Opcode) -> Result<Option<Option<Cond>>, Stop> {
        use Opcode as O;
        let ast = self.ast;
        let nonzero = match opcode {
            O::Break | O::Continue | O::Ret | O::RetDyn | O::Call => return Ok(Some(None)),
            O::Ifc | O::Breakc | O::Continuec => {
                let [a, b, ..] = ast.operands(s) else { return Ok(None) };
                let Some(controls) = self.controls(s, opcode)? else { return Ok(None) };
                let (Some(a), Some(b)) = (self.source(a)?, self.source(b)?) else { return Ok(None) };
                return Ok(Some(Some(Cond::Compare(controls.relop.unwrap_or(Relop::Ne), a, b))));
            }
            O::IfLogicalnz
            | O::BreakLogicalnz
            | O::ContinueLogicalnz
            | O::RetLogicalnz
            | O::DiscardLogicalnz
            | O::CallLogicalnz => true,
            _ => false,
        };
        let Some(operand) = ast.operands(s).first() else { return Ok(None) };
        let Some(mut src) = self.source(operand)? else { return Ok(None) };
        if float_modifiers(&src.modifiers) || src.modifiers.neg != 0 {
            src.modifiers = Modifiers::default();
            self.warn(Diagnostic::warning(
                "modifier-ignored",
                operand.span,
                "modifiers have no effect on a test for zero bits",
            ));
        }
        Ok(Some(Some(if nonzero { Cond::NonZero(src) } else { Cond::Zero(src) })))
    }

    fn begin_if(&mut self, b: &mut Builder, s: &Statement, opcode: Opcode) -> Go {
        // A condition in error still opens the construct, or `endif` would be reported as well.
        let cond = self.condition(s, opcode)?.flatten().unwrap_or_else(|| Cond::NonZero(nothing(s.span)));
        self.open(b, s, Construct::If { cond, then: None })
    }

    fn begin_else(&mut self, b: &mut Builder, s: &Statement) -> Go {
        match b.frames.last_mut() {
            Some(Frame { construct: Construct::If { then: then @ None, .. }, .. }) => {
                *then = Some(std::mem::take(&mut b.nodes));
                Ok(())
            }
            _ => self.unbalanced(b, s, "if"),
        }
    }

    fn unbalanced(&mut self, b: &mut Builder, s: &Statement, opener: &str) -> Go {
        if std::mem::replace(&mut b.unbalanced, true) {
            return Ok(());
        }
        let name = s.opcode.mnemonic();
        let mut d = Diagnostic::error("unbalanced", s.word, format!("`{name}` without its `{opener}`"));
        if let Some(frame) = b.frames.last() {
            let (what, close) = match frame.construct {
                Construct::If { .. } => ("if", "endif"),
                Construct::Loop => ("whileloop", "endloop"),
                Construct::Switch { .. } => ("switch", "endswitch"),
            };
            d = d.with_note(format!("the innermost open construct is an `{what}`, closed by `{close}`"));
        }
        self.error(d)
    }

    fn end_if(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if !matches!(b.frames.last(), Some(Frame { construct: Construct::If { .. }, .. })) {
            return self.unbalanced(b, s, "if");
        }
        if let Some((Frame { construct: Construct::If { cond, then }, span, .. }, inner)) = Self::close(b) {
            let (then, otherwise) = match then {
                Some(then) => (then, inner),
                None => (inner, Vec::new()),
            };
            b.nodes.push(Node::If { cond, then, otherwise, span });
        }
        Ok(())
    }

    fn end_loop(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if !matches!(b.frames.last(), Some(Frame { construct: Construct::Loop, .. })) {
            return self.unbalanced(b, s, "whileloop");
        }
        if let Some((frame, body)) = Self::close(b) {
            b.nodes.push(Node::Loop { body, span: frame.span });
        }
        Ok(())
    }

    fn begin_switch(&mut self, b: &mut Builder, s: &Statement) -> Go {
        let ast = self.ast;
        let selector = match ast.operands(s).first() {
            Some(operand) => self.source(operand)?,
            None => None,
        };
        let mut selector = selector.unwrap_or_else(|| nothing(s.span));
        if float_modifiers(&selector.modifiers) {
            selector.modifiers = Modifiers { neg: selector.modifiers.neg, ..Modifiers::default() };
            self.warn(Diagnostic::warning(
                "modifier-ignored",
                s.span,
                "float modifiers have no effect on `switch`",
            ));
        }
        self.open(
            b,
            s,
            Construct::Switch { selector, arms: Vec::new(), labels: HashSet::new(), default: false },
        )
    }

    fn begin_arm(&mut self, b: &mut Builder, s: &Statement) -> Go {
        let value = match self.ast.operands(s).first().map(|o| o.kind) {
            None => None,
            Some(OperandKind::Number(n @ Number::Integer { .. })) => Some(n.bits() as i32),
            Some(_) => {
                return self.error(Diagnostic::error("case-value", s.span, "a `case` has an integer value"));
            }
        };
        let Some(Frame { construct: Construct::Switch { arms, labels, default, .. }, .. }) =
            b.frames.last_mut()
        else {
            return self.unbalanced(b, s, "switch");
        };
        let duplicate = match value {
            Some(v) => !labels.insert(v),
            None => std::mem::replace(default, true),
        };
        // Labels without statements between them share an arm.
        if arms.is_empty() || !b.nodes.is_empty() {
            if let Some(arm) = arms.last_mut() {
                arm.body = std::mem::take(&mut b.nodes);
            }
            arms.push(Arm { labels: Vec::new(), default: false, body: Vec::new() });
        }
        if let Some(arm) = arms.last_mut() {
            match value {
                Some(v) => arm.labels.push(v),
                None => arm.default = true,
            }
        }
        if duplicate {
            return self.error(Diagnostic::error(
                "duplicate-case",
                s.span,
                "this label stands twice in the `switch`",
            ));
        }
        Ok(())
    }

    fn end_switch(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if !matches!(b.frames.last(), Some(Frame { construct: Construct::Switch { .. }, .. })) {
            return self.unbalanced(b, s, "switch");
        }
        if let Some((Frame { construct: Construct::Switch { selector, mut arms, .. }, span, .. }, inner)) =
            Self::close(b)
        {
            if let Some(arm) = arms.last_mut() {
                arm.body = inner;
            }
            b.nodes.push(Node::Switch { selector, arms, span });
        }
        Ok(())
    }

    fn call(&mut self, b: &mut Builder, s: &Statement, opcode: Opcode) -> Go {
        let Some(label) = self.label(s)? else { return Ok(()) };
        let Some(cond) = self.condition(s, opcode)? else { return Ok(()) };
        let Some(&(function, _)) = self.labels.get(&label) else {
            return self.error(Diagnostic::error(
                "undefined-function",
                s.span,
                format!("function {label} is not defined"),
            ));
        };
        let caller = match b.place {
            Place::Function(index) => index,
            _ => 0,
        };
        self.calls.push((caller, function, s.span));
        self.push(b, s, Node::Call { function, cond, span: s.span })
    }

    /// Reports constructs left open at the end of a body, and forgets them.
    fn finish_body(&mut self, b: &mut Builder) -> Go {
        while let Some((frame, _)) = Self::close(b) {
            if b.unbalanced {
                continue;
            }
            let (what, close) = match frame.construct {
                Construct::If { .. } => ("if", "endif"),
                Construct::Loop => ("whileloop", "endloop"),
                Construct::Switch { .. } => ("switch", "endswitch"),
            };
            self.error(Diagnostic::error(
                "unbalanced",
                frame.word,
                format!("this `{what}` is not closed by `{close}`"),
            ))?;
        }
        b.unbalanced = false;
        let mut body = std::mem::take(&mut b.nodes);
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

    fn end_main(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if b.place != Place::Main {
            let message =
                if b.main_ended { "main has already ended" } else { "`endmain` stands outside of main" };
            return self.error(Diagnostic::error("unbalanced", s.word, message));
        }
        b.main_ended = true;
        self.finish_body(b)
    }

    fn begin_function(&mut self, b: &mut Builder, s: &Statement) -> Go {
        self.finish_body(b)?;
        b.main_ended = true;
        let label = self.ast.operands(s).last().and_then(|o| match o.kind {
            OperandKind::Number(n) => Some(n.bits()),
            _ => None,
        });
        // A label in error was reported; its body is read for further findings and lands nowhere that matters.
        b.place = Place::Function(label.and_then(|l| self.labels.get(&l)).map_or(0, |&(index, _)| index));
        Ok(())
    }

    fn end_function(&mut self, b: &mut Builder, s: &Statement) -> Go {
        if !matches!(b.place, Place::Function(_)) {
            return self.error(Diagnostic::error("unbalanced", s.word, "`endfunc` without its `func`"));
        }
        self.finish_body(b)
    }

    fn end(&mut self, b: &mut Builder, _: &Statement) -> Go {
        self.finish_body(b)
    }

    /// Expands a macro: inputs are copied in, the body runs, outputs are copied out.
    fn expand(&mut self, b: &mut Builder, s: &Statement) -> Go {
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
        for (k, operand) in sources.iter().enumerate() {
            let Some(src) = self.source(operand)? else { continue };
            let register = self.macros.list[at].input(k as u32);
            let register = Register::Temp(self.note_temp(register));
            let dst = Dst { register, mask: [Write::Result; 4], span: operand.span };
            self.push(b, s, mov(dst, src))?;
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
            let Some(dst) = self.destination(operand, false)? else { continue };
            let register = self.macros.list[at].output(k as u32);
            let mut src = nothing(operand.span);
            src.register = Register::Temp(self.note_temp(register));
            self.push(b, s, mov(dst, src))?;
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
}

/// A source that reads nothing; full swizzle.
fn nothing(span: Span) -> Src {
    Src {
        register: Register::Nothing,
        swizzle: [Select::X, Select::Y, Select::Z, Select::W],
        given: 4,
        modifiers: Modifiers::default(),
        span,
    }
}

fn mov(dst: Dst, src: Src) -> Node {
    let span = dst.span;
    Node::Inst(Inst {
        opcode: Opcode::Mov,
        controls: Controls::default(),
        dst: Some(dst),
        src: vec![src],
        span,
    })
}
