//! A region as a list: what its statements do, under which control flow.

use rustc_hash::FxHashSet;

use crate::ir::visit::{destinations_of, operands_of, tested_of};
use crate::ir::{Area, Block, Cond, LaneInst, MemoryInst, Operand, Program, Reg, Stmt, StmtKind};

/// No control flow of the region.
pub(super) const OUTSIDE: usize = usize::MAX;

/// A statement that computes or loads.
pub(super) struct Item<'a> {
    pub kind: Kind<'a>,
    /// Loops of the region around it.
    pub depth: u32,
    /// The innermost control flow around it.
    pub control: usize,
}

pub(super) enum Kind<'a> {
    Lane(&'a LaneInst),
    Load(&'a MemoryInst),
    /// A condition or selector.
    Test(Operand),
}

/// An `if`, loop or switch.
pub(super) struct Control {
    pub parent: usize,
    pub is_loop: bool,
    /// What decides whether its statements run.
    pub tested: Option<Operand>,
    /// How control leaves a round, or an arm, before its end: the condition, and the control flow around.
    pub exits: Vec<(Option<Operand>, usize)>,
}

#[derive(Default)]
pub(super) struct Flat<'a> {
    pub items: Vec<Item<'a>>,
    pub controls: Vec<Control>,
}

/// Whether a statement and all in it may run twice, and control leaves it at its end. `loops` and `breakable`: loops, and loops
/// and switches, around it within the outermost statement. What the program writes is not loaded twice: another thread may be
/// further already.
pub(super) fn may_repeat(stmt: &Stmt, written: &FxHashSet<Area>, loops: u32, breakable: u32) -> bool {
    let all = |block: &Block, loops, breakable| {
        block.iter().all(|stmt| may_repeat(stmt, written, loops, breakable))
    };
    match &stmt.kind {
        StmtKind::Lane(_) => true,
        StmtKind::Memory(inst) => inst.is_load() && !written.contains(&inst.effect().0),
        StmtKind::If { then, otherwise, .. } => {
            all(then, loops, breakable) && all(otherwise, loops, breakable)
        }
        StmtKind::Loop { body } => all(body, loops + 1, breakable + 1),
        StmtKind::Switch { arms, .. } => arms.iter().all(|arm| all(&arm.body, loops, breakable + 1)),
        StmtKind::Break(_) => breakable > 0,
        StmtKind::Continue(_) => loops > 0,
        StmtKind::Return(_) | StmtKind::Call { .. } | StmtKind::Discard(_) | StmtKind::Fence(_) => false,
    }
}

impl<'a> Flat<'a> {
    pub fn of(block: &'a [Stmt]) -> Self {
        let mut this = Self::default();
        this.block(block, OUTSIDE, OUTSIDE, OUTSIDE, 0);
        this
    }

    /// All functions of a program.
    pub fn of_program(program: &'a Program) -> Self {
        let mut this = Self::default();
        for function in &program.functions {
            this.block(&function.body, OUTSIDE, OUTSIDE, OUTSIDE, 0);
        }
        this
    }

    fn enter(&mut self, parent: usize, is_loop: bool, tested: Option<Operand>) -> usize {
        self.controls.push(Control { parent, is_loop, tested, exits: Vec::new() });
        self.controls.len() - 1
    }

    /// `breaks` and `continues`: the control flow that a `break` or `continue` is of.
    fn block(&mut self, block: &'a [Stmt], control: usize, breaks: usize, continues: usize, depth: u32) {
        for stmt in block {
            if let Some(operand) = tested_of(&stmt.kind) {
                self.items.push(Item { kind: Kind::Test(operand), depth, control });
            }
            let exit = |cond: &Option<Cond>| (cond.map(|cond| cond.operand), control);
            match &stmt.kind {
                StmtKind::Lane(inst) => self.items.push(Item { kind: Kind::Lane(inst), depth, control }),
                StmtKind::Memory(inst) => self.items.push(Item { kind: Kind::Load(inst), depth, control }),
                StmtKind::If { cond, then, otherwise } => {
                    let inner = self.enter(control, false, Some(cond.operand));
                    self.block(then, inner, breaks, continues, depth);
                    self.block(otherwise, inner, breaks, continues, depth);
                }
                StmtKind::Loop { body } => {
                    let inner = self.enter(control, true, None);
                    self.block(body, inner, inner, inner, depth + 1);
                }
                StmtKind::Switch { selector, arms } => {
                    let inner = self.enter(control, false, Some(*selector));
                    arms.iter().for_each(|arm| self.block(&arm.body, inner, inner, continues, depth));
                }
                StmtKind::Break(cond) => self.controls[breaks].exits.push(exit(cond)),
                StmtKind::Continue(cond) => self.controls[continues].exits.push(exit(cond)),
                StmtKind::Return(_) | StmtKind::Call { .. } | StmtKind::Discard(_) | StmtKind::Fence(_) => {}
            }
        }
    }
}

impl Kind<'_> {
    /// The registers that it reads.
    pub fn reads(&self, mut f: impl FnMut(Reg)) {
        let mut operand = |operand: &Operand| {
            if let Operand::Reg(reg) = operand {
                f(*reg);
            }
        };
        match self {
            Kind::Lane(inst) => inst.args.iter().for_each(operand),
            Kind::Load(inst) => operands_of(inst).iter().for_each(operand),
            Kind::Test(tested) => operand(tested),
        }
    }

    /// The registers that it writes.
    pub fn writes(&self, mut f: impl FnMut(Reg)) {
        match self {
            Kind::Lane(inst) => {
                f(inst.dst[0]);
                if inst.dst[1] != inst.dst[0] {
                    f(inst.dst[1]);
                }
            }
            Kind::Load(inst) => destinations_of(inst).into_iter().for_each(f),
            Kind::Test(_) => {}
        }
    }
}
