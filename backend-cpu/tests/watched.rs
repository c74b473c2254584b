//! Checks of kernels, on the device.

mod harness;

use harness::{Machine, check, grid, lines, read};
use recal_cpu::{CpuBackend, Finding, Misuse};
use recal_hal::{Backend, Bindings, DeviceOptions, Extent, Format};

/// The same for one group with 1024 bytes as raw uav0: misuse, the instruction, and the thread.
fn findings(text: &str, threads: u32) -> Vec<(Misuse, String, u32)> {
    let bind = |machine: &Machine| {
        let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
        Bindings { uavs: vec![(0, out)], ..Bindings::default() }
    };
    let list = check(text, bind, grid(1, threads));
    list.into_iter()
        .map(|f| (f.misuse, text[f.span.start as usize..f.span.end as usize].trim().to_owned(), f.thread))
        .collect()
}

const HEAD: &str = "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 512\n\
    dcl_literal l0, 2, 1, 100, 0\nishl r0.x, vTidInGrpFlat0.x, l0.x\n";

#[test]
fn a_clean_kernel_has_no_findings() {
    let text = format!(
        "{HEAD}lds_store_id(0) r0.x, r0.x\nfence_threads_lds\nlds_load_id(0) r1.x, l0.w\n\
         uav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n"
    );
    assert_eq!(findings(&text, 128), []);
}

#[test]
fn reads_of_what_was_never_written() {
    let text = format!(
        "{HEAD}ult r2.x, vTidInGrpFlat0.x, l0.z\nif_logicalnz r2.x\nmov r1.x, l0.y\nendif\n\
         iadd r1._y__, r1.x, l0.y\nuav_raw_store_id(0) mem0.x___, r0.x, r1.y\nend\n"
    );
    let list = findings(&text, 128);
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!((list[0].0, list[0].2), (Misuse::Uninitialized, 100));
    assert!(list[0].1.starts_with("iadd"), "{list:?}");
}

#[test]
fn accesses_out_of_range() {
    let text = format!("{HEAD}ishl r0.x, r0.x, l0.x\nuav_raw_store_id(0) mem0.xyz_, r0.x, r0.xxxx\nend\n");
    // Thread t writes 12 bytes at 16 t; 1024 are bound.
    let list = findings(&text, 128);
    assert_eq!(list.len(), 1, "{list:?}");
    assert_eq!((list[0].0, list[0].2), (Misuse::OutOfRange, 64));
}

#[test]
fn races_between_waves() {
    let text = format!(
        "{HEAD}lds_store_id(0) r0.x, r0.x\nlds_load_id(0) r1.x, l0.w\n\
         uav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n"
    );
    let list = findings(&text, 128);
    assert_eq!(list.iter().map(|f| f.0).collect::<Vec<_>>(), [Misuse::Race], "{list:?}");
    assert!(list[0].1.starts_with("lds_load"), "{list:?}");
}

#[test]
fn findings_name_line_and_place() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 8,4\ndcl_raw_uav_id(0)\n\
        dcl_literal l0, 4000, 21, 0, 0\nieq r1.x, vAbsTid0.x, l0.y\nif_logicalnz r1.x\n\
        uav_raw_store_id(0) mem0.x, l0.x, l0.x ; far away\nendif\nend\n";
    let bind = |machine: &Machine| {
        let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
        Bindings { uavs: vec![(0, out)], ..Bindings::default() }
    };
    let list = check(text, bind, Extent::Grid { groups: [4, 1, 1], block: [8, 4, 1] });
    assert_eq!(list.len(), 1, "{list:?}");
    // Column 21 is column 5 of group 2.
    let row = list[0].position[1];
    assert_eq!((list[0].position, list[0].part, list[0].thread), ([21, row, 0], 2, 8 * row + 5));
    assert_eq!(list[0].line, Some((7, "uav_raw_store_id(0) mem0.x, l0.x, l0.x".into())));
    assert!(
        list[0]
            .to_string()
            .starts_with("kernel line 7, `uav_raw_store_id(0) mem0.x, l0.x, l0.x`: thread (21, ")
    );
    assert!(
        list[0].to_string().ends_with("of group 2, accesses uav0[byte 4000], out of range"),
        "{}",
        list[0]
    );
}

