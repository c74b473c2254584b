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
        assert_eq!(of(&repeated.replace("fence_threads\n", "")), 12, "{set:?}: without barriers");
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

/// Sums of the words of groups by halves, by neighbours, and with a step for threads that took no part in the one before: what one function may do
/// from the last thread to the first, with guards that a launch tells, and groups of part of a wave.
#[test]
fn sums_of_groups() {
    let text = |threads: u32, steps: &str| {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group {threads}\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_lds_id(0) {}\n\
            dcl_cb cb0[1]\ndcl_literal l0, 2, 0, 1, 4\nmov r0.x, vTidInGrpFlat.x\nishl r0.y, r0.x, l0.x\n\
            ishl r1.x, vAbsTidFlat.x, l0.x\nmov r2.x, l0.y\nult r3.x, vAbsTidFlat.x, cb0[0].x\n\
            if_logicalnz r3.x\nuav_raw_load_id(1) r2.x, r1.x\nendif\nlds_store_id(0) r0.y, r2.x\n\
            fence_threads_lds\n{steps}if_logicalz r0.x\nlds_load_id(0) r2.x, l0.y\nimul r3.x, vThreadGrpIdFlat.x, l0.w\n\
            uav_raw_store_id(0) mem0.x___, r3.x, r2.x\nendif\nend\n",
            4 * threads
        )
    };
    // Threads below a number add to the word `by` times their number what lies so many words behind it.
    let step = |number: usize, below: u32, by: u32, behind: u32| {
        format!(
            "dcl_literal l{number}, {below}, {by}, {behind}, 0\nult r4.x, r0.x, l{number}.x\nif_logicalnz r4.x\n\
            imul r5.x, r0.x, l{number}.y\niadd r6.x, r5.x, l{number}.z\nishl r5.x, r5.x, l0.x\nishl r6.x, r6.x, l0.x\n\
            lds_load_id(0) r7.x, r5.x\nlds_load_id(0) r8.x, r6.x\niadd r7.x, r7.x, r8.x\n\
            lds_store_id(0) r5.x, r7.x\nendif\nfence_threads_lds\n"
        )
    };
    for threads in [64, 100, 256, 1000u32] {
        let sizes = || std::iter::successors(Some(threads), |size| (*size > 1).then(|| size.div_ceil(2)));
        let halves = sizes().enumerate().skip(1).map(|(number, half)| {
            let whole = sizes().nth(number - 1).unwrap();
            (number + 3, whole - half, 1, half)
        });
        let pairs = (0..).map_while(|k| (1 << k < threads).then_some(1u32 << k)).enumerate();
        // Of the words that are left every second one takes the one behind it.
        let pairs = pairs.map(|(number, by)| (number + 3, (threads - 1 - by) / (2 * by) + 1, 2 * by, by));
        // Those that took no part in a step do in the next one.
        let back = halves.clone().chain([(40, threads.div_ceil(4), 1, 1), (41, threads / 2, 1, threads / 2)]);
        for (name, list) in [
            ("halves", halves.clone().collect::<Vec<_>>()),
            ("pairs", pairs.collect()),
            ("back", back.collect()),
        ] {
            let steps: String =
                list.iter().map(|&(number, below, by, behind)| step(number, below, by, behind)).collect();
            let text = text(threads, &steps);
            let (groups, count) = (3, 5 * threads / 2);
            let words: Vec<u32> = (0..groups * threads).map(|k| k.wrapping_mul(2654435761) >> 7).collect();
            let sum = |group: u32| {
                let word = |t: u32| {
                    if group * threads + t < count { words[(group * threads + t) as usize] } else { 0 }
                };
                let mut lds: Vec<u32> = (0..threads).map(word).collect();
                for &(_, below, by, behind) in &list {
                    let before = lds.clone();
                    for t in 0..below {
                        let at = |k: u32| before.get(k as usize).copied().unwrap_or(0);
                        lds[(t * by) as usize] = at(t * by).wrapping_add(at(t * by + behind));
                    }
                }
                lds[0]
            };
            let expected: Vec<u32> = (0..groups).map(sum).collect();
            for (set, machine) in machines() {
                let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
                let input = machine.filled(Format::UnsignedInt32x1, groups * threads, 1, &words);
                let constants = vec![(0, machine.filled(Format::UnsignedInt32x4, 1, 1, &[count, 0, 0, 0]))];
                let uavs = vec![(0, out.clone()), (1, input)];
                machine.run(
                    &text,
                    Bindings { uavs, constants, ..Bindings::default() },
                    grid(groups, threads),
                );
                assert_eq!(read(&out, groups as usize), expected, "{set:?}: {threads} threads, {name}");
            }
        }
    }
}

/// A function that makes one choice again, and keeps another one in the same row, finds what was kept by a function that does nothing else.
#[test]
fn a_choice_is_made_again_before_the_next_one_is_kept() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 1024\ndcl_cb cb0[1]\n\
        dcl_literal l0, 2, 0, 1, 255\nmov r0.x, vTidInGrpFlat.x\nishl r5.x, r0.x, l0.x\n\
        lds_store_id(0) r5.x, r0.x\nif_logicalnz r4.x\nlds_store_id(0) r5.x, r7.x\nlds_load_id(0) r8.x, r5.x\n\
        iadd r7.x, r7.x, r8.x\nelse\niadd r10.x, r10.x, l0.z\nendif\nult r4.x, vAbsTidFlat.x, cb0[0].x\n\
        if_logicalnz r4.x\nlds_load_id(0) r8.x, r5.x\niadd r7.x, r7.x, r8.x\nlds_store_id(0) r5.x, r7.x\nelse\n\
        iadd r10.x, r10.x, l0.z\nendif\nfence_threads_lds\nishl r3.x, vAbsTidFlat.x, l0.x\n\
        uav_raw_store_id(0) mem0.x___, r3.x, r10.x\nend\n";
    let expected: Vec<u32> = (0..2048).map(|thread| if thread < 600 { 1 } else { 2 }).collect();
    for (set, machine) in machines() {
        assert_eq!(compute(&machine, text, 8, 256, 2048, [600, 0, 0, 0]), expected, "{set:?}");
    }
}

