//! Loads of words at known distances from each other, in a [`Window`] of two vectors at r11, by the fewest instructions.

use super::VECTOR;
use super::encode::{plain, short, vector};
use super::groups::transpose;
use super::table::*;
use crate::emit::{Code, Pool};
use crate::target::{Base, Group, Order, Rm, Window};

/// Most words of a window.
pub const MOST: u32 = 16;

/// How the words of a vector come from the window's.
#[derive(Clone, Copy)]
enum Way {
    /// Those of each half of a vector from that half of the first one in memory, as bits say.
    Halves(u8),
    /// Those of both halves from the first four words.
    Twice(u8),
    /// From anywhere in two vectors; those of these lanes from the second one.
    Any(u8),
}

impl Way {
    /// That of a table, a word of the window for each lane.
    fn of(table: &[u32]) -> Way {
        let (low, high) = table.split_at(4);
        let bits = (0..).zip(low).fold(0, |bits, (lane, word)| bits | ((word % 4) as u8) << (2 * lane));
        let behind = |by: u32| low.iter().zip(high).all(|(low, high)| *low < 4 && low + by == *high);
        match () {
            () if behind(4) => Way::Halves(bits),
            () if behind(0) => Way::Twice(bits),
            () => Way::Any((0..8).filter(|&lane| table[lane] >= 8).fold(0, |bits, lane| bits | 1 << lane)),
        }
    }

    /// Operations of a processor that moves words between the halves by two.
    fn cost(self) -> usize {
        match self {
            Way::Halves(_) => 1,
            Way::Twice(_) => 2,
            Way::Any(0 | 0xFF) => 3,
            Way::Any(_) => 6,
        }
    }
}

/// Loads words as each table says to a register.
pub fn words(code: &mut Code, pool: &mut Pool, window: Window, tables: &[(u8, Vec<u32>)]) {
    let part = |k: u32| Rm::Mem(Base::First, 32 * k);
    for (to, table) in tables {
        let to = *to;
        let way = Way::of(table);
        match way {
            Way::Halves(bits) => vector(code, PERMILPS, to, 0, part(0), Some(bits)),
            Way::Twice(bits) => {
                plain(code, BROADCASTF128, to, part(0));
                vector(code, PERMILPS, to, 0, Rm::Reg(to), Some(bits));
            }
            Way::Any(second) => {
                // Three bits of each number count.
                plain(code, LOAD, to, Rm::Mem(Base::Pool, pool.table(table)));
                match second {
                    0 if window.reach <= 4 => {
                        short(code, LOAD, VECTOR, part(0));
                        vector(code, PERMD, to, to, Rm::Reg(VECTOR), None);
                    }
                    0 => vector(code, PERMD, to, to, part(0), None),
                    0xFF => vector(code, PERMD, to, to, part(1), None),
                    _ => {
                        vector(code, PERMD, VECTOR, to, part(1), None);
                        vector(code, PERMD, to, to, part(0), None);
                        vector(code, BLENDPS, to, to, Rm::Reg(VECTOR), Some(second));
                    }
                }
            }
        }
    }
}

/// Loads what is wanted of a group's elements.
pub fn elements(code: &mut Code, pool: &mut Pool, window: Window, group: &Group) {
    let Group { count, to, wanted, order, .. } = *group;
    let wants = (0..4).filter(|&k| wanted[k]);
    let tables: Vec<_> = wants.map(|k| (to[k], window.table(8, order, k))).collect();
    let starts = window.words(8, 0);
    let apart = (0..4).filter(|&lane| starts[lane] != starts[lane + 4]).count();
    // To turn four elements over takes two operations for each vector, and two copies.
    let turned = 4 + apart + 2 * tables.len() + 2;
    if count < 4
        || order != Order::Words
        || tables.iter().map(|(_, table)| Way::of(table).cost()).sum::<usize>() <= turned
    {
        return words(code, pool, window, &tables);
    }
    for (lane, &to) in to.iter().enumerate() {
        let [low, high] = [lane, lane + 4].map(|lane| Rm::Mem(Base::First, 4 * starts[lane]));
        match starts[lane] == starts[lane + 4] {
            true => plain(code, BROADCASTF128, to, low),
            false => {
                short(code, LOAD, to, low);
                vector(code, INSERTF128, to, to, high, Some(1));
            }
        }
    }
    transpose(code, to, wanted);
}
