//! What the compiler says of kernels that are wrong: `pages/*.rs`, each with the compiler's words beside it in a `.stderr`. `UPDATE=1`
//! writes those anew; the difference is to be read before it is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that was built with this test: the newest of its name.
fn library() -> PathBuf {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let begin = format!("{DLL_PREFIX}recal_macros-");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let ours = entries.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(&begin) && name.ends_with(DLL_SUFFIX)
    });
    ours.max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

/// The compiler's words. The page is refused by the macros alone, so that it needs no crate but theirs.
fn compile(page: &Path, library: &Path) -> String {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.current_dir(page.parent().unwrap()).arg(page.file_name().unwrap());
    command.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--color", "never"]);
    command.arg("--out-dir").arg(env!("CARGO_TARGET_TMPDIR"));
    command.arg("--extern").arg(format!("recal={}", library.display()));
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{} is accepted", page.display());
    // Which kinds of errors the compiler can explain is its own matter.
    let text = String::from_utf8(output.stderr).unwrap();
    let end = text.find("error: aborting").unwrap_or(text.len());
    text[..end].to_owned()
}

#[test]
fn the_compiler_says_what_is_wrong_and_where() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut pages: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    pages.sort();
    assert!(!pages.is_empty());
    let library = library();
    let mut wrong = String::new();
    for page in pages {
        let now = compile(&page, &library);
        let beside = page.with_extension("stderr");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&beside, &now).unwrap();
        } else if fs::read_to_string(&beside).unwrap_or_default() != now {
            wrong += &format!("{}: now (UPDATE=1 writes it)\n{now}\n", page.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
