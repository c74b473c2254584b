//! Kernels whose results must be the same bits on the CPU backend and on every Vulkan device in faithful mode.

mod harness;

use std::path::Path;

use harness::{Case, difference};

fn check(cases: &[(&str, Case)]) {
    let wrong: String = cases.iter().map(|(name, case)| difference(name, case)).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn smallest() {
    check(&[(
        "add",
        Case::new(
            "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
             dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
             sample_resource(0)_sampler(0) r0, vWinCoord0.xyxx\nadd o0, r0, r0\nend\n",
        ),
    )]);
}

#[test]
fn accepted_texts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/il/accept");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "il")) {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        cases.push((path.file_name().unwrap().to_str().unwrap(), Case::new(&text)));
    }
    check(&cases);
}
