//! The launch table: bindings of a launch as the words that [`recal_il::spirv::launch`] describes, and the uniform
//! buffers that hold tables until their launches are done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ash::vk;
use recal_hal::{Bindings, Error, Extent, Format, Result, Sampler, Surface, Wrap};
use recal_il::spirv::launch::{Layout, Slot, format_word};
use recal_il::spirv::{Formats, Shape, Surfaces};

use crate::descriptors::{Limits, Pushed};
use crate::device::Gpu;
use crate::memory::{Block, PADDING, Place, place};
use crate::order::Uses;

/// Bytes of a uniform block that tables may fill.
pub(crate) fn range(limits: &vk::PhysicalDeviceLimits) -> u32 {
    limits.max_uniform_buffer_range.min(16384)
}

/// Bytes of a chunk besides the range of its last table.
const CHUNK: u64 = 256 << 10;

/// A table, and what it says about the launch.
pub(crate) struct Table {
    pub words: Vec<[u32; 4]>,
    /// The narrowest class that all formats are in.
    pub formats: Formats,
    pub default_samplers: bool,
    /// Sizes of the surfaces.
    pub surfaces: Surfaces,
    /// As [`Assume::padded`](recal_il::spirv::Assume::padded) says.
    pub padded: bool,
    /// As [`Assume::whole_rows`](recal_il::spirv::Assume::whole_rows) says.
    pub whole_rows: bool,
    /// The surfaces as descriptors.
    pub pushed: Pushed,
    /// Memories that the launch reads and writes.
    pub uses: Uses,
    /// The row that is to tell where the kernel reports.
    report: Option<u32>,
}

impl Table {
    /// Whether the launch reports.
    pub fn reports(&self) -> bool {
        self.report.is_some()
    }
}

/// Where a launch of a chunk reports, by bytes.
#[derive(Clone, Copy)]
pub(crate) struct Report(u64);

/// What a surface's rows say.
fn surface_rows(place: &Place, bytes: u64, surface: &Surface) -> [[u32; 4]; 2] {
    let words = (bytes / 4).min(u64::from(u32::MAX)) as u32;
    let (low, high) = (place.address as u32, (place.address >> 32) as u32);
    [
        [low, high, words, format_word(surface.format)],
        [surface.width, surface.height, surface.pitch, surface.format.fill()],
    ]
}

fn sampler_rows(sampler: &Sampler) -> [[u32; 4]; 2] {
    let [u, v, w] = sampler.wrap.map(|mode| mode as u32);
    [[u32::from(sampler.linear), u, v, w], sampler.border.map(f32::to_bits)]
}

/// Whether a sampler does what the default one does: nearest, clamped to the edge in the axes that exist.
pub(crate) fn is_default(sampler: &Sampler) -> bool {
    let edge = |mode: &Wrap| matches!(mode, Wrap::ClampToEdge | Wrap::Clamp);
    !sampler.linear && sampler.wrap[..2].iter().all(edge)
}

