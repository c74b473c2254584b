//! Whole programs: `programs/NAME.br` is compiled by the command, run on every back end, and prints `programs/NAME.out`. A first
//! line `/* brcc: options */` gives options.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use recal_needs::Trial;

use crate::build::{self, BACKENDS, Code, Tools};
use crate::cases;

type Lazy = Arc<OnceLock<Result<PathBuf, String>>>;

/// A test of each program on each back end.
pub fn trials(tools: &Arc<OnceLock<Result<Tools, String>>>) -> Vec<Trial> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(cases::folder().join("programs"))
        .map(|entries| {
            entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "br")).collect()
        })
        .unwrap_or_default();
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let built = Lazy::default();
        for backend in &BACKENDS {
            let (tools, built, file, name) =
                (Arc::clone(tools), Arc::clone(&built), file.clone(), name.clone());
            let title = format!("{}/programs/{name}", backend.name);
            let test = move || -> Result<(), String> {
                let tools = tools.get_or_init(Tools::new).as_ref().map_err(Clone::clone)?;
                let program =
                    built.get_or_init(|| compile(tools, &file, &name)).as_ref().map_err(Clone::clone)?;
                let wanted = std::fs::read_to_string(file.with_extension("out"))
                    .map_err(|e| format!("{name}.out: {e}"))?;
                let found = build::run(&mut backend.command(program))?;
                if found == wanted {
                    Ok(())
                } else {
                    Err(format!("it printed\n{found}\nrather than\n{wanted}"))
                }
            };
            trials.push(recal_needs::trial(title, backend.needs(), test));
        }
    }
    trials
}

fn compile(tools: &Tools, file: &Path, name: &str) -> Result<PathBuf, String> {
    let prefix = tools.scratch.join(format!("program_{name}"));
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let first = text.lines().next().unwrap_or_default();
    let options = first.strip_prefix("/* brcc:").map_or("", |rest| rest.trim_end_matches("*/"));
    let mut command = Command::new(tools.scratch.join("brcc"));
    command.args(options.split_whitespace()).arg("-o").arg(&prefix).arg(file);
    build::run(&mut command)?;
    let (source, object) = (prefix.with_extension("cpp"), prefix.with_extension("o"));
    build::run(&mut tools.compile(&source, &object, Code::Program))?;
    let program = tools.scratch.join(format!("program_{name}.exe"));
    build::run(&mut tools.link(&[object], &program))?;
    Ok(program)
}
