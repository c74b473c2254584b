//! The pipeline cache on disk.
//!
//! One file a device and driver, named by what must agree. A file that is missing, damaged or of another driver
//! gives an empty cache; one that cannot be written is left alone.

use std::fs;
use std::path::{Path, PathBuf};

use ash::vk;

use crate::adapter::Facts;

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
            let version = cal_il::spirv::VERSION;
            folder.join(format!("vulkan-{uuid}-{:08x}-{version}.bin", facts.driver))
        });
        let data = path.as_ref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
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

/// Writes beside the file first, so that readers never see half of it.
fn write(path: &Path, data: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    fs::write(&beside, data)?;
    fs::rename(&beside, path)
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
