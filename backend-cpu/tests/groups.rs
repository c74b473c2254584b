//! Groups: barriers of several waves, LDS of both kinds, atomics, GDS, counters, thread numbers.

mod harness;

use harness::{Machine, grid, read};
use recal_cpu::InstructionSet;
use recal_hal::{Bindings, Extent, Format};

#[test]
fn waves_meet_at_barriers() {
    // Each thread writes its number to LDS, then reads that of the thread 65 further on, twice over.
    let text = "il_cs_2_0\ndcl_num_thread_per_group 200\ndcl_raw_uav_id(0)\ndcl_lds_id(1) 800\n\
        dcl_literal l0, 2, 65, 200, 1\nishl r0.x, vTidInGrpFlat0.x, l0.x\nmov r1.x, vTidInGrpFlat0.x\n\
        mov r5.x, l0.w\nwhileloop\nlds_store_id(1) r0.x, r1.x\nfence_threads_lds\n\
        iadd r2.x, vTidInGrpFlat0.x, l0.y\numod r2.x, r2.x, l0.z\nishl r2.x, r2.x, l0.x\nlds_load_id(1) r3.x, r2.x\n\
        fence_threads_lds\nmov r1.x, r3.x\nbreak_logicalz r5.x\nmov r5.x, r5.y\nendloop\n\
        uav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let got = Machine::new().compute(text, 200, 200);
    assert!((0..200).all(|t| got[t] as usize == (t + 130) % 200));
}

#[test]
fn tree_sum_over_1024_threads() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 1024\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 4096\n\
        dcl_literal l0, 2, 512, 1, 0\nishl r0.x, vTidInGrpFlat0.x, l0.x\nlds_store_id(0) r0.x, vTidInGrpFlat0.x\n\
        mov r1.x, l0.y\nwhileloop\nfence_threads_lds\nbreak_logicalz r1.x\nult r2.x, vTidInGrpFlat0.x, r1.x\n\
        if_logicalnz r2.x\nishl r3.x, r1.x, l0.x\niadd r3.x, r3.x, r0.x\nlds_load_id(0) r4.x, r3.x\n\
        lds_load_id(0) r4._y__, r0.x\niadd r4.x, r4.x, r4.y\nlds_store_id(0) r0.x, r4.x\nendif\n\
        ushr r1.x, r1.x, l0.z\nendloop\nlds_load_id(0) r5.x, l0.w\nuav_raw_store_id(0) mem0.x___, r0.x, r5.x\nend\n";
    let got = Machine::new().compute(text, 1024, 1024);
    assert!(got.iter().all(|&sum| sum == 1023 * 1024 / 2));
}

#[test]
fn lockstep_without_barriers_in_one_wave() {
    // Write own, read the neighbour's, write again without a fence between: all 64 move together.
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_size_per_thread 4\ndcl_lds_sharing_mode _wavefrontRel\n\
        dcl_raw_uav_id(0)\ndcl_literal l0, 1, 63, 2, 0\nmov r1, vTidInGrp0.xxxx\nlds_write_vec mem0, r1\nfence_lds\n\
        iadd r2.x, vTidInGrp0.x, l0.x\nand r2.x, r2.x, l0.y\nlds_read_vec r3, r2.x000\nlds_write_vec mem0, r3\n\
        fence_lds\nlds_read_vec r3, r2.x000\nishl r0.x, vTidInGrp0.x, l0.z\n\
        uav_raw_store_id(0) mem0.x___, r0.x, r3.x\nend\n";
    let got = Machine::new().compute(text, 64, 64);
    assert!((0..64).all(|t| got[t] as usize == (t + 2) % 64));
}

#[test]
fn neighbour_exchange_transposes_quads() {
    // Thread t owns (4t, 4t+1, 4t+2, 4t+3); after the exchange it holds component t%4 of its quad's threads.
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_size_per_thread 4\ndcl_raw_uav_id(0)\n\
        dcl_literal l0, 0, 1, 2, 3\ndcl_literal l1, 4, 4, 4, 4\nishl r0.x, vTidInGrp0.x, l0.z\niadd r1, r0.xxxx, l0\n\
        lds_write_vec mem0, r1\nfence_lds\nlds_read_vec_neighborExch r3, vTidInGrp0.x000\n\
        ishl r0.x, r0.x, l0.z\nuav_raw_store_id(0) mem0.xyzw, r0.x, r3\nend\n";
    let got = Machine::new().compute(text, 64, 256);
    for t in 0..64 {
        for c in 0..4 {
            assert_eq!(got[4 * t + c] as usize, 4 * ((t & !3) + c) + (t & 3));
        }
    }
}

