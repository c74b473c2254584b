//! Statements: where they start and end, the header, macros, and recovery after an error.

use super::ast::{Argument, Ast, File, Header, HeaderStage, Operand, OperandKind, Statement};
use super::cursor::{Cursor, Step, excerpt, is_word};
use super::grammar::{Rules, ValueKind};
use super::{operand, opword};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::{Category, Opcode, Scope};

/// Diagnostics after which the parser gives up.
const MAX_ERRORS: usize = 20;
/// Warnings kept.
const MAX_WARNINGS: usize = 50;
/// Longest text. No kernel comes near, and the checked form of a longer one would take gigabytes.
const MAX_TEXT: usize = 32 << 20;

/// Parses a kernel text. Refuses text that is not IL; what is spelled correctly but not legal is found by
/// [`crate::check::check`].
pub fn parse(text: &[u8]) -> Result<Ast, Vec<Diagnostic>> {
    let read = read(text);
    if read.errors.is_empty() { Ok(read.ast) } else { Err(read.errors) }
}

/// What could be read of a text.
pub(crate) struct Read {
    /// The statements that are spelled correctly.
    pub ast: Ast,
    /// What is wrong with the others.
    pub errors: Vec<Diagnostic>,
    /// What the others may have been.
    pub lost: Lost,
}

/// What the tree lacks because it could not be read. Whoever checks the rest expects consequences of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Declarations.
    pub declarations: bool,
    /// Words that open or close something.
    pub flow: bool,
    /// All that follows some place.
    pub rest: bool,
}

/// Reads as much of a text as can be read.
pub(crate) fn read(text: &[u8]) -> Read {
    if text.len() > MAX_TEXT {
        let error = Diagnostic::error("text-size", Span::default(), "the text is longer than 32 MiB");
        let lost = Lost { rest: true, ..Lost::default() };
        return Read { ast: Ast::default(), errors: vec![error], lost };
    }
    let mut parser =
        Parser { c: Cursor::new(text), ast: Ast::default(), errors: Vec::new(), lost: Lost::default() };
    parser.ast.statements.reserve(text.len() / 32);
    parser.ast.operands.reserve(text.len() / 12);
    parser.program();
    Read { ast: parser.ast, errors: parser.errors, lost: parser.lost }
}

struct Parser<'t> {
    c: Cursor<'t>,
    ast: Ast,
    errors: Vec<Diagnostic>,
    lost: Lost,
}

