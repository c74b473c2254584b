//! The book: pages of HTML that need no network, a style sheet, and an index for the search.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use recal_il::isa::{Scope, TABLE};

use crate::chapters::{CHAPTERS, Chapter, names};
use crate::topic::{Block, Kind, Topic, find, topics};
use crate::{instruction, plot};

/// A file of the book.
pub struct File {
    /// Its path in the folder.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A name as a part of an address: letters, digits, `-` and `_`.
fn slug(name: &str) -> String {
    let word: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    word.trim_matches('-').to_string()
}

/// The address of a topic, from the top of the book.
pub fn address(topic: &Topic) -> String {
    match topic.kind {
        Kind::Language => {
            format!("{}.html#{}", topic.see_also.first().map_or("language", |s| s), slug(&topic.name))
        }
        kind => format!("{}/{}.html", kind.name(), slug(&topic.name)),
    }
}

/// What a page is made with: where it is, so that its links are relative.
struct Place {
    root: &'static str,
    /// The topic that the page is about: it does not link to itself.
    own: Option<String>,
    /// It is about the API.
    api: bool,
}

impl Place {
    /// A word of code, as a link where the book has something about it. On pages of the API, names of parameters are no instructions.
    fn code(&self, word: &str) -> String {
        let topic = find(word).filter(|t| {
            let exact = |n: &String| n == word;
            // `mad_ieee` is an instruction with a specifier; `product_one.il` is a file.
            let longer = t.kind == Kind::Instruction
                && word.starts_with(&format!("{}_", t.name))
                && !word.contains('.');
            let known = longer
                || exact(&t.name)
                || t.aliases.iter().any(exact)
                || t.kind == Kind::Language && word.len() > 1;
            let here = !self.api || matches!(t.kind, Kind::Function | Kind::Result | Kind::Type);
            known && here && self.own.as_ref() != Some(&t.name)
        });
        match topic {
            Some(topic) => {
                format!("<a href=\"{}{}\"><code>{}</code></a>", self.root, address(topic), escape(word))
            }
            None => format!("<code>{}</code>", escape(word)),
        }
    }

    /// A paragraph's words: code between backticks, names of functions and codes as links.
    fn words(&self, text: &str) -> String {
        let mut out = String::new();
        for (k, part) in text.split('`').enumerate() {
            if k % 2 == 1 {
                out += &self.code(part);
                continue;
            }
            let mut rest = part;
            while let Some(at) = rest.find("cal").into_iter().chain(rest.find("CAL_")).min() {
                let end = rest[at..]
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .map_or(rest.len(), |e| at + e);
                let (before, word) = (&rest[..at], &rest[at..end]);
                out += &escape(before);
                let boundary = before.chars().last().is_none_or(|c| !c.is_alphanumeric());
                let named = |t: &&Topic| {
                    t.name == word && matches!(t.kind, Kind::Function | Kind::Result | Kind::Type)
                };
                let known = boundary && find(word).as_ref().is_some_and(named);
                out += &if known { self.code(word) } else { escape(word) };
                rest = &rest[end..];
            }
            out += &escape(rest);
        }
        out
    }

    fn block(&self, block: &Block, out: &mut String) {
        match block {
            Block::Text(text) => {
                let _ = write!(out, "<p>{}</p>", self.words(text));
            }
            Block::Code(language, code) => *out += &highlighted(language, code),
            Block::List(items) => {
                *out += "<ul>";
                items.iter().for_each(|i| {
                    let _ = write!(out, "<li>{}</li>", self.words(i));
                });
                *out += "</ul>";
            }
            Block::Table(head, rows) => {
                let values = head.iter().any(|h| h.starts_with("dst"));
                let _ = write!(
                    out,
                    "<div class=\"wide\" tabindex=\"0\"><table{}><tr>",
                    if values { " class=\"values\"" } else { "" }
                );
                head.iter().for_each(|h| {
                    let _ = write!(out, "<th>{}</th>", self.words(h));
                });
                *out += "</tr>";
                for row in rows {
                    *out += "<tr>";
                    row.iter().for_each(|c| {
                        let _ = write!(out, "<td>{}</td>", self.words(c));
                    });
                    *out += "</tr>";
                }
                *out += "</table></div>";
            }
        }
    }

