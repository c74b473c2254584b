//! The builder: registers, scratch values and emission of statements.

use rustc_hash::FxHashMap;

use smallvec::SmallVec;

use crate::diagnostic::{Diagnostic, Span};
use crate::inst::{self, Inst, Src};
use crate::ir::{Block, LaneInst, LaneOp, MemoryInst, Operand, Reg, Stmt, StmtKind};

/// Operand words of one lane operation.
pub(super) type Args = SmallVec<[Operand; 4]>;

/// The registers of `r#` and `o#`, by number and component.
#[derive(Default)]
pub(super) struct Files {
    /// None where a component was not met.
    temps: Vec<[Option<Reg>; 4]>,
    outputs: FxHashMap<u32, [Reg; 4]>,
}

impl Files {
    /// Registers of temporaries, with number and component.
    pub fn temps(&self) -> impl Iterator<Item = (Reg, usize, usize)> {
        self.temps.iter().enumerate().flat_map(|(number, regs)| components(number, *regs))
    }

    /// What the registers are called.
    pub fn names(&self) -> super::Names {
        let name = |file: char, (reg, number, component): (Reg, usize, usize)| {
            (reg, format!("{file}{number}.{}", COMPONENTS[component]))
        };
        let outputs =
            self.outputs.iter().flat_map(|(number, regs)| components(*number as usize, regs.map(Some)));
        let temps = self.temps().map(|temp| name('r', temp));
        temps.chain(outputs.map(|output| name('o', output))).collect()
    }
}

/// Names of components.
pub(super) const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// The registers of `regs`, with `number` and component.
fn components(number: usize, regs: [Option<Reg>; 4]) -> impl Iterator<Item = (Reg, usize, usize)> {
    regs.into_iter().enumerate().filter_map(move |(component, reg)| Some((reg?, number, component)))
}

/// Collects the statements of a program under construction.
pub(super) struct Builder<'k> {
    pub kernel: &'k inst::Kernel,
    /// Statements of the block that is being filled.
    pub block: Block,
    /// The IL instruction at work.
    pub span: Span,
    pub diagnostics: Vec<Diagnostic>,
    /// What fills short swizzles, by operand, in place of the repeated component: see `lint`.
    pub fillers: FxHashMap<Span, Reg>,
    registers: u32,
    pub files: Files,
    flags: [Option<Reg>; 5],
}

impl<'k> Builder<'k> {
    pub fn new(kernel: &'k inst::Kernel) -> Self {
        Self {
            kernel,
            block: Block::new(),
            span: Span::default(),
            diagnostics: Vec::new(),
            fillers: FxHashMap::default(),
            registers: 0,
            files: Files::default(),
            flags: [None; 5],
        }
    }

