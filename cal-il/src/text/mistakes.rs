//! What is written instead of IL: signs and words of other languages, forgotten commas, misspellings. Each becomes an
//! error that shows the spelling that is meant.

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

/// What is wrong where an operand should begin.
pub(super) fn operand(c: &Cursor) -> Box<Diagnostic> {
    let span = c.span_here();
    if c.at_end() {
        return Box::new(Diagnostic::error("truncated", span, "the text ends where an operand is expected"));
    }
    if let Some(found) = foreign_comment(c, true) {
        return comment(c, &found);
    }
    if c.at_number() {
        return Box::new(immediate(c));
    }
    Box::new(if is_word(c.peek()) { operand_word(c, span) } else { operand_sign(c, span) })
}

/// A number in the place of a register.
fn immediate(c: &Cursor) -> Diagnostic {
    let mut end = c.at + 1;
    while is_word(c.byte(end)) || c.byte(end) == b'.' && end < c.text.len() {
        end += 1;
    }
    let span = Span { start: c.at as u32, end: end as u32 };
    let n = excerpt(c.text, span);
    Diagnostic::error("immediate-operand", span, "an instruction takes no number as operand")
        .with_note(format!("declare a literal, `dcl_literal l0, {n}, {n}, {n}, {n}`, and read `l0`"))
}

/// The register operand at an offset, as text, and the offset behind it.
fn register_at<'t>(c: &Cursor<'t>, at: usize) -> Option<(&'t str, usize)> {
    let mut inner = Cursor { text: c.text, at };
    inner.skip_space();
    let start = inner.at;
    let letters = c.text[start..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
    registers::file(&c.text[start..start + letters])?;
    operand::source(&mut inner).ok()?;
    Some((std::str::from_utf8(&c.text[start..inner.at]).ok()?, inner.at))
}

/// A sign before a register, or none.
fn operand_sign(c: &Cursor, span: Span) -> Diagnostic {
    let sign = c.peek();
    let following = register_at(c, c.at + 1);
    let error = |message: &str| Diagnostic::error("operand-sign", span, message);
    match (sign, following) {
        (b'-', Some((register, end))) => {
            let all = Span { start: span.start, end: end as u32 };
            error("a register takes no sign: negation is a modifier behind it").with_suggestion(
                "write it so",
                all,
                format!("{register}_neg(xyzw)"),
            )
        }
        (b'|', Some((register, end))) if c.byte(end) == b'|' => {
            let all = Span { start: span.start, end: end as u32 + 1 };
            error("the absolute value is a modifier behind the register").with_suggestion(
                "write it so",
                all,
                format!("{register}_abs"),
            )
        }
        (b'!' | b'~', Some(_)) => error("a register takes no sign before it")
            .with_note("`inot` inverts bits; the modifier of `r0_invert` gives 1 - r0"),
        (b'+' | b'%' | b'$' | b'@' | b'&' | b'*', Some(_)) => {
            error("a register takes no sign before it").with_suggestion("leave it out", span, "")
        }
        (b'(', Some((register, end))) if c.byte(end) == b')' => {
            let all = Span { start: span.start, end: end as u32 + 1 };
            error("operands stand without parentheses").with_suggestion("write it so", all, register)
        }
        _ => {
            let message = format!("an operand is expected, found {}", character(c));
            let d = Diagnostic::error("unknown-register", span, message);
            if sign.is_ascii() { d } else { d.with_note(WORD_PROCESSOR) }
        }
    }
}

fn operand_word(c: &Cursor, span: Span) -> Diagnostic {
    let word = &c.text[c.at..c.word_end()];
    let shown = excerpt(c.text, span);
    if let Some(d) = modifier_as_function(c, word) {
        return d;
    }
    if grammar::longest(word).is_some() {
        let message = format!("an operand is expected before `{shown}`");
        return Diagnostic::error("missing-operand", span, message);
    }
    let d = Diagnostic::error("unknown-register", span, format!("`{shown}` is not a register"));
    let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let name = String::from_utf8_lossy(&word[..letters]);
    let lower = name.to_ascii_lowercase();
    if let Some((_, note)) = FOREIGN_REGISTERS.iter().find(|(foreign, _)| *foreign == lower) {
        return d.with_note(*note);
    }
    match grammar::nearest(&name, registers::names()) {
        Some(near) if letters > 2 => {
            let place = Span { start: span.start, end: span.start + letters as u32 };
            d.with_suggestion(format!("did you mean `{near}`?"), place, near)
        }
        _ => {
            d.with_note("registers are `r0`, `l0`, `cb0[0]`, `x0[0]`, `v0`, `o0`, `g[r0.x]`, `vWinCoord0`, …")
        }
    }
}

/// `abs(r1)` for `r1_abs`.
fn modifier_as_function(c: &Cursor, word: &[u8]) -> Option<Diagnostic> {
    let lower = String::from_utf8_lossy(word).to_ascii_lowercase();
    let meant = source_modifier(&lower)?;
    let mut open = Cursor { at: c.word_end(), ..*c };
    open.skip_space();
    if !open.eat(b'(') {
        return None;
    }
    let span = Span { start: c.at as u32, end: open.at as u32 };
    let d = Diagnostic::error("operand-sign", span, format!("`{lower}` is a modifier behind the register"));
    let Some((register, end)) = register_at(c, open.at) else { return Some(d) };
    let mut close = Cursor { at: end, ..*c };
    close.skip_space();
    if !close.eat(b')') {
        return Some(d);
    }
    let all = Span { start: span.start, end: close.at as u32 };
    Some(d.with_suggestion("write it so", all, format!("{register}{meant}")))
}

/// The source modifier that a word stands for, as it is written.
fn source_modifier(word: &str) -> Option<&'static str> {
    Some(match word {
        "neg" | "negate" | "negated" | "negative" | "minus" => "_neg(xyzw)",
        "abs" | "absolute" | "fabs" | "mag" | "magnitude" => "_abs",
        "sat" | "saturate" | "saturated" | "clamp" => "_sat",
        "inv" | "invert" | "inverse" | "inverted" | "complement" => "_invert",
        _ => return None,
    })
}

