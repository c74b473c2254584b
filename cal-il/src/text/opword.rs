//! Opcode words: the mnemonic, its specifiers in any order, destination modifiers.

use super::ast::{Argument, Ast, Specifier, Statement};
use super::cursor::{Cursor, Step, excerpt, is_word};
use super::grammar::{self, Rules};
use super::mistakes;
use crate::diagnostic::{Diagnostic, Span};
use crate::isa::{Opcode, Scope};

/// Looks up the word here: opcode and length of the mnemonic.
#[inline]
pub(super) fn mnemonic(c: &Cursor) -> Option<(Opcode, usize)> {
    let word = &c.text[c.at..c.word_end()];
    let next = c.byte(c.at + word.len());
    if next == b'(' {
        // `ffb(hi)` has parentheses in its name.
        if word.eq_ignore_ascii_case(b"ffb") {
            let rest = &c.text[c.at..(c.at + 10).min(c.text.len())];
            let end = rest.iter().position(|&b| b == b')')? + 1;
            return grammar::exact(&rest[..end]).map(|opcode| (opcode, end));
        }
        if let Some(stem) = strip_suffix_ignore_case(word, b"_logicop") {
            return logicop(c, stem);
        }
    }
    grammar::longest(word)
}

fn strip_suffix_ignore_case<'w>(word: &'w [u8], suffix: &[u8]) -> Option<&'w [u8]> {
    let at = word.len().checked_sub(suffix.len())?;
    word[at..].eq_ignore_ascii_case(suffix).then_some(&word[..at])
}

/// `break_logicop(ne)` is an old spelling of `break_logicalnz`.
fn logicop(c: &Cursor, stem: &[u8]) -> Option<(Opcode, usize)> {
    let open = c.at + stem.len() + "_logicop".len();
    let rest = &c.text[open..(open + 8).min(c.text.len())];
    let close = rest.iter().position(|&b| b == b')')?;
    let tail: &[u8] = match rest[1..close].trim_ascii().to_ascii_lowercase().as_slice() {
        b"ne" => b"_logicalnz",
        b"eq" => b"_logicalz",
        _ => return None,
    };
    let spelling = [stem, tail].concat();
    grammar::exact(&spelling).map(|opcode| (opcode, open + close + 1 - c.at))
}

/// Reads the opcode word here into `statement`, which is of its kind then and without operands.
#[inline]
pub(super) fn opword(c: &mut Cursor, ast: &mut Ast, statement: &mut Statement) -> Step<()> {
    let start = c.at;
    let Some((opcode, length)) = mnemonic(c) else {
        return Err(mistakes::statement(c, ast));
    };
    c.at += length;
    statement.opcode = opcode;
    statement.specifiers = (ast.specifiers.len() as u32, 0);
    statement.operands = (ast.operands.len() as u32, 0);
    let rules = Rules::of(opcode);
    let mut groups: u32 = 0;
    loop {
        if c.peek() == b'_' {
            specifier(c, ast, statement, rules, &mut groups)?;
        } else if c.peek() == b'(' && rules.specifiers.iter().any(|s| s.name.is_empty()) {
            let at = c.at;
            let rule = &rules.specifiers[rules.specifiers.len() - 1];
            add(c, ast, statement, rule, at, &mut groups)?;
            if opcode == Opcode::Mcall {
                break;
            }
        } else {
            // White space may stand before a specifier, nothing else begins with an underscore.
            let mut ahead = *c;
            ahead.skip_space();
            if ahead.peek() != b'_' || ahead.at == c.at {
                break;
            }
            *c = ahead;
        }
    }
    statement.word = c.span_from(start);
    if opcode != Opcode::Mcall && (is_word(c.peek()) || c.peek() == b'(') {
        return Err(mistakes::specifier(c, c.at, opcode));
    }
    for &group in &rules.required {
        if groups & 1 << group == 0 && opcode.row().scope == Scope::Compute {
            let names: Vec<String> = rules
                .specifiers
                .iter()
                .filter(|s| s.group == group)
                .map(|s| if s.arguments { format!("`_{}(…)`", s.name) } else { format!("`_{}`", s.name) })
                .collect();
            let message = format!("`{}` needs {}", opcode.mnemonic(), names.join(" or "));
            let d = Diagnostic::error("missing-specifier", statement.word, message);
            return Err(Box::new(d.with_note(format!("it is written `{}`", grammar::usage(opcode)))));
        }
    }
    Ok(())
}

