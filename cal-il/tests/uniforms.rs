//! Constant buffers as uniform buffers: floats that are read by number come from there, all else from memory.

use recal_il::spirv::launch::Layout;
use recal_il::spirv::{Assume, Mode, Target, UNIFORM_BINDINGS, UNIFORMS, emit};
use rspirv::dr::{Module, Operand};
use rspirv::spirv::{Decoration, Op, StorageClass};

const UNIFORM: Assume = Assume { uniforms: true, ..Assume::NOTHING };

fn target(mode: Mode) -> Target {
    Target { max_group_size: [1024, 1024, 64], ..Target::full(mode) }
}

fn kernel(declared: &str, body: &str) -> String {
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\n{declared}\nmov r0.x, vTidInGrpFlat.x\n{body}\n\
         uav_raw_store_id(0) mem0, r0.x, r1\nend\n"
    )
}

fn layout(text: &str, target: &Target) -> Vec<(u32, u32)> {
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Layout::new(&program, target).uniforms().collect()
}

fn module(text: &str, mode: Mode, assume: Assume) -> Module {
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}"));
    rspirv::dr::load_words(emit(&program, &target(mode), assume).unwrap().words).unwrap()
}

/// Bindings of the second set, and how many loads there are through addresses.
fn found(module: &Module) -> (Vec<u32>, usize) {
    let bindings = |inst: &&rspirv::dr::Instruction| {
        inst.class.opcode == Op::Decorate && inst.operands[1] == Operand::Decoration(Decoration::Binding)
    };
    let bindings = module.annotations.iter().filter(bindings).filter_map(|inst| match inst.operands[2] {
        Operand::LiteralBit32(binding) if binding > 0 => Some(binding),
        _ => None,
    });
    let physical = |id: u32| {
        module.all_inst_iter().any(|inst| {
            inst.result_id == Some(id)
                && module.types_global_values.iter().any(|ty| {
                    ty.result_id == inst.result_type
                        && ty.operands.first()
                            == Some(&Operand::StorageClass(StorageClass::PhysicalStorageBuffer))
                })
        })
    };
    let loads = module.all_inst_iter().filter(|inst| {
        inst.class.opcode == Op::Load
            && matches!(inst.operands[0], Operand::IdRef(pointer) if physical(pointer))
    });
    (bindings.collect(), loads.count())
}

#[test]
fn floats_are_read_from_uniform_buffers() {
    let text = kernel("dcl_cb cb0[9]\ndcl_cb cb3[2]", "add r1, cb0[4], cb3[1]\nmul r1, r1, cb0[2]");
    assert_eq!(layout(&text, &target(Mode::Native)), [(0, 5), (3, 2)]);
    for mode in [Mode::Native, Mode::Faithful] {
        assert_eq!(found(&module(&text, mode, UNIFORM)), (vec![UNIFORM_BINDINGS, UNIFORM_BINDINGS + 1], 0));
        assert_eq!(found(&module(&text, mode, Assume::NOTHING)), (vec![], 3));
    }
}

/// Where loops end, addresses, conditions and what is only moved are not; of one row neither, beside floats of it.
#[test]
fn all_else_is_loaded_from_memory() {
    let body = "if_logicalnz cb0[1].x\niadd r0.x, r0.x, cb0[2].x\nendif\nmov r1.x, cb0[3].x\nwhileloop\n\
                ige r2.x, r1.x, cb0[4].x\nbreak_logicalnz r2.x\nlt r2.x, r1.x, cb0[5].x\nbreak_logicalnz r2.x\niadd r1.x, r1.x, r2.x\nendloop";
    let words = kernel("dcl_cb cb0[9]", body);
    assert_eq!(layout(&words, &target(Mode::Native)), []);
    assert_eq!(found(&module(&words, Mode::Native, UNIFORM)), (vec![], 5));
    let floats = kernel("dcl_cb cb0[9]", &format!("{body}\nadd r1.y, r1.y, cb0[1].y"));
    assert_eq!(layout(&floats, &target(Mode::Native)), [(0, 2)]);
    assert_eq!(found(&module(&floats, Mode::Native, UNIFORM)), (vec![UNIFORM_BINDINGS], 5));
}

/// In functions and branches, too.
#[test]
fn floats_anywhere_count() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[99]\n\
                add r1, vTidInGrpFlat.xxxx, cb0[7]\nif_logicalnz r1.x\ncall 1\nendif\n\
                uav_raw_store_id(0) mem0, r1.x, r1\nendmain\n\
                func 1\nmul r1, r1, cb0[12]\nret_dyn\nendfunc\nend\n";
    assert_eq!(layout(text, &target(Mode::Native)), [(0, 13)]);
    assert_eq!(found(&module(text, Mode::Native, UNIFORM)), (vec![UNIFORM_BINDINGS], 0));
}

#[test]
fn computed_rows_are_loaded_from_memory() {
    let indexed = kernel("dcl_cb cb0[9]", "add r1, r1, cb0[r0.x + 1]");
    assert_eq!(layout(&indexed, &target(Mode::Native)), []);
    assert_eq!(found(&module(&indexed, Mode::Native, UNIFORM)), (vec![], 1));
    // Beside others of the same buffer.
    let both = kernel("dcl_cb cb0[9]", "add r1, cb0[r0.x + 1], cb0[1]");
    assert_eq!(layout(&both, &target(Mode::Native)), [(0, 2)]);
    assert_eq!(found(&module(&both, Mode::Native, UNIFORM)), (vec![UNIFORM_BINDINGS], 1));
}

#[test]
fn what_does_not_fit_stays_memory() {
    let rows = |last: u32| kernel("dcl_cb cb0[4096]", &format!("add r1, r1, cb0[{last}]"));
    let native = target(Mode::Native);
    assert_eq!(layout(&rows(4095), &native), [(0, 4096)]);
    assert_eq!(layout(&rows(4096), &native), []);
    assert_eq!(found(&module(&rows(4096), Mode::Native, UNIFORM)), (vec![], 1));
    let some = kernel("dcl_cb cb0[4096]", "add r1, cb0[4096], cb0[3]");
    assert_eq!(found(&module(&some, Mode::Native, UNIFORM)), (vec![UNIFORM_BINDINGS], 1));
    // Nor what would gain nothing, and no more than are pushed.
    assert_eq!(layout(&rows(0), &Target { uniform_rows: 0, ..native.clone() }), []);
    let declared: String = (0..10).map(|n| format!("dcl_cb cb{n}[1]\n")).collect();
    let body: String = (0..10).map(|n| format!("add r1, r1, cb{n}[0]\n")).collect();
    let many = kernel(&declared, &body);
    assert_eq!(layout(&many, &native).len(), UNIFORMS);
    assert_eq!(found(&module(&many, Mode::Native, UNIFORM)).1, 2);
}
