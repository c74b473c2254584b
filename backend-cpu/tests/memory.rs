//! Memory as kernels see it: each kind of access, all formats, edges and outside.

mod harness;

use harness::{Machine, domain, grid, read, write};
use recal_hal::{Bindings, DeviceOptions, DomainParam, Extent, Format, Sampler, Surface, Wrap};

fn declare(dimension: &str) -> String {
    format!("dcl_resource_id(0)_type({dimension},unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n")
}

/// Runs a pixel kernel over 16 x 5 positions that reads `input` as i0 and leaves o0; returns its rows of float4.
fn pixels(
    machine: &Machine,
    input: &Surface,
    dimension: &str,
    sampler: Option<Sampler>,
    body: &str,
) -> Vec<[u32; 4]> {
    let out = machine.pitched(Format::Float32x4, 16, 5, 16);
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n{}\
         dcl_literal l0, 1.0, 0.5, -3.0, 2.0\ndcl_literal l1, 1, -1, 3, 0\n{body}\nend\n",
        declare(dimension)
    );
    let bindings = Bindings {
        resources: vec![(0, input.clone())],
        samplers: sampler.map(|s| (0, s)).into_iter().collect(),
        outputs: vec![(0, out.clone())],
        ..Bindings::default()
    };
    machine.run(&text, bindings, domain(16, 5));
    read(&out, 16 * 5 * 4).chunks_exact(4).map(|c| c.try_into().unwrap()).collect()
}

/// A 7 x 3 surface of one float: element (x, y) holds 10 y + x + 1.
fn numbered(machine: &Machine) -> Surface {
    let surface = machine.pitched(Format::Float32x1, 7, 3, 64);
    let mut words = vec![0; 64 * 3];
    (0..3).for_each(|y| (0..7).for_each(|x| words[y * 64 + x] = ((10 * y + x + 1) as f32).to_bits()));
    write(&surface, &words);
    surface
}

fn texel(x: i64, y: i64) -> u32 {
    ((10 * y + x + 1) as f32).to_bits()
}

#[test]
fn nearest_samples_clamp_to_the_edge() {
    let machine = Machine::new();
    let got = pixels(
        &machine,
        &numbered(&machine),
        "2d",
        None,
        "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx",
    );
    for y in 0..5 {
        for x in 0..16 {
            assert_eq!(got[(y * 16 + x) as usize], [texel(x.min(6), y.min(2)); 4]);
        }
    }
}

#[test]
fn offsets_count_half_texels_after_the_coordinate() {
    let machine = Machine::new();
    let body = "add r0.xy, vWinCoord0.xyxx, l0.zzzz\nsample_resource(0)_sampler(0)_aoffimmi(1.0,0.5,0.0) o0, r0.xyxx";
    let got = pixels(&machine, &numbered(&machine), "2d", None, body);
    for y in 0..5i64 {
        for x in 0..16i64 {
            // Position x + ½ − 3 + 1 and y + ½ − 3 + ½.
            assert_eq!(got[(y * 16 + x) as usize][0], texel((x - 2).clamp(0, 6), (y - 2).clamp(0, 2)));
        }
    }
}

#[test]
fn nan_is_0_and_infinities_clamp() {
    let machine = Machine::new();
    let body = "dcl_literal l2, 0x7FC00000, 0x7F800000, 0xFF800000, 0x4F800000\n\
        sample_resource(0)_sampler(0) r0, l2.xyxx\nsample_resource(0)_sampler(0) r1, l2.yxyy\n\
        sample_resource(0)_sampler(0) r2, l2.zwzz\nmov r0._y__, r1.x\nmov r0.__z_, r2.x\nmov o0, r0";
    let got = pixels(&machine, &numbered(&machine), "2d", None, body);
    assert!(got.iter().all(|row| row[..3] == [texel(0, 2), texel(6, 0), texel(0, 2)]));
}

/// Texel of a column, or `None` for the border.
type Texel = fn(i64) -> Option<i64>;

