//! Objects and images: what the compiler makes and a context loads.
//!
//! Both are the bytes of a 32-bit ELF file as CAL made them (machine 125, ABI 100): an encoding dictionary with one
//! entry per target, for each a note segment that lists what the kernel binds, a symbol table with the names, and a
//! section `.il` with the kernel text, which takes the place of device code. An object has one entry, an image one or
//! several. Section headers come last, so the file ends where they end: the size can be told from the first 52 bytes.
//!
//! Nothing in a file is trusted: offsets are checked, and the text is compiled again at load.

mod read;
mod write;

use recal_hal::with_room;
use recal_il::ir::Program;

use crate::compiler;
use crate::error::{Error, Result};
use crate::listing;
use crate::target::Target;

pub(crate) use read::{HEADER_BYTES, size_from_header};

/// `e_machine` of ATI CAL files.
const MACHINE: u16 = 125;
/// `EI_OSABI` of ATI CAL files.
const OS_ABI: u8 = 100;
/// `EI_ABIVERSION` of later CAL files.
const ABI_VERSION: u8 = 1;
/// Program header type of the encoding dictionary.
const PT_DICTIONARY: u32 = 0x7000_0002;
/// Dictionary machines: IL text for R6xx, and for R7xx and later.
const IL_TEXT: [u32; 2] = [7, 8];
/// Bytes of a dictionary entry: machine, type, offset, size, flags.
const ENTRY_BYTES: usize = 20;
/// Section that holds the kernel text.
const IL_SECTION: &[u8] = b".il";
/// More targets than there are in one file: the file is refused.
const MAX_ENTRIES: usize = 256;

/// Code for one target: what [`crate::compile`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(Vec<u8>);

/// Code for one or several targets, ready to load, to write to a file, or to read from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image(Vec<u8>);

/// What is listed of the code for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Name of the target, without `CAL_TARGET_`.
    pub target: &'static str,
    /// Compute rather than pixel.
    pub compute: bool,
    /// IL text in canonical form.
    pub il: String,
    /// What a compiler of the time might have made of it for the target's chip, in the style of its disassembler; `None` if the text
    /// does not compile for the target, or the target is no chip that `recal analyze` knows.
    pub isa: Option<String>,
    /// The SPIR-V module for a device that can do everything; `None` if the text does not compile for the target.
    pub spirv: Option<String>,
}

/// Kernel text for one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding<'d> {
    pub(crate) target: Target,
    pub(crate) text: &'d [u8],
    /// Compute rather than pixel.
    pub(crate) compute: bool,
}

impl Object {
    pub(crate) fn new(target: Target, text: &[u8], program: &Program) -> Result<Object> {
        write::file(&[write::Part { target, text, program }]).map(Object)
    }

    /// An object from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Object> {
        let bytes = checked(bytes, "object")?;
        match read::encodings(bytes)?.len() {
            1 => Ok(Object(bytes.to_vec())),
            n => Err(Error::failed(format!("object: code for {n} targets; an object has code for one"))),
        }
    }

    /// The ELF file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The listing, line by line, each with its newline.
    pub fn disassemble(&self, line: impl FnMut(&str)) -> Result<()> {
        disassemble(&self.0, line)
    }
}

impl From<Object> for Image {
    /// An image with one target.
    fn from(object: Object) -> Image {
        Image(object.0)
    }
}

impl Image {
    /// One image of objects made for different targets.
    pub fn link(objects: &[&Object]) -> Result<Image> {
        let mut encodings = Vec::new();
        for object in objects {
            encodings.extend(read::encodings(&object.0)?);
        }
        if encodings.is_empty() {
            return Err(Error::invalid("objCount: no object"));
        }
        let mut programs = Vec::with_capacity(encodings.len());
        for (number, encoding) in encodings.iter().enumerate() {
            if encodings[..number].iter().any(|e| e.target == encoding.target) {
                return Err(Error::failed(format!("obj: two objects for target {}", encoding.target.name)));
            }
            programs.push(compiler::program(encoding.text, encoding.target)?);
        }
        let parts: Vec<_> = encodings
            .iter()
            .zip(&programs)
            .map(|(e, program)| write::Part { target: e.target, text: e.text, program })
            .collect();
        let image = Image(write::file(&parts)?);
        compiler::dump_image(&image);
        Ok(image)
    }

