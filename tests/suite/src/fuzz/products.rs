//! Kernels of sums and products, on numbers that try what `ir::speculate` counts on: denormals and what becomes one, zeros of both
//! signs, infinities and NaNs, in some cases none, in some a few, in some many of them.

use recal_hal::{Extent, Format};

use super::shape::THREADS;
use crate::case::{Buffer, Case, Needs, Slot};
use crate::generate::values::Random;

/// Words of input of a thread.
const INPUT: u32 = 64;
/// Words of output of a thread.
const OUTPUT: u32 = 16;
/// Registers of the kernel.
const REGISTERS: usize = 6;

struct Writer {
    random: Random,
    text: String,
    indent: usize,
    /// Registers that loops count in.
    counters: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len())]
    }

    fn register(&mut self) -> String {
        format!("r{}", 1 + self.random.below(REGISTERS))
    }

    fn source(&mut self) -> String {
        let register = match self.random.below(8) {
            0 => format!("cb0[{}]", self.random.below(4)),
            1 => format!("l{}", 1 + self.random.below(2)),
            _ => self.register(),
        };
        let swizzle = self.pick(&["", "", ".x", ".y", ".zwxy", ".wwzz", ".yzwx"]);
        let negated = self.pick(&["", "", "", "", "_neg(xyzw)", "_neg(yw)", "_abs"]);
        format!("{register}{swizzle}{negated}")
    }

    fn to(&mut self) -> String {
        let register = self.register();
        let mask = self.pick(&["", "", "", ".xy", ".x___", ".__zw"]);
        format!("{register}{mask}")
    }

    fn statement(&mut self, depth: usize) {
        let (to, a, b, c) = (self.to(), self.source(), self.source(), self.source());
        match self.random.below(if depth < 2 { 28 } else { 24 }) {
            0..=6 => {
                let op = self.pick(&["mad", "mad", "mad", "mad_ieee"]);
                self.line(&format!("{op} {to}, {a}, {b}, {c}"));
            }
            // Sums that grow over loops, as products of matrices do.
            7..=9 => {
                let sum = self.register();
                self.line(&format!("mad {sum}, {a}, {b}, {sum}"));
            }
            10 | 11 => {
                let op = self.pick(&["mul", "mul_ieee", "dp4", "dp3"]);
                self.line(&format!("{op} {to}, {a}, {b}"));
            }
            12..=14 => {
                let op = self.pick(&["add", "sub"]);
                self.line(&format!("{op} {to}, {a}, {b}"));
            }
            15 | 16 => {
                let register = self.register();
                self.line(&format!("uav_raw_load_id(0) {register}, r0.x\niadd r0.x, r0.x, l0.x"));
            }
            17 => {
                let op =
                    self.pick(&["mov", "flr", "frc", "rcp_zeroop(infinity)", "mov_sat", "round_nearest"]);
                self.line(&format!("{op} {to}, {a}"));
            }
            18 => {
                let op = self.pick(&["max", "min", "max_ieee", "lt", "ge", "eq", "div_zeroop(infinity)"]);
                self.line(&format!("{op} {to}, {a}, {b}"));
            }
            19 => {
                let op = self.pick(&["ftoi", "itof", "iand"]);
                let second = if op == "iand" { ", l0.y" } else { "" };
                self.line(&format!("{op} {to}, {a}{second}"));
            }
            20 => self.line(&format!("cmov_logical {to}, {a}, {b}, {c}")),
            21 => self.line(&format!("lrp {to}, {a}, {b}, {c}")),
            // A product that is for a choice between it and zero alone, which asks for zeros of its own.
            22 | 23 => {
                let op = self.pick(&["lt", "ge", "eq", "ne"]);
                let chosen = self.pick(&[
                    "cmov_logical {to}, r9, r8, l1.x",
                    "cmov_logical {to}, r9, l1.x, r8",
                    "iand {to}, r9, r8",
                ]);
                let (x, y) = (self.source(), self.source());
                self.line(&format!("{op} r9, {x}, {y}\nmul r8, {a}, {b}"));
                self.line(&chosen.replace("{to}", &to));
            }
            24 => {
                let (op, x) = (self.pick(&["lt", "ge", "ne"]), self.register());
                self.line(&format!("{op} r9.x, {x}.x, {x}.y\nif_logicalnz r9.x"));
                self.some(depth + 1, 4);
                if self.random.below(2) == 0 {
                    self.line("else");
                    self.some(depth + 1, 3);
                }
                self.line("endif");
            }
            _ => {
                let counter = 20 + self.counters;
                self.counters += 1;
                let rounds = self.pick(&["l0.z", "l0.w"]);
                self.line(&format!(
                    "mov r{counter}.x, l3.x\nwhileloop\nige r9.x, r{counter}.x, {rounds}\n\
                     break_logicalnz r9.x\niadd r{counter}.x, r{counter}.x, l3.y"
                ));
                let early = self.random.below(4) == 0;
                if early && self.random.below(2) == 0 {
                    self.exit();
                }
                self.some(depth + 1, 8);
                if early {
                    self.exit();
                }
                self.line("endloop");
            }
        }
    }

    /// Leaves the loop, or goes on with its next round, as numbers say.
    fn exit(&mut self) {
        let (op, x, y) = (self.pick(&["lt", "ge"]), self.register(), self.register());
        let leave = self.pick(&["break_logicalnz", "break_logicalz", "continue_logicalnz"]);
        self.line(&format!("{op} r9.x, {x}.x, {y}.w\n{leave} r9.x"));
    }

    fn some(&mut self, depth: usize, most: usize) {
        self.indent += 1;
        for _ in 0..1 + self.random.below(most) {
            self.statement(depth);
        }
        self.indent -= 1;
    }
}