#[test]
fn wrap_modes_follow_their_definitions() {
    let machine = Machine::new();
    let input = numbered(&machine);
    let border = [9.0f32, 8.0, 7.0, 6.0];
    // Column of position x is x − 8 for offsets of −8.
    let body = "sample_resource(0)_sampler(0)_aoffimmi(-8.0,0.0,0.0) o0, vWinCoord0.xyxx";
    let cases: [(Wrap, Texel); 6] = [
        (Wrap::Repeat, |i| Some((i + 70) % 7)),
        (Wrap::MirroredRepeat, |i| {
            Some(if i < -7 {
                6 - (-8 - i)
            } else if i < 0 {
                -1 - i
            } else if i < 7 {
                i
            } else {
                13 - i
            })
        }),
        (Wrap::MirrorClampToEdge, |i| Some((if i < 0 { -1 - i } else { i }).min(6))),
        (Wrap::Clamp, |i| Some(i.clamp(0, 6))),
        (Wrap::ClampToBorder, |i| (0..7).contains(&i).then_some(i)),
        (Wrap::MirrorClampToBorder, |i| (-7..7).contains(&i).then_some(if i < 0 { -1 - i } else { i })),
    ];
    for (mode, expected) in cases {
        let sampler =
            Sampler { wrap: [mode, Wrap::ClampToEdge, Wrap::ClampToEdge], border, ..Sampler::default() };
        let got = pixels(&machine, &input, "2d", Some(sampler), body);
        for x in 0..16 {
            let value = expected(x - 8).map_or(border[0].to_bits(), |i| texel(i, 1));
            assert_eq!(got[16 + x as usize], [value; 4], "{mode:?} at {}", x - 8);
        }
    }
}

#[test]
fn bilinear_blends_four_texels() {
    let machine = Machine::new();
    let sampler = Sampler { linear: true, ..Sampler::default() };
    // A quarter texel right of the centre and half a texel below it.
    let body = "dcl_literal l2, 0.25, 0.5, 0, 0\nadd r0.xy, vWinCoord0.xyxx, l2.xyxx\n\
        sample_resource(0)_sampler(0) o0, r0.xyxx";
    let got = pixels(&machine, &numbered(&machine), "2d", Some(sampler), body);
    for y in 0..2 {
        for x in 0..6 {
            // 10 y + x + 1 is linear, so is its interpolation; these fractions are exact.
            let expected = 10.0 * (y as f32 + 0.5) + x as f32 + 1.25;
            assert_eq!(f32::from_bits(got[y * 16 + x][0]), expected);
        }
        assert_eq!(f32::from_bits(got[y * 16 + 10][0]), 10.0 * (y as f32 + 0.5) + 7.0);
    }
    let centre = pixels(
        &machine,
        &numbered(&machine),
        "2d",
        Some(sampler),
        "sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx",
    );
    assert_eq!(centre[16 + 3][0], texel(3, 1));
}

#[test]
fn fetch4_takes_the_2x2_texels_that_a_linear_filter_touches() {
    let machine = Machine::new();
    // At the corner shared by texels (x, y) and (x + 1, y + 1).
    let body = "add r0.xy, vWinCoord0.xyxx, l0.yyyy\nfetch4_resource(0)_sampler(0) o0, r0.xyxx";
    let got = pixels(&machine, &numbered(&machine), "2d", None, body);
    for y in 0..3i64 {
        for x in 0..8i64 {
            let at = |x: i64, y: i64| texel(x.min(6), y.min(2));
            assert_eq!(got[(y * 16 + x) as usize], [at(x, y + 1), at(x + 1, y + 1), at(x + 1, y), at(x, y)]);
        }
    }
}

#[test]
fn loads_outside_read_0_in_all_components() {
    let machine = Machine::new();
    let body = "ftoi r0.xy, vWinCoord0.xyxx\nload_resource(0)_aoffimmi(-1.0,0.0,0.0) o0, r0.xy00";
    let got = pixels(&machine, &numbered(&machine), "2d", None, body);
    for y in 0..5i64 {
        for x in 0..16i64 {
            let inside = (1..8).contains(&x) && y < 3;
            let expected = if inside { [texel(x - 1, y); 4] } else { [0; 4] };
            assert_eq!(got[(y * 16 + x) as usize], expected);
        }
    }
}

#[test]
fn resource_sizes() {
    let machine = Machine::new();
    let got = pixels(&machine, &numbered(&machine), "2d", None, "resinfo_resource(0)_uint o0, l1.wwww");
    assert_eq!(got[0], [7, 3, 0, 1]);
}

