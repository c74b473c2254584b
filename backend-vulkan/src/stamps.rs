//! Times that the device takes, while a timeline is written: before and after each command of a chunk.

use std::sync::Arc;
use std::time::Instant;

use ash::{ext, khr, vk};
use recal_hal::sync::Mutex;
use recal_hal::timeline::{self, Detail};
use recal_hal::{Result, Ticket};

use crate::adapter::Facts;
use crate::clock::{Anchor, Clock};
use crate::device::Gpu;
use crate::instance::Instance;

/// Commands of a chunk that are timed.
const COMMANDS: usize = 64;
/// Readings of which the best is taken.
const READINGS: usize = 3;

/// Who reads the clocks of device and host at a time.
enum Calibrated {
    Khr(khr::calibrated_timestamps::Device),
    Ext(ext::calibrated_timestamps::Device),
}

impl Calibrated {
    /// The device's clock, with the host's before and after that.
    fn read(&self) -> Option<Anchor> {
        let domains = [vk::CalibratedTimestampInfoKHR::default().time_domain(vk::TimeDomainKHR::DEVICE)];
        let least = Instant::now();
        // SAFETY: the extension is enabled, and the device can be asked for its own clock.
        let read = unsafe {
            match self {
                Self::Khr(device) => device.get_calibrated_timestamps(&domains),
                Self::Ext(device) => device.get_calibrated_timestamps(&domains),
            }
        };
        let most = Instant::now();
        let (ticks, _) = read.ok()?;
        Some(Anchor { ticks: *ticks.first()?, least, most })
    }
}

/// The clock of a device whose times are wanted.
pub(crate) struct Timing {
    calibrated: Option<Calibrated>,
    clock: Mutex<Clock>,
}

impl Timing {
    /// The extensions that it takes.
    pub fn extension(facts: &Facts) -> Option<&'static std::ffi::CStr> {
        facts.calibrated.filter(|_| Self::is_wanted(facts))
    }

    /// Whether times are wanted, and to be had.
    pub fn is_wanted(facts: &Facts) -> bool {
        timeline::is_on() && facts.resets_queries && facts.timestamp_bits.iter().any(|bits| *bits > 0)
    }

    /// Of a device that was opened with the extension.
    pub fn new(facts: &Facts, instance: &Instance, raw: &ash::Device) -> Option<Self> {
        if !Self::is_wanted(facts) {
            return None;
        }
        let calibrated = facts.calibrated.map(|name| {
            if name == khr::calibrated_timestamps::NAME {
                Calibrated::Khr(khr::calibrated_timestamps::Device::new(&instance.raw, raw))
            } else {
                Calibrated::Ext(ext::calibrated_timestamps::Device::new(&instance.raw, raw))
            }
        });
        let bits = facts.timestamp_bits.into_iter().filter(|bits| *bits > 0).min()?;
        let clock = Clock::new(bits, f64::from(facts.limits.timestamp_period));
        Some(Self { calibrated, clock: Mutex::new(clock) })
    }

    /// Whether the host can read the clock.
    pub fn is_read(&self) -> bool {
        self.calibrated.is_some()
    }

    /// When commands ran whose times the device took, first to last, in a chunk that ran between two times of the host.
    fn times(&self, ticks: &[[u64; 2]], [after, before]: [Instant; 2]) -> Vec<[Instant; 2]> {
        let (Some([first, _]), Some([_, last])) = (ticks.first(), ticks.last()) else { return Vec::new() };
        let mut clock = self.clock.lock();
        match &self.calibrated {
            Some(calibrated) if clock.is_stale(before) => {
                clock.set((0..READINGS).filter_map(|_| calibrated.read()));
                if let Some(error) = clock.error() {
                    log::debug!("the device's clock was read to {} ns", error.as_nanos());
                }
            }
            Some(_) => {}
            None => clock.bound([*first, *last], [after, before]),
        }
        let clock = *clock;
        // What is known of the host's times is so, whatever the clocks say.
        let at = |ticks| Some(clock.at(ticks)?.clamp(after, before.max(after)));
        ticks.iter().map_while(|[start, end]| Some([at(*start)?, at(*end)?])).collect()
    }
}

