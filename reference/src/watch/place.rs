//! Memory as a kernel names it, and places in it as the kernel counts them.

use std::fmt;

/// Memory as a kernel names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// `i#`: a texture or a read-only buffer.
    Resource(u32),
    /// `cb#`
    Constant(u32),
    /// `icb`
    Immediate,
    /// `x#`
    Array(u32),
    /// `g[]`
    Global,
    /// `uav#`
    Uav(u32),
    /// A block of LDS by its id.
    Lds(u32),
    /// The part of LDS that each thread owns (R700).
    OwnLds,
    /// A block of GDS by its id.
    Gds(u32),
    /// `sr#`
    Shared(u32),
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Area::Resource(n) => write!(f, "i{n}"),
            Area::Constant(n) => write!(f, "cb{n}"),
            Area::Immediate => f.write_str("icb"),
            Area::Array(n) => write!(f, "x{n}"),
            Area::Global => f.write_str("g"),
            Area::Uav(n) => write!(f, "uav{n}"),
            Area::Lds(n) => write!(f, "lds{n}"),
            Area::OwnLds => f.write_str("lds"),
            Area::Gds(n) => write!(f, "gds{n}"),
            Area::Shared(n) => write!(f, "sr{n}"),
        }
    }
}

/// A place in an area, as the kernel gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// Byte address.
    Byte(u32),
    /// Element of four components.
    Element(i64),
    /// Column and row.
    Texel([i64; 2]),
    /// Coordinates of a sample.
    Coordinate([f32; 2]),
    /// Owner and dword of R700 LDS.
    Owned(u32, u64),
    /// The area is one register.
    Whole,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Byte(n) => write!(f, "[byte {n}]"),
            At::Element(n) => write!(f, "[{n}]"),
            At::Texel([x, y]) => write!(f, "({x}, {y})"),
            At::Coordinate([u, v]) => write!(f, "({u:?}, {v:?})"),
            At::Owned(thread, dword) => write!(f, "[thread {thread}, dword {dword}]"),
            At::Whole => Ok(()),
        }
    }
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one.
    Atomic,
}
