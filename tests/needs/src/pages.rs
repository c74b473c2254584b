//! Pages: files that hold what goes in, and behind a line `; becomes` what came out when they were written. `UPDATE=1` writes what
//! comes out now; the difference is to be read before it is kept.

use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "; becomes\n";

/// A file.
pub struct Page {
    path: PathBuf,
    /// Its name, for messages.
    pub name: String,
    /// What stands before the mark.
    pub before: String,
    after: String,
}

impl Page {
    /// The pages of a folder, by name.
    ///
    /// # Panics
    /// If there are none, or one cannot be read.
    pub fn all(folder: &Path) -> Vec<Page> {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{} has no pages", folder.display());
        paths.into_iter().map(Page::read).collect()
    }

    fn read(path: PathBuf) -> Page {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (before, after) = text.split_once(MARK).unwrap_or((&text, ""));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        Page { name, before: before.to_owned(), after: after.to_owned(), path }
    }

    /// What its lines `; word rest` say beside `; - remarks`, in their order.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.before.lines().map_while(|line| line.strip_prefix("; "));
        lines.filter(|line| !line.starts_with("- ")).map(|line| line.split_once(' ').unwrap_or((line, "")))
    }

    /// What is wrong if `made` comes out; nothing with `UPDATE=1`, which makes it right.
    pub fn difference(&self, made: &str) -> String {
        if made == self.after {
            return String::new();
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&self.path, format!("{}{MARK}{made}", self.before)).expect("written");
            return String::new();
        }
        let line = made.lines().zip(self.after.lines()).position(|(a, b)| a != b);
        let at = line.unwrap_or(made.lines().count().min(self.after.lines().count()));
        let now: String =
            made.lines().skip(at.saturating_sub(4)).take(16).map(|l| format!("    {l}\n")).collect();
        format!("{}: now, from line {} behind the mark on (UPDATE=1 writes it):\n{now}", self.name, at + 1)
    }
}