#[test]
fn atomics_add_up_over_all_groups() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 4, 8\n\
        uav_read_add_id(0) r1.x, l0.x, l0.y\numax r2.x, r1.x, l0.x\nuav_add_id(0) l0.z, r1.x\n\
        uav_umax_id(0) l0.w, r1.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 4, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(text, bindings, grid(500, 64));
    let n = 500 * 64u32;
    // Every ticket from 0 to n − 1 was given out once.
    assert_eq!(read(&out, 3), [n, (u64::from(n) * u64::from(n - 1) / 2) as u32, n - 1]);
}

#[test]
fn compare_exchange_and_out_of_range_atomics() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 7, 4, 4096\n\
        dcl_literal l1, 2, 1, 0, 16\nuav_read_cmp_xchg_id(0) r1.x, l0.x, l0.y, l0.x\n\
        ishl r0.x, vTidInGrpFlat0.x, l1.x\niadd r0.x, r0.x, l1.w\nuav_read_add_id(0) r2.x, l0.w, l0.y\n\
        iadd r1.x, r1.x, r2.x\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let got = Machine::new().compute(text, 64, 68);
    assert_eq!(got[0], 7);
    // Lane 0 saw 0, all later ones 7; the atomic outside returned 0.
    assert_eq!(got[4], 0);
    assert!(got[5..].iter().all(|&old| old == 7));
}

#[test]
fn gds_lives_for_a_launch() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_gds_id(0) 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 2, 3\n\
        gds_read_add_id(0) r1.x, l0.x, l0.y\nuav_umax_id(0) l0.x, r1.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 4, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    for _ in 0..2 {
        machine.run(text, bindings.clone(), grid(10, 64));
        assert_eq!(read(&out, 1), [639]);
    }
}

#[test]
fn append_counters_outlive_launches() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 2, 0, 0\n\
        append_buf_alloc_id(0) r1.x\nishl r0.x, r1.x, l0.y\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(text, bindings.clone(), grid(2, 64));
    machine.run(text, bindings, grid(2, 64));
    assert_eq!(read(&out, 256), (0..256).collect::<Vec<u32>>());
}

#[test]
fn thread_numbers_of_a_three_dimensional_grid() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4, 3, 2\ndcl_raw_uav_id(0)\ndcl_literal l0, 5, 32, 0, 0\n\
        dcl_literal l1, 0, 16, 4, 1\n\
        umul r0.x, vAbsTidFlat.x, l0.y\nuav_raw_store_id(0) mem0.xyz_, r0.x, vAbsTid0.xyzx\niadd r0.x, r0.x, l1.y\n\
        mov r1.x, vTidInGrpFlat.x\nmov r1._y__, vThreadGrpIdFlat.x\nmov r1.__zw, vThreadGrpId.xxyz\n\
        uav_raw_store_id(0) mem0, r0.x, r1\niadd r0.x, r0.x, l1.z_neg(xyzw)\n\
        uav_raw_store_id(0) mem0.x___, r0.x, vThreadGrpId.x\nend\n";
    // The same where some of it is interpreted.
    let array = "dcl_indexed_temp_array x0[8]\nmov x0[vTidInGrp.x], vAbsTid0.xyzx\nmov r2, x0[vTidInGrp.x]\n";
    let partly =
        text.replace("umul r0.x", &format!("{array}umul r0.x")).replace("r0.x, vAbsTid0.xyzx", "r0.x, r2");
    for (set, machine) in machines() {
        for text in [text, &partly] {
            let (groups, block) = ([2u32, 3, 2], [4u32, 3, 2]);
            let threads = 24 * 12;
            let out = machine.surface(Format::UnsignedInt32x1, 8 * threads, 1);
            let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
            machine.run(text, bindings, Extent::Grid { groups, block });
            let got = read(&out, 8 * threads as usize);
            for flat in 0..threads {
                let (group, own) = (flat / 24, flat % 24);
                let g = [group % 2, group / 2 % 3, group / 6];
                let t = [own % 4, own / 4 % 3, own / 12];
                let at = 8 * flat as usize;
                let place = [g[0] * 4 + t[0], g[1] * 3 + t[1], g[2] * 2 + t[2]];
                assert_eq!(got[at..at + 3], place, "{set:?}");
                assert_eq!(got[at + 3..at + 8], [g[0], own, group, g[1], g[2]], "{set:?}");
            }
        }
    }
}

