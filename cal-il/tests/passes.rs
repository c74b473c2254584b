//! Passes by examples: `tests/passes/*.ir` holds a program, and behind a line `; becomes` what the passes of its first line make
//! of it. `UPDATE=1` writes what they make of it now; the difference is to be read before it is kept. Whatever is written there,
//! both programs must compute the same in the slow interpreter, and no program may break the rules of `ir::validate`.

mod reference;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use recal_il::ir::passes::Settings;
use recal_il::ir::{Program, Space, text};
use recal_il::opt;
use reference::Machine;

const MARK: &str = "; becomes\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

fn read(name: &str, program: &str) -> Program {
    text::parse(program.as_bytes()).unwrap_or_else(|found| {
        panic!("{name}: {}", recal_il::diagnostic::render(&found, program.as_bytes(), name))
    })
}

/// Settings that the lines before the program name: `; worth 0`, `; native`.
fn settings(name: &str, page: &str) -> Settings<'static> {
    let mut settings = Settings::USUAL;
    for line in page.lines().map_while(|line| line.strip_prefix("; ")) {
        match line.split_once(' ') {
            Some(("worth", number)) => settings.worth = number.parse().expect("a number"),
            Some(("threads", number)) => settings.threads = number.parse().expect("a number"),
            None if line == "native" => settings.faithful = false,
            _ => assert!(line.starts_with("passes ") || line.starts_with("- "), "{name}: {line}"),
        }
    }
    settings
}

/// What eight threads leave. Nobody sees what group memory holds at the end.
#[derive(PartialEq)]
struct Left {
    global: Vec<[u32; 4]>,
    uavs: Vec<Vec<u8>>,
    outputs: Vec<Vec<[u32; 4]>>,
}

fn computed(program: &Program) -> Left {
    let floats = |k: usize| [0, 1, 2, 3].map(|c| ((4 * k + c) as f32 * 0.75 - 2.0).to_bits());
    let block = |bytes: u32| (0..bytes).map(|k| (k * 37 % 251) as u8).collect::<Vec<u8>>();
    let uavs: Vec<Space> = program.declared.uavs.keys().map(|n| Space::Uav(*n)).collect();
    let lds = program.interface.lds.iter();
    let mut bytes: HashMap<Space, Vec<u8>> = uavs.iter().map(|space| (*space, block(256))).collect();
    bytes.extend(lds.map(|(n, memory)| (Space::Lds(*n), vec![0; memory.bytes as usize])));
    let mut machine = Machine {
        constants: (0..16).map(floats).collect(),
        global: (0..16).map(floats).collect(),
        bytes,
        // Speculation leaves operands unflushed where that makes no difference.
        bare: true,
        ..Machine::default()
    };
    let mut outputs = Vec::new();
    for thread in 0..8 {
        machine.thread = thread;
        outputs.push(machine.run(program));
    }
    let uavs = uavs.iter().map(|space| machine.bytes[space].clone()).collect();
    Left { global: machine.global, uavs, outputs }
}

#[test]
fn passes_make_of_programs_what_the_pages_say() {
    let (mut wrong, mut changing) = (String::new(), BTreeSet::<&str>::new());
    for path in files() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let page = fs::read_to_string(&path).expect("a page");
        let (before, after) = page.split_once(MARK).unwrap_or((&page, ""));
        let first = page.lines().next().and_then(|line| line.strip_prefix("; passes "));
        let names: Vec<&str> = first.expect("the first line names passes").split(' ').collect();
        let passes: Vec<_> = names
            .iter()
            .map(|pass| opt::named(pass).unwrap_or_else(|| panic!("{name}: no pass {pass}")))
            .collect();
        let program = read(&name, before);
        let made = opt::run(&program, &passes, &settings(&name, before), &mut |_, _| {})
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        if computed(&made) != computed(&program) {
            wrong += &format!("{name}: it computes something else:\n{made}");
            continue;
        }
        if made != program {
            changing.extend(passes.iter().map(|pass| pass.name));
        }
        let made = made.to_string();
        if made == after {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, format!("{before}{MARK}{made}")).expect("written");
            continue;
        }
        let line = made.lines().zip(after.lines()).position(|(a, b)| a != b);
        let at = line.unwrap_or(made.lines().count().min(after.lines().count()));
        wrong += &format!("{name}: {} is now, from line {} on:\n", names.join(", "), at + 1);
        made.lines().skip(at.saturating_sub(4)).take(16).for_each(|line| wrong += &format!("    {line}\n"));
    }
    assert!(wrong.is_empty(), "{wrong}");
    let missing: Vec<_> =
        opt::passes().map(|pass| pass.name).filter(|name| !changing.contains(name)).collect();
    assert!(missing.is_empty(), "no page shows what these do: {missing:?}");
}

/// What is not consistent is refused before the first pass, and a pass that wants flushes after those that need none.
#[test]
fn inconsistent_programs_are_refused() {
    let run = |program: &str, passes: &[&str]| {
        let passes: Vec<_> = passes.iter().map(|pass| opt::named(pass).expect("a pass")).collect();
        opt::run(&read("text", program), &passes, &Settings::USUAL, &mut |_, _| {})
            .map_err(|error| error.to_string())
    };
    let broken = "program pixel\nregisters 1\nfunction 0 {\n%0 = Iadd %0\n}\n";
    let said = "the program is not consistent\n  Iadd with 1 words instead of 2";
    assert_eq!(run(broken, &["sweep"]), Err(said.to_string()));
    let unflushed = "program pixel\nregisters 1\noutputs 0 1\nconstants 0 1\noutput 0 = %0 %0 %0 %0\n\
        function 0 {\n%0 = Add cb0[0].x, 1.0f\n}\n";
    assert_eq!(run(unflushed, &[]).map(|program| program.registers), Ok(1));
    assert!(run(unflushed, &["webs", "forward", "sweep", "float_state", "speculate"]).is_ok());
    let said = run(unflushed, &["webs", "speculate"]).expect_err("no flushes");
    assert_eq!(said, "the program is not consistent after webs\n  Add gets a constant that nothing flushed");
}
