//! What kernels compute: hand-worked cases of masks, modifiers, hazards, flow, doubles, memory and the idioms of
//! real programs, run by the plain interpreter.

mod plain;

use recal_il::ir::compact::compact;
use recal_il::ir::unroll::unroll;
use recal_il::ir::validate::validate;
use recal_reference::Machine;

const NAN: u32 = 0x7FC0_0000;

/// Runs `body` as one compute thread; returns the first `rows` rows of `g[]`.
fn run(declarations: &str, body: &str, rows: usize) -> Vec<[u32; 4]> {
    run_on(&mut plain::machine(&[], &vec![[0; 4]; rows]), declarations, body)
}

fn run_on(machine: &mut Machine, declarations: &str, body: &str) -> Vec<[u32; 4]> {
    let (main, functions) = body.split_once("endmain").unwrap_or((body, ""));
    let endmain = if functions.is_empty() { "" } else { "endmain" };
    let text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\n{declarations}\n{main}\n{endmain}{functions}\nend\n"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    validate(&program).unwrap_or_else(|d| panic!("{d:#?}\n{program}"));
    // Packed into fewer registers it must do the same.
    let mut packed = program.clone();
    compact(&mut packed);
    validate(&packed).unwrap_or_else(|d| panic!("{d:#?}\n{packed}"));
    assert!(packed.registers <= program.registers);
    // So it must with loops unrolled.
    let unrolled = unroll(&program, true, |_| 1);
    validate(&unrolled).unwrap_or_else(|d| panic!("{d:#?}\n{unrolled}"));
    let (mut again, mut ahead) = (machine.clone(), machine.clone());
    plain::run(&mut again, &packed, 1);
    plain::run(&mut ahead, &unrolled, 1);
    plain::run(machine, &program, 1);
    assert_eq!(again.memories, machine.memories, "{program}\npacked:\n{packed}");
    assert_eq!(ahead.memories, machine.memories, "{program}\nunrolled:\n{unrolled}");
    plain::global(machine)
}

fn floats(row: [f32; 4]) -> [u32; 4] {
    row.map(f32::to_bits)
}

fn double(value: f64) -> [u32; 2] {
    [value.to_bits() as u32, (value.to_bits() >> 32) as u32]
}

#[test]
fn masks_and_forced_constants() {
    let got = run(
        "dcl_literal l0, 5.0, 6.0, 7.0, 8.0",
        "mov r1, l0.wwww\nmov r1.x0_1, l0\nmov g[0], r1\nmov r2.y00, l0\nmov g[1], r2\nmov g[2].x_1_, l0\nmov g[2].__0w, l0",
        3,
    );
    assert_eq!(got[0], floats([5.0, 0.0, 8.0, 1.0]));
    assert_eq!(got[1], floats([0.0, 6.0, 0.0, 0.0]));
    assert_eq!(got[2], floats([5.0, 0.0, 0.0, 8.0]));
}

#[test]
fn scale_saturate_and_negation() {
    let got = run(
        "dcl_literal l0, 5.0, 6.0, 7.0, 8.0\ndcl_literal l1, 0.75, -0.75, 0.0, 0.0",
        "add_x2_sat r2, l1, l1.0000\nmov g[0], r2\nmov g[1], l0.yxxy_neg(xz)\nadd_d4 g[2], l0, l0\nmov_sat g[3], l1.xyxy_neg(xyzw)",
        4,
    );
    assert_eq!(got[0], floats([1.0, 0.0, 0.0, 0.0]));
    assert_eq!(got[1], floats([-6.0, 5.0, -5.0, 6.0]));
    assert_eq!(got[2], floats([2.5, 3.0, 3.5, 4.0]));
    assert_eq!(got[3], floats([0.0, 0.75, 0.0, 0.75]));
}

#[test]
fn modifiers_in_their_order() {
    // invert 1 − v; bias v − 0.5; bx2 2(v − 0.5); sign; abs before neg; divComp(w) divides x, y, z by w.
    let got = run(
        "dcl_literal l0, 0.25, -3.0, 6.0, 2.0",
        "add g[0], l0_invert, l0.0000\nadd g[1], l0_bx2, l0.0000\nadd g[2], l0_sign, l0.0000\n\
         mov g[3], l0_neg(xyzw)_abs\nadd g[4], l0_divComp(w), l0.0000\nadd g[5], l0_bias_neg(x), l0.0000",
        6,
    );
    assert_eq!(got[0], floats([0.75, 4.0, -5.0, -1.0]));
    assert_eq!(got[1], floats([-0.5, -7.0, 11.0, 3.0]));
    assert_eq!(got[2], floats([1.0, -1.0, 1.0, 1.0]));
    assert_eq!(got[3], floats([-0.25, -3.0, -6.0, -2.0]));
    assert_eq!(got[4], floats([0.125, -1.5, 3.0, 2.0]));
    assert_eq!(got[5], floats([0.25, -3.5, 5.5, 1.5]));
}

#[test]
fn sources_are_read_before_anything_is_written() {
    let got = run(
        "dcl_literal l0, 1, 2, 3, 4\ndcl_literal l1, 10, 20, 30, 40",
        "mov r0, l0\nmov r1, l1\niadd r0, r0.yzwx, r1\nmov g[0], r0\nmov r0, l0\nmov r0, r0.wzyx\nmov g[1], r0\n\
         mov r2, l0\nimad r2.xyz, r2.yzx, r2.zxy, r2\nmov g[2], r2",
        3,
    );
    assert_eq!(got[0], [12, 23, 34, 41]);
    assert_eq!(got[1], [4, 3, 2, 1]);
    assert_eq!(got[2], [2 * 3 + 1, 3 + 2, 2 + 3, 4]);
}

#[test]
fn integers_negate_by_twos_complement_and_moves_by_the_sign_bit() {
    let got = run(
        "dcl_literal l0, 7, -7, 0x80000000, 1.5",
        "iadd g[0], l0, l0_neg(xyzw)\nimax g[1], l0, l0_neg(xyzw)\nmov g[2], l0_neg(xyzw)\nushr g[3], l0.zzzz, l0.xxxx_neg(xyzw)",
        4,
    );
    assert_eq!(got[0], [0; 4]);
    assert_eq!(got[1], [7, 7, 0x8000_0000, 1.5f32.to_bits()]);
    assert_eq!(got[2], [0x8000_0007, 0x7FFF_FFF9, 0, (-1.5f32).to_bits()]);
    assert_eq!(got[3], [0x8000_0000 >> 25; 4]);
}

#[test]
fn relative_constants_arrays_and_literals() {
    let constants: Vec<_> = (0..8).map(|k| [k, k + 100, 0, 0]).collect();
    let mut machine = plain::machine(&constants, &[[0; 4]; 6]);
    let got = run_on(
        &mut machine,
        "dcl_cb cb0[8]\ndcl_indexed_temp_array x0[4]\ndcl_literal l2, 2, 3, 0, 1\ndcl_literal l3, -1, 9, 0, 0",
        "mov r4.x, l2.x\nmov g[0], cb0[r4.x+3]\nmov g[1], cb0[l2.y+1]\nmov x0[r4.x+1], l2\nmov x0[r4.x].y, l2.xxxx\n\
         mov g[2], x0[3]\nmov g[3], x0[2]\nmov r5.x, l3.x\nmov g[4], cb0[r5.x]\nmov x0[l3.y], l2\nmov g[5], x0[l3.y]",
    );
    assert_eq!(got[0], [5, 105, 0, 0]);
    assert_eq!(got[1], [4, 104, 0, 0]);
    assert_eq!(got[2], [2, 3, 0, 1]);
    assert_eq!(got[3], [0, 2, 0, 0]);
    assert_eq!(got[4], [0; 4], "row −1 reads 0");
    assert_eq!(got[5], [0; 4], "outside the array");
}

#[test]
fn flow_breaks_continues_and_switches() {
    let declarations = "dcl_literal l2, 2, 3, 0, 1\ndcl_literal l3, 3, 10, 1, 0\ndcl_literal l4, 7, 5, 2, 0";
    // 9.5 of the reference: leaves a loop from inside an if.
    let nested = "whileloop\niadd r6.x, r6.x, l2.w\nige r7.x, r6.x, l2.y\nif_logicalnz r7.x\nbreak\nendif\nendloop\nmov g[0], r6.xxxx\n";
    // 9.6: falls through into default.
    let switch = |selector: &str, row: u32| {
        format!(
            "mov r8.x, l3.w\nswitch {selector}\ncase 3\niadd r8.x, r8.x, l3.z\ndefault\niadd r8.x, r8.x, l3.y\nbreak\n\
             case 5\niadd r8.x, r8.x, l4.x\nendswitch\nmov g[{row}], r8.xxxx\n"
        )
    };
    // Sum of the odd numbers below 7, skipping even ones by continue.
    let odd = "mov r0, l2.zzzz\nmov r9, l2.zzzz\nwhileloop\niadd r0.x, r0.x, l2.w\nige r1.x, r0.x, l4.x\nbreak_logicalnz r1.x\n\
               iand r1.x, r0.x, l2.w\ncontinue_logicalz r1.x\niadd r9.x, r9.x, r0.x\nendloop\nmov g[4], r9.xxxx\n";
    let body = format!("{nested}{}{}{}{odd}", switch("l3.x", 1), switch("l3.y", 2), switch("l4.y", 3));
    let got = run(declarations, &body, 5);
    assert_eq!(got[0][0], 3);
    assert_eq!(got[1][0], 11, "case 3, then default");
    assert_eq!(got[2][0], 10, "default alone");
    assert_eq!(got[3][0], 7, "case 5 after default");
    assert_eq!(got[4][0], 1 + 3 + 5);
}

#[test]
fn float_conditions_see_denormals_and_nan() {
    // Integer counters in a float comparison: denormals, in order. NaN: only `ne` holds.
    let got = run(
        "dcl_literal l0, 0, 1, 5, 0x7FC00000",
        "mov r0, l0.xxxx\nwhileloop\nbreakc_relop(ge) r0.x, l0.z\niadd r0.x, r0.x, l0.y\nendloop\nmov g[0], r0.xxxx\n\
         ifc_relop(ne) l0.w, l0.w\nmov g[1].x, l0.y\nendif\nifc_relop(eq) l0.w, l0.w\nmov g[1].y, l0.y\nendif\n\
         ifc_relop(ge) l0.w, l0.x\nmov g[1].z, l0.y\nendif\nifc_relop(gt) l0.y, l0.x\nmov g[1].w, l0.y\nendif",
        2,
    );
    assert_eq!(got[0][0], 5);
    assert_eq!(got[1], [1, 0, 0, 1]);
}

#[test]
fn functions_share_registers_and_return_early() {
    let got = run(
        "dcl_literal l0, 0, 1, 2, 3",
        "mov r0, l0.xxxx\ncall 7\ncall 7\ncall_logicalnz l0.x, 7\ncall_logicalz l0.x, 8\nmov g[0], r0\nendmain\n\
         func 7\niadd r0.x, r0.x, l0.y\nige r1.x, r0.x, l0.z\nif_logicalnz r1.x\nret_dyn\nendif\niadd r0.y, r0.y, l0.w\nret\nendfunc\n\
         func 8\niadd r0.z, r0.z, l0.w\nret_logicalnz r0.z\niadd r0.z, r0.z, l0.w\nret\nendfunc",
        1,
    );
    assert_eq!(got[0], [2, 3, 3, 0]);
}

#[test]
fn a_register_keeps_its_value_between_calls() {
    // r5 lives in the function only; the second call continues from the first.
    let got = run(
        "dcl_literal l0, 0, 1, 2, 3",
        "call 1\ncall 1\ncall 1\nendmain\nfunc 1\niadd r5.x, r5.x, l0.y\nmov g[r5.x], r5.xxxx\nret\nendfunc",
        4,
    );
    assert_eq!(got.iter().map(|row| row[0]).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn macros_expand_with_private_registers() {
    let got = run(
        "mdef(7)_out(1)_in(2)\nmul r0, in0, in1\nadd out0, r0, r0\nmend\ndcl_literal l0, 1.5, 2.0, 0, 0",
        "mov r0, l0.yyyy\nmov r3, l0.yyyy\nmcall(7)(r3.xy__), (l0.x, l0.yyyy)\nmov g[0], r3\nmov g[1], r0",
        2,
    );
    assert_eq!(got[0], floats([6.0, 6.0, 2.0, 2.0]));
    assert_eq!(got[1], floats([2.0; 4]));
}

#[test]
fn doubles_live_in_pairs() {
    let [a_lo, a_hi] = double(1.25);
    let [b_lo, b_hi] = double(-0.1);
    let declarations =
        format!("dcl_literal l0, {a_lo:#x}, {a_hi:#x}, {b_lo:#x}, {b_hi:#x}\ndcl_literal l1, 3, -2, 0.5, 0");
    let got = run(
        &declarations,
        "dadd g[0].xy, l0.xy, l0.zw\ndadd g[0].zw, l0.xy, l0.zw_neg(y)\ndmul g[1], l0.xy, l0.zw\n\
         mov r0, l0\ndadd r0.zw, r0.zw, r0.xy\nmov g[2], r0\ndlt g[3], l0.zw, l0.xy\ndldexp g[4].xy, l0.xy, l1.x\n\
         f2d g[4].zw, l1.z\nd2f g[5].y, l0.xy\nmov r2.xy, l0.xy_neg(y)\nmov g[6], r2\ndfrexp r3, l0.xy\nmov g[7], r3\n\
         dmovc g[8].xy, l1.w, l0.xy, l0.zw\ndmov g[8].zw, l0.zw",
        9,
    );
    let pair = |row: [u32; 4], k: usize| [row[k], row[k + 1]];
    assert_eq!(pair(got[0], 0), double(1.25 + -0.1));
    assert_eq!(pair(got[0], 2), double(1.25 - -0.1));
    assert_eq!(pair(got[1], 0), double(1.25 * -0.1));
    assert_eq!(pair(got[1], 2), double(1.25 * -0.1));
    assert_eq!(pair(got[2], 2), double(-0.1 + 1.25));
    assert_eq!(got[3], [u32::MAX; 4]);
    assert_eq!(pair(got[4], 0), double(10.0));
    assert_eq!(pair(got[4], 2), double(0.5));
    assert_eq!(got[5], [0, 1.25f32.to_bits(), 0, 0]);
    assert_eq!(pair(got[6], 0), double(-1.25));
    // 1.25 = 0.625 · 2
    assert_eq!((got[7][0], got[7][1], pair(got[7], 2)), (0, 1, double(0.625)));
    assert_eq!(got[8], [b_lo, b_hi, b_lo, b_hi]);
}

#[test]
fn long_integers_negate_as_a_whole() {
    let got = run(
        "dcl_literal l0, 5, 0, 1, 0",
        "i64add g[0].xy, l0.xy, l0.zw_neg(xyzw)\ni64add g[0].zw, l0.zw, l0.xy_neg(xy)\ni64shl g[1].xy, l0.zw, l0.x\ni64lt g[1].zw, l0.zw, l0.xy",
        2,
    );
    assert_eq!(got[0], [4, 0, -4i32 as u32, u32::MAX]);
    assert_eq!(got[1], [32, 0, u32::MAX, u32::MAX]);
}

#[test]
fn scalar_instructions_read_w_and_replicate() {
    let got = run(
        "dcl_literal l0, 2.0, 4.0, 8.0, 16.0",
        "rcp_zeroop(infinity) g[0], l0\nrcp_zeroop(infinity) g[1].xy, l0.x\nsqrt g[2]._y_w, l0.w",
        3,
    );
    assert_eq!(got[0], floats([0.0625; 4]));
    assert_eq!(got[1], floats([0.5, 0.5, 0.0, 0.0]));
    assert_eq!(got[2], floats([0.0, 4.0, 0.0, 4.0]));
}

#[test]
fn zero_divisors_by_zeroop() {
    let got = run(
        "dcl_literal l0, 0.0, 1.0, -1.0, 0x80000000",
        "div g[0], l0.yzyz, l0.xxww\ndiv_zeroop(infinity) g[1], l0.yzyx, l0.xxwx\ndiv_zeroop(zero) g[2], l0.yzyx, l0.xxwx",
        3,
    );
    let max = f32::MAX;
    let infinity = f32::INFINITY;
    assert_eq!(got[0], floats([max, -max, -max, max]));
    assert_eq!(got[1], [infinity.to_bits(), (-infinity).to_bits(), (-infinity).to_bits(), NAN]);
    assert_eq!(got[2], [0; 4]);
}

#[test]
fn dot_products_run_from_left_to_right() {
    // (1e8 · 1 + 1 · 1) − 1e8 loses the 1; in another order it would stay.
    let got = run(
        "dcl_literal l0, 100000000.0, 1.0, -100000000.0, 3.0\ndcl_literal l1, 1.0, 1.0, 1.0, 2.0",
        "dp3 g[0].x, l0, l1\ndp4 g[0].y, l0, l1\ndp2 g[0].z, l0.ywww, l1.wwww\ndp2add g[0].w, l0.yw, l1.wy, l0.wwww\ncrs g[1], l0.yxwx, l1.wyxx\n\
         nrm g[2], l0.ywww",
        3,
    );
    // dp4: 0 + 3·2; dp2: 1·2 + 3·2; dp2add: 1·2 + 3·1 + 3.
    assert_eq!(got[0], floats([0.0, 6.0, 8.0, 8.0]));
    // (1, 1e8, 3) × (2, 1, 1) = (1e8 − 3, 6 − 1, 1 − 2e8)
    assert_eq!(got[1], floats([100_000_000.0 - 3.0, 5.0, 1.0 - 200_000_000.0, 0.0]));
    let length = 1.0 / 19f32.sqrt();
    for (k, v) in [1.0f32, 3.0, 3.0, 3.0].into_iter().enumerate() {
        let near = f32::from_bits(got[2][k]);
        assert!((near - v * length).abs() < 1e-6, "{near}");
    }
}

#[test]
fn transpose_works_in_place() {
    let got = run(
        "dcl_literal l0, 0, 1, 2, 3\ndcl_literal l1, 10, 11, 12, 13\ndcl_literal l2, 20, 21, 22, 23\ndcl_literal l3, 30, 31, 32, 33",
        "mov r4, l0\nmov r5, l1\nmov r6, l2\nmov r7, l3\ntranspose r4, r4\nmov g[0], r4\nmov g[1], r5\nmov g[2], r6\nmov g[3], r7",
        4,
    );
    for row in 0..4 {
        assert_eq!(got[row as usize], [row, 10 + row, 20 + row, 30 + row]);
    }
}

#[test]
fn conditional_moves_keep_or_choose_bits() {
    let got = run(
        "dcl_literal l0, 0x80000000, 0, 1, 2.0\ndcl_literal l1, 1, 2, 3, 4\ndcl_literal l2, 5, 6, 7, 8",
        "cmov_logical g[0], l0, l1, l2\nmov r1, l2\ncmov r1, l0, l1\nmov g[1], r1\ncmp_relop(gt)_cmpval(0.5) g[2], l0, l1, l2\n\
         set_relop(ge) g[3], l0, l0.yyyy",
        4,
    );
    assert_eq!(got[0], [1, 6, 3, 4], "−0.0 has a bit set");
    // As floats −0.0, 0 and the denormal 1 are zero.
    assert_eq!(got[1], [5, 6, 7, 4]);
    assert_eq!(got[2], [5, 6, 7, 4]);
    assert_eq!(got[3], floats([1.0; 4]));
}

#[test]
fn nan_of_any_payload_becomes_the_canonical_one_where_bits_are_read() {
    let infinity = 0x7F80_0000u32;
    let declarations = format!("dcl_literal l0, {infinity:#x}, 1.0, 0x7F923456, 3");
    let got = run(
        &declarations,
        // ∞ − ∞ stored, moved, selected, masked, negated by bits, and through a loop-carried register.
        "sub r1, l0.xxxx, l0.xxxx\nmov g[0], r1\niand g[1], r1, r1\nmov g[2], r1_neg(xyzw)\ncmov_logical g[3], l0.y, r1, l0\n\
         mov r2, l0.yyyy\nmov r3, l0.wwww\nwhileloop\nif_logicalz r3.x\nbreak\nendif\niadd r3.x, r3.x, l0.1_neg(xyzw)\nadd r2, r2, r1\n\
         mov r3.x, l0.0\nendloop\nmov g[4], r2\nmov g[5], l0.zzzz\nadd g[6], l0.zzzz, l0.yyyy",
        7,
    );
    assert_eq!(got[0], [NAN; 4]);
    assert_eq!(got[1], [NAN; 4]);
    assert_eq!(got[2], [NAN | 0x8000_0000; 4]);
    assert_eq!(got[3], [NAN; 4]);
    assert_eq!(got[4], [NAN; 4]);
    assert_eq!(got[5], [0x7F92_3456; 4], "moves keep payloads");
    assert_eq!(got[6], [NAN; 4]);
}

#[test]
fn a_register_that_is_sometimes_a_mask_keeps_both() {
    let text = |c: u32| {
        run(
            &format!("dcl_literal l0, {c}, 1.0, 0x7F800000, 0"),
            "mov r0, l0\nif_logicalnz r0.x\neq r1, r0.yyyy, r0.yyyy\nelse\nsub r1, r0.zzzz, r0.zzzz\nendif\nmov g[0], r1\nadd g[1], r1, r0.yyyy",
            2,
        )
    };
    assert_eq!(text(1), [[u32::MAX; 4], [NAN; 4]]);
    assert_eq!(text(0), [[NAN; 4], [NAN; 4]]);
}

#[test]
fn denormals_are_flushed_in_arithmetic_and_kept_in_moves() {
    let got = run(
        "dcl_literal l0, 1, 0x80000001, 1.0, 0x00800000",
        "add g[0], l0, l0.0000\nmov g[1], l0\nmul_ieee g[2], l0.wwww, l0.wwww\nmax g[3], l0, l0.yyyy\nmov r1, l0\nmul r2, r1, l0.zzzz\nmov g[4], r2\nmov g[5], r1",
        6,
    );
    assert_eq!(got[0], [0, 0, 1.0f32.to_bits(), 0x0080_0000]);
    assert_eq!(got[1], [1, 0x8000_0001, 1.0f32.to_bits(), 0x0080_0000]);
    assert_eq!(got[2], [0; 4]);
    assert_eq!(got[3], [0, 0x8000_0000, 1.0f32.to_bits(), 0x0080_0000]);
    assert_eq!(got[4], [0, 0, 1.0f32.to_bits(), 0x0080_0000]);
    assert_eq!(got[5], [1, 0x8000_0001, 1.0f32.to_bits(), 0x0080_0000]);
}

#[test]
fn raw_structured_and_narrow_memory() {
    let mut machine = plain::machine(&[], &[[0; 4]; 8]);
    plain::uav(&mut machine, 1, (0..64).collect());
    plain::uav(&mut machine, 2, vec![0; 64]);
    plain::uav(&mut machine, 3, (0x80..0xC0).collect());
    let got = run_on(
        &mut machine,
        "dcl_raw_uav_id(1)\ndcl_struct_uav_id(2) 16\ndcl_arena_uav_id(3)\ndcl_lds_id(4) 32\ndcl_struct_lds_id(5) 16, 4\n\
         dcl_literal l0, 4, 8, 6, 3\ndcl_literal l1, 0x40000000, 2, 1, 77",
        "uav_raw_load_id(1) r0.xy_w, l0.z\nmov g[0], r0\nuav_raw_store_id(1) mem0.x_z, l0.y, l1\nuav_raw_load_id(1) g[1], l0.y\n\
         uav_struct_store_id(2) mem.xy, l1.yx, l0\nuav_struct_load_id(2) g[2], l1.y0\nuav_struct_load_id(2) g[3], l1.x0\n\
         uav_arena_load_id(3)_size(byte) g[4].x, l0.w\nuav_arena_load_id(3)_size(short) g[4].y, l0.w\nuav_byte_load_id(3) g[4].z, l0.w\n\
         lds_store_id(4) l0.x, l1.w\nlds_load_id(4) g[5], l0.x\nlds_read_add_id(4) g[6].x, l0.x, l0.w\nlds_load_id(4) g[6].y, l0.x\n\
         lds_store_vec_id(5) mem.xyz, l0.w, l0.x, l1\nlds_load_vec_id(5) g[7], l0.w, l0.x",
    );
    assert_eq!(got[0], [0x0706_0504, 0x0B0A_0908, 0, 0x1312_1110], "the low address bits are ignored");
    assert_eq!(got[1], [0x4000_0000, 0x0F0E_0D0C, 1, 0x1716_1514]);
    // Offset 0x40000000 is far outside record 2, so the store was dropped.
    assert_eq!(got[2], [0; 4]);
    assert_eq!(got[3], [0; 4], "record 0x40000000 does not wrap to record 0");
    assert_eq!(got[4], [0x83, 0x8382, 0xFFFF_FF83, 0]);
    assert_eq!(got[5], [77; 4]);
    assert_eq!(got[6], [77, 80, 0, 0]);
    assert_eq!(got[7], [0x4000_0000, 2, 1, 0]);
}

#[test]
fn compare_exchange_operand_orders_differ() {
    let mut machine = plain::machine(&[], &[[0; 4]; 2]);
    plain::uav(&mut machine, 1, vec![5, 0, 0, 0]);
    let got = run_on(
        &mut machine,
        "dcl_raw_uav_id(1)\ndcl_lds_id(4) 4\ndcl_literal l0, 0, 5, 9, 0xF0",
        // UAV: new value, compare value. LDS: compare value, new value.
        "lds_store_id(4) l0.x, l0.y\nuav_read_cmp_xchg_id(1) g[0].x, l0.x, l0.z, l0.y\nlds_read_cmp_xchg_id(4) g[0].y, l0.x, l0.y, l0.z\n\
         uav_raw_load_id(1) g[0].z, l0.x\nlds_load_id(4) g[0].w, l0.x\nlds_mskor_id(4) l0.x, l0.z, l0.w\nlds_load_id(4) g[1].x, l0.x",
    );
    // A dword load puts dword k in component k, so g[0].z is dword 2, outside.
    assert_eq!(got[0], [5, 5, 0, 9]);
    assert_eq!(plain::uav_bytes(&machine, 1), [9, 0, 0, 0]);
    assert_eq!(got[1][0], 0xF0, "9 without the bits of 9, or 0xF0");
}

#[test]
fn idioms_of_real_programs() {
    let got = run(
        "dcl_literal l0, 3, 4, 5, 6\ndcl_literal l1, 9, 4, 9, 9\ndcl_literal l2, 0xFFFFFFFF, 1, 24, 31\n\
         dcl_literal l3, 0x12345678, 0x00FF00FF, 0xFF00FF00, 8\ndcl_literal l4, 32, -17, 5, 0",
        // Any component equal? By NaN through dp4.
        "ieq r1, l0, l1\ndp4 r1, r1, r1.1111\nif_logicalnz r1.x\nmov g[0].x, l2.y\nendif\n\
         ieq r1, l0, l2.yyyy\ndp4 r1, r1, r1.1111\nif_logicalnz r1.x\nmov g[0].y, l2.y\nendif\n\
         iadd r2.x, l4.x, l2.z_neg(xyzw)\nbitalign g[1].x, l3.x, l3.x, r2.x\n\
         bytealign r3.x, l3.x, l3.x, l2.y\niand r3.x, r3.x, l3.z\nbytealign r3.y, l3.x, l3.x, l0.x\niand r3.y, r3.y, l3.y\nior g[1].y, r3.x, r3.y\n\
         icarry r4.x, l2.x, l2.y\niadd g[1].z, r4.x, l2.x\n\
         ilt r5.x, l4.y, l4.w\niadd r5.y, l4.y, r5.x\nixor r5.y, r5.y, r5.x\nudiv r5.z, r5.y, l4.z\niadd r5.z, r5.z, r5.x\nixor g[1].w, r5.z, r5.x\n\
         ffb_hi r6.x, l0.x\nmov g[2].x, r6.x\niadd g[2].y, l0.0, l0.1",
        3,
    );
    assert_eq!(got[0], [1, 0, 0, 0]);
    // Rotate left by 24 = right by 8; byte swap; carry 1 + 0xFFFFFFFF; −17 / 5 = −3.
    assert_eq!(got[1], [0x7812_3456, 0x7856_3412, 0, -3i32 as u32]);
    assert_eq!(got[2][0], 30);
    assert_eq!(got[2][1], 0x3F80_0000);
}

#[test]
fn outputs_accumulate_and_default_to_zero() {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\ndcl_output_generic o1\n\
                dcl_literal l0, 1.0, 2.0, 3.0, 0x7F800000\nadd o0, l0, l0\nmad o0, l0, l0.xxxx, o0\nsub o1.x, l0.w, l0.w\nmov o1.z, vWinCoord0.x\nend\n";
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let outputs = plain::run(&mut Machine::default(), &program, 8);
    assert_eq!(outputs[0][7], floats([3.0, 6.0, 9.0, f32::INFINITY]));
    assert_eq!(outputs[1][7], [NAN, 0, 7.5f32.to_bits(), 0]);
}