#[test]
fn all_lanes_access_memory_before_any_goes_on() {
    // Two rotations by 16 and a store between loads, in LDS and in a UAV that has two numbers, without a fence.
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 256\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
        dcl_literal l0, 2, 16, 63, 0\nishl r0.x, vTidInGrpFlat0.x, l0.x\niadd r1.x, vTidInGrpFlat0.x, l0.y\n\
        iand r1.x, r1.x, l0.z\nishl r1.x, r1.x, l0.x\nlds_store_id(0) r0.x, vTidInGrpFlat0.x\n\
        lds_load_id(0) r2.x, r1.x\nlds_store_id(0) r0.x, r2.x\nlds_load_id(0) r3.x, r1.x\n\
        uav_raw_store_id(0) mem0.x___, r0.x, r3.x\nuav_raw_load_id(1) r4.x, r1.x\n\
        uav_raw_store_id(1) mem0.x___, r0.x, r4.x\nuav_raw_load_id(0) r5.x, r1.x\n\
        uav_raw_store_id(0) mem0.x___, r0.x, r5.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone()), (1, out.clone())], ..Bindings::default() };
    machine.run(text, bindings, grid(1, 64));
    // Twice in LDS, twice in the UAV: all the way round.
    assert_eq!(read(&out, 64), (0..64).collect::<Vec<u32>>());
}

/// A machine for each instruction set that this processor has.
fn machines() -> impl Iterator<Item = (InstructionSet, Machine)> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.available());
    sets.map(|set| (set, Machine::limited(set)))
}

/// Both sides of a choice, one within another, load from the memory that they then store to: all lanes load before any stores, also
/// where lanes 16 or 32 further on are another strip's.
#[test]
fn choices_store_what_all_lanes_have_loaded_before() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 256\n\
        dcl_literal l0, 2, 17, 63, 1\ndcl_literal l1, 3, 40, 100, 5\nmov r0.x, vTidInGrpFlat0.x\nishl r0.y, r0.x, l0.x\n\
        imul r1.x, r0.x, r0.x\nlds_store_id(0) r0.y, r1.x\nfence_threads_lds\n\
        iadd r2.x, r0.x, l0.y\niand r2.x, r2.x, l0.z\nishl r2.x, r2.x, l0.x\niand r3.x, r0.x, l1.x\n\
        if_logicalnz r3.x\n\
          lds_load_id(0) r4.x, r2.x\niadd r4.x, r4.x, l1.z\nlds_store_id(0) r0.y, r4.x\n\
          ult r3.x, r0.x, l1.y\n\
          if_logicalnz r3.x\n\
            lds_load_id(0) r5.x, r2.x\niadd r5.x, r5.x, r4.x\nlds_store_id(0) r0.y, r5.x\n\
          endif\n\
          lds_load_id(0) r6.x, r0.y\niadd r6.x, r6.x, l1.w\nlds_store_id(0) r0.y, r6.x\n\
        else\n\
          lds_load_id(0) r4.x, r2.x\nlds_store_id(0) r0.y, r4.x\n\
        endif\n\
        lds_load_id(0) r7.x, r0.y\nuav_raw_store_id(0) mem0.x___, r0.y, r7.x\nend\n";
    let mut memory: Vec<u32> = (0..64).map(|t| t * t).collect();
    let all = |memory: &mut Vec<u32>, which: &dyn Fn(u32) -> bool, new: &dyn Fn(&[u32], u32) -> u32| {
        let before = memory.clone();
        (0..64).filter(|&t| which(t)).for_each(|t| memory[t as usize] = new(&before, t));
    };
    let other = |memory: &[u32], t: u32| memory[(t as usize + 17) % 64];
    let first = |t: u32| t & 3 != 0;
    let start = memory.clone();
    let loaded = |t: u32| other(&start, t) + 100;
    all(&mut memory, &first, &|_, t| loaded(t));
    all(&mut memory, &|t| first(t) && t < 40, &|memory, t| other(memory, t) + loaded(t));
    all(&mut memory, &first, &|memory, t| memory[t as usize] + 5);
    all(&mut memory, &|t| !first(t), &|memory, t| other(memory, t));
    for (set, machine) in machines() {
        assert_eq!(machine.compute(text, 64, 64), memory, "{set:?}");
    }
}

