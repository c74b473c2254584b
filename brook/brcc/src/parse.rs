//! Tokens to syntax trees.
//!
//! Kernels and the structs of streams are read whole; everything else is host code, of which only the extent is found. After an
//! error reading goes on behind the statement, so that a file's errors are told together.

mod decl;
mod expr;
mod stmt;

use crate::ast::{Item, Kernel, Name, StructDef};
use crate::diagnostic::{Report, Span};
use crate::lex::{Kind, Token};
use crate::types::{Struct, Structs, Type};

/// An error was told already.
pub(crate) struct Told;

pub(crate) type Read<T> = Result<T, Told>;

/// Deepest nesting of expressions and statements: the stack must not end first.
const DEEPEST: u32 = 400;

/// Numbers and vectors of a struct, those of structs in it too. Each has memory and resources of its own.
const MEMBERS: usize = 1024;
/// Bytes of all kernels of a file: trees take some hundred times as much.
const KERNELS: u32 = 256 << 10;

/// A file, read.
pub struct File {
    /// What stands at the top.
    pub items: Vec<Item>,
    /// The structs.
    pub structs: Structs,
}

pub(crate) struct Parser<'s> {
    source: &'s str,
    tokens: &'s [Token],
    at: usize,
    structs: Structs,
    report: &'s mut Report,
    depth: u32,
    /// Bytes of kernels so far, and where there are too many.
    kernels: u32,
    end_of_kernels: u32,
    /// `#pragma pack` is in force: that the header would not say.
    packed: Packed,
}

/// What `#pragma pack` lines have said so far.
#[derive(Default)]
struct Packed {
    now: bool,
    pushed: Vec<bool>,
}

impl Packed {
    fn line(&mut self, line: &str) {
        let words: String = line.split_whitespace().collect();
        let Some(what) = words.strip_prefix("#pragmapack(").and_then(|rest| rest.strip_suffix(')')) else {
            return;
        };
        let number = what.split(',').any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        match what.split(',').next() {
            Some("push") => {
                self.pushed.push(self.now);
                self.now |= number;
            }
            Some("pop") => self.now = self.pushed.pop().unwrap_or(false),
            _ => self.now = number,
        }
    }
}

/// Reads a file.
pub fn parse(source: &str, tokens: &[Token], report: &mut Report) -> File {
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        structs: Structs::default(),
        report,
        depth: 0,
        kernels: 0,
        end_of_kernels: u32::MAX,
        packed: Packed::default(),
    };
    let mut items = Vec::new();
    while parser.kind() != Kind::End && !parser.report.is_full() {
        let item = parser.item();
        match (items.last_mut(), item) {
            (Some(Item::Host(_, last)), Item::Host(first, end)) if *last == first => *last = end,
            (_, item) => items.push(item),
        }
    }
    File { items, structs: parser.structs }
}

