//! Writing the ELF file of an object or image.

use object::elf;
use object::endian::{LittleEndian as LE, U16, U32};
use object::pod::bytes_of;
use recal_il::inst::{Interface, Stage, Uav};
use recal_il::ir::Program;

use super::{ABI_VERSION, ENTRY_BYTES, IL_SECTION, IL_TEXT, MACHINE, OS_ABI, PT_DICTIONARY};
use crate::error::{Error, Result};
use crate::symbol::Symbol;
use crate::target::{TARGETS, Target};

/// Code for one target, to be written.
pub(super) struct Part<'p> {
    pub(super) target: Target,
    pub(super) text: &'p [u8],
    pub(super) program: &'p Program,
}

/// Note kinds that CAL files use.
mod note {
    pub(super) const INPUTS: u32 = 2;
    pub(super) const OUTPUTS: u32 = 3;
    pub(super) const GLOBAL_BUFFERS: u32 = 9;
    pub(super) const CONSTANT_BUFFERS: u32 = 10;
    pub(super) const INPUT_SAMPLERS: u32 = 11;
    pub(super) const UAV: u32 = 16;
}

/// Sections of each part, after the null section; `.shstrtab` ends the list.
const SECTIONS: [&[u8]; 3] = [IL_SECTION, b".symtab", b".strtab"];

/// A class of symbols: its note kind, the words of the note, the symbols in their order.
struct Class {
    kind: u32,
    words: Vec<u32>,
    symbols: Vec<Symbol>,
}

fn classes(interface: &Interface) -> Vec<Class> {
    let mut inputs: Vec<u32> = interface.resources.keys().chain(interface.srvs.keys()).copied().collect();
    inputs.sort_unstable();
    inputs.dedup();
    let list = |kind, numbers: Vec<u32>, symbol: fn(u32) -> Symbol| Class {
        kind,
        symbols: numbers.iter().map(|&n| symbol(n)).collect(),
        words: numbers,
    };
    let uav = |(&n, uav): (&u32, &Uav)| {
        let (kind, detail) = match *uav {
            Uav::Raw => (0, 0),
            Uav::Structured { stride } => (1, stride),
            Uav::Typed { dimension } => (2, dimension as u32),
            Uav::Arena => (3, 0),
        };
        [n, kind, detail, 0]
    };
    vec![
        list(note::INPUTS, inputs, Symbol::Input),
        list(note::OUTPUTS, interface.outputs.keys().copied().collect(), Symbol::Output),
        Class {
            kind: note::CONSTANT_BUFFERS,
            words: interface.constants.iter().flat_map(|(&n, &rows)| [n, rows]).collect(),
            symbols: interface.constants.keys().map(|&n| Symbol::Constant(n)).collect(),
        },
        Class {
            kind: note::GLOBAL_BUFFERS,
            words: if interface.global { vec![0] } else { vec![] },
            symbols: if interface.global { vec![Symbol::Global] } else { vec![] },
        },
        Class {
            kind: note::UAV,
            words: interface.uavs.iter().flat_map(uav).collect(),
            symbols: interface.uavs.keys().map(|&n| Symbol::Uav(n)).collect(),
        },
        list(note::INPUT_SAMPLERS, interface.samplers.clone(), Symbol::Sampler),
    ]
}

/// A file under construction; every offset is that of the bytes so far.
struct File {
    bytes: Vec<u8>,
    programs: Vec<elf::ProgramHeader32<LE>>,
    sections: Vec<elf::SectionHeader32<LE>>,
}

