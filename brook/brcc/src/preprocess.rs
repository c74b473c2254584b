//! The preprocessor lines that brcc reads with `-pp`: `#define` of plain names, `#undef`, `#ifdef`, `#ifndef`, `#if` of a number or
//! of a macro that is one, `#else`, `#endif`.
//!
//! Input: a source. Output: a source of as many lines, in which macros are replaced and left-out lines empty, and where each
//! part of it came from.

use std::collections::HashMap;
use std::ops::Range;

use crate::diagnostic::{Report, Span};
use crate::lex::is_word;

/// Rounds of replacement on one line: macros that name each other would go on for ever.
const ROUNDS: u32 = 100;
/// Longest line after replacement.
const LONGEST: usize = 1 << 16;
/// Words of macros that are looked at in a whole file.
const WORDS: u32 = 4 << 20;

struct Condition {
    /// What stands around is read.
    outer: bool,
    taken: bool,
    otherwise: bool,
    span: Span,
}

/// A source without macros.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The source.
    pub text: String,
    /// Its parts in order: where each begins here, and what it was.
    parts: Vec<(u32, Origin)>,
}

/// What a part of an expanded source was.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// The same text, from this byte on.
    Copied(u32),
    /// A macro's name.
    Macro(Span),
}

impl Expanded {
    fn push(&mut self, text: &str, origin: Origin) {
        self.parts.push((self.text.len() as u32, origin));
        self.text.push_str(text);
    }

    /// Where a byte stood: the range of it, or of the macro that it came from.
    fn byte(&self, at: u32) -> Span {
        let part = self.parts.partition_point(|p| p.0 <= at).checked_sub(1).map(|i| self.parts[i]);
        match part {
            Some((first, Origin::Copied(start))) => {
                Span { start: start + (at - first), end: start + (at - first) + 1 }
            }
            Some((_, Origin::Macro(span))) => span,
            None => Span::default(),
        }
    }

    /// A range of the text, in the source.
    pub fn origin(&self, span: Span) -> Span {
        let start = self.byte(span.start).start;
        let end = if span.end > span.start { self.byte(span.end - 1).end } else { start };
        Span { start, end: end.max(start) }
    }
}

/// Does what the lines ask for.
pub fn preprocess(source: &str, defines: &[(String, String)], report: &mut Report) -> Expanded {
    let mut macros: HashMap<String, String> = defines.iter().cloned().collect();
    let mut conditions: Vec<Condition> = Vec::new();
    let mut out = Expanded::default();
    let mut in_comment = false;
    let mut offset = 0u32;
    let mut words = WORDS;
    for line in source.split_inclusive('\n') {
        let start = offset;
        let span = Span { start, end: start + line.trim_end().len() as u32 };
        offset += line.len() as u32;
        let text = line.trim_end_matches(['\n', '\r']);
        let active = conditions.last().is_none_or(|c| c.outer && c.taken);
        if !in_comment && text.trim_start().starts_with('#') {
            directive(text.trim_start()[1..].trim(), span, active, &mut macros, &mut conditions, report);
        } else if active {
            if out.text.len() > crate::LONGEST {
                break;
            }
            if !expand(text, start, &macros, &mut in_comment, &mut words, &mut out) {
                report.error("macro", span, "macros on this line replace each other without end");
            }
        } else {
            // Comments may begin and end in what is left out.
            pieces(text, &mut in_comment, |_, _| {});
        }
        // The last line may have no end.
        if line.ends_with('\n') {
            out.push("\n", Origin::Copied(start + text.len() as u32));
        }
    }
    for open in conditions {
        report.error("preprocessor", open.span, "the condition is not closed: `#endif` is missing");
    }
    out
}

fn directive(
    text: &str,
    span: Span,
    active: bool,
    macros: &mut HashMap<String, String>,
    conditions: &mut Vec<Condition>,
    report: &mut Report,
) {
    let Some(text) = uncommented(text) else {
        report.error("comment", span, "a comment on a preprocessor line ends on it");
        return;
    };
    let (word, rest) = split_word(text.trim());
    let (name, value) = split_word(rest.trim());
    match word {
        "ifdef" | "ifndef" | "if" => {
            let taken = if !active {
                // What is left out is not looked at.
                Some(true)
            } else if name.is_empty() && (word != "if" || rest.trim().is_empty()) {
                report.error("preprocessor", span, format!("`#{word}` names nothing"));
                None
            } else if word == "if" {
                condition(rest.trim(), macros, span, report)
            } else {
                Some(macros.contains_key(name) == (word == "ifdef"))
            };
            conditions.push(Condition {
                outer: active,
                taken: taken.unwrap_or(true),
                otherwise: false,
                span,
            });
        }
        "else" => match conditions.last_mut() {
            Some(c) if !c.otherwise => {
                c.otherwise = true;
                c.taken = !c.taken;
            }
            Some(_) => report.error("preprocessor", span, "a second `#else`"),
            None => report.error("preprocessor", span, "`#else` without `#if`"),
        },
        "endif" => {
            if conditions.pop().is_none() {
                report.error("preprocessor", span, "`#endif` without `#if`");
            }
        }
        _ if !active => {}
        "define" if name.is_empty() => report.error("preprocessor", span, "`#define` names nothing"),
        "define" if value.starts_with('(') => {
            report.error("preprocessor", span, "macros take no arguments");
        }
        "define" if text.ends_with('\\') => report.error("preprocessor", span, "a macro has one line"),
        "define" => {
            if macros.insert(name.to_owned(), value.trim().replace("##", "")).is_some() {
                report.warn(0, "macro", span, format!("`{name}` is defined again"));
            }
        }
        "undef" if name.is_empty() => report.error("preprocessor", span, "`#undef` names nothing"),
        "undef" => {
            macros.remove(name);
        }
        "" => {}
        other => {
            let message = format!("brcc does not read `#{other}`");
            report.error_note(
                "preprocessor",
                span,
                message,
                "without `-pp` such lines go to the C++ compiler",
            );
        }
    }
}

