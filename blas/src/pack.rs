//! Numbers between matrices of the program and textures of a [`Kernel`], on several threads.
//!
//! Lines of textures are lines of blocks or rounds of steps, so threads share them out by lines. Steps that are missing of the last
//! round are −0 on the left and +0 on the right: their product changes no sum, not even one that is −0.

use std::ops::Range;
use std::time::{Duration, Instant};

use recal::{Mem, Resource, Result};

use crate::kernel::{Kernel, Side};
use crate::scalar::{Real, Scalar};
use crate::shape::Shape;
use crate::view::{View, ViewMut};

/// A texture as the host sees it: its numbers and how many lie from one row to the next.
pub(crate) struct Texture<'a, R> {
    pub(crate) numbers: &'a mut [R],
    pub(crate) pitch: usize,
}

/// Writes into textures, once nobody reads them any more; how long that took without the wait.
pub(crate) fn fill<R: Real>(
    textures: &[(Resource, Mem)],
    write: impl FnOnce(Vec<Texture<R>>),
) -> Result<Duration> {
    let mut maps = textures.iter().map(|(resource, _)| resource.map::<R>()).collect::<Result<Vec<_>>>()?;
    let whole = maps.iter_mut().zip(textures);
    let textures = whole.map(|(map, (resource, _))| Texture { numbers: map, pitch: pitch::<R>(resource) });
    let (textures, start) = (textures.collect(), Instant::now());
    write(textures);
    Ok(start.elapsed())
}

/// Numbers from one row to the next.
fn pitch<R: Real>(resource: &Resource) -> usize {
    resource.pitch() as usize * resource.format().bytes() as usize / R::PRECISION.bytes()
}

/// Columns and steps of the inner index that are gathered at a time where neighbours in a column are neighbours in memory: of each
/// column and each step several lines of the cache, as the next one may be in another page, and all of them stay in the first cache.
const STRIP: usize = 64;
const LONG: usize = 64;
/// Columns and steps that are turned in registers.
const TILE: usize = 8;

/// Numbers for which a thread is worth its start.
const WORTH: usize = 1 << 18;

/// Does lines of all textures, a part on each of so many threads; `numbers` is how many there are in all.
fn in_parallel<'a, R: Send>(
    mut textures: Vec<Texture<'a, R>>,
    lines: usize,
    numbers: usize,
    threads: usize,
    work: impl Fn(Range<usize>, &mut [Texture<'a, R>]) + Sync,
) {
    let threads = threads.min(numbers / WORTH).clamp(1, lines.max(1));
    if threads == 1 {
        return work(0..lines, &mut textures);
    }
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let part = lines * thread / threads..lines * (thread + 1) / threads;
            let mut own = Vec::with_capacity(textures.len());
            for texture in &mut textures {
                let all = std::mem::take(&mut texture.numbers);
                let end = if thread + 1 == threads { all.len() } else { part.len() * texture.pitch };
                let (first, rest) = all.split_at_mut(end);
                texture.numbers = rest;
                own.push(Texture { numbers: first, pitch: texture.pitch });
            }
            let work = &work;
            scope.spawn(move || work(part, &mut own));
        }
    });
}

/// Writes a part of a factor.
pub(crate) fn factor<'a, T: Scalar>(
    kernel: &Kernel,
    side: Side,
    from: View<T>,
    textures: Vec<Texture<'a, T::Real>>,
    threads: usize,
) {
    let [zero, minus_zero] = [T::ZERO.parts()[0], (-T::ZERO).parts()[0]];
    let round = kernel.round();
    match (kernel, side) {
        (Kernel::Fetching(shape), Side::Left) => left(shape, from, textures, threads),
        (Kernel::Fetching(shape), Side::Right) => {
            let lines = Lines { depth: shape.depth, round, element: shape.columns, across: T::PARTS, zero };
            lines.write(from, T::right, textures, threads);
        }
        (Kernel::Tiled(tiled), Side::Right) => {
            let lines = Lines { depth: 1, round, element: tiled.per(), across: T::PARTS, zero };
            lines.write(from, T::right, textures, threads);
        }
        (Kernel::Tiled(tiled), Side::Left) => {
            let lines = Lines { depth: 1, round, element: tiled.per(), across: 1, zero: minus_zero };
            lines.write(from.t(), |number, part, _| number.parts()[part], textures, threads);
        }
    }
}

/// Writes a part of the left factor by blocks of rows. What is missing of the last block is zero.
fn left<'a, T: Scalar>(shape: &Shape, from: View<T>, textures: Vec<Texture<'a, T::Real>>, threads: usize) {
    let numbers = from.rows() * from.columns() * T::PARTS;
    in_parallel(textures, from.rows().div_ceil(shape.rows), numbers, threads, |blocks, textures| {
        let rows = blocks.start * shape.rows..from.rows().min(blocks.end * shape.rows);
        let from = from.part(rows, 0..from.columns());
        for block in 0..blocks.len() {
            let first = block * shape.rows;
            let there = shape.rows.min(from.rows() - first);
            let lines: Option<Vec<&[T]>> = (first..first + there).map(|row| from.row(row)).collect();
            match lines {
                Some(lines) if T::PARTS == 1 => gather(shape, block, &lines, from.columns(), textures),
                _ => turn(shape, block, from.part(first..first + there, 0..from.columns()), textures),
            }
        }
    });
}

