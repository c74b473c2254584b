//! A conformance case: a kernel, what is bound, how many threads run, and the words that must be in memory
//! afterwards.
//!
//! A case is one text file, a valid kernel text whose comments carry the rest ([`parse`] has the grammar,
//! [`print()`] writes it back). Cases made by programs are the same type, built in memory.

mod data;
mod parse;
mod print;

pub use data::Want;
pub(crate) use data::order;
pub use parse::{ParseError, parse};
pub use print::print;

use recal_hal::{DomainParam, Extent, Format, Sampler};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// `family/name`, unique in the suite.
    pub name: String,
    /// The kernel text.
    pub text: String,
    /// Where the expected values come from: a document section, `softfloat`, `hand` …
    pub from: String,
    /// How many threads run; `None` for a case that is refused.
    pub extent: Option<Extent>,
    /// Memory, in order of declaration.
    pub buffers: Vec<Buffer>,
    /// Sampler states that differ from the default.
    pub samplers: Vec<(u32, Sampler)>,
    /// Corner values of interpolated inputs.
    pub params: Option<[DomainParam; 8]>,
    /// The compiler must refuse the kernel; the text occurs in the rule name or the message of an error.
    pub refused: Option<String>,
    /// What the device must have.
    pub needs: Needs,
    /// The expected words hold in faithful float mode only.
    pub faithful_only: bool,
    /// How many independent checks the case stands for: 1 for a hand-written one, forms times inputs for a
    /// generated one.
    pub checks: usize,
}

/// Capabilities a case depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// 64-bit floats.
    pub fp64: bool,
    /// Compute kernels and LDS.
    pub compute: bool,
}

/// A block of memory and where it is bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Slots; several for memory bound twice.
    pub slots: Vec<Slot>,
    /// Element format.
    pub format: Format,
    /// Elements per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes before the launch, rows packed without padding.
    pub initial: Vec<u8>,
    /// What must be there afterwards: byte offset in the packed rows and value. `None`: nothing may change.
    pub expected: Option<Vec<(usize, Want)>>,
}

impl Buffer {
    /// A buffer of one row.
    pub fn row(slot: Slot, format: Format, width: u32) -> Self {
        let initial = vec![0; width as usize * format.bytes() as usize];
        Buffer { slots: vec![slot], format, width, height: 1, initial, expected: None }
    }

    /// The same buffer with initial words.
    #[must_use]
    pub fn holding(mut self, words: &[u32]) -> Self {
        for (k, word) in words.iter().enumerate() {
            self.initial[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
        }
        self
    }

    /// The same buffer with expected words from its start on.
    #[must_use]
    pub fn expecting(mut self, words: impl IntoIterator<Item = Want>) -> Self {
        self.expected = Some(words.into_iter().enumerate().map(|(k, want)| (4 * k, want)).collect());
        self
    }

    /// Elements from one row to the next in memory.
    pub fn pitch(&self) -> u32 {
        if self.height > 1 { self.width.next_multiple_of(64) } else { self.width }
    }

    /// Where a byte of the packed rows is in memory, whose rows are at their pitch.
    pub fn place(&self, at: usize) -> usize {
        let row = self.row_bytes().max(1);
        at / row * self.pitch_bytes() + at % row
    }

    /// The initial bytes with rows at their pitch.
    pub fn spread(&self) -> Vec<u8> {
        let pitch = self.pitch_bytes();
        let mut bytes = vec![0; pitch * self.height as usize];
        for (k, row) in self.initial.chunks(self.row_bytes().max(1)).enumerate() {
            bytes[k * pitch..k * pitch + row.len()].copy_from_slice(row);
        }
        bytes
    }

    fn pitch_bytes(&self) -> usize {
        self.pitch() as usize * self.format.bytes() as usize
    }

    /// Bytes of one row without padding.
    pub fn row_bytes(&self) -> usize {
        self.width as usize * self.format.bytes() as usize
    }
}

/// A binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// `i#`
    Resource(u32),
    /// `cb#`
    Constant(u32),
    /// `o#`
    Output(u32),
    /// `uav#`
    Uav(u32),
    /// `g[]`
    Global,
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Slot::Resource(n) => write!(f, "i{n}"),
            Slot::Constant(n) => write!(f, "cb{n}"),
            Slot::Output(n) => write!(f, "o{n}"),
            Slot::Uav(n) => write!(f, "uav{n}"),
            Slot::Global => write!(f, "g"),
        }
    }
}

impl Slot {
    fn parse(word: &str) -> Option<Slot> {
        if word == "g" {
            return Some(Slot::Global);
        }
        let digits = word.find(|c: char| c.is_ascii_digit())?;
        let number = word[digits..].parse().ok()?;
        Some(match &word[..digits] {
            "i" => Slot::Resource(number),
            "cb" => Slot::Constant(number),
            "o" => Slot::Output(number),
            "uav" => Slot::Uav(number),
            _ => return None,
        })
    }
}
