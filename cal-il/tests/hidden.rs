//! What drivers must not find out in emitted modules: they fold masks and constants, and treat NaNs their own way.

use std::path::Path;

use recal_il::spirv::{Assume, Mode, Target, emit};
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::Op;

/// The instruction that makes the first operand.
fn behind<'a>(all: &[&'a Instruction], of: &Instruction) -> &'a Instruction {
    let Operand::IdRef(id) = of.operands[0] else { panic!("{of:?} takes a value") };
    all.iter().find(|inst| inst.result_id == Some(id)).expect("each value is made somewhere")
}

#[test]
fn a_mask_as_a_coordinate_is_hidden_before_it_is_converted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/texture/mask_as_coordinate.il");
    let program = recal_il::compile(&std::fs::read(path).unwrap()).unwrap();
    // Samplers as they are at first: coordinates beyond the edge are its texels.
    let assume = Assume { default_samplers: true, ..Assume::NOTHING };
    let words = emit(&program, &Target::full(Mode::Faithful), assume).unwrap().words;
    let module = rspirv::dr::load_words(words).unwrap();
    let all: Vec<&Instruction> = module.all_inst_iter().collect();
    let conversions: Vec<_> = all.iter().filter(|inst| inst.class.opcode == Op::ConvertFToU).collect();
    assert!(!conversions.is_empty(), "coordinates are converted");
    for conversion in conversions {
        let bits = behind(&all, behind(&all, conversion));
        assert_eq!(bits.class.opcode, Op::BitwiseXor, "a driver sees what is converted: {bits:?}");
    }
}

/// The mask of exponents that flushes test with is one that the driver cannot know, where it would take another.
#[test]
fn masks_of_flushes_are_hidden() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4\ndcl_cb cb0[1]\nmul r0, cb0[0], cb0[0].yzwx\nmov g[0], r0\nend\n";
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let known = |mistakes_masks| {
        let target = Target { mistakes_masks, ..Target::full(Mode::Faithful) };
        let words = emit(&program, &target, Assume::NOTHING).unwrap().words;
        let module = rspirv::dr::load_words(words).unwrap();
        let all: Vec<&Instruction> = module.all_inst_iter().collect();
        let mask = all.iter().find(|inst| inst.operands == [Operand::LiteralBit32(0x7F80_0000)]);
        let mask = Operand::IdRef(mask.and_then(|inst| inst.result_id).expect("exponents have a mask"));
        let with = |op| all.iter().filter(|i| i.class.opcode == op && i.operands.contains(&mask)).count();
        (with(Op::BitwiseAnd), with(Op::BitwiseXor))
    };
    let ((plain, none), (hidden, once)) = (known(false), known(true));
    assert!(plain > 0 && none == 0, "{plain} {none}");
    assert_eq!((hidden, once), (0, 1));
}

/// The module of a kernel's body, in groups of 64 with 256 bytes of group memory.
fn module(body: &str) -> Module {
    let head = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 256\n\
        dcl_literal l0, 0, 4, 0.0, 8\numul r0.x, vTidInGrpFlat.x, l0.y\n";
    let program = recal_il::compile(format!("{head}{body}\nmov g[0], r2\nend\n").as_bytes()).unwrap();
    let words = emit(&program, &Target::full(Mode::Faithful), Assume::NOTHING).unwrap().words;
    rspirv::dr::load_words(words).unwrap()
}

/// The instructions that make what instructions of a kind take, behind so many conversions.
fn behind_all(module: &Module, op: Op, operand: usize, conversions: usize) -> Vec<Op> {
    let all: Vec<&Instruction> = module.all_inst_iter().collect();
    let of = |inst: &&&Instruction| inst.class.opcode == op;
    let made = |inst: &Instruction| {
        let Operand::IdRef(id) = inst.operands[operand] else { panic!("{inst:?} takes values") };
        let first =
            *all.iter().find(|other| other.result_id == Some(id)).expect("each value is made somewhere");
        (0..conversions).fold(first, |inst, _| behind(&all, inst)).class.opcode
    };
    all.iter().filter(of).map(|inst| made(inst)).collect()
}

/// What comes from memory that the kernel only reads no driver knows, and what is outside of it is a zero that none knows.
#[test]
fn words_that_are_only_read_are_not_hidden() {
    let sum = module("add r2.x, cb0[0].x, cb0[0].y");
    assert_eq!([0, 1].map(|k| behind_all(&sum, Op::FAdd, k, 1)), [[Op::Select]; 2]);
    let outside = behind_all(&sum, Op::Select, 2, 0);
    // The row's number is a constant, and what its four words are outside is not.
    assert_eq!(outside[..5], [Op::Constant, Op::IAdd, Op::IAdd, Op::IAdd, Op::IAdd]);
    // The kernel might load what it has stored.
    let stored = module(
        "uav_raw_store_id(0) mem.x___, r0.x, l0.z\nuav_raw_load_id(0) r1.x, r0.x\nadd r2.x, cb0[0].x, r1.x",
    );
    assert_eq!(behind_all(&stored, Op::FAdd, 1, 1), [Op::BitwiseXor]);
}

/// Of group memory a driver knows what a thread has stored. That is hidden, which is cheaper than to hide what is loaded, where plain
/// stores are all that writes there.
#[test]
fn what_group_memory_gets_is_hidden_and_what_it_gives_is_not() {
    let through =
        "lds_store_id(0) r0.x, l0.z\nfence_threads_lds\nlds_load_id(0) r1.x, r0.x\nadd r2.x, cb0[0].x, r1.x";
    let both = |body: &str| {
        let module = module(body);
        let stored = behind_all(&module, Op::Store, 1, 0);
        (behind_all(&module, Op::FAdd, 1, 1), stored.contains(&Op::Constant))
    };
    assert_eq!(both(through), (vec![Op::Select], false));
    let atomic = format!("{through}\nlds_add_id(0) r0.x, l0.y");
    assert_eq!(both(&atomic), (vec![Op::BitwiseXor], true));
}

/// A quarter of the words that fast regions watch is doubled by a product, on devices that have units for it; drivers must not know by what.
#[test]
fn words_are_watched_by_products_where_those_are_apart() {
    let step = "mad_ieee r1, r4, r5, r1\n".repeat(8);
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_literal l0, 0, 16, 32, 48\n\
         uav_raw_load_id(0) r1, l0.x\nuav_raw_load_id(0) r4, l0.y\nuav_raw_load_id(0) r5, l0.z\n{step}uav_raw_store_id(1) mem0, l0.x, r1\nend\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let products = |multiplies_apart| {
        let target = Target { multiplies_apart, ..Target::full(Mode::Faithful) };
        let words = emit(&program, &target, Assume::NOTHING).unwrap().words;
        let module = rspirv::dr::load_words(words).unwrap();
        let all: Vec<&Instruction> = module.all_inst_iter().collect();
        let products = all.iter().filter(|inst| inst.class.opcode == Op::IMul);
        let by = |product: &&&Instruction| {
            let Operand::IdRef(id) = product.operands[1] else { panic!("{product:?} takes values") };
            let two =
                all.iter().find(|inst| inst.result_id == Some(id)).expect("each value is made somewhere");
            two.class.opcode == Op::BitwiseXor
        };
        products.filter(by).count()
    };
    assert_eq!([false, true].map(products), [0, 3]);
}
