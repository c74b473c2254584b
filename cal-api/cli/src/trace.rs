//! `recal trace`: what one thread does, instruction by instruction.

use std::io::Write;
use std::path::PathBuf;

use recal::{AccessKind, Config, Runtime, Step};

use crate::data::{self, Binding};
use crate::run::Extent;
use crate::{Outcome, object, text};

/// Arguments of `recal trace`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text
    kernel: PathBuf,
    /// What a symbol gets, as for `recal run`
    #[arg(short, long = "bind", value_name = "NAME=VALUE", value_parser = data::binding)]
    bind: Vec<Binding>,
    /// File to save a symbol's memory to afterwards; only the thread's own tile or group has run
    #[arg(short, long = "save", value_name = "NAME=FILE")]
    save: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    /// The thread: column and row of the domain, or its absolute id, e.g. 5,3
    #[arg(short, long, value_name = "X[,Y[,Z]]", default_value = "0", value_parser = thread)]
    thread: Thread,
    /// Stop after this many instructions
    #[arg(short, long, default_value_t = 10_000)]
    limit: usize,
}

/// A position.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Thread([u32; 3]);

fn thread(text: &str) -> Result<Thread, String> {
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
    let text = text(&arguments.kernel)?;
    // Only the CPU can be watched.
    let (config, _) = Config::from_env();
    let runtime = Runtime::with_config(Config { backends: vec!["cpu".into()], ..config })?;
    let device = runtime.open(0)?;
    let context = device.create_context()?;
    let module = context.load(&object(&arguments.kernel, &text, device.info().target)?.into())?;
    let bound = data::bind(&device, &module, &arguments.bind)?;
    let saves = data::saves(&arguments.save, &bound)?;
    let threads = arguments.extent.threads(&module)?;
    let mut out = std::io::stdout().lock();
    let mut steps = 0;
    let mut failed = None;
    module.trace(&text, threads, arguments.thread.0, |step| {
        steps += 1;
        if steps <= arguments.limit && failed.is_none() {
            failed = print(&mut out, &step).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if steps > arguments.limit {
        writeln!(out, "{} more instructions; --limit shows them", steps - arguments.limit)?;
    }
    saves.iter().try_for_each(|(bound, path)| bound.save(path))
}

/// The instruction, then what it read and wrote: each word also as a float and an integer; then where it went.
fn print(out: &mut impl Write, step: &Step) -> std::io::Result<()> {
    writeln!(out, "{:>5}  {}", step.line, step.text)?;
    for access in &step.accesses {
        let (did, arrow) = match access.kind {
            AccessKind::Read => ("reads", ""),
            AccessKind::Write => ("writes", ""),
            AccessKind::Atomic => ("atomic", ", before and after"),
        };
        let missed = if access.outside { ", out of range" } else { "" };
        writeln!(out, "       {did} {}{}{missed}{arrow}", access.area, access.at)?;
        for (component, word) in &access.words {
            let name = ["x", "y", "z", "w"].get(usize::from(*component)).unwrap_or(&"");
            print_word(out, &format!("  .{name}"), *word)?;
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
