//! Rules of legality, seen in the checked kernel.

use crate::diagnostic::Diagnostic;
use crate::front;
use crate::inst::{Cond, GroupSize, Index, Inst, Kernel, Node, PositionKind, Register, Select, Stage, Uav};
use crate::isa::Opcode;

fn kernel(text: &str) -> Kernel {
    front(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn pixel(body: &str) -> Kernel {
    kernel(&format!("il_ps_2_0\n{body}\nend\n"))
}

fn compute(body: &str) -> Kernel {
    kernel(&format!("il_cs_2_0\ndcl_num_thread_per_group 64\n{body}\nend\n"))
}

fn insts(nodes: &[Node]) -> Vec<&Inst> {
    nodes.iter().filter_map(|n| if let Node::Inst(i) = n { Some(i) } else { None }).collect()
}

fn main_insts(k: &Kernel) -> Vec<&Inst> {
    insts(&k.functions[0].body)
}

fn warning<'k>(k: &'k Kernel, rule: &str) -> &'k Diagnostic {
    k.warnings.iter().find(|w| w.rule == rule).unwrap_or_else(|| panic!("no {rule} in {:?}", k.warnings))
}

#[test]
fn the_latest_literal_before_a_use_counts() {
    let k = pixel(
        "mov r0, l0\ndcl_literal l0, 1, 1, 1, 1\nmov r1, l0\ndcl_literal l0, 2, 2, 2, 2\nmov r2, l0\n\
         endmain func 1 mov r3, l0 ret",
    );
    let value = |i: &Inst| k.sources(i)[0].register.clone();
    let main: Vec<Register> = main_insts(&k).into_iter().map(value).collect();
    assert_eq!(main, [1, 1, 2].map(|n| Register::Literal([n; 4])));
    assert_eq!(k.sources(insts(&k.functions[1].body)[0])[0].register, Register::Literal([2; 4]));
    warning(&k, "literal-redefined");
}

#[test]
fn an_index_by_a_literal_is_a_number() {
    let k = pixel(
        "dcl_cb cb0[9]\ndcl_literal l0, 2, -1, 0, 0\nmov r0, cb0[l0.x + 3]\nmov r1, cb0[l0.y+1]\nmov r2, cb0[r0.z-1]",
    );
    let registers: Vec<Register> =
        main_insts(&k).into_iter().map(|i| k.sources(i)[0].register.clone()).collect();
    assert_eq!(registers[0], Register::Const(0, Index { base: None, offset: 5 }));
    assert_eq!(registers[1], Register::Const(0, Index { base: None, offset: 0 }));
    let base = Some(Box::new((Register::Temp(0), 2)));
    assert_eq!(registers[2], Register::Const(0, Index { base, offset: -1 }));
}

#[test]
fn constants_by_swizzle_need_no_register() {
    let k = pixel("mov r0, r4096.0001\nmov r1, l7.1\nmov r2, vWinCoord0.0000\nmov r3, cb5[0].0100");
    assert!(main_insts(&k).iter().all(|i| k.sources(i)[0].register == Register::Nothing));
    assert_eq!(k.temps, 4);
    assert_eq!(k.interface.position, None);
}

#[test]
fn undeclared_uses_that_working_programs_have() {
    let k = pixel("sample_resource(3)_sampler(2) o1, v0.xy00");
    assert_eq!(k.stage, Stage::Pixel);
    assert_eq!(k.interface.position, Some(PositionKind::Centre));
    assert_eq!(k.interface.outputs.get(&1), Some(&15));
    assert_eq!(k.interface.samplers, [2]);
    let resource = k.interface.resources[&3];
    assert!(resource.unnormalized && !resource.declared);
    warning(&k, "undeclared-resource");
}

