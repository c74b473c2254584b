//! What drivers do not report: whether float instructions see and give denormals, and whether doubles are exact.
//!
//! A kernel is run once when a device is opened. `dmad` is fused in native mode, too: programs count on its residuals.

use std::sync::Arc;

use ash::vk;
use recal_hal::{Bindings, Command, Device, Error, Extent, Format, Heap, MemoryRequest, Result, Surface};
use recal_il::spirv::{Mode, Target};

use crate::device::VulkanDevice;

/// Single precision: products, sums and comparisons with denormals. cb0[0] = 2^-126, 0.5, 2^-149, 1.5 · 2^-126.
const SINGLE: &str = "il_cs_2_0
dcl_num_thread_per_group 1
dcl_cb cb0[1]
dcl_raw_uav_id(0)
dcl_literal l0, 0, 16, 32, 48
mul_ieee r0.x___, cb0[0].x, cb0[0].y
add r0._y__, cb0[0].z, cb0[0].z
add r0.__z_, cb0[0].w, cb0[0].x_neg(xyzw)
lt r0.___w, cb0[0].z, cb0[0].x
uav_raw_store_id(0) mem.xyzw, l0.x, r0
end
";

/// The bits that gradual underflow gives.
const GRADUAL: [u32; 4] = [0x0040_0000, 2, 0x0040_0000, u32::MAX];

/// Conversions to integers. cb0[0] = -1, 2^40, NaN, 2.75.
const CONVERT: &str = "il_cs_2_0
dcl_num_thread_per_group 1
dcl_cb cb0[1]
dcl_raw_uav_id(0)
dcl_literal l0, 0, 16, 32, 48
ftou r0, cb0[0]
ftoi r1, cb0[0]
uav_raw_store_id(0) mem.xyzw, l0.x, r0
uav_raw_store_id(0) mem.xyzw, l0.y, r1
end
";

/// Saturated, NaN as 0.
const SATURATED: [u32; 8] = [0, u32::MAX, 0, 2, u32::MAX, i32::MAX as u32, 0, 2];

/// Double precision: fma of values whose product needs 106 bits, a denormal product, a denormal sum, a quotient and a
/// root that estimates miss. cb0[0] = a, b; cb0[1] = c, smallest normal; cb0[2] = 0.5, 2^-1074.
const DOUBLE: &str = "il_cs_2_0
dcl_num_thread_per_group 1
dcl_cb cb0[4]
dcl_raw_uav_id(0)
dcl_literal l0, 0, 16, 32, 48
dmad r0.xy, cb0[0].xy, cb0[0].zw, cb0[1].xy
dmul r0.zw, cb0[1].zw, cb0[2].xy
dadd r1.xy, cb0[2].zw, cb0[2].zw
ddiv r1.zw, cb0[0].xy, cb0[0].zw
dsqrt r2.xy, cb0[0].xy
dlt r2.zw, cb0[2].zw, cb0[1].zw
uav_raw_store_id(0) mem.xyzw, l0.x, r0
uav_raw_store_id(0) mem.xyzw, l0.y, r1
uav_raw_store_id(0) mem.xyzw, l0.z, r2
end
";

/// Thread t leaves a loop in round t, by its only exit, with the word that it has loaded in that round. cb0[t].x = t + 1.
const EXITS: &str = "il_cs_2_0
dcl_num_thread_per_group 16
dcl_cb cb0[16]
dcl_raw_uav_id(0)
dcl_literal l0, 0, 1, 2, 0
mov r1, l0.xxxx
whileloop
mov r2.x, cb0[r1.x].x
ige r3.x, r1.x, vAbsTidFlat.x
break_logicalnz r3.x
iadd r1.x, r1.x, l0.y
endloop
ishl r0.x, vAbsTidFlat.x, l0.z
uav_raw_store_id(0) mem.x___, r0.x, r2.x
end
";

/// Counts the rounds of a loop up to cb0[0].x.
const ROUNDS: &str = "il_cs_2_0
dcl_num_thread_per_group 1
dcl_cb cb0[1]
dcl_raw_uav_id(0)
dcl_literal l0, 0, 1, 0, 0
mov r1, l0.xxxx
whileloop
uge r2.x, r1.x, cb0[0].x
break_logicalnz r2.x
iadd r1.x, r1.x, l0.y
endloop
uav_raw_store_id(0) mem.x___, l0.x, r1.x
end
";

/// More than the 65,535 that a driver is known to allow.
const MANY: u32 = 70_000;

/// Thread t leaves a loop with a fence in it after t rounds; cb0 is not used.
const FENCES: &str = "il_cs_2_0
dcl_num_thread_per_group 16
dcl_raw_uav_id(0)
dcl_literal l0, 0, 1, 2, 0
mov r1, l0.xxxx
whileloop
ige r3.x, r1.x, vAbsTidFlat.x
break_logicalnz r3.x
fence_memory
iadd r1.x, r1.x, l0.y
endloop
ishl r0.x, vAbsTidFlat.x, l0.z
uav_raw_store_id(0) mem.x___, r0.x, r1.x
end
";

