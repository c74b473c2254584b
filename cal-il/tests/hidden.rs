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
