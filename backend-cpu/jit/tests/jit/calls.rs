//! What lanes do one after another: each word becomes what it would if lanes took turns, and each lane finds what the one before left.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use recal_il::format::Format;
use recal_il::ir::lines::Shape;
use recal_il::ir::{AtomicOp, Width};
use recal_il::isa::LaneOp;
use recal_il::isa::Scalar;
use recal_il::isa::memory::atomic::{new_quad, new_word};
use recal_jit::{At, LANES, NONE, Row, Step, View};

use crate::{On, Random, endless};

const WORDS: usize = 150;
const MASKS: [u64; 4] = [!0, 0xFFFF_0000_FFFF_FFFF, 0xF0F0_00FF_FF00_1234, 1 << 63];

/// Rows: addresses, sources, results, what choices test, and one that is computed with.
const ADDRESS: u32 = 0;
const FROM: [u32; 4] = [1, 2, 3, 4];
const TO: [u32; 2] = [5, 6];
const TEST: u32 = 7;
const ROWS: u32 = 10;
const UNWRITTEN: u32 = 0xBEEF;

/// Memory that begins at a multiple of 8 bytes, or behind one. It changes behind the compiler's back.
#[repr(align(8))]
struct Memory([AtomicU32; WORDS + 2]);

impl Memory {
    fn words(&self) -> Vec<u32> {
        self.0.iter().map(|word| word.load(Relaxed)).collect()
    }

    fn set(&self, words: &[u32]) {
        self.0.iter().zip(words).for_each(|(word, new)| word.store(*new, Relaxed));
    }
}

/// Runs a step alone, in the sides of a choice, and beside steps that are so long that two strips are done at a time. `turn` is what a
/// lane does to memory when it is its turn, with its rows, which it may change.
fn check(
    on: On,
    step: Step<'_>,
    view: View,
    memory: &Memory,
    rows: &[Row],
    mut turn: impl FnMut(&mut [u32], usize, &mut [u32]),
) {
    let start = memory.words();
    let test = Step::If { row: TEST, nonzero: false, lanes: Shape::Any };
    let sine = [8, 9];
    let long = Step::Lane { op: LaneOp::Sin, ids: &sine, writes: 1, same: 0 };
    let alone = vec![step];
    let side = vec![test, step, Step::EndIf];
    let other =
        vec![Step::If { row: TEST, nonzero: true, lanes: Shape::Any }, long, Step::Else, step, Step::EndIf];
    // Enough for the mode that takes denormals as zeros.
    let add = Step::Lane { op: LaneOp::Add, ids: &[8, 8, 8], writes: 1, same: 0 };
    let lazy = std::iter::repeat_n(add, 12).chain([step]).collect();
    let cases = [(alone, false), (side, true), (other, true), (vec![long, step], false), (lazy, false)];
    for (steps, in_choice) in cases {
        for line in [0, 64] {
            let mut compiler = on.compiler().with_lines(recal_jit::line(line));
            let function = compiler.function(&steps, |_| None, |_| false, |_| false).unwrap();
            let module = compiler.finish().unwrap();
            assert!(function.strict());
            for exec in MASKS {
                memory.set(&start);
                let mut got = rows.to_vec();
                on.call(&module, function, &mut got, &[view], exec, &mut endless());
                let (stored, mut wanted) = (memory.words(), start.clone());
                let mut expected = rows.to_vec();
                for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
                    if in_choice && rows[TEST as usize].0[lane] != 0 {
                        continue;
                    }
                    let mut own: Vec<u32> = expected.iter().map(|row| row.0[lane]).collect();
                    turn(&mut wanted, lane, &mut own);
                    expected.iter_mut().zip(own).for_each(|(row, word)| row.0[lane] = word);
                }
                assert!(stored == wanted, "{step:?}, {exec:x}: {stored:x?}, not {wanted:x?}");
                for row in 0..=TEST as usize {
                    assert_eq!(got[row].0, expected[row].0, "{step:?}, {exec:x}: row {row}");
                }
            }
        }
    }
    memory.set(&start);
}

/// Words at random, and rows of small and of large ones.
fn random(random: &mut Random, address: impl Fn(u32) -> u32) -> (Memory, Vec<Row>) {
    let mut word = |lane: usize| random.word() >> [0, 24, 28, 30][lane % 4];
    let memory = Memory(std::array::from_fn(|k| AtomicU32::new(word(k))));
    let mut rows: Vec<Row> = (0..ROWS).map(|_| Row(std::array::from_fn(&mut word))).collect();
    rows[ADDRESS as usize] = Row(std::array::from_fn(|lane| address(lane as u32)));
    TO.iter().for_each(|to| rows[*to as usize] = Row::splat(UNWRITTEN));
    rows[TEST as usize] = Row(std::array::from_fn(|lane| (lane as u32 * 7 + 1) % 3));
    (memory, rows)
}