/// Reads one specifier or destination modifier at a `_`.
fn specifier(
    c: &mut Cursor,
    ast: &mut Ast,
    statement: &mut Statement,
    rules: &'static Rules,
    groups: &mut u32,
) -> Step<()> {
    let start = c.at;
    let word = &c.text[start + 1..Cursor { text: c.text, at: start }.word_end()];
    let ends = |name: &str| {
        let next = word.get(name.len()).copied().unwrap_or(0);
        word.len() >= name.len()
            && word[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && (next == b'_' || next == 0)
    };
    for rule in &rules.specifiers {
        // `_x(…)` of a declaration and `_x2` of a destination are told apart by the parenthesis.
        if !rule.name.is_empty()
            && ends(rule.name)
            && (c.byte(start + 1 + rule.name.len()) == b'(') == rule.arguments
        {
            c.at = start + 1 + rule.name.len();
            return add(c, ast, statement, rule, start, groups);
        }
    }
    if rules.usage_word {
        let usage = grammar::words_of("usage")
            .iter()
            .filter(|(name, _)| ends(name))
            .max_by_key(|(name, _)| name.len());
        if let Some(&(name, canonical)) = usage {
            c.at = start + 1 + name.len();
            let first = ast.arguments.len() as u32;
            ast.arguments.push(Argument::Word(canonical));
            return push(c, ast, statement, "usage", (first, 1), start);
        }
    }
    if rules.any_word {
        c.at = start + 1 + word.len();
        let first = ast.arguments.len() as u32;
        let other = intern(ast, word);
        ast.arguments.push(Argument::Other(other));
        return push(c, ast, statement, "word", (first, 1), start);
    }
    for (name, scale) in [("x2", 1), ("x4", 2), ("x8", 3), ("d2", -1), ("d4", -2), ("d8", -3)] {
        if ends(name) {
            c.at = start + 3;
            if statement.scale != 0 {
                return Err(twice(c, start));
            }
            statement.scale = scale;
            return Ok(());
        }
    }
    if ends("sat") {
        c.at = start + 4;
        if statement.saturate {
            return Err(twice(c, start));
        }
        statement.saturate = true;
        return Ok(());
    }
    if ends("prec") {
        c.at = start + 5;
        statement.precise = precise(c)?;
        return Ok(());
    }
    Err(mistakes::specifier(c, start, statement.opcode))
}

fn precise(c: &mut Cursor) -> Step<u8> {
    if !c.eat(b'(') {
        return Ok(15);
    }
    let start = c.at;
    let mut bits = 0;
    while let Some(k) = b"xyzw".iter().position(|&l| l == c.peek() | 0x20) {
        bits |= 1 << k;
        c.at += 1;
    }
    if bits == 0 || !c.eat(b')') {
        return Err(Box::new(Diagnostic::error(
            "specifier-argument",
            c.span_from(start),
            "`_prec` takes components: `_prec(xyz)`",
        )));
    }
    Ok(bits)
}

/// Adds a specifier whose name has been read.
fn add(
    c: &mut Cursor,
    ast: &mut Ast,
    statement: &mut Statement,
    rule: &'static grammar::SpecRule,
    start: usize,
    groups: &mut u32,
) -> Step<()> {
    if *groups & 1 << rule.group != 0 {
        return Err(twice(c, start));
    }
    *groups |= 1 << rule.group;
    let first = ast.arguments.len() as u32;
    if rule.arguments {
        arguments(c, ast, rule.name, statement.opcode)?;
    }
    let count = (ast.arguments.len() as u32 - first).min(255) as u8;
    push(c, ast, statement, rule.name, (first, count), start)
}

fn push(
    c: &Cursor,
    ast: &mut Ast,
    statement: &mut Statement,
    name: &'static str,
    arguments: (u32, u8),
    start: usize,
) -> Step<()> {
    if name == "usage" && ast.specifiers(statement).iter().any(|s| s.name == "usage") {
        return Err(twice(c, start));
    }
    ast.specifiers.push(Specifier { name, arguments, span: c.span_from(start) });
    statement.specifiers.1 += 1;
    Ok(())
}

/// Reads `(a, b, …)`.
fn arguments(c: &mut Cursor, ast: &mut Ast, name: &'static str, opcode: Opcode) -> Step<()> {
    let open = c.at;
    c.at += 1;
    let mut end = c.at;
    for _ in 0..8 {
        c.skip_space();
        let start = c.at;
        while !c.at_end() && !matches!(c.peek(), b',' | b')' | b';' | b'\n' | b'(') {
            c.at += 1;
        }
        let raw = &c.text[start..c.at];
        let text = raw.trim_ascii();
        if text.is_empty() && !matches!(c.peek(), b',' | b')') {
            break;
        }
        let span = Span { start: start as u32, end: (start + text.len()) as u32 };
        let argument = argument(c, ast, name, opcode, text, span)?;
        ast.arguments.push(argument);
        end = span.end as usize;
        c.skip_space();
        if c.eat(b')') {
            return Ok(());
        }
        if !c.eat(b',') {
            break;
        }
        end = c.at;
    }
    c.at = end;
    let opened = Span { start: open as u32, end: open as u32 + 1 };
    let d = Diagnostic::error("unclosed-specifier", Span::gap(end), "`)` is missing");
    let d = d.with_label(opened, format!("the argument of `_{name}` begins here"));
    Err(Box::new(d.with_suggestion("close it", Span::gap(end), ")")))
}

fn argument(
    c: &mut Cursor,
    ast: &mut Ast,
    name: &'static str,
    opcode: Opcode,
    text: &[u8],
    span: Span,
) -> Step<Argument> {
    let words = grammar::words_of(name);
    if let Some(&(_, canonical)) = words.iter().find(|(w, _)| w.as_bytes().eq_ignore_ascii_case(text)) {
        return Ok(Argument::Word(canonical));
    }
    let mut number = Cursor { text: &c.text[..span.end as usize], at: span.start as usize };
    if words.is_empty() && number.at_number() {
        let value = number.number()?;
        if number.at == span.end as usize {
            return Ok(Argument::Number(value));
        }
    }
    if opcode.row().scope == Scope::Graphics && !text.is_empty() {
        return Ok(Argument::Other(intern(ast, text)));
    }
    Err(mistakes::argument(c, name, span))
}

/// Keeps a word that no table lists.
pub(super) fn intern(ast: &mut Ast, word: &[u8]) -> u32 {
    ast.words.push(String::from_utf8_lossy(&word[..word.len().min(64)]).to_ascii_lowercase());
    ast.words.len() as u32 - 1
}

fn twice(c: &Cursor, start: usize) -> Box<Diagnostic> {
    let span = c.span_from(start);
    Box::new(Diagnostic::error(
        "specifier-twice",
        span,
        format!("`{}` repeats or contradicts an earlier one", excerpt(c.text, span)),
    ))
}
