//! Surfaces as descriptors, which launches push (`VK_KHR_push_descriptor`; set 1): all as storage buffers where addresses are slow,
//! and constant buffers as uniform buffers.

use ash::{khr, vk};
use recal_hal::{Error, Result};
use recal_il::spirv::launch::Layout;
use recal_il::spirv::{Surfaces, UNIFORM_BINDINGS, UNIFORMS};

use crate::adapter::Facts;
use crate::memory::Place;

/// What may be pushed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub storage: Option<Storage>,
    pub uniforms: Option<Uniforms>,
}

impl Limits {
    /// Of a device; `uniforms` says that those are wanted even where they gain nothing.
    pub fn of(facts: &Facts, uniforms: bool) -> Self {
        let uniforms = Uniforms::of(facts, uniforms);
        let others = if uniforms.is_some() { UNIFORMS as u32 } else { 0 };
        Self { storage: Storage::of(facts, facts.push_descriptors.saturating_sub(others)), uniforms }
    }

    /// Whether anything may.
    pub fn push(&self) -> bool {
        self.storage.is_some() || self.uniforms.is_some()
    }
}

/// Bytes of a storage buffer at most, as [`Assume::buffers`](recal_il::spirv::Assume::buffers) says.
const MOST: u64 = 1 << 30;

/// What surfaces may be as storage buffers, on devices where that gains.
#[derive(Clone, Copy)]
pub(crate) struct Storage {
    /// Most surfaces.
    count: u32,
    /// Bytes of the largest.
    range: u64,
    /// Of the first byte in the buffer.
    alignment: u64,
}

impl Storage {
    /// Of a device that may push so many descriptors of this kind.
    fn of(facts: &Facts, push: u32) -> Option<Self> {
        let limits = &facts.limits;
        let count = push
            .min(limits.max_per_stage_descriptor_storage_buffers)
            .min(limits.max_descriptor_set_storage_buffers)
            .min(Surfaces::PLACES as u32);
        (facts.slow_addresses && facts.buffers_end && count > 0).then_some(Self {
            count,
            range: u64::from(limits.max_storage_buffer_range).min(MOST),
            alignment: limits.min_storage_buffer_offset_alignment,
        })
    }

    /// Whether as many descriptors as a kernel has surfaces can be bound.
    pub fn hold(&self, layout: &Layout) -> bool {
        layout.surfaces() <= self.count as usize
    }

    /// A surface of so many bytes, if that is not too much.
    pub fn descriptor(&self, place: &Place, bytes: u64) -> Option<vk::DescriptorBufferInfo> {
        if bytes == 0 {
            return Some(vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE));
        }
        // Of the last word texels are inside, words are not.
        let whole = bytes % 4 == 0;
        let fits = whole && bytes <= self.range && place.offset % self.alignment == 0;
        fits.then(|| {
            vk::DescriptorBufferInfo::default().buffer(place.buffer).offset(place.offset).range(bytes)
        })
    }
}

/// What constant buffers may be as uniform buffers.
#[derive(Clone, Copy)]
pub(crate) struct Uniforms {
    /// Bytes of the largest.
    range: u64,
    /// Of the first byte in the buffer.
    alignment: u64,
}

impl Uniforms {
    /// Devices that are processors have one kind of loads.
    fn of(facts: &Facts, wanted: bool) -> Option<Self> {
        let limits = &facts.limits;
        let most = (facts.push_descriptors)
            .min(limits.max_descriptor_set_uniform_buffers)
            // The launch table is one, too.
            .min(limits.max_per_stage_descriptor_uniform_buffers.saturating_sub(1));
        let gains = facts.kind != vk::PhysicalDeviceType::CPU;
        ((gains || wanted) && most >= UNIFORMS as u32).then_some(Self {
            range: limits.max_uniform_buffer_range.into(),
            alignment: limits.min_uniform_buffer_offset_alignment,
        })
    }

    /// Rows of the largest.
    pub fn rows(&self) -> u32 {
        (self.range / 16) as u32
    }

    /// So many rows of a constant buffer, if it has them.
    pub fn descriptor(&self, place: &Place, rows: u32) -> Option<vk::DescriptorBufferInfo> {
        let bytes = 16 * u64::from(rows);
        let fits = bytes <= self.range && bytes <= place.bytes && place.offset % self.alignment == 0;
        fits.then(|| {
            vk::DescriptorBufferInfo::default().buffer(place.buffer).offset(place.offset).range(bytes)
        })
    }
}

/// Descriptors of a launch, those of each kind by place.
#[derive(Default)]
pub(crate) struct Pushed {
    /// All surfaces; `None` where one cannot be a storage buffer, or nothing would be gained.
    pub storage: Option<Vec<vk::DescriptorBufferInfo>>,
    /// The constant buffers of [`Layout::uniforms`]; `None` as above, or if there are none.
    pub uniforms: Option<Vec<vk::DescriptorBufferInfo>>,
}

