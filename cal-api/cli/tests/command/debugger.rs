//! `recal debug` on a command line: sessions as they are printed, in `tests/sessions`. A file has the arguments, the kernel and the
//! session; lines that begin with `(recal)` are typed. `UPDATE=1` writes what is printed; it is to be read then.

use std::path::{Path, PathBuf};

use crate::{recal_with, scratch};

/// The arguments, the kernel, and the session of a file.
fn parts(text: &str) -> (Vec<String>, String, String) {
    let (head, session) = text.split_once("session:\n").unwrap();
    let lines: Vec<&str> = head.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("arguments:")).unwrap();
    let arguments = lines[first].split_whitespace().skip(1).map(str::to_owned).collect();
    let kernel: String = lines[first + 1..].iter().map(|line| format!("{line}\n")).collect();
    (arguments, kernel, session.to_owned())
}

/// What a session prints.
fn session(name: &str, arguments: &[String], kernel: &str, typed: &str) -> String {
    let path = scratch("debug").join(format!("{name}.il"));
    std::fs::write(&path, kernel).unwrap();
    let all: Vec<&str> =
        ["debug", path.to_str().unwrap()].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let output = recal_with(&all, typed.as_bytes(), &[]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn sessions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 7);
    files
}

#[test]
fn sessions_print_what_they_printed() {
    for file in sessions() {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let (arguments, kernel, expected) = parts(&text);
        let typed: String = expected
            .lines()
            .filter_map(|line| Some(format!("{}\n", line.strip_prefix("(recal)")?.trim())))
            .collect();
        let printed = session(name, &arguments, &kernel, &typed);
        if std::env::var_os("UPDATE").is_some() {
            let (head, _) = text.split_once("session:\n").unwrap();
            std::fs::write(&file, format!("{head}session:\n{printed}")).unwrap();
            continue;
        }
        let line = |text: &str, k: usize| text.lines().nth(k).unwrap_or("the end").to_owned();
        let differs = (0..printed.lines().count().max(expected.lines().count()))
            .find(|k| line(&printed, *k) != line(&expected, *k));
        if let Some(k) = differs {
            panic!(
                "{name}: line {} of the session\n  was {}\n  is  {}",
                k + 1,
                line(&expected, k),
                line(&printed, k)
            );
        }
    }
}

/// The document shows what a session prints.
#[test]
fn the_documents_example_is_a_session() {
    let text = include_str!("../sessions/wrong_index.txt");
    let document = include_str!("../../../../docs/debugger.md");
    let (_, kernel, session) = parts(text);
    let indented = |text: &str| -> String {
        text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
    };
    assert!(document.contains(&indented(&kernel)), "the kernel");
    assert!(document.contains(&indented(&session)), "{}", indented(&session));
}

/// Every state on the way forward is found again on the way back.
#[test]
fn back_leads_through_the_same_states() {
    let text = include_str!("../sessions/steps.txt");
    let (arguments, kernel, _) = parts(text);
    let count = 12;
    let looks = "registers\nmemory o0 0,3 16\n";
    let forward: String = (0..count).map(|_| format!("{looks}step\n")).collect();
    let back: String = (0..count).map(|_| format!("back\n{looks}")).collect();
    let printed = session("back", &arguments, &kernel, &format!("{forward}{back}"));
    // What was printed between two commands.
    let mut shown: Vec<String> = Vec::new();
    for line in printed.lines() {
        match line.strip_prefix("(recal) ") {
            Some("registers") => shown.push(String::new()),
            Some("memory o0 0,3 16") => {}
            Some(_) => shown.push("-".into()),
            None => {
                if let Some(last) = shown.last_mut().filter(|last| *last != "-") {
                    *last += line;
                }
            }
        }
    }
    shown.retain(|state| state != "-");
    assert_eq!(shown.len(), 2 * count);
    let (forward, back) = shown.split_at(count);
    assert!(forward.windows(2).any(|pair| pair[0] != pair[1]), "nothing changes: {printed}");
    let back: Vec<&String> = back.iter().rev().collect();
    assert_eq!(forward.iter().collect::<Vec<_>>(), back);
}

#[test]
fn what_cannot_be_debugged_is_told() {
    let folder = scratch("debug");
    let kernel = folder.join("short.il");
    std::fs::write(&kernel, "il_ps_2_0\ndcl_output_generic o0\nmov o0, r0\nend\n").unwrap();
    let kernel = kernel.to_str().unwrap();
    let bound = ["-b", "o0=4x4:float32_1", "-d", "4x4"];
    let cases: [(&[&str], &str); 5] = [
        (&["debug", "-"], "standard input has the commands"),
        (&["debug"], "required arguments"),
        (&["debug", kernel, "-d", "4x4"], "o0"),
        (&["debug", kernel, "-b", "o0=4x4:float32_1", "-d", "4x4", "-t", "4,0"], "not part of the launch"),
        (&["debug", kernel, "--dap"], "cannot be used"),
    ];
    for (arguments, told) in cases {
        let output = recal_with(arguments, b"", &[]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(told), "{arguments:?}: {text}");
    }
    // Saved when one leaves, as it is then.
    let saved = folder.join("o0.raw");
    let save = format!("o0={}", saved.display());
    let all = [&["debug", kernel][..], &bound, &["-s", &save]].concat();
    assert!(recal_with(&all, b"continue\nquit\n", &[]).status.success());
    assert_eq!(std::fs::read(saved).unwrap(), [0; 64]);
}
