//! What lanes do to memory that others change meanwhile, for whoever does it: the interpreter, the evaluator, and code by a call.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use recal_il::ir::AtomicOp;
use recal_il::isa::Scalar;
use recal_il::isa::memory::atomic::{new_quad, new_word};

use crate::row::lanes;

/// What an atomic changes: a word, or two.
pub trait Cell {
    /// What it holds.
    type Value: Copy + PartialEq + Default;

    /// What there is.
    fn load(&self) -> Self::Value;
    /// From now on.
    fn store(&self, value: Self::Value);
    /// Adds; what it was.
    fn add(&self, value: Self::Value) -> Self::Value;
    /// What it was.
    fn swap(&self, value: Self::Value) -> Self::Value;
    /// The new value if it still is the old one, and perhaps not even then; else what it is.
    fn exchange(&self, old: Self::Value, new: Self::Value) -> Result<Self::Value, Self::Value>;
    /// What an operation makes of a value.
    fn after(op: AtomicOp, m: Self::Value, sources: [Self::Value; 2]) -> Self::Value;
}

macro_rules! cell {
    ($atomic:ident, $value:ident, $new:ident) => {
        impl Cell for $atomic {
            type Value = $value;

            #[inline(always)]
            fn load(&self) -> $value {
                self.load(Relaxed)
            }

            #[inline(always)]
            fn store(&self, value: $value) {
                self.store(value, Relaxed)
            }

            #[inline(always)]
            fn add(&self, value: $value) -> $value {
                self.fetch_add(value, Relaxed)
            }

            #[inline(always)]
            fn swap(&self, value: $value) -> $value {
                self.swap(value, Relaxed)
            }

            #[inline(always)]
            fn exchange(&self, old: $value, new: $value) -> Result<$value, $value> {
                self.compare_exchange_weak(old, new, Relaxed, Relaxed)
            }

            #[inline(always)]
            fn after(op: AtomicOp, m: $value, [s, s2]: [$value; 2]) -> $value {
                $new(&mut Scalar, op, m, s, s2)
            }
        }
    };
}

cell!(AtomicU32, u32, new_word);
cell!(AtomicU64, u64, new_quad);

/// Changes a cell as `new` says, which is asked again if others were there first; what it was. A value that stays is not written: the
/// cell stays in everybody's cache.
#[inline(always)]
fn update<C: Cell>(cell: &C, mut new: impl FnMut(C::Value) -> C::Value) -> C::Value {
    let mut m = cell.load();
    loop {
        let value = new(m);
        if value == m {
            return m;
        }
        match cell.exchange(m, value) {
            Ok(m) => return m,
            Err(now) => m = now,
        }
    }
}

/// What one lane does; what it found.
#[inline(always)]
fn one<C: Cell>(cell: &C, op: AtomicOp, sources: [C::Value; 2]) -> C::Value {
    match op {
        AtomicOp::Add | AtomicOp::Sub => cell.add(C::after(op, C::Value::default(), sources)),
        AtomicOp::Xchg => cell.swap(sources[0]),
        _ => update(cell, |m| C::after(op, m, sources)),
    }
}

/// An atomic by each of the lanes whose bits are set, lowest first, on the cell of the number that it names. It is told what it found, which
/// is 0 where there is no cell. Lanes that follow each other and name one cell change it at once. `alone`: nobody else has the memory
/// meanwhile, so what a processor does for others is not needed.
#[inline(always)]
pub fn each<'m, C: Cell + 'm>(
    (op, alone): (AtomicOp, bool),
    exec: u64,
    at: impl Fn(usize) -> u32,
    cell: impl Fn(u32) -> Option<&'m C>,
    sources: impl Fn(usize) -> [C::Value; 2],
    mut found: impl FnMut(usize, C::Value),
) {
    if alone {
        for lane in lanes(exec) {
            let m = cell(at(lane)).map(|cell| {
                let m = cell.load();
                cell.store(C::after(op, m, sources(lane)));
                m
            });
            found(lane, m.unwrap_or_default());
        }
        return;
    }
    let mut rest = exec;
    while rest != 0 {
        let first = rest.trailing_zeros() as usize;
        let number = at(first);
        let other = lanes(rest).find(|lane| at(*lane) != number);
        let same = rest & other.map_or(u64::MAX, |other| (1 << other) - 1);
        rest &= !same;
        let Some(cell) = cell(number) else {
            lanes(same).for_each(|lane| found(lane, C::Value::default()));
            continue;
        };
        if same.is_power_of_two() {
            found(first, one(cell, op, sources(first)));
            continue;
        }
        // What the lanes make of a value, one after another.
        let all = |m: C::Value| lanes(same).fold(m, |m, lane| C::after(op, m, sources(lane)));
        let mut m = match op {
            AtomicOp::Add | AtomicOp::Sub => cell.add(all(C::Value::default())),
            _ => update(cell, all),
        };
        for lane in lanes(same) {
            found(lane, m);
            m = C::after(op, m, sources(lane));
        }
    }
}

