//! Text and surfaces of the matrix product, for its test and its bench.

use std::fmt::Write;

use recal_hal::{Bindings, Format, Surface};

use super::harness::{Machine, write};

/// The kernel: `cb0[0].x` = number of float4 steps / 4.
pub fn text() -> String {
    let mut t = String::from("il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n");
    (0..8).for_each(|i| writeln!(t, "dcl_output_generic o{i}").unwrap());
    t.push_str("dcl_cb cb0[1]\ndcl_literal l0, 0.0, 1.0, 0.5, 0x00000001\n");
    (0..12).for_each(|i| {
        writeln!(t, "dcl_resource_id({i})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)")
            .unwrap();
    });
    t.push_str("mov r0.xy, vWinCoord0.xyxx\nmov r0.___w, l0.z\n");
    (3..11).for_each(|r| writeln!(t, "mov r{r}, l0.xxxx").unwrap());
    t.push_str("mov r11.x, l0.x\nwhileloop\nige r11.y, r11.x, cb0[0].x\nbreak_logicalnz r11.y\n");
    for _ in 0..4 {
        // r0 = (column, row, -, depth)
        (0..4).for_each(|j| {
            writeln!(t, "sample_resource({0})_sampler({0}) r{1}, r0.xwxx", 8 + j, 21 + j).unwrap()
        });
        (0..8).for_each(|i| writeln!(t, "sample_resource({i})_sampler({i}) r{}, r0.wyww", 13 + i).unwrap());
        for i in 0..8 {
            let (a, sum) = (13 + i, 3 + i);
            writeln!(t, "mad r12, r{a}.y, r22, r{sum}").unwrap();
            writeln!(t, "mad r12, r{a}.x, r21, r12").unwrap();
            writeln!(t, "mad r12, r{a}.z, r23, r12").unwrap();
            writeln!(t, "mad r{sum}, r{a}.w, r24, r12").unwrap();
        }
        t.push_str("add r0.___w, r0.w, l0.y\n");
    }
    t.push_str("iadd r11.x, r11.x, l0.w\nendloop\n");
    (0..8).for_each(|i| writeln!(t, "mov o{i}, r{}", 3 + i).unwrap());
    t.push_str("end\n");
    t
}

/// All surfaces of an m x k by k x n product; the outputs once more.
pub fn bind(machine: &Machine, m: u32, n: u32, k: u32) -> (Bindings, Vec<Surface>) {
    let mut bindings = Bindings::default();
    for i in 0..12 {
        let (width, height) = if i < 8 { (k / 4, m / 8) } else { (n / 4, k / 4) };
        bindings.resources.push((i, machine.surface(Format::Float32x4, width, height)));
    }
    let constant = machine.surface(Format::UnsignedInt32x4, 1, 1);
    write(&constant, &[k / 16, 0, 0, 0]);
    bindings.constants.push((0, constant));
    let outputs: Vec<Surface> = (0..8).map(|_| machine.surface(Format::Float32x4, n / 4, m / 8)).collect();
    bindings.outputs = (0..).zip(outputs.iter().cloned()).collect();
    (bindings, outputs)
}
