//! Changes the product in small ways, one at a time, and looks whether a test notices.
//!
//! To build the product for each change would take days, so all changes are compiled in at once: in a copy of the
//! workspace `a < b` becomes, say, `if mutants::on(7) { a <= b } else { a < b }` (*mutant schemata*), and a variable of the
//! environment turns one on. First each test runs without any and tells which it asks for; then each mutant meets the tests
//! that ask for it, quick ones first, until one fails.
//!
//! ```text
//! recal-mutants [--every N] [--folder PATH]… [--at PLACE]… [--scratch PATH] [--only NUMBER]… [--find] [--build]
//! ```
//!
//! One of `every` mutants is taken, by a hash of its place; with `--at FILE:LINE:COLUMN`, perhaps followed by a space and what is done
//! there, only those that are named. `results.jsonl` in the scratch folder, `target/mutants`, has a line for each; those that stand
//! there are not tried again. `--only` tries some again, `--find` lists what would be tried. `--build` compiles the mutants in and lists
//! them with their numbers, for who writes a test: `MUTANT=n cargo test` in the copy, `tree` in the scratch folder.

mod find;
mod judge;
mod tree;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

const FOLDERS: [&str; 3] = ["backend-cpu/src", "cal-il/src/lower", "cal-il/src/spirv"];
/// Whose tests judge.
const PACKAGES: [&str; 3] = ["recal-il", "recal-cpu", "recal"];
/// The tests, beside those of the libraries; others tell nothing about these folders or take too long for each mutant.
const TESTS: [&str; 20] = [
    "meaning",
    "lowering",
    "lowering_table",
    "load",
    "group_memory",
    "fences",
    "lockstep",
    "launch_table",
    "spirv",
    "pixel_entry",
    "memory",
    "checks",
    "flow",
    "groups",
    "queues",
    "watched",
    "faults",
    "time",
    "stress",
    "work",
];

struct Arguments {
    every: u64,
    folders: Vec<String>,
    scratch: PathBuf,
    find: bool,
    build: bool,
    /// Those that are taken, by the beginnings of their names; all if there are none.
    at: Vec<String>,
    /// Mutants, by number, that are tried again.
    only: Vec<u32>,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = Arguments {
        every: 1,
        folders: Vec::new(),
        scratch: "target/mutants".into(),
        find: false,
        build: false,
        at: Vec::new(),
        only: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match &*word {
            "--every" => given.every = value()?.parse().map_err(|_| "--every takes a number")?,
            "--folder" => given.folders.push(value()?),
            "--scratch" => given.scratch = value()?.into(),
            "--only" => given.only.push(value()?.parse().map_err(|_| "--only takes a number")?),
            "--at" => given.at.push(value()?),
            "--build" => given.build = true,
            "--find" => given.find = true,
            _ => return Err(format!("what is `{word}`?")),
        }
    }
    if given.folders.is_empty() {
        given.folders = FOLDERS.map(str::to_owned).into();
    }
    Ok(given)
}

fn main() -> ExitCode {
    match arguments().and_then(|given| work(&given)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn work(given: &Arguments) -> Result<(), String> {
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let scratch = here.join(&given.scratch);
    let mut tree =
        tree::Tree::new(&here, &scratch.join("tree"), &given.folders, &|name| chosen(given, name))?;
    println!("{} mutants, of which {} are taken", tree.mutants.len(), tree.live().len());
    if given.find {
        for number in tree.live() {
            println!("{}", key(&tree, number));
        }
        return Ok(());
    }
    // What a run before this one found not to compile would otherwise be compiled in, and everything twice.
    let unfit = scratch.join("unfit");
    let known = std::fs::read_to_string(&unfit).unwrap_or_default();
    let taken = tree.live();
    let unfit_before: Vec<u32> = taken
        .iter()
        .copied()
        .filter(|number| known.lines().any(|line| line == key(&tree, *number)))
        .collect();
    tree.dropped.extend(unfit_before);
    tree.write_until_it_compiles(&["recal-il", "recal-cpu"])?;
    let live = tree.live();
    let names = taken.iter().filter(|number| !live.contains(number)).map(|number| key(&tree, *number) + "\n");
    std::fs::write(&unfit, names.collect::<String>()).map_err(|e| e.to_string())?;
    println!("{} compile", live.len());
    if given.build {
        live.iter().for_each(|number| println!("{number} {}", key(&tree, *number)));
        return Ok(());
    }
    let judges = judge::Judges::new(&tree, &PACKAGES, &TESTS)?;
    let reached = judges.reached();
    println!(
        "{} are asked for, by {} tests and the cases",
        live.iter().filter(|m| reached.contains(m)).count(),
        judges.tests.len()
    );

    let path = scratch.join("results.jsonl");
    let mut results = earlier(&path);
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    // In an order that has nothing to do with files, so that a run that is ended early is a sample.
    let mut order: Vec<u32> = live.clone();
    order.sort_by_key(|number| tree::hash(&format!("order {}", key(&tree, *number))));
    for number in order {
        let key = key(&tree, number);
        let again = given.only.contains(&number);
        if !again && (!given.only.is_empty() || results.contains_key(&key)) {
            continue;
        }
        let verdict = if reached.contains(&number) {
            judges.judge(number)
        } else {
            judge::Verdict { word: "not reached", by: String::new() }
        };
        let line = json!({ "mutant": key, "number": number, "verdict": verdict.word, "by": verdict.by });
        writeln!(file, "{line}").map_err(|e| e.to_string())?;
        results.insert(key, verdict.word.to_owned());
    }
    summary(&results);
    Ok(())
}

/// A mutant's name.
fn key(tree: &tree::Tree, number: u32) -> String {
    tree.mutants[number as usize].name()
}

/// Whether a mutant of this name is asked for.
fn chosen(given: &Arguments, name: &str) -> bool {
    if given.at.is_empty() {
        return tree::hash(name) % given.every == 0;
    }
    given
        .at
        .iter()
        .any(|at| name.strip_prefix(&**at).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

fn earlier(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        Some((value["mutant"].as_str()?.to_owned(), value["verdict"].as_str()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

fn summary(results: &BTreeMap<String, String>) {
    let mut table: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (key, verdict) in results {
        let folder = FOLDERS.iter().find(|f| key.starts_with(*f)).map_or("elsewhere", |f| f);
        *table.entry((folder.to_owned(), verdict)).or_default() += 1;
    }
    for ((folder, verdict), count) in table {
        println!("{folder}: {verdict} {count}");
    }
}