    fn topic(&self, topic: &Topic) -> String {
        let mut out = format!("<p class=\"kind\">{}</p><h1>{}</h1>", topic.kind.name(), escape(&topic.name));
        let _ = write!(out, "<p class=\"lead\">{}</p>", self.words(&topic.summary));
        for section in &topic.sections {
            let _ = write!(out, "<h2 id=\"{}\">{}</h2>", slug(section.title), section.title);
            section.blocks.iter().for_each(|b| self.block(b, &mut out));
        }
        if !topic.see_also.is_empty() {
            out += "<h2 id=\"See-also\">See also</h2><p>";
            let links: Vec<String> = topic.see_also.iter().map(|n| self.code(n)).collect();
            out += &links.join(", ");
            out += "</p>";
        }
        out
    }

    /// A chapter: Markdown, with plots, code in colours and links from names.
    fn chapter(&self, chapter: &Chapter) -> String {
        let mut events: Vec<Event> = Vec::new();
        let mut code: Option<(String, String)> = None;
        let mut heading: Option<String> = None;
        let mut in_link = 0;
        for event in Parser::new_ext(chapter.text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    code = Some((language, String::new()));
                }
                Event::End(TagEnd::CodeBlock) => {
                    let (language, text) = code.take().unwrap_or_default();
                    let html = match language.split_once(' ') {
                        Some(("plot", name)) => plot::bars(name, text.trim()).unwrap_or_default(),
                        _ if language == "rust" => highlighted(&language, shown_of_rust(&text).trim_end()),
                        _ => highlighted(&language, text.trim_end()),
                    };
                    events.push(Event::Html(html.into()));
                }
                Event::Text(text) if code.is_some() => {
                    if let Some((_, so_far)) = &mut code {
                        so_far.push_str(&text);
                    }
                }
                Event::Start(Tag::Heading { level, .. }) => {
                    heading = Some(String::new());
                    events.push(Event::Html(format!("<{level}>").into()));
                }
                Event::End(TagEnd::Heading(level)) => {
                    let text = heading.take().unwrap_or_default();
                    let id = names(&text).first().map_or_else(|| slug(&text.to_lowercase()), |n| slug(n));
                    let shown = escape(&text).replace('`', "");
                    // The names of the heading are where other pages link to.
                    let inner: String = if text.starts_with('`') {
                        names(&text)
                            .iter()
                            .map(|n| format!("<code>{}</code>", escape(n)))
                            .collect::<Vec<_>>()
                            .join(", ")
                    } else {
                        shown
                    };
                    events.pop();
                    events.push(Event::Html(format!("<{level} id=\"{id}\">{inner}</{level}>").into()));
                }
                Event::Text(text) if heading.is_some() => {
                    heading.as_mut().expect("a heading is open").push_str(&text)
                }
                Event::Code(text) if heading.is_some() => {
                    let _ = write!(heading.as_mut().expect("a heading is open"), "`{text}`");
                }
                Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                    in_link += 1;
                    let dest_url = CowStr::from(dest_url.replace(".md", ".html"));
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
                Event::End(TagEnd::Link) => {
                    in_link -= 1;
                    events.push(Event::End(TagEnd::Link));
                }
                Event::Code(text) if in_link == 0 => events.push(Event::Html(self.code(&text).into())),
                Event::Start(Tag::Table(alignment)) => {
                    events.push(Event::Html("<div class=\"wide\" tabindex=\"0\">".into()));
                    events.push(Event::Start(Tag::Table(alignment)));
                }
                Event::End(TagEnd::Table) => {
                    events.push(Event::End(TagEnd::Table));
                    events.push(Event::Html("</div>".into()));
                }
                other => events.push(other),
            }
        }
        let mut out = String::new();
        html::push_html(&mut out, events.into_iter());
        out
    }
}

/// Code in colours: comments, instructions, declarations, numbers.
fn highlighted(language: &str, code: &str) -> String {
    let mut out = String::from("<pre tabindex=\"0\"><code>");
    for line in code.lines() {
        if language == "il" {
            let (text, comment) = line.find(';').map_or((line, ""), |at| line.split_at(at));
            let indent = text.len() - text.trim_start().len();
            let word = text.trim_start().split([' ', '\t']).next().unwrap_or_default();
            let class = if word.starts_with("dcl") || word.starts_with("il_") { "d" } else { "k" };
            out += &text[..indent];
            if !word.is_empty() {
                let _ = write!(out, "<span class=\"{class}\">{}</span>", escape(word));
            }
            out += &escape(&text[indent + word.len()..]);
            if !comment.is_empty() {
                let _ = write!(out, "<span class=\"c\">{}</span>", escape(comment));
            }
        } else {
            out += &escape(line);
        }
        out.push('\n');
    }
    out + "</code></pre>"
}

