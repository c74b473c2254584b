//! Statements: where they start and end, the header, macros. Going on after an error is in `recover`.

mod operands;

use super::ast::{Argument, Ast, File, Header, HeaderStage, Operand, OperandKind, Statement};
use super::cursor::{Cursor, Step, excerpt, is_word};
use super::grammar::{self, Rules, ValueKind};
use super::{mistakes, operand, opword};
use crate::diagnostic::{BYTE_ORDER_MARK, Diagnostic, Span, Suggestion};
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
    /// Words that open or close something: the places of the first and of the last.
    pub flow: Option<(u32, u32)>,
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
    let mut parser = Parser {
        c: Cursor::new(text),
        ast: Ast::default(),
        errors: Vec::new(),
        lost: Lost::default(),
        no_block_end: false,
    };
    if text.starts_with(BYTE_ORDER_MARK) {
        parser.c.at = BYTE_ORDER_MARK.len();
    }
    // What is not used of it is never touched; who grows copies all. For a short text it is far more than enough: after a list as
    // long as that glibc keeps what is freed, and the next kernel need not ask the system for each page anew.
    parser.ast.statements.reserve(text.len() / 20);
    parser.ast.operands.reserve((text.len() / 3).min(1 << 16).max(text.len() / 8));
    parser.program();
    Read { ast: parser.ast, errors: parser.errors, lost: parser.lost }
}

pub(super) struct Parser<'t> {
    pub c: Cursor<'t>,
    pub ast: Ast,
    errors: Vec<Diagnostic>,
    pub lost: Lost,
    /// No `*/` is ahead: nobody looks for one again.
    pub no_block_end: bool,
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
                Ok(Opcode::End) => return self.after_end(),
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

    /// Notes text behind `end`. A second `end`, comments, and what pads a text to some length are usual.
    fn after_end(&mut self) {
        let end = self.ast.statements.last().map_or(self.ast.header.span, |s| s.word);
        loop {
            self.c.skip_space();
            let word = &self.c.text[self.c.at..self.c.word_end()];
            if word.eq_ignore_ascii_case(b"end") {
                self.c.at += word.len();
            } else if matches!(self.c.peek(), 0 | 0x1A) && !self.c.at_end() {
                self.c.at += 1;
            } else {
                break;
            }
        }
        if !self.c.at_end() && self.ast.warnings.len() < MAX_WARNINGS {
            let note = Diagnostic::note("after-end", self.c.span_here(), "the text from here on is not read");
            self.ast.warnings.push(note.with_label(end, "the program ends here"));
        }
    }

    fn missing_end(&mut self) {
        let len = self.c.text.len() as u32;
        self.lose_flow(len);
        let last = self.errors.last();
        if last.is_some_and(|d| d.rule == "truncated") {
            return;
        }
        // A last word that is an `end` but for a letter was told already.
        let meant = |d: &Diagnostic| {
            let rest = self.c.text.get(d.span.end as usize..).unwrap_or_default();
            let edits = d.suggestion.iter().flat_map(|suggestion| &suggestion.edits);
            rest.trim_ascii().is_empty() && edits.map(|(_, text)| text.as_str()).eq(["end"])
        };
        if last.is_some_and(meant) {
            return;
        }
        let last = self.ast.statements.last().map_or(self.ast.header.span, |s| s.span);
        let span =
            if len > 0 { Span { start: last.end.saturating_sub(1), end: last.end } } else { Span::default() };
        self.errors.push(
            Diagnostic::error("missing-end", span, "the program does not end with `end`")
                .with_note("the text may have been cut off; `end` closes every program")
                .with_suggestion("close it", span.after(), "\nend"),
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
                    self.errors.push(mistakes::header(&self.c, span));
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

    fn statement(&mut self) -> Step<Opcode> {
        let start = self.c.at;
        let mut statement = Statement {
            opcode: Opcode::Nop,
            scale: 0,
            saturate: false,
            precise: 0,
            specifiers: (0, 0),
            operands: (0, 0),
            word: Span::default(),
            span: Span::default(),
        };
        opword::opword(&mut self.c, &mut self.ast, &mut statement)?;
        match statement.opcode {
            Opcode::Mcall => self.mcall(&mut statement)?,
            Opcode::Loop => self.loop_operand(&mut statement)?,
            _ => self.operands(&mut statement)?,
        }
        if statement.opcode == Opcode::Ldexp {
            self.ldexp_of_doubles(&mut statement);
        }
        self.warn_if_glued(&statement);
        self.ast.statements.push(statement);
        // A processor waits for what it copies right after it was written: this comes last, where it stays.
        if let Some(last) = self.ast.statements.last_mut() {
            last.span = self.c.span_from(start);
        }
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

    /// `ldexp` with a pair for result and source and one component for the exponent is `dldexp`, as some kernels
    /// spell it. The other spelling of the instruction for floats, `fldexp`, always means floats.
    fn ldexp_of_doubles(&mut self, statement: &mut Statement) {
        use super::ast::{Select as S, Write as W};
        let word = statement.word;
        let [dst, value, exponent] = self.ast.operands(statement) else { return };
        let whole_pair = |mask: &[W; 4]| match mask.map(|w| w == W::Result) {
            [true, true, false, false] => mask[2] == W::Keep && mask[3] == W::Keep,
            [false, false, true, true] => mask[0] == W::Keep && mask[1] == W::Keep,
            _ => false,
        };
        let pair = |given: u8, s: &[S; 4]| {
            matches!(s[..2], [S::X, S::Y] | [S::Z, S::W]) && (given == 2 || given == 4 && s[..2] == s[2..])
        };
        let (
            OperandKind::Destination { mask, .. },
            OperandKind::Source { swizzle: value, given, .. },
            OperandKind::Source { swizzle: exponent, .. },
        ) = (dst.kind, value.kind, exponent.kind)
        else {
            return;
        };
        let scalar = exponent.iter().all(|s| *s == exponent[0]);
        let float_only = self.c.byte(word.start as usize) | 0x20 == b'f';
        if float_only || !scalar || !whole_pair(&mask) || !pair(given, &value) {
            return;
        }
        statement.opcode = Opcode::Dldexp;
        if self.ast.warnings.len() < MAX_WARNINGS {
            let message = "`ldexp` of a pair of components is taken as `dldexp`";
            self.ast.warnings.push(
                Diagnostic::warning("ldexp-of-pair", word, message)
                    .with_note("`fldexp` scales two floats instead, each by the same power"),
            );
        }
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
pub(super) fn version_word(word: &[u8]) -> Option<Header> {
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
