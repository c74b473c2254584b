//! The kernels: AMD IL text of a real matrix product, made for a shape.
//!
//! A thread of a pixel kernel computes a block of `rows` times `columns` elements of the product, each output being a row of the
//! block. What it needs of both factors for `depth` steps lies at one place of several textures: `i(d * groups + g)` has
//! group `g` of the rows of the left factor for step `d`, `i(depth * groups + d)` the columns of the right one. So a round of the
//! loop computes two addresses, whatever the depth. Sums run over the inner index in order, so their bits do not depend on the shape.
//! They start from +0, or go on from what an earlier launch left: outputs are textures, too, behind those of the factors.

use std::fmt::Write as _;

use recal::Format;

use crate::scalar::Precision;

/// A kernel's block and its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Precision of all numbers.
    pub precision: Precision,
    /// Rows of the block: outputs, 1 to 8.
    pub rows: usize,
    /// Columns of the block: 1, 2 or 4, of doubles 1 or 2.
    pub columns: usize,
    /// Steps of a round.
    pub depth: usize,
}

/// Shapes that are tried: (rows, columns, depth).
const SINGLE: [(usize, usize, usize); 5] = [(6, 4, 4), (8, 4, 4), (8, 2, 4), (4, 4, 4), (8, 4, 2)];
const DOUBLE: [(usize, usize, usize); 4] = [(6, 2, 4), (6, 2, 2), (8, 1, 3), (4, 1, 4)];

/// Vector registers that sums may take before they go to memory: the CPU's processors have 32 of them, a GPU's thread more.
const SUMS: usize = 28;

impl Shape {
    /// The shapes that are worth a measurement, the most promising first.
    pub fn candidates(precision: Precision) -> Vec<Shape> {
        let list = match precision {
            Precision::Single => &SINGLE[..],
            Precision::Double => &DOUBLE[..],
        };
        let mut shapes: Vec<Shape> =
            list.iter().map(|&(rows, columns, depth)| Shape { precision, rows, columns, depth }).collect();
        shapes.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        shapes
    }

    /// What a multiply-add costs by the model: its arithmetic, its part of the fetches, of the loop, and of sums that find no
    /// register; in multiply-adds.
    fn cost(&self) -> f64 {
        let sums = (self.rows * self.columns) as f64;
        let words = if self.precision == Precision::Double { 2.0 } else { 1.0 };
        let fetches = (self.groups() * self.per() + 2 * self.columns) as f64 * 0.25 * words;
        let spilled = (self.rows * self.columns * words as usize).saturating_sub(SUMS) as f64;
        // Steps of doubles that are unrolled keep more halves of pairs than there are registers.
        let crowd =
            if self.precision == Precision::Double { (self.depth - 1) as f64 * sums * 0.05 } else { 0.0 };
        let looping = 12.0 / self.depth as f64;
        1.0 + (fetches + looping + crowd + spilled * 0.5) / sums
    }

    /// Numbers in an element of a texture of the left factor.
    pub fn per(&self) -> usize {
        match self.precision {
            Precision::Single => 4,
            Precision::Double => 2,
        }
    }

    /// Textures of the left factor for one step.
    pub fn groups(&self) -> usize {
        self.rows.div_ceil(self.per())
    }

    /// Format of the left factor.
    pub fn left_format(&self) -> Format {
        format(self.precision, self.per())
    }

    /// Format of the right factor and of the product.
    pub fn right_format(&self) -> Format {
        format(self.precision, self.columns)
    }

    /// Number of the first of the textures that sums go on from.
    pub fn earlier(&self) -> usize {
        self.depth * (self.groups() + 1)
    }

