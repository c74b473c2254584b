//! Files of the command line; `-` is standard input or standard output.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::Outcome;

/// Whether a path stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What a file to read is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_standard(path) { "<standard input>".into() } else { path.display().to_string() }
}

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let named = |e: std::io::Error| format!("{}: {e}", name(path));
    if !is_standard(path) {
        return Ok(std::fs::read(path).map_err(named)?);
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err("`-` stands for standard input, which is read once; name a file for the other".into());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(named)?;
    Ok(bytes)
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    if is_standard(path) {
        return put(bytes);
    }
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// Prints on standard output. An error where nobody reads it any more.
pub(crate) fn print(text: &str) -> Outcome {
    put(text.as_bytes())
}

/// Prints JSON for people and programs: indented, with a newline.
pub(crate) fn print_json(value: &Value) -> Outcome {
    print(&format!("{value:#}\n"))
}

fn put(bytes: &[u8]) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
