//! Elements of surfaces, a wave at a time: whole words as they are, others converted.

use recal_il::format::Number;
use recal_il::isa::memory::element;
use recal_il::isa::{Algebra, Scalar};

use super::words::{self, Pattern};
use crate::context::Surface;
use crate::wave::{LANES, Mask, Row, lanes};

/// Word numbers of elements that are stored bit for bit, and their pattern; of others the element numbers.
#[inline(always)]
pub fn place(surface: &Surface<'_>, element: &Row, ok: Mask) -> (Row, Pattern) {
    let n = surface.words.max(1);
    let mut at = *element;
    for word in &mut at.0 {
        *word = word.wrapping_mul(n);
    }
    (at, Pattern::of(&at, ok, n))
}

/// What becomes of an element.
#[derive(Clone, Copy, PartialEq)]
pub enum Read {
    /// As [`recal_il::format::Format::fetch`] says.
    Fetch,
    /// As [`recal_il::format::Format::decode`] says.
    Uav,
}

/// Loads the elements of the lanes in `ok` and converts them; other lanes hold anything.
#[inline(always)]
pub fn load_elements(surface: &Surface<'_>, element: &Row, ok: Mask, read: Read) -> [Row; 4] {
    let (at, pattern) = place(surface, element, ok);
    load_placed(surface, &at, ok, pattern, read)
}

/// The same for elements that [`place`] has placed.
#[inline(always)]
pub fn load_placed(surface: &Surface<'_>, at: &Row, ok: Mask, pattern: Pattern, read: Read) -> [Row; 4] {
    let missing = Row::splat(surface.format.fill());
    match surface.words {
        4 => words::load4(&surface.view, at, ok, pattern),
        2 => {
            let [x, y] = words::load2(&surface.view, at, ok, pattern);
            [x, y, Row::ZERO, missing]
        }
        1 => {
            let [x] = words::load1(&surface.view, at, ok, pattern);
            if read == Read::Fetch { [x; 4] } else { [x, Row::ZERO, Row::ZERO, missing] }
        }
        _ => convert(surface, at, ok, read),
    }
}

/// What elements are made of numbers of: the same for each kind of number, known where it is expanded.
macro_rules! by_number {
    ($number:expr, $known:ident => $body:expr) => {
        match $number {
            Number::Raw => by_number!(@one Raw, $known => $body),
            Number::Half => by_number!(@one Half, $known => $body),
            Number::Unorm => by_number!(@one Unorm, $known => $body),
            Number::Snorm => by_number!(@one Snorm, $known => $body),
            Number::Uint => by_number!(@one Uint, $known => $body),
            Number::Sint => by_number!(@one Sint, $known => $body),
        }
    };
    (@one $number:ident, $known:ident => $body:expr) => {{
        let $known = Number::$number;
        $body
    }};
}

/// The words in which elements of at most 8 bytes lie, and the bits at which they start there.
#[inline(always)]
fn bits_of(surface: &Surface<'_>, element: &Row) -> (Row, Row) {
    let (mut word, mut shift) = (Row::ZERO, Row::ZERO);
    let lg = surface.format.bytes().ilog2();
    for lane in 0..LANES {
        (word.0[lane], shift.0[lane]) = element::place(&mut Scalar, element.0[lane], lg);
    }
    (word, shift)
}

/// Loads elements that are converted.
#[inline(never)]
fn convert(surface: &Surface<'_>, element: &Row, ok: Mask, read: Read) -> [Row; 4] {
    let (format, view) = (surface.format, &surface.view);
    let (word, shift) = bits_of(surface, element);
    let mut raw = [Row::ZERO; 2];
    match format.bytes() {
        8 => raw = words::load2(view, &word, ok, Pattern::of(&word, ok, 2)),
        _ => [raw[0]] = words::load1(view, &word, ok, Pattern::of(&word, ok, 1)),
    }
    if view.bytes() % 4 != 0 {
        let last = view.bytes() / 4;
        for lane in lanes(ok).filter(|&lane| word.0[lane] as usize == last) {
            raw[0].0[lane] = view.last_word();
        }
    }
    if format.bytes() < 4 {
        for lane in 0..LANES {
            raw[0].0[lane] = Scalar.shr(raw[0].0[lane], shift.0[lane]);
        }
    }
    let (encoding, count) = (format.encoding(), format.components() as usize);
    let mut out = [Row::ZERO; 4];
    out[3] = Row::splat(format.fill());
    for (k, out) in out.iter_mut().enumerate().take(count) {
        let Some(field) = encoding.field(k) else {
            *out = Row::splat(element::component(&mut Scalar, encoding, k, [0; 4]));
            continue;
        };
        let raw = &raw[field.word & 1];
        by_number!(encoding.number(), number => {
            for lane in 0..LANES {
                out.0[lane] = element::decode(&mut Scalar, number, field, raw.0[lane]);
            }
        });
    }
    if read == Read::Fetch && format.is_scalar() { [out[0]; 4] } else { out }
}

