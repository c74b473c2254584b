//! Every message of the compiler, as people see it: `tests/il/messages/*.md` holds kernels, each followed by what is
//! said about it. `UPDATE=1` writes what is said now; the difference is to be read before it is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recal_il::diagnostic::{Diagnostic, render};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    recal_il::compile(text.as_bytes()).map_or_else(|errors| errors, |program| program.warnings)
}

/// The same page with what is said now under each kernel; the rules that spoke go to `rules`.
fn renewed(page: &str, rules: &mut BTreeSet<&'static str>) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("```il\n") {
        let (kernel, after) = after.split_once("```\n").expect("a kernel ends");
        let found = diagnostics(kernel);
        rules.extend(found.iter().map(|d| d.rule));
        let said = match found.is_empty() {
            true => "accepted\n".to_string(),
            false => render(&found, kernel.as_bytes(), "kernel"),
        };
        out += &format!("{before}```il\n{kernel}```\n\n```text\n{said}```\n");
        // What was said before is replaced.
        rest = match after.trim_start_matches('\n').strip_prefix("```text\n") {
            Some(old) => old.split_once("```\n").expect("what is said ends").1,
            None => after,
        };
    }
    out + rest
}

#[test]
fn messages_are_those_of_the_pages() {
    let mut wrong = String::new();
    let mut rules = BTreeSet::new();
    for path in files(&folder("../tests/il/messages"), "md") {
        let page = fs::read_to_string(&path).expect("a page");
        let new = renewed(&page, &mut rules);
        if new == page {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &new).expect("written");
            continue;
        }
        let old: Vec<&str> = page.lines().collect();
        let at =
            new.lines().zip(&old).position(|(a, b)| a != *b).unwrap_or(old.len().min(new.lines().count()));
        let shown: Vec<&str> = new.lines().skip(at.saturating_sub(8)).take(24).collect();
        wrong += &format!("{}:{}: what is said now:\n{}\n\n", path.display(), at + 1, shown.join("\n"));
    }
    assert!(wrong.is_empty(), "{wrong}");
    let missing: Vec<_> = rules_of_sources().into_iter().filter(|r| !rules.contains(r.as_str())).collect();
    assert!(missing.is_empty(), "no kernel of the pages shows these rules: {missing:?}");
}

/// The names of rules in the sources of the front end: the first argument of what makes a diagnostic.
fn rules_of_sources() -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    for path in files(&folder("src"), "rs") {
        let source = fs::read_to_string(&path).expect("a source");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        for maker in ["Diagnostic::error(", "Diagnostic::warning(", "Diagnostic::note("] {
            for after in code.split(maker).skip(1) {
                let Some(after) = after.trim_start().strip_prefix('"') else { continue };
                rules.insert(after.split('"').next().unwrap_or_default().to_string());
            }
        }
    }
    // A megabyte of text would be needed to show these; `front.rs` has the tests.
    for large in ["text-size", "nesting", "macro-size", "macro-depth", "call-depth", "call-size"] {
        assert!(rules.remove(large), "{large} is a rule");
    }
    assert!(rules.len() > 60, "{rules:?}");
    rules
}

#[test]
fn no_message_is_worded_carelessly() {
    for path in files(&folder("../tests/il/messages"), "md") {
        let page = fs::read_to_string(&path).expect("a page");
        for kernel in page.split("```il\n").skip(1).filter_map(|after| after.split("```\n").next()) {
            for d in diagnostics(kernel) {
                let shown = format!("{}: {:?} of\n{kernel}", path.display(), d.message);
                assert!(!d.message.ends_with('.') && !d.message.contains('\n'), "{shown}");
                assert_eq!(d.message.matches('`').count() % 2, 0, "{shown}");
                assert!((d.span.end as usize) <= kernel.len() && d.span.start <= d.span.end, "{shown}");
                for (span, _) in d.suggestion.iter().flat_map(|s| &s.edits) {
                    assert!((span.end as usize) <= kernel.len() && span.start <= span.end, "{shown}");
                }
            }
        }
    }
}

/// A suggestion is not a guess at random: with it, the error is gone.
#[test]
fn suggestions_mend_what_they_are_given_for() {
    let mut tried = 0;
    for path in files(&folder("../tests/il/messages"), "md") {
        let page = fs::read_to_string(&path).expect("a page");
        for kernel in page.split("```il\n").skip(1).filter_map(|after| after.split("```\n").next()) {
            for d in diagnostics(kernel) {
                let Some(suggestion) = &d.suggestion else { continue };
                let mut mended = kernel.to_string();
                for (span, replacement) in suggestion.edits.iter().rev() {
                    mended.replace_range(span.start as usize..span.end as usize, replacement);
                }
                let same = diagnostics(&mended)
                    .iter()
                    .any(|other| other.rule == d.rule && other.span.start == d.span.start);
                assert!(!same, "{}: with {:?}\n{mended}", path.display(), suggestion.edits);
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "{tried} suggestions");
}
