//! Loops that count towards a bound and load on the way, in every form that compilers look for: up and down, floats and
//! integers, past the end of all words, left at the top or the bottom.
//!
//! The counter is r100 and on: x counts, y is the comparison, z the bound. Every loop ends, after 64 rounds at most.

use super::kernel::{Generator, Statement, fixed, together};

/// How a loop counts: lines that set counter and bound, the step, the comparison that is true where the loop is
/// left, and the one that is true where it goes on. `C` stands for the counter's register, `L` for any word.
struct Count {
    start: &'static str,
    step: &'static str,
    leave: &'static str,
    go_on: &'static str,
}

/// l10: 0.5, 1.0, 2^24 − 8, −0.25; l11: 28 2^24, 31 2^26, 63 2^26, −1.
pub(super) const LITERALS: &str =
    "dcl_literal l10, 0.5, 1.0, 16777208.0, -0.25\ndcl_literal l11, 0x1C000000, 0x7C000000, 0xFC000000, -1\n";

const COUNTS: [Count; 10] = [
    Count {
        start: "mov C.x, l10.x\niand C.z, L, l1.x\nitof C.z, C.z",
        step: "add C.x, C.x, l10.y",
        leave: "ge C.y, C.x, C.z",
        go_on: "lt C.y, C.x, C.z",
    },
    // The last sums are as large as floats that count by one can be.
    Count {
        start: "mov C.x, l10.z\niand C.z, L, l1.x\nitof C.z, C.z\nadd C.z, C.z, l10.z",
        step: "add C.x, l10.y, C.x",
        leave: "ge C.y, C.x, C.z",
        go_on: "lt C.y, C.x, C.z",
    },
    // Down, in a register that also holds no floats.
    Count {
        start: "mov C.x, l11.w\nmov C.x, l10.x\niand C.z, L, l0.w\nitof C.z, C.z_neg(xyzw)",
        step: "add C.x, C.x, l10.w",
        leave: "lt C.y, C.x, C.z",
        go_on: "ge C.y, C.x, C.z",
    },
    Count {
        start: "mov C.x, l10.x\niand C.z, L, l1.x\nitof C.z, C.z",
        step: "sub C.x, C.x, l10.w",
        leave: "ge C.y, C.x, C.z",
        go_on: "lt C.y, C.x, C.z",
    },
    // Steps and bounds of any kind, seven rounds at most.
    Count {
        start: "mov C.x, l0.x\nmov C.w, l0.x\nmov C.z, L",
        step: "add C.x, C.x, L\niadd C.w, C.w, l0.y\nuge C.y, C.w, l1.x\nbreak_logicalnz C.y",
        leave: "ge C.y, C.x, C.z",
        go_on: "lt C.y, C.x, C.z",
    },
    Count {
        start: "mov C.x, l0.x\niand C.z, L, l8.x\nishr C.z, C.z, l0.y",
        step: "iadd C.x, C.x, l0.y",
        leave: "ige C.y, C.x, C.z",
        go_on: "ilt C.y, C.x, C.z",
    },
    // Around the end of signed words, until the bound is met.
    Count {
        start: "mov C.x, l0.x\niand C.z, L, l11.y",
        step: "iadd C.x, C.x, l11.x",
        leave: "ige C.y, C.x, C.z",
        go_on: "ilt C.y, C.x, C.z",
    },
    // The same of unsigned ones.
    Count {
        start: "mov C.x, l0.x\niand C.z, L, l11.z",
        step: "iadd C.x, l11.x, C.x",
        leave: "uge C.y, C.x, C.z",
        go_on: "ult C.y, C.x, C.z",
    },
    Count {
        start: "iand C.x, L, l1.x\nmov C.z, l0.x",
        step: "iadd C.x, C.x, l11.w",
        leave: "ilt C.y, C.x, C.z",
        go_on: "ige C.y, C.x, C.z",
    },
    Count {
        start: "mov C.x, L\niand C.z, L, l1.x\niadd C.z, C.z, C.x\niadd C.z, C.z, l0.y",
        step: "iadd C.x, C.x, l0.y",
        leave: "ieq C.y, C.x, C.z",
        go_on: "ine C.y, C.x, C.z",
    },
];

impl Generator {
    /// A loop that loads and counts.
    pub(super) fn sweep(&mut self) -> Statement {
        let counter = self.counter();
        let count = &COUNTS[self.random.below(COUNTS.len())];
        let (compare, exits) = if self.random.below(2) == 0 {
            (count.leave, ["break_logicalnz C.y", "if_logicalnz C.y\nbreak\nendif"])
        } else {
            (count.go_on, ["break_logicalz C.y", "if_logicalz C.y\nbreak\nendif"])
        };
        let exit = format!("{compare}\n{}", self.pick(&exits));
        let mut lines = vec![exit.as_str(), count.step];
        if self.random.below(2) == 0 {
            lines.swap(0, 1);
        }
        // So many before the loads, the rest after them.
        let bottom = lines.split_off(self.random.below(3));
        let word = self.component();
        let fill = |text: &str| text.replace('L', &word).replace('C', &counter);
        let text = |lines: &[&str]| -> String { lines.iter().map(|line| fill(line) + "\n").collect() };
        let open = format!("{}\nwhileloop\n{}", fill(count.start), text(&lines));
        let mut body = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let mut access = Vec::new();
            self.load(&counter, &mut access);
            body.push(together(&access));
        }
        for _ in 0..self.random.below(3) {
            body.push(Statement::Line(self.arithmetic()));
        }
        Statement::Block { open, arms: vec![(body, text(&bottom) + "endloop\n")], plain: false }
    }

    /// A load of what other threads do not write.
    fn load(&mut self, counter: &str, out: &mut Vec<Statement>) {
        let index = if self.random.below(2) == 0 { format!("{counter}.x") } else { self.component() };
        let register = self.register();
        let compute = self.shape.domain.is_none();
        let (base, mask, line) = match self.random.below(6) {
            0 if compute => ("r90.z", "l7.y", format!("lds_load_id(0) {register}.x, r91.x")),
            1 => ("r90.w", "l0.w", format!("mov {register}, g[r91.x]")),
            2 => ("l0.x", "l0.w", format!("mov {register}, cb0[r91.x + 1]")),
            3 if !self.shape.textures.is_empty() => return self.texture(out),
            4 => ("r90.x", "l1.z", format!("uav_raw_load_id(1) {register}, r91.x")),
            // Nobody writes these.
            _ => ("l0.x", "l9.x", format!("uav_raw_load_id(0) {register}, r91.x")),
        };
        out.extend([
            fixed(&format!("iand r91.x, {index}, {mask}")),
            fixed(&format!("iadd r91.x, r91.x, {base}")),
            fixed(&line),
        ]);
    }
}