    /// What an instruction writes of a row's columns, and takes of an element.
    fn parts(&self) -> &'static [(&'static str, &'static str)] {
        const WORDS: [[(&str, &str); 1]; 4] =
            [[("x___", "x")], [("xy__", "xy")], [("xyz_", "xyz")], [("xyzw", "xyzw")]];
        const PAIRS: [(&str, &str); 2] = [("xy__", "xy"), ("__zw", "zw")];
        match self.precision {
            Precision::Single => &WORDS[self.columns - 1],
            Precision::Double => &PAIRS[..self.columns],
        }
    }

    /// The kernel. `cb0[0].x` is the number of rounds; sums go on if `cb0[0].y` is not 0. Registers: r1 places in both factors, r2 rounds, r10 … sums, r20 the right
    /// factor, r30 … the left one.
    pub fn text(&self) -> String {
        let &Shape { precision, rows, depth, .. } = self;
        let groups = self.groups();
        let mut text = String::from(
            "il_ps_2_0\ndcl_input_position_interp(linear_noperspective) vWinCoord0.xy__\ndcl_cb cb0[1]\n\
             dcl_literal l0, 0.5, 1.0, 0.0, 0.0\ndcl_literal l1, 0, 1, 0, 0\n\
             dcl_literal l2, 0, 0x3FF00000, 0, 0\n",
        );
        for output in 0..rows {
            let _ = writeln!(text, "dcl_output_generic o{output}\nmov r{}, l0.zzzz", 10 + output);
        }
        for texture in 0..self.earlier() + rows {
            let _ = writeln!(
                text,
                "dcl_resource_id({texture})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
            );
        }
        // What was sampled may have any bits. Times one it is what sums are, so that loops may keep those as they come.
        text.push_str("if_logicalnz cb0[0].y\n");
        for row in 0..rows {
            let (texture, sum) = (self.earlier() + row, 10 + row);
            let _ = writeln!(text, "sample_resource({texture})_sampler(0) r40, vWinCoord0.xyxx");
            for (mask, part) in self.parts() {
                let _ = match precision {
                    Precision::Single => writeln!(text, "mul_ieee r{sum}.{mask}, r40, l0.yyyy"),
                    Precision::Double => writeln!(text, "dmul r{sum}.{mask}, r40.{part}, l2.xy"),
                };
            }
        }
        text.push_str("endif\n");
        // r1: column of the right factor, its row and the left one's column, row of the left one
        text.push_str(
            "mov r1.x, vWinCoord0.x\nmov r1.y, l0.x\nmov r1.z, vWinCoord0.y\nmov r2.x, l1.x\n\
             whileloop\nige r2.y, r2.x, cb0[0].x\nbreak_logicalnz r2.y\n",
        );
        for step in 0..depth {
            let _ = writeln!(text, "sample_resource({})_sampler(0) r20, r1.xyxx", depth * groups + step);
            for group in 0..groups {
                let _ = writeln!(
                    text,
                    "sample_resource({})_sampler(0) r{}, r1.yzyy",
                    step * groups + group,
                    30 + group
                );
            }
            for row in 0..rows {
                let (sum, left, part) = (10 + row, 30 + row / self.per(), row % self.per());
                for (mask, numbers) in self.parts() {
                    let _ = match precision {
                        Precision::Single => {
                            let part = ["x", "y", "z", "w"][part];
                            writeln!(text, "mad_ieee r{sum}.{mask}, r{left}.{part}, r20, r{sum}")
                        }
                        Precision::Double => {
                            let part = ["xy", "zw"][part];
                            writeln!(
                                text,
                                "dmad r{sum}.{mask}, r{left}.{part}, r20.{numbers}, r{sum}.{numbers}"
                            )
                        }
                    };
                }
            }
        }
        text.push_str("add r1._y__, r1.y, l0.y\niadd r2.x, r2.x, l1.y\nendloop\n");
        for output in 0..rows {
            let _ = writeln!(text, "mov o{output}, r{}", 10 + output);
        }
        text.push_str("end\n");
        text
    }
}

fn format(precision: Precision, numbers: usize) -> Format {
    match (precision, numbers) {
        (Precision::Single, 1) => Format::Float32x1,
        (Precision::Single, 2) => Format::Float32x2,
        (Precision::Single, _) => Format::Float32x4,
        (Precision::Double, 1) => Format::Float64x1,
        (Precision::Double, _) => Format::Float64x2,
    }
}

#[cfg(test)]
mod tests {
    use recal::InstructionSet;

    use super::*;

    /// The other way that the CPU has for such loops takes several times as long.
    #[test]
    fn the_cpu_leaves_elements_as_they_lie() {
        for shape in [Precision::Single, Precision::Double].into_iter().flat_map(Shape::candidates) {
            let lefts = shape.depth * shape.groups();
            let of = |number: usize| if number < lefts { shape.left_format() } else { shape.right_format() };
            let formats = (0..lefts + shape.depth).map(|number| (number as u32, of(number))).collect();
            let program = recal_il::compile(shape.text().as_bytes()).unwrap();
            for set in [InstructionSet::Avx512, InstructionSet::Avx2] {
                let listing = recal::vector_listing(&program, set, &formats).unwrap();
                assert!(listing.contains("elements as they lie in memory"), "{shape:?} {set:?}: {listing}");
            }
        }
    }
}
