//! Where values are.

use crate::target::Base;

/// Where a value is.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub register: Option<u8>,
    pub slot: Option<u32>,
    /// In memory, too, but only the element that all lanes have.
    pub single: Option<(Base, u32)>,
    /// The same of what is a number in the first lane.
    pub word: Option<u32>,
    /// In memory, too: so many bytes from an address at a place on the stack.
    pub far: Option<(u32, u32)>,
    /// The same from an address in a register.
    pub near: Option<(Base, u32)>,
}

impl Place {
    /// It is nowhere.
    pub fn nowhere(&self) -> bool {
        let memory = self.single.is_some() || self.far.is_some() || self.near.is_some();
        self.register.is_none() && self.slot.is_none() && !memory
    }
}
