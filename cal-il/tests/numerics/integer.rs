//! Integer, bit, media and 64-bit operations against plain Rust, written from the instruction descriptions.

use super::support::check;
use recal_il::isa::LaneOp;

fn mask(c: bool) -> u64 {
    if c { 0xFFFF_FFFF } else { 0 }
}

/// Checks operations on words given as closures of `u32`.
macro_rules! words {
    ($($op:ident |$($x:ident),*| $body:expr;)*) => {$(
        check(LaneOp::$op, &[], |operands| {
            let [$($x),*] = operands else { unreachable!("operand count of {}", stringify!($op)) };
            $(let $x = *$x as u32;)*
            let result: u32 = $body;
            result.into()
        });
    )*};
}

#[test]
fn arithmetic() {
    words! {
        Iadd |a, b| a.wrapping_add(b);
        Isub |a, b| a.wrapping_sub(b);
        Inegate |a| a.wrapping_neg();
        Imul |a, b| a.wrapping_mul(b);
        ImulHigh |a, b| ((a as i32 as i64 * b as i32 as i64) >> 32) as u32;
        UmulHigh |a, b| ((a as u64 * b as u64) >> 32) as u32;
        Imad |a, b, c| a.wrapping_mul(b).wrapping_add(c);
        Udiv |a, b| a.checked_div(b).unwrap_or(!0);
        Umod |a, b| a.checked_rem(b).unwrap_or(!0);
        Icarry |a, b| u32::from(a.checked_add(b).is_none());
        Iborrow |a, b| u32::from(a.checked_sub(b).is_none());
    }
}

#[test]
fn ordering() {
    words! {
        Imin |a, b| (a as i32).min(b as i32) as u32;
        Imax |a, b| (a as i32).max(b as i32) as u32;
        Umin |a, b| a.min(b);
        Umax |a, b| a.max(b);
        Imin3 |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32;
        Imax3 |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32;
        Imed3 |a, b, c| { let mut v = [a as i32, b as i32, c as i32]; v.sort(); v[1] as u32 };
        Umin3 |a, b, c| a.min(b).min(c);
        Umax3 |a, b, c| a.max(b).max(c);
        Umed3 |a, b, c| { let mut v = [a, b, c]; v.sort(); v[1] };
        Ieq |a, b| mask(a == b) as u32;
        Ine |a, b| mask(a != b) as u32;
        Ilt |a, b| mask((a as i32) < b as i32) as u32;
        Ige |a, b| mask(a as i32 >= b as i32) as u32;
        Ult |a, b| mask(a < b) as u32;
        Uge |a, b| mask(a >= b) as u32;
    }
}

#[test]
fn products_of_24_bits() {
    let signed = |x: u32| i64::from(((x << 8) as i32) >> 8);
    let unsigned = |x: u32| u64::from(x & 0xFF_FFFF);
    words! {
        Umul24 |a, b| (unsigned(a) * unsigned(b)) as u32;
        Umul24High |a, b| ((unsigned(a) * unsigned(b)) >> 32) as u32;
        Umad24 |a, b, c| ((unsigned(a) * unsigned(b)) as u32).wrapping_add(c);
        Imul24 |a, b| (signed(a) * signed(b)) as u32;
        Imul24High |a, b| ((signed(a) * signed(b)) >> 32) as u32;
        Imad24 |a, b, c| ((signed(a) * signed(b)) as u32).wrapping_add(c);
    }
}

#[test]
fn bits() {
    let field = |width: u32, offset: u32| (((1u64 << (width & 31)) - 1) << (offset & 31)) as u32;
    words! {
        Mov |a| a;
        Not |a| !a;
        And |a, b| a & b;
        Or |a, b| a | b;
        Xor |a, b| a ^ b;
        NegBits |a| a ^ 1 << 31;
        AbsBits |a| a & !(1 << 31);
        Select |c, a, b| if c != 0 { a } else { b };
        Cmov |c, a, b| if (c & 0x7F80_0000) != 0 { a } else { b };
        Ishl |a, n| a.wrapping_shl(n);
        Ushr |a, n| a.wrapping_shr(n);
        Ishr |a, n| (a as i32).wrapping_shr(n) as u32;
        Icbits |a| a.count_ones();
        UbitReverse |a| a.reverse_bits();
        FfbHi |a| if a == 0 { !0 } else { a.leading_zeros() };
        FfbLo |a| if a == 0 { !0 } else { a.trailing_zeros() };
        FfbShi |a| match a as i32 {
            0 | -1 => !0,
            x if x < 0 => a.leading_ones(),
            _ => a.leading_zeros(),
        };
        UbitExtract |width, offset, a| {
            // The definition of the shader model, by shifts.
            let (w, o) = (width & 31, offset & 31);
            if w == 0 { 0 } else if w + o < 32 { (a << (32 - (w + o))) >> (32 - w) } else { a >> o }
        };
        IbitExtract |width, offset, a| {
            let (w, o, a) = (width & 31, offset & 31, a as i32);
            (if w == 0 { 0 } else if w + o < 32 { (a << (32 - (w + o))) >> (32 - w) } else { a >> o }) as u32
        };
        UbitInsert |width, offset, insert, base| {
            let m = field(width, offset);
            (insert << (offset & 31)) & m | base & !m
        };
        Bfi |m, a, b| m & a | !m & b;
        Bfm |width, offset| field(width, offset);
        Bitalign |hi, lo, n| (((hi as u64) << 32 | lo as u64) >> (n & 31)) as u32;
        Bytealign |hi, lo, n| (((hi as u64) << 32 | lo as u64) >> (8 * (n & 3))) as u32;
    }
}

