//! `recal debug`: stands still in a kernel, steps, goes back, shows registers and memory.
//!
//! ```text
//! lines ─[repl]─┐                                      ┌─ breakpoints, watches, steps
//!               ├─ commands ─▶ control::Engine ────────┴─▶ recal::debug: the launch, instruction by instruction
//! editor ─[dap]─┘  expressions, tables
//! ```

mod commands;
mod control;
mod dap;
mod expression;
mod lines;
mod parse;
mod repl;
mod show;

use std::path::PathBuf;

use recal::{Config, Runtime};

use self::control::{Engine, Front};
use crate::data;
use crate::kernel::Kernel;
use crate::run::Launch;
use crate::trace::Thread;
use crate::{Outcome, files, hints};

/// Arguments of `recal debug`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// IL text or image
    #[arg(required_unless_present = "dap")]
    kernel: Option<PathBuf>,
    #[command(flatten)]
    launch: Launch,
    /// The thread that one looks at first: column and row of the domain, or its absolute id, e.g. 5,3; the first one if none is named
    #[arg(short, long, value_name = "X[,Y[,Z]]", value_parser = crate::trace::thread)]
    thread: Option<Thread>,
    /// Answer an editor: the Debug Adapter Protocol over standard input and output; the editor says what to launch
    #[arg(long, exclusive = true)]
    dap: bool,
}

pub(crate) fn debug(arguments: &Arguments) -> Outcome {
    let Some(path) = &arguments.kernel else { return dap::serve() };
    if files::is_standard(path) {
        return Err("standard input has the commands; name a file for the kernel".into());
    }
    if data::takes_output(&arguments.launch.save, false)? {
        return Err("standard output has the answers; name a file to save to".into());
    }
    let mut repl = repl::Repl::new()?;
    let kernel = Kernel::read(path)?;
    launch(&kernel, &arguments.launch, arguments.thread, &mut repl)?;
    repl.failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Runs a kernel under a debugger.
fn launch(kernel: &Kernel, launch: &Launch, thread: Option<Thread>, front: &mut impl Front) -> Outcome {
    // Only the CPU can be watched.
    let (config, _) = Config::from_env();
    let config = Config { backends: vec!["cpu".into()], checks: false, ..config };
    let device = Runtime::with_config(config)?.open(0)?;
    let context = device.create_context()?;
    let loaded = kernel.load(&context, false)?;
    let (module, text) = (loaded.module, loaded.text);
    let threads = launch.extent.threads(&module)?;
    let bound = data::bind(&device, &module, &launch.bind)?;
    let saves = data::saves(&launch.save, &bound)?;
    hints::tell(&text, &launch.bind, false);
    let mut engine = Engine::new(front, &text, crate::trace::or_first(thread, threads));
    module.debug(&text, threads, &mut engine)?;
    if engine.lost {
        return Err("--thread: it is not part of the launch".into());
    }
    saves.iter().try_for_each(|(bound, path)| bound.save(path))
}
