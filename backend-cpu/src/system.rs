//! Facts about the host.

use std::num::NonZero;
use std::sync::OnceLock;

/// What a process of this width can have of it, MiB.
const ADDRESSABLE: u32 = if cfg!(target_pointer_width = "32") { 2048 } else { 1 << 24 };

/// Hardware threads this process may use, asked for once: the answer takes the system microseconds, of a process with many threads tens of them.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// Memory of the host that a process can use, MiB; 2 GiB where the system does not say.
pub fn memory_mib() -> u32 {
    host::memory_mib().unwrap_or(2048).min(ADDRESSABLE)
}

/// The same in bytes, asked for once.
pub fn memory_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    // At most 2 GiB where an address has 32 bits.
    *BYTES.get_or_init(|| (memory_mib() as usize) << 20)
}

/// Bytes of the largest cache, asked for once; 32 MiB where the system does not say.
pub fn cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| host::cache_bytes().unwrap_or(32 << 20))
}

/// Bytes of it that a process can count on, whoever else has the machine: what the processors that it may use have by themselves.
pub fn own_cache_bytes() -> usize {
    cache_bytes().min((cores() << 21).max(32 << 20))
}

/// Memory that could be allocated now, MiB.
pub fn available_mib() -> u32 {
    host::available_mib().unwrap_or(1024).min(ADDRESSABLE)
}

/// Name of the processor.
pub fn processor_name() -> String {
    host::processor_name().unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Core clock, MHz; a program may divide by it, so never 0.
pub fn clock_mhz() -> u32 {
    host::clock_mhz().filter(|mhz| *mhz > 0).unwrap_or(1000)
}

/// Linux, and who has its files.
#[cfg(not(any(windows, target_vendor = "apple")))]
mod host {
    use std::fs::read_to_string;

    /// A figure of `/proc/meminfo` in MiB.
    fn meminfo(name: &str) -> Option<u32> {
        let text = read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().ok()?;
        u32::try_from(kib / 1024).ok()
    }

    fn cpuinfo(name: &str) -> Option<String> {
        let text = read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    }

    pub fn memory_mib() -> Option<u32> {
        meminfo("MemTotal")
    }

    pub fn available_mib() -> Option<u32> {
        meminfo("MemAvailable")
    }

    pub fn cache_bytes() -> Option<usize> {
        let size = |level: u32| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{level}/size");
            let kib: usize = read_to_string(path).ok()?.trim().strip_suffix('K')?.parse().ok()?;
            Some(kib << 10)
        };
        (0..5).filter_map(size).max()
    }

    pub fn processor_name() -> Option<String> {
        cpuinfo("model name")
    }

    pub fn clock_mhz() -> Option<u32> {
        Some(cpuinfo("cpu MHz")?.parse::<f32>().ok()? as u32)
    }
}

#[cfg(windows)]
mod host {
    use std::ffi::{CStr, c_void};

    /// `MEMORYSTATUSEX`.
    #[repr(C)]
    #[derive(Default)]
    struct MemoryStatus {
        length: u32,
        load: u32,
        total: u64,
        available: u64,
        page_file: [u64; 2],
        addresses: [u64; 3],
    }

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GlobalMemoryStatusEx(status: *mut MemoryStatus) -> i32;
    }

    #[link(name = "advapi32")]
    unsafe extern "system" {
        fn RegGetValueA(
            root: isize,
            key: *const u8,
            value: *const u8,
            kinds: u32,
            kind: *mut u32,
            data: *mut c_void,
            bytes: *mut u32,
        ) -> i32;
    }

    fn memory() -> Option<MemoryStatus> {
        let mut status = MemoryStatus { length: size_of::<MemoryStatus>() as u32, ..Default::default() };
        // SAFETY: the structure is the call's own, and says how long it is.
        (unsafe { GlobalMemoryStatusEx(&mut status) } != 0).then_some(status)
    }

    pub fn memory_mib() -> Option<u32> {
        u32::try_from(memory()?.total >> 20).ok()
    }

    pub fn available_mib() -> Option<u32> {
        u32::try_from(memory()?.available >> 20).ok()
    }

    pub fn cache_bytes() -> Option<usize> {
        None
    }

    /// What the registry says of the first processor.
    fn processor(value: &CStr) -> Option<([u8; 128], usize)> {
        const LOCAL_MACHINE: isize = 0x8000_0002_u32 as i32 as isize;
        const ANY_KIND: u32 = 0xFFFF;
        let mut data = [0; 128];
        let mut bytes = data.len() as u32;
        // SAFETY: the texts end with NUL, and `data` has as many bytes as `bytes` says.
        let failed = unsafe {
            RegGetValueA(
                LOCAL_MACHINE,
                c"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0".as_ptr().cast(),
                value.as_ptr().cast(),
                ANY_KIND,
                std::ptr::null_mut(),
                data.as_mut_ptr().cast(),
                &mut bytes,
            )
        };
        (failed == 0).then_some((data, bytes as usize))
    }

    pub fn processor_name() -> Option<String> {
        let (data, bytes) = processor(c"ProcessorNameString")?;
        let name = CStr::from_bytes_until_nul(data.get(..bytes)?).ok()?.to_string_lossy();
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }

    pub fn clock_mhz() -> Option<u32> {
        let (data, bytes) = processor(c"~MHz")?;
        (bytes == 4).then(|| u32::from_le_bytes([data[0], data[1], data[2], data[3]]))
    }
}

#[cfg(target_vendor = "apple")]
mod host {
    use std::ffi::CStr;

    fn sysctl(name: &CStr) -> Option<([u8; 128], usize)> {
        let mut data = [0; 128];
        let mut bytes = data.len();
        // SAFETY: the name ends with NUL, and `data` has as many bytes as `bytes` says.
        let failed = unsafe {
            libc::sysctlbyname(name.as_ptr(), data.as_mut_ptr().cast(), &mut bytes, std::ptr::null_mut(), 0)
        };
        (failed == 0).then_some((data, bytes))
    }

    fn number(name: &CStr) -> Option<u64> {
        let (data, bytes) = sysctl(name)?;
        match *data.get(..bytes)? {
            [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d]).into()),
            [a, b, c, d, e, f, g, h] => Some(u64::from_ne_bytes([a, b, c, d, e, f, g, h])),
            _ => None,
        }
    }

    pub fn memory_mib() -> Option<u32> {
        u32::try_from(number(c"hw.memsize")? >> 20).ok()
    }

    pub fn cache_bytes() -> Option<usize> {
        number(c"hw.l3cachesize").or_else(|| number(c"hw.l2cachesize"))?.try_into().ok()
    }

    /// The system tells pages of many kinds, and gives back what it keeps: half of the whole is a guess.
    pub fn available_mib() -> Option<u32> {
        Some(memory_mib()? / 2)
    }

    pub fn processor_name() -> Option<String> {
        let (data, bytes) = sysctl(c"machdep.cpu.brand_string")?;
        Some(CStr::from_bytes_until_nul(data.get(..bytes)?).ok()?.to_string_lossy().into_owned())
    }

    pub fn clock_mhz() -> Option<u32> {
        u32::try_from(number(c"hw.cpufrequency_max")? / 1_000_000).ok()
    }
}
