//! The models. Each closure is run once for every order of its threads, and every value that a relaxed load may see.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use loom::thread;
use recal_hal::{Command, Error, Format, Queue, Result, Surface, Ticket};

use crate::handle::{Kind, Refused, Table};
use crate::line::Line;
use crate::shares::Shares;
use crate::sleepers::{Sleepers, sleep};
use crate::sync::{Condvar, Mutex};

fn every_order(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // Two changes of thread at bad moments show nearly all that three would, in a fraction of the time.
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Two threads remove the same object, and one inserts another.
pub fn a_handle_is_dead_for_all_once_it_is_removed() {
    every_order(|| {
        let table = Arc::new(Table::new(Kind::Mem));
        let handle = table.insert(0, 1u32).unwrap();
        let other = Arc::clone(&table);
        let looks = thread::spawn(move || {
            let first = other.get(handle);
            let removed = other.remove(handle);
            (first, removed, other.get(handle))
        });
        let removed = table.remove(handle);
        let next = table.insert(0, 2).unwrap();
        let (first, theirs, last) = looks.join().unwrap();
        assert!(first.is_none_or(|value| value == 1), "another object behind an old handle");
        assert_eq!(
            [removed, theirs].iter().flatten().collect::<Vec<_>>(),
            [&1],
            "exactly one of them removed it"
        );
        assert_eq!((last, table.get(handle), table.get(next)), (None, None, Some(2)));
    });
}

/// An insertion meets a shutdown.
pub fn nothing_of_an_old_epoch_survives_a_shutdown() {
    every_order(|| {
        let table = Arc::new(Table::new(Kind::Resource));
        let other = Arc::clone(&table);
        let late = thread::spawn(move || other.insert(0, 1u32));
        let taken = table.start_epoch(1);
        match late.join().unwrap() {
            Ok(handle) => {
                assert_eq!(taken, [1], "who inserted it before the shutdown");
                assert_eq!(table.get(handle), None);
            }
            Err(refused) => assert!(refused == Refused::Stale && taken.is_empty()),
        }
        assert_eq!(table.start_epoch(2), [], "nothing is left of it");
    });
}

/// A queue that completes what was flushed, at once; what was not flushed is never done.
struct Model {
    issued: AtomicU64,
    flushed: AtomicU64,
    failed: AtomicU64,
}

impl Queue for Model {
    fn submit(&self, _command: Command) -> Result<Ticket> {
        Ok(self.issued.fetch_add(1, SeqCst) + 1)
    }

    fn flush(&self) -> Result<()> {
        let issued = self.issued.load(SeqCst);
        self.flushed.fetch_max(issued, SeqCst);
        Ok(())
    }

    fn completed(&self) -> Ticket {
        self.flushed.load(SeqCst)
    }

    fn wait(&self, ticket: Ticket) -> Result<()> {
        self.flush()?;
        assert!(self.completed() >= ticket, "it would wait for ever");
        Ok(())
    }

    fn error(&self, ticket: Ticket) -> Option<Error> {
        (self.failed.load(SeqCst) == ticket).then(|| Error::Failed("on purpose".into()))
    }

    fn busy(&self) -> Duration {
        Duration::ZERO
    }
}

fn line(failed: Ticket) -> std::sync::Arc<Line> {
    let (issued, flushed, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(failed));
    Line::new(std::sync::Arc::new(Model { issued, flushed, failed }))
}

/// Any command will do.
fn submit(line: &Line) -> Ticket {
    struct Nothing;
    impl recal_hal::Memory for Nothing {
        fn bytes(&self) -> u64 {
            0
        }

        fn map(&self) -> Result<*mut u8> {
            Err(Error::Failed("nothing is there".into()))
        }

        fn unmap(&self) {}

        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }
    let memory = std::sync::Arc::new(Nothing);
    let surface = Surface { memory, width: 1, height: 1, pitch: 1, format: Format::Float32x1 };
    let submission = line.begin();
    line.submit(&submission, Command::Copy { src: surface.clone(), dst: surface }).unwrap()
}

/// Two threads submit; one flushes, the other only looks whether its work is done.
pub fn who_polls_an_event_has_started_its_work() {
    every_order(|| {
        let line = line(0);
        let other = line.clone();
        let polls = thread::spawn(move || {
            let ticket = submit(&other);
            // The queue is done with a ticket as soon as it is flushed, so one look is enough, unless a flush was taken for one
            // that came too early.
            assert!(other.is_done(ticket, ticket).unwrap(), "ticket {ticket} was never started");
        });
        let ticket = submit(&line);
        line.flush().unwrap();
        assert!(line.completed() >= ticket, "flushed, and not started");
        polls.join().unwrap();
    });
}

/// Two threads submit and wait, and one of the commands fails.
pub fn waits_end_and_failures_are_told_to_their_own_event() {
    every_order(|| {
        let line = line(2);
        let other = line.clone();
        let waits = thread::spawn(move || {
            let ticket = submit(&other);
            (ticket, other.wait(ticket, ticket).is_err())
        });
        let ticket = submit(&line);
        let failed = line.wait(ticket, ticket).is_err();
        assert_eq!(failed, ticket == 2);
        let (theirs, failed) = waits.join().unwrap();
        assert_eq!(failed, theirs == 2);
        assert_eq!(ticket + theirs, 3);
        line.wait_all().unwrap();
        assert!(line.is_done(1, 2).is_err(), "a range with a failure in it");
    });
}

/// A queue of the CPU, as those see it who sleep in it.
struct Sleeping {
    state: Mutex<State>,
    done: Condvar,
}

struct State {
    completed: Ticket,
    running: bool,
    sleepers: Sleepers,
}

impl AsMut<Sleepers> for State {
    fn as_mut(&mut self) -> &mut Sleepers {
        &mut self.sleepers
    }
}

impl Sleeping {
    fn new() -> Arc<Sleeping> {
        let state = State { completed: 0, running: true, sleepers: Sleepers::default() };
        Arc::new(Sleeping { state: Mutex::new(state), done: Condvar::new() })
    }

    fn complete(&self, ticket: Ticket) {
        let mut state = self.state.lock();
        state.completed = ticket;
        state.sleepers.wake(&self.done, ticket);
    }

    /// Sleeps until a ticket is done; how often it was woken.
    fn wait(&self, ticket: Ticket) -> u32 {
        let mut state = self.state.lock();
        let mut woken = 0;
        while state.completed < ticket {
            state = sleep(&self.done, state, ticket, None);
            woken += 1;
        }
        woken
    }
}

/// Two tickets are done, and a thread waits for the second. Whoever is not woken is a deadlock.
pub fn who_sleeps_is_woken_for_its_ticket_alone() {
    every_order(|| {
        let queue = Sleeping::new();
        let other = Arc::clone(&queue);
        let sleeps = thread::spawn(move || other.wait(2));
        queue.complete(1);
        queue.complete(2);
        assert!(sleeps.join().unwrap() <= 1, "woken for what it did not wait for");
    });
}

/// A thread waits for the first of three tickets and one for the last, which is done when the first thread has gone on.
pub fn who_waits_for_less_is_woken_before_who_waits_for_more() {
    every_order(|| {
        let queue = Sleeping::new();
        let [first, last] = [1, 3].map(|ticket| {
            let other = Arc::clone(&queue);
            thread::spawn(move || other.wait(ticket))
        });
        queue.complete(1);
        queue.complete(2);
        assert!(first.join().unwrap() <= 1);
        queue.complete(3);
        assert!(last.join().unwrap() <= 2, "woken for what nobody waited for");
    });
}

/// Whoever ran commands leaves, and what is waited for is not done.
pub fn who_sleeps_is_woken_when_nobody_runs_commands() {
    every_order(|| {
        let queue = Sleeping::new();
        let other = Arc::clone(&queue);
        let sleeps = thread::spawn(move || {
            let mut state = other.state.lock();
            while state.running {
                state = sleep(&other.done, state, 2, None);
            }
        });
        queue.complete(1);
        let mut state = queue.state.lock();
        state.running = false;
        state.sleepers.wake(&queue.done, Ticket::MAX);
        drop(state);
        sleeps.join().unwrap();
    });
}

/// A launch of two parts, and what they store: nothing but the shares brings it to whoever looks at it.
struct Launched {
    shares: Shares,
    stored: [AtomicU32; 2],
}

impl Launched {
    fn new() -> Arc<Launched> {
        Arc::new(Launched { shares: Shares::new(2, 2, 0), stored: [0, 0].map(AtomicU32::new) })
    }

    /// Works with a share until no part is left.
    fn work(&self, share: usize) {
        while let Some(parts) = self.shares.claim(share, [1, 1], 1) {
            for part in parts {
                self.stored[part as usize].fetch_add(1, Relaxed);
            }
        }
        self.shares.leave(share);
    }

    /// A worker that comes to help.
    fn helper(this: &Arc<Launched>) -> thread::JoinHandle<()> {
        let launch = Arc::clone(this);
        thread::spawn(move || {
            if let Some(share) = launch.shares.join(1, 1) {
                launch.work(share);
            }
        })
    }

    /// What they stored, once nobody works on it; a model can't wait for that.
    fn end(&self) -> Option<[u32; 2]> {
        self.shares.close();
        (self.shares.taken() == 0).then(|| [0, 1].map(|part: usize| self.stored[part].load(Relaxed)))
    }
}

/// A worker comes to help with a launch, soon, late or when it has ended.
pub fn each_part_is_done_once_and_seen_at_the_end() {
    every_order(|| {
        let launch = Launched::new();
        let helps = Launched::helper(&launch);
        launch.work(launch.shares.begin());
        assert!(launch.end().is_none_or(|stored| stored == [1, 1]), "not done, or not seen");
        helps.join().unwrap();
        assert_eq!(launch.end(), Some([1, 1]));
    });
}

/// A launch is stopped before all is done: who comes to help later begins with nothing.
pub fn nothing_is_done_once_a_launch_has_ended() {
    every_order(|| {
        let launch = Launched::new();
        let helps = Launched::helper(&launch);
        let stored = launch.end();
        helps.join().unwrap();
        assert!(stored.is_none() || launch.end() == stored, "stored after the end");
    });
}
