//! Host code: copied as it stands, with streams declared as objects and definitions of the K&R kind in the form of C++.
//!
//! What is not of the language is left to the host's compiler, C++ included.

mod functions;
mod vectors;

use std::fmt::Write as _;

use super::element_type;
use crate::diagnostic::Report;
use crate::lex::{Kind, Token};
use crate::types::{Scalar, Structs, Type};

pub(crate) use functions::{Functions, declarations, functions};
pub(crate) use vectors::{mentions, signs};

/// Words that stand before a name and are no types.
const NO_TYPES: [&str; 30] = [
    "return",
    "else",
    "case",
    "goto",
    "new",
    "delete",
    "typename",
    "template",
    "class",
    "struct",
    "union",
    "enum",
    "operator",
    "static",
    "extern",
    "const",
    "volatile",
    "register",
    "inline",
    "typedef",
    "public",
    "private",
    "protected",
    "friend",
    "virtual",
    "using",
    "explicit",
    "sizeof",
    "auto",
    "namespace",
];

/// Tokens that a declaration of streams or a list of parameters has at most: each word may begin one.
const FAR: usize = 1000;

struct Host<'h> {
    source: &'h str,
    tokens: &'h [Token],
    structs: &'h Structs,
    functions: &'h Functions,
    report: &'h mut Report,
    at: usize,
    out: String,
    /// The source up to here is copied.
    copied: usize,
}

/// Rewrites the host code of `tokens`.
pub(crate) fn rewrite(
    source: &str,
    tokens: &[Token],
    structs: &Structs,
    functions: &Functions,
    report: &mut Report,
    from: usize,
) -> String {
    let mut host = Host::new(source, tokens, structs, functions, report, from);
    host.run();
    signs(&host.out)
}

/// The parts of a list between commas that stand in no bracket.
fn split<'t>(source: &str, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let mut parts = Vec::new();
    let (mut depth, mut first) = (0i32, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.span.of(source) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 && token.kind == Kind::Punct => {
                parts.push(&tokens[first..at]);
                first = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[first..]);
    parts
}

/// Where a token stands.
#[derive(Default)]
struct Depth {
    round: i32,
    /// Braces that are open; true of those behind `extern "C"`, in which functions are as outside.
    braces: Vec<bool>,
}

impl Depth {
    fn step(&mut self, host: &Host<'_>, at: usize) {
        match host.text(at) {
            "(" => self.round += 1,
            ")" => self.round -= 1,
            "{" => {
                let linkage =
                    at > 1 && host.tokens[at - 1].kind == Kind::Str && host.text(at - 2) == "extern";
                self.braces.push(linkage);
            }
            "}" => drop(self.braces.pop()),
            _ => {}
        }
    }

    /// True outside of functions and classes.
    fn is_top(&self) -> bool {
        self.round == 0 && self.braces.iter().all(|linkage| *linkage)
    }
}

