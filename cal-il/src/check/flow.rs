//! Structure: statements in order, nested constructs, conditions.

use std::collections::HashMap;
use std::ops::Range;

use super::declare::literal_of;
use super::macros::MAX_EXPANDED;
use super::operand::float_modifiers;
use super::{Checker, Go, Stop, legal};
use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{
    Arm, Cond, Controls, Inst, MAX_NESTING, Modifiers, Node, Register, Relop, Select, Src, Stage,
};
use crate::isa::{Category, Opcode};
use crate::text::ast::{Number, OperandKind, Statement};

/// An open construct.
pub(super) enum Construct {
    If { cond: Cond, then: Option<Vec<Node>> },
    Loop,
    Switch { selector: Src, arms: Vec<Arm>, labels: HashMap<i32, Span>, default: Option<Span> },
}

impl Construct {
    /// The words that open and close it.
    pub fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::If { .. } => ("if", "endif"),
            Self::Loop => ("whileloop", "endloop"),
            Self::Switch { .. } => ("switch", "endswitch"),
        }
    }
}

/// An open construct and the statements around it.
pub(super) struct Frame {
    pub construct: Construct,
    pub outer: Vec<Node>,
    pub word: Span,
    pub span: Span,
}

/// Which body is being read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Main,
    /// After `endmain` or `endfunc`.
    Between,
    Function(usize),
}

/// The bodies while they are read.
pub(super) struct Builder {
    pub place: Place,
    pub nodes: Vec<Node>,
    /// Sources of all instructions.
    pub sources: Vec<Src>,
    pub frames: Vec<Frame>,
    pub main_ended: bool,
    /// Enclosing loops and switches of the current place.
    pub loops: usize,
    pub switches: usize,
    /// A closing word without its opener was reported: what else does not match is a consequence.
    pub unbalanced: bool,
}

