//! Visits statements, their operands and destinations: what a new memory instruction reads and writes of registers is said here once. What it
//! does to memory is [`MemoryInst::effect`].

use rustc_hash::FxHashSet;

use smallvec::SmallVec;

use super::{
    Area, AtomicAddress, Block, Dst4, Function, Id, InfoSource, MemoryInst, Operand, Program, Reg, Src4,
    Stmt, StmtKind,
};

/// How a statement takes an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// As a float that must be flushed; the payload of a NaN does not matter.
    Float,
    /// Bit for bit.
    Word,
    /// Only whether any bit is set.
    Test,
}

/// Calls `f` with every operand of `inst`.
pub fn memory_operands(inst: &mut MemoryInst, f: &mut dyn FnMut(&mut Operand, Use)) {
    let id = |id: &mut Id, f: &mut dyn FnMut(&mut Operand, Use)| {
        if let Some(index) = &mut id.index {
            f(index, Use::Word);
        }
    };
    let src4 = |src: &mut Src4, f: &mut dyn FnMut(&mut Operand, Use)| {
        src.iter_mut().flatten().for_each(|word| f(word, Use::Word));
    };
    match inst {
        MemoryInst::Sample { resource, sampler, coord, .. } => {
            id(resource, f);
            id(sampler, f);
            coord.iter_mut().for_each(|word| f(word, Use::Float));
        }
        MemoryInst::Gather { resource, sampler, coord, texel_offset, .. } => {
            id(resource, f);
            id(sampler, f);
            coord.iter_mut().for_each(|word| f(word, Use::Float));
            texel_offset.iter_mut().flatten().for_each(|word| f(word, Use::Word));
        }
        MemoryInst::Fetch { resource, coord, .. } => {
            id(resource, f);
            coord.iter_mut().for_each(|word| f(word, Use::Word));
        }
        MemoryInst::ResourceInfo { resource, .. } => id(resource, f),
        MemoryInst::BufferInfo { of: InfoSource::Resource(resource), .. } => id(resource, f),
        MemoryInst::BufferInfo { .. }
        | MemoryInst::SharedLoad { .. }
        | MemoryInst::Counter { .. }
        | MemoryInst::InitShared => {}
        MemoryInst::ConstLoad { index, .. }
        | MemoryInst::ImmediateLoad { index, .. }
        | MemoryInst::ArrayLoad { index, .. }
        | MemoryInst::GlobalLoad { index, .. } => f(index, Use::Word),
        MemoryInst::ArrayStore { index, src, .. } | MemoryInst::GlobalStore { index, src, .. } => {
            f(index, Use::Word);
            src4(src, f);
        }
        MemoryInst::SharedStore { src, .. } | MemoryInst::LdsWriteOwn { src, .. } => src4(src, f),
        MemoryInst::RawLoad { address, .. } => f(address, Use::Word),
        MemoryInst::RawStore { address, src, .. } => {
            f(address, Use::Word);
            src4(src, f);
        }
        MemoryInst::TypedLoad { coord, .. } => coord.iter_mut().for_each(|word| f(word, Use::Word)),
        MemoryInst::TypedStore { coord, src, .. } => {
            coord.iter_mut().for_each(|word| f(word, Use::Word));
            src.iter_mut().for_each(|word| f(word, Use::Word));
        }
        MemoryInst::Atomic { address, src, src2, wide, .. } => {
            match address {
                AtomicAddress::Byte(address) => f(address, Use::Word),
                AtomicAddress::Texel(coord) => coord.iter_mut().for_each(|word| f(word, Use::Word)),
            }
            f(src, Use::Word);
            src2.iter_mut().for_each(|word| f(word, Use::Word));
            if let Some(wide) = wide {
                f(&mut wide.src, Use::Word);
                wide.src2.iter_mut().for_each(|word| f(word, Use::Word));
            }
        }
        MemoryInst::LdsReadAny { thread, offset, .. } => {
            f(thread, Use::Word);
            f(offset, Use::Word);
        }
    }
}

