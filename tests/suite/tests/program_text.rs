//! Programs as text: the program of every case is written and read again without loss, also after each pass.

use recal_il::ir::Program;
use recal_il::ir::passes::{CPU, EMISSION, STRUCTURED, Settings, run};
use recal_il::ir::text::parse;
use recal_il::ir::validate::validate;
use recal_suite::suite;

/// What is lost, if anything is. Warnings are about a kernel's text and not part of a program's.
fn lost(program: &Program) -> Option<String> {
    let whole = Program { warnings: Vec::new(), ..program.clone() };
    match parse(format!("{whole:#}").as_bytes()) {
        Ok(read) if read == whole => None,
        Ok(read) => Some(format!("{whole:#}\nis read as\n{read:#}")),
        Err(found) => Some(format!("{found:?}\n{whole:#}")),
    }
}

#[test]
fn the_programs_of_all_cases_are_read_as_they_were() {
    let mut count = 0;
    for case in suite::load("").expect("cases") {
        // Some cases are refused.
        let Ok(program) = recal_il::compile(case.text.as_bytes()) else { continue };
        if let Some(what) = lost(&program) {
            panic!("{}: {what}", case.name);
        }
        validate(&program).unwrap_or_else(|defects| panic!("{}: {defects:#?}\n{program}", case.name));
        count += 1;
        let settings = Settings { worth: i64::MIN, ..Settings::USUAL };
        let mut look = |pass: &'static str, program: &Program| {
            if let Some(what) = lost(program) {
                panic!("{} after {pass}: {what}", case.name);
            }
        };
        run(&EMISSION, &program, &settings, &mut look);
        run(&CPU, &run(&STRUCTURED, &program, &settings, &mut look), &settings, &mut look);
    }
    assert!(count > 1000, "{count} cases");
}
