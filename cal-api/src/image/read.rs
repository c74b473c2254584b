//! Reading the ELF file of an object or image. The bytes may be anybody's.

use object::elf::{FileHeader32, PT_NOTE, SHT_PROGBITS, SectionHeader32};
use object::endian::LittleEndian as LE;
use object::pod::from_bytes;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::{ENTRY_BYTES, Encoding, IL_SECTION, IL_TEXT, MACHINE, MAX_ENTRIES, OS_ABI, PT_DICTIONARY};
use crate::error::{Error, Result};
use crate::target::Target;

/// Bytes from which the size of the file can be told.
pub(crate) const HEADER_BYTES: usize = size_of::<FileHeader32<LE>>();

fn bad(reason: impl std::fmt::Display) -> Error {
    Error::failed(format!("not a CAL image: {reason}"))
}

fn header(bytes: &[u8]) -> Result<&FileHeader32<LE>> {
    let (header, _) =
        from_bytes::<FileHeader32<LE>>(bytes).map_err(|()| bad("too short for an ELF header"))?;
    let ident = &header.e_ident;
    if ident.magic != object::elf::ELFMAG {
        return Err(bad("it does not begin as an ELF file"));
    }
    if ident.class != object::elf::ELFCLASS32 || ident.data != object::elf::ELFDATA2LSB {
        return Err(bad("it is not a 32-bit little-endian ELF file"));
    }
    if header.e_machine.get(LE) != MACHINE || ident.os_abi != OS_ABI {
        return Err(bad(format_args!(
            "machine {} with ABI {}, not {MACHINE} with {OS_ABI}",
            header.e_machine.get(LE),
            ident.os_abi
        )));
    }
    let sizes = (usize::from(header.e_phentsize.get(LE)), usize::from(header.e_shentsize.get(LE)));
    let wanted = (size_of::<object::elf::ProgramHeader32<LE>>(), size_of::<SectionHeader32<LE>>());
    if sizes != wanted {
        return Err(bad(format_args!("headers of {} and {} bytes", sizes.0, sizes.1)));
    }
    Ok(header)
}

/// Size of the file: it ends with its section headers.
pub(crate) fn size_from_header(bytes: &[u8; HEADER_BYTES]) -> Result<usize> {
    let header = header(bytes)?;
    let end = u64::from(header.e_shoff.get(LE))
        + u64::from(header.e_shnum.get(LE)) * u64::from(header.e_shentsize.get(LE));
    let programs = u64::from(header.e_phoff.get(LE))
        + u64::from(header.e_phnum.get(LE)) * u64::from(header.e_phentsize.get(LE));
    if header.e_shnum.get(LE) == 0 || end < HEADER_BYTES as u64 || programs > end {
        return Err(bad("the section headers do not end the file"));
    }
    usize::try_from(end).map_err(|_| bad("larger than memory"))
}

/// Kernel texts in a file, in the order of its dictionary; at least one.
pub(super) fn encodings(bytes: &[u8]) -> Result<Vec<Encoding<'_>>> {
    let header = header(bytes)?;
    let programs = header.program_headers(LE, bytes).map_err(bad)?;
    let sections = header.sections(LE, bytes).map_err(bad)?;
    let dictionary = programs
        .iter()
        .find(|p| p.p_type(LE) == PT_DICTIONARY)
        .ok_or_else(|| bad("no encoding dictionary"))?
        .data(LE, bytes)
        .map_err(|()| bad("the encoding dictionary is outside the file"))?;
    if dictionary.is_empty()
        || dictionary.len() % ENTRY_BYTES != 0
        || dictionary.len() / ENTRY_BYTES > MAX_ENTRIES
    {
        return Err(bad(format_args!("an encoding dictionary of {} bytes", dictionary.len())));
    }
    let notes = programs.iter().filter(|p| p.p_type(LE) == PT_NOTE).count();
    if notes < dictionary.len() / ENTRY_BYTES {
        return Err(bad("an encoding without notes"));
    }
    let mut encodings = Vec::new();
    let mut machines = Vec::new();
    for entry in dictionary.chunks_exact(ENTRY_BYTES) {
        let word = |n: usize| {
            u32::from_le_bytes([entry[4 * n], entry[4 * n + 1], entry[4 * n + 2], entry[4 * n + 3]])
        };
        let (machine, kind, start, size, flags) = (word(0), word(1), word(2), word(3), word(4));
        let end = start.checked_add(size).filter(|&e| e as usize <= bytes.len());
        let end = end.ok_or_else(|| bad("an encoding outside the file"))?;
        machines.push(machine);
        if !IL_TEXT.contains(&machine) {
            continue;
        }
        let target = Target::from_value(flags).ok_or_else(|| bad(format_args!("unknown target {flags}")))?;
        let compute = match kind {
            0 => false,
            4 => true,
            other => return Err(bad(format_args!("a program of type {other}"))),
        };
        let section = sections
            .iter()
            .filter(|s| s.sh_type(LE) == SHT_PROGBITS && (start..end).contains(&s.sh_offset(LE)))
            .find(|s| sections.section_name(LE, s) == Ok(IL_SECTION))
            .ok_or_else(|| bad("an encoding without kernel text"))?;
        let text = section.data(LE, bytes).map_err(|_| bad("kernel text outside the file"))?;
        encodings.push(Encoding { target, text, compute });
    }
    if encodings.is_empty() {
        return Err(Error::failed(format!(
            "image: only device code (machines {machines:?}) and no IL; device code of the original GPUs cannot run"
        )));
    }
    Ok(encodings)
}
