//! What the tests say: which of them ask for a mutant at all, and which fail with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tree::Tree;

/// A test of a program of tests.
pub struct Test {
    program: usize,
    name: String,
    time: Duration,
    seen: BTreeSet<u32>,
}

struct Program {
    name: String,
    path: PathBuf,
    folder: PathBuf,
    /// Takes several names at once.
    several: bool,
}

/// A case of the suite.
struct Case {
    number: String,
    seen: BTreeSet<u32>,
}

pub struct Judges {
    programs: Vec<Program>,
    pub tests: Vec<Test>,
    suite: PathBuf,
    cpu: Vec<Case>,
    modules: Vec<Case>,
}

/// How a mutant ended.
pub struct Verdict {
    pub word: &'static str,
    pub by: String,
}

/// A test that takes longer is no use here.
const LONGEST: Duration = Duration::from_secs(30);
/// What a process may take of addresses, KiB: mutants may ask for memory without end.
const ADDRESSES: &str = "16000000";
/// Cases that are tried before all are.
const FEW: usize = 40;
/// Cases that are run on the Vulkan driver, of those whose modules a mutant changes.
const ON_DRIVER: usize = 10;

enum Ended {
    Passed(String),
    Failed(String),
    TimedOut,
}

fn run(
    program: &Path,
    folder: &Path,
    arguments: &[String],
    variables: &[(&str, String)],
    limit: Duration,
) -> Ended {
    let mut command = Command::new("timeout");
    command.args(["-k", "2", &limit.as_secs().max(2).to_string(), "sh", "-c"]);
    command
        .arg(format!("ulimit -v {ADDRESSES}; ulimit -c 0; exec \"$0\" \"$@\""))
        .arg(program)
        .args(arguments);
    command.current_dir(folder).envs(variables.iter().map(|(k, v)| (k, v))).stdin(Stdio::null());
    command
        .env("RECAL_LAUNCHES", "3000")
        .env("RECAL_ROUNDS", "50")
        .env("RECAL_FORKS", "10")
        .env("RUST_BACKTRACE", "0");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Ended::Failed(error.to_string()),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ended::Passed(text),
        Some(124 | 137) => Ended::TimedOut,
        _ => Ended::Failed(text),
    }
}