#[test]
fn inputs_are_position_or_interpolants() {
    let k = pixel(
        "dcl_input_generic_interp(linear) v0.xy__\ndcl_input_position_interp(constant) v1.x\n\
         mov r0, v0\nmov r1, v1.xyzw\nmov r2, vWinCoord",
    );
    let main = main_insts(&k);
    assert_eq!(k.sources(main[0])[0].register, Register::Interpolant(0));
    assert_eq!(k.sources(main[1])[0].register, Register::Position);
    assert_eq!(k.sources(main[1])[0].swizzle, [Select::X, Select::Y, Select::Zero, Select::Zero]);
    assert_eq!(k.sources(main[2])[0].register, Register::Position);
    assert_eq!(k.interface.interpolants, [0]);
    let whole = kernel("il_ps_3_0\ndclpi_x(0)_y(0)_z(-)_w(1)_center vWinCoord0\nmov r0, vWinCoord0\nend");
    assert_eq!(whole.interface.position, Some(PositionKind::Whole));
    assert_eq!(
        whole.sources(main_insts(&whole)[0])[0].swizzle,
        [Select::X, Select::Y, Select::Zero, Select::One]
    );
}

#[test]
fn group_sizes() {
    let group = |text: &str| kernel(&format!("il_cs\n{text}\nend")).interface.group;
    assert_eq!(group("dcl_num_thread_per_group 64"), Some(GroupSize::Exact([64, 1, 1])));
    assert_eq!(group("dcl_num_thread_per_group 8,8,2"), Some(GroupSize::Exact([8, 8, 2])));
    assert_eq!(group("dcl_max_thread_per_group 256"), Some(GroupSize::AtMost(256)));
    assert_eq!(
        group("dcl_max_thread_per_group 256 dcl_num_thread_per_blk 32"),
        Some(GroupSize::Exact([32, 1, 1]))
    );
    // Declarations inside functions act on the whole program.
    assert_eq!(
        group("call 1 endmain func 1 dcl_num_thread_per_group 4 ret"),
        Some(GroupSize::Exact([4, 1, 1]))
    );
}

#[test]
fn macros_have_private_registers() {
    let k = pixel(
        "dcl_literal l0, 9, 9, 9, 9\nmdef(1)_out(1)_in(1)\ndcl_literal l0, 5, 5, 5, 5\n\
         mov r0, l0\nadd out0, in0, r0\nmend\nmov r0, l0\nmcall(1)(r2.x), (r0.y_neg(x))\nmcall(1)(r3), (r2)",
    );
    let main = main_insts(&k);
    let opcodes: Vec<Opcode> = main.iter().map(|i| i.opcode).collect();
    use Opcode::{Add, Mov};
    assert_eq!(opcodes, [Mov, Mov, Mov, Add, Mov, Mov, Mov, Add, Mov]);
    let temp = |r: &Register| if let Register::Temp(n) = r { *n } else { panic!("{r:?}") };
    let dst = |k: usize| temp(&main[k].dst.as_ref().expect("a destination").register);
    assert_eq!(k.sources(main[0])[0].register, Register::Literal([9; 4]));
    assert_eq!(k.sources(main[2])[0].register, Register::Literal([5; 4]));
    // Private registers lie above those of the program: r0 to r3.
    let (input, private, output) = (dst(1), dst(2), dst(3));
    assert!([input, private, output].iter().all(|&r| r > 3));
    assert!(input != private && private != output && input != output);
    assert_eq!(k.sources(main[1])[0].modifiers.neg, 1);
    assert_eq!(temp(&k.sources(main[3])[0].register), input);
    assert_eq!(temp(&k.sources(main[3])[1].register), private);
    assert_eq!(temp(&k.sources(main[4])[0].register), output);
    assert_eq!((dst(4), dst(8)), (2, 3));
    // The second expansion has others.
    assert!([dst(5), dst(6), dst(7)].iter().all(|r| ![input, private, output].contains(r) && *r > 3));
    assert_eq!(k.temps, 10);
}

#[test]
fn functions_end_in_every_way_met() {
    let k = pixel(
        "call 7\nret\nfunc 7\nif_logicalnz r0.x\nret_dyn\nendif\nret_dyn\nret\nfunc 9\nret\nendfunc\nfunc 11\nmov r0, r1",
    );
    let labels: Vec<Option<u32>> = k.functions.iter().map(|f| f.label).collect();
    assert_eq!(labels, [None, Some(7), Some(9), Some(11)]);
    assert!(matches!(k.functions[0].body[..], [Node::Call { function: 1, cond: None, .. }]));
    // The closing returns are not represented, the one inside the `if` is.
    let [Node::If { then, .. }] = &k.functions[1].body[..] else { panic!("{:?}", k.functions[1]) };
    assert!(matches!(then[..], [Node::Return(None, _)]));
    assert!(k.functions[2].body.is_empty());
    assert_eq!(k.functions[3].body.len(), 1);
}

