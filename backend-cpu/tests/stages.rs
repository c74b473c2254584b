//! Barriers in loops and choices that all threads of a group take alike.

mod harness;

use std::time::Duration;

use harness::{Machine, grid, read};
use recal_cpu::{CpuBackend, InstructionSet};
use recal_hal::{Backend, Bindings, DeviceOptions, Error, Extent, Format};

/// A machine for each instruction set that this processor has.
fn machines() -> impl Iterator<Item = (InstructionSet, Machine)> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.available());
    sets.map(|set| (set, Machine::limited(set)))
}

/// What uav0, of `words` words, is after a launch of groups of so many threads with words in cb0.
fn compute(machine: &Machine, text: &str, groups: u32, threads: u32, words: u32, cb: [u32; 4]) -> Vec<u32> {
    let out = machine.surface(Format::UnsignedInt32x1, words, 1);
    let constants = vec![(0, machine.filled(Format::UnsignedInt32x4, 1, 1, &cb))];
    let bindings = Bindings { uavs: vec![(0, out.clone())], constants, ..Bindings::default() };
    machine.run(text, bindings, grid(groups, threads));
    read(&out, words as usize)
}

/// Groups of 200 threads turn their words by 65 in each of the rounds that cb0.x says; in every round whose number is not a multiple of
/// cb0.y, cb0.z times in a loop within, the last time of which it leaves by another way; in others each adds 1.
#[test]
fn rounds_that_constants_tell() {
    let turn = "lds_store_id(0) r0.y, r1.x\nfence_threads_lds\niadd r2.x, r0.x, l0.y\numod r2.x, r2.x, l0.z\n\
        ishl r2.x, r2.x, l0.x\nlds_load_id(0) r1.x, r2.x\nfence_threads_lds\n";
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 200\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 800\ndcl_cb cb0[1]\n\
        dcl_literal l0, 2, 65, 200, 1\nmov r0.x, vTidInGrpFlat.x\nishl r0.y, r0.x, l0.x\nmov r1.x, vAbsTidFlat.x\n\
        mov r6.x, l0.w\nwhileloop\nult r5.x, cb0[0].x, r6.x\nbreak_logicalnz r5.x\n\
        umod r5.y, r6.x, cb0[0].y\nif_logicalnz r5.y\nmov r7.x, r5.x\nwhileloop\n\
        iadd r7.x, r7.x, l0.w\n{turn}ieq r8.x, r7.x, cb0[0].z\nbreak_logicalnz r8.x\n\
        endloop\nelse\niadd r1.x, r1.x, l0.w\nlds_store_id(0) r0.y, r1.x\nfence_threads_lds\nlds_load_id(0) r1.x, r0.y\nendif\n\
        iadd r6.x, r6.x, l0.w\nendloop\n\
        ishl r9.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem0.x___, r9.x, r1.x\nend\n"
    );
    for (rounds, every, times) in [(0, 2, 1), (1, 2, 3), (7, 3, 2), (5, 1, 1)] {
        let added = (1..=rounds).filter(|round| round % every == 0).count() as u32;
        let turned = 65 * (rounds - added) * times;
        let expected: Vec<u32> = (0..600).map(|t| t / 200 * 200 + (t % 200 + turned) % 200 + added).collect();
        for (set, machine) in machines() {
            let got = compute(&machine, &text, 3, 200, 600, [rounds, every, times, 0]);
            assert_eq!(got, expected, "{set:?}: {rounds} rounds");
        }
    }
}

/// Loops that end by the number of the group, and with a word of memory that all threads read: what kernels may do though nobody knows
/// that all of them agree.
#[test]
fn rounds_that_groups_and_memory_tell() {
    let text = |bound: &str| {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\n\
            dcl_literal l0, 2, 1, 127, 5\ndcl_literal l1, 1020, 0, 0, 0\nmov r0.x, vTidInGrpFlat.x\nishl r0.y, r0.x, l0.x\n\
            mov r1.x, r0.x\nuav_raw_load_id(0) r4.x, l1.x\niadd r4.x, r4.x, l0.w\nmov r6.x, l1.y\nwhileloop\n\
            uge r5.x, r6.x, {bound}\nbreak_logicalnz r5.x\nlds_store_id(0) r0.y, r1.x\nfence_threads_lds\n\
            iadd r2.x, r0.x, l0.y\niand r2.x, r2.x, l0.z\nishl r2.x, r2.x, l0.x\nlds_load_id(0) r1.x, r2.x\n\
            fence_threads_lds\niadd r6.x, r6.x, l0.y\nendloop\nishl r9.x, vAbsTidFlat.x, l0.x\n\
            uav_raw_store_id(0) mem0.x___, r9.x, r1.x\nend\n"
        )
    };
    for (bound, rounds) in [("vThreadGrpId.x", [0, 1, 2, 3]), ("r4.x", [5; 4])] {
        // The word that is read is in the last group, which stores it last.
        let groups = if bound == "r4.x" { 1 } else { 4 };
        let expected: Vec<u32> =
            (0..128 * groups).map(|t| (t % 128 + rounds[t as usize / 128]) % 128).collect();
        for (set, machine) in machines() {
            let got = compute(&machine, &text(bound), groups, 128, 128 * groups.max(2), [0; 4]);
            assert_eq!(got[..expected.len()], expected, "{set:?}: {bound}");
        }
    }
}