/// The extension of the device.
pub(crate) struct Push(pub khr::push_descriptor::Device);

impl Push {
    /// Binds surfaces for what is recorded next.
    pub fn bind(&self, commands: vk::CommandBuffer, layout: vk::PipelineLayout, pushed: &Pushed) {
        let kinds = [
            (0, vk::DescriptorType::STORAGE_BUFFER, &pushed.storage),
            (UNIFORM_BINDINGS, vk::DescriptorType::UNIFORM_BUFFER, &pushed.uniforms),
        ];
        let mut writes = Vec::new();
        for (first, kind, buffers) in kinds {
            writes.extend((first..).zip(buffers.iter().flatten()).map(|(binding, buffer)| {
                vk::WriteDescriptorSet::default()
                    .dst_binding(binding)
                    .descriptor_type(kind)
                    .buffer_info(std::slice::from_ref(buffer))
            }));
        }
        if writes.is_empty() {
            return;
        }
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording; the buffers are kept until the command is done.
        unsafe { self.0.cmd_push_descriptor_set(commands, point, layout, 1, &writes) };
    }
}

/// The layouts of descriptor sets, of launch tables and, where they are pushed, of surfaces; and that of pipelines.
pub(crate) fn layouts(
    raw: &ash::Device,
    facts: &Facts,
    limits: &Limits,
) -> Result<(Vec<vk::DescriptorSetLayout>, vk::PipelineLayout)> {
    let binding = |number: u32, kind: vk::DescriptorType| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let tables = [binding(0, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)];
    let storage = limits.storage.map_or(0, |limits| limits.count);
    let uniforms = if limits.uniforms.is_some() { UNIFORMS as u32 } else { 0 };
    let storage = (0..storage).map(|k| binding(k, vk::DescriptorType::STORAGE_BUFFER));
    let uniforms = (0..uniforms).map(|k| binding(UNIFORM_BINDINGS + k, vk::DescriptorType::UNIFORM_BUFFER));
    let surfaces: Vec<_> = storage.chain(uniforms).collect();
    let mut infos = vec![vk::DescriptorSetLayoutCreateInfo::default().bindings(&tables)];
    if limits.push() {
        let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        infos.push(vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&surfaces));
    }
    let mut made = Vec::new();
    let mut result = Ok(());
    for info in &infos {
        // SAFETY: here and below, the device is alive and the structures live until the calls return.
        match unsafe { raw.create_descriptor_set_layout(info, None) } {
            Ok(layout) => made.push(layout),
            Err(error) => result = Err(("descriptor set layout", error)),
        }
    }
    let result = result.and_then(|()| {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&made);
        // SAFETY: as above.
        unsafe { raw.create_pipeline_layout(&info, None) }.map_err(|error| ("pipeline layout", error))
    });
    match result {
        Ok(pipeline_layout) => Ok((made, pipeline_layout)),
        Err((what, error)) => {
            // SAFETY: nothing uses the layouts.
            made.into_iter().for_each(|layout| unsafe { raw.destroy_descriptor_set_layout(layout, None) });
            Err(Error::OutOfMemory(format!("{}: {what}: {error}", facts.name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Span;

    const STORAGE: Storage = Storage { count: 32, range: 4096, alignment: 16 };

    fn at(offset: u64) -> Place {
        let (buffer, span) = (vk::Buffer::null(), Span { start: 0, end: 0 });
        Place { buffer, offset, address: 0, bytes: 1 << 20, local: true, visible: false, span, padded: true }
    }

    #[test]
    fn surfaces_are_storage_buffers_if_they_fit() {
        let range = |offset, bytes| STORAGE.descriptor(&at(offset), bytes).map(|d| (d.offset, d.range));
        assert_eq!(range(32, 4096), Some((32, 4096)));
        assert_eq!(range(0, 4100), None);
        assert_eq!(range(4, 16), None);
        assert_eq!(range(0, 18), None);
        // No buffer at all.
        assert_eq!(range(4, 0), Some((0, vk::WHOLE_SIZE)));
    }

    #[test]
    fn constant_buffers_are_uniform_buffers_if_they_fit() {
        let uniforms = Uniforms { range: 65536, alignment: 64 };
        let range = |place: Place, rows| uniforms.descriptor(&place, rows).map(|d| (d.offset, d.range));
        let short = |bytes| Place { bytes, ..at(64) };
        assert_eq!(uniforms.rows(), 4096);
        assert_eq!(range(at(64), 4096), Some((64, 65536)));
        assert_eq!(range(at(64), 4097), None);
        assert_eq!(range(at(32), 1), None);
        assert_eq!(range(short(48), 3), Some((64, 48)));
        assert_eq!(range(short(47), 3), None);
        assert_eq!(range(short(32), 3), None);
    }
}
