//! Everything that the page shows of a kernel, as JSON.

use std::collections::BTreeMap;

use recal::{FloatMode, InstructionSet, Severity};
use recal_il::diagnostic::Span;
use recal_il::ir::Program;
use recal_il::listing::{self, Line};
use serde_json::{Value, json};

use super::{Arguments, counts};
use crate::analyze::{self, line_of};
use crate::kernel::diagnostics;

/// Most lines that a listing shows.
const MOST_LINES: usize = 20_000;
/// Most registers that are told one by one, over all lines of a program; beyond, only how many there are.
const MOST_LIVE: usize = 200_000;

/// What there is to show of a text that the command line names.
pub(super) fn gather(arguments: &Arguments, name: &str, text: &[u8]) -> Value {
    let found = recal::diagnose(text, recal::target::CYPRESS).unwrap_or_default();
    let accepted = found.iter().all(|d| d.severity != Severity::Error);
    let lines: Vec<String> = text.split(|byte| *byte == b'\n').map(shown).collect();
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let source: Vec<_> = lines[..last].iter().take(MOST_LINES).collect();
    let mut value = json!({
        "file": name,
        "accepted": accepted,
        "text": String::from_utf8_lossy(text),
        "diagnostics": diagnostics(&found, text),
        "listings": [{
            "id": "il", "title": "IL", "about": "the kernel as it was written",
            "lines": source, "from": (1..=source.len()).collect::<Vec<_>>(),
        }],
        "chips": [],
        "roofs": [],
        "run": null,
    });
    if let (true, Ok(program)) = (accepted, recal_il::compile(text)) {
        let set = arguments.isa.unwrap_or_else(InstructionSet::best);
        let places = Places::of(text);
        if let Some(listings) = value["listings"].as_array_mut() {
            listings.extend(programs(&program, &places));
            listings.push(code(&program, set, &places));
        }
        value["chips"] = analyze::chips(text, arguments.trips).unwrap_or_default().into();
        value["run"] = counts::run(arguments, text);
        value["roofs"] = counts::roofs(&value["chips"], &value["run"]).into();
    }
    value
}

/// A line of a text that may hold any bytes.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches('\r').replace('\t', "    ")
}

/// Where lines of the kernel's text begin.
struct Places<'t> {
    text: &'t [u8],
    starts: Vec<u32>,
}

impl Places<'_> {
    fn of(text: &[u8]) -> Places<'_> {
        let after = text.iter().zip(1u32..).filter(|(byte, _)| **byte == b'\n').map(|(_, next)| next);
        Places { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// The line of a place; 0 is none.
    fn line(&self, span: Option<Span>) -> usize {
        span.filter(|span| (span.start as usize) < self.text.len())
            .map_or(0, |span| self.starts.partition_point(|start| *start <= span.start))
    }
}

/// The program before the passes and after them, and its SPIR-V.
fn programs(program: &Program, places: &Places<'_>) -> Vec<Value> {
    let mut after: Option<Program> = None;
    let mut changed = Vec::new();
    let module = recal::spirv_lines(program, FloatMode::Faithful, &mut |name, made| {
        if made != after.as_ref().unwrap_or(program) {
            changed.push(name);
            after = Some(made.clone());
        }
    });
    let passes = match &changed[..] {
        [] => "no pass of emission changes anything".to_owned(),
        changed => format!("changed by {}", changed.join(", ")),
    };
    let mut made = vec![
        ir("before", "IR", "scalar operations, before the passes", program, places),
        ir("after", "IR after passes", &passes, after.as_ref().unwrap_or(program), places),
    ];
    let about = "for a device that can do everything, documented bits";
    made.push(match module {
        Ok(lines) => listing("spirv", "SPIR-V", about, &lines, places),
        Err(error) => listing("spirv", "SPIR-V", &format!("none: {error}"), &[], places),
    });
    made
}

/// A program with its live registers.
fn ir(id: &str, title: &str, about: &str, program: &Program, places: &Places<'_>) -> Value {
    let (lines, live): (Vec<Line>, Vec<_>) = listing::program(program).into_iter().unzip();
    let mut value = listing(id, title, about, &lines, places);
    let all: usize = live.iter().flatten().map(|live| live.len()).sum();
    let told = live.iter().take(MOST_LINES).map(|live| match live {
        Some(live) if all <= MOST_LIVE => json!(live.iter().map(|register| register.0).collect::<Vec<_>>()),
        Some(live) => json!(live.len()),
        None => Value::Null,
    });
    value["live"] = told.collect();
    value
}

/// The machine code of the CPU device.
fn code(program: &Program, set: InstructionSet, places: &Places<'_>) -> Value {
    let made = set.code().and_then(|isa| {
        recal::code_listing(program, set, &BTreeMap::new(), &|code: &[u8]| isa.disassembled(code))
    });
    let about = match made {
        Some(_) => format!("of the CPU device for {}", set.name()),
        None => format!("none: {} has no code, all is interpreted", set.name()),
    };
    listing("code", "Machine code", &about, &made.unwrap_or_default(), places)
}

fn listing(id: &str, title: &str, about: &str, lines: &[Line], places: &Places<'_>) -> Value {
    let cut = match lines.len() > MOST_LINES {
        true => format!("; the first {MOST_LINES} of {} lines", lines.len()),
        false => String::new(),
    };
    let some = &lines[..lines.len().min(MOST_LINES)];
    json!({
        "id": id, "title": title, "about": format!("{about}{cut}"),
        "lines": some.iter().map(|line| &line.text).collect::<Vec<_>>(),
        "from": some.iter().map(|line| places.line(line.span)).collect::<Vec<_>>(),
    })
}

/// The line of a place of the text.
pub(super) fn line(span: Span, text: &[u8]) -> usize {
    line_of(span.start, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_lines() {
        let places = Places::of(b"ab\ncd\n\nef");
        let line = |start| places.line(Some(Span { start, end: start + 1 }));
        assert_eq!([0, 2, 3, 6, 7, 8].map(line), [1, 1, 2, 3, 4, 4]);
        assert_eq!((line(9), places.line(None)), (0, 0));
    }
}
