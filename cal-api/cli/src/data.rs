//! What is bound on the command line: files, constants, empty buffers.
//!
//! `i0=in.npy`, `i0=in.raw:64x64:float32_4`, `cb0=1,2.5,0x10,-3i`, `o0=64x64:float32_4`. A `.npy` array of f4, f8, i4 or u4 has
//! rows, columns and, if three-dimensional, components.

use std::path::{Path, PathBuf};

use cal::{Device, Format, Module, Place, Resource};

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
        let buffer = source(&binding.text)?.load()?;
        let resource = match buffer.height {
            0 => device.allocate_buffer(buffer.width, buffer.format, Place::Local)?,
            height => device.allocate_2d(buffer.width, height, buffer.format, Place::Local)?,
        };
        resource.map::<u8>()?.copy_from_slice(&buffer.bytes);
        module.bind(&binding.symbol, &resource)?;
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
        saves.push((bound.ok_or_else(|| format!("--save: `{symbol}` is not bound"))?, PathBuf::from(path)));
    }
    Ok(saves)
}

impl Bound {
    /// Writes the memory to a file.
    pub(crate) fn save(&self, path: &Path) -> Outcome {
        let bytes = self.resource.map::<u8>()?.to_vec();
        let (width, format) = (self.resource.width(), self.resource.format());
        save(path, &Buffer { width, height: self.height, format, bytes })
    }
}

pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    let (symbol, text) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    source(text)?;
    Ok(Binding { symbol: symbol.to_owned(), text: text.to_owned() })
}

/// Width, or width and height.
pub(crate) fn extent(text: &str) -> Result<(u32, u32), String> {
    let number = |t: &str| t.parse::<u32>().map_err(|_| format!("`{t}` is not a number"));
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
    format.ok_or_else(|| format!("no format is called `{upper}`; one is float32_4"))
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
    if let Ok(shape) = shape(text) {
        return Ok(Source::Zeros(shape));
    }
    if let Some((path, rest)) = text.split_once(':') {
        return Ok(Source::Raw(path.into(), shape(rest)?));
    }
    text.split(',').map(word).collect::<Result<Vec<_>, _>>().map(Source::Words)
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
    fn zeros(self) -> Buffer {
        let elements = self.width as usize * self.height.max(1) as usize;
        let bytes = vec![0; elements * self.format.bytes() as usize];
        Buffer { width: self.width, height: self.height, format: self.format, bytes }
    }
}

fn npy(path: &Path) -> Outcome<Buffer> {
    let named = |e: std::io::Error| format!("{}: {e}", path.display());
    let content = read(path)?;
    let file = npyz::NpyFile::new(&content[..]).map_err(named)?;
    if file.order() != npyz::Order::C {
        return Err(format!("{}: columns come first; save it in C order", path.display()).into());
    }
    let shape = file.shape().to_vec();
    let (rows, columns, components) = match shape[..] {
        [columns] => (0, columns, 1),
        [rows, columns] => (rows, columns, 1),
        [rows, columns, components] => (rows, columns, components),
        _ => return Err(format!("{}: {} dimensions", path.display(), shape.len()).into()),
    };
    let kind = file.dtype().descr();
    let kind = kind.trim_matches('\'').to_owned();
    let (bytes, format) = match (kind.as_str(), components) {
        ("<f4", 1 | 2 | 4) => {
            let formats = [Format::Float32x1, Format::Float32x2, Format::Float32x4];
            let words = file.into_vec::<f32>().map_err(named)?;
            (words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>(), formats[components as usize / 2])
        }
        ("<u4", 1 | 2 | 4) => {
            let formats = [Format::UnsignedInt32x1, Format::UnsignedInt32x2, Format::UnsignedInt32x4];
            let words = file.into_vec::<u32>().map_err(named)?;
            (words.iter().flat_map(|w| w.to_le_bytes()).collect(), formats[components as usize / 2])
        }
        ("<i4", 1 | 2 | 4) => {
            let formats = [Format::SignedInt32x1, Format::SignedInt32x2, Format::SignedInt32x4];
            let words = file.into_vec::<i32>().map_err(named)?;
            (words.iter().flat_map(|w| w.to_le_bytes()).collect(), formats[components as usize / 2])
        }
        ("<f8", 1 | 2) => {
            let formats = [Format::Float64x1, Format::Float64x2];
            let words = file.into_vec::<f64>().map_err(named)?;
            (words.iter().flat_map(|w| w.to_le_bytes()).collect(), formats[components as usize - 1])
        }
        _ => {
            return Err(
                format!("{}: no format holds {components} components of {kind}", path.display()).into()
            );
        }
    };
    Ok(Buffer { width: u32::try_from(columns)?, height: u32::try_from(rows)?, format, bytes })
}

/// Writes a buffer as `.npy`, if the name says so and the format has a counterpart, else as raw bytes.
pub(crate) fn save(path: &Path, buffer: &Buffer) -> Outcome {
    if path.extension().is_none_or(|e| e != "npy") {
        return write(path, &buffer.bytes);
    }
    use npyz::WriterBuilder;
    let components = u64::from(buffer.format.components());
    let mut shape = vec![u64::from(buffer.width)];
    if buffer.height > 0 {
        shape.insert(0, u64::from(buffer.height));
    }
    if components > 1 {
        shape.push(components);
    }
    let name = buffer.format.name();
    let mut out = Vec::new();
    macro_rules! typed {
        ($t:ty) => {{
            let words = buffer.bytes.chunks_exact(size_of::<$t>());
            let words = words.map(|b| <$t>::from_le_bytes(b.try_into().unwrap_or_default()));
            let mut writer =
                npyz::WriteOptions::<$t>::new().default_dtype().shape(&shape).writer(&mut out).begin_nd()?;
            writer.extend(words)?;
            writer.finish()?;
        }};
    }
    match buffer.format.bytes() / buffer.format.components() {
        4 if name.starts_with("FLOAT") => typed!(f32),
        4 if name.starts_with("SIGNED") || name.starts_with("SNORM") => typed!(i32),
        4 => typed!(u32),
        8 => typed!(f64),
        _ => {
            return Err(
                format!("{}: {name} has no counterpart in .npy; write raw bytes", path.display()).into()
            );
        }
    }
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
        ] {
            let bytes = (0..5 * u32::max(height, 1) * format.bytes()).map(|i| i as u8 & 0x3F).collect();
            let buffer = Buffer { width: 5, height, format, bytes };
            save(&path, &buffer).unwrap();
            assert_eq!(npy(&path).unwrap(), buffer);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
