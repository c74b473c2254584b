//! Kernels whose results must be the same bits on the CPU backend and on every Vulkan device in faithful mode.

mod harness;
mod needs;

use harness::{Case, Words, difference, lane_difference};
use recal_hal::{DomainParam, Extent, Format, Sampler, Wrap};
use recal_il::ir::LaneOp;
use recal_il::isa::lane::Class;

fn check(cases: &[(String, Case)]) {
    let wrong: String = cases.iter().map(|(name, case)| difference(name, case)).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A pixel kernel with position, three inputs, a constant buffer and one output.
fn pixel(body: &str) -> String {
    format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
         dcl_cb cb0[16]\ndcl_literal l0, 0, 1, 2, 3\ndcl_literal l1, 0.0, 1.0, 0.5, 2.0\n\
         dcl_literal l2, 4, 7, 16, 0xFFFFFFFF\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         dcl_resource_id(2)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\n\
         sample_resource(1)_sampler(0) r1, vWinCoord0.xyxx\n\
         sample_resource(2)_sampler(0) r2, vWinCoord0.xyxx\n{body}\nend\n"
    )
}

fn compute(header: &str, body: &str) -> String {
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\n{header}\ndcl_literal l0, 0, 1, 2, 3\n\
         dcl_literal l1, 4, 16, 63, 64\n{body}\nend\n"
    )
}

