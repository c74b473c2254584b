//! Elements of surfaces: `sample` with both filters, `fetch4`, `load`, typed UAVs, outputs, interpolated inputs.
//!
//! Filters are arithmetic here, not the device's samplers, so that all devices give the same bits. Coordinates are
//! split into texel and fraction without ever rounding a sum that matters.

use rspirv::spirv::{GlslStd450Op as GLOp, Op, Word};

use super::format::Element;
use super::launch::Slot;
use super::memory::Place;
use super::{Emitter, Formats, Mode};
use crate::ir::{Dimension, Dst4, Id, Operand, Uav};
use crate::isa::Algebra;

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

/// One axis of a coordinate on its way to a texel.
struct Axis {
    coord: Word,
    size: Word,
    offset: i8,
    wrap: Option<Word>,
    /// 0: columns, 1: rows.
    number: u32,
    /// As the surface's.
    covers: [bool; 2],
}

/// A texel index, and whether it is inside; `None` = always.
type Texel = (Word, Option<Word>);

// Wrap modes as in the launch table.
const REPEAT: u32 = 0;
const MIRRORED_REPEAT: u32 = 1;
const MIRROR_CLAMP_TO_EDGE: u32 = 3;
const CLAMP: u32 = 4;
const MIRROR_CLAMP: u32 = 5;
const CLAMP_TO_BORDER: u32 = 6;
const MIRROR_CLAMP_TO_BORDER: u32 = 7;

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

    /// log2 of the bytes of an element.
    pub fn lg_bytes(&mut self, surface: &Surface) -> Word {
        let shift = self.word(24);
        self.shr(surface.format, shift)
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
        let at = |e: &mut Self, k: usize| {
            let value = e.operand(&coord[k]);
            match offset[k] {
                0 => (value, None),
                // The sum must not wrap into the surface.
                by => {
                    let by_word = e.word(i32::from(by) as u32);
                    let sum = e.iadd(value, by_word);
                    let wrapped = if by > 0 { e.ilt(sum, value) } else { e.ilt(value, sum) };
                    (sum, Some(wrapped))
                }
            }
        };
        let (x, x_wrapped) = at(self, 0);
        let mut inside = self.ult(x, columns);
        let mut wraps = vec![x_wrapped];
        let mut element = x;
        if !flat {
            let (y, y_wrapped) = at(self, 1);
            wraps.push(y_wrapped);
            let rows = self.ult(y, surface.height);
            inside = self.both(inside, rows);
            element = self.texel_number(y, surface.pitch, x);
        }
        for wrapped in wraps.into_iter().flatten() {
            let whole = self.negate(wrapped);
            inside = self.both(inside, whole);
        }
        let zero = self.word(0);
        if flat {
            let any = self.w.op(Op::INotEqual, self.t.bool, &[surface.height, zero]);
            inside = self.both(inside, any);
        }
        (self.select(inside, element, zero), inside)
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

    /// The w of an element of zeros.
    fn missing_w(&mut self, surface: &Surface) -> Word {
        if surface.element_words == Some(4) {
            return self.word(0);
        }
        let (four, zero) = (self.word(4), self.word(0));
        let count = self.components(surface);
        let full = self.ieq(count, four);
        // FLOAT64_2 has two components that fill four words.
        let lg = self.lg_bytes(surface);
        let wide = self.ieq(lg, four);
        let full = self.either(full, wide);
        self.select(full, zero, surface.fill)
    }

    /// Four words of the sampler: linear, wrap modes. `None` = the default state.
    fn sampler(&mut self, sampler: &Id) -> Option<(Word, [Word; 4])> {
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

    /// A coordinate in texels as a float: NaN is 0, the rest within ±10^9.
    fn denormalized(&mut self, coord: Word, size: Word, unnormalized: bool) -> Word {
        // Where denormals are flushed the sign of a tiny coordinate must survive: it decides the texel.
        let visible = if self.target.mode == Mode::Native || self.target.gradual32 {
            coord
        } else {
            let (magnitude, least, sign) =
                (self.word(0x7FFF_FFFF), self.word(0x0080_0000), self.word(0x8000_0000));
            let (size, zero) = (self.and(coord, magnitude), self.word(0));
            let tiny = self.ult(size, least);
            let some = self.ult(zero, size);
            let tiny = self.both(tiny, some);
            let sign = self.and(coord, sign);
            let raised = self.or(sign, least);
            self.select(tiny, raised, coord)
        };
        let value = if unnormalized {
            visible
        } else {
            let size = self.itof_raw(size);
            self.fmul_raw(visible, size)
        };
        let (far, near) = (self.word(1.0e9f32.to_bits()), self.word((-1.0e9f32).to_bits()));
        let zero = self.word(0);
        let below = self.flt(value, far);
        let value = self.select(below, value, far);
        let above = self.flt(near, value);
        let value = self.select(above, value, near);
        let nan = self.is_nan(coord);
        self.select(nan, zero, value)
    }

    /// ⌊v⌋ of |v| < 2^31.
    fn whole(&mut self, v: Word) -> Word {
        let near = self.ftoi_raw(v);
        let back = self.itof_raw(near);
        let (one, zero) = (self.word(1), self.word(0));
        let above = self.flt(v, back);
        let step = self.select(above, one, zero);
        self.isub(near, step)
    }

    /// ⌊v + halves / 2⌋ and the fraction of that sum, rounded once.
    fn split(&mut self, v: Word, halves: i32, fraction: bool) -> (Word, Word) {
        let i = self.whole(v);
        let float = self.itof_raw(i);
        let sign = self.word(0x8000_0000);
        let steps = self.word(halves.div_euclid(2) as u32);
        let zero = self.word(0);
        if halves.rem_euclid(2) == 0 {
            let minus = self.xor(float, sign);
            let rest = if fraction { self.fadd_raw(v, minus) } else { zero };
            return (self.iadd(i, steps), rest);
        }
        let minus = self.xor(float, sign);
        let rest = self.fadd_raw(v, minus);
        let half = self.word(0x3F00_0000);
        let upper = self.fle(half, rest);
        let one = self.word(1);
        let step = self.select(upper, one, zero);
        let whole = self.iadd(i, step);
        let whole = self.iadd(whole, steps);
        if !fraction {
            return (whole, zero);
        }
        // The base i ± 1/2 is exact up to 2^22, so the difference is rounded once; from there on the rest is exact.
        let minus_half = self.word(0xBF00_0000);
        let by = self.select(upper, half, minus_half);
        let base = self.fadd_raw(float, by);
        let minus = self.xor(base, sign);
        let near = self.fadd_raw(v, minus);
        let minus_by = self.xor(by, sign);
        let far = self.fadd_raw(rest, minus_by);
        let (magnitude, limit) = (self.word(0x7FFF_FFFF), self.word(0x4A80_0000));
        let magnitude = self.and(v, magnitude);
        let small = self.ult(magnitude, limit);
        (whole, self.select(small, near, far))
    }

    /// A texel index after wrapping.
    fn wrap(&mut self, index: Word, size: Word, mode: Word) -> Texel {
        let (zero, one) = (self.word(0), self.word(1));
        let last = self.isub(size, one);
        let clamp = |e: &mut Self, i: Word| {
            let low = e.ilt(i, zero);
            let i = e.select(low, zero, i);
            let high = e.ilt(last, i);
            e.select(high, last, i)
        };
        // Not by `OpSMod`: some drivers take the sign of the dividend. For i < 0 it is n − 1 − (−1 − i) mod n.
        let modulo = |e: &mut Self, i: Word, n: Word| {
            let negative = e.ilt(i, zero);
            let flipped = e.not(i);
            let distance = e.select(negative, flipped, i);
            let rest = e.umod(distance, n);
            let last = e.isub(n, one);
            let back = e.isub(last, rest);
            e.select(negative, back, rest)
        };
        let negative = self.ilt(index, zero);
        let flipped = self.not(index);
        let once = self.select(negative, flipped, index);
        let repeated = modulo(self, index, size);
        let twice = self.shl(size, one);
        let mirrored = modulo(self, index, twice);
        let back = self.isub(twice, one);
        let back = self.isub(back, mirrored);
        let first = self.ilt(mirrored, size);
        let mirrored = self.select(first, mirrored, back);
        let clamped = clamp(self, index);
        let clamped_once = clamp(self, once);
        let is = |e: &mut Self, m: u32| {
            let m = e.word(m);
            e.ieq(mode, m)
        };
        let mut result = clamped;
        let once_edge = is(self, MIRROR_CLAMP_TO_EDGE);
        let once_clamp = is(self, MIRROR_CLAMP);
        let once_border = is(self, MIRROR_CLAMP_TO_BORDER);
        let border = is(self, CLAMP_TO_BORDER);
        for (condition, value) in
            [(once_edge, clamped_once), (once_clamp, clamped_once), (once_border, clamped_once)]
        {
            result = self.select(condition, value, result);
        }
        let repeat = is(self, REPEAT);
        result = self.select(repeat, repeated, result);
        let mirror = is(self, MIRRORED_REPEAT);
        result = self.select(mirror, mirrored, result);
        // Border modes: outside unless the index, or its mirror image, was inside.
        let index_inside = self.ult(index, size);
        let once_inside = self.ult(once, size);
        let not_border = self.negate(border);
        let not_once = self.negate(once_border);
        let plain = self.either(not_border, index_inside);
        let mirrored = self.either(not_once, once_inside);
        (result, Some(self.both(plain, mirrored)))
    }

    /// A tap of the linear filter: `CLAMP` and `MIRROR_CLAMP` reach into the border.
    fn tap(&mut self, index: Word, size: Word, mode: Word) -> Texel {
        let mut mode = mode;
        for (from, to) in [(CLAMP, CLAMP_TO_BORDER), (MIRROR_CLAMP, MIRROR_CLAMP_TO_BORDER)] {
            let (from, to) = (self.word(from), self.word(to));
            let same = self.ieq(mode, from);
            mode = self.select(same, to, mode);
        }
        self.wrap(index, size, mode)
    }

    /// The texel index of one axis with the nearest filter.
    fn nearest(&mut self, axis: &Axis, unnormalized: bool) -> Texel {
        if axis.wrap.is_none() && unnormalized && axis.offset % 2 == 0 {
            if let Some(index) = self.texel_of(axis) {
                return (index, None);
            }
        }
        let v = self.denormalized(axis.coord, axis.size, unnormalized);
        let (index, _) = self.split(v, axis.offset.into(), false);
        match axis.wrap {
            Some(mode) => self.wrap(index, axis.size, mode),
            None => {
                let (zero, one) = (self.word(0), self.word(1));
                let last = self.isub(axis.size, one);
                let low = self.ilt(index, zero);
                let index = self.select(low, zero, index);
                let high = self.ilt(last, index);
                (self.select(high, last, index), None)
            }
        }
    }

    /// The texel of an axis clamped to the edge, where the coordinate is the thread's place, or in native mode.
    fn texel_of(&mut self, axis: &Axis) -> Option<Word> {
        let (zero, one) = (self.word(0), self.word(1));
        let last = self.isub(axis.size, one);
        let steps = axis.offset / 2;
        let index = match self.memo.whole.get(&axis.coord).copied() {
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
            None if self.target.mode == Mode::Native && self.target.saturates && steps == 0 => {
                self.saturated(axis.coord)
            }
            None if self.target.mode == Mode::Native => {
                // Within what an integer holds, offsets included; NaN is the first texel. Places left of it count only
                // where the offset leads back to the right.
                let left = steps > 0;
                let (least, most) = (self.word(if left { 0xCE80_0000 } else { 0 }), self.word(0x4EFF_FFFF));
                let known = self.glsl_float(GLOp::NMax, &[axis.coord, least]);
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

    /// Corner texel and fraction of one axis with the linear filter.
    fn corner(&mut self, axis: &Axis, unnormalized: bool) -> (Word, Word) {
        let mut v = self.denormalized(axis.coord, axis.size, unnormalized);
        if let Some(mode) = axis.wrap {
            // The modes that clamp the coordinate: v + offset / 2 within [low, size].
            let halves = self.word((-f32::from(axis.offset) / 2.0).to_bits());
            let size = self.itof_raw(axis.size);
            let sign = self.word(0x8000_0000);
            let minus = self.xor(size, sign);
            let (high, mirrored_low) = (self.fadd_raw(size, halves), self.fadd_raw(minus, halves));
            let (clamp, mirror) = (self.word(CLAMP), self.word(MIRROR_CLAMP));
            let (clamp, mirror) = (self.ieq(mode, clamp), self.ieq(mode, mirror));
            let low = self.select(mirror, mirrored_low, halves);
            let limited = self.either(clamp, mirror);
            let below = self.flt(v, low);
            let clamped = self.select(below, low, v);
            let above = self.flt(high, clamped);
            let clamped = self.select(above, high, clamped);
            v = self.select(limited, clamped, v);
        }
        self.split(v, i32::from(axis.offset) - 1, true)
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
        let coords = [self.operand(&coord[0]), self.operand(&coord[1])];
        let axes = [0, 1].map(|k| Axis {
            coord: coords[k],
            size: if k == 0 { surface.width } else { surface.height },
            offset: offset[k],
            wrap: state.map(|(_, s)| s[k + 1]),
            number: k as u32,
            covers: surface.covers,
        });
        let words = match state {
            None => self.sample_nearest(&surface, &axes, flat, unnormalized, None),
            Some((border, state)) => {
                // Integer formats have no linear filter.
                let (zero, one) = (self.word(0), self.word(1));
                let filter = self.w.op(Op::INotEqual, self.t.bool, &[state[0], zero]);
                let float = self.w.op(Op::INotEqual, self.t.bool, &[surface.fill, one]);
                let linear = self.both(filter, float);
                let border = self.border(&surface, border);
                self.either_words(
                    linear,
                    |e| e.sample_linear(&surface, &axes, flat, unnormalized, border),
                    |e| e.sample_nearest(&surface, &axes, flat, unnormalized, Some(border)),
                )
            }
        };
        let words = self.if_bound(&surface, words);
        self.deliver(dst, words);
    }

    /// All 0 if nothing is bound.
    fn if_bound(&mut self, surface: &Surface, words: [Word; 4]) -> [Word; 4] {
        if surface.bound {
            return words;
        }
        let zero = self.word(0);
        let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
        words.map(|word| self.select(bound, word, zero))
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
        let one = self.word(1);
        let integer = self.ieq(surface.fill, one);
        let zero = self.word(0);
        let count = self.components(surface);
        let missing = self.missing_w(surface);
        let words = std::array::from_fn(|k| {
            let float = self.part(border, k as u32);
            let whole = self.saturated_integer(float);
            let value = self.select(integer, whole, float);
            let number = self.word(k as u32);
            let has = self.ult(number, count);
            let none = if k == 3 { missing } else { zero };
            self.select(has, value, none)
        });
        self.fetched(surface, words)
    }

    /// Truncated, saturated to 32 bits, NaN as 0.
    fn saturated_integer(&mut self, float: Word) -> Word {
        crate::isa::lane::convert::ftoi(self, float)
    }

    fn sample_nearest(
        &mut self,
        surface: &Surface,
        axes: &[Axis; 2],
        flat: bool,
        unnormalized: bool,
        border: Option<[Word; 4]>,
    ) -> [Word; 4] {
        let (mut element, mut inside) = self.nearest(&axes[0], unnormalized);
        // A flat surface has no second axis, unless its wrap mode asks for the border there.
        if !flat || axes[1].wrap.is_some() {
            let (row, row_inside) = self.nearest(&axes[1], unnormalized);
            let (one, five, zero) = (self.word(1), self.word(5), self.word(0));
            let mut used = if flat { self.w.truth(false) } else { self.ult(one, surface.height) };
            if let Some(mode) = axes[1].wrap {
                let border = self.ult(five, mode);
                used = self.either(used, border);
            }
            let row = if axes[1].wrap.is_some() { self.select(used, row, zero) } else { row };
            element = self.texel_number(row, surface.pitch, element);
            if let Some(row_inside) = row_inside {
                let unused = self.negate(used);
                let row_inside = self.either(unused, row_inside);
                inside = Some(match inside {
                    Some(inside) => self.both(inside, row_inside),
                    None => row_inside,
                });
            }
        }
        self.texel_or_border(surface, element, inside, border)
    }

    fn texel_or_border(
        &mut self,
        surface: &Surface,
        element: Word,
        inside: Option<Word>,
        border: Option<[Word; 4]>,
    ) -> [Word; 4] {
        let zero = self.word(0);
        let element = match inside {
            Some(inside) => self.select(inside, element, zero),
            None => element,
        };
        let element = if surface.bound {
            element
        } else {
            let bound = self.w.op(Op::INotEqual, self.t.bool, &[surface.width, zero]);
            self.select(bound, element, zero)
        };
        let words = self.fetch_texel(surface, element);
        match (inside, border) {
            (Some(inside), Some(border)) => std::array::from_fn(|k| self.select(inside, words[k], border[k])),
            _ => words,
        }
    }

    /// Columns or rows of the two taps of an axis, and the weight of the second.
    fn taps(&mut self, axis: &Axis, unnormalized: bool) -> ([Texel; 2], Word) {
        let (first, fraction) = self.corner(axis, unnormalized);
        let one = self.word(1);
        let second = self.iadd(first, one);
        let mode = axis.wrap.unwrap_or_else(|| self.word(2));
        ([first, second].map(|i| self.tap(i, axis.size, mode)), fraction)
    }

    fn sample_linear(
        &mut self,
        surface: &Surface,
        axes: &[Axis; 2],
        flat: bool,
        unnormalized: bool,
        border: [Word; 4],
    ) -> [Word; 4] {
        let (columns, fu) = self.taps(&axes[0], unnormalized);
        let zero = self.word(0);
        let (rows, fv) = if flat { ([(zero, None); 2], zero) } else { self.taps(&axes[1], unnormalized) };
        let across = rows.map(|row| {
            let [a, b] = columns.map(|column| self.tap_words(surface, column, row, border));
            std::array::from_fn(|k| self.mix(a[k], b[k], fu))
        });
        let [top, bottom]: [[Word; 4]; 2] = across;
        std::array::from_fn(|k| {
            let mixed = self.mix(top[k], bottom[k], fv);
            self.canonical(mixed)
        })
    }

    fn tap_words(&mut self, surface: &Surface, column: Texel, row: Texel, border: [Word; 4]) -> [Word; 4] {
        let element = self.texel_number(row.0, surface.pitch, column.0);
        let inside = match (column.1, row.1) {
            (Some(a), Some(b)) => Some(self.both(a, b)),
            (a, b) => a.or(b),
        };
        self.texel_or_border(surface, element, inside, Some(border))
    }

    /// a (1 − f) + b f, each step rounded and flushed; a if f is 0.
    fn mix(&mut self, a: Word, b: Word, f: Word) -> Word {
        let (a, b) = (self.flush(a), self.flush(b));
        let (one, sign, zero) = (self.word(0x3F80_0000), self.word(0x8000_0000), self.word(0));
        let minus = self.xor(f, sign);
        let rest = self.fadd_raw(one, minus);
        let (first, second) = (self.fmul_raw(a, rest), self.fmul_raw(b, f));
        let (first, second) = (self.flush(first), self.flush(second));
        let sum = self.fadd_raw(first, second);
        let sum = self.flush(sum);
        let whole = self.feq(f, zero);
        self.select(whole, a, sum)
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
        let edge = self.word(2);
        let coords = coord.each_ref().map(|operand| self.operand(operand));
        let added = texel_offset.as_ref().map(|by| by.each_ref().map(|operand| self.operand(operand)));
        let one = self.word(1);
        let sides = [0, 1].map(|k| {
            let size = if k == 0 { surface.width } else { surface.height };
            let mode = state.map_or(edge, |(_, s)| s[k + 1]);
            let axis = Axis {
                coord: coords[k],
                size,
                offset: offset[k],
                wrap: Some(mode),
                number: k as u32,
                covers: [false; 2],
            };
            let (mut first, _) = self.corner(&axis, unnormalized);
            if let Some(added) = added {
                first = self.iadd(first, added[k]);
            }
            let second = self.iadd(first, one);
            [first, second].map(|i| self.wrap(i, size, mode))
        });
        let border = state.map(|(border, _)| self.border(&surface, border));
        let [i, j] = sides;
        let zero = self.word(0);
        let words = [(i[0], j[1]), (i[1], j[1]), (i[1], j[0]), (i[0], j[0])].map(|(column, row)| {
            let words = self.tap_words(&surface, column, row, border.unwrap_or([zero; 4]));
            words[usize::from(component & 3)]
        });
        let words = self.if_bound(&surface, words);
        self.deliver(dst, words);
    }

    /// What a fetch of an element that is inside delivers.
    fn fetch_texel(&mut self, surface: &Surface, element: Word) -> [Word; 4] {
        let words = self.load_texel(surface, element);
        self.fetched(surface, words)
    }

    /// The words of an element as a fetch delivers them: the only component of a format stands in all four.
    fn fetched(&mut self, surface: &Surface, words: [Word; 4]) -> [Word; 4] {
        let x = words[0];
        match surface.element_words {
            Some(1) => [x; 4],
            Some(_) => words,
            None => {
                // One component of at most a word, not FLOAT64_1.
                let (one, two) = (self.word(1), self.word(2));
                let count = self.components(surface);
                let single = self.ieq(count, one);
                let lg = self.lg_bytes(surface);
                let long = self.ult(two, lg);
                let short = self.negate(long);
                let scalar = self.both(single, short);
                words.map(|word| if word == x { x } else { self.select(scalar, x, word) })
            }
        }
    }

    /// How many components the format has.
    fn components(&mut self, surface: &Surface) -> Word {
        let (c16, seven) = (self.word(16), self.word(7));
        let count = self.shr(surface.format, c16);
        self.and(count, seven)
    }

    /// The four words of an element that is inside.
    fn load_texel(&mut self, surface: &Surface, element: Word) -> [Word; 4] {
        let element = Element {
            place: surface.place,
            index: element,
            format: surface.format,
            words: surface.element_words,
        };
        self.load_format(&element, surface.fill)
    }

    fn store_element_of(&mut self, surface: &Surface, element: Word, words: [Word; 4]) {
        let element = Element {
            place: surface.place,
            index: element,
            format: surface.format,
            words: surface.element_words,
        };
        self.store_format(&element, words);
    }

    /// Component of an interpolated input: the corner values, linear over the domain, at the pixel's centre; without
    /// corner values the position. Each step is rounded and flushed.
    pub fn interpolant(&mut self, register: u32, component: u32) -> Word {
        let Some(first) = self.layout.interpolants else { return self.word(0) };
        let first = first + 3 * register.min(7);
        let [ul, ll, lr] = [0, 1, 2].map(|k| {
            let row = self.row_at(first + k);
            let corner = self.part(row, component);
            self.flush(corner)
        });
        let (domain, half) = (self.row_at(0), self.word(0x3F00_0000));
        let [u, v] = [0, 1].map(|axis| {
            let index = self.domain_index(axis);
            let index = self.itof_raw(index);
            let centre = self.fadd_raw(index, half);
            let size = self.part(domain, 2 + axis);
            let size = self.itof_raw(size);
            crate::isa::lane::division::quotient(self, centre, size)
        });
        use crate::isa::lane::float::{add, mul_ieee, sub};
        let (across, down) = (sub(self, lr, ll), sub(self, ll, ul));
        let (across, down) = (mul_ieee(self, across, u), mul_ieee(self, down, v));
        let sum = add(self, ul, across);
        let value = add(self, sum, down);
        let value = self.canonical(value);
        let position = if component < 2 {
            let index = self.position_index(component);
            let index = self.itof_raw(index);
            self.fadd_raw(index, half)
        } else {
            self.word(0)
        };
        let (row, zero) = (self.row_at(1), self.word(0));
        let given = self.part(row, 3);
        let given = self.w.op(Op::INotEqual, self.t.bool, &[given, zero]);
        self.select(given, value, position)
    }
}
