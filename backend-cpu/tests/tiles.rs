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
