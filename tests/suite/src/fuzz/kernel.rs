//! Random kernels: valid IL by construction, the same for the same seed.
//!
//! Input: a seed and what the engine can do. Output: a [`Kernel`], a tree of statements that prints as IL and from
//! which parts can be taken away. Threads touch words of their own only ([`super::memory`]), so that every backend must
//! leave the same memory; those that read words of others do so between barriers, or as one wave. Loops count to a small number in registers that nothing else writes.

use std::fmt::Write as _;

use recal_il::isa::{Category, Meaning, Row, Scope, TABLE, Vector, VectorRule, View};

use super::shape::{Engine, Shape};
use crate::generate::values::{self, Random};
use crate::reference::Kind;

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
    /// What surrounds it.
    pub(super) shape: Shape,
    declarations: String,
    macros: String,
    /// Bodies: main, then functions 1, 2 …
    pub bodies: Vec<Vec<Statement>>,
}

impl Kernel {
    /// The kernel of a seed.
    pub fn new(seed: u64, engine: Engine) -> Kernel {
        let mut random = Random::new(seed);
        random.word();
        let shape = Shape::new(&mut random, engine);
        let atomic = ["add", "umax", "umin", "xor", "or", "and"][random.below(6)];
        let rows = rows(engine);
        // Some kernels of one wave count on its threads moving together.
        let one_wave = shape.meets() && shape.group() <= 64;
        let lockstep = (one_wave && seed % 8 == 7).then(|| Random::new(!seed));
        // Threads of others meet at places that follow from their numbers, and at none else.
        let exchange = shape.meets() && seed % 8 == 5;
        // Flow by what all threads have, so that they may meet anywhere.
        let alike = shape.meets() && seed % 8 == 3;
        let mut g = Generator { random, loops: 0, macros: 0, shape, atomic, rows, lockstep, exchange, alike };
        let last = g.shape.group() - 1;
        let mut declarations = format!("dcl_literal l9, 127, {last}, 0, 0\n");
        declarations.push_str(super::sweep::LITERALS);
        for k in 2..6 {
            let words: Vec<String> = (0..4).map(|_| format!("0x{:X}", g.word())).collect();
            let _ = writeln!(declarations, "dcl_literal l{k}, {}", words.join(", "));
        }
        g.macros = g.random.below(3);
        let macros = (0..g.macros).map(|k| g.definition(k)).collect();
        let functions = if exchange { 0 } else { g.random.below(3) };
        let most = g.shape.most();
        let bodies = (0..=functions)
            .map(|k| {
                let most = if k == 0 { most } else { most.min(8) };
                let callable = (k + 1)..(functions + 1);
                g.statements(
                    most,
                    Place { depth: 0, breaks: false, continues: false, callable, main: k == 0 },
                )
            })
            .collect();
        Kernel { shape: g.shape, declarations, macros, bodies }
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut out = self.macros.clone();
        let mut body = String::new();
        self.bodies.iter().for_each(|statements| print(statements, &mut body));
        let prologue = self.shape.prologue(body.contains("x0["));
        // Declarations come before the first instruction.
        let at = prologue.find("mov r93").unwrap_or_default();
        out.push_str(&prologue[..at]);
        out.push_str(&self.declarations);
        out.push_str(&prologue[at..]);
        print(&self.bodies[0], &mut out);
        out.push_str(&self.shape.epilogue());
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

/// Words that all threads have.
const FLAGS: [&str; 4] = ["r95.x", "r95.y", "r96.x", "r96.y"];

/// Instructions that compute.
fn rows(engine: Engine) -> Vec<&'static Row> {
    let computes = |row: &&Row| match row.meaning {
        Meaning::Lane(..) => true,
        Meaning::Vector(vector) => vector != Vector::Transpose,
        _ => false,
    };
    let able = |row: &&Row| engine.float64 || !doubles(row);
    TABLE.iter().filter(|row| row.scope == Scope::Compute).filter(computes).filter(able).collect()
}

/// Whether an instruction has 64-bit floats in it.
fn doubles(row: &Row) -> bool {
    matches!(row.meaning, Meaning::Lane(View::Double, _)) || row.category == Category::Double
}

/// Where a statement stands.
#[derive(Clone)]
pub(super) struct Place {
    depth: usize,
    breaks: bool,
    continues: bool,
    callable: std::ops::Range<usize>,
    main: bool,
}

pub(super) struct Generator {
    pub(super) random: Random,
    loops: usize,
    macros: usize,
    pub(super) shape: Shape,
    /// The commutative operation of `uav2`.
    pub(super) atomic: &'static str,
    rows: Vec<&'static Row>,
    /// For words of other threads, without barriers.
    pub(super) lockstep: Option<Random>,
    /// Nothing but operations, choices, and words that threads leave for each other at known places.
    exchange: bool,
    /// All threads go the same way, and may meet in constructs.
    alike: bool,
}

impl Generator {
    pub(super) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.random.below(from.len())]
    }

    /// A word that is likely to matter.
    fn word(&mut self) -> u32 {
        word(&mut self.random)
    }

    pub(super) fn register(&mut self) -> String {
        format!("r{}", 1 + self.random.below(self.shape.registers))
    }

    pub(super) fn component(&mut self) -> String {
        let register = self.register();
        format!("{register}.{}", self.pick(&["x", "y", "z", "w"]))
    }

    /// What flow depends on.
    fn condition(&mut self) -> String {
        match self.alike {
            true if self.random.below(2) == 0 => self.pick(&FLAGS).to_owned(),
            true => format!("cb0[{}].{}", self.random.below(8), self.pick(&["x", "y", "z", "w"])),
            false => self.component(),
        }
    }

    /// A word that all threads have, and that is lost where nothing asks for it.
    fn flag(&mut self) -> Statement {
        let (flag, other, component) = (self.pick(&FLAGS), self.pick(&FLAGS), self.component());
        let word = self.pick(&["l0.x", "l0.y", "l0.z", "cb0[0].x", "cb0[3].w"]);
        fixed(&match self.random.below(8) {
            0..3 => format!("mov {flag}, {word}"),
            3 => format!("iadd {flag}, {other}, {word}"),
            4 => format!("ult {flag}, {other}, {word}"),
            5 => format!("iadd {component}, {component}, {flag}"),
            // What the first thread has left.
            _ => format!("fence_threads_lds\nlds_load_id(0) {flag}, l0.x\nfence_threads_lds"),
        })
    }

    pub(super) fn source(&mut self) -> String {
        let register = match self.random.below(12) {
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
                let letters: String = (0..n)
                    .map(|_| ["x", "y", "z", "w", "x", "y", "z", "w", "0", "1"][self.random.below(10)])
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

    pub(super) fn arithmetic(&mut self) -> Line {
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

    /// A macro of two inputs and an output.
    fn definition(&mut self, k: usize) -> String {
        let mut out = format!("mdef({k})_out(1)_in(2)\nmov r1, in0\nmov r2, in1\n");
        for _ in 0..1 + self.random.below(3) {
            let line = self.arithmetic();
            let registers: Vec<&str> = line.operands.iter().map(|_| self.pick(&["r1", "r2"])).collect();
            let _ = writeln!(out, "{} {}", line.word, registers.join(", "));
        }
        out.push_str("mov out0, r1\nmend\n");
        out
    }

    fn statements(&mut self, most: usize, place: Place) -> Vec<Statement> {
        let mut out = Vec::new();
        for _ in 0..1 + self.random.below(most) {
            match self.random.below(20) {
                0 | 1 if place.depth < 3 => out.push(self.choice(&place)),
                2..=10 if self.exchange => {
                    let mut access = Vec::new();
                    self.exchange(place.main && place.depth == 0, &mut access);
                    out.push(together(&access));
                }
                _ if self.exchange => out.push(Statement::Line(self.arithmetic())),
                2 if place.depth < 2 && self.random.below(2) == 0 => out.push(self.sweep()),
                2 if place.depth < 2 => out.push(self.repeat(&place)),
                3 if place.depth < 2 => out.push(self.switch(&place)),
                4..=6 => {
                    let mut access = Vec::new();
                    self.memory(&mut access);
                    out.push(together(&access));
                }
                7 if place.breaks => {
                    let word = self.pick(&["break_logicalnz", "break_logicalz"]);
                    let component = self.condition();
                    out.push(fixed(&format!("{word} {component}")));
                }
                8 if place.continues => {
                    let word = self.pick(&["continue_logicalnz", "continuec_relop(lt) l2.x,"]);
                    let component = self.condition();
                    out.push(fixed(&format!("{word} {component}")));
                }
                9 if !place.callable.is_empty() && place.depth < 2 => {
                    let k = place.callable.start + self.random.below(place.callable.len());
                    let component = self.condition();
                    out.push(fixed(&match self.random.below(3) {
                        0 => format!("call_logicalnz {component}, {k}"),
                        1 => format!("call_logicalz {component}, {k}"),
                        _ => format!("call {k}"),
                    }));
                }
                10 if !place.main => {
                    let component = self.condition();
                    out.push(fixed(&format!("ret_logicalnz {component}")));
                }
                10 if self.shape.domain.is_some() && self.random.below(3) == 0 => {
                    let component = self.component();
                    out.push(fixed(&format!("discard_logicalnz {component}")));
                }
                11 if self.shape.meets() && (self.alike || place.main && place.depth == 0) => {
                    let mut meeting = Vec::new();
                    self.meeting(&mut meeting);
                    out.push(together(&meeting));
                }
                12..=14 if self.alike => out.push(self.flag()),
                12 if self.macros > 0 => {
                    let k = self.random.below(self.macros);
                    let (to, a, b) = (self.register(), self.register(), self.register());
                    out.push(fixed(&format!("mcall({k})({to}), ({a}, {b})")));
                }
                _ => out.push(Statement::Line(self.arithmetic())),
            }
        }
        out
    }

    fn choice(&mut self, place: &Place) -> Statement {
        let (a, b) = (self.condition(), self.condition());
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

    /// A register for the counter of a loop, which nothing else writes.
    pub(super) fn counter(&mut self) -> String {
        self.loops += 1;
        format!("r{}", 99 + self.loops)
    }

    /// At most four rounds, counted in a register of its own.
    fn repeat(&mut self, place: &Place) -> Statement {
        let counter = self.counter();
        let limit = self.condition();
        let open = format!(
            "mov {counter}.x, l0.x\niand {counter}.z, {limit}, l0.w\nwhileloop\n\
             ilt {counter}.y, {counter}.z, {counter}.x\nbreak_logicalnz {counter}.y\n\
             iadd {counter}.x, {counter}.x, l0.y\n"
        );
        let inner = Place { depth: place.depth + 1, breaks: true, continues: true, ..place.clone() };
        Statement::Block { open, arms: vec![(self.statements(6, inner), "endloop\n".into())], plain: false }
    }

    fn switch(&mut self, place: &Place) -> Statement {
        let selector = self.condition();
        let open = format!("iand r92.x, {selector}, l0.w\nswitch r92.x\ncase 0\ncase 7\n");
        let inner = Place { depth: place.depth + 1, breaks: true, continues: false, ..place.clone() };
        let after = ["case 1\n", "break\ndefault\n", "break\nendswitch\n"];
        let arms = after.map(|text| (self.statements(3, inner.clone()), text.to_owned())).into();
        Statement::Block { open, arms, plain: false }
    }
}

/// A line whose operands stay.
pub(super) fn fixed(text: &str) -> Statement {
    Statement::Line(Line { word: text.to_owned(), operands: Vec::new() })
}

/// Statements that stay together: an access with the computation of its address.
pub(super) fn together(statements: &[Statement]) -> Statement {
    let mut text = String::new();
    print(statements, &mut text);
    fixed(text.trim_end())
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
