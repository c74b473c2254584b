//! Group memory starts as zeros, which modules write only where a thread may read a word that was not stored to.

mod opcodes;

use opcodes::{count, opcodes};
use recal_il::spirv::{Assume, Mode, Target, emit};

const LOOP_MERGE: u32 = 246;

/// Whether the module of a kernel writes zeros first: a loop, of which these kernels have no other.
fn fills(group: &str, bytes: u32, body: &str) -> bool {
    let (body, functions) = body.split_once("endmain\n").unwrap_or((body, ""));
    let text = format!(
        "il_cs_2_0\n{group}\ndcl_lds_id(0) {bytes}\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 4, 16, 68, 2\n\
         dcl_literal l1, 0, 8, 60, 1\nmov r0.x, vTidInGrp.x\nmov r0.y, vTidInGrp.y\n{body}\
         ishl r9.x, vAbsTidFlat.x, l0.w\nuav_raw_store_id(0) mem0, r9.x, r1\nendmain\n{functions}end\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let loops = [Mode::Native, Mode::Faithful].map(|mode| {
        let target = Target { max_group_size: [1024, 1024, 64], ..Target::full(mode) };
        let module = emit(&program, &target, Assume::NOTHING).expect("the device has everything");
        count(&opcodes(&module), LOOP_MERGE)
    });
    assert!(loops == [0, 0] || loops == [1, 1], "{loops:?}");
    loops[0] > 0
}

const SQUARE: &str = "dcl_num_thread_per_group 16, 16, 1";
/// Word y * 17 + x of a tile whose rows are 17 words.
const STORE: &str = "imul r2.x, r0.y, l0.z\nimad r2.x, r0.x, l0.x, r2.x\nlds_store_id(0) r2.x, r0.x\n";
/// Word x * 17 + y.
const LOAD: &str = "imul r3.x, r0.x, l0.z\nimad r3.x, r0.y, l0.x, r3.x\nlds_load_id(0) r1.x, r3.x\n";
const MEET: &str = "fence_threads_lds\n";
const TILE: u32 = 16 * 17 * 4;

fn square(parts: &[&str]) -> bool {
    fills(SQUARE, TILE, &parts.concat())
}

#[test]
fn what_is_loaded_was_stored() {
    assert!(!square(&[STORE, MEET, LOAD]));
    // Nothing is loaded.
    assert!(!square(&[STORE]));
    // Several blocks of threads, rows by shifts and masks of the flat number.
    let flat = "iand r4.x, vTidInGrpFlat.x, l1.y\nushr r4.x, vTidInGrpFlat.x, l0.x\nishl r4.y, vTidInGrpFlat.x, l0.w\n\
                iand r4.y, r4.y, l1.z\nimad r4.x, r4.x, l0.z, r4.y\nlds_store_id(0) r4.x, r0.x\n";
    assert!(!square(&[flat, MEET, LOAD]));
    // Vectors: all words, whatever is loaded then.
    let vectors = "ishl r4.x, vTidInGrpFlat.x, l0.x\nlds_store_vec_id(0) mem, r4.x, r4.x, r0\n";
    let any = "lds_load_id(0) r1.x, cb0[0].x\n";
    assert!(!fills(SQUARE, 4096, &[vectors, MEET, any].concat()));
    assert!(fills(SQUARE, 4112, &[vectors, MEET, any].concat()));
    // In two steps, and in a branch after them.
    let odd = "iadd r2.y, r2.x, l0.x\nlds_store_id(0) r2.y, r0.x\n";
    let next = "iadd r3.y, r3.x, l0.x\nlds_load_id(0) r1.y, r3.y\n";
    assert!(!square(&[STORE, MEET, odd, MEET, "if_logicalnz r0.x\n", LOAD, next, "endif\n"]));
    // Behind the block a load gives 0 all the same.
    let behind = "iadd r3.y, r3.x, l2.x\nlds_load_id(0) r1.y, r3.y\n";
    assert!(!square(&["dcl_literal l2, 1088, 0, 0, 0\n", STORE, MEET, LOAD, behind]));
}

#[test]
fn what_is_loaded_may_be_new() {
    // The column that pads the tile.
    let next = "iadd r3.y, r3.x, l0.x\nlds_load_id(0) r1.y, r3.y\n";
    assert!(square(&[STORE, MEET, LOAD, next]));
    // Before the barrier, without one, and before the store.
    assert!(square(&[STORE, LOAD, MEET]));
    assert!(square(&[STORE, LOAD]));
    assert!(square(&[LOAD, STORE, MEET]));
    // By some threads.
    assert!(square(&["if_logicalnz r0.x\n", STORE, "endif\n", MEET, LOAD]));
    assert!(square(&["if_logicalnz cb0[0].x\n", STORE, "endif\n", MEET, LOAD]));
    assert!(square(&["ret_logicalnz r0.x\n", STORE, MEET, LOAD]));
    // In a function, which is written before main; without a return in the middle it becomes part of main.
    let [function, end] = ["call 1\nendmain\nfunc 1\n", "ret\nendfunc\n"];
    assert!(square(&[STORE, MEET, function, "ret_logicalnz r0.x\n", LOAD, end]));
    assert!(!square(&[STORE, MEET, function, LOAD, end]));
    // Words that are not known here.
    let known = "lds_load_id(0) r1.y, cb0[0].x\n";
    assert!(square(&[STORE, MEET, LOAD, known]));
    assert!(square(&["imad r2.x, r0.x, l0.x, cb0[0].x\nlds_store_id(0) r2.x, r0.x\n", MEET, LOAD]));
    // Not by plain loads and stores.
    assert!(square(&[STORE, MEET, "lds_add_id(0) r3.z, r0.x\n", LOAD]));
    assert!(square(&["lds_store_byte_id(0) r2.z, r0.x\n", STORE, MEET, LOAD]));
    // The size of the group is not known.
    assert!(fills("dcl_max_thread_per_group 256", TILE, &[STORE, MEET, LOAD].concat()));
}
