//! Tables of documents say what the results that are kept say.

use std::path::Path;

use recal_bench::report::Report;
use recal_bench::tables::{filled, tables, write};

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/results");

/// Two kernels, one below what is to be reached, and a launch.
const RUN: &str = r#"{
    "machine": "A machine", "isa": "avx2", "processor": "P", "cores": 2, "vulkan": "V", "opencl": null, "optimised": true,
    "rounds": 3, "peak": { "single": 100.0, "double": 50.0, "integer": 200.0, "bytes": 30.0 }, "notes": [],
    "rows": [
        { "name": "straight 512", "work": 1e9, "unit": "GFLOPS", "of_peak": 0.95,
          "entries": [{ "who": "cpu", "median": 0.01, "best": 0.01, "rate": 95.0 },
                      { "who": "glsl", "median": 0.02, "best": 0.02, "rate": 47.5 }],
          "ratios": [{ "who": "cpu", "against": "glsl", "ratio": 2.0 }] },
        { "name": "copy 8x8x4", "work": 1e9, "unit": "GB/s", "of_peak": 0.5,
          "entries": [{ "who": "cpu", "median": 0.1, "best": 0.1, "rate": 15.0 },
                      { "who": "glsl", "median": 0.1, "best": 0.1, "rate": 15.0 }],
          "ratios": [{ "who": "cpu", "against": "glsl", "ratio": 1.0 }] },
        { "name": "launch and wait", "work": null, "unit": "µs", "of_peak": null,
          "entries": [{ "who": "cpu", "median": 1e-6, "best": 1e-6, "rate": 1.0 }], "ratios": [] }
    ],
    "means": [], "of_peak": null
}"#;

#[test]
fn a_table_has_rates_ratios_means_and_aims() {
    let mut report: Report = serde_json::from_str(RUN).unwrap();
    report.finish();
    let text = tables(&report);
    for line in [
        "A machine, avx2. Vulkan: V. Medians of 3 rounds. At best: 100 GFLOPS, 50.0 of doubles, 200 Gop/s of integers, \
         copies 30.0 GB/s.",
        "| kernel | unit | cpu | glsl | % of peak | cpu / glsl |",
        "| straight 512 | GFLOPS | 95.0 | 47.5 | 95 | 2.00 |",
        "| geometric mean of 2 |  |  |  | 69 | 1.41 |",
        "| least |  |  |  |  | 1.00 |",
        "| launch and wait | µs | cpu: 1.00 |",
        "| part of the peak, geometric mean | 50 % | 69 % | yes |",
        "| part of the peak, copy 8x8x4 | 80 % | 50 % | no |",
        "| over glsl, geometric mean | 4.00 | 1.41 | no |",
        "| over glsl, least (copy 8x8x4) | 1.20 | 1.00 | no |",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn blocks_are_filled_and_the_rest_stays() {
    let document = "a\n<!-- results one -->\nold\n<!-- end of results -->\nb\n<!-- results two -->\n<!-- end of results -->\n";
    let made = filled(document, |name| Ok(format!("table of {name}\n"))).unwrap();
    let one = "<!-- results one -->\n\ntable of one\n\n<!-- end of results -->\n";
    assert_eq!(made, format!("a\n{one}b\n{}", one.replace("one", "two")));
    assert_eq!(filled(&made, |name| Ok(format!("table of {name}\n"))).unwrap(), made);
    assert!(filled("<!-- results one -->\n", |_| Ok(String::new())).is_err());
}

/// `make bench-tables` mends it.
#[test]
fn the_document_says_what_the_results_say() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
    let copy = std::env::temp_dir().join(format!("recal-tables-{}.md", std::process::id()));
    std::fs::copy(&document, &copy).unwrap();
    write(&copy, Path::new(RESULTS)).unwrap();
    let [written, made] = [&document, &copy].map(|path| std::fs::read_to_string(path).unwrap());
    std::fs::remove_file(&copy).unwrap();
    assert!(written.contains("<!-- results "), "no tables");
    assert!(written == made, "docs/performance.md is old: make bench-tables");
}
