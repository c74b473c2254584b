//! Coordinates to texels (amd-il 5.4): wrap modes, borders, offsets.
//!
//! A coordinate is split into texel and fraction without ever rounding a sum that matters, so that all devices read the
//! same texels with the same weights.

use super::Truth;
use crate::isa::Algebra;
use crate::isa::lane::expr::expr;

/// What happens to a texel index outside 0 … n − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Wrap {
    /// i mod n
    Repeat = 0,
    /// Mirrored repeat.
    MirroredRepeat = 1,
    /// Clamp to 0 … n − 1.
    ClampToEdge = 2,
    /// Mirror once at 0, then clamp to the edge.
    MirrorClampToEdge = 3,
    /// Clamp half-way to the border colour; as clamp to edge with the nearest filter.
    Clamp = 4,
    /// Mirror once, then as [`Wrap::Clamp`].
    MirrorClamp = 5,
    /// The border colour.
    ClampToBorder = 6,
    /// Mirror once, then the border colour.
    MirrorClampToBorder = 7,
}

impl Wrap {
    /// All of them, by their numbers.
    pub const ALL: [Wrap; 8] = [
        Wrap::Repeat,
        Wrap::MirroredRepeat,
        Wrap::ClampToEdge,
        Wrap::MirrorClampToEdge,
        Wrap::Clamp,
        Wrap::MirrorClamp,
        Wrap::ClampToBorder,
        Wrap::MirrorClampToBorder,
    ];

    /// What it is for a tap of the linear filter: `Clamp` and `MirrorClamp` reach half-way into the border.
    pub const fn tapped(self) -> Wrap {
        match self {
            Wrap::Clamp => Wrap::ClampToBorder,
            Wrap::MirrorClamp => Wrap::MirrorClampToBorder,
            Wrap::Repeat
            | Wrap::MirroredRepeat
            | Wrap::ClampToEdge
            | Wrap::MirrorClampToEdge
            | Wrap::ClampToBorder
            | Wrap::MirrorClampToBorder => self,
        }
    }

    /// It clamps coordinates before the linear filter.
    pub const fn clamps(self) -> bool {
        self as u32 != self.tapped() as u32
    }

    /// Indices below 0 are mirrored once.
    pub const fn mirrors_once(self) -> bool {
        match self {
            Wrap::MirrorClampToEdge | Wrap::MirrorClamp | Wrap::MirrorClampToBorder => true,
            Wrap::Repeat | Wrap::MirroredRepeat | Wrap::ClampToEdge | Wrap::Clamp | Wrap::ClampToBorder => {
                false
            }
        }
    }

    /// Indices outside are the border's.
    pub const fn has_border(self) -> bool {
        match self {
            Wrap::ClampToBorder | Wrap::MirrorClampToBorder => true,
            Wrap::Repeat
            | Wrap::MirroredRepeat
            | Wrap::ClampToEdge
            | Wrap::MirrorClampToEdge
            | Wrap::Clamp
            | Wrap::MirrorClamp => false,
        }
    }
}

/// A wrap mode: known, or a word with its number.
#[derive(Clone, Copy, Debug)]
pub enum Mode<W> {
    /// Known.
    Known(Wrap),
    /// Its number.
    Word(W),
}

impl<W: Copy> Mode<W> {
    /// Whether it is one for which `holds`.
    #[inline(always)]
    pub fn is<A: Algebra<W = W>>(self, a: &mut A, holds: impl Fn(Wrap) -> bool) -> Truth<A::B> {
        match self {
            Mode::Known(wrap) => Truth::Known(holds(wrap)),
            Mode::Word(word) => {
                let mut any = Truth::Known(false);
                for wrap in Wrap::ALL.into_iter().filter(|wrap| holds(*wrap)) {
                    let this = expr!(a, ieq(word, word({ wrap as u32 })));
                    any = any.or(a, Truth::Value(this));
                }
                any
            }
        }
    }
}

/// A texel index, and whether it is inside: else it is the border's, and the index some inside.
pub type Texel<A> = (<A as Algebra>::W, Truth<<A as Algebra>::B>);

/// One axis of a coordinate on its way to a texel.
#[derive(Clone, Copy, Debug)]
pub struct Axis<W> {
    /// The coordinate, a float.
    pub coord: W,
    /// Texels, at least 1.
    pub size: W,
    /// Half texels that are added.
    pub offset: i8,
    /// Coordinates count texels; else 1 is the whole size.
    pub unnormalized: bool,
    /// What is beyond.
    pub mode: Mode<W>,
}

