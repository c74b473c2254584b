//! Kernels, and what is known of their statements.

use super::*;

/// The shapes of what `kernel` loads from, stores to and tests.
fn shapes_of(body: &str) -> Vec<Shape> {
    known_of(body).into_iter().map(|known| known.shape).collect()
}

/// What is known of that.
fn known_of(body: &str) -> Vec<Known> {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 16, 4, 1\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 4096\n\
         dcl_cb cb0[2]\ndcl_literal l0, 4, 2, 64, 1\n{body}\nend\n"
    );
    let program = crate::compile(text.as_bytes()).unwrap();
    let list = known(&program);
    let mut found = Vec::new();
    let mut number = 0;
    let mut program = program;
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            match stmt.kind {
                StmtKind::Lane(_) | StmtKind::Loop { .. } | StmtKind::Fence(_) => {}
                _ => found.push((number, stmt.span.start)),
            }
            number += 1;
        });
    }
    assert_eq!(number, list.len());
    found.into_iter().map(|(at, _)| list[at]).collect()
}

use Shape::{Any, Bits, Same, Step};

#[test]
fn addresses_made_of_thread_numbers_have_steps() {
    let list = shapes_of(
        "imul r0.x, vAbsTid.x, l0.x\nishl r0.y, vTidInGrp.x, l0.y\niadd r0.z, r0.x, r0.y\n\
         lds_store_id(0) r0.x, r0.x\nlds_store_id(0) r0.y, r0.x\nlds_store_id(0) r0.z, r0.x\n\
         isub r1.x, r0.x, r0.y\nlds_store_id(0) r1.x, r0.x\n\
         umul r1.y, vTidInGrp.y, cb0[0].x\nlds_store_id(0) r1.y, r0.x\n\
         umul r1.z, vTidInGrp.x, cb0[0].x\nlds_store_id(0) r1.z, r0.x\n\
         inegate r2.x, r0.x\nlds_store_id(0) r2.x, r0.x\n\
         iand r2.y, r0.x, l0.z\nlds_store_id(0) r2.y, r0.x",
    );
    assert_eq!(list, [Step(4), Step(4), Step(8), Same, Same, Any, Step(4u32.wrapping_neg()), Any]);
}

/// What is loaded from one address is, too.
#[test]
fn what_comes_of_x_alone_is_the_same_in_columns() {
    let list = known_of(
        "imul r0.x, vTidInGrp.x, l0.x\nlds_store_id(0) r0.x, vTidInGrp.y\n\
         imul r0.y, vTidInGrp.y, l0.z\nlds_store_id(0) r0.y, r0.x\n\
         iadd r0.z, r0.x, r0.y\nlds_store_id(0) r0.z, r0.x\n\
         imul r0.w, vTidInGrpFlat.x, l0.x\nlds_store_id(0) r0.w, r0.x\n\
         umul r1.x, vAbsTid.x, cb0[0].x\nuav_raw_load_id(0) r2.x, r1.x\nlds_store_id(0) r2.x, r0.x\n\
         whileloop\nlds_load_id(0) r3.x, r0.x\nige r4.x, r3.x, l0.x\nbreak_logicalnz r4.x\niadd r5.x, r5.x, l0.z\nendloop",
    );
    let down: Vec<u32> = list.iter().map(|known| known.down & 1).collect();
    assert_eq!(down, [1, 0, 0, 0, 1, 1, 1, 1]);
    // Where groups have no memory nobody asks.
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        mov r0, vWinCoord0.xxxx\nmov o0, r0\nend\n";
    assert!(known(&crate::compile(text.as_bytes()).unwrap()).iter().all(|known| known.down == 0));
}

#[test]
fn bits_of_the_number_of_a_thread_are_known_where_they_go() {
    let list = shapes_of(
        "iand r0.x, vTidInGrpFlat.x, l0.y\nishl r0.x, r0.x, l0.x\nlds_store_id(0) r0.x, r0.x\n\
         ushr r0.y, vTidInGrp.x, l0.y\nimul r0.y, r0.y, l0.z\nlds_store_id(0) r0.y, r0.x\n\
         iadd r0.z, r0.x, r0.y\niadd r0.z, r0.z, l0.w\nlds_store_id(0) r0.z, r0.x\n\
         iadd r0.w, r0.z, vTidInGrp.x\nlds_store_id(0) r0.w, r0.x\n\
         iand r1.x, r0.z, l0.z\nlds_store_id(0) r1.x, r0.x\n\
         ushr r1.y, vAbsTid.x, l0.y\nlds_store_id(0) r1.y, r0.x\n\
         ishl r1.z, vTidInGrpFlat.x, l0.x\niand r1.z, r1.z, l0.z\nlds_store_id(0) r1.z, r0.x\n\
         imul r1.w, vTidInGrp.x, cb0[0].x\nlds_store_id(0) r1.w, r0.x",
    );
    let expected = [
        Bits([0, 32, 0, 0]),
        Bits([0, 0, 64, 128]),
        Bits([0, 32, 64, 128]),
        // And the number itself.
        Bits([1, 34, 68, 136]),
        // Bits of a sum.
        Any,
        // Groups may begin anywhere among all threads.
        Any,
        Bits([0, 0, 64, 0]),
        Any,
    ];
    assert_eq!(list, expected);
}

