//! Rules that hold for the repository as a whole: what we depend on, where unsafe code stands, what crates hold that are
//! published.

use std::path::{Path, PathBuf};
use std::process::Command;

use recal_conformance::{dependencies, unsafety};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// What cargo prints, without a network.
fn cargo(arguments: &[&str]) -> String {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(program).current_dir(root()).args(arguments).arg("--offline").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn dependencies_keep_the_rules() {
    // Only crates for this host are here; others may never have been fetched.
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--filter-platform", host]);
    let metadata = serde_json::from_str(&metadata).unwrap();
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

/// The lists of versions of workspaces that are apart, and are built by other commands than the tests, name what our crates depend on.
#[test]
fn versions_of_other_workspaces_are_up_to_date() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let ours = metadata["packages"].as_array().unwrap();
    let always = |dependency: &&Value| {
        dependency["kind"].is_null() && dependency["target"].is_null() && dependency["optional"] == false
    };
    for list in ["fuzz/Cargo.lock", "tests/mutants/Cargo.lock"] {
        let versions: toml::Table = std::fs::read_to_string(root().join(list)).unwrap().parse().unwrap();
        let names: Vec<&str> = versions["package"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|package| package["name"].as_str())
            .collect();
        for package in ours.iter().filter(|package| names.iter().any(|name| package["name"] == *name)) {
            let needed = package["dependencies"].as_array().unwrap().iter().filter(always);
            let missing: Vec<&Value> = needed
                .map(|dependency| &dependency["name"])
                .filter(|needed| !names.iter().any(|name| *needed == name))
                .collect();
            assert!(missing.is_empty(), "{list} is old: {} needs {missing:?}", package["name"]);
        }
    }
}

/// `cargo package` takes every crate that is published: it refuses path dependencies without a version. What a crate's
/// files name must lie in the package; building it from there is left to `make audit`.
#[test]
fn crates_can_be_published() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    // `publish = false` is an empty list of registries.
    let published: Vec<&Value> =
        metadata["packages"].as_array().unwrap().iter().filter(|p| p["publish"].is_null()).collect();
    let mut names: Vec<&str> = published.iter().map(|p| p["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "recal",
            "recal-blas",
            "recal-blas-abi",
            "recal-brcc",
            "recal-brook",
            "recal-brook-abi",
            "recal-brook-build",
            "recal-cli",
            "recal-cpu",
            "recal-hal",
            "recal-il",
            "recal-jit",
            "recal-macros",
            "recal-manual",
            "recal-reference",
            "recal-rt",
            "recal-vulkan"
        ]
    );
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates");
    let mut package =
        vec!["package", "--no-verify", "--allow-dirty", "--target-dir", scratch.to_str().unwrap()];
    names.iter().for_each(|name| package.extend(["-p", name]));
    cargo(&package);
    for crate_ in published {
        let (name, version) = (crate_["name"].as_str().unwrap(), crate_["version"].as_str().unwrap());
        for key in ["description", "license", "repository", "readme"] {
            assert!(crate_[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
        let words = crate_["keywords"].as_array().unwrap();
        assert!((1..=5).contains(&words.len()), "{name}: keywords {words:?}");

        let folder = scratch.join("package");
        let file = format!("{name}-{version}");
        let _ = std::fs::remove_dir_all(folder.join(&file));
        let mut tar = Command::new("tar");
        tar.current_dir(&folder).arg("xzf").arg(format!("{file}.crate"));
        assert!(tar.status().unwrap().success(), "{name}");
        let folder = folder.join(file);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = |folder: &Path| std::fs::read_to_string(folder.join(licence)).unwrap();
            assert_eq!(text(&folder), text(&root()), "{name}: {licence}");
        }
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        let shows_use = readme.contains("```rust") || readme.contains("\n    ");
        assert!(readme.starts_with(&format!("# {name}\n")) && shows_use, "{name}: {readme}");
        assert_eq!(missing_files(&folder), Vec::<String>::new(), "{name}");
    }
    // The second library of C programs comes from the files of one crate.
    let rt = scratch.join("package").join(format!("recal-rt-{}", env!("CARGO_PKG_VERSION")));
    let mut compiler = Command::new("gcc");
    compiler.current_dir(rt).args([
        "-std=c99",
        "-fsyntax-only",
        "-Wall",
        "-Werror",
        "-Iinclude",
        "aticalcl.c",
    ]);
    assert!(compiler.status().unwrap().success());
}

/// Files that the sources under `folder` include and that are not there.
fn missing_files(folder: &Path) -> Vec<String> {
    let mut missing = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            missing.extend(missing_files(&path));
            continue;
        }
        if path.extension().is_none_or(|e| e != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for start in ["include_str!(\"", "include_bytes!(\"", "#[path = \""] {
            for rest in text.split(start).skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                if !path.with_file_name(name).exists() {
                    missing.push(format!("{}: {name}", path.display()));
                }
            }
        }
    }
    missing
}
