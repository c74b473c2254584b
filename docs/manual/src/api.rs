//! Topics of the API: functions, codes and types, from the comments of the C headers.

use crate::topic::{Block, Kind, Section, Topic};

/// The headers, by name.
pub const HEADERS: &[(&str, &str)] = &[
    ("cal.h", include_str!("../include/cal.h")),
    ("calcl.h", include_str!("../include/calcl.h")),
    ("cal_ext.h", include_str!("../include/cal_ext.h")),
    ("cal_ext_counter.h", include_str!("../include/cal_ext_counter.h")),
    ("calcl_ext.h", include_str!("../include/calcl_ext.h")),
    ("cal_private_ext.h", include_str!("../include/cal_private_ext.h")),
];

/// A function, as its header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The header that declares it.
    pub header: &'static str,
    /// The declaration, without macros.
    pub prototype: String,
    /// Names of the parameters of the prototype.
    pub parameters: Vec<String>,
    /// What it does.
    pub text: String,
    /// Parameters and what they are.
    pub described: Vec<(String, String)>,
    /// Codes and when they are returned, those that all have included.
    pub results: Vec<(String, String)>,
    /// How long what it gives lasts.
    pub lifetime: String,
    /// Lines of C.
    pub example: String,
}

impl Function {
    /// Whether it gives a code.
    pub fn gives_code(&self) -> bool {
        self.prototype.starts_with("CALresult")
    }
}

/// The lines of a comment, without its frame.
fn comment_lines(comment: &str) -> Vec<&str> {
    let inner = comment.trim().trim_start_matches("/*").trim_end_matches("*/");
    inner
        .lines()
        .map(|line| line.trim_end())
        .map(|line| line.trim_start().strip_prefix('*').unwrap_or(line))
        .collect()
}

/// Where a comment ends that a text begins with.
fn comment_end(text: &str) -> Option<usize> {
    text.starts_with("/*").then(|| text.find("*/").map(|at| at + 2))?
}

/// Names of parameters: the last word of each.
fn parameters(prototype: &str) -> Vec<String> {
    let inside = prototype.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches([')', ';']));
    inside
        .split(',')
        .filter_map(|p| p.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|w| !w.is_empty()))
        .filter(|p| *p != "void")
        .map(str::to_string)
        .collect()
}

fn function(header: &'static str, comment: &str, prototype: &str) -> Function {
    let prototype: String =
        prototype.split_whitespace().filter(|w| !w.starts_with("CALAPI")).collect::<Vec<_>>().join(" ");
    let name =
        prototype.split('(').next().unwrap_or_default().rsplit(' ').next().unwrap_or_default().to_string();
    let mut f = Function {
        parameters: parameters(&prototype),
        name,
        header,
        prototype,
        text: String::new(),
        described: Vec::new(),
        results: Vec::new(),
        lifetime: String::new(),
        example: String::new(),
    };
    /// What the line before belongs to.
    enum Part {
        Text,
        Parameter,
        Result,
        Lifetime,
        Example,
    }
    let mut part = Part::Text;
    let join = |to: &mut String, line: &str| {
        if !to.is_empty() {
            to.push(' ');
        }
        to.push_str(line.trim());
    };
    for line in comment_lines(comment) {
        let trimmed = line.trim();
        if let Part::Example = part {
            f.example.push_str(line.strip_prefix("     ").unwrap_or(trimmed));
            f.example.push('\n');
            continue;
        }
        let head =
            trimmed.split_once(": ").filter(|(head, _)| !head.contains(' ') && !line.starts_with("  "));
        match head {
            _ if trimmed == "Example:" => part = Part::Example,
            Some(("Lifetime", rest)) => {
                part = Part::Lifetime;
                join(&mut f.lifetime, rest);
            }
            Some((code, rest)) if code.starts_with("CAL_RESULT_") => {
                part = Part::Result;
                f.results.push((code.to_string(), rest.to_string()));
            }
            Some((name, rest)) if f.parameters.iter().any(|p| p == name) => {
                part = Part::Parameter;
                f.described.push((name.to_string(), rest.to_string()));
            }
            _ if trimmed.is_empty() => {}
            _ => match part {
                Part::Text => join(&mut f.text, trimmed),
                Part::Parameter => join(&mut f.described.last_mut().expect("a parameter began").1, trimmed),
                Part::Result => join(&mut f.results.last_mut().expect("a code began").1, trimmed),
                Part::Lifetime => join(&mut f.lifetime, trimmed),
                Part::Example => {}
            },
        }
    }
    f.example = f.example.trim_end().to_string();
    if f.gives_code() {
        f.results.insert(0, ("CAL_RESULT_OK".into(), "it is done, or queued.".into()));
        if !f.text.contains("Works at any time") {
            f.results.push(("CAL_RESULT_NOT_INITIALIZED".into(), "outside calInit … calShutdown.".into()));
        }
        let inside = "memory is short, or something fails inside; calGetErrorString tells.";
        match f.results.iter_mut().find(|(code, _)| code == "CAL_RESULT_ERROR") {
            Some((_, when)) => *when = format!("{} Also: {inside}", when.trim()),
            None => f.results.push(("CAL_RESULT_ERROR".into(), inside.into())),
        }
    }
    f
}

