//! What is wrong where an operand, its modifiers or the specifiers of an instruction should be.

use super::*;

/// What is wrong where an operand should begin.
pub(in crate::text) fn operand(c: &Cursor) -> Box<Diagnostic> {
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
    operand::source(&mut inner, &mut Vec::new()).ok()?;
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
pub(in crate::text) fn modifier(c: &Cursor) -> Box<Diagnostic> {
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
pub(in crate::text) fn specifier(c: &Cursor, start: usize, opcode: Opcode) -> Box<Diagnostic> {
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
