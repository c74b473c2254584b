//! The chapters of the book: Markdown. Headings of the chapters about the language that are names in backticks are topics.

use crate::topic::{Block, Kind, Section, Topic};

/// A chapter: its file's stem, its title is its first heading.
pub struct Chapter {
    /// Name of its page.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Whether its headings are topics.
    pub reference: bool,
}

impl Chapter {
    /// The first heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

macro_rules! chapters {
    ($($name:literal $reference:literal,)*) => {
        /// All of them, in the order of reading.
        pub const CHAPTERS: &[Chapter] = &[$(Chapter {
            name: $name,
            text: include_str!(concat!("../chapters/", $name, ".md")),
            reference: $reference,
        },)*];
    };
}

chapters! {
    "index" false,
    "tutorial" false,
    "tasks" false,
    "porting" false,
    "rust" false,
    "debugging" false,
    "fast" false,
    "gallery" false,
    "language" false,
    "registers" true,
    "modifiers" true,
    "specifiers" true,
    "memory" true,
    "objects" false,
}

/// Paragraphs, lists, fenced code and tables of the Markdown under a heading.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|l| !l.starts_with("```")).collect();
            let language = match language.trim() {
                "il" => "il",
                "c" => "c",
                _ => "text",
            };
            blocks.push(Block::Code(language, code.join("\n")));
        } else if line.starts_with('|') {
            let cells = |line: &str| -> Vec<String> {
                line.trim_matches('|').split(" | ").map(|c| c.trim().to_string()).collect()
            };
            let head = cells(line);
            let mut rows = Vec::new();
            while let Some(row) = lines.next_if(|l| l.starts_with('|')) {
                if !row.starts_with("|---") {
                    rows.push(cells(row));
                }
            }
            blocks.push(Block::Table(head, rows));
        } else if let Some(item) = line.strip_prefix("* ") {
            let mut item = item.to_string();
            while let Some(more) = lines.next_if(|l| l.starts_with("  ")) {
                item.push(' ');
                item.push_str(more.trim());
            }
            match blocks.last_mut() {
                Some(Block::List(items)) => items.push(item),
                _ => blocks.push(Block::List(vec![item])),
            }
        } else if !line.trim().is_empty() {
            let mut paragraph = line.to_string();
            while let Some(more) = lines.next_if(|l| {
                !l.trim().is_empty()
                    && !l.starts_with(['|', '#'])
                    && !l.starts_with("```")
                    && !l.starts_with("* ")
            }) {
                paragraph.push(' ');
                paragraph.push_str(more.trim());
            }
            blocks.push(Block::Text(paragraph));
        }
    }
    blocks
}

/// The names of a heading: `` `vTid0`, `vTid` ``; none if it is words.
pub fn names(heading: &str) -> Vec<&str> {
    if heading.starts_with('`') { heading.split('`').skip(1).step_by(2).collect() } else { Vec::new() }
}

/// A topic for each heading of names. Its first sentence is the summary.
pub fn topics() -> Vec<Topic> {
    let mut topics = Vec::new();
    for chapter in CHAPTERS.iter().filter(|c| c.reference) {
        for section in chapter.text.split("\n## ").skip(1) {
            let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
            let names = names(heading);
            let Some((name, aliases)) = names.split_first() else { continue };
            let mut blocks = blocks(body);
            let summary = match blocks.first_mut() {
                Some(Block::Text(text)) => {
                    let end = text.find(". ").map_or(text.len(), |at| at + 1);
                    let summary = text[..end].to_string();
                    *text = text[end..].trim().to_string();
                    summary
                }
                _ => String::new(),
            };
            blocks.retain(|b| *b != Block::Text(String::new()));
            let sections =
                if blocks.is_empty() { Vec::new() } else { vec![Section { title: "Description", blocks }] };
            topics.push(Topic {
                name: (*name).to_string(),
                aliases: aliases.iter().map(|a| (*a).to_string()).collect(),
                kind: Kind::Language,
                summary,
                sections,
                see_also: vec![chapter.name.to_string()],
            });
        }
    }
    topics
}
