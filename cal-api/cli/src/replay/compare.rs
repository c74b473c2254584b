//! Contents of a resource, twice: which elements differ.

use recal::Format;
use recal::capture::Held;
use serde_json::{Value, json};

use crate::Outcome;

/// Elements of which the bits differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// How many, of how many.
    pub(super) elements: [u64; 2],
    /// Column and row of the first.
    pub(super) at: [u32; 2],
    /// Its first component that differs; none in packed formats.
    pub(super) component: Option<u32>,
    /// The bits of that.
    pub(super) bits: [u64; 2],
    /// Bits of a component or, in packed formats, of an element.
    pub(super) width: u32,
    float: bool,
}

/// The difference between two contents, all rows to the pitch.
pub(super) fn compare(held: &Held, first: &[u8], second: &[u8]) -> Outcome<Option<Difference>> {
    if first.len() != second.len() {
        let symbols = held.symbols.join(", ");
        return Err(format!("{symbols}: {} bytes against {}", first.len(), second.len()).into());
    }
    let format = Format::named(&held.format).ok_or_else(|| format!("there is no format {}", held.format))?;
    let size = format.bytes() as usize;
    let pairs = || first.chunks_exact(size).zip(second.chunks_exact(size));
    let Some(at) = pairs().position(|(a, b)| a != b) else { return Ok(None) };
    let count = pairs().filter(|(a, b)| a != b).count() as u64;
    let element = size * at..size * (at + 1);
    let (a, b) = (&first[element.clone()], &second[element]);
    // 565 and 10-10-10 have components that are no bytes.
    let packed = matches!(format, Format::UnormShort565 | Format::UnormShort555 | Format::UnormInt10x3);
    let part = if packed { size } else { size / format.components() as usize };
    let component = a.chunks(part).zip(b.chunks(part)).position(|(a, b)| a != b).unwrap_or_default();
    let bits = [a, b].map(|element| {
        let bytes = &element[component * part..(component + 1) * part];
        bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    });
    Ok(Some(Difference {
        elements: [count, (first.len() / size) as u64],
        at: [at as u32 % held.pitch, at as u32 / held.pitch],
        component: (!packed).then_some(component as u32),
        bits,
        width: 8 * part as u32,
        float: !packed && held.format.starts_with("FLOAT"),
    }))
}

impl Difference {
    /// `.y`, or nothing.
    pub(super) fn name(&self) -> &'static str {
        self.component.and_then(|n| [".x", ".y", ".z", ".w"].get(n as usize).copied()).unwrap_or("")
    }

    /// The bits, and as a number where they are a float.
    fn value(&self, bits: u64) -> String {
        let digits = self.width as usize / 4;
        match (self.float, self.width) {
            (true, 32) => format!("0x{bits:0digits$x} ({:?})", f32::from_bits(bits as u32)),
            (true, 64) => format!("0x{bits:0digits$x} ({:?})", f64::from_bits(bits)),
            _ => format!("0x{bits:0digits$x}"),
        }
    }

    pub(super) fn text(&self, first: &str, second: &str) -> String {
        let ([count, of], [x, y], name) = (self.elements, self.at, self.name());
        let [a, b] = self.bits.map(|bits| self.value(bits));
        format!("{count} of {of} elements differ, the first at ({x}, {y}){name}: {first} {a}, {second} {b}")
    }

    pub(super) fn json(&self) -> Value {
        let digits = self.width as usize / 4;
        let hex = self.bits.map(|bits| format!("0x{bits:0digits$x}"));
        json!({
            "elements": self.elements[0], "of": self.elements[1], "at": self.at, "component": self.component, "bits": hex,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(format: Format, width: u32, pitch: u32) -> Held {
        let (symbols, format) = (vec!["o0".into()], format.name().into());
        Held { symbols, width, height: 2, pitch, format, data: None, error: None }
    }

    #[test]
    fn the_first_element_and_component_are_found() {
        let held = held(Format::Float32x4, 3, 4);
        let first = vec![0u8; 4 * 2 * 16];
        assert_eq!(compare(&held, &first, &first).unwrap(), None);
        let mut second = first.clone();
        // Row 1, column 2, component y; and another behind it.
        second[(4 + 2) * 16 + 4..][..4].copy_from_slice(&2.5f32.to_le_bytes());
        second[(4 + 3) * 16] = 1;
        let found = compare(&held, &first, &second).unwrap().unwrap();
        assert_eq!((found.elements, found.at, found.component), ([2, 8], [2, 1], Some(1)));
        let text = found.text("here", "there");
        assert!(text.ends_with("(2, 1).y: here 0x00000000 (0.0), there 0x40200000 (2.5)"), "{text}");
        assert!(compare(&held, &first, &second[1..]).is_err());
    }

    #[test]
    fn elements_of_packed_formats_are_whole() {
        for &format in Format::ALL {
            let size = format.bytes() as usize;
            let held = held(format, 2, 2);
            let first = vec![0u8; size * 4];
            let mut second = first.clone();
            *second.last_mut().unwrap() = 0x80;
            let found = compare(&held, &first, &second).unwrap().unwrap();
            assert_eq!(found.at, [1, 1], "{format:?}");
            assert_eq!(found.bits[1], 1 << (found.width - 1), "{format:?}");
        }
    }
}
