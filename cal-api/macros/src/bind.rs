//! Which parameter is what of the kernel, and whether it can be.

use proc_macro2::Span;
use quote::ToTokens;
use recal_il::ir::Program;
use syn::{Error, Result, Type};

use crate::declared::{self, Shape, Slot, Symbol};
use crate::parse::{Function, Kind, Memory, Parameter};

/// What a parameter is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// Memory of a symbol. `asks`: its elements, of a type that is not known here, are to be integers or not.
    Memory { slot: Slot, asks: Option<bool> },
    /// A row of a constant buffer.
    Row { buffer: u32 },
}

/// Finds what each parameter is, in their order.
pub(crate) fn bind(function: &Function, program: &Program) -> Result<Vec<Bound>> {
    if let Some(n) = program.declared.interpolants.first() {
        let why =
            format!("the kernel uses `v{n}`, which is interpolated: `Context::run_with_params` runs it");
        return Err(Error::new(function.text.span(), why));
    }
    let slots = declared::slots(program, &function.text.il);
    let mut taken = vec![false; slots.len()];
    let mut bound: Vec<Option<Bound>> = vec![None; function.parameters.len()];
    for (parameter, bound) in function.parameters.iter().zip(&mut bound) {
        match &parameter.kind {
            Kind::Value => {
                let buffer = buffer_of(parameter)?;
                let at = slots.iter().position(|s| s.symbol == Symbol::Constant(buffer));
                let at = at.ok_or_else(|| {
                    let why =
                        format!("the kernel has no `cb{buffer}`, which `{}` would be in", parameter.name);
                    Error::new(parameter.name.span(), why)
                })?;
                taken[at] = true;
                *bound = Some(Bound::Row { buffer });
            }
            Kind::Memory(memory) => {
                let Some(at) = named(parameter, &slots)? else { continue };
                if std::mem::replace(&mut taken[at], true) {
                    let why = format!("`{}` has another parameter already", slots[at].symbol);
                    return Err(Error::new(place(parameter), why));
                }
                *bound = Some(checked(parameter, memory, slots[at])?);
            }
        }
    }
    for (parameter, bound) in function.parameters.iter().zip(&mut bound) {
        let (Kind::Memory(memory), None) = (&parameter.kind, &bound) else { continue };
        let free = (0..slots.len()).find(|&at| !taken[at] && slots[at].written == memory.written);
        let Some(at) = free else {
            let (verb, known) = match memory.written {
                true => ("writes", listed(slots.iter().filter(|s| s.written))),
                false => ("reads", listed(slots.iter().filter(|s| !s.written))),
            };
            let why =
                format!("nothing is left that the kernel {verb} and `{}` could be: {known}", parameter.name);
            return Err(Error::new(parameter.name.span(), why));
        };
        taken[at] = true;
        *bound = Some(checked(parameter, memory, slots[at])?);
    }
    let left: Vec<&Slot> = slots.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(s, _)| s).collect();
    if !left.is_empty() {
        let why = format!("the kernel also has {}, without a parameter", listed(left.into_iter()));
        return Err(Error::new(function.name.span(), why));
    }
    let bound: Vec<Bound> = bound.into_iter().flatten().collect();
    for slot in &slots {
        let Symbol::Constant(number) = slot.symbol else { continue };
        let rows = bound.iter().filter(|b| matches!(b, Bound::Row { buffer } if *buffer == number)).count();
        if rows != 0 && rows as u32 != slot.rows {
            let why = format!(
                "`cb{number}[{}]` is declared, but there are {rows} values for it: each takes a row",
                slot.rows
            );
            return Err(Error::new(function.name.span(), why));
        }
    }
    Ok(bound)
}

fn listed<'s>(slots: impl Iterator<Item = &'s Slot>) -> String {
    let names: Vec<String> = slots.map(|s| format!("`{}`", s.symbol)).collect();
    match names.is_empty() {
        true => "it has nothing of the kind".to_owned(),
        false => names.join(", "),
    }
}

fn place(parameter: &Parameter) -> Span {
    parameter.symbol.as_ref().unwrap_or(&parameter.name).span()
}