    /// Sources of an instruction.
    pub fn sources(&self, inst: &Inst) -> &'k [Src] {
        self.kernel.sources(inst)
    }

    /// Registers handed out so far.
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// A new register.
    pub fn scratch(&mut self) -> Reg {
        Reg::fresh(&mut self.registers)
    }

    /// The register of component `c` of `r{number}`.
    #[inline]
    pub fn temp(&mut self, number: u32, c: usize) -> Reg {
        let number = number as usize;
        let temps = &mut self.files.temps;
        if number >= temps.len() {
            temps.resize(number + 1, [None; 4]);
        }
        let known = &mut temps[number][c];
        if let Some(reg) = *known {
            return reg;
        }
        let reg = Reg::fresh(&mut self.registers);
        *known = Some(reg);
        reg
    }

    /// The registers that shadow `o{number}`.
    pub fn output(&mut self, number: u32) -> [Reg; 4] {
        let registers = &mut self.registers;
        *self.files.outputs.entry(number).or_insert_with(|| [(); 4].map(|()| Reg::fresh(registers)))
    }

    /// The flag that the steps of a division pass on besides their operands: one for each component, and one for
    /// doubles.
    pub fn flag(&mut self, which: usize) -> Reg {
        *self.flags[which].get_or_insert_with(|| Reg::fresh(&mut self.registers))
    }

    pub fn statement(&mut self, kind: StmtKind) {
        self.block.push(Stmt { kind, span: self.span });
    }

    pub fn memory(&mut self, inst: MemoryInst) {
        self.statement(inst.into());
    }

    /// Emits an operation; a move of a register to itself vanishes. It is made where it stays, since a processor waits for what it copies
    /// right after it was put together; a list that is extended has made room before.
    #[inline]
    pub fn lane(&mut self, op: LaneOp, dst: [Reg; 2], args: &[Operand]) {
        if op == LaneOp::Mov && args[0] == Operand::Reg(dst[0]) {
            return;
        }
        let span = self.span;
        self.block.extend(std::iter::once_with(|| Stmt {
            kind: StmtKind::Lane(LaneInst { op, dst, args: SmallVec::new() }),
            span,
        }));
        if let Some(Stmt { kind: StmtKind::Lane(inst), .. }) = self.block.last_mut() {
            inst.args.extend(args.iter().copied());
        }
    }

    /// The same; what is constant is computed.
    #[inline]
    pub fn folded(&mut self, op: LaneOp, dst: Reg, args: &[Operand]) {
        match super::fold::fold(op, args) {
            Some((word, None)) => self.copy(dst, Operand::Imm(word)),
            _ => self.lane(op, [dst, dst], args),
        }
    }

    /// Computes `op` into a new register; an operation on constants becomes a constant.
    pub fn value(&mut self, op: LaneOp, args: &[Operand]) -> Operand {
        if op == LaneOp::Mov {
            return args[0];
        }
        if let Some((word, _)) = super::fold::fold(op, args) {
            return Operand::Imm(word);
        }
        let dst = self.scratch();
        self.lane(op, [dst, dst], args);
        Operand::Reg(dst)
    }

    /// Computes a 64-bit `op` into two new registers, low word first.
    pub fn pair(&mut self, op: LaneOp, args: &[Operand]) -> [Operand; 2] {
        if let Some((lo, Some(hi))) = super::fold::fold(op, args) {
            return [Operand::Imm(lo), Operand::Imm(hi)];
        }
        let dst = [self.scratch(), self.scratch()];
        self.lane(op, dst, args);
        dst.map(Operand::Reg)
    }

    /// Copies `value` to `dst`.
    pub fn copy(&mut self, dst: Reg, value: Operand) {
        self.lane(LaneOp::Mov, [dst, dst], &[value]);
    }

    /// Emits operations that are meant to happen at once: none sees a result of another. A scratch register is
    /// spent only where no order avoids one.
    pub fn parallel(&mut self, mut insts: SmallVec<[LaneInst; 4]>) {
        let reads = |other: &LaneInst, dst: [Reg; 2]| {
            other.args.iter().any(|&arg| arg == Operand::Reg(dst[0]) || arg == Operand::Reg(dst[1]))
        };
        if (1..insts.len()).all(|later| insts[..later].iter().all(|inst| !reads(&insts[later], inst.dst))) {
            return insts.iter().for_each(|inst| self.lane(inst.op, inst.dst, &inst.args));
        }
        let mut late: SmallVec<[(Reg, Operand); 4]> = SmallVec::new();
        while !insts.is_empty() {
            let free = (0..insts.len())
                .find(|&i| insts.iter().enumerate().all(|(j, other)| j == i || !reads(other, insts[i].dst)));
            let mut inst = insts.remove(free.unwrap_or(0));
            if free.is_none() {
                if inst.op == LaneOp::Mov && !matches!(inst.args[0], Operand::Reg(_)) {
                    late.push((inst.dst[0], inst.args[0]));
                    continue;
                }
                let wide = inst.dst[0] != inst.dst[1];
                let lo = self.scratch();
                let hi = if wide { self.scratch() } else { lo };
                late.push((inst.dst[0], Operand::Reg(lo)));
                if wide {
                    late.push((inst.dst[1], Operand::Reg(hi)));
                }
                inst.dst = [lo, hi];
            }
            self.lane(inst.op, inst.dst, &inst.args);
        }
        for (dst, value) in late {
            self.copy(dst, value);
        }
    }

    /// Reports an instruction that reached lowering in a form that the checker should have refused.
    pub fn refuse(&mut self, rule: &'static str, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(rule, self.span, message));
    }
}
