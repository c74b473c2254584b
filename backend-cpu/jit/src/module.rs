//! Functions that can be called, and what the processor finds of them.

use std::ops::Range;

use crate::mode::Mode;
use crate::program::Program;
use crate::row::{Row, Wave, Waves};
use crate::target::Target;
use crate::ticks::Ticks;
use crate::{Function, NONE, View, evaluate, native};

/// Functions that can be called.
pub struct Module {
    pub(crate) target: &'static dyn Target,
    pub(crate) code: Vec<u8>,
    /// From which byte on it is for which step.
    pub(crate) marks: Vec<(u32, u32)>,
    /// The same where the processor finds it, if it has the instructions.
    pub(crate) memory: Option<native::Code>,
    /// Rows, so that vectors in it are aligned.
    pub(crate) pool: Box<[Row]>,
    pub(crate) functions: Vec<Function>,
    pub(crate) programs: Vec<Program>,
    /// Stores that learn how their words lie.
    pub(crate) learned: u32,
}

/// A module with the memory that its functions see, which all of them fit.
pub struct Bound<'a> {
    module: &'a Module,
    views: Vec<View>,
    /// Rows that the functions need.
    rows: usize,
}

impl Bound<'_> {
    /// Puts another memory in the place of a view of which nothing but elements is stored, see [`crate::Step::Emit`].
    ///
    /// # Panics
    /// If the elements do not fit it, or texels are read of it.
    #[inline(always)]
    pub fn aim(&mut self, number: u8, view: View) {
        let number = usize::from(number);
        self.module.functions.iter().for_each(|function| function.fits_elements(number, &view, 1));
        let to = &mut self.views[number];
        assert!(to.unit == 0, "texels are read of a view that moves");
        (to.start, to.words) = (view.start, view.words);
    }

    /// Changes words of a view of words, from the first one on.
    #[inline(always)]
    pub fn share(&mut self, number: u8, words: impl IntoIterator<Item = u32>) {
        // Each by itself: who loads several that were just stored waits until they are in the cache.
        let texels = &mut self.views[usize::from(number)].texels;
        texels.iter_mut().zip(words).for_each(|(to, word)| *to = word);
    }

    /// The same as [`Module::call`] for some of the waves, one after another, with less to ask each time; the float mode stays as the
    /// function wants it. `unseen`: nobody sees the rows of lanes that do not execute.
    ///
    /// # Panics
    /// If the processor does not have the instructions, the rows are too few, or the waves, or if not all lanes of a wave execute and the function is for
    /// whole ones.
    #[inline(always)]
    pub fn call(
        &self,
        function: &Function,
        waves: &mut Waves<'_, '_>,
        part: Range<usize>,
        unseen: bool,
        ticks: &mut Ticks<'_>,
        mode: &mut Mode,
    ) {
        assert!(self.rows <= waves.fewest(), "the functions need {} rows", self.rows);
        assert!(!function.group, "the function is for groups");
        if function.emits() {
            let views = self.views.iter().enumerate();
            views.for_each(|(number, view)| function.fits_elements(number, view, part.len()));
        }
        let (all, some) = waves.part(part, unseen && !function.strict());
        for (waves, whole) in [(all, true), (some, false)] {
            if !waves.is_empty() && !ticks.stopped() {
                // SAFETY: all functions of the module fit the views and so many rows, and this one changes no view.
                unsafe { self.module.enter(function, waves, whole, self.views.as_ptr(), ticks, mode) };
            }
        }
    }

    /// Calls what is called for the first wave of a group for as many groups that follow each other, each with rows of its own; words that
    /// are more in the next group have grown after each.
    ///
    /// # Panics
    /// If the processor does not have the instructions, there is no group, the function is for none, or the rows are too few.
    #[inline(always)]
    pub fn call_groups(
        &mut self,
        function: &Function,
        waves: &mut Waves<'_, '_>,
        groups: usize,
        ticks: &mut Ticks<'_>,
        mode: &mut Mode,
    ) {
        assert!(self.rows <= waves.fewest(), "the functions need {} rows", self.rows);
        assert!(function.group && groups > 0, "the function is for no group");
        let (waves, _) = waves.part(0..groups, true);
        // SAFETY: all functions of the module fit the views and so many rows.
        unsafe { self.module.enter(function, waves, true, self.views.as_mut_ptr(), ticks, mode) };
    }
}

impl Module {
    /// The machine code of all functions.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// The machine code of a function: for any lanes, and for all of them, where that differs.
    pub fn code_of(&self, function: Function) -> (&[u8], Option<&[u8]>) {
        let Function { masked, full, end, .. } = function;
        let bytes = |from: u32, to: u32| &self.code[from as usize..to as usize];
        match masked {
            Some(masked) if masked < full => (bytes(masked, full), Some(bytes(full, end))),
            _ => (bytes(full, end), None),
        }
    }

