//! The bytes of code, with what they are for.

use crate::NONE;

/// Code under construction.
#[derive(Clone, Default)]
pub struct Code {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// From which byte on they are for which step of their function, or [`NONE`].
    pub marks: Vec<(u32, u32)>,
    /// What is to stand behind the function.
    pub cold: Vec<Cold>,
}

/// Code that is rarely executed, which stands behind the function: what is executed each time lies together, and jumps over nothing.
#[derive(Clone, Default)]
pub struct Cold {
    pub code: Code,
    /// Jumps of the code before, and where here they lead.
    pub entries: Vec<(usize, usize)>,
    /// Where in the code before it goes on.
    pub back: usize,
}

impl Cold {
    /// Makes a jump of the code before lead here.
    pub fn enter(&mut self, jump: usize) {
        self.entries.push((jump, self.code.bytes.len()));
    }
}

impl Code {
    /// What follows is for a step, or for [`NONE`].
    pub fn is_for(&mut self, step: u32) {
        let at = self.bytes.len() as u32;
        match self.marks.last_mut() {
            Some((last, of)) if *last == at => *of = step,
            Some((_, of)) if *of == step => {}
            _ => self.marks.push((at, step)),
        }
    }

    /// What the bytes are for at the moment.
    pub fn step(&self) -> u32 {
        self.marks.last().map_or(NONE, |(_, step)| *step)
    }

    /// Appends code with its marks, and what is to stand behind it.
    pub fn append(&mut self, other: &Code) {
        let base = self.bytes.len();
        self.marks.extend(other.marks.iter().map(|&(at, step)| (base as u32 + at, step)));
        self.raw(&other.bytes);
        self.is_for(NONE);
        for cold in &other.cold {
            let entries = cold.entries.iter().map(|&(jump, to)| (base + jump, to)).collect();
            self.cold.push(Cold { code: cold.code.clone(), entries, back: base + cold.back });
        }
    }

    /// Makes code that is rarely executed: it goes on here.
    pub fn apart(&mut self, make: impl FnOnce(&mut Cold)) {
        let mut cold = Cold { back: self.bytes.len(), ..Cold::default() };
        cold.code.is_for(self.step());
        make(&mut cold);
        self.cold.push(cold);
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The same, and a number that belongs to them.
    pub fn raw_with(&mut self, bytes: &[u8], number: u32) {
        self.raw(bytes);
        self.raw(&number.to_le_bytes());
    }
}
