//! Operands, numbers and words.

use std::fmt::{self, Display, Formatter};

use super::reader::{Found, Reader};
use super::{Form, Shown};
use crate::inst::{Fence, PositionKind};
use crate::ir::{
    AtomicAddress, AtomicOp, Builtin, Cond, Dimension, Id, InfoSource, Operand, Reg, Space, Stage, ThreadId,
    WideAtomic, Width,
};

/// The components by name.
const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

/// Words that stand for the values of a type without fields.
macro_rules! words {
    ($($type:ident ($what:literal) { $($value:ident = $word:literal),* $(,)? })*) => { $(
        impl Form for $type {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($type::$value => $word,)* })
            }

            fn parse(reader: &mut Reader<'_>) -> Found<Self> {
                reader.known($what, |word| match word { $($word => Some($type::$value),)* _ => None })
            }

            fn absent() -> Option<Self> {
                words!(@absent $type)
            }
        }
    )* };
    (@absent Width) => { Some(Width::Dwords) };
    (@absent $type:ident) => { None };
}

words! {
    Stage ("stage") { Pixel = "pixel", Compute = "compute" }
    PositionKind ("position") { Centre = "centre", Whole = "whole" }
    Dimension ("dimension") {
        D1 = "d1", D2 = "d2", D3 = "d3", Buffer = "buffer", D1Array = "d1_array", D2Array = "d2_array",
    }
    Width ("width") { Dwords = "dwords", U8 = "u8", I8 = "i8", U16 = "u16", I16 = "i16" }
    AtomicOp ("atomic operation") {
        Add = "add", Sub = "sub", RSub = "rsub", Min = "min", Max = "max", UMin = "umin", UMax = "umax",
        And = "and", Or = "or", Xor = "xor", Inc = "inc", Dec = "dec", MskOr = "mskor", Xchg = "xchg",
        CmpXchg = "cmpxchg",
    }
    ThreadId ("thread identifier") {
        InGroup = "vTidInGrp", InGroupFlat = "vTidInGrpFlat", Absolute = "vAbsTid",
        AbsoluteFlat = "vAbsTidFlat", Group = "vThreadGrpId", GroupFlat = "vThreadGrpIdFlat",
    }
}

macro_rules! numbers {
    ($($type:ident $what:literal $absent:expr;)*) => { $(
        impl Form for $type {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }

            fn parse(reader: &mut Reader<'_>) -> Found<Self> {
                reader.number($what, |text| text.parse().ok())
            }

            fn absent() -> Option<Self> {
                $absent
            }
        }
    )* };
}

numbers! {
    u8 "a number up to 255" None;
    u32 "a number" None;
    i8 "a number from -128 to 127" None;
    // Offsets.
    i32 "a whole number" Some(0);
    bool "`true` or `false`" Some(false);
}

/// A word: as a float where it looks like one, as a number where it is small.
fn print_word(word: u32, f: &mut Formatter<'_>) -> fmt::Result {
    let value = f32::from_bits(word);
    if (1e-9..1e9).contains(&value.abs()) {
        write!(f, "{value:?}f")
    } else if word < 1 << 16 {
        write!(f, "{word}")
    } else {
        write!(f, "0x{word:08X}")
    }
}

fn parse_word(reader: &mut Reader<'_>) -> Found<u32> {
    reader.number("a word", |text| match (text.strip_prefix("0x"), text.strip_suffix('f')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        // Not the words that Rust takes for floats.
        (_, Some(digits)) if !digits.ends_with(|c: char| c.is_ascii_alphabetic()) => {
            digits.parse().ok().map(f32::to_bits)
        }
        _ => text.parse().ok().or_else(|| text.parse().ok().map(|word: i32| word as u32)),
    })
}

/// Words of the immediate constant buffer.
impl Form for [u32; 4] {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operands = self.map(Operand::Imm);
        operands.print(f)
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let mut words = [0; 4];
        reader.expect(b'(')?;
        for (k, word) in words.iter_mut().enumerate() {
            if k > 0 {
                reader.expect(b',')?;
            }
            *word = parse_word(reader)?;
        }
        reader.expect(b')')?;
        Ok(words)
    }
}

macro_rules! lists {
    ($([$type:ty; $count:literal] $absent:expr;)*) => { $(
        impl Form for [$type; $count] {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                for (k, value) in self.iter().enumerate() {
                    f.write_str(if k == 0 { "(" } else { ", " })?;
                    value.print(f)?;
                }
                f.write_str(")")
            }

            fn parse(reader: &mut Reader<'_>) -> Found<Self> {
                reader.expect(b'(')?;
                let mut values = Vec::with_capacity($count);
                for k in 0..$count {
                    if k > 0 {
                        reader.expect(b',')?;
                    }
                    values.push(<$type>::parse(reader)?);
                }
                reader.expect(b')')?;
                values.try_into().map_err(|_| reader.wrong("another number of values".into()))
            }

            fn absent() -> Option<Self> {
                $absent
            }
        }
    )* };
}