/// A command that is timed.
pub(crate) struct Mark {
    /// 0 until it is known.
    pub ticket: Ticket,
    pub name: &'static str,
    pub detail: Detail,
}

/// The times of a chunk.
pub(crate) struct Stamps {
    gpu: Arc<Gpu>,
    pool: vk::QueryPool,
    marks: Vec<Mark>,
    /// The last command is being recorded.
    open: bool,
}

impl Stamps {
    /// Of a queue whose device takes times.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2 * COMMANDS as u32);
        // SAFETY: the device is alive and the structure lives until the call returns.
        let pool = unsafe { gpu.raw.create_query_pool(&info, None) }
            .map_err(|error| gpu.error("query pool", error))?;
        Ok(Self { gpu: gpu.clone(), pool, marks: Vec::with_capacity(COMMANDS), open: false })
    }

    /// Forgets all times: before the first, and when what they are of is done.
    pub fn reset(&mut self) {
        self.marks.clear();
        self.open = false;
        // SAFETY: nothing that uses the pool is under way, and the device was opened with resets by the host.
        unsafe { self.gpu.raw.reset_query_pool(self.pool, 0, 2 * COMMANDS as u32) };
    }

    /// A command begins, when all before it are over: what runs beside others is shown from there.
    pub fn begin(&mut self, commands: vk::CommandBuffer, name: &'static str, detail: Detail) {
        self.open = self.marks.len() < COMMANDS;
        if self.open {
            self.marks.push(Mark { ticket: 0, name, detail });
            self.write(commands, 0);
        }
    }

    /// The command that began is recorded.
    pub fn end(&mut self, commands: vk::CommandBuffer) {
        if std::mem::take(&mut self.open) {
            self.write(commands, 1);
        }
    }

    fn write(&self, commands: vk::CommandBuffer, which: usize) {
        let (stage, query) = (vk::PipelineStageFlags::BOTTOM_OF_PIPE, 2 * (self.marks.len() - 1) + which);
        // SAFETY: recording, on a queue that takes times; the pool is kept with the chunk, and each of its queries is written once.
        unsafe { self.gpu.raw.cmd_write_timestamp(commands, stage, self.pool, query as u32) };
    }

    /// Says which command was recorded last.
    pub fn sign(&mut self, ticket: Ticket) {
        self.marks.iter_mut().rev().take_while(|mark| mark.ticket == 0).for_each(|mark| mark.ticket = ticket);
    }

    /// What ran and when, of a chunk that is done and ran between two times of the host; nothing if the device does not say.
    pub fn times(&mut self, bounds: [Instant; 2]) -> Vec<(Mark, [Instant; 2])> {
        let marks = std::mem::take(&mut self.marks);
        if marks.is_empty() {
            return Vec::new();
        }
        let mut ticks = vec![[0u64; 2]; marks.len()];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has two queries for each mark, and no command that uses it is under way.
        let read =
            unsafe { self.gpu.raw.get_query_pool_results(self.pool, 0, ticks.as_flattened_mut(), flags) };
        match (read, &self.gpu.timing) {
            (Ok(()), Some(timing)) => marks.into_iter().zip(timing.times(&ticks, bounds)).collect(),
            (Ok(()), None) => Vec::new(),
            (Err(error), _) => {
                log::debug!("{}: no times: {error}", self.gpu.facts.name);
                Vec::new()
            }
        }
    }
}

impl Drop for Stamps {
    fn drop(&mut self) {
        if !self.gpu.hung() {
            // SAFETY: the commands that use the pool are done, or were never submitted.
            unsafe { self.gpu.raw.destroy_query_pool(self.pool, None) };
        }
    }
}
