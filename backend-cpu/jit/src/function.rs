//! What is known of a function from its steps, and what it needs.

use crate::program::Element;
use crate::row::{LANES, Row};
use crate::step::{Filter, NONE, Shared, Step};
use crate::tree::each_row;
use crate::{Compiler, View, graph};
use recal_il::bits::BitSet;

/// A function of a [`Module`](crate::Module).
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub(crate) full: u32,
    /// None if it is for waves alone all of whose lanes execute.
    pub(crate) masked: Option<u32>,
    /// Where its code ends; that for some lanes comes first.
    pub(crate) end: u32,
    /// Rows that it needs.
    pub(crate) rows: u32,
    /// Views that it needs.
    pub(crate) views: u8,
    /// For each of the first views, two bits: 0, or how many words the texels have that it reads.
    pub(crate) units: u64,
    /// It stores to views.
    pub(crate) stores: bool,
    /// Lanes that take no part matter.
    pub(crate) strict: bool,
    /// It does what all threads of a group do.
    pub(crate) group: bool,
    /// Whether denormal operands count as zeros while it runs, if that matters.
    pub(crate) lazy: Option<bool>,
    /// Numbers of its programs, if programs are kept: for some lanes, and for all.
    pub(crate) programs: [u32; 2],
    /// For each view, two bits: 0, or the words of the elements that it stores there where all lanes execute.
    pub(crate) emitted: u64,
    /// Views that are stored to past the caches.
    pub(crate) past_caches: u32,
    /// See [`Function::repacks`].
    pub(crate) repacks: Option<u32>,
}

impl Function {
    /// It does the [`Step::Emit`] of its steps, where all lanes execute.
    pub fn emits(&self) -> bool {
        self.emitted != 0
    }

    /// The same for a view.
    pub fn emits_to(&self, view: u8) -> bool {
        usize::from(view) < graph::SURFACES && self.emitted >> (2 * view) & 3 != 0
    }

    pub(crate) fn emit(&mut self, elements: &[Element]) {
        for &Element { view, count, past_caches, .. } in elements {
            self.emitted |= graph::unit_code(count) << (2 * view);
            self.past_caches |= u32::from(past_caches) << view;
            self.stores = true;
        }
    }

    /// # Panics
    /// If the elements of so many waves that are stored to a view do not fit it.
    pub(crate) fn fits_elements(&self, number: usize, view: &View, waves: usize) {
        if number < graph::SURFACES {
            let words = [0, 1, 2, 4][(self.emitted >> (2 * number) & 3) as usize];
            assert!(words * LANES * waves <= view.words as usize, "elements are stored beyond the end");
            let aligned = self.past_caches >> number & 1 == 0 || view.start.addr().is_multiple_of(64);
            assert!(aligned, "what passes the caches is not aligned");
        }
    }

    /// It is called for nothing but waves all of whose lanes execute.
    pub fn for_whole_waves(&self) -> bool {
        self.masked.is_none()
    }

    /// It may leave the loop that [`Compiler::repack`] named, if [`Ticks::repack`](crate::Ticks::repack) says so: then it returns the lanes that were in it, and the
    /// steps after the loop are left to do for so many lanes at a time, those among which the first of these is and all after them.
    pub fn repacks(&self) -> Option<u32> {
        self.repacks
    }

    /// It is called for the first wave of a group, for all of them.
    pub fn of_group(&self) -> bool {
        self.group
    }

    /// It stores to views or has constructs, so that lanes which take no part matter even if nobody sees their rows.
    pub fn strict(&self) -> bool {
        self.stores || self.strict
    }

    pub(crate) fn fits(&self, rows: &[Row], views: &[View]) {
        assert!(self.rows as usize <= rows.len(), "the function needs {} rows", self.rows);
        self.fits_views(views);
    }

