//! Accepted and refused kernel texts, kept as data under `tests/il/`, and texts made up here.

mod effort;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use effort::effort;
use recal_il::diagnostic::{Diagnostic, Severity, position, render};
use recal_il::text::{parse, print};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/il").join(name)
}

fn texts(name: &str) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(folder(name))
        .expect("the folder of texts exists")
        .map(|entry| entry.expect("readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "il"))
        .map(|path| {
            let name = path.file_stem().and_then(|s| s.to_str()).expect("plain name").to_string();
            (name, fs::read(&path).expect("readable text"))
        })
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// The first error, and a check that everything about the list is readable.
fn first_error(name: &str, text: &[u8]) -> Diagnostic {
    let errors = recal_il::front(text).expect_err(name);
    let shown = render(&errors, text, name);
    assert!(shown.len() < 60_000, "{name}: {} bytes of diagnostics", shown.len());
    assert!(errors.iter().all(|d| !d.message.is_empty() && d.span.start <= d.span.end), "{name}");
    errors.into_iter().find(|d| d.severity == Severity::Error).expect("an error among the diagnostics")
}

#[test]
fn accepted_texts_check() {
    for (name, text) in texts("accept") {
        if let Err(errors) = recal_il::front(&text) {
            panic!("{}", render(&errors, &text, &name));
        }
    }
}

#[test]
fn refused_texts_say_what_and_where() {
    let table = fs::read_to_string(folder("reject").join("EXPECTED")).expect("the table of expectations");
    let expected: Vec<Vec<&str>> =
        table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(' ').collect()).collect();
    let texts = texts("reject");
    assert_eq!(expected.len(), texts.len(), "every text has one line in EXPECTED");
    let mut wrong = String::new();
    for (row, (name, text)) in expected.iter().zip(&texts) {
        assert_eq!(row[0], name);
        let error = first_error(name, text);
        let (line, column) = position(text, error.span.start);
        let found = format!("{name} {} {line}:{column}", error.rule);
        if found != row.join(" ") {
            wrong +=
                &format!("expected {}\nfound    {found}\n{}\n", row.join(" "), render(&[error], text, name));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn printing_and_parsing_again_is_the_identity() {
    for (name, text) in texts("accept") {
        let tree = parse(&text).expect("accepted").without_spans();
        let printed = print(&tree);
        let again = match parse(printed.as_bytes()) {
            Ok(again) => again.without_spans(),
            Err(errors) => panic!("{}", render(&errors, printed.as_bytes(), &name)),
        };
        assert_eq!(tree, again, "{name}:\n{printed}");
        assert_eq!(print(&again), printed, "{name}");
    }
}

/// Runs the front end and asserts that it took a processor less than `limit`.
fn within(limit: Duration, name: &str, text: &[u8]) -> Diagnostic {
    let (error, time) = effort(|| first_error(name, text));
    assert!(time < limit, "{name} took {time:?}");
    error
}

#[test]
fn deep_nesting_is_refused_early() {
    for opener in ["if_logicalnz r0.x\n", "whileloop\n", "switch r0.x\ncase 0\n"] {
        let text = format!("il_ps_2_0\n{}end\n", opener.repeat(100_000));
        let error = within(Duration::from_secs(5), opener, text.as_bytes());
        assert_eq!(error.rule, "nesting");
        let lines_each = opener.matches('\n').count();
        assert_eq!(position(text.as_bytes(), error.span.start), (2 + 256 * lines_each, 1));
    }
}

#[test]
fn deep_calls_are_refused() {
    let mut text = String::from("il_ps_2_0\ncall 0\nendmain\n");
    for n in 0..100_000 {
        text += &format!("func {n}\ncall {}\nret\n", n + 1);
    }
    text += "func 100000\nret\nend\n";
    assert_eq!(within(Duration::from_secs(5), "calls", text.as_bytes()).rule, "call-depth");
}

/// Functions that call the next one twice; the last one has one statement.
fn doubling(functions: u32) -> String {
    let mut text = String::from("il_ps_2_0\ncall 0\nendmain\n");
    for n in 0..functions - 1 {
        text += &format!("func {n}\ncall {0}\ncall {0}\nret\nendfunc\n", n + 1);
    }
    text + &format!("func {}\nmov r0, r1\nret\nendfunc\nend\n", functions - 1)
}

#[test]
fn a_call_bomb_is_refused() {
    // 3 * 2^n - 2 statements, and the call of main: 196,607 with 17 functions, 393,215 with 18.
    assert!(recal_il::front(doubling(17).as_bytes()).is_ok());
    for functions in [18, 60] {
        let text = doubling(functions);
        let error = within(Duration::from_secs(5), "calls", text.as_bytes());
        assert_eq!(error.rule, "call-size");
        // The second call of the 18th function from the end: there it is too much.
        let function = format!("func {}", functions - 18);
        let line = text.lines().position(|line| line == function).expect("there is one");
        assert_eq!(position(text.as_bytes(), error.span.start).0, line + 3, "{functions}");
    }
}

#[test]
fn a_macro_bomb_is_refused() {
    let mut text = String::from("il_ps_2_0\nmcall(40) (), ()\nmdef(0)_out(0)_in(0)\nmov r0, r1\nmend\n");
    for n in 1..=40 {
        text += &format!("mdef({n})_out(0)_in(0)\n{}mend\n", format!("mcall({}) (), ()\n", n - 1).repeat(10));
    }
    text += "end\n";
    assert_eq!(within(Duration::from_secs(20), "bomb", text.as_bytes()).rule, "macro-size");
}

#[test]
fn large_hostile_texts_end_quickly() {
    let limit = Duration::from_secs(10);
    let body = |line: &str, n: usize| format!("il_ps_2_0\n{}end\n", line.repeat(n)).into_bytes();
    assert_eq!(within(limit, "endifs", &body("endif\n", 200_000)).rule, "unbalanced");
    assert_eq!(within(limit, "unknown", &body("abcdefghijklmnop qrst\n", 200_000)).rule, "unknown-opcode");
    assert_eq!(within(limit, "letters", &vec![b'x'; 4 << 20]).rule, "no-header");
    assert_eq!(within(limit, "underscores", &body(&"_".repeat(1 << 20), 1)).rule, "unknown-opcode");
    assert_eq!(within(limit, "too long", &vec![b' '; 33 << 20]).rule, "text-size");
    assert_eq!(within(limit, "brackets", &body("mov r0, g[[[[[[[[[[\n", 100_000)).rule, "unknown-register");
    assert_eq!(within(limit, "index", &body("mov r0, g[\n", 100_000)).rule, "unclosed-index");
    assert_eq!(
        within(limit, "word", &body(&format!("mov{} r0\n", "_x".repeat(1 << 20)), 1)).rule,
        "unknown-specifier"
    );
    assert_eq!(
        within(limit, "commas", &body(&format!("mov r0{}\n", ", r1".repeat(1 << 18)), 1)).rule,
        "operand-count"
    );
    // What is looked into for a better message is not looked into again and again.
    within(limit, "signs", &body(&format!("mov r0, {}r1\n", "-|abs(".repeat(1 << 17)), 1));
    within(limit, "indices", &body(&format!("mov r0, {}\n", "-r0[-r0[abs(r0[".repeat(1 << 17)), 1));
    within(limit, "comments", &body("/*\n", 1 << 19));
    within(limit, "one line of comments", &body(&"/*".repeat(1 << 20), 1));
    within(limit, "numbers", &body(&format!("dcl_literal l0, {}\n", "1.".repeat(1 << 20)), 1));
    within(limit, "arguments", &body(&format!("sample_resource({}\n", "r0 ".repeat(1 << 19)), 1));
    within(limit, "no ends", &body("  whileloop\n    mov r0, r1\n", 200));
    assert_eq!(
        within(limit, "no end", &body("mov r0, r1\n", 200_000)[..10 + 11 * 100_000]).rule,
        "missing-end"
    );
}

#[test]
fn several_errors_come_at_once() {
    let text = b"il_ps_2_0\nmull r0, r1\nadd r0, r1\nmov r0, r1.q\nend\n";
    let errors = recal_il::front(text).unwrap_err();
    let lines: Vec<usize> = errors.iter().map(|d| position(text, d.span.start).0).collect();
    assert_eq!(lines, [2, 3, 4]);
    let text = b"il_ps_2_0\nmov r0, l0\nmov r0, cb0[1]\nendif\nmov o9, r0\nend\n";
    let errors = recal_il::front(text).unwrap_err();
    let lines: Vec<usize> = errors.iter().map(|d| position(text, d.span.start).0).collect();
    assert_eq!(lines, [2, 3, 4, 5]);
}

/// A small generator of numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

#[test]
fn mutated_texts_never_panic() {
    let mut seeds = texts("accept");
    seeds.extend(texts("reject").into_iter().filter(|(_, t)| t.len() < 10_000));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let start = Instant::now();
    let mut accepted = 0;
    for round in 0.. {
        let mut text = seeds[random.below(seeds.len())].1.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut random, &seeds, &mut text);
        }
        match recal_il::front(&text) {
            Ok(_) => {
                accepted += 1;
                // What is accepted also prints and reads back.
                let tree = parse(&text).expect("accepted").without_spans();
                let printed = print(&tree);
                let again = parse(printed.as_bytes()).map(recal_il::text::Ast::without_spans);
                assert_eq!(again.as_ref(), Ok(&tree), "{}\n{printed}", String::from_utf8_lossy(&text));
            }
            Err(errors) => {
                assert!(errors.iter().any(|d| d.severity == Severity::Error));
                assert!(!render(&errors, &text, "mutant").is_empty());
            }
        }
        // As many as there is time for, and enough that stay legal to exercise the printer.
        if accepted > 100 && (round >= 10_000 || start.elapsed() > Duration::from_secs(20)) {
            break;
        }
    }
}

fn mutate(random: &mut Random, seeds: &[(String, Vec<u8>)], text: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    let at = random.below(text.len());
    match random.below(7) {
        0 => text[at] = random.below(256) as u8,
        1 => {
            text.remove(at);
        }
        2 => text.truncate(at),
        3 => text.insert(at, b"_.,()[]0123456789xyzw;- \n"[random.below(25)]),
        4 => {
            let end = (at + random.below(40)).min(text.len());
            let piece = text[at..end].to_vec();
            let to = random.below(text.len());
            text.splice(to..to, piece);
        }
        5 => {
            let end = (at + random.below(20)).min(text.len());
            text.drain(at..end);
        }
        _ => {
            let other = &seeds[random.below(seeds.len())].1;
            let lines: Vec<&[u8]> = other.split(|&b| b == b'\n').collect();
            let mut line = lines[random.below(lines.len())].to_vec();
            line.push(b'\n');
            let start = text[..at].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
            text.splice(start..start, line);
        }
    }
}

/// Rule and line of each error of a text.
fn errors(text: &str) -> Vec<(&'static str, usize)> {
    let all = recal_il::front(text.as_bytes()).expect_err(text);
    let errors = all.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| (d.rule, position(text.as_bytes(), d.span.start).0)).collect()
}

#[test]
fn one_reading_tells_of_spelling_and_of_meaning() {
    // Two statements that cannot be read, two that are illegal, in the order of the text.
    let text = "il_ps_2_0\ndcl_output_generic o0\nmov r0, l7\nmull r1, r0, r0\nadd r2, r0\nmov r3, cb3[0]\n\
        mov o0, r1\nend\n";
    assert_eq!(
        errors(text),
        [("undeclared", 3), ("unknown-opcode", 4), ("operand-count", 5), ("undeclared", 6)]
    );
}

#[test]
fn what_follows_from_an_unreadable_statement_is_not_told() {
    // The declaration of o0 is lost: using it is no mistake of its own. Nor is `endif`, whose `if` is lost.
    assert_eq!(
        errors("il_ps_2_0\ndcl_outptu_generic o0\nmov o0, r1\nend\n").iter().map(|e| e.1).collect::<Vec<_>>(),
        [2]
    );
    let text = "il_ps_2_0\ndcl_output_generic o0\nif_logicalnz\nmov o0, r1\nendif\nmov r0, l7\nend\n";
    let lines: Vec<_> = errors(text).iter().map(|e| e.1).collect();
    assert_eq!(lines.last(), Some(&6), "{lines:?}");
    assert!(!lines.contains(&5), "{lines:?}");
    // A text that breaks off.
    assert_eq!(errors("il_ps_2_0\nif_logicalnz r0.x\nmov r0, l7\n"), [("undeclared", 3), ("missing-end", 3)]);
}