impl<'s> Parser<'s> {
    pub(crate) fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(crate) fn peek(&self, ahead: usize) -> &'s str {
        self.tokens.get(self.at + ahead).map_or("", |t| t.span.of(self.source))
    }

    pub(crate) fn kind(&self) -> Kind {
        self.token().kind
    }

    pub(crate) fn text(&self) -> &'s str {
        self.token().span.of(self.source)
    }

    pub(crate) fn span(&self) -> Span {
        self.token().span
    }

    /// Where the token before this one stands.
    pub(crate) fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    pub(crate) fn step(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Literals are never mistaken for what they spell.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind(), Kind::Word | Kind::Punct) && self.text() == text
    }

    pub(crate) fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.step();
        }
        found
    }

    pub(crate) fn expect(&mut self, text: &str) -> Read<Span> {
        let span = self.span();
        if self.take(text) { Ok(span) } else { self.unexpected(&format!("`{text}`")) }
    }

    pub(crate) fn unexpected<T>(&mut self, wanted: &str) -> Read<T> {
        let found = match self.kind() {
            Kind::End => "the end of the file".to_owned(),
            Kind::Directive => "a preprocessor line (`-pp` has brcc read it)".to_owned(),
            _ => format!("`{}`", self.text().chars().take(40).collect::<String>()),
        };
        self.report.error("syntax", self.span(), format!("expected {wanted}, found {found}"));
        Err(Told)
    }

    pub(crate) fn name(&mut self) -> Read<Name> {
        if self.kind() != Kind::Word {
            return self.unexpected("a name");
        }
        let name = Name { text: self.text().to_owned(), span: self.span() };
        self.step();
        Ok(name)
    }

    /// Runs `inner` one level deeper.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            self.report.error("nesting", self.span(), format!("nested more than {DEEPEST} deep"));
            return Err(Told);
        }
        if self.span().start > self.end_of_kernels {
            let message = format!("the kernels have more than {} KiB", KERNELS >> 10);
            self.report.error("too-large", self.span(), message);
            self.report.give_up();
            self.at = self.tokens.len() - 1;
            return Err(Told);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn item(&mut self) -> Item {
        let first = self.at;
        if self.begins_kernel() {
            let start = self.span();
            self.end_of_kernels = start.start + KERNELS.saturating_sub(self.kernels);
            return match self.kernel() {
                Ok(Some(kernel)) => {
                    let end = kernel.end;
                    self.kernels += start.to(end).end - start.start;
                    Item::Kernel(Box::new(kernel), start.to(end))
                }
                Ok(None) => Item::Prototype(start.to(self.before())),
                Err(Told) => {
                    self.at = first;
                    self.skip_item();
                    Item::Prototype(start.to(self.before()))
                }
            };
        }
        if !self.packed.now
            && let Some(definition) = self.struct_def()
        {
            for name in definition.members.iter().map(|m| &m.0).chain([&definition.name]) {
                if crate::cpp::is_taken(&name.text) {
                    self.report.error(
                        "name",
                        name.span,
                        format!("`{}` is a word of C++ or a type", name.text),
                    );
                }
            }
            let members = definition.members.iter();
            let mut members: Vec<_> =
                members.map(|(n, t)| (n.text.clone(), t.ty.unwrap_or(Type::Unknown))).collect();
            // Structs of structs double with each level.
            let mut left = MEMBERS;
            if members.iter().any(|(_, ty)| {
                let count = self.structs.count(*ty);
                let fits = count <= left;
                left -= count.min(left);
                !fits
            }) {
                let message = format!("the struct has more than {MEMBERS} numbers and vectors");
                self.report.error("too-large", definition.name.span, message);
                members = vec![(String::new(), Type::FLOAT)];
            }
            if self.structs.0.iter().any(|of| of.name == definition.name.text) {
                self.report.error_note(
                    "name",
                    definition.name.span,
                    format!("there are two structs `{}`", definition.name.text),
                    "the header has both; `-pp` has brcc choose between those behind `#ifdef` and `#else`",
                );
            }
            self.structs.0.push(Struct { name: definition.name.text.clone(), members });
            let span = self.tokens[first].span.to(self.before());
            return Item::Struct(definition, span);
        }
        self.at = first;
        self.other_names();
        self.at = first;
        self.skip_item();
        Item::Host(first, self.at)
    }

    /// A kernel has one of its words before the first token that is no word.
    fn begins_kernel(&self) -> bool {
        if self.is("Attribute") && self.peek(1) == "[" {
            return true;
        }
        let words = self.tokens[self.at..].iter().take_while(|t| t.kind == Kind::Word);
        words.map(|t| t.span.of(self.source)).any(|w| matches!(w, "kernel" | "reduce"))
    }

    /// Goes behind a declaration or function of the host, or a kernel that could not be read.
    fn skip_item(&mut self) {
        if self.kind() == Kind::Directive {
            self.packed.line(self.text());
            return self.step();
        }
        let braces_end = matches!(self.text(), "namespace" | "extern" | "{");
        let mut depth = 0i32;
        let mut body = false;
        let mut previous = "";
        while self.kind() != Kind::End {
            let text = if matches!(self.kind(), Kind::Punct | Kind::Word) { self.text() } else { "literal" };
            // Behind a macro that ends without a semicolon.
            let begins = match text {
                "kernel" | "reduce" => self.peek(1) == "void",
                "Attribute" => self.peek(1) == "[",
                "typedef" => true,
                _ => false,
            };
            if begins && depth == 0 && previous == ")" {
                return;
            }
            match text {
                "(" | "[" => depth += 1,
                "{" => {
                    body |= depth == 0 && (previous == ")" || braces_end);
                    depth += 1;
                }
                ")" | "]" => depth -= 1,
                "}" => {
                    depth -= 1;
                    if depth <= 0 && body {
                        return self.step();
                    }
                }
                ";" if depth <= 0 => return self.step(),
                _ => {}
            }
            previous = text;
            self.step();
        }
    }

    /// A struct that streams can hold; nothing if it is another thing, of which the host's compiler knows more.
    fn struct_def(&mut self) -> Option<StructDef> {
        let typedef = self.take("typedef");
        if !self.take("struct") {
            return None;
        }
        let tag = if self.kind() == Kind::Word { self.name().ok() } else { None };
        if !self.take("{") {
            return None;
        }
        let mut members = Vec::new();
        while self.kind() == Kind::Directive {
            self.step();
        }
        while !self.take("}") {
            let ty = self.silent_type()?;
            ty.ty.filter(|t| *t != Type::Void)?;
            loop {
                if self.kind() != Kind::Word {
                    return None;
                }
                let name = self.name().ok()?;
                members.push((name, ty.clone()));
                if !self.take(",") {
                    break;
                }
            }
            if !self.take(";") {
                return None;
            }
        }
        let name =
            if typedef && self.kind() == Kind::Word { self.name().ok()? } else { tag.filter(|_| !typedef)? };
        (self.take(";") && !members.is_empty()).then_some(StructDef { name, members })
    }

    fn kernel(&mut self) -> Read<Option<Kernel>> {
        self.kernel_definition()
    }
}
