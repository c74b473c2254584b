//! Fences in modules: what orders memory, and what waits.

mod opcodes;

use opcodes::{count, opcodes};
use recal_il::spirv::{Assume, Formats, Mode, Target, emit};

const CONTROL_BARRIER: u32 = 224;
const MEMORY_BARRIER: u32 = 225;
const ATOMIC_OR: u32 = 241;

/// Barriers that wait, barriers for memory and atomics of a module.
fn found(text: &str, fences_apart: bool) -> [usize; 3] {
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let target = Target { fences_apart, ..Target::full(Mode::Native) };
    // Of a known format, so that outputs are stored without atomics.
    let assume = Assume { formats: Formats::FourWords, ..Assume::NOTHING };
    let codes = opcodes(&emit(&program, &target, assume).expect("the device has everything"));
    [CONTROL_BARRIER, MEMORY_BARRIER, ATOMIC_OR].map(|code| count(&codes, code))
}

fn compute(threads: u32, body: &str) -> String {
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group {threads}\ndcl_cb cb0[1]\ndcl_literal l0, 1, 2, 3, 4\nmov r0, vTid0.x\n\
         {body}mov g[vAbsTidFlat.x], r0\nend\n"
    )
}

fn pixel(fence: &str) -> String {
    format!("il_ps_2_0\ndcl_output_generic o0\ndcl_literal l0, 1, 2, 3, 4\n{fence}\nmov o0, l0\nend\n")
}

#[test]
fn pixel_kernels_wait_for_nobody() {
    for fences_apart in [true, false] {
        assert_eq!(found(&pixel("fence_threads"), fences_apart), [0; 3]);
        assert_eq!(found(&pixel("fence_threads_lds"), fences_apart), [0; 3]);
    }
    // Threads outside of the domain have left.
    assert_eq!(found(&pixel("fence_threads_memory"), true), [0, 1, 0]);
    assert_eq!(found(&pixel("fence_memory"), false), [0, 0, 1]);
}

#[test]
fn barriers_for_memory_stand_where_all_threads_pass_or_where_they_may() {
    let branch = |body: &str| compute(128, &format!("if_logicalnz r0.x\n{body}\nendif\n"));
    let turns = |body: &str| {
        let count = "iadd r0.x, r0.x, l0.x";
        compute(
            128,
            &format!("whileloop\nige r1.x, r0.x, l0.w\nbreak_logicalnz r1.x\n{body}\n{count}\nendloop\n"),
        )
    };
    assert_eq!(found(&compute(128, "fence_memory\n"), false), [0, 1, 0]);
    assert_eq!(found(&compute(128, "ret_logicalnz r0.x\nfence_memory\n"), false), [0, 0, 1]);
    // Behind a loop they are together again.
    let body = "whileloop\nige r1.x, r0.x, l0.w\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.x\nendloop\nfence_memory\n";
    assert_eq!(found(&compute(128, body), false), [0, 1, 0]);
    for text in [branch("fence_memory"), turns("fence_memory")] {
        assert_eq!(found(&text, true), [0, 1, 0], "{text}");
        assert_eq!(found(&text, false), [0, 0, 1], "{text}");
    }
}

/// A wave passes its barriers by itself, but where others see what it orders; a group of several waits, wherever its kernel says so.
#[test]
fn waves_that_part_do_not_wait() {
    let body = |fence: &str| format!("if_logicalnz r0.x\n{fence}\nendif\n");
    assert_eq!(found(&compute(64, &body("fence_threads_lds")), true), [0, 1, 0]);
    assert_eq!(found(&compute(128, &body("fence_threads_lds")), true), [1, 0, 0]);
    assert_eq!(found(&compute(64, &body("fence_threads_memory")), true), [1, 0, 0]);
    assert_eq!(found(&compute(64, &body("fence_memory")), true), [0, 1, 0]);
    assert_eq!(found(&compute(128, &body("fence_threads_memory")), true), [1, 0, 0]);
    assert_eq!(found(&compute(64, "fence_threads_memory\n"), true), [1, 0, 0]);
    assert_eq!(found(&compute(64, "if_logicalnz cb0[0].x\nfence_threads_memory\nendif\n"), true), [1, 0, 0]);
    // In a function that some of the threads reach, and leave.
    let function = "il_cs_2_0\ndcl_num_thread_per_group 64\nmov r0, vTid0.x\ncall_logicalnz r0.x, 1\n\
         mov g[vAbsTidFlat.x], r0\nret\nendmain\nfunc 1\nret_logicalz r0.y\nfence_threads\nret\nendfunc\nend\n";
    assert_eq!(found(function, true), [0, 1, 0]);
}