    pub(crate) fn fits_views(&self, views: &[View]) {
        assert!(usize::from(self.views) <= views.len(), "the function needs {} views", self.views);
        let unit = |view: usize| self.units >> (2 * view) & 3;
        let right =
            |(view, seen): (usize, &View)| unit(view) == 0 || unit(view) == graph::unit_code(seen.unit);
        let texels = views.iter().take(self.views.into()).take(graph::SURFACES).enumerate().all(right);
        assert!(texels, "the function reads texels of another size");
        views
            .iter()
            .take(self.views.into())
            .enumerate()
            .for_each(|(at, view)| self.fits_elements(at, view, 1));
    }
}

/// What becomes of a row after a function that mentions it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It is read as the function leaves it.
    Read,
    /// Only lanes that do not execute are read, as they were before.
    Kept,
    /// Nobody reads it before it is written.
    Dead,
}

impl From<bool> for After {
    /// Whether it is dead.
    fn from(dead: bool) -> After {
        if dead { After::Dead } else { After::Read }
    }
}

/// The rows that are read after a function, and those of which lanes that do not execute are, too.
#[derive(Default)]
pub(crate) struct Later {
    pub read: BitSet,
    pub kept: BitSet,
}

impl Compiler {
    /// A function of steps as far as they say what it is, what becomes of its rows, and the elements that it stores last.
    pub(crate) fn described<A: Into<After>>(
        &self,
        steps: &[Step<'_>],
        after: impl Fn(u32) -> A,
    ) -> (Function, Later, Vec<Element>) {
        let mut function = Function {
            full: 0,
            masked: None,
            end: 0,
            rows: 0,
            views: 0,
            units: 0,
            stores: false,
            strict: false,
            group: false,
            lazy: None,
            programs: [0; 2],
            emitted: 0,
            past_caches: 0,
            repacks: None,
        };
        let (mut seen, mut later) = (BitSet::new(), Later::default());
        let mut elements = Vec::new();
        for step in steps {
            each_row(step, |row, _| {
                function.rows = function.rows.max(row + 1);
                if seen.insert_new(row) {
                    match after(row).into() {
                        After::Read => later.read.insert(row),
                        After::Kept => later.kept.insert(row),
                        After::Dead => {}
                    }
                }
                if let Some(&Shared { view, plus, .. }) = self.shared.get(&row) {
                    function.views = function.views.max(view + 1);
                    function.rows = function.rows.max(plus.map_or(0, |row| row + 1));
                }
            });
            match *step {
                Step::Load { view, .. } | Step::LoadElement { view, .. } | Step::LoadPart { view, .. } => {
                    function.views = function.views.max(view + 1);
                }
                Step::Sample { view, sample, .. } => {
                    function.views = function.views.max(view + 1);
                    let asks = matches!(sample.filter, Filter::Integers | Filter::Element);
                    if !asks && graph::checked_once(view, sample.format) {
                        let unit = graph::unit_code(sample.format.read_words());
                        function.units |= unit << (2 * view);
                    }
                }
                Step::Store { view, .. }
                | Step::StoreElement { view, .. }
                | Step::StorePart { view, .. }
                | Step::StoreTexel { view, .. }
                | Step::Atomic { view, .. }
                | Step::Count { view, .. } => {
                    function.views = function.views.max(view + 1);
                    function.stores = true;
                }
                Step::Emit { view, rows, count, past_caches } => {
                    function.views = function.views.max(view + 1);
                    elements.push(Element { view, rows, count, past_caches });
                }
                _ => {}
            }
        }
        // Components that an element does not have are for nobody.
        let rows = |of: &Element, has: bool| {
            let (first, rest) = of.rows.split_at(of.count as usize);
            let rows = if has { first } else { rest };
            rows.iter().copied().filter(|row| *row != NONE).collect::<Vec<u32>>()
        };
        elements.iter().flat_map(|of| rows(of, false)).for_each(|row| later.read.remove(row));
        elements.iter().flat_map(|of| rows(of, true)).for_each(|row| later.read.insert(row));
        (function, later, elements)
    }
}