/// Without a barrier between them, a wave goes on with all that it does before the next one begins, whether all is compiled or not: each
/// wave adds 1 to what the one before has left.
#[test]
fn waves_that_do_not_wait_come_one_after_another() {
    let add =
        "uav_raw_load_id(0) r1.x, l0.x\niadd r1.x, r1.x, l0.y\nuav_raw_store_id(0) mem0.x___, l0.x, r1.x\n";
    let around = |body: &str| {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 4, 0\n\
            fence_threads\n{body}fence_threads\nend\n"
        )
    };
    let straight = around(&add.repeat(3));
    let repeated = around(&format!(
        "mov r2.x, l0.x\nwhileloop\nuge r3.x, r2.x, cb0[0].x\nbreak_logicalnz r3.x\n{add}iadd r2.x, r2.x, l0.y\nendloop\n"
    ));
    // The store of one stage is what the load of another one finds.
    let load = "uav_raw_load_id(0) r1.x, l0.x\niadd r1.x, r1.x, l0.y\n";
    let chosen = around(&format!(
        "{load}if_logicalnz cb0[0].x\nuav_raw_store_id(0) mem0.x___, l0.x, r1.x\nfence_threads\nendif\n"
    ));
    for (set, machine) in machines() {
        let of = |text: &str| compute(&machine, text, 1, 256, 64, [3, 0, 0, 0])[0];
        assert_eq!(of(&straight), 12, "{set:?}");
        assert_eq!(of(&repeated), 12, "{set:?}");
        assert_eq!(of(&chosen), 4, "{set:?}");
    }
}

/// Nothing but the rounds themselves asks whether to go on.
#[test]
fn endless_rounds_with_barriers_are_stopped() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_lds_id(0) 512\ndcl_literal l0, 0, 1, 2, 0\n\
        ishl r0.x, vTidInGrpFlat.x, l0.z\nwhileloop\nlds_store_id(0) r0.x, r1.x\nfence_threads_lds\n\
        lds_load_id(0) r2.x, r0.x\niadd r1.x, r2.x, l0.y\nfence_threads_lds\nendloop\nend\n";
    for set in InstructionSet::ALL.into_iter().filter(|set| set.available()) {
        let options = DeviceOptions { watchdog: Some(Duration::from_millis(50)), ..DeviceOptions::default() };
        let device = CpuBackend::limited(set).adapters()[0].open(&options).unwrap();
        let machine = Machine { queue: device.create_queue().unwrap(), device };
        let extent = Extent::Grid { groups: [3, 1, 1], block: [128, 1, 1] };
        let done = machine.try_run(text, Bindings::default(), extent);
        assert!(matches!(done, Err(Error::Timeout(_))), "{set:?}: {done:?}");
    }
}

/// A function that makes one choice again, and keeps another one in the same row, finds what was kept by a function that does nothing else.
#[test]
fn a_choice_is_made_again_before_the_next_one_is_kept() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 1024\ndcl_cb cb0[1]\n\
        dcl_literal l0, 2, 0, 1, 255\nmov r0.x, vTidInGrpFlat.x\nishl r5.x, r0.x, l0.x\nmov r10.x, l0.y\n\
        ult r4.x, l0.w, r0.x\nif_logicalnz r4.x\nlds_store_id(0) r5.x, r0.x\nlds_load_id(0) r8.x, r5.x\n\
        iadd r7.x, r0.x, r8.x\nelse\niadd r10.x, r10.x, l0.z\nendif\nult r4.x, vAbsTidFlat.x, cb0[0].x\n\
        if_logicalnz r4.x\nlds_load_id(0) r8.x, r5.x\niadd r7.x, r7.x, r8.x\nlds_store_id(0) r5.x, r7.x\nelse\n\
        iadd r10.x, r10.x, l0.z\nendif\nfence_threads_lds\nishl r3.x, vAbsTidFlat.x, l0.x\n\
        uav_raw_store_id(0) mem0.x___, r3.x, r10.x\nend\n";
    let expected: Vec<u32> = (0..768).map(|thread| if thread < 300 { 1 } else { 2 }).collect();
    for (set, machine) in machines() {
        assert_eq!(compute(&machine, text, 3, 256, 768, [300, 0, 0, 0]), expected, "{set:?}");
    }
}
