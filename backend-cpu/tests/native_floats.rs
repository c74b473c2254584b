//! Native float mode: sums, products and fused multiply-adds as IEEE 754 has them, on every instruction set alike.

mod harness;

use harness::{Machine, grid, read};
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{Backend, Bindings, DeviceOptions, FloatMode, Format};

/// Of x, y, z in each row of four words, eight results. Enough quotients that flushing by the float mode would pay.
const KERNEL: &str = "il_cs_2_0\n\
    dcl_num_thread_per_group 64\n\
    dcl_raw_uav_id(0)\n\
    dcl_raw_uav_id(1)\n\
    dcl_literal l0, 16, 32, 16, 0\n\
    dcl_literal l1, 1.5, 2.5, 3.5, 4.5\n\
    imul r0.x, vAbsTidFlat.x, l0.x\n\
    imul r0.y, vAbsTidFlat.x, l0.y\n\
    iadd r0.z, r0.y, l0.z\n\
    uav_raw_load_id(0) r1, r0.x\n\
    add r2.x, r1.x, r1.y\n\
    sub r2.y, r1.x, r1.y\n\
    mul r2.z, r1.x, r1.y\n\
    mad r2.w, r1.x, r1.y, r1.z\n\
    mad_ieee r3.x, r1.x, r1.y, r1.z\n\
    lt r3.y, r1.x, r1.y\n\
    max r3.z, r1.x, r1.z\n\
    div r4, r1.x, l1\n\
    div r5, r1.y, l1\n\
    div r6, r1.z, l1\n\
    add r4, r4, r5\n\
    add r4, r4, r6\n\
    add r4.x, r4.x, r4.y\n\
    add r4.x, r4.x, r4.z\n\
    add r3.w, r4.x, r4.w\n\
    uav_raw_store_id(1) mem0.xyzw, r0.y, r2\n\
    uav_raw_store_id(1) mem0.xyzw, r0.z, r3\n\
    end\n";

const EDGES: [u32; 16] = [
    0,
    1 << 31,
    1,
    0x8000_0003,
    0x007F_FFFF,
    0x8040_0000,
    0x0080_0000,
    0x3F80_0001,
    0xBF80_0001,
    0x3FC0_0001,
    0x5F00_0000,
    0x1F00_0001,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
];

/// All triples.
fn inputs() -> Vec<u32> {
    let all = || EDGES.into_iter();
    all().flat_map(|x| all().flat_map(move |y| all().flat_map(move |z| [x, y, z, 0]))).collect()
}

/// A NaN is a NaN.
fn one_nan(word: u32) -> u32 {
    if f32::from_bits(word).is_nan() { 0x7FC0_0000 } else { word }
}

fn results(set: InstructionSet, float_mode: FloatMode, checks: bool) -> Vec<u32> {
    let options = DeviceOptions { float_mode, checks, ..DeviceOptions::default() };
    let device = CpuBackend::limited(set).adapters()[0].open(&options).unwrap();
    assert_eq!(device.float_mode(), float_mode);
    let machine = Machine { queue: device.create_queue().unwrap(), device };
    let inputs = inputs();
    let threads = inputs.len() as u32 / 4;
    let from = machine.filled(Format::UnsignedInt32x1, 4 * threads, 1, &inputs);
    let to = machine.surface(Format::UnsignedInt32x1, 8 * threads, 1);
    let bindings = Bindings { uavs: vec![(0, from), (1, to.clone())], ..Bindings::default() };
    machine.run(KERNEL, bindings, grid(threads / 64, 64));
    read(&to, 8 * threads as usize)
}

fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.available())
}

#[test]
fn arithmetic_is_the_processors() {
    for set in sets() {
        let found = results(set, FloatMode::Native, false);
        for (input, found) in inputs().chunks(4).zip(found.chunks(8)) {
            let [x, y, z] = [0, 1, 2].map(|k| f32::from_bits(input[k]));
            let fused = x.mul_add(y, z);
            let expected = [x + y, x - y, x * y, fused, fused].map(|float| one_nan(float.to_bits()));
            let context = format!("{}: {x:e} {y:e} {z:e}", set.name());
            assert_eq!(std::array::from_fn::<u32, 5, _>(|k| one_nan(found[k])), expected, "{context}");
            assert_eq!(found[5], if x < y { !0 } else { 0 }, "{context}");
            let larger = if x >= z { x } else { z };
            assert_eq!(one_nan(found[6]), one_nan(larger.to_bits()), "{context}");
        }
    }
}

#[test]
fn every_set_has_the_same_bits() {
    let whole = |set, checks| -> Vec<u32> {
        results(set, FloatMode::Native, checks).into_iter().map(one_nan).collect()
    };
    let baseline = whole(InstructionSet::Baseline, false);
    for set in sets() {
        assert!(whole(set, false) == baseline, "{}", set.name());
    }
    assert!(whole(InstructionSet::Avx512, true) == baseline, "checked");
}

#[test]
fn faithful_is_the_default_and_another_thing() {
    let faithful = results(InstructionSet::Baseline, FloatMode::Faithful, false);
    let native = results(InstructionSet::Baseline, FloatMode::Native, false);
    for column in [0, 1, 2, 3, 4] {
        let of = |all: &[u32]| all.iter().skip(column).step_by(8).copied().collect::<Vec<_>>();
        assert!(of(&faithful) != of(&native), "result {column}");
    }
    let device = CpuBackend::new().adapters()[0].open(&DeviceOptions::default()).unwrap();
    assert_eq!(device.float_mode(), FloatMode::Faithful);
}
