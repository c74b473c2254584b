//! A program as instructions of a chip, on values that have no registers yet. Calls are inlined, switches become chains of `if`.

use std::collections::{BTreeMap, HashMap};

use smallvec::{SmallVec, smallvec};

use super::op::Emit;
use super::traffic::Traffic;
use super::trips::rounds;
use super::uses::Uses;
use super::{Alu, Chip, Elements, Generation, Item, Mark, Slot, Src, Unit, V, Word, Write};
use crate::ir::{
    Builtin, Cond, Fence, GroupSize, LaneInst, LaneOp, Operand, Program, Reg, Stage, Stmt, StmtKind,
    ThreadId, visit,
};

/// Statements and instructions beyond which inlining stops.
const MOST: usize = 30_000;
/// Blocks and calls in each other.
const DEEPEST: usize = 600;

/// A kernel in a line.
pub(super) struct Kernel {
    pub items: Vec<Item>,
    pub values: u32,
    /// Values that are there from the start: register and component.
    pub inputs: BTreeMap<V, (u32, u8)>,
    /// 16-byte rows of scratch memory for arrays.
    pub scratch: u32,
}

pub(super) struct Translate<'p, 'c> {
    pub program: &'p Program,
    pub emit: Emit<'c>,
    pub items: Vec<Item>,
    /// What is computed before everything else.
    entry: Vec<Item>,
    inputs: BTreeMap<V, (u32, u8)>,
    builtins: HashMap<Builtin, V>,
    /// Registers that stand for another word with a sign.
    folded: HashMap<Reg, Src>,
    uses: Uses,
    pub traffic: Traffic,
    /// Bits of the access at hand.
    pub bits: f64,
    /// Where `break` and `return` go; `None` is a loop.
    breaks: Vec<Option<u32>>,
    returns: Vec<u32>,
    regions: u32,
    steps: usize,
    depth: usize,
    at: u32,
}

pub(super) fn translate(program: &Program, chip: &Chip, elements: &Elements) -> Result<Kernel, &'static str> {
    let mut t = Translate {
        program,
        emit: Emit { chip, values: program.registers, out: Vec::new() },
        items: Vec::new(),
        entry: Vec::new(),
        inputs: BTreeMap::new(),
        builtins: HashMap::new(),
        folded: HashMap::new(),
        uses: Uses::of(program),
        traffic: Traffic::of(program, chip.wave(), elements),
        bits: 0.0,
        breaks: Vec::new(),
        returns: Vec::new(),
        regions: 0,
        steps: 0,
        depth: 0,
        at: 0,
    };
    t.function(0)?;
    let outputs: Vec<_> = program.outputs.iter().collect();
    for (n, output) in outputs.iter().enumerate() {
        let written = program.interface.outputs.get(&output.index).copied().unwrap_or(15);
        let data = (0..4).filter(|k| written >> k & 1 == 1).map(|k| output.registers[k as usize]).collect();
        t.items.push(Item::Write(Write {
            name: if n + 1 == outputs.len() { "EXP_DONE" } else { "EXP" },
            to: format!("PIX{}", output.index),
            address: SmallVec::new(),
            data,
            back: SmallVec::new(),
            bits: f64::from(elements.outputs.get(&output.index).copied().unwrap_or(128)),
            at: u32::MAX,
        }));
    }
    let scratch = program.interface.arrays.values().sum();
    let mut items = t.entry;
    items.append(&mut t.items);
    Ok(Kernel { items, values: t.emit.values, inputs: t.inputs, scratch })
}

impl Translate<'_, '_> {
    pub fn chip(&self) -> &Chip {
        self.emit.chip
    }

    /// Moves what `emit` has made to the line.
    pub fn flush(&mut self) {
        let at = self.at;
        self.items.extend(self.emit.out.drain(..).map(|alu| Item::Alu(Alu { at, ..alu })));
    }

    pub fn mark(&mut self, mark: Mark) {
        self.items.push(Item::Mark(mark, self.at));
    }

    pub fn at(&self) -> u32 {
        self.at
    }

    fn region(&mut self) -> u32 {
        self.regions += 1;
        self.mark(Mark::Region(self.regions - 1));
        self.regions - 1
    }