/// A coordinate in texels as a float: NaN is 0, the rest is kept within ±10^9, where integer arithmetic is safe.
#[inline(always)]
pub fn denormalized<A: Algebra>(a: &mut A, coord: A::W, size: A::W, unnormalized: bool) -> A::W {
    let visible = a.signed_coordinate(coord);
    let value = if unnormalized { visible } else { expr!(a, fmul_raw(visible, itof_raw(size))) };
    let value = expr!(a, fmin_raw(value, word({ 1.0e9f32.to_bits() })));
    let value = expr!(a, fmax_raw(value, word({ (-1.0e9f32).to_bits() })));
    expr!(a, select(is_nan(coord), 0, value))
}

/// ⌊v + halves / 2⌋. The sum itself is never formed: it would round, and a tiny negative coordinate would change its texel.
#[inline(always)]
pub fn floor<A: Algebra>(a: &mut A, v: A::W, halves: i32) -> A::W {
    let whole = a.floor_to_int(v);
    let steps = halves.div_euclid(2);
    let whole = if halves.rem_euclid(2) == 0 {
        whole
    } else {
        let upper = upper_half(a, v, whole);
        expr!(a, iadd(whole, select(upper, 1, 0)))
    };
    if steps == 0 { whole } else { expr!(a, iadd(whole, word({ steps as u32 }))) }
}

/// v is at least 1/2 from the whole number below.
#[inline(always)]
fn upper_half<A: Algebra>(a: &mut A, v: A::W, whole: A::W) -> A::B {
    let rest = expr!(a, fadd_raw(v, xor(itof_raw(whole), 0x8000_0000)));
    expr!(a, fle(0x3F00_0000, rest))
}

/// The fraction of v + halves / 2, rounded once.
#[inline(always)]
fn fraction<A: Algebra>(a: &mut A, v: A::W, halves: i32) -> A::W {
    let whole = a.floor_to_int(v);
    let float = a.itof_raw(whole);
    let rest = expr!(a, fadd_raw(v, xor(float, 0x8000_0000)));
    if halves.rem_euclid(2) == 0 {
        return rest;
    }
    let upper = upper_half(a, v, whole);
    // The base ⌊v⌋ ± 1/2 is exact up to 2^22, so the difference is rounded once; from there on the rest is exact.
    let by = expr!(a, select(upper, 0x3F00_0000, 0xBF00_0000));
    let base = a.fadd_raw(float, by);
    let near = expr!(a, fadd_raw(v, xor(base, 0x8000_0000)));
    let far = expr!(a, fadd_raw(rest, xor(by, 0x8000_0000)));
    expr!(a, select(ult(and(v, 0x7FFF_FFFF), 0x4A80_0000), near, far))
}

/// i mod n. Not by a signed remainder: some drivers take the sign of the dividend. For i < 0 it is
/// n − 1 − (−1 − i) mod n.
#[inline(always)]
fn modulo<A: Algebra>(a: &mut A, i: A::W, n: A::W) -> A::W {
    let negative = expr!(a, ilt(i, 0));
    let rest = expr!(a, umod(select(negative, not(i), i), n));
    expr!(a, select(negative, isub(isub(n, 1), rest), rest))
}

/// A texel index after wrapping; `tap`: for the linear filter.
#[inline(always)]
pub fn wrap<A: Algebra>(a: &mut A, index: A::W, size: A::W, mode: Mode<A::W>, tap: bool) -> Texel<A> {
    let of = |wrap: Wrap| if tap { wrap.tapped() } else { wrap };
    let mirrors = mode.is(a, |wrap| of(wrap).mirrors_once());
    let index = mirrors.choose(a, |a| expr!(a, select(ilt(index, 0), not(index), index)), |_| index);
    let border = mode.is(a, |wrap| of(wrap).has_border());
    let inside = match border {
        Truth::Known(false) => Truth::Known(true),
        border => {
            let within = Truth::Value(a.ult(index, size));
            border.not(a).or(a, within)
        }
    };
    let clamped = |a: &mut A| expr!(a, imin(imax(index, 0), isub(size, 1)));
    let mirrored = |a: &mut A| {
        let twice = expr!(a, shl(size, 1));
        let place = modulo(a, index, twice);
        expr!(a, select(ult(place, size), place, isub(isub(twice, 1), place)))
    };
    let repeats = mode.is(a, |wrap| wrap == Wrap::Repeat);
    let turns = mode.is(a, |wrap| wrap == Wrap::MirroredRepeat);
    let texel = repeats.choose(a, |a| modulo(a, index, size), |a| turns.choose(a, mirrored, clamped));
    (texel, inside)
}

/// The texel of an axis with the nearest filter.
#[inline(always)]
pub fn nearest<A: Algebra>(a: &mut A, axis: &Axis<A::W>) -> Texel<A> {
    let v = denormalized(a, axis.coord, axis.size, axis.unnormalized);
    let index = floor(a, v, axis.offset.into());
    wrap(a, index, axis.size, axis.mode, false)
}