/// Pages of lists: their address, title and content.
fn lists(place: &Place) -> Vec<(String, String, String)> {
    let item = |t: &Topic| format!("<li><a href=\"{}\">{}</a></li>", address(t), escape(&t.name));
    let described = |t: &Topic| {
        format!(
            "<tr><td><a href=\"{}\"><code>{}</code></a></td><td>{}</td></tr>",
            address(t),
            escape(&t.name),
            place.words(&t.summary)
        )
    };
    let table = |kind: Kind, filter: &dyn Fn(&Topic) -> bool| {
        let rows: String = topics().iter().filter(|t| t.kind == kind && filter(t)).map(described).collect();
        format!("<div class=\"wide\"><table>{rows}</table></div>")
    };
    let mut by_category: BTreeMap<&str, String> = BTreeMap::new();
    for row in TABLE.iter().filter(|row| row.scope == Scope::Compute) {
        let topic = find(row.mnemonic).expect("every row is a topic");
        *by_category.entry(instruction::category(row.category)).or_default() += &described(topic);
    }
    let mut instructions = String::from(
        "<h1>Instructions</h1><p>By what they are about; those that need a graphics pipeline stand at the end.</p>",
    );
    for (title, rows) in &by_category {
        let _ = write!(
            instructions,
            "<h2 id=\"{}\">{title}</h2><div class=\"wide\"><table>{rows}</table></div>",
            slug(title)
        );
    }
    let refused: String = TABLE
        .iter()
        .filter(|r| r.scope == Scope::Graphics)
        .filter_map(|r| find(r.mnemonic))
        .map(item)
        .collect();
    let _ =
        write!(instructions, "<h2 id=\"refused\">Not for CAL kernels</h2><ul class=\"names\">{refused}</ul>");
    let page = |name: &str, title: &str, body: String| (format!("{name}.html"), title.to_string(), body);
    vec![
        page("instructions", "Instructions", instructions),
        page(
            "functions",
            "Functions",
            format!(
                "<h1>Functions</h1><h2 id=\"runtime\">The runtime, libaticalrt</h2>{}<h2 id=\"compiler\">The compiler, libaticalcl</h2>{}\
                 <h2 id=\"codes\">Codes that they return</h2>{}<h2 id=\"types\">Types</h2>{}",
                table(Kind::Function, &|t| !t.name.starts_with("calcl")),
                table(Kind::Function, &|t| t.name.starts_with("calcl")),
                table(Kind::Result, &|_| true),
                table(Kind::Type, &|_| true)
            ),
        ),
        page(
            "rules",
            "Messages of the compiler",
            format!(
                "<h1>Messages of the compiler</h1><p>By the name that stands in brackets: <code>error[short-swizzle]</code>.</p>{}",
                table(Kind::Rule, &|_| true)
            ),
        ),
    ]
}

/// The frame of a page.
fn page(root: &str, here: &str, title: &str, body: &str) -> Vec<u8> {
    let link = |name: &str, title: &str| {
        let current = if here == name { " aria-current=\"page\"" } else { "" };
        format!("<li><a href=\"{root}{name}\"{current}>{}</a></li>", escape(title))
    };
    let chapters: Vec<(String, &str)> =
        CHAPTERS.iter().map(|c| (format!("{}.html", c.name), c.title())).collect();
    let part = |from: &str, to: &str| -> String {
        let at = |name: &str| chapters.iter().position(|(n, _)| n == name).unwrap_or_default();
        chapters[at(from)..=at(to)].iter().map(|(n, t)| link(n, t)).collect()
    };
    let side = format!(
        "<ul>{}</ul><h2>Learn</h2><ul>{}</ul><h2>The language</h2><ul>{}{}{}</ul><h2>The API</h2><ul>{}{}</ul>",
        link("index.html", "The manual"),
        part("tutorial.html", "gallery.html"),
        part("language.html", "memory.html"),
        link("instructions.html", "Instructions"),
        link("rules.html", "Messages of the compiler"),
        part("objects.html", "objects.html"),
        link("functions.html", "Functions"),
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{} - reCAL</title><link rel=\"stylesheet\" href=\"{root}style.css\"></head><body data-root=\"{root}\">\
         <a class=\"skip\" href=\"#content\">To the text</a><nav class=\"side\" aria-label=\"Contents\">\
         <div class=\"search\"><input id=\"search\" type=\"search\" placeholder=\"Search: press /\" aria-label=\"Search\" autocomplete=\"off\">\
         <ol id=\"found\" aria-live=\"polite\"></ol></div><details open><summary>Contents</summary>{side}</details></nav>\
         <main id=\"content\">{body}</main><script src=\"{root}index.js\"></script><script src=\"{root}search.js\"></script></body></html>\n",
        escape(title)
    )
    .into_bytes()
}

