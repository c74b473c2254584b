//! Diagnostics: what is wrong, where, by which rule, and what was meant. [`render`] shows them.

mod show;

pub use show::{render, render_coloured};

/// A range of bytes in the kernel text. Kernel text is bytes (comments may hold any code page), so offsets
/// count bytes, not characters. An empty span is a gap: something is missing there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The gap at an offset.
    pub fn gap(at: usize) -> Self {
        Self { start: at as u32, end: at as u32 }
    }

    /// The gap behind this.
    pub fn after(self) -> Self {
        Self { start: self.end, end: self.end }
    }
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is accepted; there is something to know about it.
    Note,
    /// The program is accepted; the author may have meant something else.
    Warning,
    /// The program is refused.
    Error,
}

impl Severity {
    /// `note`, `warning`, `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What there is to say about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// A few words.
    pub text: String,
}

/// A change of the text that is probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What to do, for example "did you mean `mul`?".
    pub message: String,
    /// What to put in the place of what, in the order of the text.
    pub edits: Vec<(Span, String)>,
}

/// One finding about a kernel text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error, warning or note.
    pub severity: Severity,
    /// Short stable name of the rule, for example `unknown-opcode`.
    pub rule: &'static str,
    /// Where in the text.
    pub span: Span,
    /// What is wrong, one sentence without a final full stop.
    pub message: String,
    /// What there is to say at `span` itself, and at other places that have to do with it.
    pub labels: Vec<Label>,
    /// The reason of the rule, or what to do.
    pub note: Option<String>,
    /// What to write instead.
    pub suggestion: Option<Suggestion>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, rule, span, message)
    }

    /// A warning at `span`.
    pub fn warning(rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, rule, span, message)
    }

    /// A note at `span`.
    pub fn note(rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, rule, span, message)
    }

    fn new(severity: Severity, rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { severity, rule, span, message, labels: Vec::new(), note: None, suggestion: None }
    }

    /// The same diagnostic with a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same diagnostic with some words at a place.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same diagnostic with what to write instead of `span`; an empty span is where to insert it.
    #[must_use]
    pub fn with_suggestion(
        mut self,
        message: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        self.suggestion =
            Some(Suggestion { message: message.into(), edits: vec![(span, replacement.into())] });
        self
    }
}

/// The mark with which some editors begin a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Line and column of a byte offset, both from 1; columns count bytes. A byte order mark takes no column.
pub fn position(text: &[u8], offset: u32) -> (usize, usize) {
    let before = &text[..(offset as usize).min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = line_start(text, before.len());
    (line, before.len().saturating_sub(start) + 1)
}

/// Where the line of an offset begins.
fn line_start(text: &[u8], offset: usize) -> usize {
    match text[..offset].iter().rposition(|&b| b == b'\n') {
        Some(at) => at + 1,
        None if text.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len(),
        None => 0,
    }
}
