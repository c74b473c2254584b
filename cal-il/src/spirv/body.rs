//! The bodies of functions: instructions, blocks, and values that are computed once.

use rspirv::spirv::{self, Decoration, MemoryAccess, Op, StorageClass, Word};
use smallvec::SmallVec;

use super::module::{GLSL, Type, Writer};
use super::values::{Section, Value, Values};
use crate::diagnostic::Span;

/// Alignment of an access through a device address.
pub(super) type Align = u32;

/// A variable of a function.
struct Local {
    id: Word,
    pointer: Word,
    initializer: Option<Word>,
    read: bool,
}

#[derive(Default)]
pub(super) struct OpenFunction {
    /// The function, its parameters and the label of its first block.
    head: Section,
    locals: Vec<Local>,
    /// What comes before everything else: values that do not depend on registers.
    prologue: Section,
    body: Section,
    /// Where the body stores to which of the locals.
    stores: Vec<(usize, u32)>,
    /// Values of the prologue.
    always: Values,
    /// Values known here.
    values: Values,
    /// Everything goes to the prologue.
    hoist: bool,
    /// Label of the open block.
    block: Option<Word>,
    /// From which words on what is in the prologue and in the body comes from which part of the kernel's text.
    marks: [Marks; 2],
}

/// Where in a list of words what comes from a part of the kernel's text begins.
pub(super) type Marks = Vec<(u32, Span)>;

/// Notes that what follows comes from there.
fn note(marks: &mut Marks, list: &Section, span: Span) {
    let at = list.0.len() as u32;
    match marks.last_mut() {
        Some((last, of)) if *last == at => *of = span,
        Some((_, of)) if *of == span => {}
        _ => marks.push((at, span)),
    }
}

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

impl Writer {
    /// Starts a function; returns its parameters. The function goes on in its first block.
    pub fn begin(&mut self, function: Word, result: Word, parameters: &[Word]) -> Vec<Word> {
        let mut types: SmallVec<[Word; 6]> = SmallVec::from_slice(&[result]);
        types.extend_from_slice(parameters);
        let ty = match self.function_types.get(&types) {
            Some(ty) => *ty,
            None => {
                let ty = self.global(Op::TypeFunction, None, &types);
                self.function_types.insert(types, ty);
                ty
            }
        };
        let mut open = OpenFunction::default();
        let control = spirv::FunctionControl::NONE.bits();
        open.head.push(Op::Function, &[result, function], &[control, ty]);
        let ids: Vec<Word> = parameters.iter().map(|_| self.id()).collect();
        for (ty, id) in parameters.iter().zip(&ids) {
            open.head.push(Op::FunctionParameter, &[*ty, *id], &[]);
        }
        let label = self.id();
        open.head.push(Op::Label, &[label], &[]);
        open.block = Some(label);
        self.open.push(open);
        ids
    }

    /// The innermost open function.
    fn function(&mut self) -> &mut OpenFunction {
        self.open.last_mut().expect("a function is open")
    }

    /// Ends the innermost open function. Variables that nothing reads go, with their stores.
    pub fn end(&mut self) {
        let open = self.open.pop().expect("end() pairs with begin()");
        assert!(open.block.is_none(), "the last block of a function has a terminator");
        let mut head = open.head;
        for local in open.locals.iter().filter(|local| local.read) {
            let class = StorageClass::Function as u32;
            match local.initializer {
                Some(value) => head.push(Op::Variable, &[local.pointer, local.id], &[class, value]),
                None => head.push(Op::Variable, &[local.pointer, local.id], &[class]),
            }
        }
        let (mut body, mut kept, mut read) = (open.body, 0, 0);
        let unread = open.stores.into_iter().filter(|(_, local)| !open.locals[*local as usize].read);
        let [prologue_marks, mut marks] = open.marks;
        let mut moved = 0;
        for at in unread.map(|(at, _)| at).chain([body.0.len()]) {
            // What begins up to here moves by what went before.
            while let Some((from, _)) = marks.get_mut(moved).filter(|(from, _)| *from as usize <= at) {
                *from = (kept + (*from as usize).saturating_sub(read)) as u32;
                moved += 1;
            }
            body.0.copy_within(read..at, kept);
            kept += at - read;
            read = at + body.0.get(at).map_or(0, |first| *first >> 16) as usize;
        }
        body.0.truncate(kept);
        body.push(Op::FunctionEnd, &[], &[]);
        self.functions.extend([head, open.prologue, body]);
        self.marks.extend([Marks::new(), prologue_marks, marks]);
    }

