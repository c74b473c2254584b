//! Which registers are the same in all threads of a wave, or of a group, and which choices all of them make alike.
//!
//! Input is a program, output one bit for each register and, through it, for each operand; and one for each statement. A register is uniform if
//! every definition computes a uniform word and
//!
//! * runs under uniform control flow, where no thread can miss it; or
//! * every use lies in the block of the only definition that reaches it, or deeper: whichever threads run the use ran
//!   the definition just before.
//!
//! A loop that some threads leave or cut short before others is divergent as a whole. A thread that has ended counts
//! for nothing, so returning from main and discarding diverge nobody, unless others wait for it ([`Scope::Lockstep`]); output registers, which
//! the host reads of ended threads too, are never uniform.

use super::{Area, Block, Builtin, Cond, MemoryInst, Operand, Program, Reg, StmtKind, ThreadId, visit};

/// Rounds after which the analysis gives up and calls nothing uniform, except in lockstep: barriers are where all threads pass, and neither answer would be safe.
const ROUNDS: usize = 40;

/// Which threads are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of a wave, which executes each statement for all of them before the next.
    Wave,
    /// Those of a group, whose waves come to a statement one after another: what they load may have changed.
    Group,
    /// Those of a group that load at the same time, and all of which a barrier waits for.
    Lockstep,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct Uniformity {
    scope: Scope,
    registers: Vec<bool>,
    functions: Vec<bool>,
    alike: Vec<bool>,
}

impl Uniformity {
    /// Analyses `program`.
    pub fn of(program: &Program, scope: Scope) -> Self {
        Self::or_nothing(program, scope, analyse(program, scope, scan(program).local))
    }

    fn or_nothing(program: &Program, scope: Scope, flow: Option<Flow>) -> Self {
        flow.map_or_else(
            || Self {
                scope,
                registers: vec![false; program.registers as usize],
                functions: vec![true; program.functions.len()],
                alike: Vec::new(),
            },
            |flow| flow.facts,
        )
    }

    /// Whether all threads that read `reg` read the same word.
    pub fn register(&self, reg: Reg) -> bool {
        self.registers[reg.index()]
    }

    /// Whether only some threads may run a function.
    pub fn parted(&self, function: usize) -> bool {
        self.functions[function]
    }

    /// For each statement, in the order of the text, a construct before what is in it, functions by number, whether all threads come to it and
    /// decide alike; nothing if the program is too long.
    pub fn alike(&self) -> &[bool] {
        &self.alike
    }

    /// Whether `operand` is the same word in all threads.
    pub fn operand(&self, operand: Operand) -> bool {
        match operand {
            Operand::Imm(_) | Operand::Const { .. } => true,
            Operand::Reg(reg) => self.register(reg),
            Operand::Builtin(builtin) => match builtin {
                Builtin::Thread(ThreadId::Group | ThreadId::GroupFlat, _) => true,
                Builtin::Timer(_) | Builtin::ComputeUnit | Builtin::WaveSlot => self.scope == Scope::Wave,
                Builtin::Thread(..)
                | Builtin::Position(_)
                | Builtin::Interpolant(..)
                | Builtin::ObjectIndex => false,
            },
        }
    }

    /// Whether all threads agree on `cond`.
    pub fn cond(&self, cond: &Cond) -> bool {
        self.operand(cond.operand)
    }

    /// Whether `inst` loads the same words in all threads: a uniform address in memory that no kernel writes, or that nobody writes meanwhile.
    pub fn load(&self, inst: &MemoryInst) -> bool {
        let one = match inst.effect().0 {
            Area::Size(_) | Area::Immediate => true,
            Area::Resource(_) | Area::Constants(_) | Area::Srv(_) => self.scope != Scope::Group,
            Area::Lds(_) => self.scope == Scope::Lockstep,
            Area::Global | Area::Uav(_) | Area::Counter(_) | Area::Gds(_) => false,
            Area::Array(_) | Area::Shared | Area::OwnLds => false,
        };
        inst.is_load() && one && visit::operands_of(inst).into_iter().all(|operand| self.operand(operand))
    }
}

/// Registers that some threads of a wave may not write where others do, and read later; and the analysis for a group.
pub(super) fn missed(program: &Program) -> (Vec<bool>, Uniformity) {
    let local = scan(program).local;
    let wave = analyse(program, Scope::Wave, local.clone());
    let missed = wave.map_or_else(|| vec![true; program.registers as usize], |flow| flow.missed);
    let group = analyse(program, Scope::Group, local);
    (missed, Uniformity::or_nothing(program, Scope::Group, group))
}

