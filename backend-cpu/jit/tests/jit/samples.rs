//! Samples of all formats, wraps and filters.

use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::memory::element::Layout;
use recal_il::isa::memory::texel::{self, Axis, Mode, Texel, Wrap};
use recal_il::isa::memory::{Truth, filter};
use recal_il::isa::{LaneOp, Scalar};
use recal_jit::{Filter, LANES, NONE, Row, Sample, Step, View};

use crate::operations::flushed;
use crate::{On, Random, endless};

/// The texel of a coordinate, by the documents: NaN is 0, the floor counts, what is outside is at the edge.
fn texel(coordinate: f32, offset: i32, size: u32, unnormalized: bool) -> usize {
    let value = if unnormalized { coordinate } else { coordinate * size as f32 };
    let value = if coordinate.is_nan() { 0.0 } else { f64::from(value).clamp(-1e9, 1e9) };
    (value.floor() as i64 + i64::from(offset)).clamp(0, i64::from(size) - 1) as usize
}

pub fn samples(on: On) {
    let edges =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -1e-40, 3e9, -3e9, 0.999_999_9, 12.0, 11.999_999];
    let (width, height, pitch) = (13u32, 5u32, 16u32);
    let mut random = Random(77);
    for round in 0..24 {
        let (unnormalized, words, flat) = (round % 2 == 0, 1 + round / 2 % 2, round / 4 % 3 == 2);
        let format = if words == 1 { Format::Float32x1 } else { Format::Float32x2 };
        let whole = [round as i32 % 5 - 2, 1];
        let sample = Sample {
            unnormalized,
            offset: whole.map(|texels| 2 * texels as i8),
            format,
            wrap: [Wrap::ClampToEdge; 2],
            filter: Filter::Nearest,
            normal: [false; 2],
        };
        let mut compiler = on.compiler();
        let coordinates = [0, if flat { NONE } else { 1 }, NONE, NONE];
        let step = Step::Sample {
            view: 0,
            sample,
            coordinates,
            to: [2, 3, NONE, 4],
            flush: 1,
            lanes: Shape::Any,
            same: 0,
        };
        // Some columns are constants.
        let literal = (round % 5 == 0).then(|| edges[round as usize % 10].to_bits());
        let constant = |row: u32| literal.filter(|_| row == 0);
        let function = compiler.function(&[step], constant, |_| false, |_| false).unwrap();
        let module = compiler.finish().unwrap();
        let memory: Vec<u32> = (0..pitch * height * words).map(|_| random.edge()).collect();
        // SAFETY: the vector outlives the call.
        let view = unsafe { View::new(memory.as_ptr().cast(), 4 * memory.len()) };
        let view = view.with_texels(width, height, pitch * words, words, [0; 4]);
        let scale = if unnormalized { 16.0 } else { 1.2 };
        let mut coordinate = |k: usize| {
            if k % 7 == 3 { edges[k % 10] } else { (random.word() as f32 / 4.0e9 - 0.1) * scale }
        };
        let mut rows = vec![Row::ZERO; 5];
        rows[0] = Row(std::array::from_fn(|lane| literal.unwrap_or(coordinate(lane).to_bits())));
        rows[1] = Row(std::array::from_fn(|lane| coordinate(lane + round as usize).to_bits()));
        on.call(&module, function, &mut rows, &[view], !0, &mut endless());
        for lane in 0..LANES {
            let [u, v] = [0, 1].map(|row: usize| f32::from_bits(rows[row].0[lane]));
            let column = texel(u, whole[0], width, unnormalized);
            let line = if flat { 0 } else { texel(v, 1, height, unnormalized) };
            let at = (line * pitch as usize + column) * words as usize;
            let [y, w] = if words == 2 { [memory[at + 1], 1.0f32.to_bits()] } else { [memory[at]; 2] };
            let got = [2, 3, 4].map(|row: usize| rows[row].0[lane]);
            assert_eq!(got, [flushed(memory[at]), y, w], "round {round}, lane {lane}: {u} {v}");
        }
    }
}

