//! Loads and stores.

use std::sync::atomic::Ordering::Relaxed;

use super::{MOST, Strip, Vector, compute};
use crate::call::{self, Call};
use crate::graph::interleaved::{Words, count};
use crate::op::Op;
use crate::program;
use crate::target::Blocks;

impl Strip<'_, '_> {
    /// Does what lanes do one after another.
    pub(super) fn call(&mut self, of: &program::Call) {
        let values = self.values(&of.graph);
        let operands: Vec<u32> = of.operands.iter().flat_map(|&val| values[val.index()]).collect();
        let call = Call { act: of.act, view: of.view, lanes: MOST as u32, to: of.to };
        // SAFETY: functions get as many rows and views as they mention, and all operands were just computed.
        unsafe {
            let rows = self.rows.as_mut_ptr().cast::<u32>().add(self.first);
            call::call(rows, &call.words(), self.exec.into(), self.views.as_ptr(), operands.as_ptr());
        }
    }

    /// What is loaded from the words that begin at `first`.
    pub(super) fn loaded(&self, op: Op, first: Vector) -> Vector {
        let of = |view: u8, k: u8| -> Vector {
            let load = |lane: usize| match lane < self.lanes && self.exec >> lane & 1 == 1 {
                true => self.views[usize::from(view)].word(first[lane].wrapping_add(u32::from(k))),
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
            let Some(word) = view.word(place) else { panic!("word {place} is not inside") };
            word.load(Relaxed)
        })
    }

    /// See [`Op::StoreBlocks`].
    pub(super) fn store_blocks(&self, view: u8, of: Blocks, first: Vector, from: Vector) {
        let view = &self.views[usize::from(view)];
        let executes = |lane: &u32| self.exec >> lane & 1 == 1 && of.has(*lane);
        for lane in (0..self.lanes as u32).filter(executes) {
            for k in (0..of.count()).filter(|k| of.words >> k & 1 == 1) {
                if let Some(word) = view.word(first[lane as usize].wrapping_add(k)) {
                    word.store(from[(of.place(lane) + k) as usize], Relaxed);
                }
            }
        }
    }
}