#[test]
fn what_threads_choose_apart_has_no_step() {
    let list = shapes_of(
        "imul r0.x, vAbsTid.x, l0.x\niadd r0.y, r0.x, l0.z\niand r0.z, vTidInGrp.x, l0.w\n\
         cmov_logical r1.x, r0.z, r0.x, r0.y\nlds_store_id(0) r1.x, r0.x\n\
         cmov_logical r1.y, cb0[0].x, r0.x, r0.y\nlds_store_id(0) r1.y, r0.x",
    );
    assert_eq!(list, [Any, Step(4)]);
}

#[test]
fn shapes_among_fewer_threads() {
    assert_eq!(Bits([16, 32, 64, 0]).among(8), Step(16));
    assert_eq!(Bits([16, 32, 64, 0]).among(16), Bits([16, 32, 64, 0]));
    assert_eq!(Bits([0, 0, 0, 16]).among(8), Same);
    assert_eq!(Bits([0, 0, 8, 16]).among(4), Same);
    assert_eq!(Bits([4, 8, 16, 32]).among(16), Step(4));
    assert_eq!(Step(3).among(4), Step(3));
    assert_eq!(Bits([4, 0, 16, 4u32.wrapping_neg()]).shifted(2), Some(Bits([1, 0, 4, u32::MAX])));
    assert_eq!(Bits([4, 0, 2, 0]).shifted(2), None);
}

#[test]
fn loops_carry_steps_and_agree_when_to_end() {
    let list = shapes_of(
        "imul r0.x, vTidInGrp.x, l0.x\nmov r1.x, l0.w\nwhileloop\nuge r2.x, r1.x, cb0[0].x\n\
         break_logicalnz r2.x\nlds_load_id(0) r3.x, r0.x\nlds_load_id(0) r3.y, r1.x\nadd r4.x, r3.x, r3.y\n\
         lds_store_id(0) r0.x, r4.x\niadd r0.x, r0.x, l0.z\niadd r1.x, r1.x, l0.w\nendloop",
    );
    assert_eq!(list, [Same, Step(4), Same, Step(4)]);
}

#[test]
fn what_is_loaded_from_one_place_is_the_same() {
    let list = shapes_of(
        "umul r0.x, vTidInGrp.y, l0.x\nlds_load_id(0) r1.x, r0.x\nlds_load_id(0) r2.x, r1.x\n\
         umul r0.y, vTidInGrp.x, l0.x\nlds_load_id(0) r1.y, r0.y\nlds_load_id(0) r2.y, r1.y\n\
         if_logicalnz r1.x\nlds_store_id(0) r0.y, r2.x\nendif\nif_logicalnz r1.y\nlds_store_id(0) r0.y, r2.y\nendif",
    );
    assert_eq!(list, [Same, Same, Step(4), Any, Same, Step(4), Any, Step(4)]);
}

/// Some threads keep the old word, or 0.
#[test]
fn what_some_threads_miss_is_anything() {
    let list = shapes_of(
        "umul r0.x, vTidInGrp.x, l0.x\nmov r1.x, r0.x\nmov r3.x, l0.x\nult r2.x, vTidInGrp.x, cb0[0].x\n\
         if_logicalnz r2.x\niadd r1.x, r1.x, l0.z\nmov r3.x, l0.y\niadd r4.x, r0.x, l0.x\n\
         lds_store_id(0) r4.x, r0.x\nendif\nlds_store_id(0) r1.x, r0.x\nlds_store_id(0) r3.x, r0.x",
    );
    assert_eq!(list, [Any, Step(4), Any, Any]);
}

/// The first round reads the 0 that registers start as.
#[test]
fn what_is_read_before_it_is_written_is_no_step() {
    let list = shapes_of(
        "mov r3.x, l0.w\nwhileloop\nuge r2.x, r3.x, cb0[0].x\nbreak_logicalnz r2.x\nlds_store_id(0) r0.x, r3.x\n\
         umul r0.x, vTidInGrp.x, l0.x\niadd r3.x, r3.x, l0.w\nendloop",
    );
    assert_eq!(list, [Same, Any]);
}
