//! Every exported function is described whole, its example compiles, and its man page is one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use recal_manual::api::{Function, functions};
use recal_manual::{Kind, find, man, topics};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn exports() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in ["exports-rt.txt", "exports-cl.txt"] {
        let text = fs::read_to_string(repository().join("tests/abi").join(file)).unwrap();
        let words = text.lines().map(str::trim).filter(|l| l.starts_with("cal"));
        names.extend(words.map(|l| l.split_whitespace().next().unwrap().to_string()));
    }
    names
}

#[test]
fn every_exported_function_has_its_page_and_no_other() {
    let described: BTreeSet<String> = functions().into_iter().map(|f| f.name).collect();
    let exported = exports();
    assert_eq!(exported.len(), 51);
    assert_eq!(described, exported);
    for name in exported {
        assert_eq!(find(&name).map(|t| t.kind), Some(Kind::Function), "{name}");
    }
}

#[test]
fn every_parameter_is_described_in_order() {
    for f in functions() {
        let described: Vec<&String> = f.described.iter().map(|(name, _)| name).collect();
        assert_eq!(described, f.parameters.iter().collect::<Vec<_>>(), "{}", f.name);
        assert!(f.described.iter().all(|(_, words)| words.ends_with('.') && words.len() > 3), "{}", f.name);
        assert!(f.text.ends_with('.') && f.results.iter().all(|(_, when)| when.ends_with('.')), "{}", f.name);
        assert!(!f.example.is_empty() && f.example.contains(&f.name), "{} has no example", f.name);
    }
}

/// The source of an entry point: from its line in a `boundary!` to the next.
fn entry_points() -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for file in fs::read_dir(repository().join("cal-api/src/ffi")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let mut needs = String::new();
        for line in text.lines() {
            if let Some(words) =
                line.strip_prefix("    Runtime ").or_else(|| line.strip_prefix("    Compiler "))
            {
                needs = words.trim().to_string();
            } else if let Some(rest) = line.strip_prefix("    fn cal")
                && !needs.is_empty()
            {
                let name = format!("cal{}", rest.split('(').next().unwrap());
                found.push((name, std::mem::take(&mut needs), String::new()));
            } else if line == "    }" {
                needs.clear();
            }
            if let Some((_, _, body)) = found.last_mut() {
                body.push_str(line);
                body.push('\n');
                if line == "    }" {
                    // What follows belongs to nobody until the next one begins.
                    found.push((String::new(), String::new(), String::new()));
                }
            }
        }
    }
    found.retain(|(name, ..)| !name.is_empty());
    found
}

/// Codes that follow from the declaration and from what stands in the entry point itself.
fn must_name(f: &Function, needs: &str, body: &str) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::from(["CAL_RESULT_OK", "CAL_RESULT_ERROR"]);
    if needs == "Init" {
        codes.insert("CAL_RESULT_NOT_INITIALIZED");
    }
    for (made, code) in [
        ("Error::invalid", "CAL_RESULT_INVALID_PARAMETER"),
        ("text_at(", "CAL_RESULT_INVALID_PARAMETER"),
        ("image_at(", "CAL_RESULT_INVALID_PARAMETER"),
        ("object_at(", "CAL_RESULT_INVALID_PARAMETER"),
        ("write_sized(", "CAL_RESULT_INVALID_PARAMETER"),
        ("format(format_)", "CAL_RESULT_INVALID_PARAMETER"),
        ("free(\"", "CAL_RESULT_INVALID_PARAMETER"),
        ("Error::unsupported", "CAL_RESULT_NOT_SUPPORTED"),
        ("supported(", "CAL_RESULT_NOT_SUPPORTED"),
        ("Error::pending", "CAL_RESULT_PENDING"),
        (".open(ordinal)", "CAL_RESULT_ALREADY"),
        (".initialize()", "CAL_RESULT_ALREADY"),
        ("shut_down()", "CAL_RESULT_NOT_INITIALIZED"),
        (".bind(", "CAL_RESULT_BAD_NAME_TYPE"),
        ("call.find(", "CAL_RESULT_BAD_HANDLE"),
        ("call.take(", "CAL_RESULT_BAD_HANDLE"),
        ("call.context(", "CAL_RESULT_BAD_HANDLE"),
        ("local(call", "CAL_RESULT_BAD_HANDLE"),
        ("remote(call", "CAL_RESULT_BAD_HANDLE"),
    ] {
        if body.contains(made) {
            codes.insert(code);
        }
    }
    // The first parameters are outputs where the macro has any: `fn name(call; out: T; …)`.
    let outputs = body.split("(call;").nth(1).and_then(|rest| rest.split(';').next()).unwrap_or_default();
    if outputs.contains(':') {
        codes.insert("CAL_RESULT_INVALID_PARAMETER");
    }
    assert!(body.contains(&f.name), "{}", f.name);
    codes
}

