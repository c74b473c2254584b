//! Small kernels: what statements come out.

use super::build::Builder;
use super::{lower, translate};
use crate::inst::Kernel;
use crate::ir::{LaneInst, LaneOp, Operand, Program, Reg, StmtKind};

/// A pixel kernel with output 0, literal 0 and constants 0.
fn kernel(body: &str) -> Kernel {
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) v0\ndcl_output_generic o0\ndcl_cb cb0[4]\n\
         dcl_literal l0, 1, 2, 3, 4\n{body}\nend\n"
    );
    crate::front(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn program(body: &str) -> Program {
    lower(&kernel(body)).unwrap()
}

fn lanes(program: &Program) -> Vec<(LaneOp, Reg, Vec<Operand>)> {
    (program.functions[0].body.iter())
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Lane(inst) => Some((inst.op, inst.dst[0], inst.args.to_vec())),
            _ => None,
        })
        .collect()
}

#[test]
fn swaps_go_through_one_scratch_register() {
    let kernel = kernel("mov r1.xy__, l0\niadd r1.xy__, r1.yx, l0\nmov o0, r1.xyyy");
    let (p, _) = translate(Builder::new(&kernel)).unwrap();
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    let adds = ops.iter().filter(|op| **op == LaneOp::Iadd).count();
    assert_eq!(adds, 2, "only the components of the mask are computed");
    let moves = ops.iter().filter(|op| **op == LaneOp::Mov).count();
    assert_eq!(moves, 2 + 1 + 4, "two literals, one swap, four outputs");
}

#[test]
fn forced_constants_and_kept_components() {
    let p = program("mov o0.x0_1, r1");
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
    let p = program("mul r1.x___, cb0[3].x, cb0[3].x\nmul r2.x___, cb0[3].x, r1.x\nmov o0.x___, r2.x");
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    let want = [LaneOp::Flush, LaneOp::Mul, LaneOp::Mul, LaneOp::Canon];
    assert_eq!(&ops[..4], want);
}

#[test]
fn masks_in_float_registers_keep_their_bits() {
    // r1.x is a float sum in one branch and an all-ones mask in the other: the sum is made canonical when written,
    // the mask is never touched.
    let p = program(
        "if_logicalnz v0.x\nadd r1.x___, v0.x, v0.x\nelse\neq r1.x___, v0.x, v0.x\nendif\nmov o0.x___, r1.x",
    );
    let StmtKind::If { then, otherwise, .. } = &p.functions[0].body[0].kind else { panic!("{p}") };
    let ops = |block: &[crate::ir::Stmt]| -> Vec<LaneOp> {
        (block.iter())
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Lane(inst) => Some(inst.op),
                _ => None,
            })
            .collect()
    };
    assert_eq!(ops(then), [LaneOp::Add, LaneOp::Canon], "{p}");
    assert_eq!(ops(otherwise), [LaneOp::Eq], "{p}");
    assert_eq!(lanes(&p).len(), 1, "one move to the output: {p}");
}

#[test]
fn a_value_of_one_branch_is_not_forwarded() {
    // if (x) r1.x = cb0[3].x ; o0.x = r1.x: zero where the branch is not taken.
    let p = program("if_logicalnz v0.x\nmov r1.x___, cb0[3].x\nendif\nmov o0.x___, r1.x");
    let l = lanes(&p);
    assert!(matches!(l[0].2[0], Operand::Reg(_)), "{p}");
}

#[test]
fn reused_registers_come_apart() {
    // r1 is an integer first and a float then: nothing is made canonical for the sake of the integer.
    let p = program(
        "ftoi r1.x___, v0.x\nitof r2.x___, r1.x\nadd r1.x___, r2.x, v0.x\nadd r1.x___, r1.x, r1.x\n\
         lt o0.x___, r1.x, v0.x",
    );
    let ops: Vec<LaneOp> = lanes(&p).iter().map(|l| l.0).collect();
    assert_eq!(ops, [LaneOp::Ftoi, LaneOp::Itof, LaneOp::Add, LaneOp::Add, LaneOp::Lt], "{p}");
}