/// Every format, wrap mode and filter gives what the functions that say so give of words.
pub fn samples_of_all_formats(on: On) {
    let (width, height, pitch) = (7u32, 5u32, 8u32);
    let mut random = Random(1999);
    for round in 0..8 * Format::ALL.len() {
        let format = Format::ALL[round / 8];
        let half = |random: &mut Random| (random.word() % 9) as i8 - 4;
        let wrap = [0, 1].map(|_| Wrap::ALL[random.word() as usize % 8]);
        let sample = Sample {
            unnormalized: round % 3 != 0,
            offset: [half(&mut random), half(&mut random)],
            format,
            wrap,
            filter: match round % 4 {
                0 if round % 8 == 0 => Filter::Gather(random.word() as u8 & 3),
                1 if round % 8 == 1 => Filter::Integers,
                1 => Filter::Element,
                3 if !format.is_integer() => Filter::Linear,
                _ => Filter::Nearest,
            },
            normal: [false; 2],
        };
        let gathers = matches!(sample.filter, Filter::Gather(_));
        let flat = random.word() % 4 == 0 && !gathers;
        let to = if round % 4 == 2 { [NONE, 3, NONE, NONE] } else { [2, 3, 4, 5] };
        let more = if gathers && round % 16 == 0 { [6, 7] } else { [NONE; 2] };
        let coordinates = [0, if flat { NONE } else { 1 }, more[0], more[1]];
        // Enough that goes before for the mode that takes denormals as zeros.
        let mut steps: Vec<Step<'_>> = Vec::new();
        if round % 8 < 4 {
            steps.extend((0..12).map(|_| Step::Lane {
                op: LaneOp::Add,
                ids: &[8, 8, 8],
                writes: 1,
                same: 0,
            }));
        }
        steps.push(Step::Sample { view: 0, sample, coordinates, to, flush: 0, lanes: Shape::Any, same: 0 });
        let mut compiler = on.compiler();
        let function = compiler.function(&steps, |_| None, |_| false, |_| false);
        let function = function.unwrap_or_else(|| panic!("{format:?} {sample:?} is not compiled"));
        let module = compiler.finish().unwrap();
        let words = pitch * height * format.bytes() / 4;
        let memory: Vec<u32> = (0..words).map(|_| random.edge()).collect();
        let colour = [0.25f32, -3.5, 1.0e6, 0.0].map(f32::to_bits);
        let border = Layout::of(&mut Scalar, format).border(&mut Scalar, colour);
        // SAFETY: the vector outlives the call.
        let view = unsafe { View::new(memory.as_ptr().cast(), 4 * memory.len()) };
        let unit = if format.encoding().is_raw() { format.read_words() } else { 0 };
        let view = view.with_texels(width, height, pitch * unit.max(1), unit, border);
        let mut coordinate = |k: usize| {
            let edges = [f32::NAN, f32::INFINITY, -0.0, -1e-40, 1e-40, -3e9, 0.5, 7.0, 2.5, -0.25];
            let scale = if sample.unnormalized { 1.0 } else { 0.125 };
            if k % 5 == 3 { edges[k / 5 % 10] } else { ((random.word() % 160) as f32 / 4.0 - 20.0) * scale }
        };
        let mut rows = vec![Row::ZERO; 9];
        rows[0] = Row(std::array::from_fn(|lane| coordinate(lane).to_bits()));
        rows[1] = Row(std::array::from_fn(|lane| coordinate(lane + round).to_bits()));
        let integers = matches!(sample.filter, Filter::Integers | Filter::Element);
        if integers {
            for k in [0, 1] {
                rows[k].0 = rows[k].0.map(|word| (f32::from_bits(word) as i32 % 12) as u32);
                rows[k].0[5] = [i32::MAX, i32::MIN][k] as u32;
            }
        }
        rows[6] = Row(std::array::from_fn(|lane| lane as u32 % 5));
        rows[7] = Row(std::array::from_fn(|lane| (lane as u32 % 7).wrapping_sub(3)));
        on.call(&module, function, &mut rows, &[view], !0, &mut endless());
        let bytes: Vec<u8> = memory.iter().flat_map(|word| word.to_le_bytes()).collect();
        let texel = |(column, within): Texel<Scalar>, (row, inside): Texel<Scalar>| {
            let known = |truth| matches!(truth, Truth::Known(true) | Truth::Value(true));
            if !known(within) || !known(inside) {
                return border;
            }
            let (n, start) = (format.bytes() as usize, (row * pitch + column) as usize);
            let mut element = [0; 16];
            element[..n].copy_from_slice(&bytes[start * n..][..n]);
            if sample.filter == Filter::Element { format.decode(&element) } else { format.fetch(&element) }
        };
        for lane in 0..LANES {
            let axes = [0, 1].map(|k| Axis {
                coord: rows[k].0[lane],
                size: [width, height][k],
                offset: sample.offset[k],
                unnormalized: sample.unnormalized,
                mode: Mode::Known(wrap[k]),
            });
            let first = (0, Truth::Known(true));
            let expected: [u32; 4] = if integers {
                let size = [width, if flat { 1 } else { height }];
                let at = [0, 1].map(|k| match flat && k == 1 {
                    true => 0,
                    false => i64::from(axes[k].coord as i32) + i64::from(sample.offset[k]),
                });
                match (0..2).all(|k| (0..i64::from(size[k])).contains(&at[k])) {
                    true => texel((at[0] as u32, first.1), (at[1] as u32, first.1)),
                    false if sample.filter == Filter::Element => format.decode(&[0; 16]),
                    false => [0; 4],
                }
            } else if let Filter::Gather(component) = sample.filter {
                let added = |k: usize| (more[k] != NONE).then(|| rows[more[k] as usize].0[lane]);
                let [columns, lines] = [0, 1].map(|k| texel::gathered(&mut Scalar, &axes[k], added(k)));
                [(0, 1), (1, 1), (1, 0), (0, 0)]
                    .map(|(i, j)| texel(columns[i], lines[j])[usize::from(component)])
            } else if sample.filter == Filter::Linear {
                let (columns, across) = texel::taps(&mut Scalar, &axes[0]);
                let (lines, down) = if flat { ([first; 2], 0) } else { texel::taps(&mut Scalar, &axes[1]) };
                let taps = lines.map(|line| columns.map(|column| texel(column, line)));
                std::array::from_fn(|k| {
                    let [top, bottom] = taps.map(|line| line.map(|words| words[k]));
                    filter::linear(&mut Scalar, top, Some((bottom, down)), across)
                })
            } else {
                let line = if flat { first } else { texel::nearest(&mut Scalar, &axes[1]) };
                texel(texel::nearest(&mut Scalar, &axes[0]), line)
            };
            for (row, word) in to.into_iter().zip(expected).filter(|&(row, _)| row != NONE) {
                let got = rows[row as usize].0[lane];
                let at = [0, 1].map(|k| f32::from_bits(rows[k].0[lane]));
                assert_eq!(got, word, "{format:?}, round {round}, lane {lane} at {at:?}: {sample:?}");
            }
        }
    }
}