/// A coordinate where the modes that clamp it have clamped it: v + offset / 2 within 0 … size, or its mirror image.
#[inline(always)]
fn clamped<A: Algebra>(a: &mut A, axis: &Axis<A::W>) -> A::W {
    let v = denormalized(a, axis.coord, axis.size, axis.unnormalized);
    let limited = axis.mode.is(a, Wrap::clamps);
    let limit = |a: &mut A| {
        let halves = expr!(a, word({ (-f32::from(axis.offset) / 2.0).to_bits() }));
        let size = a.itof_raw(axis.size);
        let high = a.fadd_raw(size, halves);
        let mirrors = axis.mode.is(a, Wrap::mirrors_once);
        let low = mirrors.choose(a, |a| expr!(a, fadd_raw(xor(size, 0x8000_0000), halves)), |_| halves);
        let raised = expr!(a, select(flt(v, low), low, v));
        expr!(a, select(flt(high, raised), high, raised))
    };
    limited.choose(a, limit, |_| v)
}

/// The two taps of an axis with the linear filter, around the position less ½, and the weight of the second.
#[inline(always)]
pub fn taps<A: Algebra>(a: &mut A, axis: &Axis<A::W>) -> ([Texel<A>; 2], A::W) {
    let v = clamped(a, axis);
    let halves = i32::from(axis.offset) - 1;
    let first = floor(a, v, halves);
    let weight = fraction(a, v, halves);
    let second = expr!(a, iadd(first, 1));
    ([first, second].map(|index| wrap(a, index, axis.size, axis.mode, true)), weight)
}

/// A coordinate that modes which clamp keep within ±2^30, so that what is added to its texel does not wrap: they clamp the sum.
#[inline(always)]
fn bounded<A: Algebra>(a: &mut A, axis: &Axis<A::W>) -> A::W {
    let v = denormalized(a, axis.coord, axis.size, axis.unnormalized);
    let limited = axis.mode.is(a, Wrap::clamps);
    let limit = |a: &mut A| {
        let raised = expr!(a, select(flt(v, 0xCE80_0000), 0xCE80_0000, v));
        expr!(a, select(flt(0x4E80_0000, raised), 0x4E80_0000, raised))
    };
    limited.choose(a, limit, |_| v)
}

/// The two texels of an axis that `fetch4` looks at, `added` texels on.
#[inline(always)]
pub fn gathered<A: Algebra>(a: &mut A, axis: &Axis<A::W>, added: Option<A::W>) -> [Texel<A>; 2] {
    let v = if added.is_some() { bounded(a, axis) } else { clamped(a, axis) };
    let first = floor(a, v, i32::from(axis.offset) - 1);
    let first = added.map_or(first, |added| a.iadd(first, added));
    let second = expr!(a, iadd(first, 1));
    [first, second].map(|index| wrap(a, index, axis.size, axis.mode, false))
}

/// Corners of the 2 x 2 texels in the order of `fetch4`: (which column, which row).
pub const GATHER_ORDER: [(usize, usize); 4] = [(0, 1), (1, 1), (1, 0), (0, 0)];

/// A surface that is read at integers.
#[derive(Clone, Copy, Debug)]
pub struct Grid<W> {
    /// Columns that there are.
    pub columns: W,
    /// Rows.
    pub rows: W,
    /// Elements from one row to the next.
    pub pitch: W,
    /// There is one row.
    pub flat: bool,
}

/// Element number of the texel at integers, 0 if it is outside; and whether it is inside.
#[inline(always)]
pub fn at_integers<A: Algebra>(
    a: &mut A,
    grid: &Grid<A::W>,
    coord: [A::W; 2],
    offset: [i8; 2],
) -> (A::W, A::B) {
    // A sum must not wrap into the surface.
    let moved = |a: &mut A, k: usize| {
        let by = i32::from(offset[k]);
        if by == 0 {
            return (coord[k], Truth::Known(true));
        }
        let sum = expr!(a, iadd({ coord[k] }, word({ by as u32 })));
        let wrapped = if by > 0 { a.ilt(sum, coord[k]) } else { a.ilt(coord[k], sum) };
        (sum, Truth::Value(a.negate(wrapped)))
    };
    let (x, x_whole) = moved(a, 0);
    let mut inside = a.ult(x, grid.columns);
    let mut element = x;
    let mut whole = x_whole;
    if grid.flat {
        let any = expr!(a, ult(0, { grid.rows }));
        inside = a.both(inside, any);
    } else {
        let (y, y_whole) = moved(a, 1);
        let row = a.ult(y, grid.rows);
        inside = a.both(inside, row);
        element = expr!(a, iadd(imul(y, { grid.pitch }), x));
        whole = whole.and(a, y_whole);
    }
    if let Truth::Value(whole) = whole {
        inside = a.both(inside, whole);
    }
    (expr!(a, select(inside, element, 0)), inside)
}

#[cfg(test)]
mod tests;