/// A block of rows whose numbers follow each other. Elements are written whole, one after another: the memory may be the kind that
/// only takes whole lines well.
fn gather<T: Scalar>(
    shape: &Shape,
    block: usize,
    lines: &[&[T]],
    steps: usize,
    textures: &mut [Texture<T::Real>],
) {
    let nothing = vec![T::ZERO; steps];
    let line = |row: usize| lines.get(row).copied().unwrap_or(&nothing);
    for (number, texture) in textures.iter_mut().enumerate().take(shape.groups() * shape.depth) {
        let (step, group) = (number / shape.groups(), number % shape.groups());
        let to = &mut texture.numbers[block * texture.pitch..][..steps.div_ceil(shape.depth) * shape.per()];
        let first = group * shape.per();
        match shape.per() {
            4 => elements(to, [0, 1, 2, 3].map(|part| line(first + part)), step, shape.depth),
            _ => elements(to, [0, 1].map(|part| line(first + part)), step, shape.depth),
        }
    }
}

/// Every `depth`th number from `step` on of all lines, side by side.
fn elements<T: Scalar, const PER: usize>(to: &mut [T::Real], lines: [&[T]; PER], step: usize, depth: usize) {
    let steps = lines.iter().map(|line| line.len()).min().unwrap_or(0);
    let lines = lines.map(|line| &line[..steps]);
    for (round, element) in to.chunks_exact_mut(PER).enumerate() {
        let k = round * depth + step;
        let numbers = if k < steps { lines.map(|line| line[k]) } else { [-T::ZERO; PER] };
        element.copy_from_slice(&numbers.map(|number| number.parts()[0]));
    }
}

/// Any block of rows.
fn turn<T: Scalar>(shape: &Shape, block: usize, from: View<T>, textures: &mut [Texture<T::Real>]) {
    let (rows, groups, per, depth) = (shape.rows, shape.groups(), shape.per(), shape.depth);
    let zero = T::ZERO.parts()[0];
    let columns = from.t();
    let mut put = |step: usize, row: usize, number: T::Real| {
        let texture = &mut textures[step % depth * groups + row / per];
        texture.numbers[block * texture.pitch + step / depth * per + row % per] = number;
    };
    for k in 0..from.columns() {
        let column = columns.row(k);
        for row in 0..rows {
            let number = match column {
                Some(column) => column.get(row).copied(),
                None => (row < from.rows()).then(|| from.at(row, k)),
            };
            let parts = number.map_or([zero; 2], |number| number.parts());
            for (part, number) in parts.into_iter().take(T::PARTS).enumerate() {
                put(k * T::PARTS + part, row, number);
            }
        }
    }
    let (steps, minus_zero) = (from.columns() * T::PARTS, (-T::ZERO).parts()[0]);
    for step in steps..steps.next_multiple_of(depth) {
        (0..rows).for_each(|row| put(step, row, minus_zero));
    }
}

/// Writes columns side by side, from a place in each step's line on.
fn turn_lines<'a, T: Copy + 'a, R: Copy>(
    mut lines: impl ExactSizeIterator<Item = &'a [T]>,
    place: usize,
    number: impl Fn(T) -> R,
    to: &mut [[R; STRIP]; LONG],
) {
    if lines.len() < TILE {
        for (k, line) in lines.enumerate() {
            to.iter_mut().zip(line).for_each(|(to, from)| to[place + k] = number(*from));
        }
        return;
    }
    let lines: [&[T]; TILE] = std::array::from_fn(|_| lines.next().unwrap_or_default());
    let steps = lines[0].len();
    let whole = steps - steps % TILE;
    for first in (0..whole).step_by(TILE) {
        let mut tile = [[number(lines[0][first]); TILE]; TILE];
        for (k, line) in lines.iter().enumerate() {
            for (to, from) in tile.iter_mut().zip(&line[first..first + TILE]) {
                to[k] = number(*from);
            }
        }
        for (to, from) in to[first..first + TILE].iter_mut().zip(&tile) {
            to[place..place + TILE].copy_from_slice(from);
        }
    }
    for (step, to) in (whole..steps).zip(&mut to[whole..]) {
        to[place..place + TILE].copy_from_slice(&lines.map(|line| number(line[step])));
    }
}

/// A factor whose lines are steps: step `s` is line `s / depth` of texture `s % depth`.
struct Lines<R> {
    depth: usize,
    /// Steps that are written come to a multiple of it.
    round: usize,
    /// Numbers of an element, to whose multiple a line is filled up.
    element: usize,
    /// Numbers side by side that a number of the matrix is on this side.
    across: usize,
    /// What is missing.
    zero: R,
}

