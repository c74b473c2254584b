//! Operands: registers with index, mask or swizzle, and modifiers.

use super::ast::{File, Index, Modifiers, Operand, OperandKind, Register, Select, Write};
use super::cursor::{Cursor, Step, is_word};
use super::{grammar, mistakes, registers};
use crate::diagnostic::{Diagnostic, Span};

/// Largest register number: the binary form has 16 bits.
pub(super) const MAX_REGISTER: u32 = 65535;

const IDENTITY: [Select; 4] = [Select::X, Select::Y, Select::Z, Select::W];

/// Reads a destination, register and mask, to the end of `out`: an operand is made where it stays, since a processor waits
/// for what it copies right after it was put together.
#[inline]
pub(super) fn destination(c: &mut Cursor, out: &mut Vec<Operand>) -> Step<()> {
    let start = c.at;
    let register = register(c)?;
    destination_of(c, start, register, out)
}

#[inline]
fn destination_of(c: &mut Cursor, start: usize, register: Register, out: &mut Vec<Operand>) -> Step<()> {
    let mut mask = [Write::Result; 4];
    if c.peek() == b'.' {
        let suffix = suffix(c, true)?;
        mask = parse_mask(c, suffix)?;
    }
    if c.peek() == b'_' && !c.at_end() {
        return Err(Box::new(
            Diagnostic::error(
                "destination-modifier",
                c.span_here(),
                "a destination takes no modifiers after it",
            )
            .with_note("write scale and saturation on the opcode, for example `add_x2_sat`"),
        ));
    }
    out.push(Operand { kind: OperandKind::Destination { register, mask }, span: c.span_from(start) });
    Ok(())
}

/// Reads a source, register, swizzle and modifiers, to the end of `out`. `mem` is a destination wherever it stands.
#[inline]
pub(super) fn source(c: &mut Cursor, out: &mut Vec<Operand>) -> Step<()> {
    let start = c.at;
    let register = register(c)?;
    if register.file == File::Mem {
        return destination_of(c, start, register, out);
    }
    let mut swizzle = IDENTITY;
    let mut given = 4;
    let mut modifiers = Modifiers::default();
    let mut swizzled = false;
    loop {
        match c.peek() {
            b'.' if !swizzled => {
                swizzled = true;
                let suffix = suffix(c, false)?;
                (swizzle, given) = parse_swizzle(c, suffix);
            }
            b'.' => {
                return Err(Box::new(Diagnostic::error(
                    "swizzle-twice",
                    c.span_here(),
                    "a source has one swizzle",
                )));
            }
            b'_' => modifier(c, &mut modifiers)?,
            _ => break,
        }
    }
    let span = c.span_from(start);
    out.push(Operand { kind: OperandKind::Source { register, swizzle, given, modifiers }, span });
    Ok(())
}

/// Reads a register with its number and index.
#[inline(always)]
fn register(c: &mut Cursor) -> Step<Register> {
    let Some((file, number)) = plain_register(c)? else { return Err(mistakes::operand(c)) };
    let index = if c.peek() == b'[' { Some(index(c)?) } else { None };
    if index.is_some() && c.peek() == b'[' {
        return Err(Box::new(
            Diagnostic::error("index-twice", c.span_here(), "a register has one index")
                .with_note("two-dimensional registers need a graphics pipeline"),
        ));
    }
    Ok(Register { file, number, index })
}

/// Reads file and number; `None`, without going on, if no register stands here.
#[inline(always)]
fn plain_register(c: &mut Cursor) -> Step<Option<(File, Option<u32>)>> {
    let start = c.at;
    while c.peek().is_ascii_alphabetic() {
        c.at += 1;
    }
    let name = &c.text[start..c.at];
    let Some(file) = registers::file(name) else {
        c.at = start;
        return Ok(None);
    };
    let mut number = None;
    if c.peek().is_ascii_digit() {
        let at = c.at;
        number = Some(c.digits().filter(|&n| n <= MAX_REGISTER).ok_or_else(|| {
            Box::new(Diagnostic::error(
                "register-number",
                c.span_from(at),
                format!("register numbers go up to {MAX_REGISTER}"),
            ))
        })?);
    }
    Ok(Some((file, number)))
}

