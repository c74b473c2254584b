//! The command as a user runs it.

mod answers;
mod dap;
mod debugger;
mod doctor;
mod editor;
mod endless;
mod explore;
mod files;
mod manual;
mod opt;
mod reduce;
mod replay;
mod wire;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const KERNEL: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_output_generic o0\ndcl_literal l0, 2, 1, 0, 0\nmov r1.x, l0.z\nwhileloop\nieq r2.x, r1.x, l0.x\n\
    break_logicalnz r2.x\niadd r1.x, r1.x, l0.y\nendloop\nitof r3.x, r1.x\nadd o0.x, vWinCoord0.y, r3.x\nend\n";

fn recal(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    command.env("CAL_BACKEND", "cpu").args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = recal(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// As `recal`, with something on standard input and other variables.
fn recal_with(arguments: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    command.env("CAL_BACKEND", "cpu").envs(variables.iter().copied()).args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
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
    // The loop: its third iteration leaves it.
    let flow: Vec<&str> =
        text.lines().filter(|l| l.contains("iteration") || l.contains("taken")).map(str::trim).collect();
    let expected = [
        "iteration 1",
        "not taken",
        "iteration 2",
        "not taken",
        "iteration 3",
        "taken",
        "the loop ends in iteration 3",
    ];
    assert_eq!(flow, expected, "{text}");
    // Only the tile of the thread ran, 64 pixels of whatever shape.
    let bytes = std::fs::read(saved).unwrap();
    let at = |x: usize, y: usize| f32::from_le_bytes(bytes[4 * (16 * y + x)..][..4].try_into().unwrap());
    let ran = (0..256).filter(|i| at(i % 16, i / 16) != 0.0).count();
    assert_eq!((at(9, 3), ran), (5.5, 64));

    for wrong in [["-d", "16x16", "-t", "16,0"], ["-g", "4", "-t", "0"]] {
        let output = recal(&[&["trace", kernel, "-b", "o0=16x16:float32_1"][..], &wrong[..]].concat());
        assert!(!output.status.success() && !output.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn a_trace_shows_memory_and_calls() {
    let folder = scratch("trace-memory");
    let kernel = folder.join("k.il");
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_lds_id(0) 256\ndcl_literal l0, 2, 7, 0, 0\n\
        ishl r0.x, vAbsTid0.x, l0.x\nlds_store_id(0) r0.x, l0.y\ncall 3\nuav_raw_store_id(0) mem0.x, r0.x, r1.x\n\
        endmain\nfunc 3\nlds_load_id(0) r1.x, r0.x\nret\nend\n";
    std::fs::write(&kernel, text).unwrap();
    let text =
        printed(&["trace", kernel.to_str().unwrap(), "-b", "uav0=64:unsigned_int32_1", "-g", "1", "-t", "5"]);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let after =
        |line: &str, offset: usize| lines[lines.iter().position(|l| l.contains(line)).unwrap() + offset];
    assert_eq!(after("lds_store_id", 1), "writes lds0[byte 20]", "{text}");
    assert!(after("lds_store_id", 2).starts_with(".x     0x00000007"), "{text}");
    assert_eq!(after("call 3", 1), "enters function 3", "{text}");
    assert_eq!(after("lds_load_id", 1), "reads lds0[byte 20]", "{text}");
    assert_eq!(after("uav_raw_store_id", 1), "writes uav0[byte 20]", "{text}");
    assert!(after("uav_raw_store_id", 2).ends_with("7"), "{text}");
}

/// What a command prints with `--json`, and whether it succeeded.
fn json(arguments: &[&str]) -> (serde_json::Value, bool) {
    let output = recal(arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    (
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{arguments:?}: {e}\n{text}")),
        output.status.success(),
    )
}

#[test]
fn compiling_tells_all_as_json() {
    let folder = scratch("compile-json");
    let (kernel, image) = (folder.join("k.il"), folder.join("k.elf"));
    std::fs::write(&kernel, KERNEL).unwrap();
    let (path, out) = (kernel.to_str().unwrap(), image.to_str().unwrap());
    let (value, good) = json(&["compile", path, "-o", out, "-t", "cypress", "-t", "770", "--json"]);
    assert!(good && value["accepted"] == true, "{value}");
    assert_eq!(value["targets"], serde_json::json!(["cypress", "770"]));
    assert_eq!((&value["file"], &value["output"]), (&path.into(), &out.into()));
    assert_eq!(value["diagnostics"].as_array().unwrap().len(), 0);

    let (listing, good) = json(&["disassemble", out, "--json"]);
    assert!(good && listing["kind"] == "image", "{listing}");
    let programs = listing["programs"].as_array().unwrap();
    assert_eq!(
        programs.iter().map(|p| p["target"].as_str().unwrap()).collect::<Vec<_>>(),
        ["cypress", "770"]
    );
    for program in programs {
        assert_eq!(program["stage"], "pixel");
        assert!(program["il"].as_array().unwrap().iter().any(|line| line == "whileloop"), "{program}");
        let isa = program["isa"].as_array().unwrap();
        assert!(isa.iter().any(|line| line.as_str().unwrap().contains("LOOP_DX10 i0")), "{program}");
        assert!(
            program["spirv"].as_array().unwrap().iter().any(|l| l.as_str().unwrap().contains("OpEntryPoint"))
        );
    }
    let (listing, good) = json(&["disassemble", path, "--json"]);
    assert!(good && listing["kind"] == "il" && listing["programs"][0]["stage"] == "pixel", "{listing}");
    assert_eq!(listing["programs"][0]["il"][0], "il_ps_2_0");

    std::fs::write(&kernel, "il_ps_2_0\nmull r0, r1, r2\n  mov r0, l4\nend\n").unwrap();
    let (value, good) = json(&["compile", path, "--json"]);
    assert!(!good && value["accepted"] == false && value["output"].is_null(), "{value}");
    let found: Vec<_> = (value["diagnostics"].as_array().unwrap().iter())
        .map(|d| {
            (
                d["severity"].as_str().unwrap(),
                d["rule"].as_str().unwrap(),
                d["line"].as_u64().unwrap(),
                d["column"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(found, [("error", "unknown-opcode", 2, 1), ("error", "undeclared", 3, 11)]);
    let first = &value["diagnostics"][0];
    assert_eq!((first["start"].as_u64(), first["end"].as_u64()), (Some(10), Some(14)));
    assert!(
        first["message"].as_str().unwrap().contains("mull")
            && first["suggestion"]["message"].as_str().unwrap().contains("`mul`")
    );
    let edit = serde_json::json!({ "start": 10, "end": 14, "replacement": "mul" });
    assert_eq!(first["suggestion"]["edits"], serde_json::json!([edit]));

    std::fs::write(&kernel, "il_ps_2_0\nwhileloop\nbreak\nend\nmov r0, r1\n").unwrap();
    let (value, _) = json(&["compile", path, "--json"]);
    let label = &value["diagnostics"][0]["labels"][0];
    assert_eq!((label["line"].as_u64(), label["column"].as_u64()), (Some(4), Some(1)), "{value}");
    assert!(label["text"].as_str().unwrap().contains("`endloop`"), "{value}");
    assert_eq!(value["diagnostics"][1]["severity"], "note", "{value}");
}

#[test]
fn the_estimate_of_the_overview_as_json() {
    let folder = scratch("analyze-json");
    let kernel = folder.join("k.il");
    // The kernel of section 3.2 of the technical overview: one stream core instruction, one fetch, a byte in and out.
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        sample_resource(0)_sampler(0) r0.x, vWinCoord0.xyxx\nadd o0.x, r0.x, vWinCoord0.x\nend\n";
    std::fs::write(&kernel, text).unwrap();
    let path = kernel.to_str().unwrap();
    let options =
        ["analyze", path, "-d", "rv670", "-f", "i0=unorm_int8_1", "-f", "o0=unorm_int8_1", "-t", "2000000"];
    let (value, good) = json(&[&options[..], &["--json"]].concat());
    assert!(good, "{value}");
    assert_eq!((&value["file"], &value["stage"]), (&path.into(), &"pixel".into()));
    assert_eq!(value["binds"], serde_json::json!(["i0", "o0", "s0"]));
    assert!(value["group"].is_null());
    let count = |name: &str| value["counts"][name].as_u64().unwrap();
    assert_eq!(["vliw", "fetch", "output", "flow", "lds"].map(count), [1, 1, 1, 0, 0]);
    let mean = &value["thread"]["mean"];
    assert_eq!(
        (mean["memory_bits"].as_f64(), mean["clocks"]["alu"].as_f64()),
        (Some(16.0), Some(1.0 / 64.0))
    );
    assert_eq!((value["limit"].as_str(), value["alu_to_fetch"].as_f64()), (Some("fetch"), Some(1.0)));
    assert_eq!((value["lds_bytes"].as_u64(), value["target"]["engine_mhz"].as_u64()), (Some(0), Some(775)));
    assert!(value["gprs"].as_u64().unwrap() >= 1 && value["waves_per_simd"].as_u64().unwrap() >= 1);
    // 2 000 000 / 16 clocks, 0.16 ms.
    assert_eq!(value["clocks"].as_f64(), Some(125_000.0));
    assert!((value["seconds"].as_f64().unwrap() - 0.16e-3).abs() < 0.005e-3);
    // All chips are in one table.
    let chips = value["chips"].as_array().unwrap();
    assert_eq!(chips.len(), 16);
    let row = |name: &str| chips.iter().find(|chip| chip["target"]["name"] == name).unwrap();
    assert_eq!((&row("rv670")["clocks"], &row("rv670")["code"]), (&value["clocks"], &value["code"]));
    assert_eq!(
        (row("cayman")["target"]["slots"].as_u64(), row("rv610")["target"]["wave"].as_u64()),
        (Some(4), Some(16))
    );
    let text = printed(&[&options[..], &["--listing"]].concat());
    assert!(text.contains("\nCayman ") && text.contains("SAMPLE R1.x___, R0.xyx, t0, s0"), "{text}");
    assert!(printed(&options).contains("at best       125000 clocks, 0.161 ms for 2000000 threads"));
}

#[test]
fn rounds_of_loops_are_known_or_assumed() {
    let kernel = scratch("analyze-loops").join("k.il");
    let text = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 10, 0\nmov r0.x, l0.x\nwhileloop\n\
        ige r1.x, r0.x, l0.z\nbreak_logicalnz r1.x\niadd r0.x, r0.x, l0.y\nendloop\nwhileloop\nige r1.x, r0.x, cb0[0].x\n\
        break_logicalnz r1.x\niadd r0.x, r0.x, l0.y\nendloop\nmov g[vAbsTidFlat.x], r0.x\nend\n";
    std::fs::write(&kernel, text).unwrap();
    let path = kernel.to_str().unwrap();
    let (value, good) = json(&["analyze", path, "--trips", "7", "--json"]);
    let one = |line: u32, rounds: u32, known: bool| serde_json::json!({ "line": line, "rounds": rounds, "known": known });
    assert!(good && value["loops"] == serde_json::json!([one(6, 10, true), one(11, 7, false)]), "{value}");
    let said = "loops         line 6: 10 rounds; line 11: 16 rounds, assumed (--trips)\n";
    assert!(printed(&["analyze", path]).contains(said));
    // Chips without compute kernels say so in their rows.
    assert!(printed(&["analyze", path]).contains("RV670     target 670 has no compute kernels"));
}

#[test]
fn what_a_cpu_interprets_is_said() {
    let kernel = scratch("analyze-cpu").join("k.il");
    std::fs::write(
        &kernel,
        "il_ps_2_0\ndcl_cb cb0[1]\ndcl_output_generic o0\ndcl_indexed_temp_array x0[40]\nmov g[0], cb0[0]\nmov r1, cb0[0]\nmov x0[r1.x], r1\n\
         sin r0.x, cb0[0].x\nadd o0, r0.x, x0[r1.y]\nend\n",
    )
    .unwrap();
    let path = kernel.to_str().unwrap();
    for isa in ["neon", "avx2", "avx512"] {
        let (value, good) = json(&["analyze", path, "--isa", isa, "--json"]);
        assert!(good, "{value}");
        assert_eq!(
            (value["cpu"]["isa"].as_str(), value["cpu"]["compiled"].as_bool()),
            (Some(isa), Some(true))
        );
        let list = value["cpu"]["interpreted"].as_array().unwrap();
        assert_eq!(list.len(), 1, "{list:?}");
        assert_eq!(
            (list[0]["operation"].as_str(), &list[0]["lines"]),
            (Some("indexed temporary"), &serde_json::json!([7, 9]))
        );
        let text = printed(&["analyze", path, "--isa", isa]);
        assert!(
            text.contains(&format!("compiled to {isa} code"))
                && text.contains("indexed temporary, line 7, 9: "),
            "{text}"
        );
    }
    let text = printed(&["analyze", path, "--isa", "baseline"]);
    assert!(text.contains("on a CPU      all is interpreted: baseline has no code"), "{text}");
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
    assert!(page("recal.1").contains(".TH recal 1") && page("recal-run.1").contains("domain"));
    assert!(page("recal-environment.7").contains("CAL_TIMEOUT"));
}

#[test]
fn bench_times_the_device_and_a_kernel() {
    let text = printed(&["bench", "-n", "3", "--size", "1"]);
    for probe in ["launch of 64 threads", "copy, host to device", "copy, device to device", "GFLOPS", "GB/s"]
    {
        assert!(text.contains(probe), "{probe}: {text}");
    }
    let folder = scratch("bench");
    let kernel = folder.join("k.il");
    std::fs::write(&kernel, KERNEL).unwrap();
    let json = printed(&[
        "bench",
        kernel.to_str().unwrap(),
        "-b",
        "o0=16x16:float32_1",
        "-d",
        "16x16",
        "-n",
        "4",
        "--json",
    ]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let result = &value["results"][0];
    let time = |name: &str| result[name].as_f64().unwrap();
    assert!(
        time("best") > 0.0 && time("best") <= time("median") && time("median") <= time("worst"),
        "{json}"
    );
    // A kernel needs threads; bindings need a kernel.
    for wrong in [&["bench", kernel.to_str().unwrap()][..], &["bench", "-b", "o0=4x4:float32_1"]] {
        let output = recal(wrong);
        assert!(!output.status.success() && !output.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn what_is_wrong_with_a_kernel_names_its_file() {
    let folder = scratch("errors");
    let (kernel, image) = (folder.join("wrong.il"), folder.join("k.elf"));
    std::fs::write(&kernel, "il_ps_2_0\nmadd r0, r1, r2, r3\nend\n").unwrap();
    let wrong = kernel.to_str().unwrap();
    for arguments in [
        &["compile", wrong][..],
        &["run", wrong, "-d", "8x8"],
        &["bench", wrong, "-d", "8x8"],
        &["trace", wrong, "-d", "8x8"],
        &["analyze", wrong],
        &["disassemble", wrong],
    ] {
        let output = recal(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{arguments:?}");
        assert!(text.starts_with(&format!("recal: {wrong}: the kernel is not accepted\n")), "{text}");
        assert!(text.contains("wrong.il:2:1") && text.contains("did you mean `mad`?"), "{text}");
    }
    // A shape is told from a file by its numbers, and formats are listed.
    for (value, said) in [
        ("8x8:floaty_4", "no format is called `floaty_4`; did you mean `float_4`?"),
        ("8x8:pixels", "no format is called `pixels`; there are "),
        ("8x8", "a shape has a format, e.g. 8x8:float_4"),
        ("in.raw:8x", "expected WIDTH[xHEIGHT]:FORMAT"),
        ("1,two", "`two` is not a number"),
    ] {
        let text = String::from_utf8(recal(&["run", wrong, "-b", &format!("o0={value}")]).stderr).unwrap();
        assert!(text.contains(said), "{value}: {text}");
    }
    // Accepted, with a warning: told, and no reason to fail.
    let text =
        KERNEL.replace("end\n", "sample_resource(0)_sampler(0) r4, vWinCoord0.xyxx\nmov o0.y, r4.x\nend\n");
    std::fs::write(&kernel, text).unwrap();
    let output = recal(&["compile", wrong, "-o", image.to_str().unwrap()]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("warning[undeclared-resource]"));
    assert!(printed(&["--version"]).starts_with("recal 0."));
    // What nothing is bound to, and how that is done.
    let text = String::from_utf8(recal(&["run", wrong, "-d", "8x8"]).stderr).unwrap();
    assert!(text.contains("nothing is bound to "), "{text}");
    assert!(text.contains("; --bind does that, e.g. --bind "), "{text}");
    // A misspelt end is told once.
    std::fs::write(&kernel, KERNEL.replace("end\n", "endd\n")).unwrap();
    let text = String::from_utf8(recal(&["compile", wrong, "-o", image.to_str().unwrap()]).stderr).unwrap();
    assert!(text.contains("did you mean `end`?") && !text.contains("missing-end"), "{text}");
}

#[test]
fn diagnostics_are_in_colour_where_that_is_wanted() {
    let folder = scratch("colours");
    let kernel = folder.join("wrong.il");
    std::fs::write(&kernel, "il_ps_2_0\nmadd r0, r1, r2, r3\nend\n").unwrap();
    let arguments = ["compile", kernel.to_str().unwrap()];
    let said = |variables: &[(&str, &str)]| {
        String::from_utf8(recal_with(&arguments, b"", variables).stderr).unwrap()
    };
    // Standard error is a pipe here.
    assert!(!said(&[]).contains('\u{1b}'));
    let coloured = said(&[("CLICOLOR_FORCE", "1")]);
    assert!(coloured.contains("\u{1b}[1m") && coloured.contains("madd"), "{coloured:?}");
    assert!(!said(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    // What a program reads has none.
    let output = recal_with(&[&arguments[..], &["--json"]].concat(), b"", &[("CLICOLOR_FORCE", "1")]);
    assert!(!String::from_utf8(output.stdout).unwrap().contains("\\u001b"));
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let folder = scratch("pipe");
    let (kernel, image) = (folder.join("k.il"), folder.join("k.elf"));
    std::fs::write(&kernel, KERNEL).unwrap();
    let image = image.to_str().unwrap();
    printed(&["compile", kernel.to_str().unwrap(), "-o", image]);
    for arguments in
        [&["disassemble", image][..], &["completions", "bash"], &["devices"], &["analyze", "--help"]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
        let command = command.env("CAL_BACKEND", "cpu").args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && text.is_empty(), "{arguments:?}: {text}");
    }
}

#[test]
fn a_grid_of_three_dimensions_and_a_domain_off_the_origin() {
    let folder = scratch("extents");
    let (kernel, saved) = (folder.join("k.il"), folder.join("out.npy"));
    let text = "il_cs_2_0\ndcl_num_thread_per_group 4, 2, 2\ndcl_raw_uav_id(0)\ndcl_literal l0, 4, 0, 0, 0\n\
        umul r0.x, vAbsTidFlat.x, l0.x\nuav_raw_store_id(0) mem0.x___, r0.x, vThreadGrpId.z\nend\n";
    std::fs::write(&kernel, text).unwrap();
    let (path, out) = (kernel.to_str().unwrap(), saved.to_str().unwrap());
    let words = || -> Vec<u32> {
        let bytes = std::fs::read(&saved).unwrap();
        bytes[128..].chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let said = printed(&[
        "run",
        path,
        "-b",
        "uav0=96:unsigned_int32_1",
        "-g",
        "1x2x3",
        "-s",
        &format!("uav0={out}"),
    ]);
    assert!(said.contains(": 1 launch, best "), "{said}");
    assert_eq!(words(), (0..96).map(|i| i / 32).collect::<Vec<u32>>());

    std::fs::write(&kernel, KERNEL).unwrap();
    printed(&["run", path, "-b", "o0=4x4:float32_1", "-d", "2x1+1+2", "-s", &format!("o0={out}")]);
    // 2.5 + 2 in two elements of the third row.
    let expected = (0..16).map(|i| if i == 9 || i == 10 { 4.5f32.to_bits() } else { 0 }).collect::<Vec<_>>();
    assert_eq!(words(), expected);

    // Where results cannot be saved, nothing runs.
    let output =
        recal(&["run", path, "-b", "o0=4x4:float32_1", "-d", "4x4", "-s", "o0=/no such folder/o0.npy"]);
    assert!(!output.status.success() && output.stdout.is_empty());
}
