//! Loader, instance and the list of adapters.
//!
//! Without a loader, without a driver, or with a broken one the list is empty and the log says why.

use std::ffi::{CStr, c_char, c_void};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;

use ash::{Entry, ext, vk};
use recal_hal::{Adapter, Backend, Remark, without_signals};

use crate::adapter::VulkanAdapter;
use crate::exit;

/// Settings of the backend, from the environment variables of the API layer.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Load the Khronos validation layer and log what it says.
    pub validation: bool,
    /// Only devices whose name contains this text, ignoring case, or whose number this is (`CAL_VULKAN_DEVICE`).
    pub device: Option<String>,
    /// Include devices of type CPU (software rasterisers) although no `device` asks for one.
    pub software: bool,
    /// Build no pipeline before a launch needs it: for programs that run each kernel once.
    pub on_demand: bool,
    /// Build the pipelines that know the sizes of what is bound for second launches, and have those wait for them, rather than
    /// behind for kernels that are launched often: for tests of what such pipelines compute.
    pub at_once: bool,
    /// Groups that larger launches are cut into: for tests.
    pub slice: Option<u64>,
    /// Give all copies a timeline of their own, on a device without queues for copies, too, where that gains nothing: for
    /// tests of what waits for what.
    pub copies_apart: bool,
    /// Have constant buffers be uniform buffers on devices that are processors, too, where that gains nothing: for tests.
    pub uniforms: bool,
    /// Folder of the pipeline caches (`CAL_CACHE`); none = not kept.
    pub cache: Option<PathBuf>,
    /// Folder that receives the SPIR-V of every loaded kernel (`CAL_DUMP`).
    pub dump: Option<PathBuf>,
}

/// The Vulkan backend.
#[derive(Default)]
pub struct Vulkan {
    adapters: Vec<Arc<dyn Adapter>>,
    remarks: Vec<Remark>,
}

impl Vulkan {
    /// Loads Vulkan and looks for devices.
    pub fn new(options: Options) -> Self {
        let Ok(_call) = exit::enter() else { return Self::default() };
        // SAFETY: the loader found by the system's search path is a Vulkan loader.
        match unsafe { Entry::load() } {
            Ok(entry) => Self::with_entry(options, entry),
            Err(error) => {
                log::info!("no Vulkan devices: no Vulkan loader: {error}");
                Self { adapters: Vec::new(), remarks: vec![Remark::bad("loader", format!("none: {error}"))] }
            }
        }
    }

    /// Looks for devices through a loader that the program brings along: one that is linked statically, say, or one that
    /// stands before the system's.
    pub fn with_entry(options: Options, entry: Entry) -> Self {
        let Ok(_call) = exit::enter() else { return Self::default() };
        // SAFETY: the entry points are loaded.
        let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        let mut remarks = vec![Remark::good("loader", shown(version.unwrap_or(vk::API_VERSION_1_0)))];
        let adapters = match Instance::new(options.validation, entry) {
            Ok(instance) => {
                exit::register();
                list(&Arc::new(instance), &Arc::new(options), &mut remarks)
            }
            Err(reason) => {
                log::info!("no Vulkan devices: {reason}");
                remarks.push(Remark::bad("instance", reason));
                Vec::new()
            }
        };
        Self { adapters, remarks }
    }
}

impl Backend for Vulkan {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn adapters(&self) -> Vec<Arc<dyn Adapter>> {
        self.adapters.clone()
    }

    fn remarks(&self) -> Vec<Remark> {
        self.remarks.clone()
    }
}

/// A version of Vulkan.
fn shown(version: u32) -> String {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    format!("Vulkan {major}.{minor}.{}", vk::api_version_patch(version))
}

