//! Traces of threads, on the device.

mod harness;

use std::ops::ControlFlow;
use std::time::Duration;

use harness::{Machine, compile, grid, read};
use recal_cpu::{Area, At, Kind, Profile, TraceFlow, profile, trace};
use recal_hal::{Bindings, Format};

#[test]
fn a_trace_follows_one_thread() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 3, 0\n\
        ishl r0.x, vAbsTid0.x, l0.x\nmov r1.x, l0.w\nwhileloop\nieq r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\n\
        iadd r1.x, r1.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\n\
        uav_raw_load_id(0) r3.x, r0.x\nuav_raw_store_id(0) mem0.x___, r0.x, r3.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() };
    let mut values = Vec::new();
    trace(&compile(text), &bindings, grid(4, 64), [70, 0, 0], None, &mut |step| {
        let line = &text[step.span.start as usize..step.span.end as usize];
        values
            .extend(step.writes.iter().map(|(_, word)| (line.split(' ').next().unwrap().to_owned(), *word)));
        ControlFlow::Continue(())
    })
    .unwrap();
    let named = |name: &str| values.iter().filter(|(n, _)| n == name).map(|(_, w)| *w).collect::<Vec<u32>>();
    assert_eq!(named("ishl"), [280]);
    assert_eq!(named("iadd"), [1, 2, 3]);
    assert_eq!(named("ieq"), [0, 0, 0, !0]);
    assert_eq!(named("uav_raw_load_id(0)"), [3]);
    // Only the thread's own group ran.
    let got = read(&out, 256);
    assert!((0..256).all(|t| got[t] == if (64..128).contains(&t) { 3 } else { 0 }));
    assert!(
        trace(&compile(text), &bindings, grid(4, 64), [256, 0, 0], None, &mut |_| ControlFlow::Continue(()))
            .is_err()
    );
}

/// What is flushed before everything for a line that comes later is no step of that line.
#[test]
fn a_trace_begins_with_the_first_line() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 2, 0\n\
        mov r1.x, l0.x\nwhileloop\nige r2.x, r1.x, l0.z\nbreak_logicalnz r2.x\n\
        mad r0, r0, cb0[0], r0\niadd r1.x, r1.x, l0.y\nendloop\nend\n";
    let machine = Machine::new();
    let (uav, constants) =
        (machine.surface(Format::UnsignedInt32x1, 4, 1), machine.surface(Format::Float32x4, 1, 1));
    let bindings = Bindings { uavs: vec![(0, uav)], constants: vec![(0, constants)], ..Bindings::default() };
    let (program, _) = recal_il::lower::lower_named(&recal_il::front(text.as_bytes()).unwrap()).unwrap();
    let mut words = Vec::new();
    trace(&program, &bindings, grid(1, 4), [1, 0, 0], None, &mut |step| {
        words.push(text[step.span.start as usize..].split_whitespace().next().unwrap());
        ControlFlow::Continue(())
    })
    .unwrap();
    words.dedup();
    assert_eq!(words[..4], ["mov", "whileloop", "ige", "break_logicalnz"]);
}

