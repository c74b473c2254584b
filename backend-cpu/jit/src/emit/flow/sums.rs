//! Code for loops whose elements stay as they lie in memory.

use std::mem::take;

use super::{Around, Flow};
use crate::NONE;
use crate::emit::work::Common;
use crate::graph::interleaved::{Words, count};
use crate::program::Sums;
use crate::target::{Base, Rm, Steps};
use rustc_hash::{FxHashMap, FxHashSet};

/// What strips have in common of what is the same in a line, and of what all lines have in common.
fn in_common(same: &[u32], equal: &FxHashSet<u32>) -> FxHashMap<u32, Common> {
    let lines = equal.iter().map(|of| (*of, Common::Lines));
    let of_line = |of: &u32| (*of, if equal.contains(of) { Common::All } else { Common::Line });
    lines.chain(same.iter().map(of_line)).collect()
}

impl Flow<'_, '_> {
    /// Appends the loop; the jump that is taken when it has ended well. Else the code goes on behind, and nothing has changed.
    pub(super) fn sums(&mut self, of: &Sums) -> usize {
        let (target, number) = (self.target, self.frame.strips.number);
        let before = self.frame.slots;
        let apart = self.frame.strips.clone();
        self.frame.strips.kept = in_common(&of.same_kept, &of.equal_kept);
        let step = |&(number, step): &(u32, u32)| (number, target.lanes() * step);
        let words = of.reduced.iter().flat_map(|reduced| &reduced.inductions);
        let words = words.filter_map(|word| Some((word.number, word.step?)));
        self.frame.strips.steps = of.steps.iter().copied().chain(words).map(|of| step(&of)).collect();
        let mut fails = Vec::new();
        let (graph, values) = &of.kept;
        if !values.is_empty() {
            self.frame.keep(graph, values);
        }
        for &(of, step) in &of.steps {
            let all: Vec<u32> = self.frame.strips.kept(of).map(|kept| kept % number).collect();
            for strip in all {
                let first = self.frame.strips.first(strip);
                let [at, first_at] =
                    [strip, first].map(|strip| self.frame.kept[(number * of + strip) as usize]);
                let from = (strip - first) * target.lanes() * step;
                let steps = Steps { at, first: first_at, from, step };
                let frame = &mut *self.frame;
                fails.push(target.unless_steps(&mut frame.code, frame.pool, steps));
            }
        }
        if let Some((entry, doubted)) = &of.entry {
            let good = self.frame.attempt(entry, *doubted);
            fails.push(target.jump(&mut self.frame.code));
            self.land(good);
        }
        self.frame.strips.rows = in_common(&of.same_rows, &of.equal_rows);
        self.move_rows(of, true);
        let around = take(&mut self.around);
        self.frame.pin_rows(&of.hot);
        self.move_pinned(true);
        self.frame.summing = true;
        if let Some(arrange) = &mut self.frame.arrange {
            let members = of.elements.iter().flat_map(|words| (0..).zip(&words[..count(words)]));
            let strips = members
                .flat_map(|(k, row)| (0..number).map(move |strip| (number * row + strip, 4 * strip + k)));
            arrange.members = strips.collect();
        }
        fails.extend(self.frame.pack(&of.body));
        if let (Some(reduced), true) = (&of.reduced, self.frame.reduced) {
            self.reduced(reduced);
        }
        self.frame.begin();
        let head = self.frame.code.bytes.len();
        self.list(&of.body);
        self.tick(Some(head), false);
        target.again(&mut self.frame.code, head);
        let Around { exits, .. } = std::mem::replace(&mut self.around, around);
        exits.into_iter().for_each(|exit| self.land(exit));
        self.frame.summing = false;
        self.move_pinned(false);
        self.frame.pinned.clear();
        match &of.exit {
            (exit, Some(doubted)) => {
                let good = self.frame.attempt(exit, *doubted);
                fails.push(target.jump(&mut self.frame.code));
                self.land(good);
            }
            (exit, None) => _ = self.frame.block(exit),
        }
        self.move_rows(of, false);
        self.frame.kept.clear();
        self.frame.anchors.clear();
        self.frame.strips = apart;
        self.frame.slots = before;
        let end = target.jump(&mut self.frame.code);
        fails.into_iter().for_each(|fails| self.land(fails));
        end
    }

    /// Puts what the loop changes on the stack, or back into rows, when nothing is in registers.
    fn move_rows(&mut self, of: &Sums, there: bool) {
        let (target, number) = (self.target, self.frame.strips.number);
        let rows = of.rows.iter().map(|row| [*row, NONE, NONE, NONE]);
        let lists: Vec<Words<u32>> = of.elements.iter().copied().chain(rows).collect();
        for (list, strip) in lists.iter().flat_map(|list| (0..number).map(move |strip| (list, strip))) {
            let holder = self.frame.strips.of_row(list[0], strip);
            if there && holder != strip {
                continue;
            }
            let rows: Vec<u32> = list[..count(list)].iter().map(|row| number * row + strip).collect();
            if there {
                rows.iter().for_each(|row| {
                    let at = self.frame.slot();
                    self.frame.moved.insert(*row, at);
                });
            }
            let place = |row: &u32| {
                let moved = row - strip + holder;
                let places = [(Base::Rows, self.frame.row(*row)), self.frame.place_of(moved)];
                if there { places } else { [places[1], places[0]] }
            };
            let places: Vec<[(Base, u32); 2]> = rows.iter().map(place).collect();
            let code = &mut self.frame.code;
            for (register, [(base, at), _]) in (0..).zip(&places) {
                target.load(code, register, Rm::Mem(*base, *at));
            }
            if rows.len() > 1 {
                target.interleave(code, rows.len() as u32, there);
            }
            for (register, [_, (base, at)]) in (0..).zip(&places) {
                target.store(code, register, *base, *at);
            }
        }
        if !there {
            self.frame.moved.clear();
        }
    }
}
