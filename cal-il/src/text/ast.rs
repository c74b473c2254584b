//! The syntax tree: a flat list of statements. Operands and specifiers live in shared arenas, so that a text of
//! a hundred thousand statements costs a handful of allocations.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Span};
pub use crate::inst::{Modifiers, Select, Write};
use crate::isa::Opcode;

/// A parsed kernel text: what was spelled, nothing resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// The version word.
    pub header: Header,
    /// Statements (those of macros before the header included) that stand before the version word.
    pub before_header: usize,
    /// All statements in textual order; the last one is `end`.
    pub statements: Vec<Statement>,
    /// Operands of all statements.
    pub operands: Vec<Operand>,
    /// Specifiers of all statements.
    pub specifiers: Vec<Specifier>,
    /// Arguments of all specifiers.
    pub arguments: Vec<Argument>,
    /// Words of graphics-only statements that no table lists, in lower case.
    pub words: Vec<String>,
    /// Findings that do not stop the parser.
    pub warnings: Vec<Diagnostic>,
}

/// The version word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Program type.
    pub stage: HeaderStage,
    /// Major and minor version, if spelled.
    pub version: Option<(u32, u32)>,
    /// `_mp`
    pub multipass: bool,
    /// `_rt`
    pub realtime: bool,
    /// Where.
    pub span: Span,
}

/// Program types that a version word can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HeaderStage {
    #[default]
    Pixel,
    Compute,
    Vertex,
    Geometry,
    Hull,
    Domain,
}

/// A statement: opcode word and operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statement {
    /// The instruction.
    pub opcode: Opcode,
    /// Destination scale as a power of two, −3 to 3.
    pub scale: i8,
    /// Destination `_sat`.
    pub saturate: bool,
    /// `_prec`: components marked precise.
    pub precise: u8,
    /// First specifier and number of specifiers.
    pub specifiers: (u32, u8),
    /// First operand and number of operands.
    pub operands: (u32, u32),
    /// The opcode word.
    pub word: Span,
    /// The whole statement.
    pub span: Span,
}

/// `_name(arguments)`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specifier {
    /// Canonical name without the underscore; empty for the bare `(id)` of macros.
    pub name: &'static str,
    /// First argument and number of arguments.
    pub arguments: (u32, u8),
    /// Where.
    pub span: Span,
}

/// An argument of a specifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A number.
    Number(Number),
    /// A word that the specifier defines, in canonical spelling.
    Word(&'static str),
    /// Any other word of a graphics-only specifier: index into [`Ast::words`].
    Other(u32),
}

/// A number as spelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer from −2^31 to 2^32 − 1.
    Integer {
        /// Value.
        value: i64,
        /// Spelled in hexadecimal.
        hex: bool,
    },
    /// Bits of a binary32 number: spelled with a point, an exponent or `f`.
    Float(u32),
}

impl Number {
    /// The 32-bit pattern that the number stands for.
    pub fn bits(self) -> u32 {
        match self {
            Self::Integer { value, .. } => value as u32,
            Self::Float(bits) => bits,
        }
    }

    /// The value as a float, whatever the spelling.
    pub fn as_f32(self) -> f32 {
        match self {
            Self::Integer { value, .. } => value as f32,
            Self::Float(bits) => f32::from_bits(bits),
        }
    }
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// What.
    pub kind: OperandKind,
    /// Where.
    pub span: Span,
}

/// Kinds of operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OperandKind {
    /// A register that is written.
    Destination {
        /// Register.
        register: Register,
        /// Mask.
        mask: [Write; 4],
    },
    /// A register that is read.
    Source {
        /// Register.
        register: Register,
        /// Swizzle, filled up to four positions.
        swizzle: [Select; 4],
        /// Positions spelled.
        given: u8,
        /// Modifiers.
        modifiers: Modifiers,
    },
    /// A number.
    Number(Number),
    /// Bits of `dcl_global_flags`.
    Flags(u8),
    /// A word of a graphics-only statement: index into [`Ast::words`].
    Word(u32),
}

/// A register as spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// File.
    pub file: File,
    /// Number, if spelled.
    pub number: Option<u32>,
    /// `[…]`
    pub index: Option<Index>,
}

/// `[base.component + offset]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// Register file, number, component.
    pub base: Option<(File, Option<u32>, u8)>,
    /// Added.
    pub offset: i32,
}

/// Register files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum File {
    /// `r`
    Temp,
    /// `l`
    Literal,
    /// `x`
    Array,
    /// `cb`
    Const,
    /// `icb`
    Immediate,
    /// `v`
    Input,
    /// `o`
    Output,
    /// `g`
    Global,
    Mem,
    /// `sr`
    Shared,
    /// `in`, macro parameter
    In,
    /// `out`, macro result
    Out,
    WinCoord,
    ObjIndex,
    TidInGrp,
    TidInGrpFlat,
    AbsTid,
    AbsTidFlat,
    ThreadGrpId,
    ThreadGrpIdFlat,
    /// `Tmr`
    Timer,
    /// A register of the graphics pipeline or of DirectX 9, by its number in the list of their names: always refused.
    Refused(u8),
}

impl Ast {
    /// Operands of a statement.
    pub fn operands(&self, statement: &Statement) -> &[Operand] {
        let (start, count) = statement.operands;
        &self.operands[start as usize..start as usize + count as usize]
    }

    /// Specifiers of a statement.
    pub fn specifiers(&self, statement: &Statement) -> &[Specifier] {
        let (start, count) = statement.specifiers;
        &self.specifiers[start as usize..start as usize + count as usize]
    }

    /// Arguments of a specifier.
    pub fn arguments(&self, specifier: &Specifier) -> &[Argument] {
        &self.arguments[Self::range(specifier.arguments)]
    }

    fn range((start, count): (u32, u8)) -> Range<usize> {
        start as usize..start as usize + count as usize
    }

    /// The same tree with every span and warning removed: what two texts that mean the same spelling share.
    #[must_use]
    pub fn without_spans(mut self) -> Self {
        self.header.span = Span::default();
        for s in &mut self.statements {
            s.span = Span::default();
            s.word = Span::default();
        }
        self.operands.iter_mut().for_each(|o| o.span = Span::default());
        self.specifiers.iter_mut().for_each(|s| s.span = Span::default());
        self.warnings.clear();
        self
    }
}
