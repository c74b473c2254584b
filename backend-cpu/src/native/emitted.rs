//! Outputs that compiled code stores itself, for waves whose threads are all in a line inside.

use super::{Builder, Item, What};
use crate::flow::orders;
use crate::op::{Body, Emitted, Guard, NONE, Op, Phase, Place};

/// Most views of a function that stores outputs.
const VIEWS: u8 = 32;

/// Finds the phases of what was compiled, and whether it stores all outputs.
pub(super) fn finish(body: &mut Body, guards: Vec<Vec<Guard>>) {
    body.phases = phases(&body.ops, guards).unwrap_or_default();
    let functions = || body.phases.iter().flat_map(|phase| &phase.functions);
    if !body.emitted.iter().all(|view| functions().any(|function| function.emits_to(*view))) {
        body.emitted.clear();
    }
}

/// The phases of operations that are functions and barriers.
fn phases(ops: &[Op], guards: Vec<Vec<Guard>>) -> Option<Vec<Phase>> {
    let mut phases = vec![Phase::default()];
    let mut guards = guards.into_iter();
    for op in ops {
        match op {
            Op::Native(function) => {
                let phase = phases.last_mut()?;
                phase.functions.push(*function);
                phase.guards.push(guards.next()?);
            }
            Op::Fence(fence) => {
                phases.last_mut()?.ordered = orders(*fence);
                phases.push(Phase::default());
            }
            Op::End => return Some(phases),
            _ => return None,
        }
    }
    None
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
