//! Integers and bits (amd-il-alu 4, 6) in plain arithmetic, wide where that is plainest.

/// Sign-extended value.
fn s(x: u32) -> i64 {
    i64::from(x as i32)
}

fn u(x: u32) -> u64 {
    u64::from(x)
}

fn mask(c: bool) -> u32 {
    if c { u32::MAX } else { 0 }
}

/// Low 24 bits, sign-extended.
fn s24(x: u32) -> i64 {
    let low = i64::from(x & 0x00FF_FFFF);
    if low >= 1 << 23 { low - (1 << 24) } else { low }
}

fn u24(x: u32) -> u64 {
    u64::from(x % (1 << 24))
}

fn bytes(a: u32, b: u32) -> impl Iterator<Item = (u32, u32)> {
    a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(x, y)| (u32::from(x), u32::from(y)))
}

/// Sum of absolute differences of four bytes.
pub fn sad(a: u32, b: u32) -> u32 {
    bytes(a, b).map(|(x, y)| x.abs_diff(y)).sum()
}

fn msad(a: u32, b: u32) -> u32 {
    bytes(a, b).filter(|(_, y)| *y != 0).map(|(x, y)| x.abs_diff(y)).sum()
}

/// `qsad_u8`, `mqsad_u8`: the four windows of a's eight bytes against b, into four 16-bit sums.
pub fn windows(a: u64, b: u32, c: u64, masked: bool) -> u64 {
    (0..4).fold(0, |out, k| {
        let window = (a >> (8 * k)) as u32;
        let sum = if masked { msad(window, b) } else { sad(window, b) };
        let lane = ((c >> (16 * k)) as u16).wrapping_add(sum as u16);
        out | u64::from(lane) << (16 * k)
    })
}

/// Middle of three.
fn median<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    let mut all = [a, b, c];
    all.sort();
    all[1]
}

/// The word that a per-component integer instruction yields.
pub fn word(name: &str, a: &[u32]) -> Option<u32> {
    let [x, y, z, w] = [0, 1, 2, 3].map(|k| a.get(k).copied().unwrap_or(0));
    let n = y & 31;
    Some(match name {
        "iadd" => (s(x) + s(y)) as u32,
        "isub" => (s(x) - s(y)) as u32,
        "inegate" => (-s(x)) as u32,
        "imul" => (i128::from(x as i32) * i128::from(y as i32)) as u32,
        "umul" => (u(x) * u(y)) as u32,
        "imul_high" => ((s(x) * s(y)) >> 32) as u32,
        "umul_high" => ((u(x) * u(y)) >> 32) as u32,
        "imad" | "umad" => (u(x) * u(y) % (1 << 32) + u(z)) as u32,
        "imin" => s(x).min(s(y)) as u32,
        "imax" => s(x).max(s(y)) as u32,
        "umin" => x.min(y),
        "umax" => x.max(y),
        "imin3" => s(x).min(s(y)).min(s(z)) as u32,
        "imax3" => s(x).max(s(y)).max(s(z)) as u32,
        "imed3" => median(s(x), s(y), s(z)) as u32,
        "umin3" => x.min(y).min(z),
        "umax3" => x.max(y).max(z),
        "umed3" => median(x, y, z),
        "udiv" => x.checked_div(y).unwrap_or(u32::MAX),
        "umod" => x.checked_rem(y).unwrap_or(u32::MAX),
        "iand" => x & y,
        "ior" => x | y,
        "ixor" => x ^ y,
        "inot" => u32::MAX - x,
        "ishl" => (u(x) << n) as u32,
        "ishr" => (s(x) >> n) as u32,
        "ushr" => (u(x) >> n) as u32,
        "ieq" => mask(x == y),
        "ine" => mask(x != y),
        "ilt" => mask(s(x) < s(y)),
        "ige" => mask(s(x) >= s(y)),
        "ult" => mask(x < y),
        "uge" => mask(x >= y),
        "icarry" => u32::from(u(x) + u(y) >= 1 << 32),
        "iborrow" => u32::from(x < y),
        "icbits" => (0..32).map(|k| x >> k & 1).sum(),
        "ubit_reverse" => (0..32).map(|k| (x >> k & 1) << (31 - k)).sum(),
        "ffb_hi" => (0..32).rev().find(|k| x >> k & 1 == 1).map_or(u32::MAX, |k| 31 - k),
        "ffb_lo" => (0..32).find(|k| x >> k & 1 == 1).unwrap_or(u32::MAX),
        "ffb_shi" => {
            let sign = x >> 31;
            (0..32).rev().find(|k| x >> k & 1 != sign).map_or(u32::MAX, |k| 31 - k)
        }
        // width, offset, value
        "ubit_extract" => field(x, y, u(z) as i128),
        "ibit_extract" => {
            let (width, offset) = (x & 31, y & 31);
            match width {
                0 => 0,
                _ if width + offset < 32 => {
                    (((u(z) << (32 - width - offset)) as u32 as i32) >> (32 - width)) as u32
                }
                _ => (s(z) >> offset) as u32,
            }
        }
        // width, offset, insert, base
        "ubit_insert" => {
            let (width, offset) = (x & 31, y & 31);
            let field = (((1u64 << width) - 1) << offset) as u32;
            ((u(z) << offset) as u32 & field) | (w & !field)
        }
        "bfi" => (x & y) | (!x & z),
        "bfm" => (((1u64 << (x & 31)) - 1) << n) as u32,
        "bitalign" => ((u(x) << 32 | u(y)) >> (z & 31)) as u32,
        "bytealign" => ((u(x) << 32 | u(y)) >> (8 * (z & 3))) as u32,
        "umul24" => (u24(x) * u24(y)) as u32,
        "umul24_high" => ((u24(x) * u24(y)) >> 32) as u32,
        "umad24" => (u24(x) * u24(y) % (1 << 32) + u(z)) as u32,
        "imul24" => (s24(x) * s24(y)) as u32,
        "imul24_high" => ((s24(x) * s24(y)) >> 32) as u32,
        "imad24" => (s24(x) * s24(y) + s(z)) as u32,
        "u4lerp" => (0..4)
            .map(|k| {
                let byte = |v: u32| v >> (8 * k) & 0xFF;
                ((byte(x) + byte(y) + (byte(z) & 1)) >> 1) << (8 * k)
            })
            .sum(),
        "sad" => (u(sad(x, y)) + u(z)) as u32,
        "sad_u32" => x.abs_diff(y).wrapping_add(z),
        "sad_u16" => {
            let halves = |v: u32| [u64::from(v as u16), u64::from(v >> 16)];
            let differences = halves(x).into_iter().zip(halves(y)).map(|(a, b)| a.max(b) - a.min(b));
            (differences.sum::<u64>() + u(z)) as u32
        }
        "sadhi" => ((u(sad(x, y)) << 16) + u(z)) as u32,
        "msad_u8" => (u(msad(x, y)) + u(z)) as u32,
        _ => return None,
    })
}