/// Where a load leaves its components; `None` if it is none, or does more than load.
pub fn loaded(inst: &mut MemoryInst) -> Option<&mut Dst4> {
    match inst {
        MemoryInst::Sample { dst, .. }
        | MemoryInst::Gather { dst, .. }
        | MemoryInst::Fetch { dst, .. }
        | MemoryInst::ResourceInfo { dst, .. }
        | MemoryInst::BufferInfo { dst, .. }
        | MemoryInst::ConstLoad { dst, .. }
        | MemoryInst::ImmediateLoad { dst, .. }
        | MemoryInst::ArrayLoad { dst, .. }
        | MemoryInst::GlobalLoad { dst, .. }
        | MemoryInst::SharedLoad { dst, .. }
        | MemoryInst::RawLoad { dst, .. }
        | MemoryInst::TypedLoad { dst, .. }
        | MemoryInst::LdsReadAny { dst, .. } => Some(dst),
        MemoryInst::Atomic { .. }
        | MemoryInst::Counter { .. }
        | MemoryInst::ArrayStore { .. }
        | MemoryInst::GlobalStore { .. }
        | MemoryInst::SharedStore { .. }
        | MemoryInst::RawStore { .. }
        | MemoryInst::TypedStore { .. }
        | MemoryInst::LdsWriteOwn { .. }
        | MemoryInst::InitShared => None,
    }
}

/// Calls `f` with every register that `inst` writes.
pub fn memory_destinations(inst: &mut MemoryInst, f: &mut dyn FnMut(&mut Reg)) {
    match inst {
        MemoryInst::Atomic { dst, wide, .. } => {
            dst.iter_mut().for_each(&mut *f);
            if let Some(wide) = wide {
                wide.dst.iter_mut().for_each(f);
            }
        }
        MemoryInst::Counter { dst, .. } => f(dst),
        other => loaded(other).into_iter().flatten().flatten().for_each(f),
    }
}

/// The condition or selector that a statement tests before its blocks run.
pub fn tested(kind: &mut StmtKind) -> Option<(&mut Operand, Use)> {
    match kind {
        StmtKind::If { cond, .. } | StmtKind::Discard(cond) => Some((&mut cond.operand, Use::Test)),
        StmtKind::Break(cond)
        | StmtKind::Continue(cond)
        | StmtKind::Return(cond)
        | StmtKind::Call { cond, .. } => cond.as_mut().map(|cond| (&mut cond.operand, Use::Test)),
        StmtKind::Switch { selector, .. } => Some((selector, Use::Word)),
        StmtKind::Lane(_) | StmtKind::Memory(_) | StmtKind::Loop { .. } | StmtKind::Fence(_) => None,
    }
}

/// The operands of `inst`.
pub fn operands_of(inst: &MemoryInst) -> SmallVec<[Operand; 8]> {
    let mut all = SmallVec::new();
    memory_operands(&mut inst.clone(), &mut |operand, _| all.push(*operand));
    all
}

/// The registers that `inst` writes.
pub fn destinations_of(inst: &MemoryInst) -> SmallVec<[Reg; 4]> {
    let mut all = SmallVec::new();
    memory_destinations(&mut inst.clone(), &mut |reg| all.push(*reg));
    all
}

/// The condition or selector of a statement.
pub fn tested_of(kind: &StmtKind) -> Option<Operand> {
    match kind {
        StmtKind::If { cond, .. } | StmtKind::Discard(cond) => Some(cond.operand),
        StmtKind::Break(cond)
        | StmtKind::Continue(cond)
        | StmtKind::Return(cond)
        | StmtKind::Call { cond, .. } => cond.map(|cond| cond.operand),
        StmtKind::Switch { selector, .. } => Some(*selector),
        StmtKind::Lane(_) | StmtKind::Memory(_) | StmtKind::Loop { .. } | StmtKind::Fence(_) => None,
    }
}

/// Calls `f` with every register of the statement itself, not of its blocks: those it reads, then those it writes
/// (`true`). A 64-bit result names two.
#[inline]
pub fn registers(kind: &mut StmtKind, f: &mut impl FnMut(&mut Reg, bool)) {
    let mut read = |operand: &mut Operand| {
        if let Operand::Reg(reg) = operand {
            f(reg, false);
        }
    };
    match kind {
        StmtKind::Lane(inst) => {
            inst.args.iter_mut().for_each(read);
            let [low, high] = &mut inst.dst;
            let wide = low != high;
            f(low, true);
            if wide {
                f(high, true);
            } else {
                *high = *low;
            }
        }
        StmtKind::Memory(inst) => {
            memory_operands(inst, &mut |operand, _| read(operand));
            memory_destinations(inst, &mut |reg| f(reg, true));
        }
        other => {
            if let Some((operand, _)) = tested(other) {
                read(operand);
            }
        }
    }
}

/// Whether `f` says yes to a statement of `block` or of the blocks in it.
pub fn any(block: &[Stmt], f: &impl Fn(&StmtKind) -> bool) -> bool {
    block.iter().any(|stmt| {
        f(&stmt.kind) || stmt.kind.is_construct() && stmt.kind.blocks().any(|block| any(block, f))
    })
}

