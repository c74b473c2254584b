//! Shows diagnostics with the lines they speak of, by way of `annotate-snippets`. Only what surrounds a place is
//! handed to it, so the time does not depend on the length of the text.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Patch, Renderer, Snippet};

use super::{Diagnostic, Label, Severity, Span, Suggestion, line_start, position};

/// Width of what is shown, in characters.
const WIDTH: usize = 120;
/// Longest line, in bytes, that is handed over whole. Whole programs on one line are usual.
const LONG: usize = 400;
/// Places this many lines apart are shown in one piece.
const NEAR: usize = 12;

/// Renders diagnostics as plain text: message, place, source lines with what there is to say about them, note, what
/// to write instead. `name` stands for the text in places.
///
/// The source is shown as far as it is text: bytes that are no UTF-8 become U+FFFD, tabs blanks, control characters
/// symbols.
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
    render_all(&Renderer::plain(), diagnostics, text, name)
}

/// The same with the escape sequences that colour it on a terminal.
pub fn render_coloured(diagnostics: &[Diagnostic], text: &[u8], name: &str) -> String {
    render_all(&Renderer::styled(), diagnostics, text, name)
}

fn render_all(renderer: &Renderer, diagnostics: &[Diagnostic], text: &[u8], name: &str) -> String {
    let renderer = renderer.clone().term_width(WIDTH);
    let mut out = String::new();
    for d in diagnostics {
        if !out.is_empty() {
            out.push('\n');
        }
        out += render_one(&renderer, d, text, name).trim_end();
        out.push('\n');
    }
    out
}

fn render_one(renderer: &Renderer, d: &Diagnostic, text: &[u8], name: &str) -> String {
    let level = match d.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let (line, column) = position(text, d.span.start);
    let mut primary = Group::with_title(level.primary_title(&d.message).id(d.rule));
    // What the library takes for the place, since it sees only a part of the line.
    let mut taken = (line, column);
    let source = Window::new(text, line_of(text, d.span));
    if d.labels.is_empty() && source.shown.trim().is_empty() {
        primary = primary.element(Origin::path(name).line(line).char_column(column));
    } else {
        for (at, piece) in pieces(d, text).iter().enumerate() {
            let (snippet, place) = piece.snippet(d, text, name);
            primary = primary.element(snippet);
            if at == 0 {
                taken = place;
            }
        }
    }
    primary = primary.elements(d.note.as_deref().map(|note| Element::from(Level::NOTE.message(note))));
    let help = d.suggestion.as_ref().map(|suggestion| suggested(suggestion, text));
    let groups: Vec<Group> = [primary].into_iter().chain(help).collect();
    let shown = renderer.render(&groups);
    if taken == (line, column) {
        return shown;
    }
    let place = |(line, column)| format!("{name}:{line}:{column}");
    shown.replacen(&place(taken), &place((line, column)), 1)
}

/// The change that is suggested, in the line it changes.
fn suggested<'a>(suggestion: &'a Suggestion, text: &[u8]) -> Group<'a> {
    let title = Level::HELP.secondary_title(&suggestion.message);
    let spans = suggestion.edits.iter().map(|(span, _)| *span);
    let Some(all) = spans.reduce(|a, b| Span { start: a.start.min(b.start), end: a.end.max(b.end) }) else {
        return Group::with_title(title);
    };
    let mut range = lines_of(text, all);
    if range.len() > WIDTH {
        range = around(text, all, &range, WIDTH / 3);
    }
    let window = Window::with_marks(text, range, suggestion.edits.iter().map(|(span, _)| *span));
    let patches = (suggestion.edits.iter())
        .map(|(span, replacement)| Patch::new(window.place(*span), replacement.as_str()));
    let patches: Vec<Patch> = patches.collect();
    let snippet = Snippet::source(window.shown).line_start(window.line).patches(patches);
    title.element(snippet)
}

/// A part of the text that is shown in one piece, with the labels in it.
struct Piece<'d> {
    span: Span,
    /// The place of the diagnostic itself is in it.
    primary: bool,
    labels: Vec<&'d Label>,
}

