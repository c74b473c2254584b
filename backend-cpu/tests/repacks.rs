//! Loops that threads leave one by one, after few rounds and after many: lanes that are left go on together.

mod harness;

use std::time::Duration;

use harness::{Machine, domain, grid, read};
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{Bindings, DeviceOptions, Error, Extent, Format};

/// A machine for each instruction set that this processor has, which brings lanes together as soon as it can, and where it pays.
fn machines() -> impl Iterator<Item = (String, Machine)> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.available());
    sets.flat_map(|set| [false, true].map(|thrifty| (set, thrifty))).map(|(set, thrifty)| {
        let backend = CpuBackend::limited(set);
        let backend = if thrifty { backend.thrifty() } else { backend };
        (format!("{set:?}, thrifty: {thrifty}"), Machine::of(&backend, &DeviceOptions::default()))
    })
}

/// A step of a walk, and what comes of it by the way: from a number to the next one until some of its bits are 0, which the mask in cb0.x says; table is uav1.
const WALK: &str = "whileloop\nushr r3.x, r0.x, l1.y\niand r3.x, r3.x, cb0[0].x\nbreak_logicalz r3.x\n\
    ishl r3.x, r0.x, l1.z\nixor r0.x, r0.x, r3.x\nushr r3.x, r0.x, l1.w\nixor r0.x, r0.x, r3.x\n\
    imul r0.x, r0.x, l0.w\niadd r0.x, r0.x, l1.x\niand r4.x, r0.x, l2.x\nuav_raw_load_id(1) r7.x, r4.x\n\
    ixor r1.x, r1.x, r7.x\niadd r1.x, r1.x, r9.x\nadd r5.x, r5.x, l2.y\niadd r2.x, r2.x, l0.y\nendloop\n";
const LITERALS: &str = "dcl_literal l0, 4, 1, 0, 1664525\ndcl_literal l1, 1013904223, 16, 13, 5\n\
    dcl_literal l2, 1020, 0.5, 2, 15\n";

/// Where walks begin.
fn start(thread: u32) -> u32 {
    thread.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// What a thread has found when it has left, the number of its steps, and half of it as a float.
fn walk(thread: u32, mask: u32, table: &[u32]) -> [u32; 3] {
    let (mut at, mut found, mut steps) = (start(thread), 0u32, 0u32);
    while at >> 16 & mask != 0 {
        at ^= at << 13;
        at ^= at >> 5;
        at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        found = (found ^ table[(at & 1020) as usize / 4]).wrapping_add(thread);
        steps += 1;
    }
    [found, steps, (steps as f32 / 2.0).to_bits()]
}

fn table() -> Vec<u32> {
    (0..256).map(|k| start(k ^ 0x5555)).collect()
}

/// Names the first word that is another one.
fn differ(got: &[u32], expected: &[u32], what: &str) {
    let first = got.iter().zip(expected).position(|(got, expected)| got != expected);
    assert_eq!(first.map(|at| (at, got[at], expected[at])), None, "{what}");
}

/// Threads store what they have found, several of them the same word: in a wave the last one's stays.
#[test]
fn groups() {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_cb cb0[1]\n{LITERALS}\
        mov r9.x, vAbsTidFlat.x\nimul r0.x, r9.x, l0.w\niadd r0.x, r0.x, l1.x\nmov r1.x, l0.z\nmov r2.x, l0.z\nmov r5.x, l0.z\n\
        {WALK}ixor r1.x, r1.x, r2.x\nixor r1.x, r1.x, r5.x\niand r8.x, r9.x, l2.w\nishl r8.x, r8.x, l2.z\n\
        iand r8.z, r9.x, cb0[0].z\niadd r8.x, r8.x, r8.z\nuav_raw_store_id(0) mem0.x___, r8.x, r1.x\nend\n"
    );
    // A word for four threads of a wave, in other strips.
    let words = |thread: u32| (thread & 15) + (thread & !63) / 4;
    let table = table();
    for (groups, mask) in [(96, 1), (96, 255), (40, 2047), (3, 4095)] {
        let threads = 64 * groups;
        let mut expected = vec![0; threads as usize];
        for thread in 0..threads {
            let [found, steps, half] = walk(thread, mask, &table);
            expected[words(thread) as usize] = found ^ steps ^ half;
        }
        for (name, machine) in machines() {
            let out = machine.surface(Format::UnsignedInt32x1, threads, 1);
            let bindings = Bindings {
                uavs: vec![(0, out.clone()), (1, machine.filled(Format::UnsignedInt32x1, 256, 1, &table))],
                constants: vec![(0, machine.filled(Format::UnsignedInt32x4, 1, 1, &[mask, 0, !63, 0]))],
                ..Bindings::default()
            };
            machine.run(&text, bindings, grid(groups, 64));
            differ(&read(&out, threads as usize), &expected, &format!("{name}: {groups} groups, {mask}"));
        }
    }
}

