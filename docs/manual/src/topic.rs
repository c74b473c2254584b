//! What there is to say about a name, and how it is found.

use std::sync::OnceLock;

use crate::{api, chapters, instruction, rules};

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An instruction of IL, declarations included.
    Instruction,
    /// Registers, modifiers, specifiers and memory: a heading of a chapter.
    Language,
    /// A function of the API.
    Function,
    /// A code that functions return.
    Result,
    /// A structure or an enumeration of the API.
    Type,
    /// A rule of the compiler, which its messages name.
    Rule,
}

impl Kind {
    /// A word for people, and the folder of its pages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Instruction => "instruction",
            Kind::Language => "language",
            Kind::Function => "function",
            Kind::Result => "result",
            Kind::Type => "type",
            Kind::Rule => "rule",
        }
    }
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph; words between backticks are code.
    Text(String),
    /// Lines as they are, and the language they are in: `il`, `c`, `text`.
    Code(&'static str, String),
    /// A table: its head, and its rows, of paragraphs.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Paragraphs, each with a point before it.
    List(Vec<String>),
}

/// Blocks under a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What stands under it.
    pub blocks: Vec<Block>,
}

/// What there is to say about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, as programs write it.
    pub name: String,
    /// Other spellings.
    pub aliases: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// One sentence.
    pub summary: String,
    /// The rest.
    pub sections: Vec<Section>,
    /// Names of topics that are near.
    pub see_also: Vec<String>,
}

impl Topic {
    /// The section of a title.
    pub fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|s| s.title == title)
    }
}

/// All of them, sorted by kind and name.
pub fn topics() -> &'static [Topic] {
    static ALL: OnceLock<Vec<Topic>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = instruction::topics();
        all.extend(chapters::topics());
        all.extend(api::topics());
        all.extend(rules::topics());
        all.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        all
    })
}

/// Names are found in any case, registers with any number, instructions with their specifiers.
pub fn find(name: &str) -> Option<&'static Topic> {
    let wanted = name.trim().to_ascii_lowercase();
    let is = |candidate: &str| candidate.eq_ignore_ascii_case(&wanted);
    let named = |wanted: &dyn Fn(&str) -> bool| {
        topics().iter().find(|t| wanted(&t.name) || t.aliases.iter().any(|a| wanted(a)))
    };
    if let Some(topic) = named(&is) {
        return Some(topic);
    }
    // `r12` is `r#`, `cb0[r1.x+2]` is `cb#`.
    let letters: String = wanted.chars().take_while(char::is_ascii_alphabetic).collect();
    let rest = &wanted[letters.len()..];
    if !letters.is_empty() && (rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit())) {
        let register = format!("{letters}#");
        if let Some(topic) = named(&|candidate: &str| candidate.eq_ignore_ascii_case(&register)) {
            return Some(topic);
        }
    }
    // `mad_ieee_sat` is `mad`; `_zeroop(zero)` is `_zeroop`.
    let word = wanted.split('(').next().unwrap_or_default();
    let mut end = word.len();
    while end > 0 {
        let head = &word[..end];
        let instruction = topics().iter().find(|t| {
            (t.kind == Kind::Instruction || head.starts_with('_'))
                && (t.name.eq_ignore_ascii_case(head)
                    || t.aliases.iter().any(|a| a.eq_ignore_ascii_case(head)))
        });
        if instruction.is_some() {
            return instruction;
        }
        end = word[..end].rfind('_').unwrap_or(0);
    }
    None
}

/// Names that are like a word that is none, the likest first.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let wanted = name.to_ascii_lowercase();
    let mut near: Vec<(usize, &'static str)> = topics()
        .iter()
        .flat_map(|t| std::iter::once(&t.name).chain(&t.aliases))
        .map(|candidate| {
            (strsim::damerau_levenshtein(&wanted, &candidate.to_ascii_lowercase()), candidate.as_str())
        })
        .filter(|(distance, candidate)| {
            *distance <= (wanted.len() / 3).max(1)
                || wanted.len() > 2 && candidate.to_ascii_lowercase().contains(&wanted)
        })
        .collect();
    near.sort();
    near.dedup_by_key(|(_, candidate)| *candidate);
    near.into_iter().map(|(_, candidate)| candidate).take(5).collect()
}
