//! `recal reduce`.

use crate::{recal, scratch};

/// A sine among other things.
const KERNEL: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
    dcl_literal l0, 2, 1, 0, 0\ndcl_literal l1, 0.5, 3.25, 0.0, 0.0\nmov r1.x, l0.z\nwhileloop\nieq r2.x, r1.x, l0.x\n\
    break_logicalnz r2.x\niadd r1.x, r1.x, l0.y ; counts\nendloop\nif_logicalnz r1.x\nsin_vec r3, vWinCoord0.xyxy\nelse\n\
    mov r3, l1.x\nendif\nmad_sat r4, r3_neg(x), l1.x, l1.y\nadd o0, r4, r3\nend\n";

#[test]
fn a_kernel_shrinks_to_what_makes_a_command_fail() {
    let folder = scratch("reduce");
    let (kernel, small) = (folder.join("k.il"), folder.join("small.il"));
    std::fs::write(&kernel, KERNEL).unwrap();
    let (kernel, small) = (kernel.to_str().unwrap(), small.to_str().unwrap());
    // Fails on kernels that have a sine.
    let command = ["--", "sh", "-c", "! grep -q sin_vec \"$0\""];
    let output = recal(&[&["reduce", kernel, "-o", small][..], &command[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(small).unwrap();
    assert!(text.contains("sin_vec") && !text.contains("loop") && !text.contains("mad"), "{text}");
    assert!(text.lines().count() <= 4, "{text}");
    // It is a kernel still.
    assert!(recal(&["compile", small]).status.success(), "{text}");

    let bound = ["-b", "o0=8x8:float_4", "-d", "8x8"];
    for (arguments, said) in [
        (&["--", "true"][..], "nothing to reduce"),
        (&[&["--device", "cpu", "--device", "cpu:baseline"], &bound[..]].concat()[..], "do not differ"),
        (&["--device", "cpu"], "name two devices"),
        (&["--device", "cpu", "--device", "cpu"], "--domain"),
    ] {
        let output = recal(&[&["reduce", kernel, "-o", small], arguments].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && errors.contains(said), "{arguments:?}: {errors}");
    }
}