/// Rounds that follow from constants, around barriers of several waves.
/// All threads of a wave load before any stores, and the second store comes after the first one of all of them.
#[test]
fn waves_load_and_store_in_place() {
    let text = |block: u32| {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group {block}\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 17, 63, 100\n\
            dcl_literal l1, 32, 16, 31, 1000\ndcl_literal l2, 0xFFFFFFC0, 0, 0, 0\niand r0.x, vAbsTid.x, l2.x\n\
            iand r0.y, vAbsTid.x, l0.z\nishl r0.z, vAbsTid.x, l0.x\niadd r1.x, r0.y, l0.y\niand r1.x, r1.x, l0.z\n\
            iadd r1.x, r1.x, r0.x\nishl r1.x, r1.x, l0.x\nuav_raw_load_id(0) r2.x, r1.x\niadd r2.x, r2.x, l0.w\n\
            uav_raw_store_id(0) mem0.x___, r0.z, r2.x\nult r3.x, r0.y, l1.x\nif_logicalnz r3.x\n\
            iadd r3.x, r0.y, l1.y\niand r3.x, r3.x, l1.z\niadd r3.x, r3.x, r0.x\nishl r3.x, r3.x, l0.x\n\
            iadd r3.y, vAbsTid.x, l1.w\nuav_raw_store_id(0) mem0.x___, r3.x, r3.y\nendif\nend\n"
        )
    };
    const THREADS: u32 = 1280;
    let words: Vec<u32> = (0..THREADS).map(|k| 7 * k).collect();
    let expected = |k: u32| {
        let (wave, own) = (k / 64 * 64, k % 64);
        if own < 32 { 1000 + wave + (own + 16) % 32 } else { words[(wave + (own + 17) % 64) as usize] + 100 }
    };
    for (set, machine) in machines() {
        // Groups of several waves are parted where nothing tells which they are.
        for block in [64, 128, 320] {
            let memory = machine.filled(Format::UnsignedInt32x1, THREADS, 1, &words);
            let bindings = Bindings { uavs: vec![(0, memory.clone())], ..Bindings::default() };
            machine.run(&text(block), bindings, grid(THREADS / block, block));
            let got = read(&memory, THREADS as usize);
            assert!(got.into_iter().eq((0..THREADS).map(expected)), "{set:?}, groups of {block}");
        }
    }
}

#[test]
fn sums_of_halves_in_known_rounds() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 200\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 1024\n\
        dcl_literal l0, 2, 128, 1, 0\ndcl_literal l1, 56, 800, 200, 0\nmov r0.x, vTidInGrpFlat0.x\nishl r0.y, r0.x, l0.x\n\
        imul r1.x, r0.x, r0.x\nlds_store_id(0) r0.y, r1.x\nfence_threads_lds\nmov r6.x, l0.y\nwhileloop\n\
        break_logicalz r6.x\nult r3.x, r0.x, r6.x\nif_logicalnz r3.x\niadd r7.x, r0.x, r6.x\nishl r7.x, r7.x, l0.x\n\
        lds_load_id(0) r8.x, r7.x\nlds_load_id(0) r9.x, r0.y\niadd r9.x, r9.x, r8.x\nlds_store_id(0) r0.y, r9.x\nendif\n\
        fence_threads_lds\nushr r6.x, r6.x, l0.z\nendloop\nlds_load_id(0) r9.x, l0.w\niadd r9.x, r9.x, r6.x\n\
        uav_raw_store_id(0) mem0.x___, r0.y, r9.x\nend\n";
    let sum: u32 = (0..200).map(|t| t * t).sum();
    for (set, machine) in machines() {
        assert_eq!(machine.compute(text, 200, 200), [sum; 200], "{set:?}");
    }
}

/// A choice that waves take or not as a whole, in every group alike, whose second half does more than the choice: waves that take no part
/// know it there, too.
#[test]
fn waves_that_take_no_part_in_a_choice_do_what_follows() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 1024\n\
        dcl_literal l0, 2, 256, 64, 1024\ndcl_literal l1, 3, 100, 7, 1020\nmov r0.x, vTidInGrpFlat0.x\nishl r0.y, r0.x, l0.x\n\
        lds_store_id(0) r0.y, r0.x\nfence_threads_lds\n\
        ult r3.x, r0.x, l0.y\nif_logicalnz r3.x\nlds_load_id(0) r4.x, r0.y\nimul r5.x, r4.x, l1.x\nlds_store_id(0) r0.y, r5.x\n\
        iadd r6.x, r4.x, l1.z\nlds_store_id(0) r0.y, r6.x\nendif\nfence_threads_lds\n\
        ixor r9.x, r0.y, l1.w\nimul r9.y, r0.x, l1.x\nlds_store_id(0) r9.x, r9.y\nfence_threads_lds\n\
        ult r3.x, r0.x, l0.z\nif_logicalnz r3.x\nlds_load_id(0) r4.x, r0.y\niadd r4.x, r4.x, l1.y\nlds_store_id(0) r0.y, r4.x\n\
        endif\niadd r7.x, r0.y, l0.w\nuav_raw_store_id(0) mem0.x___, r7.x, r0.x\nfence_threads_lds\n\
        lds_load_id(0) r8.x, r0.y\nuav_raw_store_id(0) mem0.x___, r0.y, r8.x\nend\n";
    let sums = (0..256).map(|t| 3 * (255 - t) + if t < 64 { 100 } else { 0 });
    let expected: Vec<u32> = sums.chain(0..256).collect();
    for (set, machine) in machines() {
        assert_eq!(machine.compute(text, 256, 512), expected, "{set:?}");
    }
}
