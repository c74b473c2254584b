//! The instruction set: what each instruction is called, takes and means.
//!
//! `table` has one [`Row`] per instruction; [`lane`] has the meaning of every scalar operation, written over
//! [`Algebra`], and [`memory`] that of formats, texels and atomics; each backend provides an `Algebra` (the CPU computes, the Vulkan backend emits SPIR-V).

mod algebra;
pub mod lane;
mod meaning;
pub mod memory;
mod scalar;
mod table;

pub use algebra::Algebra;
pub use lane::LaneOp;
pub use meaning::{Access, Area, AtomicOp, Choice, Meaning, Memory, Vector, View};
pub use scalar::Scalar;
pub use table::{Opcode, TABLE};

/// What an instruction is about. Information for people and tools; the checker goes by [`Row::controls`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Category {
    Float,
    Flow,
    Select,
    Graphics,
    Misc,
    Decl,
    Texture,
    Memory,
    Bit,
    Int,
    Uint,
    Compare,
    Convert,
    Double,
    Gds,
    Uav,
    Lds,
    Sync,
    Int64,
}

/// Whether CAL kernels may contain the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Pixel or compute kernels may use it.
    Compute,
    /// Recognised, and refused by name: it needs a graphics pipeline or a DirectX 9 constant file.
    Graphics,
}

/// How source positions map to destination components (amd-il-alu 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VectorRule {
    /// `dst.c = f(src0.c, src1.c, …)` for every written component c.
    PerComponent,
    /// Reads position w of each source, writes one value to every written component.
    ScalarReplicated,
    /// Combines several positions, writes one value to every written component.
    Reduction,
    /// 64-bit operands at positions x (low word) and y (high word); result to the written pair.
    DoublePair,
    /// As documented for the instruction.
    Other,
}

/// The first hardware generation that has an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// R600, RV610, RV630, RV670.
    R600,
    /// RV770, RV710, RV730.
    R700,
    /// Cypress, Juniper, Redwood, Cedar.
    Evergreen,
    /// Cayman, Barts, Turks, Caicos and later.
    NorthernIslands,
}

/// One row of the instruction table.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub opcode: Opcode,
    /// Canonical spelling without specifiers, lower case.
    pub mnemonic: &'static str,
    /// Other accepted spellings.
    pub aliases: &'static [&'static str],
    /// Number in the binary form, where one is known.
    pub number: Option<u16>,
    /// Subject.
    pub category: Category,
    /// Number of destination register operands; they come first.
    pub destinations: u8,
    /// Number of source register operands.
    pub sources: u8,
    /// Specifiers and further operands: `_name(arg)` or `_name` is required, `[…]` optional, `{a|b}` exactly one,
    /// `[a|b]` at most one, `<name>` an operand that is a number or word (`[<int>]` may be missing).
    pub controls: &'static str,
    /// Usable in CAL kernels or graphics only.
    pub scope: Scope,
    /// Mapping of positions.
    pub rule: VectorRule,
    /// First hardware generation.
    pub family: Family,
    /// What it does: one sentence, then, where the sentence leaves something open, an empty line and more.
    pub doc: &'static str,
    /// Where the language reference describes it: part (`IL` for the language, `ALU` for arithmetic) and section.
    pub section: &'static str,
    /// How it becomes something that runs.
    pub meaning: Meaning,
}

impl Opcode {
    /// The table row of this instruction.
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// Canonical spelling.
    pub fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    /// What it does, in one sentence.
    pub fn doc(self) -> &'static str {
        self.row().doc.split("\n\n").next().unwrap_or_default().trim()
    }

    /// What the sentence leaves open, in words; empty where the meaning says all.
    pub fn details(self) -> String {
        let (_, details) = self.row().doc.split_once("\n\n").unwrap_or_default();
        details.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
