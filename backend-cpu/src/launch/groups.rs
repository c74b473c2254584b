//! Groups of a grid: where their threads are, and how their waves run.

use std::ops::Range;

use recal_hal::Extent;
use recal_il::ir::{Builtin, ThreadId};
use recal_jit::{Function, Shared, Waves};
use rustc_hash::FxHashMap;

use super::clear;
use crate::context::{Context, Launch};
use crate::flow::Outcome;
use crate::isa_choice::Isa;
use crate::op::{Code, RowId};
use crate::stages::Plan;
use crate::wave::{LANES, Row, Wave, launched};

/// Places of the threads of a wave in their group: three coordinates, and the flat number.
pub type Own = [Row; 4];

/// Those of the wave number `index` of groups of so many threads.
fn own(block: [u32; 3], index: usize) -> Own {
    let flat = Row(std::array::from_fn(|lane| (index * LANES + lane) as u32));
    let [mut x, mut y, mut z] =
        [flat.0[0] % block[0], flat.0[0] / block[0] % block[1], flat.0[0] / (block[0] * block[1])];
    let mut own = [Row::ZERO, Row::ZERO, Row::ZERO, flat];
    // Divisions of 64 lanes take longer than a group.
    for lane in 0..LANES {
        (own[0].0[lane], own[1].0[lane], own[2].0[lane]) = (x, y, z);
        x += 1;
        if x == block[0] {
            (x, y) = (0, y + 1);
        }
        if y == block[1] {
            (y, z) = (0, z + 1);
        }
    }
    own
}

/// The rows of a wave that are the same for all groups.
pub fn place_own(rows: &mut [Row], builtins: &[(RowId, Builtin)], block: [u32; 3], index: usize) -> Own {
    let own = own(block, index);
    for &(row, builtin) in builtins {
        rows[row as usize] = match builtin {
            Builtin::Thread(ThreadId::InGroup, k @ 0..3) => own[usize::from(k)],
            Builtin::Thread(ThreadId::InGroupFlat, _) => own[3],
            Builtin::WaveSlot => Row::splat(index as u32),
            _ => Row::ZERO,
        };
    }
    own
}

/// The places of a wave, which go to its rows.
pub(super) fn place_wave(wave: &mut Wave, launch: &Launch<'_>, block: [u32; 3], index: usize) -> Own {
    place_own(&mut wave.rows, &launch.body.own, block, index);
    place_own(&mut wave.rows, &launch.code.builtins, block, index)
}

/// A row that depends on the group, and the word that it starts from: all its words, or what the places of the threads are added to.
#[derive(Clone, Copy)]
pub struct Placed {
    row: RowId,
    start: u32,
    /// Which of [`Own`].
    step: Option<u8>,
}

/// Which view of compiled code has the words of the group, if any row is made of them.
pub const GROUP: u8 = 0;

/// Rows that code makes of words of the group, which it adds to places of threads in the group, so that nobody writes them; and rows that
/// these places are in, beyond those of the program.
pub fn shared(code: &Code) -> (FxHashMap<RowId, Shared>, Vec<(RowId, Builtin)>) {
    let mut own: Vec<(RowId, Builtin)> = Vec::new();
    let mut place = |of: ThreadId, k: u8| {
        let there = |builtin: Builtin| match builtin {
            Builtin::Thread(ThreadId::InGroupFlat, _) => of == ThreadId::InGroupFlat,
            other => other == Builtin::Thread(of, k),
        };
        let known = code.builtins.iter().chain(&own).find(|(_, builtin)| there(*builtin));
        known.map(|(row, _)| *row).unwrap_or_else(|| {
            own.push((code.rows + own.len() as RowId, Builtin::Thread(of, k)));
            code.rows + own.len() as RowId - 1
        })
    };
    let shared = code.builtins.iter().filter_map(|&(row, builtin)| {
        let (word, plus) = match builtin {
            Builtin::Thread(ThreadId::Absolute, k @ 0..3) => (k, Some(place(ThreadId::InGroup, k))),
            Builtin::Thread(ThreadId::Group, k @ 0..3) => (3 + k, None),
            Builtin::Thread(ThreadId::GroupFlat, _) => (6, None),
            Builtin::Thread(ThreadId::AbsoluteFlat, _) => (7, Some(place(ThreadId::InGroupFlat, 0))),
            _ => return None,
        };
        Some((row, Shared { view: GROUP, word, plus }))
    });
    (shared.collect(), own)
}

/// The words of a group, in the order that [`shared`] gives them.
fn words(number: [u32; 3], block: [u32; 3], part: u32) -> [u32; 8] {
    let [x, y, z] = number;
    let first = [0, 1, 2].map(|k| number[k].wrapping_mul(block[k]));
    let flat = part.wrapping_mul(block.iter().product());
    [first[0], first[1], first[2], x, y, z, part, flat]
}

/// How much more they are in the next group along x, of groups of so many threads.
pub fn grown(block: [u32; 3]) -> [u32; 8] {
    [block[0], 0, 0, 1, 0, 0, 1, block.iter().product()]
}

/// Goes to the group number `part`; along which axes it is not where the one before was.
fn move_to(context: &mut Context<'_>, groups: [u32; 3], part: u64) -> u32 {
    let before = context.last_group.replace(part);
    let [x, y, z] = &mut context.group;
    // Most follow each other, and divisions take their time.
    if before.is_some_and(|before| before + 1 == part) && *x + 1 < groups[0] {
        *x += 1;
        return 0b001;
    }
    let mut moved = if before.is_none() { 0b111 } else { 0 };
    let mut rest = part;
    for (k, number) in [x, y, z].into_iter().enumerate() {
        let size = u64::from(groups[k]);
        let now = (rest % size) as u32;
        rest /= size;
        moved |= u32::from(*number != now) << k;
        *number = now;
    }
    moved
}

