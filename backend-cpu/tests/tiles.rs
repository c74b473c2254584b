//! Tiles of domains: columns that become lines, and outputs that are stored past the caches.

mod harness;

use harness::{Machine, domain, read};
use recal_cpu::InstructionSet;
use recal_hal::{Bindings, Extent, Format, Surface};

fn text(body: &str) -> String {
    format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n{body}\nend\n"
    )
}

fn machines() -> impl Iterator<Item = (InstructionSet, Machine)> {
    let sets = InstructionSet::ALL.into_iter().filter(|set| set.available());
    sets.map(|set| (set, Machine::limited(set)))
}

fn bindings(input: &Surface, output: &Surface) -> Bindings {
    let (resources, outputs) = (vec![(0, input.clone())], vec![(0, output.clone())]);
    Bindings { resources, outputs, ..Bindings::default() }
}

#[test]
fn columns_become_lines() {
    let text = text("sample_resource(0)_sampler(0) r0, vWinCoord0.yxyx\nmov o0, r0");
    // The last one is converted, and back to what it was.
    let formats =
        [(Format::Float32x1, 1), (Format::Float32x2, 2), (Format::Float32x4, 4), (Format::UnormInt8x4, 1)];
    const SIZES: [(u32, u32); 7] = [(1, 1), (3, 70), (8, 8), (16, 16), (70, 45), (130, 9), (48, 64)];
    for (set, machine) in machines() {
        for ((format, size), (width, height)) in formats.into_iter().flat_map(|of| SIZES.map(|at| (of, at))) {
            let words: Vec<u32> = (0..height * width * size).map(|n| 0x3F80_0000 + n).collect();
            let input = machine.pitched(format, height, width, height);
            harness::write(&input, &words);
            let output = machine.pitched(format, width, height, width);
            machine.run(&text, bindings(&input, &output), domain(width, height));
            let at =
                |k: u32| words[((k / size % width * height + k / size / width) * size + k % size) as usize];
            let expected: Vec<u32> = (0..width * height * size).map(at).collect();
            assert_eq!(read(&output, expected.len()), expected, "{set:?}, {format:?}: {width} x {height}");
        }
    }
}

/// A part of a domain that does not begin at its corner, and threads that leave.
#[test]
fn tiles_begin_where_the_domain_does() {
    let text = text(
        "dcl_literal l0, 20.0, 0, 0, 0\nsample_resource(0)_sampler(0) r0, vWinCoord0.yxyx\n\
         lt r1.x, vWinCoord0.x, l0.x\ndiscard_logicalnz r1.x\nmov o0, r0",
    );
    let side = 64;
    for (set, machine) in machines() {
        let words: Vec<u32> = (0..side * side).map(|n| 0x3F80_0000 + n).collect();
        let input = machine.filled(Format::Float32x1, side, side, &words);
        let output = machine.surface(Format::Float32x1, side, side);
        machine.run(&text, bindings(&input, &output), Extent::Domain { x: 13, y: 5, width: 37, height: 21 });
        let at = |k: u32| {
            let (x, y) = (k % side, k / side);
            let inside = (20..50).contains(&x) && (5..26).contains(&y);
            if inside { words[(x * side + y) as usize] } else { 0 }
        };
        let expected: Vec<u32> = (0..side * side).map(at).collect();
        assert_eq!(read(&output, expected.len()), expected, "{set:?}");
    }
}

/// More than any cache holds: every word arrives, also those of tiles at the edge, which are no whole lines.
#[test]
fn large_outputs_arrive() {
    let text = text("sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmov o0, r0");
    let (width, height) = (1000, 5000);
    let machine = Machine::new();
    let words: Vec<u32> = (0..4 * width * height).map(|n| 0x3000_0000 + n).collect();
    let input = machine.pitched(Format::Float32x4, width, height, width);
    harness::write(&input, &words);
    let output = machine.pitched(Format::Float32x4, width, height, width);
    machine.run(&text, bindings(&input, &output), domain(width, height));
    assert!(read(&output, words.len()) == words);
}

/// Domains so large that code is called for several waves of a line, by kernels that store elsewhere, too: one wave after another.
#[test]
fn kernels_that_store_beside_their_outputs() {
    const SIZE: [u32; 2] = [4096, 64];
    let head = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
        dcl_output_generic o0\ndcl_raw_uav_id(7)\ndcl_literal l0, 4096, 4, 3, 1\n\
        ftoi r0.xy, vWinCoord0.xyxx\nimad r0.z, r0.y, l0.x, r0.x\nimul r0.w, r0.z, l0.y\n";
    let plain = "mov o0, r0.zzzz\nuav_raw_store_id(7) mem.x, r0.w, l0.w\nuav_raw_store_id(7) mem.x, r0.w, r0.z\nend\n";
    // Threads leave the loop inside apart, and the one around alike.
    let loops = "mov r1.x, l0.w\nwhileloop\nige r2.x, r3.x, l0.z\nbreak_logicalnz r2.x\niadd r3.x, r3.x, l0.w\n\
        uav_raw_store_id(7) mem.x, r0.w, r3.x\niand r4.x, r0.x, l0.z\nif_logicalnz r4.x\nwhileloop\n\
        ige r5.x, r1.x, r4.x\nbreak_logicalnz r5.x\nuav_raw_load_id(7) r6.x, r0.w\n\
        iadd r1.x, r1.x, l0.w\nendloop\nendif\nendloop\nmov o0, r0.zzzz\nuav_raw_store_id(7) mem.x, r0.w, r0.z\nend\n";
    let without = loops.replace("mov o0, r0.zzzz\n", "");
    for (set, machine) in machines() {
        for (name, body) in [("plain", plain), ("loops", loops), ("without outputs", &without)] {
            let has_output = body.contains("o0");
            let [width, height] = SIZE;
            let count = width * height;
            let output = machine.pitched(Format::UnsignedInt32x1, width, height, width);
            let stored = machine.surface(Format::UnsignedInt32x1, count, 1);
            let mut bindings = Bindings { uavs: vec![(7, stored.clone())], ..Bindings::default() };
            bindings.outputs.extend(has_output.then(|| (0, output.clone())));
            let head = if has_output { head.into() } else { head.replace("dcl_output_generic o0\n", "") };
            machine.run(&format!("{head}{body}"), bindings, domain(width, height));
            let wrong = |surface: &Surface| {
                let words = read(surface, count as usize);
                words.iter().zip(0..).filter(|(word, at)| *word != at).count()
            };
            assert_eq!(wrong(&stored), 0, "{set:?}, {name}: stored");
            assert!(!has_output || wrong(&output) == 0, "{set:?}, {name}: outputs");
        }
    }
}
