//! Man pages: section 3 for the functions of the API, section 7 for the language.

use recal_il::isa::TABLE;
use roff::{Inline, Roff, bold, italic, roman};

use crate::topic::{Block, Kind, Topic};
use crate::{instruction, topics};

/// A file of a man page and its text.
pub struct Page {
    /// `calInit.3`
    pub file: String,
    /// Roff.
    pub text: String,
}

/// Words between backticks are bold.
fn inlines(text: &str) -> Vec<Inline> {
    let part = |(k, part): (usize, &str)| if k % 2 == 1 { bold(part) } else { roman(part) };
    text.split('`').enumerate().filter(|(_, part)| !part.is_empty()).map(part).collect()
}

fn code(page: &mut Roff, text: &str) {
    page.control("PP", []).control("RS", ["4"]).control("nf", []);
    for line in text.lines() {
        page.text([roman(line)]);
    }
    page.control("fi", []).control("RE", []);
}

fn block(page: &mut Roff, block: &Block) {
    match block {
        Block::Text(text) => {
            page.control("PP", []).text(inlines(text));
        }
        Block::Code(_, text) => code(page, text),
        Block::List(items) => {
            for item in items {
                page.control("IP", ["\\(bu", "2"]).text(inlines(item));
            }
        }
        Block::Table(head, rows) => {
            for row in rows {
                page.control("TP", []).text([bold(row[0].replace('`', ""))]);
                let cells = head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
                for (k, (title, cell)) in cells.enumerate() {
                    if k > 0 {
                        page.control("br", []);
                    }
                    let mut text =
                        if head.len() > 2 { vec![italic(title.as_str()), roman(": ")] } else { Vec::new() };
                    text.extend(inlines(cell));
                    page.text(text);
                }
            }
        }
    }
}

fn head(name: &str, section: &str, summary: &str) -> Roff {
    let mut page = Roff::default();
    // No date: pages of one state are the same bytes whenever they are made.
    page.control("TH", [name, section, " ", "reCAL", "CAL"]);
    // Lines with long names are not stretched.
    page.control("ad", ["l"]);
    page.control("SH", ["NAME"]);
    // `man -k` reads this line: no markup, no full stop.
    page.text([roman(format!("{name} - {}", summary.trim_end_matches('.').replace('`', "")))]);
    page
}

fn see(page: &mut Roff, names: &[(String, &str)]) {
    page.control("SH", ["SEE ALSO"]);
    let mut words = Vec::new();
    for (k, (name, section)) in names.iter().enumerate() {
        if k > 0 {
            words.push(roman(", "));
        }
        words.extend([bold(name.as_str()), roman(format!("({section})"))]);
    }
    page.text(words);
}

/// The page of a function.
fn function(topic: &Topic) -> Page {
    let mut page = head(&topic.name, "3", &topic.summary);
    for section in &topic.sections {
        let title = match section.title {
            "Syntax" => "SYNOPSIS",
            "Results" => "RETURN VALUE",
            other => &other.to_uppercase(),
        };
        page.control("SH", [title]);
        section.blocks.iter().for_each(|b| block(&mut page, b));
    }
    let mut names: Vec<(String, &str)> = topic.see_also.iter().map(|n| (n.clone(), "3")).collect();
    names.push(("amd-il".into(), "7"));
    names.push(("recal".into(), "1"));
    see(&mut page, &names);
    Page { file: format!("{}.3", topic.name), text: page.render() }
}

/// The page of the language: registers, modifiers, specifiers, memory, and a line for each instruction.
fn language() -> Page {
    let mut page = head("amd-il", "7", "The kernel language of CAL.");
    page.control("SH", ["DESCRIPTION"]);
    page.text(inlines(
        "A kernel is text: a header, `il_ps_2_0` for a pixel kernel or `il_cs_2_0` for a compute kernel, declarations, \
         instructions, `end`. A pixel kernel runs once for each element of a rectangle and writes `o#`; a compute kernel \
         runs in groups of threads, which share memory. Registers hold four words of 32 bits. A comment begins with a semicolon.",
    ));
    page.control("PP", []).text(inlines(
        "`recal explain NAME` tells all there is about an instruction, a register or a message.",
    ));
    for (chapter, title) in [
        ("registers", "REGISTERS"),
        ("modifiers", "MODIFIERS"),
        ("specifiers", "SPECIFIERS"),
        ("memory", "MEMORY"),
    ] {
        page.control("SH", [title]);
        for topic in topics().iter().filter(|t| t.kind == Kind::Language && t.see_also == [chapter]) {
            let names: Vec<&str> =
                std::iter::once(&topic.name).chain(&topic.aliases).map(String::as_str).collect();
            page.control("TP", []).text([bold(names.join(", "))]);
            page.text(inlines(&topic.summary));
            for section in &topic.sections {
                for piece in &section.blocks {
                    if let Block::Text(text) = piece {
                        page.control("IP", []).text(inlines(text));
                    }
                }
            }
        }
    }
    page.control("SH", ["INSTRUCTIONS"]);
    for row in TABLE.iter().filter(|row| row.scope == recal_il::isa::Scope::Compute) {
        page.control("TP", []).text([bold(instruction::syntax(row))]);
        page.text(inlines(row.opcode.doc()));
    }
    see(&mut page, &[("recal".into(), "1"), ("calclCompile".into(), "3"), ("recal-environment".into(), "7")]);
    Page { file: "amd-il.7".into(), text: page.render() }
}

/// All of them.
pub fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = topics().iter().filter(|t| t.kind == Kind::Function).map(function).collect();
    pages.push(language());
    pages
}
