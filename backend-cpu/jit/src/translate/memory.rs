//! Numbers of words, and what is loaded and stored there.

use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::Algebra;
use recal_il::isa::memory::element;

use super::Values;
use crate::NONE;
use crate::graph::{Graph, Val};
use crate::op::Op;

/// The number of a word that no view has: what comes of it does not wrap, whatever is added for the other words of neighbours' elements.
pub(super) const FAR: u32 = 1 << 30;
/// Where no byte is, but in a view of 4 GiB.
pub(super) const FAR_BYTE: u32 = !3;

impl Values<'_> {
    /// Number of the word at an address.
    pub(super) fn word_of(&mut self, graph: &mut Graph, address: u32, lanes: Shape) -> Val {
        let (bytes, two) = (self.value(graph, address), graph.word(2));
        let index = graph.shr(bytes, two);
        // Whatever the first address is: its low bits are those of all.
        if let (true, Some(shape)) = (self.in_lines, lanes.shifted(2)) {
            graph.shape(index, shape);
        }
        index
    }

    /// Number of the first word of an element, and whether there may be so many elements.
    pub(super) fn element(&mut self, graph: &mut Graph, element: u32, offset: i32) -> (Val, Val) {
        let (number, offset) = (self.value(graph, element), graph.word(offset as u32));
        let number = graph.iadd(number, offset);
        let (two, most) = (graph.word(2), graph.word(1 << 28));
        // Numbers of words are below 2^30, as those that come of addresses.
        let (words, below) = (graph.shl(number, two), graph.word(0x3FFF_FFFF));
        (graph.and(words, below), graph.ult(number, most))
    }

    /// Notes the shape of numbers of first words.
    pub(super) fn shape_element(&self, graph: &mut Graph, first: Val, elements: Shape) {
        match elements {
            Shape::Step(step) if self.in_lines => graph.shape(first, Shape::Step(step.wrapping_mul(4))),
            Shape::Bits(bits) if self.in_lines => {
                graph.shape(first, Shape::Bits(bits.map(|bit| bit.wrapping_mul(4))))
            }
            lanes if self.in_lines => graph.shape(first, lanes),
            _ => {}
        }
    }

    /// Stores rows as words of elements whose first words have the numbers `first`.
    pub(super) fn store(&mut self, graph: &mut Graph, view: u8, first: Val, from: [u32; 4]) {
        let from = from.map(|row| (row != NONE).then(|| self.value(graph, row)));
        self.store_words(graph, view, first, from);
    }

    /// The same for values.
    pub(super) fn store_words(&self, graph: &mut Graph, view: u8, first: Val, from: [Option<Val>; 4]) {
        let mut stored = (0..4u32).zip(from).filter_map(|(k, val)| Some((k, val?)));
        let words = stored.clone().fold(0, |words, (k, _)| words | 1 << k);
        let Some((k, some)) = stored.next() else { return };
        if stored.next().is_none() {
            let index = word_after(graph, first, k);
            graph.storing(Op::Store(view), index, some);
            return;
        }
        // What is not stored may be anything.
        let [a, b, c, d] = from.map(|val| val.unwrap_or(some));
        let blocks = match words {
            0..4 => graph.pack(a, b).to_vec(),
            _ => {
                let zip = |graph: &mut Graph, op, [a, b]: [Val; 2]| graph.binary(op, a, b);
                let halves =
                    [Op::ZipLow, Op::ZipHigh].map(|op| [[a, c], [b, d]].map(|of| zip(graph, op, of)));
                halves.iter().flat_map(|of| [Op::ZipLow, Op::ZipHigh].map(|op| zip(graph, op, *of))).collect()
            }
        };
        for (number, block) in (0..).zip(blocks) {
            graph.storing(Op::StoreBlocks(view, number, words), first, block);
        }
    }

    /// The words of an element that rows are the components of.
    pub(super) fn encoded(&mut self, graph: &mut Graph, format: Format, from: [u32; 4]) -> [Option<Val>; 4] {
        let encoding = format.encoding();
        let mut row = |k: usize| self.value(graph, from[k]);
        if encoding.is_raw() {
            let words = format.read_words() as usize;
            return [0, 1, 2, 3].map(|k| (k < words).then(|| row(k)));
        }
        let components: Vec<Val> = (0..format.components() as usize).map(row).collect();
        let words = element::encode(graph, encoding, &components);
        let count = format.bytes().div_ceil(4) as usize;
        [0, 1, 2, 3].map(|k| (k < count).then(|| words[k]))
    }

    /// Number of an element at coordinates that are integers, in units of which each has 2^`unit`; `far`, if the element is outside.
    pub(super) fn element_at(
        &mut self,
        graph: &mut Graph,
        view: u8,
        format: Format,
        coordinates: [u32; 2],
        (unit, far): (u32, u32),
    ) -> Option<Val> {
        let [u, v] = coordinates.map(|row| (row != NONE).then(|| self.value(graph, row)));
        let (element, inside) = graph.place(view, format, u?, v, [0; 2]);
        let (unit, far) = (graph.word(unit), graph.word(far));
        let first = graph.shl(element, unit);
        Some(graph.select(inside, first, far))
    }

    /// Loads components of elements of `words` words, whose first words have the numbers `first`.
    pub(super) fn load(
        &mut self,
        graph: &mut Graph,
        view: u8,
        first: Val,
        words: u32,
        to: [u32; 4],
        flush: u8,
    ) {
        let wanted = to.iter().filter(|&&row| row != NONE).count();
        let group = (wanted > 1).then(|| graph.group(view, first, if words > 2 { 4 } else { 2 }));
        for (k, row) in (0..4u32).zip(to).filter(|&(_, row)| row != NONE) {
            let word = match group {
                Some(parts) => parts[k as usize],
                None => {
                    let index = word_after(graph, first, k);
                    graph.unary(Op::Load(view), index)
                }
            };
            self.write(row, if flush >> k & 1 == 1 { graph.flush(word) } else { word });
        }
    }
}

/// Number of the word so many behind.
fn word_after(graph: &mut Graph, first: Val, k: u32) -> Val {
    if k == 0 {
        return first;
    }
    let offset = graph.word(k);
    let index = graph.iadd(first, offset);
    graph.shape(index, graph.shape_of(first));
    index
}
