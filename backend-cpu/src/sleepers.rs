//! Threads that sleep until a queue has done what they wait for.

use std::time::Duration;

use recal_hal::Ticket;

use crate::sync::{Condvar, MutexGuard};

/// How many there are, and the first ticket that one of them waits for.
#[derive(Default)]
pub struct Sleepers {
    sleeping: usize,
    awaited: Ticket,
}

impl Sleepers {
    /// Tells those who sleep that a ticket is done, or all are whose thread this was. Waking takes a call of the system, even of nobody, and
    /// who has been woken takes a core from those that work.
    pub fn wake(&mut self, done: &Condvar, ticket: Ticket) {
        if self.sleeping > 0 && ticket >= self.awaited {
            self.awaited = Ticket::MAX;
            done.notify_all();
        }
    }
}

/// Sleeps until a ticket is done, or nobody runs commands, at most so long.
pub fn sleep<'a, T: AsMut<Sleepers>>(
    done: &Condvar,
    mut state: MutexGuard<'a, T>,
    ticket: Ticket,
    limit: Option<Duration>,
) -> MutexGuard<'a, T> {
    let sleepers = (*state).as_mut();
    sleepers.awaited = if sleepers.sleeping > 0 { sleepers.awaited.min(ticket) } else { ticket };
    sleepers.sleeping += 1;
    state = match limit {
        Some(limit) => done.wait_for(state, limit),
        None => done.wait(state),
    };
    (*state).as_mut().sleeping -= 1;
    state
}
