//! Equal values are one: readers take what is there already.
//!
//! A register with one definition, which does not also hold the zero of the beginning, is a name for a value. Where that
//! definition is a move, readers take the source instead: a constant, a constant buffer word, a value of the launch, or
//! another such name; what becomes constant is computed. What was loaded, or computed by a long operation, is not once more.
//!
//! The walk follows the structure: what a block has is there for what follows in it, and in the blocks inside. Two accesses
//! with the same operands are the same access if nobody writes that memory while the launch runs. Short operations are
//! done again: back ends look for equal ones within a block, and from block to block a register costs as much.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::values::uses_of_outputs;
use crate::ir::{
    Area, Block, Builtin, Dst4, Effect, LaneInst, LaneOp, MemoryInst, Operand, Program, StmtKind, visit,
};
use crate::lower::fold;

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
    /// By register: what readers take instead.
    instead: Vec<Option<Operand>>,
    /// By register: how often it is read.
    uses: Vec<u32>,
}

/// Makes readers take what is there. `names` are the registers that are names for values. Returns how often each register is
/// read then; what nobody reads is for `dce`.
pub(super) fn run(program: &mut Program, names: &[bool]) -> Vec<u32> {
    let write = |kind: &StmtKind| kind.memory().is_some_and(writes);
    let interface = &program.interface;
    let writes = (interface.global || !interface.uavs.is_empty()) && visit::program_has(program, &write);
    let instead = vec![None; program.registers as usize];
    let mut walk = Walk { names, writes, scopes: Vec::new(), instead, uses: uses_of_outputs(program) };
    // A function may be called from anywhere: it knows nothing of its callers.
    program.functions.iter_mut().for_each(|function| walk.block(&mut function.body));
    walk.uses
}

/// It writes what may be a resource or a constant buffer, too.
fn writes(inst: &MemoryInst) -> bool {
    let (area, _) = inst.effect();
    !inst.is_load() && (area.is_global() || matches!(area, Area::Srv(_)))
}

/// It is worth a register from block to block.
fn is_long(op: LaneOp) -> bool {
    // Conversions are transcendental to old chips alone.
    op.is_transcendental() && !matches!(op, LaneOp::Itof | LaneOp::Utof | LaneOp::Ftou)
}

impl Walk<'_> {
    fn block(&mut self, block: &mut Block) {
        self.scopes.push(FxHashMap::default());
        for stmt in block {
            match &mut stmt.kind {
                StmtKind::Lane(inst) => self.lane(inst),
                StmtKind::Memory(inst) => {
                    visit::memory_operands(inst, &mut |operand, _| self.take(operand));
                    if self.lasts(inst) {
                        let mut bare = MemoryInst::clone(inst);
                        let dst = visit::loaded(&mut bare).map(std::mem::take).unwrap_or_default();
                        self.value(Value::Memory(bare), dst);
                    }
                }
                other => {
                    if let Some((operand, _)) = visit::tested(other) {
                        self.take(operand);
                    }
                    // Who falls into an arm need not have been in the one before.
                    other.blocks_mut().for_each(|block| self.block(block));
                }
            }
        }
        self.scopes.pop();
    }

    /// What is read instead of `operand`. It was met before its readers, since it is defined before them.
    #[inline]
    fn take(&mut self, operand: &mut Operand) {
        if let Operand::Reg(reg) = *operand
            && let Some(source) = self.instead[reg.index()]
        {
            *operand = source;
        }
        if let Operand::Reg(reg) = *operand {
            self.uses[reg.index()] += 1;
        }
    }

    fn lane(&mut self, inst: &mut LaneInst) {
        inst.args.iter_mut().for_each(|operand| self.take(operand));
        if inst.op != LaneOp::Mov
            && let Some((word, None)) = fold::fold(inst.op, &inst.args)
        {
            inst.op = LaneOp::Mov;
            inst.args = SmallVec::from_slice(&[Operand::Imm(word)]);
        }
        let [low, high] = inst.dst;
        if inst.op == LaneOp::Mov && self.names[low.index()] {
            self.instead[low.index()] = Some(inst.args[0]).filter(|&source| self.stays(source));
        } else if is_long(inst.op) {
            let dst = [Some(low), Some(high).filter(|high| *high != low), None, None];
            self.value(Value::Lane(inst.op, inst.args.clone()), dst);
        }
    }

    /// The operand is the same word wherever it is read, but for a timer.
    fn stays(&self, operand: Operand) -> bool {
        !matches!(operand, Operand::Reg(reg) if !self.names[reg.index()])
    }

    /// It loads what nobody writes while the launch runs.
    fn lasts(&self, inst: &MemoryInst) -> bool {
        let (area, effect) = inst.effect();
        effect == Effect::Loads
            && match area {
                Area::Size(_) | Area::Immediate => true,
                Area::Resource(_) | Area::Constants(_) | Area::Srv(_) => !self.writes,
                Area::Global | Area::Uav(_) | Area::Counter(_) => false,
                Area::Array(_) | Area::Shared | Area::Lds(_) | Area::OwnLds | Area::Gds(_) => false,
            }
    }

    /// A value that goes to registers: those of an earlier one are read instead, if it has all of them.
    fn value(&mut self, mut value: Value, dst: Dst4) {
        let mut named = dst.iter().flatten().all(|reg| self.names[reg.index()]);
        let mut look = |operand: &mut Operand| {
            named &= self.stays(*operand) && !matches!(operand, Operand::Builtin(Builtin::Timer(_)));
        };
        match &mut value {
            Value::Lane(_, args) => args.iter_mut().for_each(look),
            Value::Memory(inst) => visit::memory_operands(inst, &mut |operand, _| look(operand)),
        }
        if !named {
            return;
        }
        let has =
            |first: &&Dst4| dst.iter().zip(first.iter()).all(|(dst, first)| dst.is_none() || first.is_some());
        match self.scopes.iter().rev().filter_map(|scope| scope.get(&value)).find(has) {
            Some(first) => {
                for (dst, first) in dst.iter().zip(first) {
                    if let (Some(dst), Some(first)) = (dst, first) {
                        self.instead[dst.index()] = Some(Operand::Reg(*first));
                    }
                }
            }
            None => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(value, dst);
                }
            }
        }
    }
}