/// A comment and what stands behind it, for each comment of a header.
fn commented(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        rest = &rest[at..];
        let Some(end) = comment_end(rest) else { break };
        let (comment, after) = rest.split_at(end);
        found.push((comment, after.trim_start_matches('\n')));
        rest = after;
    }
    found
}

/// Every function of the headers, in their order.
pub fn functions() -> Vec<Function> {
    let mut functions = Vec::new();
    for &(header, text) in HEADERS {
        for (comment, after) in commented(text) {
            if after.starts_with("CALAPI ")
                && let Some((prototype, _)) = after.split_once(';')
            {
                functions.push(function(header, comment, prototype));
            }
        }
    }
    functions
}

/// The functions of extensions: type, prototype, and what the comment above says.
fn extensions() -> Vec<Topic> {
    let mut topics = Vec::new();
    for &(header, text) in HEADERS {
        let mut said = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(end) = comment_end(rest) {
                said = comment_lines(&rest[..end])
                    .iter()
                    .map(|l| l.trim())
                    .collect::<Vec<_>>()
                    .join(" ")
                    .trim()
                    .to_string();
                rest = &rest[end..];
            } else if let Some(declared) = rest.strip_prefix("typedef CALresult (CALAPIENTRYP PFN") {
                let (pointer, behind) = declared.split_once(')').unwrap_or((declared, ""));
                let (arguments, behind) = behind.split_once(';').unwrap_or((behind, ""));
                let name =
                    EXTENSIONS.iter().find(|n| n.to_ascii_uppercase() == pointer || pointer == alias(n));
                if let Some(name) = name {
                    let arguments = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
                    let prototype = format!("CALresult {name}{arguments}");
                    topics.push(extension(name, header, pointer, prototype, &said));
                }
                rest = behind;
            } else {
                let step = rest.chars().next().map_or(1, char::len_utf8);
                rest = &rest[step..];
            }
        }
    }
    topics
}

/// What extensions give by name and the library does not export.
pub const EXTENSIONS: &[&str] = &[
    "calCtxCreateCounter",
    "calCtxDestroyCounter",
    "calCtxBeginCounter",
    "calCtxEndCounter",
    "calCtxGetCounter",
    "calCtxRunProgramParams",
    "calResCreate2D",
    "calResCreate1D",
    "calCtxSetSamplerParams",
    "calCtxGetSamplerParams",
    "calCtxWaitForEvents",
    "calReadAtomicCounter",
    "calWriteAtomicCounter",
];

/// The headers leave a word out of some names of types.
fn alias(name: &str) -> String {
    name.to_ascii_uppercase().replace("CALCTXSET", "CALSET").replace("CALCTXGETS", "CALGETS")
}

fn extension(name: &str, header: &str, pointer: &str, prototype: String, said: &str) -> Topic {
    let how = format!(
        "It is no symbol of the library: `calExtGetProc` gives it by the name \"{name}\", to be cast to `PFN{pointer}`."
    );
    let said = if said.is_empty() { "A function of an extension." } else { said };
    Topic {
        name: name.to_string(),
        aliases: vec![format!("PFN{pointer}")],
        kind: Kind::Function,
        summary: first_sentence(said).0,
        sections: vec![
            Section { title: "Syntax", blocks: vec![Block::Code("c", declaration(header, &prototype))] },
            Section {
                title: "Description",
                blocks: [first_sentence(said).1, how]
                    .into_iter()
                    .filter(|t| !t.is_empty())
                    .map(Block::Text)
                    .collect(),
            },
        ],
        see_also: vec!["calExtGetProc".to_string()],
    }
}

/// The first sentence, and the rest.
fn first_sentence(text: &str) -> (String, String) {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    (text[..end].trim().to_string(), text[end..].trim().to_string())
}

fn table(head: [&str; 2], rows: &[(String, String)]) -> Block {
    Block::Table(
        head.map(str::to_string).to_vec(),
        rows.iter().map(|(a, b)| vec![format!("`{a}`"), b.clone()]).collect(),
    )
}

/// A declaration in lines of 80 columns, parameters below each other.
fn declaration(header: &str, prototype: &str) -> String {
    let mut lines = vec![format!("#include <{header}>"), String::new()];
    let indent = prototype.find('(').map_or(4, |at| at + 1);
    let mut line = String::new();
    for part in prototype.split_inclusive(", ") {
        if line.len() + part.trim_end().len() > 78 && !line.trim().is_empty() {
            lines.push(line.trim_end().to_string());
            line = " ".repeat(indent);
        }
        line += part;
    }
    lines.push(line + ";");
    lines.join("\n")
}

/// Functions of the same object: the words of a name up to its second capital.
fn object(name: &str) -> String {
    let mut capitals = 0;
    let head = name.chars().take_while(|c| {
        capitals += usize::from(c.is_uppercase());
        capitals < 2
    });
    head.collect()
}

