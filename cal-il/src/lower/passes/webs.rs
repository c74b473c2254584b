//! Splits registers into webs: each group of definitions that reach common uses gets a register of its own.
//!
//! Kernels reuse registers for unrelated values, now an integer, now a float. Apart, they are analysed apart, and a
//! register with a single definition is a name for a value.
//!
//! The walk follows the structure and keeps for each register the node that holds its value: a definition, or a
//! join of several. A join merges its operands into one web only when something reads it, so values that are
//! dead at a join stay separate. Registers that several functions touch, and outputs, are left alone. A program
//! whose jumps and definitions multiply to excess is left as it is; that keeps the pass linear.

mod forest;

use crate::ir::{Block, Program, Reg, StmtKind, visit};

use forest::{Forest, Node};

/// Steps at joins, in all, after which the pass gives up.
const BUDGET: usize = 1 << 22;

/// What the split tells of the registers as they are numbered after it.
pub(in crate::lower) struct Registers {
    /// For each that may be read before it is written, that is which also holds the zero of the beginning or what an earlier
    /// call left, the number it had before.
    pub origins: Vec<Option<Reg>>,
    /// How many statements write it.
    pub definitions: Vec<u32>,
    /// How often each is read once nothing is left that nobody reads.
    pub uses: Vec<u32>,
}

impl Registers {
    /// Which may be read before they are written.
    pub fn early(&self) -> Vec<bool> {
        self.origins.iter().map(Option::is_some).collect()
    }
}

/// Splits the registers of `program`.
pub(super) fn run(program: &mut Program) -> Registers {
    run_within(program, BUDGET)
}

fn run_within(program: &mut Program, budget: usize) -> Registers {
    let fixed = fixed_registers(program);
    let mut webs = Webs::new(program, &fixed, budget);
    for (number, function) in program.functions.iter_mut().enumerate() {
        webs.function(&mut function.body, number);
    }
    let entries = program.registers;
    if webs.forest.steps > budget {
        webs.give_up(program);
        let definitions = definitions(program);
        return Registers {
            origins: (0..entries).map(|reg| Some(Reg(reg))).collect(),
            definitions,
            uses: Vec::new(),
        };
    }
    let places = webs.forest.roots();
    let (roots, definitions) = (Vec::with_capacity(places.len()), Vec::with_capacity(places.len()));
    let mut renamed = Renamed { places, roots, definitions };
    // Outputs keep the first numbers.
    for output in &mut program.outputs {
        output.registers = output.registers.map(|reg| renamed.number(reg.0));
    }
    for function in &mut program.functions {
        renamed.block(&mut function.body);
    }
    program.registers = renamed.roots.len() as u32;
    // The root of a web is its oldest node, and the nodes of the beginning are older than all others.
    let origins = renamed.roots.iter().map(|&root| (root < entries).then_some(Reg(root))).collect();
    Registers { origins, definitions: renamed.definitions, uses: Vec::new() }
}

/// How many statements write each register.
pub(super) fn definitions(program: &mut Program) -> Vec<u32> {
    let mut definitions = vec![0; program.registers as usize];
    for function in &mut program.functions {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                definitions[reg.index()] += u32::from(definition);
            });
        });
    }
    definitions
}

/// Registers that are not split: outputs, and what more than one function touches.
fn fixed_registers(program: &mut Program) -> Vec<bool> {
    const NONE: u32 = u32::MAX;
    let mut owner = vec![NONE; program.registers as usize];
    let mut fixed = vec![false; program.registers as usize];
    let several = program.functions.len() > 1;
    for (number, function) in program.functions.iter_mut().enumerate().filter(|_| several) {
        visit::statements(&mut function.body, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, _| {
                let owner = &mut owner[reg.index()];
                if *owner != NONE && *owner != number as u32 {
                    fixed[reg.index()] = true;
                }
                *owner = number as u32;
            });
        });
    }
    for output in &program.outputs {
        output.registers.iter().for_each(|reg| fixed[reg.index()] = true);
    }
    fixed
}

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
    budget: usize,
    /// Node that holds the value of each register now.
    current: Vec<Node>,
    forest: Forest,
    /// Changes of `current`, to be undone at the end of a branch.
    log: Vec<(Reg, Node)>,
    stamp: Vec<u32>,
    /// Values at the end of a branch, where `stamp` is `now`.
    branch: Vec<Node>,
    now: u32,
    targets: Vec<Target>,
    /// Registers that the function at work defines, if it can be called again.
    persistent: Vec<Reg>,
    reachable: bool,
}

