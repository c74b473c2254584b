//! Control flow of divergent threads, with results worked out by plain loops.

mod harness;

use std::fmt::Write;

use harness::{Machine, grid, read};
use recal_cpu::InstructionSet;
use recal_hal::{Bindings, DeviceOptions, Format};

/// A compute kernel of 64 threads around `body`, which sees its number in r0.x, 4 times that in r0.y, leaves its
/// result in r1.x, and may use literals l0 = (0, 1, 2, 3), l1 = (4, 5, 10, 64).
fn kernel(body: &str, functions: &str) -> String {
    format!(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 2, 3\n\
         dcl_literal l1, 4, 5, 10, 64\nmov r0.x, vTidInGrpFlat0.x\nishl r0._y__, r0.x, l0.z\nmov r1.x, l0.x\n\
         {body}\nuav_raw_store_id(0) mem0.x___, r0.y, r1.x\nendmain\n{functions}\nend\n"
    )
}

fn check(body: &str, functions: &str, expected: impl Fn(u32) -> u32) {
    let machine = Machine::new();
    let got = machine.compute(&kernel(body, functions), 64, 64);
    for thread in 0..64 {
        assert_eq!(got[thread as usize], expected(thread), "thread {thread} of\n{body}");
    }
}

#[test]
fn both_sides_of_an_if() {
    check(
        "and r2.x, r0.x, l0.y\nif_logicalnz r2.x\nmov r1.x, l1.z\nelse\niadd r1.x, r0.x, l1.x\nendif\n\
         iadd r1.x, r1.x, l0.y",
        "",
        |t| if t % 2 == 1 { 11 } else { t + 5 },
    );
}

#[test]
fn a_side_nobody_takes_is_skipped() {
    check(
        "ilt r2.x, r0.x, l1.w\nif_logicalz r2.x\nmov r1.x, l1.z\nendif\nif_logicalnz r2.x\niadd r1.x, r1.x, r0.x\nendif",
        "",
        |t| t,
    );
}

#[test]
fn each_lane_leaves_the_loop_by_itself() {
    // Sum of 0 … t.
    check(
        "mov r2.x, l0.x\nwhileloop\nilt r2._y__, r0.x, r2.x\nbreak_logicalnz r2.y\niadd r1.x, r1.x, r2.x\n\
         iadd r2.x, r2.x, l0.y\nendloop",
        "",
        |t| t * (t + 1) / 2,
    );
}

#[test]
fn nested_loops_with_continue_and_break() {
    let expected = |t: u32| {
        let mut sum = 0;
        for i in 0..5 {
            if i & 1 == t & 1 {
                continue;
            }
            for j in 0.. {
                if j == t % 4 + i {
                    break;
                }
                sum += 1;
            }
            if sum > 10 {
                break;
            }
            sum += 100;
        }
        sum
    };
    check(
        "mov r2.x, l0.x\nand r3.x, r0.x, l0.y\nand r3._y__, r0.x, l0.w\nmov r4.x, l0.x\nwhileloop\n\
         ige r5.x, r2.x, l1.y\nbreak_logicalnz r5.x\nmov r4.x, r2.x\niadd r2.x, r2.x, l0.y\n\
         and r5.x, r4.x, l0.y\nieq r5.x, r5.x, r3.x\ncontinue_logicalnz r5.x\n\
         mov r6.x, l0.x\niadd r6._y__, r3.y, r4.x\nwhileloop\nieq r7.x, r6.x, r6.y\nif_logicalnz r7.x\nbreak\nendif\n\
         iadd r1.x, r1.x, l0.y\niadd r6.x, r6.x, l0.y\nendloop\n\
         ilt r7.x, l1.z, r1.x\nbreak_logicalnz r7.x\nimad r1.x, l1.z, l1.z, r1.x\nendloop",
        "",
        expected,
    );
}

#[test]
fn switch_falls_through_and_breaks() {
    let expected = |t: u32| {
        let mut r = 0;
        match t % 4 {
            0 => {
                r += 1;
                r += 10; // falls into case 1
            }
            1 => r += 10,
            2 => r += 5,
            _ => r += 4,
        }
        r + 64
    };
    check(
        "and r2.x, r0.x, l0.w\nswitch r2.x\ndefault\niadd r1.x, r1.x, l1.x\nbreak\ncase 0\niadd r1.x, r1.x, l0.y\n\
         case 1\niadd r1.x, r1.x, l1.z\nbreak\ncase 2\niadd r1.x, r1.x, l1.y\nendswitch\niadd r1.x, r1.x, l1.w",
        "",
        expected,
    );
}

#[test]
fn break_in_a_switch_leaves_the_switch_only() {
    // Loop of 3; in each round the switch adds 1 for odd threads and 2 for even ones.
    check(
        "mov r2.x, l0.x\nwhileloop\nige r3.x, r2.x, l0.w\nbreak_logicalnz r3.x\niadd r2.x, r2.x, l0.y\n\
         and r4.x, r0.x, l0.y\nswitch r4.x\ncase 1\niadd r1.x, r1.x, l0.y\nbreak\ncase 0\niadd r1.x, r1.x, l0.z\n\
         break\nendswitch\nendloop",
        "",
        |t| if t % 2 == 1 { 3 } else { 6 },
    );
}