    /// Where what follows in the innermost open function comes from.
    pub fn origin(&self) -> Span {
        self.open.last().and_then(|open| open.marks[1].last()).map_or(Span::default(), |(_, span)| *span)
    }

    /// What follows in the innermost open function comes from this part of the kernel's text.
    pub fn comes_from(&mut self, span: Span) {
        if let Some(OpenFunction { prologue, body, marks: [in_prologue, in_body], .. }) = self.open.last_mut()
        {
            note(in_prologue, prologue, span);
            note(in_body, body, span);
        }
    }

    /// A function-scope variable, wherever the function is at the moment.
    pub fn local(&mut self, ty: Word, initializer: Option<Word>) -> Word {
        let pointer = self.ty(Type::Pointer(StorageClass::Function, ty));
        let id = self.id();
        let locals = &mut self.function().locals;
        let place = locals.len() as u32;
        locals.push(Local { id, pointer, initializer, read: false });
        self.local.insert(id, place);
        id
    }

    /// An instruction reads, or takes the address of, these.
    fn reads(&mut self, ids: &[Word]) {
        for id in ids {
            if let Some(place) = self.local.get(id).copied() {
                self.function().locals[place as usize].read = true;
            }
        }
    }

    /// Starts a block.
    pub fn label(&mut self, id: Word) {
        let open = self.function();
        assert!(open.block.is_none(), "the block before has a terminator");
        open.block = Some(id);
        open.body.push(Op::Label, &[id], &[]);
    }

    /// Whether the current block still takes instructions.
    pub fn reachable(&self) -> bool {
        self.open.last().is_some_and(|open| open.block.is_some())
    }

    /// Words of the innermost open function so far.
    pub fn length(&self) -> usize {
        self.open.last().map_or(0, |open| open.body.0.len())
    }

    /// Label of the current block.
    pub fn current(&self) -> Word {
        self.open.last().and_then(|open| open.block).expect("a block is open")
    }

    /// Appends to the current block, or to the prologue.
    fn push(&mut self, op: Op, head: &[Word], operands: &[u32]) {
        let open = self.function();
        if open.hoist {
            return open.prologue.push(op, head, operands);
        }
        assert!(open.block.is_some(), "a block is open");
        open.body.push(op, head, operands);
    }

    fn terminate(&mut self, op: Op, operands: &[u32]) {
        self.push(op, &[], operands);
        self.function().block = None;
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
        std::mem::replace(&mut self.function().hoist, on)
    }