impl<'h> Host<'h> {
    fn new(
        source: &'h str,
        tokens: &'h [Token],
        structs: &'h Structs,
        functions: &'h Functions,
        report: &'h mut Report,
        from: usize,
    ) -> Host<'h> {
        Host { source, tokens, structs, functions, report, at: 0, out: String::new(), copied: from }
    }

    fn text(&self, at: usize) -> &'h str {
        match self.tokens.get(at) {
            Some(t) if matches!(t.kind, Kind::Word | Kind::Punct) => t.span.of(self.source),
            _ => "",
        }
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.kind == Kind::Word)
    }

    fn of(&self, tokens: &[Token]) -> &'h str {
        match (tokens.first(), tokens.last()) {
            (Some(a), Some(b)) => a.span.to(b.span).of(self.source),
            _ => "",
        }
    }

    /// Copies the source up to a token.
    fn copy_to(&mut self, at: usize) {
        let end = self.tokens.get(at).map_or(self.copied, |t| t.span.start as usize);
        if end > self.copied {
            self.out.push_str(&self.source[self.copied..end]);
            self.copied = end;
        }
    }

    /// What was written from `written` on stands for the source up to a byte, and has as many lines, so that those behind it keep
    /// their numbers.
    fn replace_up_to(&mut self, end: usize, written: usize) {
        let lines = |text: &str| text.matches('\n').count();
        let replaced = lines(&self.source[self.copied..end]);
        let missing = replaced.saturating_sub(lines(&self.out[written..]));
        self.out.push_str(&"\n".repeat(missing));
        self.copied = end;
    }

    /// The same up to the end of a token.
    fn replace(&mut self, last: usize, written: usize) {
        self.replace_up_to(self.tokens[last].span.end as usize, written);
    }

    fn run(&mut self) {
        let mut depth = Depth::default();
        while self.at < self.tokens.len() {
            depth.step(self, self.at);
            match self.text(self.at) {
                "indexof" | "syncGroup" | "instanceInGroup" => {
                    let message = format!("`{}` is for kernels", self.text(self.at));
                    self.report.error("position", self.tokens[self.at].span, message);
                }
                "instance" if self.text(self.at + 1) == "(" && !self.is_member() => {
                    self.report.error("position", self.tokens[self.at].span, "`instance()` is for kernels");
                }
                _ => {}
            }
            let named = depth.round == 0 && self.is_word(self.at) && self.text(self.at + 1) == "(";
            let done = named && (depth.is_top() && self.definition() || self.prototype());
            if !done && !self.stream(depth.round > 0) {
                self.at += 1;
            }
        }
        let end = self.tokens.last().map_or(self.copied, |t| t.span.end as usize);
        self.out.push_str(&self.source[self.copied.min(end)..end]);
    }

    /// True of a name that is declared or qualified where it stands: functions of C++ may be called as operators of kernels are.
    fn is_member(&self) -> bool {
        let Some(before) = self.at.checked_sub(1) else { return false };
        match self.text(before) {
            "." | ">" | "->" | ":" | "&" | "*" => true,
            text => self.is_word(before) && !matches!(text, "return" | "else" | "case" | "do"),
        }
    }

    fn stream_type(&self, text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        match self.element(&words) {
            Some(ty) => element_type(self.structs, ty),
            None => text.to_owned(),
        }
    }

    fn element(&self, words: &[&str]) -> Option<Type> {
        match words {
            [.., "short", "int"] => self.element(&words[..words.len() - 1]),
            ["unsigned"] => Some(Type::Vector(Scalar::UInt, 1)),
            ["unsigned", name] => match Type::named(name)? {
                Type::Vector(Scalar::Char, n) => Some(Type::Vector(Scalar::UChar, n)),
                Type::Vector(Scalar::Short, n) => Some(Type::Vector(Scalar::UShort, n)),
                Type::Vector(Scalar::Int, n) => Some(Type::Vector(Scalar::UInt, n)),
                _ => None,
            },
            ["signed", name] | ["struct", name] | [name] => {
                Type::named(name).or_else(|| self.structs.find(name))
            }
            _ => None,
        }
    }

    /// `float s<H, W>` where it is declared.
    fn stream(&mut self, parameter: bool) -> bool {
        let mut name = self.at + 1;
        if matches!(self.text(self.at), "unsigned" | "signed" | "struct" | "long")
            && self.is_word(self.at + 2)
        {
            name += 1;
        }
        if self.text(name - 1) == "short" && self.text(name) == "int" && self.is_word(name + 1) {
            name += 1;
        }
        let first = self.text(self.at);
        if !self.is_word(self.at)
            || !self.is_word(name)
            || self.text(name + 1) != "<"
            || (NO_TYPES.contains(&first) && first != "struct")
        {
            return false;
        }
        let Some(close) = self.angle(name + 1) else { return false };
        // Specialisations of templates: `template<> float zero<float> = 0;` and `float zero<float>() {`.
        let of_template = self.at > 0 && self.text(self.at - 1) == ">";
        if of_template || matches!(self.text(close + 1), "(" | ":") {
            return false;
        }
        let words: Vec<&str> = (self.at..name).map(|t| self.text(t)).collect();
        let known = self.element(&words);
        // Of an unknown type it is a declaration only if it ends like one.
        if known.is_none() && !matches!(self.text(close + 1), ";" | "," | "=" | ")" | "[") {
            return false;
        }
        let span = self.tokens[self.at].span.to(self.tokens[name - 1].span);
        if known.is_none() {
            let message = format!(
                "a stream has numbers, short vectors or structs of them as elements, not `{}`",
                span.of(self.source)
            );
            self.report.error("type", span, message);
        }
        let element = known.map_or_else(|| words.join(" "), |ty| element_type(self.structs, ty));
        if parameter {
            self.copy_to(self.at);
            let written = self.out.len();
            let _ = write!(self.out, "::brook::Stream<{element} > {}", self.text(name));
            self.replace(close, written);
            self.at = close + 1;
            return true;
        }
        let Some(end) = self.statement_end(name) else { return false };
        // Storage words before it belong to every object made of it.
        let mut start = self.at;
        while start > 0 && matches!(self.text(start - 1), "static" | "extern" | "const") {
            start -= 1;
        }
        let storage = (start..self.at).map(|t| self.text(t)).collect::<Vec<_>>().join(" ");
        let storage = if storage.is_empty() { storage } else { format!("{storage} ") };
        self.copy_to(self.at);
        let written = self.out.len();
        let mut plain = Vec::new();
        let mut first = true;
        for declarator in split_declarators(self, name, end) {
            let tokens = &self.tokens[declarator.0..declarator.1];
            if self.text(declarator.0 + 1) == "<" && self.is_word(declarator.0) {
                let lead = if first { String::new() } else { format!(" {storage}") };
                first = false;
                self.declare(declarator, &element, &lead, &storage);
            } else {
                plain.push(self.of(tokens));
            }
        }
        if !plain.is_empty() {
            let lead = if first { String::new() } else { format!(" {storage}") };
            let _ = write!(self.out, "{lead}{} {};", words.join(" "), plain.join(", "));
        }
        self.replace(end, written);
        self.at = end + 1;
        true
    }

    fn declare(&mut self, (first, end): (usize, usize), element: &str, lead: &str, storage: &str) {
        let name = self.text(first);
        let span = self.tokens[first].span.to(self.tokens[end - 1].span);
        let Some(close) = self.angle(first + 1) else { return };
        match self.text(close + 1) {
            _ if close + 1 >= end => {}
            "=" => self.report.error(
                "stream-initialiser",
                span,
                "a stream has no initialiser; `streamRead` fills it",
            ),
            "[" => self.report.error("stream-of-arrays", span, "a stream has no arrays as elements"),
            _ => self.report.error("syntax", span, "this does not follow a stream's sizes"),
        }
        let inner = &self.tokens[first + 2..close];
        let dims = if inner.is_empty() { Vec::new() } else { split(self.source, inner) };
        if dims.is_empty() || dims.iter().any(|d| d.is_empty()) {
            self.report.error(
                "stream-size",
                span,
                format!("the stream `{name}` lacks a size; only parameters may"),
            );
            return;
        }
        if dims.len() > 4 {
            self.report.error("stream-rank", span, "streams have 1 to 4 dimensions");
        }
        let mut sizes = Vec::new();
        for dim in dims.iter().rev() {
            if let [only] = dim {
                self.size(*only);
            }
            sizes.push(format!("static_cast<unsigned int>({})", self.of(dim)));
        }
        if storage.contains("extern") {
            let _ = write!(self.out, "{lead}::brook::Stream<{element} > {name};");
            return;
        }
        let _ = write!(
            self.out,
            "{lead}unsigned int __{name}Dim[] = {{{}}}; {storage}::brook::Stream<{element} > {name}({}, __{name}Dim);",
            sizes.join(", "),
            dims.len()
        );
    }

    fn size(&mut self, token: Token) {
        let text = token.span.of(self.source);
        if token.kind == Kind::Float || token.kind == Kind::Str {
            self.report.error("stream-size", token.span, "a stream's size is a whole number");
        } else if token.kind == Kind::Int && text.trim_end_matches(['u', 'U', 'l', 'L']) == "0" {
            self.report.error("stream-size", token.span, "a stream's size is positive");
        }
    }

    /// The `>` of a `<`; sizes hold comparisons in brackets only.
    fn angle(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for at in open + 1..self.tokens.len().min(open + FAR) {
            match self.text(at) {
                "(" | "[" => depth += 1,
                ")" | "]" if depth == 0 => return None,
                ")" | "]" => depth -= 1,
                ">" if depth == 0 => return Some(at),
                ";" | "{" | "}" | "<" | "&&" | "||" => return None,
                _ => {}
            }
        }
        None
    }

    fn statement_end(&self, from: usize) -> Option<usize> {
        let mut depth = 0;
        for at in from..self.tokens.len().min(from + FAR) {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                ";" if depth == 0 => return Some(at),
                _ => {}
            }
            if depth < 0 {
                return None;
            }
        }
        None
    }
}

/// Declarators of a statement, by the tokens that they span; commas between sizes do not part them.
fn split_declarators(host: &Host<'_>, first: usize, end: usize) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    let (mut depth, mut start, mut at) = (0, first, first);
    while at < end {
        match host.text(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "<" if depth == 0 => at = host.angle(at).unwrap_or(at),
            "," if depth == 0 => {
                list.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    list.push((start, end));
    list
}
