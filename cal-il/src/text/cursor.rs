//! The lexer: a position in the bytes of a text, white space, words and numbers. No token is ever copied.

use super::ast::Number;
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

    fn skip_line(&mut self) {
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
        let end = self.word_end().max(self.at + 1).min(self.text.len()).max(self.at);
        Span { start: self.at as u32, end: end as u32 }
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

    /// True if a number can start here.
    pub fn at_number(&self) -> bool {
        let mut at = self.at;
        if matches!(self.byte(at), b'-' | b'+') {
            at += 1;
        }
        if self.byte(at) == b'.' {
            at += 1;
        }
        self.byte(at).is_ascii_digit()
    }

    /// A number: decimal, hexadecimal or float by its spelling.
    pub fn number(&mut self) -> Step<Number> {
        let start = self.at;
        let negative = self.peek() == b'-';
        if negative || self.peek() == b'+' {
            self.at += 1;
        }
        let number = if self.peek() == b'0' && matches!(self.byte(self.at + 1), b'x' | b'X') {
            self.hexadecimal(negative)
        } else {
            self.decimal(start, negative)
        };
        number.ok_or_else(|| {
            self.at = self.at.max(start + 1).min(self.text.len());
            let span = self.span_from(start);
            Box::new(
                Diagnostic::error(
                    "literal-range",
                    span,
                    format!("`{}` is not a number of 32 bits", excerpt(self.text, span)),
                )
                .with_note("integers go from -2147483648 to 4294967295, floats are binary32"),
            )
        })
    }

    fn hexadecimal(&mut self, negative: bool) -> Option<Number> {
        self.at += 2;
        let start = self.at;
        let mut value: i64 = 0;
        while self.peek().is_ascii_hexdigit() {
            let digit = (self.peek() as char).to_digit(16).unwrap_or(0);
            value = (value * 16 + i64::from(digit)).min(1 << 40);
            self.at += 1;
        }
        let value = if negative { -value } else { value };
        let good = self.at > start && (-(1 << 31)..1 << 32).contains(&value);
        good.then_some(Number::Integer { value, hex: true })
    }

    fn decimal(&mut self, start: usize, negative: bool) -> Option<Number> {
        let first = self.at;
        let mut value: i64 = 0;
        while self.peek().is_ascii_digit() {
            value = (value * 10 + i64::from(self.peek() - b'0')).min(1 << 40);
            self.at += 1;
        }
        let mut float = false;
        let mut any = self.at > first;
        if self.peek() == b'.' && (any || self.byte(self.at + 1).is_ascii_digit()) {
            float = true;
            self.at += 1;
            while self.peek().is_ascii_digit() {
                any = true;
                self.at += 1;
            }
        }
        if !any {
            return None;
        }
        if matches!(self.peek(), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(self.at + 1), b'-' | b'+'));
            if self.byte(self.at + 1 + sign).is_ascii_digit() {
                float = true;
                self.at += 1 + sign;
                while self.peek().is_ascii_digit() {
                    self.at += 1;
                }
            }
        }
        let end = self.at;
        if matches!(self.peek(), b'f' | b'F') && !is_word(self.byte(self.at + 1)) {
            float = true;
            self.at += 1;
        }
        if !float {
            let value = if negative { -value } else { value };
            return (-(1 << 31)..1 << 32).contains(&value).then_some(Number::Integer { value, hex: false });
        }
        let text = std::str::from_utf8(&self.text[start..end]).ok()?;
        text.parse::<f32>().ok().filter(|v| v.is_finite()).map(|v| Number::Float(v.to_bits()))
    }
}

/// A span's text for a message: lossy, at most 40 characters.
pub(super) fn excerpt(text: &[u8], span: Span) -> String {
    let bytes = &text[span.start as usize..(span.end as usize).min(text.len())];
    let clipped = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
    let printable: String = clipped.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if bytes.len() > 40 { printable + "…" } else { printable }
}
