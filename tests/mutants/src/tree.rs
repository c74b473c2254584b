//! The copy of the workspace in which every mutant is compiled in, and can be turned on.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::find::{Shape, Site, sites};

/// One change.
pub struct Mutant {
    /// Of its file.
    pub file: String,
    pub at: (usize, usize),
    pub what: String,
}

impl Mutant {
    /// The same as long as its line is.
    pub fn name(&self) -> String {
        format!("{}:{}:{} {}", self.file, self.at.0, self.at.1, self.what)
    }
}

/// A file with its places; a place's mutants are numbered from `first` on.
struct Source {
    path: String,
    text: String,
    sites: Vec<(u32, Site)>,
}

pub struct Tree {
    pub root: PathBuf,
    sources: Vec<Source>,
    pub mutants: Vec<Mutant>,
    /// Those that do not compile.
    pub dropped: BTreeSet<u32>,
}

/// Where a generated text has which place.
struct Written {
    text: String,
    places: Vec<(std::ops::Range<usize>, u32, u32)>,
}

/// Asks whether a mutant is on.
const SWITCH: &str = "::mutants::on";

/// FNV-1a, for a choice that is the same everywhere.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3))
}

fn rust_files(root: &Path, folder: &str, into: &mut Vec<String>) -> Result<(), String> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
        .map_err(|e| format!("{folder}: {e}"))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if path.is_dir() {
            rust_files(root, &name, into)?;
        } else if name.ends_with(".rs") && !name.ends_with("/tests.rs") {
            into.push(name);
        }
    }
    Ok(())
}

impl Tree {
    /// Copies what git knows of `from` and finds the mutants of the folders; those are taken whose names are `chosen`.
    pub fn new(
        from: &Path,
        root: &Path,
        folders: &[String],
        chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Tree, String> {
        let mut names = Vec::new();
        for folder in folders {
            rust_files(from, folder, &mut names)?;
        }
        copy(from, root, &names)?;
        let mut tree = Tree {
            root: root.to_owned(),
            sources: Vec::new(),
            mutants: Vec::new(),
            dropped: BTreeSet::new(),
        };
        for path in names {
            let text = std::fs::read_to_string(from.join(&path)).map_err(|e| format!("{path}: {e}"))?;
            let mut kept = Vec::new();
            for site in sites(&text).map_err(|e| format!("{path}: {e}"))? {
                let first = tree.mutants.len() as u32;
                for (k, what) in site.mutants.iter().enumerate() {
                    let mutant = Mutant { file: path.clone(), at: site.at, what: what.clone() };
                    if !chosen(&mutant.name()) {
                        tree.dropped.insert(first + k as u32);
                    }
                    tree.mutants.push(mutant);
                }
                kept.push((first, site));
            }
            tree.sources.push(Source { path, text, sites: kept });
        }
        Ok(tree)
    }

    /// Those that were chosen and compile.
    pub fn live(&self) -> Vec<u32> {
        (0..self.mutants.len() as u32).filter(|m| !self.dropped.contains(m)).collect()
    }

    /// Writes all files, and again without what does not compile, until `cargo check` has nothing against them.
    pub fn write_until_it_compiles(&mut self, packages: &[&str]) -> Result<(), String> {
        for round in 0..40 {
            let mut written = Vec::new();
            for source in &self.sources {
                let new = write(source, &self.dropped);
                let path = self.root.join(&source.path);
                put(&path, new.text.as_bytes())?;
                written.push(new);
            }
            let mut command = self.cargo("check");
            command.arg("--message-format=json");
            packages.iter().for_each(|p| _ = command.args(["-p", p]));
            let output = command.output().map_err(|e| e.to_string())?;
            if output.status.success() {
                return Ok(());
            }
            let before = self.dropped.len();
            let mut lost = String::new();
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
                let message = &value["message"];
                if message["level"] == "error" && !self.blame(message, &written) {
                    let _ = writeln!(lost, "{}", message["rendered"].as_str().unwrap_or_default());
                }
            }
            eprintln!("round {round}: {} mutants do not compile", self.dropped.len() - before);
            if self.dropped.len() == before {
                return Err(format!(
                    "nothing to drop, yet:\n{lost}{}",
                    String::from_utf8_lossy(&output.stderr)
                ));
            }
        }
        Err("it never compiles".into())
    }

