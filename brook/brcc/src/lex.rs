//! Text to tokens.
//!
//! Comments and blanks vanish; every token knows its bytes, so that host code can be copied as it stands. A line that begins
//! with `#` is one token. Bytes that begin no token are reported and skipped.

use crate::diagnostic::{Report, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Identifier or keyword.
    Word,
    /// Integer literal.
    Int,
    /// Floating literal.
    Float,
    /// String literal.
    Str,
    /// Character literal.
    Char,
    /// Operator or bracket.
    Punct,
    /// A whole line that begins with `#`.
    Directive,
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub span: Span,
}

/// Longest first.
const PUNCTS: [&str; 45] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", ";", ",", ":", "?", "=", "+", "-", "*", "/",
    "%", "<", ">", "!", "~", "&", "|", "^",
];

/// Splits a text into tokens; the last is [`Kind::End`].
pub fn lex(source: &str, report: &mut Report) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::with_capacity(bytes.len() / 4);
    let mut at = 0;
    let mut line_begins = true;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let kind = match byte {
            b'\n' => {
                line_begins = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                match source[at + 2..].find("*/") {
                    Some(length) => at += length + 4,
                    None => {
                        report.error("comment", span(at, at + 2), "the comment is not closed");
                        at = bytes.len();
                    }
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                if bytes.get(at + 2) == Some(&b'*') {
                    report.warn(
                        0,
                        "comment",
                        span(at, at + 3),
                        "`//*` begins a comment up to the end of the line",
                    );
                }
                at = source[at..].find('\n').map_or(bytes.len(), |n| at + n);
                continue;
            }
            b'#' if line_begins => {
                at = line_end(bytes, at);
                Kind::Directive
            }
            b'"' | b'\'' => {
                at = literal_end(bytes, at, byte).unwrap_or_else(|| {
                    let end = bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| at + n);
                    report.error("literal", span(at, end), "the literal is not closed on its line");
                    end
                });
                if byte == b'"' { Kind::Str } else { Kind::Char }
            }
            b'0'..=b'9' => number(bytes, &mut at),
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => number(bytes, &mut at),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                Kind::Word
            }
            b'.' if !source[at..].starts_with("...") => {
                at += 1;
                Kind::Punct
            }
            b'\\' if bytes[at + 1..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r')) == Some(&b'\n') => {
                at += 1;
                continue;
            }
            _ => match PUNCTS.iter().find(|p| source[at..].starts_with(**p)) {
                Some(punct) => {
                    at += punct.len();
                    Kind::Punct
                }
                None => {
                    let character = source[at..].chars().next().unwrap_or(' ');
                    at += character.len_utf8();
                    report.error("character", span(start, at), format!("{character:?} begins no token"));
                    continue;
                }
            },
        };
        line_begins = false;
        tokens.push(Token { kind, span: span(start, at) });
    }
    tokens.push(Token { kind: Kind::End, span: span(bytes.len(), bytes.len()) });
    tokens
}

fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// True of bytes that continue an identifier.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// End of a line, with the lines that `\` continues.
fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'\n' {
        let continued = bytes[at] == b'\\'
            && (bytes.get(at + 1) == Some(&b'\n') || bytes.get(at + 1..at + 3) == Some(b"\r\n"));
        at += if continued { 2 + usize::from(bytes[at + 1] == b'\r') } else { 1 };
    }
    at.min(bytes.len())
}

fn literal_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return None,
            b if b == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn number(bytes: &[u8], at: &mut usize) -> Kind {
    let hex = bytes[*at] == b'0' && matches!(bytes.get(*at + 1), Some(b'x' | b'X'));
    let mut kind = Kind::Int;
    while let Some(&byte) = bytes.get(*at) {
        let exponent = !hex && matches!(byte, b'e' | b'E');
        if byte == b'.' || exponent {
            kind = Kind::Float;
        }
        if exponent && matches!(bytes.get(*at + 1), Some(b'+' | b'-')) {
            *at += 2;
        } else if is_word(byte) || byte == b'.' {
            if !hex && matches!(byte, b'f' | b'F') {
                kind = Kind::Float;
            }
            *at += 1;
        } else {
            break;
        }
    }
    kind
}
