//! Accepted and refused kernel texts, as data under `tests/il/`.

use std::fs;
use std::path::{Path, PathBuf};

fn texts(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/il").join(folder);
    let mut found: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(&folder)
        .expect("the folder of texts exists")
        .map(|entry| entry.expect("readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "il"))
        .map(|path| (path.clone(), fs::read(&path).expect("readable text")))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no texts in {}", folder.display());
    found
}

#[test]
fn accepted_texts_check() {
    for (path, text) in texts("accept") {
        if let Err(errors) = cal_il::front(&text) {
            panic!("{}: {errors:#?}", path.display());
        }
    }
}
