//! Which registers are the same in all lanes of a wave.
//!
//! Input is a program, output one bit for each register and, through it, for each operand. A register is uniform if
//! every definition computes a uniform word and
//!
//! * runs under uniform control flow, where no lane can miss it; or
//! * every use lies in the block of the only definition that reaches it, or deeper: whichever lanes run the use ran
//!   the definition just before.
//!
//! A loop that some lanes leave or cut short before others is divergent as a whole. A thread that has ended counts
//! for nothing, so returning from main and discarding diverge nobody; output registers, which the host reads of
//! ended threads too, are never uniform.

use super::{
    Block, Builtin, Cond, InfoSource, MemoryInst, Operand, Program, Reg, Space, StmtKind, ThreadId, visit,
};

/// Rounds after which the analysis gives up and calls nothing uniform.
const ROUNDS: usize = 40;

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Uniformity {
    registers: Vec<bool>,
}

impl Uniformity {
    /// Analyses `program`.
    pub fn of(program: &Program) -> Self {
        match analyse(program) {
            Some(flow) => flow.facts,
            None => Self { registers: vec![false; program.registers as usize] },
        }
    }

    /// Facts known by other means.
    pub(super) fn from_registers(registers: Vec<bool>) -> Self {
        Self { registers }
    }

    /// Whether all lanes that read `reg` read the same word.
    pub fn register(&self, reg: Reg) -> bool {
        self.registers[reg as usize]
    }

    /// Whether `operand` is the same word in all lanes.
    pub fn operand(&self, operand: Operand) -> bool {
        match operand {
            Operand::Imm(_) | Operand::Const { .. } => true,
            Operand::Reg(reg) => self.register(reg),
            Operand::Builtin(builtin) => match builtin {
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _)
                | Builtin::Timer(_)
                | Builtin::ComputeUnit
                | Builtin::WaveSlot => true,
                Builtin::Thread(..)
                | Builtin::Position(_)
                | Builtin::Interpolant(..)
                | Builtin::ObjectIndex => false,
            },
        }
    }

    /// Whether all lanes agree on `cond`.
    pub fn cond(&self, cond: &Cond) -> bool {
        self.operand(cond.operand)
    }

    /// Whether `inst` loads the same words in all lanes: a uniform address in memory that no kernel writes.
    pub fn load(&self, inst: &MemoryInst) -> bool {
        let uniform = || visit::operands_of(inst).into_iter().all(|operand| self.operand(operand));
        match inst {
            MemoryInst::Sample { .. }
            | MemoryInst::Gather { .. }
            | MemoryInst::Fetch { .. }
            | MemoryInst::ResourceInfo { .. }
            | MemoryInst::BufferInfo {
                of: InfoSource::Resource(_) | InfoSource::Uav(_) | InfoSource::Srv(_),
                ..
            }
            | MemoryInst::ConstLoad { .. }
            | MemoryInst::ImmediateLoad { .. }
            | MemoryInst::RawLoad { space: Space::Srv(_), .. } => uniform(),
            _ => false,
        }
    }
}

/// Registers that some threads of a wave may not write where others do, and read later.
pub(super) fn missed(program: &Program) -> Vec<bool> {
    analyse(program).map_or_else(|| vec![true; program.registers as usize], |flow| flow.missed)
}

/// `None` if it takes too long.
fn analyse(program: &Program) -> Option<Flow> {
    let mut registers = vec![true; program.registers as usize];
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| registers[*reg as usize] = false);
    }
    let mut flow = Flow {
        facts: Uniformity { registers },
        missed: vec![false; program.registers as usize],
        local: local_registers(program),
        loops: Vec::new(),
        functions: vec![false; program.functions.len()],
        next_loop: 0,
        changed: true,
    };
    for _ in 0..ROUNDS {
        if !flow.changed {
            return Some(flow);
        }
        flow.changed = false;
        flow.next_loop = 0;
        for (number, function) in program.functions.iter().enumerate() {
            let mut place = Place {
                divergent: flow.functions[number],
                innermost: None,
                all_loops: Vec::new(),
                main: number == 0,
                returned: false,
            };
            flow.block(&function.body, &mut place);
        }
    }
    None
}

