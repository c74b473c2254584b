//! What a physical device can do: facts for the emitter and the queues, and CAL attributes.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ash::{amd, ext, khr, nv, vk};
use recal_hal::{Adapter, Attributes, Device, DeviceOptions, MemoryStatus, Result};

use crate::device::VulkanDevice;
use crate::instance::{Instance, Options};

const MIB: u64 = 1 << 20;
/// `CAL_TARGET_CYPRESS` and `CAL_TARGET_JUNIPER`: the Evergreen parts with and without doubles.
const CYPRESS: u32 = 8;
const JUNIPER: u32 = 9;

/// Bytes that live allocations take, of all devices that were opened, by heap index.
pub(crate) type InUse = [AtomicU64; vk::MAX_MEMORY_HEAPS];

/// What a physical device reports.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub name: String,
    pub kind: vk::PhysicalDeviceType,
    pub uuid: [u8; 16],
    pub driver: u32,
    pub limits: vk::PhysicalDeviceLimits,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub vendor_id: u32,
    pub device_id: u32,
    pub queue_family: u32,
    pub queue_count: u32,
    /// The family of queues for copies only, and how many there are; 0 if the device has none.
    pub copy_family: u32,
    pub copy_count: u32,
    pub max_allocation: u64,
    pub max_buffer: u64,
    pub float64: bool,
    pub int64: bool,
    pub int64_atomics: bool,
    pub int64_shared_atomics: bool,
    pub rte32: bool,
    pub rte64: bool,
    pub denorm_preserve32: bool,
    pub denorm_preserve64: bool,
    pub nan_preserve32: bool,
    pub nan_preserve64: bool,
    /// Loads and stores by address are slow beside those of storage buffers.
    pub slow_addresses: bool,
    /// The driver tests for denormals with another mask than it was given.
    pub mistakes_masks: bool,
    /// The device computes integer products beside shifts and comparisons, as fast as those.
    pub multiplies_apart: bool,
    /// Accesses behind the end of a storage buffer, to the word, or to none at all, give 0 or do nothing, if that is asked for.
    pub buffers_end: bool,
    /// Descriptors that a command buffer may push; 0 without `VK_KHR_push_descriptor`.
    pub push_descriptors: u32,
    /// Alignment for imported host memory, if the device can import.
    pub import_alignment: Option<u64>,
    pub memory_budget: bool,
    /// The extension by which the device's clock is read.
    pub calibrated: Option<&'static CStr>,
    /// Bits of the times that queues for kernels and queues for copies take; 0 = none.
    pub timestamp_bits: [u32; 2],
    /// The host may reset queries.
    pub resets_queries: bool,
    pub multiprocessors: u32,
    pub shader_engines: u32,
}

impl Facts {
    fn read(whole: &Instance, physical: vk::PhysicalDevice) -> Result<Self, String> {
        let instance = &whole.raw;
        // SAFETY: here and below, the physical device belongs to this live instance, and the chained structures
        // live until the call returns.
        let api = unsafe { instance.get_physical_device_properties(physical) }.api_version;
        if api < vk::API_VERSION_1_2 {
            return Err("older than Vulkan 1.2".into());
        }
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }
            .map_err(|error| format!("broken driver: {error}"))?;
        let has = |name| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        let import = has(ext::external_memory_host::NAME);
        let (push, robust) = (has(khr::push_descriptor::NAME), has(ext::robustness2::NAME));
        let (sm, amd_core) = (has(nv::shader_sm_builtins::NAME), has(amd::shader_core_properties::NAME));