/// Finds every slot of the layout among the bindings.
pub(crate) fn encode(
    layout: &Layout,
    bindings: &Bindings,
    extent: Extent,
    group: [u32; 3],
    counters: &Block,
    scratch: Option<&Block>,
    limits: &Limits,
) -> Result<Table> {
    let mut table = Table {
        words: vec![[0; 4]; layout.rows as usize],
        formats: Formats::FourWords,
        default_samplers: true,
        surfaces: Surfaces::UNKNOWN,
        padded: true,
        whole_rows: true,
        pushed: Pushed {
            storage: limits.storage.filter(|storage| storage.hold(layout)).map(|_| Vec::new()),
            uniforms: None,
        },
        // What is reported the host reads without asking.
        uses: Uses { shown: layout.report.is_some(), ..Uses::default() },
        report: layout.report,
    };
    match extent {
        Extent::Domain { x, y, width, height } => {
            table.words[0] = [x, y, width, height];
        }
        Extent::Grid { groups: [x, y, z], .. } => table.words[0] = [x, y, z, 0],
    }
    table.words[1] = [group[0], group[1], group[2], u32::from(bindings.domain_params.is_some())];
    if let Some(first) = layout.interpolants {
        for (k, corner) in bindings.domain_params.iter().flat_map(|corners| corners.iter()).enumerate() {
            for (j, value) in [corner.ul, corner.ll, corner.lr].into_iter().enumerate() {
                table.words[first as usize + 3 * k + j] = value.map(f32::to_bits);
            }
        }
    }
    let find = |list: &[(u32, Surface)], number: u32| {
        list.iter().find(|(n, _)| *n == number).map(|(_, surface)| surface.clone())
    };
    let mut shapes = [None; Surfaces::PLACES];
    // Those that may be uniform buffers, and how many rows.
    let mut constants = Vec::new();
    for (k, (slot, row)) in layout.slots.iter().enumerate() {
        let plain = |block: &Block| {
            let (low, high) = (block.address as u32, (block.address >> 32) as u32);
            let words = (block.bytes / 4) as u32;
            [[low, high, words, format_word(Format::UnsignedInt32x1)], [words, 1, words, 1]]
        };
        // Nothing, where zeros are.
        let zeros = counters.zeros();
        let none = [[zeros as u32, (zeros >> 32) as u32, 0, format_word(Format::UnsignedInt32x1)], [0; 4]];
        let bound = match slot {
            Slot::Empty => None,
            Slot::Scratch => {
                let Some(scratch) = scratch else {
                    return Err(Error::Failed("the launch has no scratch memory".into()));
                };
                put(&mut table, *row, plain(scratch));
                bind(&mut table, limits, &scratch.place(), scratch.bytes);
                table.uses.write(&scratch.place());
                continue;
            }
            Slot::Counters => {
                put(&mut table, *row, plain(counters));
                bind(&mut table, limits, &counters.place(), counters.bytes);
                table.uses.write(&counters.place());
                continue;
            }
            Slot::Sampler(n) => {
                let sampler = bindings.samplers.iter().find(|(number, _)| number == n);
                let sampler = sampler.map(|(_, sampler)| *sampler).unwrap_or_default();
                table.default_samplers &= is_default(&sampler);
                put(&mut table, *row, sampler_rows(&sampler));
                continue;
            }
            Slot::Resource(n) => find(&bindings.resources, *n),
            Slot::Constant(n) => find(&bindings.constants, *n),
            Slot::Output(n) => find(&bindings.outputs, *n),
            Slot::Uav(n) => find(&bindings.uavs, *n),
            Slot::Global => bindings.global.clone(),
        };
        let Some(surface) = bound else {
            put(&mut table, *row, none);
            bind(&mut table, limits, &counters.place(), 0);
            continue;
        };
        let place = place(&*surface.memory)?;
        let mut bytes = surface.bytes();
        if bytes > place.bytes || surface.width > surface.pitch {
            return Err(Error::Failed(format!(
                "a surface of {bytes} bytes does not fit its memory of {} bytes",
                place.bytes
            )));
        }
        match slot {
            Slot::Resource(_) | Slot::Output(_) | Slot::Uav(_) if k < shapes.len() => {
                let size = [surface.width, surface.height, surface.pitch];
                shapes[k] = Some(Shape { size, format: surface.format });
            }
            _ => {}
        }
        match slot {
            Slot::Constant(n) => {
                // Constant buffers are rows of raw bytes, whatever their format.
                bytes = place.bytes;
                table.uses.reads.push(place.span);
                constants.extend(layout.uniforms().find(|(own, _)| own == n).map(|(_, rows)| (rows, place)));
            }
            Slot::Resource(_) => {
                table.formats = table.formats.max(Formats::of(surface.format));
                table.uses.reads.push(place.span);
            }
            Slot::Output(_) | Slot::Uav(_) => {
                table.formats = table.formats.max(Formats::of(surface.format));
                table.uses.write(&place);
            }
            _ => table.uses.write(&place),
        }
        // Zeros follow the block, and nothing is ever stored between the surface and its end.
        let zeros = place.padded && bytes % 4 == 0 && place.bytes - bytes < PADDING;
        table.padded &= zeros || matches!(slot, Slot::Output(_));
        put(&mut table, *row, surface_rows(&place, bytes, &surface));
        // These are accessed by rows. Of one that is not whole zeros may be loaded, but nothing is stored there.
        let mut end = bytes;
        if matches!(slot, Slot::Constant(_) | Slot::Global) && bytes % PADDING != 0 {
            table.whole_rows = false;
            if zeros && matches!(slot, Slot::Constant(_)) {
                end = bytes.next_multiple_of(PADDING);
            } else {
                table.pushed.storage = None;
            }
        }
        bind(&mut table, limits, &place, end);
    }
    let domain = match extent {
        Extent::Domain { x, y, width, height } => Some([x, y, width, height]),
        Extent::Grid { .. } => None,
    };
    table.surfaces = Surfaces::new(&shapes, domain);
    let all = !constants.is_empty() && constants.len() == layout.uniforms().len();
    table.pushed.uniforms = limits.uniforms.filter(|_| all).and_then(|limits| {
        let uniform = |(rows, place): &(u32, Place)| {
            let written = table.uses.writes.iter().any(|span| span.meets(&place.span));
            limits.descriptor(place, *rows).filter(|_| !written)
        };
        constants.iter().map(uniform).collect()
    });
    if table.pushed.uniforms.is_some() {
        table.uses.uniforms = constants.iter().map(|(_, place)| place.span).collect();
    }
    Ok(table)
}

