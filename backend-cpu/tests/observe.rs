//! Checks of kernels and traces of threads.

mod harness;

use std::sync::Arc;

use backend_cpu::{CpuBackend, Misuse, trace};
use cal_hal::{Backend, Bindings, Command, DeviceOptions, Extent, Format};
use harness::{Machine, compile, grid, read};

/// What a checked run of one group finds: misuse, the text of the instruction, and the thread.
fn findings(text: &str, threads: u32) -> Vec<(Misuse, String, u32)> {
    let backend = CpuBackend::new();
    let device =
        backend.adapters()[0].open(&DeviceOptions { checks: true, ..DeviceOptions::default() }).unwrap();
    let machine = Machine { queue: device.create_queue().unwrap(), device };
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    machine.run(text, Bindings { uavs: vec![(0, out)], ..Bindings::default() }, grid(1, threads));
    let list = backend.findings();
    assert!(backend.findings().is_empty());
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
    let backend = CpuBackend::new();
    let device =
        backend.adapters()[0].open(&DeviceOptions { checks: true, ..DeviceOptions::default() }).unwrap();
    let machine = Machine { queue: device.create_queue().unwrap(), device };
    let kernel = machine.device.load_with_text(Arc::new(compile(text)), text.as_bytes()).unwrap();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Arc::new(Bindings { uavs: vec![(0, out)], ..Bindings::default() });
    let extent = Extent::Grid { groups: [4, 1, 1], block: [8, 4, 1] };
    let ticket = machine.queue.submit(Command::Launch { kernel, bindings, extent }).unwrap();
    machine.queue.wait(ticket).unwrap();
    let list = backend.findings();
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
fn a_trace_follows_one_thread() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 3, 0\n\
        ishl r0.x, vAbsTid0.x, l0.x\nmov r1.x, l0.w\nwhileloop\nieq r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\n\
        iadd r1.x, r1.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    let mut values = Vec::new();
    trace(&compile(text), &bindings, grid(4, 64), [70, 0, 0], &mut |step| {
        let line = &text[step.span.start as usize..step.span.end as usize];
        values
            .extend(step.writes.iter().map(|(_, word)| (line.split(' ').next().unwrap().to_owned(), *word)));
    })
    .unwrap();
    let named = |name: &str| values.iter().filter(|(n, _)| n == name).map(|(_, w)| *w).collect::<Vec<u32>>();
    assert_eq!(named("ishl"), [280]);
    assert_eq!(named("iadd"), [1, 2, 3]);
    assert_eq!(named("ieq"), [0, 0, 0, !0]);
    // Only the thread's own group ran.
    let got = read(&out, 256);
    assert!((0..256).all(|t| got[t] == if (64..128).contains(&t) { 3 } else { 0 }));
    assert!(trace(&compile(text), &bindings, grid(4, 64), [256, 0, 0], &mut |_| {}).is_err());
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
