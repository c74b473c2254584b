//! Published vectors, and that the page on numbers is complete.

use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;

/// Evaluates one operation to one word.
fn word(op: LaneOp, arguments: &[u32]) -> u32 {
    fold(op, arguments).0
}

/// Evaluates with float operands as lowering would: flushed before, canonical after.
fn float(op: LaneOp, arguments: &[u32]) -> u32 {
    let arguments: Vec<u32> = arguments.iter().map(|x| word(LaneOp::Flush, &[*x])).collect();
    word(LaneOp::Canon, &[word(op, &arguments)])
}

const INFINITY: u32 = 2;

/// x, exp2, log2, sin, cos.
const GOLDEN: [[u32; 5]; 20] = [
    [0x00000000, 0x3F800000, 0xFF800000, 0x00000000, 0x3F800000],
    [0x80000000, 0x3F800000, 0xFF800000, 0x80000000, 0x3F800000],
    [0x00400000, 0x3F800000, 0xFF800000, 0x00000000, 0x3F800000],
    [0x3F800000, 0x40000000, 0x00000000, 0x3F576AA4, 0x3F0A5140],
    [0xBF800000, 0x3F000000, 0x7FC00000, 0xBF576AA4, 0x3F0A5140],
    [0x3F000000, 0x3FB504F3, 0xBF800000, 0x3EF57744, 0x3F60A940],
    [0x40490FDB, 0x410D331D, 0x3FD3643A, 0xB3BBBD2E, 0xBF800000],
    [0x3FC90FDB, 0x403E1FBA, 0x3F26C874, 0x3F800000, 0xB33BBD2E],
    [0x3DCCCCCD, 0x3F892FDF, 0xC0549A78, 0x3DCC7577, 0x3F7EB898],
    [0xC0A00000, 0x3D000000, 0x7FC00000, 0x3F757C10, 0x3E913C2C],
    [0x42C80000, 0x71800000, 0x40D49A78, 0xBF01A12E, 0x3F5CC0EE],
    [0x461C4000, 0x7F800000, 0x41549A78, 0xBE9C797D, 0xBF73C074],
    [0x4B000000, 0x7F800000, 0x41B80000, 0x3EDD4FA3, 0xBF66D965],
    [0x7F7FFFFF, 0x7F800000, 0x43000000, 0xBF0599B3, 0x3F5A5F96],
    [0x3F7FFFFF, 0x3FFFFFFF, 0xB3B8AA3C, 0x3F576AA4, 0x3F0A5141],
    [0x3F800001, 0x40000001, 0x3438AA3A, 0x3F576AA6, 0x3F0A513F],
    [0x38D1B717, 0x3F800245, 0xC1549A78, 0x38D1B717, 0x3F800000],
    [0x7F800000, 0x7F800000, 0x7F800000, 0x7FC00000, 0x7FC00000],
    [0xFF800000, 0x00000000, 0x7FC00000, 0x7FC00000, 0x7FC00000],
    [0x7FC12345, 0x7FC00000, 0x7FC00000, 0x7FC00000, 0x7FC00000],
];

#[test]
fn golden_vectors() {
    for [x, exp2, log2, sin, cos] in GOLDEN {
        assert_eq!(float(LaneOp::Exp, &[x]), exp2, "exp {x:08X}");
        let log = word(LaneOp::Log, &[word(LaneOp::Flush, &[x]), INFINITY]);
        assert_eq!(word(LaneOp::Canon, &[log]), log2, "log {x:08X}");
        assert_eq!(float(LaneOp::Sin, &[x]), sin, "sin {x:08X}");
        assert_eq!(float(LaneOp::Cos, &[x]), cos, "cos {x:08X}");
    }
}

#[test]
fn the_page_on_numbers_names_every_operation() {
    let page = include_str!("../../../docs/numerics.md");
    let named: std::collections::BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let missing: Vec<&str> =
        LaneOp::ALL.iter().map(|op| op.name()).filter(|name| !named.contains(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