/// The part of a word from a `_` to the next.
fn part_of(c: &Cursor, start: usize) -> Span {
    let mut end = start + 1;
    while is_word(c.byte(end)) && c.byte(end) != b'_' {
        end += 1;
    }
    Span { start: start as u32, end: end as u32 }
}

/// What stands at this `_` behind a register is no modifier.
pub(super) fn modifier(c: &Cursor) -> Box<Diagnostic> {
    let span = part_of(c, c.at);
    let shown = excerpt(c.text, span);
    let d = Diagnostic::error("unknown-modifier", span, format!("`{shown}` is not a source modifier"));
    let word = shown.trim_start_matches('_').to_ascii_lowercase();
    let scale = matches!(word.as_str(), "x4" | "x8" | "d2" | "d4" | "d8");
    let near = || grammar::nearest(&word, modifier_names().filter(|_| !scale)).map(|near| format!("_{near}"));
    if let Some(meant) = source_modifier(&word).map(str::to_string).or_else(near) {
        return Box::new(d.with_suggestion(format!("did you mean `{meant}`?"), span, meant));
    }
    Box::new(d.with_note(match scale {
        true => "scales stand on the instruction and change its result: `add_x4 r0, r1, r2`",
        false => "sources take `_neg(xyzw)`, `_abs`, `_invert`, `_bias`, `_x2`, `_bx2`, `_sign`, `_divComp(y)`, `_sat`",
    }))
}

