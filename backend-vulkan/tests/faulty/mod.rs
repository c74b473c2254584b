//! A Vulkan loader that stands before the system's: it counts the calls of every entry point that may fail, lets one of
//! them fail when asked to, and counts the objects alive.
//!
//! A lost device stays lost, as with a real driver: all that may report the loss does so from then on. What was
//! submitted is awaited first, since the device behind is in fact well.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering::Relaxed};

use ash::vk;

/// A dispatchable handle, or a pointer.
type Pointer = *mut c_void;

const MEMORY: &[vk::Result] = &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY];
const LOSS: &[vk::Result] = &[
    vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    vk::Result::ERROR_DEVICE_LOST,
];
const MAP: &[vk::Result] = &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_MEMORY_MAP_FAILED];

/// An entry point that may fail.
pub struct EntryPoint {
    pub name: &'static CStr,
    /// How, by the specification.
    pub codes: &'static [vk::Result],
    wrapper: Pointer,
    real: AtomicPtr<c_void>,
    calls: AtomicU64,
}

// SAFETY: the pointer is to a function.
unsafe impl Sync for EntryPoint {}

/// Which call is to fail, with what.
struct Plan {
    entry: &'static CStr,
    call: u64,
    code: vk::Result,
    fired: bool,
}

static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
static LIVE: AtomicI64 = AtomicI64::new(0);
/// Devices of queues, and devices that are lost.
static QUEUES: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);
static LOST: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

/// Counts calls from 0.
pub fn restart() {
    ENTRY_POINTS.iter().for_each(|entry| entry.calls.store(0, Relaxed));
}

/// Lets the call with this number, from 1, of an entry point fail, once.
pub fn arm(entry: &EntryPoint, call: u64, code: vk::Result) {
    restart();
    *PLAN.lock().unwrap() = Some(Plan { entry: entry.name, call, code, fired: false });
}

/// Nothing fails any more; whether something has.
pub fn disarm() -> bool {
    PLAN.lock().unwrap().take().is_some_and(|plan| plan.fired)
}

/// Calls of an entry point since [`restart`] or [`arm`].
pub fn calls(entry: &EntryPoint) -> u64 {
    entry.calls.load(Relaxed)
}

/// Objects made and not destroyed.
pub fn live() -> i64 {
    LIVE.load(Relaxed)
}

/// Whether a call whose first argument this is fails.
fn fault(entry: &'static EntryPoint, subject: usize) -> Option<vk::Result> {
    let number = entry.calls.fetch_add(1, Relaxed) + 1;
    let device =
        QUEUES.lock().unwrap().as_ref().and_then(|map| map.get(&subject).copied()).unwrap_or(subject);
    let mut lost = LOST.lock().unwrap();
    let lost = lost.get_or_insert_default();
    let reports = entry.codes.contains(&vk::Result::ERROR_DEVICE_LOST);
    if reports && lost.contains(&device) {
        settle(device);
        return Some(vk::Result::ERROR_DEVICE_LOST);
    }
    let mut plan = PLAN.lock().unwrap();
    let plan = plan.as_mut().filter(|plan| !plan.fired && plan.entry == entry.name && plan.call == number)?;
    plan.fired = true;
    if plan.code == vk::Result::ERROR_DEVICE_LOST && entry.name != c"vkCreateDevice" {
        settle(device);
        lost.insert(device);
    }
    Some(plan.code)
}

/// Awaits what was submitted to a device.
fn settle(device: usize) {
    let real = entry(c"vkDeviceWaitIdle").expect("it is in the table").real.load(Relaxed);
    // SAFETY: the address is that of this function; the device is alive since a call on it or its queue is under way, and
    // the tests use a device from one thread.
    unsafe {
        let real: unsafe extern "system" fn(Pointer) -> vk::Result = transmute(real);
        let _ = real(device as Pointer);
    }
}

fn entry(name: &CStr) -> Option<&'static EntryPoint> {
    ENTRY_POINTS.iter().find(|entry| entry.name == name)
}

macro_rules! entry_points {
    ($($function:ident $name:literal $codes:ident [$made:literal]
       ($first:ident: $type:ty $(, $arg:ident: $arg_type:ty)*);)*) => {
        $(
            unsafe extern "system" fn $function($first: $type $(, $arg: $arg_type)*) -> vk::Result {
                let own = entry($name).expect("it is in the table");
                if let Some(error) = fault(own, $first as usize) {
                    return error;
                }
                // SAFETY: the address was given by the next loader for this entry point, and the arguments are those of
                // the caller.
                let result = unsafe {
                    let real: unsafe extern "system" fn($type $(, $arg_type)*) -> vk::Result =
                        transmute(own.real.load(Relaxed));
                    real($first $(, $arg)*)
                };
                if result == vk::Result::SUCCESS {
                    LIVE.fetch_add($made, Relaxed);
                }
                result
            }
        )*
        /// All of them.
        pub static ENTRY_POINTS: [EntryPoint; [$($name),*].len()] = [$(EntryPoint {
            name: $name,
            codes: $codes,
            wrapper: $function as *const () as Pointer,
            real: AtomicPtr::new(std::ptr::null_mut()),
            calls: AtomicU64::new(0),
        }),*];
    };
}

