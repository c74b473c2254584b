//! What the tests of this folder need.

use recal_hal::Backend;
use recal_needs::Need;
use recal_vulkan::{Options, Vulkan};

/// A Vulkan device, of software if need be.
pub fn device() -> [Need; 1] {
    let backend = Vulkan::new(Options { software: true, ..Options::default() });
    [Need::vulkan(backend.adapters().len())]
}
