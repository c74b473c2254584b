//! Splits registers into webs: each group of definitions that reach common uses gets a register of its own.
//!
//! Kernels reuse registers for unrelated values, now an integer, now a float. Apart, they are analysed apart, and a
//! register with a single definition is a name for a value.
//!
//! The walk follows the structure and keeps for each register the node that holds its value: a definition, or a
//! join of several. A join merges its operands into one web only when something reads it, so values that are
//! dead at a join stay separate. Registers that several functions touch, and outputs, are left alone. A program
//! whose jumps and definitions multiply to excess is left as it is; that keeps the pass linear.

use std::collections::HashMap;

use crate::ir::{Block, Program, Reg, StmtKind, visit};

/// Steps at joins, in all, after which the pass gives up.
const BUDGET: usize = 1 << 24;

/// Splits the registers of `program`. Returns, for each register, whether it may be read before it is written, that
/// is whether it also holds the zero of the beginning or what an earlier call left.
pub(super) fn run(program: &mut Program) -> Vec<bool> {
    let fixed = fixed_registers(program);
    let mut webs = Webs::new(program, &fixed);
    for number in 0..program.functions.len() {
        let mut body = std::mem::take(&mut program.functions[number].body);
        webs.function(&mut body, number);
        program.functions[number].body = body;
    }
    let entries = program.registers;
    if webs.work > BUDGET {
        return vec![true; entries as usize];
    }
    let mut renamed = Renamed { webs, at: 0, registers: HashMap::new() };
    // Outputs keep the first numbers.
    for output in &mut program.outputs {
        output.registers = output.registers.map(|reg| renamed.number(reg));
    }
    for function in &mut program.functions {
        renamed.block(&mut function.body);
    }
    program.registers = renamed.registers.len() as u32;
    // The root of a web is its oldest node, and the nodes of the beginning are older than all others.
    let mut early = vec![false; renamed.registers.len()];
    for (&root, &reg) in &renamed.registers {
        early[reg as usize] = root < entries;
    }
    early
}

/// Registers that are not split: outputs, and what more than one function touches.
fn fixed_registers(program: &mut Program) -> Vec<bool> {
    const NONE: u32 = u32::MAX;
    let mut owner = vec![NONE; program.registers as usize];
    let mut fixed = vec![false; program.registers as usize];
    for (number, function) in program.functions.iter_mut().enumerate() {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, _| {
                let owner = &mut owner[*reg as usize];
                if *owner != NONE && *owner != number as u32 {
                    fixed[*reg as usize] = true;
                }
                *owner = number as u32;
            });
        });
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| fixed[*reg as usize] = true);
    }
    fixed
}

type Node = u32;

/// Where a jump goes.
#[derive(Default)]
struct Target {
    /// Registers that the construct defines.
    defined: Vec<Reg>,
    /// Their joins at the exit.
    exits: Vec<Node>,
    /// Their joins at the head; empty for a switch.
    heads: Vec<Node>,
    is_loop: bool,
    exited: bool,
}

struct Webs<'p> {
    fixed: &'p [bool],
    /// Node that holds the value of each register now.
    current: Vec<Node>,
    /// Union-find forest over nodes.
    parent: Vec<Node>,
    /// Operands of joins that nothing has read yet.
    pending: HashMap<Node, Vec<Node>>,
    /// Node of each occurrence, in the order of the walk.
    occurrences: Vec<Node>,
    /// Changes of `current`, to be undone at the end of a branch.
    log: Vec<(Reg, Node)>,
    stamp: Vec<u32>,
    now: u32,
    targets: Vec<Target>,
    /// Registers that the function at work defines, if it can be called again.
    persistent: Vec<Reg>,
    reachable: bool,
    work: usize,
}

impl<'p> Webs<'p> {
    fn new(program: &Program, fixed: &'p [bool]) -> Self {
        let count = program.registers;
        Self {
            fixed,
            // Node r is what register r holds when its function begins.
            current: (0..count).collect(),
            parent: (0..count).collect(),
            pending: HashMap::new(),
            occurrences: Vec::new(),
            log: Vec::new(),
            stamp: vec![0; count as usize],
            now: 0,
            targets: Vec::new(),
            persistent: Vec::new(),
            reachable: true,
            work: 0,
        }
    }