impl<'p> Webs<'p> {
    fn new(program: &Program, fixed: &'p [bool], budget: usize) -> Self {
        let count = program.registers;
        Self {
            fixed,
            budget,
            current: (0..count).collect(),
            forest: Forest::new(count),
            log: Vec::new(),
            stamp: vec![0; count as usize],
            branch: vec![0; count as usize],
            now: 0,
            targets: Vec::new(),
            persistent: Vec::new(),
            reachable: true,
        }
    }

    fn function(&mut self, body: &mut Block, number: usize) {
        self.reachable = true;
        self.persistent.clear();
        if number != 0 {
            // What a call leaves, the next one finds.
            self.persistent = self.defined(body);
            for reg in &self.persistent {
                self.forest.persists(*reg);
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
                self.forest.flow(reg.0, self.current[reg.index()]);
            }
        }
    }

    /// Splittable registers that `block` defines.
    fn defined(&mut self, block: &mut Block) -> Vec<Reg> {
        self.now += 1;
        let mut all = Vec::new();
        visit::statements(block, &mut |stmt| {
            self.forest.steps += 1;
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                let index = reg.index();
                if definition && !self.fixed[index] && self.stamp[index] != self.now {
                    self.stamp[index] = self.now;
                    all.push(*reg);
                }
            });
        });
        all
    }

    #[inline]
    fn set(&mut self, reg: Reg, node: Node) {
        let old = std::mem::replace(&mut self.current[reg.index()], node);
        self.log.push((reg, old));
    }

    /// The block as it was: its registers are nodes, and those that were not met are the nodes of the same number.
    fn give_up(&self, program: &mut Program) {
        for function in &mut program.functions {
            visit::statements(&mut function.body, &mut |stmt| {
                visit::registers(&mut stmt.kind, &mut |reg, _| *reg = self.forest.register(reg.0));
            });
        }
    }

    /// In place of its registers a statement has their nodes then.
    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            if self.forest.steps > self.budget {
                return;
            }
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                let mut node = self.current[reg.index()];
                if !definition {
                    self.forest.activate(node);
                } else if !self.fixed[reg.index()] {
                    node = self.forest.definition(*reg);
                    self.set(*reg, node);
                }
                *reg = Reg(node);
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
                self.forest.flow(*join, self.current[reg.index()]);
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
            let index = reg.index();
            if self.stamp[index] != self.now {
                self.stamp[index] = self.now;
                changed.push((reg, self.current[index]));
            }
            self.current[index] = old;
        }
        self.forest.steps += changed.len();
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
                self.now += 1;
                for &(reg, node) in &then_values {
                    self.stamp[reg.index()] = self.now;
                    self.branch[reg.index()] = node;
                }
                for (reg, node) in otherwise_values {
                    let index = reg.index();
                    let then =
                        if self.stamp[index] == self.now { self.branch[index] } else { self.current[index] };
                    self.stamp[index] = 0;
                    let node = self.forest.join(reg, &[then, node]);
                    self.set(reg, node);
                }
                for (reg, node) in then_values {
                    let index = reg.index();
                    if self.stamp[index] == self.now {
                        let node = self.forest.join(reg, &[node, self.current[index]]);
                        self.set(reg, node);
                    }
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
                let entry = self.current[reg.index()];
                let head = self.forest.join(*reg, &[entry]);
                self.set(*reg, head);
                head
            })
            .collect();
        let exits = defined.iter().map(|reg| self.forest.join(*reg, &[])).collect();
        self.targets.push(Target { defined, exits, heads, is_loop: true, exited: false });
        self.block(body);
        self.jump(true, true);
        self.close(mark, before);
    }

    /// The end of the innermost loop or switch, before which statements were reached or not.
    fn close(&mut self, mark: usize, before: bool) {
        let target = self.targets.pop();
        self.undo(mark);
        let Some(target) = target else { return };
        self.reachable = before && target.exited;
        for (reg, exit) in target.defined.into_iter().zip(target.exits) {
            self.set(reg, exit);
        }
    }

    fn select(&mut self, mut arms: Vec<&mut Block>, has_default: bool) {
        let mut defined: Vec<Reg> = arms.iter_mut().flat_map(|arm| self.defined(arm)).collect();
        defined.sort_unstable();
        defined.dedup();
        let before = self.reachable;
        let mark = self.log.len();
        let exits: Vec<Node> = defined.iter().map(|reg| self.forest.join(*reg, &[])).collect();
        self.targets.push(Target { defined, exits, ..Target::default() });
        // The selector may skip every arm.
        self.reachable = before && !has_default;
        self.jump(false, true);
        for arm in arms {
            if self.forest.steps > self.budget {
                return;
            }
            // An arm begins with the values before the switch, or with those of the arm that falls into it.
            let falls = self.reachable;
            for (reg, here) in self.undo(mark) {
                if falls {
                    let entry = self.current[reg.index()];
                    let node = self.forest.join(reg, &[entry, here]);
                    self.set(reg, node);
                }
            }
            self.reachable = before;
            self.block(arm);
        }
        self.jump(false, true);
        self.close(mark, before);
    }
}

