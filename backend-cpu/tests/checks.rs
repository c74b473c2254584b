//! What checks say of single bytes, of constants, of the R700 areas, and what they do not say.

mod harness;

use std::ops::ControlFlow;
use std::sync::Arc;

use harness::{Machine, check, compile, grid};
use recal_cpu::{Area, At, Kind, Misuse, trace};
use recal_hal::{Bindings, DeviceOptions, Extent, Format};

/// A kernel of one group with raw uav0 of 1024 bytes, typed uav1 of 8 by 4, uav2 of 8 by 1 with two components, cb0 of 16 rows, i0
/// of 8 by 4 and i1 of 8 by 1, `g[]` of 16 rows. `r0.x` is the thread, `r0.y` four times that.
fn found(threads: u32, body: &str) -> Vec<(Misuse, u32, String)> {
    let resource = |n: u32, shape: &str| {
        format!("dcl_resource_id({n})_type({shape},unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float) ")
    };
    let text = format!(
        "il_cs_2_0 dcl_num_thread_per_group {threads} dcl_raw_uav_id(0) dcl_uav_id(1)_type(2d)_fmtx(uint) \
         dcl_uav_id(2)_type(1d)_fmtx(uint) {}{}{}\
         dcl_lds_id(0) 1024 dcl_lds_size_per_thread 4 dcl_indexed_temp_array x0[4] dcl_cb cb0[512] \
         dcl_literal l0, 0, 1, 2, 3 dcl_literal l1, 4, 24, 257, 1016 dcl_literal l2, 7.5, 8.0, 2.5, 9.0\n\
         mov r0.x, vTidInGrpFlat0.x\nishl r0._y__, r0.x, l0.z\n{body}\nend\n",
        resource(0, "2d"),
        resource(1, "2d"),
        resource(2, "1d"),
    );
    let bind = |m: &Machine| Bindings {
        uavs: vec![
            (0, m.surface(Format::UnsignedInt32x1, 256, 1)),
            (1, m.surface(Format::UnsignedInt32x1, 8, 4)),
            (2, m.surface(Format::UnsignedInt32x2, 8, 1)),
        ],
        resources: vec![
            (0, m.surface(Format::Float32x1, 8, 4)),
            (1, m.surface(Format::Float32x1, 8, 1)),
            (2, m.surface(Format::Float32x1, 8, 1)),
        ],
        constants: vec![(0, m.surface(Format::Float32x4, 16, 1))],
        global: Some(m.surface(Format::Float32x4, 16, 1)),
        ..Bindings::default()
    };
    let list = check(&text, bind, grid(1, threads));
    list.into_iter().map(|f| (f.misuse, f.line.map_or(0, |(line, _)| line), f.what)).collect()
}

fn kinds(threads: u32, body: &str) -> Vec<Misuse> {
    found(threads, body).into_iter().map(|(misuse, ..)| misuse).collect()
}

const OUT: &str = "uav_raw_store_id(0) mem0.x___, r0.y, r1.x";

#[test]
fn constants_behind_their_buffer() {
    let missing = |line: u32, what: &str| vec![(Misuse::OutOfRange, line, what.to_owned())];
    let sum = |row: u32| format!("iadd r1.x, r0.x, cb0[{row}].y\n{OUT}");
    assert_eq!(found(64, &sum(15)), []);
    // The next row, though its memory goes on to the end of the page.
    assert_eq!(found(64, &sum(16)), missing(4, "cb0[16]"));
    assert_eq!(found(64, &sum(300)), missing(4, "cb0[300]"));
    // As what is stored, to memory and to an array, as a condition, and by an index.
    assert_eq!(found(64, "uav_raw_store_id(0) mem0.x___, r0.y, cb0[16].x"), missing(4, "cb0[16]"));
    let array = format!("umod r1.x, r0.x, l1.x\nmov x0[r1.x], cb0[17]\nmov r1, x0[r1.x]\n{OUT}");
    assert_eq!(found(64, &array), missing(5, "cb0[17]"));
    assert_eq!(found(64, "if_logicalnz cb0[18].x\nmov r1.x, r0.x\nendif"), missing(4, "cb0[18]"));
    let indexed = format!("umod r1.x, r0.x, l0.z\nmov r1, cb0[r1.x + 15]\n{OUT}");
    assert_eq!(found(64, &indexed), missing(5, "cb0[16]"));
}

#[test]
fn lanes_that_read_what_others_lack() {
    // r1.x is a copy of nothing in the first four threads, and only the others store it.
    let apart = format!(
        "ult r2.x, r0.x, l1.x\nif_logicalnz r2.x\nmov r1.x, r9.x\nelse\nmov r1.x, r0.x\nendif\n\
         if_logicalz r2.x\n{OUT}\nendif"
    );
    assert_eq!(found(64, &apart), []);
    let list = found(64, &apart.replace("if_logicalz", "if_logicalnz"));
    assert_eq!(list, [(Misuse::Uninitialized, 6, "r9.x".into())]);
}

