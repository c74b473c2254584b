//! Every build gives the same bits, and fused multiply-adds are what two rounded steps give.

use recal_il::isa::lane::Class;
use recal_needs::Need;

use super::*;
use crate::memory::words::flushed;

/// Words at the edges of what operations distinguish, as floats and as integers.
const EDGES: [u32; 40] = [
    0,
    0x8000_0000, // -0
    1,
    0x8000_0001,
    0x007F_FFFF, // the largest denormal
    0x807F_FFFF,
    0x0080_0000, // 2^-126
    0x8080_0000,
    0x0080_0001,
    0x8080_0001,
    0x0C00_0000, // 2^-103
    0x0BFF_FFFF,
    0x8C00_0000,
    0x2000_0000, // 2^-63
    0x1FFF_FFFF,
    0x3F7F_FFFF, // below 1
    0x3F80_0000,
    0xBF80_0000,
    0x3F80_0001,
    0x3F00_0000,
    0x3E20_0000,
    0x4049_0FDB,
    0xC0A0_0000,
    0x4B00_0001,
    0x4EFF_FFFF,
    0x4F00_0000, // 2^31
    0xCF00_0000,
    0x4F80_0000,
    0x5F00_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000, // infinity
    0xFF80_0000,
    0x7FC0_0000,
    0x7F80_0001,
    0xFFC0_1234,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    31,
    0x3FF0_0000,
];

/// Numbers without a pattern.
struct Random(u32);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn edge(&mut self) -> u32 {
        EDGES[self.word() as usize % EDGES.len()]
    }

    /// A float of either sign with a biased exponent in the range.
    fn float(&mut self, exponents: std::ops::Range<u32>) -> u32 {
        let exponent = exponents.start + self.word() % (exponents.end - exponents.start);
        self.word() & 0x807F_FFFF | exponent << 23
    }
}

fn same_or_nan(a: u32, b: u32) -> bool {
    a == b || f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// The builds that run here; the others are told.
fn builds(test: &str) -> Vec<&'static Isa> {
    for set in InstructionSet::ALL {
        Need::instructions(set.name(), set.available()).met(test);
    }
    available()
}

#[test]
fn every_build_gives_the_same_bits() {
    let mut random = Random(7);
    let builds = builds("every_build_gives_the_same_bits");
    for &op in LaneOp::ALL {
        for round in 0..8 {
            let mut rows = vec![Row::ZERO; 16];
            for row in &mut rows {
                row.0 = std::array::from_fn(|_| if round % 2 == 0 { random.edge() } else { random.word() });
            }
            let ids: Vec<RowId> = (0..12).collect();
            let run = |isa: &Isa| {
                let mut rows = rows.clone();
                isa.lane(op).call(&mut rows, &ids);
                rows
            };
            let expected = run(builds[builds.len() - 1]);
            for isa in &builds {
                let got = run(isa);
                for lane in 0..LANES {
                    let words = |rows: &[Row]| (rows[0].0[lane], rows[1].0[lane]);
                    let ((a, b), (c, d)) = (words(&got), words(&expected));
                    // Which NaN a float result is, the next operation does not see (`LaneOp::Canon`), nor which a bare
                    // double is; all other results are exact to the bit.
                    let double = |lo: u32, hi: u32| f64::from_bits(u64::from(hi) << 32 | u64::from(lo));
                    let equal = match op.result() {
                        Class::F => canonical(a) == canonical(c) && b == d,
                        Class::Q if op.is_bare() && double(c, d).is_nan() => double(a, b).is_nan(),
                        _ => (a, b) == (c, d),
                    };
                    assert!(equal, "{op:?} {}: {a:x} {b:x}, baseline {c:x} {d:x}", isa.name);
                }
            }
        }
    }
}

fn canonical(word: u32) -> u32 {
    if f32::from_bits(word).is_nan() { 0x7FC0_0000 } else { word }
}

/// Two rounded steps; without IEEE rules zero times anything is +0.
fn model(ieee: bool, x: u32, y: u32, z: u32) -> u32 {
    let [x, y, z] = [x, y, z].map(f32::from_bits);
    let product =
        if !ieee && (x == 0.0 || y == 0.0) { 0.0 } else { f32::from_bits(flushed((x * y).to_bits())) };
    flushed((product + z).to_bits())
}

