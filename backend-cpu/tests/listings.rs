//! What this device compiles, by examples: `listings/*.ir` holds a program, the instruction sets whose vector programs and machine
//! code are shown, and behind a line `; becomes` those. They are the same on every host.

use std::collections::BTreeMap;
use std::path::Path;

use recal_cpu::{InstructionSet, code_listing, vector_listing};
use recal_hal::Format;
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

/// In a product of doubles four strips of a line find their elements by one address: eight vectors, each read where it is, in rounds that go
/// on by steps and in others.
#[test]
fn strips_of_a_line_have_one_address() {
    let text = "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_output_generic o0\n\
        dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_resource_id(1)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n\
        dcl_cb cb0[1]\ndcl_literal l0, 0.5, 1.0, 0.0, 0.0\nmov r0, l0.zzzz\nmov r1, vWinCoord0.xyxy\nmov r2.x, l0.x\n\
        whileloop\nge r3.x, r2.x, cb0[0].x\nbreak_logicalnz r3.x\nmov r1.y, r2.x\nmov r4.x, r2.x\nmov r4.y, r1.w\n\
        sample_resource(0)_sampler(0) r5, r4.xyxx\nsample_resource(1)_sampler(1) r6, r1.xyxx\n\
        dmad r0.xy, r5.xy, r6.xy, r0.xy\nadd r2.x, r2.x, l0.y\nendloop\nmov o0, r0\nend\n";
    let program = recal_il::compile(text.as_bytes()).unwrap();
    let formats = [0, 1].map(|number| (number, Format::Float64x1)).into();
    for set in [InstructionSet::Avx512, InstructionSet::Avx2] {
        let isa = set.code().expect("instructions that code is made of");
        let lines = code_listing(&program, set, &formats, &|code| isa.disassembled(code)).expect("a listing");
        let reads = |line: &&str| line.contains("vfmadd231pd") && line.contains("[r12");
        let reads = lines.iter().map(|line| line.text.as_str()).filter(reads).count();
        assert_eq!(reads, 2 * 8, "{}", set.name());
    }
}
