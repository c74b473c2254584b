//! Loads and stores.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{MOST, Strip, Vector, compute};
use crate::View;
use crate::graph::interleaved::{Words, count};
use crate::op::Op;
use crate::target::Blocks;

impl Strip<'_, '_> {
    /// What is loaded from the words that begin at `first`.
    pub(super) fn loaded(&self, op: Op, first: Vector) -> Vector {
        let of = |view: u8, k: u8| -> Vector {
            let load = |lane: usize| match lane < self.lanes && self.exec >> lane & 1 == 1 {
                true => word(&self.views[usize::from(view)], first[lane].wrapping_add(u32::from(k))),
                false => None,
            };
            std::array::from_fn(|lane| load(lane).map_or(0, |word| word.load(Relaxed)))
        };
        match op {
            Op::Part(view, k) => of(view, k),
            Op::Pair(view, k) => {
                let zip = if k % 2 == 0 { Op::ZipLow } else { Op::ZipHigh };
                compute(zip, of(view, k / 2 * 2), of(view, k / 2 * 2 + 1), [0; MOST], self.lazy)
            }
            Op::Load(view) => of(view, 0),
            op => unreachable!("{op:?} loads nothing"),
        }
    }

    /// Whole elements of some lanes, which are inside.
    pub(super) fn member(&self, view: u8, number: u8, parts: Words, first: Vector) -> Vector {
        let n = count(&parts);
        let view = &self.views[usize::from(view)];
        std::array::from_fn(|at| {
            let at = usize::from(number) * self.lanes + at.min(self.lanes - 1);
            let place = first[at / n].wrapping_add((at % n) as u32);
            let Some(word) = word(view, place) else { panic!("word {place} is not inside") };
            word.load(Relaxed)
        })
    }

    /// See [`Op::StoreBlocks`].
    pub(super) fn store_blocks(&self, view: u8, of: Blocks, first: Vector, from: Vector) {
        let view = &self.views[usize::from(view)];
        let executes = |lane: &u32| self.exec >> lane & 1 == 1 && of.has(*lane);
        for lane in (0..self.lanes as u32).filter(executes) {
            for k in (0..of.count()).filter(|k| of.words >> k & 1 == 1) {
                if let Some(word) = word(view, first[lane as usize].wrapping_add(k)) {
                    word.store(from[(of.place(lane) + k) as usize], Relaxed);
                }
            }
        }
    }
}

/// A word of a view.
pub(super) fn word(view: &View, index: u32) -> Option<&AtomicU32> {
    // SAFETY: the word lies inside; `View::new` makes the caller promise that it may be accessed by any thread.
    (index < view.words)
        .then(|| unsafe { AtomicU32::from_ptr(view.start.cast::<u32>().cast_mut().add(index as usize)) })
}
