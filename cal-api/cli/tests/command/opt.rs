//! `recal opt`, and what `CAL_DUMP` has of a kernel that runs.

use crate::{KERNEL, json, printed, recal, recal_with, scratch};

/// A kernel whose loop loads, so that passes have something to do.
const LOADS: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 4, 0, 0, 0\n\
    whileloop\nige r1.x, r0.x, cb0[0].x\nbreak_logicalnz r1.x\nuav_raw_load_id(0) r2.x, r0.x\nmad r3.x, r2.x, r2.x, r3.x\n\
    iadd r0.x, r0.x, l0.x\nendloop\nuav_raw_store_id(0) mem0.x, vaTid.x, r3.x\nend\n";

#[test]
fn passes_run_by_name_on_kernels_and_on_programs() {
    let path = scratch("opt").join("k.il");
    std::fs::write(&path, LOADS).unwrap();
    let path = path.to_str().unwrap();
    let program = printed(&["opt", path]);
    assert!(program.starts_with("program compute\n") && program.contains("= Mad "), "{program}");
    let both = printed(&["opt", "--pass", "unroll", "--pass", "compact", path]);
    assert!(both.contains("registers 7\n") && both.matches("RawLoad").count() > 4, "{both}");
    // One after the other, by way of the text.
    let unrolled = printed(&["opt", "-p", "unroll", path]);
    let piped = recal_with(&["opt", "-p", "compact", "-"], unrolled.as_bytes(), &[]);
    assert_eq!(String::from_utf8_lossy(&piped.stdout), both);

    let module = printed(&["opt", "--emit", "spirv", path]);
    assert!(module.contains("OpEntryPoint GLCompute"), "{module}");
    assert_eq!(recal_with(&["opt", "-e", "spirv", "-"], program.as_bytes(), &[]).stdout, module.as_bytes());
    let vector = printed(&["opt", "--emit", "vector", "--isa", "avx512", path]);
    assert!(
        vector.starts_with("; avx512 code, strips of 16 threads\n") && vector.contains("Load view 1"),
        "{vector}"
    );
    for (set, add) in [("avx512", "vaddps zmm"), ("avx2", "vaddps ymm"), ("neon", "fadd v")] {
        let code = printed(&["opt", "--emit", "asm", "--isa", set, path]);
        assert!(code.contains("code for some threads {") && code.contains(add), "{code}");
    }
    let sample = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(3)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        sample_resource(3)_sampler(0) r0, vWinCoord0.xy00\ndadd r0.xy, r0.xy, r0.xy\nmov o0, r0\nend\n";
    let of = |format: &[&str]| {
        let output = recal_with(
            &[&["opt", "-e", "vector", "-i", "avx2", "-"], format].concat(),
            sample.as_bytes(),
            &[],
        );
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (whole, pair) = (of(&[]).0, of(&["--format", "i3=float64_1"]).0);
    assert!(whole.contains("Part(0, 3)") && pair.contains("Pair(0, 0)") && !pair.contains("Part("), "{pair}");
    assert!(of(&["--format", "o0=float64_1"]).1.contains("o0: code is made for formats of inputs"));
    assert!(of(&["--format", "i9=float64_1"]).1.contains("i9: the kernel has no such input"));
    let list = printed(&["opt", "--list"]);
    assert!(list.contains("unroll ") && list.contains("float_state ") && list.lines().count() > 10, "{list}");

    let (value, good) = json(&["opt", "--json", "-p", "unroll", path]);
    assert!(good && value["passes"] == serde_json::json!(["unroll"]) && value["emit"] == "ir", "{value}");
    assert_eq!(value["lines"].as_array().unwrap().len(), unrolled.lines().count());
}

#[test]
fn what_is_wrong_with_a_program_is_told() {
    let wrong = |text: &str, arguments: &[&str]| {
        let output = recal_with(&[&["opt", "-"], arguments].concat(), text.as_bytes(), &[]);
        assert!(!output.status.success(), "{output:?}");
        let read = |bytes| String::from_utf8(bytes).unwrap();
        (read(output.stdout), read(output.stderr))
    };
    let spelling = "program pixel\nregisters 1\nfunction 0 {\n  %0 = Iade %0, 1\n}\n";
    let (_, said) = wrong(spelling, &[]);
    assert!(said.contains("<standard input>:4:8") && said.contains("`Iade` is no operation"), "{said}");
    let (out, _) = wrong(spelling, &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&value["diagnostics"][0]["line"], &value["diagnostics"][0]["column"]),
        (&4.into(), &8.into())
    );
    let (_, said) = wrong("program pixel\nregisters 1\nfunction 0 {\n  %3 = Iadd %0, 1\n}\n", &[]);
    assert!(said.contains("the program is not consistent\n  destination register %3 of 1"), "{said}");
    let output = recal(&["opt", "--pass", "licm", "k.il"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no such pass; there are webs, gvn,"));
}

#[test]
fn a_dump_has_what_a_kernel_becomes() {
    let folder = scratch("opt-dump");
    let (kernel, dump) = (folder.join("k.il"), folder.join("dump"));
    let _ = std::fs::remove_dir_all(&dump);
    std::fs::write(&kernel, KERNEL).unwrap();
    let run = ["run", kernel.to_str().unwrap(), "-b", "o0=8x8:float_1", "-d", "8x8"];
    let output = recal_with(&run, b"", &[("CAL_DUMP", dump.to_str().unwrap())]);
    assert!(output.status.success(), "{output:?}");
    let mut names: Vec<String> = std::fs::read_dir(&dump)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.split_once('.')?.1.to_owned()))
        .collect();
    names.sort();
    let passes =
        ["00-translate.ir", "01-webs.ir", "02-gvn.ir", "03-dce.ir", "04-float_state.ir", "05-needed.ir"];
    assert_eq!(&names[..6], passes, "{names:?}");
    for name in ["06-inline.ir", "12-lockstep.ir", "il", "spvasm"] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
    // What is there is read again.
    let last = std::fs::read_dir(&dump).unwrap().map(|entry| entry.unwrap().path());
    let last = last.into_iter().find(|path| path.to_string_lossy().ends_with("12-lockstep.ir")).unwrap();
    assert!(printed(&["opt", last.to_str().unwrap()]).starts_with("program pixel\n"));
}
