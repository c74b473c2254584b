//! Turns a program into flat operations: registers, literals, constants and launch values become rows, constructs
//! become jumps, memory objects become places in the launch's lists. Happens once, when a module is loaded.

mod access;
mod threads;

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::atomic::AtomicU32;

use recal_il::diagnostic::Span;
use recal_il::inst::{Dimension, PositionKind};
use recal_il::ir::lines::{self, Known};
use recal_il::ir::passes::{CPU, STRUCTURED, Settings, run};
use recal_il::ir::{
    self, AtomicAddress, Block, Builtin, Cond, Dst4, Id, InfoSource, LaneInst, MemoryInst, Operand, Program,
    Reg, Space, Src4, Stmt, StmtKind, Uav,
};
use recal_il::isa::lane::Class;
use rustc_hash::FxHashMap;

use self::access::{place_of, planar};
use crate::fuse;
use crate::isa_choice::{self, InstructionSet, Isa};
use crate::op::{
    Access, Addressing, AtomicAt, Code, InfoOf, MemoryOp, NONE, Op, Pc, Place, RowId, Rows4, SampleOp, Slot,
    Step, Test,
};
use crate::registers;

/// The flat form of `program`, which [`structured`] or [`prepare`] has made, for the given instruction set. `known` is what is known of its
/// statements, or nothing.
pub fn load(program: &Program, known: &[Known], isa: &Isa) -> Code {
    let compiled = isa.compiled().is_some();
    Loader { compiled, ..Loader::new(program, known, isa) }.program()
}

/// Groups may be as large as a program says.
const SETTINGS: Settings<'static> = Settings { threads: u32::MAX, ..Settings::USUAL };

/// The program as rows of threads can run it, and nothing else changed.
pub fn structured(program: &Program) -> Cow<'_, Program> {
    run(&STRUCTURED, program, &SETTINGS, &mut |_, _| {})
}

/// The program with what is done for any instruction set, and what is known of its statements if it is to be compiled. `native`: in
/// native float mode.
pub fn prepare(program: &Program, compiled: bool, native: bool) -> (Program, Vec<Known>) {
    // Code has compilers' work done before; interpreted rounds are rounds.
    let settings = Settings { faithful: !native, last: compiled, ..SETTINGS };
    let structured = structured(program);
    let program = run(&CPU, &structured, &settings, &mut |_, _| {});
    // Before registers are shared.
    let known = if compiled { lines::known(&program) } else { Vec::new() };
    let mut packed = program.into_owned();
    ir::compact::compact(&mut packed);
    (packed, known)
}

/// The same that is to be compiled, whatever this processor has, and keeps its spans.
pub fn load_compiled(program: &Program, known: &[Known]) -> Code {
    let isa = isa_choice::chosen(InstructionSet::Baseline);
    Loader { compiled: true, spans: true, ..Loader::new(program, known, isa) }.program()
}

struct Loader<'a> {
    program: &'a Program,
    isa: &'a Isa,
    code: Code,
    /// Position of each label; jumps hold label numbers until the end.
    labels: Vec<Pc>,
    /// Label of each function.
    functions: Vec<Pc>,
    literals: FxHashMap<u32, RowId>,
    constants: FxHashMap<(u32, u32), RowId>,
    builtins: FxHashMap<Builtin, RowId>,
    /// First row and elements of each array.
    arrays: FxHashMap<u32, (RowId, u32)>,
    lds: FxHashMap<u32, Place>,
    gds: FxHashMap<u32, Place>,
    /// First of the lane operations that no operation holds yet.
    open: usize,
    /// Addresses of samples, while their coordinates are unchanged, by slot.
    sampled: Vec<Option<Addressing>>,
    /// What comes of which instruction is kept.
    spans: bool,
    /// Steps are not interpreted.
    compiled: bool,
    /// Of the statement at hand.
    span: Span,
    known: Known,
    /// What is known of all statements, in their order, or nothing; and how many were met.
    known_of: &'a [Known],
    statements: usize,
    /// Lines of a wave may take different ways.
    apart: bool,
}

/// The row of `key`, a new one at the first call.
fn row_of<K: Eq + Hash>(map: &mut FxHashMap<K, RowId>, rows: &mut u32, key: K) -> RowId {
    *map.entry(key).or_insert_with(|| {
        *rows += 1;
        *rows - 1
    })
}