/// `None` if it takes too long. `local`: registers whose every use follows, in the same block or a deeper one, the definition that reaches it.
fn analyse(program: &Program, scope: Scope, local: Vec<bool>) -> Option<Flow> {
    let mut registers = vec![true; program.registers as usize];
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| registers[reg.index()] = false);
    }
    let functions = vec![false; program.functions.len()];
    let mut flow = Flow {
        facts: Uniformity { scope, registers, functions, alike: Vec::new() },
        missed: vec![false; program.registers as usize],
        local,
        loops: Vec::new(),
        next_loop: 0,
        changed: true,
    };
    let most = if scope == Scope::Lockstep { usize::MAX } else { ROUNDS };
    for _ in 0..most {
        if !flow.changed {
            return Some(flow);
        }
        flow.changed = false;
        flow.next_loop = 0;
        flow.facts.alike.clear();
        for (number, function) in program.functions.iter().enumerate() {
            let mut place = Place {
                divergent: flow.facts.functions[number],
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
    next_loop: usize,
    changed: bool,
}

impl Flow {
    fn block(&mut self, block: &Block, place: &mut Place) {
        for stmt in block {
            let agree = visit::tested_of(&stmt.kind).is_none_or(|tested| self.facts.operand(tested));
            self.facts.alike.push(agree && !place.divergent);
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
                    if !place.main || self.facts.scope == Scope::Lockstep {
                        self.leave(cond, place);
                    }
                }
                StmtKind::Call { function, cond } => {
                    if self.splits(cond, place) && !self.facts.functions[*function] {
                        self.facts.functions[*function] = true;
                        self.changed = true;
                    }
                }
                StmtKind::Discard(cond) => {
                    if self.facts.scope == Scope::Lockstep {
                        self.leave(&Some(*cond), place);
                    }
                }
                StmtKind::Fence(_) => {}
            }
        }
    }

    /// Threads leave the function, or end.
    fn leave(&mut self, cond: &Option<Cond>, place: &mut Place) {
        if self.splits(cond, place) {
            place.all_loops.iter().for_each(|number| self.diverge_loop(*number));
            (place.divergent, place.returned) = (true, true);
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
        let reg = reg.index();
        let missed = place.divergent && !self.local[reg];
        self.missed[reg] |= missed;
        if self.facts.registers[reg] && (!uniform || missed) {
            self.facts.registers[reg] = false;
            self.changed = true;
        }
    }
}

/// Registers that have one definition, which reaches every use.
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
        output.registers.iter().for_each(|reg| scan.local[reg.index()] = false);
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
            definitions(&stmt.kind, |reg| self.definitions[reg.index()] += 1);
            stmt.kind.blocks().for_each(|block| self.count(block));
        }
    }

    fn block(&mut self, block: &Block) {
        let outer = self.current;
        self.current = self.open.len() as u32;
        self.open.push(true);
        for stmt in block {
            uses(&stmt.kind, |reg| {
                let reg = reg.index();
                let from = self.block_of[reg];
                let reaches = from == self.current
                    || self.definitions[reg] == 1 && from != u32::MAX && self.open[from as usize];
                self.local[reg] &= reaches;
            });
            definitions(&stmt.kind, |reg| self.block_of[reg.index()] = self.current);
            stmt.kind.blocks().for_each(|block| self.block(block));
        }
        self.open[self.current as usize] = false;
        self.current = outer;
    }
}

