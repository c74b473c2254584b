//! A launch, or a copy, in progress, and the threads that work on it.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recal_hal::sync::Mutex;
use recal_hal::{Bindings, Error, Extent, Result};
use recal_reference::watch::Findings;

use super::shares::{CLAIM, Shares};
use crate::context::{Counters, Known, Launch, Stop};
use crate::copy::Copy;
use crate::isa_choice::Isa;
use crate::launch::{Scratch, columns, in_waves, longer, parts, regrouped, run_parts, turned};
use crate::memory::{Block, InUse, View};
use crate::op::Code;
use crate::system;
use crate::watched;

/// Nanoseconds of work that are not worth another thread.
pub const SMALL: u64 = 20_000;
/// Nanoseconds of work that are claimed at a time at least.
const SHORT: u64 = 500;
/// Nanoseconds of work that are not worth the move to another core of what it reads and stores.
const MOVE: u64 = 2_000;
/// What parts that are claimed together should take at most.
const CLAIM_TIME: Duration = Duration::from_micros(500);

/// A launch, or a copy, in progress.
pub struct Job {
    work: Work,
    /// See [`cost`].
    cost: u64,
    /// Parts that are worth the move to another core, as far as is known before they run.
    worth: u64,
    shares: Shares,
    stop: Arc<Stop>,
    failed: Mutex<Option<Error>>,
}

/// What there is to do.
enum Work {
    Launch(Box<Started>),
    Copy(Copy),
}

/// A launch.
struct Started {
    code: Arc<Code>,
    bindings: Arc<Bindings>,
    extent: Extent,
    columns: u32,
    isa: &'static Isa,
    known: Known,
    counters: Arc<Counters>,
    gds: Option<Block>,
    /// Where misuse is reported, if it is looked for.
    findings: Option<Arc<Findings>>,
}

impl Job {
    /// A copy, for so many threads; the one with the number `first` runs the queue.
    pub fn of_copy(copy: Copy, stop: Arc<Stop>, (threads, first): (usize, usize)) -> Job {
        let shares = Shares::new(copy.parts(), threads as u64, first);
        let cost = cost_of_copy(copy.bytes());
        Job { work: Work::Copy(copy), cost, worth: 1, shares, stop, failed: Mutex::new(None) }
    }

    /// Everything a launch needs, likewise.
    #[allow(clippy::too_many_arguments)]
    pub fn of_launch(
        code: Arc<Code>,
        bindings: Arc<Bindings>,
        extent: Extent,
        isa: &'static Isa,
        counters: Arc<Counters>,
        stop: Arc<Stop>,
        findings: Option<Arc<Findings>>,
        (threads, first): (usize, usize),
    ) -> Result<Job> {
        // Who looks for misuse looks at the groups of the launch.
        let free = |unseen: bool| unseen && findings.is_none();
        let columns = columns(&code, &bindings);
        let extent = if free(code.groups_unseen) { regrouped(extent, columns) } else { extent };
        let cost = cost(&code, parts(&code, extent, columns));
        let alone = findings.is_none() && code.panels.is_empty() && !turned(&code, extent);
        let columns = if alone { longer(extent, columns, threads) } else { columns };
        let extent = if free(code.waves_alone) { in_waves(&code, extent, threads) } else { extent };
        let checked = findings.is_some() && code.subject.is_some();
        let parts = match checked {
            true => recal_reference::parts(extent),
            false => parts(&code, extent, columns),
        };
        // Groups that share registers run one after another, in order.
        let shares = match code.shared {
            0 => Shares::new(parts, threads as u64, first),
            _ => Shares::whole(parts),
        };
        let gds = match code.gds_bytes {
            0 => None,
            bytes => Some(Block::allocate(u64::from(bytes), u64::MAX, &InUse::default())?),
        };
        let caches = [system::cache_bytes(), system::own_cache_bytes()];
        let known = guarded(|| Known::find(&code, &bindings, (extent, columns), caches))?;
        let work = Started { code, bindings, extent, columns, isa, known, counters, gds, findings };
        Ok(Job {
            work: Work::Launch(Box::new(work)),
            cost,
            worth: worth(cost / parts.max(1)),
            shares,
            stop,
            failed: Mutex::new(None),
        })
    }

    /// The share of the thread that runs the queue, before others know of the launch.
    pub fn begin(&self) -> usize {
        self.shares.begin()
    }

    /// A share of it for a thread, by its number, if more threads are of use: for each core one, or they would wait for each other's time.
    pub fn join(&self, number: usize) -> Option<usize> {
        if self.stop.raised() { None } else { self.shares.join(number, self.worth) }
    }

