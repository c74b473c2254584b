//! Passes by examples: `tests/passes/*.ir` holds a program, and behind a line `; becomes` what the passes of its first line make
//! of it. `UPDATE=1` writes what they make of it now; the difference is to be read before it is kept. Whatever is written there,
//! both programs must compute the same in the plain interpreter, and no program may break the rules of `ir::validate`.

mod plain;

use std::collections::BTreeSet;
use std::path::Path;

use recal_il::ir::passes::Settings;
use recal_il::ir::{Program, text};
use recal_il::opt;
use recal_needs::pages::Page;

fn read(name: &str, program: &str) -> Program {
    text::parse(program.as_bytes()).unwrap_or_else(|found| {
        panic!("{name}: {}", recal_il::diagnostic::render(&found, program.as_bytes(), name))
    })
}

/// Settings that the lines before the program name: `; worth 0`, `; native`.
fn settings(page: &Page) -> Settings<'static> {
    let mut settings = Settings::USUAL;
    for setting in page.settings() {
        match setting {
            ("worth", number) => settings.worth = number.parse().expect("a number"),
            ("threads", number) => settings.threads = number.parse().expect("a number"),
            ("native", "") => settings.faithful = false,
            other => assert_eq!(other.0, "passes", "{}", page.name),
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
    let rows: Vec<_> = (0..16).map(floats).collect();
    let mut machine = plain::machine(&rows, &rows);
    // All constant buffers and resources are that one memory.
    let bound = machine.constants[&0];
    machine.constants.extend(program.declared.constants.keys().map(|number| (*number, bound)));
    let resources = program.declared.resources.keys().chain(program.declared.srvs.keys());
    machine.resources.extend(resources.map(|number| (*number, bound)));
    for number in program.declared.uavs.keys() {
        plain::uav(&mut machine, *number, (0..256).map(|k| (k * 37 % 251) as u8).collect());
    }
    // Speculation leaves operands unflushed where that makes no difference.
    machine.bare = true;
    let outputs = plain::run(&mut machine, program, 8);
    let uavs = program.declared.uavs.keys().map(|number| plain::uav_bytes(&machine, *number)).collect();
    Left { global: plain::global(&machine), uavs, outputs }
}

#[test]
fn passes_make_of_programs_what_the_pages_say() {
    let (mut wrong, mut changing) = (String::new(), BTreeSet::<&str>::new());
    for page in Page::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes")) {
        let name = &page.name;
        let first = page.settings().next().filter(|(what, _)| *what == "passes");
        let passes: Vec<_> = (first.expect("the first line names passes").1.split(' '))
            .map(|pass| opt::named(pass).unwrap_or_else(|| panic!("{name}: no pass {pass}")))
            .collect();
        let program = read(name, &page.before);
        let made = opt::run(&program, &passes, &settings(&page), &mut |_, _| {})
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        if computed(&made) != computed(&program) {
            wrong += &format!("{name}: it computes something else:\n{made}");
            continue;
        }
        if made != program {
            changing.extend(passes.iter().map(|pass| pass.name));
        }
        wrong += &page.difference(&made.to_string());
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
    assert_eq!(run(broken, &["dce"]), Err(said.to_string()));
    let unflushed = "program pixel\nregisters 1\noutputs 0 1\nconstants 0 1\noutput 0 = %0 %0 %0 %0\n\
        function 0 {\n%0 = Add cb0[0].x, 1.0f\n}\n";
    assert_eq!(run(unflushed, &[]).map(|program| program.registers), Ok(1));
    assert!(run(unflushed, &["webs", "gvn", "dce", "float_state", "speculate"]).is_ok());
    let said = run(unflushed, &["webs", "speculate"]).expect_err("no flushes");
    assert_eq!(said, "the program is not consistent after webs\n  Add gets a constant that nothing flushed");
}