    fn function(&mut self, body: &mut Block, number: usize) {
        self.reachable = true;
        self.persistent.clear();
        if number != 0 {
            // What a call leaves, the next one finds.
            self.persistent = self.defined(body);
            for reg in self.persistent.clone() {
                self.pending.insert(reg, Vec::new());
            }
        }
        self.block(body);
        self.leave();
        self.log.clear();
    }

    /// The end of the function at work: values persist until its next call.
    fn leave(&mut self) {
        if self.reachable {
            for k in 0..self.persistent.len() {
                let reg = self.persistent[k];
                self.flow(reg, self.current[reg as usize]);
            }
        }
    }

    /// Splittable registers that `block` defines.
    fn defined(&mut self, block: &mut Block) -> Vec<Reg> {
        self.now += 1;
        let mut all = Vec::new();
        visit::statements(block, &mut |stmt| {
            self.work += 1;
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                let index = *reg as usize;
                if definition && !self.fixed[index] && self.stamp[index] != self.now {
                    self.stamp[index] = self.now;
                    all.push(*reg);
                }
            });
        });
        all
    }

    fn node(&mut self) -> Node {
        self.parent.push(self.parent.len() as Node);
        self.parent.len() as Node - 1
    }

    fn join(&mut self, operands: Vec<Node>) -> Node {
        let node = self.node();
        self.pending.insert(node, operands);
        node
    }

    fn set(&mut self, reg: Reg, node: Node) {
        let old = std::mem::replace(&mut self.current[reg as usize], node);
        self.log.push((reg, old));
    }

    /// The value of `from` arrives at join `to`.
    fn flow(&mut self, to: Node, from: Node) {
        self.work += 1;
        if to == from {
            return;
        }
        match self.pending.get_mut(&to) {
            Some(operands) if operands.last() != Some(&from) => operands.push(from),
            Some(_) => {}
            None => {
                self.union(to, from);
                self.activate(from);
            }
        }
    }

    /// Something reads `node`: it and what reaches it become one web.
    fn activate(&mut self, node: Node) {
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if let Some(operands) = self.pending.remove(&node) {
                for operand in operands {
                    self.union(node, operand);
                    work.push(operand);
                }
            }
        }
    }

    fn find(&mut self, mut node: Node) -> Node {
        while self.parent[node as usize] != node {
            let up = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = up;
            node = up;
        }
        node
    }

    fn union(&mut self, a: Node, b: Node) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            if self.work > BUDGET {
                return;
            }
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                if definition && !self.fixed[*reg as usize] {
                    let node = self.node();
                    self.set(*reg, node);
                }
                let node = self.current[*reg as usize];
                if !definition {
                    self.activate(node);
                }
                self.occurrences.push(node);
            });
            match &mut stmt.kind {
                StmtKind::If { then, otherwise, .. } => self.branches(then, otherwise),
                StmtKind::Loop { body } => self.repeat(body),
                StmtKind::Switch { arms, .. } => {
                    let has_default = arms.iter().any(|arm| arm.default);
                    let bodies: Vec<&mut Block> = arms.iter_mut().map(|arm| &mut arm.body).collect();
                    self.select(bodies, has_default);
                }
                StmtKind::Break(cond) => {
                    let always = cond.is_none();
                    self.jump(false, always);
                }
                StmtKind::Continue(cond) => {
                    let always = cond.is_none();
                    self.jump(true, always);
                }
                StmtKind::Return(cond) => {
                    self.leave();
                    self.reachable &= cond.is_some();
                }
                StmtKind::Lane(_)
                | StmtKind::Memory(_)
                | StmtKind::Call { .. }
                | StmtKind::Discard(_)
                | StmtKind::Fence(_) => {}
            }
        }
    }

    fn jump(&mut self, again: bool, always: bool) {
        let found = if again {
            self.targets.iter().rposition(|target| target.is_loop)
        } else {
            self.targets.len().checked_sub(1)
        };
        let Some(number) = found else { return };
        if self.reachable {
            let target = std::mem::take(&mut self.targets[number]);
            let joins = if again { &target.heads } else { &target.exits };
            for (reg, join) in target.defined.iter().zip(joins) {
                self.flow(*join, self.current[*reg as usize]);
            }
            self.targets[number] = target;
            self.targets[number].exited |= !again;
        }
        self.reachable &= !always;
    }

    /// Undoes the changes since `mark`; returns what the registers held before that.
    fn undo(&mut self, mark: usize) -> Vec<(Reg, Node)> {
        self.now += 1;
        let mut changed = Vec::new();
        while self.log.len() > mark {
            let Some((reg, old)) = self.log.pop() else { break };
            let index = reg as usize;
            if self.stamp[index] != self.now {
                self.stamp[index] = self.now;
                changed.push((reg, self.current[index]));
            }
            self.current[index] = old;
        }
        self.work += changed.len();
        changed
    }

    fn branches(&mut self, then: &mut Block, otherwise: &mut Block) {
        let before = self.reachable;
        let mark = self.log.len();
        self.block(then);
        let then_end = self.reachable;
        let then_values = self.undo(mark);
        self.reachable = before;
        self.block(otherwise);
        let otherwise_end = self.reachable;
        let otherwise_values = self.undo(mark);
        self.reachable = then_end || otherwise_end;
        match (then_end, otherwise_end) {
            (true, false) => then_values.into_iter().for_each(|(reg, node)| self.set(reg, node)),
            (false, _) => otherwise_values.into_iter().for_each(|(reg, node)| self.set(reg, node)),
            (true, true) => {
                let other: HashMap<Reg, Node> = otherwise_values.iter().copied().collect();
                let mut joined = Vec::new();
                for &(reg, node) in &then_values {
                    let otherwise = other.get(&reg).copied().unwrap_or(self.current[reg as usize]);
                    joined.push((reg, vec![node, otherwise]));
                }
                let first: HashMap<Reg, Node> = then_values.iter().copied().collect();
                for (reg, node) in otherwise_values {
                    if !first.contains_key(&reg) {
                        joined.push((reg, vec![self.current[reg as usize], node]));
                    }
                }
                for (reg, operands) in joined {
                    let node = self.join(operands);
                    self.set(reg, node);
                }
            }
        }
    }

    fn repeat(&mut self, body: &mut Block) {
        let defined = self.defined(body);
        let before = self.reachable;
        let mark = self.log.len();
        let heads: Vec<Node> = (defined.iter())
            .map(|reg| {
                let entry = self.current[*reg as usize];
                let head = self.join(vec![entry]);
                self.set(*reg, head);
                head
            })
            .collect();
        let exits = defined.iter().map(|_| self.join(Vec::new())).collect();
        self.targets.push(Target { defined, exits, heads, is_loop: true, exited: false });
        self.block(body);
        self.jump(true, true);
        let target = self.targets.pop();
        self.undo(mark);
        let Some(target) = target else { return };
        self.reachable = before && target.exited;
        for (reg, exit) in target.defined.into_iter().zip(target.exits) {
            self.set(reg, exit);
        }
    }

    fn select(&mut self, arms: Vec<&mut Block>, has_default: bool) {
        let mut defined = Vec::new();
        let mut arms = arms;
        for arm in &mut arms {
            defined.extend(self.defined(arm));
        }
        defined.sort_unstable();
        defined.dedup();
        let before = self.reachable;
        let mark = self.log.len();
        let entries: Vec<Node> = defined.iter().map(|reg| self.current[*reg as usize]).collect();
        let exits: Vec<Node> = defined.iter().map(|_| self.join(Vec::new())).collect();
        self.targets.push(Target { defined: defined.clone(), exits, ..Target::default() });
        // The selector may skip every arm.
        self.reachable = before && !has_default;
        self.jump(false, true);
        for arm in arms {
            let falls = self.reachable;
            for (reg, entry) in defined.iter().zip(&entries) {
                let here = self.current[*reg as usize];
                let node = if falls && here != *entry { self.join(vec![*entry, here]) } else { *entry };
                self.set(*reg, node);
            }
            self.work += defined.len();
            self.reachable = before;
            self.block(arm);
        }
        self.jump(false, true);
        let target = self.targets.pop();
        self.undo(mark);
        let Some(target) = target else { return };
        self.reachable = before && target.exited;
        for (reg, exit) in target.defined.into_iter().zip(target.exits) {
            self.set(reg, exit);
        }
    }
}

/// Second walk: occurrences get the registers of their webs.
struct Renamed<'p> {
    webs: Webs<'p>,
    at: usize,
    registers: HashMap<Node, Reg>,
}

impl Renamed<'_> {
    fn number(&mut self, node: Node) -> Reg {
        let root = self.webs.find(node);
        let next = self.registers.len() as Reg;
        *self.registers.entry(root).or_insert(next)
    }

    fn block(&mut self, block: &mut Block) {
        visit::statements(block, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, _| {
                let node = self.webs.occurrences[self.at];
                self.at += 1;
                *reg = self.number(node);
            });
        });
    }
}