#[test]
fn a_trace_shows_memory_and_flow() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(3) 256\n\
        dcl_indexed_temp_array x1[4]\ndcl_literal l0, 2, 1, 5, 0\n\
        ishl r0.x, vAbsTid0.x, l0.x\nmov r1.x, l0.y\nmov x1[r1.x + 1].xy, r0.xxxx\nmov r2.x, x1[2].y\n\
        lds_store_id(3) r0.x, l0.z\nlds_load_id(3) r3.x, r0.x\nfence_threads_lds\nlds_add_id(3) r0.x, l0.y\n\
        whileloop\niadd r1.x, r1.x, l0.y\nieq r4.x, r1.x, l0.z\nbreak_logicalnz r4.x\nendloop\n\
        if_logicalz r1.x\nmov r5.x, l0.x\nelse\nmov r5.x, l0.y\nendif\n\
        switch r1.x\ncase 1\nbreak\ncase 5\ncall 7\nbreak\ndefault\nbreak\nendswitch\n\
        uav_raw_store_id(0) mem0.xy__, r0.x, r1.x\nendmain\nfunc 7\niadd r1.x, r1.x, l0.y\nret\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Bindings { uavs: vec![(0, out)], ..Bindings::default() };
    let (mut accesses, mut flows) = (Vec::new(), Vec::new());
    // As people see it, with loads that nothing uses.
    let (program, _) = recal_il::lower::lower_named(&recal_il::front(text.as_bytes()).unwrap()).unwrap();
    trace(&program, &bindings, grid(1, 64), [3, 0, 0], None, &mut |step| {
        let word = text[step.span.start as usize..].split_whitespace().next().unwrap();
        if let Some(a) = step.access {
            assert!(!a.outside);
            let words: Vec<u32> = a.words.iter().map(|(_, word)| *word).collect();
            accesses.push((a.kind, a.area, a.at, words));
        }
        flows.extend(step.flow.map(|flow| (word, flow)));
        ControlFlow::Continue(())
    })
    .unwrap();
    let (array, lds, byte) = (Area::Array(1), Area::Lds(3), At::Byte(12));
    assert_eq!(
        accesses,
        [
            (Kind::Write, array, At::Element(2), vec![12, 12]),
            (Kind::Read, array, At::Element(2), vec![12]),
            (Kind::Write, lds, byte, vec![5]),
            (Kind::Read, lds, byte, vec![5]),
            (Kind::Atomic, lds, byte, vec![5, 6]),
            (Kind::Write, Area::Uav(0), byte, vec![6, 6]),
        ]
    );
    use TraceFlow as F;
    let expected = [
        ("fence_threads_lds", F::Fence),
        ("whileloop", F::Iteration(1)),
        ("break_logicalnz", F::Condition(false)),
        ("whileloop", F::Iteration(2)),
        ("break_logicalnz", F::Condition(false)),
        ("whileloop", F::Iteration(3)),
        ("break_logicalnz", F::Condition(false)),
        ("whileloop", F::Iteration(4)),
        ("break_logicalnz", F::Condition(true)),
        ("whileloop", F::LoopEnd(4)),
        ("if_logicalz", F::Condition(false)),
        ("switch", F::Case(5)),
        ("call", F::Call(7)),
        ("break", F::Condition(true)),
    ];
    let shown: Vec<_> =
        flows.iter().filter(|(_, flow)| !matches!(flow, F::Return(_) | F::End)).copied().collect();
    assert_eq!(shown, expected);
    let back = flows.iter().position(|(_, flow)| *flow == F::Return(7));
    let called = flows.iter().position(|(_, flow)| *flow == F::Call(7));
    assert!(back > called && back.is_some(), "{flows:?}");
    assert_eq!(flows.last().map(|(_, flow)| *flow), Some(F::End));
}

/// What a launch of one group counts, of a kernel with uav0 and zeros as cb0.
fn counted(body: &str, limit: Duration) -> (String, Profile) {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 32, 0\n{body}"
    );
    let machine = Machine::new();
    let bindings = Bindings {
        uavs: vec![(0, machine.surface(Format::UnsignedInt32x1, 256, 1))],
        constants: vec![(0, machine.surface(Format::Float32x4, 1, 1))],
        ..Bindings::default()
    };
    let (program, _) = recal_il::lower::lower_named(&recal_il::front(text.as_bytes()).unwrap()).unwrap();
    let found = profile(&program, &bindings, grid(1, 64), limit).unwrap();
    (text, found)
}

#[test]
fn what_is_counted_is_what_threads_do() {
    let long = Duration::from_secs(60);
    // What is flushed for a line is not that line.
    let (text, found) = counted(
        "if_logicalnz cb0[0].x\nwhileloop\nige r4.x, r5.x, l0.z\nbreak_logicalnz r4.x\nadd r0, r0, cb0[0]\n\
         iadd r5.x, r5.x, l0.y\nendloop\nendif\nult r1.x, vTidInGrpFlat0.x, l0.z\n\
         call_logicalnz r1.x, 1\ndmad r2.xy, r3.xy, r3.xy, r3.xy\ndadd r2.xy, r2.xy, r3.xy\n\
         uav_raw_store_id(0) mem0, l0.x, r0\nuav_raw_store_id(0) mem0, l0.x, r2\nendmain\n\
         func 1\nuav_raw_store_id(0) mem0.x, l0.x, r1.x\nret\nend\n",
        long,
    );
    let of = |word: &str| {
        let all = found.counts.iter();
        all.filter(|of| text[of.span.start as usize..].starts_with(word)).collect::<Vec<_>>()
    };
    assert!(of("add r0").is_empty());
    assert_eq!(of("call").iter().map(|of| of.splits).sum::<u64>(), 1);
    assert_eq!(found.counts.iter().map(|of| of.flops).sum::<u64>(), 64 * 3);
    assert_eq!((found.parts, found.threads), ((1, 1), 64));
    // A part that does not come to its end is none that ran.
    let (_, found) = counted("whileloop\niadd r0.x, r0.x, l0.y\nendloop\nend\n", Duration::from_millis(50));
    assert_eq!(found.parts, (0, 1));
}
