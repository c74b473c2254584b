//! Runs the corpora, and everything that fuzzing ever found, through the targets.

use std::path::Path;

use recal_fuzz_targets::TARGETS;

#[test]
fn corpora_and_finds_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (name, target) in TARGETS {
        let mut count = 0;
        for kind in ["corpus", "finds"] {
            let Ok(entries) = std::fs::read_dir(folder.join(kind).join(name)) else { continue };
            let mut files: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
            files.sort();
            for file in files {
                // Named in the output of a test that fails or hangs.
                println!("{}", file.display());
                target(&std::fs::read(file).expect("readable"));
                count += 1;
            }
        }
        assert!(count > 0, "{name} has no corpus");
    }
}

/// Bytes that nobody chose: the same in every run.
#[test]
fn random_bytes_pass() {
    for (name, target) in TARGETS {
        let rounds = if name == "api" { 20 } else { 100 };
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for round in 0..rounds {
            let data: Vec<u8> = (0..40 + 37 * (round % 40))
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state >> 24) as u8
                })
                .collect();
            target(&data);
        }
    }
}