    fn function(&mut self, number: usize) -> Result<(), &'static str> {
        let leaves = |kind: &StmtKind| matches!(kind, StmtKind::Return(_));
        let body = &self.program.functions[number].body;
        // The last `ret` goes nowhere.
        let body = match body.last() {
            Some(Stmt { kind: StmtKind::Return(None), .. }) => &body[..body.len() - 1],
            _ => &body[..],
        };
        let returns = visit::any(body, &leaves);
        let region = if returns { self.region() } else { u32::MAX };
        self.returns.push(region);
        let breaks = std::mem::take(&mut self.breaks);
        self.block(body)?;
        self.breaks = breaks;
        self.returns.pop();
        if returns {
            self.mark(Mark::EndRegion(region));
        }
        Ok(())
    }

    fn block(&mut self, block: &[Stmt]) -> Result<(), &'static str> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("blocks and calls of the kernel are nested too deep");
        }
        self.statements(block)?;
        self.depth -= 1;
        Ok(())
    }

    fn statements(&mut self, block: &[Stmt]) -> Result<(), &'static str> {
        let mut n = 0;
        while let Some(stmt) = block.get(n) {
            self.at = stmt.span.start;
            self.steps += 1;
            if self.items.len().max(self.steps) > MOST {
                return Err("the kernel is too long with its calls inlined");
            }
            n += 1;
            match &stmt.kind {
                StmtKind::Lane(inst) => {
                    let dot = self.uses.dot(&block[n - 1..]);
                    if dot > 1 {
                        self.dot(&block[n - 1..n - 1 + dot]);
                        n += dot - 1;
                    } else {
                        self.lane(inst);
                    }
                }
                StmtKind::Memory(inst) => self.memory(inst),
                StmtKind::If { cond, then, otherwise } => {
                    self.test(*cond);
                    self.mark(Mark::If);
                    self.block(then)?;
                    if !otherwise.is_empty() {
                        self.mark(Mark::Else);
                        self.block(otherwise)?;
                    }
                    self.mark(Mark::EndIf);
                }
                StmtKind::Loop { body } => {
                    self.mark(Mark::Loop(rounds(body, &block[..n - 1])));
                    self.breaks.push(None);
                    self.block(body)?;
                    self.breaks.pop();
                    self.mark(Mark::EndLoop);
                }
                StmtKind::Switch { selector, arms } => {
                    let region = self.region();
                    self.breaks.push(Some(region));
                    self.switch(*selector, arms)?;
                    self.breaks.pop();
                    self.mark(Mark::EndRegion(region));
                }
                StmtKind::Break(cond) => {
                    let to = self.breaks.last().copied().flatten();
                    self.leave(*cond, |always| to.map_or(Mark::Break(always), |to| Mark::Leave(to, always)));
                }
                StmtKind::Continue(cond) => self.leave(*cond, Mark::Continue),
                StmtKind::Return(cond) => {
                    let to = self.returns.last().copied().unwrap_or(0);
                    self.leave(*cond, |always| Mark::Leave(to, always));
                }
                StmtKind::Call { function, cond } => {
                    if let Some(cond) = cond {
                        self.test(*cond);
                        self.mark(Mark::If);
                    }
                    self.function(*function)?;
                    if cond.is_some() {
                        self.mark(Mark::EndIf);
                    }
                }
                StmtKind::Discard(cond) => {
                    let word = self.word(cond.operand);
                    let name = if cond.nonzero { "KILLNE_INT" } else { "KILLE_INT" };
                    self.effect(name, Unit::Any, &[word, Src::new(Word::Imm(0))]);
                }
                StmtKind::Fence(fence) => {
                    if self.program.stage == Stage::Compute && fence.contains(Fence::THREADS) {
                        self.effect("GROUP_BARRIER", Unit::First, &[]);
                    } else {
                        self.mark(Mark::Wait);
                    }
                }
            }
            self.flush();
        }
        Ok(())
    }

    /// Each arm runs if its labels, or an arm before it that fell through, say so.
    fn switch(&mut self, selector: Operand, arms: &[crate::ir::Arm]) -> Result<(), &'static str> {
        let selector = self.word(selector);
        let imm = |word: u32| Src::new(Word::Imm(word));
        let runs = self.emit.temp();
        self.emit.put("MOV", Unit::Any, runs, &[imm(0)]);
        for arm in arms {
            let mut any = Src::of(runs);
            if arm.default {
                let mut listed = imm(0);
                for label in arms.iter().flat_map(|arm| &arm.labels) {
                    let same = self.emit.get("SETE_INT", Unit::Any, &[selector, imm(*label as u32)]);
                    listed = self.emit.get("OR_INT", Unit::Any, &[listed, same]);
                }
                let other = self.emit.get("NOT_INT", Unit::Any, &[listed]);
                any = self.emit.get("OR_INT", Unit::Any, &[any, other]);
            }
            for label in &arm.labels {
                let same = self.emit.get("SETE_INT", Unit::Any, &[selector, imm(*label as u32)]);
                any = self.emit.get("OR_INT", Unit::Any, &[any, same]);
            }
            self.emit.put("MOV", Unit::Any, runs, &[any]);
            self.effect("PRED_SETNE_INT", Unit::Any, &[Src::of(runs), imm(0)]);
            self.flush();
            self.mark(Mark::If);
            self.block(&arm.body)?;
            self.mark(Mark::EndIf);
        }
        Ok(())
    }

    fn leave(&mut self, cond: Option<Cond>, mark: impl Fn(bool) -> Mark) {
        if let Some(cond) = cond {
            self.test(cond);
        }
        self.mark(mark(cond.is_none()));
    }

    /// The predicate of a jump.
    fn test(&mut self, cond: Cond) {
        let word = self.word(cond.operand);
        let zero = Src::new(Word::Imm(0));
        self.flush();
        // A comparison that nobody else asks about sets the predicate itself.
        if let (Some(value), Some(Item::Alu(last))) = (word.value(), self.items.last_mut())
            && self.uses.reads.get(value.index()) == Some(&1)
            && last.slots.len() == 1
            && last.slots[0].dst == Some(value)
            && let Some(name) = predicate(last.name, cond.nonzero)
        {
            last.name = name;
            last.slots[0].dst = None;
            return;
        }
        let name = if cond.nonzero { "PRED_SETNE_INT" } else { "PRED_SETE_INT" };
        self.effect(name, Unit::Any, &[word, zero]);
        self.flush();
    }

    /// An instruction without a result.
    pub fn effect(&mut self, name: &'static str, unit: Unit, srcs: &[Src]) {
        let slots = smallvec![Slot { dst: None, srcs: SmallVec::from_slice(srcs) }];
        self.emit.out.push(Alu { name, unit, slots, clamp: false, at: 0 });
    }

    /// A word that an instruction reads.
    pub fn word(&mut self, operand: Operand) -> Src {
        match operand {
            Operand::Reg(reg) => self.folded.get(&reg).copied().unwrap_or(Src::of(reg)),
            Operand::Imm(word) => Src::new(Word::Imm(word)),
            Operand::Const { buffer, row, component } => {
                Src::new(Word::Const { buffer: buffer.into(), row, component })
            }
            Operand::Builtin(builtin) => match builtin {
                Builtin::Timer(k) => Src::new(Word::Special(if k == 0 { "TIME_LO" } else { "TIME_HI" })),
                Builtin::ComputeUnit => Src::new(Word::Special("HW_ID")),
                Builtin::WaveSlot => Src::new(Word::Special("HW_WAVE_ID")),
                _ => Src::of(self.builtin(builtin)),
            },
        }
    }

    fn input(&mut self, place: (u32, u8)) -> V {
        if let Some((value, _)) = self.inputs.iter().find(|(_, at)| **at == place) {
            return *value;
        }
        let value = self.emit.temp();
        self.inputs.insert(value, place);
        value
    }

    /// Positions and thread numbers: R0 holds the pixel, or the thread in its group; R1 the group. What follows from these is
    /// computed once, at the beginning.
    fn builtin(&mut self, builtin: Builtin) -> V {
        if let Some(value) = self.builtins.get(&builtin) {
            return *value;
        }
        let [sx, sy, sz] = match self.program.interface.group {
            Some(GroupSize::Exact(size)) => size,
            Some(GroupSize::AtMost(n)) => [n, 1, 1],
            None => [64, 1, 1],
        };
        let before = std::mem::take(&mut self.emit.out);
        let imm = |word: u32| Src::new(Word::Imm(word));
        let evergreen = self.chip().generation >= Generation::Evergreen;
        let scaled = |t: &mut Self, a: V, by: u32, add: V| {
            if evergreen {
                return t.emit.get("MULADD_UINT24", Unit::Vec, &[Src::of(a), imm(by), Src::of(add)]);
            }
            let product = t.emit.get("MULLO_INT", Unit::Trans, &[Src::of(a), imm(by)]);
            t.emit.get("ADD_INT", Unit::Any, &[product, Src::of(add)])
        };
        let known = |src: Src| src.value().unwrap_or_default();
        let value = match builtin {
            Builtin::Thread(ThreadId::InGroup, k @ 0..=2) => self.input((0, k)),
            Builtin::Thread(ThreadId::Group, k @ 0..=2) => self.input((1, k)),
            Builtin::Thread(ThreadId::GroupFlat, _) => self.input((1, 0)),
            Builtin::Thread(ThreadId::InGroupFlat, _) => {
                let mut flat = self.input((0, 0));
                for (k, by, size) in [(1, sx, sy), (2, sx * sy, sz)] {
                    if size > 1 {
                        let part = self.input((0, k));
                        flat = known(scaled(self, part, by, flat));
                    }
                }
                flat
            }
            Builtin::Thread(ThreadId::Absolute, k @ 0..=2) => {
                let (group, inside) = (self.input((1, k)), self.input((0, k)));
                known(scaled(self, group, [sx, sy, sz][usize::from(k)], inside))
            }
            Builtin::Thread(ThreadId::AbsoluteFlat, _) | Builtin::ObjectIndex => {
                let group = self.input((1, 0));
                let inside = self.nested_builtin(Builtin::Thread(ThreadId::InGroupFlat, 0));
                known(scaled(self, group, sx * sy * sz, inside))
            }
            Builtin::Position(k) => self.input((0, k)),
            Builtin::Interpolant(n, k) => self.input((1 + u32::from(n), k)),
            _ => {
                let value = self.emit.temp();
                self.emit.put("MOV", Unit::Any, value, &[imm(0)]);
                value
            }
        };
        let made = std::mem::replace(&mut self.emit.out, before);
        self.entry.extend(made.into_iter().map(|alu| Item::Alu(Alu { at: u32::MAX, ..alu })));
        self.builtins.insert(builtin, value);
        value
    }

    fn nested_builtin(&mut self, builtin: Builtin) -> V {
        let made = std::mem::take(&mut self.emit.out);
        let value = self.builtin(builtin);
        self.emit.out = made;
        value
    }

    fn lane(&mut self, inst: &LaneInst) {
        let args: SmallVec<[Src; 4]> = inst.args.iter().map(|arg| self.word(*arg)).collect();
        match inst.op {
            LaneOp::Neg | LaneOp::NegBits if self.uses.folds(inst) => {
                self.folded.insert(inst.dst[0], args[0].negated());
            }
            LaneOp::Abs | LaneOp::AbsBits if self.uses.folds(inst) => {
                self.folded.insert(inst.dst[0], args[0].magnitude());
            }
            LaneOp::Saturate if self.clamps(inst) => {}
            _ => self.emit.lane(inst.op, inst.dst, &args),
        }
    }

    /// Lets the instruction that computed the operand cut it.
    fn clamps(&mut self, inst: &LaneInst) -> bool {
        let Operand::Reg(reg) = inst.args[0] else { return false };
        if !(self.uses.local[reg.index()] && self.uses.reads[reg.index()] == 1) {
            return false;
        }
        for item in self.items.iter_mut().rev().take(8) {
            let Item::Alu(alu) = item else { return false };
            if let Some(slot) = alu.slots.iter_mut().find(|slot| slot.dst == Some(reg)) {
                // Integer operations and moves of bits have nothing to cut.
                if alu.unit == Unit::Pair || alu.name.ends_with("_INT") || alu.name.ends_with("_DX10") {
                    return false;
                }
                slot.dst = Some(inst.dst[0]);
                alu.clamp = true;
                return true;
            }
            if alu.slots.iter().any(|slot| slot.dst == Some(inst.dst[0])) {
                return false;
            }
        }
        false
    }

    /// Products that are added up: one instruction of all four slots.
    fn dot(&mut self, steps: &[Stmt]) {
        let zero = Src::new(Word::Imm(0));
        let mut slots: SmallVec<[Slot; 1]> = SmallVec::new();
        let mut ieee = false;
        let mut result = Reg(0);
        for stmt in steps {
            if let StmtKind::Lane(inst) = &stmt.kind {
                ieee |= matches!(inst.op, LaneOp::MulIeee | LaneOp::MadIeee);
                result = inst.dst[0];
                let srcs = inst.args[..2].iter().map(|arg| self.word(*arg)).collect();
                slots.push(Slot { dst: None, srcs });
            }
        }
        slots.resize(4, Slot { dst: None, srcs: smallvec![zero, zero] });
        slots[0].dst = Some(result);
        let name = if ieee { "DOT4_IEEE" } else { "DOT4" };
        self.emit.out.push(Alu { name, unit: Unit::Quad, slots, clamp: false, at: 0 });
    }
}

/// The comparison that sets the predicate.
fn predicate(name: &str, nonzero: bool) -> Option<&'static str> {
    Some(match (name, nonzero) {
        ("SETE_INT", true) | ("SETNE_INT", false) => "PRED_SETE_INT",
        ("SETNE_INT", true) | ("SETE_INT", false) => "PRED_SETNE_INT",
        ("SETGT_INT", true) => "PRED_SETGT_INT",
        ("SETGE_INT", true) => "PRED_SETGE_INT",
        ("SETE_DX10", true) | ("SETNE_DX10", false) => "PRED_SETE",
        ("SETNE_DX10", true) | ("SETE_DX10", false) => "PRED_SETNE",
        ("SETGT_DX10", true) => "PRED_SETGT",
        ("SETGE_DX10", true) => "PRED_SETGE",
        _ => return None,
    })
}
