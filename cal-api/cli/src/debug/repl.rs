//! The debugger on a command line: lines in, text out.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use recal::debug::State;

use super::commands::{self, Done};
use super::control::{Control, Front, Order, Poll, Why};
use super::show;
use crate::Outcome;

/// Somebody pressed Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

pub(crate) struct Repl {
    /// One types; otherwise what is read is shown, too.
    terminal: bool,
    last: String,
    shown: show::Shown,
    /// Where to go on from the end is gone: nobody reads.
    pub(crate) failed: Option<std::io::Error>,
}

impl Repl {
    pub(crate) fn new() -> Outcome<Repl> {
        let terminal = std::io::stdin().is_terminal();
        if terminal {
            ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed))?;
        }
        Ok(Repl { terminal, last: String::new(), shown: show::Shown::default(), failed: None })
    }

    fn print(&mut self, text: &str) -> bool {
        let mut out = std::io::stdout().lock();
        let done = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.failed = done.err();
        self.failed.is_none()
    }

    /// A line; `None` is the end of them.
    fn read(&mut self) -> Option<String> {
        if self.terminal && !self.print("(recal) ") {
            return None;
        }
        let mut line = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut line);
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        match read {
            Ok(0) => None,
            Err(error) => {
                self.failed = Some(error);
                None
            }
            Ok(_) => {
                match self.terminal || self.print(&format!("{}\n", format!("(recal) {line}").trim_end())) {
                    true => Some(line),
                    false => None,
                }
            }
        }
    }
}

impl Front for Repl {
    fn stopped(&mut self, control: &mut Control, state: &State<'_>, why: &Why) -> Order {
        INTERRUPTED.store(false, Ordering::Relaxed);
        let text = show::stop(control, state, why, &mut self.shown);
        if !self.print(&text) {
            return Order::Quit;
        }
        loop {
            let Some(line) = self.read() else { return Order::Quit };
            let line = if line.is_empty() { self.last.clone() } else { line };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self.last.clone_from(&line);
            let said = match commands::execute(control, state, &line) {
                Ok(Done::Goes(order)) => return order,
                Ok(Done::Said(text)) => text,
                Err(why) => format!("{why}\n"),
            };
            if !self.print(&said) {
                return Order::Quit;
            }
        }
    }

    fn poll(&mut self, _: &mut Control, _: &State<'_>) -> Poll {
        if INTERRUPTED.swap(false, Ordering::Relaxed) { Poll::Pause } else { Poll::Go }
    }
}
