//! What is bound on the command line: files, constants, empty buffers.
//!
//! `i0=in.npy`, `i0=in.raw:64x64:float32_4`, `cb0=1,2.5,0x10,-3i`, `o0=64x64:float32_4`. A `.npy` array has rows, columns and,
//! if three-dimensional, components.

use std::error::Error;
use std::path::{Path, PathBuf};

use recal::{Device, Format, Module, Place, Resource};
use recal_il::format::Encoding;

use crate::{Outcome, read, write};

/// Memory for one symbol.
#[derive(Debug, PartialEq)]
pub(crate) struct Buffer {
    pub(crate) width: u32,
    /// 0 = one-dimensional.
    pub(crate) height: u32,
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
}

/// Contents for a symbol, before they are read.
#[derive(Debug, PartialEq)]
pub(crate) enum Source {
    Npy(PathBuf),
    Raw(PathBuf, Shape),
    Words(Vec<u32>),
    Zeros(Shape),
}

/// `64x64:float32_4`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    width: u32,
    height: u32,
    format: Format,
}

/// A symbol and what it gets.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) symbol: String,
    pub(crate) text: String,
}

/// A symbol and the memory that it got.
pub(crate) struct Bound {
    symbol: String,
    resource: Resource,
    height: u32,
}

/// Allocates, fills and binds what the command line says.
pub(crate) fn bind(device: &Device, module: &Module, bindings: &[Binding]) -> Outcome<Vec<Bound>> {
    let mut bound = Vec::new();
    for binding in bindings {
        let named = |e: recal::Error| format!("--bind {}: {e}", binding.symbol);
        let buffer = source(&binding.text)?.load()?;
        let resource = match buffer.height {
            0 => device.allocate_buffer(buffer.width, buffer.format, Place::Local),
            height => device.allocate_2d(buffer.width, height, buffer.format, Place::Local),
        }
        .map_err(named)?;
        let row = (buffer.width * buffer.format.bytes()) as usize;
        for (to, from) in resource.map::<u8>()?.rows_mut().zip(buffer.bytes.chunks(row)) {
            to.copy_from_slice(from);
        }
        module.bind(&binding.symbol, &resource).map_err(named)?;
        bound.push(Bound { symbol: binding.symbol.clone(), resource, height: buffer.height });
    }
    Ok(bound)
}

/// What is to be saved where.
pub(crate) fn saves<'b>(texts: &[String], bound: &'b [Bound]) -> Outcome<Vec<(&'b Bound, PathBuf)>> {
    let mut saves = Vec::new();
    for save in texts {
        let (symbol, path) = save.split_once('=').ok_or("--save: expected NAME=FILE")?;
        let bound = bound.iter().find(|b| b.symbol == symbol);
        let bound = bound.ok_or_else(|| format!("--save: `{symbol}` is not bound"))?;
        // Before the work, not after it.
        savable(Path::new(path), bound.resource.format())?;
        saves.push((bound, PathBuf::from(path)));
    }
    Ok(saves)
}

impl Bound {
    /// Writes the memory to a file.
    pub(crate) fn save(&self, path: &Path) -> Outcome {
        let bytes = self.resource.map::<u8>()?.rows().flatten().copied().collect();
        let (width, format) = (self.resource.width(), self.resource.format());
        save(path, &Buffer { width, height: self.height, format, bytes })
    }
}

pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    let (symbol, text) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    source(text)?;
    Ok(Binding { symbol: symbol.to_owned(), text: text.to_owned() })
}

pub(crate) fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// Width, or width and height.
pub(crate) fn extent(text: &str) -> Result<(u32, u32), String> {
    match text.split_once('x') {
        Some((w, h)) => Ok((number(w)?, number(h)?)),
        None => Ok((number(text)?, 0)),
    }
}

fn shape(text: &str) -> Result<Shape, String> {
    let (extent_text, format) = text.split_once(':').ok_or("expected WIDTH[xHEIGHT]:FORMAT")?;
    let (width, height) = extent(extent_text)?;
    Ok(Shape { width, height, format: self::format(format)? })
}

/// A format by its name in any case, without `CAL_FORMAT_`.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    let upper = text.to_ascii_uppercase();
    let format = Format::ALL.iter().copied().find(|f| f.name() == upper);
    format.ok_or_else(|| {
        let names: Vec<String> =
            Format::ALL.iter().map(|format| format.name().to_ascii_lowercase()).collect();
        format!("no format is called `{text}`; there are {}", names.join(", "))
    })
}

/// `2.5` is a float, `7i` and `0x1f` are integers.
fn word(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let bad = |_| format!("`{text}` is not a number");
    if let Some(hex) = text.strip_prefix("0x") {
        u32::from_str_radix(hex, 16).map_err(bad)
    } else if let Some(integer) = text.strip_suffix('i') {
        integer.parse::<i32>().map(|i| i as u32).map_err(bad)
    } else {
        text.parse::<f32>().map(f32::to_bits).map_err(|_| format!("`{text}` is not a number"))
    }
}

pub(crate) fn source(text: &str) -> Result<Source, String> {
    if text.ends_with(".npy") {
        return Ok(Source::Npy(text.into()));
    }
    if let Some((first, rest)) = text.split_once(':') {
        return match extent(first) {
            Ok(_) => shape(text).map(Source::Zeros),
            Err(_) => Ok(Source::Raw(first.into(), shape(rest)?)),
        };
    }
    let words: Result<Vec<_>, _> = text.split(',').map(word).collect();
    words.map(Source::Words).map_err(|error| match extent(text) {
        Ok(_) => format!("a shape has a format, e.g. {text}:float32_4"),
        Err(_) => error,
    })
}

