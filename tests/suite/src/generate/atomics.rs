//! Atomics: every operation on every kind of memory, with and without return value, against the table of amd-il 5.5.

use std::fmt::Write as _;

use recal_hal::{Extent, Format};

use super::values::{self, Random};
use crate::case::{Buffer, Case, Needs, Slot, Want};
use crate::reference::Kind;

/// The new memory word from old m and sources a, b.
type Update = fn(u32, u32, u32) -> u32;
/// Name and meaning.
type Operation = (&'static str, Update);
/// Mnemonic, meaning, number of sources after the address, whether the old value is returned.
type Instruction = (String, Update, usize, bool);

const COMMON: &[Operation] = &[
    ("add", |m, a, _| m.wrapping_add(a)),
    ("sub", |m, a, _| m.wrapping_sub(a)),
    ("rsub", |m, a, _| a.wrapping_sub(m)),
    ("min", |m, a, _| (m as i32).min(a as i32) as u32),
    ("max", |m, a, _| (m as i32).max(a as i32) as u32),
    ("umin", |m, a, _| m.min(a)),
    ("umax", |m, a, _| m.max(a)),
    ("and", |m, a, _| m & a),
    ("or", |m, a, _| m | a),
    ("xor", |m, a, _| m ^ a),
];

fn inc(m: u32, a: u32, _: u32) -> u32 {
    if m >= a { 0 } else { m + 1 }
}

fn dec(m: u32, a: u32, _: u32) -> u32 {
    if m == 0 || m > a { a } else { m - 1 }
}

/// Compare-exchange of LDS and GDS: compare value first.
fn compare_new(m: u32, a: u32, b: u32) -> u32 {
    if m == a { b } else { m }
}

/// Compare-exchange of UAVs: new value first.
fn new_compare(m: u32, a: u32, b: u32) -> u32 {
    if m == b { a } else { m }
}

fn mask_or(m: u32, a: u32, b: u32) -> u32 {
    (m & !a) | b
}

/// All atomic instructions.
fn instructions() -> Vec<Instruction> {
    let mut all: Vec<Instruction> = Vec::new();
    for space in ["uav", "lds", "gds"] {
        for &(name, f) in COMMON {
            all.push((format!("{space}_{name}"), f, 1, false));
            all.push((format!("{space}_read_{name}"), f, 1, true));
        }
        let (increment, decrement) = if space == "uav" { ("uinc", "udec") } else { ("inc", "dec") };
        for returns in [false, true] {
            let read = if returns { "read_" } else { "" };
            all.push((format!("{space}_{read}{increment}"), inc, 1, returns));
            all.push((format!("{space}_{read}{decrement}"), dec, 1, returns));
            if space != "uav" {
                all.push((format!("{space}_{read}mskor"), mask_or, 2, returns));
            }
        }
        all.push((format!("{space}_read_xchg"), |_, a, _| a, 1, true));
        let compare = if space == "uav" { new_compare } else { compare_new };
        let bare = if space == "gds" { "gds_cmp_store".to_owned() } else { format!("{space}_cmp") };
        all.push((bare, compare, 2, false));
        all.push((format!("{space}_read_cmp_xchg"), compare, 2, true));
    }
    all
}

/// Cases of all atomic instructions.
pub fn atomics() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, f, sources, returns) in instructions() {
        let places: &[Place] = match &name[..3] {
            "uav" => &[Place::Raw, Place::Struct, Place::Typed, Place::Ext],
            _ => &[Place::Raw, Place::Struct],
        };
        for place in places {
            cases.push(each_its_own(&name, *place, f, sources, returns));
        }
        if returns && name.ends_with("_add") {
            cases.push(contended(&name));
        }
    }
    cases
}

/// Addressing of the memory the atomic works on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Raw,
    Struct,
    Typed,
    /// Raw, chosen by the index of `_ext`; every fourth thread chooses a UAV that does not exist.
    Ext,
}

const THREADS: usize = 128;

