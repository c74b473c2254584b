//! An event: work submitted to a context. It can be polled, waited for, and awaited.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polled, Poll};
use std::time::Duration;

use recal_hal::Ticket;

use crate::error::Result;
use crate::line::Line;
use crate::wakers;

/// Work submitted to a context. Dropping an event does nothing to the work.
///
/// It is a future, too, for any executor: a thread that lives while something is awaited waits for the queue and wakes it.
///
/// ```
/// # use recal::{Domain, Format, Place, Runtime};
/// # let runtime = Runtime::new()?;
/// # let device = runtime.open(0)?;
/// # let context = device.create_context()?;
/// # let text = "il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 2.0, 0, 0, 0\nmov o0, l0\nend\n";
/// # let module = context.load(&recal::compile(text, device.info().target)?.into())?;
/// # let output = device.allocate_2d(8, 8, Format::Float32x1, Place::Local)?;
/// # module.bind("o0", &output)?;
/// pollster::block_on(async {
///     context.run(&module, Domain::of(8, 8))?.await?;
///     assert_eq!(output.map::<f32>()?[0], 2.0);
///     Ok::<(), recal::Error>(())
/// })?;
/// # Ok::<(), recal::Error>(())
/// ```
#[derive(Clone)]
pub struct Event {
    line: Arc<Line>,
    first: Ticket,
    last: Ticket,
}

impl Event {
    pub(crate) fn new(line: Arc<Line>, first: Ticket, last: Ticket) -> Self {
        Self { line, first, last }
    }

    pub(crate) fn tickets(&self) -> (Ticket, Ticket) {
        (self.first, self.last)
    }

    /// True when the work is done; an error if it failed. Starts the work if nothing else has.
    pub fn is_done(&self) -> Result<bool> {
        self.line.is_done(self.first, self.last)
    }

    /// Blocks until the work is done; an error if it failed.
    pub fn wait(&self) -> Result<()> {
        self.line.wait(self.first, self.last)
    }

    /// Blocks until the work is done, or for about `limit`: false if it is not done by then. It goes on.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        self.line.wait_for(self.first, self.last, limit)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({})", self.last)
    }
}

impl Future for Event {
    type Output = Result<()>;

    fn poll(self: Pin<&mut Self>, polled: &mut Polled<'_>) -> Poll<Result<()>> {
        match self.is_done() {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => {
                wakers::wake_when_done(&self.line, self.last, polled.waker());
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}