#[test]
fn barriers_in_divergent_flow() {
    let text = format!(
        "{HEAD}ult r2.x, vTidInGrpFlat0.x, l0.z\nif_logicalnz r2.x\nfence_threads\nendif\n\
         uav_raw_store_id(0) mem0.x___, r0.x, r0.x\nend\n"
    );
    let list = findings(&text, 128);
    assert_eq!(list.iter().map(|f| (f.0, f.2)).collect::<Vec<_>>(), [(Misuse::DivergentBarrier, 100)]);
}

#[test]
fn pixels_are_named_by_their_place() {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_literal l0, 0x41280000, 0x40B00000, 0, 0\neq r0.xy, vWinCoord0.xy, l0.xy\niand r0.x, r0.x, r0.y\n\
        if_logicalnz r0.x\nmov r2.x, r1.x\nendif\nmov o0, r2.x\nend\n";
    for width in [16, 40, 300] {
        let backend = CpuBackend::new();
        let device =
            backend.adapters()[0].open(&DeviceOptions { checks: true, ..DeviceOptions::default() }).unwrap();
        let machine = Machine { queue: device.create_queue().unwrap(), device };
        let out = machine.surface(Format::Float32x1, width, 20);
        let bindings = Bindings { outputs: vec![(0, out)], ..Bindings::default() };
        machine.run(text, bindings, Extent::Domain { x: 0, y: 0, width, height: 20 });
        let list = backend.findings();
        let read = list.iter().find(|f| text[f.span.start as usize..].starts_with("mov r2.x, r1.x"));
        // Only the thread whose centre is (10.5, 5.5) reads r1.
        assert_eq!(read.map(|f| f.position), Some([10, 5, 0]), "{width}: {list:?}");
    }
}

/// A kernel of one group with two blocks of LDS and raw uav0 of 1024 bytes. `r0.x` is the thread, `r0.y` four times that.
fn group(threads: u32, body: &str) -> Vec<Finding> {
    let text = format!(
        "il_cs_2_0 dcl_num_thread_per_group {threads} dcl_raw_uav_id(0) dcl_lds_id(0) 512 dcl_lds_id(1) 512 \
         dcl_literal l0, 0, 1, 2, 3 dcl_literal l1, 4, 64, 100, 512\n\
         mov r0.x, vTidInGrpFlat0.x\nishl r0._y__, r0.x, l0.z\n{body}\nend\n"
    );
    let bind = |machine: &Machine| {
        let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
        Bindings { uavs: vec![(0, out)], ..Bindings::default() }
    };
    check(&text, bind, grid(1, threads))
}

#[test]
fn copies_and_unused_components_are_no_reads() {
    // r1.yzw were never written, and nothing depends on them.
    let body = "mov r1.x, r0.x\nmov r2, r1\niadd r3, r2, r2\nuav_raw_store_id(0) mem0.x___, r0.y, r3.x";
    assert_eq!(group(64, body), []);
    // Here something does, by way of a copy and a sum; what was read first is told, by name.
    let list =
        group(64, "mov r1.x, r0.x\nmov r2, r1\niadd r3, r2, r2\nuav_raw_store_id(0) mem0.x___, r0.y, r3.z");
    assert_eq!(lines(&list), [(Misuse::Uninitialized, 5)]);
    assert_eq!((list[0].what.as_str(), list[0].thread), ("r1.z", 0));
    // A choice depends on what it chooses: for threads below 2 on r5, which nobody wrote.
    let choice = "ult r1.x, r0.x, l0.z\ncmov_logical r2.x, r1.x, r5.x, r0.x\nuav_raw_store_id(0) mem0.x___, r0.y, r2.x";
    let list = group(64, choice);
    assert_eq!(lines(&list), [(Misuse::Uninitialized, 5)]);
    assert_eq!((list[0].what.as_str(), list[0].thread), ("r5.x", 0));
    assert_eq!(group(64, &choice.replace("ult", "ilt").replace("l0.z", "l0.x")), []);
}

