//! Who is to be woken when work is done.
//!
//! Backends have no callbacks, so a thread waits: one for each queue that is awaited, while it is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

use recal_hal::sync::Mutex;
use recal_hal::{Ticket, without_signals};

use crate::line::Line;

/// A queue, and who waits for which of its tickets. Its thread is there as long as its entry.
struct Awaited {
    line: Arc<Line>,
    wakers: Vec<(Ticket, Waker)>,
}

static AWAITED: Mutex<Vec<Awaited>> = Mutex::new(Vec::new());

/// Wakes `waker` when `ticket` is done, or waiting for it fails.
pub(crate) fn wake_when_done(line: &Arc<Line>, ticket: Ticket, waker: &Waker) {
    let mut all = AWAITED.lock();
    if let Some(awaited) = all.iter_mut().find(|a| Arc::ptr_eq(&a.line, line)) {
        if !awaited.wakers.iter().any(|(t, w)| *t == ticket && w.will_wake(waker)) {
            awaited.wakers.push((ticket, waker.clone()));
        }
        return;
    }
    let of = Arc::clone(line);
    let thread = std::thread::Builder::new().name("recal-wakers".into());
    let thread = without_signals(|| thread.spawn(move || attend(&of)));
    match thread {
        Ok(_) => all.push(Awaited { line: Arc::clone(line), wakers: vec![(ticket, waker.clone())] }),
        Err(e) => {
            // Who polls again and again gets there, too.
            log::warn!("no thread to wait for work: {e}");
            drop(all);
            waker.wake_by_ref();
        }
    }
}

/// Waits for the work of a queue, command by command, until nobody asks for any: who asks for an earlier ticket than the others, while
/// this waits, is woken for it all the same.
fn attend(line: &Arc<Line>) {
    let mut told = 0;
    loop {
        let mut all = AWAITED.lock();
        let Some(at) = all.iter().position(|a| Arc::ptr_eq(&a.line, line)) else { return };
        let (done, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut all[at].wakers).into_iter().partition(|(ticket, _)| *ticket <= told);
        let next = waiting.iter().map(|(ticket, _)| *ticket).min();
        if next.is_none() && done.is_empty() {
            let gone = all.swap_remove(at);
            drop(all);
            drop(gone);
            return;
        }
        all[at].wakers = waiting;
        drop(all);
        for (_, waker) in done {
            // An executor's mistake is not to leave the others asleep.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        if let Some(ticket) = next {
            let step = ticket.min(line.completed() + 1);
            // What failed is told to who polls.
            let waited = line.wait(step, step);
            let completed = line.completed();
            let lost = waited.is_err() && completed < step;
            told = told.max(if lost { ticket } else { completed });
        }
    }
}
