//! What happened when, on which thread, queue or device, for whoever draws it (`CAL_TIMELINE`).
//!
//! Off, a question costs one relaxed load. On, whoever does something tells when it began and ended: that is kept in memory of
//! its thread, under a lock that nobody else wants, and a thread of the timeline hands it to a recorder every ten milliseconds.
//! A flow is a number that leaves one span and arrives at a later one: a launch leaves the call that asks for it and arrives
//! where it is executed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::sync::Mutex;
use crate::{Extent, PerProcess, without_signals};

/// How long what was told stays in memory before it is recorded.
const DELAY: Duration = Duration::from_millis(10);
/// Spans of a thread after which it records them itself.
const FULL: usize = 1024;

/// Where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Track {
    /// The thread that tells.
    Thread,
    /// A queue as the host sees it, by what it is called and its number.
    Queue(&'static str, u64),
    /// The same queue as its device does its commands.
    Device {
        /// What it is called.
        queue: &'static str,
        /// Its number.
        number: u64,
        /// The host can read the device's clock. Else submissions and ends say where it stands.
        read: bool,
    },
}

/// More about what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// How many threads ran.
    Extent(Extent),
    /// How many bytes were moved.
    Bytes(u64),
    /// A text, and what it is called.
    Text(Box<(&'static str, Cow<'static, str>)>),
}

impl Detail {
    /// A text, and what it is called.
    pub fn text(name: &'static str, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(Box::new((name, text.into())))
    }
}

/// Flows that arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flows {
    /// None.
    None,
    /// One.
    One(u64),
    /// Several.
    Many(Box<Vec<u64>>),
}

impl Flows {
    /// Their numbers.
    pub fn numbers(&self) -> &[u64] {
        match self {
            Self::None => &[],
            Self::One(flow) => std::slice::from_ref(flow),
            Self::Many(flows) => flows,
        }
    }
}

impl FromIterator<u64> for Flows {
    fn from_iter<I: IntoIterator<Item = u64>>(flows: I) -> Self {
        let mut flows = flows.into_iter();
        match (flows.next(), flows.next()) {
            (None, _) => Self::None,
            (Some(one), None) => Self::One(one),
            (Some(one), Some(two)) => Self::Many(Box::new([one, two].into_iter().chain(flows).collect())),
        }
    }
}

/// Something that took time. Thousands lie in memory, so it is small.
#[derive(Clone, Debug)]
pub struct Span {
    /// Where.
    pub track: Track,
    /// Of what kind: `call`, `submit`, `queue`, `device`, `wait`, `compile`, `worker`.
    pub kind: &'static str,
    /// What.
    pub name: Cow<'static, str>,
    /// When it began, in nanoseconds since there was a first timeline.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// More about it.
    pub detail: Detail,
    /// A flow that leaves; 0 = none.
    pub leaves: u64,
    /// Flows that arrive.
    pub arrives: Flows,
}

impl Span {
    /// A span with nothing else to tell.
    pub fn new(
        track: Track,
        kind: &'static str,
        name: impl Into<Cow<'static, str>>,
        times: [Instant; 2],
    ) -> Self {
        let origin = *ORIGIN.get_or_init(|| times[0]);
        let [start, end] = times.map(|time| time.saturating_duration_since(origin).as_nanos() as u64);
        let name = name.into();
        Self { track, kind, name, start, end, detail: Detail::None, leaves: 0, arrives: Flows::None }
    }
}

/// A thread that has told something.
pub struct Thread {
    /// Its number among those of a process.
    pub number: u64,
    /// What the program calls it.
    pub name: Option<String>,
    told: Mutex<Vec<Span>>,
}

/// Writes spans down.
pub trait Recorder: Send {
    /// What a thread has told since it was asked last: of itself in the order of the ends.
    fn record(&mut self, thread: &Thread, spans: &[Span]);
    /// What has been recorded should outlive the process.
    fn flush(&mut self);
    /// Nothing more comes.
    fn finish(&mut self);
}

/// Who records, and memory that is used again.
#[derive(Default)]
struct Out {
    recorder: Option<Box<dyn Recorder>>,
    spans: Vec<Span>,
}

/// What is recorded of a process. A child of `fork` has one of its own, which is off.
#[derive(Default)]
struct State {
    on: AtomicBool,
    /// Grows with each recorder.
    period: AtomicU64,
    threads: Mutex<Vec<Arc<Thread>>>,
    out: Mutex<Out>,
}

/// Times count from here.
static ORIGIN: OnceLock<Instant> = OnceLock::new();
static ON: AtomicBool = AtomicBool::new(false);
static STATE: PerProcess<State> = PerProcess::new(State::default);
static FLOWS: AtomicU64 = AtomicU64::new(1);
static QUEUES: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static OWN: RefCell<Option<(&'static State, Arc<Thread>)>> = const { RefCell::new(None) };
}