impl Checker<'_> {
    pub(super) fn build(&mut self) -> Go {
        let mut b = Builder {
            place: Place::Main,
            nodes: Vec::with_capacity(self.ast.statements.len()),
            // Of a long text not all at once: its operands may be those of declarations, and a 32-bit process has few addresses.
            sources: Vec::with_capacity(self.ast.operands.len().min(1 << 16)),
            frames: Vec::new(),
            main_ended: false,
            loops: 0,
            switches: 0,
            unbalanced: false,
        };
        self.statements(&mut b, 0..self.ast.statements.len())?;
        self.sources = b.sources;
        Ok(())
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
    pub(super) fn give_up(&mut self, d: Diagnostic) -> Go {
        self.errors.push(d);
        Err(Stop)
    }

    pub(super) fn statement(&mut self, b: &mut Builder, s: &Statement) -> Go {
        use Opcode as O;
        if let Some((rule, message, note)) = legal::refusal(s.opcode) {
            // Declarations were refused when they were collected.
            if s.opcode.row().category == Category::Decl {
                return Ok(());
            }
            let d = Diagnostic::error(rule, s.word, format!("`{}` {message}", s.opcode.mnemonic()))
                .with_note(note);
            self.error(d)?;
            // Its `endloop` is no mistake of its own.
            return if s.opcode == O::Loop { self.open(b, s, Construct::Loop) } else { Ok(()) };
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
            _ => {
                let inst = || {
                    let controls = Controls::default();
                    Node::Inst(Inst { opcode, controls, dst: None, sources: (0, 0), span: s.span })
                };
                b.nodes.extend(std::iter::once_with(inst));
                let legal = match b.nodes.last_mut() {
                    Some(Node::Inst(inst)) => self.instruction(s, inst, &mut b.sources)?,
                    _ => false,
                };
                match before_first_case(b, s).filter(|_| legal) {
                    Some(d) => self.error(d)?,
                    None if legal => return Ok(()),
                    None => {}
                }
                b.nodes.pop();
                Ok(())
            }
        }
    }

    fn misplaced(&mut self, s: &Statement, inside: &str) -> Go {
        let name = s.opcode.mnemonic();
        self.error(Diagnostic::error("unbalanced", s.word, format!("`{name}` stands outside of {inside}")))
    }

    pub(super) fn push(&mut self, b: &mut Builder, s: &Statement, node: Node) -> Go {
        if let Some(d) = before_first_case(b, s) {
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
        if let Some(d) = before_first_case(b, s) {
            self.error(d)?;
        }
        let outer = std::mem::take(&mut b.nodes);
        b.frames.push(Frame { construct, outer, word: s.word, span: s.span });
        Ok(())
    }

    /// Closes the innermost construct: its statements, and the frame.
    pub(super) fn close(b: &mut Builder) -> Option<(Frame, Vec<Node>)> {
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
    pub(super) fn condition(&mut self, s: &Statement, opcode: Opcode) -> Result<Option<Option<Cond>>, Stop> {
        use Opcode as O;
        let ast = self.ast;
        let nonzero = match opcode {
            O::Break | O::Continue | O::Ret | O::RetDyn | O::Call => return Ok(Some(None)),
            O::Ifc | O::Breakc | O::Continuec => {
                let [a, b, ..] = ast.operands(s) else { return Ok(None) };
                let mut controls = Controls::default();
                let mut sources = Box::new([nothing(s.span), nothing(s.span)]);
                if !self.controls(s, opcode, &mut controls)?
                    || !self.source(a, &mut sources[0])?
                    || !self.source(b, &mut sources[1])?
                {
                    return Ok(None);
                }
                return Ok(Some(Some(Cond::Compare(controls.relop.unwrap_or(Relop::Ne), sources))));
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
        let mut src = nothing(operand.span);
        if !self.source(operand, &mut src)? {
            return Ok(None);
        }
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

    /// `s` belongs to a construct that is not the innermost open one.
    fn unbalanced(&mut self, b: &mut Builder, s: &Statement, opener: &str) -> Go {
        if std::mem::replace(&mut b.unbalanced, true) {
            return Ok(());
        }
        let name = s.opcode.mnemonic();
        let outer = b.frames.iter().rev().find(|frame| frame.construct.words().0 == opener);
        let d = match (b.frames.last(), outer) {
            (Some(inner), Some(_)) if inner.construct.words().0 == opener => {
                let message = format!("this `{opener}` has an `{name}` already");
                Diagnostic::error("unbalanced", s.word, message)
                    .with_label(inner.word, "the innermost open one")
            }
            (Some(inner), Some(outer)) => {
                let (open, close) = inner.construct.words();
                let message = format!("`{close}` is missing before this `{name}`");
                Diagnostic::error("unbalanced", s.word, message)
                    .with_label(outer.word, format!("`{name}` belongs to this `{opener}`"))
                    .with_label(inner.word, format!("this `{open}` is still open"))
            }
            (Some(inner), None) => {
                let (open, close) = inner.construct.words();
                let d = Diagnostic::error("unbalanced", s.word, format!("`{name}` without its `{opener}`"));
                d.with_label(inner.word, format!("open is this `{open}`, which `{close}` closes"))
            }
            (None, _) => Diagnostic::error("unbalanced", s.word, format!("`{name}` without its `{opener}`"))
                .with_label(s.word, "nothing is open here"),
        };
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
        let mut selector = nothing(s.span);
        if let Some(operand) = ast.operands(s).first()
            && !self.source(operand, &mut selector)?
        {
            selector = nothing(s.span);
        }
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
            Construct::Switch { selector, arms: Vec::new(), labels: HashMap::new(), default: None },
        )
    }

    fn begin_arm(&mut self, b: &mut Builder, s: &Statement) -> Go {
        let value = match self.ast.operands(s).first().map(|o| o.kind) {
            None => None,
            Some(OperandKind::Number(n @ Number::Integer { .. })) => Some(n.bits() as i32),
            Some(_) => {
                self.error(Diagnostic::error("case-value", s.span, "a `case` has an integer value"))?;
                Some(i32::MIN)
            }
        };
        let Some(Frame { construct: Construct::Switch { arms, labels, default, .. }, .. }) =
            b.frames.last_mut()
        else {
            return self.unbalanced(b, s, "switch");
        };
        let earlier = match value {
            Some(v) => labels.insert(v, s.span),
            None => default.replace(s.span),
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
        if let Some(earlier) = earlier {
            let d = Diagnostic::error("duplicate-case", s.span, "this label stands twice in the `switch`");
            return self.error(d.with_label(earlier, "here first"));
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
}

/// The error of a statement that stands in a `switch` and in none of its arms.
fn before_first_case(b: &Builder, s: &Statement) -> Option<Diagnostic> {
    let frame = b.frames.last()?;
    let Construct::Switch { arms, .. } = &frame.construct else { return None };
    arms.is_empty().then(|| {
        Diagnostic::error("switch", s.word, "a statement stands in a `switch` before the first `case`")
            .with_label(frame.word, "this `switch`")
    })
}

/// A source that reads nothing; full swizzle.
pub(super) fn nothing(span: Span) -> Src {
    Src {
        register: Register::Nothing,
        swizzle: [Select::X, Select::Y, Select::Z, Select::W],
        given: 4,
        modifiers: Modifiers::default(),
        span,
    }
}
