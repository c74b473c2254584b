//! `recal replay` and `recal diff`, on what `recal run` launched.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{json, recal, recal_with, scratch};

/// Doubles what it reads in its second launch's data; the product is on line 7.
const KERNEL: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\ndcl_output_generic o0\ndcl_cb cb0[1]\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nmul r1, r0, cb0[0]\nmov o0, r1\nend\n";

/// A capture of `launches` launches of a kernel.
pub fn captured(name: &str, kernel: &str, arguments: &[&str]) -> PathBuf {
    let folder = scratch(name);
    let (file, capture) = (folder.join("k.il"), folder.join("capture"));
    std::fs::write(&file, kernel).unwrap();
    let all = [&["run", file.to_str().unwrap()][..], arguments].concat();
    let output = recal_with(&all, b"", &[("CAL_CAPTURE", capture.to_str().unwrap())]);
    assert!(output.status.success(), "{output:?}");
    capture
}

/// The contents of a symbol before a launch, by their file.
fn data(capture: &Path, launch: u64, symbol: &str) -> PathBuf {
    let text = std::fs::read_to_string(capture.join("capture.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let launch = lines.map(|line| line["launch"].clone()).find(|l| l["number"] == launch).unwrap();
    let held = launch["resources"].as_array().unwrap().iter().find(|r| r["symbols"][0] == symbol).unwrap();
    capture.join(held["data"].as_str().unwrap())
}

fn product(name: &str) -> PathBuf {
    let folder = scratch(name);
    let input = folder.join("in.raw");
    let bytes: Vec<u8> = (0..64 * 4 * 4).flat_map(|n| (n as f32).to_le_bytes()).collect();
    std::fs::write(&input, bytes).unwrap();
    let input = format!("i0={}:64x4:float_4", input.display());
    captured(
        name,
        KERNEL,
        &["-b", &input, "-b", "cb0=1,2,3,4", "-b", "o0=64x4:float_4", "-d", "64x4", "-n", "2"],
    )
}

#[test]
fn a_capture_is_replayed_and_compared() {
    let capture = product("replay");
    let folder = capture.to_str().unwrap();
    let out = capture.with_file_name("out");
    let (value, good) =
        json(&["replay", folder, "-d", "cpu:baseline", "-o", out.to_str().unwrap(), "--json"]);
    assert!(good && value["differ"] == 0 && value["cut_off"] == false, "{value}");
    let launches = value["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 2);
    assert_eq!(launches[0]["threads"]["domain"], serde_json::json!([64, 4]));
    assert!(launches.iter().all(|l| l["written"][0]["as_captured"] == true), "{value}");
    let written = std::fs::read(out.join("launch-1-o0.bin")).unwrap();
    // Column 3 of row 2, component y.
    let at = 4 * (4 * (2 * 64 + 3) + 1);
    assert_eq!(written[at..at + 4], (525.0f32 * 2.0).to_le_bytes());

    // The data of one element changed.
    let changed = data(&capture, 1, "i0");
    let whole = std::fs::read(&changed).unwrap();
    let mut other = whole.clone();
    other[at..at + 4].copy_from_slice(&1.5f32.to_le_bytes());
    std::fs::write(&changed, &other).unwrap();
    let output = recal(&["replay", folder, "-l", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{text}");
    let expected = "o0: 1 of 256 elements differ, the first at (3, 2).y: captured 0x44834000 (1050.0), now 0x40400000 (3.0)";
    assert!(text.contains(expected), "{text}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("have changed since"), "{text}");
    std::fs::write(&changed, &whole).unwrap();

    // What cannot be done is told.
    for (arguments, said) in [
        (&["replay", folder, "-l", "2"][..], "launches 0 to 1"),
        (&["replay", folder, "-d", "radeon"], "no device is called so"),
        (&["replay", "/no such folder"], "CAL_CAPTURE"),
    ] {
        let output = recal(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && errors.contains(said), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_launch_that_did_not_end_is_replayed() {
    let capture = product("replay-cut");
    let list = capture.join("capture.jsonl");
    let text = std::fs::read_to_string(&list).unwrap();
    // As if the program was killed in the second launch.
    let second = text.match_indices("{\"launch\":{").nth(1).unwrap().0;
    let end = second + text[second..].find('\n').unwrap() + 1;
    std::fs::write(&list, &text[..end]).unwrap();
    let (value, good) = json(&["replay", capture.to_str().unwrap(), "--json"]);
    assert!(good && value["cut_off"] == true, "{value}");
    let launches = value["launches"].as_array().unwrap();
    assert_eq!((launches.len(), &launches[0]["written"][0]["as_captured"]), (2, &Value::Bool(true)));
    assert_eq!(launches[1]["written"][0]["as_captured"], Value::Null);
}

/// A launch that was refused as it had lost a resource, whose contents nobody had any more, keeps nobody from the next one.
#[test]
fn a_refused_launch_fails_again_and_the_next_one_runs() {
    let capture = product("replay-refused");
    let list = capture.join("capture.jsonl");
    let text = std::fs::read_to_string(&list).unwrap();
    let why = "the resource was freed";
    let refused = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["launch"]["number"] == 0 {
            let held = &mut line["launch"]["resources"][0];
            (held["data"], held["error"]) = (Value::Null, why.into());
        } else if line["done"]["launch"] == 0 {
            line["done"] = serde_json::json!({ "launch": 0, "error": why });
        }
        line.to_string() + "\n"
    });
    std::fs::write(&list, refused.collect::<String>()).unwrap();
    let folder = capture.to_str().unwrap();
    let (value, good) = json(&["replay", folder, "--json"]);
    let launches = value["launches"].as_array().unwrap();
    assert!(good && launches.len() == 2, "{value}");
    assert!(launches[0]["error"].as_str().is_some_and(|error| error.contains(why)), "{value}");
    assert_eq!(launches[1]["written"][0]["as_captured"], true, "{value}");
    let (value, good) = json(&["diff", folder, "-d", "cpu", "-d", "cpu:baseline", "--json"]);
    assert!(good && value["same"] == 2, "{value}");
}

#[test]
fn engines_agree_on_a_capture() {
    let capture = product("diff");
    let folder = capture.to_str().unwrap();
    let (value, good) = json(&["diff", folder, "-d", "cpu", "-d", "cpu:baseline", "--trace", "--json"]);
    assert!(good && value["same"] == 2 && value["difference"].is_null(), "{value}");

    // Another kernel in the place of the captured one.
    let other = capture.with_file_name("other.il");
    std::fs::write(&other, KERNEL.replace("mul r1, r0, cb0[0]", "add r1, r0, cb0[0]")).unwrap();
    let output = recal(&["replay", folder, "-l", "0", "-k", other.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(3) && text.contains("at (0, 0).x: captured 0x00000000"), "{text}");

    for (arguments, status, said) in [
        (&["diff", folder, "-d", "cpu"][..], 1, "two devices"),
        (&["diff", folder, "-d", "cpu", "-d", "cpu:fast"], 2, "`fast` is none of"),
        (&["diff", folder, "-d", "cpu", "-d", "cpu", "-k", "k.il"], 2, "--launch"),
    ] {
        let output = recal(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(status) && errors.contains(said), "{arguments:?}: {errors}");
    }
}
