//! Outputs that compiled code stores itself, for waves whose threads are all in a line inside.

use super::{Builder, Item, What};
use crate::op::{Body, Emitted, NONE, Place, Stage};

/// Most views of a function that stores outputs.
const VIEWS: u8 = 32;

/// Finds out whether what was compiled stores all outputs.
pub(super) fn finish(body: &mut Body) {
    let emits = |stage: &Stage, view: u8| matches!(stage, Stage::Run(function, _) if function.emits_to(view));
    if !body.emitted.iter().all(|view| body.stages.iter().any(|stage| emits(stage, *view))) {
        body.emitted.clear();
    }
}

impl What {
    pub(super) fn is_output(self) -> bool {
        matches!(self, What::Output(..))
    }
}

impl Builder<'_> {
    /// Lets the function that ends before the operation at `op`, the last one of the program, store outputs.
    pub(super) fn outputs(&mut self, op: usize, outputs: &[Emitted]) {
        if self.items.is_empty() || outputs.len() != self.code.outputs.len() {
            return;
        }
        let places: Option<Vec<u8>> = (0..)
            .zip(outputs)
            .map(|(place, _)| self.seen((Place::Output(place), NONE)).filter(|view| *view < VIEWS))
            .collect();
        let Some(views) = places else { return };
        for ((place, view), of) in (0..).zip(&views).zip(outputs) {
            self.items.push(Item { op, what: What::Output(place, *view, *of) });
        }
        self.body.emitted = views;
    }

    pub(super) fn output(&self, place: u32, view: u8, of: Emitted) -> recal_jit::Step<'static> {
        let rows = self.code.outputs.get(place as usize).map_or([NONE; 4], |(_, rows)| *rows);
        recal_jit::Step::Emit { view, rows, count: of.words, past_caches: of.past_caches }
    }
}
