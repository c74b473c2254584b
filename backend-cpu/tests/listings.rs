//! What this device compiles, by examples: `listings/*.ir` holds a program, the instruction sets whose vector programs and machine
//! code are shown, and behind a line `; becomes` those. They are the same on every host.

use std::collections::BTreeMap;
use std::path::Path;

use recal_cpu::{InstructionSet, code_listing, vector_listing};
use recal_il::diagnostic::render;
use recal_il::ir::text;
use recal_needs::pages::Page;

#[test]
fn programs_become_the_listings_of_the_pages() {
    let mut wrong = String::new();
    for page in Page::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings")) {
        let (name, before) = (&page.name, page.before.as_bytes());
        let program = text::parse(before).unwrap_or_else(|found| panic!("{}", render(&found, before, name)));
        let mut made = String::new();
        for (what, sets) in page.settings() {
            for set in sets.split(' ') {
                let set = InstructionSet::ALL.into_iter().find(|known| known.name() == set);
                let set = set.unwrap_or_else(|| panic!("{name}: {sets}"));
                let isa = set.code().expect("instructions that code is made of");
                let listing = match what {
                    "vector" => vector_listing(&program, set, &BTreeMap::new()),
                    "asm" => code_listing(&program, set, &BTreeMap::new(), &|code| isa.disassembled(code))
                        .map(|lines| lines.into_iter().map(|line| line.text + "\n").collect()),
                    _ => panic!("{name}: {what}"),
                };
                made += &listing.expect("a listing");
            }
        }
        wrong += &page.difference(&made);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
