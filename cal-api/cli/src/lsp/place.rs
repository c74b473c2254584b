//! Places in a text: the protocol counts lines and UTF-16 units, the compiler bytes.

use std::ops::Range as Bytes;

use lsp_types::{Position, Range};
use recal_il::diagnostic::Span;

/// The place of a byte.
pub(super) fn position(text: &str, byte: usize) -> Position {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Position::new(before.matches('\n').count() as u32, line.encode_utf16().count() as u32)
}

/// The byte of a place; the end of the line, if it has no such place.
pub(super) fn byte(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if c == '\n' || units >= position.character as usize {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

pub(super) fn range(text: &str, span: Span) -> Range {
    Range::new(position(text, span.start as usize), position(text, span.end as usize))
}

fn of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The word that a place is in or behind.
pub(super) fn word(text: &str, byte: usize) -> Bytes<usize> {
    let start = text[..byte].rfind(|c| !of_word(c)).map_or(0, |at| at + 1);
    let end = text[byte..].find(|c| !of_word(c)).map_or(text.len(), |at| byte + at);
    start..end
}

/// Whether a place is in a comment.
pub(super) fn in_comment(text: &str, byte: usize) -> bool {
    let line = text[..byte].rsplit('\n').next().unwrap_or_default();
    line.contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_utf16_units() {
        let text = "; a\u{e4}\u{1f600}b\nmov r0, r1";
        assert_eq!(position(text, text.find('b').unwrap()), Position::new(0, 6));
        assert_eq!(byte(text, Position::new(0, 6)), text.find('b').unwrap());
        assert_eq!(byte(text, Position::new(0, 99)), text.find('\n').unwrap());
        assert_eq!(byte(text, Position::new(7, 0)), text.len());
        // Inside a letter of several bytes: its beginning.
        assert_eq!(position(text, 4), Position::new(0, 3));
        let at = byte(text, Position::new(1, 5));
        assert_eq!(&text[word(text, at)], "r0");
        assert!(in_comment(text, 5) && !in_comment(text, at));
    }
}