        let mut p11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut p12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut p13 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut pushed = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
        let mut cores = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
        let mut amd_cores = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut p11).push_next(&mut p12);
        if has(khr::maintenance4::NAME) || api >= vk::API_VERSION_1_3 {
            properties = properties.push_next(&mut p13);
        }
        if import {
            properties = properties.push_next(&mut host);
        }
        let mut ends = vk::PhysicalDeviceRobustness2PropertiesEXT::default();
        if robust {
            properties = properties.push_next(&mut ends);
        }
        if push {
            properties = properties.push_next(&mut pushed);
        }
        if sm {
            properties = properties.push_next(&mut cores);
        }
        if amd_core {
            properties = properties.push_next(&mut amd_cores);
        }
        // SAFETY: as above.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let core = properties.properties;

        let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut f12);
        if robust {
            features = features.push_next(&mut robustness);
        }
        // SAFETY: as above.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let f10 = features.features;
        if f12.buffer_device_address == 0 {
            return Err("no buffer device addresses".into());
        }
        if f12.timeline_semaphore == 0 {
            return Err("no timeline semaphores".into());
        }
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        // A family that also does graphics is the main one on every desktop driver. One for computing alone starts kernels a
        // microsecond sooner on an H200, and stops for good if many threads submit to it (docs/notebook.md).
        let queue_family = families
            .iter()
            .position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS))
            .or_else(|| families.iter().position(|f| f.queue_flags.contains(vk::QueueFlags::COMPUTE)))
            .ok_or("no compute queue")?;
        let apart = |f: &&vk::QueueFamilyProperties| {
            // Queues of videos copy, too, and can more than the two.
            let others =
                vk::QueueFlags::TRANSFER | vk::QueueFlags::SPARSE_BINDING | vk::QueueFlags::PROTECTED;
            f.queue_flags.contains(vk::QueueFlags::TRANSFER) && (f.queue_flags & !others).is_empty()
        };
        let copies = families.iter().enumerate().find(|(_, f)| apart(f));
        let stamps = |family: Option<usize>| family.map_or(0, |family| families[family].timestamp_valid_bits);
        let calibrated = [khr::calibrated_timestamps::NAME, ext::calibrated_timestamps::NAME];
        let calibrated = calibrated.into_iter().find(|name| has(name) && reads_clock(whole, physical, name));
        let kind = core.device_type;
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let (multiprocessors, shader_engines) = if sm {
            (cores.shader_sm_count, 1)
        } else if amd_core {
            let arrays = amd_cores.shader_engine_count * amd_cores.shader_arrays_per_engine_count;
            (arrays * amd_cores.compute_units_per_shader_array, amd_cores.shader_engine_count)
        } else if kind == vk::PhysicalDeviceType::CPU {
            (threads, 1)
        } else {
            // Vulkan has no general query.
            (20, 1)
        };
        Ok(Self {
            name: core.device_name_as_c_str().unwrap_or(c"unnamed").to_string_lossy().into_owned(),
            kind,
            uuid: core.pipeline_cache_uuid,
            driver: core.driver_version,
            limits: core.limits,
            // SAFETY: as above.
            memory: unsafe { instance.get_physical_device_memory_properties(physical) },
            vendor_id: core.vendor_id,
            device_id: core.device_id,
            queue_family: queue_family as u32,
            queue_count: families[queue_family].queue_count,
            copy_family: copies.map_or(0, |(family, _)| family as u32),
            copy_count: copies.map_or(0, |(_, f)| f.queue_count),
            max_allocation: p11.max_memory_allocation_size,
            max_buffer: if p13.max_buffer_size == 0 {
                p11.max_memory_allocation_size
            } else {
                p13.max_buffer_size
            },
            float64: f10.shader_float64 != 0,
            int64: f10.shader_int64 != 0,
            int64_atomics: f12.shader_buffer_int64_atomics != 0,
            int64_shared_atomics: f12.shader_shared_int64_atomics != 0,
            rte32: p12.shader_rounding_mode_rte_float32 != 0,
            rte64: p12.shader_rounding_mode_rte_float64 != 0,
            denorm_preserve32: p12.shader_denorm_preserve_float32 != 0,
            denorm_preserve64: p12.shader_denorm_preserve_float64 != 0,
            nan_preserve32: p12.shader_signed_zero_inf_nan_preserve_float32 != 0,
            nan_preserve64: p12.shader_signed_zero_inf_nan_preserve_float64 != 0,
            // llvmpipe takes one thread after the other for each component by address, for each access of a buffer.
            slow_addresses: p12.driver_id == vk::DriverId::MESA_LLVMPIPE,
            // Seen in version 580, in one random kernel of 100,000.
            mistakes_masks: p12.driver_id == vk::DriverId::NVIDIA_PROPRIETARY,
            multiplies_apart: p12.driver_id == vk::DriverId::NVIDIA_PROPRIETARY,
            buffers_end: f10.robust_buffer_access != 0
                && robustness.robust_buffer_access2 != 0
                && robustness.null_descriptor != 0
                && ends.robust_storage_buffer_access_size_alignment <= 4,
            push_descriptors: pushed.max_push_descriptors,
            import_alignment: import.then_some(host.min_imported_host_pointer_alignment),
            memory_budget: has(ext::memory_budget::NAME),
            calibrated,
            timestamp_bits: [stamps(Some(queue_family)), stamps(copies.map(|(family, _)| family))],
            resets_queries: f12.host_query_reset != 0,
            multiprocessors: multiprocessors.max(1),
            shader_engines: shader_engines.max(1),
        })
    }

    /// Bytes of the heaps that `pick` selects.
    fn heaps(&self, pick: impl Fn(usize) -> bool) -> u64 {
        self.memory
            .memory_heaps_as_slice()
            .iter()
            .enumerate()
            .filter(|(i, _)| pick(*i))
            .map(|(_, h)| h.size)
            .sum()
    }

    /// Whether a heap is device memory.
    fn is_local(&self, heap: usize) -> bool {
        self.memory.memory_heaps_as_slice()[heap].flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL)
    }

    /// Heaps that hold host-visible memory, of the device only if there is no other.
    fn remote_heaps(&self) -> Vec<usize> {
        let visible = |local: bool| {
            let mut heaps: Vec<usize> = self
                .memory
                .memory_types_as_slice()
                .iter()
                .filter(|t| t.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE))
                .map(|t| t.heap_index as usize)
                .filter(|heap| self.is_local(*heap) == local)
                .collect();
            heaps.sort_unstable();
            heaps.dedup();
            heaps
        };
        let remote = visible(false);
        if remote.is_empty() { visible(true) } else { remote }
    }

    fn attributes(&self) -> Attributes {
        let remote = self.remote_heaps();
        let remote_ram = mib(self.heaps(|heap| remote.contains(&heap)));
        Attributes {
            name: self.name.clone(),
            target: if self.float64 { CYPRESS } else { JUNIPER },
            local_ram: mib(self.heaps(|heap| self.is_local(heap))),
            uncached_remote_ram: remote_ram,
            cached_remote_ram: remote_ram,
            // Vulkan tells no clocks; these are the rated ones of the board whose target is reported.
            engine_clock: 850,
            memory_clock: 1200,
            wavefront_size: 64,
            simds: self.multiprocessors,
            shader_engines: self.shader_engines,
            double_precision: self.float64,
            compute: true,
            lds_bytes: self.limits.max_compute_shared_memory_size.min(32 << 10),
            max_group: self.limits.max_compute_work_group_invocations.min(1024),
            uavs: 12,
            max_width_1d: 16384,
            max_width_2d: 16384,
            max_height_2d: 16384,
            surface_alignment: 4096,
        }
    }
}

