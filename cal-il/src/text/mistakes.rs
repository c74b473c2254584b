//! What is written instead of IL: signs and words of other languages, forgotten commas, misspellings. Each becomes an
//! error that shows the spelling that is meant.

mod operands;
mod words;

pub(super) use self::operands::{modifier, operand, specifier};
pub(super) use self::words::FOREIGN_INSTRUCTIONS;
use self::words::FOREIGN_REGISTERS;
use super::ast::{Ast, File};
use super::cursor::{Cursor, Step, excerpt, is_word};
use super::grammar::{self, Rules};
use super::operand::{self, modifier_names};
use super::{parser, registers};
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::Opcode;

/// A comment of another language: the sign that begins it, and the offset behind it.
pub(super) struct Comment {
    sign: &'static str,
    pub end: usize,
}

/// The comment of another language that begins here. `block_end` tells whether `*/` is worth looking for.
pub(super) fn foreign_comment(c: &Cursor, block_end: bool) -> Option<Comment> {
    let sign = ["//", "/*", "#"].into_iter().find(|sign| c.starts_with(sign.as_bytes()))?;
    let rest = &c.text[c.at..];
    let block = if sign == "/*" && block_end { rest.windows(2).position(|two| two == b"*/") } else { None };
    let end = block.map_or_else(
        || {
            let mut line = *c;
            line.skip_line();
            line.at
        },
        |at| c.at + at + 2,
    );
    Some(Comment { sign, end })
}

fn comment(c: &Cursor, found: &Comment) -> Box<Diagnostic> {
    let Comment { sign, end } = *found;
    let span = Span { start: c.at as u32, end: (c.at + sign.len()) as u32 };
    let message = format!("comments begin with `;`, not with `{sign}`");
    let d = Diagnostic::error("unexpected-character", span, message);
    if sign == "#" {
        return Box::new(
            d.with_note("nor is there a preprocessor: `#define` and `#include` are of no use here"),
        );
    }
    let body = &c.text[c.at + 2..end];
    if sign == "//" || body.contains(&b'\n') {
        let note = "a comment goes to the end of its line";
        return Box::new(d.with_note(note).with_suggestion("write it so", span, ";"));
    }
    let mut rest = Cursor { at: end, ..*c };
    rest.skip_line();
    if !c.text[end..rest.at].trim_ascii().is_empty() {
        // A comment would take the rest of the line with it.
        return Box::new(d.with_note("a comment goes to the end of its line, and cannot stand within one"));
    }
    let all = Span { start: c.at as u32, end: end as u32 };
    let inner = body.strip_suffix(b"*/").unwrap_or(body).trim_ascii();
    let written = format!("; {}", String::from_utf8_lossy(inner));
    Box::new(d.with_note("a comment goes to the end of its line").with_suggestion(
        "write it so",
        all,
        written,
    ))
}

/// True if a word names a register or is a number: it cannot begin a statement.
pub(super) fn operand_like(word: &[u8]) -> bool {
    let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (name, number) = word.split_at(letters);
    let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits == number.len() || number[digits] == b'_';
    match registers::file(name) {
        _ if letters == 0 => digits > 0,
        Some(File::Refused(_)) => whole && digits > 0,
        Some(_) => whole,
        None => false,
    }
}

/// What is wrong where a statement should begin.
pub(super) fn statement(c: &Cursor, ast: &Ast) -> Box<Diagnostic> {
    if let Some(found) = foreign_comment(c, true) {
        return comment(c, &found);
    }
    if !is_word(c.peek()) {
        return Box::new(unexpected(c));
    }
    let span = c.span_here();
    let word = &c.text[c.at..c.word_end()];
    let mut behind = Cursor { at: c.word_end(), ..*c };
    behind.skip_space();
    if behind.peek() == b'=' {
        let d = Diagnostic::error("unexpected-character", behind.span_here(), "IL has no assignments");
        return Box::new(d.with_note("the instruction stands first, then what it writes: `mov r0, r1`"));
    }
    if behind.peek() == b':' {
        let d =
            Diagnostic::error("unexpected-character", behind.span_here(), "there are no labels to jump to");
        return Box::new(d.with_note("functions are `func 1` … `endfunc`, loops `whileloop` … `endloop`"));
    }
    if operand_like(word) {
        return Box::new(stray_operand(c, ast));
    }
    let shown = c.excerpt();
    let d = Diagnostic::error("unknown-opcode", span, format!("`{shown}` is not an instruction"));
    if parser::version_word(word).is_some() {
        return Box::new(d.with_note("a text holds one program, with one version word"));
    }
    Box::new(meant_instruction(d, word))
}

/// Suggests the instruction that a word may stand for.
fn meant_instruction(d: Diagnostic, word: &[u8]) -> Diagnostic {
    let Some((near, length)) = similar(word) else { return d };
    let span = Span { start: d.span.start, end: d.span.start + length as u32 };
    d.with_suggestion(format!("did you mean `{near}`?"), span, near)
}