fn every_lane_operation() {
    let mut wrong = String::new();
    // Bare ones differ in denormals and NaNs; kernels that passes put them into are tried by the suite.
    for op in LaneOp::ALL.iter().filter(|op| !op.is_bare()) {
        let words: usize = op.arguments().iter().map(|class| class.words()).sum();
        let pairs = op.arguments().contains(&Class::Q) || op.result() == Class::Q;
        wrong += &lane_difference(*op, words, pairs);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn flow() {
    let bodies = [
        (
            "if else",
            "ilt r3, r0, r1\nif_logicalnz r3.x\nmov r4, r1\nif_logicalz r3.y\nmov r4.x, r2.y\nendif\nelse\nmov r4, r2\nmov r4.w, r0.x\nendif\nmov o0, r4",
        ),
        (
            "loop",
            "mov r3, l0.xxxx\nwhileloop\nige r4.x, r3.x, l2.z\nbreak_logicalnz r4.x\niadd r3.x, r3.x, l0.y\nand r4.y, r3.x, l0.y\ncontinue_logicalnz r4.y\niadd r3.y, r3.y, r0.x\nendloop\nmov o0, r3",
        ),
        (
            "nested loops",
            "mov r3, l0.xxxx\nwhileloop\nige r4.x, r3.x, l2.x\nbreak_logicalnz r4.x\nmov r5.x, l0.x\nwhileloop\nand r6.x, r0.x, l2.y\nige r4.x, r5.x, r6.x\nbreak_logicalnz r4.x\niadd r5.x, r5.x, l0.y\niadd r3.y, r3.y, r5.x\nendloop\niadd r3.x, r3.x, l0.y\nendloop\nmov o0, r3",
        ),
        (
            "switch",
            "and r3.x, r0.x, l0.w\nmov r4, l0.xxxx\nswitch r3.x\ncase 0\nmov r4.x, r1.x\nbreak\ncase 1\ncase 2\nmov r4.y, r1.y\nbreak\ndefault\nmov r4.z, r1.z\nbreak\nendswitch\nmov o0, r4",
        ),
        (
            "switch falls through",
            "and r3.x, r0.x, l2.y\nmov r4, l0.xxxx\nswitch r3.x\ncase 0\niadd r4.x, r4.x, l0.y\ncase 1\niadd r4.y, r4.y, l0.y\nif_logicalnz r0.y\nbreak\nendif\ndefault\niadd r4.z, r4.z, l0.y\ncase 4\niadd r4.w, r4.w, l0.y\nendswitch\nmov o0, r4",
        ),
        (
            "switch in loop",
            "mov r4, l0.xxxx\nwhileloop\nige r5.x, r4.x, l2.z\nbreak_logicalnz r5.x\niadd r4.x, r4.x, l0.y\nand r3.x, r4.x, l0.w\nswitch r3.x\ncase 1\niadd r4.y, r4.y, r0.x\ncontinue\ncase 2\niadd r4.z, r4.z, l0.y\nbreak\nendswitch\niadd r4.w, r4.w, l0.y\nendloop\nmov o0, r4",
        ),
        (
            "functions",
            "mov r4, r0\ncall 1\ncall_logicalnz r0.x, 2\nmov o0, r4\nendmain\nfunc 1\nadd r4, r4, r1\nret_logicalnz r0.y\nadd r4, r4, r2\ncall 2\nret\nendfunc\nfunc 2\nwhileloop\nadd r4.x, r4.x, l1.y\nret_dyn\nendloop\nret\nendfunc",
        ),
        ("early end", "mov o0, r0\nret_logicalnz r1.x\nmov o0.x, r2.x"),
        ("discard", "mov o0, r0\ndiscard_logicalnz r1.x\nmov o0.x, r2.x"),
        (
            "discard in function",
            "mov o0, r0\ncall 7\nmov o0.y, r2.x\nendmain\nfunc 7\nand r3.x, r1.x, l0.y\ndiscard_logicalnz r3.x\nret\nendfunc",
        ),
        (
            "compare",
            "mov r3, l0.xxxx\nwhileloop\nbreakc_relop(ge) r3.x, l2.z\niadd r3.x, r3.x, l0.y\ncontinuec_relop(lt) r0.x, r1.x\niadd r3.y, r3.y, l0.y\nendloop\nmov o0, r3",
        ),
    ];
    let cases: Vec<_> =
        bodies.iter().map(|(name, body)| (name.to_string(), Case::new(&pixel(body)))).collect();
    check(&cases);
}

fn constants_and_arrays() {
    let mut cases = Vec::new();
    let bodies = [
        ("cb", "and r3.x, r0.x, l2.y\nmov r4, cb0[r3.x+2]\nadd o0, r4, cb0[3]"),
        ("cb outside", "mov r3.x, l2.w\nmov r4, cb0[r3.x]\nmov o0, r4\nmov o0.x, cb0[r0.x].x"),
        (
            "array",
            "dcl_indexed_temp_array x0[8]\nmov r3.x, l0.x\nwhileloop\nige r3.y, r3.x, l2.z\nbreak_logicalnz r3.y\nmov x0[r3.x], r0\nadd r0, r0, r1\niadd r3.x, r3.x, l0.y\nendloop\nand r3.x, r2.x, l2.z\nadd o0, x0[r3.x+1], x0[7]",
        ),
        ("icb", "dcl_cb icb[2]\n1, 2, 3, 4\n5, 6, 7, 8\nand r3.x, r0.x, l0.w\nmov o0, icb[r3.x]"),
    ];
    for (name, body) in bodies {
        cases.push((name.to_string(), Case::new(&pixel(body))));
    }
    // The immediate buffer has several spellings; the front end's tests tell which.
    cases.retain(|(_, case)| recal_il::compile(case.text.as_bytes()).is_ok());
    assert!(cases.len() >= 3);
    check(&cases);
}

fn coordinate(words: &mut Words) -> u32 {
    match words.next() % 8 {
        0 => words.any(),
        1 => ((words.next() % 64) as f32 - 16.0).to_bits(),
        2 => ((words.next() % 4096) as f32 / 64.0 - 8.0).to_bits(),
        _ => ((words.next() % 100_000) as f32 / 2500.0 - 5.0).to_bits(),
    }
}

fn formats() {
    let mut cases = Vec::new();
    for format in Format::ALL {
        let mut read = Case::new(&pixel("add o0, r0, l1.xxxx\nmov o0.x, r0.x"));
        read.text = pixel("mov o0, r0");
        read.input = *format;
        cases.push((format!("read {}", format.name()), read));
        let mut write = Case::new(&pixel("mov o0, r0"));
        write.output = *format;
        cases.push((format!("write {}", format.name()), write));
        let mut typed = Case::new(&compute(
            "dcl_typed_uav_id(0)_type(2d)_fmtx(float)",
            "and r0.x, vTidInGrpFlat.x, l1.z\nmov r0.y, vThreadGrpId.x\nuav_load_id(0) r1, r0.xy00\n\
             iadd r0.y, r0.y, l0.z\nuav_store_id(0) r0.xy00, r1",
        ));
        typed.output = *format;
        if recal_il::compile(typed.text.as_bytes()).is_ok() {
            cases.push((format!("typed {}", format.name()), typed));
        }
    }
    check(&cases);
}

fn sampling() {
    let wraps = [
        Wrap::Repeat,
        Wrap::MirroredRepeat,
        Wrap::ClampToEdge,
        Wrap::MirrorClampToEdge,
        Wrap::Clamp,
        Wrap::MirrorClamp,
        Wrap::ClampToBorder,
        Wrap::MirrorClampToBorder,
    ];
    let normal = pixel("mul r0, r0, l1.z\nsample_resource(1)_sampler(1)_coordtype(normalized) o0, r0.xyxx");
    let texels = pixel("sample_resource(1)_sampler(1)_aoffimmi(1.0,-1.5,0) o0, r0.xyxx");
    let gather = pixel("fetch4_resource(1)_sampler(1)_compselect(y) o0, r0.xyxx");
    let flat = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
                dcl_resource_id(0)_type(1d,unnorm)_fmtx(float)\nmul r1, vWinCoord0.xyxx, vWinCoord0.yxxx\n\
                sample_resource(0)_sampler(1) o0, r1.xyxx\nend\n";
    let mut cases = Vec::new();
    for (u, v) in (0..8).map(|k| (wraps[k], wraps[(k * 3 + 2) % 8])) {
        for linear in [false, true] {
            for (name, text) in [("normal", &normal), ("texels", &texels), ("fetch4", &gather)] {
                let mut case = Case::new(text);
                case.sampler = Sampler { linear, wrap: [u, v, u], border: [0.25, -3.0, 1e9, f32::NAN] };
                case.fill = coordinate;
                cases.push((format!("{name} {u:?} {v:?} linear {linear}"), case.clone()));
                case.input = Format::Float32x2;
                cases.push((format!("{name} {u:?} {v:?} linear {linear}, two components"), case));
            }
            let mut case = Case::new(flat);
            case.sampler = Sampler { linear, wrap: [u, v, u], border: [1.0, 2.0, 3.0, 4.0] };
            cases.push((format!("flat {u:?} {v:?} linear {linear}"), case));
        }
    }
    let mut plain = Case::new(&texels);
    plain.fill = coordinate;
    cases.push(("default sampler".into(), plain));
    let mut load = Case::new(&pixel("ftoi r0, r0\nload_resource(1)_aoffimmi(1,-1,0) o0, r0.xyxx"));
    load.fill = coordinate;
    cases.push(("load".into(), load));
    cases.push(("resinfo".into(), Case::new(&pixel("resinfo_resource(1) o0, l0.x"))));
    cases.push(("resinfo_uint".into(), Case::new(&pixel("resinfo_resource(1)_uint o0, l0.x"))));
    check(&cases);
}

fn launches() {
    let mut cases = Vec::new();
    let position = pixel("mov r3, vWinCoord0.xyxy\nmov o0, r3\nmov o0.z, vObjIndex0.x");
    for (x, y, width, height) in
        [(0, 0, 24, 20), (3, 5, 17, 9), (23, 19, 1, 1), (0, 0, 8, 8), (0, 0, 20, 20), (0, 4, 20, 16)]
    {
        let mut case = Case::new(&position);
        case.extent = Extent::Domain { x, y, width, height };
        cases.push((format!("domain {x} {y} {width} {height}"), case));
        // Some of these domains lie inside the surface with columns and rows exchanged.
        let mut case = Case::new(&pixel("sample_resource(1)_sampler(1) o0, vWinCoord0.yxyy"));
        case.extent = Extent::Domain { x, y, width, height };
        cases.push((format!("transposed {x} {y} {width} {height}"), case));
    }
    let ids = |size: &str| {
        format!(
            "il_cs_2_0\ndcl_num_thread_per_group {size}\ndcl_raw_uav_id(0)\ndcl_literal l0, 64, 16, 32, 48\n\
             umul r0.x, vAbsTidFlat.x, l0.x\niadd r0.y, r0.x, l0.y\niadd r0.z, r0.x, l0.z\niadd r0.w, r0.x, l0.w\n\
             mov r1, vTidInGrp0.xyzx\nmov r1.___w, vTidInGrpFlat0.x\nuav_raw_store_id(0) mem0, r0.x, r1\n\
             mov r1, vThreadGrpId0.xyzx\nmov r1.___w, vThreadGrpIdFlat.x\nuav_raw_store_id(0) mem0, r0.y, r1\n\
             mov r1, vAbsTid0.xyzx\nuav_raw_store_id(0) mem0, r0.z, r1\nend\n"
        )
    };
    for (size, groups) in [("64", [3, 1, 1]), ("4,8,2", [2, 2, 2]), ("8,8", [2, 3, 1]), ("1", [7, 1, 3])] {
        let mut case = Case::new(&ids(size));
        case.extent = Extent::Grid { groups, block: [64, 1, 1] };
        cases.push((format!("grid {size} {groups:?}"), case));
    }
    let interpolated =
        "il_ps_2_0\ndcl_output_generic o0\ndcl_input_generic_interp(linear) v1\nmov o0, v1\nend\n";
    if recal_il::compile(interpolated.as_bytes()).is_ok() {
        let mut case = Case::new(interpolated);
        let corner =
            DomainParam { ul: [0.5, -1.0, 3.0, 0.0], ll: [1.25, 7.0, 3.0, 0.1], lr: [-9.0, 0.3, 3.0, 100.0] };
        case.params = Some(Box::new([corner; 8]));
        cases.push(("interpolated".into(), case));
    }
    check(&cases);
}

fn raw_memory() {
    let bodies = [
        (
            "raw",
            "dcl_raw_uav_id(0)\ndcl_raw_uav_id(1)",
            "umul r0.x, vAbsTid.x, l1.y\nuav_raw_load_id(1) r1, r0.x\niadd r1, r1, l0.xyzw\nuav_raw_store_id(0) mem0, r0.x, r1",
        ),
        (
            "partial",
            "dcl_raw_uav_id(0)",
            "umul r0.x, vAbsTid.x, l1.y\nuav_raw_load_id(0) r1.xy__, r0.x\nuav_raw_store_id(0) mem0.xyz, r0.x, r1",
        ),
        (
            "outside",
            "dcl_raw_uav_id(0)",
            "umul r0.x, vAbsTid.x, l1.y\ninot r2.x, r0.x\nuav_raw_load_id(0) r1, r2.x\nuav_raw_store_id(0) mem0, r0.x, r1\nuav_raw_store_id(0) mem0, r2.x, r1",
        ),
        (
            "structured",
            "dcl_struct_uav_id(0) 16",
            "mov r0.x, vAbsTid.x\nmov r0.y, l1.x\nuav_struct_load_id(0) r1.xy__, r0.xy\nmov r0.y, l0.x\nuav_struct_store_id(0) mem0.xy, r0.xy, r1",
        ),
        (
            "global",
            "",
            "umul r0.x, vAbsTid.x, l0.z\nmov r1, g[r0.x+1]\nmov g[r0.x], r1\nmov g[r0.x+1]._y_w, r1.wzyx",
        ),
        (
            "global outside",
            "",
            "inot r0.x, vAbsTid.x\nmov r1, g[r0.x]\nmov g[r0.x], r1\nmov r1.x, r0.x\numul r0.x, vAbsTid.x, l0.z\nmov g[r0.x], r1",
        ),
        (
            "arena",
            "dcl_arena_uav_id(0)",
            "uav_arena_load_id(0)_size(byte) r1.x, vAbsTid.x\nuav_arena_load_id(0)_size(short) r1.y, vAbsTid.x\niadd r1.x, r1.x, r1.y\numul r0.x, vAbsTid.x, l0.z\niadd r0.x, r0.x, l2.x\nuav_arena_store_id(0)_size(byte) r0.x, r1.x\nuav_arena_store_id(0)_size(short) r0.x, r1.x",
        ),
    ];
    let mut cases = Vec::new();
    for (name, header, body) in bodies {
        let header = format!("{header}\ndcl_literal l2, 32768, 0, 0, 0");
        cases.push((name.to_string(), Case::new(&compute(&header, body))));
    }
    check(&cases);
}

fn atomics() {
    // Each thread has its own word, so the order does not matter; the old values are stored, too.
    let ops =
        ["add", "sub", "rsub", "min", "max", "umin", "umax", "and", "or", "xor", "uinc", "udec", "xchg"];
    let mut cases = Vec::new();
    for op in ops {
        let body = format!(
            "umul r0.x, vAbsTid.x, l1.y\niadd r0.y, r0.x, l1.x\nuav_raw_load_id(0) r1, r0.x\n\
             uav_read_{op}_id(0) r2.x, r0.x, r1.z\nuav_raw_store_id(0) mem0.x, r0.y, r2.x"
        );
        cases.push((format!("uav {op}"), Case::new(&compute("dcl_raw_uav_id(0)", &body))));
    }
    for op in ["add", "rsub", "umax", "inc", "dec", "xor"] {
        let body = format!(
            "umul r0.x, vTidInGrpFlat.x, l1.x\numul r0.y, vAbsTid.x, l1.y\nuav_raw_load_id(0) r1, r0.y\n\
             lds_store_id(1) r0.x, r1.x\nlds_read_{op}_id(1) r2.x, r0.x, r1.y\nlds_load_id(1) r2.y, r0.x\n\
             uav_raw_store_id(0) mem0.xy, r0.y, r2"
        );
        cases.push((format!("lds {op}"), Case::new(&compute("dcl_raw_uav_id(0)\ndcl_lds_id(1) 256", &body))));
    }
    // All threads add to one word: the sum does not depend on the order.
    let sum = "uav_add_id(0) l0.x, vAbsTid.x\nuav_cmp_id(0) l1.x, l0.y, l0.z";
    cases.push(("sum".into(), Case::new(&compute("dcl_raw_uav_id(0)", sum))));
    let counters = "append_buf_alloc_id(0) r0.x\nuav_add_id(0) l0.x, l0.y";
    cases.push(("counter".into(), Case::new(&compute("dcl_raw_uav_id(0)", counters))));
    check(&cases);
}

fn lockstep_of_one_wave() {
    let header = "dcl_raw_uav_id(0)\ndcl_lds_id(1) 256";
    let load =
        "umul r0.x, vTidInGrpFlat.x, l1.x\numul r0.y, vAbsTid.x, l1.x\nuav_raw_load_id(0) r1.x, r0.y\n";
    let store = "uav_raw_store_id(0) mem0.x, r0.y, r1.x";
    let rotate = "iadd r2.x, vTidInGrpFlat.x, l0.y\nand r2.x, r2.x, l1.z\numul r2.x, r2.x, l1.x\n";
    let mut cases = vec![
        (
            "rotate without a fence".to_string(),
            Case::new(&compute(
                header,
                &format!("{load}{rotate}lds_store_id(1) r0.x, r1.x\nlds_load_id(1) r1.x, r2.x\n{store}"),
            )),
        ),
        (
            "rotate ten times".to_string(),
            Case::new(&compute(
                header,
                &format!(
                    "{load}{rotate}mov r3.x, l0.x\nwhileloop\nige r3.y, r3.x, l1.x\nbreak_logicalnz r3.y\n\
                     lds_store_id(1) r0.x, r1.x\nlds_load_id(1) r1.x, r2.x\niadd r3.x, r3.x, l0.y\nendloop\n{store}"
                ),
            )),
        ),
        (
            "sum of a wave, fences".to_string(),
            Case::new(&compute(
                header,
                &format!(
                    "{load}lds_store_id(1) r0.x, r1.x\nfence_threads_lds\nmov r3.x, l1.w\nwhileloop\n\
                     ushr r3.x, r3.x, l0.y\nbreak_logicalz r3.x\nult r3.y, vTidInGrpFlat.x, r3.x\n\
                     if_logicalnz r3.y\niadd r4.x, vTidInGrpFlat.x, r3.x\numul r4.x, r4.x, l1.x\n\
                     lds_load_id(1) r4.y, r4.x\nlds_read_add_id(1) r4.z, r0.x, r4.y\nendif\nfence_threads_lds\nendloop\n\
                     lds_load_id(1) r1.x, l0.x\n{store}"
                ),
            )),
        ),
    ];
    let own = "dcl_raw_uav_id(0)\ndcl_lds_size_per_thread 8\ndcl_lds_sharing_mode _wavefrontRel\ndcl_literal l2, 4, 0xFFFFFFFB, 0, 0";
    let quad = "umul r0.x, vAbsTid.x, l1.y\nuav_raw_load_id(0) r1, r0.x\nlds_write_vec mem0, r1\n\
                lds_write_vec_lOffset(4) mem0, r1.wzyx\nfence_lds\nand r2.x, vTidInGrp0.x, l2.y\nand r2.y, vTidInGrp0.x, l2.x\n\
                lds_read_vec_neighborExch r1, r2.xyyy\nlds_write_vec mem0, r1\niadd r2.x, vTidInGrp0.x, l0.y\n\
                lds_read_vec r3, r2.x000\nadd r1, r1, r3\nuav_raw_store_id(0) mem0, r0.x, r1";
    cases.push(("write own, read any".into(), Case::new(&compute(own, quad))));
    check(&cases);
}

fn wide_groups() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 256\ndcl_raw_uav_id(0)\ndcl_lds_id(1) 1024\n\
                dcl_literal l0, 4, 1, 255, 0\numul r0.x, vTidInGrpFlat.x, l0.x\numul r0.y, vAbsTid.x, l0.x\n\
                uav_raw_load_id(0) r1.x, r0.y\nlds_store_id(1) r0.x, r1.x\nfence_threads_lds\n\
                isub r2.x, l0.z, vTidInGrpFlat.x\numul r2.x, r2.x, l0.x\nlds_load_id(1) r1.x, r2.x\n\
                uav_raw_store_id(0) mem0.x, r0.y, r1.x\nend\n";
    let text = text.replace("isub r2.x, l0.z, vTidInGrpFlat.x", "ixor r2.x, l0.z, vTidInGrpFlat.x");
    check(&[("reverse 256".into(), Case::new(&text))]);
}

recal_needs::tests!(needs::device() => every_lane_operation flow constants_and_arrays formats sampling launches raw_memory atomics lockstep_of_one_wave wide_groups);
