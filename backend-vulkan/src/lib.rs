//! backend-vulkan
