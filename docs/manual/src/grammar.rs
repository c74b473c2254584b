//! A TextMate grammar, which editors colour IL by: made of the table of instructions.

use recal_il::isa::{Category, Scope, TABLE};

use crate::chapters;

/// Names as alternatives of a regular expression, long ones first.
fn alternatives(names: impl Iterator<Item = &'static str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    names.dedup();
    names.join("|").replace('(', "\\(").replace(')', "\\)")
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Names of instructions that a test on their category and scope lets pass, other spellings included.
fn instructions(wanted: impl Fn(Category, Scope) -> bool) -> String {
    let rows = TABLE.iter().filter(|row| wanted(row.category, row.scope));
    alternatives(rows.flat_map(|row| std::iter::once(row.mnemonic).chain(row.aliases.iter().copied())))
}

/// The grammar as JSON.
pub fn textmate() -> String {
    // `vTid0` and the like; files of one letter take a number.
    let registers: Vec<String> = chapters::topics()
        .into_iter()
        .filter(|t| t.see_also == ["registers"])
        .flat_map(|t| std::iter::once(t.name).chain(t.aliases))
        .map(|name| name.trim_end_matches("[]").replace('#', "[0-9]+"))
        .collect();
    let end = "(?=_|\\(|\\s|;|$)";
    let patterns = [
        ("comment.line.semicolon.il", ";.*$".to_string()),
        ("keyword.other.header.il", "(?i)\\bil_(ps|cs)(_[0-9]+_[0-9]+)?".to_string()),
        (
            "invalid.illegal.il",
            format!("(?i)\\b({}){end}", instructions(|_, scope| scope == Scope::Graphics)),
        ),
        (
            "keyword.control.il",
            format!("(?i)\\b({}){end}", instructions(|c, s| c == Category::Flow && s == Scope::Compute)),
        ),
        (
            "storage.type.il",
            format!("(?i)\\b({}){end}", instructions(|c, s| c == Category::Decl && s == Scope::Compute)),
        ),
        (
            "support.function.il",
            format!(
                "(?i)\\b({}){end}",
                instructions(|c, s| s == Scope::Compute && !matches!(c, Category::Flow | Category::Decl))
            ),
        ),
        ("variable.other.register.il", format!("(?i)\\b({})\\b", registers.join("|"))),
        ("entity.other.attribute-name.il", "_[A-Za-z][A-Za-z0-9]*".to_string()),
        (
            "constant.numeric.il",
            "\\b(0[xX][0-9A-Fa-f]+|[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?f?)\\b".to_string(),
        ),
    ];
    let lines: Vec<String> = patterns
        .iter()
        .map(|(name, regex)| format!("    {{ \"name\": {}, \"match\": {} }}", quoted(name), quoted(regex)))
        .collect();
    format!(
        "{{\n  \"name\": \"AMD IL\",\n  \"scopeName\": \"source.il\",\n  \"fileTypes\": [\"il\"],\n  \"patterns\": [\n{}\n  ]\n}}\n",
        lines.join(",\n")
    )
}
