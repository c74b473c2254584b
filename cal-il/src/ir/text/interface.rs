//! What a program binds: an item a line, `name values`.
//!
//! A program has two lists, of what it touches and of what the kernel declares. They are nearly the same, so they are one list:
//! items of both, items marked `declared`, which nothing touches, and items marked `internal`, which passes added.

use std::collections::BTreeMap;
use std::fmt::{self, Formatter};

use super::reader::{Found, Reader};
use super::{Form, Shown};
use crate::inst::Interface;

/// A field of the interface: its items.
trait Items {
    fn items(&self) -> Vec<String>;
    /// Adds the item that comes next.
    fn add(&mut self, reader: &mut Reader<'_>) -> Found<()>;
}

impl<T: Form> Items for Option<T> {
    fn items(&self) -> Vec<String> {
        self.iter().map(|value| Shown(value).to_string()).collect()
    }

    fn add(&mut self, reader: &mut Reader<'_>) -> Found<()> {
        *self = Some(T::parse(reader)?);
        Ok(())
    }
}

impl<T: Form> Items for Vec<T> {
    fn items(&self) -> Vec<String> {
        self.iter().map(|value| Shown(value).to_string()).collect()
    }

    fn add(&mut self, reader: &mut Reader<'_>) -> Found<()> {
        self.push(T::parse(reader)?);
        Ok(())
    }
}

impl<T: Form> Items for BTreeMap<u32, T> {
    fn items(&self) -> Vec<String> {
        self.iter().map(|(number, value)| format!("{number} {}", Shown(value))).collect()
    }

    fn add(&mut self, reader: &mut Reader<'_>) -> Found<()> {
        let start = reader.place();
        let number = u32::parse(reader)?;
        match self.insert(number, T::parse(reader)?) {
            None => Ok(()),
            Some(_) => Err(reader.wrong_since(start, format!("number {number} again"))),
        }
    }
}

/// Sizes: 0 is nothing.
impl Items for u32 {
    fn items(&self) -> Vec<String> {
        if *self == 0 { Vec::new() } else { vec![self.to_string()] }
    }

    fn add(&mut self, reader: &mut Reader<'_>) -> Found<()> {
        *self = Form::parse(reader)?;
        Ok(())
    }
}

/// Said or not.
impl Items for bool {
    fn items(&self) -> Vec<String> {
        if *self { vec![String::new()] } else { Vec::new() }
    }

    fn add(&mut self, _: &mut Reader<'_>) -> Found<()> {
        *self = true;
        Ok(())
    }
}

/// Both directions from the list of fields; one that is forgotten does not compile.
macro_rules! fields {
    ($($field:ident)*) => {
        pub(super) fn print(interface: &Interface, declared: &Interface, f: &mut Formatter<'_>) -> fmt::Result {
            let Interface { $($field,)* } = interface;
            $(print_field(stringify!($field), $field, &declared.$field, f)?;)*
            Ok(())
        }

        /// Adds the item of a field; none if there is no such field.
        pub(super) fn add(interface: &mut Interface, field: &str, reader: &mut Reader<'_>) -> Option<Found<()>> {
            match field {
                $(stringify!($field) => Some(interface.$field.add(reader)),)*
                _ => None,
            }
        }
    };
}

fields! {
    group position interpolants outputs resources samplers constants immediates uavs srvs global arrays lds
    lds_dwords_per_thread gds shared counters
}

fn print_field(name: &str, here: &impl Items, declared: &impl Items, f: &mut Formatter<'_>) -> fmt::Result {
    let (here, declared) = (here.items(), declared.items());
    let mut line = |mark: &str, item: &str| {
        let space = if item.is_empty() { "" } else { " " };
        writeln!(f, "{mark}{name}{space}{item}")
    };
    let mut rest = declared.as_slice();
    for item in &here {
        match rest.iter().position(|other| other == item) {
            Some(at) => {
                rest[..at].iter().try_for_each(|item| line("declared ", item))?;
                rest = &rest[at + 1..];
                line("", item)?;
            }
            None => line("internal ", item)?,
        }
    }
    rest.iter().try_for_each(|item| line("declared ", item))
}