type Address = fn(u32) -> u32;
/// All at one word, neighbours, such that meet now and then, and outside.
const ADDRESSES: [Address; 5] = [
    |_| 40,
    |lane| 4 * lane,
    |lane| 8 * (lane * 5 % 7) + lane % 8,
    |lane| 500 + 4 * lane,
    |lane| [u32::MAX, 1 << 31, 4 * WORDS as u32 - 4, 1 << 30, 16][lane as usize % 5],
];

/// Every operation on words, at addresses of all kinds.
pub fn atomics_of_words(on: On) {
    let mut seed = Random(1);
    for (number, op) in AtomicOp::ALL.into_iter().enumerate() {
        let (memory, rows) = random(&mut seed, ADDRESSES[number % 5]);
        for (k, (address, to)) in ADDRESSES.into_iter().zip([TO[0], NONE, TO[1], TO[0], TO[0]]).enumerate() {
            let mut rows = rows.clone();
            rows[ADDRESS as usize] = Row(std::array::from_fn(|lane| address(lane as u32)));
            let step = Step::Atomic {
                view: 0,
                op,
                wide: false,
                alone: (number + k) % 2 == 0,
                at: At::Byte(ADDRESS),
                from: [FROM[0], NONE, FROM[2], NONE],
                to: [to, NONE],
            };
            // SAFETY: the memory outlives the calls.
            let view = unsafe { View::new(memory.0.as_ptr().cast_mut().cast(), 4 * WORDS) };
            check(on, step, view, &memory, &rows, |memory, lane, own| {
                let at = address(lane as u32) as usize / 4;
                let old = if at < WORDS { memory[at] } else { 0 };
                if at < WORDS {
                    memory[at] = new_word(&mut Scalar, op, old, own[FROM[0] as usize], own[FROM[2] as usize]);
                }
                if to != NONE {
                    own[to as usize] = old;
                }
            });
        }
    }
}

/// The same of pairs of words; where the view does not begin at a multiple of 8 bytes, none is.
pub fn atomics_of_pairs(on: On) {
    let mut seed = Random(2);
    for (op, behind) in AtomicOp::ALL.into_iter().flat_map(|op| [(op, 0), (op, 1)]) {
        let to = [TO, [NONE, TO[1]], [TO[0], NONE], [NONE; 2], TO];
        for (k, (address, to)) in ADDRESSES.into_iter().zip(to).enumerate() {
            let (memory, rows) = random(&mut seed, address);
            let alone = (op as usize + k) % 2 == 0;
            let step = Step::Atomic { view: 0, op, wide: true, alone, at: At::Byte(ADDRESS), from: FROM, to };
            // SAFETY: the memory outlives the calls.
            let view = unsafe { View::new(memory.0.as_ptr().cast_mut().add(behind).cast(), 4 * WORDS) };
            check(on, step, view, &memory, &rows, |memory, lane, own| {
                let at = address(lane as u32) as usize / 8 * 2;
                let pair = |words: &[u32], at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
                let inside = at + 1 < WORDS && behind == 0;
                let old = if inside { pair(memory, at) } else { 0 };
                if inside {
                    let new = new_quad(&mut Scalar, op, old, pair(own, 1), pair(own, 3));
                    (memory[at], memory[at + 1]) = (new as u32, (new >> 32) as u32);
                }
                for (to, word) in to.into_iter().zip([old as u32, (old >> 32) as u32]) {
                    if to != NONE {
                        own[to as usize] = word;
                    }
                }
            });
        }
    }
}

/// The first words of elements, 5 in each of 9 lines; lines are 7 elements apart.
pub fn atomics_at_elements(on: On) {
    let (memory, mut rows) = random(&mut Random(3), |lane| lane % 6);
    rows[FROM[1] as usize] = Row(std::array::from_fn(|lane| [0, 3, 8, 9, u32::MAX][lane % 5]));
    for (line, format) in
        [(FROM[1], Format::Float32x2), (NONE, Format::UnormInt32x1), (FROM[1], Format::UnsignedInt8x1)]
    {
        let step = Step::Atomic {
            view: 0,
            op: AtomicOp::Add,
            wide: false,
            alone: false,
            at: At::Element([ADDRESS, line], format),
            from: [FROM[2], NONE, NONE, NONE],
            to: [TO[0], NONE],
        };
        let words = format.bytes().div_ceil(4);
        // SAFETY: the memory outlives the calls.
        let view = unsafe { View::new(memory.0.as_ptr().cast_mut().cast(), 4 * WORDS) };
        let view = view.with_texels(5, 9, 7 * words, 0, [0; 4]);
        check(on, step, view, &memory, &rows, |memory, _, own| {
            let (x, y) = (own[ADDRESS as usize], if line == NONE { 0 } else { own[line as usize] });
            let inside = x < 5 && y < 9;
            let at = y.wrapping_mul(7).wrapping_add(x).wrapping_mul(words);
            own[TO[0] as usize] = 0;
            if inside {
                own[TO[0] as usize] = memory[at as usize];
                memory[at as usize] = memory[at as usize].wrapping_add(own[FROM[2] as usize]);
            }
        });
    }
}