/// The instruction that an unknown word stands for, as far as one can tell.
pub(super) fn meant(word: &[u8]) -> Option<Opcode> {
    similar(word).and_then(|(name, _)| grammar::longest(name.as_bytes())).map(|(opcode, _)| opcode)
}

/// The spelling that a word may stand for, and how much of the word that is. Specifiers may follow the misspelled
/// mnemonic, so the word is tried without its last parts, too.
fn similar(word: &[u8]) -> Option<(&'static str, usize)> {
    let mut stem = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    loop {
        let known = FOREIGN_INSTRUCTIONS.iter().find(|(foreign, _)| *foreign == stem).map(|&(_, own)| own);
        if let Some(near) = known.or_else(|| grammar::nearest(&stem, grammar::mnemonics())) {
            return Some((near, stem.len()));
        }
        stem.truncate(stem.rfind('_')?);
    }
}

/// A register or a number where a statement should begin, right after the last one.
fn stray_operand(c: &Cursor, ast: &Ast) -> Diagnostic {
    let span = c.span_here();
    let shown = c.excerpt();
    let Some(last) = ast.statements.last() else {
        let message = format!("a statement begins with an instruction, not with `{shown}`");
        return Diagnostic::error("unknown-opcode", span, message);
    };
    let name = last.opcode.mnemonic();
    let count = last.operands.1 as usize;
    let most = usize::from(last.opcode.row().destinations)
        + usize::from(last.opcode.row().sources)
        + Rules::of(last.opcode).values.len();
    let joined = c.text[last.span.end as usize..c.at].iter().all(u8::is_ascii_whitespace);
    if joined && (1..most).contains(&count) {
        return missing_comma(c.text, last.span.end as usize, span);
    }
    let takes = match most {
        0 => format!("`{name}` takes no operands"),
        _ => format!("`{name}` has its {most} operand{} already", if most == 1 { "" } else { "s" }),
    };
    Diagnostic::error("operand-count", span, format!("{takes}, and `{shown}` is no instruction"))
}

/// No comma stands at `gap`, between an operand and `next`.
pub(super) fn missing_comma(text: &[u8], gap: usize, next: Span) -> Diagnostic {
    let message = format!("a comma is missing before `{}`", excerpt(text, next));
    Diagnostic::error("missing-comma", Span::gap(gap), message).with_suggestion(
        "separate them",
        Span::gap(gap),
        ",",
    )
}

/// The text does not begin with a version word; something else stands at `span`.
pub(super) fn header(c: &Cursor, span: Span) -> Diagnostic {
    let found = excerpt(c.text, span);
    let word = &c.text[span.start as usize..span.end as usize];
    let d = Diagnostic::error("no-header", span, format!("a version word is expected, found `{found}`"));
    let stages = ["ps", "cs", "il_ps_2_0", "il_cs_2_0"];
    let lower = String::from_utf8_lossy(word).to_ascii_lowercase();
    let meant = match grammar::nearest(&lower, stages.into_iter()) {
        Some("ps" | "il_ps_2_0") => Some("il_ps_2_0"),
        Some(_) => Some("il_cs_2_0"),
        None if lower.starts_with("ps_") || lower.starts_with("il_ps_") => Some("il_ps_2_0"),
        None if lower.starts_with("cs_") || lower.starts_with("il_cs_") => Some("il_cs_2_0"),
        None => None,
    };
    let known = |prefix: &str| lower.starts_with(prefix);
    if let Some(meant) = meant.filter(|_| known("il_") || known("ps") || known("cs")) {
        return d.with_suggestion(format!("did you mean `{meant}`?"), span, meant);
    }
    d.with_note(match c.text {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "this is UTF-16; a kernel is text of one byte a character",
        [0x7F, b'E', b'L', b'F', ..] => "this is an image, not the text of a kernel",
        _ if matches!(c.peek(), b'"' | b'\'') => "the quotation marks of a C string are not part of the text",
        _ if foreign_comment(c, false).is_some() => "comments begin with `;`",
        _ => "a program starts with `il_ps_2_0` (pixel) or `il_cs_2_0` (compute)",
    })
}

/// A character that begins no statement.
fn unexpected(c: &Cursor) -> Diagnostic {
    let message = format!("{} cannot begin a statement", character(c));
    let d = Diagnostic::error("unexpected-character", c.span_here(), message);
    let note = match c.peek() {
        b'"' | b'\'' => "the quotation marks of a C string are not part of the text",
        b'\\' if matches!(c.byte(c.at + 1), b'n' | b'r' | b't') => {
            "white space is meant: here stand a backslash and a letter, escaped once too often"
        }
        b'{' | b'}' => {
            "there are no braces: `if_logicalnz` … `endif`, `whileloop` … `endloop`, `func` … `endfunc`"
        }
        b',' => "a comma separates operands, and a statement takes none behind its last",
        b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'&' | b'|' | b'^' | b'%' | b'!' | b'~' | b'=' => {
            "there are no expressions: every operation is an instruction, such as `add r0, r1, r2`"
        }
        0x80.. => WORD_PROCESSOR,
        _ => return d,
    };
    d.with_note(note)
}

