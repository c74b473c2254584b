//! Random kernels: valid IL by construction, the same for the same seed.
//!
//! Input: a seed. Output: a [`Kernel`], a tree of statements that prints as IL and from which parts can be taken away.
//! Threads touch words of their own only, apart from one commutative atomic, so that every backend must leave the
//! same memory. Loops count to a small number in registers that nothing else writes.

use std::fmt::Write as _;

use cal_il::isa::{Category, Meaning, Row, Scope, TABLE, Vector, VectorRule};

use crate::generate::values::{self, Random};
use crate::reference::Kind;

/// Threads of a kernel: two waves in one group.
pub const THREADS: u32 = 128;
/// Registers that statements compute with: r1 to r8.
const REGISTERS: usize = 8;
/// Bytes of output a thread: 128 for its registers, 128 that statements read and write.
pub const SLICE: u32 = 256;
/// Bytes of input a thread: all registers.
pub const INPUT: u32 = 128;

/// An instruction, cut where it can be simplified.
#[derive(Clone, Debug)]
pub struct Line {
    /// Opcode word with specifiers.
    pub word: String,
    /// Operands; those that must stay as they are are part of `word`.
    pub operands: Vec<String>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// One instruction.
    Line(Line),
    /// An `if`, loop or `switch`.
    Block {
        /// Everything before the first arm.
        open: String,
        /// Statements, each arm with the text that follows it.
        arms: Vec<(Vec<Statement>, String)>,
        /// The block may be replaced by its statements: none of them breaks or continues.
        plain: bool,
    },
}

/// A kernel as a tree.
#[derive(Clone, Debug)]
pub struct Kernel {
    declarations: String,
    /// Bodies: main, then functions 1, 2 …
    pub bodies: Vec<Vec<Statement>>,
}

impl Kernel {
    /// The kernel of a seed. `device`: for a graphics driver. It may sample resource 0, and no operand is a constant
    /// 0 or 1, which several drivers fold into float operations without regard to the sign of zero.
    pub fn new(seed: u64, device: bool) -> Kernel {
        let mut g = Generator { random: Random::new(seed), loops: 0, device, atomic: "add", rows: rows() };
        g.random.word();
        g.atomic = ["add", "umax", "umin", "xor", "or", "and"][g.random.below(6)];
        let mut declarations = String::new();
        for k in 2..6 {
            let plain = |w: u32| if device && matches!(w << 1, 0 | 0x7F00_0000) { 3 } else { w };
            let words: Vec<String> = (0..4).map(|_| format!("0x{:X}", plain(g.word()))).collect();
            let _ = writeln!(declarations, "dcl_literal l{k}, {}", words.join(", "));
        }
        if device {
            declarations.push_str(
                "dcl_resource_id(0)_type(2d,unnorm)_fmtx(float)_fmty(float)_fmtz(float)_fmtw(float)\n",
            );
        }
        let functions = g.random.below(3);
        let bodies = (0..=functions)
            .map(|k| {
                let most = if k == 0 { 30 } else { 8 };
                let callable = (k + 1)..(functions + 1);
                g.statements(
                    most,
                    Place { depth: 0, breaks: false, continues: false, callable, main: k == 0 },
                )
            })
            .collect();
        Kernel { declarations, bodies }
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut out = String::from(
            "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_raw_uav_id(1)\ndcl_raw_uav_id(2)\n\
             dcl_lds_id(0) 4096\ndcl_cb cb0[8]\ndcl_indexed_temp_array x0[8]\n\
             dcl_literal l0, 0, 1, 2, 3\ndcl_literal l1, 7, 60, 112, 128\ndcl_literal l6, 8, 128, 32, 4\n\
             dcl_literal l7, 16, 28, 24, 0\n",
        );
        out.push_str(&self.declarations);
        // r90 = (output, input, LDS, row of g) of this thread.
        out.push_str("ishl r90.x, vAbsTidFlat.x, l6.x\numul r90.yzw, vAbsTidFlat.x, l6\n");
        for k in 1..=REGISTERS {
            let _ = writeln!(out, "uav_raw_load_id(0) r{k}, r90.y\niadd r90.y, r90.y, l7.x");
        }
        for k in 1..=REGISTERS {
            let _ = writeln!(out, "mov x0[{}], r{k}", k - 1);
        }
        print(&self.bodies[0], &mut out);
        for k in 1..=REGISTERS {
            let _ = writeln!(out, "uav_raw_store_id(1) mem0, r90.x, r{k}\niadd r90.x, r90.x, l7.x");
        }
        out.push_str("endmain\n");
        for (k, body) in self.bodies.iter().enumerate().skip(1) {
            let _ = writeln!(out, "func {k}");
            print(body, &mut out);
            out.push_str("ret\nendfunc\n");
        }
        out.push_str("end\n");
        out
    }
}

