//! Samples: which words of a view are read for coordinates, and what becomes of them, as `recal_il::isa::memory` says.

use recal_il::format::Format;
use recal_il::isa::Algebra;
use recal_il::isa::memory::texel::{self, Axis, GATHER_ORDER, Grid, Mode, Texel};
use recal_il::isa::memory::{Truth, element, filter};

use super::{Field, Graph, Inst, Node, Val};
use crate::op::Op;
use crate::{Filter, Sample};

/// The fields of the border colour.
const BORDER: [Field; 4] = [Field::BorderX, Field::BorderY, Field::BorderZ, Field::BorderW];

/// A texel that may be the border.
type Place = Texel<Graph>;

/// What a line is counted in: words, or elements that are converted.
fn unit(format: Format) -> u32 {
    if format.encoding().is_raw() { format.read_words() } else { 1 }
}

/// Views that [`crate::Function`] knows the texels of.
pub const SURFACES: usize = 32;

/// Texels of the view are read without asking whether they are inside: wrap modes have seen to that, and the view is as large as it
/// says, see [`crate::View::with_texels`].
pub fn checked_once(view: u8, format: Format) -> bool {
    usize::from(view) < SURFACES && format.encoding().is_raw() && matches!(format.read_words(), 1 | 2 | 4)
}

/// The words of a texel as two bits; 0 for what no code reads so.
pub fn unit_code(words: u32) -> u64 {
    match words {
        1 => 1,
        2 => 2,
        4 => 3,
        _ => 0,
    }
}

impl Graph {
    /// The components that are wanted of what `coordinates` mean in a view, see [`crate::Step::Sample`].
    pub fn sampled(
        &mut self,
        view: u8,
        sample: &Sample,
        coordinates: [Option<Val>; 4],
        wanted: [bool; 4],
    ) -> [Val; 4] {
        let [Some(u), v, _, _] = coordinates else { return [self.none(); 4] };
        if matches!(sample.filter, Filter::Integers | Filter::Element) {
            return self.at_integers(view, sample, u, v, wanted);
        }
        let across = self.axis(view, sample, 0, u);
        let down = v.map(|v| self.axis(view, sample, 1, v));
        match sample.filter {
            Filter::Nearest | Filter::Integers | Filter::Element => {
                let column = texel::nearest(self, &across);
                let row = down.map(|down| texel::nearest(self, &down));
                self.texel(view, sample, column, row, wanted)
            }
            Filter::Linear => self.filtered(view, sample, &across, down.as_ref(), wanted),
            Filter::Gather(component) => {
                let columns = texel::gathered(self, &across, coordinates[2]);
                let rows = down.map(|down| texel::gathered(self, &down, coordinates[3]));
                let component = usize::from(component & 3);
                let only = std::array::from_fn(|k| k == component);
                let mut corners = GATHER_ORDER.into_iter().zip(wanted);
                std::array::from_fn(|_| match corners.next() {
                    Some(((i, j), true)) => {
                        self.texel(view, sample, columns[i], rows.map(|rows| rows[j]), only)[component]
                    }
                    _ => self.word(0),
                })
            }
        }
    }

    fn filtered(
        &mut self,
        view: u8,
        sample: &Sample,
        across: &Axis<Val>,
        down: Option<&Axis<Val>>,
        wanted: [bool; 4],
    ) -> [Val; 4] {
        // The fraction of a denormal is that denormal, where texels begin at whole numbers.
        let whole = |axis: &Axis<Val>| axis.offset % 2 != 0;
        self.unsupported |= self.lazy && (whole(across) || down.is_some_and(whole));
        let (columns, across) = texel::taps(self, across);
        let down = down.map(|down| texel::taps(self, down));
        let line = |g: &mut Graph, row: Option<Place>| {
            columns.map(|column| g.texel(view, sample, column, row, wanted))
        };
        let first = line(self, down.map(|(rows, _)| rows[0]));
        let second = down.map(|(rows, weight)| (line(self, Some(rows[1])), weight));
        std::array::from_fn(|k| {
            if !wanted[k] {
                return self.word(0);
            }
            let part = |line: [[Val; 4]; 2]| line.map(|words| words[k]);
            filter::linear(self, part(first), second.map(|(line, weight)| (part(line), weight)), across)
        })
    }

    fn at_integers(
        &mut self,
        view: u8,
        sample: &Sample,
        x: Val,
        y: Option<Val>,
        wanted: [bool; 4],
    ) -> [Val; 4] {
        let (element, inside) = self.place(view, sample.format, x, y, sample.offset);
        let unit = self.word(unit(sample.format).ilog2());
        let at = self.shl(element, unit);
        if sample.filter == Filter::Integers {
            let words = self.element(view, sample.format, at, wanted);
            let words = element::fetched(self, Truth::Known(sample.format.is_scalar()), words);
            return words.map(|word| self.keep(inside, word));
        }
        let (words, zeros) = (self.element(view, sample.format, at, wanted), sample.format.decode(&[0; 16]));
        let mut outside = zeros.into_iter();
        words.map(|word| {
            let outside = self.word(outside.next().unwrap_or_default());
            self.select(inside, word, outside)
        })
    }

