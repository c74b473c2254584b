//! Which samples may read the texels that the one before found, and which rows are constants.

use recal_il::ir::visit;

use super::*;
use crate::isa_choice::{InstructionSet, chosen};

/// For each sample of the kernel whether it reads where the one before did; `change` is made to its program.
fn again(change: impl Fn(&mut MemoryInst, usize)) -> Vec<bool> {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        add r1.xy, vWinCoord0.xyxx, vWinCoord0.yxxx\nsample_resource(0)_sampler(0) r2, r1.xyxx\n\
        sample_resource(1)_sampler(0) r3, r1.xyxx\nadd o0, r2, r3\nend\n";
    let mut program = recal_il::compile(text.as_bytes()).expect("it is a kernel");
    let mut number = 0;
    visit::statements(&mut program.functions[0].body, &mut |stmt| {
        if let StmtKind::Memory(inst) = &mut stmt.kind
            && let MemoryInst::Sample { .. } = **inst
        {
            change(inst, number);
            number += 1;
        }
    });
    let code = load(&program, &[], chosen(InstructionSet::Baseline));
    let samples = code.memory.iter().filter_map(|access| match &access.op {
        MemoryOp::Sample(sample) => Some(sample.again),
        _ => None,
    });
    samples.collect()
}

#[test]
fn a_sample_reads_elsewhere_once_its_coordinates_are_overwritten() {
    assert_eq!(again(|_, _| ()), [false, true]);
    // The first one leaves its texel where both take their coordinates from.
    let over = |inst: &mut MemoryInst, number: usize| {
        if let (MemoryInst::Sample { coord, dst, .. }, 0) = (inst, number) {
            let Operand::Reg(u) = coord[0] else { panic!("it is computed") };
            dst[0] = Some(u);
        }
    };
    assert_eq!(again(over), [false, false]);
}

#[test]
fn registers_that_nothing_writes_are_zeros_for_ever() {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        if_logicalnz vWinCoord0.x\nmov r0.x, vWinCoord0.y\nendif\nmov o0, r0\nend\n";
    let program = recal_il::compile(text.as_bytes()).expect("it is a kernel");
    let code = load(&program, &[], chosen(InstructionSet::Baseline));
    // What some threads write must be 0 for the others, tile after tile.
    assert_eq!(code.zeroed.iter().map(|rows| rows.len()).sum::<usize>(), 1, "{:?}", code.zeroed);
    let zeros = code.literals.iter().filter(|(_, word)| *word == 0).count();
    assert!(zeros >= 3, "{:?}", code.literals);
    let rows: Vec<u32> = code.literals.iter().map(|(row, _)| *row).collect();
    assert!(code.zeroed.iter().flat_map(Clone::clone).all(|row| !rows.contains(&row)));
}

#[test]
fn waves_are_alone_where_nothing_tells_which_are_a_group() {
    let code = |declared: &str, text: &str| {
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\n{declared}dcl_raw_uav_id(0)\ndcl_literal l0, 4, 0, 0, 0\n\
            imul r0.x, vAbsTidFlat.x, l0.x\nuav_raw_load_id(0) r1.x, r0.x\n{text}\
            uav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n"
        );
        let program = recal_il::compile(text.as_bytes()).expect("it is a kernel");
        load(&program, &[], chosen(InstructionSet::Baseline))
    };
    let alone = |declared: &str, text: &str| code(declared, text).waves_alone;
    assert!(alone("", ""));
    // Its threads may talk, and are numbered by groups that lie side by side.
    assert!(!code("", "").groups_unseen);
    assert!(!alone("", "iadd r1.x, r1.x, vThreadGrpId.x\n"));
    assert!(!alone("", "iadd r1.x, r1.x, vTidInGrp.x\n"));
    assert!(!alone("", "fence_threads_memory\n"));
    assert!(!alone("", "uav_read_add_id(0) r1.x, r0.x, l0.x\n"));
    assert!(!alone("dcl_lds_id(0) 256\n", "lds_store_id(0) r0.x, r1.x\n"));
}
