//! Characters of the text, from left to right.

use crate::diagnostic::{Diagnostic, Span};

/// Something is not as the form wants it.
pub(super) struct Wrong {
    span: Span,
    message: String,
}

/// What was read, or why it cannot be.
pub(super) type Found<T> = Result<T, Wrong>;

/// The rule of all diagnostics about programs as text.
const RULE: &str = "program-text";

impl From<Wrong> for Diagnostic {
    fn from(wrong: Wrong) -> Self {
        Diagnostic::error(RULE, wrong.span, wrong.message)
    }
}

/// A place in the text. All that reads passes blanks first; lines end statements, so those are asked for by name.
pub(super) struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Passes blanks and a comment.
    fn pass(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b';') {
            let rest = &self.text[self.at..];
            self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        }
    }

    /// The next character of this line.
    pub fn peek(&mut self) -> Option<u8> {
        self.pass();
        self.text.get(self.at).copied().filter(|&byte| byte != b'\n')
    }

    /// Takes a character, if it is the next.
    pub fn takes(&mut self, character: u8) -> bool {
        let is = self.peek() == Some(character);
        self.at += usize::from(is);
        is
    }

    pub fn expect(&mut self, character: u8) -> Found<()> {
        match self.takes(character) {
            true => Ok(()),
            false => Err(self.wrong(format!("expected `{}`", char::from(character)))),
        }
    }

    /// Passes the end of this line and empty lines; at the end of the text says false.
    pub fn next_line(&mut self) -> Found<bool> {
        match self.peek() {
            Some(_) => Err(self.wrong("expected the end of the line".into())),
            None => Ok(self.pass_lines()),
        }
    }

    /// Passes empty lines; at the end of the text says false.
    pub fn pass_lines(&mut self) -> bool {
        while self.peek().is_none() {
            if self.at == self.text.len() {
                return false;
            }
            self.at += 1;
        }
        true
    }

    /// Letters, digits and `_` that follow, if the first is a letter.
    pub fn peek_word(&mut self) -> Option<&'t str> {
        let first = self.peek()?;
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        std::str::from_utf8(&rest[..length]).ok().filter(|_| first.is_ascii_alphabetic())
    }

    pub fn word(&mut self) -> Found<&'t str> {
        let word = self.peek_word().ok_or_else(|| self.wrong("expected a word".into()))?;
        self.at += word.len();
        Ok(word)
    }

    /// Takes a word, if it is the next.
    pub fn takes_word(&mut self, word: &str) -> bool {
        let is = self.peek_word() == Some(word);
        self.at += if is { word.len() } else { 0 };
        is
    }

    pub fn expect_word(&mut self, word: &str) -> Found<()> {
        match self.takes_word(word) {
            true => Ok(()),
            false => Err(self.wrong(format!("expected `{word}`"))),
        }
    }

    /// Reads a word, which `known` must know.
    pub fn known<T>(&mut self, what: &str, known: impl Fn(&str) -> Option<T>) -> Found<T> {
        let start = self.place();
        let word = self.word()?;
        known(word).ok_or_else(|| self.wrong_since(start, format!("`{word}` is no {what}")))
    }

    /// Reads letters and digits that `number` must understand.
    pub fn number<T>(&mut self, what: &str, number: impl Fn(&str) -> Option<T>) -> Found<T> {
        self.pass();
        let rest = &self.text[self.at..];
        let hexadecimal = rest.starts_with(b"0x");
        let mut length = usize::from(rest.first() == Some(&b'-'));
        while let Some(byte) = rest.get(length) {
            let exponent =
                !hexadecimal && length > 0 && rest[length - 1] == b'e' && matches!(byte, b'-' | b'+');
            if !(byte.is_ascii_alphanumeric() || *byte == b'.' || exponent) {
                break;
            }
            length += 1;
        }
        let text = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        match number(text) {
            Some(value) => {
                self.at += length;
                Ok(value)
            }
            None => Err(self.wrong(format!("expected {what}"))),
        }
    }

    /// Here, to say later what is wrong since.
    pub fn place(&mut self) -> usize {
        self.pass();
        self.at
    }

    /// Back to a place, to read the same again.
    pub fn back(&mut self, place: usize) {
        self.at = place;
    }

    pub fn wrong_since(&self, start: usize, message: String) -> Wrong {
        Wrong { span: Span { start: start as u32, end: self.at as u32 }, message }
    }

    /// Something is wrong with what comes next.
    pub fn wrong(&mut self, message: String) -> Wrong {
        self.pass();
        let rest = &self.text[self.at..];
        let end = |byte: &u8| byte.is_ascii_whitespace() || b",=()[]{};".contains(byte);
        let length = rest.iter().position(end).unwrap_or(rest.len());
        // A single mark, unless the line is at its end.
        let length = length.max(usize::from(rest.first().is_some_and(|byte| !byte.is_ascii_whitespace())));
        self.wrong_since_to(self.at + length, message)
    }

    fn wrong_since_to(&self, end: usize, message: String) -> Wrong {
        Wrong { span: Span { start: self.at as u32, end: end as u32 }, message }
    }
}
