//! Writing SPIR-V: types, constants, and what stands before functions.
//!
//! Instructions are written as words, at once, into the section where they belong. Types and constants are made once;
//! functions may be started while another is open (the outer one waits), so that conversion routines appear when first
//! needed.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::body::{Marks, OpenFunction};
use super::known::Sparse;
use super::values::Section;
use crate::bits::BitSet;
use crate::diagnostic::Span;

use rspirv::spirv::{self, Capability, Decoration, Op, StorageClass, Word};

/// Types of values and pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Void,
    Bool,
    U32,
    F32,
    U64,
    F64,
    /// Vector of 32-bit words.
    Vec(u32),
    /// Two doubles.
    Doubles,
    /// Vector of booleans… of floats never occurs; three words of a builtin.
    Pair,
    /// Array of words.
    Array(u32),
    Pointer(StorageClass, Word),
}

/// Characters as the words of a literal, with a zero at the end.
fn literal(text: &str) -> Vec<u32> {
    let mut words = vec![0; text.len() / 4 + 1];
    for (k, byte) in text.bytes().enumerate() {
        words[k / 4] |= u32::from(byte) << (8 * (k % 4));
    }
    words
}

/// A module under construction.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) next: Word,
    pub(super) capabilities: Vec<Capability>,
    pub(super) entry_points: Section,
    pub(super) modes: Section,
    pub(super) annotations: Section,
    /// Types, constants and variables of the module.
    pub(super) globals: Section,
    pub(super) functions: Vec<Section>,
    /// Of each of those.
    pub(super) marks: Vec<Marks>,
    pub(super) types: FxHashMap<Type, Word>,
    pub(super) function_types: FxHashMap<SmallVec<[Word; 6]>, Word>,
    pub(super) words: FxHashMap<u32, Word>,
    pub(super) constants: FxHashMap<(Word, u64), Word>,
    /// BitSet of 32-bit integer constants by id.
    pub bits: Sparse<u32>,
    /// Ids of the module, not of a function.
    pub(super) global: BitSet,
    /// Values of prologues: operations on these and constants alone are moved there too.
    pub(super) fixed: BitSet,
    /// Places of variables of functions among their function's.
    pub(super) local: Sparse<u32>,
    pub(super) open: Vec<OpenFunction>,
}

/// The instructions of GLSL.
pub(super) const GLSL: Word = 1;

/// No registered tool.
const GENERATOR: u32 = 0;

impl Writer {
    pub fn new() -> Self {
        let capabilities = vec![Capability::Shader, Capability::PhysicalStorageBufferAddresses];
        Self { next: GLSL + 1, capabilities, ..Self::default() }
    }

    /// The finished words, and where in them what comes from a part of the kernel's text begins.
    pub fn finish(self) -> (Vec<u32>, Marks) {
        let mut head = Section(vec![spirv::MAGIC_NUMBER, 0x0001_0500, GENERATOR, self.next, 0]);
        for capability in self.capabilities {
            head.push(Op::Capability, &[], &[capability as u32]);
        }
        head.push(Op::ExtInstImport, &[GLSL], &literal("GLSL.std.450"));
        let addressing = spirv::AddressingModel::PhysicalStorageBuffer64 as u32;
        head.push(Op::MemoryModel, &[], &[addressing, spirv::MemoryModel::GLSL450 as u32]);
        let mut all = vec![head, self.entry_points, self.modes, self.annotations, self.globals];
        let mut at: usize = all.iter().map(|section| section.0.len()).sum();
        let mut marks = Marks::new();
        for (section, own) in self.functions.iter().zip(self.marks) {
            marks.push((at as u32, Span::default()));
            marks.extend(own.into_iter().map(|(from, span)| (at as u32 + from, span)));
            at += section.0.len();
        }
        all.extend(self.functions);
        (all.iter().map(|section| &section.0[..]).collect::<Vec<_>>().concat(), marks)
    }