#[test]
fn every_code_that_a_function_may_return_is_named_and_no_other() {
    let entries = entry_points();
    let mut seen = 0;
    for f in functions().iter().filter(|f| f.gives_code()) {
        let (_, needs, body) =
            entries.iter().find(|(name, ..)| *name == f.name).unwrap_or_else(|| panic!("{}", f.name));
        let named: BTreeSet<&str> = f.results.iter().map(|(code, _)| code.as_str()).collect();
        assert_eq!(named, must_name(f, needs, body), "{}", f.name);
        seen += 1;
    }
    assert_eq!(seen, 51 - 4, "all but two texts and two listings give a code");
}

/// What the examples take for granted.
const BEFORE: &str = "#include <stdio.h>
#include <stdlib.h>
#include <cal.h>
#include <calcl.h>
#include <cal_ext.h>
#include <calcl_ext.h>
CALdevice device; CALcontext ctx; CALresource res; CALmem mem, source, destination; CALmodule module; CALfunc func;
CALname name; CALevent event; CALimage image; CALobject object; CALdeviceinfo info; const CALchar* il; CALvoid* bytes; CALuint size;
void show(const CALchar* line);
";

#[test]
fn every_example_of_a_function_compiles() {
    let mut text = BEFORE.to_string();
    for f in functions() {
        let body: String = f.example.lines().map(|line| format!("    {line}\n")).collect();
        text += &format!("void example_{0}(void);\nvoid example_{0}(void)\n{{\n{body}}}\n", f.name);
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples.c");
    fs::write(&file, &text).unwrap();
    let output = Command::new("gcc")
        .args([
            "-std=c99",
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-but-set-variable",
            "-Wno-unused-variable",
        ])
        .arg("-I")
        .arg(repository().join("cal-api/include/CAL"))
        .arg(&file)
        .stderr(Stdio::piped())
        .output()
        .expect("gcc, which the samples need too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn codes_and_types_have_topics() {
    let bad = find("CAL_RESULT_BAD_HANDLE").unwrap();
    assert_eq!(bad.kind, Kind::Result);
    let functions = format!("{:?}", bad.section("Functions"));
    assert!(functions.contains("calResMap") && !functions.contains("calInit"), "{functions}");
    assert_eq!(topics().iter().filter(|t| t.kind == Kind::Result).count(), 11);
    assert_eq!(find("CAL_FORMAT_FLOAT_4").map(|t| t.name.as_str()), Some("CALformat"));
    assert_eq!(find("CALdeviceattribs").map(|t| t.kind), Some(Kind::Type));
    for name in recal_manual::api::EXTENSIONS {
        let topic = find(name).unwrap_or_else(|| panic!("{name}"));
        assert!(topic.summary.ends_with('.'), "{name}: {}", topic.summary);
    }
}

#[test]
fn man_pages_have_the_sections_that_readers_look_for() {
    let pages = man::pages();
    assert_eq!(pages.len(), 51 + recal_manual::api::EXTENSIONS.len() + 1);
    for page in &pages {
        let (name, section) = page.file.rsplit_once('.').unwrap();
        let first = page.text.lines().find(|l| l.starts_with(".TH")).unwrap();
        assert!(first.starts_with(&format!(".TH {name} {section}")), "{first}");
        // `name - words` on one line, which `whatis` and lintian ask for.
        let named = page.text.lines().skip_while(|l| *l != ".SH NAME").nth(1).unwrap();
        assert!(
            named.starts_with(&format!("{} \\- ", name.replace('-', "\\-"))) && named.len() < 200,
            "{named}"
        );
        if section == "3" {
            assert!(page.text.contains(".SH SYNOPSIS"), "{name}");
        }
    }
    let run = pages.iter().find(|p| p.file == "calCtxRunProgram.3").unwrap();
    assert!(run.text.contains("CAL_RESULT_BAD_HANDLE") && run.text.contains(".SH PARAMETERS"));
}