#[test]
fn conditions_addresses_and_outputs_are_reads() {
    let one = |body: &str| {
        let list = group(64, body);
        assert_eq!(list.len(), 1, "{body}: {list:?}");
        (list[0].misuse, list[0].what.clone())
    };
    let read = |name: &str| (Misuse::Uninitialized, name.to_owned());
    assert_eq!(one("if_logicalnz r4.w\nmov r1.x, r0.x\nendif"), read("r4.w"));
    assert_eq!(one("whileloop\nbreak_logicalz r4.y\nendloop"), read("r4.y"));
    assert_eq!(one("lds_load_id(0) r1.x, r6.z"), read("r6.z"));
    let text = "il_ps_2_0\ndcl_output_generic o0\nmov o0, r3.xyxy\nend\n";
    let out = |format| {
        move |m: &Machine| Bindings { outputs: vec![(0, m.surface(format, 8, 8))], ..Bindings::default() }
    };
    let extent = Extent::Domain { x: 0, y: 0, width: 8, height: 8 };
    let list = check(&text.replace("mov", "mov r3.x, vObjIndex0.x\nmov"), out(Format::Float32x4), extent);
    assert_eq!((lines(&list), list[0].what.as_str()), (vec![(Misuse::Uninitialized, 4)], "r3.y"));
    // What the format does not store does not matter.
    assert_eq!(
        check(&text.replace("mov", "mov r3.x, vObjIndex0.x\nmov"), out(Format::Float32x1), extent),
        []
    );
}

#[test]
fn elements_of_arrays_that_were_never_written() {
    let body = "umod r1.x, r0.x, l1.x\nmov x0[r1.x].xy, r0.xx\nmov r2.xyz, x0[r1.x].xyz\n\
        uav_raw_store_id(0) mem0.x___, r0.y, r2.Z";
    let text = |component: &str| body.replace('Z', component);
    let run = |body: String| {
        let text = format!(
            "il_cs_2_0 dcl_num_thread_per_group 64 dcl_raw_uav_id(0) dcl_indexed_temp_array x0[4]\n\
             dcl_literal l0, 0, 1, 2, 3 dcl_literal l1, 4, 64, 100, 512\n\
             mov r0.x, vTidInGrpFlat0.x\nishl r0._y__, r0.x, l0.z\n{body}\nend\n"
        );
        let bind = |m: &Machine| Bindings {
            uavs: vec![(0, m.surface(Format::UnsignedInt32x1, 256, 1))],
            ..Bindings::default()
        };
        check(&text, bind, grid(1, 64))
    };
    assert_eq!(run(text("y")), []);
    let list = run(text("z"));
    assert_eq!((lines(&list), list[0].what.as_str()), (vec![(Misuse::Uninitialized, 7)], "x0[0].z"));
    // Elements 1 to 3 are written, by an offset.
    let offset = |element: &str| {
        format!(
            "umod r1.x, r0.x, l0.w\nmov x0[r1.x + 1], r0.xxxx\nmov r2.x, x0[{element}].x\n\
             uav_raw_store_id(0) mem0.x___, r0.y, r2.x"
        )
    };
    assert_eq!(run(offset("r1.x + 1")), []);
    // The same elements, named by another register.
    let named = offset("r3.x").replace("mov r2.x", "iadd r3.x, r1.x, l0.y\nmov r2.x");
    assert_eq!(run(named), []);
    let list = run(offset("r1.x"));
    assert_eq!((lines(&list), list[0].what.as_str()), (vec![(Misuse::Uninitialized, 7)], "x0[0].x"));
}