#[test]
fn continue_in_a_switch_binds_to_the_loop() {
    check(
        "mov r2.x, l0.x\nwhileloop\nige r3.x, r2.x, l0.w\nbreak_logicalnz r3.x\niadd r2.x, r2.x, l0.y\n\
         and r4.x, r0.x, l0.y\nswitch r4.x\ncase 1\ncontinue\ncase 0\niadd r1.x, r1.x, l0.z\nbreak\nendswitch\n\
         iadd r1.x, r1.x, l1.z\nendloop",
        "",
        |t| if t % 2 == 1 { 0 } else { 36 },
    );
}

#[test]
fn functions_return_early_for_some_lanes() {
    check(
        "call 1\niadd r1.x, r1.x, l0.y\nand r2.x, r0.x, l0.z\ncall_logicalnz r2.x, 2",
        "func 1\nilt r3.x, r0.x, l1.z\nif_logicalnz r3.x\nmov r1.x, l1.w\nret_dyn\nendif\niadd r1.x, r1.x, l1.y\nret\n\
         endfunc\nfunc 2\ncall 1\niadd r1.x, r1.x, r1.x\nret\nendfunc",
        |t| {
            let first = |r: u32| if t < 10 { 64 } else { r + 5 };
            let r = first(0) + 1;
            if t & 2 != 0 { 2 * first(r) } else { r }
        },
    );
}

#[test]
fn return_in_a_loop_of_a_function_stops_only_its_lanes() {
    // Counts up to t or 10, whichever is first, then the function adds 100 for those that reached 10.
    check(
        "call 1",
        "func 1\nwhileloop\nieq r3.x, r1.x, r0.x\nif_logicalnz r3.x\nret_dyn\nendif\nieq r3.x, r1.x, l1.z\n\
         break_logicalnz r3.x\niadd r1.x, r1.x, l0.y\nendloop\nimad r1.x, l1.z, l1.z, r1.x\nret\nendfunc",
        |t| if t <= 10 { t } else { 110 },
    );
}

#[test]
fn main_may_end_early() {
    let text = kernel("mov r1.x, l0.y\nilt r2.x, r0.x, l1.z\nif_logicalnz r2.x\nret_dyn\nendif", "");
    let got = Machine::new().compute(&text, 64, 64);
    assert!((0..64).all(|t| got[t] == u32::from(t >= 10)));
}

#[test]
fn registers_of_every_thread_start_as_zero() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 1, 0, 3\n\
        ishl r0.x, vAbsTidFlat.x, l0.x\nand r2.x, vAbsTidFlat.x, l0.y\nif_logicalnz r2.x\niadd r1.x, r1.x, l0.w\n\
        endif\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 64 * 50, 1);
    let bindings = Bindings { uavs: vec![(0, out.clone())], ..Default::default() };
    machine.run(text, bindings, grid(50, 64));
    let got = read(&out, 64 * 50);
    assert!(got.iter().enumerate().all(|(t, &r)| r == if t % 2 == 1 { 3 } else { 0 }));
}

/// Long sums of products, in which compiled code asks for zeros only if it must.
#[test]
fn sums_of_products_keep_the_rules_for_zeros() {
    let numbers = [0.0f32, f32::INFINITY, 1.5, -0.0];
    // Thread t multiplies number t % 4 by number t / 4 % 4.
    let mut body = String::from(
        "dcl_literal l2, 0x00000000, 0x7F800000, 0x3FC00000, 0x80000000\n\
         iand r2.x, r0.x, l0.w\nushr r2._y__, r0.x, l0.z\niand r2._y__, r2.y, l0.w\n\
         ieq r3, r2.xxxx, l0\nieq r4, r2.yyyy, l0\n\
         cmov_logical r5.x, r3.y, l2.y, l2.x\ncmov_logical r5.x, r3.z, l2.z, r5.x\ncmov_logical r5.x, r3.w, l2.w, r5.x\n\
         cmov_logical r6.x, r4.y, l2.y, l2.x\ncmov_logical r6.x, r4.z, l2.z, r6.x\ncmov_logical r6.x, r4.w, l2.w, r6.x\n\
         mov r1.x, l2.w\n",
    );
    (0..16).for_each(|_| body += "mad r1.x, r5.x, r6.x, r1.x\n");
    check(&body, "", |t| {
        let [x, y] = [t % 4, t / 4 % 4].map(|k| numbers[k as usize]);
        let product = if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        (0..16).fold(-0.0f32, |sum, _| sum + product).to_bits()
    });
}