/// Whether somebody wants to know.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Records from now on. One recorder at a time: another that was there before finishes.
pub fn start(recorder: Box<dyn Recorder>) {
    stop();
    ORIGIN.get_or_init(Instant::now);
    let state = STATE.get();
    let period = {
        let mut out = state.out.lock();
        // What came too late for the one before.
        state.threads.lock().iter().for_each(|thread| thread.told.lock().clear());
        out.recorder = Some(recorder);
        state.period.fetch_add(1, Ordering::Relaxed) + 1
    };
    state.on.store(true, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    let regularly = move || {
        while state.period.load(Ordering::Relaxed) == period && state.on.load(Ordering::Relaxed) {
            std::thread::sleep(DELAY);
            state.drain();
        }
    };
    // It is never joined: where a process ends it may be gone already.
    let thread = std::thread::Builder::new().name("recal-timeline".into());
    if let Err(e) = without_signals(|| thread.spawn(regularly)) {
        log::debug!("a timeline without a thread is written when memory is full: {e}");
    }
    at_exit();
}

/// Records no more.
pub fn stop() {
    if !ON.swap(false, Ordering::Relaxed) {
        return;
    }
    let state = STATE.get();
    // A child of `fork` has nothing to finish.
    if state.on.swap(false, Ordering::Relaxed) {
        state.drain();
        if let Some(mut recorder) = state.out.lock().recorder.take() {
            recorder.finish();
        }
    }
}

/// What a program that never stops the timeline has told last is recorded as it exits.
#[cfg(unix)]
fn at_exit() {
    extern "C" fn drain() {
        let state = STATE.get();
        if state.on.load(Ordering::Relaxed) {
            // The exit handler of a program of C must not unwind.
            drop(std::panic::catch_unwind(|| state.drain()));
        }
    }
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.swap(true, Ordering::Relaxed) {
        // SAFETY: the library is never unloaded (`-z nodelete`), and the handler may be called on any thread.
        if unsafe { libc::atexit(drain) } != 0 {
            log::debug!("the end of the timeline may be lacking if nobody ends it");
        }
    }
}

/// Windows ends the threads first, whatever locks they hold.
#[cfg(not(unix))]
fn at_exit() {}

impl State {
    /// Records what was told.
    fn drain(&self) {
        let mut out = self.out.lock();
        let Out { recorder: Some(recorder), spans } = &mut *out else { return };
        let threads = self.threads.lock().clone();
        let mut news = false;
        for thread in &threads {
            std::mem::swap(&mut *thread.told.lock(), spans);
            if !spans.is_empty() {
                recorder.record(thread, spans);
                spans.clear();
                news = true;
            }
        }
        if news {
            recorder.flush();
        }
        drop(threads);
        // Whoever has ended has told everything.
        self.threads.lock().retain(|thread| Arc::strong_count(thread) > 1 || !thread.told.lock().is_empty());
    }

    /// A place for what this thread tells.
    fn admit(&self) -> Arc<Thread> {
        static THREADS: AtomicU64 = AtomicU64::new(1);
        let thread = Arc::new(Thread {
            number: THREADS.fetch_add(1, Ordering::Relaxed),
            name: std::thread::current().name().map(str::to_owned),
            told: Mutex::default(),
        });
        self.threads.lock().push(thread.clone());
        thread
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
pub fn record(span: Span) {
    if !is_on() {
        return;
    }
    let state = STATE.get();
    if !state.on.load(Ordering::Relaxed) {
        // In a child of `fork`.
        ON.store(false, Ordering::Relaxed);
        return;
    }
    // A thread that is ending has no place any more.
    let full = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        // The thread that forked has a place in the parent, where another may hold its lock for good.
        let (of, thread) = own.get_or_insert_with(|| (state, state.admit()));
        if !std::ptr::eq(*of, state) {
            (*of, *thread) = (state, state.admit());
        }
        let mut told = thread.told.lock();
        told.push(span);
        told.len() >= FULL
    });
    if full == Ok(true) {
        state.drain();
    }
}

/// Records that this thread has done something since `start`, if that is known.
pub fn done(start: Option<Instant>, kind: &'static str, name: &'static str) {
    let Some(start) = start else { return };
    record(Span::new(Track::Thread, kind, name, [start, Instant::now()]));
}

/// Records that this thread has given a command to a queue since `start`, and the flow that leads to its execution.
pub fn submitted(start: Option<Instant>, name: &'static str, leaves: Option<u64>) {
    let Some(start) = start else { return };
    let leaves = leaves.unwrap_or(0);
    record(Span { leaves, ..Span::new(Track::Thread, "submit", name, [start, Instant::now()]) });
}
