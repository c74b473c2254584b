//! The reference algebra: plain words, evaluated at once.

use super::Algebra;

/// Evaluates on `u32` and `u64`. Constant folding and the CPU backend use it; everything is inlined and free of
/// branches, so a loop over lanes becomes vector code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar;

/// 2^23: from here on floats are whole, and adding it rounds to whole numbers.
const WHOLE: f32 = 8_388_608.0;

#[inline(always)]
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// `a * b + c`, rounded once. The function of mingw's C library, which stands in for the instruction, rounds twice.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(not(all(windows, target_env = "gnu")))]
    return a.mul_add(b, c);
    #[cfg(all(windows, target_env = "gnu"))]
    return libm::fmaf(a, b, c);
}

/// The same of doubles.
#[inline(always)]
fn dfused(a: f64, b: f64, c: f64) -> f64 {
    #[cfg(not(all(windows, target_env = "gnu")))]
    return a.mul_add(b, c);
    #[cfg(all(windows, target_env = "gnu"))]
    return libm::fma(a, b, c);
}

/// A NaN that became quiet, and any other word as it is.
///
/// LLVM makes instructions of AArch64 (`fminnm`, `fmaxnm`) of comparisons with constants and choices. These take a number rather than
/// a NaN as the choices do, but not if that is a signalling one.
#[inline(always)]
fn quiet(bits: u32) -> u32 {
    if cfg!(target_arch = "aarch64") { bits | u32::from(f(bits).is_nan()) << 22 } else { bits }
}

macro_rules! primitives {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $result:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($arg: $ty),*) -> $result { $body }
    )*};
}

impl Algebra for Scalar {
    type W = u32;
    type Q = u64;
    type B = bool;

