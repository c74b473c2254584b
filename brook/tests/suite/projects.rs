//! Programs of several files with a makefile of their own, as they were passed around: `projects/NAME/` is copied, made by `make
//! BROOKROOT=…` against a folder with `bin/brcc`, `include` and `lib`, and the program prints what stands in its `.out`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use recal_needs::Trial;

use crate::build::{self, BACKENDS, Tools};
use crate::cases;

type Built = Arc<OnceLock<Result<PathBuf, String>>>;

/// Folders, and the programs that they make.
const PROJECTS: [(&str, &str); 2] = [("match", "match"), ("solver", "solve")];

/// A test of each on each back end.
pub fn trials(tools: &Arc<OnceLock<Result<Tools, String>>>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, program) in PROJECTS {
        let built = Built::default();
        for backend in &BACKENDS {
            let (tools, built) = (Arc::clone(tools), Arc::clone(&built));
            let test = move || -> Result<(), String> {
                let tools = tools.get_or_init(Tools::new).as_ref().map_err(Clone::clone)?;
                let folder = built.get_or_init(|| make(tools, name)).as_ref().map_err(Clone::clone)?;
                let wanted = folder.join(program).with_extension("out");
                let wanted =
                    std::fs::read_to_string(&wanted).map_err(|e| format!("{}: {e}", wanted.display()))?;
                let mut command = backend.command(&folder.join(program));
                let found = build::run(command.env("LD_LIBRARY_PATH", &tools.scratch))?;
                if found == wanted {
                    Ok(())
                } else {
                    Err(format!("it printed\n{found}\nrather than\n{wanted}"))
                }
            };
            trials.push(recal_needs::trial(
                format!("{}/projects/{name}", backend.name),
                backend.needs(),
                test,
            ));
        }
    }
    trials
}

fn make(tools: &Tools, name: &str) -> Result<PathBuf, String> {
    let root = tools.scratch.join("projects");
    let folder = root.join(name);
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| failed(&folder, e))?;
    let source = cases::folder().join("projects").join(name);
    for entry in std::fs::read_dir(&source).map_err(|e| failed(&source, e))?.flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).map_err(|e| failed(&entry.path(), e))?;
    }
    // What the variable named that installers of the time set.
    let kit = root.join("kit").join(name);
    let _ = std::fs::remove_dir_all(&kit);
    for (part, from) in [
        ("bin", tools.scratch.clone()),
        ("lib", tools.scratch.clone()),
        ("include", cases::folder().join("../include")),
    ] {
        std::fs::create_dir_all(&kit).map_err(|e| failed(&kit, e))?;
        let from = from.canonicalize().map_err(|e| failed(&from, e))?;
        std::os::unix::fs::symlink(&from, kit.join(part)).map_err(|e| failed(&kit.join(part), e))?;
    }
    let mut make = Command::new("make");
    make.arg("-C").arg(&folder).arg(format!("BROOKROOT={}", kit.display()));
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    build::run(&mut make)?;
    Ok(folder)
}
