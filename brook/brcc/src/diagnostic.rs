//! What is wrong, where, and by which rule.
//!
//! Input: findings with byte ranges. Output: text with file, line, column, excerpt and caret. All findings of a file are
//! told at once, in the order of the text.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A range of bytes of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From here to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text.
    pub fn of(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is accepted; the author may have meant something else. The number is the level at which `-w` shows it.
    Warning(u8),
    /// The program is refused.
    Error,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Name of the rule, one of [`crate::rules::RULES`].
    pub rule: &'static str,
    /// Where.
    pub span: Span,
    /// What is wrong, a sentence without a full stop.
    pub message: String,
    /// What to do about it, or the reason.
    pub note: Option<String>,
}

/// Findings of one file.
#[derive(Debug, Default)]
pub struct Report {
    found: Vec<Diagnostic>,
    errors: usize,
}

/// Errors after which a file is given up, as the original does.
const MANY: usize = 10;

/// Warnings that are kept: nobody reads more.
const WARNINGS: usize = 100;

impl Report {
    /// Adds an error.
    pub fn error(&mut self, rule: &'static str, span: Span, message: impl Into<String>) {
        self.push(Severity::Error, rule, span, message.into(), None);
    }

    /// Adds an error with advice.
    pub fn error_note(&mut self, rule: &'static str, span: Span, message: impl Into<String>, note: &str) {
        self.push(Severity::Error, rule, span, message.into(), Some(note.to_owned()));
    }

    /// Adds a warning of a level.
    pub fn warn(&mut self, level: u8, rule: &'static str, span: Span, message: impl Into<String>) {
        self.push(Severity::Warning(level), rule, span, message.into(), None);
    }

    fn push(
        &mut self,
        severity: Severity,
        rule: &'static str,
        span: Span,
        message: String,
        note: Option<String>,
    ) {
        debug_assert!(crate::rules::meaning(rule).is_some(), "no rule `{rule}`");
        if self.is_full() || (severity != Severity::Error && self.found.len() >= WARNINGS) {
            return;
        }
        // A second finding at the same place is most often a consequence of the first.
        if self.found.iter().any(|d| d.span == span && d.severity >= severity) {
            return;
        }
        self.errors += usize::from(severity == Severity::Error);
        self.found.push(Diagnostic { severity, rule, span, message, note });
    }

    /// Takes nothing more: what follows would only follow from the last error.
    pub fn give_up(&mut self) {
        self.errors = self.errors.max(MANY + 1);
    }

    /// True once there are more errors than anyone reads.
    pub fn is_full(&self) -> bool {
        self.errors > MANY
    }

    /// Errors so far.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Errors that another report has count here as well.
    pub fn count(&mut self, errors: usize) {
        self.errors += errors;
    }

    /// Everything, in the order of the text.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|d| d.span);
        self.found
    }
}

/// Line and column of a byte, both from 1; columns count characters.
pub fn position(source: &str, offset: u32) -> (usize, usize) {
    let mut at = (offset as usize).min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let before = &source[..at];
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or("").chars().count() + 1)
}

/// Findings as text for people.
///
/// ```
/// let source = "kernel void f(float a<>, out float b<>) { b = c; }";
/// let errors = brcc::compile(source, &brcc::Options::default()).unwrap_err();
/// let text = brcc::diagnostic::render(&errors, source, "f.br");
/// assert!(text.contains("f.br:1:47") && text.contains("undeclared"));
/// ```
pub fn render(found: &[Diagnostic], source: &str, name: &str) -> String {
    let renderer = Renderer::plain();
    let mut text = String::new();
    for d in found {
        let level = match d.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning(_) => Level::WARNING,
        };
        let start = boundary(source, d.span.start as usize);
        let end = boundary(source, d.span.end as usize).max(start);
        let (first, rest) = window(source, start);
        let shown = &source[first..rest];
        let mark = start - first..end.clamp(start, rest) - first;
        let snippet = Snippet::source(shown)
            .path(name)
            .line_start(position(source, first as u32).0)
            .annotation(AnnotationKind::Primary.span(mark));
        let mut group =
            Group::with_title(level.primary_title(d.message.as_str()).id(d.rule)).element(snippet);
        if let Some(note) = &d.note {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        text += &renderer.render(&[group]);
        text.push('\n');
    }
    text
}

fn boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The line of `at` and what follows it: all that an excerpt needs, however long the file is.
fn window(source: &str, at: usize) -> (usize, usize) {
    let first = source[..at].rfind('\n').map_or(0, |n| n + 1);
    let end = source[at..].find('\n').map_or(source.len(), |n| at + n);
    (first, end)
}
