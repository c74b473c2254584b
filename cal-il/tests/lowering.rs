//! Whole kernels through text, check and lowering.

mod effort;

use effort::effort;
use recal_il::ir::uniformity::{Scope, Uniformity};
use recal_il::ir::validate::validate;
use recal_il::ir::{Program, StmtKind};
use recal_il::isa::LaneOp;

fn compile(text: &str) -> Program {
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    validate(&program).unwrap_or_else(|defects| panic!("{defects:#?}\n{program}"));
    program
}

/// Operations of all bodies, in order.
fn operations(program: &Program) -> Vec<LaneOp> {
    fn walk(block: &[recal_il::ir::Stmt], out: &mut Vec<LaneOp>) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => out.push(inst.op),
                StmtKind::If { then, otherwise, .. } => {
                    walk(then, out);
                    walk(otherwise, out);
                }
                StmtKind::Loop { body } => walk(body, out),
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| walk(&arm.body, out)),
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    program.functions.iter().for_each(|f| walk(&f.body, &mut out));
    out
}

const MANDELBROT: &str = "il_ps_2_0
dcl_input_position_interp(linear_noperspective) vWinCoord0.xy__
dcl_output_generic o0
dcl_cb cb0[2]
dcl_literal l0, 0x00000000, 0x3F800000, 0x40800000, 0x00000001
mad r0.xy, vWinCoord0.xy00, cb0[0].zwzw, cb0[0].xyxy
mov r1, l0.xxxx
mov r2.x, l0.x
whileloop
  ige r3.x, r2.x, cb0[1].x
  break_logicalnz r3.x
  mul r3.x, r1.x, r1.x
  mul r3.y, r1.y, r1.y
  add r3.z, r3.x, r3.y
  lt r3.w, l0.z, r3.z
  break_logicalnz r3.w
  mul r1.y, r1.x, r1.y
  add r1.y, r1.y, r1.y
  add r1.y, r1.y, r0.y
  sub r1.x, r3.x, r3.y
  add r1.x, r1.x, r0.x
  iadd r2.x, r2.x, l0.w
endloop
itof o0, r2.xxxx
end
";

#[test]
fn a_float_loop_flushes_nothing_inside() {
    let program = compile(MANDELBROT);
    fn inside(block: &[recal_il::ir::Stmt]) -> usize {
        (block.iter())
            .map(|stmt| match &stmt.kind {
                StmtKind::Lane(i) => usize::from(matches!(i.op, LaneOp::Flush | LaneOp::Canon)),
                _ => 0,
            })
            .sum()
    }
    let body = program.functions[0].body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Loop { body } => Some(body),
        _ => None,
    });
    assert_eq!(inside(body.unwrap()), 0, "{program}");
}

#[test]
fn counters_of_divergent_loops_are_not_uniform() {
    let program = compile(MANDELBROT);
    let facts = Uniformity::of(&program, Scope::Wave);
    let counter = (program.functions[0].body.iter())
        .find_map(|stmt| match &stmt.kind {
            StmtKind::Loop { body } => body.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Lane(inst) if inst.op == LaneOp::Iadd => Some(inst.dst[0]),
                _ => None,
            }),
            _ => None,
        })
        .unwrap();
    assert!(!facts.register(counter), "{program}");
}

#[test]
fn uniform_loops_have_uniform_counters() {
    let program = compile(
        "il_cs_2_0
dcl_num_thread_per_group 64
dcl_cb cb0[1]
dcl_literal l0, 0, 1, 0, 0
mov r0.x, l0.x
mov r2.x, l0.x
whileloop
  ige r1.x, r0.x, cb0[0].x
  break_logicalnz r1.x
  iadd r0.x, r0.x, l0.y
  iadd r2.x, r2.x, vTidInGrp.x
endloop
mov g[vAbsTid.x], r2.xxxx
end
",
    );
    let facts = Uniformity::of(&program, Scope::Wave);
    let uniform: Vec<bool> = (program.functions[0].body.iter())
        .find_map(|stmt| match &stmt.kind {
            StmtKind::Loop { body } => Some(
                (body.iter())
                    .filter_map(|stmt| match &stmt.kind {
                        StmtKind::Lane(inst) => Some(facts.register(inst.dst[0])),
                        _ => None,
                    })
                    .collect(),
            ),
            _ => None,
        })
        .unwrap();
    assert_eq!(uniform, [true, true, false], "{program}");
}

#[test]
fn operations_of_a_kernel() {
    let program = compile(
        "il_ps_2_0
dcl_output_generic o0
dcl_literal l0, 1.5, 2.0, -3.0, 0.25
add o0, l0, l0.yyyy
end
",
    );
    assert_eq!(operations(&program), [LaneOp::Mov; 4], "constants fold");
}

#[test]
fn straight_code_packs_into_few_registers() {
    let steps: String = (0..1000)
        .map(|k| format!("add r{}, r{k}, cb0[{}]\nmul r{}, r{}, r{k}\n", 3 * k, k % 4, k + 1, 3 * k))
        .collect();
    let program = compile(&format!(
        "il_ps_2_0\ndcl_input_position_interp(linear) v0.xy__\ndcl_output_generic o0\ndcl_cb cb0[4]\nmov r0, v0\n{steps}mov o0, r1000\nend\n"
    ));
    assert!(program.registers > 2000, "{}", program.registers);
    let mut packed = program.clone();
    recal_il::ir::compact::compact(&mut packed);
    validate(&packed).unwrap();
    assert!(packed.registers < 64, "{}", packed.registers);
}