    /// Number of the element at coordinates that are integers, and whether it is inside.
    pub fn place(&mut self, view: u8, format: Format, x: Val, y: Option<Val>, offset: [i8; 2]) -> (Val, Val) {
        let [columns, rows, line] =
            [Field::Columns, Field::Lines, Field::Line].map(|field| self.add(Node::Field(view, field)));
        let unit = self.word(unit(format).ilog2());
        let pitch = self.shr(line, unit);
        let grid = Grid { columns, rows, pitch, flat: y.is_none() };
        texel::at_integers(self, &grid, [x, y.unwrap_or(x)], offset)
    }

    fn axis(&mut self, view: u8, sample: &Sample, number: usize, coord: Val) -> Axis<Val> {
        Axis {
            coord: if sample.normal[number] { coord } else { self.raised(coord) },
            size: self.add(Node::Field(view, [Field::Columns, Field::Lines][number])),
            offset: sample.offset[number],
            unnormalized: sample.unnormalized,
            mode: Mode::Known(sample.wrap[number]),
        }
    }

    /// The components of a texel, or of the border.
    fn texel(
        &mut self,
        view: u8,
        sample: &Sample,
        (column, column_inside): Place,
        row: Option<Place>,
        wanted: [bool; 4],
    ) -> [Val; 4] {
        let unit = self.word(unit(sample.format));
        let mut at = self.imul(column, unit);
        let mut inside = column_inside;
        if let Some((row, row_inside)) = row {
            let pitch = self.add(Node::Field(view, Field::Line));
            let start = self.binary(Op::Mul, row, pitch);
            at = self.iadd(at, start);
            inside = inside.and(self, row_inside);
        }
        if checked_once(view, sample.format) && matches!(inside, Truth::Known(true)) {
            self.inside.insert((view, at));
        }
        let words = self.element(view, sample.format, at, wanted);
        let mut words = element::fetched(self, Truth::Known(sample.format.is_scalar()), words);
        for (k, word) in words.iter_mut().enumerate().filter(|(k, _)| wanted[*k]) {
            let texel = *word;
            *word = inside.choose(self, |_| texel, |g| g.add(Node::Field(view, BORDER[k])));
        }
        words
    }

    /// The components of an element, by its first word, or its number if it is converted.
    fn element(&mut self, view: u8, format: Format, at: Val, wanted: [bool; 4]) -> [Val; 4] {
        let raw = match format.encoding().is_raw() {
            true => self.words(view, at, format.read_words(), wanted),
            false => self.bits(view, at, format, wanted),
        };
        element::read(self, format, raw)
    }

    /// So many words from word `first` on, those that are wanted; one word is wanted if any component is.
    fn words(&mut self, view: u8, first: Val, count: u32, wanted: [bool; 4]) -> [Val; 4] {
        let wanted: [bool; 4] = match count {
            1 => [wanted.contains(&true), false, false, false],
            _ => std::array::from_fn(|k| wanted[k] && (k as u32) < count),
        };
        let several = wanted.iter().filter(|wanted| **wanted).count() > 1;
        self.shape(first, self.sampling);
        let group = several.then(|| self.group(view, first, if count > 2 { 4 } else { 2 }));
        std::array::from_fn(|k| match group {
            _ if !wanted[k] => self.word(0),
            Some(parts) => parts[k],
            None => {
                let offset = self.word(k as u32);
                let index = self.iadd(first, offset);
                self.shape(index, self.sampling);
                if self.inside.contains(&(view, first)) {
                    self.inside.insert((view, index));
                }
                self.unary(Op::Load(view), index)
            }
        })
    }

    /// The bits of an element of at most 8 bytes, from the lowest of the first word on.
    fn bits(&mut self, view: u8, element: Val, format: Format, wanted: [bool; 4]) -> [Val; 4] {
        let lg = self.word(format.bytes().ilog2());
        let (word, shift) = element::place(self, element, lg);
        if format.bytes() == 8 {
            let mut words = [false; 4];
            for field in (0..4).filter(|&k| wanted[k]).filter_map(|k| format.encoding().field(k)) {
                words[field.word] = true;
            }
            return self.words(view, word, 2, words);
        }
        self.shape(word, self.sampling);
        let raw = self.unary(Op::Load(view), word);
        let raw = if format.bytes() < 4 { self.shr(raw, shift) } else { raw };
        [raw; 4]
    }

    /// A coordinate of which the sign counts even if it is a denormal, for operations that take denormals as zeros. What is to
    /// be flushed is a zero.
    fn raised(&mut self, coordinate: Val) -> Val {
        let flushed = matches!(self.as_inst(coordinate), Some(Inst { op: Op::Flush, .. }));
        if !self.lazy || flushed || self.never_denormal(coordinate) {
            return coordinate;
        }
        // Negative denormals alone: they lie in the texel before.
        let (least, count) = (self.word(0x7FFF_FFFF), self.word(0x007F_FFFF));
        let place = self.iadd(coordinate, least);
        let tiny = self.ult(place, count);
        let normal = self.word(0x8080_0000);
        self.select(tiny, normal, coordinate)
    }

    /// What the table of views has ready of a size: as a float, or less one.
    pub(super) fn ready(&self, size: Val, float: bool) -> Option<Node> {
        let field = match (self.node(size), float) {
            (Node::Field(view, Field::Columns), true) => (view, Field::Width),
            (Node::Field(view, Field::Lines), true) => (view, Field::Height),
            (Node::Field(view, Field::Columns), false) => (view, Field::LastColumn),
            (Node::Field(view, Field::Lines), false) => (view, Field::LastLine),
            _ => return None,
        };
        Some(Node::Field(field.0, field.1))
    }
}
