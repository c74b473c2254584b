//! Internal consistency of a program. A finding is a defect of lowering, not of the kernel; tests and debug builds
//! ask.

use super::{
    AtomicAddress, Block, Builtin, Cond, InfoSource, LaneInst, MemoryInst, Operand, Program, Reg, Space,
    Stage, Stmt, StmtKind, Uav, visit,
};
use crate::inst::MAX_CALL_DEPTH;
use crate::isa::lane::Class;
use crate::isa::{Algebra, Scalar};

/// Checks `program`; `Err` names the first defects found.
pub fn validate(program: &Program) -> Result<(), Vec<String>> {
    check(program, true)
}

/// The same but for flushes: what lowering does before it places them.
pub fn validate_unflushed(program: &Program) -> Result<(), Vec<String>> {
    check(program, false)
}

fn check(program: &Program, flushed: bool) -> Result<(), Vec<String>> {
    let mut checker = Checker { program, flushed, defects: Vec::new() };
    for (number, function) in program.functions.iter().enumerate() {
        checker.block(&function.body, Place { function: number, in_loop: false, breakable: false });
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| checker.register(*reg, "output"));
        if !program.interface.outputs.contains_key(&output.index) {
            checker.missing("o", output.index);
        }
    }
    checker.calls();
    if checker.defects.is_empty() { Ok(()) } else { Err(checker.defects) }
}

#[derive(Clone, Copy)]
struct Place {
    function: usize,
    in_loop: bool,
    breakable: bool,
}

struct Checker<'p> {
    program: &'p Program,
    /// Float operations must get flushed words.
    flushed: bool,
    defects: Vec<String>,
}

