//! The kernel that a device runs, what it wants the factors to look like, and where it leaves the product.

use recal::{Context, Domain, Event, Format, Grid, Module, Result};

use crate::scalar::Precision;
use crate::shape::Shape;
use crate::tiled::Tiled;

/// Threads of a wave of the CPU's.
const WAVE: usize = 64;

/// Which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Threads fetch what they multiply.
    Fetching(Shape),
    /// Groups load tiles into LDS.
    Tiled(Tiled),
}

/// The left or the right factor.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Kernel {
    /// What is worth a measurement, the most promising of each kind first.
    pub(crate) fn candidates(precision: Precision) -> Vec<Kernel> {
        let fetching = Shape::candidates(precision).into_iter().map(Kernel::Fetching);
        fetching.chain([Kernel::Tiled(Tiled::best(precision))]).collect()
    }

    /// What the file of measurements calls it.
    pub(crate) fn name(&self) -> String {
        match self {
            Kernel::Fetching(Shape { rows, columns, depth, .. }) => {
                format!("fetching-{rows}x{columns}x{depth}")
            }
            Kernel::Tiled(tiled) => {
                let [block, lanes, warps] = [tiled.block, tiled.lanes, tiled.warps]
                    .map(|[rows, columns]| format!("{rows}x{columns}"));
                format!("tiled-{block}-{lanes}-{warps}-{}", tiled.depth)
            }
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Kernel::Fetching(shape) => shape.text(),
            Kernel::Tiled(tiled) => tiled.text(),
        }
    }

    /// Steps that a kernel does whole numbers of.
    pub(crate) fn round(&self) -> usize {
        match self {
            Kernel::Fetching(shape) => shape.depth,
            Kernel::Tiled(tiled) => tiled.turn(),
        }
    }

    /// The textures of a factor: how many, and of which elements.
    pub(crate) fn textures(&self, side: Side) -> (usize, Format) {
        match (self, side) {
            (Kernel::Fetching(shape), Side::Left) => (shape.groups() * shape.depth, shape.left_format()),
            (Kernel::Fetching(shape), Side::Right) => (shape.depth, shape.right_format()),
            (Kernel::Tiled(tiled), _) => (1, tiled.format()),
        }
    }

    /// Elements in a line of such a texture and lines, for rows or columns of the product and steps.
    pub(crate) fn extent(&self, side: Side, numbers: usize, steps: usize) -> [usize; 2] {
        match (self, side) {
            (Kernel::Fetching(shape), Side::Left) => {
                [steps.div_ceil(shape.depth), numbers.div_ceil(shape.rows)]
            }
            (Kernel::Fetching(shape), Side::Right) => {
                [numbers.div_ceil(shape.columns), steps.div_ceil(shape.depth)]
            }
            (Kernel::Tiled(tiled), side) => {
                let tile = tiled.tile()[side as usize];
                [numbers.next_multiple_of(tile) / tiled.per(), steps.next_multiple_of(tiled.turn())]
            }
        }
    }

    /// The memory of a product: how many resources take its rows in turn, and of which elements.
    pub(crate) fn outputs(&self) -> (usize, Format) {
        match self {
            Kernel::Fetching(shape) => (shape.rows, shape.right_format()),
            Kernel::Tiled(tiled) => (1, tiled.format()),
        }
    }

    /// Elements in a line of each, and lines.
    pub(crate) fn product(&self, rows: usize, columns: usize) -> [usize; 2] {
        match self {
            Kernel::Fetching(shape) => [columns.div_ceil(shape.columns), rows.div_ceil(shape.rows)],
            Kernel::Tiled(tiled) => {
                let [high, wide] = tiled.tile();
                [columns.next_multiple_of(wide) / tiled.per(), rows.next_multiple_of(high)]
            }
        }
    }

    /// What memory that is: a texture, or a buffer, which is one line.
    pub(crate) fn memory(&self, [line, lines]: [usize; 2]) -> [usize; 2] {
        match self {
            Kernel::Fetching(_) => [line, lines],
            Kernel::Tiled(_) => [line * lines, 0],
        }
    }

    /// The words of `cb0`, for so many steps, elements from one row of the product to the next, and whether sums go on.
    pub(crate) fn constants(&self, steps: usize, pitch: u32, go_on: bool) -> [u32; 4] {
        let rounds = steps.div_ceil(self.round()) as u32;
        match self {
            Kernel::Fetching(_) => [rounds, u32::from(go_on), 0, 0],
            Kernel::Tiled(_) => [rounds, pitch, u32::from(go_on), 0],
        }
    }

    /// The names of what is bound: the textures of both factors, and of the product what is read and what is written.
    pub(crate) fn names(&self) -> [Vec<String>; 3] {
        match self {
            Kernel::Fetching(shape) => [
                (0..shape.earlier()).map(|n| format!("i{n}")).collect(),
                (0..shape.rows).map(|n| format!("i{}", shape.earlier() + n)).collect(),
                (0..shape.rows).map(|n| format!("o{n}")).collect(),
            ],
            Kernel::Tiled(_) => [vec!["i0".into(), "i1".into()], Vec::new(), vec!["g[]".into()]],
        }
    }

    /// Columns that the CPU computes of so many: its code for whole waves is faster, and memory is there for them.
    pub(crate) fn whole(&self, columns: usize) -> usize {
        let Kernel::Fetching(shape) = self else { return columns };
        let wave = WAVE * shape.columns;
        if columns % wave > wave / 4 { columns.next_multiple_of(wave) } else { columns }
    }

    /// Has so many rows and columns computed.
    pub(crate) fn launch(
        &self,
        context: &Context,
        module: &Module,
        rows: usize,
        columns: usize,
    ) -> Result<Event> {
        match self {
            Kernel::Fetching(_) => {
                let [wide, high] = self.product(rows, columns);
                context.run(module, Domain::of(wide as u32, high as u32))
            }
            Kernel::Tiled(tiled) => {
                let [high, wide] = tiled.tile();
                let groups = [columns.div_ceil(wide) as u32, rows.div_ceil(high) as u32, 1];
                context.run_grid(module, Grid { block: [tiled.threads() as u32, 1, 1], groups })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use recal::{Config, FloatMode, Runtime};

    use super::*;
    use crate::lane::{Factors, Lane};
    use crate::scalar::{Complex32, Complex64, Scalar};
    use crate::view::{View, ViewMut};

    /// Small integers, another sequence for each `seed`.
    fn numbers<T: Scalar>(count: usize, seed: usize) -> Vec<T>
    where
        T::Real: From<i8>,
    {
        let part = |n: usize| T::Real::from(((n * n + 7 * n + seed) % 9) as i8 - 4);
        (0..count).map(|n| T::of(part(2 * n), part(2 * n + 1))).collect()
    }

    /// All kernels on the CPU device, also those that it does not choose, for factors by rows and by columns.
    fn exact<T: Scalar>(sizes: &[[usize; 3]])
    where
        T::Real: From<i8>,
    {
        let config = Config { backends: vec!["cpu".into()], float: FloatMode::Faithful, ..Config::default() };
        let device = Runtime::with_config(config).unwrap().open(0).unwrap();
        for kernel in Kernel::candidates(T::KIND.precision()) {
            let mut lane = Lane::new(&device, true).unwrap();
            for (call, &[m, n, k]) in (0..).zip(sizes) {
                let (a, b, old) = (numbers::<T>(m * k, 1), numbers::<T>(k * n, 5), numbers::<T>(m * n, 3));
                for layouts in 0..4 {
                    let left = match layouts & 1 {
                        0 => View::by_rows(&a, m, k).unwrap(),
                        _ => View::by_columns(&a, m, k).unwrap().conj(),
                    };
                    let right = match layouts & 2 {
                        0 => View::by_rows(&b, k, n).unwrap(),
                        _ => View::by_columns(&b, k, n).unwrap().conj(),
                    };
                    let at = (4 * call + layouts, 0, 0);
                    let factors = Factors { left, right, at, threads: 2, room: [0; 2] };
                    let begun = lane.begin(kernel, factors).unwrap();
                    let (mut c, scales) = (old.clone(), [T::ONE + T::ONE, -T::ONE]);
                    lane.end(begun, scales, ViewMut::by_rows(&mut c, m, n).unwrap()).unwrap();
                    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                        let sum = (0..k).fold(T::ZERO, |sum, s| sum + left.at(i, s) * right.at(s, j));
                        let what = format!("{} {m} x {n} x {k}, {layouts}: {i}, {j}", kernel.name());
                        assert_eq!(c[i * n + j], scales[0] * sum - old[i * n + j], "{what}");
                    }
                }
            }
        }
    }

    /// Less than a tile and more; whole rounds and not; more steps than one launch has.
    const SIZES: [[usize; 3]; 4] = [[1, 1, 1], [67, 130, 16], [130, 5, 300], [3, 261, 515]];

    #[test]
    fn products_are_exact() {
        exact::<f32>(&SIZES);
        exact::<f64>(&SIZES);
    }

    #[test]
    fn complex_products_are_exact() {
        exact::<Complex32>(&SIZES[1..]);
        exact::<Complex64>(&SIZES[1..]);
    }

    /// A sum that a denormal leaves as −0 stays that, though rounds are filled up.
    #[test]
    fn steps_that_are_missing_change_no_sum() {
        let config = Config { backends: vec!["cpu".into()], float: FloatMode::Faithful, ..Config::default() };
        let device = Runtime::with_config(config).unwrap().open(0).unwrap();
        let (a, b) = ([-1.5 * f32::MIN_POSITIVE, f32::MIN_POSITIVE], [1.0; 2]);
        for kernel in Kernel::candidates(Precision::Single) {
            let mut lane = Lane::new(&device, true).unwrap();
            let (left, right) = (View::by_rows(&a, 1, 2).unwrap(), View::by_rows(&b, 2, 1).unwrap());
            let factors = Factors { left, right, at: (0, 0, 0), threads: 1, room: [0; 2] };
            let begun = lane.begin(kernel, factors).unwrap();
            let mut c = [f32::NAN];
            lane.end(begun, [1.0, 0.0], ViewMut::by_rows(&mut c, 1, 1).unwrap()).unwrap();
            assert_eq!(c[0].to_bits(), (-0.0f32).to_bits(), "{}", kernel.name());
        }
    }
}