    primitives! {
        word(bits: u32) -> u32 = bits;
        quad(bits: u64) -> u64 = bits;
        pack(lo: u32, hi: u32) -> u64 = u64::from(lo) | u64::from(hi) << 32;
        lo(q: u64) -> u32 = q as u32;
        hi(q: u64) -> u32 = (q >> 32) as u32;

        select(c: bool, a: u32, b: u32) -> u32 = if c { a } else { b };
        selectq(c: bool, a: u64, b: u64) -> u64 = if c { a } else { b };
        both(a: bool, b: bool) -> bool = a & b;
        either(a: bool, b: bool) -> bool = a | b;
        negate(a: bool) -> bool = !a;

        iadd(a: u32, b: u32) -> u32 = a.wrapping_add(b);
        isub(a: u32, b: u32) -> u32 = a.wrapping_sub(b);
        imul(a: u32, b: u32) -> u32 = a.wrapping_mul(b);
        umulhi(a: u32, b: u32) -> u32 = ((u64::from(a) * u64::from(b)) >> 32) as u32;
        smulhi(a: u32, b: u32) -> u32 = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
        // Exact: the quotient of two 32-bit integers keeps off the next integer by more than double precision
        // can round away. And unlike an integer division it vectorises.
        udiv(a: u32, b: u32) -> u32 = (f64::from(a) / f64::from(b)) as u32;
        umod(a: u32, b: u32) -> u32 = a.wrapping_sub(Scalar.udiv(a, b).wrapping_mul(b));
        and(a: u32, b: u32) -> u32 = a & b;
        or(a: u32, b: u32) -> u32 = a | b;
        xor(a: u32, b: u32) -> u32 = a ^ b;
        not(a: u32) -> u32 = !a;
        shl(a: u32, n: u32) -> u32 = a << (n & 31);
        shr(a: u32, n: u32) -> u32 = a >> (n & 31);
        sar(a: u32, n: u32) -> u32 = ((a as i32) >> (n & 31)) as u32;
        popcount(a: u32) -> u32 = a.count_ones();
        clz(a: u32) -> u32 = a.leading_zeros();
        reverse(a: u32) -> u32 = a.reverse_bits();
        ieq(a: u32, b: u32) -> bool = a == b;
        ilt(a: u32, b: u32) -> bool = (a as i32) < (b as i32);
        ult(a: u32, b: u32) -> bool = a < b;

        fadd_raw(a: u32, b: u32) -> u32 = (f(a) + f(b)).to_bits();
        fmul_raw(a: u32, b: u32) -> u32 = (f(a) * f(b)).to_bits();
        ffma_raw(a: u32, b: u32, c: u32) -> u32 = fused(f(a), f(b), f(c)).to_bits();
        feq(a: u32, b: u32) -> bool = f(a) == f(b);
        flt(a: u32, b: u32) -> bool = f(a) < f(b);
        fle(a: u32, b: u32) -> bool = f(a) <= f(b);
        itof_raw(a: u32) -> u32 = (a as i32 as f32).to_bits();
        utof_raw(a: u32) -> u32 = (a as f32).to_bits();
        ftoi_raw(a: u32) -> u32 = f(a) as i32 as u32;

        qadd(a: u64, b: u64) -> u64 = a.wrapping_add(b);
        qsub(a: u64, b: u64) -> u64 = a.wrapping_sub(b);
        qmul(a: u64, b: u64) -> u64 = a.wrapping_mul(b);
        qand(a: u64, b: u64) -> u64 = a & b;
        qor(a: u64, b: u64) -> u64 = a | b;
        qxor(a: u64, b: u64) -> u64 = a ^ b;
        qshl(a: u64, n: u32) -> u64 = a << (n & 63);
        qshr(a: u64, n: u32) -> u64 = a >> (n & 63);
        qsar(a: u64, n: u32) -> u64 = ((a as i64) >> (n & 63)) as u64;
        qeq(a: u64, b: u64) -> bool = a == b;
        qlt(a: u64, b: u64) -> bool = (a as i64) < (b as i64);
        qult(a: u64, b: u64) -> bool = a < b;
        qudiv(a: u64, b: u64) -> u64 = a / b.max(1);
        qumod(a: u64, b: u64) -> u64 = a % b.max(1);

        dadd_raw(a: u64, b: u64) -> u64 = (d(a) + d(b)).to_bits();
        dmul_raw(a: u64, b: u64) -> u64 = (d(a) * d(b)).to_bits();
        dfma_raw(a: u64, b: u64, c: u64) -> u64 = dfused(d(a), d(b), d(c)).to_bits();
        ddiv_raw(a: u64, b: u64) -> u64 = (d(a) / d(b)).to_bits();
        dsqrt_raw(a: u64) -> u64 = d(a).sqrt().to_bits();
        deq(a: u64, b: u64) -> bool = d(a) == d(b);
        dlt(a: u64, b: u64) -> bool = d(a) < d(b);
        ftod_raw(a: u32) -> u64 = f64::from(f(a)).to_bits();
        dtof_raw(a: u64) -> u32 = (d(a) as f32).to_bits();

        fmin_raw(a: u32, b: u32) -> u32 = if f(quiet(a)) < f(b) { quiet(a) } else { b };
        fmax_raw(a: u32, b: u32) -> u32 = if f(quiet(a)) > f(b) { quiet(a) } else { b };

        // Provided methods that the machine has itself, or that it does faster with the same bits.
        qclz(a: u64) -> u32 = a.leading_zeros();
        qumulhi(a: u64, b: u64) -> u64 = ((u128::from(a) * u128::from(b)) >> 64) as u64;
        fnearest(a: u32) -> u32 = {
            let magnitude = f(a & 0x7FFF_FFFF);
            let whole = (magnitude + WHOLE) - WHOLE;
            let whole = if magnitude < WHOLE { whole } else { magnitude };
            whole.to_bits() | a & 0x8000_0000
        };
        ftrunc(a: u32) -> u32 = {
            let magnitude = f(a & 0x7FFF_FFFF);
            let near = (magnitude + WHOLE) - WHOLE;
            let whole = if near > magnitude { near - 1.0 } else { near };
            let whole = if magnitude < WHOLE { whole } else { magnitude };
            whole.to_bits() | a & 0x8000_0000
        };
        fma(a: u32, b: u32, c: u32) -> u32 = Scalar.flush(Scalar.ffma_raw(a, b, c));
        // Double precision lands on the right side of every midpoint: all significands were tried.
        frsqrt(a: u32) -> u32 = ((1.0 / f64::from(f(a)).sqrt()) as f32).to_bits();
        fsqrt(a: u32) -> u32 = f(a).sqrt().to_bits();
        fdiv(a: u32, b: u32) -> u32 = Scalar.flush((f(a) / f(b)).to_bits());
    }
}