#[test]
fn races_within_a_wave() {
    let raced = |body: &str| {
        let list = group(64, body);
        assert!(list.iter().all(|f| f.misuse == Misuse::Race), "{body}: {list:?}");
        list.iter().map(|f| f.line.as_ref().unwrap().0).collect::<Vec<_>>()
    };
    // All lanes store to one word: different values race, the same value does not.
    assert_eq!(raced("lds_store_id(0) l0.x, r0.x"), [4]);
    assert_eq!(raced("lds_store_id(0) l0.x, l0.y"), []);
    assert_eq!(raced("uav_raw_store_id(0) mem0.x___, l0.x, r0.x"), [4]);
    // Later instructions: writing again, or reading, what a neighbour wrote wants a fence of that memory.
    let next = "lds_store_id(0) r0.y, r0.x\nFENCE\nixor r1.x, r0.y, l1.x\n";
    let load = format!("{next}lds_load_id(0) r2.x, r1.x");
    let store = format!("{next}lds_store_id(0) r1.x, r0.x");
    for again in [load, store] {
        assert_eq!(raced(&again.replace("FENCE", "nop")), [7], "{again}");
        assert_eq!(raced(&again.replace("FENCE", "fence_lds")), []);
        assert_eq!(raced(&again.replace("FENCE", "fence_threads")), []);
        assert_eq!(raced(&again.replace("FENCE", "fence_memory")), [7]);
    }
    // In lockstep a neighbour has read the old value before it is overwritten.
    assert_eq!(raced("ixor r1.x, r0.y, l1.x\nlds_load_id(0) r2.x, r1.x\nlds_store_id(0) r0.y, r0.x"), []);
    // Blocks are memories of their own; bytes of one word do not meet.
    assert_eq!(raced("lds_store_id(0) r0.y, r0.x\nixor r1.x, r0.y, l1.x\nlds_load_id(1) r2.x, r1.x"), []);
    assert_eq!(raced("lds_store_byte_id(0) r0.x, r0.x\nlds_load_ubyte_id(0) r2.x, r0.x"), []);
    assert_eq!(raced("lds_store_byte_id(0) r0.x, r0.x\nlds_load_id(0) r2.x, r0.x"), [5]);
    // Atomics do not race among themselves, but with a plain load.
    assert_eq!(raced("lds_add_id(0) l0.x, l0.y\nlds_add_id(0) l0.x, l0.y"), []);
    assert_eq!(raced("lds_add_id(0) l0.x, l0.y\nlds_load_id(0) r2.x, l0.x"), [5]);
    assert_eq!(raced("lds_add_id(0) l0.x, l0.y\nfence_lds\nlds_load_id(0) r2.x, l0.x"), []);
}

#[test]
fn races_between_waves_want_barriers_of_their_memory() {
    let raced = |body: &str| {
        group(128, body).iter().map(|f| (f.misuse, f.line.as_ref().unwrap().0)).collect::<Vec<_>>()
    };
    let uav = "uav_raw_store_id(0) mem0.x___, r0.y, r0.x\nFENCE\nixor r1.x, r0.x, l1.y\nishl r1.x, r1.x, l0.z\n\
        uav_raw_load_id(0) r2.x, r1.x";
    for (fence, expected) in [
        ("fence_threads_memory", vec![]),
        ("fence_threads_lds", vec![(Misuse::Race, 8)]),
        ("fence_memory", vec![(Misuse::Race, 4), (Misuse::Race, 8)]),
    ] {
        assert_eq!(raced(&uav.replace("FENCE", fence)), expected, "{fence}");
    }
    // Reading what another wave overwrites later is no race in one wave, but it is between waves.
    let turn =
        "ixor r1.x, r0.x, l1.y\nishl r1.x, r1.x, l0.z\nlds_load_id(0) r2.x, r1.x\nlds_store_id(0) r0.y, r0.x";
    let list = group(128, turn);
    assert_eq!(lines(&list), [(Misuse::Race, 6), (Misuse::Race, 7)], "{list:?}");
    assert_eq!(list[1].what, "writes lds0[byte 256], which thread 0 uses too");
}