/// A break of the outer loop, in a branch that has a loop before it.
#[test]
fn a_break_behind_an_inner_loop_leaves_the_outer_one() {
    let body = "whileloop\nige r2.x, r2.w, l1.y\nbreak_logicalnz r2.x\nand r2.x, r2.w, l0.y\nif_logicalnz r2.x\nmov r3.x, l0.x\n\
         whileloop\nige r3.y, r3.x, r0.x\nbreak_logicalnz r3.y\niadd r1.x, r1.x, l0.y\niadd r3.x, r3.x, l0.y\nendloop\n\
         ige r3.z, r1.x, l1.z\nbreak_logicalnz r3.z\nendif\niadd r1.x, r1.x, l1.w\niadd r2.___w, r2.w, l0.y\nendloop";
    let expected = |t: u32| {
        let mut sum = 0;
        for round in 0..5 {
            if round & 1 == 1 {
                sum += t;
                if sum >= 10 {
                    break;
                }
            }
            sum += 64;
        }
        sum
    };
    check(body, "", expected);
    // With a fence in it the outer loop is interpreted, and only the inner one can be compiled.
    check(&body.replacen("whileloop", "whileloop\nfence_lds", 1), "", expected);
}

/// Branches with loads and temporaries, whose rows are handed out again: each is somebody else's in the next branch.
#[test]
fn rows_are_kept_until_their_last_use() {
    let mut body = String::new();
    let loads = |branch: usize| 1 + branch * 5 % 7;
    for branch in 0..24 {
        let n = loads(branch);
        writeln!(
            body,
            "ushr r2.x, r0.x, l3.{}\niand r2.x, r2.x, l0.y\nif_logicalnz r2.x",
            ["x", "y", "z"][branch % 3]
        )
        .unwrap();
        for k in 0..n {
            writeln!(body, "iadd r3.x, r0.y, l{}.x\nuav_raw_load_id(1) r{}.x, r3.x", 10 + k, 10 + k).unwrap();
        }
        for k in 0..n {
            writeln!(body, "imad r{}.x, r{}.x, l{}.y, r{}.x", 30 + k, 10 + k, 10 + k, 10 + (k + 1) % n)
                .unwrap();
        }
        (0..n).rev().for_each(|k| writeln!(body, "imad r1.x, r1.x, l0.w, r{}.x", 30 + k).unwrap());
        body += "endif\n";
    }
    let mut text = kernel(&body, "").replace("dcl_raw_uav_id(0)", "dcl_raw_uav_id(0)\ndcl_raw_uav_id(1)");
    let literals: String =
        (0..7).map(|k| format!("dcl_literal l{}, {}, {}, 0, 0\n", 10 + k, 4 * k, k + 3)).collect();
    text = text.replace("dcl_literal l0", &format!("{literals}dcl_literal l3, 0, 1, 5, 0\ndcl_literal l0"));
    let word = |at: u32| at.wrapping_mul(at).wrapping_add(7);
    let expected = |t: u32| {
        let mut sum = 0u32;
        for branch in (0..24).filter(|branch| t >> [0, 1, 5][branch % 3] & 1 == 1) {
            let n = loads(branch) as u32;
            for k in (0..n).rev() {
                let made = word(t + k).wrapping_mul(k + 3).wrapping_add(word(t + (k + 1) % n));
                sum = sum.wrapping_mul(3).wrapping_add(made);
            }
        }
        sum
    };
    let options = DeviceOptions::default();
    for machine in [Machine::with(&options), Machine::interpreting(&options)] {
        let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
        let words: Vec<u32> = (0..80).map(word).collect();
        let input = machine.filled(Format::UnsignedInt32x1, 80, 1, &words);
        let bindings = Bindings { uavs: vec![(0, out.clone()), (1, input)], ..Bindings::default() };
        machine.run(&text, bindings, grid(1, 64));
        assert_eq!(read(&out, 64), (0..64).map(expected).collect::<Vec<u32>>());
        // And they are handed out: seven registers would do for the largest branch, with some for the rest.
        let gprs = machine.kernel(&text).resources().gprs;
        assert!(gprs < 12, "{gprs} registers of four components");
    }
}

/// More calls than what they call may be written out for: what is known of the statements behind them stays theirs.
#[test]
fn what_is_known_behind_many_calls_is_of_the_right_statements() {
    let steps = "uav_raw_load_id(0) r3.x, r0.y\niadd r1.x, r1.x, r3.x\nuav_raw_load_id(0) r3.x, r2.x\niadd r1.x, r1.x, r3.x\n";
    let body = format!(
        "uav_raw_store_id(0) mem0.x, r0.y, r0.x\nfence_threads_memory\nmov r2.x, l1.x\n{}{}",
        "call 1\n".repeat(300),
        steps.repeat(100)
    );
    let function = format!("func 1\n{}ret\n", "iadd r1.x, r1.x, l0.y\n".repeat(240));
    for set in InstructionSet::ALL.into_iter().filter(|set| set.available()) {
        let got = Machine::limited(set).compute(&kernel(&body, &function), 64, 64);
        // Word 1 of the memory is 1.
        let expected: Vec<u32> = (0..64).map(|thread| 300 * 240 + 100 * (thread + 1)).collect();
        assert_eq!(got, expected, "{set:?}");
    }
}