#[test]
fn every_format_goes_through_a_kernel_unchanged() {
    let machine = Machine::new();
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n{}\
         sample_resource(0)_sampler(0) o0, vWinCoord0.xyxx\nend\n",
        declare("2d")
    );
    for &format in Format::ALL {
        // 12 x 9: whole tiles, parts of tiles, and lanes outside.
        let (input, out) = (machine.pitched(format, 12, 9, 16), machine.pitched(format, 12, 9, 16));
        let bytes = (16 * 9 * format.bytes()) as usize;
        let words: Vec<u32> =
            (0..bytes as u32 / 4).map(|i| i.wrapping_mul(0x9E37_79B9) & 0x3B7F_3B7F).collect();
        write(&input, &words);
        let bindings =
            Bindings { resources: vec![(0, input)], outputs: vec![(0, out.clone())], ..Bindings::default() };
        machine.run(&text, bindings, domain(12, 9));
        let bytes_of = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let (expected, got) = (bytes_of(&words), bytes_of(&read(&out, words.len())));
        let n = format.bytes() as usize;
        for row in 0..9 {
            for column in 0..16 {
                let at = (row * 16 + column) * n;
                let same = if column < 12 { expected[at..at + n].to_vec() } else { vec![0; n] };
                assert_eq!(got[at..at + n], same, "{format:?} column {column} row {row}");
            }
        }
    }
}

#[test]
fn denormals_pass_through_moves_and_are_flushed_by_arithmetic() {
    let machine = Machine::new();
    let input = machine.pitched(Format::Float32x1, 7, 3, 64);
    write(&input, &[1; 64 * 3]);
    let body = "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmul_ieee r1.x, r0.x, l0.x\nmov r0._y__, r1.x\nmov o0, r0";
    assert_eq!(pixels(&machine, &input, "2d", None, body)[0][..2], [1, 0]);
    // Only used by arithmetic, the load may flush.
    let body = "sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmul_ieee r1, r0.xxxx, l0.xxxx\nmov o0, r1";
    assert_eq!(pixels(&machine, &input, "2d", None, body)[0], [0; 4]);
}

