//! Hand-built kernels: what statements come out.

use super::lower;
use crate::diagnostic::Span;
use crate::inst::{Dst, Function, Inst, Interface, Kernel, Node, Register, Select, Src, Stage, Write};
use crate::ir::{LaneOp, Operand, Program, StmtKind};
use crate::isa::Opcode;

fn src(register: Register, swizzle: &str) -> Src {
    let select = |c| match c {
        'x' => Select::X,
        'y' => Select::Y,
        'z' => Select::Z,
        'w' => Select::W,
        '0' => Select::Zero,
        _ => Select::One,
    };
    let given: Vec<Select> = swizzle.chars().map(select).collect();
    let swizzle = std::array::from_fn(|k| *given.get(k).unwrap_or(&given[given.len() - 1]));
    Src { register, swizzle, given: given.len() as u8, modifiers: Default::default(), span: Span::default() }
}

fn dst(register: Register, mask: &str) -> Dst {
    let mask: Vec<Write> = mask
        .chars()
        .map(|c| match c {
            '_' => Write::Keep,
            '0' => Write::Zero,
            '1' => Write::One,
            _ => Write::Result,
        })
        .collect();
    Dst { register, mask: mask.try_into().unwrap(), span: Span::default() }
}

fn inst(opcode: Opcode, dst: Dst, src: Vec<Src>) -> Node {
    Node::Inst(Inst { opcode, controls: Default::default(), dst: Some(dst), src, span: Span::default() })
}

fn program(body: Vec<Node>) -> Program {
    lower(&Kernel {
        stage: Stage::Pixel,
        interface: Interface { outputs: [(0, 0xF)].into(), ..Default::default() },
        functions: vec![Function { label: None, body }],
        temps: 8,
        warnings: Vec::new(),
    })
    .unwrap()
}

fn lanes(program: &Program) -> Vec<(LaneOp, u32, Vec<Operand>)> {
    (program.functions[0].body.iter())
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Lane(inst) => Some((inst.op, inst.dst[0], inst.args.to_vec())),
            _ => None,
        })
        .collect()
}

#[test]
fn swaps_go_through_one_scratch_register() {
    // mov r1.xy, l0 ; iadd r1.xy, r1.yx, l0 ; mov o0, r1
    let literal = || src(Register::Literal([1, 2, 3, 4]), "xyzw");
    let p = program(vec![
        inst(Opcode::Mov, dst(Register::Temp(1), "xy__"), vec![literal()]),
        inst(Opcode::Iadd, dst(Register::Temp(1), "xy__"), vec![src(Register::Temp(1), "yx"), literal()]),
        inst(Opcode::Mov, dst(Register::Output(0), "xyzw"), vec![src(Register::Temp(1), "xyyy")]),
    ]);
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    let adds = ops.iter().filter(|op| **op == LaneOp::Iadd).count();
    assert_eq!(adds, 2, "only the components of the mask are computed");
    let moves = ops.iter().filter(|op| **op == LaneOp::Mov).count();
    assert_eq!(moves, 2 + 1 + 4, "two literals, one swap, four outputs");
}

#[test]
fn forced_constants_and_kept_components() {
    // mov o0.x0_1, r1
    let p = program(vec![inst(
        Opcode::Mov,
        dst(Register::Output(0), "x0_1"),
        vec![src(Register::Temp(1), "xyzw")],
    )]);
    let o = p.outputs[0].registers;
    let l = lanes(&p);
    assert_eq!(l.len(), 3);
    assert_eq!((l[0].0, l[0].1), (LaneOp::Mov, o[0]));
    assert_eq!(l[1], (LaneOp::Mov, o[1], vec![Operand::Imm(0)]));
    assert_eq!(l[2], (LaneOp::Mov, o[3], vec![Operand::Imm(0x3F80_0000)]));
}

#[test]
fn a_loaded_component_is_flushed_once() {
    // Two products of the same constant, chained: one flush of it, none between, one canonical result.
    let cb = || src(Register::Const(0, crate::inst::Index { base: None, offset: 3 }), "x");
    let p = program(vec![
        inst(Opcode::Mul, dst(Register::Temp(1), "x___"), vec![cb(), cb()]),
        inst(Opcode::Mul, dst(Register::Temp(2), "x___"), vec![cb(), src(Register::Temp(1), "x")]),
        inst(Opcode::Mov, dst(Register::Output(0), "x___"), vec![src(Register::Temp(2), "x")]),
    ]);
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    let want = [LaneOp::Flush, LaneOp::Mul, LaneOp::Mul, LaneOp::Canon];
    assert_eq!(&ops[..4], want);
}

#[test]
fn masks_in_float_registers_keep_their_bits() {
    // r1.x is a float sum in one place and an all-ones mask in another: the sum is made canonical when written,
    // the mask is never touched.
    let temp = |n| src(Register::Temp(n), "x");
    let p = program(vec![
        inst(Opcode::Add, dst(Register::Temp(1), "x___"), vec![temp(2), temp(3)]),
        inst(Opcode::Eq, dst(Register::Temp(1), "x___"), vec![temp(1), temp(3)]),
        inst(Opcode::Mov, dst(Register::Output(0), "x___"), vec![temp(1)]),
    ]);
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    assert_eq!(ops, [LaneOp::Add, LaneOp::Canon, LaneOp::Eq, LaneOp::Mov]);
}