impl Source {
    pub(crate) fn load(&self) -> Outcome<Buffer> {
        match self {
            Source::Npy(path) => npy(path),
            Source::Raw(path, shape) => {
                let bytes = read(path)?;
                let buffer = shape.zeros();
                if bytes.len() != buffer.bytes.len() {
                    let (is, wanted) = (bytes.len(), buffer.bytes.len());
                    return Err(format!("{}: {is} bytes, but the shape has {wanted}", path.display()).into());
                }
                Ok(Buffer { bytes, ..buffer })
            }
            Source::Words(words) => {
                let mut words = words.clone();
                words.resize(words.len().next_multiple_of(4), 0);
                let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                Ok(Buffer { width: words.len() as u32 / 4, height: 0, format: Format::Float32x4, bytes })
            }
            Source::Zeros(shape) => Ok(shape.zeros()),
        }
    }
}

impl Shape {
    fn bytes(self) -> u64 {
        u64::from(self.width) * u64::from(self.height.max(1)) * u64::from(self.format.bytes())
    }

    fn zeros(self) -> Buffer {
        let bytes = vec![0; self.bytes() as usize];
        Buffer { width: self.width, height: self.height, format: self.format, bytes }
    }
}

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

/// What numbers a format's components are in memory.
fn numbers(format: Format) -> Option<&'static str> {
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

fn npy(path: &Path) -> Outcome<Buffer> {
    let bad = |what: String| Box::<dyn Error>::from(format!("{}: {what}", path.display()));
    let content = read(path)?;
    // The reader stops where the data begin.
    let mut data = &content[..];
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
    let wanted = Shape { width, height, format }.bytes();
    if data.len() as u64 != wanted {
        return Err(bad(format!("{} bytes of data, but the shape has {wanted}", data.len())));
    }
    Ok(Buffer { width, height, format, bytes: data.to_vec() })
}

/// Whether a buffer of a format can be saved under a name: `.npy` has no counterpart of some formats.
fn savable(path: &Path, format: Format) -> Outcome {
    if is_npy(path) && numbers(format).is_none() {
        let name = format.name();
        return Err(format!("{}: {name} has no counterpart in .npy; write raw bytes", path.display()).into());
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("{}: there is no folder {}", path.display(), folder.display()).into())
        }
        _ => Ok(()),
    }
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "npy")
}

/// Writes a buffer as `.npy`, if the name says so, else as raw bytes.
fn save(path: &Path, buffer: &Buffer) -> Outcome {
    savable(path, buffer.format)?;
    let Some(kind) = numbers(buffer.format).filter(|_| is_npy(path)) else {
        return write(path, &buffer.bytes);
    };
    let mut shape = vec![buffer.width];
    if buffer.height > 0 {
        shape.insert(0, buffer.height);
    }
    if buffer.format.components() > 1 {
        shape.push(buffer.format.components());
    }
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes before it and a newline at its end make a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 11;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((length as u16 + 1).to_le_bytes());
    out.extend(format!("{header:<length$}\n").bytes());
    out.extend(&buffer.bytes);
    write(path, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        assert_eq!(source("1,0x10,-3i"), Ok(Source::Words(vec![0x3F80_0000, 16, 0xFFFF_FFFD])));
        let shape = Shape { width: 8, height: 4, format: Format::Float32x4 };
        assert_eq!(source("8x4:float32_4"), Ok(Source::Zeros(shape)));
        assert_eq!(source("in.raw:8x4:FLOAT32_4"), Ok(Source::Raw("in.raw".into(), shape)));
        assert_eq!(source("a.npy"), Ok(Source::Npy("a.npy".into())));
        for bad in ["", "x", "8x4:float3", "in.raw:8x4", "1,two"] {
            assert!(source(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn arrays_survive_a_file() {
        let path = std::env::temp_dir().join(format!("recal-cli-{}.npy", std::process::id()));
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
            let buffer = Buffer { width: 5, height, format, bytes };
            save(&path, &buffer).unwrap();
            assert_eq!(npy(&path).unwrap(), buffer);
            assert!(read(&path).unwrap().len() as u64 - buffer.bytes.len() as u64 == 128, "{format:?}");
        }
        // What was UNORM comes back as plain integers.
        let bytes = vec![1; 20];
        save(&path, &Buffer { width: 5, height: 0, format: Format::UnormInt32x1, bytes }).unwrap();
        assert_eq!(npy(&path).unwrap().format, Format::UnsignedInt32x1);
        let refused = |path: &Path| npy(path).unwrap_err().to_string();
        let whole = read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(refused(&path).ends_with("19 bytes of data, but the shape has 20"), "{}", refused(&path));
        for (from, to, told) in [
            ("(5, )", "(0, )", "no elements"),
            ("'<u4'", "'>u4'", "components of >u4"),
            ("(5, )", "(5,1,3)", "3 components of <u4"),
            ("(5, )", "(5,1,1,1)", "4 dimensions"),
            ("False", "True ", "C order"),
        ] {
            let text: String = whole[10..128].iter().map(|b| *b as char).collect();
            let header = format!("{:<117}\n", text.replace(from, to).trim_end());
            std::fs::write(&path, [&whole[..10], header.as_bytes(), &whole[128..]].concat()).unwrap();
            assert!(refused(&path).contains(told), "{}", refused(&path));
        }
        std::fs::remove_file(&path).unwrap();
        let missing = PathBuf::from("/no such folder/o0.npy");
        assert!(
            savable(&missing, Format::Float32x1).is_err() && savable(&path, Format::UnormShort565).is_err()
        );
    }
}