/// Memory that ends where nothing may be read.
#[cfg(unix)]
struct AtTheEnd {
    start: *mut u8,
    page: usize,
}

#[cfg(unix)]
impl AtTheEnd {
    fn new(words: &[u32]) -> (AtTheEnd, *const u8) {
        // SAFETY: memory of its own; the words lie in the first page, and the second one is closed.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            assert!(size_of_val(words) <= page);
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(std::ptr::null_mut(), 2 * page, access, kind, -1, 0);
            assert!(start != libc::MAP_FAILED && libc::mprotect(start.add(page), page, libc::PROT_NONE) == 0);
            let first = start.cast::<u8>().add(page - size_of_val(words));
            first.cast::<u32>().copy_from_nonoverlapping(words.as_ptr(), words.len());
            (AtTheEnd { start: start.cast(), page }, first)
        }
    }
}

#[cfg(unix)]
impl Drop for AtTheEnd {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more.
        unsafe { libc::munmap(self.start.cast(), 2 * self.page) };
    }
}

/// Texels are read without asking whether they are inside: nothing beyond the last one is touched, whatever the lanes ask for, and
/// a surface that is larger than its view reads as nothing.
#[cfg(unix)]
pub fn nothing_beyond_the_last_texel(on: On) {
    let (width, height) = (19u32, 3u32);
    for (format, unit) in
        [(Format::Float32x1, 1), (Format::Float32x2, 2), (Format::Float32x4, 4), (Format::Float64x2, 4)]
    {
        let words: Vec<u32> = (0..width * height * unit).map(|k| 0x3F80_0000 + k).collect();
        let (memory, first) = AtTheEnd::new(&words);
        // SAFETY: the memory outlives the calls.
        let view = unsafe { View::new(first, 4 * words.len()) };
        let there = view.with_texels(width, height, width * unit, unit, [0; 4]);
        let larger = view.with_texels(width, height + 1, width * unit, unit, [0; 4]);
        // SAFETY: nothing of it is accessed.
        let none = unsafe { View::new(first.add(4 * words.len()), 0) }.with_texels(0, 0, 0, unit, [0; 4]);
        for lanes in [Shape::Any, Shape::Same] {
            let sample = Sample {
                unnormalized: true,
                offset: [0; 2],
                format,
                wrap: [Wrap::ClampToEdge; 2],
                filter: Filter::Nearest,
                normal: [false; 2],
            };
            let step = Step::Sample {
                view: 0,
                sample,
                coordinates: [0, 1, NONE, NONE],
                to: [2, 3, 4, 5],
                flush: 0,
                lanes,
                same: 0,
            };
            let mut compiler = on.compiler().with_lines(16);
            let function = compiler.function(&[step], |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            // The last texel for all; the last columns and beyond, one after another; from far left and right.
            let columns: [fn(usize) -> f32; 4] = [
                |_| 1e9,
                |lane| 18.5 + lane as f32,
                |lane| 12.5 + lane as f32,
                |lane| (lane as f32 - 30.0) * 1e7,
            ];
            for (number, column) in columns.into_iter().enumerate() {
                if lanes == Shape::Same && number > 0 {
                    continue;
                }
                for exec in [!0, 1, 0x8001_0001_0001_8001u64, 0x7F7F_0101_00FF_FF00] {
                    for (surface, is_there) in [(there, true), (larger, false), (none, false)] {
                        let mut rows = vec![Row::splat(9); 6];
                        rows[0] = Row(std::array::from_fn(|lane| column(lane).to_bits()));
                        rows[1] = Row::splat(2.5f32.to_bits());
                        on.call(&module, function, &mut rows, &[surface], exec, &mut endless());
                        for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
                            let x = (column(lane).floor().clamp(0.0, 18.0)) as u32;
                            let word = words[((2 * width + x) * unit) as usize];
                            let expected = if is_there { word } else { 0 };
                            assert_eq!(
                                rows[2].0[lane], expected,
                                "{format:?} {number} lane {lane} of {exec:x}"
                            );
                        }
                    }
                }
            }
        }
        drop(memory);
    }
}