lists! {
    [i8; 3] Some([0; 3]);
    [Operand; 2] None;
    [Operand; 3] None;
    [Operand; 4] None;
    [Part; 3] None;
    [Part; 4] None;
}

/// An operand that may be missing in a list.
#[derive(Clone, Copy, Debug)]
struct Part(Option<Operand>);

impl Form for Part {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(operand) => operand.print(f),
            None => f.write_str("_"),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        Ok(Part(if reader.takes(b'_') { None } else { Some(Operand::parse(reader)?) }))
    }
}

/// Sources of a store.
impl Form for [Option<Operand>; 4] {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.map(Part).print(f)
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        Ok(<[Part; 4]>::parse(reader)?.map(|part| part.0))
    }
}

macro_rules! optional {
    ($($type:ty),*) => { $(
        impl Form for Option<$type> {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    Some(value) => value.print(f),
                    None => f.write_str("_"),
                }
            }

            fn parse(reader: &mut Reader<'_>) -> Found<Self> {
                if reader.takes(b'_') { Ok(None) } else { <$type>::parse(reader).map(Some) }
            }

            fn absent() -> Option<Self> {
                Some(None)
            }
        }
    )* };
}

optional!(Operand, [Operand; 2], WideAtomic);

pub(super) fn print_register(reg: Reg, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{reg}")
}

/// The number behind a `%`.
pub(super) fn parse_register(reader: &mut Reader<'_>) -> Found<Reg> {
    reader.expect(b'%')?;
    u32::parse(reader).map(Reg)
}

/// `.x`
fn parse_component(reader: &mut Reader<'_>) -> Found<u8> {
    reader.expect(b'.')?;
    reader.known("component", |word| LETTERS.iter().position(|&letter| letter == word).map(|k| k as u8))
}

/// A name that ends in a number: `lds3`.
fn numbered<N: std::str::FromStr>(word: &str) -> Option<(&str, N)> {
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    let name = &word[..word.len() - digits.len()];
    Some((name, digits.parse().ok()?))
}

impl Form for Operand {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Reg(reg) => print_register(reg, f),
            Operand::Imm(word) => print_word(word, f),
            Operand::Const { buffer, row, component } => {
                write!(f, "cb{buffer}[{row}].{}", LETTERS[usize::from(component & 3)])
            }
            Operand::Builtin(builtin) => builtin.print(f),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        match reader.peek() {
            Some(b'%') => Ok(Operand::Reg(parse_register(reader)?)),
            Some(b'0'..=b'9' | b'-') => Ok(Operand::Imm(parse_word(reader)?)),
            _ => {
                if let Some(("cb", buffer)) = reader.peek_word().and_then(numbered) {
                    reader.word()?;
                    reader.expect(b'[')?;
                    let row = u32::parse(reader)?;
                    reader.expect(b']')?;
                    return Ok(Operand::Const { buffer, row, component: parse_component(reader)? });
                }
                Ok(Operand::Builtin(Builtin::parse(reader)?))
            }
        }
    }
}

/// Values of the launch that have no number and no component.
macro_rules! plain_builtins {
    ($($value:ident = $word:literal),*) => {
        fn plain_name(builtin: &Builtin) -> Option<&'static str> {
            match builtin {
                $(Builtin::$value => Some($word),)*
                Builtin::Thread(..) | Builtin::Position(_) | Builtin::Interpolant(..) | Builtin::Timer(_) => None,
            }
        }

        fn plain(word: &str) -> Option<Builtin> {
            match word { $($word => Some(Builtin::$value),)* _ => None }
        }
    };
}

plain_builtins!(ObjectIndex = "vObjIndex0", ComputeUnit = "cu_id", WaveSlot = "wave_id");

