//! Room to compile: the compiler recurses as deep as kernels nest, and a thread of a program may have a small stack.

use crate::signals::without_signals;
use crate::sync::Mutex;

/// Bytes of stack for the deepest kernel that is accepted, several times over.
const ROOM: usize = 8 << 20;

/// Runs `work` on a thread with a large stack, and here if the system has no thread to give.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().take();
        work.map(|work| work())
    };
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("cal compiler".into()).stack_size(ROOM);
        match without_signals(|| thread.spawn_scoped(scope, run)) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => run(),
        }
    });
    outcome.unwrap_or_else(|| unreachable!("the work was run once, and by no one else"))
}
