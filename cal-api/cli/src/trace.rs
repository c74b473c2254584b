//! `recal trace`: what one thread does, instruction by instruction.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use recal::{AccessKind, Config, Runtime, Step, Threads};
use serde_json::{Value, json};

use crate::data::{self, Save};
use crate::files::{print_json, say};
use crate::kernel::{Kernel, diagnostics};
use crate::run::{Launch, threads_json};
use crate::{Outcome, hints};

/// Arguments of `recal trace`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image; `-` = standard input
    kernel: PathBuf,
    #[command(flatten)]
    launch: Launch,
    /// The thread: column and row of the domain, or its absolute id, e.g. 5,3; the first one if none is named. Only its own tile or group runs
    #[arg(short, long, value_name = "X[,Y[,Z]]", value_parser = thread)]
    thread: Option<Thread>,
    /// Stop after this many instructions
    #[arg(short, long, default_value_t = 10_000)]
    limit: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The longest that instructions are counted which are not shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thread(pub(crate) [u32; 3]);

/// The thread that is asked for, else the first one of a launch.
pub(crate) fn or_first(asked: Option<Thread>, threads: Threads) -> [u32; 3] {
    match (asked, threads) {
        (Some(Thread(at)), _) => at,
        (None, Threads::Domain(domain)) => [domain.x, domain.y, 0],
        (None, Threads::Grid(_)) => [0; 3],
    }
}

pub(crate) fn thread(text: &str) -> Result<Thread, String> {
    let mut at = [0; 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > at.len() {
        return Err("more than three numbers".into());
    }
    for (to, part) in at.iter_mut().zip(parts) {
        *to = part.trim().parse().map_err(|e| format!("`{part}`: {e}"))?;
    }
    Ok(Thread(at))
}

pub(crate) fn trace(arguments: &Arguments) -> Outcome {
    let json = arguments.json;
    let output_taken = data::takes_output(&arguments.launch.save, json)?;
    let kernel = Kernel::read(&arguments.kernel)?;
    // Only the CPU can be watched.
    let (config, _) = Config::from_env();
    if config.checks {
        say("recal: CAL_DEBUG=checks: a kernel that is traced is not checked; `recal run` does\n");
    }
    let config = Config { backends: vec!["cpu".into()], checks: false, ..config };
    let runtime = Runtime::with_config(config)?;
    let device = runtime.open(0)?;
    let context = device.create_context()?;
    let loaded = kernel.load(&context, json)?;
    let (module, text) = (loaded.module, loaded.text);
    let threads = arguments.launch.extent.threads(&module)?;
    let bound = data::bind(&device, &module, &arguments.launch.bind)?;
    let saves = data::saves(&arguments.launch.save, &bound)?;
    let hints = hints::tell(&text, &arguments.launch.bind, json);
    let mut out: Box<dyn Write> = match output_taken {
        true => Box::new(std::io::stderr().lock()),
        false => Box::new(std::io::stdout().lock()),
    };
    let (mut steps, mut shown) = (0, Vec::new());
    let (mut failed, mut enough) = (None, None);
    let mut endless = false;
    let thread = or_first(arguments.thread, threads);
    module.trace(&text, threads, thread, |step| {
        steps += 1;
        if failed.is_some() {
            return ControlFlow::Break(());
        }
        if steps > arguments.limit {
            // How many more there are is told if they come to an end soon.
            endless = enough.get_or_insert_with(Instant::now).elapsed() > PATIENCE;
            return if endless { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        match json {
            true => shown.push(step_json(&step)),
            false => failed = print(&mut out, &step).err(),
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let more = steps.saturating_sub(arguments.limit);
    if more > 0 && !json {
        let least = if endless { "at least " } else { "" };
        writeln!(out, "{least}{more} more instructions; --limit shows them")?;
    }
    out.flush()?;
    drop(out);
    saves.iter().try_for_each(|(bound, path)| bound.save(path))?;
    if json {
        let saved: Vec<_> = arguments.launch.save.iter().map(Save::json).collect();
        return print_json(&json!({
            "file": kernel.name,
            "device": device.info().name,
            "threads": threads_json(threads),
            "thread": thread,
            "steps": shown,
            "more": more,
            "more_is_least": endless,
            "saved": saved,
            "warnings": diagnostics(&loaded.warnings, &text),
            "hints": hints,
        }));
    }
    Ok(())
}

/// A word as what it may be; JSON has no infinities and no NaN.
fn word_json(word: u32) -> Value {
    json!({ "hex": format!("{word:#010x}"), "float": f32::from_bits(word), "int": word as i32 })
}

fn step_json(step: &Step) -> Value {
    let access = |access: &recal::Access| {
        let words = access.words.iter().map(|(component, word)| {
            let mut value = word_json(*word);
            value["component"] = component_name(*component).into();
            value
        });
        json!({
            "kind": did(access.kind).0, "area": access.area.to_string(), "at": access.at.to_string(),
            "outside": access.outside, "words": words.collect::<Value>(),
        })
    };
    let write = |(name, word): &(String, u32)| {
        let mut value = word_json(*word);
        value["register"] = name.as_str().into();
        value
    };
    json!({
        "line": step.line, "text": step.text,
        "accesses": step.accesses.iter().map(access).collect::<Value>(),
        "writes": step.writes.iter().map(write).collect::<Value>(),
        "flow": step.flow.map(|flow| flow.to_string()),
    })
}

fn component_name(component: u8) -> &'static str {
    ["x", "y", "z", "w"].get(usize::from(component)).unwrap_or(&"")
}

/// What an access does, and what is said of its words.
fn did(kind: AccessKind) -> (&'static str, &'static str) {
    match kind {
        AccessKind::Read => ("reads", ""),
        AccessKind::Write => ("writes", ""),
        AccessKind::Atomic => ("atomic", ", before and after"),
    }
}

/// The instruction, then what it read and wrote: each word also as a float and an integer; then where it went.
fn print(out: &mut impl Write, step: &Step) -> std::io::Result<()> {
    writeln!(out, "{:>5}  {}", step.line, step.text)?;
    for access in &step.accesses {
        let (did, arrow) = did(access.kind);
        let missed = if access.outside { ", out of range" } else { "" };
        writeln!(out, "       {did} {}{}{missed}{arrow}", access.area, access.at)?;
        for (component, word) in &access.words {
            print_word(out, &format!("  .{}", component_name(*component)), *word)?;
        }
    }
    for (name, word) in &step.writes {
        print_word(out, name, *word)?;
    }
    if let Some(flow) = step.flow {
        writeln!(out, "       {flow}")?;
    }
    Ok(())
}

fn print_word(out: &mut impl Write, name: &str, word: u32) -> std::io::Result<()> {
    writeln!(out, "       {name:<8} 0x{word:08x}  {:<15?} {}", f32::from_bits(word), word as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_one_to_three_numbers() {
        assert_eq!(thread("5"), Ok(Thread([5, 0, 0])));
        assert_eq!(thread("5, 3"), Ok(Thread([5, 3, 0])));
        assert_eq!(thread("1x2x3"), Ok(Thread([1, 2, 3])));
        assert!(thread("1,2,3,4").is_err() && thread("").is_err() && thread("-1").is_err());
    }
}