#[test]
fn moves_of_floats() {
    // Operands of these arrive flushed, and their NaNs are made canonical on the way out.
    fn flushed(x: u64) -> u64 {
        if x & 0x7F80_0000 == 0 { x & 0x8000_0000 } else { x }
    }
    fn canonical(x: u64) -> u64 {
        if x & 0x7FFF_FFFF > 0x7F80_0000 { 0x7FC0_0000 } else { x }
    }
    check(LaneOp::MovF, &[], |x| canonical(flushed(x[0])));
    check(LaneOp::SelectF, &[], |x| canonical(flushed(if x[0] != 0 { x[1] } else { x[2] })));
    check(LaneOp::Neg, &[], |x| canonical(flushed(x[0]) ^ 0x8000_0000));
    check(LaneOp::Abs, &[], |x| canonical(flushed(x[0]) & 0x7FFF_FFFF));
    check(LaneOp::Flush, &[], |x| canonical(flushed(x[0])));
    check(LaneOp::Canon, &[], |x| canonical(flushed(x[0])));
}

#[test]
fn media() {
    fn bytes(x: u64) -> impl Iterator<Item = u32> {
        (0..4).map(move |i| (x >> (8 * i)) as u32 & 0xFF)
    }
    fn sad(x: u64, y: u64, masked: bool) -> u64 {
        bytes(x)
            .zip(bytes(y))
            .filter(|(_, y)| !masked || *y != 0)
            .map(|(x, y)| u64::from(x.abs_diff(y)))
            .sum()
    }
    fn quad_sad(x: &[u64], masked: bool) -> u64 {
        (0..4)
            .map(|i| {
                let sum = sad(x[0] >> (8 * i), x[1], masked) + ((x[2] >> (16 * i)) & 0xFFFF);
                (sum & 0xFFFF) << (16 * i)
            })
            .sum()
    }
    check(LaneOp::U4lerp, &[], |x| {
        let (a, b, c) = (bytes(x[0]), bytes(x[1]), bytes(x[2]));
        a.zip(b).zip(c).enumerate().map(|(i, ((a, b), c))| u64::from((a + b + (c & 1)) >> 1) << (8 * i)).sum()
    });
    check(LaneOp::Sad, &[], |x| (x[2] + sad(x[0], x[1], false)) & 0xFFFF_FFFF);
    check(LaneOp::Sadhi, &[], |x| (x[2] + (sad(x[0], x[1], false) << 16)) & 0xFFFF_FFFF);
    words! {
        SadU16 |a, b, c| {
            let [low, high] = [0, 16].map(|k| (a >> k & 0xFFFF).abs_diff(b >> k & 0xFFFF));
            c.wrapping_add(low).wrapping_add(high)
        };
        SadU32 |a, b, c| c.wrapping_add(a.abs_diff(b));
    }
    check(LaneOp::MsadU8, &[], |x| (x[2] + sad(x[0], x[1], true)) & 0xFFFF_FFFF);
    check(LaneOp::QsadU8, &[], |x| quad_sad(x, false));
    check(LaneOp::MqsadU8, &[], |x| quad_sad(x, true));
}

#[test]
fn of_64_bits() {
    let signed = |x: u64| x as i64;
    check(LaneOp::I64add, &[], |x| x[0].wrapping_add(x[1]));
    check(LaneOp::I64sub, &[], |x| x[0].wrapping_sub(x[1]));
    check(LaneOp::I64negate, &[], |x| x[0].wrapping_neg());
    check(LaneOp::I64mul, &[], |x| x[0].wrapping_mul(x[1]));
    check(LaneOp::U64div, &[], |x| x[0].checked_div(x[1]).unwrap_or(!0));
    check(LaneOp::U64mod, &[], |x| x[0].checked_rem(x[1]).unwrap_or(!0));
    check(
        LaneOp::I64div,
        &[],
        |x| if x[1] == 0 { !0 } else { signed(x[0]).wrapping_div(signed(x[1])) as u64 },
    );
    check(
        LaneOp::I64mod,
        &[],
        |x| if x[1] == 0 { !0 } else { signed(x[0]).wrapping_rem(signed(x[1])) as u64 },
    );
    check(LaneOp::I64min, &[], |x| signed(x[0]).min(signed(x[1])) as u64);
    check(LaneOp::I64max, &[], |x| signed(x[0]).max(signed(x[1])) as u64);
    check(LaneOp::U64min, &[], |x| x[0].min(x[1]));
    check(LaneOp::U64max, &[], |x| x[0].max(x[1]));
    check(LaneOp::I64shl, &[], |x| x[0] << (x[1] & 63));
    check(LaneOp::U64shr, &[], |x| x[0] >> (x[1] & 63));
    check(LaneOp::I64shr, &[], |x| (signed(x[0]) >> (x[1] & 63)) as u64);
    check(LaneOp::I64eq, &[], |x| mask(x[0] == x[1]));
    check(LaneOp::I64ne, &[], |x| mask(x[0] != x[1]));
    check(LaneOp::I64lt, &[], |x| mask(signed(x[0]) < signed(x[1])));
    check(LaneOp::I64ge, &[], |x| mask(signed(x[0]) >= signed(x[1])));
    check(LaneOp::U64lt, &[], |x| mask(x[0] < x[1]));
    check(LaneOp::U64ge, &[], |x| mask(x[0] >= x[1]));
}
