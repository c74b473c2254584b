//! The kernels of devices with fast group memory: IL of a product whose factors go through LDS.
//!
//! A group computes a tile of the product. For each block of `depth` steps all its threads together load that much of both factors
//! into LDS, where two such blocks take turns: while one is multiplied, the next one is on its way. A thread adds outer products of
//! parts of a column and of a row, which it reads from LDS by 16 bytes at a time, so that the threads of a warp side by side read words
//! side by side.
//!
//! Both factors lie in one texture each, of elements of 16 bytes: `i0` has the left one by columns, element (i, k) being rows
//! `i * per` and following of column k; `i1` the right one by rows. The product goes to `g[]`, by rows, where an earlier launch may have
//! left what sums go on from. They run over the inner index in order.

use std::fmt::Write as _;

use recal::Format;

use crate::scalar::Precision;

/// Threads that run together on the hardware.
const WARP: usize = 32;

/// A kernel's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiled {
    /// Precision of all numbers.
    pub precision: Precision,
    /// Rows and columns of a thread: multiples of [`Tiled::per`].
    pub block: [usize; 2],
    /// Rows and columns of threads in a warp, whose product is 32.
    pub lanes: [usize; 2],
    /// Rows and columns of warps in a group.
    pub warps: [usize; 2],
    /// Steps between two barriers.
    pub depth: usize,
}

/// Constants of the kernel text.
#[derive(Default)]
struct Literals(Vec<String>);

impl Literals {
    fn of(&mut self, literal: String) -> String {
        let at = self.0.iter().position(|known| *known == literal).unwrap_or_else(|| {
            self.0.push(literal);
            self.0.len() - 1
        });
        let component = ["x", "y", "z", "w"][at % 4];
        format!("l{}.{component}", at / 4)
    }

    fn integer(&mut self, n: usize) -> String {
        self.of(n.to_string())
    }

    fn float(&mut self, x: f64) -> String {
        self.of(format!("{x:?}"))
    }

    /// Integers and floats do not share a declaration.
    fn declarations(&self) -> String {
        let mut text = String::new();
        for (k, four) in self.0.chunks(4).enumerate() {
            let mut words: Vec<&str> = four.iter().map(String::as_str).collect();
            words.resize(4, "0");
            let _ = writeln!(text, "dcl_literal l{k}, {}", words.join(", "));
        }
        text
    }
}

impl Tiled {
    /// What is fastest on an H100, of some fifty.
    pub fn best(precision: Precision) -> Tiled {
        let (lanes, warps) = match precision {
            Precision::Single => ([8, 4], [1, 4]),
            Precision::Double => ([4, 8], [4, 2]),
        };
        Tiled { precision, block: [8, 8], lanes, warps, depth: 8 }
    }

    /// Numbers in 16 bytes.
    pub fn per(&self) -> usize {
        16 / self.precision.bytes()
    }

    /// Rows and columns of a tile.
    pub fn tile(&self) -> [usize; 2] {
        [0, 1].map(|k| self.block[k] * self.lanes[k] * self.warps[k])
    }

    /// Threads of a group.
    pub fn threads(&self) -> usize {
        WARP * self.warps[0] * self.warps[1]
    }

    /// Steps of a turn of the loop.
    pub fn turn(&self) -> usize {
        2 * self.depth
    }

    /// Format of both factors and of the product.
    pub fn format(&self) -> Format {
        match self.precision {
            Precision::Single => Format::Float32x4,
            Precision::Double => Format::Float64x2,
        }
    }

    /// Bytes of LDS, of the left and of the right factor.
    pub fn lds(&self) -> [usize; 2] {
        self.tile().map(|n| 2 * self.depth * n * self.precision.bytes())
    }

