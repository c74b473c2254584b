//! What would go on for ever, or has no first thread where others have one.

use std::fmt::Write as _;

use crate::{KERNEL, printed, recal_with, scratch};

/// A compute kernel that never ends.
const ENDLESS: &str = "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_raw_uav_id(0)\ndcl_literal l0, 0, 1, 0, 0\n\
    whileloop\niadd r0.x, r0.x, l0.y\nendloop\nuav_raw_store_id(0) mem0.x___, l0.x, r0.x\nend\n";

#[test]
fn a_trace_ends_when_it_has_shown_enough() {
    let file = scratch("endless").join("k.il");
    std::fs::write(&file, ENDLESS).unwrap();
    let path = file.to_str().unwrap();
    let bind = ["-b", "uav0=64:uint_1", "-g", "1"];
    let said = printed(&[&["trace", path, "-l", "3"][..], &bind].concat());
    assert_eq!(said.matches("iadd").count() + said.matches("whileloop").count(), 3, "{said}");
    assert!(said.contains("at least ") && said.contains("--limit shows them"), "{said}");
    // Nobody is traced who takes part, so no step comes.
    let late = ENDLESS.replace("whileloop", "if_logicalz vTidInGrpFlat0.x\nret_dyn\nendif\nwhileloop");
    std::fs::write(&file, late).unwrap();
    let output = recal_with(&[&["trace", path][..], &bind].concat(), b"", &[("CAL_TIMEOUT", "0.2")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("longer than the watchdog allows"), "{text}");
}

#[test]
fn a_page_of_a_kernel_that_never_ends_has_its_counts() {
    let folder = scratch("endless-page");
    let (file, page) = (folder.join("k.il"), folder.join("k.html"));
    std::fs::write(&file, ENDLESS).unwrap();
    let bind = ["-b", "uav0=64:uint_1", "-g", "1"];
    let all = ["explore", file.to_str().unwrap(), "-o", page.to_str().unwrap()];
    let begun = std::time::Instant::now();
    printed(&[&all[..], &bind].concat());
    // Launches of it would go on until their time is over, ten minutes each.
    assert!(begun.elapsed().as_secs() < 300 && page.exists());
}

#[test]
fn the_first_thread_is_that_of_the_domain() {
    let file = scratch("first-thread").join("k.il");
    std::fs::write(&file, KERNEL).unwrap();
    let launch = ["-b", "o0=16x16:float_1", "-d", "4x4+3+5"];
    let first = printed(&[&["trace", file.to_str().unwrap()][..], &launch].concat());
    assert_eq!(first, printed(&[&["trace", file.to_str().unwrap(), "-t", "3,5"][..], &launch].concat()));
    let all = [&["debug", file.to_str().unwrap()][..], &launch].concat();
    let mut typed = String::new();
    // Far longer ones would be more than the stack has room for.
    for chain in [" + 1", " as int"] {
        let _ = writeln!(typed, "print 1{}", chain.repeat(2500));
    }
    let output = recal_with(&all, format!("print tid\n{typed}quit\n").as_bytes(), &[]);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.matches("too long").count() == 2, "{text}");
}