impl<R: Copy + Send + Sync> Lines<R> {
    /// Writes rows of a matrix; `number` is one of its numbers' reals, by part of the steps and across.
    fn write<T: Scalar<Real = R>>(
        &self,
        from: View<T>,
        number: impl Fn(T, usize, usize) -> R + Sync,
        textures: Vec<Texture<'_, R>>,
        threads: usize,
    ) {
        let &Lines { depth, round, element, across, zero } = self;
        let (steps, numbers) = (from.rows() * T::PARTS, from.columns() * across);
        let (width, rounds) = (numbers.next_multiple_of(element), steps.next_multiple_of(round) / depth);
        in_parallel(textures, rounds, steps * numbers, threads, |rounds, textures| {
            let own = rounds.start * depth..steps.min(rounds.end * depth);
            // Where a step's numbers are.
            let places: Vec<(usize, usize)> = (own.start..rounds.end * depth)
                .map(|step| (step % depth, (step / depth - rounds.start) * textures[step % depth].pitch))
                .collect();
            for (step, &(texture, at)) in (own.start..).zip(&places) {
                let line = &mut textures[texture].numbers[at..][..width];
                if step >= steps {
                    line.fill(zero);
                    continue;
                }
                line[numbers..].fill(zero);
                let Some(row) = from.row(step / T::PARTS) else { continue };
                if T::PARTS == 1 {
                    line.iter_mut().zip(row).for_each(|(to, from)| *to = number(*from, 0, 0));
                    continue;
                }
                let part = step % T::PARTS;
                for (to, from) in line.chunks_exact_mut(across).zip(row) {
                    to.iter_mut().enumerate().for_each(|(column, to)| *to = number(*from, part, column));
                }
            }
            if own.is_empty() || from.row(0).is_some() {
                return;
            }
            // A part at a time, so that both what is read and what is written stays in the cache.
            let columns = from.t();
            for first in own.clone().step_by(LONG) {
                let strip = first..own.end.min(first + LONG);
                for left in (0..from.columns()).step_by(STRIP) {
                    let square = left..from.columns().min(left + STRIP);
                    if T::PARTS == 1 && columns.row(left).is_some() {
                        // Lines of both sides may all be at the same places of the cache, so each is touched once.
                        let mut turned = [[zero; STRIP]; LONG];
                        for first in square.clone().step_by(TILE) {
                            let line = |column| &columns.row(column).unwrap_or_default()[strip.clone()];
                            let lines = (first..square.end.min(first + TILE)).map(line);
                            turn_lines(lines, first - left, |from| number(from, 0, 0), &mut turned);
                        }
                        for (step, from) in strip.clone().zip(&turned) {
                            let (texture, at) = places[step - own.start];
                            let to = &mut textures[texture].numbers[at + left..][..square.len()];
                            to.copy_from_slice(&from[..square.len()]);
                        }
                        continue;
                    }
                    for column in square {
                        for step in strip.clone() {
                            let from = from.at(step / T::PARTS, column);
                            let (texture, at) = places[step - own.start];
                            let to = &mut textures[texture].numbers[at + column * across..][..across];
                            let part = step % T::PARTS;
                            to.iter_mut().enumerate().for_each(|(k, to)| *to = number(from, part, k));
                        }
                    }
                }
            }
        });
    }
}

/// D = alpha P + beta D, with the product P in the outputs of a kernel, which take its rows in turn. With beta 0, D is not read.
pub(crate) fn product<T: Scalar>(
    outputs: &[&[T::Real]],
    pitch: usize,
    [alpha, beta]: [T; 2],
    mut to: ViewMut<T>,
    threads: usize,
) {
    let scaled = |p: &[T::Real]| {
        let p = T::of(p[0], p[T::PARTS - 1]);
        if alpha == T::ONE { p } else { alpha * p }
    };
    let folded = |d: T, p: &[T::Real]| match beta {
        _ if beta == T::ZERO => scaled(p),
        _ if beta == T::ONE => scaled(p) + d,
        _ => scaled(p) + beta * d,
    };
    let work = |first: usize, mut to: ViewMut<T>| {
        for row in 0..to.rows() {
            let from = first + row;
            let line =
                &outputs[from % outputs.len()][from / outputs.len() * pitch..][..to.columns() * T::PARTS];
            let numbers = line.chunks_exact(T::PARTS);
            match to.row(row) {
                Some(row) if beta == T::ZERO => row.iter_mut().zip(numbers).for_each(|(d, p)| *d = scaled(p)),
                Some(row) if beta == T::ONE => {
                    row.iter_mut().zip(numbers).for_each(|(d, p)| *d = scaled(p) + *d);
                }
                Some(row) => row.iter_mut().zip(numbers).for_each(|(d, p)| *d = scaled(p) + beta * *d),
                None => numbers.enumerate().for_each(|(column, p)| to.update(row, column, |d| folded(d, p))),
            }
        }
    };
    let rows = to.rows();
    let threads = threads.min(rows * to.columns() * T::PARTS / WORTH).clamp(1, rows.max(1));
    if threads == 1 {
        return work(0, to);
    }
    std::thread::scope(|scope| {
        let mut first = 0;
        for thread in 0..threads {
            let own = rows * (thread + 1) / threads - first;
            let (part, rest) = to.split_rows(own);
            to = rest;
            let work = &work;
            scope.spawn(move || work(first, part));
            first += own;
        }
    });
}
