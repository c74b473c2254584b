//! Writing SPIR-V: types, constants, functions and blocks.
//!
//! A thin layer over rspirv's data representation. Types and constants are made once; functions may be started
//! while another is open (the outer one waits), so that conversion routines appear when first needed.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::known::Known;

use rspirv::binary::Assemble;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{self, Capability, Decoration, MemoryAccess, Op, StorageClass, Word};

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
    /// Vector of booleans… of floats never occurs; three words of a builtin.
    Pair,
    /// Array of words.
    Array(u32),
    Pointer(StorageClass, Word),
}

struct OpenFunction {
    function: dr::Function,
    variables: Vec<Instruction>,
    /// What comes before everything else: values that do not depend on registers.
    prologue: Vec<Instruction>,
    /// Their ids: operations on these alone are moved there too.
    fixed: FxHashSet<Word>,
    /// Values of the prologue.
    always: FxHashMap<Value, Word>,
    /// Values known here.
    values: Known<Value, Word>,
    /// Everything goes to the prologue.
    hoist: bool,
    block: Option<dr::Block>,
}

/// A computation without effect: instruction, type, whether it is kept from contraction, operands.
type Value = (Op, Word, bool, SmallVec<[u32; 4]>);

/// Whether an instruction depends on its operands alone.
fn is_pure(op: Op) -> bool {
    is_cheap(op)
        || matches!(
            op,
            Op::UDiv
                | Op::UMod
                | Op::FDiv
                | Op::UMulExtended
                | Op::SMulExtended
                | Op::IAddCarry
                | Op::ISubBorrow
                | Op::BitReverse
                | Op::BitCount
                | Op::FConvert
                | Op::ExtInst
        )
}

/// Pure, and not worth a condition.
fn is_cheap(op: Op) -> bool {
    matches!(
        op,
        Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FNegate
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::Not
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::Select
            | Op::IEqual
            | Op::INotEqual
            | Op::SLessThan
            | Op::ULessThan
            | Op::FOrdEqual
            | Op::FOrdLessThan
            | Op::FOrdLessThanEqual
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalNot
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::ConvertFToS
            | Op::Bitcast
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::AccessChain
    )
}

/// A module under construction.
pub(super) struct Writer {
    module: dr::Module,
    next: Word,
    types: HashMap<Type, Word>,
    constants: HashMap<(Word, u64), Word>,
    /// Bits of 32-bit integer constants by id.
    pub bits: FxHashMap<Word, u32>,
    /// Types, constants and variables of the module.
    globals: FxHashSet<Word>,
    open: Vec<OpenFunction>,
    pub glsl: Word,
}

/// Alignment of an access through a device address.
pub(super) type Align = u32;

impl Writer {
    pub fn new() -> Self {
        let mut module = dr::Module::new();
        module.memory_model = Some(Instruction::new(
            Op::MemoryModel,
            None,
            None,
            vec![
                Operand::AddressingModel(spirv::AddressingModel::PhysicalStorageBuffer64),
                Operand::MemoryModel(spirv::MemoryModel::GLSL450),
            ],
        ));
        module.ext_inst_imports.push(Instruction::new(
            Op::ExtInstImport,
            None,
            Some(1),
            vec![Operand::LiteralString("GLSL.std.450".into())],
        ));
        let mut writer = Self {
            module,
            next: 2,
            types: HashMap::new(),
            constants: HashMap::new(),
            bits: FxHashMap::default(),
            globals: FxHashSet::default(),
            open: Vec::new(),
            glsl: 1,
        };
        writer.capability(Capability::Shader);
        writer.capability(Capability::PhysicalStorageBufferAddresses);
        writer
    }

    /// The finished words.
    pub fn finish(mut self) -> Vec<u32> {
        let mut header = dr::ModuleHeader::new(self.next);
        header.set_version(1, 5);
        self.module.header = Some(header);
        self.module.assemble()
    }