impl Judges {
    /// Builds these tests and those of the libraries, and runs each once to see which mutants it asks for.
    pub fn new(tree: &Tree, packages: &[&str], tests: &[&str]) -> Result<Judges, String> {
        let mut command = tree.cargo("test");
        // A test of the suite has its programs built, too.
        command.args([
            "--no-run",
            "--message-format=json",
            "--lib",
            "-p",
            "recal-suite",
            "--test",
            "conformance",
        ]);
        packages.iter().for_each(|p| _ = command.args(["-p", p]));
        tests.iter().for_each(|t| _ = command.args(["--test", t]));
        let output = command.stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err("the tests do not build".into());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (mut programs, mut suite) = (Vec::new(), None);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            if !value["executable"].is_string() {
                continue;
            }
            let (name, path) = (text(&value["target"]["name"]), PathBuf::from(text(&value["executable"])));
            let library = value["target"]["kind"][0] == "lib" && ["recal_il", "recal_cpu"].contains(&&*name);
            if name == "mutants_judge" && value["profile"]["test"] == false {
                suite = Some(path);
            } else if library || tests.contains(&&*name) {
                let folder =
                    Path::new(&text(&value["manifest_path"])).parent().unwrap_or(Path::new(".")).to_owned();
                programs.push(Program { name, path, folder, several: false });
            }
        }
        let suite = suite.ok_or("the judge of cases was not built")?;
        let mut judges = Judges { programs, tests: Vec::new(), suite, cpu: Vec::new(), modules: Vec::new() };
        judges.look(tree)?;
        Ok(judges)
    }

    fn look(&mut self, tree: &Tree) -> Result<(), String> {
        let file = tree.root.join("seen");
        for (number, program) in self.programs.iter_mut().enumerate() {
            let Ended::Passed(list) = run(&program.path, &program.folder, &["--list".into()], &[], LONGEST)
            else {
                continue;
            };
            program.several = list.contains(" benchmark");
            for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
                let _ = std::fs::remove_file(&file);
                let variables = [("MUTANTS_SEEN", file.to_string_lossy().into_owned())];
                let start = Instant::now();
                let arguments = ["--exact".to_owned(), name.to_owned()];
                let ended = run(&program.path, &program.folder, &arguments, &variables, LONGEST);
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                let seen: BTreeSet<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
                match ended {
                    Ended::Passed(_) if !seen.is_empty() => {
                        self.tests.push(Test {
                            program: number,
                            name: name.into(),
                            time: start.elapsed(),
                            seen,
                        });
                    }
                    Ended::Passed(_) => {}
                    _ => eprintln!(
                        "left out: {} {name} fails or takes too long without a mutant",
                        program.name
                    ),
                }
            }
        }
        let folder = tree.root.clone();
        let see = |what: &str| -> Result<Vec<Case>, String> {
            let arguments = ["see".to_owned(), what.to_owned()];
            let Ended::Passed(text) = run(&self.suite, &folder, &arguments, &[], Duration::from_secs(1200))
            else {
                return Err(format!("cases are not seen: {what}"));
            };
            let case = |line: &str| {
                let mut parts = line.split('\t');
                let (number, time) = (parts.next()?.to_owned(), parts.next()?.parse::<u32>().ok()?);
                let seen = parts.next()?.split(' ').filter_map(|n| n.parse().ok()).collect();
                Some((time, Case { number, seen }))
            };
            let mut cases: Vec<(u32, Case)> = text.lines().filter_map(case).collect();
            if cases.len() < 500 {
                return Err(format!("only {} cases pass: {what}", cases.len()));
            }
            cases.sort_by_key(|(time, _)| *time);
            Ok(cases.into_iter().map(|(_, case)| case).collect())
        };
        self.cpu = see("cpu")?;
        self.modules = see("modules")?;
        Ok(())
    }

    /// Which mutants anybody asks for.
    pub fn reached(&self) -> BTreeSet<u32> {
        let tests = self.tests.iter().map(|t| &t.seen);
        tests.chain(self.cpu.iter().chain(&self.modules).map(|c| &c.seen)).flatten().copied().collect()
    }

    /// Tests first, the quick ones before the others; then cases, a few and then all; then cases on the driver.
    pub fn judge(&self, mutant: u32) -> Verdict {
        let mut by_program: BTreeMap<usize, Vec<&Test>> = BTreeMap::new();
        for test in self.tests.iter().filter(|t| t.seen.contains(&mutant)) {
            by_program.entry(test.program).or_default().push(test);
        }
        let mut groups: Vec<(Duration, usize, Vec<&Test>)> = Vec::new();
        for (program, mut tests) in by_program {
            tests.sort_by_key(|t| t.time);
            if self.programs[program].several {
                // The quick ones together, since most die of them.
                let (quick, slow): (Vec<_>, Vec<_>) =
                    tests.into_iter().partition(|t| t.time < Duration::from_millis(500));
                groups.extend([quick, slow].map(|list| (list.iter().map(|t| t.time).sum(), program, list)));
            } else {
                groups.extend(tests.into_iter().map(|t| (t.time, program, vec![t])));
            }
        }
        groups.retain(|(.., tests)| !tests.is_empty());
        groups.sort_by_key(|(time, ..)| *time);
        let (early, late): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(time, ..)| *time < Duration::from_secs(4));
        let quick = self.tests_die(mutant, &early);
        if quick.word != "survived" {
            return quick;
        }
        let cpu: Vec<&Case> = self.cpu.iter().filter(|c| c.seen.contains(&mutant)).collect();
        let few: Vec<&Case> = cpu.iter().step_by((cpu.len() / FEW).max(1)).copied().collect();
        for cases in [few, cpu] {
            let verdict = self.cases("cpu", mutant, cases.iter().map(|c| c.number.clone()).collect());
            if verdict.word != "survived" {
                return verdict;
            }
        }
        let modules: Vec<String> =
            self.modules.iter().filter(|c| c.seen.contains(&mutant)).map(|c| c.number.clone()).collect();
        let mut changes = true;
        if !modules.is_empty() {
            let arguments = [vec!["modules".to_owned(), mutant.to_string()], modules].concat();
            match run(&self.suite, Path::new("."), &arguments, &[], Duration::from_secs(240)) {
                Ended::TimedOut => return Verdict { word: "timed out", by: "modules".into() },
                Ended::Failed(_) => return Verdict { word: "killed", by: "modules".into() },
                Ended::Passed(text) => {
                    let numbers: Vec<String> = text.lines().take(ON_DRIVER).map(str::to_owned).collect();
                    changes = !numbers.is_empty();
                    let verdict = self.cases("vulkan", mutant, numbers);
                    if verdict.word != "survived" {
                        return verdict;
                    }
                }
            }
        }
        let slow = self.tests_die(mutant, &late);
        if slow.word == "survived" && !changes {
            return Verdict { word: "survived", by: "no module of the suite changes".into() };
        }
        slow
    }

    fn tests_die(&self, mutant: u32, groups: &[(Duration, usize, Vec<&Test>)]) -> Verdict {
        for (time, program, tests) in groups {
            let program = &self.programs[*program];
            let names = tests.iter().map(|t| t.name.clone());
            let arguments: Vec<String> = std::iter::once("--exact".to_owned()).chain(names).collect();
            let limit = *time * 6 + Duration::from_secs(15);
            match run(&program.path, &program.folder, &arguments, &[("MUTANT", mutant.to_string())], limit) {
                Ended::Passed(_) => {}
                Ended::TimedOut => return Verdict { word: "timed out", by: program.name.clone() },
                Ended::Failed(text) => {
                    let failed = text.lines().find(|line| line.ends_with("FAILED")).unwrap_or_default();
                    let failed = failed.trim_start_matches("test ").split(' ').next().unwrap_or_default();
                    return Verdict { word: "killed", by: format!("{} {failed}", program.name) };
                }
            }
        }
        Verdict { word: "survived", by: String::new() }
    }

    fn cases(&self, what: &str, mutant: u32, numbers: Vec<String>) -> Verdict {
        if numbers.is_empty() {
            return Verdict { word: "survived", by: String::new() };
        }
        let limit = Duration::from_secs(if numbers.len() > FEW { 300 } else { 90 });
        let arguments = [vec![what.to_owned(), mutant.to_string()], numbers].concat();
        match run(&self.suite, Path::new("."), &arguments, &[], limit) {
            Ended::Passed(_) => Verdict { word: "survived", by: String::new() },
            Ended::TimedOut => Verdict { word: "timed out", by: format!("cases, {what}") },
            Ended::Failed(text) => Verdict { word: "killed", by: format!("{what} {}", text.trim()) },
        }
    }
}
