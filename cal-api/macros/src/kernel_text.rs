//! The text of a kernel, and where its parts stand in the program.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use recal_il::diagnostic::{Diagnostic, render};
use recal_il::ir::Program;
use syn::{Error, LitStr, Result};

/// Errors shown of one kernel.
const SHOWN: usize = 16;

/// IL, and where it is from.
pub(crate) struct Text {
    pub(crate) il: String,
    origin: Origin,
}

enum Origin {
    /// Tokens, with where each begins in the text.
    Tokens(Vec<(usize, TokenTree)>),
    /// A literal. Without escapes, the text begins in this file, at this line and column (from 1 and 0).
    Literal(Span, Option<(String, usize, usize)>),
    /// A file, by the name that it is given.
    File(LitStr),
}

impl Text {
    /// A string.
    pub(crate) fn of_literal(literal: &LitStr) -> Text {
        let il = literal.value();
        let written = literal.token().to_string();
        // As it is written, so that places in the one are places in the other.
        let quote = written.find('"').map_or(0, |at| at + 1);
        let as_written = written.get(quote..).is_some_and(|rest| rest.starts_with(&il));
        let start = literal.span().start();
        let at = as_written.then(|| (literal.span().file(), start.line, start.column + quote));
        Text { il, origin: Origin::Literal(literal.span(), at) }
    }

    /// A file, named from the source file on.
    pub(crate) fn of_file(name: &LitStr) -> Result<Text> {
        let source = name.span().local_file();
        let path = source.as_deref().and_then(|file| file.parent()).unwrap_or("".as_ref()).join(name.value());
        let il = std::fs::read_to_string(&path)
            .map_err(|e| Error::new(name.span(), format!("{}: {e}", path.display())))?;
        Ok(Text { il, origin: Origin::File(name.clone()) })
    }

    /// IL as tokens of Rust: written out again, each where it stood. Lines mean nothing in IL; they are kept for who reads the text.
    pub(crate) fn of_tokens(tokens: TokenStream, braces: Span) -> Result<Text> {
        let mut writer = Writer { text: String::new(), tokens: Vec::new(), at: None };
        writer.all(tokens);
        if writer.tokens.is_empty() {
            return Err(Error::new(
                braces,
                "no kernel: IL, a string that is IL, or `include_str!(\"file.il\")`",
            ));
        }
        writer.text.push('\n');
        Ok(Text { il: writer.text, origin: Origin::Tokens(writer.tokens) })
    }

    /// The program, or what is wrong.
    pub(crate) fn program(&self) -> Result<Program> {
        recal_il::compile(self.il.as_bytes()).map_err(|found| {
            let mut errors = found.iter().take(SHOWN).map(|d| self.error(d));
            let first =
                errors.next().unwrap_or_else(|| Error::new(self.span(), "the kernel was not accepted"));
            errors.fold(first, |mut all, error| {
                all.combine(error);
                all
            })
        })
    }

    /// Where the kernel is.
    pub(crate) fn span(&self) -> Span {
        match &self.origin {
            Origin::Tokens(tokens) => tokens.first().map_or_else(Span::call_site, |(_, t)| t.span()),
            Origin::Literal(span, _) => *span,
            Origin::File(name) => name.span(),
        }
    }

    /// What the program has as the text. Of a file it is the file, so that a change compiles the program anew.
    pub(crate) fn tokens(&self) -> TokenStream {
        match &self.origin {
            Origin::File(name) => quote!(::core::include_str!(#name)),
            _ => self.il.to_token_stream(),
        }
    }

    fn error(&self, found: &Diagnostic) -> Error {
        match &self.origin {
            Origin::Tokens(tokens) => self.at_tokens(found, tokens),
            Origin::Literal(span, Some((file, line, column))) => {
                Error::new(*span, self.shown(found, file, *line, *column))
            }
            Origin::Literal(span, None) => Error::new(*span, self.shown(found, "kernel", 1, 0)),
            Origin::File(name) => Error::new(name.span(), self.shown(found, &name.value(), 1, 0)),
        }
    }

    /// The diagnostic with its line, as the text stands at this line and column of a file.
    fn shown(&self, found: &Diagnostic, file: &str, line: usize, column: usize) -> String {
        let before = "\n".repeat(line - 1) + &" ".repeat(column);
        let mut moved = found.clone();
        let shift = |span: &mut recal_il::diagnostic::Span| {
            span.start += before.len() as u32;
            span.end += before.len() as u32;
        };
        shift(&mut moved.span);
        moved.labels.iter_mut().for_each(|label| shift(&mut label.span));
        if let Some(suggestion) = &mut moved.suggestion {
            suggestion.edits.iter_mut().for_each(|(span, _)| shift(span));
        }
        let text = before.clone() + &self.il;
        let shown = render(&[moved], text.as_bytes(), file);
        // The compiler says `error: ` itself.
        let head = format!("error[{}]: ", found.rule);
        shown.strip_prefix(&head).map_or_else(|| shown.clone(), |rest| rest.to_owned()).trim_end().to_owned()
    }

    /// The diagnostic in words, at the tokens that it is about.
    fn at_tokens(&self, found: &Diagnostic, tokens: &[(usize, TokenTree)]) -> Error {
        let (start, end) = (found.span.start as usize, found.span.end as usize);
        let last_before = |offset: usize| tokens.partition_point(|(at, _)| *at <= offset).saturating_sub(1);
        let (first, last) = (last_before(start), last_before(end.max(start + 1) - 1));
        let place: TokenStream =
            [first, last.max(first)].iter().filter_map(|&k| tokens.get(k)).map(|(_, t)| t.clone()).collect();
        let mut message = found.message.clone();
        for label in &found.labels {
            let about = self.il.get(label.span.start as usize..label.span.end as usize).unwrap_or_default();
            let line = (tokens.get(last_before(label.span.start as usize)))
                .map_or(0, |(_, t)| t.span().start().line);
            match label.span == found.span {
                true => message += &format!("\n{}", label.text),
                false => message += &format!("\nline {line}, `{about}`: {}", label.text),
            }
        }
        if let Some(note) = &found.note {
            message += &format!("\nnote: {note}");
        }
        if let Some(suggestion) = &found.suggestion {
            message += &format!("\nhelp: {}", suggestion.message);
        }
        Error::new_spanned(place, message)
    }
}

/// Writes tokens as a text.
struct Writer {
    text: String,
    tokens: Vec<(usize, TokenTree)>,
    /// Line, and column behind what was written.
    at: Option<(usize, usize)>,
}

impl Writer {
    fn all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => ("", ""),
                    };
                    self.one(open, mark(&group, group.span_open()));
                    self.all(group.stream());
                    self.one(close, mark(&group, group.span_close()));
                }
                other => {
                    let written = other.to_string();
                    self.one(&written, other);
                }
            }
        }
    }

    fn one(&mut self, written: &str, token: TokenTree) {
        let (start, end) = (token.span().start(), token.span().end());
        match self.at {
            Some((line, _)) if start.line > line => {
                self.text.push('\n');
            }
            // Another macro may have put them together: nothing is known of their places.
            Some((line, column)) if start.line == line && start.column == column => {}
            Some(_) => self.text.push(' '),
            None => {}
        }
        self.at = Some((end.line, end.column));
        self.tokens.push((self.text.len(), token));
        self.text.push_str(written);
    }
}

/// A token that stands for a bracket.
fn mark(group: &Group, span: Span) -> TokenTree {
    let mut mark = Group::new(group.delimiter(), TokenStream::new());
    mark.set_span(span);
    TokenTree::Group(mark)
}
