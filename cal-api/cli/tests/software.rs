//! Software rasterisers, which the command finds and leaves out.

use std::path::{Path, PathBuf};
use std::process::Command;

use recal_needs::{LAVAPIPE, Need};
use serde_json::Value;

/// What `recal doctor` finds with these back ends.
fn doctor(backend: &str) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    let output = command.args(["doctor", "--json"]).env("CAL_BACKEND", backend).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// A software rasteriser is there and left out, unless it is asked for.
fn devices_that_are_left_out_are_told() {
    let asked = doctor("vulkan");
    let devices = asked["devices"].as_array().unwrap();
    assert!(devices.iter().any(|d| d["name"].as_str().unwrap().contains("llvmpipe")), "{asked:#}");
    let json = doctor("");
    let vulkan =
        json["sections"].as_array().unwrap().iter().find(|s| s["title"] == "backend vulkan").unwrap();
    let left_out = vulkan["lines"].as_array().unwrap().iter().any(|l| {
        let text = l["text"].as_str().unwrap();
        l["state"] == "absent" && text.contains("llvmpipe") && text.contains("software, which is taken if")
    });
    assert!(left_out, "{vulkan:#}");
}

/// A product on line 8, among other things: what is denormal is 0 in the documents, not on every GPU.
const PRODUCT: &str = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\n\
    dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\ndcl_output_generic o0\ndcl_cb cb0[1]\n\
    sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nadd r1, r0, r0\nmul r2, r1, cb0[0]\nmov r5, cb0[0]\nadd r5, r5, r5\n\
    mov o0, r2\nend\n";

/// Two launches, of which the second has one element whose product is denormal.
fn product(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let [kernel, input, capture] = ["k.il", "in.raw", "capture"].map(|file| folder.join(file));
    std::fs::write(&kernel, PRODUCT).unwrap();
    // Column 5 of row 2, component z.
    let mut small = vec![0u8; 64 * 4 * 16];
    small[(2 * 64 + 5) * 16 + 8..][..4].copy_from_slice(&1e-30f32.to_le_bytes());
    let mut launches = Vec::new();
    for bytes in [vec![0; small.len()], small] {
        std::fs::write(&input, bytes).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
        command.arg("run").arg(&kernel).args(["-b", &format!("i0={}:64x4:float_4", input.display())]);
        command.args(["-b", "cb0=1,1,1e-10,1", "-b", "o0=64x4:float_4", "-d", "64x4"]);
        command.env("CAL_BACKEND", "cpu").env("CAL_CAPTURE", &capture);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        launches.push(std::fs::read_to_string(capture.join("capture.jsonl")).unwrap());
    }
    // The launch of the second run as a second one of the first.
    let second = launches[1].lines().filter(|line| line.contains("\"launch\""));
    let second = second.map(|line| {
        line.replace("\"number\":0", "\"number\":1").replace("\"launch\":0", "\"launch\":1") + "\n"
    });
    let all = launches[0].clone() + &second.collect::<String>();
    std::fs::write(capture.join("capture.jsonl"), all).unwrap();
    capture
}

/// The command with both devices there, and what it prints as JSON.
fn two_devices(arguments: &[&str]) -> (Value, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recal"));
    let output = command.args(arguments).arg("--json").env_remove("CAL_BACKEND").output().unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    (value, output.status.code())
}

fn captures_run_on_other_devices() {
    let capture = product("capture-devices");
    let folder = capture.to_str().unwrap();
    let exact = format!("{}:faithful", LAVAPIPE.device);
    let native = format!("{}:native", LAVAPIPE.device);
    let (value, status) = two_devices(&["replay", folder, "-d", &exact]);
    assert_eq!((status, &value["differ"]), (Some(0), &0.into()), "{value:#}");
    let (value, status) = two_devices(&["diff", folder, "-d", "cpu", "-d", &exact]);
    assert_eq!(
        (status, &value["same"], &value["difference"]),
        (Some(0), &2.into(), &Value::Null),
        "{value:#}"
    );

    let (value, status) = two_devices(&["diff", folder, "-d", "cpu", "-d", &native, "--trace"]);
    assert_eq!((status, &value["same"]), (Some(3), &1.into()), "{value:#}");
    let found = &value["difference"];
    assert_eq!((&found["launch"], &found["symbols"][0]), (&1.into(), &"o0".into()), "{value:#}");
    let element = &found["difference"];
    assert_eq!((&element["at"], &element["component"]), (&serde_json::json!([5, 2]), &2.into()), "{value:#}");
    assert_eq!(element["elements"], 1, "{value:#}");
    let trace = &found["trace"];
    assert_eq!((&trace["line"], &trace["text"]), (&8.into(), &"mul r2, r1, cb0[0]".into()), "{value:#}");
    assert_eq!(
        (&trace["thread"], &trace["results"][0]["register"]),
        (&serde_json::json!([5, 2, 0]), &"r2.z".into())
    );
    // The same bits, by themselves and in the kernel.
    assert_eq!(trace["results"][0]["bits"], element["bits"], "{value:#}");
}

fn a_captured_kernel_becomes_smaller() {
    let capture = product("capture-reduce");
    let small = capture.with_file_name("small.il");
    let native = format!("{}:native", LAVAPIPE.device);
    let devices = ["--device", "cpu", "--device", &native, "--tries", "30"];
    let all =
        [&["reduce", capture.to_str().unwrap(), "-o", small.to_str().unwrap()][..], &devices[..]].concat();
    let (value, status) = two_devices(&all);
    assert_eq!((status, &value["launch"], &value["before"]), (Some(0), &1.into(), &12.into()), "{value:#}");
    let text = std::fs::read_to_string(&small).unwrap();
    assert!(text.contains("mul") && !text.contains("r5") && text.lines().count() < 12, "{text}");
}

recal_needs::tests!([Need::driver(LAVAPIPE)] =>
    devices_that_are_left_out_are_told
    captures_run_on_other_devices
    a_captured_kernel_becomes_smaller);
