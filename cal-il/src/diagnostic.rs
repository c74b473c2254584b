//! Diagnostics: what is wrong, where, and by which rule.

/// A range of bytes in the kernel text. Kernel text is bytes (comments may hold any code page), so offsets
/// count bytes, not characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is accepted; the author may have meant something else.
    Warning,
    /// The program is refused.
    Error,
}

/// One finding about a kernel text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Short stable name of the rule, for example `unknown-opcode`.
    pub rule: &'static str,
    /// Where in the text.
    pub span: Span,
    /// What is wrong, one sentence without a final full stop.
    pub message: String,
    /// What to do about it, or the reason of the rule.
    pub note: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, rule, span, message: message.into(), note: None }
    }

    /// A warning at `span`.
    pub fn warning(rule: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, rule, span, message: message.into(), note: None }
    }

    /// The same diagnostic with a note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}