fn topic(f: &Function, all: &[Function]) -> Topic {
    let (summary, rest) = first_sentence(&f.text);
    let mut sections = vec![Section {
        title: "Syntax",
        blocks: vec![Block::Code("c", declaration(f.header, &f.prototype))],
    }];
    if !rest.is_empty() {
        sections.push(Section { title: "Description", blocks: vec![Block::Text(rest)] });
    }
    if !f.described.is_empty() {
        sections
            .push(Section { title: "Parameters", blocks: vec![table(["parameter", "is"], &f.described)] });
    }
    if !f.results.is_empty() {
        sections.push(Section { title: "Results", blocks: vec![table(["code", "when"], &f.results)] });
    }
    if !f.lifetime.is_empty() {
        let mut text = f.lifetime.clone();
        text[..1].make_ascii_uppercase();
        sections.push(Section { title: "Lifetime", blocks: vec![Block::Text(text)] });
    }
    if !f.example.is_empty() {
        sections.push(Section { title: "Example", blocks: vec![Block::Code("c", f.example.clone())] });
    }
    let near = all.iter().filter(|other| other.name != f.name && object(&other.name) == object(&f.name));
    Topic {
        name: f.name.clone(),
        aliases: Vec::new(),
        kind: Kind::Function,
        summary,
        sections,
        see_also: near.map(|other| other.name.clone()).collect(),
    }
}

/// An enumeration or a structure: its comment, its name, its body as it is.
fn types() -> Vec<Topic> {
    let mut topics = Vec::new();
    for &(header, text) in HEADERS {
        for (comment, after) in commented(text) {
            let opens = after.lines().next().is_some_and(|line| line.ends_with('{'));
            if !(opens && (after.starts_with("typedef enum") || after.starts_with("typedef struct"))) {
                continue;
            }
            let Some((body, rest)) = after.split_once("\n}") else { continue };
            let Some((name, _)) = rest.split_once(';') else { continue };
            let said = comment_lines(comment).iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ");
            let (summary, more) = first_sentence(said.trim());
            let enumerators = if body.starts_with("typedef enum") { enumerators(body) } else { Vec::new() };
            let mut sections = Vec::new();
            if !more.is_empty() {
                sections.push(Section { title: "Description", blocks: vec![Block::Text(more)] });
            }
            let code = format!("{body}\n}}{name};");
            sections.push(Section {
                title: "Syntax",
                blocks: vec![Block::Code("c", format!("#include <{header}>\n\n{code}"))],
            });
            topics.push(Topic {
                name: name.trim().to_string(),
                // The codes are topics of their own.
                aliases: if name.trim() == "CALresult" {
                    Vec::new()
                } else {
                    enumerators.into_iter().map(|(n, _)| n).collect()
                },
                kind: Kind::Type,
                summary,
                sections,
                see_also: Vec::new(),
            });
        }
    }
    topics
}

/// Names of enumerators and the comments behind them.
fn enumerators(body: &str) -> Vec<(String, String)> {
    let named = |line: &str| {
        let (name, rest) = line.trim().split_once(" ")?;
        let comment = rest.split_once("/*").map_or("", |(_, c)| c.trim_end_matches("*/").trim());
        rest.trim_start().starts_with('=').then(|| (name.to_string(), comment.to_string()))
    };
    body.lines().filter_map(named).collect()
}

fn codes(functions: &[Function]) -> Vec<Topic> {
    let (_, header) = HEADERS[0];
    let body = header.split_once("typedef enum CALresultEnum {").and_then(|(_, rest)| rest.split_once('}'));
    let codes = enumerators(body.map_or("", |(body, _)| body));
    let topic = |(name, said): (String, String)| {
        let when: Vec<(String, String)> = (functions.iter())
            .filter_map(|f| {
                f.results
                    .iter()
                    .find(|(code, _)| *code == name)
                    .map(|(_, when)| (f.name.clone(), when.clone()))
            })
            .collect();
        let mut summary = said;
        if let Some(first) = summary.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let mut sections = Vec::new();
        let common = matches!(name.as_str(), "CAL_RESULT_OK" | "CAL_RESULT_NOT_INITIALIZED");
        if common {
            let every = "Nearly every function may return it.";
            sections.push(Section { title: "Functions", blocks: vec![Block::Text(every.to_string())] });
        } else if when.is_empty() {
            let none = "No function of this runtime returns it.";
            sections.push(Section { title: "Functions", blocks: vec![Block::Text(none.to_string())] });
        } else {
            sections.push(Section { title: "Functions", blocks: vec![table(["function", "when"], &when)] });
        }
        Topic {
            summary: format!("{summary}."),
            name,
            aliases: Vec::new(),
            kind: Kind::Result,
            sections,
            see_also: vec!["calGetErrorString".into()],
        }
    };
    codes.into_iter().map(topic).collect()
}

/// Functions, those of extensions included; codes; types.
pub fn topics() -> Vec<Topic> {
    let functions = functions();
    let mut topics: Vec<Topic> = functions.iter().map(|f| topic(f, &functions)).collect();
    topics.extend(extensions());
    topics.extend(codes(&functions));
    topics.extend(types());
    topics
}
