//! What a kernel declares: the slots that parameters fill.

use std::fmt;

use recal_il::ir::visit;
use recal_il::ir::{Dimension, MemoryInst, Program, Space, StmtKind, Uav};
use recal_il::isa::Opcode;
use recal_il::text::ast::{Argument, Ast, Number, Statement};

/// A name that the host binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    Input(u32),
    Constant(u32),
    Output(u32),
    Uav(u32),
    Global,
}

impl Symbol {
    /// The symbol of a word that is a name in Rust, too.
    pub(crate) fn of_word(word: &str) -> Option<Symbol> {
        if word == "g" {
            return Some(Symbol::Global);
        }
        let digits = word.find(|c: char| c.is_ascii_digit())?;
        let (class, number) = word.split_at(digits);
        let number = number.parse().ok()?;
        match class {
            "i" => Some(Symbol::Input(number)),
            "cb" => Some(Symbol::Constant(number)),
            "o" => Some(Symbol::Output(number)),
            "uav" => Some(Symbol::Uav(number)),
            _ => None,
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Input(n) => write!(f, "i{n}"),
            Symbol::Constant(n) => write!(f, "cb{n}"),
            Symbol::Output(n) => write!(f, "o{n}"),
            Symbol::Uav(n) => write!(f, "uav{n}"),
            Symbol::Global => f.write_str("g[]"),
        }
    }
}

/// How memory is addressed, so what it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One dimension.
    Line,
    /// Two.
    Rows,
    /// Either.
    Any,
    /// None that there is a type for.
    Other,
}

/// What a kernel declares of one symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) symbol: Symbol,
    pub(crate) shape: Shape,
    /// Integers, or numbers with fractions; `None` where any do.
    pub(crate) integers: Option<bool>,
    /// Bytes of a record; 0 if it has none.
    pub(crate) stride: u32,
    /// Components that an output has at most; 0 elsewhere.
    pub(crate) components: u32,
    /// Rows of a constant buffer.
    pub(crate) rows: u32,
    pub(crate) written: bool,
}

/// Everything that the host binds, in the order in which parameters take it.
pub(crate) fn slots(program: &Program, il: &str) -> Vec<Slot> {
    let declared = &program.declared;
    let slot = |symbol, shape| Slot {
        symbol,
        shape,
        integers: None,
        stride: 0,
        components: 0,
        rows: 0,
        written: false,
    };
    let mut inputs: Vec<Slot> = Vec::new();
    for (&n, resource) in &declared.resources {
        inputs.push(slot(Symbol::Input(n), shape_of(resource.dimension)));
    }
    for (&n, &stride) in &declared.srvs {
        inputs.push(Slot { stride, ..slot(Symbol::Input(n), Shape::Line) });
    }
    inputs.sort_by_key(|s| match s.symbol {
        Symbol::Input(n) => n,
        _ => 0,
    });
    let mut slots = inputs;
    for (&n, &rows) in &declared.constants {
        slots.push(Slot { rows, ..slot(Symbol::Constant(n), Shape::Line) });
    }
    for (&n, &mask) in &declared.outputs {
        let components = 8 - mask.leading_zeros();
        slots.push(Slot { components, written: true, ..slot(Symbol::Output(n), Shape::Any) });
    }
    for (&n, uav) in &declared.uavs {
        let symbol = Symbol::Uav(n);
        slots.push(match *uav {
            Uav::Typed { dimension } => slot(symbol, shape_of(dimension)),
            Uav::Structured { stride } => Slot { stride, ..slot(symbol, Shape::Line) },
            Uav::Raw | Uav::Arena => slot(symbol, Shape::Line),
        });
    }
    if declared.global {
        slots.push(slot(Symbol::Global, Shape::Line));
    }
    let ast = recal_il::text::parse(il.as_bytes()).unwrap_or_default();
    for slot in &mut slots {
        slot.written |= visit::program_has(program, &|kind| writes(kind, slot.symbol));
        slot.integers = ast.statements.iter().find_map(|s| integers(&ast, s, slot.symbol));
    }
    slots
}

fn shape_of(dimension: Dimension) -> Shape {
    match dimension {
        Dimension::D1 | Dimension::Buffer => Shape::Line,
        Dimension::D2 => Shape::Rows,
        Dimension::D3 | Dimension::D1Array | Dimension::D2Array => Shape::Other,
    }
}

/// What `_fmtx` of the declaration of `symbol` says.
fn integers(ast: &Ast, statement: &Statement, symbol: Symbol) -> Option<bool> {
    let (first, count) = statement.specifiers;
    let specifiers = ast.specifiers.get(first as usize..first as usize + usize::from(count))?;
    let argument = |name: &str| {
        let found = specifiers.iter().find(|s| s.name == name)?;
        ast.arguments.get(found.arguments.0 as usize).copied()
    };
    let Some(Argument::Number(Number::Integer { value, .. })) = argument("id") else { return None };
    let number = u32::try_from(value).ok()?;
    let about = match statement.opcode {
        Opcode::DclResource => Symbol::Input(number),
        Opcode::DclUav | Opcode::DclTypedUav => Symbol::Uav(number),
        _ => return None,
    };
    match argument("fmtx") {
        Some(Argument::Word("float")) if about == symbol => Some(false),
        Some(Argument::Word("uint" | "sint")) if about == symbol => Some(true),
        _ => None,
    }
}

/// Whether a statement writes memory, other than an output.
fn writes(kind: &StmtKind, symbol: Symbol) -> bool {
    match kind.memory() {
        Some(MemoryInst::GlobalStore { .. }) => symbol == Symbol::Global,
        Some(
            MemoryInst::TypedStore { uav, .. }
            | MemoryInst::RawStore { space: Space::Uav(uav), .. }
            | MemoryInst::Atomic { space: Space::Uav(uav), .. },
        ) => symbol == Symbol::Uav(*uav),
        _ => false,
    }
}
