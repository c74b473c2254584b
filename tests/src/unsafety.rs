//! Where unsafe code stands and why it is sound, read from the source: the text of `docs/unsafe.md`.
//!
//! Input: the folder of the repository. Output: for each file with unsafe code how much there is, and the reasons that stand
//! beside it. The lints of the workspace see to it that every block has one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Folders of the product; tests are not looked at.
const SOURCES: [&str; 15] = [
    "cal-il/src",
    "cal-api/src",
    "cal-api/macros/src",
    "cal-api/hal/src",
    "cal-api/rt/src",
    "cal-api/cli/src",
    "backend-cpu/src",
    "backend-cpu/jit/src",
    "backend-vulkan/src",
    "samples/src",
    "brook/brcc/src",
    "brook/runtime/src",
    "blas/src",
    "blas/abi/src",
    "python/src",
];

/// Unsafe code of a file.
#[derive(Default)]
struct Found {
    blocks: usize,
    functions: usize,
    implementations: usize,
    /// Reasons, with how often each is given.
    reasons: BTreeMap<String, usize>,
}

/// The whole document.
///
/// # Panics
/// If the source cannot be read.
pub fn document(root: &Path) -> String {
    let mut files = Vec::new();
    SOURCES.iter().for_each(|folder| collect(&root.join(folder), &mut files));
    files.sort();
    let mut out = String::from(
        "# Unsafe code\n\nMade from the source by `tests/src/unsafety.rs`; `UPDATE=1 cargo test -p recal-conformance --test repository` \
         writes it anew.\nTests are left out. A reason with a number is given so often.\n\n\
         | file | blocks | functions | implementations |\n|---|---|---|---|\n",
    );
    let mut total = [0; 3];
    let mut reasons = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let found = scan(&text);
        let counts = [found.blocks, found.functions, found.implementations];
        if counts == [0; 3] {
            continue;
        }
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        let _ = writeln!(out, "| `{name}` | {} | {} | {} |", counts[0], counts[1], counts[2]);
        let _ = writeln!(reasons, "\n## {name}\n");
        for (reason, times) in &found.reasons {
            let times = if *times > 1 { format!(" ({times})") } else { String::new() };
            let _ = writeln!(reasons, "* {reason}{times}");
        }
        (0..3).for_each(|k| total[k] += counts[k]);
    }
    let _ = writeln!(out, "| together | {} | {} | {} |", total[0], total[1], total[2]);
    out + &reasons
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let unread = |error: std::io::Error| -> ! { panic!("{}: {error}", folder.display()) };
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| unread(error)) {
        let path = entry.unwrap_or_else(|error| unread(error)).path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs")
            && path.file_name().is_none_or(|n| n != "tests.rs")
        {
            files.push(path);
        }
    }
}

/// The code of a line, without what follows `//` and without the contents of strings on it.
fn code(line: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => drop(chars.next()),
            '"' => quoted = !quoted,
            '/' if !quoted && chars.peek() == Some(&'/') => break,
            c if !quoted => out.push(c),
            _ => {}
        }
    }
    out
}

fn scan(text: &str) -> Found {
    let mut found = Found::default();
    // What is only built for tests stands at the end of a file.
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let code = code(line);
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '{').collect::<Vec<_>>();
        for (at, _) in words.iter().enumerate().filter(|(_, word)| matches!(**word, "unsafe" | "unsafe{")) {
            match words.get(at + 1).copied() {
                Some("fn" | "extern") => found.functions += 1,
                Some("impl") => found.implementations += 1,
                Some(word) if word.starts_with('{') => found.blocks += 1,
                None if lines.get(number + 1).is_some_and(|next| next.trim_start().starts_with('{')) => {
                    found.blocks += 1
                }
                _ => {}
            }
        }
        if let Some((_, start)) = line.split_once("// SAFETY: ") {
            let more = lines[number + 1..]
                .iter()
                .map(|l| l.trim())
                .take_while(|l| l.starts_with("// ") && !l.starts_with("// SAFETY"));
            let rest: Vec<&str> = more.map(|l| l.trim_start_matches("// ")).collect();
            let reason = [&[start.trim()], &rest[..]].concat().join(" ");
            *found.reasons.entry(reason).or_default() += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there() {
        let text = "/// unsafe { in a comment }\nlet s = \"unsafe {\";\n// SAFETY: one\n// two.\nlet x = unsafe { f() };\n\
            unsafe impl Send for X {}\npub unsafe fn g() {}\n// SAFETY: one two.\nlet y =\n    unsafe { f() };\n";
        let found = scan(text);
        assert_eq!((found.blocks, found.functions, found.implementations), (2, 1, 1));
        assert_eq!(found.reasons.into_iter().collect::<Vec<_>>(), [("one two.".to_owned(), 2)]);
    }
}
