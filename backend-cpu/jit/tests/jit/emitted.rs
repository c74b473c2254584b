//! Elements that a function stores last: as they lie in memory from load to store, or put together from rows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_il::isa::memory::texel::Wrap;
use recal_jit::{Filter, LANES, Mode, NONE, Row, Sample, Step, View, Wave, Waves};

use crate::operations::flushed;
use crate::{On, Random, endless};

// Rows of the function: where it samples, factors that are the same for all lanes, what is loaded, and what is stored.
const COLUMN: u32 = 0;
const LINE: u32 = 1;
const FACTORS: u32 = 2;
const LOADED: u32 = 4;
const STORED: u32 = 8;
const SECOND: u32 = 12;
const ROWS: u32 = 16;

/// Columns of the surface; it has four lines.
const SIZE: u32 = 70;

/// Whether each word becomes what it does in the same way, so that elements may stay whole.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Moved,
    Alike,
    /// One word in another way.
    Unlike,
    /// A word is that of another component.
    Swapped,
    /// A word is nothing but zero.
    Short,
}

fn operations(words: u32, kind: Kind) -> Vec<(LaneOp, Vec<u32>)> {
    let mut ops = Vec::new();
    for k in 0..words {
        let (from, to) = (LOADED + k, STORED + k);
        let other = if kind == Kind::Swapped && k > 0 { LOADED } else { from };
        match kind {
            Kind::Moved => ops.push((LaneOp::Mov, vec![to, from])),
            _ => {
                ops.push((LaneOp::Mad, vec![to, FACTORS, from, FACTORS + 1]));
                ops.push((LaneOp::Mad, vec![to, to, other, FACTORS + 1]));
                ops.push((LaneOp::Canon, vec![to, to]));
            }
        }
        if kind == Kind::Unlike && k == 0 {
            ops.push((LaneOp::Iadd, vec![to, to, from]));
        }
    }
    ops
}

/// Memory whose first word has an address that is a multiple of 64.
#[repr(align(64))]
struct Memory([u32; 4 * LANES + 16]);

pub fn elements_stay_whole(on: On) {
    let kinds = [Kind::Moved, Kind::Alike, Kind::Unlike, Kind::Swapped, Kind::Short];
    for (format, words) in [(Format::Float32x4, 4), (Format::Float32x2, 2), (Format::Float32x1, 1)] {
        for (kind, past_caches, line) in
            kinds.into_iter().flat_map(|kind| [(kind, false, 32), (kind, true, 16), (kind, false, 4)])
        {
            one(on, format, words, kind, past_caches, line, None);
        }
    }
}

/// The same where columns are known to be columns, so that addresses are computed once, for all strips, and looked at at the ends.
pub fn elements_at_columns(on: On) {
    for (format, words) in [(Format::Float32x4, 4), (Format::Float32x2, 2), (Format::Float32x1, 1)] {
        for (kind, offset) in [Kind::Moved, Kind::Alike, Kind::Unlike]
            .into_iter()
            .flat_map(|kind| [[0, 0], [-2, 2], [2, -2], [-7, 0]].map(|offset| (kind, offset)))
        {
            one(on, format, words, kind, false, 32, Some(offset));
        }
    }
}

