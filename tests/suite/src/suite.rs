//! The whole suite: case files of a folder, generated cases, and the list of known failures.

use std::path::{Path, PathBuf};

use crate::case::{self, Case};
use crate::generate;
use crate::known::Known;

/// The folder of case files in this repository.
pub fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases")
}

/// Case files below `folder` (`*.il`), named by their path, in order of names.
pub fn read_folder(folder: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in files(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        // Comments may hold any code page.
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|e| e.as_bytes().iter().map(|b| char::from(*b)).collect());
        let relative = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        let name = relative.to_string_lossy().replace('\\', "/");
        cases.push(case::parse(&name, &text).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    Ok(cases)
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|e| e == "il") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Files and generated cases whose name contains `filter`.
pub fn load(filter: &str) -> Result<Vec<Case>, String> {
    let mut cases = read_folder(&cases_folder())?;
    cases.extend(generate::all());
    cases.retain(|case| case.name.contains(filter));
    Ok(cases)
}

/// The list of known failures.
pub fn known() -> Result<Known, String> {
    let path = cases_folder().join("known.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Known::parse(&text)
}