/// Consecutive places for blocks of memory, each at a multiple of 16 bytes; the total, too.
fn lay_out<'a>(
    blocks: impl Iterator<Item = (&'a u32, &'a ir::MemoryBlock)>,
    place: impl Fn(u32, u32) -> Place,
) -> (FxHashMap<u32, Place>, u32) {
    let mut end = 0u32;
    let map = blocks.map(|(&number, block)| {
        let offset = end;
        end = offset.saturating_add(block.bytes).next_multiple_of(16);
        (number, place(offset, block.bytes))
    });
    let map = map.collect();
    (map, end)
}

impl<'a> Loader<'a> {
    fn new(program: &'a Program, known: &'a [Known], isa: &'a Isa) -> Self {
        let interface = &program.interface;
        let (lds, lds_bytes) = lay_out(interface.lds.iter(), |offset, bytes| Place::Lds { offset, bytes });
        let (gds, gds_bytes) = lay_out(interface.gds.iter(), |offset, bytes| Place::Gds { offset, bytes });
        let mut rows = program.registers;
        let mut arrays = FxHashMap::default();
        for (&number, &elements) in &interface.arrays {
            arrays.insert(number, (rows, elements));
            rows += 4 * elements;
        }
        let mut resources: Vec<u32> = interface.resources.keys().copied().collect();
        resources.extend(interface.srvs.keys().filter(|n| !interface.resources.contains_key(n)));
        let code = Code {
            rows,
            functions: program.functions.len(),
            registers: program.registers,
            outputs: program
                .outputs
                .iter()
                .map(|o| (o.index, o.registers.map(|register| register.0)))
                .collect(),
            lds_bytes,
            gds_bytes,
            shared: interface.shared,
            resources,
            buffers: interface.constants.keys().copied().collect(),
            uavs: interface.uavs.keys().copied().collect(),
            immediates: interface.immediates.iter().flatten().map(|word| AtomicU32::new(*word)).collect(),
            whole_position: interface.position == Some(PositionKind::Whole),
            ..Code::default()
        };
        let count = program.functions.len();
        Loader {
            program,
            isa,
            code,
            labels: vec![0; count],
            functions: (0..count as Pc).collect(),
            literals: FxHashMap::default(),
            constants: FxHashMap::default(),
            builtins: FxHashMap::default(),
            arrays,
            lds,
            gds,
            open: 0,
            sampled: Vec::new(),
            spans: false,
            compiled: false,
            span: Span::default(),
            known: Known::default(),
            apart: false,
            known_of: known,
            statements: 0,
        }
    }

    fn program(mut self) -> Code {
        for (number, function) in self.program.functions.iter().enumerate() {
            self.function(number, &function.body);
        }
        debug_assert!(
            self.known_of.is_empty() || self.known_of.len() == self.statements,
            "what is known is of another program"
        );
        self.finish()
    }

    fn function(&mut self, number: usize, body: &Block) {
        let end = self.label();
        self.place(self.functions[number]);
        self.block(body, end);
        self.place(end);
        self.emit(if number == 0 { Op::End } else { Op::EndFunction });
    }

    fn finish(mut self) -> Code {
        let interpreted = (!self.compiled).then_some(self.isa);
        fuse::fuse(&mut self.code, interpreted, &mut self.labels);
        self.code.temporaries = registers::temporaries(&self.code);
        let arrays = self.arrays.values().map(|&(first, elements)| first..first + 4 * elements);
        let (zeroed, never) = registers::zeroed(&self.code, self.program.registers, arrays);
        self.code.zeroed = zeroed;
        self.code.native = self.isa.compiled();
        if self.code.native.is_some() {
            self.code.find_sampled();
        }
        self.code.straight = self.code.ops.iter().all(threads::straight);
        self.code.groups_unseen = self.groups_unseen();
        let barrier = |op: &Op| matches!(op, Op::Fence(fence) if fence.contains(ir::Fence::THREADS));
        self.code.barriers = self.code.ops.iter().any(barrier);
        self.code.waves_alone = self.waves_alone();
        self.code.in_place = self.in_place();
        self.code.in_lines = self.samples_in_lines();
        self.code.panels = self.panels();
        self.code.abreast = self.abreast();
        self.code.turned = self.samples_turned();
        for op in &mut self.code.ops {
            jumps(op, |pc| *pc = self.labels[*pc as usize]);
        }
        let zeros = never.into_iter().map(|row| (row, 0));
        self.code.literals = self.literals.into_iter().map(|(word, row)| (row, word)).chain(zeros).collect();
        self.code.constants =
            self.constants.into_iter().map(|((place, word), row)| (row, place, word)).collect();
        self.code.builtins = self.builtins.into_iter().map(|(builtin, row)| (row, builtin)).collect();
        self.code
    }

