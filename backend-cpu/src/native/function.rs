//! One function of items.

use std::rc::Rc;

use recal_jit::Function;
use rustc_hash::FxHashSet;

use super::after::Rows;
use super::item::{Item, What};
use super::{Builder, column};
use crate::op::RowId;

impl Builder<'_> {
    /// The function that does items, of which rows are read from after `last` on.
    pub(super) fn function(&mut self, items: &[Item], last: Item) -> Option<Function> {
        self.function_for(items, last, false)
    }

    /// The same; `late`: for lanes of a wave whose other lanes have done it.
    pub(super) fn function_for(&mut self, items: &[Item], last: Item, late: bool) -> Option<Function> {
        let code = self.code;
        let (mentions, lives) = (Rc::clone(&self.mentions), Rc::clone(&self.lives));
        let rows = Rows::after(code, &mentions, &lives, items, last);
        let copies = self.copies(items);
        let steps = self.steps(items, &copies)?;
        // What other lanes have in temporaries is read before these are written again.
        let unseen = |row: RowId| !late && (code.temporaries.contains(row) || row >= code.rows);
        self.ask(items);
        let equal = match column(code).filter(|_| !code.turned) {
            // Lines of a tile have columns in common, unless it is turned, as all have constants.
            Some(column) => code.constants.iter().map(|(row, ..)| *row).chain([column]).collect(),
            None if self.columns => self.equal_in_lines(items, &steps),
            None => FxHashSet::default(),
        };
        self.compiler.equal_in_lines(equal);
        self.compiler.function(&steps, |row| self.words.get(&row).copied(), |row| rows.of(row), unseen)
    }

    /// Rows that steps find as they are in each line of a wave, where lines follow each other along y.
    fn equal_in_lines(&self, items: &[Item], steps: &[recal_jit::Step<'_>]) -> FxHashSet<u32> {
        let (mut equal, mut written): (FxHashSet<RowId>, FxHashSet<RowId>) = Default::default();
        for (item, step) in items.iter().zip(steps) {
            match (item.what, step) {
                (What::Step(number), &recal_jit::Step::Lane { ids, writes, .. }) => {
                    let (to, from) = ids.split_at(writes);
                    let down = self.code.steps[number as usize].down;
                    let found =
                        (0..32).zip(from).filter(|(k, row)| down >> k & 1 == 1 && !written.contains(*row));
                    equal.extend(found.map(|(_, row)| *row));
                    written.extend(to);
                }
                (What::Load(index, _), recal_jit::Step::Load { address, to, .. }) => {
                    let down = self.code.memory[index as usize].lanes.down & 1 == 1;
                    equal.extend(Some(*address).filter(|row| down && !written.contains(row)));
                    written.extend(to);
                }
                (What::Test(_), _) => {}
                // What else there is has a function of its own that is done strip by strip.
                _ => return FxHashSet::default(),
            }
        }
        equal
    }
}