/// Lowers a checked kernel and returns the time it took a processor.
fn time(text: &str) -> std::time::Duration {
    let kernel = recal_il::front(text.as_bytes()).unwrap_or_else(|e| panic!("{:#?}", &e[..1]));
    let (program, time) = effort(|| recal_il::lower::lower(&kernel).unwrap());
    validate(&program).unwrap();
    time
}

const HEAD: &str = "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[4]\ndcl_indexed_temp_array x0[8]\n";

/// Lowering is linear: shapes that would punish a quadratic pass take no longer per instruction than plain code.
#[test]
fn large_kernels_lower_in_linear_time() {
    let n = 25_000;
    let plain: String =
        (0..4 * n).map(|k| format!("mad r{}, r{}, cb0[1], r{}\n", k % 97, k % 89, k % 83)).collect();
    let fresh: String = (0..4 * n)
        .map(|k| format!("add r{}, r{}, r{}\n", k % 60_000, k / 2 % 60_000, k / 3 % 60_000))
        .collect();
    let breaks: String =
        (0..n).map(|k| format!("break_logicalnz r{k}.x\nadd r{}, r{k}, r{k}\n", k + 1)).collect();
    let ifs: String = (0..n)
        .map(|k| {
            format!(
                "if_logicalnz r{}.x\nmov r{}, r3\nelse\nmov r4, r{}\nendif\n",
                k % 50,
                k % 60_000,
                k % 777
            )
        })
        .collect();
    let nested: String = format!(
        "{}{}{}",
        "whileloop\nbreak_logicalnz r0.x\n".repeat(200),
        (0..n).map(|k| format!("mov r{k}, r{}\n", k / 2)).collect::<String>(),
        "endloop\n".repeat(200)
    );
    let switches: String = format!(
        "switch r0.x\n{}endswitch\n",
        (0..n).map(|k| format!("case {k}\nadd r{k}, r1, r2\n")).collect::<String>()
    );
    for (name, body) in [
        ("plain", plain),
        ("fresh", fresh),
        ("breaks", format!("whileloop\n{breaks}endloop\n")),
        ("ifs", ifs),
        ("nested", nested),
        ("switches", switches),
    ] {
        let time = time(&format!("{HEAD}{body}mov o0, r1\nmov x0[r2.x], r77\nend\n"));
        println!("{name}: {time:?}");
        // About a tenth of a second each in an optimised build; the bound leaves room for slow machines.
        assert!(time.as_secs() < 8, "{name} took {time:?}");
    }
}

/// Records of a structured buffer from 2 GiB on have addresses of their own; those that are further than 4 GiB none that is in range, and no
/// offset leads back to the beginning.
#[test]
fn records_reach_four_gibibytes() {
    let address = |record: u32, offset: u32| {
        let program = compile(&format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_struct_uav_id(0) 16\n\
             dcl_literal l0, {record}, {offset}, 0, 0\n\
             uav_struct_load_id(0) r0.x, l0.xyyy\nuav_struct_store_id(0) mem.x, l0.zzzz, r0.x\nend\n"
        ));
        let text = program.to_string();
        let address = text.split("address=").nth(1).and_then(|rest| rest.split_whitespace().next());
        address.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let same = |record: u32, offset: u32, expected: u32| {
        let found = address(record, offset);
        let word = found.strip_prefix("0x").map(|hex| u32::from_str_radix(hex, 16));
        let word = word.unwrap_or_else(|| found.parse().map(|word: i64| word as u32));
        assert_eq!(word, Ok(expected), "record {record:#x}, offset {offset:#x}: {found}");
    };
    same(3, 4, 52);
    same(0x0800_0000, 8, 0x8000_0008);
    same(0x0E4E_1C00, 0, 0xE4E1_C000);
    for (record, offset) in [(0x1000_0000, 0), (0xFFFF_FFFF, 4), (0x0FFF_FFFF, 0x20), (5, 0xFFFF_FFFF)] {
        let found = address(record, offset);
        let near = found.parse::<i64>().map_or(0, |word| word as u32 & 0x7FFF_FFFF);
        assert!(found.starts_with("0xF") || found.starts_with('-') && near > 0x7FFF_FFD0, "{found}");
    }
}

/// What stands beside a float and is none is negated as an integer.
#[test]
fn exponents_and_classes_are_integers() {
    for (instruction, op) in [("ldexp", LaneOp::Ldexp), ("class", LaneOp::Class)] {
        let program = compile(&format!(
            "il_ps_2_0\ndcl_output_generic o0\ndcl_cb cb0[2]\n{instruction} o0.x, cb0[0], cb0[1]_neg(xyzw)\nend\n"
        ));
        let found = operations(&program);
        assert!(found.contains(&LaneOp::Inegate) && found.contains(&op), "{instruction}: {found:?}");
    }
}