impl Form for Builtin {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = |c: &u8| LETTERS[usize::from(c & 3)];
        match self {
            Builtin::Thread(id, c) => write!(f, "{}.{}", Shown(id), letter(c)),
            Builtin::Position(c) => write!(f, "vWinCoord0.{}", letter(c)),
            Builtin::Interpolant(number, c) => write!(f, "v{number}.{}", letter(c)),
            Builtin::Timer(c) => write!(f, "Tmr.{}", letter(c)),
            Builtin::ObjectIndex | Builtin::ComputeUnit | Builtin::WaveSlot => {
                f.write_str(plain_name(self).unwrap_or_default())
            }
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let start = reader.place();
        let Some(word) = reader.peek_word() else {
            return Err(reader.wrong("expected an operand".into()));
        };
        if let Some(builtin) = plain(word) {
            reader.word()?;
            return Ok(builtin);
        }
        let value: fn(u8) -> Builtin = match word {
            "vWinCoord0" => Builtin::Position,
            "Tmr" => Builtin::Timer,
            _ => match numbered(word) {
                Some(("v", number)) => {
                    reader.word()?;
                    return Ok(Builtin::Interpolant(number, parse_component(reader)?));
                }
                _ => {
                    let id = ThreadId::parse(reader)
                        .map_err(|_| reader.wrong_since(start, format!("`{word}` is no operand")))?;
                    return Ok(Builtin::Thread(id, parse_component(reader)?));
                }
            },
        };
        reader.word()?;
        Ok(value(parse_component(reader)?))
    }
}

impl Form for Cond {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.nonzero { "" } else { "!" })?;
        self.operand.print(f)
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let nonzero = !reader.takes(b'!');
        Ok(Cond { operand: Operand::parse(reader)?, nonzero })
    }
}

impl Form for Id {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.base.print(f)?;
        self.index.map_or(Ok(()), |index| write!(f, "+{}", Shown(&index)))
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let base = u32::parse(reader)?;
        let index = if reader.takes(b'+') { Some(Operand::parse(reader)?) } else { None };
        Ok(Id { base, index })
    }
}

/// Names with a number behind.
macro_rules! numbered {
    ($($type:ident ($what:literal) { $($value:ident = $word:literal),* })*) => { $(
        impl Form for $type {
            fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self { $($type::$value(number) => write!(f, concat!($word, "{}"), number),)* }
            }

            fn parse(reader: &mut Reader<'_>) -> Found<Self> {
                reader.known($what, |word| match numbered(word)? {
                    $(($word, number) => Some($type::$value(number)),)*
                    _ => None,
                })
            }
        }
    )* };
}

numbered! {
    Space ("memory") { Uav = "uav", Srv = "srv", Lds = "lds", Gds = "gds" }
}

impl Form for InfoSource {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            InfoSource::Resource(id) => write!(f, "resource({})", Shown(id)),
            InfoSource::Uav(number) => write!(f, "uav{number}"),
            InfoSource::Srv(number) => write!(f, "srv{number}"),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        if reader.takes_word("resource") {
            reader.expect(b'(')?;
            let id = Id::parse(reader)?;
            reader.expect(b')')?;
            return Ok(InfoSource::Resource(id));
        }
        reader.known("buffer", |word| match numbered(word)? {
            ("uav", number) => Some(InfoSource::Uav(number)),
            ("srv", number) => Some(InfoSource::Srv(number)),
            _ => None,
        })
    }
}

impl Form for AtomicAddress {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AtomicAddress::Byte(address) => address.print(f),
            AtomicAddress::Texel(coord) => coord.print(f),
        }
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        match reader.peek() {
            Some(b'(') => <[Operand; 3]>::parse(reader).map(AtomicAddress::Texel),
            _ => Operand::parse(reader).map(AtomicAddress::Byte),
        }
    }
}

/// High words: source, second source, result.
impl Form for WideAtomic {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        [Part(Some(self.src)), Part(self.src2), Part(self.dst.map(Operand::Reg))].print(f)
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let start = reader.place();
        match <[Part; 3]>::parse(reader)? {
            [Part(Some(src)), Part(src2), Part(None)] => Ok(WideAtomic { src, src2, dst: None }),
            [Part(Some(src)), Part(src2), Part(Some(Operand::Reg(dst)))] => {
                Ok(WideAtomic { src, src2, dst: Some(dst) })
            }
            _ => {
                Err(reader.wrong_since(start, "expected a source, a source or `_`, a register or `_`".into()))
            }
        }
    }
}

/// What a fence orders, with `+` between; nothing for one that orders nothing.
impl Form for Fence {
    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, (name, _)) in self.iter_names().enumerate() {
            write!(f, "{}{}", if k == 0 { "" } else { "+" }, name.to_ascii_lowercase())?;
        }
        Ok(())
    }

    fn parse(reader: &mut Reader<'_>) -> Found<Self> {
        let mut fence = Fence::empty();
        if reader.peek().is_none() {
            return Ok(fence);
        }
        loop {
            fence |= reader.known("fence", |word| Fence::from_name(&word.to_ascii_uppercase()))?;
            if !reader.takes(b'+') {
                return Ok(fence);
            }
        }
    }
}

macro_rules! display {
    ($($type:ty),*) => { $(
        impl Display for $type {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.print(f)
            }
        }
    )* };
}

display!(Operand, Cond, Builtin, Id, Space);
