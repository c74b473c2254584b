//! `CAL_TRACE`: a line for every call, with arguments as the headers name them.
//!
//! Programs ask for an event a million times. The first question of a thread is written at once; when it is asked again
//! with the same answer, it is counted, and one line tells how often, at the latest when the thread calls something
//! else, and every second meanwhile.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use recal_hal::sync::Mutex;

use crate::config;

/// Functions that are asked again and again.
const POLLS: [&str; 1] = ["calCtxIsEventDone"];
/// Repetitions are told at least this often.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where trace lines go.
pub(super) struct Tracer {
    on: AtomicBool,
    out: Mutex<Out>,
}

struct Out {
    /// Standard error if none.
    file: Option<File>,
    /// Files that were begun; a runtime that is started again goes on at their end.
    begun: Vec<PathBuf>,
    /// What threads have asked since their last other call.
    polls: Vec<Poll>,
}

/// A question that a thread repeats.
struct Poll {
    thread: ThreadId,
    /// The call and its answer.
    line: String,
    /// How often it was repeated since it was written, and how long that took.
    again: u64,
    took: Duration,
    written: Instant,
}

impl Tracer {
    pub(super) const fn new() -> Self {
        Self { on: AtomicBool::new(false), out: Mutex::new(Out::new()) }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Starts or stops, as configured.
    pub(super) fn configure(&self, trace: &config::Trace) {
        let mut out = self.out.lock();
        let (on, file) = match trace {
            config::Trace::Off => (false, None),
            config::Trace::Stderr => (true, None),
            config::Trace::File(path) => {
                let known = out.begun.contains(path);
                let opened = match known {
                    true => File::options().append(true).open(path),
                    false => File::create(path),
                };
                match opened {
                    Ok(file) => {
                        out.begun.extend((!known).then(|| path.clone()));
                        (true, Some(file))
                    }
                    Err(e) => {
                        log::warn!("CAL_TRACE: {}: {e}; tracing is off", path.display());
                        (false, None)
                    }
                }
            }
        };
        out.file = file;
        self.on.store(on, Ordering::Relaxed);
    }

    /// Writes what a call was and answered.
    pub(super) fn write(&self, name: &str, call: &str, answer: &str, took: Duration) {
        let line = format!("{call} = {answer}");
        let mut out = self.out.lock();
        if POLLS.contains(&name) {
            out.poll(line, took);
        } else {
            // A shutdown ends everything that was asked for.
            let all = name == "calShutdown";
            out.repeated(all);
            let this = std::thread::current().id();
            out.polls.retain(|poll| !all && poll.thread != this);
            out.line(&line, took);
        }
    }
}

impl Out {
    const fn new() -> Out {
        Out { file: None, begun: Vec::new(), polls: Vec::new() }
    }

    fn poll(&mut self, line: String, took: Duration) {
        let thread = std::thread::current().id();
        if let Some(poll) = self.polls.iter_mut().find(|poll| poll.thread == thread && poll.line == line) {
            poll.again += 1;
            poll.took += took;
            if poll.written.elapsed() >= PATIENCE {
                self.repeated(false);
            }
            return;
        }
        self.repeated(false);
        self.line(&line, took);
        self.polls.push(Poll { thread, line, again: 0, took: Duration::ZERO, written: Instant::now() });
    }

    /// Writes what this thread, or any, has repeated.
    fn repeated(&mut self, all: bool) {
        let thread = std::thread::current().id();
        let mut lines = Vec::new();
        for poll in self.polls.iter_mut().filter(|poll| (all || poll.thread == thread) && poll.again > 0) {
            let times =
                if poll.again == 1 { "once more".into() } else { format!("{} times more", poll.again) };
            lines.push((format!("{}, {times}", poll.line), poll.took));
            (poll.again, poll.took, poll.written) = (0, Duration::ZERO, Instant::now());
        }
        lines.iter().for_each(|(line, took)| self.line(line, *took));
    }

    /// Writes one line. A full disk is not the caller's problem.
    fn line(&mut self, line: &str, took: Duration) {
        let line = format!("{line} [{:.1} us]\n", took.as_secs_f64() * 1e6);
        let _ = match &mut self.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_counted_by_thread_and_answer() {
        let path = std::env::temp_dir().join(format!("recal-trace-{}", std::process::id()));
        let (tracer, micro) = (Tracer::new(), Duration::from_micros(1));
        tracer.configure(&config::Trace::File(path.clone()));
        let ask =
            |event: u32, answer| tracer.write("calCtxIsEventDone", &format!("ask({event})"), answer, micro);
        for _ in 0..3 {
            ask(1, "PENDING");
            ask(2, "PENDING");
        }
        ask(1, "OK");
        std::thread::scope(|s| {
            s.spawn(|| ask(1, "OK"));
        });
        tracer.write("calMemCopy", "copy()", "OK", micro);
        ask(2, "OK");
        ask(2, "OK");
        // A runtime that is started again goes on in the file.
        tracer.configure(&config::Trace::File(path.clone()));
        tracer.write("calShutdown", "end()", "OK", micro);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let expected = "ask(1) = PENDING [1.0 us]\n\
            ask(2) = PENDING [1.0 us]\n\
            ask(1) = PENDING, 2 times more [2.0 us]\n\
            ask(2) = PENDING, 2 times more [2.0 us]\n\
            ask(1) = OK [1.0 us]\n\
            ask(1) = OK [1.0 us]\n\
            copy() = OK [1.0 us]\n\
            ask(2) = OK [1.0 us]\n\
            ask(2) = OK, once more [1.0 us]\n\
            end() = OK [1.0 us]\n";
        assert_eq!(text, expected);
    }
}
