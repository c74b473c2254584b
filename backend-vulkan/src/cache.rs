//! The pipeline cache on disk.
//!
//! One file a device and driver, named by what must agree: the driver's data, and a checksum of them, since drivers trust
//! what they are given. A file that is missing, damaged or of another driver gives an empty cache; one that cannot be
//! written is left alone.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use ash::vk;

use crate::adapter::Facts;
use crate::kernel::fingerprint;

/// A pipeline cache and where it is kept.
pub(crate) struct PipelineCache {
    pub raw: vk::PipelineCache,
    path: Option<PathBuf>,
    loaded: usize,
}

impl PipelineCache {
    pub fn open(device: &ash::Device, folder: Option<&Path>, facts: &Facts) -> Self {
        let uuid: String = facts.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.map(|folder| {
            let version = recal_il::spirv::VERSION;
            folder.join(format!("vulkan-{uuid}-{:08x}-{version}.bin", facts.driver))
        });
        let data = path.as_ref().and_then(|path| whole(read(path)?)).unwrap_or_default();
        // Drivers check more than the header, but not all check the header.
        let data = if header_fits(&data, facts) { data } else { Vec::new() };
        let make = |data: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            // SAFETY: the device is alive and `info` lives until the call returns.
            unsafe { device.create_pipeline_cache(&info, None) }
        };
        let raw = make(&data).or_else(|_| make(&[])).unwrap_or_default();
        Self { raw, path, loaded: data.len() }
    }

    /// Writes the cache back if it grew.
    ///
    /// # Safety
    /// The device is alive, nothing uses the cache any more, and this is the last call.
    pub unsafe fn save_and_destroy(&self, device: &ash::Device) {
        if self.raw == vk::PipelineCache::null() {
            return;
        }
        if let Some(path) = &self.path {
            // SAFETY: the cache belongs to the live device.
            match unsafe { device.get_pipeline_cache_data(self.raw) } {
                Ok(data) if data.len() > self.loaded => {
                    if let Err(error) = write(path, &data) {
                        log::debug!("the pipeline cache was not written: {error}");
                    }
                }
                _ => {}
            }
        }
        // SAFETY: as the caller promises.
        unsafe { device.destroy_pipeline_cache(self.raw, None) };
    }
}

/// Bytes of a file. Anything else of this name, a pipe or a device, might never end, or never begin.
fn read(path: &Path) -> Option<Vec<u8>> {
    // Opened for certain, then asked: what lies there may change in between. A pipe without a writer does not wait so.
    let mut options = fs::File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let mut file = options.open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        log::warn!("{}: not a file, so no pipelines are kept there", path.display());
        return None;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What was written, if the file holds all of it as it was.
fn whole(mut file: Vec<u8>) -> Option<Vec<u8>> {
    let data = file.len().checked_sub(8)?;
    (file[data..] == fingerprint(&file[..data]).to_le_bytes()).then(|| file.truncate(data))?;
    Some(file)
}

/// Writes beside the file first, so that readers never see half of it.
fn write(path: &Path, data: &[u8]) -> std::io::Result<()> {
    static WRITES: AtomicU32 = AtomicU32::new(0);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // Devices of this process and of others may do the same at the same time.
    let number = WRITES.fetch_add(1, Relaxed);
    let beside = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(data)?;
        file.write_all(&fingerprint(data).to_le_bytes())
    });
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| {
        // What a full disk left of it.
        let _ = fs::remove_file(&beside);
    })
}

/// Whether the data begin as this device's do: length, version 1, vendor, device, uuid.
fn header_fits(data: &[u8], facts: &Facts) -> bool {
    let word = |k: usize| {
        data.get(4 * k..4 * k + 4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    word(1) == Some(1)
        && word(2) == Some(facts.vendor_id)
        && word(3) == Some(facts.device_id)
        && data.get(16..32) == Some(&facts.uuid[..])
}