#[test]
fn elements_by_their_numbers() {
    // Nobody wrote elements 1 and 2, and the second component is read.
    let body = format!("ushr r1.x, r0.x, l0.w\numod r1.x, r1.x, l0.z\nmov r1.x, x0[r1.x + 1].y\n{OUT}");
    assert_eq!(found(64, &body), [(Misuse::Uninitialized, 6, "x0[1].y".into())]);
}

#[test]
fn races_of_single_bytes() {
    let race = [Misuse::Race];
    // Words that differ in their last byte alone: by g[], by LDS, by a typed UAV.
    let top = "ishl r1.x, r0.x, l1.y\n";
    assert_eq!(kinds(64, &format!("{top}mov g[0], r1.xxxx")), race);
    assert_eq!(kinds(64, &format!("{top}lds_store_id(0) l0.x, r1.x")), race);
    assert_eq!(kinds(64, &format!("{top}uav_store_id(1) l0.xxxx, r1.xxxx")), race);
    // One byte, with different values, and with one value.
    assert_eq!(kinds(64, "lds_store_byte_id(0) l0.x, r0.x"), race);
    assert_eq!(kinds(64, "lds_store_byte_id(0) l0.y, r0.x"), race);
    assert_eq!(kinds(64, "lds_store_byte_id(0) l0.y, l0.z"), []);
    // The second byte of a word holds 1 already; the first has nothing to do with it.
    assert_eq!(kinds(64, "lds_store_id(0) l0.x, l1.z\nlds_store_byte_id(0) l0.y, l0.y"), []);
    assert_eq!(kinds(64, "lds_store_id(0) l0.x, l1.z\nlds_store_byte_id(0) l0.y, r0.x"), race);
    // Two bytes each, side by side.
    assert_eq!(kinds(64, "ishl r1.x, r0.x, l0.y\nlds_store_short_id(0) r1.x, r0.x"), []);
    assert_eq!(kinds(64, "iand r1.x, r0.x, l0.z\nlds_store_short_id(0) r1.x, r0.x"), race);
}

#[test]
fn races_of_two_words() {
    // The first words of the elements differ, and the second ones hold what the first ones lack.
    let body = "iand r1.x, r0.x, l0.y\nmov r1.y, l0.y\nuav_store_id(2) l0.xxxx, r1.xyxy";
    assert_eq!(kinds(64, body), [Misuse::Race]);
    assert_eq!(kinds(64, &body.replace("r0.x, l0.y", "r0.x, l0.x")), []);
    // Four bytes each: what a neighbour holds does not count.
    assert_eq!(kinds(64, "lds_add64_id(0) l1.w, l0.xy"), []);
    assert_eq!(kinds(8, "uav_store_id(2) r0.xxxx, r0.xxxx"), []);
}

#[test]
fn who_used_a_word_last() {
    // Two threads store the same word, and the last of them reads it: the other one may come later.
    let both = "ige r1.x, r0.x, l1.x\nif_logicalnz r1.x\nlds_store_id(0) l0.x, l0.y\nendif\n\
        ieq r1.x, r0.x, r2.x\nif_logicalnz r1.x\nlds_load_id(0) r3.x, l0.x\nendif";
    let list = found(6, &format!("mov r2.x, l0.w\niadd r2.x, r2.x, l0.z\n{both}"));
    assert_eq!(list.iter().map(|f| (f.0, f.1)).collect::<Vec<_>>(), [(Misuse::Race, 12)], "{list:?}");
    // A thread that stores twice to its own word, and reads it.
    let own = "lds_store_id(0) r0.y, l0.y\nlds_store_id(0) r0.y, l0.y\nlds_load_id(0) r1.x, r0.y";
    assert_eq!(found(64, own), []);
}

#[test]
fn areas_that_threads_own() {
    // Of two waves, each thread in its own part: nothing is outside, and nobody meets anybody.
    let own = "lds_write_vec mem0, r0.xyxy\n";
    assert_eq!(found(128, own), []);
    let read = |thread: &str, dword: &str| {
        format!("{own}mov r2.x, {thread}\nmov r2.y, {dword}\nlds_read_vec r1, r2.xy00\n{OUT}")
    };
    assert_eq!(found(128, &read("r0.x", "l0.x")), []);
    // The neighbour's, without a fence.
    let list = found(128, &format!("ixor r3.x, r0.x, l0.y\n{}", read("r3.x", "l0.x")));
    let what = "reads lds[thread 1, dword 0], which thread 1 uses too";
    assert_eq!(list, [(Misuse::Race, 8, what.into())]);
    // The last two dwords, and two behind them, which are not the neighbour's.
    let list = found(128, &read("r0.x", "l0.z"));
    assert_eq!(list, [(Misuse::OutOfRange, 7, "lds[thread 0, dword 2]".into())]);
    // A thread that is not there.
    let list = found(128, &format!("iadd r3.x, r0.x, l0.y\n{}", read("r3.x", "l0.x")));
    assert!(list.iter().any(|f| f.0 == Misuse::OutOfRange && f.2 == "lds[thread 128, dword 0]"), "{list:?}");
}

