//! The bytes of code, with what they are for.

use crate::graph::NO;

/// Code under construction.
#[derive(Default)]
pub struct Code {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// From which byte on they are for which step of their function, or [`NO`].
    pub marks: Vec<(u32, u32)>,
}

impl Code {
    /// What follows is for a step, or for [`NO`].
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
        self.marks.last().map_or(NO, |(_, step)| *step)
    }

    /// Appends code with its marks.
    pub fn append(&mut self, bytes: &[u8], marks: &[(u32, u32)]) {
        let base = self.bytes.len() as u32;
        for &(at, step) in marks {
            self.marks.push((base + at, step));
        }
        self.raw(bytes);
        self.is_for(NO);
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