/// Whether an extension reads the device's own clock.
fn reads_clock(instance: &Instance, physical: vk::PhysicalDevice, extension: &CStr) -> bool {
    let (entry, raw) = (&*instance.entry, &instance.raw);
    // SAFETY: the physical device belongs to the living instance and has the extension.
    let domains = unsafe {
        if extension == khr::calibrated_timestamps::NAME {
            khr::calibrated_timestamps::Instance::new(entry, raw)
                .get_physical_device_calibrateable_time_domains(physical)
        } else {
            ext::calibrated_timestamps::Instance::new(entry, raw)
                .get_physical_device_calibrateable_time_domains(physical)
        }
    };
    domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainKHR::DEVICE))
}

fn mib(bytes: u64) -> u32 {
    u32::try_from(bytes / MIB).unwrap_or(u32::MAX)
}

/// A physical device that can run CAL programs.
pub(crate) struct VulkanAdapter {
    pub(crate) instance: Arc<Instance>,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) options: Arc<Options>,
    pub(crate) in_use: Arc<InUse>,
    facts: Arc<Facts>,
    attributes: Attributes,
}

impl VulkanAdapter {
    pub(crate) fn new(
        instance: Arc<Instance>,
        physical: vk::PhysicalDevice,
        options: Arc<Options>,
    ) -> Result<Self, String> {
        let facts = Facts::read(&instance, physical)?;
        let attributes = facts.attributes();
        Ok(Self { instance, physical, options, in_use: Arc::default(), facts: Arc::new(facts), attributes })
    }