impl File {
    fn at(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn segment(&mut self, kind: u32, start: u32) {
        let size = U32::new(LE, self.at() - start);
        self.programs.push(elf::ProgramHeader32 {
            p_type: U32::new(LE, kind),
            p_offset: U32::new(LE, start),
            p_vaddr: U32::new(LE, 0),
            p_paddr: U32::new(LE, 0),
            p_filesz: size,
            p_memsz: U32::new(LE, if kind == elf::PT_LOAD { size.get(LE) } else { 0 }),
            p_flags: U32::new(LE, 0),
            p_align: U32::new(LE, 0),
        });
    }

    fn section(&mut self, name: u32, kind: u32, start: u32, link: u32, entry: u32) {
        let size = self.at() - start;
        self.sections.push(elf::SectionHeader32 {
            sh_name: U32::new(LE, name),
            sh_type: U32::new(LE, kind),
            sh_flags: U32::new(LE, 0),
            sh_addr: U32::new(LE, 0),
            sh_offset: U32::new(LE, start),
            sh_size: U32::new(LE, size),
            sh_link: U32::new(LE, link),
            // One past the last local symbol: all but the null symbol are global.
            sh_info: U32::new(LE, u32::from(kind == elf::SHT_SYMTAB)),
            sh_addralign: U32::new(LE, if kind == elf::SHT_NULL { 0 } else { 4 }),
            sh_entsize: U32::new(LE, entry),
        });
    }

    fn notes(&mut self, classes: &[Class]) {
        for class in classes.iter().filter(|c| !c.symbols.is_empty()) {
            self.word(8);
            self.word(4 * class.words.len() as u32);
            self.word(class.kind);
            self.bytes.extend(b"ATI CAL\0");
            class.words.iter().for_each(|&w| self.word(w));
        }
    }

    /// Symbol table and names; the section index of a symbol is the kind of the note that describes it.
    fn symbols(&mut self, classes: &[Class], names: [u32; 2]) {
        let mut strings = vec![0u8];
        let start = self.at();
        self.bytes.extend([0; size_of::<elf::Sym32<LE>>()]);
        for class in classes {
            for (index, symbol) in class.symbols.iter().enumerate() {
                let entry = elf::Sym32 {
                    st_name: U32::new(LE, strings.len() as u32),
                    st_value: U32::new(LE, index as u32),
                    st_size: U32::new(LE, 0),
                    st_info: elf::STB_GLOBAL << 4,
                    st_other: 0,
                    st_shndx: U16::new(LE, class.kind as u16),
                };
                self.bytes.extend(bytes_of(&entry));
                strings.extend(symbol.to_string().bytes());
                strings.push(0);
            }
        }
        let link = self.sections.len() as u32 + 1;
        self.section(names[0], elf::SHT_SYMTAB, start, link, size_of::<elf::Sym32<LE>>() as u32);
        let start = self.at();
        self.bytes.extend(strings);
        self.section(names[1], elf::SHT_STRTAB, start, 0, 0);
        self.align();
    }
}

/// The file for these parts.
pub(super) fn file(parts: &[Part<'_>]) -> Result<Vec<u8>> {
    let text: usize = parts.iter().map(|p| p.text.len()).sum();
    if text > 1 << 30 || parts.len() > TARGETS.len() {
        return Err(Error::failed(format!(
            "{text} bytes of kernel text for {} targets are too many",
            parts.len()
        )));
    }
    let header = size_of::<elf::FileHeader32<LE>>();
    let program_header = size_of::<elf::ProgramHeader32<LE>>();
    let program_count = 1 + 2 * parts.len();
    let dictionary = header + program_count * program_header;
    let mut file = File { bytes: vec![0; dictionary], programs: Vec::new(), sections: Vec::new() };

    // Names of sections, the same for every part.
    let mut names = vec![0u8];
    let mut name = |text: &[u8]| {
        let at = names.len() as u32;
        names.extend(text);
        names.push(0);
        at
    };
    let [il, symtab, strtab] = SECTIONS.map(&mut name);
    let shstrtab = name(b".shstrtab");

    file.bytes.resize(dictionary + ENTRY_BYTES * parts.len(), 0);
    file.segment(PT_DICTIONARY, dictionary as u32);
    file.section(0, elf::SHT_NULL, file.at(), 0, 0);
    file.sections[0].sh_offset = U32::new(LE, 0);
    for (number, part) in parts.iter().enumerate() {
        let start = file.at();
        let classes = classes(&part.program.declared);
        file.notes(&classes);
        file.segment(elf::PT_NOTE, start);
        let load = file.at();
        file.bytes.extend(part.text);
        file.section(il, elf::SHT_PROGBITS, load, 0, 0);
        file.align();
        file.symbols(&classes, [symtab, strtab]);
        file.segment(elf::PT_LOAD, load);
        let entry = [
            IL_TEXT[usize::from(part.target.value >= 4)],
            if part.program.stage == Stage::Compute { 4 } else { 0 },
            start,
            file.at() - start,
            part.target.value,
        ];
        let at = dictionary + ENTRY_BYTES * number;
        for (word, bytes) in entry.iter().zip(file.bytes[at..at + ENTRY_BYTES].chunks_exact_mut(4)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    let start = file.at();
    file.bytes.extend(&names);
    file.section(shstrtab, elf::SHT_STRTAB, start, 0, 0);
    file.align();

    let ehdr = elf::FileHeader32 {
        e_ident: elf::Ident {
            magic: elf::ELFMAG,
            class: elf::ELFCLASS32,
            data: elf::ELFDATA2LSB,
            version: elf::EV_CURRENT,
            os_abi: OS_ABI,
            abi_version: ABI_VERSION,
            padding: [0; 7],
        },
        e_type: U16::new(LE, elf::ET_EXEC),
        e_machine: U16::new(LE, MACHINE),
        e_version: U32::new(LE, u32::from(elf::EV_CURRENT)),
        e_entry: U32::new(LE, 0),
        e_phoff: U32::new(LE, header as u32),
        e_shoff: U32::new(LE, file.at()),
        e_flags: U32::new(LE, 1),
        e_ehsize: U16::new(LE, header as u16),
        e_phentsize: U16::new(LE, program_header as u16),
        e_phnum: U16::new(LE, program_count as u16),
        e_shentsize: U16::new(LE, size_of::<elf::SectionHeader32<LE>>() as u16),
        e_shnum: U16::new(LE, file.sections.len() as u16),
        e_shstrndx: U16::new(LE, file.sections.len() as u16 - 1),
    };
    file.bytes[..header].copy_from_slice(bytes_of(&ehdr));
    for (at, program) in (header..).step_by(program_header).zip(&file.programs) {
        file.bytes[at..at + program_header].copy_from_slice(bytes_of(program));
    }
    for section in &file.sections {
        file.bytes.extend(bytes_of(section));
    }
    Ok(file.bytes)
}