/// Whether threads may go on with the next round of the loop around from within the statements.
pub fn continues(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match &stmt.kind {
        StmtKind::Continue(_) => true,
        StmtKind::Loop { .. } => false,
        kind => kind.blocks().any(|block| continues(block)),
    })
}

/// How many statements there are, those of blocks in blocks among them.
pub fn count(block: &[Stmt]) -> usize {
    let inner = |stmt: &Stmt| stmt.kind.blocks().map(|block| count(block)).sum::<usize>();
    block.len() + block.iter().filter(|stmt| stmt.kind.is_construct()).map(inner).sum::<usize>()
}

/// Whether `f` says yes to a statement of a function.
pub fn program_has(program: &Program, f: &impl Fn(&StmtKind) -> bool) -> bool {
    program.functions.iter().any(|function| any(&function.body, f))
}

/// Calls `f` with every statement of `block` and of the blocks in it, outer before inner.
pub fn statements(block: &mut Block, f: &mut impl FnMut(&mut Stmt)) {
    for stmt in block {
        f(stmt);
        if stmt.kind.is_construct() {
            stmt.kind.blocks_mut().for_each(|block| statements(block, f));
        }
    }
}

/// Puts what `f` makes of them in place of the blocks of a construct.
pub fn each_block(kind: &mut StmtKind, f: &mut impl FnMut(Block) -> Block) {
    kind.blocks_mut().for_each(|block| *block = f(std::mem::take(block)));
}

/// Calls `f` with every statement of `block` and of the blocks in it, outer before inner.
pub fn each(block: &[Stmt], f: &mut impl FnMut(&Stmt)) {
    for stmt in block {
        f(stmt);
        if stmt.kind.is_construct() {
            stmt.kind.blocks().for_each(|block| each(block, f));
        }
    }
}

/// The same as [`registers`] for who changes none.
#[inline]
pub fn named(kind: &StmtKind, f: &mut impl FnMut(Reg, bool)) {
    let read = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            f(*reg, false);
        }
    };
    match kind {
        StmtKind::Lane(inst) => {
            inst.args.iter().for_each(read);
            let [low, high] = inst.dst;
            f(low, true);
            if high != low {
                f(high, true);
            }
        }
        StmtKind::Memory(inst) => {
            operands_of(inst).iter().for_each(read);
            destinations_of(inst).into_iter().for_each(|reg| f(reg, true));
        }
        other => tested_of(other).iter().for_each(read),
    }
}

/// Calls `f` for every register that the statements touch, with true where they write it. Does not enter calls.
pub fn touched(block: &[Stmt], f: &mut impl FnMut(Reg, bool)) {
    each(block, &mut |stmt| named(&stmt.kind, f));
}

/// Functions that `block` calls, directly.
pub fn calls(block: &Block, f: &mut impl FnMut(usize)) {
    for statement in block {
        match &statement.kind {
            StmtKind::Call { function, .. } => f(*function),
            kind => kind.blocks().for_each(|block| calls(block, f)),
        }
    }
}

/// Numbers of the functions that main reaches, callees before callers, main last.
pub fn order(functions: &[Function]) -> Vec<usize> {
    fn enter(functions: &[Function], n: usize, seen: &mut FxHashSet<usize>, out: &mut Vec<usize>) {
        if seen.insert(n) {
            if let Some(function) = functions.get(n) {
                calls(&function.body, &mut |callee| enter(functions, callee, seen, out));
                out.push(n);
            }
        }
    }
    let mut out = Vec::new();
    enter(functions, 0, &mut FxHashSet::default(), &mut out);
    out
}

/// The memory that a program stores to, but for what only a thread or a group sees.
pub fn stored(program: &Program) -> FxHashSet<Area> {
    let mut all = FxHashSet::default();
    for function in &program.functions {
        each(&function.body, &mut |stmt| {
            if let Some(inst) = stmt.kind.memory()
                && !inst.is_load()
                && let (area, _) = inst.effect()
                && (area.is_global() || matches!(area, Area::Gds(_)))
            {
                all.insert(area);
            }
        });
    }
    all
}

/// Calls `f` for the registers that the statements may write, called functions included.
pub fn written(program: &Program, block: &Block, f: &mut impl FnMut(Reg)) {
    fn enter(program: &Program, block: &Block, f: &mut impl FnMut(Reg), seen: &mut FxHashSet<usize>) {
        touched(block, &mut |register, writes| {
            if writes {
                f(register);
            }
        });
        calls(block, &mut |callee| {
            if seen.insert(callee) {
                enter(program, &program.functions[callee].body, f, seen);
            }
        });
    }
    enter(program, block, f, &mut FxHashSet::default());
}
