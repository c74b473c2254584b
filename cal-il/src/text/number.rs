//! Numbers: decimal, hexadecimal or float by their spelling, and what is wrong with those that are none.

use super::ast::Number;
use super::cursor::{Cursor, Step, excerpt, is_word};
use super::grammar;
use crate::diagnostic::Diagnostic;

/// Why a number could not be read.
enum Bad {
    /// It does not fit.
    Range { float: bool },
    /// Something that is no part of a number stands at this offset.
    Spelling(usize),
}

impl Cursor<'_> {
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

    /// Reads a number. The next statement may be glued to it; nothing else may.
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
        let next = self.peek();
        let glued = (is_word(next) && grammar::longest(&self.text[self.at..self.word_end()]).is_none())
            || (next == b'.' && !self.at_end());
        let bad = match number {
            Ok(number) if !glued => return Ok(number),
            Err(Bad::Range { float }) if !glued => Bad::Range { float },
            Err(Bad::Spelling(at)) => Bad::Spelling(at),
            _ => Bad::Spelling(self.at),
        };
        Err(Box::new(self.bad_number(start, &bad)))
    }

    fn hexadecimal(&mut self, negative: bool) -> Result<Number, Bad> {
        self.at += 2;
        let start = self.at;
        let mut value: i64 = 0;
        while self.peek().is_ascii_hexdigit() {
            let digit = (self.peek() as char).to_digit(16).unwrap_or(0);
            value = (value * 16 + i64::from(digit)).min(1 << 40);
            self.at += 1;
        }
        if self.at == start {
            return Err(Bad::Spelling(start));
        }
        let value = if negative { -value } else { value };
        let good = (-(1 << 31)..1 << 32).contains(&value);
        if good { Ok(Number::Integer { value, hex: true }) } else { Err(Bad::Range { float: false }) }
    }

    fn decimal(&mut self, start: usize, negative: bool) -> Result<Number, Bad> {
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
            return Err(Bad::Spelling(self.at));
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
            let good = (-(1 << 31)..1 << 32).contains(&value);
            let number = Number::Integer { value, hex: false };
            return if good { Ok(number) } else { Err(Bad::Range { float }) };
        }
        let text = std::str::from_utf8(&self.text[start..end]).ok();
        let value = text.and_then(|text| text.parse::<f32>().ok()).filter(|v| v.is_finite());
        value.map(|v| Number::Float(v.to_bits())).ok_or(Bad::Range { float })
    }

    /// Says what is wrong with the number that begins at `start`, and goes behind it.
    fn bad_number(&mut self, start: usize, bad: &Bad) -> Diagnostic {
        while is_word(self.peek()) || self.peek() == b'.' && !self.at_end() {
            self.at += 1;
        }
        let span = self.span_from(start);
        let number = excerpt(self.text, span);
        let at = match *bad {
            Bad::Spelling(at) => at,
            Bad::Range { float } => {
                let d =
                    Diagnostic::error("literal-range", span, format!("`{number}` does not fit in 32 bits"));
                return d.with_note(if float {
                    "floats have single precision, up to 3.4028235e38; infinity is `0x7F800000`, a double is two words"
                } else {
                    "integers go from -2147483648 to 4294967295"
                });
            }
        };
        let d = Diagnostic::error("bad-number", span, format!("`{number}` is not a number"));
        let (why, instead) = correction(&self.text[start..self.at], at.saturating_sub(start));
        let d = d.with_label(span, why);
        match instead {
            Some(instead) => d.with_suggestion("did you mean this?", span, instead),
            None => d,
        }
    }
}

/// What is wrong at offset `bad` of a number, and what was meant if that is plain.
fn correction(number: &[u8], bad: usize) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(number);
    let digits = text.trim_start_matches(['-', '+']);
    let sign = &text[..text.len() - digits.len()];
    let (good, rest) = text.split_at(bad.min(text.len()));
    let hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let lower = digits.to_ascii_lowercase();
    if lower.starts_with("0x") {
        return match rest.chars().next() {
            None => ("hexadecimal digits are missing".into(), None),
            Some('u' | 'U' | 'l' | 'L') => ("numbers take no suffix".into(), Some(good.into())),
            Some('.' | 'p' | 'P') => ("a hexadecimal number is whole".into(), None),
            Some(c @ ('o' | 'O')) => {
                let zeros = digits[2..].replace(['o', 'O'], "0");
                let meant = hex(&zeros).then(|| format!("{sign}0x{zeros}"));
                (format!("`{c}` is the letter, not the digit zero"), meant)
            }
            Some(c) => (format!("`{c}` is not a hexadecimal digit"), None),
        };
    }
    let bare = lower.strip_suffix('h').unwrap_or(&lower);
    let without = || text.replace('_', "");
    match rest.chars().next() {
        None => ("digits are missing".into(), None),
        Some('.') => ("a number has one point".into(), None),
        Some('_') if without().parse::<f64>().is_ok() => ("digits stand together".into(), Some(without())),
        Some('u' | 'U' | 'l' | 'L') if rest.len() < 4 => ("the only suffix is `f`".into(), Some(good.into())),
        Some('e' | 'E') if rest.len() == 1 => ("the digits of the exponent are missing".into(), None),
        Some(_) if hex(bare) => {
            let digits = &digits[..bare.len()];
            ("hexadecimal numbers begin with `0x`".into(), Some(format!("{sign}0x{digits}")))
        }
        Some(c) => (format!("`{c}` is no part of a number"), None),
    }
}