/// Second walk: nodes become the registers of their webs.
struct Renamed {
    /// By node: its root, or with [`NUMBERED`] its register.
    places: Vec<u32>,
    /// By register: the root of the web.
    roots: Vec<Node>,
    /// By register: how many statements write it.
    definitions: Vec<u32>,
}

/// A place that is a register. No program has as many nodes.
const NUMBERED: u32 = 1 << 31;

impl Renamed {
    #[inline]
    fn number(&mut self, node: Node) -> Reg {
        let mut place = self.places[node as usize];
        if place & NUMBERED == 0 {
            place = self.first(node, place);
        }
        Reg(place & !NUMBERED)
    }

    /// The first occurrence of a node, with the place of its root.
    #[inline(never)]
    fn first(&mut self, node: Node, root: Node) -> u32 {
        let mut place = self.places[root as usize];
        if place & NUMBERED == 0 {
            place = self.roots.len() as u32 | NUMBERED;
            self.places[root as usize] = place;
            self.roots.push(root);
            self.definitions.push(0);
        }
        self.places[node as usize] = place;
        place
    }

    fn block(&mut self, block: &mut Block) {
        visit::statements(block, &mut |stmt| {
            visit::registers(&mut stmt.kind, &mut |reg, definition| {
                *reg = self.number(reg.0);
                if definition {
                    self.definitions[reg.index()] += 1;
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text;

    const NESTED: &str = "program compute
registers 6
group exact 64 1 1
global
function 0 {
  %0 = Mov vAbsTidFlat.x
  %1 %2 = I64add %0, %0, %0, %0
  loop {
    %0 = Iadd %0, 1
    if %0 {
      %1 = Mov %2
      %3 = Mov 1
    } else {
      %3 = Iadd %1, %3
    }
    break if %3
    loop {
      %2 = Iadd %2, 1
      break if %2
    }
  }
  %0 = Mov %3
  GlobalStore index=%0 src=(%1, %2, %3, _)
}
";

    #[test]
    fn what_is_too_much_stays_as_it_is() {
        let mut program = text::parse(NESTED.as_bytes()).unwrap();
        let within = |budget| {
            let mut split = program.clone();
            let registers = run_within(&mut split, budget);
            (split, registers)
        };
        let enough = (0..).find(|&budget| within(budget).0 != program).unwrap();
        assert!(enough > 10, "{enough}");
        let kept: Vec<Registers> = (0..enough).map(|budget| within(budget).1).collect();
        let definitions = definitions(&mut program);
        for registers in kept {
            assert!(registers.early().iter().all(|early| *early));
            assert_eq!(registers.definitions, definitions);
        }
    }
}