/// Every thread works on its own word: old words, sources, results are four words a thread in a raw UAV.
fn each_its_own(name: &str, place: Place, f: Update, sources: usize, returns: bool) -> Case {
    let space = &name[..3];
    let mut text = format!("il_cs_2_0\ndcl_num_thread_per_group {THREADS}\ndcl_raw_uav_id(1)\n");
    text.push_str("dcl_literal l0, 2, 4, 8, 16\n");
    let _ = match (space, place) {
        ("uav", Place::Raw | Place::Ext) => writeln!(text, "dcl_raw_uav_id(0)"),
        ("uav", Place::Struct) => writeln!(text, "dcl_struct_uav_id(0) 4"),
        ("uav", Place::Typed) => writeln!(text, "dcl_uav_id(0)_type(1d)_fmtx(uint)"),
        (_, Place::Struct) => writeln!(text, "dcl_struct_{space}_id(0) 4, {THREADS}"),
        _ => writeln!(text, "dcl_{space}_id(0) {}", 4 * THREADS),
    };
    // r0.x = address of this thread's word, r0.zw = (index, 0), r1 = (m, a, b, 0)
    text.push_str("ishl r0.x, vTidInGrpFlat.x, l0.x\nishl r0.y, vTidInGrpFlat.x, l0.y\nmov r0.__z0, vTidInGrpFlat.xxxx\n");
    text.push_str("uav_raw_load_id(1) r1, r0.y\n");
    let address = if matches!(place, Place::Raw | Place::Ext) { "r0.x" } else { "r0.zw" };
    if place == Place::Ext {
        // r3.x = -1, or 4 where the thread's number ends in 3; UAV 1 is where counting starts.
        text.push_str(
            "dcl_literal l1, 3, -1, 4, 0\niand r3.x, vTidInGrpFlat.x, l1.x\nieq r3.x, r3.x, l1.x\n\
             cmov_logical r3.x, r3.x, l1.z, l1.y\n",
        );
    }
    if space != "uav" {
        let _ = writeln!(text, "{space}_store_id(0) {address}, r1.x");
    }
    let operands = if sources == 2 { "r1.y, r1.z" } else { "r1.y" };
    let index = if place == Place::Ext { ", r3.x" } else { "" };
    let destination = if returns { "r2.xyz_, " } else { "" };
    // Both spellings of the id occur for LDS.
    let id = match place {
        Place::Raw if space == "lds" && returns => "_resource(0)",
        Place::Ext => "_ext_id(1)",
        _ => "_id(0)",
    };
    let _ = writeln!(text, "{name}{id} {destination}{address}, {operands}{index}");
    if space != "uav" {
        let _ = writeln!(text, "{space}_load_id(0) r2.w, {address}\nuav_raw_store_id(1) mem0, r0.y, r2");
    } else {
        text.push_str("uav_raw_store_id(1) mem0.xyz, r0.y, r2\n");
    }
    text.push_str("end\n");

    let mut random = Random::new(name.len() as u64 * 77 + sources as u64);
    let (mut memory, mut input, mut new, mut output) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for k in 0..THREADS {
        let pick = |random: &mut Random| match k {
            0..96 => values::edge(Kind::Int, random.below(values::edges(Kind::Int))) as u32,
            _ => random.word(),
        };
        let (m, mut a, mut b) = (pick(&mut random), pick(&mut random), pick(&mut random));
        // Every third comparison succeeds.
        if sources == 2 && k % 3 == 0 {
            if space == "uav" { b = m } else { a = m }
        }
        let nowhere = place == Place::Ext && k % 4 == 3;
        let after = if nowhere { m } else { f(m, a, b) };
        let old = if returns && !nowhere { m } else { 0 };
        memory.push(m);
        input.extend([m, a, b, 0]);
        new.push(Want::Word(after));
        let last = if space == "uav" { 0 } else { after };
        output.extend([old, old, old, last].map(Want::Word));
    }
    let mut buffers = vec![
        Buffer::row(Slot::Uav(1), Format::UnsignedInt32x1, 4 * THREADS as u32)
            .holding(&input)
            .expecting(output),
    ];
    if space == "uav" {
        buffers.push(
            Buffer::row(Slot::Uav(0), Format::UnsignedInt32x1, THREADS as u32)
                .holding(&memory)
                .expecting(new),
        );
    }
    case(format!("atomics/{name}/{place:?}").to_lowercase(), text, buffers, THREADS)
}

/// All threads of four groups (LDS: of each group) add 3 to one word: every old value occurs once.
fn contended(name: &str) -> Case {
    let space = &name[..3];
    let shared = space != "lds";
    let mut text = String::from(
        "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(1)\ndcl_literal l0, 0, 3, 1, 256\n",
    );
    let _ = match space {
        "uav" => writeln!(text, "dcl_raw_uav_id(0)"),
        _ => writeln!(text, "dcl_{space}_id(0) 64"),
    };
    let _ = writeln!(text, "{name}_id(0) r1.x, l0.x, l0.y");
    // The old value is 3k: the k-th word of the output gets one more.
    text.push_str("dcl_literal l1, 2, 0, 0, 0\nudiv r1.x, r1.x, l0.y\nishl r1.x, r1.x, l1.x\nuav_add_id(1) r1.x, l0.z\nend\n");
    let counts = (0..256).map(|k| match k {
        _ if shared => Want::Word(1),
        0..64 => Want::Word(4),
        _ => Want::Word(0),
    });
    let mut buffers = vec![Buffer::row(Slot::Uav(1), Format::UnsignedInt32x1, 256).expecting(counts)];
    if space == "uav" {
        buffers.push(Buffer::row(Slot::Uav(0), Format::UnsignedInt32x1, 1).expecting([Want::Word(768)]));
    }
    let mut case = case(format!("atomics/{name}/contended"), text, buffers, 256);
    case.extent = Some(Extent::Grid { groups: [4, 1, 1], block: [64, 1, 1] });
    case
}

fn case(name: String, text: String, buffers: Vec<Buffer>, checks: usize) -> Case {
    Case {
        name,
        text,
        from: "the table of amd-il 5.5 in plain integers".into(),
        extent: Some(Extent::Grid { groups: [1, 1, 1], block: [THREADS as u32, 1, 1] }),
        buffers,
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: true, fp64: false },
        faithful_only: false,
        checks,
    }
}