    pub fn id(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    pub fn capability(&mut self, capability: Capability) {
        let instruction = Instruction::new(Op::Capability, None, None, vec![Operand::Capability(capability)]);
        if !self.module.capabilities.contains(&instruction) {
            self.module.capabilities.push(instruction);
        }
    }

    pub fn entry_point(&mut self, function: Word, interface: &[Word]) {
        let mut operands = vec![
            Operand::ExecutionModel(spirv::ExecutionModel::GLCompute),
            Operand::IdRef(function),
            Operand::LiteralString("main".into()),
        ];
        operands.extend(interface.iter().map(|id| Operand::IdRef(*id)));
        self.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
    }

    pub fn execution_mode(&mut self, function: Word, mode: spirv::ExecutionMode, literals: &[u32]) {
        let mut operands = vec![Operand::IdRef(function), Operand::ExecutionMode(mode)];
        operands.extend(literals.iter().map(|n| Operand::LiteralBit32(*n)));
        self.module.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    }

    pub fn decorate(&mut self, id: Word, decoration: Decoration, literals: &[u32]) {
        let mut operands = vec![Operand::IdRef(id), Operand::Decoration(decoration)];
        operands.extend(literals.iter().map(|n| Operand::LiteralBit32(*n)));
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    pub fn decorate_builtin(&mut self, id: Word, builtin: spirv::BuiltIn) {
        let operands =
            vec![Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(builtin)];
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    pub fn decorate_member(&mut self, id: Word, member: u32, decoration: Decoration, literals: &[u32]) {
        let mut operands =
            vec![Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration)];
        operands.extend(literals.iter().map(|n| Operand::LiteralBit32(*n)));
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    /// A type, constant or variable of the module.
    pub fn global(&mut self, op: Op, ty: Option<Word>, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, ty, Some(id), operands));
        self.globals.insert(id);
        id
    }

    pub fn ty(&mut self, ty: Type) -> Word {
        if let Some(id) = self.types.get(&ty) {
            return *id;
        }
        let lit = Operand::LiteralBit32;
        let id = match ty {
            Type::Void => self.global(Op::TypeVoid, None, vec![]),
            Type::Bool => self.global(Op::TypeBool, None, vec![]),
            Type::U32 => self.global(Op::TypeInt, None, vec![lit(32), lit(0)]),
            Type::F32 => self.global(Op::TypeFloat, None, vec![lit(32)]),
            Type::U64 => {
                self.capability(Capability::Int64);
                self.global(Op::TypeInt, None, vec![lit(64), lit(0)])
            }
            Type::F64 => {
                self.capability(Capability::Float64);
                self.global(Op::TypeFloat, None, vec![lit(64)])
            }
            Type::Vec(n) => {
                let word = self.ty(Type::U32);
                self.global(Op::TypeVector, None, vec![Operand::IdRef(word), lit(n)])
            }
            Type::Pair => {
                let word = self.ty(Type::U32);
                self.global(Op::TypeStruct, None, vec![Operand::IdRef(word), Operand::IdRef(word)])
            }
            Type::Array(n) => {
                let (word, n) = (self.ty(Type::U32), self.word(n));
                self.global(Op::TypeArray, None, vec![Operand::IdRef(word), Operand::IdRef(n)])
            }
            Type::Pointer(class, to) => {
                self.global(Op::TypePointer, None, vec![Operand::StorageClass(class), Operand::IdRef(to)])
            }
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
        let ty = self.ty(Type::U32);
        let id = self.constant(ty, u64::from(bits), Operand::LiteralBit32(bits));
        self.bits.insert(id, bits);
        id
    }

    /// A float constant.
    pub fn float(&mut self, bits: u32) -> Word {
        let ty = self.ty(Type::F32);
        self.constant(ty, u64::from(bits), Operand::LiteralBit32(bits))
    }

    /// A 64-bit integer constant.
    pub fn quad(&mut self, bits: u64) -> Word {
        let ty = self.ty(Type::U64);
        self.constant(ty, bits, Operand::LiteralBit64(bits))
    }

    fn constant(&mut self, ty: Word, bits: u64, literal: Operand) -> Word {
        if let Some(id) = self.constants.get(&(ty, bits)) {
            return *id;
        }
        let id = self.global(Op::Constant, Some(ty), vec![literal]);
        self.constants.insert((ty, bits), id);
        id
    }

    pub fn null(&mut self, ty: Word) -> Word {
        // No other constant of an aggregate is made; the key cannot collide with a scalar's.
        if let Some(id) = self.constants.get(&(ty, u64::MAX)) {
            return *id;
        }
        let id = self.global(Op::ConstantNull, Some(ty), vec![]);
        self.constants.insert((ty, u64::MAX), id);
        id
    }

    pub fn truth(&mut self, value: bool) -> Word {
        let ty = self.ty(Type::Bool);
        if let Some(id) = self.constants.get(&(ty, u64::from(value))) {
            return *id;
        }
        let op = if value { Op::ConstantTrue } else { Op::ConstantFalse };
        let id = self.global(op, Some(ty), vec![]);
        self.constants.insert((ty, u64::from(value)), id);
        id
    }

    /// A module-scope variable.
    pub fn variable(&mut self, class: StorageClass, ty: Word, initializer: Option<Word>) -> Word {
        let pointer = self.ty(Type::Pointer(class, ty));
        let mut operands = vec![Operand::StorageClass(class)];
        operands.extend(initializer.map(Operand::IdRef));
        self.global(Op::Variable, Some(pointer), operands)
    }

    /// Starts a function; returns its parameters. The function goes on in its first block.
    pub fn begin(&mut self, function: Word, result: Word, parameters: &[Word]) -> Vec<Word> {
        let mut operands = vec![Operand::IdRef(result)];
        operands.extend(parameters.iter().map(|ty| Operand::IdRef(*ty)));
        // Function types may not be declared twice.
        let found = self
            .module
            .types_global_values
            .iter()
            .find(|i| i.class.opcode == Op::TypeFunction && i.operands == operands);
        let ty = match found.and_then(|i| i.result_id) {
            Some(id) => id,
            None => self.global(Op::TypeFunction, None, operands),
        };
        let mut body = dr::Function::new();
        body.def = Some(Instruction::new(
            Op::Function,
            Some(result),
            Some(function),
            vec![Operand::FunctionControl(spirv::FunctionControl::NONE), Operand::IdRef(ty)],
        ));
        let ids: Vec<Word> = parameters.iter().map(|_| self.id()).collect();
        for (ty, id) in parameters.iter().zip(&ids) {
            body.parameters.push(Instruction::new(Op::FunctionParameter, Some(*ty), Some(*id), vec![]));
        }
        self.open.push(OpenFunction {
            function: body,
            variables: Vec::new(),
            prologue: Vec::new(),
            fixed: FxHashSet::default(),
            always: FxHashMap::default(),
            values: Known::default(),
            hoist: false,
            block: None,
        });
        let label = self.id();
        self.label(label);
        ids
    }

    /// Ends the innermost open function.
    pub fn end(&mut self) {
        let mut open = self.open.pop().expect("end() pairs with begin()");
        assert!(open.block.is_none(), "the last block of a function has a terminator");
        drop_unread(&mut open.function, &mut open.variables);
        let first = &mut open.function.blocks[0].instructions;
        first.splice(0..0, open.variables.into_iter().chain(open.prologue));
        open.function.end = Some(Instruction::new(Op::FunctionEnd, None, None, vec![]));
        self.module.functions.push(open.function);
    }

    /// A function-scope variable, wherever the function is at the moment.
    pub fn local(&mut self, ty: Word, initializer: Option<Word>) -> Word {
        let pointer = self.ty(Type::Pointer(StorageClass::Function, ty));
        let id = self.id();
        let mut operands = vec![Operand::StorageClass(StorageClass::Function)];
        operands.extend(initializer.map(Operand::IdRef));
        let open = self.open.last_mut().expect("a function is open");
        open.variables.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
        id
    }

    /// Starts a block.
    pub fn label(&mut self, id: Word) {
        let open = self.open.last_mut().expect("a function is open");
        assert!(open.block.is_none(), "the block before has a terminator");
        let mut block = dr::Block::new();
        block.label = Some(Instruction::new(Op::Label, None, Some(id), vec![]));
        open.block = Some(block);
    }

    /// Whether the current block still takes instructions.
    pub fn reachable(&self) -> bool {
        self.open.last().is_some_and(|open| open.block.is_some())
    }

    /// Label of the current block.
    pub fn current(&self) -> Word {
        let block = self.open.last().and_then(|open| open.block.as_ref()).expect("a block is open");
        block.label.as_ref().and_then(|label| label.result_id).expect("blocks have labels")
    }

    fn push(&mut self, instruction: Instruction) {
        let open = self.open.last_mut().expect("a function is open");
        if open.hoist {
            return open.prologue.push(instruction);
        }
        open.block.as_mut().expect("a block is open").instructions.push(instruction);
    }

    fn terminate(&mut self, instruction: Instruction) {
        self.push(instruction);
        let open = self.open.last_mut().expect("a function is open");
        open.function.blocks.extend(open.block.take());
    }

    /// What is known now about values of the innermost open function.
    pub fn mark(&self) -> usize {
        self.open.last().map_or(0, |open| open.values.mark())
    }

    /// Knows again what was known then.
    pub fn rewind(&mut self, mark: usize) {
        if let Some(open) = self.open.last_mut() {
            open.values.rewind(mark);
        }
    }

    /// From now on everything goes, or no longer goes, to the beginning of the function. Only what does not depend on
    /// control flow may. Returns how it was.
    pub fn hoist(&mut self, on: bool) -> bool {
        let open = self.open.last_mut().expect("a function is open");
        std::mem::replace(&mut open.hoist, on)
    }

    /// An instruction with a result and id operands. What was computed before is not computed again.
    pub fn op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        if is_pure(op) {
            return self.value(op, ty, false, operands, |operands| {
                operands.iter().map(|id| Operand::IdRef(*id)).collect()
            });
        }
        let operands = operands.iter().map(|id| Operand::IdRef(*id)).collect();
        self.op_with(op, ty, operands)
    }

    /// The same for arithmetic that must not be contracted.
    pub fn exact_op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.value(op, ty, true, operands, |operands| operands.iter().map(|id| Operand::IdRef(*id)).collect())
    }