    /// An instruction with a result and id operands. What was computed before is not computed again.
    pub fn op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        if is_pure(op) {
            return self.value(op, ty, false, operands);
        }
        self.reads(operands);
        let id = self.id();
        self.push(op, &[ty, id], operands);
        id
    }

    /// The same for arithmetic that must not be contracted.
    pub fn exact_op(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.value(op, ty, true, operands)
    }

    /// A value by its operands.
    fn value(&mut self, op: Op, ty: Word, exact: bool, operands: &[u32]) -> Word {
        if op == Op::AccessChain {
            self.reads(&operands[..1]);
        }
        let open = self.open.last_mut().expect("a function is open");
        let value = Value { op, ty, exact, operands };
        let hash = value.hash();
        // What goes to the beginning cannot use what was computed later.
        let later = || if open.hoist { None } else { open.values.get(&open.body, value, hash) };
        if let Some(id) = open.always.get(&open.prologue, value, hash).or_else(later) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        let ids = match op {
            Op::CompositeExtract => &operands[..1],
            Op::ExtInst => &operands[2..],
            _ => operands,
        };
        let known = |id: &Word| self.fixed.contains(*id) || self.global.contains(*id);
        // What thread and place say is fixed, but not a reason to compute ahead of conditions.
        let fixed = (open.hoist || is_cheap(op)) && ids.iter().all(known);
        if fixed {
            self.fixed.insert(id);
        }
        if open.hoist || fixed {
            open.always.add(&mut open.prologue, value, hash, id);
        } else {
            assert!(open.block.is_some(), "a block is open");
            open.values.add(&mut open.body, value, hash, id);
        }
        if exact {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    /// Loads what nobody writes during a launch: the launch table and the thread's identifiers.
    pub fn load_fixed(&mut self, ty: Word, pointer: Word) -> Word {
        let open = self.open.last_mut().expect("a function is open");
        let value = Value { op: Op::Load, ty, exact: false, operands: &[pointer] };
        let hash = value.hash();
        let later = || open.values.get(&open.body, value, hash);
        if let Some(id) = open.always.get(&open.prologue, value, hash).or_else(later) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        // A row of the table; what an input variable gives is no reason to compute ahead.
        let row = self.fixed.contains(pointer);
        if row {
            self.fixed.insert(id);
        }
        if row || open.hoist || self.global.contains(pointer) {
            open.always.add(&mut open.prologue, value, hash, id);
        } else {
            assert!(open.block.is_some(), "a block is open");
            open.values.add(&mut open.body, value, hash, id);
        }
        id
    }

    /// An instruction without result.
    pub fn act(&mut self, op: Op, operands: &[Word]) {
        self.reads(operands);
        self.push(op, &[], operands);
    }

    pub fn glsl(&mut self, instruction: spirv::GlslStd450Op, ty: Word, operands: &[Word]) -> Word {
        let mut all: SmallVec<[u32; 5]> = SmallVec::from_slice(&[GLSL, instruction as u32]);
        all.extend_from_slice(operands);
        self.value(Op::ExtInst, ty, false, &all)
    }

    pub fn extract(&mut self, ty: Word, composite: Word, index: u32) -> Word {
        self.value(Op::CompositeExtract, ty, false, &[composite, index])
    }

    /// Loads; with an alignment through a device address.
    pub fn load(&mut self, ty: Word, pointer: Word, align: Option<Align>) -> Word {
        self.reads(&[pointer]);
        let id = self.id();
        match align {
            Some(align) => self.push(Op::Load, &[ty, id], &[pointer, MemoryAccess::ALIGNED.bits(), align]),
            None => self.push(Op::Load, &[ty, id], &[pointer]),
        }
        id
    }

    /// Loads a word through a device address where it stands, whatever was loaded before.
    pub fn load_volatile(&mut self, ty: Word, pointer: Word, align: Align) -> Word {
        let id = self.id();
        let access = MemoryAccess::ALIGNED | MemoryAccess::VOLATILE;
        self.push(Op::Load, &[ty, id], &[pointer, access.bits(), align]);
        id
    }

    /// Stores; with an alignment through a device address.
    pub fn store(&mut self, pointer: Word, value: Word, align: Option<Align>) {
        if let Some(local) = self.local.get(&pointer).copied() {
            let open = self.function();
            debug_assert!(!open.hoist, "registers change in the body");
            open.stores.push((open.body.0.len(), local));
        }
        match align {
            Some(align) => self.push(Op::Store, &[pointer, value], &[MemoryAccess::ALIGNED.bits(), align]),
            None => self.push(Op::Store, &[pointer, value], &[]),
        }
    }

    pub fn selection_merge(&mut self, merge: Word) {
        self.push(Op::SelectionMerge, &[], &[merge, spirv::SelectionControl::NONE.bits()]);
    }

    pub fn loop_merge(&mut self, merge: Word, next: Word) {
        self.push(Op::LoopMerge, &[], &[merge, next, spirv::LoopControl::NONE.bits()]);
    }

    pub fn branch(&mut self, to: Word) {
        self.terminate(Op::Branch, &[to]);
    }

    pub fn branch_if(&mut self, condition: Word, yes: Word, no: Word) {
        self.terminate(Op::BranchConditional, &[condition, yes, no]);
    }

    pub fn switch(&mut self, selector: Word, default: Word, cases: &[(u32, Word)]) {
        let mut operands = vec![selector, default];
        operands.extend(cases.iter().flat_map(|(value, label)| [*value, *label]));
        self.terminate(Op::Switch, &operands);
    }

    pub fn return_void(&mut self) {
        self.terminate(Op::Return, &[]);
    }

    pub fn return_value(&mut self, value: Word) {
        self.terminate(Op::ReturnValue, &[value]);
    }
}
