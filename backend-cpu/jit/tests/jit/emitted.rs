//! Elements that a function stores last: as they lie in memory from load to store, or put together from rows.

use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::isa::LaneOp;
use recal_il::isa::lane::fold;
use recal_il::isa::memory::texel::Wrap;
use recal_jit::{Filter, LANES, NONE, Row, Sample, Step, View};

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
            one(on, format, words, kind, past_caches, line);
        }
    }
}

fn one(on: On, format: Format, words: u32, kind: Kind, past_caches: bool, line: u32) {
    let what = format!("{kind:?} {words} {past_caches} {line}");
    let mut random = Random(7 + words);
    let ops = operations(words, kind);
    let list = |first: u32| std::array::from_fn(|k| if (k as u32) < words { first + k as u32 } else { NONE });
    let sample = Sample {
        unnormalized: true,
        offset: [0; 2],
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
    let mut compiler = on.compiler().with_lines(line);
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
    }
    for (zeros, start, step) in
        (0..4).flat_map(|zeros| [(0.5, 1.0), (40.5, 1.0), (3.5, 0.0), (0.5, 0.5)].map(|(a, b)| (zeros, a, b)))
    {
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
                let column = (f32::from_bits(own[COLUMN as usize]).floor() as u32).min(SIZE - 1);
                for k in 0..words {
                    let texel = texels[((2 * SIZE + column) * words + k) as usize];
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
