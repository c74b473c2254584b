//! The lexer: a position in the bytes of a text, white space and words; numbers are in `number`. No token is ever
//! copied.

use crate::diagnostic::{Diagnostic, Span};

/// The result of every parsing step. The error is boxed because it is rare and large.
pub(super) type Step<T> = Result<T, Box<Diagnostic>>;

const SPACE: u8 = 1;
const WORD: u8 = 2;
const DIGIT: u8 = 4;

/// Class of every byte.
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        table[b] = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => SPACE,
            b'0'..=b'9' => WORD | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => WORD,
            _ => 0,
        };
        b += 1;
    }
    table
};

/// True for letters, digits and `_`.
pub(super) fn is_word(byte: u8) -> bool {
    CLASS[byte as usize] & WORD != 0
}

/// A position in the text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The byte here; 0 at the end of the text.
    #[inline]
    pub fn peek(&self) -> u8 {
        self.byte(self.at)
    }

    /// The byte at an absolute position; 0 beyond the end.
    #[inline]
    pub fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn span_from(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at.max(start) as u32 }
    }

    /// Skips white space and comments.
    #[inline]
    pub fn skip_space(&mut self) {
        loop {
            while CLASS[self.peek() as usize] & SPACE != 0 {
                self.at += 1;
            }
            if self.peek() != b';' {
                return;
            }
            self.skip_line();
        }
    }

    /// Goes to the end of the line.
    pub fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    /// End of the word (letters, digits, `_`) that starts here.
    #[inline]
    pub fn word_end(&self) -> usize {
        let mut end = self.at;
        while is_word(self.byte(end)) {
            end += 1;
        }
        end
    }

    /// Consumes `byte` if it stands here.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let hit = self.peek() == byte && !self.at_end();
        self.at += usize::from(hit);
        hit
    }

    /// The span of the word here, or of one byte.
    pub fn span_here(&self) -> Span {
        let one = self.character().map_or(1, char::len_utf8);
        let end = self.word_end().max(self.at + one).min(self.text.len()).max(self.at);
        Span { start: self.at as u32, end: end as u32 }
    }

    /// The character of UTF-8 here, if it is one.
    pub fn character(&self) -> Option<char> {
        let bytes = self.text.get(self.at..(self.at + 4).min(self.text.len()))?;
        bytes.utf8_chunks().next()?.valid().chars().next()
    }

    /// True if `what` stands here.
    pub fn starts_with(&self, what: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(what))
    }

    /// The word here for a message, clipped and lossy.
    pub fn excerpt(&self) -> String {
        if self.at_end() {
            return "the end of the text".into();
        }
        excerpt(self.text, self.span_here())
    }

    /// Digits as a number; `None` if there are none or the value passes 2^32.
    #[inline]
    pub fn digits(&mut self) -> Option<u32> {
        let start = self.at;
        let mut value: u64 = 0;
        while CLASS[self.peek() as usize] & DIGIT != 0 {
            value = (value * 10 + u64::from(self.peek() - b'0')).min(1 << 40);
            self.at += 1;
        }
        if self.at == start { None } else { u32::try_from(value).ok() }
    }
}

/// A span's text for a message: lossy, at most 40 characters.
pub(super) fn excerpt(text: &[u8], span: Span) -> String {
    let bytes = &text[span.start as usize..(span.end as usize).min(text.len())];
    let clipped = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    let printable: String = clipped.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if bytes.len() > 40 { printable + "…" } else { printable }
}
