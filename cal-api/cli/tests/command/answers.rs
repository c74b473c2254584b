//! What the command answers: JSON, exit status, hints, names of devices.

use std::path::PathBuf;

use crate::{KERNEL, json, recal, recal_with, scratch};

#[test]
fn every_command_speaks_json() {
    let folder = scratch("json");
    let (kernel, wrong) = (folder.join("k.il"), folder.join("wrong.il"));
    std::fs::write(&kernel, KERNEL).unwrap();
    std::fs::write(&wrong, "il_ps_2_0\nmadd r0, r1, r2, r3\nend\n").unwrap();
    let (path, save) = (kernel.to_str().unwrap(), format!("o0={}", folder.join("o0.raw").display()));
    let extent = ["-b", "o0=16x16:float_1", "-d", "16x16", "--json"];

    let (value, good) = json(&["devices", "--json"]);
    let device = &value["devices"][0];
    assert!(good && device["backend"] == "cpu" && device["target"] == "cypress" && device["ordinal"] == 0);
    assert!(device["local_mib"].as_u64().unwrap() > 0 && device["doubles"] == true, "{value}");

    let (value, good) = json(&[&["run", path, "-n", "3", "-s", &save][..], &extent].concat());
    assert!(good && value["launches"] == 3 && value["findings"].is_null(), "{value}");
    assert!(value["best"].as_f64().unwrap() <= value["mean"].as_f64().unwrap());
    assert_eq!(value["threads"], serde_json::json!({ "domain": [16, 16], "origin": [0, 0] }));
    assert_eq!(value["saved"][0]["symbol"], "o0");

    let (value, good) = json(&[&["trace", path, "-t", "9,3", "-l", "4"][..], &extent].concat());
    assert!(good && value["thread"] == serde_json::json!([9, 3, 0]), "{value}");
    let steps = value["steps"].as_array().unwrap();
    assert_eq!((steps.len(), steps[0]["line"].as_u64()), (4, Some(5)));
    assert_eq!(steps[0]["writes"][0]["register"], "r1.x");
    assert!(value["more"].as_u64().unwrap() > 0);

    let (value, good) = json(&[&["bench", path, "-n", "2"][..], &extent].concat());
    assert!(good && value["file"] == path && value["results"].as_array().unwrap().len() == 1, "{value}");

    let (value, good) = json(&["explain", "mad_ieee", "--json"]);
    assert!(good && value["name"] == "mad" && value["kind"] == "instruction", "{value}");
    let titles: Vec<&str> =
        value["sections"].as_array().unwrap().iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"Meaning") && titles.contains(&"Example"), "{titles:?}");
    let (value, good) = json(&["explain", "--json"]);
    assert!(good && value.as_array().unwrap().iter().any(|t| t["name"] == "calResMap"), "{value}");
    let (value, good) = json(&["explain", "calResMop", "--json"]);
    assert!(!good && value["error"].as_str().unwrap().contains("near are calResMap"), "{value}");

    // One name of two things, and the chapters that pages name as near.
    let (value, good) = json(&["explain", "switch", "--json"]);
    assert!(good && value["kind"] == "instruction" && value["also"][0]["kind"] == "rule", "{value}");
    for chapter in ["registers", "modifiers", "specifiers", "memory"] {
        let (value, good) = json(&["explain", chapter, "--json"]);
        assert!(good && value.as_array().is_some_and(|names| names.len() > 3), "{chapter}: {value}");
    }

    // Errors, too: those of kernels with their places.
    let wrong = wrong.to_str().unwrap();
    for command in ["run", "bench", "trace", "analyze", "disassemble"] {
        let extent = if ["analyze", "disassemble"].contains(&command) { &["--json"][..] } else { &extent };
        let (value, good) = json(&[&[command, wrong][..], extent].concat());
        let first = &value["diagnostics"][0];
        assert!(!good && value["error"] == "the kernel is not accepted" && value["file"] == wrong, "{value}");
        assert_eq!((&first["rule"], &first["line"]), (&"unknown-opcode".into(), &2.into()), "{command}");
        let (value, good) = json(&[&[command, "nosuch.il"][..], extent].concat());
        assert!(!good && value["error"].as_str().unwrap().starts_with("nosuch.il: "), "{value}");
    }
    let output = recal_with(&["devices", "--json"], b"", &[("CAL_BACKEND", "nosuch")]);
    assert!(output.status.success() && output.stdout == b"{\n  \"devices\": []\n}\n", "{output:?}");
}

