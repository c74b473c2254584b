//! What is bound on the command line: files, constants, empty buffers.
//!
//! `i0=in.npy`, `i0=in.png`, `i0=in.raw:64x64:float_4`, `cb0=1,2.5,0x10,-3i`, `o0=64x64:float_4`. `-` instead of a file's name
//! is standard input or output, as raw bytes.

use std::path::{Path, PathBuf};

use recal::{Device, Format, Module, Place, Resource, Symbol};
use recal_il::format::ALIASES;
use serde_json::{Value, json};

use crate::{Outcome, array, files, picture};

/// Memory for one symbol.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Buffer {
    pub(crate) shape: Shape,
    /// Row after row, without padding; nothing = zeros.
    pub(crate) bytes: Vec<u8>,
}

/// `64x64:float_4`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) width: u32,
    /// 0 = one-dimensional.
    pub(crate) height: u32,
    pub(crate) format: Format,
}

/// Contents for a symbol, before they are read.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    Npy(PathBuf),
    Png(PathBuf),
    Raw(PathBuf, Shape),
    Words(Vec<Word>),
    Zeros(Shape),
}

/// A word of constants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    bits: u32,
    /// As it was written, if it is a float and not zero.
    pub(crate) float: Option<String>,
}

/// A symbol and what it gets.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    symbol: String,
    source: Source,
}

/// A symbol and the memory that it got.
pub(crate) struct Bound {
    symbol: String,
    resource: Resource,
    height: u32,
}

/// A symbol and the file that receives its memory.
#[derive(Clone, Debug)]
pub(crate) struct Save {
    symbol: String,
    path: PathBuf,
}

/// Allocates, fills and binds what the command line says.
pub(crate) fn bind(device: &Device, module: &Module, bindings: &[Binding]) -> Outcome<Vec<Bound>> {
    let mut bound: Vec<Bound> = Vec::new();
    for Binding { symbol, source } in bindings {
        let named = |e: recal::Error| format!("--bind {symbol}: {e}");
        if bound.iter().any(|b| b.symbol == *symbol) {
            return Err(format!("--bind {symbol}: bound twice").into());
        }
        if !module.symbols().iter().any(|known| known.to_string() == *symbol) {
            let known: Vec<_> = module.symbols().iter().map(Symbol::to_string).collect();
            return Err(
                format!("--bind {symbol}: the kernel has no such symbol, but {}", known.join(", ")).into()
            );
        }
        let Buffer { shape: Shape { width, height, format }, bytes } = source.load()?;
        let resource = match height {
            0 => device.allocate_buffer(width, format, Place::Local),
            height => device.allocate_2d(width, height, format, Place::Local),
        }
        .map_err(named)?;
        if !bytes.is_empty() {
            let row = width as usize * format.bytes() as usize;
            for (to, from) in resource.map::<u8>()?.rows_mut().zip(bytes.chunks(row)) {
                to.copy_from_slice(from);
            }
        }
        module.bind(symbol, &resource).map_err(named)?;
        bound.push(Bound { symbol: symbol.clone(), resource, height });
    }
    Ok(bound)
}

/// What is to be saved where. Told before the work, not after it, if that cannot be.
pub(crate) fn saves<'b>(saves: &'b [Save], bound: &'b [Bound]) -> Outcome<Vec<(&'b Bound, &'b Path)>> {
    let mut found = Vec::new();
    for Save { symbol, path } in saves {
        let bound = bound.iter().find(|b| b.symbol == *symbol);
        let bound =
            bound.ok_or_else(|| format!("--save: `{symbol}` is not bound; --bind {symbol}=... does"))?;
        savable(path, bound.resource.format())?;
        found.push((bound, path.as_path()));
    }
    Ok(found)
}

/// Whether results go to standard output, which then is no place for words. An error if they are not alone there.
pub(crate) fn takes_output(saves: &[Save], json: bool) -> Outcome<bool> {
    match saves.iter().filter(|save| files::is_standard(&save.path)).count() {
        0 => Ok(false),
        1 if !json => Ok(true),
        1 => Err("--json and --save to - both want standard output".into()),
        _ => Err("--save: only one symbol fits on standard output".into()),
    }
}

impl Bound {
    /// The symbol, its elements, and the bytes of one.
    pub(crate) fn size(&self) -> (&str, u64, u64) {
        let elements = u64::from(self.resource.width()) * u64::from(self.height.max(1));
        (&self.symbol, elements, self.resource.format().bytes().into())
    }

