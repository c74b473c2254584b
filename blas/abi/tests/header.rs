//! The header is what the table of routines says.

#[path = "../src/table.rs"]
#[allow(dead_code, reason = "the functions are for the build script")]
mod table;

#[test]
fn the_header_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../include/calblas.h");
    let now = table::header();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &now).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == now,
        "blas/include/calblas.h is old: UPDATE=1 cargo test -p recal-blas-abi --test header"
    );
}

/// As many as the standard has: 34 + 16 functions of level 1 in four types and so on.
#[test]
fn all_routines_are_there() {
    let all = table::routines();
    let of = |level| all.iter().filter(|r| r.level == level).count();
    assert_eq!([of(1), of(2), of(3)], [52, 66, 30]);
    let mut names: Vec<&str> = all.iter().map(|r| &*r.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
}