/// Stores lines of so many neighbours, a power of two from 8 on, the first from element `start` on, if they are stored bit for bit and lie
/// inside; else some may be stored, and some not.
#[inline(always)]
pub fn store_lines(surface: &Surface<'_>, start: usize, columns: usize, rows: [&Row; 4]) -> bool {
    let [x, y, z, w] = rows.map(|row| &row.0);
    let lines = Lines { start, columns };
    match surface.words {
        4 => {
            let mut words = [0; 4 * LANES];
            for lane in 0..LANES {
                words[4 * lane] = x[lane];
                words[4 * lane + 1] = y[lane];
                words[4 * lane + 2] = z[lane];
                words[4 * lane + 3] = w[lane];
            }
            lines.write(surface, &words)
        }
        2 => {
            let mut words = [0; 2 * LANES];
            for lane in 0..LANES {
                words[2 * lane] = x[lane];
                words[2 * lane + 1] = y[lane];
            }
            lines.write(surface, &words)
        }
        1 => lines.write(surface, x),
        _ => false,
    }
}

/// Lines of a wave in a surface.
struct Lines {
    /// The first element.
    start: usize,
    columns: usize,
}

impl Lines {
    /// Stores the words of all their elements.
    #[inline(always)]
    fn write<const N: usize>(&self, surface: &Surface<'_>, words: &[u32; N]) -> bool {
        let each = N / LANES;
        let first = |line: usize| each * (self.start + line * surface.pitch as usize);
        if self.columns == LANES {
            return write(surface, first(0), words);
        }
        let mut lines = (0..).zip(words.chunks_exact(each * self.columns));
        lines.all(|(line, words)| {
            let mut pieces = (0..).zip(words.as_chunks::<8>().0);
            pieces.all(|(piece, words)| write(surface, first(line) + 8 * piece, words))
        })
    }
}

/// Stores neighbouring words, from word number `index` on; false if not all are inside.
#[inline(always)]
pub fn write<const N: usize>(surface: &Surface<'_>, index: usize, words: &[u32; N]) -> bool {
    match surface.past_caches {
        true => surface.view.stream(index, words),
        false => surface.view.write(index, words),
    }
}

/// Converts and stores one element for each lane in `ok`.
#[inline(always)]
pub fn store_elements(surface: &Surface<'_>, element: &Row, ok: Mask, rows: [&Row; 4]) {
    let scaled = |n: u32| Row(element.0.map(|e| e.wrapping_mul(n)));
    match surface.words {
        4 => words::store4(&surface.view, &scaled(4), ok, rows),
        2 => words::store2(&surface.view, &scaled(2), ok, [rows[0], rows[1]]),
        1 => words::store1(&surface.view, element, ok, [rows[0]]),
        _ => convert_and_store(surface, element, ok, rows),
    }
}

/// Stores elements that are converted.
#[inline(never)]
fn convert_and_store(surface: &Surface<'_>, element: &Row, ok: Mask, rows: [&Row; 4]) {
    let (format, view) = (surface.format, &surface.view);
    let mut raw = [Row::ZERO; 2];
    for (k, row) in rows.into_iter().enumerate().take(format.components() as usize) {
        let Some(field) = format.encoding().field(k) else { continue };
        let raw = &mut raw[field.word & 1];
        by_number!(format.encoding().number(), number => {
            for lane in 0..LANES {
                raw.0[lane] |= element::field(&mut Scalar, number, field.width, row.0[lane]) << (field.shift & 31);
            }
        });
    }
    let bytes = format.bytes() as usize;
    match bytes {
        8 => words::store2(view, &Row(element.0.map(|e| e.wrapping_mul(2))), ok, [&raw[0], &raw[1]]),
        4 => words::store1(view, element, ok, [&raw[0]]),
        _ => {
            // Other threads write the other bytes of the word.
            for lane in lanes(ok) {
                let start = element.0[lane] as usize * bytes;
                for (k, byte) in raw[0].0[lane].to_le_bytes().into_iter().enumerate().take(bytes) {
                    view.set_byte(start + k, byte);
                }
            }
        }
    }
}
