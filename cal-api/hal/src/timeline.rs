//! What happened when, on which thread or queue, for whoever draws it (`CAL_TIMELINE`).
//!
//! Off, a question costs one relaxed load. On, whoever does something tells when it began and ended; a recorder writes it down. A
//! flow is a number that leaves one span and arrives at a later one: a launch leaves the call that asks for it and arrives
//! where it is executed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::sync::RwLock;

/// Where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Track<'a> {
    /// The thread that tells.
    Thread,
    /// A queue, by what it is called and its number.
    Queue(&'a str, u64),
}

/// Something that took time.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// Where.
    pub track: Track<'a>,
    /// Of what kind: `call`, `submit`, `queue`, `wait`, `compile`, `worker`.
    pub kind: &'static str,
    /// What.
    pub name: &'a str,
    /// When it began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// More about it: names and values.
    pub details: &'a [(&'static str, String)],
    /// A flow that leaves.
    pub leaves: Option<u64>,
    /// Flows that arrive.
    pub arrives: &'a [u64],
}

/// Writes spans down. Spans of a track come in the order of their ends.
pub trait Recorder: Send + Sync {
    /// Something has ended.
    fn record(&self, span: &Span<'_>);
    /// Nothing more comes.
    fn finish(&self);
}

static ON: AtomicBool = AtomicBool::new(false);
static RECORDER: RwLock<Option<Arc<dyn Recorder>>> = RwLock::new(None);
/// The process that is recorded: children of `fork` are not.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static FLOWS: AtomicU64 = AtomicU64::new(1);
static QUEUES: AtomicU64 = AtomicU64::new(1);

/// Whether somebody wants to know.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Records from now on. One recorder at a time: another that was there before finishes.
pub fn start(recorder: Arc<dyn Recorder>) {
    stop();
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    *RECORDER.write() = Some(recorder);
    ON.store(true, Ordering::Relaxed);
}

/// Records no more.
pub fn stop() {
    if !is_on() {
        return;
    }
    ON.store(false, Ordering::Relaxed);
    // In a child of `fork` nobody may hold the lock that was held.
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let recorder = RECORDER.write().take();
    if let Some(recorder) = recorder {
        recorder.finish();
    }
}

/// The time, if somebody wants to know.
#[inline]
pub fn now() -> Option<Instant> {
    is_on().then(Instant::now)
}

/// The number of a new flow.
pub fn flow() -> u64 {
    FLOWS.fetch_add(1, Ordering::Relaxed)
}

/// The number of a new queue.
pub fn queue() -> u64 {
    QUEUES.fetch_add(1, Ordering::Relaxed)
}

/// Records a span.
pub fn record(span: &Span<'_>) {
    if !is_on() || PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    let recorder = RECORDER.read().clone();
    if let Some(recorder) = recorder {
        recorder.record(span);
    }
}

/// Records that this thread has done something since `start`, if that is known.
pub fn done(start: Option<Instant>, kind: &'static str, name: &str) {
    let Some(start) = start else { return };
    let end = Instant::now();
    record(&Span { track: Track::Thread, kind, name, start, end, details: &[], leaves: None, arrives: &[] });
}

/// Records that this thread has given a command to a queue since `start`, and the flow that leads to its execution.
pub fn submitted(start: Option<Instant>, name: &str, leaves: Option<u64>) {
    let Some(start) = start else { return };
    let end = Instant::now();
    record(&Span {
        track: Track::Thread,
        kind: "submit",
        name,
        start,
        end,
        details: &[],
        leaves,
        arrives: &[],
    });
}