impl Parser<'_> {
    fn program(&mut self) {
        if !self.header() {
            self.lost.rest = true;
            return;
        }
        loop {
            self.c.skip_space();
            if self.c.at_end() {
                self.missing_end();
                return;
            }
            let start = self.c.at;
            match self.statement() {
                Ok(Opcode::End) => return,
                Ok(_) => {}
                Err(d) => {
                    self.errors.push(*d);
                    if self.errors.len() >= MAX_ERRORS {
                        let span = self.c.span_here();
                        self.errors.push(Diagnostic::error(
                            "too-many-errors",
                            span,
                            "too many errors; the rest of the text was not read",
                        ));
                        self.lost.rest = true;
                        return;
                    }
                    self.lose(start);
                    self.recover(start);
                }
            }
        }
    }

    /// Notes what the statement at `start`, which cannot be read, may have been.
    fn lose(&mut self, start: usize) {
        let at = Cursor { at: start, ..self.c };
        match opword::mnemonic(&at).map(|(opcode, _)| opcode.row().category) {
            Some(Category::Decl) => self.lost.declarations = true,
            Some(Category::Flow) => self.lost.flow = true,
            Some(_) => {}
            // A word that nobody knows: a declaration by its beginning, else perhaps a misspelt `endif`.
            None => {
                let word = &at.text[start..at.word_end()];
                let declares = word.get(..3).is_some_and(|dcl| dcl.eq_ignore_ascii_case(b"dcl"));
                *(if declares { &mut self.lost.declarations } else { &mut self.lost.flow }) = true;
            }
        }
    }

    fn missing_end(&mut self) {
        self.lost.flow = true;
        let len = self.c.text.len() as u32;
        let last = self.ast.statements.last().map_or(self.ast.header.span, |s| s.span);
        let span =
            if len > 0 { Span { start: last.end.saturating_sub(1), end: last.end } } else { Span::default() };
        self.errors.push(
            Diagnostic::error("missing-end", span, "the program does not end with `end`")
                .with_note("the text may have been cut off; `end` closes every program"),
        );
    }

    /// Reads macros and the version word. False if the text is no program at all.
    fn header(&mut self) -> bool {
        let mut in_macro = false;
        let mut skipped = None;
        loop {
            self.c.skip_space();
            let start = self.c.at;
            if self.c.at_end() {
                let (rule, message) = if self.c.text.trim_ascii().is_empty() {
                    ("empty", "the text is empty")
                } else {
                    ("no-header", "the text has no version word such as `il_ps_2_0` or `il_cs_2_0`")
                };
                let span = skipped.unwrap_or_default();
                self.errors.push(Diagnostic::error(rule, span, message));
                return false;
            }
            let word = &self.c.text[start..self.c.word_end()];
            if !in_macro && let Some(header) = version_word(word) {
                self.c.at += word.len();
                self.ast.header = Header { span: self.c.span_from(start), ..header };
                self.ast.before_header = self.ast.statements.len();
                return true;
            }
            let is_macro = word.eq_ignore_ascii_case(b"mdef") || in_macro;
            if !is_macro {
                if skipped.is_some() || !self.skip_client_line() {
                    let span = skipped.unwrap_or_else(|| self.c.span_here());
                    let found = excerpt(self.c.text, span);
                    self.errors.push(
                        Diagnostic::error(
                            "no-header",
                            span,
                            format!("a version word is expected, found `{found}`"),
                        )
                        .with_note("a program starts with `il_ps_2_0` (pixel) or `il_cs_2_0` (compute)"),
                    );
                    return false;
                }
                skipped = Some(Span { start: start as u32, end: (start + word.len()) as u32 });
                continue;
            }
            match self.statement() {
                Ok(Opcode::Mdef) => in_macro = true,
                Ok(Opcode::Mend) => in_macro = false,
                Ok(Opcode::End) => {
                    let span = self.c.span_from(start);
                    self.errors.push(Diagnostic::error(
                        "no-header",
                        span,
                        "`end` stands before the version word",
                    ));
                    return false;
                }
                Ok(_) => {}
                Err(d) => {
                    self.errors.push(*d);
                    if self.errors.len() >= MAX_ERRORS {
                        return false;
                    }
                    self.lose(start);
                    self.recover(start);
                }
            }
        }
    }

    /// A dump starts with a line naming the client, for example `dx11_ps`: one word, then the version word.
    fn skip_client_line(&mut self) -> bool {
        let mut ahead = self.c;
        let end = ahead.word_end();
        if end == ahead.at {
            return false;
        }
        ahead.at = end;
        ahead.skip_space();
        let next = &ahead.text[ahead.at..ahead.word_end()];
        let good = version_word(next).is_some() && self.c.text[end..ahead.at].contains(&b'\n');
        if good {
            self.c.at = end;
        }
        good
    }

    /// Goes to the next place where a statement can start: a known opcode after white space.
    fn recover(&mut self, start: usize) {
        if self.c.at <= start {
            self.c.at = start;
        }
        // The rest of the word in which the error stands is never a statement.
        let mut inside = self.c.at > 0 && is_word(self.c.byte(self.c.at - 1));
        if self.c.at == start {
            self.c.at = self.c.word_end().max(start + 1);
            inside = true;
        }
        loop {
            if inside {
                self.c.at = self.c.word_end();
            }
            let before = self.c.at;
            self.c.skip_space();
            if self.c.at_end() {
                return;
            }
            if self.c.at > before
                && self.c.peek().is_ascii_alphabetic()
                && opword::mnemonic(&self.c).is_some()
            {
                return;
            }
            inside = is_word(self.c.peek());
            if !inside {
                self.c.at += 1;
            }
        }
    }

    fn statement(&mut self) -> Step<Opcode> {
        let start = self.c.at;
        let mut statement = opword::opword(&mut self.c, &mut self.ast)?;
        match statement.opcode {
            Opcode::Mcall => self.mcall(&mut statement)?,
            Opcode::Loop => self.loop_operand(&mut statement)?,
            _ => self.operands(&mut statement)?,
        }
        statement.span = self.c.span_from(start);
        self.warn_if_glued(&statement);
        self.ast.statements.push(statement);
        Ok(statement.opcode)
    }

    fn warn_if_glued(&mut self, statement: &Statement) {
        if is_word(self.c.peek()) && !self.c.at_end() && self.ast.warnings.len() < MAX_WARNINGS {
            let name = statement.opcode.mnemonic();
            self.ast.warnings.push(
                Diagnostic::warning(
                    "glued-statement",
                    self.c.span_here(),
                    format!("this statement follows `{name}` without white space"),
                )
                .with_note("taken as a new statement"),
            );
        }
    }

    fn push(&mut self, statement: &mut Statement, operand: Operand) {
        self.ast.operands.push(operand);
        statement.operands.1 += 1;
    }

    /// Reads operands while commas follow, then compares their number with the table.
    fn operands(&mut self, statement: &mut Statement) -> Step<()> {
        let row = statement.opcode.row();
        let rules = Rules::of(statement.opcode);
        let registers = usize::from(row.destinations) + usize::from(row.sources);
        let extra = self.ext_operands(statement);
        let most = registers + extra.1 + rules.values.len();
        if most == 0 {
            return Ok(());
        }
        let mut count = 0;
        loop {
            self.c.skip_space();
            if self.c.at_end() {
                let span = self.c.span_here();
                return Err(Box::new(Diagnostic::error(
                    "truncated",
                    span,
                    "the text ends where an operand is expected",
                )));
            }
            let operand = if count < usize::from(row.destinations) {
                operand::destination(&mut self.c)?
            } else if count < registers + extra.1 {
                operand::source(&mut self.c)?
            } else {
                let kind = rules.values.get(count - registers - extra.1).copied();
                self.value(kind, row.scope)?
            };
            self.push(statement, operand);
            count += 1;
            let mut ahead = self.c;
            ahead.skip_space();
            if ahead.peek() != b',' {
                break;
            }
            if statement.opcode == Opcode::DclCb && self.is_immediate_buffer(statement) {
                break;
            }
            self.c = ahead;
            self.c.at += 1;
        }
        if statement.opcode == Opcode::DclCb && self.is_immediate_buffer(statement) {
            return self.immediate_data(statement);
        }
        self.check_count(statement, registers + extra.0 + rules.values.len() - rules.optional_values, most)
    }

    /// Fewest and most operands that `_ext` adds.
    fn ext_operands(&self, statement: &Statement) -> (usize, usize) {
        if !self.ast.specifiers(statement).iter().any(|s| s.name == "ext") {
            return (0, 0);
        }
        match statement.opcode {
            Opcode::Load | Opcode::Resinfo | Opcode::SrvRawLoad | Opcode::SrvStructLoad | Opcode::Bufinfo => {
                (0, 1)
            }
            opcode if opcode.row().category == Category::Uav => (1, 1),
            _ => (2, 2),
        }
    }

    fn check_count(&mut self, statement: &Statement, least: usize, most: usize) -> Step<()> {
        let count = statement.operands.1 as usize;
        // The narrow stores are written with and without `mem`.
        let first = self.ast.operands(statement).first();
        let with_mem = matches!(first, Some(Operand { kind: OperandKind::Destination { register, .. }, .. }) if register.file == File::Mem);
        let optional_mem =
            matches!(statement.opcode, Opcode::UavByteStore | Opcode::UavShortStore) && with_mem;
        let (least, most) = if optional_mem { (least + 1, most + 1) } else { (least, most) };
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let name = statement.opcode.mnemonic();
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let plural = if most == 1 { "" } else { "s" };
        Err(Box::new(Diagnostic::error(
            "operand-count",
            statement.word,
            format!("`{name}` takes {wanted} operand{plural}, found {count}"),
        )))
    }

    /// An operand that is no register.
    fn value(&mut self, kind: Option<ValueKind>, scope: Scope) -> Step<Operand> {
        let start = self.c.at;
        let kind = match kind {
            Some(ValueKind::Flags) => OperandKind::Flags(self.flags()?),
            _ if self.c.at_number() => OperandKind::Number(self.c.number()?),
            // Too many operands: read what is there, the count is reported.
            None => return operand::source(&mut self.c),
            Some(_) if scope == Scope::Graphics && is_word(self.c.peek()) => {
                let end = self.c.word_end();
                let word = opword::intern(&mut self.ast, &self.c.text[start..end]);
                self.c.at = end;
                OperandKind::Word(word)
            }
            Some(_) => {
                let span = self.c.span_here();
                let found = self.c.excerpt();
                return Err(Box::new(Diagnostic::error(
                    "number-expected",
                    span,
                    format!("a number is expected, found `{found}`"),
                )));
            }
        };
        Ok(Operand { kind, span: self.c.span_from(start) })
    }

    fn flags(&mut self) -> Step<u8> {
        let mut bits = 0;
        loop {
            let end = self.c.word_end();
            let word = self.c.text[self.c.at..end].to_ascii_lowercase();
            bits |= match FLAGS.iter().position(|f| f.as_bytes().eq_ignore_ascii_case(&word)) {
                Some(bit) => 1 << bit,
                None => {
                    let found = self.c.excerpt();
                    return Err(Box::new(
                        Diagnostic::error(
                            "unknown-flag",
                            self.c.span_here(),
                            format!("`{found}` is not a global flag"),
                        )
                        .with_note(format!("one of: {}", FLAGS.join(", "))),
                    ));
                }
            };
            self.c.at = end;
            let mut ahead = self.c;
            ahead.skip_space();
            if ahead.peek() != b'|' {
                return Ok(bits);
            }
            self.c = ahead;
            self.c.at += 1;
            self.c.skip_space();
        }
    }

    fn is_immediate_buffer(&self, statement: &Statement) -> bool {
        matches!(
            self.ast.operands(statement).first(),
            Some(Operand { kind: OperandKind::Source { register, .. }, .. }) if register.file == File::Immediate
        )
    }

    /// The values of `dcl_cb icb[n]`: numbers with commas, braces and line breaks in any arrangement.
    fn immediate_data(&mut self, statement: &mut Statement) -> Step<()> {
        let mut depth = 0usize;
        let mut comma = false;
        loop {
            let mut ahead = self.c;
            ahead.skip_space();
            match ahead.peek() {
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b',' if !comma => {
                    comma = true;
                    self.c = ahead;
                    self.c.at += 1;
                    continue;
                }
                _ if ahead.at_number() => {
                    self.c = ahead;
                    let number = self.c.number()?;
                    let operand =
                        Operand { kind: OperandKind::Number(number), span: self.c.span_from(ahead.at) };
                    self.push(statement, operand);
                    comma = false;
                    continue;
                }
                _ if depth > 0 || comma => {
                    return Err(Box::new(Diagnostic::error(
                        "immediate-data",
                        ahead.span_here(),
                        "the data of `icb` is not complete here",
                    )));
                }
                _ => return Ok(()),
            }
            self.c = ahead;
            self.c.at += 1;
        }
    }

    /// `loop i0`, `loop repeat i0`.
    fn loop_operand(&mut self, statement: &mut Statement) -> Step<()> {
        self.c.skip_space();
        if self.c.text[self.c.at..self.c.word_end()].eq_ignore_ascii_case(b"repeat") {
            self.c.at = self.c.word_end();
            self.c.skip_space();
        }
        let operand = operand::source(&mut self.c)?;
        self.push(statement, operand);
        Ok(())
    }

    /// `(d0, d1), (s0, s1)` of a macro call; the number of destinations becomes the second argument of `(id)`.
    fn mcall(&mut self, statement: &mut Statement) -> Step<()> {
        self.list(statement, true)?;
        let destinations = statement.operands.1;
        self.c.skip_space();
        if !self.c.eat(b',') {
            return Err(self.expected("`,` between the lists of `mcall`"));
        }
        self.list(statement, false)?;
        let at = (statement.specifiers.0) as usize;
        let number = super::ast::Number::Integer { value: i64::from(destinations), hex: false };
        self.ast.arguments.push(Argument::Number(number));
        self.ast.specifiers[at].arguments.1 += 1;
        Ok(())
    }

    fn list(&mut self, statement: &mut Statement, destinations: bool) -> Step<()> {
        self.c.skip_space();
        if !self.c.eat(b'(') {
            return Err(self.expected("a list of operands in parentheses"));
        }
        self.c.skip_space();
        if self.c.eat(b')') {
            return Ok(());
        }
        loop {
            self.c.skip_space();
            let operand =
                if destinations { operand::destination(&mut self.c)? } else { operand::source(&mut self.c)? };
            self.push(statement, operand);
            self.c.skip_space();
            if self.c.eat(b')') {
                return Ok(());
            }
            if !self.c.eat(b',') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    fn expected(&self, what: &str) -> Box<Diagnostic> {
        let found = self.c.excerpt();
        Box::new(Diagnostic::error(
            "macro-syntax",
            self.c.span_here(),
            format!("{what} is expected, found `{found}`"),
        ))
    }
}

/// Global flags by bit number.
pub(super) const FLAGS: [&str; 4] = [
    "refactoringAllowed",
    "forceEarlyDepthStencil",
    "enableRawStructuredBuffers",
    "enableDoublePrecisionFloatOps",
];

/// `il_<stage>[_<major>_<minor>][_mp][_rt]`
fn version_word(word: &[u8]) -> Option<Header> {
    if word.len() < 5 || !word[..3].eq_ignore_ascii_case(b"il_") {
        return None;
    }
    let word = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    let mut parts = word[3..].split('_').peekable();
    let mut header = Header {
        stage: match parts.next()? {
            "ps" => HeaderStage::Pixel,
            "cs" => HeaderStage::Compute,
            "vs" => HeaderStage::Vertex,
            "gs" => HeaderStage::Geometry,
            "hs" => HeaderStage::Hull,
            "ds" => HeaderStage::Domain,
            _ => return None,
        },
        ..Header::default()
    };
    if parts.peek().is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit())) {
        header.version = Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?));
    }
    for flag in parts {
        match flag {
            "mp" => header.multipass = true,
            "rt" => header.realtime = true,
            _ => return None,
        }
    }
    Some(header)
}
