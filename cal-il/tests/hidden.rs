//! What drivers must not find out in emitted modules: they fold masks and constants, and treat NaNs their own way.

use std::path::Path;

use recal_il::spirv::{Assume, Mode, Target, emit};
use rspirv::dr::{Instruction, Operand};
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