#[test]
fn old_spellings_mean_the_modern_ones() {
    let k = pixel("texld_stage(4) r0, v0\nifnz r0.x\ncallnz r0.x, 1\nendif\nendmain\nfunc 1\nret\n");
    let sample = main_insts(&k)[0];
    assert_eq!((sample.opcode, sample.controls.id, sample.controls.sampler), (Opcode::Sample, 4, 4));
    let Node::If { cond: Cond::NonZero(_), then, .. } = &k.functions[0].body[1] else { panic!() };
    assert!(matches!(then[0], Node::Call { cond: Some(Cond::NonZero(_)), .. }));
}

#[test]
fn switch_arms_keep_their_order_and_share_labels() {
    let k = pixel(
        "switch r0.x\ndefault\nmov r1, r2\nbreak\ncase 1\ncase -2\nmov r1, r3\ncase 0xFFFFFFFF\nbreak\nendswitch",
    );
    let Node::Switch { arms, .. } = &k.functions[0].body[0] else { panic!() };
    assert!(arms[0].default && arms[0].labels.is_empty() && arms[0].body.len() == 2);
    assert_eq!((&arms[1].labels[..], arms[1].body.len()), (&[1, -2][..], 1));
    assert_eq!(arms[2].labels, [-1]);
}

#[test]
fn what_has_no_meaning_is_dropped_with_a_warning() {
    let k = compute("iadd_x2_sat r0, r1_abs_neg(x), r2\nif_logicalnz r0_neg.x\nendif\ndcl_wavesize 64");
    let add = main_insts(&k)[0];
    assert_eq!((add.controls.scale, add.controls.saturate), (0, false));
    assert!(!k.sources(add)[0].modifiers.abs && k.sources(add)[0].modifiers.neg == 1);
    assert!(k.warnings.iter().filter(|w| w.rule == "modifier-ignored").count() == 4);
    warning(&k, "hint-ignored");
    let fence = pixel("fence_threads_memory");
    warning(&fence, "barrier-ignored");
    assert!(!main_insts(&fence)[0].controls.fence.contains(crate::inst::Fence::THREADS));
}

#[test]
fn lints() {
    let k = pixel("add r0.xyz, r1.xy, r2\nrsq r0.x, r1.x000\nmov r0.xy, r1.zw\nsqrt r0.x, r1.x");
    warning(&k, "scalar-position");
    assert_eq!(k.warnings.len(), 1);
    let short: Vec<u32> = k.short_swizzles.iter().map(|short| short.span.start).collect();
    assert_eq!(short, [22]);
}

#[test]
fn raw_and_arena_may_share_a_number() {
    let k = compute("dcl_raw_uav_id(0)\ndcl_arena_uav_id(0)\nuav_arena_load_id(0)_size(byte) r0.x, r1.x");
    assert_eq!(k.interface.uavs[&0], Uav::Arena);
    assert_eq!(main_insts(&k)[0].controls.size, 1);
}

#[test]
fn specifiers_are_decoded() {
    let k = pixel(
        "dcl_resource_id(1)_type(2d,unnorm)\n\
         sample_sampler(3)_resource(1)_coordtype(normalized)_aoffimmi(1.0,-0.5,0) r0, v0\n\
         fetch4_resource(1)_sampler(0)_compselect(z) r0, v0\ncmp_relop(gt)_cmpval(-0.5) r0, r1, r2, r3\n\
         transpose_matrix(3x2) r4, r8\nadd_d8_sat r0, r1, r2",
    );
    let main = main_insts(&k);
    assert_eq!((main[0].controls.id, main[0].controls.sampler), (1, 3));
    assert_eq!(main[0].controls.unnormalized, Some(false));
    assert_eq!(main[0].controls.offset, [2, -1, 0]);
    assert_eq!(main[1].controls.component, 2);
    assert_eq!(main[2].controls.cmpval, -0.5);
    assert_eq!(main[3].controls.matrix, (3, 2));
    assert_eq!((main[4].controls.scale, main[4].controls.saturate), (-3, true));
    assert_eq!(k.temps, 12);
}