    /// An image from its bytes, as [`Image::as_bytes`] gave them, perhaps in another process.
    pub fn from_bytes(bytes: &[u8]) -> Result<Image> {
        let bytes = checked(bytes, "image")?;
        read::encodings(bytes)?;
        Ok(Image(bytes.to_vec()))
    }

    /// The ELF file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What [`Image::disassemble`] prints, target by target.
    pub fn listings(&self) -> Result<Vec<Listing>> {
        listings(&self.0)
    }

    /// Values of `CALtarget` that the image has code for.
    pub fn targets(&self) -> Vec<u32> {
        read::encodings(&self.0).map(|e| e.iter().map(|e| e.target.value).collect()).unwrap_or_default()
    }

    /// The listing, line by line, each with its newline.
    pub fn disassemble(&self, line: impl FnMut(&str)) -> Result<()> {
        disassemble(&self.0, line)
    }

    /// The kernel text that a device of `target`, a value of `CALtarget`, runs: made for exactly this target, else for the
    /// same generation, else for the latest older one.
    pub fn text(&self, target: u32) -> Result<&[u8]> {
        let target = Target::from_value(target)
            .ok_or_else(|| Error::invalid(format!("target: {target} is no value of CALtarget")))?;
        Ok(self.text_for(target)?.0)
    }

    /// The program for a device that reports `target`: made for exactly this target, else for the same generation,
    /// else for the latest older one: its text, and for which it was made.
    pub(crate) fn text_for(&self, target: Target) -> Result<(&[u8], Target)> {
        let encodings = read::encodings(&self.0)?;
        let rank = |e: &&Encoding<'_>| (e.target == target, e.target.family, e.target.value);
        let best = encodings.iter().filter(|e| e.target.runs_on(target)).max_by_key(rank);
        let best = best.ok_or_else(|| {
            let has: Vec<_> = encodings.iter().map(|e| e.target.name).collect();
            Error::failed(format!(
                "image: no code for target {}; it has code for {}",
                target.name,
                has.join(", ")
            ))
        })?;
        Ok((best.text, best.target))
    }
}

/// The bytes of the file itself, without what may follow.
fn checked<'b>(bytes: &'b [u8], what: &str) -> Result<&'b [u8]> {
    let size = bytes
        .first_chunk::<HEADER_BYTES>()
        .ok_or_else(|| Error::failed(format!("{} bytes are too few for an ELF header", bytes.len())))
        .and_then(size_from_header)
        .map_err(|e| e.context(what))?;
    bytes.get(..size).ok_or_else(|| {
        Error::failed(format!("{what}: the file is truncated: {} bytes of {size}", bytes.len()))
    })
}

fn disassemble(bytes: &[u8], mut line: impl FnMut(&str)) -> Result<()> {
    for listing in listings(bytes)? {
        let stage = if listing.compute { "compute" } else { "pixel" };
        let name = listing.target;
        for (what, text) in [
            ("IL", Some(&listing.il)),
            ("ISA (a model)", listing.isa.as_ref()),
            ("SPIR-V", listing.spirv.as_ref()),
        ] {
            let Some(text) = text else { continue };
            line(&format!("; target {name}, {stage} program, {what}\n"));
            text.lines().for_each(|text| line(&format!("{text}\n")));
        }
    }
    Ok(())
}

fn listings(bytes: &[u8]) -> Result<Vec<Listing>> {
    let listing = |encoding: Encoding<'_>| Listing {
        target: encoding.target.name,
        compute: encoding.compute,
        il: listing::il(encoding.text),
        isa: compiler::chip_code(encoding.text, encoding.target),
        spirv: compiler::program(encoding.text, encoding.target).ok().map(|program| listing::spirv(&program)),
    };
    // Listings go as deep as kernels nest.
    with_room(|| Ok(read::encodings(bytes)?.into_iter().map(listing).collect()))
}
