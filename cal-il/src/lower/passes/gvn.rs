//! What was loaded, or computed by a long operation, and would be once more: readers take what is there already.
//!
//! The walk follows the structure: what a block has is there for what follows in it, and in the blocks inside. Registers
//! with a single definition are names for values, so two accesses with the same operands are the same access. Only memory
//! that nobody writes while the launch runs counts. Short operations are done again: back ends look for equal ones within
//! a block, and from block to block a register costs as much.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{Block, Builtin, Dst4, LaneOp, MemoryInst, Operand, Program, Reg, Space, StmtKind, visit};

/// A value without the registers that it goes to.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value {
    Lane(LaneOp, SmallVec<[Operand; 4]>),
    Memory(MemoryInst),
}

/// The values that are there, scope by scope, and where they are.
struct Walk<'a> {
    /// Which registers are names.
    names: &'a [bool],
    /// Memory is written while the launch runs.
    writes: bool,
    scopes: Vec<FxHashMap<Value, Dst4>>,
    /// What readers take instead of a register.
    instead: FxHashMap<Reg, Reg>,
}

/// Makes readers of equal values take the first one; what nobody reads then is for `sweep`. `names` are the registers that are
/// names for values; `uses`, how often each is read, is kept true.
pub(super) fn run(program: &mut Program, names: &[bool], uses: &mut [u32]) {
    let write =
        |kind: &StmtKind| matches!(kind, StmtKind::Memory(inst) if Access::of(inst) == Access::Writes);
    let interface = &program.interface;
    let writes = (interface.global || !interface.uavs.is_empty()) && visit::program_has(program, &write);
    let mut walk = Walk { names, writes, scopes: Vec::new(), instead: FxHashMap::default() };
    // A function may be called from anywhere: it knows nothing of its callers.
    program.functions.iter().for_each(|function| walk.block(&function.body));
    let Walk { instead, .. } = walk;
    if instead.is_empty() {
        return;
    }
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                if let (Some(&first), false) = (instead.get(reg), definition) {
                    uses[*reg as usize] -= 1;
                    uses[first as usize] += 1;
                    *reg = first;
                }
            });
        });
    }
}

/// What an access has to do with memory that a launch has in common.
#[derive(PartialEq)]
enum Access {
    /// It reads what is the same in the whole launch.
    Constant,
    /// It reads resources or constant buffers.
    Reads,
    /// It writes what may be one of those, too.
    Writes,
    Other,
}

impl Access {
    fn of(inst: &MemoryInst) -> Access {
        match inst {
            MemoryInst::ResourceInfo { .. }
            | MemoryInst::BufferInfo { .. }
            | MemoryInst::ImmediateLoad { .. } => Access::Constant,
            MemoryInst::Sample { .. }
            | MemoryInst::Gather { .. }
            | MemoryInst::Fetch { .. }
            | MemoryInst::ConstLoad { .. }
            | MemoryInst::RawLoad { space: Space::Srv(_), .. } => Access::Reads,
            MemoryInst::GlobalStore { .. }
            | MemoryInst::TypedStore { .. }
            | MemoryInst::RawStore { space: Space::Uav(_) | Space::Srv(_), .. }
            | MemoryInst::Atomic { space: Space::Uav(_) | Space::Srv(_), .. } => Access::Writes,
            MemoryInst::RawLoad { space: Space::Uav(_) | Space::Lds(_) | Space::Gds(_), .. }
            | MemoryInst::RawStore { space: Space::Lds(_) | Space::Gds(_), .. }
            | MemoryInst::Atomic { space: Space::Lds(_) | Space::Gds(_), .. }
            | MemoryInst::ArrayLoad { .. }
            | MemoryInst::ArrayStore { .. }
            | MemoryInst::GlobalLoad { .. }
            | MemoryInst::SharedLoad { .. }
            | MemoryInst::SharedStore { .. }
            | MemoryInst::TypedLoad { .. }
            | MemoryInst::LdsWriteOwn { .. }
            | MemoryInst::LdsReadAny { .. }
            | MemoryInst::Counter { .. }
            | MemoryInst::InitShared => Access::Other,
        }
    }
}

/// It is worth a register from block to block.
fn is_long(op: LaneOp) -> bool {
    // Conversions are transcendental to old chips alone.
    op.is_transcendental() && !matches!(op, LaneOp::Itof | LaneOp::Utof | LaneOp::Ftou)
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        self.scopes.push(FxHashMap::default());
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) if is_long(inst.op) => {
                    let [low, high] = inst.dst;
                    let dst = [Some(low), Some(high).filter(|high| *high != low), None, None];
                    self.value(Value::Lane(inst.op, inst.args.clone()), dst);
                }
                StmtKind::Memory(inst) if self.lasts(inst) => {
                    let mut bare = MemoryInst::clone(inst);
                    let dst = visit::loaded(&mut bare).map(std::mem::take).unwrap_or_default();
                    self.value(Value::Memory(bare), dst);
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Loop { body } => self.block(body),
                // Who falls into an arm need not have been in the one before.
                StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| self.block(&arm.body)),
                _ => {}
            }
        }
        self.scopes.pop();
    }

    /// It loads what nobody writes while the launch runs.
    fn lasts(&self, inst: &MemoryInst) -> bool {
        match Access::of(inst) {
            Access::Constant => true,
            Access::Reads => !self.writes,
            Access::Writes | Access::Other => false,
        }
    }

    /// A value that goes to registers: those of an earlier one are read instead, if it has all of them.
    fn value(&mut self, mut value: Value, dst: Dst4) {
        let mut named = true;
        let mut take = |operand: &mut Operand| {
            if let Operand::Reg(reg) = operand {
                *reg = self.instead.get(reg).copied().unwrap_or(*reg);
                named &= self.names[*reg as usize];
            }
            named &= !matches!(operand, Operand::Builtin(Builtin::Timer(_)));
        };
        match &mut value {
            Value::Lane(_, args) => args.iter_mut().for_each(take),
            Value::Memory(inst) => visit::memory_operands(inst, &mut |operand, _| take(operand)),
        }
        if !named || !dst.iter().flatten().all(|reg| self.names[*reg as usize]) {
            return;
        }
        let has =
            |first: &&Dst4| dst.iter().zip(first.iter()).all(|(dst, first)| dst.is_none() || first.is_some());
        match self.scopes.iter().rev().filter_map(|scope| scope.get(&value)).find(has) {
            Some(first) => {
                let pairs = dst.iter().zip(first).filter_map(|(dst, first)| Some(((*dst)?, (*first)?)));
                self.instead.extend(pairs);
            }
            None => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(value, dst);
                }
            }
        }
    }
}