fn list(
    instance: &Arc<Instance>,
    options: &Arc<Options>,
    remarks: &mut Vec<Remark>,
) -> Vec<Arc<dyn Adapter>> {
    // SAFETY: the instance is alive.
    let devices = match unsafe { instance.raw.enumerate_physical_devices() } {
        Ok(devices) => devices,
        Err(error) => {
            log::info!("no Vulkan devices: enumeration failed: {error}");
            remarks.push(Remark::bad("devices", format!("enumeration failed: {error}")));
            return Vec::new();
        }
    };
    if devices.is_empty() {
        remarks.push(Remark::bad("devices", "no driver has any"));
    }
    let mut found = Vec::new();
    for (number, physical) in devices.into_iter().enumerate() {
        // SAFETY: the device belongs to the living instance.
        let properties = unsafe { instance.raw.get_physical_device_properties(physical) };
        let name = properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{name}, {}", shown(properties.api_version));
        let about = format!("device {number}");
        let adapter = match VulkanAdapter::new(instance.clone(), physical, options.clone()) {
            Ok(adapter) => adapter,
            Err(reason) => {
                log::info!("Vulkan device {number} left out: {reason}");
                remarks.push(Remark::bad(about, format!("{name}: {reason}")));
                continue;
            }
        };
        let facts = adapter.facts();
        let wanted = match &options.device {
            Some(text) => {
                text.parse() == Ok(number) || facts.name.to_lowercase().contains(&text.to_lowercase())
            }
            None => options.software || facts.kind != vk::PhysicalDeviceType::CPU,
        };
        if !wanted {
            log::info!("Vulkan device {number} ({}) not asked for", facts.name);
            let why = match &options.device {
                Some(text) => format!("CAL_VULKAN_DEVICE={text} asks for another"),
                None => "software, which is taken if CAL_BACKEND names vulkan or CAL_VULKAN_DEVICE names it"
                    .into(),
            };
            remarks.push(Remark::bad(about, format!("{name}: {why}")));
            continue;
        }
        remarks.push(Remark::good(about, name));
        log::info!("Vulkan device {number}: {}", facts.name);
        found.push(adapter);
    }
    // Discrete devices first, software last; the driver's order otherwise.
    found.sort_by_key(|adapter| match adapter.facts().kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 2,
    });
    found.into_iter().map(|adapter| Arc::new(adapter) as Arc<dyn Adapter>).collect()
}

/// The Vulkan instance, destroyed with its last user.
pub(crate) struct Instance {
    pub raw: ash::Instance,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    // The loader library outlives every function pointer above.
    pub entry: ManuallyDrop<Entry>,
}

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

impl Instance {
    fn new(validation: bool, entry: Entry) -> Result<Self, String> {
        // SAFETY: the entry points are loaded.
        let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        if version.is_none_or(|version| version < vk::API_VERSION_1_2) {
            return Err("the Vulkan loader is older than 1.2".into());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"reCAL")
            .engine_name(c"reCAL")
            .api_version(vk::API_VERSION_1_3);
        let mut layers = Vec::new();
        let mut extensions: Vec<*const c_char> = Vec::new();
        if validation {
            // SAFETY: the entry points are loaded.
            let present = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
            if present.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION)) {
                layers.push(VALIDATION.as_ptr());
                extensions.push(ext::debug_utils::NAME.as_ptr());
                extensions.push(ext::validation_features::NAME.as_ptr());
            } else {
                log::warn!("the Vulkan validation layer is not installed");
            }
        }
        let mut messages = messenger_info();
        let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if !layers.is_empty() {
            info = info.push_next(&mut messages).push_next(&mut features);
        }
        // SAFETY: `info` and all that it points to live until the call returns.
        let raw = without_signals(|| unsafe { entry.create_instance(&info, None) })
            .map_err(|error| format!("no Vulkan driver: {error}"))?;
        let messenger = (!layers.is_empty()).then(|| {
            let loader = ext::debug_utils::Instance::new(&entry, &raw);
            // SAFETY: the extension is enabled; the callback has no state.
            unsafe { loader.create_debug_utils_messenger(&messenger_info(), None) }.map(|m| (loader, m))
        });
        let messenger = messenger.and_then(|m| m.map_err(|e| log::warn!("no validation messages: {e}")).ok());
        Ok(Self { raw, messenger, entry: ManuallyDrop::new(entry) })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let Ok(_call) = exit::enter() else { return };
        // SAFETY: all objects made from the instance hold an Arc of it and are gone; the entry is dropped once.
        unsafe {
            if let Some((loader, messenger)) = &self.messenger {
                loader.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
            ManuallyDrop::drop(&mut self.entry);
        }
    }
}

fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
        )
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::GENERAL | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
        )
        .pfn_user_callback(Some(message))
}

/// Logs a message of the validation layer.
unsafe extern "system" fn message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid structure for the time of the call.
    let text = unsafe { data.as_ref().and_then(|data| data.message_as_c_str()) };
    let text = text.unwrap_or_default().to_string_lossy();
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        log::error!(target: "recal_vulkan::validation", "{text}");
    } else {
        log::warn!(target: "recal_vulkan::validation", "{text}");
    }
    vk::FALSE
}