    /// The most threads that can work on it.
    pub fn most_threads(&self) -> usize {
        self.shares.count()
    }

    /// Threads that work on it.
    pub fn threads(&self) -> usize {
        self.shares.taken()
    }

    /// Works on the launch, with a share that it has joined with, until no part is left or `leave` says so between parts. Whether the thread is
    /// of no more use.
    pub fn work(&self, share: usize, scratch: &mut Scratch, leave: impl Fn(Instant) -> bool) -> bool {
        let mut left = false;
        // Who has a part is waited for: nothing is looked at before.
        if let Some(first) = self.shares.claim(share, [1, 1], self.worth) {
            self.run(share, first, scratch, |now| {
                left = leave(now);
                left
            });
        }
        self.shares.leave(share);
        !left
    }

    fn run(
        &self,
        share: usize,
        first: Range<u64>,
        scratch: &mut Scratch,
        mut leave: impl FnMut(Instant) -> bool,
    ) {
        let mut first = Some(first);
        // Nobody knows yet how long a part takes; what is done before the first one is not its time.
        let (mut begun, mut since) = (Instant::now(), Instant::now());
        let (mut most, mut done) = (1, 0);
        let claim = || {
            let now = Instant::now();
            let range = if let Some(first) = first.take() {
                begun = now;
                first
            } else {
                let slow = now - since > CLAIM_TIME;
                most = if slow { (most / 2).max(1) } else { (2 * most).min(CLAIM) };
                let part = ((now - begun).as_nanos() as u64 / done).max(1);
                if leave(now) {
                    return None;
                }
                self.shares.claim(share, [SHORT / part, most], worth(part))?
            };
            since = now;
            done += range.end - range.start;
            Some(range)
        };
        let result = guarded(|| match &self.work {
            Work::Launch(started) => started.run(&self.stop, scratch, claim),
            Work::Copy(copy) => copy.run(&self.stop, claim),
        });
        if let Err(error) = result {
            self.stop.cancel();
            // A panic may have left it anyhow.
            *scratch = Scratch::of(scratch.number);
            self.failed.lock().get_or_insert(error);
        }
    }

    /// All parts are somebody's, or nobody is to do them.
    pub fn is_claimed(&self) -> bool {
        self.stop.raised() || self.shares.are_claimed()
    }

    /// Waits until nobody works on it, nor will.
    pub fn end(&self) {
        self.shares.close();
        let mut spins = 0u32;
        while self.shares.taken() > 0 {
            spins += 1;
            if spins < 2000 {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// What became of it.
    pub fn result(&self) -> Result<()> {
        match self.failed.lock().take() {
            Some(error) => Err(error),
            None => self.stop.error().map_or(Ok(()), Err),
        }
    }

    /// Whether it pays to wake other threads for it.
    pub fn is_large(&self) -> bool {
        self.most_threads() > 1 && self.cost > SMALL
    }
}

impl Started {
    /// Runs the parts that `claim` gives out.
    fn run(
        &self,
        stop: &Stop,
        scratch: &mut Scratch,
        claim: impl FnMut() -> Option<Range<u64>>,
    ) -> Result<()> {
        let gds = self.gds.as_ref().map_or(View::EMPTY, Block::view);
        if let (Some(findings), Some(subject)) = (&self.findings, &self.code.subject) {
            let shared = watched::Shared { gds, counters: &self.counters, stop };
            return watched::check(subject, findings, &self.bindings, self.extent, shared, claim);
        }
        let launch = Launch::bind(
            (&self.code, &self.known),
            &self.bindings,
            (self.extent, self.columns),
            gds,
            &self.counters,
            stop,
        )?;
        run_parts(&launch, self.isa, scratch, claim)
    }
}

/// A panic in it is a bug of this crate; it must not take the process, or a lock, with it.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        let text =
            cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
        Err(Error::Failed(format!("the engine failed: {}", text.unwrap_or("no message"))))
    })
}

/// How many parts that take so long are worth the move to another core.
fn worth(part: u64) -> u64 {
    (MOVE / part.max(1)).max(1)
}

/// Nanoseconds that a copy takes about: some bytes in a nanosecond, even if they are far away.
pub fn cost_of_copy(bytes: u64) -> u64 {
    bytes / 4
}

/// Nanoseconds that a launch takes about; with loops or calls nobody knows.
pub fn cost(code: &Code, parts: u64) -> u64 {
    let operations = code.steps.len() as u64 * 15 + code.memory.len() as u64 * 100 + 50;
    if code.loops || code.functions > 1 { u64::MAX } else { parts.saturating_mul(operations) }
}