#[test]
fn races_on_typed_and_structured_memory() {
    let run = |body: &str| {
        let text = format!(
            "il_cs_2_0 dcl_num_thread_per_group 64 dcl_uav_id(0)_type(2d)_fmtx(uint) dcl_struct_uav_id(1) 16\n\
             dcl_literal l0, 0, 1, 2, 3\nmov r0, vTidInGrpFlat0.x\nishr r1.x, r0.x, l0.y\nmov r1.y, l0.x\n{body}\nend\n"
        );
        let bind = |m: &Machine| Bindings {
            uavs: vec![
                (0, m.surface(Format::UnsignedInt32x1, 64, 2)),
                (1, m.surface(Format::UnsignedInt32x1, 256, 1)),
            ],
            ..Bindings::default()
        };
        check(&text, bind, grid(1, 64))
            .iter()
            .map(|f| (f.misuse, f.line.as_ref().unwrap().0, f.what.clone()))
            .collect::<Vec<_>>()
    };
    // Threads 2 k and 2 k + 1 store to one element.
    let list = run("uav_store_id(0) r1.xyyy, r0");
    assert_eq!(list, [(Misuse::Race, 6, "writes uav0(0, 0), which thread 0 uses too".into())]);
    assert_eq!(run("mov r1.x, r0.x\nuav_store_id(0) r1.xyyy, r0"), []);
    let list = run("uav_struct_store_id(1) mem0.x___, r1.xy, r0.x");
    assert_eq!(list.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>(), [(Misuse::Race, 6)], "{list:?}");
    assert_eq!(run("mov r1.x, r0.x\nuav_struct_store_id(1) mem0.x___, r1.xy, r0.x"), []);
}

#[test]
fn barriers_that_a_wave_misses() {
    // Wave 1 goes around the barrier.
    let list = group(128, "ult r1.x, r0.x, l1.y\nif_logicalnz r1.x\nfence_threads\nendif");
    assert_eq!(lines(&list), [(Misuse::DivergentBarrier, 6)]);
    assert_eq!(list[0].thread, 64);
    // The waves wait at different ones.
    let list =
        group(128, "ult r1.x, r0.x, l1.y\nif_logicalnz r1.x\nfence_threads\nelse\nfence_threads_lds\nendif");
    assert_eq!(lines(&list), [(Misuse::DivergentBarrier, 6)]);
    // Who has returned counts as arrived, wherever the barrier is.
    let ended = "uge r1.x, r0.x, l1.z\nif_logicalnz r1.x\nret_dyn\nendif\n";
    let loops = "whileloop\nige r2.x, r3.x, l0.z\nbreak_logicalnz r2.x\nfence_threads\niadd r3.x, r3.x, l0.y\nendloop";
    assert_eq!(group(128, &format!("{ended}fence_threads")), []);
    assert_eq!(group(128, &format!("mov r3.x, l0.x\n{ended}{loops}")), []);
    // Who has only returned from the function that has the barrier has not.
    let list = group(128, &format!("call 7\nendmain\nfunc 7\n{ended}fence_threads\nret"));
    assert_eq!(lines(&list), [(Misuse::DivergentBarrier, 11)]);
    assert_eq!(list[0].thread, 100);
}

/// Launches that are checked leave what others leave: counters, GDS, atomics of two words, bytes.
#[test]
fn checked_launches_share_the_devices_memory() {
    let text = "il_cs_2_0 dcl_num_thread_per_group 64 dcl_raw_uav_id(0) dcl_struct_uav_id(1) 4 dcl_gds_id(0) 64\n\
        dcl_literal l0, 0, 1, 2, 3 dcl_literal l1, 4, 8, 800, 0x10000 dcl_literal l2, 12, 812, 0, 0\n\
        append_buf_alloc_id(1) r1.x\nishl r2.x, r1.x, l0.z\nuav_raw_store_id(0) mem0.x___, r2.x, vAbsTidFlat0.x\n\
        gds_add_id(0) l1.x, l0.w\ngds_add64_id(0) l1.y, l1.wwww\ngds_load_id(0) r3.x, l1.x\n\
        gds_load_id(0) r3._y__, l1.y\ngds_load_id(0) r3.__z_, l2.x\n\
        uav_raw_store_id(0) mem0.xyz_, l1.z, r3.xyzz\nuav_add_id(0) l2.y, l0.y\nend\n";
    let mut left = Vec::new();
    for checks in [false, true] {
        let machine = Machine::with(&DeviceOptions { checks, ..DeviceOptions::default() });
        let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
        let other = machine.surface(Format::UnsignedInt32x1, 64, 1);
        machine.device.set_counter(1, 10).unwrap();
        for _ in 0..2 {
            let uavs = vec![(0, out.clone()), (1, other.clone())];
            machine.run(text, Bindings { uavs, ..Bindings::default() }, grid(1, 64));
        }
        assert_eq!(machine.device.counter(1), Ok(138), "checks: {checks}");
        let words = read(&out, 256);
        assert_eq!(words[200..204], [192, 0x40_0000, 0x40_0000, 128], "checks: {checks}");
        let mut threads = words[10..138].to_vec();
        threads.sort_unstable();
        left.push(threads);
    }
    assert_eq!(left[0], left[1]);
}