/// A word; `odd` of 1024 are no ordinary numbers, and numbers are 2^-`spread` to 2^`spread`.
pub fn word(random: &mut Random, odd: usize, spread: usize) -> u32 {
    let fraction = match random.below(4) {
        0 => 0,
        1 => random.word() & 0x0060_0000,
        _ => random.word() & 0x007F_FFFF,
    };
    let sign = random.word() & 0x8000_0000;
    let exponent =
        |random: &mut Random, from: usize, count: usize| ((from + random.below(count)) as u32) << 23;
    if random.below(1024) >= odd {
        let from = 127 - spread;
        return if random.below(8) == 0 {
            sign & random.word()
        } else {
            sign | exponent(random, from, 2 * spread + 1) | fraction
        };
    }
    match random.below(6) {
        0 => sign | fraction,
        1 => sign | 0x7F80_0000,
        2 => sign | 0x7FC0_0000 | fraction,
        // About the bound of the watch, and where products become denormals.
        3 => sign | exponent(random, 127 - 54, 6) | fraction,
        4 => sign | exponent(random, 1, 30) | fraction,
        _ => sign | exponent(random, 225, 30) | fraction,
    }
}

/// The kernel of a seed, with its memory.
pub fn case(seed: u64) -> Case {
    let mut writer = Writer {
        random: Random::new(seed.wrapping_mul(3) ^ 0x5EED),
        text: String::from(
            "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_cb cb0[4]\n\
             dcl_literal l0, 16, 255, 3, 9\ndcl_literal l1, 0.0, -1.5, 0.375, 1.0\ndcl_literal l3, 0, 1, 6, 32\n",
        ),
        indent: 0,
        counters: 0,
    };
    // With numbers of the least kind that is watched, products that are, or are not, sums' multiples of normal numbers.
    let tiny = writer.pick(&["1.0e-12", "1.0e-20", "1.0e-27", "3.0e-33"]);
    writer.line(&format!("dcl_literal l2, -0.0, 2.0, {tiny}, 3.0e19"));
    writer.line(
        "ishl r0.x, vAbsTidFlat.x, l3.z\nishl r0.x, r0.x, l3.y\nishl r0.x, r0.x, l3.y\n\
         ishl r0.y, vAbsTidFlat.x, l3.z",
    );
    for register in 1..=REGISTERS {
        match writer.random.below(3) {
            0 => writer.line(&format!("mov r{register}, l1.x")),
            _ => writer.line(&format!("uav_raw_load_id(0) r{register}, r0.x\niadd r0.x, r0.x, l0.x")),
        }
    }
    writer.some(0, 14);
    for row in 0..4 {
        let register = writer.register();
        writer.line(&format!("uav_raw_store_id(1) mem0.xyzw, r0.y, {register}\niadd r0.y, r0.y, l0.x"));
        if row == 1 {
            writer.some(0, 6);
        }
    }
    writer.line("end");
    let random = &mut writer.random;
    let (odd, spread) = ([0, 0, 1, 8, 200][random.below(5)], [2, 10, 40][random.below(3)]);
    let mut filled = |slot, format: Format, width: u32| {
        let words: Vec<u32> = (0..width * format.bytes() / 4).map(|_| word(random, odd, spread)).collect();
        Buffer::row(slot, format, width).holding(&words)
    };
    let buffers = vec![
        filled(Slot::Uav(0), Format::UnsignedInt32x1, THREADS * INPUT),
        filled(Slot::Uav(1), Format::UnsignedInt32x1, THREADS * OUTPUT),
        filled(Slot::Constant(0), Format::UnsignedInt32x4, 4),
    ];
    Case {
        name: format!("found/products_{seed}"),
        text: writer.text,
        from: format!("fuzzing of products, seed {seed}; words of the other engine, to be confirmed by hand"),
        extent: Some(Extent::Grid { groups: [1, 1, 1], block: [THREADS, 1, 1] }),
        buffers,
        samplers: Vec::new(),
        params: None,
        refused: None,
        needs: Needs { compute: true, fp64: false },
        faithful_only: true,
        checks: 1,
    }
}