    fn label(&mut self) -> Pc {
        self.labels.push(0);
        self.labels.len() as Pc - 1
    }

    /// The next operation is where `label` leads.
    fn place(&mut self, label: Pc) {
        self.close_lanes();
        self.labels[label as usize] = self.code.ops.len() as Pc;
    }

    fn emit(&mut self, op: Op) {
        self.close_lanes();
        if !matches!(op, Op::Memory(_)) {
            self.sampled.clear();
        }
        self.push(op);
    }

    fn push(&mut self, op: Op) {
        self.code.ops.push(op);
        if self.spans {
            self.code.op_spans.push(self.span);
        }
    }

    fn close_lanes(&mut self) {
        let end = self.code.steps.len();
        if end > self.open {
            self.push(Op::Lanes { first: self.open as u32, end: end as u32 });
            self.open = end;
        }
    }

    /// `end` is where threads go on when no lane of the block is left.
    fn block(&mut self, block: &Block, end: Pc) {
        for stmt in block {
            self.statement(stmt, end);
        }
    }

    fn statement(&mut self, stmt: &Stmt, end: Pc) {
        self.span = stmt.span;
        self.known = self.known_of.get(self.statements).copied().unwrap_or_default();
        self.statements += 1;
        match &stmt.kind {
            StmtKind::Lane(inst) => self.lane(inst),
            StmtKind::Memory(inst) => self.memory(inst),
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.test(*cond);
                let (middle, close) = (self.label(), self.label());
                self.emit(Op::If { cond, otherwise: middle });
                if otherwise.is_empty() {
                    self.block(then, close);
                    self.place(middle);
                } else {
                    self.block(then, middle);
                    self.place(middle);
                    self.span = stmt.span;
                    self.emit(Op::Else { end: close });
                    self.block(otherwise, close);
                }
                self.place(close);
                self.span = stmt.span;
                self.emit(Op::EndIf { skip: end });
            }
            StmtKind::Loop { body } => {
                self.code.loops = true;
                let (start, close) = (self.label(), self.label());
                self.emit(Op::Loop);
                self.place(start);
                self.block(body, close);
                self.place(close);
                self.span = stmt.span;
                self.emit(Op::EndLoop { body: start, skip: end });
            }
            StmtKind::Break(cond) => {
                let cond = cond.map(|cond| self.test(cond));
                self.emit(Op::Break { cond, skip: end });
            }
            StmtKind::Call { function, cond } => {
                let cond = cond.map(|cond| self.test(cond));
                self.emit(Op::Call { target: self.functions[*function], cond });
            }
            StmtKind::Return(cond) => {
                let cond = cond.map(|cond| self.test(cond));
                self.emit(Op::Return { cond, skip: end });
            }
            StmtKind::Discard(cond) => {
                let cond = self.test(*cond);
                self.emit(Op::Discard { cond, skip: end });
            }
            StmtKind::Fence(fence) => self.emit(Op::Fence(*fence)),
            StmtKind::Switch { .. } | StmtKind::Continue(_) => unreachable!("a jump that is a choice"),
        }
    }

    fn lane(&mut self, inst: &LaneInst) {
        let writes: u16 = if inst.op.result() == Class::Q { 2 } else { 1 };
        let first = self.code.operands.len() as u32;
        self.code.operands.extend(inst.dst[..usize::from(writes)].iter().map(|register| register.0));
        for &operand in &inst.args {
            let row = self.operand(operand);
            self.code.operands.push(row);
        }
        let count = (self.code.operands.len() as u32 - first) as u16;
        self.code.steps.push(Step {
            op: inst.op,
            handler: self.isa.lane(inst.op),
            first,
            count,
            writes,
            same: self.known.same,
            down: self.known.down,
            fused: false,
        });
        if self.spans {
            self.code.step_spans.push(self.span);
        }
        inst.dst.iter().for_each(|register| self.written(register.0));
    }

    /// Forgets what depends on the old value of `row`.
    fn written(&mut self, row: RowId) {
        for sampled in &mut self.sampled {
            if sampled.is_some_and(|at| at.coord.contains(&row)) {
                *sampled = None;
            }
        }
    }

    fn operand(&mut self, operand: Operand) -> RowId {
        let rows = &mut self.code.rows;
        match operand {
            Operand::Reg(register) => register.0,
            Operand::Imm(word) => row_of(&mut self.literals, rows, word),
            Operand::Const { buffer, row, component } => {
                let place = place_of(&self.code.buffers, buffer.into());
                // Rows beyond 2^30 have no word number in 32 bits; nothing is bound there.
                let word = row.saturating_mul(4).saturating_add(u32::from(component));
                row_of(&mut self.constants, rows, (place, word))
            }
            Operand::Builtin(builtin) => row_of(&mut self.builtins, rows, builtin),
        }
    }

    fn test(&mut self, cond: Cond) -> Test {
        self.apart |= self.known.down & 1 == 0;
        Test {
            row: self.operand(cond.operand),
            nonzero: cond.nonzero,
            done: false,
            lanes: self.known.shape,
            alike: self.known.alike,
        }
    }

    fn operands<const N: usize>(&mut self, operands: [Operand; N]) -> [RowId; N] {
        operands.map(|operand| self.operand(operand))
    }

    /// A slot for the texels of another address; the first one serves when there are too many.
    fn free_slot(&self) -> usize {
        const SLOTS: usize = 16;
        let free = self.sampled.iter().position(Option::is_none);
        free.unwrap_or(if self.sampled.len() < SLOTS { self.sampled.len() } else { 0 })
    }

    fn optional(&mut self, operand: Option<Operand>) -> RowId {
        operand.map_or(NONE, |operand| self.operand(operand))
    }

    fn sources(&mut self, src: Src4) -> Rows4 {
        src.map(|operand| self.optional(operand))
    }

    fn slot(&mut self, id: Id, list_place: u32) -> Slot {
        let index = self.optional(id.index);
        Slot { base: id.base, place: list_place, index }
    }

    fn resource(&mut self, id: Id) -> Slot {
        let place = place_of(&self.code.resources, id.base);
        self.slot(id, place)
    }

    /// Coordinates that reach memory: surfaces have columns and rows, no depth.
    fn dimensions(&self, resource: u32) -> u32 {
        self.program.interface.resources.get(&resource).map_or(2, |r| planar(r.dimension))
    }

    fn uav_dimensions(&self, uav: u32) -> u32 {
        match self.program.interface.uavs.get(&uav) {
            Some(Uav::Typed { dimension }) => planar(*dimension),
            _ => 1,
        }
    }

    fn space(&self, space: Space) -> Place {
        match space {
            Space::Uav(n) => Place::Uav(place_of(&self.code.uavs, n)),
            Space::Srv(n) => Place::Srv(place_of(&self.code.resources, n)),
            Space::Lds(n) => self.lds.get(&n).copied().unwrap_or(Place::Lds { offset: 0, bytes: 0 }),
            Space::Gds(n) => self.gds.get(&n).copied().unwrap_or(Place::Gds { offset: 0, bytes: 0 }),
        }
    }
}

/// Calls `set` with each place where an operation leads.
pub fn jumps(op: &mut Op, mut set: impl FnMut(&mut Pc)) {
    match op {
        Op::If { otherwise: pc, .. }
        | Op::Else { end: pc }
        | Op::EndIf { skip: pc }
        | Op::Break { skip: pc, .. }
        | Op::Call { target: pc, .. }
        | Op::Return { skip: pc, .. }
        | Op::Discard { skip: pc, .. } => set(pc),
        Op::EndLoop { body, skip } => {
            set(body);
            set(skip);
        }
        Op::Lanes { .. }
        | Op::Native(_)
        | Op::Memory(_)
        | Op::Loop
        | Op::EndFunction
        | Op::Fence(_)
        | Op::End => {}
    }
}

#[cfg(test)]
mod tests;
