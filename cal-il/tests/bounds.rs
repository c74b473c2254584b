//! Accesses by address ask first whether they are inside: no driver does that for them.

use recal_il::spirv::{Assume, Mode, Target, emit};
use rspirv::spirv::Op;

const ROWS: Assume = Assume { whole_rows: true, ..Assume::NOTHING };
const PADDED: Assume = Assume { padded: true, ..ROWS };

/// How often a kernel that stores a word has an instruction.
fn count(assume: Assume, op: Op) -> usize {
    counted("uav_raw_store_id(0) mem0.x___, cb0[0].x, cb0[0].y", assume, op)
}

fn counted(statement: &str, assume: Assume, op: Op) -> usize {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 2, 3\n\
         {statement}\nend\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let words = emit(&program, &Target::full(Mode::Native), assume).unwrap().words;
    let module = rspirv::dr::load_words(words).unwrap();
    module.all_inst_iter().filter(|inst| inst.class.opcode == op).count()
}

#[test]
fn stores_that_may_be_outside_are_in_a_branch() {
    assert_eq!(count(Assume::NOTHING, Op::SelectionMerge), 1);
}

/// Where zeros stand behind memory, the row of zeros is read in place of one outside: one minimum, no choice for each word.
#[test]
fn rows_outside_are_the_zeros_behind_memory() {
    let counts = |op| [PADDED, ROWS, Assume::NOTHING].map(|assume| count(assume, op));
    assert_eq!((counts(Op::ExtInst), counts(Op::Select)), ([1, 0, 0], [0, 1 + 4, 1 + 4]));
    // Of a row that need not be whole each word is asked for. One is the store's.
    assert_eq!(counts(Op::ULessThan), [1, 1 + 1, 1 + 4]);
}

/// A row that is not whole is stored by words, where there may be one.
#[test]
fn the_last_row_of_global_memory_ends_anywhere() {
    let branches = |statement| [ROWS, Assume::NOTHING].map(|a| counted(statement, a, Op::SelectionMerge));
    assert_eq!(branches("mov g[vAbsTid.x], l0"), [1, 1 + 1 + 3]);
    assert_eq!(branches("mov g[vAbsTid.x]._y_w, l0"), [1, 1 + 1 + 1]);
    assert_eq!(branches("mov g[vAbsTid.x].___w, l0"), [1, 1 + 1]);
}

/// Choices of a loop in group memory of 128 words, whose counter starts as `start` says and is left by `test`.
fn chosen(start: &str, test: &str, body: &str) -> usize {
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 512\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\n\
         dcl_literal l0, 0, 4, 512, 508\ndcl_literal l1, 516, -4, -508, 1\n\
         mov r0.x, vTidInGrpFlat.x\nlds_store_id(0) r0.x, r0.x\nfence_threads_lds\n\
         {start}\nwhileloop\n{test}\n{body}\nendloop\n\
         uav_raw_store_id(0) mem0.x___, r0.x, r2.x\nend\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let target = Target::full(Mode::Faithful);
    let module = emit(&program, &target, Assume { padded: true, ..Assume::NOTHING }).unwrap();
    let module = rspirv::dr::load_words(module.words).unwrap();
    module.all_inst_iter().filter(|inst| inst.class.opcode == Op::Select).count()
}

/// A counter between constants is an index that needs no test.
#[test]
fn counters_below_the_end_of_group_memory_are_not_asked() {
    let test = "ige r1.y, r1.x, l0.z\nbreak_logicalnz r1.y";
    // What stores is not unrolled.
    let body = "lds_load_id(0) r3.x, r1.x\nuav_raw_store_id(0) mem0.x___, r1.x, r3.x\niadd r1.x, r1.x, l0.y";
    let known = chosen("mov r1.x, l0.x", test, body);
    for (start, test) in [
        // It may begin anywhere, below 0, or behind the end.
        ("mov r1.x, cb0[0].x", test),
        ("mov r1.x, l1.y", test),
        // The end is behind that of the memory.
        ("mov r1.x, l0.x", "ige r1.y, r1.x, l1.x\nbreak_logicalnz r1.y"),
        // It is asked only sometimes.
        ("mov r1.x, l0.x", "if_logicalnz r0.x\nige r1.y, r1.x, l0.z\nbreak_logicalnz r1.y\nendif"),
    ] {
        let other = chosen(start, test, body);
        assert!(other > known, "{start}; {test}: {other} and {known}");
    }
    // Words as unsigned ones are below the end wherever they began.
    let unsigned = "uge r1.y, r1.x, l0.z\nbreak_logicalnz r1.y";
    let anywhere = chosen("mov r1.x, cb0[0].x", unsigned, body);
    assert!(anywhere < chosen("mov r1.x, cb0[0].x", test, body));
}