/// The constant buffer that a value is in.
fn buffer_of(parameter: &Parameter) -> Result<u32> {
    match &parameter.symbol {
        None => Ok(0),
        Some(word) => match Symbol::of_word(&word.to_string()) {
            Some(Symbol::Constant(n)) => Ok(n),
            _ => {
                Err(Error::new(word.span(), format!("a value is in a constant buffer, and `{word}` is none")))
            }
        },
    }
}

/// The slot that a parameter names.
fn named(parameter: &Parameter, slots: &[Slot]) -> Result<Option<usize>> {
    let word = parameter.symbol.as_ref().unwrap_or(&parameter.name).to_string();
    let at = Symbol::of_word(&word).and_then(|symbol| slots.iter().position(|s| s.symbol == symbol));
    match (at, &parameter.symbol) {
        (None, Some(word)) => {
            let why = format!("the kernel has no `{word}`; it has {}", listed(slots.iter()));
            Err(Error::new(word.span(), why))
        }
        _ => Ok(at),
    }
}

/// The binding, if the type is what the kernel declares.
fn checked(parameter: &Parameter, memory: &Memory, slot: Slot) -> Result<Bound> {
    let symbol = slot.symbol;
    let error = |why: String| Err(Error::new_spanned(&parameter.written, why));
    let name = if memory.image { "Image" } else { "Buffer" };
    match (memory.written, slot.written) {
        (false, true) => return error(format!("the kernel writes `{symbol}`: it takes `&mut {name}`")),
        (true, false) => return error(format!("the kernel only reads `{symbol}`: it takes `&{name}`")),
        _ => {}
    }
    match (slot.shape, memory.image) {
        (Shape::Line, true) => {
            return error(format!("`{symbol}` is declared with one dimension: it takes a `Buffer`"));
        }
        (Shape::Rows, false) => {
            return error(format!("`{symbol}` is declared with two dimensions: it takes an `Image`"));
        }
        (Shape::Other, _) => {
            return error(format!("`{symbol}` is declared with a shape that no type here has"));
        }
        _ => {}
    }
    let Some(element) = Element::of(&memory.element) else {
        return Ok(Bound::Memory { slot, asks: slot.integers });
    };
    match slot.integers {
        Some(true) if !element.integers => {
            return error(format!(
                "`{symbol}` is declared as integers (`_fmtx`), and {} is of floats",
                element.name
            ));
        }
        Some(false) if element.integers => {
            return error(format!(
                "`{symbol}` is declared as floats (`_fmtx`), and {} is of integers",
                element.name
            ));
        }
        _ => {}
    }
    if slot.stride != 0 && slot.stride % element.bytes != 0 {
        let (stride, bytes) = (slot.stride, element.bytes);
        return error(format!(
            "records of `{symbol}` have {stride} bytes, which are no whole elements of {bytes}"
        ));
    }
    if slot.components != 0 && element.words > slot.components {
        let written = &"xyzw"[..slot.components as usize];
        return error(format!(
            "the kernel writes no more of `{symbol}` than `{written}`, and {} has more components",
            element.name
        ));
    }
    Ok(Bound::Memory { slot, asks: None })
}

/// An element's type that is known by name.
struct Element {
    name: String,
    integers: bool,
    bytes: u32,
    /// Components that it has in a kernel: of an `f64` two.
    words: u32,
}

impl Element {
    fn of(ty: &Type) -> Option<Element> {
        let name: String = ty.to_token_stream().to_string().split_whitespace().collect();
        let (number, count) = match name.strip_prefix('[') {
            None => (name.as_str(), 1),
            Some(rest) => {
                let (number, count) = rest.strip_suffix(']')?.split_once(';')?;
                (number, count.parse().ok()?)
            }
        };
        let (integers, bytes, words) = match number {
            "f32" => (false, 4, 1),
            "f64" => (false, 8, 2),
            "i32" | "u32" => (true, 4, 1),
            "i16" | "u16" => (true, 2, 1),
            "i8" | "u8" => (true, 1, 1),
            _ => return None,
        };
        let shown = format!("`{}`", name.replace(';', "; "));
        Some(Element { name: shown, integers, bytes: bytes * count, words: words * count })
    }
}
