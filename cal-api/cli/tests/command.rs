//! The command as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

const KERNEL: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\ndcl_literal l0, 2, 1, 0, 0\nmov r1.x, l0.z\nwhileloop\nieq r2.x, r1.x, l0.x\n\
    break_logicalnz r2.x\niadd r1.x, r1.x, l0.y\nendloop\nitof r3.x, r1.x\nadd o0.x, vWinCoord0.y, r3.x\nend\n";

fn cal(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cal"));
    command.env("CAL_BACKEND", "cpu").args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = cal(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_trace_shows_what_a_thread_writes() {
    let folder = scratch("trace");
    let (kernel, saved) = (folder.join("k.il"), folder.join("o0.raw"));
    std::fs::write(&kernel, KERNEL).unwrap();
    let (kernel, save) = (kernel.to_str().unwrap(), format!("o0={}", saved.display()));
    let text =
        printed(&["trace", kernel, "-b", "o0=16x16:float32_1", "-d", "16x16", "-t", "9,3", "-s", &save]);
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let written = |name: &str| -> Vec<&str> {
        lines.iter().filter(|l| l.first() == Some(&name)).map(|l| l[1]).collect()
    };
    assert_eq!(written("r1.x"), ["0x00000000", "0x00000001", "0x00000002"], "{text}");
    assert_eq!(written("r2.x"), ["0x00000000", "0x00000000", "0xffffffff"], "{text}");
    // 3.5 + 2
    assert_eq!(written("o0.x"), ["0x40b00000"], "{text}");
    assert!(text.contains("   12  add o0.x, vWinCoord0.y, r3.x\n"), "{text}");
    // Only the tile of the thread ran, 64 pixels of whatever shape.
    let bytes = std::fs::read(saved).unwrap();
    let at = |x: usize, y: usize| f32::from_le_bytes(bytes[4 * (16 * y + x)..][..4].try_into().unwrap());
    let ran = (0..256).filter(|i| at(i % 16, i / 16) != 0.0).count();
    assert_eq!((at(9, 3), ran), (5.5, 64));

    for wrong in [["-d", "16x16", "-t", "16,0"], ["-g", "4", "-t", "0"]] {
        let output = cal(&[&["trace", kernel, "-b", "o0=16x16:float32_1"][..], &wrong[..]].concat());
        assert!(!output.status.success() && !output.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn shells_learn_the_subcommands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        assert!(script.contains("disassemble") && script.contains("trace"), "{shell}");
    }
}

#[test]
fn man_pages_cover_command_and_environment() {
    let folder = scratch("manual");
    printed(&["manual", folder.to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(page("cal.1").contains(".TH cal 1") && page("cal-run.1").contains("domain"));
    assert!(page("cal-environment.7").contains("CAL_TIMEOUT"));
}
