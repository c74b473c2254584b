//! A topic as plain text for a terminal.

use crate::topic::{Block, Topic};

/// Breaks a paragraph into lines; the first has room after `first`, others begin with `indent`.
fn wrapped(text: &str, width: usize, first: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut line = first.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, indent.to_string()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines.join("\n")
}

fn block(block: &Block, width: usize, out: &mut String) {
    let say = |out: &mut String, text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    match block {
        Block::Text(text) => say(out, &wrapped(text, width, "    ", "    ")),
        Block::Code(_, code) => code.lines().for_each(|line| say(out, format!("        {line}").trim_end())),
        Block::List(items) => {
            items.iter().for_each(|item| say(out, &wrapped(item, width, "    - ", "      ")));
        }
        Block::Table(head, rows) => {
            let widths: Vec<usize> = (0..head.len())
                .map(|k| {
                    rows.iter().chain([head]).map(|row| row[k].chars().count()).max().unwrap_or_default()
                })
                .collect();
            let (last, before) = widths.split_last().unwrap_or((&0, &[]));
            let lead: usize = before.iter().map(|w| w + 2).sum::<usize>() + 4;
            // The last column may be broken; where even that is narrow, cells stand one below the other.
            if lead + 24.min(*last) <= width {
                for row in [head].into_iter().chain(rows) {
                    let (cell, cells) = row.split_last().map_or(("", &[][..]), |(c, r)| (c.as_str(), r));
                    let mut line = "    ".to_string();
                    for (cell, width) in cells.iter().zip(before) {
                        line += &format!("{cell}{}  ", " ".repeat(width - cell.chars().count()));
                    }
                    say(out, wrapped(cell, width, &line, &" ".repeat(lead)).trim_end());
                }
                return;
            }
            for row in rows {
                say(out, &format!("    {}", row[0]));
                for (title, cell) in head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
                    let lead =
                        if head.len() > 2 { format!("        {title}: ") } else { "        ".to_string() };
                    say(out, &wrapped(cell, width, &lead, "        "));
                }
            }
        }
    }
}

/// The whole topic, in lines of up to `width` columns; code is never broken.
pub fn plain(topic: &Topic, width: usize) -> String {
    let mut out = format!("{} ({})\n", topic.name, topic.kind.name());
    out.push_str(&wrapped(&topic.summary, width, "    ", "    "));
    out.push('\n');
    for section in &topic.sections {
        out.push_str(&format!("\n{}\n", section.title));
        for (k, piece) in section.blocks.iter().enumerate() {
            if k > 0 {
                out.push('\n');
            }
            block(piece, width, &mut out);
        }
    }
    if !topic.see_also.is_empty() {
        out.push_str(&format!(
            "\nSee also\n{}\n",
            wrapped(&topic.see_also.join(", "), width, "    ", "    ")
        ));
    }
    out
}

/// The topic as Markdown, as editors show it: without numbers, targets and what is near.
pub fn markdown(topic: &Topic) -> String {
    let mut out = format!("**{}** ({})\n\n{}\n", topic.name, topic.kind.name(), topic.summary);
    let wanted =
        ["Syntax", "Description", "Specifiers", "Parameters", "Results", "Meaning", "Outcome", "Functions"];
    for piece in topic.sections.iter().filter(|s| wanted.contains(&s.title)).flat_map(|s| &s.blocks) {
        out.push('\n');
        match piece {
            Block::Text(text) => out.push_str(&format!("{text}\n")),
            Block::Code(language, code) => out.push_str(&format!("```{language}\n{code}\n```\n")),
            Block::List(items) => items.iter().for_each(|item| out.push_str(&format!("* {item}\n"))),
            Block::Table(_, rows) => {
                rows.iter().for_each(|row| out.push_str(&format!("* {}\n", row.join(": "))));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_broken_where_they_are_full() {
        assert_eq!(super::wrapped("one two three", 9, "- ", "  "), "- one two\n  three");
        assert_eq!(super::wrapped("averylongword", 5, "", ""), "averylongword");
    }
}