fn uses(kind: &StmtKind, mut f: impl FnMut(Reg)) {
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

fn definitions(kind: &StmtKind, mut f: impl FnMut(Reg)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the choices of a kernel all threads of a group make alike, and how many there are.
    fn counts(text: &str) -> [usize; 2] {
        let head = "il_cs_2_0\ndcl_num_thread_per_group 128\ndcl_raw_uav_id(0)\ndcl_cb cb0[1]\ndcl_literal l0, 0, 1, 9, 4\n";
        let program = crate::compile(format!("{head}{text}end\n").as_bytes()).unwrap();
        fn choices(block: &Block, list: &mut Vec<bool>) {
            for stmt in block {
                list.push(matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Break(Some(_))));
                stmt.kind.blocks().for_each(|block| choices(block, list));
            }
        }
        let mut list = Vec::new();
        program.functions.iter().for_each(|function| choices(&function.body, &mut list));
        let facts = Uniformity::of(&program, Scope::Group);
        assert_eq!(facts.alike().len(), list.len());
        let alike = facts.alike().iter().zip(&list).filter(|(alike, choice)| **alike && **choice);
        [alike.count(), list.iter().filter(|choice| **choice).count()]
    }

    /// Words move on by one register in each round, from the last statement to the first: so many rounds does the analysis take.
    #[test]
    fn long_chains_part_nobody_in_lockstep() {
        let moves: String =
            (0..ROUNDS as u32 + 20).rev().map(|k| format!("mov r{}.x, r{}.x\n", 21 + k, 20 + k)).collect();
        let text = format!(
            "il_cs_2_0\ndcl_num_thread_per_group 64\ndcl_lds_id(0) 256\ndcl_cb cb0[1]\ndcl_literal l0, 1, 4, 0, 0\n\
            mov r20.x, vTidInGrpFlat.x\nimul r0.x, r20.x, l0.y\nwhileloop\nige r1.x, r2.x, cb0[0].x\nbreak_logicalnz r1.x\n{moves}\
            iadd r2.x, r2.x, l0.x\nlds_store_id(0) r0.x, r{}.x\nfence_threads_lds\nendloop\nmov g[0], r2\nend\n",
            ROUNDS + 20
        );
        let program = crate::compile(text.as_bytes()).unwrap();
        assert!(Uniformity::of(&program, Scope::Group).alike().is_empty(), "fewer rounds were enough");
        let facts = Uniformity::of(&program, Scope::Lockstep);
        assert!(!facts.parted(0));
        let Some(StmtKind::Loop { body }) = program.functions[0]
            .body
            .iter()
            .map(|stmt| &stmt.kind)
            .find(|kind| matches!(kind, StmtKind::Loop { .. }))
        else {
            panic!("{program}")
        };
        let conds = body
            .iter()
            .filter_map(|stmt| if let StmtKind::Break(Some(cond)) = &stmt.kind { Some(cond) } else { None });
        assert!(conds.into_iter().all(|cond| facts.cond(cond)), "{program}");
    }

    const STORE: &str = "uav_raw_store_id(0) mem0.x, vTidInGrpFlat.x, r2.x\n";

    #[test]
    fn what_depends_on_the_launch_and_the_group_is_alike() {
        let until = |bound: &str, step: &str| {
            format!(
                "whileloop\nige r1.x, r0.x, {bound}\nbreak_logicalnz r1.x\n{STORE}iadd r0.x, r0.x, {step}\nendloop\n"
            )
        };
        assert_eq!(counts(&until("cb0[0].x", "l0.y")), [1, 1]);
        assert_eq!(counts(&until("vThreadGrpId.x", "l0.y")), [1, 1]);
        assert_eq!(counts(&until("vTidInGrpFlat.x", "l0.y")), [0, 1]);
        // What counts is the same at first only.
        assert_eq!(counts(&until("cb0[0].x", "vAbsTidFlat.x")), [0, 1]);
        // Memory may hold anything.
        let loaded = "uav_raw_load_id(0) r1.x, l0.x\nif_logicalnz r1.x\n";
        assert_eq!(counts(&format!("{loaded}{STORE}endif\n")), [0, 1]);
    }

    #[test]
    fn where_threads_part_nothing_stays_the_same() {
        let part = "if_logicalnz vTidInGrpFlat.x\nmov r2.x, l0.z\n";
        let ask = format!("if_logicalnz r2.x\n{STORE}endif\n");
        assert_eq!(counts(&format!("mov r2.x, l0.y\n{part}endif\n{ask}")), [0, 2]);
        assert_eq!(counts(&format!("mov r2.x, l0.y\n{part}else\nmov r2.x, l0.z\nendif\n{ask}")), [0, 2]);
        // The choice inside is made by some.
        assert_eq!(counts(&format!("{part}if_logicalnz cb0[0].x\n{STORE}endif\nendif\n")), [0, 2]);
        let alike = "if_logicalnz cb0[0].x\nmov r2.x, l0.z\nelse\nmov r2.x, l0.w\nendif\n";
        assert_eq!(counts(&format!("{alike}{ask}")), [2, 2]);
        // A loop that threads leave at different rounds.
        let parted = |before: &str| {
            format!(
                "mov r2.x, l0.x\nwhileloop\n{before}ige r1.x, r2.x, vTidInGrpFlat.x\nbreak_logicalnz r1.x\n\
                iadd r2.x, r2.x, l0.y\nendloop\n{ask}"
            )
        };
        assert_eq!(counts(&parted("")), [0, 2]);
        assert_eq!(counts(&parted("ige r3.x, r2.x, cb0[0].x\nbreak_logicalnz r3.x\n")), [0, 3]);
    }
}