/// A string of JavaScript.
fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ").replace("</", "<\\/")
    )
}

fn index() -> String {
    let mut entries = Vec::new();
    for chapter in CHAPTERS {
        entries.push([
            chapter.title().to_string(),
            "chapter".into(),
            format!("{}.html", chapter.name),
            String::new(),
        ]);
        for heading in
            chapter.text.lines().filter_map(|l| l.strip_prefix("## ")).filter(|h| names(h).is_empty())
        {
            let place = format!("{}.html#{}", chapter.name, slug(&heading.to_lowercase()));
            entries.push([heading.to_string(), "chapter".into(), place, chapter.title().to_string()]);
        }
    }
    for topic in topics() {
        let others =
            std::iter::once(&topic.name).chain(topic.aliases.iter().filter(|_| topic.kind != Kind::Type));
        for name in others {
            entries.push([name.clone(), topic.kind.name().into(), address(topic), topic.summary.clone()]);
        }
    }
    let lines: Vec<String> =
        entries.iter().map(|e| format!("[{}]", e.each_ref().map(|t| quoted(t)).join(","))).collect();
    format!("var INDEX = [\n{}\n];\n", lines.join(",\n"))
}

/// Pictures of the gallery.
const PICTURES: &[(&str, &[u8])] = &[
    ("mandelbrot.png", include_bytes!("../assets/mandelbrot.png")),
    ("transpose.png", include_bytes!("../assets/transpose.png")),
    ("julia.png", include_bytes!("../assets/julia.png")),
    ("waves.png", include_bytes!("../assets/waves.png")),
];

/// All files of the book.
pub fn files() -> Vec<File> {
    let mut files = vec![
        File { name: "style.css".into(), bytes: include_bytes!("../assets/style.css").to_vec() },
        File { name: "search.js".into(), bytes: include_bytes!("../assets/search.js").to_vec() },
        File { name: "index.js".into(), bytes: index().into_bytes() },
    ];
    files.extend(PICTURES.iter().map(|(name, bytes)| File { name: (*name).into(), bytes: bytes.to_vec() }));
    let top = Place { root: "", own: None, api: false };
    for (k, chapter) in CHAPTERS.iter().enumerate() {
        let name = format!("{}.html", chapter.name);
        let near = |c: Option<&Chapter>, arrow: [&str; 2]| {
            c.map_or_else(
                || "<span></span>".into(),
                |c| format!("<a href=\"{}.html\">{}{}{}</a>", c.name, arrow[0], c.title(), arrow[1]),
            )
        };
        let before = near(k.checked_sub(1).map(|k| &CHAPTERS[k]), ["← ", ""]);
        let after = near(CHAPTERS.get(k + 1), ["", " →"]);
        let body = format!("{}<div class=\"pager\">{before}{after}</div>", top.chapter(chapter));
        files.push(File { bytes: page("", &name, chapter.title(), &body), name });
    }
    for (name, title, body) in lists(&top) {
        files.push(File { bytes: page("", &name, &title, &body), name });
    }
    for topic in topics().iter().filter(|t| t.kind != Kind::Language) {
        let place = Place {
            root: "../",
            own: Some(topic.name.clone()),
            api: matches!(topic.kind, Kind::Function | Kind::Result | Kind::Type),
        };
        let body = place.topic(topic);
        let list = match topic.kind {
            Kind::Instruction => "instructions.html",
            Kind::Rule => "rules.html",
            _ => "functions.html",
        };
        files.push(File { bytes: page("../", list, &topic.name, &body), name: address(topic) });
    }
    files
}

/// An example of Rust without the lines that only its test needs.
fn shown_of_rust(code: &str) -> String {
    code.lines().filter(|line| !line.starts_with("# ")).map(|line| format!("{line}\n")).collect()
}