    /// Writes the memory to a file.
    pub(crate) fn save(&self, path: &Path) -> Outcome {
        let bytes = self.resource.map::<u8>()?.rows().flatten().copied().collect();
        let shape =
            Shape { width: self.resource.width(), height: self.height, format: self.resource.format() };
        let buffer = Buffer { shape, bytes };
        let content = match Kind::of(path) {
            Kind::Npy => array::encode(&buffer)?,
            Kind::Png => picture::encode(&buffer)?,
            Kind::Raw => buffer.bytes,
        };
        files::write(path, &content)
    }
}

impl Binding {
    /// Number and words, if these are constants given in words.
    pub(crate) fn constants(&self) -> Option<(u32, &[Word])> {
        match (self.symbol.parse(), &self.source) {
            (Ok(Symbol::Constant(number)), Source::Words(words)) => Some((number, words)),
            _ => None,
        }
    }
}

/// `i0=...`
pub(crate) fn binding(text: &str) -> Result<Binding, String> {
    let (symbol, text) = text.split_once('=').ok_or("expected NAME=VALUE, e.g. i0=in.npy")?;
    symbol.parse::<Symbol>().map_err(|()| no_symbol(symbol))?;
    Ok(Binding { symbol: symbol.to_owned(), source: source(text)? })
}

impl Save {
    pub(crate) fn json(&self) -> Value {
        json!({ "symbol": self.symbol, "file": self.path.display().to_string() })
    }
}

/// `o0=out.npy`
pub(crate) fn save(text: &str) -> Result<Save, String> {
    let (symbol, path) = text.split_once('=').ok_or("expected NAME=FILE, e.g. o0=out.npy")?;
    symbol.parse::<Symbol>().map_err(|()| no_symbol(symbol))?;
    if path.is_empty() {
        return Err("expected NAME=FILE, e.g. o0=out.npy".into());
    }
    Ok(Save { symbol: symbol.to_owned(), path: path.into() })
}

pub(crate) fn no_symbol(text: &str) -> String {
    format!("`{text}` is no symbol such as i0, o0, cb0, uav0 or g[]")
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

/// A format by one of its names, without `CAL_FORMAT_`.
pub(crate) fn format(text: &str) -> Result<Format, String> {
    Format::named(text).ok_or_else(|| {
        let names = Format::ALL.iter().map(|f| f.name()).chain(ALIASES.iter().map(|(name, _)| *name));
        let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
        let near = |name: &&String| strsim::damerau_levenshtein(text, name) <= 2;
        match names.iter().filter(near).min_by_key(|name| strsim::damerau_levenshtein(text, name)) {
            Some(near) => format!("no format is called `{text}`; did you mean `{near}`?"),
            None => format!("no format is called `{text}`; there are {}", names.join(", ")),
        }
    })
}

/// `2.5` is a float, `7i` and `0x1f` are integers.
fn word(text: &str) -> Result<Word, String> {
    let text = text.trim();
    let bad = || format!("`{text}` is not a number; 2.5 is a float, 7i and 0x1f are integers");
    let integer = |bits| Word { bits, float: None };
    if let Some(hex) = text.strip_prefix("0x") {
        u32::from_str_radix(hex, 16).map(integer).map_err(|_| bad())
    } else if let Some(decimal) = text.strip_suffix('i') {
        let value = decimal.parse::<i64>().map_err(|_| bad())?;
        let signed = i32::try_from(value).map(|value| value as u32);
        signed
            .or_else(|_| u32::try_from(value))
            .map(integer)
            .map_err(|_| format!("`{text}` has more than 32 bits"))
    } else {
        let value = text.parse::<f32>().map_err(|_| bad())?;
        Ok(Word { bits: value.to_bits(), float: (value != 0.0).then(|| text.to_owned()) })
    }
}

fn source(text: &str) -> Result<Source, String> {
    if let Some((first, rest)) = text.split_once(':') {
        return match extent(first) {
            Ok(_) => shape(text).map(Source::Zeros),
            Err(_) => Ok(Source::Raw(first.into(), shape(rest)?)),
        };
    }
    match Kind::of(Path::new(text)) {
        Kind::Npy => return Ok(Source::Npy(text.into())),
        Kind::Png => return Ok(Source::Png(text.into())),
        Kind::Raw => {}
    }
    let words: Result<Vec<_>, _> = text.split(',').map(word).collect();
    words.map(Source::Words).map_err(|error| match extent(text) {
        Ok(_) => format!("a shape has a format, e.g. {text}:float_4"),
        Err(_) if text == "-" || Path::new(text).exists() => {
            format!("raw bytes have a shape, e.g. {text}:64x64:float_4; .npy and .png have their own")
        }
        Err(_) => error,
    })
}

impl Source {
    fn load(&self) -> Outcome<Buffer> {
        let named = |path: &Path, e: Box<dyn std::error::Error>| format!("{}: {e}", files::name(path));
        match self {
            Source::Npy(path) => Ok(array::decode(&files::read(path)?).map_err(|e| named(path, e))?),
            Source::Png(path) => Ok(picture::decode(&files::read(path)?).map_err(|e| named(path, e))?),
            Source::Raw(path, shape) => {
                let wanted = shape.bytes().min(files::LONGEST.into()) as u64;
                let bytes = files::read_at_most(path, wanted)?;
                let is = bytes.len() as u64;
                if is != wanted {
                    let is = if is > wanted { "more".into() } else { format!("{is} bytes") };
                    let wanted = shape.bytes();
                    return Err(
                        format!("{}: {is}, but the shape has {wanted} bytes", files::name(path)).into()
                    );
                }
                Ok(Buffer { shape: *shape, bytes })
            }
            Source::Words(words) => {
                let mut words: Vec<u32> = words.iter().map(|word| word.bits).collect();
                words.resize(words.len().next_multiple_of(4), 0);
                let shape = Shape { width: words.len() as u32 / 4, height: 0, format: Format::Float32x4 };
                Ok(Buffer { shape, bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect() })
            }
            Source::Zeros(shape) => Ok(Buffer { shape: *shape, bytes: Vec::new() }),
        }
    }
}

impl Shape {
    pub(crate) fn bytes(self) -> u128 {
        u128::from(self.width) * u128::from(self.height.max(1)) * u128::from(self.format.bytes())
    }
}

/// What a file is, by its name.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Npy,
    Png,
    Raw,
}