/// Reads `[base.c + n]`, `[base]` or `[n]`.
fn index(c: &mut Cursor) -> Step<Index> {
    let open = c.at;
    c.at += 1;
    c.skip_space();
    let out = if c.at_number() {
        Index { base: None, offset: offset(c, false)? }
    } else {
        let at = c.at;
        let Some((file, number)) = plain_register(c)? else { return Err(no_index(c, open)) };
        if c.peek() == b'[' {
            return Err(Box::new(Diagnostic::error(
                "index-nested",
                c.span_here(),
                "an index register has no index itself",
            )));
        }
        let mut component = 0;
        if c.eat(b'.') {
            component = match c.peek() | 0x20 {
                b'x' | b'r' => 0,
                b'y' | b'g' => 1,
                b'z' | b'b' => 2,
                b'w' | b'a' => 3,
                _ => u8::MAX,
            };
            if component == u8::MAX || is_word(c.byte(c.at + 1)) {
                c.at = c.word_end();
                return Err(Box::new(Diagnostic::error(
                    "index-component",
                    c.span_from(at),
                    "an index register names exactly one component and takes no modifiers",
                )));
            }
            c.at += 1;
        }
        let end = c.at;
        c.skip_space();
        let offset = match c.peek() {
            sign @ (b'+' | b'-') => {
                c.at += 1;
                c.skip_space();
                if !c.at_number() {
                    return Err(not_an_offset(c, open));
                }
                offset(c, sign == b'-')?
            }
            _ => {
                c.at = end;
                0
            }
        };
        Index { base: Some((file, number, component)), offset }
    };
    let end = c.at;
    c.skip_space();
    if c.eat(b']') {
        return Ok(out);
    }
    Err(unclosed_index(c, open, end))
}

/// Nothing in the brackets that open here is an index.
fn no_index(c: &mut Cursor, open: usize) -> Box<Diagnostic> {
    let next = c.text[open + 1..c.at].contains(&b'\n') || c.at_end();
    if next || grammar::longest(&c.text[c.at..c.word_end()]).is_some() {
        return unclosed_index(c, open, open + 1);
    }
    let d = if c.peek() == b']' {
        let span = Span { start: open as u32, end: c.at as u32 + 1 };
        Diagnostic::error("index-empty", span, "the brackets hold no index")
    } else {
        let message = format!("an index is expected, found `{}`", c.excerpt());
        Diagnostic::error("unknown-register", c.span_here(), message)
    };
    Box::new(d.with_note("an index is a number, a register or their sum: `[3]`, `[r0.x]`, `[r0.x + 3]`"))
}

/// What stands behind the `+` or `-` of an index is no number.
fn not_an_offset(c: &Cursor, open: usize) -> Box<Diagnostic> {
    let message = format!("an index adds a number to a register, found `{}`", c.excerpt());
    let span = if c.at_end() { Span::gap(open + 1) } else { c.span_here() };
    Box::new(
        Diagnostic::error("index-offset", span, message).with_note("sums of registers are made by `iadd`"),
    )
}

/// The bracket at `open` is not closed at `end`. The cursor is at what stands there instead, and goes back.
fn unclosed_index(c: &mut Cursor, open: usize, end: usize) -> Box<Diagnostic> {
    let opened = Span { start: open as u32, end: open as u32 + 1 };
    let found = c.peek();
    let other_line = c.at_end() || c.text[end..c.at].contains(&b'\n');
    if !other_line && matches!(found, b'+' | b'-') && c.text[open..end].iter().any(u8::is_ascii_digit) {
        let d = Diagnostic::error("unclosed-index", c.span_here(), "in an index the register stands first");
        return Box::new(d.with_note("`[r0.x + 3]`; there is one register and one number"));
    }
    let d = if other_line || is_word(found) || matches!(found, b',' | b';') {
        let gap = Span::gap(end);
        c.at = end;
        Diagnostic::error("unclosed-index", gap, "`]` is missing").with_suggestion("close it", gap, "]")
    } else {
        let message = format!("`]` is expected, found `{}`", c.excerpt());
        Diagnostic::error("unclosed-index", c.span_here(), message)
    };
    Box::new(d.with_label(opened, "opened here"))
}

