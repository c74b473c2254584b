//! `.npy` arrays: rows, columns and, if three-dimensional, components.

use std::error::Error;

use recal::Format;
use recal_il::format::Encoding;

use crate::Outcome;
use crate::data::{Buffer, Shape};

/// Numbers of a `.npy` array that components of resources have, and the formats of one, two and four components.
#[rustfmt::skip]
const NUMBERS: [(&str, &[Format]); 9] = [
    ("<f4", &[Format::Float32x1, Format::Float32x2, Format::Float32x4]),
    ("<f8", &[Format::Float64x1, Format::Float64x2]),
    ("<f2", &[Format::Float16x1, Format::Float16x2, Format::Float16x4]),
    ("<u4", &[Format::UnsignedInt32x1, Format::UnsignedInt32x2, Format::UnsignedInt32x4]),
    ("<i4", &[Format::SignedInt32x1, Format::SignedInt32x2, Format::SignedInt32x4]),
    ("<u2", &[Format::UnsignedInt16x1, Format::UnsignedInt16x2, Format::UnsignedInt16x4]),
    ("<i2", &[Format::SignedInt16x1, Format::SignedInt16x2, Format::SignedInt16x4]),
    ("|u1", &[Format::UnsignedInt8x1, Format::UnsignedInt8x2, Format::UnsignedInt8x4]),
    ("|i1", &[Format::SignedInt8x1, Format::SignedInt8x2, Format::SignedInt8x4]),
];

/// What numbers a format's components are in memory; `None` if arrays have none like them.
pub(crate) fn numbers(format: Format) -> Option<&'static str> {
    match format.encoding() {
        Encoding::Raw32 if format.name().starts_with("FLOAT") => Some("<f4"),
        Encoding::Raw32 if format.name().starts_with('S') => Some("<i4"),
        Encoding::Raw32 => Some("<u4"),
        Encoding::Float64 => Some("<f8"),
        Encoding::Float16 => Some("<f2"),
        Encoding::Unorm8 | Encoding::Uint8 => Some("|u1"),
        Encoding::Snorm8 | Encoding::Sint8 => Some("|i1"),
        Encoding::Unorm16 | Encoding::Uint16 => Some("<u2"),
        Encoding::Snorm16 | Encoding::Sint16 => Some("<i2"),
        Encoding::Unorm565 | Encoding::Unorm555 | Encoding::Unorm10 => None,
    }
}

/// The array in the bytes of a file.
pub(crate) fn decode(content: &[u8]) -> Outcome<Buffer> {
    let bad = |what: String| Box::<dyn Error>::from(what);
    // The reader stops where the data begin.
    let mut data = content;
    let header = npyz::NpyHeader::from_reader(&mut data).map_err(|e| bad(e.to_string()))?;
    if header.order() != npyz::Order::C {
        return Err(bad("columns come first; save it in C order".into()));
    }
    let (rows, columns, components) = match header.shape()[..] {
        [columns] => (0, columns, 1),
        [rows, columns] => (rows, columns, 1),
        [rows, columns, components] => (rows, columns, components),
        ref shape => {
            return Err(bad(format!("{} dimensions; rows, columns and components are three", shape.len())));
        }
    };
    if header.shape().contains(&0) {
        return Err(bad("it has no elements".into()));
    }
    let kind = header.dtype().descr();
    let kind = kind.trim_matches('\'');
    let formats = NUMBERS.iter().find(|(name, _)| *name == kind).map(|(_, formats)| *formats);
    let format = formats.unwrap_or_default().iter().find(|f| u64::from(f.components()) == components);
    let Some(&format) = format else {
        let known: Vec<_> = NUMBERS.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        return Err(bad(format!(
            "no format holds {components} components of {kind}; there are 1, 2 or 4 of {known}"
        )));
    };
    let (width, height) = (u32::try_from(columns)?, u32::try_from(rows)?);
    let shape = Shape { width, height, format };
    if data.len() as u128 != shape.bytes() {
        return Err(bad(format!("{} bytes of data, but the shape has {}", data.len(), shape.bytes())));
    }
    Ok(Buffer { shape, bytes: data.to_vec() })
}

/// A buffer as a `.npy` array.
pub(crate) fn encode(buffer: &Buffer) -> Outcome<Vec<u8>> {
    let kind = numbers(buffer.shape.format).ok_or("no counterpart in .npy")?;
    let mut shape = vec![buffer.shape.width];
    if buffer.shape.height > 0 {
        shape.insert(0, buffer.shape.height);
    }
    if buffer.shape.format.components() > 1 {
        shape.push(buffer.shape.format.components());
    }
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes before it and a newline at its end make a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 11;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((length as u16 + 1).to_le_bytes());
    out.extend(format!("{header:<length$}\n").bytes());
    out.extend(&buffer.bytes);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_survive_a_file() {
        for (format, height) in [
            (Format::Float32x1, 3),
            (Format::Float32x2, 3),
            (Format::Float32x4, 3),
            (Format::UnsignedInt32x4, 3),
            (Format::SignedInt32x2, 3),
            (Format::Float64x1, 3),
            (Format::Float64x2, 3),
            (Format::Float32x1, 0),
            (Format::Float16x4, 3),
            (Format::UnsignedInt8x1, 3),
            (Format::SignedInt16x1, 0),
        ] {
            let bytes = (0..5 * u32::max(height, 1) * format.bytes()).map(|i| i as u8 & 0x3F).collect();
            let buffer = Buffer { shape: Shape { width: 5, height, format }, bytes };
            let file = encode(&buffer).unwrap();
            assert_eq!(decode(&file).unwrap(), buffer);
            assert!(file.len() - buffer.bytes.len() == 128, "{format:?}");
        }
        // What was UNORM comes back as plain integers.
        let shape = Shape { width: 5, height: 0, format: Format::UnormInt32x1 };
        let whole = encode(&Buffer { shape, bytes: vec![1; 20] }).unwrap();
        assert_eq!(decode(&whole).unwrap().shape.format, Format::UnsignedInt32x1);
        let refused = |file: &[u8]| decode(file).unwrap_err().to_string();
        let short = refused(&whole[..whole.len() - 1]);
        assert!(short.ends_with("19 bytes of data, but the shape has 20"), "{short}");
        for (from, to, told) in [
            ("(5, )", "(0, )", "no elements"),
            ("'<u4'", "'>u4'", "components of >u4"),
            ("(5, )", "(5,1,3)", "3 components of <u4"),
            ("(5, )", "(5,1,1,1)", "4 dimensions"),
            ("False", "True ", "C order"),
        ] {
            let text: String = whole[10..128].iter().map(|b| *b as char).collect();
            let header = format!("{:<117}\n", text.replace(from, to).trim_end());
            let said = refused(&[&whole[..10], header.as_bytes(), &whole[128..]].concat());
            assert!(said.contains(told), "{said}");
        }
        assert!(
            encode(&Buffer { shape: Shape { format: Format::UnormShort565, ..shape }, bytes: vec![0; 10] })
                .is_err()
        );
    }
}
