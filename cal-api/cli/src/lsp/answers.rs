//! What is answered about a text.

use lsp_types::{
    CompletionItem, CompletionItemKind, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    Documentation, GotoDefinitionResponse, Hover, HoverContents, Location, MarkupContent, MarkupKind,
    NumberOrString, Position, Range, TextEdit, Uri,
};
use recal_il::diagnostic::{Severity, Span};
use recal_il::isa::{Scope, TABLE};
use recal_manual::{Kind, Topic, find, instruction, markdown, topics};

use super::place::{byte, in_comment, position, range, word};

/// What the compiler says.
pub(super) fn diagnostics(uri: &Uri, text: &str) -> Vec<Diagnostic> {
    let found = recal_il::compile(text.as_bytes()).map_or_else(|errors| errors, |program| program.warnings);
    let shown = |d: recal_il::diagnostic::Diagnostic| {
        let mut message = d.message.clone();
        if let Some(note) = &d.note {
            message += &format!("\n{note}");
        }
        if let Some(suggestion) = &d.suggestion {
            message += &format!("\n{}", suggestion.message);
        }
        let related = d.labels.iter().filter(|l| l.span != d.span).map(|l| DiagnosticRelatedInformation {
            location: Location::new(uri.clone(), range(text, l.span)),
            message: l.text.clone(),
        });
        Diagnostic {
            range: range(text, d.span),
            severity: Some(match d.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Note => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(d.rule.into())),
            source: Some("recal".into()),
            message,
            related_information: Some(related.collect()),
            ..Diagnostic::default()
        }
    };
    found.into_iter().map(shown).collect()
}

/// What the manual says about a word, unless it is one of the API.
fn topic(word: &str) -> Option<&'static Topic> {
    find(word).filter(|t| matches!(t.kind, Kind::Instruction | Kind::Language))
}

pub(super) fn hover(text: &str, at: Position) -> Option<Hover> {
    let at = byte(text, at);
    if in_comment(text, at) {
        return None;
    }
    let word = word(text, at);
    let topic = topic(&text[word.clone()])?;
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: markdown(topic) };
    let span = Span { start: word.start as u32, end: word.end as u32 };
    Some(Hover { contents: HoverContents::Markup(contents), range: Some(range(text, span)) })
}

fn item(label: String, kind: CompletionItemKind, detail: &str) -> CompletionItem {
    let documentation = topic(&label).map(|t| {
        Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: markdown(t) })
    });
    CompletionItem {
        label,
        kind: Some(kind),
        detail: Some(detail.to_string()),
        documentation,
        ..CompletionItem::default()
    }
}

/// Instructions where a line begins, their specifiers behind them, registers where operands stand.
pub(super) fn completion(text: &str, at: Position) -> Vec<CompletionItem> {
    let at = byte(text, at);
    if in_comment(text, at) {
        return Vec::new();
    }
    let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
    if line.contains(char::is_whitespace) {
        let registers = topics().iter().filter(|t| t.kind == Kind::Language && t.see_also == ["registers"]);
        let label = |t: &Topic| t.name.trim_end_matches("[]").replace('#', "0");
        return registers.map(|t| item(label(t), CompletionItemKind::VARIABLE, &t.summary)).collect();
    }
    let rows = TABLE.iter().filter(|row| row.scope == Scope::Compute);
    let mut items: Vec<CompletionItem> = rows
        .filter(|row| row.mnemonic.starts_with(line))
        .map(|row| item(row.mnemonic.to_string(), CompletionItemKind::FUNCTION, &instruction::syntax(row)))
        .collect();
    // Behind `uav_raw_load_`: what the instruction takes.
    let begun = topic(line).filter(|t| t.kind == Kind::Instruction && line.len() > t.name.len());
    let row = begun.and_then(|t| TABLE.iter().find(|row| row.mnemonic == t.name));
    for name in row.map(instruction::specifiers).unwrap_or_default() {
        let detail = topic(&name).map_or("", |t| t.summary.as_str());
        let mut completed = item(name.clone(), CompletionItemKind::PROPERTY, detail);
        // Editors take the whole word for what is begun.
        let head = line.rfind('_').map_or(line, |at| &line[..at]);
        completed.filter_text = Some(format!("{head}{name}"));
        completed.insert_text = Some(format!("{head}{name}"));
        items.push(completed);
    }
    items
}

