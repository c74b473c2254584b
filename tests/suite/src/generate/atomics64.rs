//! 64-bit atomics, loads and stores of LDS and GDS: every operation, against the table of amd-il 5.5 in 64 bits.

use std::fmt::Write as _;

use recal_hal::{Extent, Format};

use super::values::{self, Random};
use crate::case::{Buffer, Case, Needs, Slot, Want};
use crate::reference::Kind;

/// The new memory pair from old m and sources a, b.
type Update = fn(u64, u64, u64) -> u64;

const ONE_SOURCE: &[(&str, Update)] = &[
    ("add", |m, a, _| m.wrapping_add(a)),
    ("sub", |m, a, _| m.wrapping_sub(a)),
    ("rsub", |m, a, _| a.wrapping_sub(m)),
    ("min", |m, a, _| (m as i64).min(a as i64) as u64),
    ("max", |m, a, _| (m as i64).max(a as i64) as u64),
    ("umin", |m, a, _| m.min(a)),
    ("umax", |m, a, _| m.max(a)),
    ("and", |m, a, _| m & a),
    ("or", |m, a, _| m | a),
    ("xor", |m, a, _| m ^ a),
    ("inc", |m, a, _| if m >= a { 0 } else { m + 1 }),
    ("dec", |m, a, _| if m == 0 || m > a { a } else { m - 1 }),
];

/// Compare value first, as in the 32-bit forms of LDS and GDS.
fn compare_new(m: u64, a: u64, b: u64) -> u64 {
    if m == a { b } else { m }
}

fn mask_or(m: u64, a: u64, b: u64) -> u64 {
    (m & !a) | b
}

/// Cases of all 64-bit atomics; each stores and loads its pair with the 64-bit forms too.
pub fn atomics64() -> Vec<Case> {
    let mut cases = Vec::new();
    for space in ["lds", "gds"] {
        let mut add = |name: String, f: Update, sources: usize, returns: bool| {
            for structured in [false, true] {
                cases.push(case(space, &format!("{space}_{name}64"), f, sources, returns, structured));
            }
        };
        for &(name, f) in ONE_SOURCE {
            add(name.into(), f, 1, false);
            add(format!("read_{name}"), f, 1, true);
        }
        add("mskor".into(), mask_or, 2, false);
        add("read_mskor".into(), mask_or, 2, true);
        add(if space == "gds" { "cmp_store" } else { "cmp" }.into(), compare_new, 2, false);
        add("read_cmp_xchg".into(), compare_new, 2, true);
        add("read_xchg".into(), |_, a, _| a, 1, true);
    }
    cases
}

const THREADS: usize = 128;

/// Every thread works on its own pair: m, a, b, padding are eight words a thread, old and new pair four.
fn case(space: &str, name: &str, f: Update, sources: usize, returns: bool, structured: bool) -> Case {
    let mut text = format!(
        "il_cs_2_0\ndcl_num_thread_per_group {THREADS}\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\n\
         dcl_literal l0, 5, 4, 3, 16\ndcl_literal l1, 0, 4, 7, 0\n"
    );
    let _ = match structured {
        true => writeln!(text, "dcl_struct_{space}_id(0) 8, {THREADS}"),
        false => writeln!(text, "dcl_{space}_id(0) {}", 8 * THREADS),
    };
    // r0 = (input, output, address, 0), r5.xy = (record, byte)
    text.push_str("ishl r0.xyz, vTidInGrpFlat.xxx, l0.xyz\nmov r5.x0, vTidInGrpFlat.xx\n");
    // The low three bits of an address do not count.
    text.push_str("iadd r0.z, r0.z, l1.z\n");
    text.push_str("uav_raw_load_id(1) r1, r0.x\niadd r0.x, r0.x, l0.w\nuav_raw_load_id(1) r2.xy, r0.x\n");
    let address = if structured { "r5.xy" } else { "r0.z" };
    let _ = writeln!(text, "{space}_store64_id(0) {address}, r1.xy");
    let operands = if sources == 2 { "r1.zw, r2.xy" } else { "r1.zw" };
    let destination = if returns { "r3.xy, " } else { "" };
    let _ = writeln!(text, "{name}_id(0) {destination}{address}, {operands}");
    let _ = writeln!(text, "{space}_load64_id(0) r3.zw, {address}\nuav_raw_store_id(0) mem0, r0.y, r3\nend");

    let mut random = Random::new(name.len() as u64 * 91 + sources as u64);
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for k in 0..THREADS {
        let pick = |random: &mut Random| match k {
            0..96 => values::edge(Kind::Int64, random.below(values::edges(Kind::Int64))),
            _ => values::random(Kind::Int64, random),
        };
        let (m, mut a, b) = (pick(&mut random), pick(&mut random), pick(&mut random));
        // Every third comparison succeeds, every other failing one differs in the high word only.
        if sources == 2 {
            match k % 3 {
                0 => a = m,
                1 => a = m ^ (1 << 40),
                _ => {}
            }
        }
        let after = f(m, a, b);
        let old = if returns { m } else { 0 };
        let words = |x: u64| [x as u32, (x >> 32) as u32];
        input.extend([m, a, b, 0].into_iter().flat_map(words));
        output.extend([old, after].into_iter().flat_map(words).map(Want::Word));
    }
    let row = |slot, words: usize| Buffer::row(slot, Format::UnsignedInt32x1, words as u32);
    Case {
        name: format!("atomics64/{name}/{}", if structured { "struct" } else { "raw" }),
        text,
        from: "the table of amd-il 5.5 in 64-bit integers".into(),
        extent: Some(Extent::Grid { groups: [1, 1, 1], block: [THREADS as u32, 1, 1] }),
        buffers: vec![
            row(Slot::Uav(1), input.len()).holding(&input),
            row(Slot::Uav(0), output.len()).expecting(output),
        ],
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: true, fp64: false },
        faithful_only: false,
        checks: THREADS,
    }
}