/// Runs the probes; the target with what they found.
pub(crate) fn probe(device: &VulkanDevice) -> Result<Target> {
    let mut target = device.gpu.target.clone();
    if !target.gradual32 {
        let input = [0x0080_0000, 0x3F00_0000, 1, 0x00C0_0000];
        target.gradual32 = run(device, SINGLE, 1, &input, 4)? == GRADUAL;
    }
    let input = [-1.0f32, 1.0995116e12, f32::NAN, 2.75].map(f32::to_bits);
    target.saturates = run(device, CONVERT, 1, &input, 8)? == SATURATED;
    let numbers: [u32; 16] = std::array::from_fn(|t| t as u32 + 1);
    let input: Vec<u32> = numbers.iter().flat_map(|n| [*n, 0, 0, 0]).collect();
    target.keeps_exits = run(device, EXITS, 16, &input, 16)? == numbers;
    // On others it takes as long as opening the device, and none is known.
    if device.gpu.facts.kind == vk::PhysicalDeviceType::CPU {
        target.ends_loops = run(device, ROUNDS, 1, &[MANY, 0, 0, 0], 1)? != [MANY];
    }
    let rounds: [u32; 16] = std::array::from_fn(|t| t as u32);
    target.fences_apart = run(device, FENCES, 16, &[], 16)? == rounds;
    if target.float64 {
        let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0);
        let (c, normal, half, least) = (-1.0, f64::MIN_POSITIVE, 0.5, f64::from_bits(1));
        let words = |values: &[f64]| -> Vec<u32> {
            values.iter().flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]).collect()
        };
        let expected = words(&[
            a.mul_add(b, c),
            normal * half,
            least + least,
            a / b,
            a.sqrt(),
            f64::from_bits(u64::MAX),
        ]);
        let input = words(&[a, b, c, normal, half, least, 0.0, 0.0]);
        let found = run(device, DOUBLE, 1, &input, 12)?;
        let same = |k: usize| found[2 * k..2 * k + 2] == expected[2 * k..2 * k + 2];
        target.exact64 = same(1) && same(2) && same(5);
        (target.fused64, target.divides64, target.roots64) = (same(0), same(3), same(4));
    }
    log::debug!(
        "{}: denormals {}, doubles {}, fused {}, quotients {}, roots {}, saturation {}, exits {}, loops ended {}, fences {}",
        device.gpu.facts.name,
        target.gradual32,
        target.exact64,
        target.fused64,
        target.divides64,
        target.roots64,
        target.saturates,
        target.keeps_exits,
        target.ends_loops,
        target.fences_apart
    );
    Ok(target)
}

/// Runs a kernel text, a group of so many threads, on a constant buffer; the first words of its UAV.
fn run(device: &VulkanDevice, text: &str, threads: u32, input: &[u32], words: usize) -> Result<Vec<u32>> {
    let program = recal_il::compile(text.as_bytes())
        .map_err(|errors| Error::Failed(format!("the probe does not compile: {errors:?}")))?;
    // The device's own behaviour is wanted, so nothing may be put right in code.
    let target = Target {
        mode: Mode::Native,
        fused64: true,
        divides64: true,
        roots64: true,
        saturates: true,
        keeps_exits: true,
        fences_apart: true,
        ..device.gpu.target.clone()
    };
    let kernel = Arc::new(device.load_once(Arc::new(program), &target)?);
    let surface = |heap| -> Result<Surface> {
        let memory = device.allocate(MemoryRequest { bytes: 4096, heap })?;
        Ok(Surface { memory, width: 256, height: 1, pitch: 256, format: Format::UnsignedInt32x4 })
    };
    let (constants, output) = (surface(Heap::RemoteCached)?, surface(Heap::RemoteCached)?);
    let to = constants.memory.map()?.cast::<u32>();
    // SAFETY: the block has 4096 bytes and nothing uses it yet.
    unsafe { to.copy_from_nonoverlapping(input.as_ptr(), input.len()) };
    constants.memory.unmap();
    let bindings = Arc::new(Bindings {
        constants: vec![(0, constants)],
        uavs: vec![(0, output.clone())],
        ..Bindings::default()
    });
    let queue = device.create_queue()?;
    let extent = Extent::Grid { groups: [1; 3], block: [threads, 1, 1] };
    let ticket = queue.submit(Command::Launch { kernel, bindings, extent })?;
    queue.wait(ticket)?;
    let from = output.memory.map()?.cast::<u32>();
    // SAFETY: the block has 4096 bytes and the launch that wrote it is done.
    let result = (0..words).map(|k| unsafe { from.add(k).read() }).collect();
    output.memory.unmap();
    drop(queue);
    Ok(result)
}
