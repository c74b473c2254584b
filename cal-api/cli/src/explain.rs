//! `recal explain`: what the manual says about a name.

use clap::Args;
use recal_manual::{Block, Kind, Topic, find, nearest, plain, topics};
use serde_json::{Value, json};

use crate::Outcome;
use crate::files::{print, print_json};

#[derive(Args)]
pub(crate) struct Arguments {
    /// An instruction, register, specifier or modifier of IL, a function or code of the API, a rule of the compiler; without one, all
    /// names are listed
    name: Option<String>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Lines are broken here where the terminal does not say.
const WIDTH: usize = 100;

pub(crate) fn explain(arguments: &Arguments) -> Outcome {
    let Some(name) = &arguments.name else {
        return list(&topics().iter().collect::<Vec<_>>(), arguments.json);
    };
    let Some(topic) = find(name) else {
        if let Some(listed) = chapter(name) {
            return list(&listed, arguments.json);
        }
        let near = nearest(name);
        let mut message = format!("there is nothing about `{name}`");
        if !near.is_empty() {
            message += &format!("; near are {}", near.join(", "));
        }
        return Err(message.into());
    };
    // `switch` is an instruction, and a rule.
    let namesakes: Vec<&Topic> =
        topics().iter().filter(|other| other.name == topic.name && other.kind != topic.kind).collect();
    if arguments.json {
        let mut value = value(topic);
        value["also"] = namesakes.into_iter().map(self::value).collect();
        return print_json(&value);
    }
    let width = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok()).unwrap_or(WIDTH);
    let page = |topic: &Topic| plain(topic, usize::clamp(width, 40, WIDTH));
    let pages: Vec<String> = std::iter::once(topic).chain(namesakes).map(page).collect();
    print(&pages.join("\n"))
}

/// The names of a chapter of the language, which pages of these name as near.
fn chapter(name: &str) -> Option<Vec<&'static Topic>> {
    let of = |topic: &&Topic| topic.kind == Kind::Language && topic.see_also == [name];
    let listed: Vec<&Topic> = topics().iter().filter(of).collect();
    (!listed.is_empty()).then_some(listed)
}

fn list(topics: &[&Topic], json: bool) -> Outcome {
    if json {
        let all =
            topics.iter().map(|t| json!({ "name": t.name, "kind": t.kind.name(), "summary": t.summary }));
        return print_json(&Value::Array(all.collect()));
    }
    let mut text = String::new();
    let kinds = [Kind::Instruction, Kind::Language, Kind::Function, Kind::Result, Kind::Type, Kind::Rule];
    for kind in kinds {
        let of_kind: Vec<&&Topic> = topics.iter().filter(|t| t.kind == kind).collect();
        if !of_kind.is_empty() {
            text += &format!("{}\n", kind.name());
        }
        for topic in of_kind {
            text += &format!("    {:<26} {}\n", topic.name, topic.summary);
        }
    }
    print(&text)
}

fn value(topic: &Topic) -> Value {
    let block = |block: &Block| match block {
        Block::Text(text) => json!({ "text": text }),
        Block::Code(language, code) => json!({ "code": code, "language": language }),
        Block::List(items) => json!({ "list": items }),
        Block::Table(head, rows) => json!({ "head": head, "rows": rows }),
    };
    let sections: Vec<Value> = (topic.sections.iter())
        .map(|s| json!({ "title": s.title, "blocks": s.blocks.iter().map(block).collect::<Vec<_>>() }))
        .collect();
    json!({
        "name": topic.name,
        "aliases": topic.aliases,
        "kind": topic.kind.name(),
        "summary": topic.summary,
        "sections": sections,
        "see_also": topic.see_also,
    })
}