fn offset(c: &mut Cursor, negative: bool) -> Step<i32> {
    let at = c.at;
    let number = c.number()?;
    match number {
        super::ast::Number::Integer { value, .. } => {
            let value = if negative { -value } else { value };
            i32::try_from(value).ok()
        }
        super::ast::Number::Float(_) => None,
    }
    .ok_or_else(|| {
        Box::new(Diagnostic::error(
            "index-offset",
            c.span_from(at),
            "an index is a whole number of at most 31 bits",
        ))
    })
}

/// Finds the component suffix at a `.`: at most four characters of one class, as many as possible such that
/// what follows can follow (the next statement may be glued to it).
#[inline]
fn suffix(c: &mut Cursor, destination: bool) -> Step<Span> {
    c.at += 1;
    let start = c.at;
    let mut longest = 0;
    let mut letters = None;
    while longest < 4 {
        let class = match c.byte(start + longest) {
            b'x' | b'y' | b'z' | b'w' | b'X' | b'Y' | b'Z' | b'W' => Some(false),
            b'r' | b'g' | b'b' | b'a' | b'R' | b'G' | b'B' | b'A' => Some(true),
            b'0' | b'1' => None,
            b'_' if destination => None,
            _ => break,
        };
        if class.is_some() && letters.is_some() && letters != class {
            break;
        }
        letters = letters.or(class);
        longest += 1;
    }
    for length in (1..=longest).rev() {
        c.at = start + length;
        let next = c.peek();
        if !is_word(next)
            || (next == b'_' && !destination && modifier_name(c).is_some())
            || (next.is_ascii_alphabetic() && grammar::longest(&c.text[c.at..c.word_end()]).is_some())
        {
            return Ok(c.span_from(start));
        }
    }
    c.at = start;
    let what = if destination { "mask" } else { "swizzle" };
    Err(Box::new(
        Diagnostic::error(
            if destination { "mask" } else { "swizzle" },
            Span { start: start as u32 - 1, end: c.word_end().max(start) as u32 },
            format!("`.{}` is not a {what}", if c.at_end() { String::new() } else { c.excerpt() }),
        )
        .with_note(if destination {
            "a mask has one to four of x y z w (or r g b a), _, 0, 1"
        } else {
            "a swizzle has one to four of x y z w (or r g b a), 0, 1"
        }),
    ))
}

fn select(byte: u8) -> Select {
    match byte | 0x20 {
        b'x' | b'r' => Select::X,
        b'y' | b'g' => Select::Y,
        b'z' | b'b' => Select::Z,
        b'w' | b'a' => Select::W,
        b'0' => Select::Zero,
        _ => Select::One,
    }
}

/// Missing positions repeat the last one.
#[inline]
fn parse_swizzle(c: &Cursor, span: Span) -> ([Select; 4], u8) {
    let bytes = &c.text[span.start as usize..span.end as usize];
    let last = bytes.len() - 1;
    let mut out = IDENTITY;
    for (k, s) in out.iter_mut().enumerate() {
        *s = select(bytes[k.min(last)]);
    }
    (out, bytes.len() as u8)
}

/// Covers the positional, the short letter and the short positional form: a letter moves the cursor to its own
/// component, `_`, `0` and `1` apply to the component under the cursor.
#[inline]
fn parse_mask(c: &Cursor, span: Span) -> Step<[Write; 4]> {
    let bytes = &c.text[span.start as usize..span.end as usize];
    let mut out = [Write::Keep; 4];
    let mut cursor = 0;
    for &byte in bytes {
        let (component, what) = match byte {
            b'_' => (cursor, Write::Keep),
            b'0' => (cursor, Write::Zero),
            b'1' => (cursor, Write::One),
            _ => (select(byte) as usize, Write::Result),
        };
        if component < cursor || component > 3 {
            return Err(Box::new(
                Diagnostic::error(
                    "mask",
                    span,
                    format!("the mask `.{}` is out of order", String::from_utf8_lossy(bytes)),
                )
                .with_note("components stand in the order x y z w, each at most once"),
            ));
        }
        out[component] = what;
        cursor = component + 1;
    }
    Ok(out)
}

#[derive(Clone, Copy)]
enum ModifierName {
    Neg,
    Abs,
    Invert,
    Bias,
    X2,
    Bx2,
    Sign,
    DivComp,
    Saturate,
}