#[test]
fn named_registers_keep_every_copy() {
    let kernel = kernel("mov r3.xy__, r1.yx\nmov o0, r3.xyxy");
    let (named, names) = super::lower_named(&kernel).unwrap();
    let copies: Vec<String> = named.functions[0]
        .body
        .iter()
        .map(|stmt| match &stmt.kind {
            StmtKind::Lane(LaneInst { op: LaneOp::Mov, dst, args }) => match args[0] {
                Operand::Reg(from) => format!("{} <- {}", names[&dst[0]], names[&from]),
                ref other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        copies,
        ["r3.x <- r1.y", "r3.y <- r1.x", "o0.x <- r3.x", "o0.y <- r3.y", "o0.z <- r3.x", "o0.w <- r3.y"]
    );
}

/// Rules and lines of the warnings of a text.
fn warnings(body: &str) -> Vec<(&'static str, usize)> {
    let text = format!("il_ps_2_0\ndcl_output_generic o0\n{body}\nend\n");
    let program = crate::compile(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let line =
        |d: &crate::diagnostic::Diagnostic| crate::diagnostic::position(text.as_bytes(), d.span.start).0;
    program.warnings.iter().map(|d| (d.rule, line(d) - 2)).collect()
}

#[test]
fn registers_are_named_with_the_components_that_are_missing() {
    let told = |body: &str| {
        let text = format!("il_ps_2_0\ndcl_output_generic o0\n{body}\nend\n");
        crate::compile(text.as_bytes()).expect("it is a kernel").warnings[0].message.clone()
    };
    assert_eq!(told("mov o0, r1"), "`r1` is read, and nothing has written it");
    assert_eq!(told("mov r1.x_z_, v0\nmov o0, r1"), "`r1.yw` is read, and nothing has written it");
}

#[test]
fn short_swizzles_matter_where_something_reads_what_fills_them() {
    // The filled positions z and w reach the output, or a condition, or an address.
    assert_eq!(warnings("add r0, v0.xy, v0\nmov o0, r0"), [("short-swizzle", 1)]);
    assert_eq!(
        warnings("add r0.xyz, v0.xy, v0\nif_logicalnz r0.z\nmov g[0], v0\nendif\nmov o0, v0"),
        [("short-swizzle", 1)]
    );
    assert_eq!(warnings("ftoi r0, v0.xy\nmov g[r0.w], v0\nmov o0, v0"), [("short-swizzle", 1)]);
    // Through a copy, a loop and a function.
    assert_eq!(warnings("mov r0, v0.xy\nmov r1, r0\nmov o0, r1.xyxz"), [("short-swizzle", 1)]);
    let looped = "mov r0, v0\nwhileloop\nbreak_logicalnz r0.w\nadd r0, v0.xy, r0\nendloop\nmov o0, v0";
    assert_eq!(warnings(looped), [("short-swizzle", 4)]);
    let called = "mov r0, v0.xy\ncall 1\nendmain\nfunc 1\nmov o0, r0\nret\nendfunc";
    assert_eq!(warnings(called), [("short-swizzle", 1)]);
    // Nothing reads them, or they are overwritten first, or only something that nothing reads does.
    assert_eq!(warnings("add r0, v0.xy, v0\nmov o0, r0.xyxy"), []);
    assert_eq!(warnings("add r0, v0.xy, v0\nmov r0.zw, v0\nmov o0, r0"), []);
    assert_eq!(warnings("add r0, v0.xy, v0\nmul r1, r0, r0\nmov o0, r1.xyxy"), []);
    assert_eq!(warnings("mov r0.xy, v0.xy\nmov r0.zw, v0.xyxy\nmov o0, r0"), []);
}

#[test]
fn registers_that_nothing_writes_are_told_of_where_it_matters() {
    assert_eq!(warnings("mov o0, r0"), [("unwritten-register", 1)]);
    assert_eq!(warnings("mov r0.x, v0.x\nmov o0, r0.xyxx"), [("unwritten-register", 2)]);
    assert_eq!(warnings("mov o0, r0\nmov r0, v0"), [("unwritten-register", 1)]);
    assert_eq!(warnings("if_logicalnz r3.x\nmov g[0], v0\nendif\nmov o0, v0"), [("unwritten-register", 1)]);
    // Once for each register.
    assert_eq!(warnings("add r0, r1, r1\nadd o0, r0, r1"), [("unwritten-register", 1)]);
    // Some path writes it, or nothing depends on it, or a constant stands for it.
    assert_eq!(warnings("if_logicalnz v0.x\nmov r0, v0\nendif\nmov o0, r0"), []);
    assert_eq!(
        warnings("whileloop\nmov r1, r0\nmov r0, v0\nbreak\nendloop\nmov o0, r1"),
        [("unwritten-register", 2)]
    );
    assert_eq!(warnings("whileloop\nmov r1, r0\nmov r0, v0\nbreak_logicalnz r0.x\nendloop\nmov o0, r1"), []);
    assert_eq!(warnings("add r0, v0, r7\nmov o0, v0"), []);
    assert_eq!(warnings("mov o0, r9.0001"), []);
    // A function that nobody calls expects what it reads from somewhere else.
    assert_eq!(warnings("mov o0, v0\nendmain\nfunc 1\nmov o0, r4\nret\nendfunc"), []);
    assert_eq!(warnings("call 1\nendmain\nfunc 1\nmov o0, r4\nret\nendfunc"), [("unwritten-register", 4)]);
}
