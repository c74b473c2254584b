//! Events as futures, and typed memory in use, on a device whose work is done when the test says so.
#![cfg(feature = "macros")]
#![allow(clippy::macro_metavars_in_unsafe)]

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, MutexGuard};
use std::task::{Context as Polled, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use recal::typed::Image;
use recal::{Config, Context, ErrorKind, Format, Place, Runtime};
use support::manual::{Control, Manual};

recal::il! {
    /// The device writes what it likes.
    fn any(y: &mut Image<u8>) {
        il_ps_2_0
        dcl_output_generic o0
        mov o0, r0
        end
    }
}

/// Who is woken: the test, by a message.
struct Told(Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

fn start() -> (Arc<Control>, Context, MutexGuard<'static, ()>) {
    let alone = support::alone();
    let control = Control::new();
    recal::register_backend(Arc::new(Manual::new(&control)));
    let config = Config { backends: vec!["manual".into()], ..Config::default() };
    let context = Runtime::with_config(config).unwrap().open(0).unwrap().create_context().unwrap();
    (control, context, alone)
}

#[test]
fn who_awaits_is_woken_when_the_work_is_done() {
    let (control, context, _alone) = start();
    let k = any(&context).unwrap();
    let mut y = Image::new(&context, 4, 4).unwrap();
    let (told, woken) = channel();
    let waker = Waker::from(Arc::new(Told(told)));
    let mut polled = Polled::from_waker(&waker);
    let mut first = pin!(k.fill(&mut y).unwrap());
    let mut second = pin!(k.fill(&mut y).unwrap());
    // The later one first, and waited for: each is woken for itself.
    assert!(second.as_mut().poll(&mut polled).is_pending());
    control.until_awaited();
    assert!(first.as_mut().poll(&mut polled).is_pending());
    assert!(woken.try_recv().is_err());
    control.step(1);
    woken.recv().unwrap();
    assert!(matches!(first.as_mut().poll(&mut polled), Poll::Ready(Ok(()))));
    assert!(second.as_mut().poll(&mut polled).is_pending());
    control.fail(true);
    control.step(1);
    woken.recv().unwrap();
    assert!(matches!(second.as_mut().poll(&mut polled), Poll::Ready(Err(_))));
    // A queue that nobody awaits any more is awaited anew.
    control.fail(false);
    let mut third = pin!(k.fill(&mut y).unwrap());
    assert!(third.as_mut().poll(&mut polled).is_pending());
    control.step(1);
    woken.recv().unwrap();
    assert!(matches!(third.as_mut().poll(&mut polled), Poll::Ready(Ok(()))));
}

/// What was freed is there again once the work that uses it is done: who allocates waits for that, and for nothing else.
#[test]
fn memory_that_work_in_flight_holds_is_waited_for() {
    let (control, context, _alone) = start();
    let allocate = || context.device().allocate_2d(16, 16, Format::Float32x4, Place::Local);
    let (from, to) = (allocate().unwrap(), allocate().unwrap());
    control.room(2);
    let nothing_in_flight = allocate().map(drop).unwrap_err();
    assert_eq!(nothing_in_flight.kind(), ErrorKind::OutOfMemory);
    let mems = [&from, &to].map(|resource| context.mem(resource).unwrap());
    drop(context.copy(&mems[0], &mems[1]).unwrap());
    drop((mems, from));
    thread::scope(|scope| {
        let made = scope.spawn(|| allocate().map(drop));
        while !control.is_awaited() && !made.is_finished() {
            thread::yield_now();
        }
        control.run_freely();
        made.join().unwrap().unwrap();
    });
}

#[test]
fn waiting_has_an_end() {
    let (control, context, _alone) = start();
    let mut y = Image::new(&context, 4, 4).unwrap();
    let event = any(&context).unwrap().fill(&mut y).unwrap();
    assert!(!event.wait_timeout(Duration::from_millis(2)).unwrap());
    control.run_freely();
    assert!(event.wait_timeout(Duration::from_secs(3600)).unwrap());
}

#[test]
fn who_reads_hears_of_the_launch_that_failed() {
    let (control, context, _alone) = start();
    control.run_freely();
    let k = any(&context).unwrap();
    let mut y = Image::new(&context, 4, 4).unwrap();
    control.fail(true);
    k.fill(&mut y).unwrap();
    assert_eq!(y.read().unwrap_err().kind(), ErrorKind::Timeout);
    assert!(y.map().is_err());
    control.fail(false);
    k.fill(&mut y).unwrap();
    assert_ne!(y.read().unwrap(), [0; 16]);
    control.fail(true);
    k.fill(&mut y).unwrap();
    y.write(&[7; 16]).unwrap();
    assert_eq!(y.read().unwrap(), [7; 16], "it has been written since");
}

#[test]
fn memory_of_what_is_gone_is_the_next_ones() {
    let (control, context, _alone) = start();
    let k = any(&context).unwrap();
    let mut y = Image::output(&context, 4, 4).unwrap();
    for _ in 0..100 {
        // In flight all the while: the queue keeps the order.
        k.fill(&mut y).unwrap();
        y = Image::output(&context, 4, 4).unwrap();
    }
    assert_eq!(control.live_memories(), 2);
    // The host may not write what a launch still uses.
    let other = Image::from_rows(&context, 4, &[9u8; 16]).unwrap();
    assert_eq!(control.live_memories(), 3);
    control.run_freely();
    drop((y, other));
    let zeros = Image::<u8>::new(&context, 4, 4).unwrap();
    assert_eq!(zeros.read().unwrap(), [0; 16]);
    assert_eq!(control.live_memories(), 3);
    drop(zeros);
    // Commands hold what they use until they are done.
    context.finish().unwrap();
    context.trim();
    assert_eq!(control.live_memories(), 0);
}