/// The places of a diagnostic, its own first, grouped by nearness.
fn pieces<'d>(d: &'d Diagnostic, text: &[u8]) -> Vec<Piece<'d>> {
    let mut pieces = vec![Piece { span: d.span, primary: true, labels: Vec::new() }];
    for label in &d.labels {
        let joined = pieces.iter_mut().find_map(|piece| {
            let start = piece.span.start.min(label.span.start);
            let end = piece.span.end.max(label.span.end);
            let between = text.get(start as usize..end as usize).unwrap_or_default();
            let near = between.iter().filter(|&&b| b == b'\n').count() <= NEAR;
            let near = near && (between.len() <= LONG || between.contains(&b'\n'));
            near.then_some((piece, Span { start, end }))
        });
        match joined {
            Some((piece, span)) => {
                piece.span = span;
                piece.labels.push(label);
            }
            None => pieces.push(Piece { span: label.span, primary: false, labels: vec![label] }),
        }
    }
    pieces
}

impl<'d> Piece<'d> {
    /// The piece for the library, and the line and column that it will name.
    fn snippet<'a>(
        &self,
        d: &'d Diagnostic,
        text: &[u8],
        name: &'a str,
    ) -> (Snippet<'a, annotate_snippets::Annotation<'a>>, (usize, usize))
    where
        'd: 'a,
    {
        let range = lines_of(text, self.span);
        let long = text[range.clone()].split(|&b| b == b'\n').any(|line| line.len() > LONG);
        let range = if long { around(text, self.span, &range, LONG / 2) } else { range };
        let marks = self.labels.iter().map(|label| label.span).chain(self.primary.then_some(d.span));
        let window = Window::with_marks(text, range, marks);
        let mut annotations = Vec::new();
        let mut said = false;
        for label in &self.labels {
            let own = self.primary && !said && label.span == d.span;
            said |= own;
            let kind = if own { AnnotationKind::Primary } else { AnnotationKind::Context };
            annotations.push(kind.span(window.place(label.span)).label(label.text.as_str()));
        }
        if self.primary && !said {
            annotations.insert(0, AnnotationKind::Primary.span(window.place(d.span)));
        }
        let named = if self.primary { d.span } else { self.span };
        let before = &window.shown[..window.place(named).start];
        let line = window.line + before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let snippet =
            Snippet::source(window.shown).path(name).line_start(window.line).annotations(annotations);
        (snippet, (line, column))
    }
}

/// The lines that hold a span, without the last line break.
fn lines_of(text: &[u8], span: Span) -> Range<usize> {
    let start = (span.start as usize).min(text.len());
    let end = (span.end as usize).clamp(start, text.len());
    let rest = text[end..].iter().position(|&b| b == b'\n').unwrap_or(text.len() - end);
    line_start(text, start).min(start)..end + rest
}

/// The line in which a span begins.
fn line_of(text: &[u8], span: Span) -> Range<usize> {
    lines_of(text, Span { end: span.start, ..span })
}

/// `range`, cut to what lies within so many bytes of the ends of a span.
fn around(text: &[u8], span: Span, range: &Range<usize>, bytes: usize) -> Range<usize> {
    // Not in the middle of a character of UTF-8.
    let boundary = |mut at: usize| {
        while at < range.end && text[at] & 0xC0 == 0x80 {
            at += 1;
        }
        at
    };
    let start = boundary((span.start as usize).min(range.end).saturating_sub(bytes).max(range.start));
    let end = boundary((span.end as usize).saturating_add(bytes).clamp(start, range.end));
    start..end
}

/// A part of the text as characters, and where marked bytes came to lie in it.
struct Window {
    shown: String,
    /// Number of its first line.
    line: usize,
    /// Offsets of bytes and of the same places in `shown`, in order.
    marks: Vec<(usize, usize)>,
}

impl Window {
    fn new(text: &[u8], range: Range<usize>) -> Self {
        Self::with_marks(text, range, std::iter::empty())
    }

