//! Elements that are stored one after another, and what a way that is tried first finds ready.

use std::sync::atomic::Ordering::Relaxed;

use super::Strip;
use crate::NONE;
use crate::graph::interleaved::count;
use crate::graph::{Graph, Val};
use crate::program::{Element, Emitted, Start};
use crate::row::LANES;

impl Strip<'_, '_> {
    /// Computes what a way finds ready; false if what must step from lane to lane does not.
    pub(super) fn ready(&mut self, (graph, wanted): &(Graph, Vec<Val>), steps: &[(u32, u32)]) -> bool {
        let values = self.values(graph);
        self.kept = wanted.iter().map(|&val| values[val.index()]).collect();
        steps.iter().all(|&(number, step)| {
            let kept = &self.kept[number as usize];
            (0..self.lanes).all(|lane| kept[lane] == kept[0].wrapping_add(step * lane as u32))
        })
    }

    /// The way that is tried first; false, and nothing has changed, if it can't be believed.
    pub(super) fn whole(&mut self, of: &Emitted) -> bool {
        let Some(whole) = &of.whole else { return false };
        if let Some(kept) = &whole.kept {
            let first = std::mem::replace(&mut self.first, LANES / 2);
            let middle = if whole.once.is_some() { self.values(&kept.0) } else { Vec::new() };
            self.first = first;
            let steps = self.ready(kept, &whole.steps);
            let good = whole.once.as_ref().map_or(steps, |once| {
                once.members.iter().all(|of| {
                    let Start { number, step, .. } = once.starts[usize::from(of.start)];
                    let here = first.wrapping_sub(LANES / 2) as u32;
                    let base = middle[kept.1[number as usize].index()][0];
                    let place = base.wrapping_add(here.wrapping_mul(step)).wrapping_add(of.words);
                    let last = place.wrapping_add((self.lanes as u32 - 1) * step);
                    self.kept[of.number as usize][0] == place && self.kept[of.last as usize][0] == last
                })
            });
            assert!(steps || !good, "the last lane is where it should be, and others are not");
            if !good {
                return false;
            }
        }
        let values = self.values(&whole.body.graph);
        if whole.doubted.is_some_and(|doubted| self.bits(values[doubted.index()]) != 0) {
            return false;
        }
        for (element, vectors) in of.elements.iter().zip(&whole.values) {
            for (vector, &val) in vectors[..count(vectors)].iter().enumerate() {
                for (lane, &word) in values[val.index()][..self.lanes].iter().enumerate() {
                    self.put(element, vector * self.lanes + lane, word);
                }
            }
        }
        true
    }

    /// Stores elements whose words are in rows.
    pub(super) fn elements(&mut self, elements: &[Element]) {
        for of in elements {
            let n = of.count as usize;
            for (k, &row) in of.rows[..n].iter().enumerate() {
                for lane in 0..self.lanes {
                    let word = if row == NONE { 0 } else { self.rows[row as usize].0[self.first + lane] };
                    self.put(of, lane * n + k, word);
                }
            }
        }
    }

    /// Stores a word of the strip's elements.
    fn put(&self, of: &Element, at: usize, value: u32) {
        let at = self.first * of.count as usize + at;
        let Some(word) = self.views[usize::from(of.view)].word(at as u32) else {
            panic!("word {at} of what is stored is not inside");
        };
        word.store(value, Relaxed);
    }
}