entry_points! {
    create_instance c"vkCreateInstance" MEMORY [1] (info: Pointer, callbacks: Pointer, out: Pointer);
    physical_devices c"vkEnumeratePhysicalDevices" MEMORY [0] (instance: Pointer, count: Pointer, out: Pointer);
    device_extensions c"vkEnumerateDeviceExtensionProperties" MEMORY [0]
        (physical: Pointer, layer: Pointer, count: Pointer, out: Pointer);
    create_device c"vkCreateDevice" LOSS [1] (physical: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_buffer c"vkCreateBuffer" MEMORY [1] (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    allocate_memory c"vkAllocateMemory" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_pool c"vkCreateCommandPool" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_semaphore c"vkCreateSemaphore" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_fence c"vkCreateFence" MEMORY [1] (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_set_layout c"vkCreateDescriptorSetLayout" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_layout c"vkCreatePipelineLayout" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_cache c"vkCreatePipelineCache" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_shader c"vkCreateShaderModule" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_descriptors c"vkCreateDescriptorPool" MEMORY [1]
        (device: Pointer, info: Pointer, callbacks: Pointer, out: Pointer);
    create_pipelines c"vkCreateComputePipelines" MEMORY [1]
        (device: Pointer, cache: u64, count: u32, infos: Pointer, callbacks: Pointer, out: Pointer);
    cache_data c"vkGetPipelineCacheData" MEMORY [0] (device: Pointer, cache: u64, size: Pointer, out: Pointer);
    bind_memory c"vkBindBufferMemory" MEMORY [0] (device: Pointer, buffer: u64, memory: u64, offset: u64);
    map_memory c"vkMapMemory" MAP [0]
        (device: Pointer, memory: u64, offset: u64, size: u64, flags: u32, out: Pointer);
    host_pointer c"vkGetMemoryHostPointerPropertiesEXT" MEMORY [0]
        (device: Pointer, kind: u32, address: Pointer, out: Pointer);
    allocate_commands c"vkAllocateCommandBuffers" MEMORY [0] (device: Pointer, info: Pointer, out: Pointer);
    allocate_sets c"vkAllocateDescriptorSets" MEMORY [0] (device: Pointer, info: Pointer, out: Pointer);
    begin_commands c"vkBeginCommandBuffer" MEMORY [0] (commands: Pointer, info: Pointer);
    end_commands c"vkEndCommandBuffer" MEMORY [0] (commands: Pointer);
    queue_submit c"vkQueueSubmit" LOSS [0] (queue: Pointer, count: u32, infos: Pointer, fence: u64);
    queue_idle c"vkQueueWaitIdle" LOSS [0] (queue: Pointer);
    device_idle c"vkDeviceWaitIdle" LOSS [0] (device: Pointer);
    wait_fences c"vkWaitForFences" LOSS [0]
        (device: Pointer, count: u32, fences: Pointer, all: u32, limit: u64);
    wait_semaphores c"vkWaitSemaphores" LOSS [0] (device: Pointer, info: Pointer, limit: u64);
    counter_value c"vkGetSemaphoreCounterValue" LOSS [0] (device: Pointer, semaphore: u64, out: Pointer);
}

macro_rules! destroyers {
    ($($function:ident $name:literal;)*) => {
        $(
            unsafe extern "system" fn $function(device: Pointer, object: u64, callbacks: Pointer) {
                static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                if device.is_null() {
                    // See `wrap`.
                    return REAL.store(callbacks, Relaxed);
                }
                if object != 0 {
                    LIVE.fetch_sub(1, Relaxed);
                }
                // SAFETY: the address was given by the next loader for this entry point, and the arguments are those of
                // the caller.
                unsafe {
                    let real: unsafe extern "system" fn(Pointer, u64, Pointer) = transmute(REAL.load(Relaxed));
                    real(device, object, callbacks);
                }
            }
        )*
        type Destroyer = unsafe extern "system" fn(Pointer, u64, Pointer);
        const DESTROYERS: &[(&CStr, Destroyer)] = &[$(($name, $function)),*];
    };
}

destroyers! {
    destroy_buffer c"vkDestroyBuffer";
    free_memory c"vkFreeMemory";
    destroy_pool c"vkDestroyCommandPool";
    destroy_semaphore c"vkDestroySemaphore";
    destroy_fence c"vkDestroyFence";
    destroy_set_layout c"vkDestroyDescriptorSetLayout";
    destroy_layout c"vkDestroyPipelineLayout";
    destroy_cache c"vkDestroyPipelineCache";
    destroy_shader c"vkDestroyShaderModule";
    destroy_descriptors c"vkDestroyDescriptorPool";
    destroy_pipeline c"vkDestroyPipeline";
}

static DESTROY_DEVICE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DESTROY_INSTANCE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DEVICE_QUEUE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static DEVICE_PROC: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static INSTANCE_PROC: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "system" fn destroy_device(device: Pointer, callbacks: Pointer) {
    LIVE.fetch_sub(1, Relaxed);
    if let Some(lost) = &mut *LOST.lock().unwrap() {
        lost.remove(&(device as usize));
    }
    // SAFETY: as for the other wrappers.
    unsafe {
        let real: unsafe extern "system" fn(Pointer, Pointer) = transmute(DESTROY_DEVICE.load(Relaxed));
        real(device, callbacks);
    }
}

unsafe extern "system" fn destroy_instance(instance: Pointer, callbacks: Pointer) {
    LIVE.fetch_sub(1, Relaxed);
    // SAFETY: as for the other wrappers.
    unsafe {
        let real: unsafe extern "system" fn(Pointer, Pointer) = transmute(DESTROY_INSTANCE.load(Relaxed));
        real(instance, callbacks);
    }
}

unsafe extern "system" fn device_queue(device: Pointer, family: u32, index: u32, out: *mut Pointer) {
    // SAFETY: as for the other wrappers; the caller's pointer is valid for writing and was written to.
    unsafe {
        let real: unsafe extern "system" fn(Pointer, u32, u32, *mut Pointer) =
            transmute(DEVICE_QUEUE.load(Relaxed));
        real(device, family, index, out);
        QUEUES.lock().unwrap().get_or_insert_default().insert(*out as usize, device as usize);
    }
}

/// Keeps the real address of an entry point and gives that of its wrapper, if it has one.
fn wrap(name: &CStr, real: Pointer) -> Pointer {
    if real.is_null() {
        return real;
    }
    if let Some(entry) = entry(name) {
        entry.real.store(real, Relaxed);
        return entry.wrapper;
    }
    if let Some((_, wrapper)) = DESTROYERS.iter().find(|(known, _)| *known == name) {
        // SAFETY: without a device the wrapper only notes the address.
        unsafe { wrapper(std::ptr::null_mut(), 0, real) };
        return *wrapper as *const () as Pointer;
    }
    let others: [(&CStr, &AtomicPtr<c_void>, Pointer); 4] = [
        (c"vkDestroyDevice", &DESTROY_DEVICE, destroy_device as *const () as Pointer),
        (c"vkDestroyInstance", &DESTROY_INSTANCE, destroy_instance as *const () as Pointer),
        (c"vkGetDeviceQueue", &DEVICE_QUEUE, device_queue as *const () as Pointer),
        (c"vkGetDeviceProcAddr", &DEVICE_PROC, device_proc as *const () as Pointer),
    ];
    match others.iter().find(|(known, ..)| *known == name) {
        Some((_, keep, wrapper)) => {
            keep.store(real, Relaxed);
            *wrapper
        }
        None => real,
    }
}

unsafe extern "system" fn device_proc(device: Pointer, name: *const c_char) -> Pointer {
    // SAFETY: as for the other wrappers; the name ends with NUL.
    unsafe {
        let real: unsafe extern "system" fn(Pointer, *const c_char) -> Pointer =
            transmute(DEVICE_PROC.load(Relaxed));
        wrap(CStr::from_ptr(name), real(device, name))
    }
}

unsafe extern "system" fn instance_proc(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: as for the other wrappers; a function pointer or NULL is what the type says.
    unsafe {
        let real: unsafe extern "system" fn(vk::Instance, *const c_char) -> Pointer =
            transmute(INSTANCE_PROC.load(Relaxed));
        transmute(wrap(CStr::from_ptr(name), real(instance, name)))
    }
}

/// This loader, before the given one.
pub fn loader(next: &ash::Entry) -> ash::Entry {
    INSTANCE_PROC.store(next.static_fn().get_instance_proc_addr as *const () as Pointer, Relaxed);
    let functions = ash::StaticFn { get_instance_proc_addr: instance_proc };
    // SAFETY: the function finds entry points as the specification says; the caller keeps the next loader.
    unsafe { ash::Entry::from_static_fn(functions) }
}