/// The same for pixels: whole tiles of several waves, and what is at the edges.
#[test]
fn domains() {
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy\ndcl_output_generic o0\ndcl_raw_uav_id(1)\n\
        dcl_cb cb0[1]\n{LITERALS}ftoi r9.xy, vWinCoord0.xyxx\numad r9.x, r9.y, cb0[0].y, r9.x\n\
        imul r0.x, r9.x, l0.w\niadd r0.x, r0.x, l1.x\nmov r1.x, l0.z\nmov r2.x, l0.z\nmov r5.x, l0.z\nmov r6.x, r9.x\n\
        {WALK}mov r1.y, r2.x\nmov r1.z, r5.x\nmov r1.w, r6.x\nmov o0, r1\nend\n"
    );
    let table = table();
    for (width, height, mask) in [(1024, 9, 511), (600, 7, 255), (40, 30, 1023), (3, 5, 2047), (1088, 3, 1)] {
        let expected: Vec<u32> = (0..width * height)
            .flat_map(|thread| {
                let [found, steps, half] = walk(thread, mask, &table);
                [found, steps, half, thread]
            })
            .collect();
        for (name, machine) in machines() {
            let out = machine.pitched(Format::UnsignedInt32x4, width, height, width);
            let bindings = Bindings {
                uavs: vec![(1, machine.filled(Format::UnsignedInt32x1, 256, 1, &table))],
                constants: vec![(0, machine.filled(Format::UnsignedInt32x4, 1, 1, &[mask, width, 0, 0]))],
                outputs: vec![(0, out.clone())],
                ..Bindings::default()
            };
            machine.run(&text, bindings, domain(width, height));
            differ(&read(&out, expected.len()), &expected, &format!("{name}: {width} x {height}, {mask}"));
        }
    }
}

/// Numbers are halved, and counted while they are not 0: who goes on with them must take denormals for zeros, as who began.
#[test]
fn floats() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\n\
        dcl_literal l0, 0.5, 0.0, 0.25, 0x0D800000\ndcl_literal l1, 7, 1, 4, 0\n\
        dcl_literal l2, 1.0, 3.0, 5.0, 7.0\ndcl_literal l3, 63, 16, 0, 0\nmov r9.x, vAbsTidFlat.x\n\
        iand r0.x, r9.x, l1.x\niadd r0.x, r0.x, l1.y\nitof r0.x, r0.x\nmul r10, r0.x, l0.w\nmul r10, r10, l2\nmov r12, l1.wwww\n\
        imul r4.x, r9.x, l1.x\niand r4.x, r4.x, l3.x\nmov r5.x, l1.w\nwhileloop\nuge r3.x, r5.x, r4.x\nbreak_logicalnz r3.x\n\
        lt r11, l0.yyyy, r10\niadd r12, r12, r11\nmul r10, r10, l0.x\niadd r5.x, r5.x, l1.y\nendloop\n\
        imul r8.x, r9.x, l3.y\nuav_raw_store_id(0) mem0, r8.x, r12\nend\n";
    let threads = 64 * 40;
    let flushed = |x: f32| if x.is_subnormal() { 0.0 } else { x };
    let count = |thread: u32, by: f32| {
        let first = ((thread & 7) + 1) as f32 * f32::from_bits(0x0D80_0000) * by;
        let halves = std::iter::successors(Some(first), |x| Some(flushed(x * 0.5)));
        halves.take((thread.wrapping_mul(7) & 63) as usize).filter(|x| *x > 0.0).count() as u32
    };
    let expected: Vec<u32> = (0..threads)
        .flat_map(|thread| [1.0, 3.0, 5.0, 7.0].map(|by| count(thread, by).wrapping_neg()))
        .collect();
    for (name, machine) in machines() {
        let out = machine.surface(Format::UnsignedInt32x1, 4 * threads, 1);
        let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
        machine.run(text, bindings, grid(40, 64));
        differ(&read(&out, expected.len()), &expected, &name);
    }
}

/// A few threads never leave: those that are left of each wave go on together, and are told to stop.
#[test]
fn endless_rounds_end() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 3, 1, 0, 7\n\
        iand r0.x, vAbsTidFlat.x, l0.w\nmov r1.x, l0.z\nwhileloop\nieq r2.x, r0.x, l0.x\n\
        ieq r2.y, r0.x, r1.x\nbreak_logicalnz r2.y\niadd r1.x, r1.x, l0.y\n\
        if_logicalnz r2.x\nmov r1.x, l0.z\nendif\nendloop\nuav_raw_store_id(0) mem0.x___, l0.z, r1.x\nend\n";
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.available());
    for backend in sets.flat_map(|set| [CpuBackend::limited(set), CpuBackend::limited(set).thrifty()]) {
        let watchdog = Some(Duration::from_millis(200));
        let machine = Machine::of(&backend, &DeviceOptions { watchdog, ..DeviceOptions::default() });
        let out = machine.surface(Format::UnsignedInt32x1, 4, 1);
        let bindings = Bindings { uavs: vec![(0, out)], ..Bindings::default() };
        let ended = machine.try_run(text, bindings, Extent::Grid { groups: [64, 1, 1], block: [64, 1, 1] });
        assert!(matches!(ended, Err(Error::Timeout(_))), "{ended:?}");
    }
}