    /// Drops the innermost places of an error. False if there are none.
    fn blame(&mut self, message: &Value, written: &[Written]) -> bool {
        let spans = message["spans"].as_array().cloned().unwrap_or_default();
        let mut found = false;
        for primary in [true, false] {
            for span in spans.iter().filter(|s| s["is_primary"] == primary) {
                let (Some(start), Some(end)) = (span["byte_start"].as_u64(), span["byte_end"].as_u64())
                else {
                    continue;
                };
                let name = span["file_name"].as_str().unwrap_or_default();
                let Some(at) = self.sources.iter().position(|s| s.path == name) else { continue };
                let inside = |r: &std::ops::Range<usize>| r.start as u64 <= start && end <= r.end as u64;
                let places = written[at].places.iter().filter(|(range, ..)| inside(range));
                if let Some((_, first, count)) = places.min_by_key(|(range, ..)| range.len()) {
                    self.dropped.extend(*first..*first + *count);
                    found = true;
                }
            }
            // A value that was moved or borrowed is told where it was used again: the label has the place.
            let moved = ["E0382", "E0499", "E0502", "E0505", "E0597", "E0716"];
            if found && !message["code"]["code"].as_str().is_some_and(|code| moved.contains(&code)) {
                break;
            }
        }
        if found {
            return true;
        }
        // What leads to the error lies between the lines that it shows, such as a `return` that is left out.
        for (at, source) in self.sources.iter().enumerate() {
            let of_file = || spans.iter().filter(|s| s["file_name"] == *source.path);
            let start = of_file().filter_map(|s| s["byte_start"].as_u64()).min();
            let end = of_file().filter_map(|s| s["byte_end"].as_u64()).max();
            let (Some(start), Some(end)) = (start, end) else { continue };
            for (range, first, count) in &written[at].places {
                if range.start as u64 >= start && range.end as u64 <= end {
                    self.dropped.extend(*first..*first + *count);
                    found = true;
                }
            }
        }
        found
    }

    /// Cargo in the copy.
    pub fn cargo(&self, task: &str) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).arg(task).arg("--offline");
        command.env_remove("MUTANT").env_remove("MUTANTS_SEEN");
        command
    }
}

/// The file with the mutants that are not dropped.
fn write(source: &Source, dropped: &BTreeSet<u32>) -> Written {
    // Ends come before beginnings, inner ones first; of beginnings the outer ones. Places are in order, outer ones first.
    struct Piece {
        at: usize,
        rank: (u8, i64, i64),
        skip: usize,
        text: String,
        place: usize,
    }
    let mut pieces = Vec::new();
    for (number, (first, site)) in source.sites.iter().enumerate() {
        let live: Vec<usize> =
            (0..site.mutants.len()).filter(|k| !dropped.contains(&(first + *k as u32))).collect();
        if live.is_empty() {
            continue;
        }
        let (before, operator, after) = around(&site.shape, *first, &live);
        let (start, end, order) = (site.range.start, site.range.end, number as i64);
        if let Shape::Body(_) = site.shape {
            pieces.push(Piece {
                at: start,
                rank: (1, i64::MIN, order),
                skip: 0,
                text: before,
                place: number,
            });
            pieces.push(Piece { at: start, rank: (1, i64::MIN, order), skip: 0, text: after, place: number });
            continue;
        }
        pieces.push(Piece {
            at: start,
            rank: (2, -(end as i64), order),
            skip: 0,
            text: before,
            place: number,
        });
        if let Some(range) = &site.operator {
            let rank = (3, 0, 0);
            pieces.push(Piece { at: range.start, rank, skip: range.len(), text: operator, place: number });
        }
        pieces.push(Piece {
            at: end,
            rank: (0, -(start as i64), -order),
            skip: 0,
            text: after,
            place: number,
        });
    }
    pieces.sort_by_key(|p| (p.at, p.rank));
    let (mut text, mut at) = (String::new(), 0);
    let mut begins: Vec<Option<usize>> = vec![None; source.sites.len()];
    let mut places = Vec::new();
    for piece in pieces {
        text += &source.text[at..piece.at.max(at)];
        at = piece.at.max(at) + piece.skip;
        let begin = *begins[piece.place].get_or_insert(text.len());
        text += &piece.text;
        let (first, site) = &source.sites[piece.place];
        places.retain(|(_, f, _)| f != first);
        places.push((begin..text.len(), *first, site.mutants.len() as u32));
    }
    text += &source.text[at..];
    Written { text, places }
}