/// Where a statement stands.
struct Place {
    divergent: bool,
    /// Number of the innermost loop or switch, for `break`.
    innermost: Option<usize>,
    /// Loops around, outermost first.
    all_loops: Vec<usize>,
    main: bool,
    /// Some lanes may have returned from a function.
    returned: bool,
}

struct Flow {
    facts: Uniformity,
    /// See [`missed`].
    missed: Vec<bool>,
    local: Vec<bool>,
    /// Loops and switches in the order of the walk: some lanes may run fewer iterations, or parts of one.
    loops: Vec<bool>,
    /// Functions that only some lanes may run.
    functions: Vec<bool>,
    next_loop: usize,
    changed: bool,
}

impl Flow {
    fn block(&mut self, block: &Block, place: &mut Place) {
        for stmt in block {
            match &stmt.kind {
                StmtKind::Lane(inst) => {
                    let uniform = inst.args.iter().all(|arg| self.facts.operand(*arg));
                    inst.dst.into_iter().for_each(|reg| self.define(reg, uniform, place));
                }
                StmtKind::Memory(inst) => {
                    let uniform = self.facts.load(inst);
                    let destinations = visit::destinations_of(inst);
                    destinations.into_iter().for_each(|reg| self.define(reg, uniform, place));
                }
                StmtKind::If { cond, then, otherwise } => {
                    let before = place.divergent;
                    let inside = before || !self.facts.cond(cond);
                    place.divergent = inside;
                    self.block(then, place);
                    let after_then = place.divergent;
                    place.divergent = inside;
                    self.block(otherwise, place);
                    // What a branch adds (a divergent exit) stays; the condition itself ends here.
                    let added = (after_then || place.divergent) && !inside;
                    place.divergent = before || added || place.returned;
                }
                StmtKind::Loop { body } => {
                    let number = self.number();
                    let before = place.divergent;
                    let outer = place.innermost.replace(number);
                    place.all_loops.push(number);
                    place.divergent |= self.loops[number];
                    self.block(body, place);
                    place.all_loops.pop();
                    place.innermost = outer;
                    place.divergent = before || place.returned;
                }
                StmtKind::Switch { selector, arms } => {
                    let number = self.number();
                    let before = place.divergent;
                    let outer = place.innermost.replace(number);
                    place.divergent |= !self.facts.operand(*selector) || self.loops[number];
                    for arm in arms {
                        self.block(&arm.body, place);
                    }
                    place.innermost = outer;
                    place.divergent = before || place.returned;
                }
                StmtKind::Break(cond) => {
                    if self.splits(cond, place) {
                        // Who falls through to the next arm of a switch goes there without those that have left.
                        place.innermost.into_iter().for_each(|number| self.diverge_loop(number));
                        place.divergent = true;
                    }
                }
                StmtKind::Continue(cond) => {
                    if self.splits(cond, place) {
                        if let Some(&number) = place.all_loops.last() {
                            self.diverge_loop(number);
                        }
                        place.divergent = true;
                    }
                }
                StmtKind::Return(cond) => {
                    if !place.main && self.splits(cond, place) {
                        for number in place.all_loops.clone() {
                            self.diverge_loop(number);
                        }
                        (place.divergent, place.returned) = (true, true);
                    }
                }
                StmtKind::Call { function, cond } => {
                    if self.splits(cond, place) && !self.functions[*function] {
                        self.functions[*function] = true;
                        self.changed = true;
                    }
                }
                StmtKind::Discard(_) | StmtKind::Fence(_) => {}
            }
        }
    }

    /// The number of a loop, or a switch, that begins.
    fn number(&mut self) -> usize {
        let number = self.next_loop;
        self.next_loop += 1;
        if self.loops.len() <= number {
            self.loops.push(false);
        }
        number
    }

