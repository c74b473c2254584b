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

/// Line and column of a byte offset, both from 1; columns count bytes.
pub fn position(text: &[u8], offset: u32) -> (usize, usize) {
    let before = &text[..(offset as usize).min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    (line, before.len() - start + 1)
}

/// Widest excerpt of a source line. Whole programs on one line are usual, so an excerpt is a window.
const EXCERPT: usize = 100;

/// Renders diagnostics as plain text: message, place, source line, caret, note. `name` stands for the text in
/// places.
///
/// The source line is shown as far as it is text: bytes that are no UTF-8 become U+FFFD, tabs blanks.
///
/// ```
/// use recal_il::diagnostic::render;
/// let text = b"il_ps_2_0\nmull r0, r1, r2\nend\n";
/// let errors = recal_il::front(text).unwrap_err();
/// let shown = render(&errors, text, "kernel");
/// assert!(shown.contains("--> kernel:2:1"));
/// assert!(shown.contains("did you mean `mul`?"));
/// ```
pub fn render(diagnostics: &[Diagnostic], text: &[u8], name: &str) -> String {
    let mut out = String::new();
    for d in diagnostics {
        render_one(&mut out, d, text, name);
    }
    out
}

fn render_one(out: &mut String, d: &Diagnostic, text: &[u8], name: &str) {
    use std::fmt::Write;
    let kind = match d.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let (line, column) = position(text, d.span.start);
    let (excerpt, caret) = excerpt(text, d.span);
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{kind}[{}]: {}", d.rule, d.message);
    let _ = writeln!(out, "{gutter}--> {name}:{line}:{column}");
    if !excerpt.trim().is_empty() {
        let _ = writeln!(out, "{gutter} |\n{number} | {excerpt}\n{gutter} | {caret}");
    }
    if let Some(note) = &d.note {
        let _ = writeln!(out, "{gutter} = note: {note}");
    }
}

/// The source line around a span, and the line of carets under it.
fn excerpt(text: &[u8], span: Span) -> (String, String) {
    let start = (span.start as usize).min(text.len());
    let end = (span.end as usize).clamp(start, text.len());
    let line_start = text[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line_end = text[start..].iter().position(|&b| b == b'\n').map_or(text.len(), |at| start + at);
    let from = if start - line_start > EXCERPT * 3 / 5 { start - EXCERPT / 2 } else { line_start };
    let to = line_end.min(from + EXCERPT);
    let clipped_front = if from > line_start { "…" } else { "" };
    let clipped_back = if to < line_end { "…" } else { "" };
    let shown = |bytes: &[u8]| -> String {
        let lossy = String::from_utf8_lossy(bytes);
        lossy
            .chars()
            .map(|c| {
                if c == '\t' {
                    ' '
                } else if c.is_control() {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    };
    let before = shown(&text[from..start]);
    let under = shown(&text[start..end.min(to)]);
    let after = shown(&text[end.min(to).max(start)..to]);
    let indent = clipped_front.chars().count() + before.chars().count();
    let carets = "^".repeat(under.chars().count().max(1));
    let line = format!("{clipped_front}{before}{under}{after}{clipped_back}");
    (line.trim_end().to_string(), " ".repeat(indent) + &carets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], start: u32, end: u32) -> String {
        render(&[Diagnostic::error("rule", Span { start, end }, "message").with_note("why")], text, "k")
    }

    #[test]
    fn points_at_line_and_column() {
        assert_eq!(
            shown(b"one\ntwo three\n", 8, 13),
            "error[rule]: message\n --> k:2:5\n  |\n2 | two three\n  |     ^^^^^\n  = note: why\n"
        );
    }

    #[test]
    fn clips_long_lines_around_the_span() {
        let mut text = b"x ".repeat(50_000);
        text[60_000..60_004].copy_from_slice(b"HERE");
        let shown = shown(&text, 60_000, 60_004);
        assert!(shown.len() < 500, "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let column = |line: &str, what: char| line.chars().position(|c| c == what);
        assert_eq!(column(lines[3], 'H'), column(lines[4], '^'));
        assert!(lines[1].ends_with("k:1:60001"));
    }

    #[test]
    fn copes_with_any_bytes_and_any_span() {
        let text: Vec<u8> = (0..=255).collect();
        for start in 0..300 {
            assert!(shown(&text, start, start + 7).contains("message"));
        }
        assert!(shown(b"", 0, 0).contains("k:1:1"));
    }
}