impl Checker<'_> {
    fn defect(&mut self, message: String) {
        if self.defects.len() < 20 {
            self.defects.push(message);
        }
    }

    fn register(&mut self, reg: Reg, what: &str) {
        if reg.0 >= self.program.registers {
            self.defect(format!("{what} register {reg} of {}", self.program.registers));
        }
    }

    fn operand(&mut self, operand: Operand) {
        let interface = &self.program.interface;
        match operand {
            Operand::Reg(reg) => self.register(reg, "operand"),
            Operand::Const { buffer, .. } if !interface.constants.contains_key(&u32::from(buffer)) => {
                self.missing("cb", buffer.into());
            }
            Operand::Builtin(Builtin::Interpolant(number, _))
                if !interface.interpolants.contains(&number.into()) =>
            {
                self.missing("v", number.into());
            }
            Operand::Imm(_) | Operand::Const { .. } | Operand::Builtin(_) => {}
        }
    }

    fn missing(&mut self, what: &str, number: u32) {
        self.defect(format!("{what}{number} is not in the interface"));
    }

    /// Whether the interface has the memory that an access touches.
    fn memory(&mut self, inst: &MemoryInst) {
        use MemoryInst as M;
        let interface = &self.program.interface;
        let uav = |number: &u32| (!interface.uavs.contains_key(number)).then_some(("uav", *number));
        let typed = |number: &u32| {
            let typed = matches!(interface.uavs.get(number), Some(Uav::Typed { .. }));
            (!typed).then_some(("typed uav", *number))
        };
        let srv = |number: &u32| (!interface.srvs.contains_key(number)).then_some(("srv", *number));
        let absent = match inst {
            M::BufferInfo { of: InfoSource::Uav(number), .. } => uav(number),
            M::BufferInfo { of: InfoSource::Srv(number), .. } => srv(number),
            M::ConstLoad { buffer, .. } => {
                (!interface.constants.contains_key(buffer)).then_some(("cb", *buffer))
            }
            M::ArrayLoad { array, .. } | M::ArrayStore { array, .. } => {
                (!interface.arrays.contains_key(array)).then_some(("x", *array))
            }
            M::GlobalLoad { .. } | M::GlobalStore { .. } => (!interface.global).then_some(("g", 0)),
            M::SharedLoad { register, .. } | M::SharedStore { register, .. } => {
                (*register >= interface.shared).then_some(("sr", *register))
            }
            M::Atomic { space: Space::Uav(number), address: AtomicAddress::Texel(_), .. } => typed(number),
            M::RawLoad { space, .. } | M::RawStore { space, .. } | M::Atomic { space, .. } => match space {
                Space::Uav(number) => uav(number),
                Space::Srv(number) => srv(number),
                Space::Lds(number) => (!interface.lds.contains_key(number)).then_some(("lds", *number)),
                Space::Gds(number) => (!interface.gds.contains_key(number)).then_some(("gds", *number)),
            },
            M::TypedLoad { uav, .. } | M::TypedStore { uav, .. } => typed(uav),
            M::LdsWriteOwn { .. } | M::LdsReadAny { .. } => {
                (interface.lds_dwords_per_thread == 0).then_some(("lds of threads", 0))
            }
            M::Counter { uav, .. } => (!interface.counters.contains(uav)).then_some(("counter", *uav)),
            // A computed number may turn out to be a constant: resources that nothing declares read 0.
            M::Sample { .. }
            | M::Gather { .. }
            | M::Fetch { .. }
            | M::ResourceInfo { .. }
            | M::BufferInfo { of: InfoSource::Resource(_), .. } => None,
            // Rows outside the immediate constants read 0.
            M::ImmediateLoad { .. } | M::InitShared => None,
        };
        if let Some((what, number)) = absent {
            self.missing(what, number);
        }
    }

    fn cond(&mut self, cond: &Option<Cond>) {
        if let Some(cond) = cond {
            self.operand(cond.operand);
        }
    }

    fn block(&mut self, block: &Block, place: Place) {
        for (at, stmt) in block.iter().enumerate() {
            self.statement(stmt, place);
            let leaves = matches!(
                stmt.kind,
                StmtKind::Break(None) | StmtKind::Continue(None) | StmtKind::Return(None)
            );
            if leaves && at + 1 != block.len() {
                self.defect("statements after one that always leaves".into());
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt, place: Place) {
        match &stmt.kind {
            StmtKind::Lane(inst) => self.lane(inst),
            StmtKind::Memory(inst) => {
                visit::operands_of(inst).into_iter().for_each(|operand| self.operand(operand));
                self.memory(inst);
                let destinations = visit::destinations_of(inst);
                for (k, reg) in destinations.iter().enumerate() {
                    self.register(*reg, "destination");
                    if destinations[..k].contains(reg) {
                        self.defect(format!("{reg} loaded twice by `{inst}`"));
                    }
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                self.operand(cond.operand);
                self.block(then, place);
                self.block(otherwise, place);
            }
            StmtKind::Loop { body } => self.block(body, Place { in_loop: true, breakable: true, ..place }),
            StmtKind::Switch { selector, arms } => {
                self.operand(*selector);
                if arms.iter().filter(|arm| arm.default).count() > 1 {
                    self.defect("switch with two defaults".into());
                }
                for arm in arms {
                    self.block(&arm.body, Place { breakable: true, ..place });
                }
            }
            StmtKind::Break(cond) => {
                self.cond(cond);
                if !place.breakable {
                    self.defect("break outside loop and switch".into());
                }
            }
            StmtKind::Continue(cond) => {
                self.cond(cond);
                if !place.in_loop {
                    self.defect("continue outside a loop".into());
                }
            }
            StmtKind::Call { function, cond } => {
                self.cond(cond);
                if *function == 0 || *function >= self.program.functions.len() {
                    self.defect(format!("call of function {function}"));
                }
            }
            StmtKind::Return(cond) => self.cond(cond),
            StmtKind::Discard(cond) => {
                self.operand(cond.operand);
                if self.program.stage != Stage::Pixel {
                    self.defect("discard in a compute program".into());
                }
            }
            StmtKind::Fence(_) => {}
        }
        debug_assert!(place.function < self.program.functions.len());
    }

    fn lane(&mut self, inst: &LaneInst) {
        let name = inst.op.name();
        let words: usize = inst.op.arguments().iter().map(|class| class.words()).sum();
        if inst.args.len() != words {
            self.defect(format!("{name} with {} words instead of {words}", inst.args.len()));
        }
        let wide = inst.op.result() == Class::Q;
        if wide != (inst.dst[0] != inst.dst[1]) {
            self.defect(format!("{name} writes {:?}", inst.dst));
        }
        inst.dst.into_iter().for_each(|reg| self.register(reg, "destination"));
        inst.args.iter().for_each(|arg| self.operand(*arg));
        if !self.flushed {
            return;
        }
        let mut at = 0;
        for class in inst.op.arguments() {
            if let (Class::F, Some(Operand::Imm(word))) = (class, inst.args.get(at))
                && Scalar.flush(*word) != *word
            {
                self.defect(format!("{name} gets the denormal 0x{word:08X}"));
            }
            if let (Class::F, Some(Operand::Const { .. })) = (class, inst.args.get(at)) {
                self.defect(format!("{name} gets a constant that nothing flushed"));
            }
            at += class.words();
        }
    }

    /// Calls go deeper by one function each and never around.
    fn calls(&mut self) {
        let count = self.program.functions.len();
        let mut callees = vec![Vec::new(); count];
        for (caller, function) in self.program.functions.iter().enumerate() {
            collect_calls(&function.body, &mut callees[caller]);
        }
        // Longest path by repeated relaxation, bounded by the permitted depth.
        let mut depth = vec![0usize; count];
        for round in 0..=MAX_CALL_DEPTH + 1 {
            let mut changed = false;
            for caller in 0..count {
                for &callee in callees[caller].iter().filter(|&&callee| callee < count) {
                    if depth[callee] < depth[caller] + 1 {
                        depth[callee] = depth[caller] + 1;
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
            if round > MAX_CALL_DEPTH {
                self.defect("calls nest too deep or recurse".into());
            }
        }
    }
}

fn collect_calls(block: &Block, out: &mut Vec<usize>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Call { function, .. } => out.push(*function),
            kind => kind.blocks().for_each(|block| collect_calls(block, out)),
        }
    }
}