/// Counters count for each lane.
pub fn counters(on: On) {
    for (consume, bytes) in [(false, 4), (true, 4), (false, 0), (true, 0)] {
        let (memory, rows) = random(&mut Random(4), |lane| lane);
        // SAFETY: the memory outlives the calls.
        let view = unsafe { View::new(memory.0.as_ptr().cast_mut().cast(), bytes) };
        let step = Step::Count { view: 0, consume, to: TO[0] };
        check(on, step, view, &memory, &rows, |memory, _, own| {
            own[TO[0] as usize] = 0;
            if bytes > 0 {
                let before = memory[0];
                memory[0] = if consume { before.wrapping_sub(1) } else { before.wrapping_add(1) };
                own[TO[0] as usize] = if consume { memory[0] } else { before };
            }
        });
    }
}

/// Bytes and halves of words, the last lane's where several store.
pub fn parts(on: On) {
    let mut seed = Random(5);
    for width in [Width::U8, Width::I8, Width::U16, Width::I16] {
        for address in ADDRESSES.into_iter().chain([(|lane| lane) as Address, |lane| 550 + lane]) {
            let (memory, rows) = random(&mut seed, address);
            let step = Step::StorePart { view: 0, address: ADDRESS, width, from: FROM[0] };
            // SAFETY: the memory outlives the calls.
            let view = unsafe { View::new(memory.0.as_ptr().cast_mut().cast(), 4 * WORDS) };
            check(on, step, view, &memory, &rows, |memory, lane, own| {
                let (at, bytes) = (address(lane as u32) as usize, own[FROM[0] as usize].to_le_bytes());
                let (first, count) =
                    if matches!(width, Width::U8 | Width::I8) { (at, 1) } else { (at & !1, 2) };
                for k in 0..count {
                    if first + count <= 4 * WORDS {
                        let mut word = memory[(first + k) / 4].to_le_bytes();
                        word[(first + k) % 4] = bytes[k];
                        memory[(first + k) / 4] = u32::from_le_bytes(word);
                    }
                }
            });
        }
    }
}

/// Elements of all formats; of those that lie in one, the last lane's.
pub fn texels(on: On) {
    const COLUMNS: u32 = 3;
    for &format in Format::ALL {
        let (memory, mut rows) = random(&mut Random(6), |lane| lane * 5 % 4);
        for (k, row) in FROM.into_iter().enumerate() {
            let edges = [f32::NAN, -0.0, 1e-40, -1e-40, 0.5, 1.0, -1.0, 7.3, 0.002, -0.3, 70000.0, 3e-8];
            let edge = |lane: usize| edges[(lane * 3 + k) % edges.len()].to_bits();
            let word = |lane: usize| if lane % 4 == 0 { rows[row as usize].0[lane] } else { edge(lane) };
            rows[row as usize] = Row(std::array::from_fn(word));
        }
        rows[TEST as usize] = Row(std::array::from_fn(|lane| [0, 0, 3, 1, 8, 9, u32::MAX][lane % 7]));
        let unit = if format.encoding().is_raw() { format.read_words() } else { 0 };
        // SAFETY: the memory outlives the calls.
        let view = unsafe { View::new(memory.0.as_ptr().cast_mut().cast(), 4 * WORDS) };
        let view = view.with_texels(COLUMNS, 9, 4 * unit.max(1), 0, [0; 4]);
        for line in [TEST, NONE] {
            let step = Step::StoreTexel { view: 0, format, coordinates: [ADDRESS, line], from: FROM };
            check(on, step, view, &memory, &rows, |memory, _, own| {
                let (x, y) = (own[ADDRESS as usize], if line == NONE { 0 } else { own[line as usize] });
                if x < COLUMNS && y < 9 {
                    let element = format.encode([1, 2, 3, 4].map(|row: usize| own[row]));
                    let first = ((4 * y + x) * format.bytes()) as usize;
                    for (at, byte) in (first..).zip(element).take(format.bytes() as usize) {
                        let mut word = memory[at / 4].to_le_bytes();
                        word[at % 4] = byte;
                        memory[at / 4] = u32::from_le_bytes(word);
                    }
                }
            });
        }
    }
}

/// In a loop lanes would not take turns.
pub fn none_in_loops(on: On) {
    let count = Step::Count { view: 0, consume: false, to: TO[0] };
    let test = Step::Break(Some((TO[0], true, Shape::Any)));
    let mut compiler = on.compiler();
    let function =
        compiler.function(&[Step::Loop, count, test, Step::EndLoop], |_| None, |_| false, |_| false);
    assert!(function.is_none());
}