/// What goes before a place, for its operator, and behind it.
fn around(shape: &Shape, first: u32, live: &[usize]) -> (String, String, String) {
    let on = |k: usize| format!("{SWITCH}({})", first + k as u32);
    let choose = |operators: &[String], a: &str, b: &str| -> String {
        let original = &operators[operators.len() - 1];
        let arms: String =
            live.iter().map(|k| format!("if {} {{ {a} {} {b} }} else ", on(*k), operators[*k])).collect();
        format!("{arms}{{ {a} {original} {b} }}")
    };
    let owned = |a: &str, b: &str, c: String| (a.to_owned(), b.to_owned(), c);
    match shape {
        Shape::Binary { operators, compared: true } => owned(
            "(match (&(",
            "), &(",
            format!(")) {{ (__a, __b) => {} }})", choose(operators, "*__a", "*__b")),
        ),
        Shape::Binary { operators, compared: false } => {
            owned("(match ((", "), (", format!(")) {{ (__a, __b) => {} }})", choose(operators, "__a", "__b")))
        }
        Shape::Assign { operators } => {
            let body = choose(operators, "*__p", "__v");
            owned("{ let __p = &mut (", "); let __v = (", format!("); {body} }}"))
        }
        Shape::Connective { and } => {
            let test = if *and {
                format!("({{ let __m = {}; if (", on(0))
            } else {
                format!("({{ let __m = !{}; if (", on(0))
            };
            owned(&test, ") == __m { __m } else { (", ") } })".into())
        }
        Shape::Condition => owned("((", "", format!(") != {})", on(0))),
        Shape::Unary(operator) => owned(
            "(match (",
            "(",
            format!(")) {{ __a => if {} {{ __a }} else {{ {operator}__a }} }})", on(0)),
        ),
        Shape::Literal(values) => {
            let arms: String =
                live.iter().map(|k| format!("if {} {{ {} }} else ", on(*k), values[*k])).collect();
            owned(&format!("({arms}{{ "), "", " })".into())
        }
        Shape::Statement => owned(&format!("if !{} {{ ", on(0)), "", " }".into()),
        Shape::Body(values) => {
            let arms: String =
                live.iter().map(|k| format!(" if {} {{ return {}; }}", on(*k), values[*k])).collect();
            owned(&arms, "", String::new())
        }
    }
}

/// Copies all but `others`.
fn copy(from: &Path, to: &Path, others: &[String]) -> Result<(), String> {
    let output = Command::new("git")
        .current_dir(from)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|e| format!("git: {e}"))?;
    for name in String::from_utf8_lossy(&output.stdout).split('\0').filter(|name| !name.is_empty()) {
        let (source, target) = (from.join(name), to.join(name));
        if others.iter().any(|other| other == name)
            || !source.is_file()
            || name.starts_with("tests/mutants/")
            || name.starts_with("fuzz/")
        {
            continue;
        }
        let bytes = std::fs::read(&source).map_err(|e| format!("{name}: {e}"))?;
        let text = || String::from_utf8_lossy(&bytes);
        let bytes = match name {
            "Cargo.toml" => workspace(&text()).into_bytes(),
            "cal-il/Cargo.toml" | "backend-cpu/Cargo.toml" => {
                with_switch(&text(), "../tests/switch").into_bytes()
            }
            "tests/suite/Cargo.toml" => with_switch(&text(), "../switch").into_bytes(),
            _ => bytes,
        };
        put(&target, &bytes)?;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, to_name) in [
        ("switch/Cargo.toml", "tests/switch/Cargo.toml"),
        ("switch/src/lib.rs", "tests/switch/src/lib.rs"),
        ("judge.rs", "tests/suite/src/bin/mutants_judge.rs"),
    ] {
        let bytes = std::fs::read(own.join(name)).map_err(|e| format!("{name}: {e}"))?;
        put(&to.join(to_name), &bytes)?;
    }
    Ok(())
}

/// Writes what has changed, so that cargo builds no more than that.
fn put(target: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(target).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let told = |e: std::io::Error| format!("{}: {e}", target.display());
    target.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(told)?;
    std::fs::write(target, bytes).map_err(told)
}

/// The workspace with the switch in it and without rules for how code should look.
fn workspace(text: &str) -> String {
    let text = text.replace("members = [", "members = [\"tests/switch\", ");
    let start = text.find("[workspace.lints.rust]").unwrap_or(text.len());
    let end = text.find("[profile.release]").unwrap_or(text.len());
    let lints = "[workspace.lints.rust]\nwarnings = \"allow\"\narithmetic_overflow = \"allow\"\n\
                 unconditional_panic = \"allow\"\noverflowing_literals = \"allow\"\n\n";
    format!("{}{lints}{}", &text[..start], &text[end..])
}

/// A manifest with the switch, which lies at `path`, among the dependencies.
fn with_switch(manifest: &str, path: &str) -> String {
    let line = format!("[dependencies]\nmutants = {{ path = \"{path}\" }}\n");
    manifest.replacen("[dependencies]\n", &line, 1)
}
