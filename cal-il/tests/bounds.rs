//! Accesses by address ask first whether they are inside: no driver does that for them.

use recal_il::spirv::{Assume, Mode, Target, emit};
use rspirv::spirv::Op;

/// How often a kernel that stores a word has an instruction.
fn count(assume: Assume, op: Op) -> usize {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 2, 3\n\
                uav_raw_store_id(0) mem0.x___, cb0[0].x, cb0[0].y\nend\n";
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let words = emit(&program, &Target::full(Mode::Native), assume).unwrap().words;
    let module = rspirv::dr::load_words(words).unwrap();
    module.all_inst_iter().filter(|inst| inst.class.opcode == op).count()
}

#[test]
fn stores_that_may_be_outside_are_in_a_branch() {
    assert_eq!(count(Assume::NOTHING, Op::SelectionMerge), 1);
}

/// Where zeros stand behind memory, the row of zeros is read in place of one outside: one choice, not one a word.
#[test]
fn rows_outside_are_the_zeros_behind_memory() {
    let padded = Assume { padded: true, ..Assume::NOTHING };
    let chosen = count(padded, Op::Select);
    assert_eq!((chosen, count(Assume::NOTHING, Op::Select)), (1, 1 + 4));
}
