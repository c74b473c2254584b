//! Devices: those of CAL, then the CPU. Each thread has one that its streams are made on.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use recal::Runtime;
use recal_hal::PerProcess;
use recal_hal::sync::Mutex;

use crate::cal::CalDevice;
use crate::error::{Code, Failure, Result};

/// All devices.
pub(crate) struct System {
    runtime: Option<Runtime>,
    /// Opened when they are used first.
    cal: Vec<OnceLock<std::result::Result<Arc<Mutex<CalDevice>>, Failure>>>,
    default: usize,
}

thread_local! {
    /// The thread's device; none until it is asked for.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

impl System {
    /// The one of this process.
    pub(crate) fn get() -> &'static System {
        static SYSTEM: PerProcess<System> = PerProcess::new(System::new);
        SYSTEM.get()
    }

    fn new() -> System {
        let runtime = Runtime::new();
        let count = runtime.as_ref().map_or(0, |r| r.devices().count());
        let wants_cpu = std::env::var("BRT_RUNTIME").is_ok_and(|v| v == "cpu");
        if count == 0 && !wants_cpu {
            let reason =
                runtime.as_ref().err().map_or_else(|| "there is no device".to_owned(), ToString::to_string);
            println!("Brook+: CAL is not available ({reason}); kernels run in their CPU versions");
        }
        let adapter: usize =
            std::env::var("BRT_ADAPTER").ok().and_then(|v| v.trim().parse().ok()).unwrap_or(0);
        let default = match (wants_cpu || count == 0, adapter < count) {
            (true, _) => count,
            (false, true) => adapter,
            (false, false) => 0,
        };
        System { runtime: runtime.ok(), cal: (0..count).map(|_| OnceLock::new()).collect(), default }
    }

    /// Number of the CPU, which is the last.
    pub(crate) fn cpu(&self) -> usize {
        self.cal.len()
    }

    /// The calling thread's device.
    pub(crate) fn current(&self) -> usize {
        CURRENT.get().unwrap_or(self.default)
    }

    /// Makes a device the calling thread's; gives the one before.
    pub(crate) fn set_current(&self, device: usize) -> usize {
        let before = self.current();
        if device <= self.cpu() {
            CURRENT.set(Some(device));
        }
        before
    }

    /// Numbers of the devices of a type.
    pub(crate) fn of_type(&self, name: &str) -> std::ops::Range<usize> {
        match name {
            "cal" => 0..self.cal.len(),
            "cpu" => self.cpu()..self.cpu() + 1,
            "all" => 0..self.cpu() + 1,
            _ => 0..0,
        }
    }

    /// A device of CAL.
    pub(crate) fn cal(&self, number: usize) -> Result<&Arc<Mutex<CalDevice>>> {
        let none = || Failure::new(Code::NotSupported, format!("there is no CAL device {number}"));
        let slot = self.cal.get(number).ok_or_else(none)?;
        let runtime = self.runtime.as_ref().ok_or_else(none)?;
        slot.get_or_init(|| CalDevice::open(runtime, number as u32).map(|d| Arc::new(Mutex::new(d))))
            .as_ref()
            .map_err(Clone::clone)
    }
}
