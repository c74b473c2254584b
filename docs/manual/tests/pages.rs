//! Every instruction has its page, and every example compiles.

use recal_il::isa::{Meaning, Opcode, Scope, TABLE};
use recal_manual::{Block, Kind, example, find, instruction, nearest, topics};

#[test]
fn every_row_is_a_topic_with_words_meaning_and_targets() {
    for row in TABLE {
        let topic = topics().iter().find(|t| t.kind == Kind::Instruction && t.name == row.mnemonic).unwrap();
        assert!(topic.summary.ends_with('.'), "{}: {}", topic.name, topic.summary);
        assert!(topic.section("Syntax").is_some() && topic.section("Targets").is_some(), "{}", topic.name);
        let wordless = row.scope == Scope::Graphics || row.meaning == Meaning::Nothing;
        let machine = matches!(row.meaning, Meaning::ComputeUnit | Meaning::WaveSlot);
        assert!(wordless || machine || topic.section("Meaning").is_some(), "{} has no words", topic.name);
        if matches!(row.meaning, Meaning::Lane(..) | Meaning::Vector(_)) {
            let meaning = topic.section("Meaning").unwrap();
            assert!(
                meaning.blocks.iter().any(|b| matches!(b, Block::Code(..))),
                "{} has no pseudo-code",
                row.mnemonic
            );
        }
        if matches!(row.meaning, Meaning::Lane(..)) {
            assert!(topic.section("Numbers").is_some(), "{} has no numbers", row.mnemonic);
        }
    }
}

#[test]
fn every_instruction_of_kernels_has_an_example_that_compiles_and_has_it() {
    let mut tried = 0;
    for row in TABLE {
        let refused = matches!(row.meaning, Meaning::Refused(_)) || row.opcode == Opcode::DclSemaphore;
        let Some(kernel) = example::of(row) else {
            assert!(refused, "{} has no example", row.mnemonic);
            continue;
        };
        tried += 1;
        assert!(example::has(&kernel, row), "{}:\n{kernel}", row.mnemonic);
        if let Err(errors) = recal_il::compile(kernel.as_bytes()) {
            let said = recal_il::diagnostic::render(&errors, kernel.as_bytes(), row.mnemonic);
            panic!("{said}\n{kernel}");
        }
    }
    assert!(tried > 430, "only {tried} examples");
}

#[test]
fn every_specifier_of_kernels_is_explained() {
    for row in TABLE.iter().filter(|row| row.scope == Scope::Compute) {
        for name in instruction::specifiers(row) {
            let topic = find(&name).unwrap_or_else(|| panic!("{}: nothing about {name}", row.mnemonic));
            assert_eq!(topic.kind, Kind::Language, "{name}");
        }
    }
}

/// The names in the table of registers of the parser, which is private to it.
#[test]
fn registers_are_found_with_and_without_numbers() {
    for name in [
        "r12",
        "l0",
        "x3",
        "cb",
        "cb2",
        "icb",
        "v1",
        "o7",
        "g",
        "mem",
        "sr2",
        "in0",
        "out1",
        "vWinCoord",
        "vObjIndex0",
    ] {
        assert_eq!(find(name).unwrap_or_else(|| panic!("nothing about {name}")).kind, Kind::Language);
    }
    for name in [
        "vTidInGrp",
        "vtid0",
        "vTidInGrpFlat",
        "vAbsTid",
        "vaTid0",
        "vAbsTidFlat",
        "vThreadGrpId",
        "vTGroupid",
        "vThreadGrpIdFlat",
        "Tmr",
    ] {
        assert_eq!(find(name).unwrap_or_else(|| panic!("nothing about {name}")).kind, Kind::Language);
    }
}

#[test]
fn names_are_found_as_they_are_written() {
    for (written, name) in [
        ("MAD", "mad"),
        ("mad_ieee_x2_sat", "mad"),
        ("ineg", "inegate"),
        ("uav_raw_load_id(0)_cached", "uav_raw_load"),
        ("_zeroop(infinity)", "_zeroop"),
        ("short-swizzle", "short-swizzle"),
        ("cb0[r1.x+2]", "cb#"),
    ] {
        assert_eq!(find(written).map(|t| t.name.as_str()), Some(name), "{written}");
    }
    assert!(find("no such thing").is_none() && find("").is_none() && find("_").is_none());
    assert!(nearest("uav_rawload").contains(&"uav_raw_load"));
    assert!(nearest("shortswizzle").contains(&"short-swizzle"));
    assert!(nearest("qqqqqqqq").is_empty());
}

/// What is told was worked out by hand: zero times infinity, with and without `_ieee`; the sign of a shift.
#[test]
fn values_and_pseudo_code_come_from_the_defining_functions() {
    let page = |name: &str| recal_manual::plain(find(name).unwrap(), 200);
    let mad = page("mad");
    assert!(
        mad.lines().any(|l| l.split_whitespace().eq(["0.0", "∞", "1.0", "1.0", "NaN", "0x7FC00000"])),
        "{mad}"
    );
    assert!(page("ishr").contains("src0 >>s (src1 & 31)"), "{}", page("ishr"));
    assert!(page("ushr").contains("src0 >>u (src1 & 31)"), "{}", page("ushr"));
    let exchange = page("lds_cmp");
    assert!(exchange.contains("(old == src1) ? src2 : old"), "{exchange}");
    let exchange = page("uav_cmp");
    assert!(exchange.contains("(old == src2) ? src1 : old"), "{exchange}");
    assert!(page("sin").contains("0.5201") && page("rcp").contains("correctly rounded"));
}
