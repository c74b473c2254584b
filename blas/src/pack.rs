//! Numbers between matrices of the program and textures of a kernel's [`Shape`].

use crate::kernel::Shape;
use crate::scalar::Scalar;
use crate::view::{View, ViewMut};

/// A texture as the host sees it: its numbers and how many lie from one row to the next.
pub(crate) struct Texture<'a, R> {
    pub(crate) numbers: &'a mut [R],
    pub(crate) pitch: usize,
}

/// Steps of the inner index that are gathered at a time where neighbours in a column are neighbours in memory.
const STRIP: usize = 16;

/// Writes a part of the left factor. What is missing of the last block of rows and of the last round is zero.
pub(crate) fn left<T: Scalar>(shape: &Shape, from: View<T>, textures: &mut [Texture<T::Real>]) {
    let (rows, groups, per, depth) = (shape.rows, shape.groups(), shape.per(), shape.depth);
    let zero = T::ZERO.parts()[0];
    let steps = from.columns() * T::PARTS;
    // The places of one row of the matrix, step after step.
    let mut put = |row: usize, numbers: &mut dyn Iterator<Item = T::Real>| {
        let (block, group, part) = (row / rows, row % rows / per, row % rows % per);
        for round in 0..steps.div_ceil(depth) {
            for texture in textures[group..].iter_mut().step_by(groups).take(depth) {
                texture.numbers[block * texture.pitch + round * per + part] = numbers.next().unwrap_or(zero);
            }
        }
    };
    let mut strip: Vec<T> = Vec::new();
    for first in (0..from.rows().next_multiple_of(rows)).step_by(rows) {
        let there = rows.min(from.rows() - first);
        let block = from.part(first..first + there, 0..from.columns());
        // Where neighbours in a column are neighbours in memory, the block is turned first.
        strip.clear();
        if block.row(0).is_none() {
            let turned = (0..from.columns()).flat_map(|k| (0..there).map(move |row| (row, k)));
            strip.extend(turned.map(|(row, k)| block.at(row, k)));
        }
        for row in 0..rows {
            let parts = |number: &T| number.parts().into_iter().take(T::PARTS);
            match block.rows() > row {
                false => put(first + row, &mut std::iter::empty()),
                true => match block.row(row) {
                    Some(line) => put(first + row, &mut line.iter().flat_map(parts)),
                    None => put(first + row, &mut strip.iter().skip(row).step_by(there).flat_map(parts)),
                },
            }
        }
    }
}

/// Writes a part of the right factor. What is missing of the last block of columns and of the last round is zero.
pub(crate) fn right<T: Scalar>(shape: &Shape, from: View<T>, textures: &mut [Texture<T::Real>]) {
    let (depth, zero) = (shape.depth, T::ZERO.parts()[0]);
    let (steps, numbers) = (from.rows() * T::PARTS, from.columns() * T::PARTS);
    let width = numbers.next_multiple_of(shape.columns);
    for step in 0..steps.next_multiple_of(depth) {
        let place = &mut textures[step % depth];
        let line = &mut place.numbers[step / depth * place.pitch..][..width];
        if step >= steps {
            line.fill(zero);
            continue;
        }
        line[numbers..].fill(zero);
        if let Some(row) = from.row(step / T::PARTS) {
            let part = step % T::PARTS;
            for (to, number) in line.chunks_exact_mut(T::PARTS).zip(row) {
                to.iter_mut().enumerate().for_each(|(column, to)| *to = number.right(part, column));
            }
        }
    }
    if from.rows() == 0 || from.row(0).is_some() {
        return;
    }
    for first in (0..from.rows()).step_by(STRIP) {
        for column in 0..from.columns() {
            for k in first..from.rows().min(first + STRIP) {
                let number = from.at(k, column);
                for (row, part) in (0..T::PARTS).flat_map(|row| (0..T::PARTS).map(move |part| (row, part))) {
                    let step = k * T::PARTS + row;
                    let place = &mut textures[step % depth];
                    place.numbers[step / depth * place.pitch + column * T::PARTS + part] =
                        number.right(row, part);
                }
            }
        }
    }
}

/// D = alpha P + beta D, with the product P in the outputs of a kernel. With beta 0, D is not read.
pub(crate) fn product<T: Scalar>(
    shape: &Shape,
    outputs: &[&[T::Real]],
    pitch: usize,
    alpha: T,
    beta: T,
    to: &mut ViewMut<T>,
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
    for row in 0..to.rows() {
        let line = &outputs[row % shape.rows][row / shape.rows * pitch..][..to.columns() * T::PARTS];
        let numbers = line.chunks_exact(T::PARTS);
        match to.row(row) {
            Some(row) if beta == T::ZERO => row.iter_mut().zip(numbers).for_each(|(d, p)| *d = scaled(p)),
            Some(row) => row.iter_mut().zip(numbers).for_each(|(d, p)| *d = folded(*d, p)),
            None => numbers.enumerate().for_each(|(column, p)| to.update(row, column, |d| folded(d, p))),
        }
    }
}
