//! Names of what a kernel binds: `i0`, `o0`, `cb0`, `uav0`, `g[]`, `s0` (CAL 1.4, section 4.1 of the reference).

use std::fmt;
use std::str::FromStr;

/// Something that a kernel declares and the host binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// `i#`: input.
    Input(u32),
    /// `o#`: output.
    Output(u32),
    /// `cb#`: constant buffer.
    Constant(u32),
    /// `uav#`
    Uav(u32),
    /// `g[]`
    Global,
    /// `s#`: sampler; takes parameters, not memory.
    Sampler(u32),
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Input(n) => write!(f, "i{n}"),
            Symbol::Output(n) => write!(f, "o{n}"),
            Symbol::Constant(n) => write!(f, "cb{n}"),
            Symbol::Uav(n) => write!(f, "uav{n}"),
            Symbol::Global => f.write_str("g[]"),
            Symbol::Sampler(n) => write!(f, "s{n}"),
        }
    }
}

impl FromStr for Symbol {
    type Err = ();

    /// Exactly as written by [`fmt::Display`]: lower case, no padding, no leading zeros.
    fn from_str(text: &str) -> Result<Symbol, ()> {
        if text == "g[]" {
            return Ok(Symbol::Global);
        }
        let digits = text.find(|c: char| c.is_ascii_digit()).ok_or(())?;
        let (class, number) = text.split_at(digits);
        if number.len() > 1 && number.starts_with('0') || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(());
        }
        let number = number.parse().map_err(|_| ())?;
        match class {
            "i" => Ok(Symbol::Input(number)),
            "o" => Ok(Symbol::Output(number)),
            "cb" => Ok(Symbol::Constant(number)),
            "uav" => Ok(Symbol::Uav(number)),
            "s" => Ok(Symbol::Sampler(number)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exact() {
        for (text, symbol) in [
            ("i0", Symbol::Input(0)),
            ("o7", Symbol::Output(7)),
            ("cb15", Symbol::Constant(15)),
            ("uav11", Symbol::Uav(11)),
            ("g[]", Symbol::Global),
            ("s3", Symbol::Sampler(3)),
        ] {
            assert_eq!(text.parse(), Ok(symbol));
            assert_eq!(symbol.to_string(), text);
        }
        for text in
            ["", "i", "I0", "i00", "i 0", " i0", "i0 ", "x1", "g", "g[0]", "cb-1", "i99999999999", "é0"]
        {
            assert_eq!(text.parse::<Symbol>(), Err(()), "{text:?}");
        }
    }
}
