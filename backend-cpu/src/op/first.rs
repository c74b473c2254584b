//! The first launches of a kernel: few threads are interpreted sooner than code for them is made.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use super::{Body, Op};

/// Waves of a kernel that are interpreted in less time than code for it is made.
const WAVES: u64 = 128;

/// How much of a kernel is interpreted before it is compiled; nothing by default.
#[derive(Default)]
pub struct FirstLaunches {
    /// Waves.
    left: AtomicU64,
    body: OnceLock<Arc<Body>>,
}

impl FirstLaunches {
    /// Launches of few waves are interpreted, until they were [`WAVES`] together.
    pub fn few() -> FirstLaunches {
        FirstLaunches { left: AtomicU64::new(WAVES), body: OnceLock::new() }
    }

    /// What a launch of so many waves interprets; `None`: it is time to compile.
    pub fn body(&self, ops: &[Op], waves: u64) -> Option<Arc<Body>> {
        // Whose waves are too many has them for nothing: later ones are compiled, too.
        let left =
            self.left.fetch_update(Relaxed, Relaxed, |left| (left > 0).then(|| left.saturating_sub(waves)));
        let enough = left.is_ok_and(|left| left >= waves);
        enough.then(|| self.body.get_or_init(|| Arc::new(Body::interpreted(ops))).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstLaunches, WAVES};

    #[test]
    fn few_waves_are_interpreted_and_then_none() {
        let first = FirstLaunches::few();
        let interpreted = |waves| first.body(&[], waves).is_some();
        assert!(interpreted(1));
        assert!(interpreted(WAVES - 2));
        assert!(!interpreted(2), "more than are left");
        assert!(!interpreted(1), "code has been made");
        assert!(FirstLaunches::few().body(&[], WAVES).is_some());
        assert!(FirstLaunches::few().body(&[], WAVES + 1).is_none());
        assert!(FirstLaunches::default().body(&[], 1).is_none());
    }
}
