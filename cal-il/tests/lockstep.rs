//! Barriers of programs that count on a wave's threads moving together: where threads talk, and nowhere else.

mod opcodes;

use opcodes::{count, opcodes};
use recal_il::spirv::{Assume, Mode, Module, Target, emit};

const CONTROL_BARRIER: u32 = 224;
const STORE_WORD: u32 = 62;
const RETURN: u32 = 253;

/// The module of a kernel with groups of 64, or of another size. It loads a word that nobody stores to, so that
/// group memory begins with zeros, and a barrier after them.
fn emitted(threads: u32, body: &str) -> Module {
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
    emit(&program, &target, Assume::NOTHING).expect("the device has everything")
}

fn module(threads: u32, body: &str) -> Vec<u32> {
    opcodes(&emitted(threads, body))
}

fn words(body: &str) -> Vec<u32> {
    emitted(64, body).words
}

fn barriers(threads: u32, body: &str) -> usize {
    count(&module(threads, body), CONTROL_BARRIER)
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

/// How often an opcode occurs in the module of a kernel with groups of 64.
fn often(body: &str, opcode: u32) -> usize {
    count(&module(64, body), opcode)
}

#[test]
fn addresses_are_known_through_arithmetic() {
    let zeros = 1;
    let own = |address: &str, from: &str| {
        format!("{address}lds_store_id(0) r2.x, r0.y\nlds_load_id(0) r1.x, {from}\n{OUT}")
    };
    let flat = "ishl r2.x, vTidInGrpFlat0.x, l0.x\n";
    // Who stores word 0 is thread 0, and all load it; word 64 is nobody's.
    assert_eq!(barriers(64, &own(flat, "l2.x")), zeros + 1);
    assert_eq!(barriers(64, &own(flat, "l1.x")), zeros);
    assert_eq!(barriers(64, &own("ishl r2.x, vTidInGrp0.x, l0.x\n", "l2.x")), zeros + 1);
    // All store word 0, and thread 0 loads it.
    assert_eq!(
        barriers(64, &["lds_store_id(0) l2.x, l0.x\nlds_load_id(0) r1.x, r0.x\n", OUT].concat()),
        zeros + 1
    );
    // Own words, by a difference, a product, and in global memory.
    assert_eq!(barriers(64, &own("iadd r2.x, r0.x, l1.x\nisub r2.x, r2.x, l1.x\n", "r0.x")), zeros);
    assert_eq!(barriers(64, &own("imul r2.x, r0.y, l1.y\n", "r2.x")), zeros);
    let uav = "ishl r2.x, vAbsTid0.x, l0.x\nuav_raw_store_id(0) mem0.x___, r2.x, r0.y\nuav_raw_load_id(0) r1.x, r2.x\n\
        iadd r1.x, r1.x, r0.y\nuav_raw_store_id(0) mem0.x___, r2.x, r1.x\n";
    assert_eq!(barriers(64, uav), zeros);
    let global = "mov r1, g[vAbsTid.x]\niadd r1, r1, r0\nmov g[vAbsTid.x], r1\n".repeat(2);
    assert_eq!(barriers(64, &global), zeros);
    // Own bytes.
    let bytes = "lds_store_byte_id(0) r0.y, r0.x\nlds_load_ubyte_id(0) r1.x, r0.y\n";
    assert_eq!(barriers(64, &[bytes, OUT].concat()), zeros);
    // Four words from two before the own one, and from 64 behind it.
    let four = |from: &str| {
        format!(
            "{STORE}{from}lds_load_vec_id(0) r3, r2.x, r2.x\niadd r3.xy, r3.xy, r3.zw\niadd r1.x, r3.x, r3.y\n{OUT}"
        )
    };
    assert_eq!(barriers(64, &four("iadd r2.x, r0.x, l1.x\n")), zeros);
    let before = "dcl_literal l3, 8, 0, 0, 0\nisub r2.x, r0.x, l3.x\n";
    assert_eq!(barriers(64, &four(before)), zeros + 1);
    // Every other word: of the four from one before the own one, the neighbour before has stored one.
    let pairs = "ishl r2.x, r0.y, l0.w\nlds_store_id(0) r2.x, r0.y\nisub r2.x, r2.x, l1.y\n";
    assert_eq!(barriers(32, &four(pairs).replacen(STORE, "", 1)), zeros + 1);
}

#[test]
fn what_is_done_again_meets_itself() {
    let zeros = 1;
    // Loaded from a neighbour, and stored then: told if there is another round or call.
    let turn = format!("uav_raw_load_id(0) r1.y, r0.z\niadd r1.x, r1.x, r1.y\n{OUT}");
    assert_eq!(barriers(64, &turn), zeros);
    let function = format!("call 1\ncall 1\nendmain\nfunc 1\nret_logicalnz r9.x\n{turn}ret\nendfunc\n");
    assert_eq!(barriers(64, &function), zeros + 2);
    // A word that any thread may have stored before: once, and in each round.
    let (first, store) = ("uav_raw_load_id(0) r6.x, r0.x\n", "lds_store_id(0) r6.x, r0.y\n");
    assert_eq!(barriers(64, &[first, store].concat()), zeros);
    let rounds = format!("whileloop\nbreak_logicalnz r9.x\n{store}iadd r6.x, r6.x, r0.y\nendloop\n");
    assert_eq!(barriers(64, &[first, &rounds].concat()), zeros + 1);
}

/// Three more barriers, for the vote, stand in loops that threads leave apart.
#[test]
fn threads_part_where_what_they_ask_differs() {
    let zeros = 1;
    let (together, apart) = (zeros + 2, zeros + 4);
    // Loops whose end is asked of r5, which is the same for all before `how`.
    let flagged = |how: &str| {
        let body = format!("whileloop\nbreak_logicalnz r5.x\n{STORE}{LOAD}iadd r5.x, r5.x, l0.y\nendloop\n");
        barriers(64, &format!("mov r5.x, r9.x\n{how}{body}"))
    };
    let switch = |of: &str, value: &str| {
        format!("switch {of}\ncase 1\nmov r5.x, {value}\nbreak\ndefault\nbreak\nendswitch\n")
    };
    assert_eq!(flagged(""), together);
    assert_eq!(flagged("if_logicalnz r9.x\nmov r5.x, l0.y\nendif\n"), together);
    assert_eq!(flagged("if_logicalnz r0.y\nmov r5.x, l0.y\nendif\n"), apart);
    assert_eq!(flagged("if_logicalnz r9.x\nmov r5.x, r0.y\nendif\n"), apart);
    assert_eq!(flagged(&switch("r9.x", "l0.y")), together);
    assert_eq!(flagged(&switch("r0.y", "l0.y")), apart);
    assert_eq!(flagged(&switch("r9.x", "r0.y")), apart);
    // Loops that are left from branches.
    let left = |branch: &str| {
        barriers(64, &format!("whileloop\n{branch}endif\n{STORE}{LOAD}iadd r0.y, r0.y, r6.x\nendloop\n{OUT}"))
    };
    assert_eq!(
        left("if_logicalnz r9.x\nmov r6.x, r0.y\nelse\nmov r6.x, r0.z\nbreak_logicalnz r9.x\n"),
        together
    );
    for branch in [
        "if_logicalnz r0.y\nmov r6.x, r0.y\nbreak\n",
        "if_logicalnz r0.y\nmov r6.x, r0.z\nelse\nmov r6.x, r0.y\nbreak\n",
        "if_logicalnz r9.x\nmov r6.x, r0.y\nbreak_logicalnz r0.y\n",
        "if_logicalnz r9.x\nmov r6.x, r0.z\nelse\nmov r6.x, r0.y\nbreak_logicalnz r0.y\n",
    ] {
        assert_eq!(left(branch), apart, "{branch}");
    }
}

#[test]
fn functions_that_threads_leave_apart_are_whole() {
    let zeros = 1;
    let function = |body: &str| format!("{STORE}{LOAD}call 1\n{OUT}endmain\nfunc 1\n{body}ret\nendfunc\n");
    let store = "uav_raw_store_id(1) mem0.x___, r0.x, r0.y\n";
    let leave = "ret_logicalnz r0.y\n";
    // What they do stays: a store of the function is a store of the module.
    let stores = |body: &str| often(&function(&[leave, body].concat()), STORE_WORD);
    let another = "uav_raw_store_id(1) mem0.x___, r0.z, r0.y\n";
    assert!(stores("") < stores(store) && stores(store) < stores(&[store, another].concat()));
    // Nobody waits in them, and a barrier orders what it would have ordered.
    let fence = |fence: &str| module(64, &function(&[leave, store, fence].concat()));
    assert_eq!(count(&fence("fence_threads\n"), CONTROL_BARRIER), zeros + 1);
    assert_eq!(
        words(&function(&[leave, store, "fence_threads_lds\n"].concat())),
        words(&function(&[leave, store, "fence_lds\n"].concat()))
    );
    // But for memory that others see.
    let waits = fence("fence_threads_memory\n");
    assert_eq!(count(&waits, CONTROL_BARRIER), count(&fence("fence_lds_memory\n"), CONTROL_BARRIER) + 1);
    // Without a discard anywhere nobody asks behind a call whether the thread is gone.
    assert_eq!(
        often(&function(&[leave, store].concat()), RETURN) - often(&[STORE, LOAD, OUT].concat(), RETURN),
        2
    );
}

/// Where some return and others talk, the body runs under masks: then there is one return, at its end.
#[test]
fn returns_that_some_take_become_masks() {
    let returns = |body: &str| {
        let function = format!("call 1\n{OUT}endmain\nfunc 1\n{body}{STORE}{LOAD}ret\nendfunc\n");
        often(&function, RETURN)
    };
    let branch = |of: &str| format!("if_logicalnz {of}\nmov r1.x, r0.y\nret\nendif\n");
    let switch = |of: &str, how: &str| {
        format!("switch {of}\ncase 1\nmov r1.x, r0.y\n{how}break\ndefault\nbreak\nendswitch\n")
    };
    let turns = |of: &str, how: &str| {
        format!("whileloop\nbreak_logicalz {of}\n{how}iadd r0.y, r0.y, l0.y_neg(xyzw)\nendloop\n")
    };
    let (masked, plain) = (3, 4);
    assert_eq!(returns(&branch("r9.x")), plain);
    assert_eq!(returns(&branch("r0.y")), masked);
    assert_eq!(returns(&switch("r9.x", "ret\n")), plain);
    assert_eq!(returns(&switch("r0.y", "ret\n")), masked);
    assert_eq!(returns(&switch("r9.x", &branch("r0.y"))), masked);
    assert_eq!(returns(&turns("r9.x", &branch("r9.x"))), plain);
    assert_eq!(returns(&turns("r0.y", &branch("r0.z"))), masked);
    // A loop that they leave apart without a return is not the whole body's affair: the stores behind it are not masked.
    let behind = |turns: &str| often(&[turns, STORE, LOAD, OUT].concat(), STORE_WORD);
    let nothing = "whileloop\nbreak_logicalz r9.x\niadd r0.y, r0.y, l0.y_neg(xyzw)\nendloop\n";
    assert_eq!(behind(&turns("r0.y", "")), behind(nothing));
}

/// A loop within a masked one that nobody talks in stays as it is, whatever goes round in it.
#[test]
fn loops_of_their_own_are_not_masked() {
    let inner = |again: &str| {
        let body = format!(
            "whileloop\nige r7.x, r6.x, r9.x\nbreak_logicalnz r7.x\niadd r6.x, r6.x, l0.y\n{again}\
             iadd r6.x, r6.x, l0.x\nendloop\n"
        );
        let outer = format!("{STORE}{LOAD}{body}iadd r0.y, r0.y, l0.y_neg(xyzw)\n");
        barriers(64, &format!("whileloop\nbreak_logicalz r0.y\n{outer}endloop\n{OUT}"))
    };
    assert_eq!(inner("continue_logicalnz r0.z\n"), inner(""));
}