fn one(
    on: On,
    format: Format,
    words: u32,
    kind: Kind,
    past_caches: bool,
    line: u32,
    columns: Option<[i8; 2]>,
) {
    let what = format!("{kind:?} {words} {past_caches} {line} {columns:?}");
    let mut random = Random(7 + words);
    let ops = operations(words, kind);
    let list = |first: u32| std::array::from_fn(|k| if (k as u32) < words { first + k as u32 } else { NONE });
    let sample = Sample {
        unnormalized: true,
        offset: columns.unwrap_or_default(),
        format,
        wrap: [Wrap::ClampToEdge; 2],
        filter: Filter::Nearest,
        normal: [false; 2],
    };
    // What floats are made of is flushed.
    let flush = if kind == Kind::Moved { 0 } else { 15 };
    let mut steps = vec![Step::Sample {
        view: 0,
        sample,
        coordinates: [COLUMN, LINE, NONE, NONE],
        to: list(LOADED),
        flush,
        lanes: Shape::Any,
        same: 2,
    }];
    // Operands that are the same in all lanes.
    let same = |ids: &[u32]| {
        ids[1..]
            .iter()
            .enumerate()
            .filter(|(_, id)| (FACTORS..LOADED).contains(*id))
            .fold(0, |m, (k, _)| m | 1 << k)
    };
    steps.extend(ops.iter().map(|(op, ids)| Step::Lane { op: *op, ids, writes: 1, same: same(ids) }));
    let mut rows_of: [u32; 4] = list(STORED);
    if kind == Kind::Short {
        rows_of[words as usize - 1] = NONE;
    }
    steps.push(Step::Emit { view: 1, rows: rows_of, count: words, past_caches });
    // A second one, of words that were loaded.
    steps.push(Step::Emit { view: 2, rows: [LOADED, NONE, NONE, NONE], count: 1, past_caches: false });
    if words > 1 && kind != Kind::Unlike {
        steps.pop();
    }
    let more = matches!(steps.last(), Some(Step::Emit { view: 2, .. }));
    let dead = |row: u32| (LOADED..STORED).contains(&row) && !more;
    let mut compiler = on.compiler().with_lines(line).with_column(columns.map(|_| COLUMN));
    let function = compiler.function(&steps, |_| None, dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    let emits = function.emits();
    assert_eq!(emits, on.isa.name() != "neon" && line >= on.isa.lanes(), "{what}");
    if emits {
        let text = module.listing(function).unwrap();
        let whole = match words {
            1 => kind != Kind::Short,
            _ => matches!(kind, Kind::Moved | Kind::Alike),
        };
        assert_eq!(text.contains("as they lie in memory {"), whole, "{what}: {text}");
        // Halves of texels are added by a choice, of which nothing is known.
        let once = whole && columns.is_some_and(|offset| offset[0] % 2 == 0);
        assert_eq!(text.contains("once, by columns"), once, "{what}: {text}");
    }
    let places = match columns {
        Some(_) => [(0.5, 1.0), (40.5, 1.0), (3.0, 1.0), (64.5, 1.0)],
        None => [(0.5, 1.0), (40.5, 1.0), (3.5, 0.0), (0.5, 0.5)],
    };
    for (zeros, start, step) in (0..4).flat_map(|zeros| places.map(|(a, b)| (zeros, a, b))) {
        let texels: Vec<u32> = (0..SIZE * 4 * words)
            .map(|_| match (zeros, random.word() % 64) {
                (1.., 0) => random.word() & 0x8000_0000,
                (2.., 1) => 0x7F80_0000,
                (2.., 2) => 0x7FC1_2345,
                (3, _) => random.word() & 0x80FF_FFFF,
                _ => random.word() & 0x8FFF_FFFF | 0x3000_0000,
            })
            .collect();
        for exec in [!0, 0xFF00_FFFF_0F0F_5555u64] {
            let stored = [0, 1].map(|_| Memory([0xABAB_ABAB; 4 * LANES + 16]));
            // SAFETY: both outlive the call, and are read after it.
            let view = |words: &[u32]| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
            let [first, second] = stored.each_ref().map(|of| view(&of.0));
            let views = [view(&texels).with_texels(SIZE, 4, SIZE * words, words, [0; 4]), first, second];
            let mut rows: Vec<Row> = (0..ROWS)
                .map(|row| {
                    Row(std::array::from_fn(|lane| match row {
                        COLUMN => (start + step * lane as f32).to_bits(),
                        LINE => 2.5f32.to_bits(),
                        FACTORS => 1.5f32.to_bits(),
                        3 => (-2.25f32).to_bits(),
                        _ => lane as u32 + row,
                    }))
                })
                .collect();
            let before = rows.clone();
            on.call(&module, function, &mut rows, &views, exec, &mut endless());
            let done = exec == !0 && emits;
            let stored = stored.each_ref().map(|of| std::hint::black_box(&of.0));
            for lane in 0..LANES {
                let mut own: Vec<u32> = before.iter().map(|row| row.0[lane]).collect();
                // Offsets are halves of texels.
                let moved = |row: u32, axis: usize, size: u32| {
                    let at = f32::from_bits(own[row as usize]) + f32::from(sample.offset[axis]) / 2.0;
                    (at.floor().max(0.0) as u32).min(size - 1)
                };
                let (column, line) = (moved(COLUMN, 0, SIZE), moved(LINE, 1, 4));
                for k in 0..words {
                    let texel = texels[((line * SIZE + column) * words + k) as usize];
                    own[(LOADED + k) as usize] = if flush == 0 { texel } else { flushed(texel) };
                }
                for (op, ids) in &ops {
                    let args: Vec<u32> = ids[1..].iter().map(|&row| own[row as usize]).collect();
                    own[ids[0] as usize] = fold(*op, &args).0;
                }
                let at = format!("{what}: lane {lane} {exec:x} {zeros} {start} {step}");
                for k in 0..words {
                    let expected = match rows_of[k as usize] {
                        _ if !done => 0xABAB_ABAB,
                        NONE => 0,
                        row => own[row as usize],
                    };
                    assert_eq!(stored[0][lane * words as usize + k as usize], expected, "{at} word {k}");
                    if !done && exec >> lane & 1 == 1 {
                        assert_eq!(
                            rows[(STORED + k) as usize].0[lane],
                            own[(STORED + k) as usize],
                            "{at} row {k}"
                        );
                    }
                }
                let expected = if done && more { own[LOADED as usize] } else { 0xABAB_ABAB };
                assert_eq!(stored[1][lane], expected, "{at} second");
                assert_eq!(rows[SECOND as usize].0[lane], before[SECOND as usize].0[lane], "{at}");
            }
            let end = LANES * words as usize;
            assert!(stored[0][end..].iter().all(|word| *word == 0xABAB_ABAB), "{what}: more was stored");
        }
    }
}

/// Three texels side by side and one of the next line, and words by addresses: strips in doubt, and at edges, are done in another way, which
/// has a use of its own for registers.
pub fn neighbours_at_columns(on: On) {
    const WORDS: u32 = 1 + SIZE;
    const NEAR: u32 = 20;
    const FAR: u32 = 21;
    const BY: u32 = 22;
    const FIRST: u32 = 23;
    let offsets = [[0i8, 0], [-2, 0], [2, 0], [0, 2]];
    let sample = |offset| Sample {
        unnormalized: true,
        offset,
        format: Format::Float32x1,
        wrap: [Wrap::ClampToEdge; 2],
        filter: Filter::Nearest,
        normal: [true; 2],
    };
    let mut steps: Vec<Step<'_>> = (FIRST..)
        .zip(offsets)
        .map(|(row, offset)| Step::Sample {
            view: 0,
            sample: sample(offset),
            coordinates: [COLUMN, LINE, NONE, NONE],
            to: [row, NONE, NONE, NONE],
            flush: 15,
            lanes: Shape::Any,
            same: 2,
        })
        .collect();
    let far = [FAR, NEAR, BY];
    let load = |address, to| Step::Load {
        view: 2,
        address,
        to: [to, NONE, NONE, NONE],
        flush: 1,
        lanes: Shape::Step(4),
    };
    steps.push(load(NEAR, FIRST + 4));
    steps.push(Step::Lane { op: LaneOp::Iadd, ids: &far, writes: 1, same: 0 });
    steps.push(load(FAR, FIRST + 5));
    let sums: Vec<[u32; 4]> = (0..12)
        .map(|k| [STORED, FIRST + k % 6, FIRST + (k + 1 + k / 6) % 6, if k == 0 { FIRST } else { STORED }])
        .collect();
    steps.extend(sums.iter().map(|ids| Step::Lane { op: LaneOp::Mad, ids, writes: 1, same: 0 }));
    let canon = [STORED, STORED];
    steps.push(Step::Lane { op: LaneOp::Canon, ids: &canon, writes: 1, same: 0 });
    steps.push(Step::Emit { view: 1, rows: [STORED, NONE, NONE, NONE], count: 1, past_caches: false });
    let dead = |row: u32| row != STORED;
    let mut compiler = on.compiler().with_lines(32).with_column(Some(COLUMN));
    let function = compiler.function(&steps, |row| (row == BY).then_some(4 * 64), dead, dead).unwrap();
    let module = compiler.finish().unwrap();
    if !function.emits() {
        return;
    }
    let text = module.listing(function).unwrap();
    for place in
        ["kept 1 = kept 0 -1 of view 0", "kept 2 = kept 0 +1 of view 0", "kept 3 = kept 3 +0 of view 0"]
    {
        assert!(text.contains(place), "{text}");
    }
    let mut random = Random(5);
    let mut floats = |count: u32| -> Vec<u32> {
        (0..count)
            .map(|_| {
                if random.word() % 64 == 0 { 0x7F80_0000 } else { random.word() & 0x8FFF_FFFF | 0x3000_0000 }
            })
            .collect()
    };
    let (texels, words) = (floats(SIZE * 4), floats(2 * WORDS));
    for start in [0.5, 3.5, 5.5] {
        let stored = Memory([0xABAB_ABAB; 4 * LANES + 16]);
        // SAFETY: all outlive the call.
        let view = |words: &[u32]| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
        let views = [view(&texels).with_texels(SIZE, 4, SIZE, 1, [0; 4]), view(&stored.0), view(&words)];
        let mut rows: Vec<Row> = (0..FIRST + 6)
            .map(|row| {
                Row(std::array::from_fn(|lane| match row {
                    COLUMN => (start + lane as f32).to_bits(),
                    LINE => 1.5f32.to_bits(),
                    NEAR => 4 * lane as u32,
                    _ => 0,
                }))
            })
            .collect();
        on.call(&module, function, &mut rows, &views, !0, &mut endless());
        let stored = std::hint::black_box(&stored.0);
        for lane in 0..LANES {
            let column = start as i32 + lane as i32;
            let texel = |[x, y]: [i8; 2]| {
                let x = (column + i32::from(x / 2)).clamp(0, SIZE as i32 - 1) as u32;
                texels[((1 + i32::from(y / 2)) as u32 * SIZE + x) as usize]
            };
            let mut own: Vec<u32> = offsets.map(texel).into();
            own.extend([words[lane], words[lane + 64]]);
            let expected = (0..12).fold(flushed(own[0]), |sum, k| {
                fold(LaneOp::Mad, &[flushed(own[k % 6]), flushed(own[(k + 1 + k / 6) % 6]), sum]).0
            });
            let expected = fold(LaneOp::Canon, &[expected]).0;
            assert_eq!(stored[lane], expected, "lane {lane} from {start}");
        }
    }
}

/// A line goes on from wave to wave: elements are stored behind each other, and what is found ready for strips is so for those of several waves.
pub fn waves_of_a_line(on: On) {
    const WAVES: usize = 6;
    const WIDTH: u32 = 360;
    for (words, infinite) in [(1, false), (1, true), (2, false)] {
        let sample = |offset| Sample {
            unnormalized: true,
            offset: [offset, 0],
            format: if words == 1 { Format::Float32x1 } else { Format::Float32x2 },
            wrap: [Wrap::ClampToEdge; 2],
            filter: Filter::Nearest,
            normal: [true; 2],
        };
        let list =
            |first: u32| std::array::from_fn(|k| if (k as u32) < words { first + k as u32 } else { NONE });
        let sampled = |(first, offset)| Step::Sample {
            view: 0,
            sample: sample(offset),
            coordinates: [COLUMN, LINE, NONE, NONE],
            to: list(first),
            flush: 15,
            lanes: Shape::Any,
            same: 2,
        };
        let mut steps: Vec<Step<'_>> = [(LOADED, -2), (LOADED + 2, 2)].map(sampled).into();
        let ids: Vec<[u32; 3]> = (0..words).map(|k| [STORED + k, LOADED + k, LOADED + 2 + k]).collect();
        steps.extend(ids.iter().map(|ids| Step::Lane { op: LaneOp::Mul, ids, writes: 1, same: 0 }));
        steps.push(Step::Emit { view: 1, rows: list(STORED), count: words, past_caches: false });
        let mut compiler = on.compiler().with_lines(64).with_column(Some(COLUMN));
        let function = compiler.function(&steps, |_| None, |_| true, |_| true).unwrap();
        let module = compiler.finish().unwrap();
        if !function.emits() {
            return;
        }
        assert!(module.listing(function).unwrap().contains("once, by columns"));
        let mut random = Random(17);
        let texels: Vec<u32> = (0..WIDTH * words)
            .map(|at| match at {
                200 if infinite => 0x7F80_0000,
                _ => random.word() & 0x8FFF_FFFF | 0x3000_0000,
            })
            .collect();
        let end = WAVES * LANES * words as usize;
        let mut stored = vec![0xABAB_ABAB; end + 16];
        // SAFETY: both outlive the calls, and what is stored is read after them.
        let view = |words: &[u32]| unsafe { View::new(words.as_ptr().cast(), 4 * words.len()) };
        let image = view(&texels).with_texels(WIDTH, 1, WIDTH * words, words, [0; 4]);
        let row = |wave: usize, row| {
            Row(std::array::from_fn(|lane| match row {
                COLUMN => ((wave * LANES + lane) as f32 + 0.5).to_bits(),
                LINE => 0.5f32.to_bits(),
                _ => 0,
            }))
        };
        let mut waves: Vec<Vec<Row>> =
            (0..WAVES).map(|wave| (0..ROWS).map(|of| row(wave, of)).collect()).collect();
        let words = words as usize;
        if on.code {
            let mut bound = module.bind(vec![image, view(&stored)]);
            bound.aim(1, view(&stored[..end]));
            let mut list: Vec<Wave<'_>> = waves.iter_mut().map(|rows| Wave::new(rows, !0)).collect();
            let (ticks, mode) = (&mut endless(), &mut Mode::default());
            bound.call(&function, &mut Waves::new(&mut list), 0..WAVES, true, ticks, mode);
            // Elements of the last wave would lie beyond the end.
            bound.aim(1, view(&stored[LANES * words..end]));
            let call = || bound.call(&function, &mut Waves::new(&mut list), 0..WAVES, true, ticks, mode);
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        } else {
            for (rows, stored) in waves.iter_mut().zip(stored.chunks_exact_mut(LANES * words)) {
                on.call(&module, function, rows, &[image, view(stored)], !0, &mut endless());
            }
        }
        let stored = std::hint::black_box(&stored);
        for (at, &found) in stored.iter().enumerate() {
            let (column, word) = ((at / words) as i32, at % words);
            let texel =
                |offset: i32| texels[(column + offset).clamp(0, WIDTH as i32 - 1) as usize * words + word];
            let expected = match at < end {
                true => fold(LaneOp::Mul, &[flushed(texel(-1)), flushed(texel(1))]).0,
                false => 0xABAB_ABAB,
            };
            assert_eq!(found, expected, "word {word} of column {column}");
        }
    }
}