/// The rows that are other than those of the group before, but for those that only code reads: what depends on the place along an axis stays while groups follow each
/// other along another one.
///
/// Words are read as they were written, each by itself: a load that spans several stores waits until these are in the cache, and with
/// them all that the group before stored.
fn placed(context: &mut Context<'_>, groups: [u32; 3], block: [u32; 3], part: u64) {
    let moved = move_to(context, groups, part);
    let number = &context.group;
    let part = part as u32;
    if let (Some(view), Some(code)) = (context.launch.body.group, &mut context.compiled) {
        code.share(view, words(*number, block, part));
    }
    let compiled = !context.launch.body.stages.is_empty();
    if compiled && !context.launch.code.builtins.iter().any(|(_, builtin)| *builtin == Builtin::ObjectIndex) {
        return;
    }
    let placed = &mut context.placed;
    placed.clear();
    for &(row, builtin) in &context.launch.code.builtins {
        let (start, step) = match builtin {
            Builtin::Thread(..) if compiled => continue,
            Builtin::Thread(ThreadId::Group | ThreadId::Absolute, k @ 0..3) if moved >> k & 1 == 0 => {
                continue;
            }
            Builtin::Thread(ThreadId::Group, k @ 0..3) => (number[usize::from(k)], None),
            Builtin::Thread(ThreadId::GroupFlat, _) => (part, None),
            Builtin::Thread(ThreadId::Absolute, k @ 0..3) => {
                (number[usize::from(k)].wrapping_mul(block[usize::from(k)]), Some(k))
            }
            Builtin::Thread(ThreadId::AbsoluteFlat, _) | Builtin::ObjectIndex => {
                (part.wrapping_mul(block.iter().product()), Some(3))
            }
            _ => continue,
        };
        placed.push(Placed { row, start, step });
    }
}

/// Fills rows that depend on the group.
#[inline(always)]
pub fn place_group(rows: &mut [Row], own: &Own, placed: &[Placed]) {
    for &Placed { row, start, step } in placed {
        let row = &mut rows[row as usize].0;
        match step {
            None => row.fill(start),
            Some(step) => {
                let places = &own[usize::from(step)].0;
                row.iter_mut().zip(places).for_each(|(word, place)| *word = start.wrapping_add(*place));
            }
        }
    }
}

/// Runs groups of which one function does all, some that follow each other along x at a time; how many they were.
pub(super) fn in_registers(
    function: &Function,
    waves: &mut Waves<'_, '_>,
    context: &mut Context<'_>,
    parts: Range<u64>,
) -> (u64, Outcome) {
    let Extent::Grid { groups, block } = context.launch.extent else { return (1, Outcome::Ended) };
    placed(context, groups, block, parts.start);
    let most = (groups[0] - context.group[0]).min(waves.len() as u32);
    let count = most.min(u32::try_from(parts.end - parts.start).unwrap_or(most));
    context.last_group = Some(parts.start + u64::from(count) - 1);
    context.group[0] += count - 1;
    let Some(code) = &mut context.compiled else { return (1, Outcome::Ended) };
    let ticks = &mut context.native_ticks;
    code.call_groups(function, waves, count as usize, ticks, &mut context.mode);
    (count.into(), if ticks.stopped() { Outcome::Stopped } else { Outcome::Ended })
}

/// Runs the group number `part` by stages.
pub(super) fn compiled(
    isa: &Isa,
    plan: &Plan,
    waves: &mut Waves<'_, '_>,
    context: &mut Context<'_>,
    part: u64,
) -> Outcome {
    let Extent::Grid { groups, block } = context.launch.extent else { return Outcome::Ended };
    placed(context, groups, block, part);
    context.lds.zero();
    let placed = &context.placed;
    if !context.launch.code.zeroed.is_empty() || !placed.is_empty() {
        for (wave, own) in context.own.iter().enumerate() {
            clear(waves.rows(wave), context);
            isa.place_group(waves.rows(wave), own, placed);
        }
    }
    plan.run(waves, context)
}

/// Runs the group number `part`, its waves by turns.
pub(super) fn group(isa: &Isa, waves: &mut [Wave], context: &mut Context<'_>, part: u64) -> Outcome {
    let launch = context.launch;
    let Extent::Grid { groups, block } = launch.extent else { return Outcome::Ended };
    let threads = context.group_threads;
    context.lds.zero();
    placed(context, groups, block, part);
    let placed = &context.placed;
    for (index, (wave, own)) in waves.iter_mut().zip(&context.own).enumerate() {
        clear(&mut wave.rows, context);
        isa.place_group(&mut wave.rows, own, placed);
        wave.start(launched(threads, index), index as u32);
    }
    // A wave that has ended counts as arrived at every barrier.
    let mut running = waves.len();
    while running > 0 {
        for wave in waves.iter_mut().filter(|wave| !wave.ended) {
            match isa.run(wave, launch.code, context) {
                Outcome::Ended => {
                    wave.ended = true;
                    running -= 1;
                }
                Outcome::Barrier => {}
                Outcome::Stopped => return Outcome::Stopped,
            }
        }
        // A barrier in an endless loop passes no other back-edge check than this when its waves are short.
        if launch.stop.raised() {
            return Outcome::Stopped;
        }
    }
    Outcome::Ended
}