/// Steps through group memory by threads that choices name, in any order, with barriers and without: each set gives what interpreted kernels give.
#[test]
fn random_steps() {
    let mut state = 0x2545_F491u32;
    let mut random = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let words: Vec<u32> = (0..2048u32).map(|k| k.wrapping_mul(2654435761) >> 9).collect();
    let machines: Vec<(InstructionSet, Machine)> = machines().collect();
    for round in 0..200 {
        let threads = [64, 100, 128, 256][random(4) as usize];
        let mut literals = String::new();
        let mut body = String::new();
        let mut below = threads;
        for number in 0..3 + random(6) {
            below = match random(8) {
                0 => 1 + random(threads),
                1 => below,
                _ => below.div_ceil(2),
            };
            let by = if random(4) == 0 { 1 + random(3) } else { 1 };
            let [from, to] = [0, 1].map(|_| u32::from(random(5) == 0));
            let behind = if random(4) == 0 { random(threads) } else { below };
            let name = number + 10;
            literals += &format!("dcl_literal l{name}, {below}, {by}, {behind}, {}\n", random(9));
            let test = match random(10) {
                0 => format!("uge r4.x, r0.x, l{name}.x\n"),
                1 => "ult r4.x, r1.y, cb0[0].x\n".into(),
                2 => format!("ult r4.x, r10.x, l{name}.x\n"),
                _ => format!("ult r4.x, r0.x, l{name}.x\n"),
            };
            let load = format!(
                "imul r5.x, r0.x, l{name}.y\niadd r6.x, r5.x, l{name}.z\nishl r5.x, r5.x, l0.x\nishl r6.x, r6.x, l0.x\n\
                lds_load_id({from}) r7.x, r5.x\nlds_load_id({from}) r8.x, r6.x\niadd r7.x, r7.x, r8.x\n"
            );
            let store = format!("lds_store_id({to}) r5.x, r7.x\n");
            let other = "ishl r5.x, r0.x, l0.x\niadd r10.x, r10.x, l0.z\n";
            body += &test;
            body += "if_logicalnz r4.x\n";
            body += &match random(8) {
                0 => format!("{load}iadd r10.x, r10.x, r7.x\nelse\n{other}endif\n"),
                1 => format!("{load}{store}iadd r10.x, r10.x, r7.x\nelse\n{other}endif\n"),
                2 => format!("{other}endif\n{load}"),
                3 => format!("{load}{store}{load}iadd r10.x, r10.x, r7.x\nendif\n"),
                4 => format!("ult r4.x, r0.x, l{name}.w\nif_logicalz r4.x\n{load}{store}endif\nendif\n"),
                _ => format!("{load}{store}endif\n"),
            };
            if random(8) > 0 {
                body += "fence_threads_lds\n";
            }
        }
        let last = if random(4) == 0 { "ult r4.x, r0.x, l0.w\n" } else { "ult r4.x, r0.x, l0.z\n" };
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group {threads}\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_lds_id(0) {}\n\
            dcl_lds_id(1) 1024\ndcl_cb cb0[1]\ndcl_literal l0, 2, 0, 1, 4\n{literals}mov r0.x, vTidInGrpFlat.x\n\
            ishl r0.y, r0.x, l0.x\nmov r1.y, vAbsTidFlat.x\nishl r1.x, r1.y, l0.x\nuav_raw_load_id(1) r2.x, r1.x\n\
            mov r10.x, r2.x\nlds_store_id(0) r0.y, r2.x\nfence_threads_lds\n{body}{last}if_logicalnz r4.x\n\
            lds_load_id(0) r2.x, r0.y\nlds_load_id(1) r5.x, r0.y\niadd r2.x, r2.x, r5.x\nixor r2.x, r2.x, r10.x\n\
            imul r3.x, vThreadGrpIdFlat.x, l0.w\niadd r3.x, r3.x, r0.x\nishl r3.x, r3.x, l0.x\n\
            uav_raw_store_id(0) mem0.x___, r3.x, r2.x\nendif\nend\n",
            4 * threads
        );
        let groups = 3;
        let of = |machine: &Machine| {
            let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
            let input = machine.filled(Format::UnsignedInt32x1, 2048, 1, &words);
            let constants = vec![(0, machine.filled(Format::UnsignedInt32x4, 1, 1, &[300, 0, 0, 0]))];
            let uavs = vec![(0, out.clone()), (1, input)];
            machine.run(&text, Bindings { uavs, constants, ..Bindings::default() }, grid(groups, threads));
            read(&out, 4 * groups as usize)
        };
        let interpreted = of(&Machine::limited(InstructionSet::Baseline));
        for (set, machine) in &machines {
            assert_eq!(of(machine), interpreted, "{set:?}, round {round}:\n{text}");
        }
    }
}
