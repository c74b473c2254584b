//! What code for an access to memory has at hand.

use recal_il::ir::lines::{Shape, distance};

use super::Base;
use crate::emit::{Code, Pool};

/// What code for an access to memory has at hand.
pub struct Access<'a> {
    pub code: &'a mut Code,
    pub pool: &'a mut Pool,
    /// Not all lanes execute, but those in this register.
    pub exec: Option<u8>,
    pub view: u8,
    /// The register with the numbers of the words.
    pub index: u8,
    /// In place of those, of a group: where the first lane's element is; all words as far as [`Target::reach`] says are in the view.
    pub at: Option<(Base, u32)>,
    /// What is known of them.
    pub shape: Shape,
    /// All of them lie in the view, with all words of their elements, whether their lanes execute or not. What follows the
    /// first one does only if all lanes execute.
    pub inside: bool,
    /// What lies behind neighbouring words is asked for, where their shape says that they are neighbours.
    pub ahead: bool,
    /// Two places of eight bytes on the stack for the addresses of the last stores: where later ones will be is asked for, likewise.
    pub earlier: Option<u32>,
    /// Where vectors can be put for a while: as many as [`Target::places`] says.
    pub places: Vec<u32>,
    /// Of stores of which all lanes execute, in any order: where on the stack the address of [`Ticks`] is, and whose row among those at
    /// [`LEARNED`](crate::ticks::LEARNED) is the store's.
    pub learned: Option<[u32; 2]>,
}

impl Access<'_> {
    /// Words from one lane's to the next one's, if all lanes execute and theirs lie apart, later ones behind earlier ones.
    pub(super) fn stride(&self) -> Option<u32> {
        // Distances are displacements, of at most 15 strides.
        const MOST: u32 = 1 << 20;
        match self.shape {
            Shape::Step(step) => (2..=MOST).contains(&step).then_some(step),
            _ => None,
        }
    }

    /// The same for no more than the lanes in a register, where nothing is known of the others.
    pub fn within(self, lanes: u8) -> Self {
        Access { exec: Some(lanes), shape: Shape::Any, learned: None, earlier: None, ..self }
    }

    /// The same, or they lie side by side.
    pub fn follows(&self) -> bool {
        self.stride().is_some() || self.shape == Shape::Step(1)
    }
}

/// Words of neighbouring lanes' elements, see [`Graph::groups`].
pub struct Group {
    /// Words of an element: 2 or 4.
    pub count: u32,
    /// Lanes of a line.
    pub line: u32,
    /// Registers of the words; the unwanted ones may be used.
    pub to: [u8; 4],
    pub wanted: [bool; 4],
    /// What is wanted.
    pub order: Order,
}

/// What [`Op::StoreBlocks`] stores.
#[derive(Clone, Copy)]
pub struct Blocks {
    /// Which of the vectors that have a block's elements.
    pub number: u32,
    /// The words of an element that are stored: bit k for word k.
    pub words: u8,
}

impl Blocks {
    /// Words of an element.
    pub fn count(self) -> u32 {
        if self.words < 4 { 2 } else { 4 }
    }

    /// All of them are stored.
    pub(super) fn all(self) -> bool {
        self.words == (1 << self.count()) - 1
    }

    /// The first of the lanes, of each four.
    pub(super) fn first(self) -> u32 {
        self.number * 4 / self.count()
    }

    /// The element of a lane is among them.
    pub fn has(self, lane: u32) -> bool {
        lane % 4 * self.count() / 4 == self.number
    }

    /// Where in the vector it begins, in words.
    pub fn place(self, lane: u32) -> u32 {
        lane / 4 * 4 + (lane % 4 - self.first()) * self.count()
    }

    /// Those of so many lanes, bit by bit.
    pub(super) fn lanes(self, lanes: u32) -> u32 {
        (0..lanes).filter(|lane| self.has(*lane)).fold(0, |bits, lane| bits | 1 << lane)
    }
}

/// Elements at known distances from the first lane's, in a few words that follow each other.
#[derive(Clone, Copy)]
pub struct Window {
    /// As of [`Shape::Bits`].
    bits: [u32; 4],
    /// Words from the first one to the last one that is wanted.
    pub reach: u32,
}

impl Window {
    /// That of elements of so many words, whose first ones have numbers of a shape, if it is no longer than `most`.
    pub fn of(shape: Shape, lanes: u32, count: u32, most: u32) -> Option<Window> {
        let Shape::Bits(bits) = shape else { return None };
        let own = &bits[..lanes.ilog2() as usize];
        let near = own.iter().all(|bit| *bit < most);
        let reach = own.iter().fold(count, |reach, bit| reach.wrapping_add(*bit));
        (near && reach <= most).then_some(Window { bits, reach })
    }

    /// See [`super::Target::reach`].
    pub(super) fn reach(shape: Shape, lanes: u32, count: u32, most: u32) -> Option<u32> {
        match shape {
            Shape::Same => Some(count - 1),
            Shape::Step(step) if step == count => Some(lanes * count - 1),
            _ => Window::of(shape, lanes, count, most).map(|window| window.read() - 1),
        }
    }

    /// Words that x86 reads of it: parts of a vector, or one or two.
    pub(super) fn read(self) -> u32 {
        self.reach.next_power_of_two().max(4)
    }

    /// The word that goes to each place of so many, of word `k` of the elements.
    pub(super) fn words(self, lanes: u32, k: u32) -> Vec<u32> {
        (0..lanes).map(|lane| distance(self.bits, lane) + k).collect()
    }

    /// The same of 64-bit elements, see [`Op::Pair`].
    pub(super) fn pairs(self, lanes: u32, k: u32) -> Vec<u32> {
        let lane = |place: u32| place / 4 * 4 + k % 2 * 2 + place % 4 / 2;
        (0..lanes).map(|place| distance(self.bits, lane(place)) + k / 2 * 2 + place % 2).collect()
    }

    /// The same in an order.
    pub fn table(self, lanes: u32, order: Order, k: usize) -> Vec<u32> {
        match order {
            Order::Pairs => self.pairs(lanes, k as u32),
            Order::Words | Order::Memory => self.words(lanes, k as u32),
        }
    }
}

/// What a group is loaded as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A vector for each word.
    Words,
    /// 64-bit elements, see [`Op::Pair`].
    Pairs,
    /// Elements as they lie in memory, see [`Op::Member`]: of lanes that are known to have neighbours, all of them inside.
    Memory,
}

impl Group {
    /// The words that are needed.
    pub(super) fn words(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let Group { count, wanted, order, .. } = *self;
        let whole = order == Order::Pairs;
        (0..count as usize).filter(move |&k| wanted[k] || whole && wanted[k ^ 1])
    }

    /// The first words of the 64-bit elements that are wanted.
    pub(super) fn elements(&self) -> impl Iterator<Item = usize> + use<> {
        self.words().filter(|k| k % 2 == 0)
    }
}
