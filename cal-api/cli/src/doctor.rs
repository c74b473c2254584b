//! `recal doctor`: one page on what is found here, what is not and why. For bug reports, and before them.

mod surroundings;

use std::error::Error;
use std::fmt;
use std::time::Instant;

use recal::{Config, Domain, FloatMode, Format, Place, Remark, Runtime};
use serde_json::{Value, json};

use crate::files::{print, print_json};
use crate::{Outcome, devices};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// There, and used.
    Good,
    /// Not there or not used, which may be as it should.
    Absent,
    /// In the way.
    Bad,
}

/// A line of the page.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    about: String,
    state: State,
    text: String,
}

/// Lines that belong together.
struct Section {
    title: String,
    lines: Vec<Line>,
}

fn line(state: State, about: impl Into<String>, text: impl Into<String>) -> Line {
    Line { about: about.into(), state, text: text.into() }
}

/// No device computes.
#[derive(Debug)]
pub(crate) struct Unwell;

impl fmt::Display for Unwell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no device computes")
    }
}

impl Error for Unwell {}

pub(crate) fn doctor(json: bool) -> Outcome {
    let (config, _) = Config::from_env();
    let runtime = Runtime::new()?;
    let mut tests = Vec::new();
    let mut sections = vec![Section { title: "devices".into(), lines: Vec::new() }];
    for (ordinal, (backend, info)) in runtime.devices_by_backend().enumerate() {
        let test = test(&runtime, ordinal as u32);
        let about = format!("{ordinal}: {} ({backend})", info.name);
        sections[0].lines.push(match &test {
            Ok(Test { seconds, float }) => {
                let text =
                    format!("computes, floats {}; opened and tried in {:.1} ms", name(*float), 1e3 * seconds);
                line(State::Good, about, text)
            }
            Err(error) => line(State::Bad, about, error.to_string()),
        });
        tests.push(test);
    }
    if tests.is_empty() {
        sections[0].lines.push(line(
            State::Bad,
            "none",
            "no backend has a device that is asked for; see below",
        ));
    }
    for (backend, remarks) in runtime.backends() {
        let lines = remarks.iter().map(remark).collect();
        sections.push(Section { title: format!("backend {backend}"), lines });
    }
    for left_out in
        ["vulkan", "cpu"].iter().filter(|name| !runtime.backends().any(|(asked, _)| asked == **name))
    {
        let lines =
            vec![line(State::Absent, "not asked", format!("CAL_BACKEND={}", config.backends.join(",")))];
        sections.push(Section { title: format!("backend {left_out}"), lines });
    }
    sections.extend(surroundings::sections(&config));

    let healthy = tests.iter().any(Result::is_ok);
    if json {
        print_json(&page_json(&runtime, &tests, &sections, healthy))?;
    } else {
        print(&page(&sections))?;
    }
    if healthy { Ok(()) } else { Err(Unwell.into()) }
}

fn remark(remark: &Remark) -> Line {
    let state = if remark.good { State::Good } else { State::Absent };
    line(state, &remark.about, &remark.text)
}

/// What a device that computes was found to be.
struct Test {
    seconds: f64,
    float: FloatMode,
}

/// The name in `CAL_FLOAT`.
fn name(mode: FloatMode) -> &'static str {
    match mode {
        FloatMode::Faithful => "faithful",
        FloatMode::Native => "native",
        FloatMode::Default => "by its backend's default",
    }
}

/// Opens a device and has it compute; the seconds that it took.
fn test(runtime: &Runtime, ordinal: u32) -> Outcome<Test> {
    const KERNEL: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
        dcl_output_generic o0\nmul o0, vWinCoord0.xxxx, vWinCoord0.yyyy\nend\n";
    let start = Instant::now();
    let device = runtime.open(ordinal)?;
    let context = device.create_context()?;
    let module = context.load(&recal::compile(KERNEL, device.info().target)?.into())?;
    let output = device.allocate_2d(64, 64, Format::Float32x1, Place::Local)?;
    module.bind("o0", &output)?;
    context.run(&module, Domain::of(64, 64))?.wait()?;
    for (y, row) in output.map::<f32>()?.rows().enumerate() {
        for (x, got) in row.iter().enumerate() {
            let right = (x as f32 + 0.5) * (y as f32 + 0.5);
            if *got != right {
                return Err(format!("wrong results: {right} is {got} at column {x}, row {y}").into());
            }
        }
    }
    Ok(Test { seconds: start.elapsed().as_secs_f64(), float: device.float_mode() })
}

/// The page for people.
fn page(sections: &[Section]) -> String {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let mut page = format!("reCAL {}, {os} {arch}\n", env!("CARGO_PKG_VERSION"));
    for Section { title, lines } in sections {
        page += &format!("\n{title}\n");
        let width = lines.iter().map(|line| line.about.len()).max().unwrap_or(0);
        for Line { about, state, text } in lines {
            let mark = match state {
                State::Good => '+',
                State::Absent => '-',
                State::Bad => '!',
            };
            page += format!("  {mark} {about:<width$}  {text}").trim_end();
            page.push('\n');
        }
    }
    page + "\n+ there and used, - absent or not used, ! in the way\n"
}

fn page_json(runtime: &Runtime, tests: &[Outcome<Test>], sections: &[Section], healthy: bool) -> Value {
    let devices =
        runtime.devices_by_backend().zip(tests).enumerate().map(|(ordinal, ((backend, info), test))| {
            let mut value = devices::device(ordinal, backend, info);
            value["seconds"] = test.as_ref().ok().map(|test| test.seconds).into();
            value["float"] = test.as_ref().ok().map(|test| name(test.float)).into();
            value["error"] = test.as_ref().err().map(|e| e.to_string()).into();
            value
        });
    let line = |Line { about, state, text }: &Line| {
        let state = match state {
            State::Good => "good",
            State::Absent => "absent",
            State::Bad => "bad",
        };
        json!({ "about": about, "state": state, "text": text })
    };
    let section = |section: &Section| json!({ "title": section.title, "lines": section.lines.iter().map(line).collect::<Value>() });
    json!({
        "version": env!("CARGO_PKG_VERSION"), "os": std::env::consts::OS, "arch": std::env::consts::ARCH,
        "healthy": healthy,
        "devices": devices.collect::<Value>(),
        "sections": sections.iter().map(section).collect::<Value>(),
    })
}