/// Loops without an end stop where the device's time is over, checked or not.
#[test]
fn checked_launches_are_watched_for_time() {
    let options = DeviceOptions {
        checks: true,
        watchdog: Some(std::time::Duration::from_millis(50)),
        ..DeviceOptions::default()
    };
    for body in ["whileloop\nendloop", "whileloop\nfence_threads\nendloop"] {
        let text = format!("il_cs_2_0\ndcl_num_thread_per_group 128\n{body}\nend\n");
        let outcome = Machine::with(&options).try_run(&text, Bindings::default(), grid(1, 128));
        assert!(matches!(outcome, Err(recal_hal::Error::Timeout(_))), "{body}: {outcome:?}");
    }
}

#[test]
fn everything_that_can_be_missed() {
    let text = |body: &str| {
        format!(
            "il_cs_2_0 dcl_num_thread_per_group 64 dcl_raw_uav_id(0) dcl_uav_id(1)_type(2d)_fmtx(float)\n\
             dcl_lds_id(0) 256 dcl_indexed_temp_array x0[4] dcl_cb cb0[16]\n\
             dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
             dcl_literal l0, 0, 1, 2, 3 dcl_literal l1, -1, 4, 8, 0x80000000 dcl_literal l2, 7.5, 8.0, -0.5, 0x7FC00000\n\
             mov r0.x, vTidInGrpFlat0.x\nmov r1, l0.x\n{body}\nend\n"
        )
    };
    let run = |body: &str| {
        let bind = |m: &Machine| Bindings {
            uavs: vec![
                (0, m.surface(Format::UnsignedInt32x1, 64, 1)),
                (1, m.surface(Format::Float32x1, 8, 4)),
            ],
            resources: vec![(0, m.surface(Format::Float32x1, 8, 4))],
            constants: vec![(0, m.surface(Format::Float32x4, 16, 1))],
            global: Some(m.surface(Format::Float32x4, 16, 1)),
            ..Bindings::default()
        };
        let list = check(&text(body), bind, grid(1, 64));
        list.into_iter().map(|f| (f.misuse, f.what)).collect::<Vec<_>>()
    };
    for (body, what) in [
        ("uav_raw_load_id(0) r2.x, l1.x", "uav0[byte 4294967295]"),
        ("uav_add_id(0) l1.w, l0.y", "uav0[byte 2147483648]"),
        ("uav_store_id(1) l1.zxxx, l0", "uav1(8, -1)"),
        ("uav_load_id(1) r2, l1.xyxx", "uav1(-1, 4)"),
        ("lds_store_id(0) l1.w, l0.x", "lds0[byte 2147483648]"),
        ("mov x0[r1.x + 4], l0", "x0[4]"),
        ("mov r1.x, l1.x\nmov r2, x0[r1.x]", "x0[-1]"),
        ("mov r1.x, l1.w\nmov r2, cb0[r1.x]", "cb0[-2147483648]"),
        ("mov g[r1.x + 16], l0", "g[16]"),
        ("mov r1.x, l1.x\nmov r2, g[r1.x]", "g[-1]"),
        ("load_resource(0) r2, l1.zxxx", "i0(8, -1)"),
        ("sample_resource(0)_sampler(0) r2, l2.yxxx", "i0(8.0, 7.5)"),
        ("sample_resource(0)_sampler(0) r2, l2.wzzz", "i0(NaN, -0.5)"),
    ] {
        assert_eq!(run(body), [(Misuse::OutOfRange, what.to_owned())], "{body}");
    }
    for body in [
        "uav_store_id(1) l0.wwww, l2",
        "mov x0[r1.x + 3], l0",
        "mov r2, cb0[r1.x + 15]",
        "load_resource(0) r2, l0.wwww",
        "mov r1.y, l0.y\nsample_resource(0)_sampler(0) r2, r1.xxxx",
    ] {
        assert_eq!(run(body), [], "{body}");
    }
}