/// What stands at `start`, behind a mnemonic, is no specifier of it.
pub(super) fn specifier(c: &Cursor, start: usize, opcode: Opcode) -> Box<Diagnostic> {
    let at = Cursor { text: c.text, at: start };
    let span = if at.peek() == b'_' { part_of(c, start) } else { at.span_here() };
    let name = opcode.mnemonic();
    let shown = excerpt(c.text, span);
    let d = Diagnostic::error("unknown-specifier", span, format!("`{name}` does not take `{shown}`"));
    let word = shown.trim_start_matches('_').to_ascii_lowercase();
    let meant = match word.as_str() {
        "saturate" | "saturated" | "clamp" | "clamp01" => Some("sat"),
        "mul2" | "times2" => Some("x2"),
        "div2" | "half" => Some("d2"),
        _ => None,
    };
    let specifiers = Rules::of(opcode).specifiers.iter().map(|s| s.name).filter(|name| !name.is_empty());
    let near = || grammar::nearest(&word, specifiers.clone().chain(["sat"]));
    if let Some(meant) = meant.or_else(near) {
        return Box::new(d.with_suggestion(format!("did you mean `_{meant}`?"), span, format!("_{meant}")));
    }
    if let Some(modifier) = source_modifier(&word) {
        return Box::new(d.with_note(format!("it stands behind a source: `r0{modifier}`")));
    }
    // The whole word may be another mnemonic, misspelt.
    let begin = c.text[..start].iter().rposition(|&b| !is_word(b)).map_or(0, |p| p + 1);
    let whole = Cursor { text: c.text, at: begin };
    let word = String::from_utf8_lossy(&c.text[begin..whole.word_end()]).into_owned();
    match grammar::nearest(&word, grammar::mnemonics()) {
        Some(near) if near != name => {
            Box::new(d.with_suggestion(format!("did you mean `{near}`?"), whole.span_here(), near))
        }
        _ => {
            let takes: Vec<String> = specifiers.map(|name| format!("`_{name}`")).collect();
            Box::new(if takes.is_empty() { d } else { d.with_note(format!("it takes {}", takes.join(", "))) })
        }
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

/// Words of other languages and assemblers for instructions.
pub(super) const FOREIGN_INSTRUCTIONS: &[(&str, &str)] = &[
    ("if", "if_logicalnz"),
    ("ifz", "if_logicalz"),
    ("elif", "else"),
    ("elseif", "else"),
    ("fi", "endif"),
    ("while", "whileloop"),
    ("for", "whileloop"),
    ("do", "whileloop"),
    ("rep", "whileloop"),
    ("endwhile", "endloop"),
    ("endfor", "endloop"),
    ("endrep", "endloop"),
    ("done", "endloop"),
    ("breakif", "break_logicalnz"),
    ("return", "ret"),
    ("exit", "ret_dyn"),
    ("function", "func"),
    ("endfunction", "endfunc"),
    ("or", "ior"),
    ("xor", "ixor"),
    ("not", "inot"),
    ("shl", "ishl"),
    ("shr", "ushr"),
    ("sar", "ishr"),
    ("lshl", "ishl"),
    ("lshr", "ushr"),
    ("ashr", "ishr"),
    ("fadd", "add"),
    ("fmul", "mul"),
    ("fsub", "sub"),
    ("fdiv", "div"),
    ("f2i", "ftoi"),
    ("f2u", "ftou"),
    ("i2f", "itof"),
    ("u2f", "utof"),
    ("barrier", "fence_threads_lds"),
    ("sync", "fence_threads_lds"),
    ("tex", "sample"),
    ("texture", "sample"),
    ("dcl_group_size", "dcl_num_thread_per_group"),
    ("dcl_constant_buffer", "dcl_cb"),
    ("dcl_texture", "dcl_resource"),
];

/// Words of other languages and assemblers for registers, and what there is instead.
const FOREIGN_REGISTERS: &[(&str, &str)] = &[
    ("t", "resources are no operands: `sample_resource(0)_sampler(0) r0, v0.xy`"),
    ("tex", "resources are no operands: `sample_resource(0)_sampler(0) r0, v0.xy`"),
    ("s", "samplers are no operands: `sample_resource(0)_sampler(0) r0, v0.xy`"),
    ("u", "UAVs are no operands: `uav_raw_load_id(0) r0, r1.x`"),
    ("uav", "UAVs are no operands: `uav_raw_load_id(0) r0, r1.x`"),
    ("lds", "LDS is no operand: `lds_load_id(0) r0.x, r1.x`"),
    ("gds", "GDS is no operand: `gds_load_id(0) r0.x, r1.x`"),
    ("temp", "temporaries are `r0`, `r1`, …; they need no declaration"),
    ("tmp", "temporaries are `r0`, `r1`, …; they need no declaration"),
    ("tid", "thread numbers are `vTidInGrp` in the group, `vAbsTid` of all; `vAbsTidFlat` counts through"),
    (
        "threadid",
        "thread numbers are `vTidInGrp` in the group, `vAbsTid` of all; `vAbsTidFlat` counts through",
    ),
    ("blockid", "group numbers are `vThreadGrpId` and, counted through, `vThreadGrpIdFlat`"),
    ("groupid", "group numbers are `vThreadGrpId` and, counted through, `vThreadGrpIdFlat`"),
];
