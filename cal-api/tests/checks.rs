//! `CAL_DEBUG=checks` on a device that cannot check: that is told. A process of its own, for the logger.

#[allow(clippy::macro_metavars_in_unsafe)]
mod support;

use std::sync::{Arc, Mutex};

use recal::{Config, Runtime, register_backend};
use support::manual::{Control, Manual};

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listener;

impl log::Log for Listener {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            TOLD.lock().unwrap().push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

#[test]
fn a_device_that_cannot_check_says_so() {
    log::set_logger(&Listener).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    register_backend(Arc::new(Manual::new(&Control::new())));
    for (backend, checks, told) in [("manual", true, 1), ("manual", false, 0), ("cpu", true, 0)] {
        let config = Config { backends: vec![backend.into()], checks, ..Config::default() };
        let device = Runtime::with_config(config).unwrap().open(0).unwrap();
        let said = std::mem::take(&mut *TOLD.lock().unwrap());
        assert_eq!(said.len(), told, "{backend}: {said:?}");
        assert!(
            said.iter().all(|text| text.contains(&device.info().name) && text.contains("does not check"))
        );
        assert_eq!(device.findings(), (backend == "cpu").then(Vec::new), "{backend}");
    }
}