fn print(statements: &[Statement], out: &mut String) {
    for statement in statements {
        match statement {
            Statement::Line(line) => {
                let _ = writeln!(out, "{} {}", line.word, line.operands.join(", "));
            }
            Statement::Block { open, arms, .. } => {
                out.push_str(open);
                for (arm, after) in arms {
                    print(arm, out);
                    out.push_str(after);
                }
            }
        }
    }
}

/// Instructions that compute.
fn rows() -> Vec<&'static Row> {
    let computes = |row: &&Row| match row.meaning {
        Meaning::Lane(..) => true,
        Meaning::Vector(vector) => vector != Vector::Transpose,
        _ => false,
    };
    TABLE.iter().filter(|row| row.scope == Scope::Compute).filter(computes).collect()
}

/// Where a statement stands.
#[derive(Clone)]
struct Place {
    depth: usize,
    breaks: bool,
    continues: bool,
    callable: std::ops::Range<usize>,
    main: bool,
}

struct Generator {
    random: Random,
    loops: usize,
    device: bool,
    atomic: &'static str,
    rows: Vec<&'static Row>,
}

impl Generator {
    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.random.below(from.len())]
    }

    /// A word that is likely to matter.
    fn word(&mut self) -> u32 {
        word(&mut self.random)
    }

    fn register(&mut self) -> String {
        format!("r{}", 1 + self.random.below(REGISTERS))
    }

    fn component(&mut self) -> String {
        let register = self.register();
        format!("{register}.{}", self.pick(&["x", "y", "z", "w"]))
    }

    fn source(&mut self) -> String {
        let register = match self.random.below(12) {
            0 if self.device => format!("l{}", 2 + self.random.below(4)),
            0 => format!("l{}", self.random.below(8)),
            1 => format!("cb0[{}]", self.random.below(8)),
            2 => {
                let index = self.component();
                format!("cb0[{index} + {}]", self.random.below(3))
            }
            3 => format!("x0[{}]", self.random.below(8)),
            _ => self.register(),
        };
        let swizzle = match self.random.below(4) {
            0 | 1 => String::new(),
            _ => {
                let n = 1 + self.random.below(4);
                let kinds = if self.device { 8 } else { 10 };
                let letters: String = (0..n)
                    .map(|_| ["x", "y", "z", "w", "x", "y", "z", "w", "0", "1"][self.random.below(kinds)])
                    .collect();
                format!(".{letters}")
            }
        };
        let modifier = match self.random.below(8) {
            0 => "_neg(xyzw)",
            1 => "_neg(y)",
            2 => "_abs",
            3 => self.pick(&[
                "_abs_neg(xz)",
                "_bx2",
                "_bias",
                "_invert",
                "_x2",
                "_sign",
                "_divComp(w)",
                "_sat",
            ]),
            _ => "",
        };
        format!("{register}{swizzle}{modifier}")
    }

    fn destination(&mut self, pairs: bool) -> String {
        let register = match self.random.below(12) {
            0 => format!("x0[{}]", self.random.below(8)),
            _ => self.register(),
        };
        let mask = if pairs {
            self.pick(&["", ".xy", ".zw", ".xy__", ".__zw"])
        } else {
            self.pick(&["", "", "", ".x", ".y", ".zw", ".xz", ".x_z0", ".0y1_", ".___w"])
        };
        format!("{register}{mask}")
    }

    fn arithmetic(&mut self) -> Line {
        let row = self.rows[self.random.below(self.rows.len())];
        let mut word = row.mnemonic.to_owned();
        if row.controls.contains("[_ieee]") && self.random.below(2) == 0 {
            word.push_str("_ieee");
        }
        if row.controls.contains("_nrm4") {
            word.push_str(self.pick(&["", "_nrm3", "_nrm4"]));
        }
        if row.controls.contains("[_normalize]") {
            word.push_str(self.pick(&["", "_normalize"]));
        }
        if row.controls.contains("_zeroop(z)") {
            word.push_str(self.pick(&["", "_zeroop(zero)", "_zeroop(infinity)", "_zeroop(fltmax)"]));
        }
        if row.controls.contains("_relop(op)") && row.mnemonic != "dmovc" {
            let op = self.pick(&["ne", "eq", "ge", "gt", "le", "lt"]);
            let _ = write!(word, "_relop({op})");
        }
        if row.controls.contains("_cmpval(v)") {
            let value = self.pick(&["0.0", "0.5", "1.0", "-0.5", "-1.0"]);
            let _ = write!(word, "_cmpval({value})");
        }
        if row.category == Category::Float && self.random.below(6) == 0 {
            word.push_str(self.pick(&["_sat", "_x2", "_x4", "_d2", "_d8_sat"]));
        }
        let mut operands = vec![self.destination(row.rule == VectorRule::DoublePair)];
        (0..row.sources).for_each(|_| operands.push(self.source()));
        Line { word, operands }
    }

    /// An address in the thread's part of a memory, in r91.x.
    fn address(&mut self, base: &str, mask: &str, extra: &str) -> Vec<Statement> {
        let index = self.component();
        let mut lines = vec![
            fixed(&format!("iand r91.x, {index}, {mask}")),
            fixed(&format!("iadd r91.x, r91.x, {base}")),
        ];
        if !extra.is_empty() {
            lines.push(fixed(&format!("iadd r91.x, r91.x, {extra}")));
        }
        lines
    }

    fn memory(&mut self, out: &mut Vec<Statement>) {
        let (register, component) = (self.register(), self.component());
        match self.random.below(10) {
            0 => {
                out.extend(self.address("r90.x", "l1.z", "l1.w"));
                out.push(fixed(&format!("uav_raw_store_id(1) mem0.xyz, r91.x, {register}")));
            }
            1 => {
                out.extend(self.address("r90.x", "l1.z", "l1.w"));
                out.push(fixed(&format!("uav_raw_load_id(1) {register}, r91.x")));
            }
            2 => {
                out.extend(self.address("r90.z", "l7.y", ""));
                out.push(fixed(&format!("lds_store_id(0) r91.x, {component}")));
            }
            3 => {
                out.extend(self.address("r90.z", "l7.y", ""));
                let op = self.pick(&["ubyte", "byte", "short", "ushort"]);
                out.push(fixed(&format!("lds_load_{op}_id(0) {component}, r91.x")));
            }
            4 => {
                out.extend(self.address("r90.z", "l7.y", ""));
                let op = self.pick(&["add", "sub", "rsub", "min", "umax", "inc", "dec", "xchg"]);
                out.push(fixed(&format!("lds_read_{op}_id(0) {register}, r91.x, {component}")));
            }
            5 => {
                out.extend(self.address("r90.z", "l7.z", ""));
                out.push(fixed(&format!("lds_load64_id(0) {register}.zw, r91.x")));
            }
            6 => {
                out.extend(self.address("r90.w", "l0.w", ""));
                out.push(fixed(&format!("mov g[r91.x].xyw, {register}")));
            }
            7 => {
                out.extend(self.address("r90.w", "l0.w", ""));
                out.push(fixed(&format!("mov {register}, g[r91.x]")));
            }
            8 => {
                let index = self.component();
                out.push(fixed(&format!("iand r91.x, {index}, l1.x")));
                out.push(fixed(&match self.random.below(2) {
                    0 => format!("mov x0[r91.x].xz, {register}"),
                    _ => format!("mov {register}.yw, x0[r91.x]"),
                }));
            }
            _ if self.device && self.random.below(2) == 0 => {
                let source = self.source();
                out.push(fixed(&format!("sample_resource(0)_sampler(0) {register}, {source}")));
            }
            _ => {
                let index = self.component();
                out.push(fixed(&format!("iand r91.x, {index}, l1.y")));
                out.push(fixed(&format!("uav_{}_id(2) r91.x, {component}", self.atomic)));
            }
        }
    }

    fn statements(&mut self, most: usize, place: Place) -> Vec<Statement> {
        let mut out = Vec::new();
        for _ in 0..1 + self.random.below(most) {
            match self.random.below(20) {
                0 | 1 if place.depth < 3 => out.push(self.choice(&place)),
                2 if place.depth < 2 => out.push(self.repeat(&place)),
                3 if place.depth < 2 => out.push(self.switch(&place)),
                4..=6 => self.memory(&mut out),
                7 if place.breaks => {
                    let word = self.pick(&["break_logicalnz", "break_logicalz"]);
                    let component = self.component();
                    out.push(fixed(&format!("{word} {component}")));
                }
                8 if place.continues => {
                    let word = self.pick(&["continue_logicalnz", "continuec_relop(lt) l2.x,"]);
                    let component = self.component();
                    out.push(fixed(&format!("{word} {component}")));
                }
                9 if !place.callable.is_empty() && place.depth < 2 => {
                    let k = place.callable.start + self.random.below(place.callable.len());
                    let component = self.component();
                    out.push(fixed(&match self.random.below(3) {
                        0 => format!("call_logicalnz {component}, {k}"),
                        1 => format!("call_logicalz {component}, {k}"),
                        _ => format!("call {k}"),
                    }));
                }
                10 if !place.main => {
                    let component = self.component();
                    out.push(fixed(&format!("ret_logicalnz {component}")));
                }
                _ => out.push(Statement::Line(self.arithmetic())),
            }
        }
        out
    }

    fn choice(&mut self, place: &Place) -> Statement {
        let (a, b) = (self.component(), self.component());
        let open = match self.random.below(3) {
            0 => format!("if_logicalnz {a}\n"),
            1 => format!("if_logicalz {a}\n"),
            _ => format!("ifc_relop({}) {a}, {b}\n", self.pick(&["gt", "le", "ne", "eq"])),
        };
        let inner = Place { depth: place.depth + 1, ..place.clone() };
        let mut arms = vec![(self.statements(5, inner.clone()), "endif\n".to_owned())];
        if self.random.below(2) == 0 {
            arms[0].1 = "else\n".into();
            arms.push((self.statements(5, inner), "endif\n".into()));
        }
        Statement::Block { open, arms, plain: true }
    }

    /// At most four rounds, counted in a register of its own.
    fn repeat(&mut self, place: &Place) -> Statement {
        let counter = 100 + self.loops;
        self.loops += 1;
        let limit = self.component();
        let open = format!(
            "mov r{counter}.x, l0.x\niand r{counter}.z, {limit}, l0.w\nwhileloop\n\
             ilt r{counter}.y, r{counter}.z, r{counter}.x\nbreak_logicalnz r{counter}.y\n\
             iadd r{counter}.x, r{counter}.x, l0.y\n"
        );
        let inner = Place { depth: place.depth + 1, breaks: true, continues: true, ..place.clone() };
        Statement::Block { open, arms: vec![(self.statements(6, inner), "endloop\n".into())], plain: false }
    }

    fn switch(&mut self, place: &Place) -> Statement {
        let selector = self.component();
        let open = format!("iand r92.x, {selector}, l0.w\nswitch r92.x\ncase 0\ncase 7\n");
        let inner = Place { depth: place.depth + 1, breaks: true, continues: false, ..place.clone() };
        let after = ["case 1\n", "break\ndefault\n", "break\nendswitch\n"];
        let arms = after.map(|text| (self.statements(3, inner.clone()), text.to_owned())).into();
        Statement::Block { open, arms, plain: false }
    }
}

/// A line whose operands stay.
fn fixed(text: &str) -> Statement {
    Statement::Line(Line { word: text.to_owned(), operands: Vec::new() })
}

/// A word that is likely to matter.
pub fn word(random: &mut Random) -> u32 {
    let kind = [Kind::Float, Kind::Float, Kind::Int, Kind::Count, Kind::Double][random.below(5)];
    let value = match random.below(3) {
        0 => values::edge(kind, random.below(values::edges(kind))),
        _ => values::random(kind, random),
    };
    // The high word of a double is the one that tells.
    if kind == Kind::Double { (value >> 32) as u32 } else { value as u32 }
}