    pub(crate) fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }
}

impl Adapter for VulkanAdapter {
    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn open(&self, options: &DeviceOptions) -> Result<Arc<dyn Device>> {
        VulkanDevice::open(self, options)
    }

    fn memory_status(&self) -> MemoryStatus {
        if crate::exit::ending() {
            return MemoryStatus::default();
        }
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default();
        if self.facts.memory_budget {
            properties = properties.push_next(&mut budget);
        }
        // SAFETY: the physical device belongs to the live instance; the chain lives until the call returns.
        unsafe { self.instance.raw.get_physical_device_memory_properties2(self.physical, &mut properties) };
        let free = |heap: usize| {
            if self.facts.memory_budget {
                budget.heap_budget[heap].saturating_sub(budget.heap_usage[heap])
            } else {
                let used = self.in_use[heap].load(Relaxed);
                self.facts.memory.memory_heaps[heap].size.saturating_sub(used)
            }
        };
        let count = self.facts.memory.memory_heap_count as usize;
        let local = (0..count).filter(|heap| self.facts.is_local(*heap)).map(free).sum();
        let remote = mib(self.facts.remote_heaps().into_iter().map(free).sum());
        MemoryStatus { local: mib(local), uncached_remote: remote, cached_remote: remote }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Vulkan};
    use recal_hal::{Backend, DeviceOptions, Heap, MemoryRequest};

    #[test]
    fn adapters_tell_the_truth() {
        let backend = Vulkan::new(Options { software: true, ..Options::default() });
        for adapter in backend.adapters() {
            let facts = adapter.attributes();
            assert!(!facts.name.is_empty());
            assert_eq!(facts.target == super::CYPRESS, facts.double_precision);
            assert!(facts.local_ram > 0 && facts.simds > 0);
            assert!(facts.max_group >= 128 && facts.lds_bytes >= 16384, "below Vulkan's minimum: {facts:?}");
            let status = adapter.memory_status();
            assert!(status.local <= facts.local_ram && status.uncached_remote <= facts.uncached_remote_ram);
        }
    }

    /// Whether the driver counts or we do.
    #[test]
    fn what_is_allocated_is_not_free() {
        let backend = Vulkan::new(Options { software: true, ..Options::default() });
        for adapter in backend.adapters() {
            let device = adapter.open(&DeviceOptions::default()).unwrap();
            let memory = device.allocate(MemoryRequest { bytes: 64 << 20, heap: Heap::Local }).unwrap();
            let (total, free) = (adapter.attributes().local_ram, adapter.memory_status().local);
            drop(memory);
            assert!(free + 64 <= total, "{}: {free} of {total} MiB", adapter.attributes().name);
        }
    }

    #[test]
    fn a_name_that_no_device_has_gives_an_empty_list() {
        let backend = Vulkan::new(Options { device: Some("no such device".into()), ..Options::default() });
        assert!(backend.adapters().is_empty());
        assert_eq!(backend.name(), "vulkan");
    }
}
