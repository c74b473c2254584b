//! Long lists are translated by several threads: nothing that becomes of a run depends on the runs before it.

use std::panic::resume_unwind;
use std::thread;

use super::Translator;
use crate::graph::pairs::Pairs;
use crate::program::Part;
use crate::tree::{Tree, each_run};

/// Fewest steps that are worth a thread: a step takes half a microsecond, a thread some fifty.
const WORTH: usize = 500;
/// Deeper constructs are not asked how many steps they have: each one around them was.
const DEEPEST: u32 = 16;
/// Bytes of its stack: trees are as deep as kernels nest.
const STACK: usize = 8 << 20;

impl Translator<'_> {
    /// The parts of a list.
    pub(super) fn list(&mut self, list: &[Tree<'_>]) -> Option<Vec<Part>> {
        // What an innermost loop finds ready is of all its runs.
        let several = self.kept.is_none() && self.rows.threads > 1 && self.depth < DEEPEST;
        let middle = if several { middle(list) } else { None };
        let Some(middle) = middle else { return self.each(list) };
        let (first, second) = list.split_at(middle);
        let threads = self.rows.threads;
        let parts = thread::scope(|scope| {
            let mut other = self.half(threads / 2);
            let builder = thread::Builder::new().name("cal compiler".into()).stack_size(STACK);
            let begun = builder.spawn_scoped(scope, move || (other.list(second), other));
            self.rows.threads -= threads / 2;
            let first = self.list(first);
            let (second, other) = match begun {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system gives no thread.
                Err(_) => {
                    let mut other = self.half(1);
                    (other.list(second), other)
                }
            };
            self.flushes += other.flushes;
            self.wide |= other.wide;
            let mut parts = first?;
            parts.extend(second?);
            Some(parts)
        });
        self.rows.threads = threads;
        parts
    }

    /// A translator for what follows in a list.
    fn half(&self, threads: usize) -> Self {
        let mut rows = self.rows;
        rows.threads = threads;
        Translator {
            rows,
            flushes: 0,
            wide: false,
            kept: None,
            pairs: Pairs::default(),
            bare: self.bare.clone(),
            lost: self.lost.clone(),
            ..*self
        }
    }
}

/// Where a list has half of its steps before it and half behind, if either are worth a thread. What is tested by the part before belongs
/// to that.
fn middle(list: &[Tree<'_>]) -> Option<usize> {
    let steps = |tree: &Tree<'_>| {
        let mut steps = 0;
        each_run(std::slice::from_ref(tree), &mut |run| steps += run.steps.len());
        steps
    };
    let mut before = 0;
    let ends: Vec<usize> = list
        .iter()
        .map(|tree| {
            before += steps(tree);
            before
        })
        .collect();
    let half = ends.partition_point(|end| 2 * end < before) + 1;
    let middle = (half..list.len()).find(|at| !list[*at].tests())?;
    let first = ends[middle - 1];
    (first.min(before - first) >= WORTH).then_some(middle)
}

#[cfg(test)]
mod tests {
    use recal_il::bits::BitSet;
    use recal_il::ir::lines::Shape;
    use recal_il::isa::LaneOp;

    use super::{WORTH, middle};
    use crate::Step;
    use crate::tree::tree;

    #[test]
    fn lists_are_split_where_both_halves_are_worth_it() {
        let op = Step::Lane { op: LaneOp::Iadd, ids: &[1, 1, 2], writes: 1, same: 0 };
        let choice = |ops: usize| {
            let test = Step::If { row: 1, nonzero: true, lanes: Shape::Any };
            [test].into_iter().chain(vec![op; ops]).chain([Step::EndIf])
        };
        let split = |steps: &[Step<'_>]| {
            let tree = tree(steps, BitSet::all(3), false);
            middle(&tree).map(|at| (at, tree.len(), tree[at].tests()))
        };
        // A run, a choice, a run, and so on: the choice belongs to the run before it.
        let list = |count: usize, ops: usize| -> Vec<Step<'_>> {
            (0..count).flat_map(|_| vec![op; 40].into_iter().chain(choice(ops))).collect()
        };
        let (at, count, tests) = split(&list(20, 40)).expect("long enough");
        assert!(count / 3 < at && at < 2 * count / 3 && !tests, "{at} of {count}");
        assert_eq!(split(&list(8, 40)), None);
        // All is in one choice, and what is behind it is not worth a thread.
        assert_eq!(split(&list(1, 4 * WORTH)), None);
    }
}