fn condition(text: &str, macros: &HashMap<String, String>, span: Span, report: &mut Report) -> Option<bool> {
    let value = if text.bytes().all(|b| b.is_ascii_digit()) {
        text
    } else if text.bytes().all(is_word) {
        match macros.get(text) {
            Some(value) => value.as_str(),
            None => {
                report.error("preprocessor", span, format!("`{text}` is not defined"));
                return None;
            }
        }
    } else {
        report.error("preprocessor", span, "`#if` takes a number or a macro that is one");
        return None;
    };
    if value.is_empty() || !value.bytes().all(|b| b.is_ascii_digit()) {
        report.error("preprocessor", span, format!("`{value}` is not a whole number"));
        return None;
    }
    Some(value.bytes().any(|b| b != b'0'))
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|b| !is_word(b)).unwrap_or(text.len());
    text.split_at(end)
}

/// A directive without its comments; nothing if one goes on.
fn uncommented(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        if rest[at..].starts_with("//") {
            rest = &rest[..at];
            break;
        }
        if rest[at..].starts_with("/*") {
            let end = rest[at + 2..].find("*/")?;
            out.push_str(&rest[..at]);
            out.push(' ');
            rest = &rest[at + 2 + end + 2..];
        } else {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Replaces the macros of a line; false if that does not end.
fn expand(
    line: &str,
    offset: u32,
    macros: &HashMap<String, String>,
    in_comment: &mut bool,
    words: &mut u32,
    out: &mut Expanded,
) -> bool {
    let first = out.text.len();
    let mut copied = 0;
    let mut ends = true;
    let mut open = false;
    pieces(line, in_comment, |at, word| {
        let Some(value) = word.then(|| macros.get(&line[at.clone()])).flatten() else { return };
        if copied < at.start {
            out.push(&line[copied..at.start], Origin::Copied(offset + copied as u32));
        }
        let span = Span { start: offset + at.start as u32, end: offset + at.end as u32 };
        match value_of(value, macros, words, &mut open) {
            Some(text) if out.text.len() - first + text.len() <= LONGEST => {
                out.push(&text, Origin::Macro(span))
            }
            _ => ends = false,
        }
        copied = at.end;
    });
    *in_comment |= open;
    if copied < line.len() {
        out.push(&line[copied..], Origin::Copied(offset + copied as u32));
    }
    ends
}

/// The text of a macro, its macros replaced until nothing changes; nothing if that does not end.
fn value_of(
    value: &str,
    macros: &HashMap<String, String>,
    words: &mut u32,
    open: &mut bool,
) -> Option<String> {
    let mut text = value.to_owned();
    for _ in 0..ROUNDS {
        let (mut next, mut copied, mut changed) = (String::with_capacity(text.len()), 0, false);
        let mut in_comment = false;
        pieces(&text, &mut in_comment, |at, word| {
            let Some(value) = word.then(|| macros.get(&text[at.clone()])).flatten() else { return };
            *words = words.saturating_sub(1);
            if next.len() <= LONGEST && *words > 0 {
                next.push_str(&text[copied..at.start]);
                next.push_str(value);
            }
            changed |= *value != text[at.clone()];
            copied = at.end;
        });
        next.push_str(&text[copied..]);
        text = next;
        if text.len() > LONGEST || *words == 0 {
            return None;
        }
        if !changed {
            *open |= in_comment;
            return Some(text);
        }
    }
    None
}

/// Parts of a line: comments, strings, words (told as such), anything else.
fn pieces(line: &str, in_comment: &mut bool, mut each: impl FnMut(Range<usize>, bool)) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut word = false;
        if *in_comment {
            let end = line[at..].find("*/");
            *in_comment = end.is_none();
            at = end.map_or(bytes.len(), |e| at + e + 2);
        } else if line[at..].starts_with("/*") {
            *in_comment = true;
            at += 2;
        } else if line[at..].starts_with("//") {
            at = bytes.len();
        } else if matches!(bytes[at], b'"' | b'\'') {
            let quote = bytes[at];
            at += 1;
            while at < bytes.len() && bytes[at] != quote {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            while !line.is_char_boundary(at) {
                at += 1;
            }
        } else if is_word(bytes[at]) {
            word = true;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
        } else {
            at += 1;
            while !line.is_char_boundary(at) {
                at += 1;
            }
        }
        each(start..at, word);
    }
}
