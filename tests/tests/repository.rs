//! Rules that hold for the repository as a whole: what we depend on, where unsafe code stands.

use std::path::{Path, PathBuf};
use std::process::Command;

use recal_conformance::{dependencies, unsafety};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn dependencies_keep_the_rules() {
    // Only crates for this host are here; others may never have been fetched.
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).unwrap();
    let rules = std::fs::read_to_string(root().join("deny.toml")).unwrap().parse().unwrap();
    let broken = dependencies::broken(&metadata, &rules);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_list_of_unsafe_code_is_up_to_date() {
    let path = root().join("docs/unsafe.md");
    let now = unsafety::document(&root());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == now,
        "docs/unsafe.md is old: UPDATE=1 cargo test -p recal-conformance --test repository"
    );
}