/// Runs a chain of four on these builds and compares all sums with the model. `rows`: z, then x and y of each link.
fn check_chain(builds: &[&Isa], rows: &[Row; 24], what: &str) {
    const SUMS: u32 = 24;
    const INNER: u32 = 28;
    for op in [LaneOp::Mad, LaneOp::MadIeee] {
        for middle in [false, true] {
            let mut ids: Vec<RowId> = (SUMS..SUMS + 4).collect();
            if middle {
                ids.extend(INNER..INNER + 4);
            }
            ids.extend(0..24);
            let mut state = rows.to_vec();
            state.resize(INNER as usize + 4, Row::splat(0xDEAD_BEEF));
            for isa in builds {
                let mut state = state.clone();
                isa.mad(MadShape { op, length: 4, middle }).call(&mut state, &ids);
                for (k, lane) in (0..4).flat_map(|k| (0..LANES).map(move |lane| (k, lane))) {
                    let mut sum = rows[k].0[lane];
                    for link in 0..4 {
                        let inner = state[INNER as usize + k].0[lane];
                        if middle && link == 3 {
                            assert!(same_or_nan(inner, sum), "{what}: inner {inner:x}, not {sum:x}");
                        }
                        let (x, y) = (rows[4 + 5 * link].0[lane], rows[5 + 5 * link + k].0[lane]);
                        sum = model(op == LaneOp::MadIeee, x, y, sum);
                    }
                    let got = state[SUMS as usize + k].0[lane];
                    assert!(same_or_nan(got, sum), "{what} {op:?} {}: {got:x}, not {sum:x}", isa.name);
                }
            }
        }
    }
}

#[test]
fn fused_chains_equal_two_rounded_steps() {
    let builds = builds("fused_chains_equal_two_rounded_steps");
    let check_chain = |rows: &[Row; 24], what: &str| check_chain(&builds, rows, what);
    let mut random = Random(99);
    let mut fill = |word: &mut dyn FnMut(&mut Random) -> u32| -> [Row; 24] {
        std::array::from_fn(|_| Row(std::array::from_fn(|_| word(&mut random))))
    };
    // Plain sums do for these: no exponents near the ends, some zeros.
    let usual = |r: &mut Random| if r.word() % 8 == 0 { 0 } else { r.float(110..140) };
    for _ in 0..20 {
        let rows = fill(&mut |r| usual(r));
        check_chain(&rows, "usual");
        // One edge anywhere, factor or addend, must be noticed.
        for at in 0..24 {
            for edge in EDGES {
                if edge % 3 == 0 || at % 5 == 0 {
                    let mut rows = rows;
                    rows[at].0[(edge as usize + at) % LANES] = flushed(edge);
                    check_chain(&rows, "one edge");
                }
            }
        }
    }
    check_chain(&fill(&mut |r| flushed(r.edge())), "edges");
    for _ in 0..20 {
        // Around the limits of the exponents: products near 2^-103 and 2^-126, sums that cancel.
        check_chain(&fill(&mut |r| r.float(74..78)), "products near 2^-103");
        check_chain(&fill(&mut |r| r.float(62..66)), "products near 2^-126");
        check_chain(&fill(&mut |r| r.float(189..192)), "products near 2^127");
    }
    // (2^-63 · (1 - 2^-24)) · 2^-63 rounds to a denormal's end or to 2^-126; and sums that cancel to it.
    let corner = [0x2000_0000, 0x1FFF_FFFF, 0x2000_0001, 0x1FFF_FFFE, 0xA000_0000, 0x9FFF_FFFF];
    for _ in 0..20 {
        check_chain(&fill(&mut |r| corner[r.word() as usize % corner.len()]), "corner");
    }
    // Cancellation of addends just above the limit: 2^-103 · (1 + 2^-23) - 2^-103 = 2^-126.
    let close = [0x0C00_0000, 0x8C00_0000, 0x0C00_0001, 0x8C00_0001];
    let mut rows = fill(&mut |r| [0x2600_0000, 0xA600_0001, 0x2580_0000][r.word() as usize % 3]);
    for row in &mut rows[..4] {
        row.0 = std::array::from_fn(|lane| close[lane % 4]);
    }
    check_chain(&rows, "cancellation");
    // -0 and negative products that are zero.
    let zeros = [0, 0x8000_0000, 0x3F80_0000, 0xBF80_0000];
    for _ in 0..20 {
        check_chain(&fill(&mut |r| zeros[r.word() as usize % 4]), "zeros");
    }
}