const MODIFIERS: &[(&[u8], ModifierName)] = &[
    (b"neg", ModifierName::Neg),
    (b"abs", ModifierName::Abs),
    (b"invert", ModifierName::Invert),
    (b"bias", ModifierName::Bias),
    (b"x2", ModifierName::X2),
    (b"bx2", ModifierName::Bx2),
    (b"sign", ModifierName::Sign),
    (b"divcomp", ModifierName::DivComp),
    (b"sat", ModifierName::Saturate),
];

/// Names of source modifiers.
pub(super) fn modifier_names() -> impl Iterator<Item = &'static str> {
    MODIFIERS.iter().filter_map(|(name, _)| std::str::from_utf8(name).ok())
}

/// The source modifier at this `_`, and its length with the underscore.
fn modifier_name(c: &Cursor) -> Option<(ModifierName, usize)> {
    let rest = &c.text[c.at + 1..];
    MODIFIERS.iter().find_map(|&(name, which)| {
        let spelled = rest.get(..name.len())?;
        if !spelled.eq_ignore_ascii_case(name) {
            return None;
        }
        let next = rest.get(name.len()).copied().unwrap_or(0);
        let after = c.at + 1 + name.len();
        let glued = || {
            let tail = Cursor { text: c.text, at: after };
            next.is_ascii_alphabetic() && grammar::longest(&c.text[after..tail.word_end()]).is_some()
        };
        (!is_word(next) || next == b'_' || glued()).then_some((which, name.len() + 1))
    })
}

fn modifier(c: &mut Cursor, m: &mut Modifiers) -> Step<()> {
    let start = c.at;
    let Some((name, length)) = modifier_name(c) else { return Err(mistakes::modifier(c)) };
    c.at += length;
    let twice = match name {
        ModifierName::Neg => {
            let bits = neg_components(c)?;
            std::mem::replace(&mut m.neg, bits) != 0
        }
        ModifierName::Abs => std::mem::replace(&mut m.abs, true),
        ModifierName::Invert => std::mem::replace(&mut m.invert, true),
        ModifierName::Bias => std::mem::replace(&mut m.bias, true),
        ModifierName::X2 => std::mem::replace(&mut m.x2, true),
        ModifierName::Bx2 => std::mem::replace(&mut m.bias, true) | std::mem::replace(&mut m.x2, true),
        ModifierName::Sign => std::mem::replace(&mut m.sign, true),
        ModifierName::Saturate => std::mem::replace(&mut m.saturate, true),
        ModifierName::DivComp => {
            let divisor = div_comp(c)?;
            m.div_comp.replace(divisor).is_some()
        }
    };
    if twice {
        return Err(Box::new(Diagnostic::error(
            "modifier-twice",
            c.span_from(start),
            "each source modifier stands once",
        )));
    }
    Ok(())
}

/// `(xy)`, `()` or nothing: the negated positions.
fn neg_components(c: &mut Cursor) -> Step<u8> {
    if c.peek() != b'(' {
        return Ok(15);
    }
    let open = c.at;
    c.at += 1;
    let mut bits = 0;
    loop {
        c.skip_space();
        match c.peek() | 0x20 {
            b'x' | b'r' => bits |= 1,
            b'y' | b'g' => bits |= 2,
            b'z' | b'b' => bits |= 4,
            b'w' | b'a' => bits |= 8,
            _ => break,
        }
        c.at += 1;
    }
    if !c.eat(b')') {
        return Err(Box::new(Diagnostic::error(
            "modifier-argument",
            c.span_from(open),
            "`_neg` takes components: `_neg(xyzw)`",
        )));
    }
    Ok(if bits == 0 { 15 } else { bits })
}

fn div_comp(c: &mut Cursor) -> Step<u8> {
    let open = c.at;
    if c.eat(b'(') {
        c.skip_space();
        let word = &c.text[c.at..c.word_end()];
        let divisor = match word.to_ascii_lowercase().as_slice() {
            b"y" => Some(1),
            b"z" => Some(2),
            b"w" => Some(3),
            b"unknown" => Some(0),
            _ => None,
        };
        c.at = c.word_end();
        c.skip_space();
        if let (Some(divisor), true) = (divisor, c.eat(b')')) {
            return Ok(divisor);
        }
    }
    Err(Box::new(Diagnostic::error(
        "modifier-argument",
        c.span_from(open),
        "`_divComp` takes one of (y), (z), (w), (unknown)",
    )))
}
