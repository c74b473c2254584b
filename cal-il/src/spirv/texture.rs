//! Texels in SPIR-V: `sample` with both filters, `fetch4`, `load`, typed UAVs.
//!
//! Which texels, and how much of each, is said by [`texel`] and [`filter`].

use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};

use super::launch::Slot;
use super::surface::Surface;
use super::{Emitter, Mode};
use crate::ir::{Dimension, Dst4, Id, Operand, Uav};
use crate::isa::Algebra;
use crate::isa::memory::texel::{self, GATHER_ORDER, Grid, Wrap};
use crate::isa::memory::{Truth, filter};

/// One axis of a coordinate on its way to a texel.
struct Axis {
    texel: texel::Axis<Word>,
    /// 0: columns, 1: rows.
    number: u32,
    /// The texel, of a surface of two dimensions, if a counter says it.
    place: Option<Word>,
    /// As the surface's.
    covers: [bool; 2],
}

/// A texel index, and whether it is inside.
type Texel = texel::Texel<Emitter<'static>>;

impl Emitter<'_> {
    /// Whether a resource has one dimension.
    fn is_flat(&self, resource: u32) -> bool {
        let dimension = self.program.interface.resources.get(&resource).map(|r| r.dimension);
        matches!(dimension, Some(Dimension::D1 | Dimension::Buffer))
    }

    fn uav_is_flat(&self, uav: u32) -> bool {
        matches!(
            self.program.interface.uavs.get(&uav),
            Some(Uav::Typed { dimension: Dimension::D1 | Dimension::Buffer })
        )
    }

    /// Element number of a texel of a typed UAV, and whether it is inside: rows go on to the pitch.
    pub fn uav_element(&mut self, uav: u32, surface: &Surface, coord: &[Operand; 3]) -> (Word, Word) {
        self.texel_element(surface, surface.pitch, coord, [0; 3], self.uav_is_flat(uav))
    }

    /// Element number of an integer texel in rows of `columns`, and whether it is inside.
    fn texel_element(
        &mut self,
        surface: &Surface,
        columns: Word,
        coord: &[Operand; 3],
        offset: [i8; 3],
        flat: bool,
    ) -> (Word, Word) {
        let grid = Grid { columns, rows: surface.height, pitch: surface.pitch, flat };
        let coord = [0, 1].map(|k| if k == 1 && flat { self.word(0) } else { self.operand(&coord[k]) });
        texel::at_integers(self, &grid, coord, [offset[0], offset[1]])
    }

    pub fn fetch(&mut self, resource: &Id, coord: &[Operand; 3], offset: [i8; 3], dst: &Dst4) {
        let surface = self.surface(resource);
        let flat = self.is_flat(resource.base);
        let (element, inside) = self.texel_element(&surface, surface.width, coord, offset, flat);
        let words = self.fetch_texel(&surface, element);
        let zero = self.word(0);
        let words = words.map(|word| self.select(inside, word, zero));
        self.deliver(dst, words);
    }

    pub fn typed_load(&mut self, uav: u32, coord: &[Operand; 3], dst: &Dst4) {
        let row = self.layout.row(Slot::Uav(uav));
        let surface = self.surface_at(row);
        let (element, inside) = self.uav_element(uav, &surface, coord);
        let words = self.load_texel(&surface, element);
        // Outside reads as an element of zeros: the missing w stays.
        let zero = self.word(0);
        let missing = self.missing_w(&surface);
        let outside = [zero, zero, zero, missing];
        let mut result = words;
        for (word, none) in result.iter_mut().zip(outside) {
            *word = self.select(inside, *word, none);
        }
        self.deliver(dst, result);
    }

    pub fn typed_store(&mut self, uav: u32, coord: &[Operand; 3], src: &[Operand; 4]) {
        let row = self.layout.row(Slot::Uav(uav));
        let surface = self.surface_at(row);
        let words = src.each_ref().map(|operand| self.operand(operand));
        let (element, inside) = self.uav_element(uav, &surface, coord);
        self.when(inside, |e| e.store_element_of(&surface, element, words));
    }

    /// The texel index of one axis with the nearest filter.
    fn nearest(&mut self, axis: &Axis) -> Texel {
        let edge = matches!(axis.texel.mode, texel::Mode::Known(Wrap::ClampToEdge));
        if edge && axis.texel.unnormalized && axis.texel.offset % 2 == 0 {
            if let Some(index) = self.texel_of(axis) {
                return (index, Truth::Known(true));
            }
        }
        texel::nearest(self, &axis.texel)
    }

    /// The texel of an axis clamped to the edge, where the coordinate is the thread's place, where conversions saturate, or in
    /// native mode.
    fn texel_of(&mut self, axis: &Axis) -> Option<Word> {
        let (zero, one) = (self.word(0), self.word(1));
        let last = self.isub(axis.texel.size, one);
        let steps = axis.texel.offset / 2;
        let index = match self.memo.whole.get(&axis.texel.coord).copied() {
            Some((index, of)) if steps == 0 && axis.covers[usize::from(of != axis.number)] => {
                return Some(index);
            }
            Some((index, _)) if steps == 0 => {
                let outer = self.w.hoist(self.in_main());
                let index = self.glsl_word(GLOp::UMin, &[index, last]);
                self.w.hoist(outer);
                return Some(index);
            }
            Some((index, _)) => index,
            None if let Some(place) = axis.place => place,
            // What is left of the first texel becomes 0, as NaN does, and what is beyond all texels the last one.
            // A driver that knows the coordinate for a mask does not: the NaN may be any texel.
            None if self.target.saturates && steps == 0 => {
                let coord = axis.texel.coord;
                let known = self.w.bits.get(&coord).is_some();
                let coord = if known { coord } else { self.opaque(coord) };
                self.saturated(coord)
            }
            None if self.target.mode == Mode::Native => {
                // Within what an integer holds, offsets included; NaN is the first texel. Places left of it count only
                // where the offset leads back to the right.
                let left = steps > 0;
                let (least, most) = (self.word(if left { 0xCE80_0000 } else { 0 }), self.word(0x4EFF_FFFF));
                let known = self.glsl_float(GLOp::NMax, &[axis.texel.coord, least]);
                let near = self.glsl_float(GLOp::NMin, &[known, most]);
                let whole = if left { self.glsl_float(GLOp::Floor, &[near]) } else { near };
                self.ftoi_raw(whole)
            }
            None => return None,
        };
        // Never negative here, unless the offset is to the right.
        let index = match steps {
            0 => index,
            _ => {
                let steps = self.word(i32::from(steps) as u32);
                let index = self.iadd(index, steps);
                self.glsl_word(GLOp::SMax, &[index, zero])
            }
        };
        Some(self.glsl_word(GLOp::UMin, &[index, last]))
    }

    pub fn glsl_word(&mut self, op: GLOp, words: &[Word]) -> Word {
        self.w.glsl(op, self.t.u32, words)
    }

    /// Both axes of a coordinate.
    fn axes(
        &mut self,
        surface: &Surface,
        coord: &[Operand],
        offset: [i8; 3],
        unnormalized: bool,
        wrap: Option<[Word; 4]>,
        flat: bool,
    ) -> [Axis; 2] {
        let words = [0, 1].map(|k| self.operand(&coord[k]));
        let counts = |e: &mut Self, k: usize| {
            let known = flat || !unnormalized || offset[k] != 0 || e.w.bits.get(&words[k]).is_some();
            if known { None } else { e.place_of(words[k]) }
        };
        let places = [0, 1].map(|k| counts(self, k));
        [0, 1].map(|k| Axis {
            place: places[k],
            texel: texel::Axis {
                coord: words[k],
                size: if k == 0 { surface.width } else { surface.height },
                offset: offset[k],
                unnormalized,
                mode: wrap
                    .map_or(texel::Mode::Known(Wrap::ClampToEdge), |state| texel::Mode::Word(state[k + 1])),
            },
            number: k as u32,
            covers: surface.covers,
        })
    }

    pub fn sample(
        &mut self,
        resource: &Id,
        sampler: &Id,
        unnormalized: bool,
        coord: &[Operand; 3],
        offset: [i8; 3],
        dst: &Dst4,
    ) {
        let surface = self.surface(resource);
        let state = self.sampler(sampler);
        let flat = self.is_flat(resource.base);
        let axes = self.axes(&surface, coord, offset, unnormalized, state.map(|(_, state)| state), flat);
        let words = match state {
            None => self.sample_nearest(&surface, &axes, flat, None),
            Some((border, state)) => {
                // Integer formats have no linear filter.
                let (zero, one) = (self.word(0), self.word(1));
                let filter = self.w.op(Op::INotEqual, self.t.bool, &[state[0], zero]);
                let float = self.w.op(Op::INotEqual, self.t.bool, &[surface.fill, one]);
                let linear = self.both(filter, float);
                let border = self.border(&surface, border);
                self.either_words(
                    linear,
                    |e| e.sample_linear(&surface, &axes, flat, border),
                    |e| e.sample_nearest(&surface, &axes, flat, Some(border)),
                )
            }
        };
        let words = self.if_bound(&surface, words);
        self.deliver(dst, words);
    }

    /// Runs one of two computations of four words.
    fn either_words(
        &mut self,
        condition: Word,
        yes: impl FnOnce(&mut Self) -> [Word; 4],
        no: impl FnOnce(&mut Self) -> [Word; 4],
    ) -> [Word; 4] {
        let [then, otherwise, merge] = [0; 3].map(|_| self.w.id());
        self.w.selection_merge(merge);
        self.w.branch_if(condition, then, otherwise);
        let mark = self.mark();
        self.w.label(then);
        let a = yes(self);
        let a_end = self.w.current();
        self.w.branch(merge);
        self.rewind(mark);
        self.w.label(otherwise);
        let b = no(self);
        let b_end = self.w.current();
        self.w.branch(merge);
        self.rewind(mark);
        self.w.label(merge);
        let u32 = self.t.u32;
        std::array::from_fn(|k| self.w.op(Op::Phi, u32, &[a[k], a_end, b[k], b_end]))
    }

    /// The border colour as an element of the surface's format would be fetched.
    fn border(&mut self, surface: &Surface, border: Word) -> [Word; 4] {
        let colour = [0, 1, 2, 3].map(|k| self.part(border, k));
        self.layout_of(surface).border(self, colour)
    }

    fn sample_nearest(
        &mut self,
        surface: &Surface,
        axes: &[Axis; 2],
        flat: bool,
        border: Option<[Word; 4]>,
    ) -> [Word; 4] {
        let mut texel = self.nearest(&axes[0]);
        if !flat {
            let (row, inside) = self.nearest(&axes[1]);
            texel = (self.texel_number(row, surface.pitch, texel.0), texel.1.and(self, inside));
        }
        self.texel_or_border(surface, texel, border)
    }

    fn texel_or_border(
        &mut self,
        surface: &Surface,
        (element, inside): Texel,
        border: Option<[Word; 4]>,
    ) -> [Word; 4] {
        let zero = self.word(0);
        let element = inside.choose(self, |_| element, |_| zero);
        let element = if surface.bound {
            element
        } else {
            let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
            self.select(bound, element, zero)
        };
        let words = self.fetch_texel(surface, element);
        let border = border.unwrap_or(words);
        std::array::from_fn(|k| inside.choose(self, |_| words[k], |_| border[k]))
    }

    fn sample_linear(
        &mut self,
        surface: &Surface,
        axes: &[Axis; 2],
        flat: bool,
        border: [Word; 4],
    ) -> [Word; 4] {
        let (columns, across) = texel::taps(self, &axes[0].texel);
        let down = (!flat).then(|| texel::taps(self, &axes[1].texel));
        let zero = self.word(0);
        let rows = down.map_or([(zero, Truth::Known(true)); 2], |(rows, _)| rows);
        let row = |e: &mut Self, k: usize| columns.map(|column| e.tap(surface, column, rows[k], border));
        let first = row(self, 0);
        let second = down.map(|(_, weight)| (row(self, 1), weight));
        std::array::from_fn(|k| {
            let part = |row: [[Word; 4]; 2]| row.map(|words| words[k]);
            filter::linear(self, part(first), second.map(|(row, weight)| (part(row), weight)), across)
        })
    }

    /// A texel of the 2 x 2 around a coordinate.
    fn tap(&mut self, surface: &Surface, column: Texel, row: Texel, border: [Word; 4]) -> [Word; 4] {
        let element = self.texel_number(row.0, surface.pitch, column.0);
        let inside = column.1.and(self, row.1);
        self.texel_or_border(surface, (element, inside), Some(border))
    }

    #[allow(clippy::too_many_arguments)]
    pub fn gather(
        &mut self,
        resource: &Id,
        sampler: &Id,
        unnormalized: bool,
        coord: &[Operand; 2],
        offset: [i8; 3],
        texel_offset: &Option<[Operand; 2]>,
        component: u8,
        dst: &Dst4,
    ) {
        let surface = self.surface(resource);
        let state = self.sampler(sampler);
        let axes = self.axes(&surface, coord, offset, unnormalized, state.map(|(_, state)| state), true);
        let added = texel_offset.as_ref().map(|by| by.each_ref().map(|operand| self.operand(operand)));
        let zero = self.word(0);
        let sides = [0, 1].map(|k| match k {
            1 if self.is_flat(resource.base) => [(zero, Truth::Known(true)); 2],
            _ => texel::gathered(self, &axes[k].texel, added.map(|added| added[k])),
        });
        let border = state.map_or([zero; 4], |(border, _)| self.border(&surface, border));
        let words = GATHER_ORDER.map(|(i, j)| {
            let words = self.tap(&surface, sides[0][i], sides[1][j], border);
            words[usize::from(component & 3)]
        });
        let words = self.if_bound(&surface, words);
        self.deliver(dst, words);
    }
}