/// Statements of a text, line by line: where each begins, and its words. Comments are left out.
fn statements(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        let code = line.split(';').next().unwrap_or_default();
        let indent = code.len() - code.trim_start().len();
        Some((start + indent, code.trim()))
    })
}

/// Whether a word stands in a statement as a whole, and where.
fn stands(code: &str, wanted: &str) -> Option<usize> {
    let border = |c: Option<char>| c.is_none_or(|c| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut from = 0;
    while let Some(at) = code[from..].find(wanted).map(|at| from + at) {
        if border(code[..at].chars().next_back()) && border(code[at + wanted.len()..].chars().next()) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Where a register is declared, else where it is written first; the function of a label; the declaration of a number.
pub(super) fn definition(uri: &Uri, text: &str, at: Position) -> Option<GotoDefinitionResponse> {
    let at = byte(text, at);
    if in_comment(text, at) {
        return None;
    }
    let line_start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line_start..].lines().next().unwrap_or_default().trim();
    let wanted = &text[word(text, at)];
    let head = line.split_whitespace().next().unwrap_or_default();
    let number = wanted.bytes().all(|b| b.is_ascii_digit()) && !wanted.is_empty();
    let found = if number && head.starts_with("call") {
        statements(text)
            .find(|(_, code)| code.split_whitespace().eq(["func", wanted]))
            .map(|(start, code)| (start, code.len()))
    } else if number && head.starts_with("mcall") {
        let begins = format!("mdef({wanted})");
        statements(text).find(|(_, code)| code.starts_with(&begins)).map(|(start, _)| (start, begins.len()))
    } else if number {
        numbered(text, head, wanted)
    } else {
        register(text, wanted)
    };
    let (start, length) = found?;
    let place = Range::new(position(text, start), position(text, start + length));
    Some(GotoDefinitionResponse::Scalar(Location::new(uri.clone(), place)))
}

/// The declaration of `_id(n)` or `_resource(n)`: that of the kind of memory that the instruction names.
fn numbered(text: &str, head: &str, number: &str) -> Option<(usize, usize)> {
    let kind =
        ["uav", "lds", "gds", "srv"].into_iter().find(|kind| head.contains(kind)).unwrap_or("resource");
    let id = format!("_id({number})");
    let declares = |code: &&str| {
        let word = code.split_whitespace().next().unwrap_or_default();
        word.starts_with("dcl_") && word.contains(kind) && word.contains(&id)
    };
    statements(text).find(|(_, code)| declares(code)).map(|(start, code)| (start, code.len()))
}

fn register(text: &str, name: &str) -> Option<(usize, usize)> {
    topic(name).filter(|t| t.kind == Kind::Language)?;
    let declared = statements(text).find(|(_, code)| code.starts_with("dcl") && stands(code, name).is_some());
    let written = || {
        statements(text).find(|(_, code)| {
            let destination = code.split_once(char::is_whitespace).map_or("", |(_, rest)| rest);
            stands(destination.split(',').next().unwrap_or_default(), name) == Some(0)
        })
    };
    let (start, code) = declared.or_else(written)?;
    Some((start + stands(code, name)?, name.len()))
}

/// One edit that lays the whole text out; none where it is laid out, or not accepted.
pub(super) fn formatting(text: &str) -> Vec<TextEdit> {
    let laid_out = recal_il::text::format(text.as_bytes()).ok().and_then(|t| String::from_utf8(t).ok());
    match laid_out.filter(|new| new != text) {
        Some(new_text) => {
            vec![TextEdit { range: Range::new(Position::new(0, 0), position(text, text.len())), new_text }]
        }
        None => Vec::new(),
    }
}
