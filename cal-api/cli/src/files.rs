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

/// More than any resource or kernel has: some files have no end.
pub(crate) const LONGEST: u64 = if usize::BITS > 32 { 16 << 30 } else { 1 << 30 };

pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    let bytes = read_at_most(path, LONGEST)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("{}: more than {LONGEST} bytes", name(path)).into());
    }
    Ok(bytes)
}

/// The same of a file that should have so many bytes: of a longer one there is one more.
pub(crate) fn read_at_most(path: &Path, most: u64) -> Outcome<Vec<u8>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let named = |e: std::io::Error| format!("{}: {e}", name(path));
    if is_standard(path) && TAKEN.swap(true, Ordering::Relaxed) {
        return Err("`-` stands for standard input, which is read once; name a file for the other".into());
    }
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        let file = std::fs::File::open(path).map_err(named)?;
        // A file knows its length, so that its bytes are read at once.
        bytes.try_reserve(file.metadata().map_or(0, |of| of.len().min(most)) as usize)?;
        file.take(most + 1).read_to_end(&mut bytes)
    };
    read.map_err(named)?;
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

/// Says something on standard error, if anybody listens.
pub(crate) fn say(text: &str) {
    _ = std::io::stderr().write_all(text.as_bytes());
}

fn put(bytes: &[u8]) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