/// Why characters beyond ASCII stand in a kernel.
const WORD_PROCESSOR: &str =
    "it may have come from a web page or a word processor; only comments may hold it";

/// The character here, for a message.
fn character(c: &Cursor) -> String {
    match c.character() {
        None => format!("the byte 0x{:02X}", c.peek()),
        Some('\u{a0}') => "a no-break space (U+00A0)".into(),
        Some(ch) if !ch.is_ascii() => format!("`{ch}` (U+{:04X})", u32::from(ch)),
        Some(ch) if ch.is_control() => format!("the control character 0x{:02X}", u32::from(ch)),
        Some(ch) => format!("`{ch}`"),
    }
}

/// What stands in the parentheses of `_name(…)` is no argument of it.
pub(super) fn argument(c: &mut Cursor, name: &str, span: Span) -> Box<Diagnostic> {
    if span.start == span.end {
        // With the parenthesis before, and what stands in its place, if anything does.
        let place =
            Span { start: span.start.saturating_sub(1), end: (span.start + 1).min(c.text.len() as u32) };
        let message = format!("`_{name}` has an empty argument");
        return Box::new(Diagnostic::error("specifier-argument", place, message));
    }
    let text = &c.text[span.start as usize..span.end as usize];
    let words = grammar::words_of(name);
    let parts: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).collect();
    // A register stands in no argument: the parenthesis is not closed, and operands have been taken for it.
    let operand = parts.iter().skip(1).find(|part| operand_like(part) && part[0].is_ascii_alphabetic());
    if let Some(operand) = operand {
        let at = text.windows(operand.len()).position(|window| window == *operand).unwrap_or(0);
        let gap = Span::gap(span.start as usize + text[..at].trim_ascii_end().len());
        c.at = gap.start as usize;
        let d = Diagnostic::error("unclosed-specifier", gap, format!("`_{name}(` is not closed"));
        return Box::new(d.with_suggestion("close it", gap, ")"));
    }
    let shown = excerpt(c.text, span);
    let message = format!("`{shown}` is not an argument of `_{name}`");
    let d = Diagnostic::error("specifier-argument", span, message);
    let word = shown.to_ascii_lowercase();
    let known = |part: &[u8]| words.iter().any(|(w, _)| w.as_bytes().eq_ignore_ascii_case(part));
    if parts.len() > 1 && parts.iter().all(|part| known(part) || part[0].is_ascii_digit()) {
        let listed: Vec<_> = parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
        return Box::new(d.with_suggestion("separate them by commas", span, listed.join(",")));
    }
    let relop = RELOPS.iter().find(|(foreign, _)| *foreign == word).map(|&(_, own)| own);
    let meant = relop.filter(|_| name == "relop");
    if let Some(meant) = meant.or_else(|| grammar::nearest(&word, words.iter().map(|&(w, _)| w))) {
        return Box::new(d.with_suggestion(format!("did you mean `{meant}`?"), span, meant));
    }
    let all: Vec<&str> = words.iter().map(|&(w, _)| w).collect();
    Box::new(match all.is_empty() {
        true => d.with_note("a number is expected"),
        false => d.with_note(format!("one of: {}", all.join(", "))),
    })
}

/// Comparisons as other languages write them.
const RELOPS: &[(&str, &str)] = &[
    ("==", "eq"),
    ("!=", "ne"),
    ("neq", "ne"),
    ("<", "lt"),
    ("<=", "le"),
    ("lte", "le"),
    (">", "gt"),
    (">=", "ge"),
    ("gte", "ge"),
];

/// What stands here instead of a number.
pub(super) fn number<T>(c: &Cursor) -> Step<T> {
    let span = c.span_here();
    let found = c.excerpt();
    let d = Diagnostic::error("number-expected", span, format!("a number is expected, found `{found}`"));
    let sign = matches!(c.peek(), b'-' | b'+');
    let word = Cursor { at: c.at + usize::from(sign), ..*c };
    let text = String::from_utf8_lossy(&c.text[word.at..word.word_end()]).to_ascii_lowercase();
    let bits = match text.as_str() {
        "inf" | "infinity" if c.peek() == b'-' => "0xFF800000",
        "inf" | "infinity" => "0x7F800000",
        "nan" => "0x7FC00000",
        _ => return Err(Box::new(d)),
    };
    let all = Span { start: c.at as u32, end: word.word_end() as u32 };
    let d = Diagnostic {
        span: all,
        message: format!("a number is expected, found `{}`", excerpt(c.text, all)),
        ..d
    };
    Err(Box::new(d.with_suggestion("infinities and NaN are written as their bits", all, bits)))
}
