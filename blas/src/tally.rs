//! What was computed where, and how long it took: for `CALBLAS_LOG`, and for the measured speeds that work is shared out by.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use crate::scalar::Kind;

/// Figures of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Products that devices had a part in, and products of the host alone.
    pub calls: [u64; 2],
    /// Floating-point operations by devices and by the host.
    pub operations: [f64; 2],
    /// Seconds of calls that devices had a part in, and of calls of the host alone.
    pub seconds: [f64; 2],
}

impl Figures {
    /// The devices' part of the time of all products; of a shared call, its part of the operations.
    pub fn device_time(&self) -> f64 {
        let all = self.seconds[0] + self.seconds[1];
        if all == 0.0 { 0.0 } else { self.seconds[0] / all }
    }

    /// The devices' part of the operations.
    pub fn device_operations(&self) -> f64 {
        let all = self.operations[0] + self.operations[1];
        if all == 0.0 { 0.0 } else { self.operations[0] / all }
    }
}

/// Figures of all types.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<[Figures; 4]>);

impl Tally {
    /// Adds a product. Its time is shared between devices and host as its operations are.
    pub(crate) fn add(&self, kind: Kind, operations: [f64; 2], time: Duration) {
        let mut all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let figures = &mut all[kind as usize];
        figures.calls[(operations[0] == 0.0) as usize] += 1;
        let whole = (operations[0] + operations[1]).max(f64::MIN_POSITIVE);
        for (at, part) in operations.into_iter().enumerate() {
            figures.operations[at] += part;
            figures.seconds[at] += time.as_secs_f64() * part / whole;
        }
    }

    pub(crate) fn figures(&self, kind: Kind) -> Figures {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[kind as usize]
    }

    /// A line for each type that was used.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for kind in Kind::ALL {
            let f = self.figures(kind);
            if f.calls == [0; 2] {
                continue;
            }
            let speed =
                |at: usize| if f.seconds[at] > 0.0 { f.operations[at] / f.seconds[at] * 1e-9 } else { 0.0 };
            let _ = writeln!(
                text,
                "CALBLAS {}gemm: devices {} calls {:.3} s {:.2} GFLOPS, host {} calls {:.3} s {:.2} GFLOPS, \
                 devices' part of the time {:.4}, of the operations {:.4}",
                kind.letter(),
                f.calls[0],
                f.seconds[0],
                speed(0),
                f.calls[1],
                f.seconds[1],
                speed(1),
                f.device_time(),
                f.device_operations()
            );
        }
        text
    }

    /// Writes it where `CALBLAS_LOG` says: `1` is standard error, anything else a file that it is added to.
    pub(crate) fn tell(&self, to: &str) {
        let text = self.text();
        let written = match to {
            "1" => std::io::stderr().write_all(text.as_bytes()),
            // One write, so that lines of several processes do not mix.
            file => std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(file)
                .and_then(|mut file| file.write_all(text.as_bytes())),
        };
        if let Err(e) = written {
            log::warn!("CALBLAS_LOG={to}: {e}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_as_operations_are() {
        let tally = Tally::default();
        tally.add(Kind::Double, [3e9, 1e9], Duration::from_secs(4));
        tally.add(Kind::Double, [0.0, 1e9], Duration::from_secs(1));
        let figures = tally.figures(Kind::Double);
        assert_eq!(figures.calls, [1, 1]);
        assert_eq!(figures.seconds, [3.0, 2.0]);
        assert_eq!((figures.device_time(), figures.device_operations()), (0.6, 0.6));
        assert_eq!(tally.figures(Kind::Single), Figures::default());
        assert_eq!(
            tally.text(),
            "CALBLAS dgemm: devices 1 calls 3.000 s 1.00 GFLOPS, host 1 calls 2.000 s 1.00 GFLOPS, devices' part of the \
             time 0.6000, of the operations 0.6000\n"
        );
    }
}