fn field(width: u32, offset: u32, value: i128) -> u32 {
    let (width, offset) = (width & 31, offset & 31);
    // In range the field is `width` bits; a field that sticks out ends at bit 31.
    ((value >> offset) & ((1 << width) - 1)) as u32
}

/// The result of a 64-bit integer instruction whose result is a pair; the last operand of shifts is a count.
pub fn pair(name: &str, a: &[u64]) -> Option<u64> {
    let (x, y) = (a[0], a.get(1).copied().unwrap_or(0));
    let (sx, sy) = (i128::from(x as i64), i128::from(y as i64));
    let n = y as u32 & 63;
    Some(match name {
        "i64add" => (sx + sy) as u64,
        "i64sub" => (sx - sy) as u64,
        "i64negate" => (-sx) as u64,
        "i64mul" => (sx * sy) as u64,
        "u64mul" => (u128::from(x) * u128::from(y)) as u64,
        "i64div" => {
            if y == 0 {
                u64::MAX
            } else {
                (sx / sy) as u64
            }
        }
        "i64mod" => {
            if y == 0 {
                u64::MAX
            } else {
                (sx % sy) as u64
            }
        }
        "u64div" => x.checked_div(y).unwrap_or(u64::MAX),
        "u64mod" => x.checked_rem(y).unwrap_or(u64::MAX),
        "i64min" => sx.min(sy) as u64,
        "i64max" => sx.max(sy) as u64,
        "u64min" => x.min(y),
        "u64max" => x.max(y),
        "i64shl" => (u128::from(x) << n) as u64,
        "i64shr" => (sx >> n) as u64,
        "u64shr" => (u128::from(x) >> n) as u64,
        _ => return None,
    })
}

/// 64-bit comparisons.
pub fn pair_mask(name: &str, a: &[u64]) -> Option<u32> {
    let (x, y) = (*a.first()?, *a.get(1)?);
    Some(mask(match name {
        "i64eq" => x == y,
        "i64ne" => x != y,
        "i64lt" => (x as i64) < y as i64,
        "i64ge" => x as i64 >= y as i64,
        "u64lt" => x < y,
        "u64ge" => x >= y,
        _ => return None,
    }))
}