    pub fn id(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    /// The id that was given last.
    pub fn newest(&self) -> Word {
        self.next - 1
    }

    pub fn capability(&mut self, capability: Capability) {
        if !self.capabilities.contains(&capability) {
            self.capabilities.push(capability);
        }
    }

    pub fn entry_point(&mut self, function: Word, interface: &[Word]) {
        let head = [spirv::ExecutionModel::GLCompute as u32, function];
        self.entry_points.push(Op::EntryPoint, &head, &[&literal("main"), interface].concat());
    }

    pub fn execution_mode(&mut self, function: Word, mode: spirv::ExecutionMode, literals: &[u32]) {
        self.modes.push(Op::ExecutionMode, &[function, mode as u32], literals);
    }

    pub fn decorate(&mut self, id: Word, decoration: Decoration, literals: &[u32]) {
        self.annotations.push(Op::Decorate, &[id, decoration as u32], literals);
    }

    pub fn decorate_builtin(&mut self, id: Word, builtin: spirv::BuiltIn) {
        self.decorate(id, Decoration::BuiltIn, &[builtin as u32]);
    }

    pub fn decorate_member(&mut self, id: Word, member: u32, decoration: Decoration, literals: &[u32]) {
        self.annotations.push(Op::MemberDecorate, &[id, member, decoration as u32], literals);
    }

    /// A type, constant or variable of the module.
    pub fn global(&mut self, op: Op, ty: Option<Word>, operands: &[u32]) -> Word {
        let id = self.id();
        match ty {
            Some(ty) => self.globals.push(op, &[ty, id], operands),
            None => self.globals.push(op, &[id], operands),
        }
        self.global.insert(id);
        id
    }

    pub fn ty(&mut self, ty: Type) -> Word {
        if let Some(id) = self.types.get(&ty) {
            return *id;
        }
        let id = match ty {
            Type::Void => self.global(Op::TypeVoid, None, &[]),
            Type::Bool => self.global(Op::TypeBool, None, &[]),
            Type::U32 => self.global(Op::TypeInt, None, &[32, 0]),
            Type::F32 => self.global(Op::TypeFloat, None, &[32]),
            Type::U64 => {
                self.capability(Capability::Int64);
                self.global(Op::TypeInt, None, &[64, 0])
            }
            Type::F64 => {
                self.capability(Capability::Float64);
                self.global(Op::TypeFloat, None, &[64])
            }
            Type::Vec(n) => {
                let word = self.ty(Type::U32);
                self.global(Op::TypeVector, None, &[word, n])
            }
            Type::Doubles => {
                let double = self.ty(Type::F64);
                self.global(Op::TypeVector, None, &[double, 2])
            }
            Type::Pair => {
                let word = self.ty(Type::U32);
                self.global(Op::TypeStruct, None, &[word, word])
            }
            Type::Array(n) => {
                let (word, n) = (self.ty(Type::U32), self.word(n));
                self.global(Op::TypeArray, None, &[word, n])
            }
            Type::Pointer(class, to) => self.global(Op::TypePointer, None, &[class as u32, to]),
        };
        self.types.insert(ty, id);
        id
    }

    pub fn pointer(&mut self, class: StorageClass, to: Type) -> Word {
        let to = self.ty(to);
        self.ty(Type::Pointer(class, to))
    }

    /// A 32-bit integer constant.
    pub fn word(&mut self, bits: u32) -> Word {
        if let Some(id) = self.words.get(&bits) {
            return *id;
        }
        let ty = self.ty(Type::U32);
        let id = self.global(Op::Constant, Some(ty), &[bits]);
        self.words.insert(bits, id);
        self.bits.insert(id, bits);
        id
    }

    /// A float constant.
    pub fn float(&mut self, bits: u32) -> Word {
        let ty = self.ty(Type::F32);
        self.constant(Op::Constant, ty, bits.into(), &[bits])
    }

    /// A 64-bit integer constant.
    pub fn quad(&mut self, bits: u64) -> Word {
        let ty = self.ty(Type::U64);
        self.constant(Op::Constant, ty, bits, &[bits as u32, (bits >> 32) as u32])
    }

    /// A double constant.
    pub fn double(&mut self, bits: u64) -> Word {
        let ty = self.ty(Type::F64);
        self.constant(Op::Constant, ty, bits, &[bits as u32, (bits >> 32) as u32])
    }

    pub fn null(&mut self, ty: Word) -> Word {
        // No other constant of an aggregate is made; the key cannot collide with a scalar's.
        self.constant(Op::ConstantNull, ty, u64::MAX, &[])
    }

    pub fn truth(&mut self, value: bool) -> Word {
        let ty = self.ty(Type::Bool);
        let op = if value { Op::ConstantTrue } else { Op::ConstantFalse };
        self.constant(op, ty, value.into(), &[])
    }

    fn constant(&mut self, op: Op, ty: Word, bits: u64, literals: &[u32]) -> Word {
        if let Some(id) = self.constants.get(&(ty, bits)) {
            return *id;
        }
        let id = self.global(op, Some(ty), literals);
        self.constants.insert((ty, bits), id);
        id
    }

    /// A module-scope variable.
    pub fn variable(&mut self, class: StorageClass, ty: Word, initializer: Option<Word>) -> Word {
        let pointer = self.ty(Type::Pointer(class, ty));
        match initializer {
            Some(value) => self.global(Op::Variable, Some(pointer), &[class as u32, value]),
            None => self.global(Op::Variable, Some(pointer), &[class as u32]),
        }
    }
}