    /// Whether there is such a kernel: all threads load equally much, and LDS is not larger than CAL's.
    pub fn valid(&self) -> bool {
        let per = self.per();
        let powers = self.lanes.iter().chain(&self.warps).all(|n| n.is_power_of_two());
        let loads = self.tile().iter().all(|n| {
            let columns = n / per;
            self.threads() % columns == 0 && (self.depth * columns) % self.threads() == 0
        });
        powers
            && self.lanes[0] * self.lanes[1] == WARP
            && self.block.iter().all(|n| n % per == 0)
            && loads
            && self.lds().iter().sum::<usize>() <= 32 << 10
    }

    /// The kernel. `cb0[0].x` is the number of turns, `cb0[0].y` the elements of a row of the product; sums go on from what is there
    /// if `cb0[0].z` is not 0. The product's first row of tiles is that of row `cb0[0].w` of the left factor's.
    ///
    /// Registers: r1 columns of both textures and their rows, r2 addresses in LDS, r3 turns, r4 a place, r5 … temporary, r10 … and
    /// r30 … parts of the factors, for even and odd steps, r50 … sums, r200 … what is on its way.
    pub fn text(&self) -> String {
        let mut literals = Literals::default();
        let mut body = String::new();
        let [high, wide] = self.tile();
        self.places(&mut body, &mut literals);
        let zero = literals.float(0.0);
        for sum in 0..self.sums() {
            let _ = writeln!(body, "mov r{}, {}", 50 + sum, broadcast(&zero));
        }
        self.load(&mut body, &mut literals);
        self.store(&mut body, &mut literals, 0);
        body.push_str("if_logicalnz cb0[0].z\n");
        self.sums_there(&mut body, &mut literals, |sum, place| format!("mov {sum}, {place}"));
        body.push_str("endif\n");
        let (none, one) = (literals.integer(0), literals.integer(1));
        let _ = writeln!(
            body,
            "fence_threads_lds\nmov r3.x, {none}\nwhileloop\nige r3.y, r3.x, cb0[0].x\nbreak_logicalnz r3.y"
        );
        for half in 0..2 {
            self.load(&mut body, &mut literals);
            self.multiply(&mut body, &mut literals, half);
            self.store(&mut body, &mut literals, 1 - half);
            body.push_str("fence_threads_lds\n");
        }
        let _ = writeln!(body, "iadd r3.x, r3.x, {one}\nendloop");
        self.sums_there(&mut body, &mut literals, |sum, place| format!("mov {place}, {sum}"));
        let [left, right] = self.lds();
        let mut text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group {}, 1, 1\ndcl_lds_id(0) {left}\ndcl_lds_id(1) {right}\ndcl_cb cb0[1]\n",
            self.threads()
        );
        for texture in 0..2 {
            let _ = writeln!(
                text,
                "dcl_resource_id({texture})_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)"
            );
        }
        text.push_str(&literals.declarations());
        let _ = writeln!(text, "; a tile of {high} x {wide}");
        text + &body + "end\n"
    }

    /// Registers of sums.
    fn sums(&self) -> usize {
        self.block[0] * self.block[1] / self.per()
    }

    /// Where the thread loads from, stores to, and reads.
    fn places(&self, body: &mut String, literals: &mut Literals) {
        let per = self.per();
        let columns = self.tile().map(|n| n / per);
        let half = literals.float(0.5);
        // r5: columns and rows in the block of what the thread loads first
        body.push_str("mov r4.z, vThreadGrpId.x\niadd r4.w, vThreadGrpId.y, cb0[0].w\n");
        for (columns, [x, y], group) in [(columns[0], ["x", "z"], "w"), (columns[1], ["y", "w"], "z")] {
            let (mask, shift, count) = (
                literals.integer(columns - 1),
                literals.integer(columns.ilog2() as usize),
                literals.integer(columns),
            );
            let _ = writeln!(
                body,
                "iand r5.x, vTidInGrpFlat.x, {mask}\n\
                 umad r5.x, r4.{group}, {count}, r5.x\n\
                 ushr r5.y, vTidInGrpFlat.x, {shift}\n\
                 itof r5.xy, r5.xy\n\
                 add r1.{}, r5.x, {half}\nadd r1.{}, r5.y, {half}",
                masked(x),
                masked(y)
            );
        }
        let (sixteen, last, five) = (literals.integer(16), literals.integer(WARP - 1), literals.integer(5));
        let (lane_mask, lane_shift) =
            (literals.integer(self.lanes[1] - 1), literals.integer(self.lanes[1].ilog2() as usize));
        let (warp_mask, warp_shift) =
            (literals.integer(self.warps[1] - 1), literals.integer(self.warps[1].ilog2() as usize));
        // r6: column and row of the thread in its warp, and of the warp in the group
        let _ = writeln!(
            body,
            "imul r2.x, vTidInGrpFlat.x, {sixteen}\n\
             iand r5.x, vTidInGrpFlat.x, {last}\nushr r5.y, vTidInGrpFlat.x, {five}\n\
             iand r6.x, r5.x, {lane_mask}\nushr r6.y, r5.x, {lane_shift}\n\
             iand r6.z, r5.y, {warp_mask}\nushr r6.w, r5.y, {warp_shift}"
        );
        for (k, (to, lane, warp)) in [("y", "y", "w"), ("z", "x", "z")].into_iter().enumerate() {
            let step = literals.integer(self.lanes[k] * self.block[k] * self.precision.bytes());
            let _ = writeln!(
                body,
                "imul r5.x, r6.{lane}, {sixteen}\numad r2.{}, r6.{warp}, {step}, r5.x",
                masked(to)
            );
        }
        // r4.x: the first element of the product; r4.y: elements of a row
        let [high, _] = self.tile();
        let per_row = literals.integer(per);
        let (tile_rows, tile_columns) = (literals.integer(high), literals.integer(columns[1]));
        let (warp_rows, warp_columns) = (
            literals.integer(self.lanes[0] * self.block[0]),
            literals.integer(self.lanes[1] * self.block[1] / per),
        );
        let _ = writeln!(
            body,
            "imul r5.x, r6.y, {per_row}\numad r5.x, r6.w, {warp_rows}, r5.x\n\
             umad r5.x, vThreadGrpId.y, {tile_rows}, r5.x\n\
             umad r5.y, r6.z, {warp_columns}, r6.x\numad r5.y, vThreadGrpId.x, {tile_columns}, r5.y\n\
             umad r4.x, r5.x, cb0[0].y, r5.y"
        );
    }

    /// Loads of a thread for a block of a factor, and the rows between two of them.
    fn loads(&self, factor: usize) -> (usize, usize) {
        let columns = self.tile()[factor] / self.per();
        (self.depth * columns / self.threads(), self.threads() / columns)
    }

    /// Loads the next block of both factors into registers.
    fn load(&self, body: &mut String, literals: &mut Literals) {
        for (factor, [x, y]) in [["x", "z"], ["y", "w"]].into_iter().enumerate() {
            let (count, rows) = self.loads(factor);
            for k in 0..count {
                let row = literals.float((k * rows) as f64);
                let _ = writeln!(
                    body,
                    "mov r5.x, r1.{x}\nadd r5.y, r1.{y}, {row}\n\
                     sample_resource({factor})_sampler(0) r{}, r5.xyxx",
                    200 + 20 * factor + k
                );
            }
        }
        let depth = literals.float(self.depth as f64);
        let _ = writeln!(body, "add r1.__zw, r1.00zw, {}", broadcast(&depth));
    }

    /// Stores what was loaded.
    fn store(&self, body: &mut String, literals: &mut Literals, half: usize) {
        for factor in 0..2 {
            let (count, _) = self.loads(factor);
            for k in 0..count {
                let at = half * self.lds()[factor] / 2 + 16 * self.threads() * k;
                let at = literals.integer(at);
                let _ = writeln!(
                    body,
                    "iadd r5.x, r2.x, {at}\nlds_store_vec_id({factor}) mem.xyzw, r5.x, {}, r{}",
                    literals.integer(0),
                    200 + 20 * factor + k
                );
            }
        }
    }

    /// Reads a thread's parts of a step from LDS.
    fn read(&self, body: &mut String, literals: &mut Literals, half: usize, step: usize) {
        for (factor, from) in ["y", "z"].into_iter().enumerate() {
            for v in 0..self.block[factor] / self.per() {
                let at = half * self.lds()[factor] / 2
                    + step * self.tile()[factor] * self.precision.bytes()
                    + v * self.lanes[factor] * 16;
                let at = literals.integer(at);
                let _ = writeln!(
                    body,
                    "iadd r5.x, r2.{from}, {at}\nlds_load_vec_id({factor}) r{}, r5.x, {}",
                    part(step, factor) + v,
                    literals.integer(0),
                );
            }
        }
    }

    /// Adds the products of a block in LDS, parts of the next step being read ahead.
    fn multiply(&self, body: &mut String, literals: &mut Literals, half: usize) {
        let per = self.per();
        self.read(body, literals, half, 0);
        for step in 0..self.depth {
            if step + 1 < self.depth {
                self.read(body, literals, half, step + 1);
            }
            for row in 0..self.block[0] {
                for column in 0..self.block[1] / per {
                    let sum = 50 + row * self.block[1] / per + column;
                    let (left, right) = (part(step, 0) + row / per, part(step, 1) + column);
                    match self.precision {
                        Precision::Single => {
                            let component = ["x", "y", "z", "w"][row % per];
                            let _ = writeln!(body, "mad_ieee r{sum}, r{left}.{component}, r{right}, r{sum}");
                        }
                        Precision::Double => {
                            let pair = ["xy", "zw"][row % per];
                            for (mask, of) in [("xy__", "xy"), ("__zw", "zw")] {
                                let _ = writeln!(
                                    body,
                                    "dmad r{sum}.{mask}, r{left}.{pair}, r{right}.{of}, r{sum}.{of}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    /// Moves sums to their places in the product, or from there.
    fn sums_there(&self, body: &mut String, literals: &mut Literals, moved: impl Fn(&str, &str) -> String) {
        let per = self.per();
        for row in 0..self.block[0] {
            let down = row / per * self.lanes[0] * per + row % per;
            let down = literals.integer(down);
            let _ = writeln!(body, "umad r5.x, cb0[0].y, {down}, r4.x");
            for column in 0..self.block[1] / per {
                let right = literals.integer(column * self.lanes[1]);
                let sum = format!("r{}", 50 + row * self.block[1] / per + column);
                let _ = writeln!(body, "iadd r5.y, r5.x, {right}\n{}", moved(&sum, "g[r5.y]"));
            }
        }
    }
}

/// The first register of a part of a factor.
fn part(step: usize, factor: usize) -> usize {
    10 + 20 * (step % 2) + 10 * factor
}

/// A write mask of one component.
fn masked(component: &str) -> &'static str {
    match component {
        "x" => "x___",
        "y" => "_y__",
        "z" => "__z_",
        _ => "___w",
    }
}

/// A literal's component in all four.
fn broadcast(literal: &str) -> String {
    let (register, component) = literal.split_once('.').unwrap_or((literal, "x"));
    format!("{register}.{}", component.repeat(4))
}

#[cfg(test)]
mod tests {
    use super::{Precision, Tiled};

    #[test]
    fn the_best_kernels_are_valid_ones() {
        for precision in [Precision::Single, Precision::Double] {
            let best = Tiled::best(precision);
            assert!(best.valid(), "{best:?}");
            // Threads that would load unequally much, LDS that CAL does not have, and a warp that is none.
            assert!(!Tiled { depth: 1, ..best }.valid());
            assert!(!Tiled { depth: 64, ..best }.valid());
            assert!(!Tiled { lanes: [4, 4], ..best }.valid());
        }
    }
}