#[test]
fn coordinates_that_count() {
    // Of one dimension the second coordinate does not count.
    assert_eq!(found(8, "mov r1.x, r0.x\nmov r1.y, l1.x\nuav_store_id(2) r1.xyyy, r0"), []);
    let outside = |what: &str| vec![(Misuse::OutOfRange, 4, what.to_owned())];
    assert_eq!(found(64, "sample_resource(0)_sampler(0) r1, l2.xwxx"), outside("i0(7.5, 9.0)"));
    assert_eq!(found(64, "sample_resource(0)_sampler(0) r1, l2.xzxx"), []);
    // One row: any second coordinate names it.
    assert_eq!(found(64, "sample_resource(1)_sampler(0) r1, l2.xwxx"), []);
    assert_eq!(found(64, "sample_resource(1)_sampler(0) r1, l2.wwxx"), outside("i1(9.0, 9.0)"));
    assert_eq!(found(64, "sample_resource(2)_sampler(0) r1, l2.wwxx"), outside("i2(9.0, 0.0)"));
}

#[test]
fn a_trace_shows_registers_that_groups_share() {
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_shared_temp sr2\n\
        mov sr1.x, vTidInGrpFlat0.x\nmov r0.x, sr1.x\nuav_raw_store_id(0) mem0.x___, r0.x, r0.x\nend\n";
    let machine = Machine::new();
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let bindings = Bindings { uavs: vec![(0, out)], ..Bindings::default() };
    let mut seen = Vec::new();
    let extent = Extent::Grid { groups: [1; 3], block: [64, 1, 1] };
    trace(&compile(text), &bindings, extent, [5, 0, 0], None, &mut |step| {
        seen.extend(step.access.map(|a| (a.kind, a.area, a.at)));
        ControlFlow::Continue(())
    })
    .unwrap();
    let shared = Area::Shared(1);
    assert_eq!(seen[..2], [(Kind::Write, shared, At::Whole), (Kind::Read, shared, At::Whole)]);
}

/// Kernels that fast code goes through in blocks or in narrow tiles: each thread is checked, once.
#[test]
fn threads_are_those_of_the_domain() {
    let head = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
        dcl_output_generic o0\ndcl_cb cb0[1]\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_literal l0, 0.0, 1.0, 0, 1\n";
    let turned = "sample_resource(0)_sampler(0) r0, vWinCoord0.yxxx\nmov o0, l0.yyyy\nend\n";
    let down = "mov r1, l0.xxzz\nwhileloop\nige r1.w, r1.z, l0.w\nbreak_logicalnz r1.w\n\
        mov r2.x, vWinCoord0.x\nmov r2.y, r1.x\nsample_resource(0)_sampler(0) r3, r2.xyxx\n\
        add r1.x, r1.x, l0.y\niadd r1.z, r1.z, l0.w\nendloop\nmov o0, l0.yyyy\nend\n";
    let machine = Machine::with(&DeviceOptions { checks: true, ..DeviceOptions::default() });
    for (body, [width, height], from) in
        [(turned, [16, 16], [16, 16]), (turned, [100, 37], [37, 100]), (down, [100, 37], [100, 3000])]
    {
        let (format, [columns, lines]) = (Format::Float32x1, from);
        let output = machine.pitched(format, width, height, width);
        let input = machine.surface(Format::Float32x4, columns, lines);
        let bindings = Bindings {
            resources: vec![(0, input)],
            outputs: vec![(0, output.clone())],
            constants: vec![(0, machine.surface(Format::Float32x4, 1, 1))],
            ..Bindings::default()
        };
        let text = format!("{head}{body}");
        let kernel = machine.device.load_with_text(Arc::new(compile(&text)), text.as_bytes()).unwrap();
        let ticket = machine.submit(&kernel, bindings, harness::domain(width, height));
        machine.queue.wait(ticket).unwrap();
        let words = harness::read(&output, (width * height) as usize);
        let missing = words.iter().filter(|word| **word != 1.0f32.to_bits()).count();
        assert_eq!(missing, 0, "of {width} by {height}");
    }
}
