//! The `recal` command: devices, compile, run, bench, trace, debug, replay, diff, reduce, analyze, explore, disassemble, opt, explain, doctor.

mod analyze;
mod array;
mod bench;
mod choice;
mod compile;
mod data;
mod debug;
mod devices;
mod disassemble;
mod doctor;
mod explain;
mod explore;
mod files;
mod format;
mod hints;
mod kernel;
mod lsp;
mod manual;
mod misuse;
mod opt;
mod picture;
mod progress;
mod reduce;
mod replay;
mod run;
mod trace;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::json;

use crate::kernel::Refused;
use crate::misuse::Misused;

/// AMD IL kernels and the devices that run them.
#[derive(Parser)]
#[command(
    name = "recal",
    version,
    after_help = "Environment variables such as CAL_BACKEND and CAL_LOG act as for any CAL program.\n\
                  Exit status: 0, 1 after an error, 2 for wrong arguments,\n3 if CAL_DEBUG=checks found something or results differ (replay, diff)."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the devices
    Devices {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Compile IL text to an image; without an output, only check it
    Compile(compile::Arguments),
    /// Run a kernel once or several times and time it
    Run(run::Arguments),
    /// Time a device: launches, copies, arithmetic; or a kernel of yours
    Bench(bench::Arguments),
    /// Follow one thread of a kernel: the registers that each instruction writes
    Trace(trace::Arguments),
    /// Stand still in a kernel: breakpoints, steps forwards and back, registers of a wave, memory
    Debug(debug::Arguments),
    /// Show what a kernel binds, what it consists of, and what would limit it on a device of the time
    Analyze(analyze::Arguments),
    /// Write a page on which a kernel, its programs and its machine code stand side by side; or serve one that is typed into
    Explore(explore::Arguments),
    /// Run what CAL_CAPTURE kept again, and compare what the launches write
    Replay(replay::Arguments),
    /// Run what CAL_CAPTURE kept on two devices: the first launch, resource and element whose bits differ
    Diff(replay::DiffArguments),
    /// Make a kernel smaller as long as two devices differ on it, or a command fails
    Reduce(reduce::Arguments),
    /// Lay kernels out: a statement a line, indented; comments stay
    Fmt(format::Arguments),
    /// Answer an editor: the Language Server Protocol over standard input and output
    Lsp,
    /// Print a TextMate grammar of IL, for editors
    Grammar,
    /// Tell what an instruction, register, function, code or message means
    Explain(explain::Arguments),
    /// Tell what is found here, what is not and why: devices, drivers, libraries, cache, environment
    Doctor {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell
    Completions {
        /// Which
        shell: clap_complete::Shell,
    },
    /// Write the man pages
    #[command(hide = true)]
    Manual {
        /// Folder that receives them
        folder: PathBuf,
    },
    /// List an image, an object or IL text in canonical form
    Disassemble(disassemble::Arguments),
    /// Run passes of the compiler by name, and print the program, its SPIR-V, its vector program or its machine code
    Opt(opt::Arguments),
}

impl Command {
    fn json(&self) -> bool {
        match self {
            Command::Devices { json } | Command::Doctor { json } => *json,
            Command::Compile(arguments) => arguments.json,
            Command::Run(arguments) => arguments.json,
            Command::Bench(arguments) => arguments.json,
            Command::Trace(arguments) => arguments.json,
            Command::Analyze(arguments) => arguments.json,
            Command::Disassemble(arguments) => arguments.json,
            Command::Opt(arguments) => arguments.json,
            Command::Explore(arguments) => arguments.json,
            Command::Explain(arguments) => arguments.json,
            Command::Replay(arguments) => arguments.json,
            Command::Diff(arguments) => arguments.json,
            Command::Reduce(arguments) => arguments.json,
            Command::Completions { .. }
            | Command::Manual { .. }
            | Command::Debug(_)
            | Command::Fmt(_)
            | Command::Lsp
            | Command::Grammar => false,
        }
    }
}

/// Whatever went wrong, for people.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What is wrong, where all about it was printed already.
#[derive(Debug)]
pub(crate) struct Told(String);

impl Told {
    /// The kernel is not what it should be.
    pub(crate) fn refused() -> Told {
        Told("the kernel is not accepted".into())
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Told {}

/// What was compared is not the same, and that was shown.
#[derive(Debug)]
pub(crate) struct Differs(&'static str);

impl Differs {
    /// An error if it differs.
    pub(crate) fn check(differs: bool, what: &'static str) -> Outcome {
        if differs { Err(Differs(what).into()) } else { Ok(()) }
    }
}

impl std::fmt::Display for Differs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Differs {}

/// Whether an error only says that the reader of the output is gone, as `head` is when it has enough.
fn reader_is_gone(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Tells an error; as JSON, too, where that is wanted and nothing was printed yet.
fn tell(error: &(dyn Error + 'static), json: bool) {
    files::say(&format!("recal: {error}\n"));
    if json
        && !error.is::<Told>()
        && !error.is::<Misused>()
        && !error.is::<Differs>()
        && !error.is::<doctor::Unwell>()
    {
        let value = error.downcast_ref().map_or_else(|| json!({ "error": error.to_string() }), Refused::json);
        // Nobody listens: there is nobody to tell that, either.
        let _ = files::print_json(&value);
    }
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    recal::logger::start(&recal::Config::from_env().0);
    let outcome = match &command {
        Command::Devices { json } => devices::devices(*json),
        Command::Compile(arguments) => compile::compile(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Bench(arguments) => bench::bench(arguments),
        Command::Trace(arguments) => trace::trace(arguments),
        Command::Debug(arguments) => debug::debug(arguments),
        Command::Analyze(arguments) => analyze::analyze(arguments),
        Command::Doctor { json } => doctor::doctor(*json),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Manual { folder } => manual::manual(folder),
        Command::Disassemble(arguments) => disassemble::disassemble(arguments),
        Command::Opt(arguments) => opt::opt(arguments),
        Command::Explain(arguments) => explain::explain(arguments),
        Command::Explore(arguments) => explore::explore(arguments),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::Diff(arguments) => replay::diff(arguments),
        Command::Reduce(arguments) => reduce::reduce(arguments),
        Command::Fmt(arguments) => format::format(arguments),
        Command::Lsp => lsp::serve(),
        Command::Grammar => format::grammar(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if reader_is_gone(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&*error, command.json());
            if error.is::<Misused>() || error.is::<Differs>() { ExitCode::from(3) } else { ExitCode::FAILURE }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