/// Each of the lanes counts a word on by one; it is told what it was.
#[inline(always)]
pub fn append(cell: Option<&AtomicU32>, exec: u64, found: impl FnMut(usize, u32)) {
    each((AtomicOp::Add, false), exec, |_| 0, |_| cell, |_| [1, 0], found);
}

/// Each of the lanes counts a word back by one; it is told what it is then.
#[inline(always)]
pub fn consume(cell: Option<&AtomicU32>, exec: u64, mut found: impl FnMut(usize, u32)) {
    let step = u32::from(cell.is_some());
    let left = |lane, m: u32| found(lane, m.wrapping_sub(step));
    each((AtomicOp::Sub, false), exec, |_| 0, |_| cell, |_| [1, 0], left);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight lanes in runs of one, two and three cells of four, one of which is not there: as each lane alone would do it.
    #[test]
    fn lanes_on_one_cell_do_what_each_would_do() {
        let at = [2, 2, 0, 3, 3, 3, 9, 0];
        let sources = [[5, 7], [9, 5], [0, 0], [7, 9], [3, 7], [u32::MAX, 3], [1, 1], [2, 100]];
        for op in AtomicOp::ALL {
            for exec in [0xFF, 0b1011_0110, 0b0011_1000, 0] {
                let begin = [100, 2, 5, 7];
                let (mut expected, mut left) = ([u32::MAX; 8], begin);
                for lane in (0..8).filter(|lane| exec >> lane & 1 == 1) {
                    expected[lane] = left.get(at[lane]).copied().unwrap_or(0);
                    if let Some(m) = left.get_mut(at[lane]) {
                        *m = AtomicU32::after(op, *m, sources[lane]);
                    }
                }
                for alone in [true, false] {
                    let cells = begin.map(AtomicU32::new);
                    let mut found = [u32::MAX; 8];
                    each(
                        (op, alone),
                        exec,
                        |lane| at[lane] as u32,
                        |number| cells.get(number as usize),
                        |lane| sources[lane],
                        |lane, m| found[lane] = m,
                    );
                    assert_eq!(
                        (found, cells.map(AtomicU32::into_inner)),
                        (expected, left),
                        "{op:?} {exec:b}"
                    );
                }
            }
        }
    }

    #[test]
    fn counters_go_on_and_back_by_lanes() {
        let cell = AtomicU32::new(10);
        let mut found = Vec::new();
        append(Some(&cell), 0b1101, |lane, m| found.push((lane, m)));
        consume(Some(&cell), 0b0110, |lane, m| found.push((lane, m)));
        assert_eq!((found, cell.into_inner()), (vec![(0, 10), (2, 11), (3, 12), (1, 12), (2, 11)], 11));
    }

    /// A word to which others add 100 so many times when it is to be exchanged.
    struct Contended {
        value: std::cell::Cell<u32>,
        others: std::cell::Cell<u32>,
    }

    impl Cell for Contended {
        type Value = u32;

        fn load(&self) -> u32 {
            self.value.get()
        }

        fn store(&self, value: u32) {
            self.value.set(value);
        }

        fn add(&self, value: u32) -> u32 {
            self.value.replace(self.value.get().wrapping_add(value))
        }

        fn swap(&self, value: u32) -> u32 {
            self.value.replace(value)
        }

        fn exchange(&self, old: u32, new: u32) -> Result<u32, u32> {
            match self.others.get() {
                0 if old == self.value.get() => Ok(self.value.replace(new)),
                0 => Err(self.value.get()),
                others => {
                    self.others.set(others - 1);
                    self.value.set(self.value.get() + 100);
                    Err(self.value.get())
                }
            }
        }

        fn after(op: AtomicOp, m: u32, sources: [u32; 2]) -> u32 {
            AtomicU32::after(op, m, sources)
        }
    }

    #[test]
    fn lanes_begin_again_where_others_were_first() {
        for (exec, lanes) in [(0b100, 1), (0xFF, 8)] {
            let cell = Contended { value: 0.into(), others: 2.into() };
            let mut found = Vec::new();
            let sources = |_| [u32::MAX, 0];
            each((AtomicOp::Inc, false), exec, |_| 0, |_| Some(&cell), sources, |_, m| found.push(m));
            assert_eq!((found, cell.load()), ((200..200 + lanes).collect(), 200 + lanes));
        }
    }
}