    /// Whether only some of the lanes at `place` may take a jump.
    fn splits(&self, cond: &Option<Cond>, place: &Place) -> bool {
        place.divergent || cond.as_ref().is_some_and(|cond| !self.facts.cond(cond))
    }

    fn diverge_loop(&mut self, number: usize) {
        if !self.loops[number] {
            self.loops[number] = true;
            self.changed = true;
        }
    }

    fn define(&mut self, reg: Reg, uniform: bool, place: &Place) {
        let reg = reg as usize;
        let missed = place.divergent && !self.local[reg];
        self.missed[reg] |= missed;
        if self.facts.registers[reg] && (!uniform || missed) {
            self.facts.registers[reg] = false;
            self.changed = true;
        }
    }
}

/// Registers whose every use follows, in the same block or a deeper one, the definition that reaches it.
fn local_registers(program: &Program) -> Vec<bool> {
    scan(program).local
}

/// Those of them that have one definition.
pub(super) fn single_local_registers(program: &Program) -> Vec<bool> {
    let scan = scan(program);
    scan.local.iter().zip(&scan.definitions).map(|(local, definitions)| *local && *definitions == 1).collect()
}

fn scan(program: &Program) -> Scan {
    let count = program.registers as usize;
    let mut scan = Scan {
        local: vec![true; count],
        definitions: vec![0; count],
        block_of: vec![u32::MAX; count],
        open: Vec::new(),
        current: 0,
    };
    for function in &program.functions {
        scan.count(&function.body);
    }
    for function in &program.functions {
        scan.block(&function.body);
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| scan.local[*reg as usize] = false);
    }
    scan
}

struct Scan {
    local: Vec<bool>,
    definitions: Vec<u32>,
    /// Block of the latest definition.
    block_of: Vec<u32>,
    /// Whether a block encloses the current place, by its number.
    open: Vec<bool>,
    current: u32,
}

impl Scan {
    fn count(&mut self, block: &Block) {
        for stmt in block {
            definitions(&stmt.kind, &mut |reg| self.definitions[reg as usize] += 1);
            nested(&stmt.kind, &mut |block| self.count(block));
        }
    }

    fn block(&mut self, block: &Block) {
        let outer = self.current;
        self.current = self.open.len() as u32;
        self.open.push(true);
        for stmt in block {
            uses(&stmt.kind, &mut |reg| {
                let reg = reg as usize;
                let from = self.block_of[reg];
                let reaches = from == self.current
                    || self.definitions[reg] == 1 && from != u32::MAX && self.open[from as usize];
                self.local[reg] &= reaches;
            });
            definitions(&stmt.kind, &mut |reg| self.block_of[reg as usize] = self.current);
            nested(&stmt.kind, &mut |block| self.block(block));
        }
        self.open[self.current as usize] = false;
        self.current = outer;
    }
}

fn uses(kind: &StmtKind, f: &mut dyn FnMut(Reg)) {
    let mut each = |operand: Operand| {
        if let Operand::Reg(reg) = operand {
            f(reg);
        }
    };
    match kind {
        StmtKind::Lane(inst) => inst.args.iter().for_each(|arg| each(*arg)),
        StmtKind::Memory(inst) => visit::operands_of(inst).into_iter().for_each(each),
        other => visit::tested_of(other).into_iter().for_each(each),
    }
}

fn definitions(kind: &StmtKind, f: &mut dyn FnMut(Reg)) {
    match kind {
        StmtKind::Lane(inst) => {
            f(inst.dst[0]);
            if inst.dst[1] != inst.dst[0] {
                f(inst.dst[1]);
            }
        }
        StmtKind::Memory(inst) => visit::destinations_of(inst).into_iter().for_each(f),
        _ => {}
    }
}

fn nested(kind: &StmtKind, f: &mut dyn FnMut(&Block)) {
    match kind {
        StmtKind::If { then, otherwise, .. } => {
            f(then);
            f(otherwise);
        }
        StmtKind::Loop { body } => f(body),
        StmtKind::Switch { arms, .. } => arms.iter().for_each(|arm| f(&arm.body)),
        _ => {}
    }
}