#[test]
fn checks_set_the_status_and_come_as_json() {
    let folder = scratch("checks");
    let (clean, dirty) = (folder.join("clean.il"), folder.join("dirty.il"));
    std::fs::write(&clean, KERNEL).unwrap();
    std::fs::write(&dirty, KERNEL.replace("add o0.x, vWinCoord0.y", "add o0.x, r7.y")).unwrap();
    for command in ["run", "bench"] {
        let check = |path: &PathBuf, json: &[&str], debug| {
            let arguments = [
                &[command, path.to_str().unwrap(), "-n", "1", "-b", "o0=8x8:float_1", "-d", "8x8"][..],
                json,
            ]
            .concat();
            recal_with(&arguments, b"", &[("CAL_DEBUG", debug)])
        };
        assert_eq!(check(&clean, &[], "checks").status.code(), Some(0));
        assert_eq!(check(&dirty, &[], "").status.code(), Some(0));
        let output = check(&dirty, &[], "checks");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(
            text.contains("kernel line 12, `add o0.x, r7.y, r3.x`") && text.contains("reads r7.y"),
            "{text}"
        );

        let value: serde_json::Value =
            serde_json::from_slice(&check(&dirty, &["--json"], "checks").stdout).unwrap();
        let finding = &value["findings"][0];
        assert_eq!(value["findings"].as_array().unwrap().len(), 1);
        assert_eq!((&finding["rule"], &finding["what"]), (&"uninitialized".into(), &"r7.y".into()));
        assert_eq!((&finding["line"], &finding["instruction"]), (&12.into(), &"add o0.x, r7.y, r3.x".into()));
        let output = check(&clean, &["--json"], "checks");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(output.status.success() && value["findings"].as_array().unwrap().is_empty());
    }
    let path = clean.to_str().unwrap();
    let trace = ["trace", path, "-b", "o0=8x8:float_1", "-d", "8x8"];
    let output = recal_with(&trace, b"", &[("CAL_DEBUG", "checks")]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("is not checked"));
}

#[test]
fn floats_for_integers_are_hinted_at() {
    let folder = scratch("hints");
    let kernel = folder.join("k.il");
    let text = KERNEL
        .replace("dcl_literal l0, 2, 1, 0, 0", "dcl_literal l0, 2, 1, 0, 0\ndcl_cb cb0[1]")
        .replace("ieq r2.x, r1.x, l0.x", "ieq r2.x, r1.x, cb0[0].x");
    std::fs::write(&kernel, text).unwrap();
    let run = |value: &str, more: &[&str]| {
        let bind = format!("cb0={value}");
        let path = kernel.to_str().unwrap();
        recal(&[&["run", path, "-b", &bind, "-b", "o0=8x8:float_1", "-d", "8x8"][..], more].concat())
    };
    let hint = "cb0[0].x is the float 3e-45, but line 8 computes with it as an integer";
    // Bits 2, so that the loop ends all the same.
    assert!(String::from_utf8_lossy(&run("3e-45", &[]).stderr).contains(&format!("recal: hint: {hint}")));
    let value: serde_json::Value = serde_json::from_slice(&run("3e-45", &["--json"]).stdout).unwrap();
    assert!(value["hints"][0].as_str().unwrap().starts_with(hint), "{value}");
    assert!(run("2i", &[]).stderr.is_empty());
}

#[test]
fn devices_are_called_the_same_everywhere() {
    let folder = scratch("names");
    let kernel = folder.join("k.il");
    std::fs::write(&kernel, KERNEL).unwrap();
    let path = kernel.to_str().unwrap();
    for name in ["cypress", "RV770", "770", "5", "CAL_TARGET_770", "rv670", "barts", "r600"] {
        let (compiled, _) = json(&["compile", path, "-t", name, "--json"]);
        let (analyzed, good) = json(&["analyze", path, "-d", name, "--json"]);
        let figures = analyzed["target"]["name"].as_str().unwrap().trim_start_matches(['r', 'v']);
        assert!(good && compiled["targets"][0] == figures, "{name}: {figures}");
    }
    for arguments in [["compile", path, "-t", "voodoo"], ["analyze", path, "-d", "voodoo"]] {
        let output = recal(&arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && text.contains("no such device; there are 600, "),
            "{text}"
        );
    }
    // What the device lacks is told before any figures.
    std::fs::write(&kernel, "il_cs_2_0\ndcl_num_thread_per_group 64\nend\n").unwrap();
    let output = recal(&["analyze", path, "-d", "rv670"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("target 670 has no compute kernels"),
        "{output:?}"
    );
}