    /// A value by its operands, of which literals only follow ids.
    fn value(
        &mut self,
        op: Op,
        ty: Word,
        exact: bool,
        operands: &[u32],
        encode: impl FnOnce(&[u32]) -> Vec<Operand>,
    ) -> Word {
        let open = self.open.last_mut().expect("a function is open");
        let key: Value = (op, ty, exact, SmallVec::from_slice(operands));
        // What goes to the beginning cannot use what was computed later.
        let later = || if open.hoist { None } else { open.values.get(&key) };
        if let Some(id) = open.always.get(&key).copied().or_else(later) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        let ids = match op {
            Op::CompositeExtract => &operands[..1],
            Op::ExtInst => &operands[2..],
            _ => operands,
        };
        let known = |id: &Word| open.fixed.contains(id) || self.globals.contains(id);
        // What thread and place say is fixed, but not a reason to compute ahead of conditions.
        let early = open.hoist || (is_cheap(op) && ids.iter().all(known));
        let instruction = Instruction::new(op, Some(ty), Some(id), encode(operands));
        if early {
            open.prologue.push(instruction);
            if ids.iter().all(known) {
                open.fixed.insert(id);
            }
            open.always.insert(key, id);
        } else {
            open.values.insert(key, id);
            self.push(instruction);
        }
        if exact {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    /// Loads what nobody writes during a launch: the launch table and the thread's identifiers.
    pub fn load_fixed(&mut self, ty: Word, pointer: Word) -> Word {
        let open = self.open.last_mut().expect("a function is open");
        let key: Value = (Op::Load, ty, false, SmallVec::from_slice(&[pointer]));
        if let Some(id) = open.always.get(&key).copied().or_else(|| open.values.get(&key)) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        let instruction = Instruction::new(Op::Load, Some(ty), Some(id), vec![Operand::IdRef(pointer)]);
        if open.fixed.contains(&pointer) {
            // A row of the table.
            open.fixed.insert(id);
            open.always.insert(key, id);
            open.prologue.push(instruction);
        } else if self.globals.contains(&pointer) {
            // An input variable.
            open.always.insert(key, id);
            open.prologue.push(instruction);
        } else {
            open.values.insert(key, id);
            self.push(instruction);
        }
        id
    }

    /// An instruction with a result and any operands.
    pub fn op_with(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.id();
        self.push(Instruction::new(op, Some(ty), Some(id), operands));
        id
    }

    /// An instruction without result.
    pub fn act(&mut self, op: Op, operands: &[Word]) {
        let operands = operands.iter().map(|id| Operand::IdRef(*id)).collect();
        self.push(Instruction::new(op, None, None, operands));
    }

    pub fn glsl(&mut self, instruction: spirv::GlslStd450Op, ty: Word, operands: &[Word]) -> Word {
        let mut all: SmallVec<[u32; 6]> = SmallVec::from_slice(&[self.glsl, instruction as u32]);
        all.extend_from_slice(operands);
        self.value(Op::ExtInst, ty, false, &all, |all| {
            let mut encoded = vec![Operand::IdRef(all[0]), Operand::LiteralExtInstInteger(all[1])];
            encoded.extend(all[2..].iter().map(|id| Operand::IdRef(*id)));
            encoded
        })
    }

    pub fn extract(&mut self, ty: Word, composite: Word, index: u32) -> Word {
        self.value(Op::CompositeExtract, ty, false, &[composite, index], |all| {
            vec![Operand::IdRef(all[0]), Operand::LiteralBit32(all[1])]
        })
    }

    /// Loads; with an alignment through a device address.
    pub fn load(&mut self, ty: Word, pointer: Word, align: Option<Align>) -> Word {
        let mut operands = vec![Operand::IdRef(pointer)];
        if let Some(align) = align {
            operands.push(Operand::MemoryAccess(MemoryAccess::ALIGNED));
            operands.push(Operand::LiteralBit32(align));
        }
        self.op_with(Op::Load, ty, operands)
    }

    /// Stores; with an alignment through a device address.
    pub fn store(&mut self, pointer: Word, value: Word, align: Option<Align>) {
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(value)];
        if let Some(align) = align {
            operands.push(Operand::MemoryAccess(MemoryAccess::ALIGNED));
            operands.push(Operand::LiteralBit32(align));
        }
        self.push(Instruction::new(Op::Store, None, None, operands));
    }

    pub fn selection_merge(&mut self, merge: Word) {
        let operands = vec![Operand::IdRef(merge), Operand::SelectionControl(spirv::SelectionControl::NONE)];
        self.push(Instruction::new(Op::SelectionMerge, None, None, operands));
    }

    pub fn loop_merge(&mut self, merge: Word, next: Word) {
        let operands =
            vec![Operand::IdRef(merge), Operand::IdRef(next), Operand::LoopControl(spirv::LoopControl::NONE)];
        self.push(Instruction::new(Op::LoopMerge, None, None, operands));
    }

    pub fn branch(&mut self, to: Word) {
        self.terminate(Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(to)]));
    }

    pub fn branch_if(&mut self, condition: Word, yes: Word, no: Word) {
        let operands = [condition, yes, no].map(Operand::IdRef).to_vec();
        self.terminate(Instruction::new(Op::BranchConditional, None, None, operands));
    }

    pub fn switch(&mut self, selector: Word, default: Word, cases: &[(u32, Word)]) {
        let mut operands = vec![Operand::IdRef(selector), Operand::IdRef(default)];
        for (value, label) in cases {
            operands.extend([Operand::LiteralBit32(*value), Operand::IdRef(*label)]);
        }
        self.terminate(Instruction::new(Op::Switch, None, None, operands));
    }

    pub fn return_void(&mut self) {
        self.terminate(Instruction::new(Op::Return, None, None, vec![]));
    }

    pub fn return_value(&mut self, value: Word) {
        self.terminate(Instruction::new(Op::ReturnValue, None, None, vec![Operand::IdRef(value)]));
    }
}

/// Removes variables of the function that nothing reads, with their stores.
fn drop_unread(function: &mut dr::Function, variables: &mut Vec<Instruction>) {
    let mut unread: FxHashSet<Word> = variables.iter().filter_map(|variable| variable.result_id).collect();
    for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
        let stored = instruction.class.opcode == Op::Store;
        for operand in instruction.operands.iter().skip(usize::from(stored)) {
            if let Operand::IdRef(id) = operand {
                unread.remove(id);
            }
        }
    }
    if unread.is_empty() {
        return;
    }
    variables.retain(|variable| !variable.result_id.is_some_and(|id| unread.contains(&id)));
    for block in &mut function.blocks {
        block.instructions.retain(|instruction| {
            match (instruction.class.opcode, instruction.operands.first()) {
                (Op::Store, Some(Operand::IdRef(pointer))) => !unread.contains(pointer),
                _ => true,
            }
        });
    }
}
