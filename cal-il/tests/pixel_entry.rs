//! Pixel kernels: where main stands, which is in the entry point unless threads may leave it early; and their groups.

mod opcodes;

use opcodes::count;
use recal_il::spirv::{Assume, Formats, Mode, Module, Target, emit};

fn module(body: &str, target: &Target) -> Module {
    let text = format!(
        "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
         dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
         dcl_cb cb0[2]\ndcl_literal l0, 1.0, 2.0, 3.0, 4.0\nmov r0, vWinCoord0.xyxy\n{body}"
    );
    let program = recal_il::compile(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    // Of a known format, so that stores are no calls.
    let assume = Assume { formats: Formats::FourWords, ..Assume::NOTHING };
    emit(&program, target, assume).expect("the device has everything")
}

fn opcodes(body: &str) -> Vec<u32> {
    opcodes::opcodes(&module(body, &Target::full(Mode::Native)))
}

const CALL: u32 = 57;
const LOAD: u32 = 61;
const BRANCH: u32 = 250;

#[test]
fn main_stands_in_the_entry_point() {
    let plain = "mad o0, r0, cb0[0], cb0[1]\nend\n";
    let branch = "lt r1.x, r0.x, cb0[1].x\nif_logicalnz r1.x\nmov o0, cb0[0]\nelse\nmov o0, r0\nendif\nend\n";
    for body in [plain, branch] {
        assert_eq!(count(&opcodes(body), CALL), 0, "{body}");
    }
    // Nothing is loaded after the test of the domain: all of it is the same for all threads.
    let codes = opcodes(plain);
    let test = codes.iter().position(|code| *code == BRANCH).expect("the domain is tested");
    assert!(count(&codes[..test], LOAD) > 0);
    assert_eq!(count(&codes[test..], LOAD), 0);
}

#[test]
fn main_is_a_function_if_threads_leave_it() {
    let end = "mov o0, r0\nendmain\n";
    let function = "func 1\nadd r0, r0, l0\nret\nendfunc\nend\n";
    // One call, of the kernel's own function: its returns are not main's.
    let returns = function.replace("func 1\n", "func 1\nret_logicalnz cb0[0].x\n");
    assert_eq!(count(&opcodes(&["call 1\n", end, &returns].concat()), CALL), 1);
    let leaves = [
        "ret_logicalnz cb0[0].x\n",
        "if_logicalnz cb0[0].x\nret_dyn\nendif\n",
        "discard_logicalnz cb0[0].x\n",
    ];
    for early in leaves {
        assert_eq!(count(&opcodes(&[early, end, "end\n"].concat()), CALL), 1, "{early}");
    }
    // A function that may kill the thread, and main.
    let kills = function.replace("func 1\n", "func 1\ndiscard_logicalnz cb0[0].x\n");
    assert_eq!(count(&opcodes(&["call 1\n", end, &kills].concat()), CALL), 2);
}

#[test]
fn groups_are_as_large_as_suits_kernel_and_device() {
    let sample = "sample_resource(0)_sampler(0) r1, r0.xyxx\n";
    let counted = |inside: &str| {
        format!(
            "whileloop\nge r2.x, r0.x, cb0[0].x\nbreak_logicalnz r2.x\n{inside}add r0, r0, l0\nendloop\nmov o0, r0\nend\n"
        )
    };
    let straight = format!("{sample}mov o0, r1\nend\n");
    let large = Target::full(Mode::Native);
    let least = Target { max_group: 128, ..large.clone() };
    let processor = Target { large_tiles: false, ..large.clone() };
    let groups = |body: &str| [&large, &least, &processor].map(|target| module(body, target).group);
    let [x16y16, x16y8, x32y2, x8y8] = [[16, 16, 1], [16, 8, 1], [32, 2, 1], [8, 8, 1]].map(Some);
    assert_eq!(groups(&straight), [x16y16, x16y8, x8y8]);
    assert_eq!(groups(&counted("mul r0, r0, cb0[1]\n")), [x16y8, x16y8, x8y8]);
    assert_eq!(groups(&counted(&format!("{sample}add r0, r0, r1\n"))), [x32y2, x32y2, x8y8]);
}