    fn with_marks(text: &[u8], range: Range<usize>, spans: impl Iterator<Item = Span>) -> Self {
        // Of a span that goes on over the end of its line, the rest of the line is marked.
        let marked = spans.flat_map(|span| {
            let start = (span.start as usize).clamp(range.start, range.end);
            let line_end = line_of(text, Span::gap(start)).end.min(range.end);
            [start, (span.end as usize).clamp(start, line_end.max(start))]
        });
        let mut cuts: Vec<usize> = marked.chain([range.start, range.end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut shown = String::new();
        let mut marks = vec![(range.start, 0)];
        for cut in cuts.windows(2) {
            shown += &String::from_utf8_lossy(&text[cut[0]..cut[1]]);
            marks.push((cut[1], shown.len()));
        }
        Self { shown, line: position(text, range.start as u32).0, marks }
    }

    /// Where a marked span lies.
    fn place(&self, span: Span) -> Range<usize> {
        let find = |offset: usize| {
            let at = self.marks.partition_point(|&(byte, _)| byte < offset);
            self.marks[at.min(self.marks.len() - 1)].1
        };
        let start = find(span.start as usize);
        let line_end = self.shown[start..].find('\n').map_or(self.shown.len(), |at| start + at);
        start..find(span.end as usize).clamp(start, line_end)
    }
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
            "error[rule]: message\n --> k:2:5\n  |\n2 | two three\n  |     ^^^^^\n  |\n  = note: why\n"
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
        assert_eq!(column(lines[3], 'H'), column(lines[4], '^'), "{shown}");
        assert!(lines[1].ends_with("k:1:60001"), "{shown}");
    }

    #[test]
    fn copes_with_any_bytes_and_any_span() {
        let text: Vec<u8> = (0..=255).collect();
        for start in 0..300 {
            assert!(shown(&text, start, start + 7).contains("message"));
            let d = Diagnostic::error("rule", Span { start, end: start + 40 }, "message")
                .with_label(Span { start: start / 2, end: start }, "label")
                .with_suggestion("help", Span { start, end: start + 3 }, "other");
            assert!(render(&[d], &text, "k").contains("help"));
        }
        assert!(shown(b"", 0, 0).contains("k:1:1"));
        assert!(shown(b"\xEF\xBB\xBF", 0, 1).contains("k:1:1"));
    }

    #[test]
    fn columns_count_bytes_and_no_byte_order_mark() {
        assert!(shown("\u{feff}é r".as_bytes(), 6, 7).contains("k:1:4"));
        assert!(shown(b"\xE9 r", 2, 3).contains("k:1:3"));
    }

    #[test]
    fn places_far_apart_are_shown_in_two_pieces() {
        let text = format!("first\n{}last\n", "\n".repeat(1000));
        let end = text.len() as u32 - 1;
        let d = Diagnostic::error("rule", Span { start: 0, end: 5 }, "message")
            .with_label(Span { start: 0, end: 5 }, "opened")
            .with_label(Span { start: end - 4, end }, "not closed");
        let shown = render(&[d], text.as_bytes(), "k");
        assert!(shown.lines().count() < 14, "{shown}");
        assert!(shown.contains("^^^^^ opened") && shown.contains("---- not closed"), "{shown}");
        assert!(shown.contains("k:1:1\n") && shown.contains("k:1002:1\n"), "{shown}");
    }

    #[test]
    fn colours_only_where_they_are_asked_for() {
        let d = [Diagnostic::error("rule", Span { start: 0, end: 1 }, "message")];
        assert!(!render(&d, b"x", "k").contains('\u{1b}'));
        assert!(render_coloured(&d, b"x", "k").contains('\u{1b}'));
    }

    #[test]
    fn a_suggestion_shows_the_changed_line() {
        let d = Diagnostic::error("rule", Span { start: 0, end: 1 }, "message").with_suggestion(
            "write it so",
            Span::gap(6),
            ",",
        );
        let shown = render(&[d], b"mov r0 r1", "k");
        assert!(
            shown.contains("help: write it so") && shown.contains("1 | mov r0, r1\n  |       +"),
            "{shown}"
        );
    }
}
