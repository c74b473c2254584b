//! Facts about the host.

use std::fs::read_to_string;
use std::num::NonZero;
use std::sync::OnceLock;

/// Hardware threads this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// A figure of `/proc/meminfo` in MiB.
fn meminfo(name: &str) -> Option<u32> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().ok()?;
    u32::try_from(kib / 1024).ok()
}

/// Memory of the host, MiB; 2 GiB where the system does not say.
pub fn memory_mib() -> u32 {
    meminfo("MemTotal").unwrap_or(2048)
}

/// The same in bytes, asked for once.
pub fn memory_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| (memory_mib() as usize) << 20)
}

/// Memory that could be allocated now, MiB.
pub fn available_mib() -> u32 {
    meminfo("MemAvailable").unwrap_or(1024)
}

fn cpuinfo(name: &str) -> Option<String> {
    let text = read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Name of the processor.
pub fn processor_name() -> String {
    cpuinfo("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Core clock, MHz; a program may divide by it, so never 0.
pub fn clock_mhz() -> u32 {
    let clock = cpuinfo("cpu MHz").and_then(|text| text.parse::<f32>().ok());
    clock.filter(|mhz| *mhz >= 1.0).map_or(1000, |mhz| mhz as u32)
}