fn put(table: &mut Table, row: u32, rows: [[u32; 4]; 2]) {
    table.words[row as usize] = rows[0];
    table.words[row as usize + 1] = rows[1];
}

/// The next surface as a storage buffer. With one that cannot be there are none.
fn bind(table: &mut Table, limits: &Limits, place: &Place, bytes: u64) {
    let descriptor = limits.storage.and_then(|limits| limits.descriptor(place, bytes));
    match (&mut table.pushed.storage, descriptor) {
        (Some(buffers), Some(descriptor)) => buffers.push(descriptor),
        _ => table.pushed.storage = None,
    }
}

/// A uniform buffer for the tables of one submission, with its descriptor set.
pub(crate) struct Chunk {
    gpu: Arc<Gpu>,
    block: Block,
    pool: vk::DescriptorPool,
    pub set: vk::DescriptorSet,
    /// Under the lock of the queue.
    used: AtomicU64,
}

impl Chunk {
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        let range = u64::from(range(&gpu.facts.limits));
        let block = Block::for_tables(gpu, CHUNK + range)?;
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .descriptor_count(1)];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the device is alive, and the structures live until the calls return.
        let pool = unsafe { gpu.raw.create_descriptor_pool(&info, None) }
            .map_err(|error| gpu.error("descriptor pool", error))?;
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&gpu.set_layouts[..1]);
        // SAFETY: as above.
        let set = match unsafe { gpu.raw.allocate_descriptor_sets(&info) } {
            Ok(sets) => sets[0],
            Err(error) => {
                // SAFETY: nothing uses the pool.
                unsafe { gpu.raw.destroy_descriptor_pool(pool, None) };
                return Err(gpu.error("descriptor set", error));
            }
        };
        let buffer = [vk::DescriptorBufferInfo::default().buffer(block.buffer).range(range)];
        let write = [vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .buffer_info(&buffer)];
        // SAFETY: the set is new; the buffer lives as long as the set.
        unsafe { gpu.raw.update_descriptor_sets(&write, &[]) };
        Ok(Self { gpu: gpu.clone(), block, pool, set, used: AtomicU64::new(0) })
    }

    /// Writes a table; its offset and where its launch reports, or `None` if the chunk is full.
    pub fn push(&self, table: &mut Table) -> Option<(u32, Option<Report>)> {
        let alignment = self.gpu.facts.limits.min_uniform_buffer_offset_alignment.max(16);
        let start = self.used.load(Relaxed).next_multiple_of(alignment);
        let bytes = 16 * table.words.len() as u64;
        if start + bytes > CHUNK {
            return None;
        }
        let host = self.block.host()?;
        let report = table.report.map(|row| {
            // The third word of the row itself, which no kernel reads.
            let at = start + 16 * u64::from(row) + 8;
            let address = self.block.address + at;
            table.words[row as usize] = [address as u32, (address >> 32) as u32, 0, 0];
            Report(at)
        });
        // SAFETY: the range is inside the mapped block, and no launch reads this part of the chunk yet.
        unsafe {
            let to = host.add(start as usize).cast::<[u32; 4]>();
            std::ptr::copy_nonoverlapping(table.words.as_ptr(), to, table.words.len());
        }
        self.used.store(start + bytes, Relaxed);
        Some((start as u32, report))
    }

    /// Whether no table was written yet.
    pub fn is_new(&self) -> bool {
        self.used.load(Relaxed) == 0
    }

    /// Whether a launch that is done has reported.
    pub fn reported(&self, report: Report) -> bool {
        // SAFETY: the word lies in the mapped block, and the launch that may have written it is done.
        self.block.host().is_some_and(|host| unsafe { host.add(report.0 as usize).cast::<u32>().read() } != 0)
    }

    /// All launches that read the chunk are done.
    pub fn reset(&mut self) {
        *self.used.get_mut() = 0;
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if !self.gpu.hung() {
            // SAFETY: queues drop their chunks after the work that uses them is done.
            unsafe { self.gpu.raw.destroy_descriptor_pool(self.pool, None) };
        }
    }
}
