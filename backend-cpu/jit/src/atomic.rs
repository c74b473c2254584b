//! What one lane does to memory that others change meanwhile, for whoever does it: the interpreter, the evaluator, and code by a call.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use recal_il::ir::AtomicOp;
use recal_il::isa::Scalar;
use recal_il::isa::memory::atomic::{new_quad, new_word};

/// An atomic on a word; what it was. `alone`: nobody else has the memory meanwhile, so what a processor does for others is not needed.
#[inline(always)]
pub fn word(cell: &AtomicU32, op: AtomicOp, s: u32, s2: u32, alone: bool) -> u32 {
    match op {
        _ if alone => {
            let m = cell.load(Relaxed);
            cell.store(new_word(&mut Scalar, op, m, s, s2), Relaxed);
            m
        }
        AtomicOp::Add => cell.fetch_add(s, Relaxed),
        AtomicOp::Xchg => cell.swap(s, Relaxed),
        AtomicOp::CmpXchg => cell.compare_exchange(s2, s, Relaxed, Relaxed).unwrap_or_else(|m| m),
        _ => {
            let mut m = cell.load(Relaxed);
            loop {
                match cell.compare_exchange_weak(m, new_word(&mut Scalar, op, m, s, s2), Relaxed, Relaxed) {
                    Ok(m) => break m,
                    Err(now) => m = now,
                }
            }
        }
    }
}

/// The same on 64 bits.
#[inline(always)]
pub fn quad(cell: &AtomicU64, op: AtomicOp, s: u64, s2: u64, alone: bool) -> u64 {
    let mut m = cell.load(Relaxed);
    if alone {
        cell.store(new_quad(&mut Scalar, op, m, s, s2), Relaxed);
        return m;
    }
    loop {
        match cell.compare_exchange_weak(m, new_quad(&mut Scalar, op, m, s, s2), Relaxed, Relaxed) {
            Ok(m) => break m,
            Err(now) => m = now,
        }
    }
}

/// The value before it counts on.
#[inline(always)]
pub fn append(cell: &AtomicU32) -> u32 {
    cell.fetch_add(1, Relaxed)
}

/// The value after it has counted back.
#[inline(always)]
pub fn consume(cell: &AtomicU32) -> u32 {
    cell.fetch_sub(1, Relaxed).wrapping_sub(1)
}