    /// The step of a function that a byte of its code is for, as [`Compiler::function`](crate::Compiler::function) was given them; `whole`: of the code for
    /// all lanes. `None` where it is for the function as a whole.
    pub fn step_at(&self, function: Function, whole: bool, byte: u32) -> Option<u32> {
        let at = byte + if whole { function.full } else { function.masked.unwrap_or(function.full) };
        let after = self.marks.partition_point(|(from, _)| *from <= at);
        let step = self.marks.get(after.checked_sub(1)?)?.1;
        (step != NONE).then_some(step)
    }

    /// The vector program of a function, for people; none if the compiler kept no programs.
    pub fn listing(&self, function: Function) -> Option<String> {
        let [some, all] = function.programs;
        let text = self.programs.get(some as usize)?.to_string();
        let other = self.programs.get(all as usize).filter(|_| all != some);
        Some(match other {
            Some(all) => format!("; where some lanes execute\n{text}; where all lanes execute\n{all}"),
            None => text,
        })
    }

    /// Does what [`Module::call`] does by evaluating the program, for any processor, slowly.
    ///
    /// # Panics
    /// If the compiler kept no programs.
    pub fn evaluate(
        &self,
        function: Function,
        rows: &mut [Row],
        views: &[View],
        exec: u64,
        ticks: &mut Ticks<'_>,
    ) -> u64 {
        function.fits(rows, views);
        let program = &self.programs[function.programs[usize::from(exec == !0)] as usize];
        evaluate::evaluate(program, self.target.lanes() as usize, rows, views, exec, ticks)
    }

    /// Runs a function of this module on rows; returns what [`Step::Test`](crate::Step::Test) says, for lanes in `exec` at least. Lanes
    /// whose bit in `exec` is clear keep what they have, in rows that are not unseen. It ends early if `ticks` says so.
    ///
    /// # Panics
    /// If the processor does not have the instructions, or not all lanes execute and the function is for whole waves.
    #[inline]
    pub fn call(
        &self,
        function: Function,
        rows: &mut [Row],
        views: &[View],
        exec: u64,
        ticks: &mut Ticks<'_>,
    ) -> u64 {
        function.fits(rows, views);
        let mut wave = Wave::new(rows, exec);
        let (whole, waves) = (wave.whole(), std::slice::from_mut(&mut wave));
        // What is called for a group changes views.
        let mut views = views.to_vec();
        // SAFETY: it was just seen that the function fits.
        unsafe { self.enter(&function, waves, whole, views.as_mut_ptr(), ticks, &mut Mode::default()) };
        wave.tested()
    }

    /// The module with the memory that its functions see.
    ///
    /// # Panics
    /// If the views are not what the functions were made for.
    pub fn bind(&self, views: Vec<View>) -> Bound<'_> {
        self.functions.iter().for_each(|function| function.fits_views(&views));
        let rows = self.functions.iter().map(|function| function.rows as usize).max().unwrap_or(0);
        Bound { module: self, views, rows }
    }

    /// See [`Bound::call`]; `whole`: by the code for all lanes.
    ///
    /// # Safety
    /// The function is one of the module's and fits the rows of the waves, of which there is one at least, and the views, of which
    /// it changes words if it is for groups.
    #[inline(always)]
    unsafe fn enter(
        &self,
        function: &Function,
        waves: &mut [Wave<'_>],
        whole: bool,
        views: *const View,
        ticks: &mut Ticks<'_>,
        mode: &mut Mode,
    ) {
        let Some(memory) = &self.memory else { panic!("this processor has no {}", self.target.name()) };
        let at = if whole { Some(function.full) } else { function.masked };
        let Some(at) = at else { panic!("the function is for waves all of whose lanes execute") };
        function.lazy.into_iter().for_each(|lazy| mode.enter(lazy));
        ticks.hold(self.learned);
        // SAFETY: `Compiler` made the bytes at `at` a function of this signature, which reads and writes no rows of the waves, of which there
        // is one at least, but those below `function.rows`, aligned as `Row` is, reads constants of the pool that was made with it, and
        // accesses words of views below `function.views` that lie inside, which `View::new` makes the caller promise; it writes no views but words of them, if it is for groups.
        // It keeps what stores learn where `ticks` has a row for each of the module's. It calls nothing but what `ticks` holds, with `ticks` or with rows, views, constants and operands as above, and leaves the mode as
        // it is. The code
        // is in executable memory only if the processor has the features that it uses.
        unsafe {
            let entry: native::Entry = std::mem::transmute(memory.as_ptr().add(at as usize));
            entry(waves.as_mut_ptr(), self.pool.as_ptr().cast(), waves.len() as u64, views, ticks);
        }
    }
}