#[test]
fn interpolants_run_between_the_corner_values() {
    let machine = Machine::new();
    let out = machine.pitched(Format::Float32x4, 16, 8, 16);
    let text = "il_ps_2_0\ndcl_input_interp(linear) v0.xy__\ndcl_output_generic o0\nmov o0, v0.xyxy\nend\n";
    let extent = Extent::Domain { x: 4, y: 2, width: 8, height: 4 };
    let mut bindings = Bindings { outputs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(text, bindings.clone(), extent);
    let at = |words: &[u32], x: usize, y: usize| [0, 1].map(|k| f32::from_bits(words[4 * (y * 16 + x) + k]));
    assert_eq!(at(&read(&out, 512), 5, 3), [5.5, 3.5], "without corner values, the position");
    let corner =
        DomainParam { ul: [10.0, 0.0, 0.0, 0.0], ll: [10.0, 8.0, 0.0, 0.0], lr: [26.0, 8.0, 0.0, 0.0] };
    bindings.domain_params = Some(Box::new([corner; 8]));
    machine.run(text, bindings.clone(), extent);
    let words = read(&out, 512);
    // Column 1 of 8: 10 + 16 · 1.5 / 8; line 1 of 4: 8 · 1.5 / 4.
    assert_eq!(at(&words, 5, 3), [13.0, 3.0]);
    assert_eq!(at(&words, 3, 3), [0.0, 0.0], "outside the domain");
    // A denormal corner is a zero of its sign.
    let tiny = f32::from_bits(0x8000_0001);
    let corner =
        DomainParam { ul: [tiny, 1.0, 0.0, 0.0], ll: [tiny, 1.0, 0.0, 0.0], lr: [tiny, 1.0, 0.0, 0.0] };
    bindings.domain_params = Some(Box::new([corner; 8]));
    machine.run(text, bindings, extent);
    assert_eq!(at(&read(&out, 512), 5, 3), [0.0, 1.0]);
}

/// Machines that compile, and one that does not.
fn machines() -> [Machine; 2] {
    let options = DeviceOptions::default();
    [Machine::with(&options), Machine::interpreting(&options)]
}

/// Runs a pixel kernel over 128 x 15 positions with these as i0, i1 …; the words of o0.
fn sampled(machine: &Machine, inputs: &[&Surface], body: &str) -> Vec<u32> {
    let out = machine.pitched(Format::Float32x1, 128, 15, 128);
    let declared: String =
        (0..inputs.len()).map(|n| declare("2d").replace("id(0)", &format!("id({n})"))).collect();
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n{declared}\
         dcl_literal l0, 1.0, 3.0, 1000.0, 0.0\n{body}\nend\n"
    );
    let resources = (0..).zip(inputs.iter().map(|&surface| surface.clone())).collect();
    let bindings = Bindings { resources, outputs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(&text, bindings, domain(128, 15));
    read(&out, 128 * 15)
}

fn floats(words: Vec<u32>) -> Vec<f32> {
    words.into_iter().map(f32::from_bits).collect()
}

#[test]
fn samples_find_their_own_texels_wherever_others_were() {
    for machine in machines() {
        // Texel (x, y) is 128 y + x, of bytes (x + 3 y) mod 256 / 255.
        let numbers: Vec<u32> = (0..128 * 15).map(|k| (k as f32).to_bits()).collect();
        let input = machine.filled(Format::Float32x1, 128, 15, &numbers);
        // Rows that do not end at words, which compiled code leaves to the interpreter.
        let odd = machine.pitched(Format::UnormInt8x1, 128, 15, 129);
        let bytes: Vec<u8> = (0..129 * 15 + 1).map(|k| (k % 129 + 3 * (k / 129)) as u8).collect();
        write(
            &odd,
            &bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<u32>>(),
        );
        let at = |k: usize| (k % 128, k / 128);

        // Behind a branch that no thread takes.
        let body = "lt r1.x, l0.z, vWinCoord0.x\nif_logicalnz r1.x\nsample_resource(0)_sampler(0) r2, vWinCoord0.xyxx\n\
            endif\nsample_resource(0)_sampler(0) r3, vWinCoord0.xyxx\nadd o0, r3.xxxx, r2.xxxx";
        let all: Vec<f32> = (0..128 * 15).map(|k| k as f32).collect();
        assert_eq!(floats(sampled(&machine, &[&input], body)), all);
        // At one place in two surfaces.
        let body = "sample_resource(0)_sampler(0) r2, vWinCoord0.xyxx\nsample_resource(1)_sampler(0) r3, vWinCoord0.xyxx\n\
            mov r2._y__, r3.x\nmad o0, r2.yyyy, l0.zzzz, r2.xxxx";
        for (k, sum) in floats(sampled(&machine, &[&input, &odd], body)).into_iter().enumerate() {
            let (x, y) = at(k);
            let byte = ((x + 3 * y) % 256) as f32 / 255.0;
            assert!((sum - (byte * 1000.0 + k as f32)).abs() < 0.01, "{sum} at ({x}, {y})");
        }
    }
}

#[test]
fn samples_may_say_where_the_next_one_reads() {
    for machine in machines() {
        // Of column x in a row of 128: where to go next.
        let next = |x: usize| x * 37 % 128;
        let way: Vec<u32> = (0..128).map(|x| (next(x) as f32 + 0.5).to_bits()).collect();
        let input = machine.filled(Format::Float32x1, 128, 1, &way);
        let step = "sample_resource(0)_sampler(0) r1.x, r1.xxxx\n";
        // A neighbour sample sees the new place.
        let body = format!(
            "mov r1, vWinCoord0.xyxx\nwhileloop\nge r2.x, r3.x, l0.y\nbreak_logicalnz r2.x\n{step}\
             sample_resource(0)_sampler(0) r4.x, r1.xxxx\nadd r3.x, r3.x, l0.x\nendloop\nmov o0, r4.xxxx"
        );
        for body in [body, format!("mov r1, vWinCoord0.xyxx\n{}mov o0, r1.xxxx", step.repeat(4))] {
            for (k, got) in floats(sampled(&machine, &[&input], &body)).into_iter().enumerate() {
                let expected = (0..4).fold(k % 128, |x, _| next(x)) as f32 + 0.5;
                assert_eq!(got, expected, "column {}", k % 128);
            }
        }
    }
}

#[test]
fn discarded_threads_leave_memory_as_it_was() {
    let machine = Machine::new();
    let out = machine.pitched(Format::Float32x1, 8, 8, 8);
    write(&out, &[7; 64]);
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_literal l0, 1, 0, 0, 0\nftoi r0.x, vWinCoord0.x\nand r0.x, r0.x, l0.x\ndiscard_logicalnz r0.x\n\
        mov o0, l0.x\nend\n";
    machine.run(text, Bindings { outputs: vec![(0, out.clone())], ..Bindings::default() }, domain(8, 8));
    assert!(read(&out, 64).iter().enumerate().all(|(i, &w)| w == if i % 2 == 1 { 7 } else { 1 }));
}

#[test]
fn constants_by_absolute_and_relative_row() {
    let machine = Machine::new();
    let cb = machine.filled(Format::UnsignedInt32x1, 40, 1, &(100..140).collect::<Vec<u32>>());
    let out = machine.surface(Format::UnsignedInt32x1, 256, 1);
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[4096]\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 0, 5, -3\n\
        ishl r0.x, vTidInGrpFlat0.x, l0.x\niadd r1.x, vTidInGrpFlat0.x, l0.w\n\
        mov r2, cb0[r1.x + 2]\niadd r2.x, r2.x, cb0[3].y\nuav_raw_store_id(0) mem0.xyzw, r0.x, r2\nend\n";
    let bindings = Bindings { constants: vec![(0, cb)], uavs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(text, bindings, grid(1, 64));
    let got = read(&out, 256);
    for t in 0..64usize {
        // Row t − 1; 40 words are 10 rows, but the page behind them reads as 0.
        let word = |k: usize| if (1..11).contains(&t) { 100 + 4 * (t as u32 - 1) + k as u32 } else { 0 };
        assert_eq!(got[4 * t..4 * t + 4], [word(0) + 113, word(1), word(2), word(3)]);
    }
}

#[test]
fn global_buffer_scatter_and_masks() {
    let machine = Machine::new();
    let global = machine.filled(Format::Float32x4, 80, 1, &[5; 320]);
    let out = machine.surface(Format::UnsignedInt32x1, 64, 1);
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 2, 70, 1, 0\n\
        isub r0.x, l0.y, vTidInGrpFlat0.x\nmov g[r0.x + 1].x_z_, vTidInGrpFlat0.xxxx\nfence_memory\n\
        mov r1, g[vTidInGrpFlat0.x]\nishl r0.x, vTidInGrpFlat0.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, r1.x\nend\n";
    let bindings =
        Bindings { global: Some(global.clone()), uavs: vec![(0, out.clone())], ..Bindings::default() };
    machine.run(text, bindings, grid(1, 64));
    let got = read(&global, 320);
    for element in 0..80 {
        // Thread t wrote element 71 − t.
        let written = (8..72).contains(&element);
        let value = if written { 71 - element as u32 } else { 5 };
        assert_eq!(got[4 * element..4 * element + 4], [value, 5, value, 5]);
    }
    assert_eq!(read(&out, 64), (0..64).map(|t| if t < 8 { 5 } else { 71 - t }).collect::<Vec<u32>>());
}

#[test]
fn raw_stores_outside_are_dropped_and_loads_outside_are_0() {
    let machine = Machine::new();
    // 100 words are bound; the memory is a page.
    let out = machine.filled(Format::UnsignedInt32x1, 100, 1, &[9; 1024]);
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 192, 3, 0\n\
        ishl r0.x, vTidInGrpFlat0.x, l0.x\niadd r1.x, r0.x, l0.y\numad r1.x, l0.w, l0.w, r1.x\n\
        uav_raw_load_id(0) r2, r1.x\nuav_raw_store_id(0) mem0.xyz_, r1.x, r0.xxxx\n\
        if_logicalz vTidInGrpFlat0.x\nuav_raw_store_id(0) mem0.xyzw, l0.w, r2\nendif\nend\n";
    machine.run(text, Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() }, grid(1, 64));
    let got = read(&out, 1024);
    assert_eq!(got[..4], [9; 4]);
    for (word, &got) in got.iter().enumerate().take(100).skip(48) {
        let (thread, k) = ((word - 48) / 4, (word - 48) % 4);
        assert_eq!(got, if k < 3 { 16 * thread as u32 } else { 9 }, "word {word}");
    }
    assert!(got[100..].iter().all(|&w| w == 9), "nothing beyond the surface changed");
}

#[test]
fn bytes_and_shorts_of_an_arena() {
    let machine = Machine::new();
    let out = machine.filled(Format::UnsignedInt32x1, 64, 1, &[0x8182_8384; 64]);
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_arena_uav_id(8)\ndcl_literal l0, 128, 1, 64, 0\n\
        uav_arena_load_id(8)_size(byte) r1.x, vTidInGrpFlat0.x\niadd r0.x, vTidInGrpFlat0.x, l0.x\n\
        uav_arena_store_id(8)_size(byte) r0.x, r1.x\nend\n";
    machine.run(text, Bindings { uavs: vec![(8, out.clone())], ..Bindings::default() }, grid(1, 64));
    let got = read(&out, 64);
    assert!(got.iter().all(|&w| w == 0x8182_8384), "the copied bytes are the same as those they replace");
    write(&out, &(0..64).map(|i| 0x0100_0000 * i + i).collect::<Vec<u32>>());
    machine.run(text, Bindings { uavs: vec![(8, out.clone())], ..Bindings::default() }, grid(1, 64));
    let got = read(&out, 64);
    assert_eq!(got[32..48], got[..16], "64 bytes moved by 128");
}

#[test]
fn typed_views_convert() {
    let machine = Machine::new();
    let out = machine.pitched(Format::UnormInt8x4, 8, 8, 8);
    let text = "il_cs_2_0\ndcl_num_thread_per_group 8, 8\ndcl_uav_id(0)_type(2d)_fmtx(unorm)\n\
        dcl_literal l0, 0.0, 1.0, 0.5, 2.0\ndcl_literal l1, 1, 0, 0, 0\n\
        if_logicalnz vTidInGrp0.x\nuav_store_id(0) vTidInGrp0.xyxx, l0.xyzw\nendif\nend\n";
    machine.run(
        text,
        Bindings { uavs: vec![(0, out.clone())], ..Bindings::default() },
        Extent::Grid { groups: [1; 3], block: [8, 8, 1] },
    );
    let got = read(&out, 64);
    // 0.5 · 255 = 127.5 rounds to the even 128; 2.0 clamps.
    assert!(got.iter().enumerate().all(|(i, &w)| w == if i % 8 == 0 { 0 } else { 0xFF80_FF00 }));
}

#[test]
fn arrays_are_private_and_bounded() {
    let machine = Machine::new();
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_indexed_temp_array x0[8]\n\
        dcl_literal l0, 2, 7, 1, 100\nand r1.x, vTidInGrpFlat0.x, l0.y\nmov x0[r1.x].xy, vTidInGrpFlat0.xxxx\n\
        mov r3.x, l0.w\nmov x0[r3.x], l0.wwww\nmov r2, x0[r1.x]\nmov r4, x0[r3.x]\niadd r2.x, r2.x, r2.z\n\
        iadd r2.x, r2.x, r4.x\niadd r1.x, r1.x, l0.z\nmov r5, x0[r1.x]\niadd r2.x, r2.x, r5.x\n\
        ishl r0.x, vTidInGrpFlat0.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, r2.x\nend\n";
    assert_eq!(machine.compute(text, 64, 64), (0..64).collect::<Vec<u32>>());
}

#[test]
fn lines_of_all_lengths() {
    // What a thread's column has, what its line has, and what it has itself; compiled code looks at whole lines.
    let machine = Machine::new();
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n{}\
         dcl_literal l0, 0.5, 0.0, 100.0, 10000.0\nmov r0, vWinCoord0.xyxy\nmov r0.__zw, l0.00xx\n\
         sample_resource(0)_sampler(0) r1, r0.xwxx\nsample_resource(0)_sampler(0) r2, r0.zyzz\n\
         sample_resource(0)_sampler(0) r3, r0.xyxx\nmad r1, r2, l0.z, r1\nmad o0, r3, l0.w, r1\nend\n",
        declare("2d")
    );
    let kernel = machine.kernel(&text);
    let (width, height) = (64, 16);
    let number = |x: u32, y: u32, k: u32| (x + 5 * y + 64 * k) % 97;
    let words: Vec<u32> = (0..width * height * 4)
        .map(|at| (number(at / 4 % width, at / 4 / width, at % 4) as f32).to_bits())
        .collect();
    let input = machine.filled(Format::Float32x4, width, height, &words);
    for (width, height) in [(64, 16), (16, 16), (8, 16), (4, 16), (3, 5), (24, 3), (8, 16)] {
        let out = machine.pitched(Format::Float32x4, width, height, width);
        let bindings = Bindings {
            resources: vec![(0, input.clone())],
            outputs: vec![(0, out.clone())],
            ..Bindings::default()
        };
        let ticket = machine.submit(&kernel, bindings, domain(width, height));
        machine.queue.wait(ticket).unwrap();
        assert!(machine.queue.error(ticket).is_none());
        for (at, word) in (0..).zip(read(&out, (width * height * 4) as usize)) {
            let (x, y, k) = (at / 4 % width, at / 4 / width, at % 4);
            let expected = number(x, 0, k) + 100 * number(0, y, k) + 10_000 * number(x, y, k);
            assert_eq!(word, (expected as f32).to_bits(), "{width} x {height}: {x}, {y}");
        }
    }
}
