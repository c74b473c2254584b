//! Files of cases.
//!
//! `== name word …` begins a case; its source follows. `-- word …` begins a part of it: `-- c`, the reference in C;
//! `-- error LINE RULE`, `-- warning LINE RULE`, `-- options …`, each a line of its own.

use std::path::{Path, PathBuf};

/// A case.
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its file, without folder and suffix.
    pub file: String,
    /// Words behind the name.
    pub words: Vec<String>,
    /// Source of Brook+.
    pub source: String,
    /// The reference.
    pub reference: String,
    /// Other lines that begin with `--`.
    lines: Vec<String>,
}

/// The folder of this crate.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// All cases of a folder, by file and place.
pub fn load(name: &str) -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder().join(name))
        .map(|entries| {
            entries
                .flatten()
                .map(|e| e.path())
                .filter(|p| p.extension().is_some_and(|e| e == "cases"))
                .collect()
        })
        .unwrap_or_default();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut in_reference = false;
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("== ") {
                let mut words = head.split_whitespace().map(str::to_owned);
                let name = format!("{file}/{}", words.next().unwrap_or_default());
                let (words, file) = (words.collect(), file.clone());
                cases.push(Case {
                    name,
                    file,
                    words,
                    source: String::new(),
                    reference: String::new(),
                    lines: Vec::new(),
                });
                in_reference = false;
                continue;
            }
            let Some(case) = cases.last_mut() else { continue };
            match line.strip_prefix("-- ") {
                Some("c") => in_reference = true,
                Some(other) => case.lines.push(other.to_owned()),
                None => {
                    let part = if in_reference { &mut case.reference } else { &mut case.source };
                    part.push_str(line);
                    part.push('\n');
                }
            }
        }
    }
    cases
}

impl Case {
    /// The value of `key=value` behind the name.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
    }

    /// True if a word stands behind the name.
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// Lines and rules of `-- error` or `-- warning`.
    pub fn marks(&self, kind: &str) -> Result<Vec<(usize, String)>, String> {
        let mut list = Vec::new();
        for line in self.lines.iter().filter_map(|l| l.strip_prefix(kind)) {
            let mut words = line.split_whitespace();
            let (number, rule) = (words.next().and_then(|w| w.parse().ok()), words.next());
            match (number, rule) {
                (Some(number), Some(rule)) => list.push((number, rule.to_owned())),
                _ => return Err(format!("`-- {kind}{line}`: a line and a rule are needed")),
            }
        }
        Ok(list)
    }
}

/// The options of brcc that a case asks for.
pub fn options(case: &Case) -> Result<brcc::Options, String> {
    let mut options = brcc::Options { warning_level: 3, ..brcc::Options::default() };
    for word in &case.words {
        match word.as_str() {
            "-a" => options.strong = false,
            "-c" => options.no_constant_arrays = true,
            "-pp" => options.preprocess = true,
            "-r" => options.translation = false,
            "-x" => options.warnings_are_errors = true,
            "-w0" => options.warning_level = 0,
            word if word.starts_with("-D") => {
                let (name, value) = word[2..].split_once('=').unwrap_or((&word[2..], "1"));
                options.defines.push((name.to_owned(), value.to_owned()));
            }
            word if word.starts_with('-') => return Err(format!("unknown option {word}")),
            _ => {}
        }
    }
    Ok(options)
}
