//! Barriers of programs that count on a wave's threads moving together: where threads talk, and nowhere else.

mod opcodes;

use opcodes::{count, opcodes};
use recal_il::spirv::{Assume, Mode, Target, emit};

const CONTROL_BARRIER: u32 = 224;

/// Barriers of the module of a kernel with groups of 64, or of another size. It loads a word that nobody stores to, so that
/// group memory begins with zeros, and a barrier after them.
fn barriers(threads: u32, body: &str) -> usize {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group {threads}\ndcl_lds_id(0) 512\ndcl_lds_id(1) 4\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
         dcl_literal l0, 2, 1, 63, 3\ndcl_literal l1, 256, 4, 12, 28\n\
         dcl_literal l2, 0, 0, 0, 0\n\
         mov r0.y, vTidInGrpFlat0.x\nishl r0.x, r0.y, l0.x\nixor r0.z, r0.x, l1.y\n\
         lds_load_id(1) r9.x, l2.x\nuav_raw_store_id(1) mem0.x___, r0.x, r9.x\n{body}end\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let target =
        Target { max_group_size: [1024, 1024, 64], max_shared: 49152, ..Target::full(Mode::Faithful) };
    let module = emit(&program, &target, Assume::NOTHING).expect("the device has everything");
    count(&opcodes(&module), CONTROL_BARRIER)
}

const STORE: &str = "lds_store_id(0) r0.x, r0.y\n";
const LOAD: &str = "lds_load_id(0) r1.y, r0.z\niadd r1.x, r1.x, r1.y\n";
const OUT: &str = "uav_raw_store_id(0) mem0.x___, r0.x, r1.x\n";

#[test]
fn barriers_stand_where_threads_talk() {
    let zeros = 1;
    assert_eq!(barriers(64, &[STORE, LOAD, OUT].concat()), zeros + 1);
    assert_eq!(barriers(64, &[STORE, LOAD, STORE, LOAD, OUT].concat()), zeros + 3);
    // More waves than one have to say so themselves.
    assert_eq!(barriers(128, &[STORE, LOAD, STORE, LOAD, OUT].concat()), zeros);
    // Own words, and another own word.
    let own = "lds_load_id(0) r1.x, r0.x\n";
    let far = "iadd r2.x, r0.x, l1.x\nlds_store_id(0) r2.x, r1.x\nlds_load_id(0) r1.x, r2.x\n";
    assert_eq!(barriers(64, &[STORE, own, far, STORE, own, OUT].concat()), zeros);
    // Any of four own words.
    let any = "iand r3.x, r1.x, l1.z\nishl r4.x, r0.x, l0.x\niadd r4.x, r4.x, r3.x\n";
    let turn = "lds_store_id(0) r4.x, r0.y\nlds_load_id(0) r1.x, r4.x\n";
    assert_eq!(barriers(32, &[any, turn, any, turn, OUT].concat()), zeros);
    let five = any.replace("l1.z", "l1.w");
    assert_eq!(barriers(32, &[&five, turn, &five, turn, OUT].concat()), zeros + 3);
    // A fence between is one, not two.
    assert_eq!(barriers(64, &[STORE, "fence_lds\n", LOAD, OUT].concat()), zeros + 1);
    assert_eq!(barriers(64, &[STORE, "fence_threads_lds\n", LOAD, OUT].concat()), zeros + 1);
}

#[test]
fn functions_and_branches_have_them_only_if_they_need_them() {
    let zeros = 1;
    let branch = |body: &str| format!("if_logicalz r0.y\n{body}endif\n");
    // Each alone: nothing is told in the branch, but before it.
    assert_eq!(barriers(64, &[STORE, &branch(LOAD), OUT].concat()), zeros + 1);
    assert_eq!(barriers(64, &[&branch(STORE), LOAD, OUT].concat()), zeros + 1);
    assert_eq!(barriers(64, &[&branch(&[STORE, LOAD].concat()), OUT].concat()), zeros + 1);
    let own = "lds_load_id(0) r1.x, r0.x\n";
    assert_eq!(barriers(64, &[&branch(&[STORE, own].concat()), OUT].concat()), zeros);
    // A loop that threads leave apart: three for the vote, one inside.
    let endless = |body: &str| {
        format!("whileloop\nbreak_logicalz r0.y\n{body}iadd r0.y, r0.y, l0.y_neg(xyzw)\nendloop\n")
    };
    assert_eq!(barriers(64, &[&endless(own), OUT].concat()), zeros);
    assert_eq!(barriers(64, &[&endless(&[STORE, LOAD].concat()), OUT].concat()), zeros + 4);
    // A loop that all threads leave together, with a store since its fence.
    let left = format!("whileloop\n{STORE}break_logicalnz r9.x\nfence_lds\nendloop\n");
    assert_eq!(barriers(64, &[&left, LOAD, OUT].concat()), zeros + 2);
    // A function of all threads: whoever calls may have stored.
    let function = |first: &str| {
        let body = "lds_store_id(0) r0.x, r0.y\nlds_load_id(0) r1.x, r0.z\n";
        format!("endmain\nfunc 1\n{first}{body}ret\nendfunc\n")
    };
    assert_eq!(barriers(64, &["call 1\n", OUT, &function("ret_logicalnz r9.x\n")].concat()), zeros + 2);
    // A small one becomes part of main.
    assert_eq!(barriers(64, &["call 1\n", OUT, &function("")].concat()), zeros + 1);
}

#[test]
fn uavs_count_if_they_are_loaded_after_a_store() {
    let zeros = 1;
    let load = "uav_raw_load_id(0) r1.y, r0.z\niadd r1.x, r1.x, r1.y\n";
    assert_eq!(barriers(64, &[load, OUT].concat()), zeros);
    assert_eq!(barriers(64, &[load, OUT, load, OUT].concat()), zeros + 3);
    let own = "uav_raw_load_id(0) r1.x, r0.x\n";
    assert_eq!(barriers(64, &[own, OUT, own, OUT].concat()), zeros);
    assert_eq!(barriers(64, &["mov r1.x, r0.y\n", OUT, "fence_memory\n", load, OUT].concat()), zeros + 2);
    assert_eq!(barriers(128, &[load, OUT, load, OUT].concat()), zeros);
}