impl Kind {
    fn of(path: &Path) -> Kind {
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        match extension.as_ref().and_then(|e| e.to_str()) {
            Some("npy") => Kind::Npy,
            Some("png") => Kind::Png,
            _ => Kind::Raw,
        }
    }
}

/// Whether a buffer of a format can be saved under a name: `.npy` and `.png` have no counterpart of some formats.
fn savable(path: &Path, format: Format) -> Outcome {
    let kind = Kind::of(path);
    if kind == Kind::Npy && array::numbers(format).is_none()
        || kind == Kind::Png && !picture::is_shown(format)
    {
        let (name, kind) = (format.name(), if kind == Kind::Npy { ".npy" } else { ".png" });
        return Err(
            format!("{}: {name} has no counterpart in {kind}; write raw bytes", path.display()).into()
        );
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(format!("{}: there is no folder {}", path.display(), folder.display()).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_apart() {
        let words = |text: &str| match source(text) {
            Ok(Source::Words(words)) => words.iter().map(|word| word.bits).collect::<Vec<u32>>(),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(words("1,0x10,-3i"), vec![0x3F80_0000, 16, 0xFFFF_FFFD]);
        assert_eq!(words("4294967295i,-2147483648i"), vec![u32::MAX, 1 << 31]);
        let shape = Shape { width: 8, height: 4, format: Format::Float32x4 };
        for text in ["8x4:float32_4", "8x4:float_4", "8x4:CAL_FORMAT_FLOAT_4"] {
            assert_eq!(source(text), Ok(Source::Zeros(shape)), "{text}");
        }
        assert_eq!(source("in.raw:8x4:FLOAT32_4"), Ok(Source::Raw("in.raw".into(), shape)));
        assert_eq!(source("-:8x4:float_4"), Ok(Source::Raw("-".into(), shape)));
        assert_eq!(source("a.npy:8x4:float_4"), Ok(Source::Raw("a.npy".into(), shape)));
        assert_eq!(source("a.npy"), Ok(Source::Npy("a.npy".into())));
        assert_eq!(source("a.PNG"), Ok(Source::Png("a.PNG".into())));
        for bad in ["", "x", "8x4:float3", "in.raw:8x4", "1,two", "-", "4294967296i", "0x100000000"] {
            assert!(source(bad).is_err(), "{bad}");
        }
        for bad in ["o0", "q7=1", "=1", "o0="] {
            assert!(binding(bad).is_err(), "{bad}");
        }
        let missing = PathBuf::from("/no such folder/o0.npy");
        assert!(savable(&missing, Format::Float32x1).is_err());
        for name in ["a.npy", "a.png"] {
            assert!(savable(Path::new(name), Format::UnormShort565).is_err(), "{name}");
        }
        assert!(savable(Path::new("a.raw"), Format::UnormShort565).is_ok());
    }
}
