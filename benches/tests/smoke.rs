//! Everything runs and gives the right results, here and by the peers, at small sizes.

use recal_bench::run::{Options, run};

#[test]
fn quick() {
    let report = run(&Options { quick: true, rounds: 1, least: 1, ..Options::default() }).unwrap();
    // 22 kernels, the copy command, a copy beside a kernel, four figures of launches, the front end, loading.
    assert_eq!(report.rows.len(), 30, "{:?}", report.notes);
    for row in &report.rows {
        assert!(!row.entries.is_empty(), "{}", row.name);
        assert!(row.entries.iter().all(|entry| entry.median > 0.0), "{}", row.name);
        let kernel = row.work.is_some() && !row.name.starts_with("copy command");
        let opencl = row.entries.iter().any(|entry| ["pocl", "opencl"].contains(&entry.who.as_str()));
        assert!(!kernel || opencl || report.opencl.is_none(), "{}: not by OpenCL", row.name);
        let part = row.of_peak;
        assert!(
            row.work.is_none() || row.name.starts_with("copy command") || part.is_some_and(|part| part > 0.0)
        );
    }
}
