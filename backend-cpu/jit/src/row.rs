use std::marker::PhantomData;
use std::mem::offset_of;
use std::ops::Range;

/// Lanes of a wave.
pub const LANES: usize = 64;

/// One word for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Row(pub [u32; LANES]);

impl Row {
    /// All lanes 0.
    pub const ZERO: Row = Row([0; LANES]);

    /// The same word in all lanes.
    pub const fn splat(word: u32) -> Row {
        Row([word; LANES])
    }
}

/// The rows of a wave as functions find them, and its lanes.
#[repr(C)]
pub struct Wave<'a> {
    rows: *mut Row,
    exec: u64,
    tested: u64,
    count: usize,
    held: PhantomData<&'a mut [Row]>,
}

/// What code knows of a [`Wave`]: where things are, and how many bytes it is from one to the next.
pub const WAVE_EXEC: u8 = offset_of!(Wave<'_>, exec) as u8;
/// See [`WAVE_EXEC`].
pub const WAVE_TESTED: u8 = offset_of!(Wave<'_>, tested) as u8;
/// See [`WAVE_EXEC`].
pub const WAVE_BYTES: u8 = size_of::<Wave<'_>>() as u8;

const _: () = assert!(offset_of!(Wave<'_>, rows) == 0);

impl<'a> Wave<'a> {
    /// A wave of which the lanes whose bits are set in `exec` execute.
    pub fn new(rows: &'a mut [Row], exec: u64) -> Wave<'a> {
        Wave { count: rows.len(), rows: rows.as_mut_ptr(), exec, tested: 0, held: PhantomData }
    }

    /// All lanes execute.
    pub(crate) fn whole(&self) -> bool {
        self.exec == !0
    }

    /// What [`Step::Test`](crate::Step::Test) said in the function that was called last, for lanes that execute at least.
    pub fn tested(&self) -> u64 {
        self.tested
    }
}

/// Waves that functions are called for.
pub struct Waves<'w, 'a> {
    list: &'w mut [Wave<'a>],
    /// Fewest rows that one of them has.
    rows: usize,
    /// How many there are before the first one of which not all lanes execute.
    whole: usize,
}

impl<'w, 'a> Waves<'w, 'a> {
    /// These.
    #[inline(always)]
    pub fn new(list: &'w mut [Wave<'a>]) -> Waves<'w, 'a> {
        let rows = list.iter().map(|wave| wave.count).min().unwrap_or_default();
        let whole = list.iter().take_while(|wave| wave.whole()).count();
        Waves { list, rows, whole }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The rows of one.
    pub fn rows(&mut self, number: usize) -> &mut [Row] {
        let Wave { rows, count, .. } = self.list[number];
        // SAFETY: what `Wave::new` was given, which nobody else has meanwhile.
        unsafe { std::slice::from_raw_parts_mut(rows, count) }
    }

    /// The lanes of one that execute.
    pub fn executing(&self, number: usize) -> u64 {
        self.list[number].exec
    }

    /// [`Wave::tested`] of one.
    pub fn tested(&self, number: usize) -> u64 {
        self.list[number].tested
    }

    /// Fewest rows that one of them has.
    pub(crate) fn fewest(&self) -> usize {
        self.rows
    }

    /// Some of them: those of which all lanes execute, and the rest from the first other one on; `unseen`: lanes that do not are as good.
    #[inline(always)]
    pub(crate) fn part(&mut self, part: Range<usize>, unseen: bool) -> (&mut [Wave<'a>], &mut [Wave<'a>]) {
        let end = if unseen { part.end } else { self.whole.clamp(part.start, part.end) };
        self.list[part.clone()].split_at_mut(end - part.start)
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::ZERO
    }
}

/// The numbers of the lanes whose bits are set, lowest first.
#[inline(always)]
pub fn lanes(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(lane)
    })
}
