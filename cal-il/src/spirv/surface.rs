//! Bound surfaces and samplers, as the launch table has them, and their elements.

use rspirv::spirv::{Op, Word};

use super::format::Element;
use super::launch::{Slot, encoding_number};
use super::memory::Place;
use super::{Emitter, Formats};
use crate::format::Encoding;
use crate::ir::Id;
use crate::isa::Algebra;
use crate::isa::memory::Truth;
use crate::isa::memory::element::{self, Layout};

/// A bound surface.
#[derive(Clone, Copy)]
pub(super) struct Surface {
    pub place: Place,
    /// Size in words; 0 if nothing is bound.
    pub words: Word,
    pub format: Word,
    pub width: Word,
    pub height: Word,
    pub pitch: Word,
    pub fill: Word,
    /// Words of an element, where they are known and stored unconverted.
    pub element_words: Option<u32>,
    /// Always bound.
    pub bound: bool,
    /// Contains the domain, and the domain with columns and rows exchanged.
    pub covers: [bool; 2],
}

impl Emitter<'_> {
    pub fn surface_at(&mut self, row: u32) -> Surface {
        let empty = self.layout.row(Slot::Empty);
        let row_id = self.w.word(row);
        self.surface_of(row_id, row != empty)
    }

    fn surface_of(&mut self, row: Word, bound: bool) -> Surface {
        let one = self.word(1);
        let number = self.w.bits.get(&row).copied();
        let second = match number {
            Some(row) => self.w.word(row + 1),
            None => self.iadd(row, one),
        };
        // Surfaces of the same sizes share the words that say so, and thereby everything computed from them.
        let sizes = match number.and_then(|row| self.same_size.get(&row)) {
            Some(row) => self.w.word(row + 1),
            None => second,
        };
        let (head, second, sizes) = (self.row(row), self.row(second), self.row(sizes));
        let words = self.head_words(number, head);
        Surface {
            place: words.place,
            words: words.limit,
            format: self.part(head, 3),
            element_words: match self.assume.formats {
                Formats::FourWords => Some(4),
                _ => number.and_then(|row| self.element_words.get(&row).copied()),
            },
            width: self.part(sizes, 0),
            height: self.part(sizes, 1),
            pitch: self.part(sizes, 2),
            fill: self.part(second, 3),
            bound,
            covers: [0, 1].map(|k| number.is_some_and(|row| self.covering[k].contains(&row))),
        }
    }

    /// The first row of an object whose number may be computed.
    fn indexed_row(&mut self, id: &Id, first: Slot, count: u32) -> Option<Word> {
        let index = self.operand(id.index.as_ref()?);
        let base = self.word(id.base);
        let number = self.iadd(base, index);
        let (limit, one) = (self.word(count), self.word(1));
        let (first, empty) = (self.layout.row(first), self.layout.row(Slot::Empty));
        let (first, empty) = (self.word(first), self.word(empty));
        let known = self.ult(number, limit);
        let offset = self.shl(number, one);
        let row = self.iadd(first, offset);
        Some(self.select(known, row, empty))
    }

    pub fn surface(&mut self, id: &Id) -> Surface {
        let count = self.layout.slots.keys().filter(|slot| matches!(slot, Slot::Resource(_))).count() as u32;
        match self.indexed_row(id, Slot::Resource(0), count) {
            Some(row) => self.surface_of(row, false),
            None => {
                let row = self.layout.row(Slot::Resource(id.base));
                self.surface_at(row)
            }
        }
    }

    /// log2 of the bytes of an element.
    pub fn lg_bytes(&mut self, surface: &Surface) -> Word {
        let shift = self.word(24);
        self.shr(surface.format, shift)
    }

    /// Four words of the sampler: linear, wrap modes. `None` = the default state.
    pub fn sampler(&mut self, sampler: &Id) -> Option<(Word, [Word; 4])> {
        if self.assume.default_samplers {
            return None;
        }
        let row = match self.indexed_row(sampler, Slot::Sampler(0), 16) {
            Some(row) => row,
            None => {
                let row = self.layout.row(Slot::Sampler(sampler.base));
                self.w.word(row)
            }
        };
        let state = self.row(row);
        let (linear, u, v) = (self.part(state, 0), self.part(state, 1), self.part(state, 2));
        let one = self.word(1);
        let second = self.iadd(row, one);
        let border = self.row(second);
        Some((border, [linear, u, v, v]))
    }

    /// Stores at column `x`, row `y` of the domain, in the surface at a row of the launch table, if that is inside.
    pub fn store_texel(&mut self, row: u32, x: Word, y: Option<Word>, words: [Word; 4]) {
        let surface = self.surface_at(row);
        if let (true, Some(y)) = (surface.covers[0], y) {
            let element = self.texel_number(y, surface.pitch, x);
            return self.store_element_of(&surface, element, words);
        }
        let mut inside = self.ult(x, surface.width);
        let mut element = x;
        if let Some(y) = y {
            let rows = self.ult(y, surface.height);
            inside = self.both(inside, rows);
            element = self.texel_number(y, surface.pitch, x);
        }
        self.when(inside, |e| e.store_element_of(&surface, element, words));
    }

    /// All 0 if nothing is bound.
    pub fn if_bound(&mut self, surface: &Surface, words: [Word; 4]) -> [Word; 4] {
        if surface.bound {
            return words;
        }
        let zero = self.word(0);
        let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
        words.map(|word| self.select(bound, word, zero))
    }

    /// What is known of the format.
    pub fn layout_of(&mut self, surface: &Surface) -> Layout<Self> {
        let (count, one) = (self.components(surface), self.word(1));
        let has = [0, 1, 2, 3].map(|k| match k {
            0 => Truth::Known(true),
            k => {
                let number = self.word(k);
                Truth::Value(self.ult(number, count))
            }
        });
        Layout {
            has,
            full: self.is_full(surface),
            integer: Truth::Value(self.ieq(surface.fill, one)),
            scalar: self.is_scalar(surface),
            fill: surface.fill,
        }
    }

    /// Whether elements are four words when read.
    fn is_full(&mut self, surface: &Surface) -> Truth<Word> {
        if surface.element_words == Some(4) {
            return Truth::Known(true);
        }
        let (count, four) = (self.components(surface), self.word(4));
        let all = self.ieq(count, four);
        // FLOAT64_2 has two components that fill four words.
        let lg = self.lg_bytes(surface);
        let wide = self.ieq(lg, four);
        Truth::Value(self.either(all, wide))
    }

    /// Whether elements are one word when read.
    fn is_scalar(&mut self, surface: &Surface) -> Truth<Word> {
        match surface.element_words {
            Some(words) => Truth::Known(words == 1),
            None => {
                // One component of at most a word, not FLOAT64_1.
                let (one, two) = (self.word(1), self.word(2));
                let count = self.components(surface);
                let single = self.ieq(count, one);
                let lg = self.lg_bytes(surface);
                let long = self.ult(two, lg);
                let short = self.negate(long);
                Truth::Value(self.both(single, short))
            }
        }
    }

    /// The w of an element of zeros.
    pub fn missing_w(&mut self, surface: &Surface) -> Word {
        let mut stored = self.is_full(surface);
        if stored != Truth::Known(true) {
            // Two formats of four components have no bits for the last one.
            let (c8, byte) = (self.word(8), self.word(0xFF));
            let number = self.shr(surface.format, c8);
            let number = self.and(number, byte);
            let without = |encoding: &&Encoding| !encoding.is_raw() && encoding.field(3).is_none();
            for encoding in Encoding::ALL.iter().filter(without) {
                let other = self.word(encoding_number(*encoding));
                let other = Truth::Value(self.ieq(number, other)).not(self);
                stored = stored.and(self, other);
            }
        }
        stored.choose(self, |e| e.word(0), |_| surface.fill)
    }

    /// What a fetch of an element that is inside delivers.
    pub fn fetch_texel(&mut self, surface: &Surface, element: Word) -> [Word; 4] {
        let words = self.load_texel(surface, element);
        let scalar = self.is_scalar(surface);
        element::fetched(self, scalar, words)
    }

    /// How many components the format has.
    pub fn components(&mut self, surface: &Surface) -> Word {
        let (c16, seven) = (self.word(16), self.word(7));
        let count = self.shr(surface.format, c16);
        self.and(count, seven)
    }

    /// The four words of an element that is inside.
    pub fn load_texel(&mut self, surface: &Surface, element: Word) -> [Word; 4] {
        let element = Element {
            place: surface.place,
            index: element,
            format: surface.format,
            words: surface.element_words,
        };
        self.load_format(&element, surface.fill)
    }

    pub fn store_element_of(&mut self, surface: &Surface, element: Word, words: [Word; 4]) {
        let element = Element {
            place: surface.place,
            index: element,
            format: surface.format,
            words: surface.element_words,
        };
        self.store_format(&element, words);
    }
}
